"""Judges to be parts and routes in tests: each answers what the row says of it, in `output.metadata["said"]`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from agentscope_tuner._run import loops
from agentscope_tuner.config import task_judge_section
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.combined.settings import PartVerdict
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

HERE = "tests.part_judges->"


class Says(BaseJudge):
    """Answers `said[key]`, a success from 0.5 on; where that is a text, there is no verdict and the text says why.

    `asked` holds the keys in the order in which they were asked about.
    """

    judge_kind: ClassVar[Literal["cpu", "io"]] = "cpu"
    bounds_itself = True
    reference_keys = ("said",)
    metric_names = ("seen",)
    asked: ClassVar[list[str]] = []

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.key: str = task_judge_section(config).judge_kwargs["key"]

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        said = workflow_output.metadata["said"][self.key]
        self.asked.append(self.key)
        if isinstance(said, str):
            raise JudgeError(said, cause=Cause.ENDPOINT)
        return Reward(said, said >= 0.5, reason=f"it says {said:g}", metrics={"seen": 1.0, "judge_calls": 2.0})

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        return self.compute_reward(workflow_task, workflow_output)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        return f"missing: no {self.key}" if self.key in task.metadata.get("lacks", ()) else None

    def run_notes(self) -> list[str]:
        return [f"{self.key} was asked"]


class SaysLater(Says):
    """The same, after `together` of its kind have been asked: alone it waits for ever."""

    judge_kind = "io"
    bounds_itself = True
    metric_names = ("seen",)
    waiting: ClassVar[list[asyncio.Event]] = []

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        event = asyncio.Event()
        self.waiting.append(event)
        if len(self.waiting) >= workflow_output.metadata.get("together", 1):
            for each in self.waiting:
                each.set()
            self.waiting.clear()
        await event.wait()
        return Says.compute_reward(self, workflow_task, workflow_output)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        return loops.run(self.acompute_reward(workflow_task, workflow_output))

    async def aready(self) -> None:
        raise JudgeError("the endpoint is down", cause=Cause.ENDPOINT)


class Ranks(Says):
    """Ranks a group by what is said; refuses one of fewer than two."""

    judge_kind = "io"
    bounds_itself = True

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> Sequence[tuple[float, bool]]:
        if len(workflow_outputs) < 2:
            raise JudgeError("one output has no rank", cause=Cause.INPUT)
        said = [output.metadata["said"][self.key] for output in workflow_outputs]
        return [(sum(other < own for other in said) / (len(said) - 1), own == max(said)) for own in said]

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        raise JudgeError("a judge that ranks needs a group", cause=Cause.CONFIG)


class Hangs(BaseJudge):
    """Awaits for an hour."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.sleep(3600)
        return 1.0, True


def says(key: str, **part: Any) -> dict[str, Any]:
    return {"judge_protocol": f"{HERE}Says", "judge_kwargs": {"key": key}, **part}


def says_later(key: str, **part: Any) -> dict[str, Any]:
    return {"judge_protocol": f"{HERE}SaysLater", "judge_kwargs": {"key": key}, **part}


def ranks(key: str, **part: Any) -> dict[str, Any]:
    return {"judge_protocol": f"{HERE}Ranks", "judge_kwargs": {"key": key}, **part}


Parts = Mapping[str, PartVerdict]


def harmonic_mean(parts: Parts) -> float:
    rewards = [part.reward for part in parts.values() if part.reward is not None]
    return len(rewards) / sum(1 / reward for reward in rewards)


def how_many_failed(parts: Parts) -> float:
    return sum(part.status == "failed" for part in parts.values())


SEEN: list[Parts] = []


def notes(parts: Parts) -> float:
    """1.0; what it was given stands in SEEN."""
    SEEN.append(parts)
    return 1.0


def nan(parts: Parts) -> float:
    return float("nan")


def text(parts: Parts) -> Any:
    return "1.0"


def huge(parts: Parts) -> float:
    return 10**400


def mutates(parts: Any) -> float:
    parts["a"] = 1.0
    return 1.0


def mutates_a_part(parts: Any) -> float:
    parts["a"].reward = 1.0
    return 1.0


async def awaits(parts: Parts) -> float:
    return 1.0


def takes_two(parts: Parts, more: object) -> float:
    return 1.0
