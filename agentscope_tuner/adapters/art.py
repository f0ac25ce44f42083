"""OpenPipe ART 0.5: a finished trajectory gets the judge's reward.

    judged = judged_by("configs/math.yaml")

    async def rollout(model, row):
        ...
        return await judged(trajectory, row)

A failed verdict raises. What a rollout raises leaves the trajectory out of its group, as far as
`gather_trajectory_groups(max_exceptions=…)` allows.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
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
        begin = _sampled(trajectory)
        begin = policys_turns(messages) if begin is None else begin
        pair = as_rollout(messages[:begin], messages[begin:], {**row, **reference_of(row)})
        judgement = await judge.ajudge(*pair)
        trajectory.reward = judge.reward_or_raise(judgement)
        trajectory.metrics.update(episode_metrics(judge, judgement))
        return trajectory

    return judged


def _sampled(trajectory: Any) -> int | None:
    """Where the policy's turns begin: ART keeps what was sampled as choices, among messages that are mappings. None
    where it keeps no choices.
    """
    history = getattr(trajectory, "messages_and_choices", None) or []
    return next((place for place, each in enumerate(history) if not isinstance(each, Mapping)), None)
