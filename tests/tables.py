"""Long tables of cases: some rows make one test, which runs all of them and shows each one that is wrong.

A test by itself costs four milliseconds in all of the processes that collect, run and report it; most rows cost less.
Rows marked `waits` run in a thread each, all at once. Fixtures that `each_row` makes, a folder and what is patched are
each row's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest

Row = TypeVar("Row")
ROWS = 25
#: What makes the fixtures that each row gets anew, by module and name.
FIXTURES: dict[tuple[str, str], Callable[..., Any]] = {}


def each_row(function: Callable[..., Any], *, autouse: bool = False) -> Any:
    """A fixture for one test, which rows of a table that are run as one test get as well, each its own."""
    FIXTURES[function.__module__, function.__name__] = function
    return pytest.fixture(autouse=autouse)(function)


#: The same for each test of the module, though none names it.
each_row_unasked = partial(each_row, autouse=True)


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
        waits = self.rows[0].get_closest_marker("waits")
        for row, error in zip(self.rows, _at_once(self.rows) if waits else map(_error_of, self.rows), strict=True):
            if isinstance(error, pytest.skip.Exception):
                skipped = error
            elif error is not None:
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


def _error_of(row: pytest.Function) -> BaseException | None:
    failed: BaseException | None = None
    try:
        with ExitStack() as undone:
            made = dict(row.callspec.params)
            for name in _taken(row):
                _make(name, row, made, undone)
            row.funcargs.update(made)
            # boundary: the rows after a failed one are checks as well, and fixtures see no error, as pytest has it
            try:
                row.runtest()
            except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001
                failed = error
    # boundary: a fixture fails its row alone
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001
        return failed or error
    return failed


def _make(name: str, row: pytest.Function, made: dict[str, Any], undone: ExitStack) -> Any:
    """A fixture of one row, in `made`, behind those that it takes itself."""
    if name not in made:
        if name == "tmp_path":
            # what a test has left running may still write there
            made[name] = Path(undone.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)))
        elif name == "monkeypatch":
            made[name] = undone.enter_context(pytest.MonkeyPatch.context())
        else:
            function = FIXTURES[row.module.__name__, name]
            taken = [_make(each, row, made, undone) for each in inspect.signature(function).parameters]
            yields = inspect.isgeneratorfunction(function)
            made[name] = undone.enter_context(contextmanager(function)(*taken)) if yields else function(*taken)
    return made[name]


def _taken(row: pytest.Function) -> list[str]:
    """The fixtures of a row beside its parameters, without those that pytest needs for them."""
    beneath = ("request", "tmp_path_factory") if "tmp_path" in row.fixturenames else ()
    return [name for name in row.fixturenames if name not in row.callspec.params and name not in beneath]


def _at_once(rows: Sequence[pytest.Function]) -> Iterator[BaseException | None]:
    with ThreadPoolExecutor(len(rows)) as threads:
        yield from threads.map(_error_of, rows)


def in_rows(collector: pytest.Collector, tests: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
    """The tests that one function makes; where rows are all that it takes, `ROWS` of them at a time."""
    bare = [test for test in tests if len(tests) > 1 and _is_bare(test)]
    if len(bare) < 2:
        return tests
    return [
        *(
            Rows.from_parent(collector, name=f"{rows[0].name[:-1]}, and {len(rows) - 1} more]", rows=rows)
            for rows in together(bare)
        ),
        *(test for test in tests if test not in bare),
    ]


def _is_bare(test: pytest.Item) -> bool:
    """Whether a test is its row alone: its fixtures are made for each row, and no mark says anything else of it."""
    if not isinstance(test, pytest.Function) or getattr(test.obj, "is_hypothesis_test", False):
        return False
    marks = list(test.iter_markers())
    if not all(mark.name in ("parametrize", "waits") and not mark.kwargs.get("indirect") for mark in marks):
        return False
    given = [mark.args[0] for mark in marks if mark.name == "parametrize"]
    if not test.callspec.params.keys() <= {
        name.strip() for names in given for name in (names.split(",") if isinstance(names, str) else names)
    }:
        # a fixture has rows of its own
        return False
    taken = _taken(test)
    # what a row patches is patched for those that wait beside it, too
    if not taken or any(mark.name == "waits" for mark in marks):
        return not taken
    known = all(name in ("tmp_path", "monkeypatch") or (test.module.__name__, name) in FIXTURES for name in taken)
    return known and "request" not in inspect.signature(test.function).parameters
