"""slime and miles: the function that `--custom-rm-path` names, and the HTTP response of `--rm-type remote_rm`.

A file of two lines, `my_rm.py`, for `--custom-rm-path my_rm.reward`:

    from agentscope_tuner.adapters.slime import custom_rm
    reward = custom_rm("configs/math.yaml")

A failed verdict raises, and that ends the rollout: slime has no mask for a sample without a reward. Over HTTP it is a
status 503, which slime asks again nine times, then raises.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.formats.trainers import as_pair
from agentscope_tuner.records.formats.trainers import decode_slime_request as decode_request
from agentscope_tuner.task_judge.batch import ConfiguredJudge, judge_for, located
from agentscope_tuner.task_judge.contract.judgement import Judgement

__all__ = ["as_pair", "custom_rm", "decode_request", "encode_response"]

CustomRM = Callable[..., Coroutine[Any, Any, Any]]


def custom_rm(config: str | Path) -> CustomRM:
    """The async function `(args, sample_or_samples)` that slime awaits; the judge is loaded now, once for each process.

    A judge that ranks needs the whole group: `--group-rm`.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    path = located(config)
    judge_for(path)

    async def reward(args: Any, samples: Any, **slime_only: object) -> float | list[float]:
        """The reward of a `Sample`, or the rewards of a list of samples, in order.

        Each sample's metadata gets the verdict under `judgement`, for dumps and logs.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        judge = judge_for(path)
        alone = not isinstance(samples, Sequence)
        asked = [samples] if alone else list(samples)
        judgements = await _judged(judge, asked)
        for sample, judgement in zip(asked, judgements, strict=True):
            if isinstance(getattr(sample, "metadata", None), dict):
                sample.metadata["judgement"] = judgement.to_dict()
        rewards = [judge.reward_or_raise(judgement) for judgement in judgements]
        return rewards[0] if alone else rewards

    return reward


async def _judged(judge: ConfiguredJudge, samples: Sequence[Any]) -> list[Judgement]:
    pairs = [as_pair(sample) for sample in samples]
    if not judge.listwise:
        return await judge.ajudge_batch(pairs)
    groups: dict[object, list[int]] = {}
    for place, sample in enumerate(samples):
        # Samples without a group index: all samples of one call are a group
        groups.setdefault(getattr(sample, "group_index", None), []).append(place)
    verdicts: dict[int, Judgement] = {}
    for places in groups.values():
        if len(places) == 1:
            raise JudgeError(
                f"{judge.name} ranks a group, and got one sample: start slime with --group-rm", cause=Cause.CONFIG
            )
        found = await judge.ajudge_group([pairs[place] for place in places])
        verdicts.update(zip(places, found, strict=True))
    return [verdicts[place] for place in range(len(samples))]


def encode_response(judge: ConfiguredJudge, judgement: Judgement) -> float:
    """The HTTP response, which slime uses unchanged as the reward.

    Raises:
        JudgeError: no verdict. The HTTP service must turn it into an error status, after which slime asks again.
    """
    return judge.reward_or_raise(judgement)
