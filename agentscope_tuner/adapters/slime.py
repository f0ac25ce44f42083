"""slime and miles: the function that `--custom-rm-path` names, and the HTTP response of `--rm-type remote_rm`.

A file of two lines, `my_rm.py`, for `--custom-rm-path my_rm.reward`:

    from agentscope_tuner.adapters.slime import custom_rm
    reward = custom_rm("configs/math.yaml")

A failed verdict raises, and that ends the rollout. With `custom_rm(…, on_failed="leave")` it is a sample whose reward
is None, for one of two that leave it out: `drop_unjudged`, by `--dynamic-sampling-filter-path`, drops its group, and
slime samples another; `mask_unjudged`, by `--custom-reward-post-process-path`, takes the sample out of its group's
baseline and out of the loss. With neither, slime fails on the None. A run without verdicts is stopped.

Over HTTP a failed verdict is a status 503, which slime asks again nine times, then raises.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal

from agentscope_tuner.adapters.rollout import LAST_TURN, failing_run, places_by, why_useless
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, config_fault
from agentscope_tuner.records.formats.trainers import as_pair
from agentscope_tuner.records.formats.trainers import decode_slime_request as decode_request
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, judge_for, located, read_or_unread
from agentscope_tuner.task_judge.contract.judgement import Judgement

__all__ = [
    "as_pair",
    "custom_rm",
    "decode_request",
    "drop_unjudged",
    "drop_useless",
    "encode_response",
    "last_turn_of",
    "mask_unjudged",
]

_log = logging.getLogger(__name__)

CustomRM = Callable[..., Coroutine[Any, Any, Any]]
_NORMALISED = ("grpo", "gspo", "reinforce_plus_plus_baseline")


def custom_rm(
    config: str | Path, *, on_failed: Literal["raise", "leave"] = "raise", stop_when_failing: bool = True
) -> CustomRM:
    """The async function `(args, sample_or_samples)` that slime awaits; the judge is loaded now, once for each process.

    A judge that ranks needs the whole group: `--group-rm`.

    Args:
        config: the judge's YAML.
        on_failed: what a failed verdict does: `raise`, or `leave` the reward None, for `drop_unjudged` or
            `mask_unjudged`.
        stop_when_failing: whether a run without verdicts is stopped; see `FailingRun`.

    Raises:
        ConfigError: the judge cannot be loaded, or another `on_failed`.
    """
    if on_failed not in ("raise", "leave"):
        raise ConfigError(f"on_failed must be 'raise' or 'leave', got {on_failed!r}")
    path = located(config)
    run = failing_run(judge_for(path), stops=stop_when_failing)

    async def reward(args: Any, samples: Any, **slime_only: object) -> Any:
        """The reward of a sample, of a list of them, or of the lists into which samples were fanned out, in its shape.

        Each sample's metadata gets the verdict under `judgement`, for dumps, logs and filters.

        Raises:
            JudgeError: no verdict, unless it is left or `on_error: zero` was configured; or a run without verdicts.
        """
        judge = judge_for(path)
        asked = list(_flat([samples]))
        if judge.listwise and isinstance(samples, Sequence) and any(isinstance(one, Sequence) for one in samples):
            raise config_fault(
                f"{judge.name} ranks the samples of a prompt, and these were fanned out into several each: judge them "
                "with a judge that does not rank"
            )
        pairs = [read_or_unread(partial(as_pair, sample), last_turn_of(args, sample)) for sample in asked]
        judgements = await _judged(judge, asked, pairs)
        for sample, judgement in zip(asked, judgements, strict=True):
            if isinstance(getattr(sample, "metadata", None), dict):
                sample.metadata["judgement"] = judgement.to_dict()
        if on_failed == "leave":
            run.add(pairs, judgements)
        given = judge.reward if on_failed == "leave" else judge.reward_or_raise
        return _in_shape(samples, iter([given(judgement) for judgement in judgements]))

    return reward


def _flat(samples: Iterable[Any]) -> Iterator[Any]:
    for sample in samples:
        if isinstance(sample, Sequence):
            yield from _flat(sample)
        else:
            yield sample


def _in_shape(samples: Any, rewards: Iterator[float | None]) -> Any:
    if not isinstance(samples, Sequence):
        return next(rewards)
    return [_in_shape(sample, rewards) for sample in samples]


def last_turn_of(args: Any, sample: Any) -> str | None:
    """The policy's last turn in a sample of several turns, which its loss mask shows; None for a sample of one turn.

    It is `metadata["astuner_last_turn"]` if the generate function left one there, else the text after the last masked
    token.

    Raises:
        JudgeError: the mask does not tell turns apart, because it also hides what an older policy wrote.
    """
    metadata, mask = getattr(sample, "metadata", None), getattr(sample, "loss_mask", None)
    named = metadata.get(LAST_TURN) if isinstance(metadata, dict) else None
    if isinstance(named, str):
        return named
    if not mask or all(mask) or not any(mask):
        return None
    if getattr(args, "partial_rollout", False) and getattr(args, "mask_offpolicy_in_partial_rollout", False):
        raise config_fault(
            "the loss mask hides the tools' texts and an older policy's alike (mask_offpolicy_in_partial_rollout): "
            "let the generate function leave the policy's last turn in sample.metadata['astuner_last_turn']"
        )
    ids = list(sample.tokens)[-len(mask) :]
    start = len(mask)
    while start and mask[start - 1]:
        start -= 1
    return str(_tokenizer(str(args.hf_checkpoint)).decode(ids[start:], skip_special_tokens=True))


@cache
def _tokenizer(path: str) -> Any:
    return import_module("transformers").AutoTokenizer.from_pretrained(path, trust_remote_code=True)


async def _judged(judge: ConfiguredJudge, samples: Sequence[Any], pairs: Sequence[Pair]) -> list[Judgement]:
    if not judge.listwise:
        return await judge.ajudge_batch(pairs)
    verdicts: dict[int, Judgement] = {}
    # Samples without a group index: all samples of one call are a group
    for places in places_by(getattr(sample, "group_index", None) for sample in samples):
        if len(places) == 1:
            raise config_fault(f"{judge.name} ranks a group, and got one sample: start slime with --group-rm")
        found = await judge.ajudge_group([pairs[place] for place in places])
        verdicts.update(zip(places, found, strict=True))
    return [verdicts[place] for place in range(len(samples))]


def drop_unjudged(args: Any, samples: Sequence[Any], **slime_only: object) -> Any:
    """For `--dynamic-sampling-filter-path`: drops a group with a sample that has no verdict."""
    return _kept(args, None if all(sample.reward is not None for sample in _flat(samples)) else "no_verdict")


def drop_useless(args: Any, samples: Sequence[Any], **slime_only: object) -> Any:
    """For `--dynamic-sampling-filter-path`: drops a group without a verdict, all right, all wrong, or of equal rewards.

    Raises:
        JudgeError: a sample was not judged by `custom_rm`.
    """
    judgements = [Judgement.from_dict((sample.metadata or {}).get("judgement")) for sample in _flat(samples)]
    known = [judgement for judgement in judgements if judgement is not None]
    if len(known) < len(judgements):
        raise config_fault(
            "a sample has no metadata['judgement']: drop_useless reads what adapters.slime.custom_rm leaves there"
        )
    return _kept(args, why_useless(known))


def _kept(args: Any, why: str | None) -> Any:
    for package in ("slime", "miles"):
        try:
            types = import_module(f"{package}.rollout.filter_hub.base_types")
        except ModuleNotFoundError:
            continue
        return types.DynamicFilterOutput(keep=why is None, reason=why)
    # Before they had a type for it, slime and miles took a bool
    return why is None


def mask_unjudged(args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
    """For `--custom-reward-post-process-path`: slime's own normalisation over the samples that have a verdict.

    A sample without one is taken out of the loss by `remove_sample`, and by its loss mask, for an older slime that does
    not read the former; its group's mean stands for it in the logs. Where no sample of a training step has one, the
    step's loss is 0, which is logged.

    Returns:
        The raw and the normalised rewards.

    Raises:
        JudgeError: no sample that would be trained on has a verdict, in the whole rollout.
    """
    raw = [None if sample.reward is None else float(sample.get_reward_value(args)) for sample in samples]
    trained = [
        value is not None and not getattr(sample, "remove_sample", False)
        for value, sample in zip(raw, samples, strict=True)
    ]
    if not any(trained):
        others = ", or those that have one are removed" if any(value is not None for value in raw) else ""
        raise JudgeError(
            f"no sample of this rollout has a verdict{others}: it would train on nothing", cause=Cause.JUDGE
        )
    _tell_empty_steps(args, trained)
    overall = fmean(value for value in raw if value is not None)
    normalises = args.advantage_estimator in _NORMALISED and args.rewards_normalization
    by_std = args.advantage_estimator in _NORMALISED[:2] and args.grpo_std_normalization
    shown, advantages = [0.0] * len(raw), [0.0] * len(raw)
    size = args.n_samples_per_prompt
    own = (sample.group_index for sample in samples)
    for places in places_by(place // size if index is None else index for place, index in enumerate(own)):
        known = [value for place in places if (value := raw[place]) is not None]
        mean = fmean(known) if known else overall
        scale = (stdev(known) if len(known) > 1 else 0.0) + 1e-6 if by_std else 1.0
        for place in places:
            if (value := raw[place]) is None:
                samples[place].remove_sample = True
                samples[place].loss_mask = [0] * samples[place].response_length
            shown[place] = mean if value is None else value
            advantages[place] = (shown[place] - mean) / scale if normalises else shown[place]
    return shown, advantages


def _tell_empty_steps(args: Any, trained: Sequence[bool]) -> None:
    size = getattr(args, "global_batch_size", None) or len(trained)
    steps = [any(trained[start : start + size]) for start in range(0, len(trained), size)]
    # balanced, samples go to other steps than their places say
    if not all(steps) and not getattr(args, "balance_data", False):
        _log.warning(
            "%d of the %d training steps of this rollout have no verdict: they teach nothing, and only the optimizer's "
            "momentum and weight decay move the weights",
            steps.count(False), len(steps),
        )  # fmt: skip


def encode_response(judge: ConfiguredJudge, judgement: Judgement) -> float:
    """The HTTP response, which slime uses unchanged as the reward.

    Raises:
        JudgeError: no verdict. The HTTP service must turn it into an error status, after which slime asks again.
    """
    return judge.reward_or_raise(judgement)
