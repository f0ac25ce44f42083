"""Rows a second of the local engine: `python -m benchmarks.scale.local_engine`.

Blocks of a file through the engine, as `astuner judge --jobs` sends them: exact-match math and mixed math with one job
and with two, beside `compute_reward` on the same rows, which are parsed beforehand; what a run costs before its first
row is taken off (see `benchmarks.scale.file_path`). Then a judge that waits 50 ms for a server, with 1, 2 and 64 rows
at a time.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from pathlib import Path

from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.local import score
from agentscope_tuner.records.blocks import read_blocks
from agentscope_tuner.records.scored_rows import Summary
from benchmarks.bars import at_least
from benchmarks.scale.file_path import measure
from benchmarks.scale.workload import STUB, StubServer, config, exact_lines, mixed_lines

_FEW = 20


def waiting(source: Path, port: int, jobs: int) -> float:
    """Rows a second of the judge that waits, start-up included: it is a thread's."""
    summary, started = Summary(), time.perf_counter()
    with source.open("rb") as stream:
        for block in score(LineJudge(config(STUB, port=port)), read_blocks(stream, source.name), jobs=jobs):
            summary.merge(block.summary)
    assert summary.verdicts == summary.rows, summary.failures
    return summary.rows / (time.perf_counter() - started)


def main() -> None:
    """Print every rate, and those of exact matches beside their bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=40_000, help="rows of exact-match math; mixed math has a fortieth")
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    print(f"local engine, Python {platform.python_version()}, {os.cpu_count()} cores")
    kinds = {"exact matches": (exact_lines, options.rows), "mixed math": (mixed_lines, options.rows // 40)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        costs = {
            kind: measure(folder, kind, b"".join(make(rows)), b"".join(make(rows // _FEW)), options.passes)
            for kind, (make, rows) in kinds.items()
        }
        source = folder / "waiting.jsonl"
        source.write_bytes(b"".join(exact_lines(200)))
        with StubServer() as server:
            for jobs in (1, 2, 64):
                print(
                    f"a judge that waits 50 ms, {jobs:>2} at a time: {waiting(source, server.port, jobs):>8,.0f} rows/s"
                )
    found = costs["exact matches"]
    at_least("exact matches through the local engine, one worker", 1 / found["one job"].wall, 25_000, "rows/s")
    at_least("exact matches, two workers beside one", found["one job"].wall / found["two jobs"].wall, 1.8)


if __name__ == "__main__":
    main()
