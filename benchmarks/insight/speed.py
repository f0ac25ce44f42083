"""`make bench-insight`: `agree` and `compare` on 100,000 rows."""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentscope_tuner.lab.agree import agreement
from agentscope_tuner.lab.compare import compare
from agentscope_tuner.records.blocks import read_lines
from agentscope_tuner.records.scored_rows import ScoredRow, scored_rows
from benchmarks.bars import at_most

GROUP = 16
STEP = 256


def scored_line(number: int, *, right: bool) -> bytes:
    """One scored row of a common size."""
    task = number // GROUP
    row: dict[str, Any] = {
        "id": str(number),
        "task": {"main_query": f"What is 2 * {task}?", "task_id": str(task), "metadata": {"answer": str(2 * task)}},
        "output": {"metadata": {"final_answer": "Let me see. " * 10 + f"\\boxed{{{2 * task}}}"}},
        "label": {"is_success": right if number % 20 else not right},
        "judgement": {
            "status": "judged", "reward": float(right), "is_success": right, "reason": "exact: 4 = 4", "violations": [],
            "error": None, "cause": None, "metrics": {}, "seconds": 0.0001,
        },
        "step": number // STEP,
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
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


if __name__ == "__main__":
    main()
