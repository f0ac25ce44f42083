"""The rows of the HTTP benchmarks as requests carry them, each with the verdict it must get."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from benchmarks.math import hostile
from benchmarks.scale.load import Row
from benchmarks.scale.workload import MATH, exact_lines, mixed_lines

MATH_JUDGE: dict[str, Any] = {"judge_protocol": MATH}
# longer ones the service refuses unread, and one in a hundred of that length would measure the network
_MOST_CHARS = 200_000


def exact_rows(count: int) -> list[Row]:
    """Right answers, written as the reference is."""
    return _rows(exact_lines(count))


def mixed_rows(count: int) -> list[Row]:
    """60 % written as the reference is, 25 % right in another form, 15 % wrong."""
    return _rows(mixed_lines(count))


def hostile_rows() -> list[Row]:
    """What a policy could write to hang a math judge, or to be paid for nothing; none of it must be paid."""
    found = []
    for made in hostile.outputs():
        if len(made.output) <= _MOST_CHARS:
            task = {"task_id": "hostile", "metadata": {"answer": made.reference}}
            rollout = {"task": task, "output": {"metadata": {"final_answer": made.output}}}
            found.append(Row(json.dumps(rollout).encode(), False))
    return found


def _rows(lines: Iterable[bytes]) -> list[Row]:
    # a line of a rollout file is a request
    return [Row(line.strip(), json.loads(line)["label"]["is_success"]) for line in lines]
