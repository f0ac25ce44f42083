"""Runs a file of tests under pytest, in the tests' process of tests that carry code; `run_tests` calls it.

To import this module takes a second, so a jail for such tests loads it before it runs any.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import os
import sys
import unittest
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader as _Loader
from pathlib import Path
from typing import Any

import pytest
from _pytest.config import default_plugins
from _pytest.fixtures import FixtureLookupError

from agentscope_tuner.verify.code.inside.empty_arrays import guarded
from agentscope_tuner.verify.code.inside.replays import Replays, watched
from agentscope_tuner.verify.code.inside.stand_ins import PYTEST_FILE, SKIPPED

_MOST_WORDS = 300
# Exceptions by which a test is skipped, or expected to fail, in its own code
_SKIPPING = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
_plain: Any = _Loader.source_to_code
for _name in default_plugins:
    with contextlib.suppress(ImportError):
        importlib.import_module(f"_pytest.{_name}")


def outcomes(
    source: str, answers: Callable[[], int], asked: Sequence[str] = (), replays: Replays | None = None
) -> Listener:
    """Run the tests in `source` under pytest; returns a `Listener` with their outcomes.

    Args:
        source: the file of tests.
        answers: gives the number of answers that the program has given so far.
        asked: for the second run, in which the program answers no question: the list of questions that the tests have
            asked in vain.
        replays: records the program's answers during each test.
    """
    # in a folder without files of the program, with which the working folder may be shared
    home = os.environ["HOME"]
    with open(place := os.path.join(home, PYTEST_FILE), "w", encoding="utf-8") as file:
        file.write(source)
    listener = Listener(answers, asked, replays)
    # a run before must not leave variables
    sys.modules.pop(PYTEST_FILE.removesuffix(".py"), None)
    _Loader.source_to_code = _compiled  # type: ignore[method-assign, assignment]
    # astuner's own plugin is no part of a jail, and cannot be imported there
    flags = ["-q", "-p", "no:cacheprovider", "-p", "no:astuner", "--assert=plain", "--tb=line", "-c", os.devnull]
    flags += ["--rootdir", home]
    code = pytest.main([*flags, place], plugins=[listener])
    is_cut = listener.to_run > 0
    if is_cut or code in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR):
        listener.broken = listener.broken or "pytest ended before the tests did"
    return listener


def _compiled(loader: Any, data: Any, path: Any, **named: Any) -> Any:
    """Replaces the compiler of the import system. The file of tests is compiled so that comparisons are checked
    (`empty_arrays.guarded`) and loops are noted (`replays.watched`); any other file as usual.
    """
    is_of_tests = str(path).endswith(PYTEST_FILE)
    return _plain(loader, guarded(watched(ast.parse(data))) if is_of_tests else data, path, **named)


def _run_again(test: Callable[..., object], given: dict[str, Any]) -> None:
    """Run a test that has passed again, for `Replays`, with the same fixtures. Fixtures that capture output have ended
    by then, and are started again.

    Args:
        test: the test function.
        given: its fixtures, by name.
    """
    with contextlib.ExitStack() as ended:
        for one in given.values():
            if isinstance(one, pytest.CaptureFixture):
                one._start()
                ended.callback(one.close)
        test(**given)


class Listener:
    """A plugin of pytest, in the tests' process, that records the outcomes of tests.

    Attributes:
        skipped: the tests that were skipped, or marked to fail, before they asked the program anything.
        is_sized: whether the program answered while tests were collected: then its answers may decide how many tests
            there are.
        outcomes: for each test, by name: why it failed; None if it passed.
        broken: why the tests could not be run; empty if they were run.
        to_run: how many tests have not ended yet.
        is_known: whether `broken` is the tests' own fault, whatever the program answered.
        error: the last exception of a test.
        errors: the last exception of each test, by name.
    """

    def __init__(self, answers: Callable[[], int], asked: Sequence[str], replays: Replays | None) -> None:
        self._replays = replays
        self._answers, self._answered, self._given = answers, 0, answers()
        self._asked, self._begun = asked, len(asked)
        self.skipped: set[str] = set()
        self.is_sized = False
        self.outcomes: dict[str, str | None] = {}
        self.broken = ""
        self.to_run = 0
        self.is_known = False
        self.error: BaseException | None = None
        self.errors: dict[str, BaseException] = {}

    @pytest.fixture
    def tmp_path(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Replaces pytest's own fixture `tmp_path`. That names the folder after the test, with the parameters of a
        parametrized test, which may be what it expects; the program could read the name.
        """
        return tmp_path_factory.mktemp("test")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.to_run = len(session.items)
        self.is_sized = self._answers() > self._given

    def pytest_runtest_logstart(self) -> None:
        self._answered = self._answers()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        if self._replays:
            self._replays.begin()

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        is_skipped = call.excinfo is not None and issubclass(call.excinfo.type, _SKIPPING)
        name = item.nodeid.partition("::")[2]
        if self._replays is None and not is_skipped and item.get_closest_marker("xfail"):
            # the mark was set while the program was mute, so the program did not cause it
            self.skipped.add(name)
        if self._replays and call.when == "call":
            # copied, since pytest clears the item when the test has ended
            given = {one: item.funcargs[one] for one in getattr(item, "_fixtureinfo").argnames}  # noqa: B009 - mypy
            self._replays.end(name, None if call.excinfo else functools.partial(_run_again, item.obj, given))
        if is_skipped and self._answers() > self._answered:
            self.outcomes[name] = SKIPPED

    def pytest_runtest_logfinish(self) -> None:
        self.to_run -= 1
        self._begun = len(self._asked)

    def pytest_runtest_logreport(self, report: Any) -> None:
        name = report.nodeid.partition("::")[2]
        if report.failed:
            self.outcomes[name] = str(report.longrepr).strip().rpartition("\n")[2][:_MOST_WORDS] or "failed"
        elif report.when == "call" and report.passed:
            self.outcomes.setdefault(name, None)
        if report.skipped and len(self._asked) == self._begun:
            self.skipped.add(name)

    def pytest_exception_interact(self, node: Any, call: Any) -> None:
        self.error = self.errors[node.nodeid.partition("::")[2]] = call.excinfo.value
        # if no code of the tests asked for the fixture, the program cannot have caused this
        files = {Path(part.path).name for part in call.excinfo.traceback}
        if isinstance(self.error, FixtureLookupError) and PYTEST_FILE not in files:
            self.broken, self.is_known = f"there is no fixture {self.error.argname!r}"[:_MOST_WORDS], True

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.broken = str(report.longrepr).strip().rpartition("\n")[2][:_MOST_WORDS] or "a file of tests"
