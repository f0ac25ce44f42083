"""Turns the filters in the page's address into SQL; `web/src/filters.ts` applies the same filters in a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})?\.\.({_NUMBER})?(\)?)")
_MOST_CHARS = 2000

#: The kind of a group: `mixed` if its rewards differ, else the reason why they are the same.
GROUP_KIND = """CASE
    WHEN size = 1 THEN 'single' WHEN failed = size THEN 'all failed' WHEN highest - lowest > 1e-9 THEN 'mixed'
    WHEN filtered = size - failed THEN 'all filtered' WHEN successes = size - failed THEN 'all right'
    WHEN successes = 0 THEN 'all wrong' ELSE 'same reward' END"""
GROUP_SPREAD = """sqrt(max(0.0, squares / nullif(size - failed, 0)
    - (total / nullif(size - failed, 0)) * (total / nullif(size - failed, 0))))"""


class BadFilter(ValueError):
    """A filter that is unknown or malformed; the message names it and the allowed values."""


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition over the table `rows`.

    Attributes:
        sql: the condition, with question marks for values.
        values: the values of the question marks.
        words: the words to search for in the texts; the condition looks for the rows found in the table `hits`.
    """

    sql: str
    values: tuple[object, ...]
    words: str


def _equal(column: str) -> Callable[[str, str], tuple[str, tuple[object, ...]]]:
    return lambda key, value: (f"{column} = ?", (value,))


def _range(column: str) -> Callable[[str, str], tuple[str, tuple[object, ...]]]:
    return lambda key, value: between(column, key, value)


def between(column: str, key: str, value: str) -> tuple[str, tuple[object, ...]]:
    """The condition of a range such as `0.5..1`, `..3` or `10..`; the range `0..5)` excludes its upper end.

    Raises:
        BadFilter: `value` is no range.
    """
    match = _RANGE.fullmatch(value)
    if match is None or not (match[1] or match[2]):
        raise BadFilter(f"{key} must be a range such as '0.5..1' or '10..', got {value[:80]!r}")
    conditions, values = [], []
    if match[1]:
        conditions.append(f"{column} >= ?")
        values.append(float(match[1]))
    if match[2]:
        conditions.append(f"{column} {'<' if match[3] else '<='} ?")
        values.append(float(match[2]))
    return " AND ".join(conditions), tuple(values)


def _rule(key: str, value: str) -> tuple[str, tuple[object, ...]]:
    return "n IN (SELECT n FROM violations WHERE rule = ?)", (value,)


def _part(key: str, value: str) -> tuple[str, tuple[object, ...]]:
    """The condition of `style`, a row with that part, or of `style:0..0.5`, a row whose part lies in the range."""
    name, colon, bounds = value.rpartition(":")
    if not (colon and _RANGE.fullmatch(bounds)):
        return "n IN (SELECT n FROM parts WHERE name = ?)", (value,)
    condition, values = between("value", key, bounds)
    return f"n IN (SELECT n FROM parts WHERE name = ? AND {condition})", (name, *values)


def _group(key: str, value: str) -> tuple[str, tuple[object, ...]]:
    return f"grp IN (SELECT grp FROM groups WHERE {GROUP_KIND} = ?)", (value,)


def _spread(key: str, value: str) -> tuple[str, tuple[object, ...]]:
    condition, values = between(GROUP_SPREAD, key, value)
    return f"grp IN (SELECT grp FROM groups WHERE {condition})", values


def _success(key: str, value: str) -> tuple[str, tuple[object, ...]]:
    if value not in ("yes", "no"):
        raise BadFilter(f"success must be 'yes' or 'no', got {value[:80]!r}")
    return "success = ?", (value == "yes",)


def _label(key: str, value: str) -> tuple[str, tuple[object, ...]]:
    if value == "none":
        return "(id, nth) NOT IN (SELECT id, nth FROM labels)", ()
    return "(id, nth) IN (SELECT id, nth FROM labels WHERE label = ?)", (value,)


def _change(key: str, value: str) -> tuple[str, tuple[object, ...]]:
    if value == "any":
        return "n IN (SELECT n FROM changes WHERE change != 'same')", ()
    return "n IN (SELECT n FROM changes WHERE change = ?)", (value,)


_FILTERS: Mapping[str, Callable[[str, str], tuple[str, tuple[object, ...]]]] = {
    "status": _equal("status"),
    "stage": _equal("stage"),
    "cause": _equal("cause"),
    "task": _equal("task"),
    "id": _equal("id"),
    "success": _success,
    "rule": _rule,
    "part": _part,
    "group": _group,
    "spread": _spread,
    "label": _label,
    "change": _change,
    "reward": _range("reward"),
    "step": _range("step"),
    "row": _range("n"),
    "chars": _range("chars"),
    "seconds": _range("seconds"),
    "cost": _range("cost"),
}


def condition_of(filters: Mapping[str, str]) -> RowCondition:
    """The condition of the filters in an address; a row must pass all of them.

    Raises:
        BadFilter: a filter is unknown or its value cannot be read.
    """
    conditions = ["1"]
    values: list[object] = []
    words = ""
    for key, value in filters.items():
        if len(value) > _MOST_CHARS:
            raise BadFilter(f"{key} has {len(value)} characters, and may have {_MOST_CHARS}")
        if key == "q":
            words = value
            continue
        if key not in _FILTERS:
            raise BadFilter(f"unknown filter {key[:80]!r}: one of q, {', '.join(_FILTERS)}")
        sql, own = _FILTERS[key](key, value)
        conditions.append(sql)
        values.extend(own)
    if words:
        conditions.append("n IN (SELECT n FROM hits)")
    return RowCondition(" AND ".join(conditions), tuple(values), words)
