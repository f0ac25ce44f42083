"""verl 0.9 or newer: a custom reward function.

    reward:
      custom_reward_function:
        path: pkg://agentscope_tuner.adapters.verl
        name: compute_score
        reward_kwargs: {config: configs/math.yaml}

A failed verdict raises, and the `naive` and `dapo` reward managers let that end the run. The `rate_limited` one turns
exceptions and timeouts into a reward of 0.0, so under it no score is given at all, which ends the first step. An older
verl is refused when this module is imported, before training: its `prime` manager makes 0.0 of every exception.

verl hands over all turns of an episode as one text, with what tools said in it. Only the last turn is judged: the agent
loop `LastTurnToolAgentLoop` of `adapters.verl_agent` leaves it in `extra_info["astuner_last_turn"]`.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner.adapters.rollout import LAST_TURN, constant_metrics, the_failing_run, without_a_question
from agentscope_tuner.errors import ConfigError, config_fault
from agentscope_tuner.records.formats.sample import (
    Prompt,
    as_rollout,
    ground_truth_metadata,
    id_text,
    is_chat,
    last_turn,
    text_of,
)
from agentscope_tuner.records.scored_rows import MARKS
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, judge_for, read_or_unread
from agentscope_tuner.task_judge.contract.judgement import Judgement

_log = logging.getLogger(__name__)

_LIMITED = "verl.experimental.reward_loop.reward_manager.limited"
_ZEROS = (
    "reward_manager: {name: rate_limited} turns exceptions and timeouts into a reward of 0.0, so no score is given: "
    "write name: naive, and limit the judge by astuner.task_judge.concurrency"
)
_ON_FAILED = ("raise", "mask")
_OLDEST = (0, 9)
# What verl's agent loop adds to a row's `extra_info`: the judge gets it as the question and the answer
_READ = frozenset({"raw_prompt", LAST_TURN})
# Further fields, which differ between the samples of one prompt
_OF_A_SAMPLE = frozenset(
    {"num_turns", "turn_scores", "tool_rewards", "rollout_reward_scores", "min_global_steps", "max_global_steps"}
)
_WAY_OUT = (
    "verl's dapo and gdpo managers pass on no prompt, nor do the others outside the agent loop. Put the question into "
    "extra_info.question, or take JudgeRewardManager of agentscope_tuner.adapters.verl_manager"
)
# Turns as verl counts them: the prompt's, and the policy's one answer
_ONE_ANSWER = 2


def check_version(version: str) -> None:
    """Refuses a verl that would make 0.0 of every verdict.

    Raises:
        ConfigError: it is older than 0.9; the message holds the line to write.
    """
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    # A build without a version is the user's own
    if numbers and numbers < _OLDEST:
        raise ConfigError(
            f"verl {version} is older than 0.9: its prime manager turns every verdict into 0.0, and its naive manager "
            "awaits no reward function. Write: pip install 'verl>=0.9'"
        )


# Looked up, not imported: verl has loaded itself where this is its reward function
check_version(str(getattr(sys.modules.get("verl"), "__version__", "")))


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    *,
    config: str = "",
    on_failed: str = "raise",
    **verl_only: object,
) -> dict[str, float]:
    """Score one response. verl awaits it in its reward workers; each loads the judge once. By hand, call
    `compute_score_sync`: what `compute_score(…)` gives without `await` is a coroutine, and no score.

    Args:
        data_source: the data set's name; part of the task's id.
        solution_str: the response, decoded.
        ground_truth: a text or a number, which becomes `task.metadata["answer"]`; or a record, whose fields go into
            `task.metadata`.
        extra_info: becomes the rest of the metadata; its `question`, else the last user message of its `raw_prompt`,
            is the query, its `index` the rest of the id. Where its `num_turns` says that the policy had several turns,
            its `astuner_last_turn` is the last of them, and the response is not read.
        config: the judge's YAML, for `reward_kwargs`.
        on_failed: `raise`, or `mask` for a score of NaN where the installed verl leaves NaN out of its advantages.
        verl_only: arguments that verl adds (`reward_router_address` …); not used.

    Returns:
        `score`, `acc` (1.0 for a success), `filtered`, `failed`, `undecided`, `unread`, `judge_seconds` and
        `<judge>/<metric>` for each of the judge's `metric_names`, always all of them, because verl takes the keys of a
        batch from its first sample.

    Raises:
        JudgeError: no verdict, unless masked or `on_error: zero` was configured; or a response of several turns, whose
            last one nobody names.
        ConfigError: the judge cannot be loaded, or the installed verl does not mask; raised before any training step.
    """
    if _makes_zeros():
        _log.error(_ZEROS)
        # an error would become 0.0 there; a text is no number, and verl fails over it
        return {"score": _ZEROS}  # type: ignore[dict-item]
    judge = judge_with(config, on_failed)
    pair = pair_of(data_source, solution_str, ground_truth, extra_info)
    return score_of(judge, pair, without_a_question(pair, await judge.ajudge(*pair), _WAY_OUT), on_failed)


def _makes_zeros() -> bool:
    """Whether a manager that turns exceptions and timeouts into 0.0 was made in this process."""
    manager = getattr(sys.modules.get(_LIMITED), "RateLimitedRewardManager", None)
    return bool(getattr(manager, "_class_initialized", False))


def compute_score_sync(*args: Any, **named: Any) -> dict[str, float]:
    """`compute_score` for the `remote` reward manager, which takes no async function, and for calls by hand."""
    return loops.run(compute_score(*args, **named))


def judge_with(config: str, on_failed: str) -> ConfiguredJudge:
    """The process's judge. Refuses an `on_failed` that the installed verl cannot carry out.

    Raises:
        ConfigError: as `compute_score`.
    """
    if not config:
        raise ConfigError(
            "reward_kwargs names no judge: write custom_reward_function.reward_kwargs.config=/path/to/judge.yaml"
        )
    if on_failed not in _ON_FAILED:
        raise ConfigError(f"reward_kwargs.on_failed must be one of {', '.join(_ON_FAILED)}, got {on_failed!r}")
    if on_failed == "mask" and not _verl_masks_nan():
        raise ConfigError(
            "reward_kwargs.on_failed: mask, but the installed verl takes a NaN score into its group's baseline, "
            "where it spoils every advantage: use on_failed: raise"
        )
    return judge_for(config)


def pair_of(data_source: str, solution: str, ground_truth: object, extra_info: Mapping[str, Any] | None) -> Pair:
    """A sample as a task and an output, an `UnreadOutput` where it cannot be read; arguments as `compute_score`'s.

    Raises:
        JudgeError: the response holds several turns; see `answer_of`.
    """
    info = dict(extra_info or {})
    own = {key: value for key, value in info.items() if key not in _READ}
    # GSM8K's extra_info has an `answer` of its own, the worked solution: the ground truth goes last and wins
    truth = ground_truth_metadata(ground_truth)
    metadata = {"data_source": data_source, **own, **truth}
    # the column's own name, for `reads`
    metadata.setdefault("reward_model", {"ground_truth": metadata["answer"]})
    if index := id_text(info.get("index")):
        metadata.setdefault("task_id", f"{data_source}/{index}")
    question = question_of(info)
    # An agent loop may add any field for a sample, so that only prompt and truth surely are the whole group's
    row = {key: value for key, value in own.items() if key not in _OF_A_SAMPLE}
    shared = (data_source, truth) if question else (data_source, truth, row)
    return read_or_unread(lambda said: as_rollout(question, answer_of(info, said), metadata, shared=shared), solution)


def question_of(info: Mapping[str, Any]) -> Prompt:
    """The question of a row: its `question`, else the chat messages that the agent loop sent."""
    question, messages = info.get("question"), info.get("raw_prompt")
    if isinstance(question, str) and question.strip():
        return question
    turns = list(messages) if messages is not None and not isinstance(messages, str) else []
    return turns if is_chat(turns) else ""


def answer_of(info: Mapping[str, Any], solution: str) -> str:
    """The policy's last turn.

    Raises:
        JudgeError: `solution` holds several turns, and `astuner_last_turn` does not name the last one; or is no text.
    """
    if isinstance(named := info.get(LAST_TURN), str):
        return last_turn(named)
    if several_turns(info):
        raise config_fault(
            f"verl hands over {int(info['num_turns'])} turns as one text, with what tools and users said, and the "
            "judge needs the last turn alone. Write a file loop.yaml with the line `- {name: tool_agent, _target_: "
            "agentscope_tuner.adapters.verl_agent.LastTurnToolAgentLoop}`, and start verl with "
            "actor_rollout_ref.rollout.agent.agent_loop_config_path=loop.yaml"
        )
    return last_turn(text_of(solution, "a response"))


def several_turns(info: Mapping[str, Any]) -> bool:
    """Whether the policy had several turns, and no `astuner_last_turn` gives the last one."""
    turns = info.get("num_turns")
    # a missing cell is NaN
    named = isinstance(info.get(LAST_TURN), str)
    return not named and turns is not None and turns == turns and int(turns) > _ONE_ANSWER


def score_of(judge: ConfiguredJudge, pair: Pair, judgement: Judgement, on_failed: str) -> dict[str, float]:
    """A verdict as the dictionary of numbers that verl takes; see `compute_score`.

    Raises:
        JudgeError: there is none, and it is not masked; or a run without verdicts.
    """
    if on_failed == "mask":
        the_failing_run(judge).add([pair], [judgement])
        reward = judge.reward(judgement)
    else:
        judgement = judge.settled(judgement)
        reward = judge.reward_or_raise(judgement)
    return {
        "score": math.nan if reward is None else reward,
        "acc": math.nan if reward is None else float(bool(judgement.is_success)),
        "filtered": float(judgement.status == "filtered"),
        "failed": float(judgement.status == "failed"),
        # set only where they hold
        **{mark: judgement.metrics.get(mark, 0.0) for mark in MARKS},
        "judge_seconds": judgement.seconds,
        **constant_metrics(judge, judgement),
    }


@cache
def _verl_masks_nan() -> bool:
    """Whether the installed verl masks NaN: beside a NaN, its group must get finite, distinct advantages."""
    import numpy
    import torch
    from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage

    scores = torch.tensor([[math.nan], [0.0], [1.0]])
    advantages, _ = compute_grpo_outcome_advantage(scores, torch.ones(3, 1), numpy.array(["group"] * 3))
    return bool(torch.isfinite(advantages).all()) and bool(advantages[1] < advantages[2])
