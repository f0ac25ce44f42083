"""64 rollouts at once against an endpoint with 200 ms latency, and what one that hangs costs the others.

    make bench-rollout

The ideal rate is 64 rollouts every `calls * 200 ms`. Three workflows: one that speaks HTTP by hand, which shows what
the runner itself costs; one that asks the ModelTuner; one with an agentscope agent. Beside the agent the same agents
without astuner, gathered on one event loop over one shared client. They take turns, so that what else the machine does
meets all alike. The CPU time a call says where the rate must end on one core: 200 ms / 64 = 3.1 ms is the ideal's. The
endpoint runs in a process of its own on the same cores; what it takes of one is printed. About a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.message import UserMsg
from rich.console import Console
from rich.table import Table

from agentscope_tuner import BaseJudge, ModelTuner, Task, TaskJudge, Workflow, WorkflowOutput, WorkflowTask
from agentscope_tuner.lab.rollouts.attempt import Script
from agentscope_tuner.lab.rollouts.runner import RolloutRunner
from agentscope_tuner.model_tuner import endpoint_model
from agentscope_tuner.rules import compile_rules
from benchmarks.bars import at_least
from benchmarks.rollout.endpoint import ANSWER, LATENCY
from benchmarks.scale.served import all_cpu_seconds

AT_ONCE = 64
#: By way: the share of the ideal that it must reach. An agent has work of its own: see `over_processes`.
BARS = {"ModelTuner": 0.85}
TIMEOUT = 600.0


class AlwaysRight(BaseJudge):
    """Costs nothing."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return 1.0, True


class ByHand(Workflow):
    """`metadata["calls"]` requests over one connection, written by hand."""

    async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
        reader, writer = await asyncio.open_connection("127.0.0.1", model_tuner.port)
        body = task.task.main_query.encode()
        for _ in range(task.task.metadata["calls"]):
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await reader.readexactly(len(ANSWER))
        writer.close()
        return WorkflowOutput(metadata={"final_answer": "right"})


class ByTuner(Workflow):
    """The same through the model, without an agent."""

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        for _ in range(task.task.metadata["calls"]):
            await model_tuner([UserMsg("user", task.task.main_query)])
        return WorkflowOutput(metadata={"final_answer": "right"})


class ByAgent(Workflow):
    """The same with an agent, which answers as often."""

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        agent = Agent(
            name="walker",
            system_prompt="Answer with one word.",
            model=model_tuner,
            react_config=ReActConfig(max_iters=1, interruption_raise_cancelled_error=True),
            injection_config=InjectionConfig(inject_runtime_state=False),
        )
        for _ in range(task.task.metadata["calls"]):
            reply = await agent.reply(UserMsg("user", task.task.main_query))
        return WorkflowOutput(metadata={"final_answer": reply})


@dataclass
class Port:
    """What ByHand is lent."""

    port: int
    trajectory: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Measured:
    """Rollouts a second, and milliseconds of this process's CPU a call."""

    rate: float
    cpu_ms: float


def tasks(count: int, calls: int, query: str = "Where to?") -> list[Task]:
    return [Task(task_id=f"{query}-{n}", main_query=query, metadata={"calls": calls}) for n in range(count)]


def rolled_out(workflow: type[Workflow], port: int, count: int, calls: int, *, hanging: bool = False) -> Measured:
    """`count` rollouts by the runner; with one more that hangs when asked, whose place comes on top."""

    def lend() -> Any:
        return Port(port) if workflow is ByHand else ModelTuner.for_endpoint(f"http://127.0.0.1:{port}/v1", "m")

    runner = RolloutRunner(
        Script(workflow, lend, TIMEOUT),
        TaskJudge(AlwaysRight(None), compile_rules([])),
        max_env_worker=AT_ONCE + hanging,
    )
    todo = [*(tasks(1, calls, "hang") if hanging else []), *tasks(count, calls)]
    started, cpu = time.perf_counter(), time.process_time()
    groups = runner.run(todo)
    for _ in range(count):
        (row,) = next(groups)
        assert row.judgement.reward == 1.0, row.played.error
    taken = Measured(count / (time.perf_counter() - started), (time.process_time() - cpu) / count / calls * 1000)
    runner.stop()
    assert not list(groups)
    return taken


def gathered(port: int, count: int, calls: int) -> Measured:
    """The agents without astuner's runner, on one event loop over one client."""

    async def all_of_them() -> None:
        places = asyncio.Semaphore(AT_ONCE)
        model = endpoint_model(f"http://127.0.0.1:{port}/v1", "m")

        async def one(task: Task) -> None:
            async with places:
                await ByAgent().execute(WorkflowTask(task=task), ModelTuner(model))

        await asyncio.gather(*(one(task) for task in tasks(count, calls)))
        await model.aclose()

    started, cpu = time.perf_counter(), time.process_time()
    asyncio.run(all_of_them())
    return Measured(count / (time.perf_counter() - started), (time.process_time() - cpu) / count / calls * 1000)


@dataclass(frozen=True)
class Endpoint:
    """An endpoint in a process of its own."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """That it has used."""
        return all_cpu_seconds(self.pid)


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """From its start to its end."""
    command = [sys.executable, "-m", "benchmarks.rollout.endpoint"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Endpoint(int(process.stdout.readline()), process.pid)
        finally:
            process.terminate()


def main() -> None:
    """Measures, prints, and says what was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=5, help="model calls a rollout")
    parser.add_argument("--rollouts", type=int, default=128, help="rollouts a measurement")
    parser.add_argument("--turns", type=int, default=1, help="of which the medians are printed")
    asked = parser.parse_args()
    ways: dict[str, Callable[[int], Measured]] = {
        "HTTP by hand": lambda port: rolled_out(ByHand, port, asked.rollouts, asked.calls),
        "ModelTuner": lambda port: rolled_out(ByTuner, port, asked.rollouts, asked.calls),
        "agent": lambda port: rolled_out(ByAgent, port, asked.rollouts, asked.calls),
        "agent, one hangs": lambda port: rolled_out(ByAgent, port, asked.rollouts, asked.calls, hanging=True),
        "HTTP by hand, one hangs": lambda port: rolled_out(ByHand, port, asked.rollouts, asked.calls, hanging=True),
        "agent without astuner": lambda port: gathered(port, asked.rollouts, asked.calls),
    }
    with endpoint() as served:
        rolled_out(ByAgent, served.port, 4, 1)  # imports and caches
        gc.freeze()  # as `astuner rollout` does
        used, started = served.cpu_seconds(), time.perf_counter()
        turns = [{name: way(served.port) for name, way in ways.items()} for _ in range(asked.turns)]
        share = (served.cpu_seconds() - used) / (time.perf_counter() - started)
    ideal = AT_ONCE / (asked.calls * LATENCY)
    table = Table("64 at once", "rollouts/s", "of the ideal", "CPU a call", title_justify="left")
    table.title = (
        f"{asked.rollouts} rollouts of {asked.calls} calls, {LATENCY * 1000:g} ms each: ideal {ideal:g} rollouts/s"
    )
    shares = {}
    for name in ways:
        rate, cpu = (statistics.median(getattr(turn[name], field) for turn in turns) for field in ("rate", "cpu_ms"))
        shares[name] = rate / ideal
        table.add_row(name, f"{rate:.1f}", f"{shares[name]:.0%}", f"{cpu:.2f} ms")
    Console().print(table)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load}; the endpoint took {share:.0%} of one"
    )
    for name, bar in BARS.items():
        at_least(f"{AT_ONCE} rollouts at once, {name}, beside the ideal", shares[name], bar)


if __name__ == "__main__":
    main()
