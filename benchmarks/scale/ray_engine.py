"""Rows a second of the Ray engine beside the local one, file to file: `make bench-ray`.

Mixed math, and a judge that waits 50 ms for a server; with `--all` also exact-match math, one worker of each engine,
and "rows as data": the pipeline that Ray Data's own readers and writers give, with the same judge in the same actors,
which shows what rows cost on their way through the object store. No row of the mixed math needs a worker for its
formula: those take a hundred times as long in either engine, which would hide what the engines cost.

Each way judges many rows and a twentieth of them: the difference is what the rows take, and what is left is its start,
printed beside, which is paid once however many rows there are. So is the start of Ray itself. Each figure is of the
best of `--passes`, taken in turns, so that all of them meet the same machine. Beside the rate stands the processor time
of a row, over all processes of the way: on a busy machine it is the steadier of the two. About three minutes; some more
with `--all`.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.local import score
from agentscope_tuner.engines.ray import ray_module, session
from agentscope_tuner.engines.ray.files import score_files
from agentscope_tuner.records.blocks import LineBlock, read_blocks
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import Summary
from benchmarks.bars import at_least
from benchmarks.scale.file_path import Cost
from benchmarks.scale.served import all_cpu_seconds
from benchmarks.scale.workload import MATH, STUB, StubServer, config, exact_lines, mixed_lines

Way = Callable[[Path, Path], int]
#: By way: what share of the local rate it must reach.
BARS = {"Ray, 2 workers": 0.95}
_FEW = 20


def local(settings: dict[str, Any], jobs: int) -> Way:
    """What `astuner judge --jobs` does."""
    judge = LineJudge(settings)

    def judge_file(source: Path, target: Path) -> int:
        summary = Summary()
        with source.open("rb") as stream, (target / "scored.jsonl").open("wb") as scored:
            for block in score(judge, read_blocks(stream, source.name), jobs=jobs):
                scored.write(block.data)
                summary.merge(block.summary)
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
        return {"scored": [self._judge.judge(LineBlock((line,), 1))[0].data.decode() for line in lines]}


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


def judged(judge_file: Way, source: Path, target: Path, rows: int) -> Cost:
    """What a way takes for a file of `rows` rows."""
    target.mkdir()
    used, started = all_cpu_seconds(os.getpid()), time.perf_counter()
    verdicts = judge_file(source, target)
    cost = Cost(time.perf_counter() - started, all_cpu_seconds(os.getpid()) - used)
    assert verdicts == rows, f"{target.name}: {verdicts} verdicts on {rows} rows"
    return cost


def measure(name: str, make: Callable[[int], Iterator[bytes]], rows: int, ways: dict[str, Way], passes: int) -> None:
    """Print what each way takes, and the ratio of each that has a bar to the one before it that is local."""
    few = rows // _FEW
    best: dict[tuple[str, int], Cost] = {}
    with tempfile.TemporaryDirectory() as folder:
        sources = {size: Path(folder) / f"rollouts-{size}.jsonl" for size in (rows, few)}
        for size, source in sources.items():
            with source.open("wb") as stream:
                stream.writelines(make(size))
        for way in ways:
            # Ray Data starts actors of its own with the first run of a cluster, which are no part of any later one
            judged(ways[way], sources[few], Path(folder) / f"{way}-first", few)
        for turn, way, size in product(range(passes), ways, sources):
            cost = judged(ways[way], sources[size], Path(folder) / f"{way}-{size}-{turn}", size)
            so_far = best.get((way, size), cost)
            best[way, size] = Cost(min(cost.wall, so_far.wall), min(cost.cpu, so_far.cpu))
    beside = Cost(1.0, 1.0)
    for way in ways:
        more, less = best[way, rows], best[way, few]
        row = Cost((more.wall - less.wall) / (rows - few), (more.cpu - less.cpu) / (rows - few))
        beside = row if way.startswith("local") else beside
        print(f"{name:<18} {way:<28} {1 / row.wall:>10,.0f} rows/s {beside.wall / row.wall:>7.2f} x", end="")
        print(f"   CPU {1e6 * row.cpu:>7,.0f} us a row {row.cpu / beside.cpu:>7.2f} x", end="")
        print(f"   start {less.wall - few * row.wall:>5.1f} s", flush=True)
        if way in BARS:
            at_least(f"{name}, {rows:,} rows, {way}, beside local", beside.wall / row.wall, BARS[way])


def math_ways(*, every: bool) -> dict[str, Way]:
    """Two workers of each engine; where every way is asked for one, too, and rows as data."""
    settings = config(MATH)
    ways: dict[str, Way] = {}
    for workers, jobs in (("1 worker", 1), ("2 workers", 2)) if every else (("2 workers", 2),):
        ways[f"local, {workers}"] = local(settings, jobs)
        ways[f"Ray, {workers}"] = ray_files(settings, jobs)
    return {**ways, "Ray, 2 workers, rows as data": ray_rows(settings, 2)} if every else ways


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000, help="rows of math")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=("mixed", "exact", "io"), default=("mixed", "io"))
    parser.add_argument("--all", action="store_true", help="every workload, every way")
    options = parser.parse_args()
    wanted = ("mixed", "exact", "io") if options.all else options.only
    # actors import this module: under its name, not as the main script
    from benchmarks.scale import ray_engine as here

    started = time.perf_counter()
    with session(None, workers=4) as ray:
        ray_module("ray.data")
        print(f"Ray {ray.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, file to file")
        print(f"Ray itself starts in {time.perf_counter() - started:.1f} s, which no rate below counts", flush=True)
        ways = here.math_ways(every=options.all)
        if "mixed" in wanted:
            measure("mixed math", partial(mixed_lines, formulas=False), options.rows, ways, options.passes)
        if "exact" in wanted:
            measure("exact-match math", exact_lines, options.rows, ways, options.passes)
        if "io" in wanted:
            with StubServer() as server:
                measure("I/O, 50 ms", exact_lines, max(1280, options.rows // 20), here.waiting_ways(server.port), 1)


if __name__ == "__main__":
    main()
