"""Rows for `benchmarks.math.ablate`, judged in this process: the corpora, and the judge with changed modules.

Everything goes through `load_judge(configs/math.yaml)`. The stages of the worker run in this process, too, so that what
is taken out of a module is out of them as well; a row whose worker needs more than its deadline is left out.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

from benchmarks.math.removals import DECIDED, MARK

ROOT = Path(__file__).parents[2]
PACKAGE = "agentscope_tuner"
CORPORA = ("tests/cases/math_*.jsonl", "benchmarks/math/redteam/*.jsonl", "tutorial/example_math_agent/rollouts.jsonl")
# CPU seconds that a row may take; the judge's own deadline for the worker is half a second
ROW_SECONDS = 2.0


class Row(NamedTuple):
    """One text to be judged; `right`: its label, None where it has none."""

    question: str
    reference: Any
    text: str
    right: bool | None

    def spoken(self) -> str:
        """Everything in it, in lower case."""
        return f"{self.question}\n{self.reference}\n{self.text}".lower()


def labelled(record: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a labelled pair; of two references, a wrong answer may be paid for one."""
    text = record["output"] if "output" in record else f"\\boxed{{{record['answer']}}}"
    right = record.get("equal")
    if "second" in record:
        yield Row(record.get("question", ""), record["second"], text, None)
        right = None
    yield Row(record.get("question", ""), record["reference"], text, right)


def recorded(record: Mapping[str, Any]) -> Iterator[Row]:
    """The row of a rollout, as the package reads and writes them; it has no label."""
    task = record["task"]
    yield Row(
        task.get("main_query", ""), task["metadata"]["answer"], record["output"]["metadata"]["final_answer"], None
    )


def rows(paths: Iterable[Path]) -> list[Row]:
    """The rows of files of labelled pairs and of rollouts, each once."""
    found: dict[str, Row] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            found |= {repr(row): row for row in (recorded(record) if "task" in record else labelled(record))}
    return list(found.values())


def corpora() -> list[Path]:
    """The files of the repository."""
    return [path for pattern in CORPORA for path in sorted(ROOT.glob(pattern))]


class _Late(BaseException):
    """A row took too long. No `except Exception` may catch it."""


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    def late(signum: int, frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGVTALRM, late)
    # Again and again, in case that it is raised where exceptions are ignored
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class _InProcess:
    """What the judge asks in place of the sandbox."""

    def compare(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> tuple[str, str]:
        from agentscope_tuner.errors import Cause, JudgeError
        from agentscope_tuner.verify import sandbox_worker

        request = {"answer": answer, "truth": ground_truth, "question": question, "stage": stage, "seconds": 1e5}
        reply = sandbox_worker._answer(request)
        if "judge_error" in reply:
            raise JudgeError(reply["judge_error"], cause=Cause.BUG)
        return reply["outcome"], reply["reason"]


class Judging:
    """The judge in this process, its worker's stages too; made after `Changed` is installed."""

    def __init__(self) -> None:
        from agentscope_tuner.verify import sandbox

        # Before the judge is imported, which takes this name from the module
        sandbox.shared = lambda *_, **__: _InProcess()  # type: ignore[assignment]
        from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_judge

        judge = load_judge(ROOT / "configs" / "math.yaml")

        def verdict(row: Row) -> bool | None:
            task = Task(main_query=row.question, metadata={"answer": row.reference})
            output = WorkflowOutput(metadata={"final_answer": row.text})
            return judge.judge(WorkflowTask(task=task), output).is_success

        self._verdict = verdict

    def verdict(self, row: Row) -> bool | None:
        """The verdict; None where there is none, as when it took too long."""
        try:
            with _limit(ROW_SECONDS):
                return self._verdict(row)
        except _Late:
            return None


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the package from code that is given.

    Args:
        compiled: the package's modules as they are, by name; it is filled as they are imported.
        changed: modules that are changed.
        ran: for marked modules: the numbers of the rules that ran.
    """

    def __init__(
        self,
        compiled: dict[str, CodeType],
        changed: Mapping[str, CodeType],
        ran: Mapping[str, set[int]] | None = None,
    ) -> None:
        self._compiled, self._changed, self._ran = compiled, changed, ran or {}

    def install(self) -> None:
        """From now on; what was imported of the package is forgotten."""
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]
        sys.meta_path.insert(0, self)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != PACKAGE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            return spec
        spec.loader = self
        return spec

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        assert module.__file__ is not None
        code = self._changed.get(name) or self._compiled.get(name)
        if code is None:
            source = Path(module.__file__).read_text(encoding="utf-8")
            code = self._compiled[name] = compile(source, module.__file__, "exec", dont_inherit=True)
        if name in self._ran:
            module.__dict__[MARK] = mark = self._ran[name].add

            def decided(number: int, decides: bool, value: Any) -> Any:
                if bool(value) is decides:
                    mark(number)
                return value

            module.__dict__[DECIDED] = decided
        # the interpreter's own loader does the same
        exec(code, module.__dict__)  # noqa: S102
