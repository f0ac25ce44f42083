"""What people, or another judge, say of rows: files of labels in the viewer's format and the commoner ones."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError

#: A row of a scored file: its id, and how many rows of the same id stand before it.
Key = tuple[str, int]

_WORDS = {"right": 1.0, "wrong": 0.0, "true": 1.0, "false": 0.0, "pass": 1.0, "fail": 0.0}
_UNSURE = "unsure"
_KEYS = ("label", "is_success", "score", "rating")


def read_labels(path: Path) -> dict[Key, float | None]:
    """The labels of a file by row; None where the labeller was unsure.

    JSON lines, one label each: `{"id", "label"}` as the viewer writes them (`right`, `wrong`, `unsure`; `nth` counts
    rows of one id; the last line for a row counts; null takes a label back), a bool or a number; rollouts with a
    `label` of their own (`is_success`, or a graded `score`); scored rows, whose verdicts are then the labels. Or CSV
    and TSV with the columns `id` and `label`.

    Raises:
        ConfigError: the file cannot be read, or a line of it.
    """
    labels: dict[Key, float | None] = {}
    seen: Counter[str] = Counter()
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            rows: Iterable[Any]
            if path.suffix in (".csv", ".tsv"):
                rows = csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ",")
            else:
                rows = (json.loads(line) for line in stream if line.strip())
            for number, row in enumerate(rows, 1):
                _take(labels, seen, row, f"{path.name}:{number}")
    except (OSError, ValueError, RecursionError) as exc:
        raise ConfigError(f"cannot read the labels of {str(path)!r}: {exc}") from exc
    if not labels:
        raise ConfigError(f"{str(path)!r} holds no label")
    return labels


def _take(labels: dict[Key, float | None], seen: Counter[str], row: Any, where: str) -> None:
    if not isinstance(row, Mapping) or row.get("id") is None:
        raise ConfigError(f"{where}: a label names its row by id, got {row!r:.100}")
    name = str(row["id"])
    if isinstance(row.get("task"), Mapping):
        # a rollout: rows of one id follow one another as in the scored file
        key = (name, seen[name])
        seen[name] += 1
        value = own_label(row)
        value = _verdict(row) if value is None else value
        if value is not None:
            labels[key] = value
        return
    key = (name, _nth(row.get("nth"), where))
    given = next((row[column] for column in _KEYS if column in row), None)
    if given is None or given == "":
        labels.pop(key, None)
    else:
        labels[key] = _number(given, where)


def own_label(row: Mapping[str, Any]) -> float | None:
    """The `label` that a rollout carries: its `score`, else its `is_success`; None without one."""
    return _first_number(row.get("label"), ("score", "rating", "is_success"))


def _verdict(row: Mapping[str, Any]) -> float | None:
    """The verdict on a scored row, as a label; None without one."""
    return _first_number(row.get("judgement"), ("is_success", "reward"))


def _first_number(mapping: object, keys: tuple[str, ...]) -> float | None:
    values = [mapping.get(key) for key in keys] if isinstance(mapping, Mapping) else []
    # a missing cell of a data set is NaN, which is no label
    return next((float(value) for value in values if isinstance(value, bool | int | float) and value == value), None)


def _nth(value: object, where: str) -> int:
    """How many rows of the id stand before the labelled one; tables write numbers as text, and nothing as nothing."""
    if value is None or value == "":
        return 0
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).isdecimal():
        raise ConfigError(f"{where}: nth counts the earlier rows of one id, 0, 1, 2 …, got {value!r:.60}")
    return int(value)


def _number(value: object, where: str) -> float | None:
    text = str(value).strip().lower()
    if text == _UNSURE:
        return None
    try:
        number = _WORDS[text] if text in _WORDS else float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"{where}: a label is right, wrong, unsure, true, false or a number, got {value!r}")
    return number
