"""The alarms that `astuner watch` has written beside a run, for the time axis."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MOST_ALARMS = 500
_MOST_CHARS = 500
_MOST_BYTES = 4 * 2**20


def alarms_path(source: Path) -> Path:
    """The file in which `astuner watch` writes a run's alarms: in the run's folder, or beside its file."""
    if source.is_dir():
        return source / "alarms.jsonl"
    return source.with_name(source.name.removesuffix(".jsonl") + ".alarms.jsonl")


def read_alarms(path: Path) -> list[dict[str, Any]]:
    """The last `MOST_ALARMS` alarms, in their order; none if there is no file. Lines that hold no alarm are ignored."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, stream.seek(0, 2) - _MOST_BYTES))
            lines = stream.read().splitlines()
    except OSError:
        return []
    alarms = [alarm for line in lines if (alarm := _alarm(line)) is not None]
    return alarms[-MOST_ALARMS:]


def _alarm(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    step = row.get("step")
    known = isinstance(step, int | float) and not isinstance(step, bool) and abs(step) < 1e15
    message = row.get("message") or row.get("reason") or ""
    return {
        "step": step if known else None,
        "monitor": str(row.get("monitor") or row.get("name") or "alarm")[:_MOST_CHARS],
        "message": str(message)[:_MOST_CHARS],
    }
