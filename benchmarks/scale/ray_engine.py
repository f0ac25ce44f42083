"""Rows a second of the Ray engine beside the local one, file to file: `make bench-ray`.

Exact-match math, mixed math and a judge that waits 50 ms for a server, with one and with two workers of each engine. A
pass includes the start of the workers; that of Ray itself is printed by itself, since it is paid once however many rows
there are. Each rate is the best of `--passes`, taken in turns, so that all of them meet the same machine.

"rows as data" is the pipeline that Ray Data's own readers and writers give, with the same judge in the same actors:
what the rows cost on their way through the object store.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.local import score_lines
from agentscope_tuner.on_ray.files import score_files
from agentscope_tuner.on_ray.session import ray_module, session
from agentscope_tuner.records import Line, ScoredFile, Summary, read_lines
from benchmarks.scale.workload import MATH, STUB, StubServer, config, exact_lines, mixed_lines

Way = Callable[[Path, Path], int]


def local(settings: dict[str, Any], jobs: int) -> Way:
    """What `astuner judge --jobs` does."""
    judge = LineJudge(settings)

    def judge_file(source: Path, target: Path) -> int:
        summary = Summary()
        with source.open("rb") as stream, ScoredFile(target / "scored.jsonl") as scored:
            for row in score_lines(judge, read_lines(stream, source.name), jobs=jobs):
                scored.write(row.line)
                summary.add(row.judgement, name=row.name, label=row.label)
        return summary.verdicts

    return judge_file


def ray_files(settings: dict[str, Any], jobs: int) -> Way:
    """What `astuner judge --engine ray --jobs` does, with Ray running."""

    def judge_file(source: Path, target: Path) -> int:
        summary = Summary()
        for record in score_files(settings, [source], target, digest="bench", jobs=jobs):
            summary.merge(Summary.from_dict(record.summary))
        return summary.verdicts

    return judge_file


class LineActor:
    """A judge of lines, for Ray Data's batches of text."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._judge = LineJudge(settings)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        lines = [Line("", text.encode()) for text in batch["text"]]
        return {"scored": [self._judge.judge([line])[0].line.decode() for line in lines]}


def ray_rows(settings: dict[str, Any], jobs: int) -> Way:
    """Rows through Ray Data: its reader, its batches, its writer."""

    def judge_file(source: Path, target: Path) -> int:
        data = ray_module("ray.data")
        data.DataContext.get_current().enable_progress_bars = False
        judged = data.read_text(str(source)).map_batches(
            LineActor,
            fn_constructor_args=(settings,),
            batch_size=1024,
            compute=data.ActorPoolStrategy(size=jobs),
            num_cpus=1,
        )
        judged.write_json(str(target))
        return sum(line.count(b'\\"judged\\"') for path in target.glob("*.json") for line in path.open("rb"))

    return judge_file


def measure(name: str, lines: Iterator[bytes], ways: dict[str, Way], passes: int) -> None:
    """Print rows a second of each way, and the ratio to the one before it that is local."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rollouts.jsonl"
        with source.open("wb") as stream:
            stream.writelines(lines)
        rows = sum(1 for _ in source.open("rb"))
        best = dict.fromkeys(ways, 0.0)
        for number in range(passes):
            for way, judge_file in ways.items():
                target = Path(folder) / f"{way}-{number}"
                target.mkdir()
                started = time.perf_counter()
                verdicts = judge_file(source, target)
                best[way] = max(best[way], rows / (time.perf_counter() - started))
                assert verdicts == rows, f"{name}, {way}: {verdicts} verdicts on {rows} rows"
    beside = 0.0
    for way, rate in best.items():
        beside = rate if way.startswith("local") else beside
        print(f"{name:<18} {way:<28} {rate:>10,.0f} rows/s {rate / beside:>7.2f} x", flush=True)


def math_ways() -> dict[str, Way]:
    """One worker and two, of each engine; and the other ways of two with Ray."""
    math = config(MATH)
    ways: dict[str, Way] = {}
    for workers, jobs in (("1 worker", 1), ("2 workers", 2)):
        ways[f"local, {workers}"] = local(math, jobs)
        ways[f"Ray, {workers}"] = ray_files(math, jobs)
    ways["Ray, 2 workers, rows as data"] = ray_rows(math, 2)
    return ways


def waiting_ways(port: int) -> dict[str, Way]:
    """As many rows at once on this machine as Ray's workers have."""
    stub = config(STUB, port=port)
    return {
        "local, 64 at once": local(stub, 64),
        "Ray, 1 worker (64 at once)": ray_files(stub, 1),
        "local, 128 at once": local(stub, 128),
        "Ray, 2 workers (128 at once)": ray_files(stub, 2),
    }


def main() -> None:
    """Print every rate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000, help="rows of math")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=("mixed", "exact", "io"), default=("mixed", "exact", "io"))
    options = parser.parse_args()
    # actors import this module: under its name, not as the main script
    from benchmarks.scale import ray_engine as here

    started = time.perf_counter()
    with session(None, workers=4) as ray:
        ray_module("ray.data")
        print(f"Ray {ray.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, file to file")
        print(f"Ray itself starts in {time.perf_counter() - started:.1f} s, which no rate below counts", flush=True)
        if "mixed" in options.only:
            measure("mixed math", mixed_lines(options.rows), here.math_ways(), options.passes)
        if "exact" in options.only:
            measure("exact-match math", exact_lines(options.rows), here.math_ways(), options.passes)
        if "io" in options.only:
            with StubServer() as server:
                measure("I/O, 50 ms", exact_lines(max(640, options.rows // 20)), here.waiting_ways(server.port), 1)


if __name__ == "__main__":
    main()
