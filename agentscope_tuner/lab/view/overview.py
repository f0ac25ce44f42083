"""The sums and charts of an overview, over the rows that pass the filters."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentscope_tuner.lab.view.queries import (
    GROUP_KIND,
    GROUP_SPREAD,
    PROMPT_KIND,
    IndexReader,
    RowCondition,
    condition_of,
)

MOST_POINTS = 200
MOST_BARS = 24
_BINS = 16
# In widths of the range between the outermost 0.5 % at both ends
_FAR = 5
_SPREADS = 8


def overview(reader: IndexReader, filters: Mapping[str, str]) -> dict[str, Any]:
    """Totals and charts. Every bar and point carries the filter that shows its rows.

    Raises:
        BadFilter: a filter is unknown.
    """
    condition = condition_of(filters)
    with reader.ready_for(condition) as database:
        sums = _Sums(database, condition)
        totals, points, axis = sums.curve()
        return {
            "totals": totals,
            "axis": axis,
            "points": points,
            "parts": sums.parts(axis, totals),
            "rewards": sums.histogram("reward", totals["lowest"], totals["highest"]),
            "statuses": sums.counts("status"),
            "causes": sums.counts("cause"),
            "stages": sums.stages(),
            "rules": sums.rules(),
            "shapes": sums.counts("shape"),
            "groups": sums.groups(),
            "prompts": sums.prompts(),
            "spreads": sums.spreads(),
            "lengths": sums.lengths(totals),
            "labels": sums.labels(),
            "changes": sums.changes(),
        }


def name_beside(other: Path, shown: Path) -> str:
    """The name of the run `other`, which is shown beside another run: its file's name, or its whole path if both names
    are equal.
    """
    return other.name if other.name != shown.name else str(other)


def run_of(reader: IndexReader, name: str, filters: Mapping[str, str]) -> dict[str, Any]:
    """Another run beside the one that is shown: its totals and its points.

    Raises:
        BadFilter: a filter is unknown.
    """
    condition = condition_of(filters)
    with reader.ready_for(condition) as database:
        totals, points, axis = _Sums(database, condition).curve()
        return {"name": name, "totals": totals, "axis": axis["name"], "points": points}


class _Sums:
    """The queries of one overview."""

    def __init__(self, database: sqlite3.Connection, condition: RowCondition) -> None:
        self._database = database
        self._where, self._values = condition.sql, condition.values

    def _select(self, columns: str, rest: str = "") -> list[dict[str, Any]]:
        return self._rows(f"SELECT {columns} FROM rows WHERE {self._where} {rest}")

    def _rows(self, asked: str, *first: object) -> list[dict[str, Any]]:
        """The rows of the query `asked`. Its question marks are filled with `first`, then with the values of the
        filters.
        """
        return [dict(row) for row in self._database.execute(asked, (*first, *self._values))]

    def totals(self) -> dict[str, Any]:
        return self._select(
            "count(*) AS rows, sum(status = 'judged') AS judged, sum(status = 'filtered') AS filtered, "
            "sum(status = 'failed') AS failed, sum(status = 'unreadable') AS unreadable, avg(reward) AS reward, "
            "avg(success) AS success, min(reward) AS lowest, max(reward) AS highest, total(seconds) AS seconds, "
            "sum(cost) AS cost, avg(chars) AS chars, max(chars) AS longest, min(step) AS first_step, "
            "max(step) AS last_step, count(DISTINCT step) AS steps, min(n) AS first_row, max(n) AS last_row"
        )[0]

    def curve(self) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
        """The totals, the points of the curve, and their axis.

        A point holds the reward, success and failures of a step, or of some consecutive rows if the rows name no step.
        """
        totals = self.totals()
        axis = _axis(totals)
        if axis["width"] <= 0:
            return totals, [], axis
        points = self._select(
            f"{_bin(axis)} AS bin, count(*) AS rows, avg(reward) AS reward, avg(reward * reward) AS square, "
            "min(reward) AS lowest, max(reward) AS highest, avg(success) AS success, "
            "avg(status = 'failed') AS failed, avg(status = 'filtered') AS filtered, avg(chars) AS chars",
            f"AND {axis['column']} IS NOT NULL GROUP BY bin ORDER BY bin",
        )
        for point in points:
            low, point["x"] = _place(axis, point.pop("bin"))
            end = _text(low) if axis["exact"] else f"{_text(low + axis['width'])})"
            point["filter"] = f"{_text(low)}..{end}"
            square, mean = point.pop("square"), point["reward"]
            point["spread"] = None if mean is None else math.sqrt(max(0.0, square - mean * mean))
        return totals, points, axis

    def parts(self, axis: Mapping[str, Any], totals: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The parts of combined rewards: the mean of each over all rows, and along the axis."""
        asked = (
            "SELECT name, count(*) AS rows, avg(value) AS mean, min(value) AS lowest, max(value) AS highest "
            f"FROM parts WHERE n IN (SELECT n FROM rows WHERE {self._where}) "
            f"GROUP BY name ORDER BY name LIMIT {MOST_BARS}"
        )
        parts = self._rows(asked)
        for part in parts:
            part["points"] = []
            if axis["width"] <= 0:
                continue
            along = self._rows(
                f"SELECT {_bin(axis)} AS bin, avg(value) AS mean FROM parts JOIN rows USING (n) "
                f"WHERE name = ? AND {axis['column']} IS NOT NULL AND {self._where} GROUP BY bin ORDER BY bin",
                part["name"],
            )
            part["points"] = [{"x": _place(axis, point["bin"])[1], "mean": point["mean"]} for point in along]
        return parts

    def histogram(self, column: str, lowest: float | None, highest: float | None) -> list[dict[str, Any]]:
        """The count of each value if there are few values, else the counts of equal bins."""
        if lowest is None or highest is None:
            return []
        values = self._select(
            f"{column} AS value, count(*) AS rows",
            f"AND {column} IS NOT NULL GROUP BY value ORDER BY value LIMIT {MOST_BARS + 1}",
        )
        if len(values) <= MOST_BARS:
            return [{**value, "filter": f"{_text(value['value'])}..{_text(value['value'])}"} for value in values]
        low, high = self._drawn(column, lowest, highest)
        width = (high - low) / _BINS
        place = f"max(0, min({_BINS - 1}, CAST(({column} - {low!r}) / {width!r} AS INTEGER)))"
        bins = self._select(f"{place} AS bin, count(*) AS rows", f"AND {column} IS NOT NULL GROUP BY bin")
        bars = _columns(bins, low, width, high, _BINS)
        if low > lowest:
            bars[0] |= {"value": low + width, "end": "<", "filter": f"..{_text(low + width)})"}
        if high < highest:
            bars[-1] |= {"end": "≥", "filter": f"{_text(low + (_BINS - 1) * width)}.."}
        return bars

    def _drawn(self, column: str, lowest: float, highest: float) -> tuple[float, float]:
        """The range of the bins, without the outermost 0.5 % at an end that lies far beyond the others."""
        (count,) = self._select(f"count({column}) AS rows", "")
        aside = -(-count["rows"] // 200)
        places, ordered = (aside, count["rows"] - 1 - aside), f"AND {column} IS NOT NULL ORDER BY value"
        found = (self._select(f"{column} AS value", f"{ordered} LIMIT 1 OFFSET {place}")[0] for place in places)
        low, high = (row["value"] for row in found)
        far = _FAR * (high - low) or math.inf
        return (low if low - lowest > far else lowest), (high if highest - high > far else highest)

    def counts(self, column: str) -> list[dict[str, Any]]:
        return self._select(
            f"{column} AS name, count(*) AS rows",
            f"AND {column} IS NOT NULL AND {column} != '' GROUP BY name ORDER BY rows DESC, name LIMIT {MOST_BARS}",
        )

    def stages(self) -> list[dict[str, Any]]:
        """The stages that decided, each with its time and its cost."""
        return self._select(
            "stage AS name, count(*) AS rows, avg(success) AS success, avg(seconds) AS seconds, "
            "total(seconds) AS total_seconds, sum(cost) AS cost",
            f"AND stage != '' GROUP BY name ORDER BY rows DESC, name LIMIT {MOST_BARS}",
        )

    def rules(self) -> list[dict[str, Any]]:
        return self._of_rows("rule", "violations", f"LIMIT {MOST_BARS}")

    def _of_rows(self, column: str, table: str, rest: str = "") -> list[dict[str, Any]]:
        """The number of rows for each value of `column` in `table`, such as a table of rules; the most frequent value
        first.
        """
        return self._rows(
            f"SELECT {column} AS name, count(*) AS rows FROM {table} "
            f"WHERE n IN (SELECT n FROM rows WHERE {self._where}) GROUP BY {column} ORDER BY rows DESC, name {rest}"
        )

    def _of_groups(self, columns: str, rest: str) -> list[dict[str, Any]]:
        met = f"SELECT grp FROM rows WHERE {self._where} AND grp IS NOT NULL"
        return self._rows(f"SELECT {columns} FROM groups WHERE grp IN ({met}) {rest}")

    def groups(self) -> list[dict[str, Any]]:
        """The number of groups of each kind. Only mixed groups teach the policy; other kinds say why they do not."""
        return self._of_groups(f"{GROUP_KIND} AS name, count(*) AS rows", "GROUP BY name ORDER BY rows DESC, name")

    def prompts(self) -> list[dict[str, Any]]:
        """The number of prompts of each kind over all their groups: those that never vary teach nothing."""
        met = f"SELECT DISTINCT task FROM rows WHERE {self._where} AND grp IS NOT NULL"
        kinds = f"SELECT {PROMPT_KIND} AS name FROM groups WHERE task IN ({met}) GROUP BY task"
        return self._rows(f"SELECT name, count(*) AS rows FROM ({kinds}) GROUP BY name ORDER BY rows DESC, name")

    def spreads(self) -> list[dict[str, Any]]:
        """Groups of more than one row, counted by the standard deviation of their rewards."""
        widest = self._of_groups(f"max({GROUP_SPREAD}) AS widest", "AND size > 1")[0]["widest"]
        if not widest:
            return []
        width = widest / _SPREADS
        bins = self._of_groups(
            f"min({_SPREADS - 1}, CAST({GROUP_SPREAD} / {width!r} AS INTEGER)) AS bin, count(*) AS rows",
            "AND size > failed AND size > 1 GROUP BY bin",
        )
        return _columns(bins, 0.0, width, widest, _SPREADS)

    def lengths(self, totals: Mapping[str, Any]) -> dict[str, Any]:
        """A grid of counts: rows by the length of the answer and by the reward."""
        lowest, highest, longest = totals["lowest"], totals["highest"], totals["longest"]
        if lowest is None or not longest:
            return {"cells": [], "columns": [], "lines": []}
        wide, high = _round_up(longest / 12), (highest - lowest) / 5 or 1.0
        cells = self._select(
            f"CAST(chars / {wide!r} AS INTEGER) AS x, min(4, CAST((reward - {lowest!r}) / {high!r} AS INTEGER)) AS y, "
            "count(*) AS rows",
            "AND reward IS NOT NULL GROUP BY x, y",
        )
        lines = 5 if highest > lowest else 1
        return {
            "cells": cells,
            "columns": [
                {"value": x * wide, "filter": f"{x * wide!r}..{(x + 1) * wide!r})"}
                for x in range(int(longest / wide) + 1)
            ],
            "lines": [
                {"value": lowest + y * high, "filter": _bounds(lowest, high, y, highest, bins=lines)}
                for y in range(lines)
            ],
        }

    def labels(self) -> list[dict[str, Any]]:
        """People's labels beside the judge's verdicts."""
        return self._rows(
            "SELECT label AS name, count(*) AS rows, avg(success) AS success FROM labels JOIN rows USING (id, nth) "
            f"WHERE {self._where} GROUP BY label ORDER BY label"
        )

    def changes(self) -> list[dict[str, Any]]:
        return self._of_rows("change", "changes")


def _axis(totals: Mapping[str, Any]) -> dict[str, Any]:
    """The horizontal axis: the steps, or the order of rows, divided into at most `MOST_POINTS` bins."""
    steps = totals["first_step"] is not None and totals["steps"] > 1
    first, last = (totals["first_step"], totals["last_step"]) if steps else (totals["first_row"], totals["last_row"])
    if first is None:
        return {"name": "row", "column": "n", "first": 0, "width": 0, "exact": False}
    span = last - first + 1
    most = MOST_POINTS if steps else MOST_POINTS // 4
    width = max(1, math.ceil(span / most))
    return {
        "name": "step" if steps else "row",
        "column": "step" if steps else "n",
        "first": first,
        "width": width,
        "exact": steps and width == 1,
    }


def _bin(axis: Mapping[str, Any]) -> str:
    return f"CAST(({axis['column']} - {axis['first']!r}) / {axis['width']!r} AS INTEGER)"


def _place(axis: Mapping[str, Any], number: int) -> tuple[float, float]:
    """The value at which a bin of the axis begins, and the value at which its point is drawn."""
    low = axis["first"] + number * axis["width"]
    return low, low if axis["exact"] else low + axis["width"] / 2


def _columns(
    bins: list[dict[str, Any]], lowest: float, width: float, highest: float, count: int
) -> list[dict[str, Any]]:
    """All bins, with the empty ones, so that the axis is to scale."""
    rows = {found["bin"]: found["rows"] for found in bins}
    return [
        {
            "value": lowest + number * width,
            "rows": rows.get(number, 0),
            "filter": _bounds(lowest, width, number, highest, bins=count),
        }
        for number in range(count)
    ]


def _bounds(lowest: float, width: float, number: int, highest: float, *, bins: int = _BINS) -> str:
    """The range of a bin as a filter: `0..0.5)` excludes its upper end, and the last bin includes it, as `0.5..1`."""
    low = lowest + number * width
    return f"{_text(low)}..{_text(highest)}" if number == bins - 1 else f"{_text(low)}..{_text(low + width)})"


def _round_up(width: float) -> int:
    """`width` rounded up to one digit: a column covers 200 characters, not 187."""
    if width <= 1:
        return 1
    power: int = 10 ** int(math.log10(width))
    return math.ceil(width / power) * power


def _text(number: float) -> str:
    """A bound of a range, in a form that reads back as the same number; `0` in place of `0.0`."""
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
