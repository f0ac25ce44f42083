"""`make tour`: follows one verdict through the code, and prints the rooms it enters, in order.

A newcomer sees the house by walking it: each room is a module, with the first words of its docstring. Below stand the
trip's calls of the package's functions, the modules they stand in, and the moves from one file to another. Every trip
is walked twice and the second walk is shown, because the first one imports modules and starts worker processes. What a
worker process does is not seen.

    make tour
    make tour TRIPS=key
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import logging
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType

from typer.testing import CliRunner

import agentscope_tuner
from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.adapters.trl import reward_func
from agentscope_tuner.cli.app import app
from tests.judge_server import JudgeServer, always

HOUSE = str(Path(agentscope_tuner.__file__).parent) + "/"
JUDGES = "agentscope_tuner.task_judge."
MATH = f"{JUDGES}math_answer_as_judge->MathAnswerAsJudge"

KEY = f"""astuner:
  task_judge:
    judge_protocol: {JUDGES}repetition_judge->RepetitionJudge
    judge_kwargs: {{n: 4}}
"""


@dataclass
class Walk:
    """The calls of the package's functions, each by its module and its name.

    A generator that goes on counts as a call, too, as the interpreter reports it.
    """

    calls: list[tuple[str, str]] = field(default_factory=list)

    @property
    def rooms(self) -> Counter[str]:
        """The calls of each module, in the order in which the modules are entered."""
        return Counter(room for room, _ in self.calls)

    @property
    def moves(self) -> int:
        """How often the next call stands in another module."""
        return sum(before[0] != after[0] for before, after in pairwise(self.calls))


class Guide:
    """Notes the calls of every thread that starts after it, and of the thread that makes it."""

    def __init__(self) -> None:
        self._walk: Walk | None = None
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if self._walk is None or event != "call" or not file.startswith(HOUSE) or frame.f_code.co_name == "<module>":
            return
        self._walk.calls.append((file.removeprefix(HOUSE), frame.f_code.co_qualname))

    def walk(self, trip: Callable[[], object], *, first: bool) -> Walk:
        """The second walk of `trip`; the `first`, which imports modules, where it is asked for."""
        if not first:
            trip()
        walk = self._walk = Walk()
        trip()
        self._walk = None
        return walk


def judge_of(**section: object) -> TaskJudge:
    return load_judge({"astuner": {"task_judge": section}})


def rollout(answer: str, said: str) -> tuple[WorkflowTask, WorkflowOutput]:
    task = WorkflowTask(task=Task(task_id="t1", main_query="What is it?", metadata={"answer": answer}))
    return task, WorkflowOutput(metadata={"final_answer": said})


@contextmanager
def number(folder: Path) -> Iterator[Callable[[], object]]:
    judge, pair = judge_of(judge_protocol=MATH), rollout("42", r"so \boxed{42}")
    yield lambda: judge.judge(*pair)


@contextmanager
def formula(folder: Path) -> Iterator[Callable[[], object]]:
    judge, pair = judge_of(judge_protocol=MATH), rollout("3/2", r"so \boxed{1.5}")
    yield lambda: judge.judge(*pair)


@contextmanager
def key(folder: Path) -> Iterator[Callable[[], object]]:
    (folder / "key.yaml").write_text(KEY, encoding="utf-8")
    yield lambda: load_judge(folder / "key.yaml")


@contextmanager
def reply(folder: Path) -> Iterator[Callable[[], object]]:
    with JudgeServer(always(1)) as server:
        llm = {"model_name": "m", "base_url": server.url, "api_key": "none", "client": {"cache": False}}
        judge = judge_of(judge_type="llm", llm={**llm, "grader": "correctness"})
        pair = rollout("42", "It is 42, since 6 times 7 is 42.")
        yield lambda: asyncio.run(judge.ajudge(*pair))


@contextmanager
def row(folder: Path) -> Iterator[Callable[[], object]]:
    conf, rows = folder / "math.yaml", folder / "rows.jsonl"
    conf.write_text(f"astuner: {{task_judge: {{judge_protocol: {MATH}}}}}", encoding="utf-8")
    output = {"metadata": {"final_answer": r"\boxed{42}"}}
    lines = [{"id": str(place), "task": {"metadata": {"answer": "42"}}, "output": output} for place in range(3)]
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    command = ["judge", "--conf", str(conf), "--input", str(rows), "--output", str(folder / "out.jsonl"), "--jobs", "1"]

    def judged() -> None:
        (folder / "out.jsonl").unlink(missing_ok=True)
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output

    yield judged


@contextmanager
def advantage(folder: Path) -> Iterator[Callable[[], object]]:
    # A batch of nothing but failures ends a run; here it is looked at
    function = reward_func({"astuner": {"task_judge": {"judge_protocol": MATH}}}, stop_when_failing=False)

    def rewarded() -> None:
        # A list is no reference, so there is no verdict: TRL reads None as an advantage of 0
        assert function(["What is it?"], [r"\boxed{42}"], answer=[["42"]]) == [None]

    yield rewarded


TRIPS = {
    "number": (number, "a plain number against its reference"),
    "formula": (formula, r"`\boxed{1.5}` against `3/2`"),
    "key": (key, "`judge_kwargs.n` of a YAML file to its judge"),
    "reply": (reply, "a judge model's reply to a judgement, one juror"),
    "row": (row, "three rows by `astuner judge`"),
    "advantage": (advantage, "a failed verdict to a trainer's advantage, by TRL"),
}


def subject(room: str) -> str:
    """The first sentence of a module's docstring."""
    told = ast.get_docstring(ast.parse(Path(HOUSE, room).read_text(encoding="utf-8"))) or ""
    return " ".join(told.partition("\n\n")[0].split())


def follow(guide: Guide, name: str, *, first: bool = False) -> Walk:
    """The walk of the trip `name`."""
    with tempfile.TemporaryDirectory() as folder, TRIPS[name][0](Path(folder)) as trip:
        return guide.walk(trip, first=first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trips", nargs="*", help=f"of {', '.join(TRIPS)}; by default all")
    parser.add_argument("--first", action="store_true", help="show the first walk, with the imports on the way")
    parser.add_argument("--calls", action="store_true", help="print every call, not only the rooms")
    asked = parser.parse_args()
    # Before the first command: it would log to the stream of its test runner, which is closed after it
    logging.basicConfig(level=logging.ERROR)
    # Before the first trip: its threads are followed from their start
    guide = Guide()
    table = ["| trip | calls | modules | moves between files |", "| --- | --- | --- | --- |"]
    for name in asked.trips or TRIPS:
        walk = follow(guide, name, first=asked.first)
        print(f"\n{name}: {TRIPS[name][1]}")
        for room, calls in walk.rooms.items():
            print(f"{calls:6,}  {room:42} {subject(room):.110}")
        for room, call in walk.calls if asked.calls else ():
            print(f"        {room:42} {call}")
        table.append(f"| {TRIPS[name][1]} | {len(walk.calls):,} | {len(walk.rooms)} | {walk.moves:,} |")
    print("\n" + "\n".join(table))


if __name__ == "__main__":
    main()
