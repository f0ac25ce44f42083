"""OpenPipe ART 0.5: a finished trajectory gets the judge's reward.

    judged = judged_by("configs/math.yaml")

    async def rollout(model, row):
        ...
        return await judged(trajectory, row)

A failed verdict raises. What a rollout raises leaves the trajectory out of its group, as far as
`gather_trajectory_groups(max_exceptions=…)` allows.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner.adapters.rollout import episode_metrics
from agentscope_tuner.records.formats.sample import as_rollout, policys_turns, reference_of
from agentscope_tuner.task_judge.batch import judge_for, loaded


def judged_by(config: str | Path) -> Callable[[Any, Mapping[str, Any]], Coroutine[Any, Any, Any]]:
    """The function that a rollout awaits at its end.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    path = loaded(config)

    async def judged(trajectory: Any, row: Mapping[str, Any]) -> Any:
        """The trajectory, with its `reward` and with the judge's metrics in its `metrics`.

        Args:
            trajectory: ART's; its last message is the answer where the policy wrote it, else the answer is empty.
            row: the data set's fields, which become `task.metadata`.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        judge = judge_for(path)
        messages = [dict(message) for message in trajectory.messages()]
        begin = _begin(trajectory, messages)
        pair = as_rollout(messages[:begin], messages[begin:], {**row, **reference_of(row)})
        judgement = await judge.ajudge(*pair)
        trajectory.reward = judge.reward_or_raise(judgement)
        trajectory.metrics.update(episode_metrics(judge, judgement))
        return trajectory

    return judged


def _begin(trajectory: Any, messages: Sequence[Any]) -> int:
    """The position in `messages` at which the policy's turns begin.

    ART keeps sampled turns as choices among messages that are mappings, or as exchanges with the model, one for each
    turn.
    """
    history = getattr(trajectory, "messages_and_choices", None) or []
    sampled = next((place for place, each in enumerate(history) if not isinstance(each, Mapping)), None)
    if sampled is not None:
        return sampled
    # newer releases hold a list for each API
    exchanges = getattr(trajectory, "exchanges", None) or ()
    return policys_turns(messages, sum(len(held) for _, held in exchanges))
