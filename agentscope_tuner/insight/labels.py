"""Reads labels that people, or another judge, give to rows: files in the viewer's format and in common formats."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError

#: Identifies a row of a scored file: its id, and the number of earlier rows with the same id.
Key = tuple[str, int]

_WORDS = {"right": 1.0, "wrong": 0.0, "true": 1.0, "false": 0.0, "pass": 1.0, "fail": 0.0}
_UNSURE = "unsure"
_KEYS = ("label", "is_success", "score", "rating")


def read_labels(path: Path) -> dict[Key, float | None]:
    """The labels of a file by row; None where the labeller was unsure.

    The file is a CSV or TSV table with the columns `id` and `label`, or has one label on each line of JSON:

    - `{"id", "label"}` as the viewer writes it. The label is `right`, `wrong`, `unsure`, a bool or a number, and null
      removes an earlier label. `nth` is the number of earlier rows with the id. The last line for a row counts;
    - a rollout with its own `label` (`is_success`, or a graded `score`);
    - a scored row, whose verdict is the label.

    Raises:
        ConfigError: the file, or one of its lines, cannot be read.
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
                _add_label(labels, seen, row, f"{path.name}:{number}")
    except (OSError, ValueError, RecursionError) as exc:
        raise ConfigError(f"cannot read the labels of {str(path)!r}: {exc}") from exc
    if not labels:
        raise ConfigError(f"{str(path)!r} holds no label")
    return labels


def _add_label(labels: dict[Key, float | None], seen: Counter[str], row: Any, where: str) -> None:
    if not isinstance(row, Mapping) or row.get("id") is None:
        raise ConfigError(f"{where}: a label names its row by id, got {row!r:.100}")
    name = str(row["id"])
    if isinstance(row.get("task"), Mapping):
        # A rollout has no `nth`: its rows with the same id stand in the order of the scored file
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
    """The label that a rollout itself carries: its `score`, `rating` or `is_success`; None without a label."""
    return _first_number(row.get("label"), ("score", "rating", "is_success"))


def _verdict(row: Mapping[str, Any]) -> float | None:
    """The verdict of a scored row as a label; None without a verdict."""
    return _first_number(row.get("judgement"), ("is_success", "reward"))


def _first_number(mapping: object, keys: tuple[str, ...]) -> float | None:
    values = [mapping.get(key) for key in keys] if isinstance(mapping, Mapping) else []
    # A data set's missing cell is NaN, which is no label
    return next((float(value) for value in values if isinstance(value, bool | int | float) and value == value), None)


def _nth(value: object, where: str) -> int:
    """The number of earlier rows with the labelled row's id; a table holds it as text, and an empty cell means 0."""
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
