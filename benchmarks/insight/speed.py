"""`make bench-insight`: `agree` and `compare` on 100,000 rows; `watch` over a million; the cost of `log_dir`."""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentscope_tuner.insight.agree import agreement
from agentscope_tuner.insight.compare import compare
from agentscope_tuner.insight.watch.run_watch import RunWatch, by_step
from agentscope_tuner.records.reader import Line, read_lines
from agentscope_tuner.records.scored_rows import ScoredRow, scored_rows
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_most

_GROUP = 16
_STEP = 256


def scored_line(number: int, *, right: bool) -> bytes:
    """One scored row of a common size."""
    task = number // _GROUP
    row: dict[str, Any] = {
        "id": str(number),
        "task": {"main_query": f"What is 2 * {task}?", "task_id": str(task), "metadata": {"answer": str(2 * task)}},
        "output": {"metadata": {"final_answer": "Let me see. " * 10 + f"\\boxed{{{2 * task}}}"}},
        "label": {"is_success": right if number % 20 else not right},
        "judgement": {
            "status": "judged", "reward": float(right), "is_success": right, "reason": "exact: 4 = 4", "violations": [],
            "error": None, "cause": None, "metrics": {}, "seconds": 0.0001,
        },
        "step": number // _STEP,
    }  # fmt: skip
    return json.dumps(row).encode()


def write(path: Path, rows: int, seed: int) -> None:
    """A scored file; two of different seeds differ in two rows of a hundred."""
    changes = random.Random(seed)
    with open(path, "wb") as stream:
        for number in range(rows):
            right = random.Random(number).random() < 0.5
            stream.write(scored_line(number, right=right != (changes.random() < 0.01)) + b"\n")


def read(path: Path) -> Iterator[ScoredRow]:
    with open(path, "rb") as stream:
        yield from scored_rows(read_lines(stream, path.name))


def watched(rows: int) -> tuple[float, int]:
    """Processor seconds of the watch alone, and how far it raised the peak of memory, in MB."""
    held = [scored_line(number, right=number % 3 == 0) for number in range(_STEP * 8)]
    lines = (Line("rows:1", held[number % len(held)]) for number in range(rows))
    ready = (row for row in scored_rows(lines))
    watch, spent = RunWatch(), 0.0
    start = 0
    for count, (step, block) in enumerate(by_step(ready)):
        begun = time.process_time()
        watch.step(step, block)
        spent += time.process_time() - begun
        if count == 100:
            start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return spent, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) // 1024


def logged(rows: int, folder: Path | None) -> float:
    """Processor seconds of a math judge over `rows` cheap verdicts, with and without `log_dir`."""
    section: dict[str, Any] = {
        "judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge",
        "log_dir": None if folder is None else str(folder),
    }
    judge = ConfiguredJudge({"astuner": {"task_judge": section}})
    task = WorkflowTask(task=Task(main_query="What is 6 * 7?", task_id="t", metadata={"answer": "42"}))
    pairs = [(task, WorkflowOutput(metadata={"final_answer": "So it is \\boxed{42}"})) for _ in range(256)]
    judge.judge_batch(pairs)
    begun = time.process_time()
    for _ in range(rows // len(pairs)):
        judge.judge_batch(pairs)
    spent = time.process_time() - begun
    judge.close_log()
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--watched", type=int, default=1_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        first, second = Path(name) / "a.jsonl", Path(name) / "b.jsonl"
        write(first, asked.rows, 1)
        write(second, asked.rows, 2)
        begun = time.process_time()
        report = agreement(read(first), None)
        spent = time.process_time() - begun
        print(f"agree    {asked.rows:,} rows: {spent:.1f} s of processor; {report['different']:,} differ")
        at_most(f"astuner agree, {asked.rows:,} rows", spent, 10, "s")
        begun = time.process_time()
        found = compare(read(first), read(second))
        spent = time.process_time() - begun
        print(f"compare  {asked.rows:,} rows: {spent:.1f} s of processor; {found.changed:,} changed")
        at_most(f"astuner compare, {asked.rows:,} rows", spent, 10, "s")
        bare, kept = logged(20_480, None), logged(20_480, Path(name) / "judged")
        print(f"log_dir  {20_480 / bare:,.0f} verdicts a second without, {20_480 / kept:,.0f} with it")
    spent, grown = watched(asked.watched)
    share = spent / asked.watched * 20_000
    print(f"watch    {asked.watched:,} rows: {spent / asked.watched * 1e6:.1f} us a row, memory grown by {grown} MB")
    print(f"         {share:.1%} of a processor beside 20,000 verdicts a second, in its own process")


if __name__ == "__main__":
    main()
