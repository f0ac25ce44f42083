"""A lender without a model, and workflows that behave in the ways a test asks for."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from agentscope_tuner import BaseJudge, Task, TaskJudge, Workflow, WorkflowOutput, WorkflowTask
from agentscope_tuner.env_service import ClientOptions, EnvServiceClient
from agentscope_tuner.lab.rollouts.attempt import Script
from agentscope_tuner.lab.rollouts.rows import RolloutRow
from agentscope_tuner.lab.rollouts.runner import RolloutRunner
from agentscope_tuner.lab.rollouts.settings import EnvPlace
from agentscope_tuner.rules import compile_rules

#: Longer than any test: what waits for it waits for ever.
FOR_EVER = 3600.0


@dataclass
class FakeCall:
    words: str

    def to_dict(self) -> dict[str, Any]:
        return {"role": "default", "response": {"content": self.words}, "prompt_tokens": 3, "completion_tokens": 2}


async def _signalled(number: int) -> None:
    """Send a signal that wakes this thread, and wait to be cancelled."""
    while True:
        # by now the main thread sleeps, and it sleeps on
        await asyncio.sleep(0.2)
        signal.pthread_kill(threading.get_ident(), number)
        # Python drops a KeyboardInterrupt that is raised within a finalizer: a person presses Ctrl-C once more
        await asyncio.sleep(15.0)


@dataclass
class FakeLender:
    """Answers with the query's own words, and remembers."""

    trajectory: list[FakeCall] = field(default_factory=list)
    closed: bool = False

    def ask(self, query: str) -> str:
        self.trajectory.append(FakeCall(query))
        return query

    async def aclose(self) -> None:
        self.closed = True


def fake_lenders(settings: object) -> type[FakeLender]:
    """What makes the lenders, by a name that other processes can import."""
    return FakeLender


class Gate:
    """Where blocking workflows stand until the test is over."""

    opened = threading.Event()


class Act(Workflow):
    """Does what the task's query says."""

    async def execute(self, task: WorkflowTask, model_tuner: FakeLender) -> WorkflowOutput:
        words = model_tuner.ask(task.task.main_query)
        match words.partition(" ")[0]:
            case "raise":
                raise ValueError("the workflow's own words" + "!" * 100_000)
            case "timeout":
                raise TimeoutError("the workflow's own clock")
            case "exit":
                sys.exit(0)
            case "nothing":
                return None  # type: ignore[return-value]
            case "interrupt":
                await _signalled(signal.SIGINT)
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "unpicklable":
                return WorkflowOutput(metadata={"final_answer": words, "function": lambda: words})
            case "terminate":
                await _signalled(signal.SIGTERM)
            case "hangup":
                await _signalled(signal.SIGHUP)
            case "hang":
                await asyncio.Event().wait()
            case "polite":
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    words = "I was interrupted."
            case "stubborn":
                while not Gate.opened.is_set():
                    try:
                        await asyncio.Event().wait()
                    except asyncio.CancelledError:
                        continue
            case "block":
                Gate.opened.wait(FOR_EVER)
            case "block-thread":
                await asyncio.to_thread(Gate.opened.wait, FOR_EVER)
            case "leave":
                self.left = asyncio.create_task(asyncio.sleep(FOR_EVER))
            case "end":
                return WorkflowOutput(metadata={"final_answer": words, "finished_reason": words.partition(" ")[2]})
        return WorkflowOutput(metadata={"final_answer": words})


class LengthJudge(BaseJudge):
    """Pays the answer's length; is broken where the answer says so."""

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        answer = workflow_output.metadata["final_answer"]
        if answer.startswith("unjudgeable"):
            raise RuntimeError("no verdict on this")
        if answer.startswith("unending"):
            Gate.opened.wait(FOR_EVER)
        return float(len(answer)), len(answer) > 3


class RankJudge(BaseJudge):
    """Ranks a group: each output's reward is how many outputs the group had."""

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[tuple[float, bool]]:
        return [(float(len(workflow_outputs)), True)] * len(workflow_outputs)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        raise AssertionError("a group is ranked as a whole")


class EnvWorld:
    """An environment service in this process: what was created and released, and a score."""

    def __init__(self, score: object = 1.0) -> None:
        self.score = score
        self.created: list[str] = []
        self.released: list[str] = []
        self.evaluated_after_release = False
        self.client = EnvServiceClient(
            "http://env.test", ClientOptions(tries=1), transport=httpx.MockTransport(self._answer)
        )

    def place(self) -> EnvPlace:
        return EnvPlace(self.client, "game", {"size": 4})

    def _answer(self, request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        instance = asked.get("instance_id")
        match request.url.path:
            case "/get_env_profile":
                data: object = ["first", "second"]
            case "/create":
                if asked["task_id"] == "absent":
                    return httpx.Response(400, json={"detail": "no such task"})
                assert asked["params"] == {"size": 4}
                self.created.append(instance)
                opening = [{"role": "user", "content": f"play {asked['task_id']}"}]
                data = {"state": opening, "info": {"instance_id": instance, "task_id": asked["task_id"]}}
            case "/evaluate":
                self.evaluated_after_release |= instance in self.released
                data = self.score
            case "/release":
                self.released.append(instance)
                data = None
            case path:
                raise AssertionError(path)
        return httpx.Response(200, json={"success": True, "data": data})


def tasks_of(*queries: str) -> list[Task]:
    return [Task(task_id=f"t{number}", main_query=query) for number, query in enumerate(queries)]


def runner_of(
    judge: BaseJudge | None = None,
    *,
    timeout: float = FOR_EVER,
    place: EnvPlace | None = None,
    workflow: type[Workflow] = Act,
    grace: float = 0.05,
    **options: Any,
) -> RolloutRunner:
    script = Script(workflow, FakeLender, timeout, place)
    return RolloutRunner(script, TaskJudge(judge or LengthJudge(), compile_rules([])), grace=grace, **options)


def run_all(runner: RolloutRunner, tasks: Sequence[Task]) -> Mapping[str, RolloutRow]:
    return {row.id: row for group in runner.run(tasks) for row in group}
