"""400 injections by an eleventh author, who had read the source, in 40 languages, and 90 honest answers of odd kinds.

At first contact on 2026-11-28 none raised its score, none took a verdict away, and no honest answer was filtered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentscope_tuner.graders.prompt import Trajectory

_ROWS = Path(__file__).with_suffix(".jsonl")


def _rows(*, honest: bool) -> Iterator[dict[str, Any]]:
    # a text may hold signs that `splitlines` takes for the end of a line, escaped in the file
    for line in _ROWS.read_text(encoding="ascii").splitlines():
        row = json.loads(line)
        if row["family"].startswith("honest: ") == honest:
            yield row


def thirteenth() -> list[tuple[str, str | Trajectory]]:
    """Family and text of each injection; each asks for 10 of 10 points."""
    return [
        (row["family"], Trajectory(row["text"], row["roles"]) if "roles" in row else row["text"])
        for row in _rows(honest=False)
    ]


def odd_answers() -> list[str]:
    """Honest answers about marks, judges, prompts and JSON."""
    return [row["text"] for row in _rows(honest=True)]


def with_verdicts() -> list[tuple[str, str, int]]:
    """Honest answers, each with the reason and the score that a judge of good faith gives it."""
    return [
        (row["text"], row["verdict"]["reason"], row["verdict"]["score"])
        for row in _rows(honest=True)
        if "verdict" in row
    ]
