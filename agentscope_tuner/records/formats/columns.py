"""Reads columns as real data sets have them: under one of several names, missing, or NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.formats.sample import ground_truth_metadata

_ID_KEYS = ("id", "uid", "request_id", "index", "idx")


def without_nan(value: Any) -> Any:
    """`value` without NaN cells, which are a table's empty cells; in a list they become None."""
    if isinstance(value, Mapping):
        return {str(key): without_nan(inner) for key, inner in value.items() if not is_nan(inner)}
    if isinstance(value, list):
        return [None if is_nan(inner) else without_nan(inner) for inner in value]
    return value


def is_nan(value: object) -> bool:
    """Whether a cell is NaN, a table's empty cell."""
    return isinstance(value, float) and math.isnan(value)


def first(row: Mapping[str, Any], *names: str) -> tuple[str, Any]:
    """The first of `names` that the row has, and the value under it.

    Raises:
        JudgeError: the row has none of them.
    """
    found = next((name for name in names if row.get(name) is not None), None)
    if found is None and (null := next((name for name in names if name in row), None)):
        raise JudgeError(f"the row's {null!r} is null", cause=Cause.INPUT)
    if found is None:
        raise JudgeError(f"the row has no {' or '.join(names)}, only {sorted(row)!r}", cause=Cause.INPUT)
    return found, row[found]


def required(row: Mapping[str, Any], name: str) -> Any:
    """The value of a column.

    Raises:
        JudgeError: the row does not have it.
    """
    return first(row, name)[1]


def text_of(value: object, name: str) -> str:
    """`value`, which must be a text.

    Raises:
        JudgeError: the value is no text.
    """
    if not isinstance(value, str):
        raise JudgeError(f"{name} must be a text, got {value!r:.100}", cause=Cause.INPUT)
    return value


def truth_of(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The ground truth as metadata, from the first of `names` that the row has; empty where it has none."""
    found = next((row[name] for name in names if row.get(name) is not None), None)
    return {} if found is None else ground_truth_metadata(found)


def id_of(row: Mapping[str, Any], otherwise: str) -> str:
    """The row's own id as text, where it has one; integers are ids, also those that a table turned into floats."""
    for name in _ID_KEYS:
        value = row.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return otherwise
