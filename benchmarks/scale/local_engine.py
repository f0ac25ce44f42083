"""Rows a second of the local engine, file to file: `python -m benchmarks.scale.local_engine`.

Exact-match math, mixed math and a judge that waits 50 ms for a server, each with one and with two rows at a time (the
waiting one also with 64). The plain loop beside them judges in one process without an engine. Each rate is the best of
`--passes`, taken in turns, so that all of them meet the same machine; a pass includes the start of its workers. CPU is
what all processes together used for a row.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentscope_tuner import WorkflowTask, load_judge
from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.local import score_lines
from agentscope_tuner.records import ScoredFile, Summary, read_lines, read_rows, scored_line
from benchmarks.scale.workload import MATH, STUB, StubServer, config, exact_lines, mixed_lines

Pass = Callable[[Path, Path], Summary]


def plain(settings: dict[str, Any]) -> Pass:
    """A loop over the rows, as one would write it with `load_judge`."""
    judge = load_judge(settings)

    def loop(source: Path, target: Path) -> Summary:
        summary = Summary()
        with source.open("rb") as stream, ScoredFile(target) as scored:
            for row in read_rows(stream, source.name):
                assert row.rollout is not None
                verdict = judge.judge(WorkflowTask(task=row.rollout.task), row.rollout.output)
                scored.write(scored_line(row, verdict))
                summary.add(verdict, name=row.rollout.id)
        return summary

    return loop


def engine(settings: dict[str, Any], jobs: int) -> Pass:
    """What `astuner judge --jobs` does."""
    judge = LineJudge(settings)

    def through_engine(source: Path, target: Path) -> Summary:
        summary = Summary()
        with source.open("rb") as stream, ScoredFile(target) as scored:
            for row in score_lines(judge, read_lines(stream, source.name), jobs=jobs):
                scored.write(row.line)
                summary.add(row.judgement, name=row.name, label=row.label)
        return summary

    return through_engine


def cpu_seconds() -> float:
    """What this process and those it has ended have used."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def measure(name: str, lines: Iterator[bytes], ways: dict[str, Pass], passes: int) -> None:
    """Print rows a second of each way, and the ratio to the first."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "rollouts.jsonl", Path(folder) / "scored.jsonl"
        with source.open("wb") as stream:
            stream.writelines(lines)
        best = dict.fromkeys(ways, 0.0)
        used = dict.fromkeys(ways, float("inf"))
        for _ in range(passes):
            for way, judge_file in ways.items():
                started, before = time.perf_counter(), cpu_seconds()
                summary = judge_file(source, target)
                assert summary.verdicts == summary.rows, f"{name}, {way}: {summary.failures}"
                best[way] = max(best[way], summary.rows / (time.perf_counter() - started))
                used[way] = min(used[way], 1e6 * (cpu_seconds() - before) / summary.rows)
    first = next(iter(best.values()))
    for way, rate in best.items():
        print(f"{name:<18} {way:<12} {rate:>10,.0f} rows/s {rate / first:>7.2f} x {used[way]:>10,.1f} µs of CPU a row")


def main() -> None:
    """Print every rate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of exact-match math; mixed math has a fifth")
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    print(f"local engine, Python {platform.python_version()}, {os.cpu_count()} cores, file to file")
    math = config(MATH)
    ways = {"plain loop": plain(math), "1 worker": engine(math, 1), "2 workers": engine(math, 2)}
    measure("exact-match math", exact_lines(options.rows), ways, options.passes)
    measure("mixed math", mixed_lines(options.rows // 5), ways, options.passes)
    with StubServer() as server:
        stub = config(STUB, port=server.port)
        waiting = {f"{jobs} at a time": engine(stub, jobs) for jobs in (1, 2, 64)}
        measure("I/O, 50 ms", exact_lines(max(64, options.rows // 500)), waiting, 1)


if __name__ == "__main__":
    main()
