"""Judges whose workers can be killed: by a row, or from outside."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from agentscope_tuner import BaseJudge, JudgeError, Reward


def kwargs(config: Any) -> dict[str, Any]:
    return dict(config.astuner.task_judge.judge_kwargs)


def _node() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id()) if ray.is_initialized() else ""


class Mortal(BaseJudge):
    """Rewards the length of an answer. "die" ends the process; "break" is a JudgeError.

    `judge_kwargs`: `pids`, a folder in which each process that holds the judge leaves its number and node; `seconds`
    that a verdict takes.
    """

    judge_kind = "cpu"

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._seconds = float(kwargs(config).get("seconds", 0))
        if pids := kwargs(config).get("pids"):
            (Path(pids) / str(os.getpid())).write_text(_node())

    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> Reward:
        time.sleep(self._seconds)
        return self._verdict(workflow_output.metadata["final_answer"])

    def _verdict(self, answer: str) -> Reward:
        if answer == "die":
            os._exit(1)
        if answer == "break":
            raise JudgeError("the judge is broken")
        return Reward(len(answer) / 10, len(answer) > 5, reason=f"length: {len(answer)}")


class AwaitingMortal(Mortal):
    """The same for a judge that awaits its verdicts."""

    judge_kind = "io"

    async def acompute_reward(self, workflow_task: Any, workflow_output: Any) -> Reward:
        await asyncio.sleep(self._seconds)
        return self._verdict(workflow_output.metadata["final_answer"])


class Ranks(BaseJudge):
    """Ranks a group: the reward is how many of its answers are shorter."""

    judge_kind = "cpu"

    def compute_rewards(self, workflow_task: Any, workflow_outputs: Any) -> list[tuple[float, bool]]:
        lengths = [len(output.metadata["final_answer"]) for output in workflow_outputs]
        return [(float(sum(other < length for other in lengths)), True) for length in lengths]

    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
        raise JudgeError("a part of a group has no rank")
