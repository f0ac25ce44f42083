"""Reads rows that are rollouts or bare tasks as rollouts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from agentscope_tuner.records.reader import Line, Row, parse_line


def parse_tasks(lines: Iterable[Line]) -> Iterator[Row]:
    """The rollout of each line; a line that is a task becomes a rollout without an answer, named by the task's id."""
    for line in lines:
        row = parse_line(line)
        task = _task(line) if row.rollout is None and line.problem is None else None
        if task is None:
            yield row
            continue
        name = str(task.get("task_id") or line.where.rpartition(":")[2])
        yield parse_line(line._replace(raw=json.dumps({"id": name, "task": task, "output": {}}).encode()))


def _task(line: Line) -> dict[str, object] | None:
    try:
        task = json.loads(line.raw)
    except (ValueError, RecursionError):
        return None
    return task if isinstance(task, dict) and "main_query" in task and "task" not in task else None
