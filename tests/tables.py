"""Long tables of cases: some rows make one test, which runs all of them and shows each one that is wrong.

A test by itself costs four milliseconds in all of the processes that collect, run and report it; most rows cost less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

Row = TypeVar("Row")
ROWS = 25


def together(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """The rows in their order, `ROWS` of them at a time."""
    return [rows[at : at + ROWS] for at in range(0, len(rows), ROWS)]


def first(rows: Sequence[object]) -> str:
    """The name of a test of several rows: the first of them, which a number would not lead to."""
    return str(rows[0])[:60]


class Rows(pytest.Item):
    """Some rows of a `parametrize`, which are no tests of their own and fail as such all the same."""

    def __init__(self, *, rows: Sequence[pytest.Function], **more: Any) -> None:
        super().__init__(**more)
        self.rows = rows
        self.failed: list[tuple[str, Any]] = []

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return (*self.rows[0].reportinfo()[:2], self.name)

    def runtest(self) -> None:
        skipped = None
        for row in self.rows:
            row.funcargs.update(row.callspec.params)
            try:
                row.runtest()
            except pytest.skip.Exception as error:
                skipped = error
            # boundary: the rows after a failed one are checks as well
            except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                error.add_note(f"in the row {row.nodeid}")
                self.failed.append((row.name, row.repr_failure(pytest.ExceptionInfo.from_exception(error))))
                if "from pytest-timeout" in str(error):
                    # the limit is that of all rows, and does not come a second time
                    self.failed.append(("the rows after this one", "did not run"))
                    break
        if self.failed:
            raise AssertionError(f"{len(self.failed)} of {len(self.rows)} rows fail")
        if skipped:
            raise skipped

    def repr_failure(self, *args: Any, **options: Any) -> Any:
        """The first row that failed, as pytest shows it, and below it the others."""
        if not self.failed:
            return super().repr_failure(*args, **options)
        (_, shown), *others = self.failed
        if isinstance(shown, str):
            return "\n".join([shown, *(f"{name}\n{other}" for name, other in others)])
        for name, other in others:
            shown.addsection(name, str(other))
        return shown


def in_rows(collector: pytest.Collector, tests: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
    """The tests that one function makes; where rows are all that it takes, `ROWS` of them at a time."""
    if len(tests) < 2 or not all(map(_is_bare, tests)):
        return tests
    return [
        Rows.from_parent(collector, name=f"{rows[0].name[:-1]}, and {len(rows) - 1} more]", rows=rows)
        for rows in together(tests)
    ]


def _is_bare(test: pytest.Item) -> bool:
    """Whether a test is its row alone: no fixture is made for it, and no mark says anything else of it."""
    if not isinstance(test, pytest.Function) or getattr(test.obj, "is_hypothesis_test", False):
        return False
    marks = list(test.iter_markers())
    rows = all(mark.name == "parametrize" and not mark.kwargs.get("indirect") for mark in marks)
    return rows and set(test.fixturenames) == set(test.callspec.params)
