"""verifiers 0.4 (`verifiers.v1`): a task whose reward is the configured judge's.

    class MathTask(JudgedTask, vf.Task[MathData]):
        judge = "configs/math.yaml"

The fields of the task's data become `task.metadata`. A failed verdict becomes verifiers' TaskError: the trace is
dropped. `adapters.verifiers` is for verifiers 0.1.
"""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf

from agentscope_tuner.adapters.rollout import episode_metrics
from agentscope_tuner.records.formats.sample import as_rollout, reference_of
from agentscope_tuner.task_judge.batch import judge_for


class JudgedTask:
    """Beside `vf.Task`, the first base class of a task: its method `judged` is the reward, with weight 1.0."""

    #: The judge's YAML.
    judge = ""
    data: Any

    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator,unused-ignore]
    async def judged(self, trace: Any) -> float:
        """The reward of the trace's last reply; the trace's metrics get the judge's, and its success.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        judge = judge_for(self.judge)
        row = self.data.model_dump()
        metadata = {**row, **reference_of(row)}
        prompt = self.data.prompt or ""
        asked = prompt if isinstance(prompt, str) else [message.model_dump() for message in prompt]
        judgement = await judge.ajudge(*as_rollout(asked, trace.last_reply, metadata))
        reward = judge.reward_or_raise(judgement)
        trace.record_metrics(episode_metrics(judge, judgement))
        return reward
