"""Task ids of generated tasks: `train-0`, `train-1`, …; the id is the seed."""

from __future__ import annotations

import re

SPLITS = {"train": 1_000, "test": 200}


def query_list(split: str) -> list[str]:
    """All task ids of `split`."""
    if split not in SPLITS:
        raise ValueError(f"split must be one of {sorted(SPLITS)}, got {split!r}")
    return [f"{split}-{number}" for number in range(SPLITS[split])]


def check_task_id(task_id: str) -> str:
    """`task_id`; raises a ValueError if it is no task id."""
    split, _, number = task_id.rpartition("-")
    if split not in SPLITS or not re.fullmatch(r"0|[1-9][0-9]{0,5}", number) or int(number) >= SPLITS[split]:
        allowed = ", ".join(f"{name}-0 to {name}-{count - 1}" for name, count in SPLITS.items())
        raise ValueError(f"task_id must be one of {allowed}, got {task_id!r}")
    return task_id


def text_of(action: dict[str, object]) -> str:
    """The policy's text: the content of its chat message."""
    content = action.get("content")
    if not isinstance(content, str):
        raise ValueError(f"the action must be a message with a text as its content, got {content!r:.200}")
    return content
