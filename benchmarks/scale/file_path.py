"""What a file costs beside its verdicts: `python -m benchmarks.scale.file_path`.

Rows are judged file to file as `astuner judge` does it, with one job and with two, beside `compute_reward` on the same
rows, which are parsed beforehand. The tutorial's rows cost ten times what the made rows do, which match exactly. With
one job the ratio is of CPU time, which other programs on the machine change little; with two it is of wall-clock time,
the best of some short passes. What a run costs before its first row is taken off: each figure is the difference
between many rows and few.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agentscope_tuner import WorkflowTask, load_judge
from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.local import score
from agentscope_tuner.records.blocks import read_blocks, read_rows
from agentscope_tuner.records.output import ScoredFile
from agentscope_tuner.records.scored_rows import Summary
from benchmarks.bars import at_least
from benchmarks.scale.workload import MATH, config, exact_lines

TUTORIAL = Path(__file__).parents[2] / "tutorial" / "example_math_agent" / "rollouts.jsonl"
_TIMES = 80
_EXACT_ROWS = 40_000
_FEW = 20


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one pass over a file."""

    wall: float
    cpu: float


def cpu_seconds() -> float:
    """Of this process and of those that it has ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def timed(work: Callable[[], None]) -> Cost:
    """What `work` costs."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    work()
    return Cost(time.perf_counter() - wall, cpu_seconds() - cpu)


def rewards(source: Path) -> Callable[[], None]:
    """`compute_reward` on the rows of a file, one after the other."""
    judge = load_judge(config(MATH))
    with source.open("rb") as stream:
        rollouts = [row.rollout for row in read_rows(stream, source.name)]
    pairs = [(WorkflowTask(task=found.task), found.output) for found in rollouts if found is not None]
    assert len(pairs) == len(rollouts)

    def loop() -> None:
        for task, output in pairs:
            judge.compute_reward(task, output)

    return loop


def scored(source: Path, jobs: int) -> Callable[[], None]:
    """What `astuner judge --jobs` does with a file."""
    judge, target = LineJudge(config(MATH), "digest"), source.with_suffix(".scored")

    def through() -> None:
        summary = Summary()
        with (
            source.open("rb") as stream,
            ScoredFile(target) as output,
            closing(score(judge, read_blocks(stream, source.name), jobs=jobs)) as blocks,
        ):
            for block in blocks:
                output.write(block.data)
                summary.merge(block.summary)
        assert summary.verdicts == summary.rows, summary.failures

    return through


def measure(folder: Path, name: str, many: bytes, few: bytes, passes: int) -> dict[str, Cost]:
    """Seconds a row of each way, in turns, so that all of them meet the same machine."""
    files = {size: folder / f"{name}-{size}.jsonl" for size in ("many", "few")}
    files["many"].write_bytes(many)
    files["few"].write_bytes(few)
    ways: dict[str, Callable[[Path], Callable[[], None]]] = {
        "compute_reward": rewards,
        "one job": partial(scored, jobs=1),
        "two jobs": partial(scored, jobs=2),
    }
    work = {(way, size): make(path) for way, make in ways.items() for size, path in files.items()}
    best: dict[tuple[str, str], Cost] = {}
    for _ in range(passes):
        for key, run in work.items():
            cost, so_far = timed(run), best.get(key)
            best[key] = Cost(min(cost.wall, so_far.wall), min(cost.cpu, so_far.cpu)) if so_far else cost
    rows = many.count(b"\n") - few.count(b"\n")
    found = {}
    for way in ways:
        more, less = best[way, "many"], best[way, "few"]
        found[way] = Cost((more.wall - less.wall) / rows, (more.cpu - less.cpu) / rows)
        print(
            f"{name:<16} {way:<15} {1 / found[way].wall:>9,.0f} rows/s {1e6 * found[way].cpu:>8.1f} µs of CPU a row",
            flush=True,
        )
    return found


def main() -> None:
    """Print every rate, and the ratios beside their bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    print(f"file to file, Python {platform.python_version()}, {os.cpu_count()} cores")
    rows, exact = TUTORIAL.read_bytes(), b"".join(exact_lines(_EXACT_ROWS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tutorial = measure(folder, "tutorial rows", rows * _TIMES, rows * (_TIMES // _FEW), options.passes)
        few = b"".join(exact_lines(_EXACT_ROWS // _FEW))
        cheap = measure(folder, "exact matches", exact, few, options.passes)
    one = tutorial["compute_reward"].cpu / tutorial["one job"].cpu
    at_least("judge, one job, tutorial rows, beside compute_reward", one, 0.7)
    for kind, costs in (("tutorial rows", tutorial), ("exact matches", cheap)):
        at_least(f"judge, two jobs beside one, {kind}", costs["one job"].wall / costs["two jobs"].wall, 1.7)
        spare = 2 * costs["one job"].cpu / costs["two jobs"].cpu
        print(f"    by CPU time two jobs could reach {spare:.2f}x on two cores of their own")


if __name__ == "__main__":
    main()
