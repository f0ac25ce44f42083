"""What the scale benchmarks judge: math rows that match exactly, a mix, and rows whose judge waits 50 ms for a server.

Made, deterministic and streamed: any number of rows, the same on every machine, none held in memory.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from functools import cache
from types import TracebackType
from typing import Any

from agentscope_tuner import BaseJudge, WorkflowOutput, WorkflowTask
from benchmarks.math.workload import Solution, solutions

MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
STUB = "benchmarks.scale.workload->StubJudge"
STUB_SECONDS = 0.05
# the end of a solution: what a row holds besides its answer should not be what is measured
_TEXT_CHARS = 600
# as many as reached a worker of the made solutions, before most of them were decided without one: 8 %
_FORMULA_EVERY = 13


def config(protocol: str, **kwargs: Any) -> dict[str, Any]:
    """A configuration with this judge."""
    return {"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": kwargs}}}


def exact_lines(count: int) -> Iterator[bytes]:
    """`count` lines of a rollout file whose answers are written exactly as their references."""
    return _lines([solution for solution in _solutions() if solution.kind == "exact"], count)


def mixed_lines(count: int, *, formulas: bool = True) -> Iterator[bytes]:
    """`count` lines: 60 % exact, 25 % right in another form, 15 % wrong.

    Args:
        formulas: one in `_FORMULA_EVERY` needs a worker, which takes a hundred times as long as all the others.
    """
    return _lines(_with_formulas() if formulas else _solutions(), count)


@cache
def _solutions() -> list[Solution]:
    return solutions()


@cache
def _with_formulas() -> list[Solution]:
    """The solutions, some replaced by a pair that no stage before the worker decides."""
    found = _solutions().copy()
    for place in range(0, len(found), _FORMULA_EVERY):
        a = place + 1
        answer = rf"The norm is \boxed{{\sqrt{{x^4+{2 * a}x^2+{a * a}}}}}."
        found[place] = Solution(answer, f"x^2+{a}", True, "formula")
    return found


def _lines(source: list[Solution], count: int) -> Iterator[bytes]:
    for number in range(count):
        solution = source[number % len(source)]
        row = {
            "id": f"row-{number}",
            "task": {"task_id": f"task-{number}", "metadata": {"answer": solution.reference}},
            "output": {"metadata": {"final_answer": solution.output[-_TEXT_CHARS:]}},
            "label": {"is_success": solution.right},
        }
        yield json.dumps(row).encode() + b"\n"


class StubJudge(BaseJudge):
    """Asks the server at `judge_kwargs.port` of 127.0.0.1 about every row, as an LLM judge would."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.config.astuner.task_judge.judge_kwargs.port)
        try:
            writer.write(b"?\n")
            return float(await reader.readline()), True
        finally:
            writer.close()


class StubServer:
    """Answers every connection after `STUB_SECONDS`; a context manager."""

    def __init__(self) -> None:
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> StubServer:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    async def _listen(self) -> int:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0, backlog=1024)
        port: int = server.sockets[0].getsockname()[1]
        return port

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        await asyncio.sleep(STUB_SECONDS)
        writer.write(b"1.0\n")
        writer.close()

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
