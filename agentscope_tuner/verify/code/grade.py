"""Runs a program against its tests, in jails, and reports which tests it passes.

The program's jail is given inputs alone. What it prints and returns comes back as bytes and is compared here. Tests
that carry code run in a jail of their own, with a line to the program's.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from agentscope_tuner._jail.bubblewrap import SHOWN
from agentscope_tuner._jail.idle_jails import warm_jails
from agentscope_tuner._jail.jail import Ending, Jail, JailBroken, JailWork, Run, RunLimits, slot, wait
from agentscope_tuner.verify.code.compare_output import CheckerError, accepts, same_output, same_value
from agentscope_tuner.verify.code.formats import CallTest, CodeTest, StdinTest, Test, TestSet
from agentscope_tuner.verify.code.inside.code_values import NotPlainError, load, pack

_INSIDE = Path(__file__).parent / "inside"
_MODULES = "agentscope_tuner.verify.code.inside"
_MOST_SHOWN = 80
_MOST_IMPORTS = 100
# Names in a report for a failure outside of any single test; see run_tests
_OWN_NAMES = ("the tests", "the tests' imports")
# In the words of a failure, what follows may hold what a hidden test expects; see run_tests
_HIDDEN = "\x1f"
# Seconds that a program has to end once its tests have
_GRACE_SECONDS = 0.2
# CPU seconds of pytest itself
_PYTEST_SECONDS = 1.0
_COMPILE_SECONDS = 10.0
# Bytes that any result may have, and beyond them how many times the text of what is expected
_LEAST_RESULT, _MOST_TIMES = 10_000, 20
# Tests of a bank account, an exercise of exercism, call it from a thousand threads at once
_TEST_THREADS = 1100
# What a jail loads beside `run_program`, by its role; the others run tests
_BESIDE: dict[str, tuple[str, ...]] = {"program": (), "served": ("serve_program",)}
# Compilers and Node reserve address space far beyond what they use
_INTERPRETED = {"javascript": ("node", "main.js"), "bash": ("bash", "main.sh")}


Failure = Literal["wrong", "error", "timeout", "memory", "crash"]


class StarvedError(Exception):
    """The machine gave a program too little CPU time, twice, so the program cannot be judged."""


class BrokenTests(Exception):
    """Tests that carry code cannot be run with any program, as when they import a module that does not exist; the
    message says why.
    """


class SharedInterpreter(BrokenTests):
    """Tests cannot be run, because they need the program in their own Python process, where it can forge outcomes.

    `Bounds.shared_interpreter` allows that.
    """


@dataclass(frozen=True, slots=True)
class Bounds:
    """How programs are run, and how their outputs are compared.

    Attributes:
        limits: of the run of one test.
        total_seconds: wall seconds for all tests of an answer.
        stop_at_first_failure: whether the tests after the first failed one are left out.
        show_expected: whether the reasons of failures may show expected outputs.
        tolerance: by which floats may differ.
        unordered: whether lines, or items of a list, may come in any order.
        shared_interpreter: whether tests that need it run in one process with the program, where the program can forge
            their outcomes.
        packages: whether programs may import what is installed beside this package.
        bare: whether programs run without a jail.
    """

    limits: RunLimits = field(default_factory=RunLimits)
    total_seconds: float = 12.0
    stop_at_first_failure: bool = True
    show_expected: bool = False
    tolerance: float = 1e-6
    unordered: bool = False
    shared_interpreter: bool = False
    packages: bool = False
    bare: bool = False


@dataclass(frozen=True, slots=True)
class TestResult:
    """The result of one test.

    Attributes:
        number: of the test in its `TestSet`.
        passed: whether the program passed it.
        why: if it failed, the reason in words, such as `f(1) gives 3`.
        kind: the kind of failure, such as `timeout`; None if it passed.
        share: the part of the test that passed, from 0 to 1: a file of tests has many.
        cpu_seconds: that the program used.
        peak_memory: of the program.
    """

    __test__ = False

    number: int
    passed: bool
    why: str = ""
    kind: Failure | None = None
    share: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory: int = 0


def grade(program: str, tests: TestSet, language: str, bounds: Bounds) -> list[TestResult]:
    """Run the tests, public and cheap ones first, and give the results of those that were run.

    The first failure ends the run if `bounds` say so. Blocks until a core is free; time counts from then on.

    Raises:
        JailBroken: the jail failed, twice.
        StarvedError: the machine was too busy to judge.
        BrokenTests: the tests cannot be run.
    """
    if number := _too_long(tests, bounds.limits.output_kb):
        most = bounds.limits.output_kb
        raise BrokenTests(f"test {number} expects more than the {most:,} KB that a program may write: raise output_kb")
    results: list[TestResult] = []
    with slot():
        answer, is_done = _TestedProgram(program, language, bounds, tests.checker), False
        try:
            for test in in_order(tests.tests):
                results.append(answer.result(test))
                if not results[-1].passed and (bounds.stop_at_first_failure or answer.is_hopeless):
                    break
            is_done = True
        except BrokenTests:
            is_done = True
            raise
        finally:
            # an error may have come while a run was under way: then the jails are ended
            answer.close(broken=not is_done)
    return results


def _too_long(tests: TestSet, output_kb: int) -> int:
    """The number of a test whose expected output is longer than a program may write; 0 if there is none."""
    for test in tests.tests:
        length = test.length if isinstance(test, CallTest) else 0
        if isinstance(test, StdinTest) and not tests.checker:
            length = len(test.expected.strip())
        if length > output_kb * 1024:
            return test.number
    return 0


class _TestedProgram:
    """One program while it is tested: its jails, the binary that it was compiled to, and the time that is
    left for it.
    """

    def __init__(self, program: str, language: str, bounds: Bounds, checker: str = "") -> None:
        self._program, self._language, self._bounds, self._checker = program, language, bounds, checker
        self._packages = _packages_of(program) if bounds.packages and language == "python" else ()
        self._until = time.monotonic() + bounds.total_seconds
        # time of tests and checkers is not the program's; but a program can make them compute, so it is bounded
        self._spare = bounds.total_seconds
        self._jails: dict[str, Jail] = {}
        self._binary: bytes | None = None
        self.is_hopeless = False

    def close(self, *, broken: bool = False) -> None:
        """Give the jails back, to be used for other programs.

        Args:
            broken: whether to end them instead. They are also ended if programs run without a real jail
                (`Bounds.bare`).
        """
        for kept, jail in self._jails.items():
            # without a jail, a program may have changed the process that starts the next
            if broken or self._bounds.bare:
                jail.close()
            else:
                warm_jails.give(kept, jail)
        self._jails.clear()

    def result(self, test: Test) -> TestResult:
        """The result of one test; the test is run again if the machine, and not the program, failed."""
        for last in (False, True):
            try:
                found = self._try(test, last)
            except (JailBroken, StarvedError):
                self.close(broken=True)
                if last:
                    raise
                continue
            if found is not None:
                return found
        raise AssertionError("the last try has a result")

    def _try(self, test: Test, last: bool) -> TestResult | None:
        """The result of one test; None if it must be run again.

        Args:
            test: the test.
            last: whether this is the last try.
        """
        if (limits := self._limits()) is None:
            self.is_hopeless = True
            why = f"over {self._bounds.total_seconds:g} s for all tests together"
            return TestResult(test.number, False, why, "timeout")
        if isinstance(test, CodeTest):
            try:
                return self._code(test, limits, last)
            except SharedInterpreter:
                if not self._bounds.shared_interpreter:
                    raise
                return self._shared(test, self._limits() or limits, last)
        if self._language == "cpp" and self._binary is None and (failed := self._compile(limits)):
            self.is_hopeless = True
            return TestResult(test.number, False, failed, "error")
        ending = self._run(test, self._limits() or limits)
        # time in which the program could run and has no core does not count
        self._until += ending.waited_seconds
        if self._is_doubtful(ending, last):
            return None
        bounds = replace(self._bounds, limits=limits)
        if self._checker and isinstance(test, StdinTest):
            return self._checked(test, ending, bounds)
        return tested(test, ending, bounds)

    def _checked(self, test: StdinTest, ending: Ending, bounds: Bounds) -> TestResult:
        """The result of a test whose output is judged by the data set's own checker."""
        why = ending.over(bounds.limits) or (_died(ending) if ending.status != 0 else None)
        if why is None and ending.cut:
            why = f"it prints more than {bounds.limits.output_kb:,} KB"
        if why is None:
            self._ready(self._jail("tests"))
            begun = time.monotonic()
            left = max(0.0, self._until - begun) + self._spare
            try:
                is_right, taken = accepts(lambda: self._jail("tests"), self._checker, test, ending.stdout, left)
            except CheckerError as exc:
                raise BrokenTests(str(exc)) from exc
            # further questions to the checker are no time of the program's either
            self._until += time.monotonic() - begun - taken
            self._excuse(taken)
            shown = _short(repr(ending.stdout.decode(errors="replace")))
            why = None if is_right else f"for input {_short(repr(test.given))} the checker refuses {shown}"
        return _result(test, why, ending)

    def _excuse(self, seconds: float) -> None:
        """Let the program run `seconds` longer, since its tests or a checker used that time. All such seconds together
        are at most `total_seconds`.
        """
        taken = min(seconds, self._spare)
        self._spare -= taken
        self._until += taken

    def _is_doubtful(self, ending: Ending, last: bool) -> bool:
        """Whether a run must be repeated, because SIGKILL ended it, which may have come from outside. False if this is
        the `last` try.

        Raises:
            StarvedError: the machine had too little CPU time or memory for the run.
        """
        _refuse_starved(ending, "it")
        return ending.kind == "exit" and ending.status == -9 and not last

    def _limits(self) -> RunLimits | None:
        """The limits of the next run; None if the time for all tests is used up."""
        left, limits = self._until - time.monotonic(), self._bounds.limits
        if left <= 0:
            return None
        python = self._language == "python"
        return replace(limits, wall_seconds=min(limits.wall_seconds, left), address_space=python)

    def _jail(self, role: str, *visible: str) -> Jail:
        """The jail for a role; a new one if there is none yet.

        Args:
            role: `program` for a program by itself; `served` for a program that tests as code ask; `tests` for such
                tests, and for checkers; `shared` for tests and program in one process.
            visible: folders of installed packages that the jail shows.
        """
        bare = "bare" if self._bounds.bare else ""
        kept = " ".join((role, "python" if self._language == "python" else "", bare, *visible))
        if (jail := self._jails.get(kept)) is None or not jail.alive:
            if jail is not None:
                jail.close()
            self._jails[kept] = jail = warm_jails.take(kept, lambda: self._new_jail(role, visible))
        return jail

    def _new_jail(self, role: str, visible: Sequence[str]) -> Jail:
        # each module that is loaded makes the fork of every program more expensive
        names = ("run_program", *_BESIDE.get(role, ("run_tests",)))
        preload = [f"{_MODULES}.{name}" for name in names] if self._language == "python" else []
        search = [f"{SHOWN}/0"] if visible else []
        preload += [f"{_MODULES}.run_pytest"] if visible and Path(visible[0], "_pytest").is_dir() else []
        bare = self._bounds.bare
        return Jail(folders=[str(_INSIDE)], visible=visible, preload=preload, search=search, bare=bare)

    def _ready(self, *jails: Jail) -> None:
        """Wait until the jails are ready; this does not count as the program's time."""
        begun = time.monotonic()
        for jail in jails:
            jail.until_ready()
        self._until += time.monotonic() - begun

    def _compile(self, limits: RunLimits) -> str:
        """Compile the C++ program. Returns an empty text if that worked, otherwise the reason:
        `it does not compile: main.cpp:1:5: …`.
        """
        # few programs need the newer standard, and it takes away what older ones use
        compile_it = "g++ -O2 -std=c++$year -pipe -o program main.cpp && exec cat program >&3"
        command = f"for year in 17 20; do {compile_it}; done; exit 1"
        work = JailWork(argv=("/bin/sh", "-c", command), files={"main.cpp": self._source})
        # compilers take longer than programs, but no longer than is left for the answer
        seconds = min(max(_COMPILE_SECONDS, limits.seconds), self._until - time.monotonic())
        bounds = RunLimits(seconds=seconds, wall_seconds=seconds, output_kb=32 * 1024, address_space=False)
        ending = self._jail("program").run(work, bounds)
        self._until += ending.waited_seconds
        _refuse_starved(ending, "the compiler")
        if ending.kind != "exit" or ending.status != 0 or not ending.result:
            return f"it does not compile: {_error_line(ending.stderr) or ending.over(bounds) or _died(ending)}"
        self._binary = ending.result
        return ""

    @property
    def _source(self) -> bytes:
        return self._program.encode(errors="replace")

    def _run(self, test: StdinTest | CallTest, limits: RunLimits) -> Ending:
        """Run the program on the input of a test, or call its function with the test's arguments."""
        jail = self._jail("program", *self._packages)
        self._ready(jail)
        if isinstance(test, CallTest):
            payload = {"program": self._program, "name": test.name, "arguments": [pack(one) for one in test.arguments]}
            return jail.run(
                JailWork(entry=f"{_MODULES}.run_program:call", payload=json.dumps(payload).encode()), limits
            )
        stdin = test.given.encode(errors="replace")
        if self._language == "python":
            payload = {"program": self._program}
            work = JailWork(entry=f"{_MODULES}.run_program:script", payload=json.dumps(payload).encode(), stdin=stdin)
        elif self._language == "cpp":
            work = JailWork(argv=("./program",), files={"program": self._binary or b""}, stdin=stdin)
        else:
            command, file = _INTERPRETED[self._language]
            work = JailWork(argv=(shutil.which(command) or command, file), files={file: self._source}, stdin=stdin)
        return jail.run(work, limits)

    def _code(self, test: CodeTest, limits: RunLimits, last: bool) -> TestResult | None:
        """The result of tests that are code, such as `assert f(1) == 2`. They run in one jail and the program in a
        second one, with a line between. None if they must be run again.
        """
        if self._language != "python":
            raise BrokenTests(f"tests in Python cannot call a program in {self._language}")
        packages = _packages_of_tests(test)
        # both start at the same time
        inner, outer = self._jail("served", *self._packages), self._jail("tests", *packages)
        self._ready(inner, outer)
        name = test.modules[0] if test.modules else "main"
        served = json.dumps({"program": self._program, "name": name.rpartition(".")[2]}).encode()
        asked = asdict(test) | {"shares_files": not self._bounds.bare}
        mine, theirs = socket.socketpair()
        with mine, theirs:
            program = inner.begin(
                JailWork(entry=f"{_MODULES}.serve_program:serve", payload=served, line=mine.fileno()), limits
            )
            work = JailWork(entry=f"{_MODULES}.run_tests:run", payload=json.dumps(asked).encode(), line=theirs.fileno())
            # the program's limits decide; the tests get more, since each side waits while the other computes
            seconds = limits.seconds + (_PYTEST_SECONDS if packages else 0)
            wall_seconds = 4 * limits.wall_seconds + _GRACE_SECONDS
            most = max(_TEST_THREADS, limits.processes)
            own = replace(limits, seconds=seconds, wall_seconds=wall_seconds, processes=most, address_space=False)
            tests = outer.begin(work, own)
            program.waits_for = tests
            # both requests must be out before this end of the line is closed
            program.step()
            tests.step()
        _until_told(tests, program, limits.wall_seconds)
        assert tests.ending is not None
        assert program.ending is not None
        # a side that waits because the other computes does not wait for the machine
        self._until += max(0.0, program.ending.waited_seconds - tests.ending.cpu_seconds)
        self._until += max(0.0, tests.ending.waited_seconds - program.ending.cpu_seconds)
        self._excuse(tests.ending.cpu_seconds)
        # if the program went over its limits, that decides: the tests may then wait for what never comes
        if not program.ending.over(limits) and (
            self._is_doubtful(program.ending, last) or self._is_doubtful(tests.ending, last)
        ):
            return None
        return self._reported(test, program.ending, tests.ending, limits)

    def _reported(self, test: CodeTest, program: Ending, tests: Ending, limits: RunLimits) -> TestResult:
        """The result of a test that is code, from how the run of its program and the run of the test itself ended."""
        if why := program.over(limits):
            return _result(test, why, program)
        if tests.kind != "exit" or not tests.result:
            why = f"its tests did not end: {tests.over(limits) or 'they left no report'}"
            return _result(test, why, tests)
        report = json.loads(tests.result)
        if report.get("shared"):
            raise SharedInterpreter(
                f"they need the program in their own interpreter ({report['broken']}): code.shared_interpreter runs "
                "them there, where a program can answer for its tests"
            )
        if "broken" in report:
            raise BrokenTests(report["broken"].replace(_HIDDEN, ""))
        return self._told(test, report, program)

    def _told(self, test: CodeTest, report: dict[str, Any], program: Ending) -> TestResult:
        """The result of a test that is code, from the report that the tests' process left.

        Args:
            test: the test.
            report: with the outcome of each single test in `tests`; see `run_tests`.
            program: how the program's run ended.
        """
        outcomes = [(number, str(name), why) for number, (name, why) in enumerate(report["tests"], 1)]
        failed = [one for one in outcomes if one[2] is not None]
        share = 1 - len(failed) / len(outcomes)
        why: str | None = None
        kind: Failure | None = None
        if failed:
            number, name, words = failed[0]
            shown, _, hidden = str(words).partition(_HIDDEN)
            kind = next((kind for said, kind in _ENDS.items() if said in shown), "error")
            shows_all = self._bounds.show_expected or test.public
            words = shown + hidden if shows_all else shown
            if not shows_all and name not in (*_OWN_NAMES, f"test {test.number}"):
                # a name that the tests give may say what they expect
                name = f"number {number}"
            why = words if name == f"test {test.number}" else f"{name}: {words}"
            if len(outcomes) > 1:
                why = f"{len(failed)} of {len(outcomes)} fail, first {name}: {words}"
            if withheld := report.get("withheld"):
                why = f"{why} ({'; '.join(withheld)})"
        return _result(test, why, program, share, kind)

    def _shared(self, test: CodeTest, limits: RunLimits, last: bool) -> TestResult | None:
        """The result of tests that run in one process with the program; None if they must be run again.

        There the program can forge their outcomes. So the tests are also run with all functions of the program emptied:
        they must then fail.
        """
        packages = tuple(dict.fromkeys((*_packages_of_tests(test), *self._packages)))
        seconds = limits.seconds + (_PYTEST_SECONDS if packages else 0)
        found: list[tuple[TestResult, int]] = []
        for is_emptied in (False, True):
            nonce = secrets.token_hex(16)
            told = {"program": self._program, "emptied": is_emptied, "nonce": nonce}
            payload = json.dumps(asdict(test) | told).encode()
            # a role of its own: no jail that has run tests of other programs
            jail = self._jail("shared", *packages)
            self._ready(jail)
            work = JailWork(entry=f"{_MODULES}.run_tests:run", payload=payload)
            ending = jail.run(work, replace(limits, seconds=seconds))
            self._until += ending.waited_seconds
            if self._is_doubtful(ending, last):
                return None
            found.append(self._inside(test, ending, nonce, limits))
            if not found[0][0].passed:
                return found[0][0]
        (result, ran), (without, of) = found
        if without.passed:
            why = "its tests pass with its functions emptied, too: they test nothing, or it answers for them"
            return _result(test, why, ending)
        return result if of <= ran else _result(test, f"{ran} of its {of} tests ran", ending)

    def _inside(self, test: CodeTest, ending: Ending, nonce: str, limits: RunLimits) -> tuple[TestResult, int]:
        """The result of tests that ran in one process with the program, and the number of tests that ran.

        Args:
            test: the test.
            ending: how the run ended.
            nonce: a random text that the report of the run must contain.
            limits: of the run.
        """
        if why := ending.over(limits):
            return _result(test, why, ending), 0
        try:
            report = _own_report(ending.result, nonce)
        except ValueError as exc:
            return _result(test, f"its tests left no report of their own: {exc}", ending), 0
        return self._told(test, report, ending), len(report["tests"])


def _own_report(data: bytes, nonce: str) -> dict[str, Any]:
    """The report of tests that ran in one process with the program: `{"tests": [["test_sum", None]]}`. The program may
    have written it, so its form and its nonce are checked.

    Raises:
        ValueError: it is not the report of this run, or has no outcomes.
    """
    report = json.loads(data)
    if not isinstance(report, dict) or report.get("nonce") != nonce:
        raise ValueError("it does not have the random word of this run")
    if "broken" in report:
        raise ValueError(str(report["broken"])[:300])
    tests = report.get("tests")
    if not isinstance(tests, list) or not tests:
        raise ValueError("no test ran")
    if not all(isinstance(one, list) and len(one) == 2 and isinstance(one[1], str | None) for one in tests):
        raise ValueError("no outcomes")
    return {"tests": tests}


def in_order(tests: Sequence[Test]) -> list[Test]:
    """The tests in the order in which they are run: public ones before hidden ones, and among each the cheap ones
    first.
    """
    return sorted(tests, key=lambda test: (not test.public, test.size, test.number))


def tested(test: StdinTest | CallTest, ending: Ending, bounds: Bounds) -> TestResult:
    """The result of a test by input or by a call: what the program printed or returned is compared with what the test
    expects.

    Args:
        test: the test.
        ending: how the run of the program ended.
        bounds: how to compare.
    """
    return _result(test, ending.over(bounds.limits) or _difference(test, ending, bounds), ending)


def _difference(test: StdinTest | CallTest, ending: Ending, bounds: Bounds) -> str | None:
    """Why the test failed, such as `f(1) gives 3`; None if it passed."""
    if ending.status != 0:
        return _died(ending)
    if isinstance(test, CallTest):
        if len(ending.result) > _LEAST_RESULT and len(ending.result) > _longest(test):
            return f"{test.name}{_short(repr(tuple(test.arguments)))} gives {_short(repr(ending.result))}"
        try:
            got = load(ending.result)
        except NotPlainError as exc:
            return f"the function left no result: {exc}" if ending.result else "the function left no result"
        if same_value(got, test.expected, tolerance=bounds.tolerance, unordered=bounds.unordered):
            return None
        wanted = f", expected {_short(repr(test.expected[0]))}" if bounds.show_expected or test.public else ""
        return f"{test.name}{_short(repr(tuple(test.arguments)))} gives {_shown(got)}{wanted}"
    if ending.cut:
        return f"it prints more than {bounds.limits.output_kb:,} KB"
    printed = ending.stdout.decode(errors="replace")
    difference = same_output(printed, test.expected, tolerance=bounds.tolerance, unordered=bounds.unordered)
    if difference is None:
        return None
    wanted = f", expected {_short(repr(test.expected))}" if bounds.show_expected or test.public else ""
    return f"for input {_short(repr(test.given))} it prints {_short(repr(printed))}: {difference}{wanted}"


def _longest(test: CallTest) -> int:
    """The most bytes that a right result can have. A longer result is wrong and is not read, which would take time.

    Floats and empty containers of a different kind are written with a few times the text of the value that they equal.
    """
    return _LEAST_RESULT + _MOST_TIMES * max(len(json.dumps(one, default=repr, skipkeys=True)) for one in test.expected)


def _until_told(tests: Run, program: Run, wall_seconds: float) -> None:
    """Wait until the tests have ended. Then give the program a moment to end by itself, and end it.

    If the program ends first, the tests may go on for `wall_seconds`: they may wait in vain for the program. If the
    program exceeded a limit, they get only a moment, since that decides the result.
    """
    wait([tests, program], any_of=True)
    if tests.ending is None and program.ending is not None:
        tests.end_within(_GRACE_SECONDS if program.ending.kind != "exit" else wall_seconds)
        wait([tests])
    until = time.monotonic() + _GRACE_SECONDS
    while program.ending is None and time.monotonic() < until:
        wait([program], at_most=until - time.monotonic())
    program.stop()


# The kind of a failure, by the exception that is named in its words
_ENDS: dict[str, Failure] = {
    "AssertionError": "wrong",
    "NotComparableError": "wrong",
    "MemoryError": "memory",
    "LineEndedError": "crash",
}
_KINDS: dict[str, Failure] = {"cpu": "timeout", "wall": "timeout", "memory": "memory", "processes": "crash"}


def _kind(ending: Ending) -> Failure:
    """The kind of a failure, such as `timeout`, from how the run ended."""
    if ending.kind in _KINDS:
        return _KINDS[ending.kind]
    if ending.status < 0:
        return "crash"
    if ending.status == 0:
        return "wrong"
    return "memory" if _error_line(ending.stderr).startswith("MemoryError") else "error"


def _result(test: Test, why: str | None, ending: Ending, share: float = 0.0, kind: Failure | None = None) -> TestResult:
    passed = why is None
    # a program's own words may hold letters that no terminal or file can take
    words = "".join(letter if letter.isprintable() else "\ufffd" for letter in why or "")
    return TestResult(
        test.number,
        passed,
        words,
        None if passed else kind or _kind(ending),
        1.0 if passed else share,
        round(ending.cpu_seconds, 4),
        ending.peak_memory,
    )


def _refuse_starved(ending: Ending, what: str) -> None:
    """Raise StarvedError if the machine, and not its program, ended a run of `what`."""
    if ending.kind in ("starved", "killed"):
        words = f"gave {what} too little CPU" if ending.kind == "starved" else "ran out of memory"
        raise StarvedError(f"the machine {words}")


def _died(ending: Ending) -> str:
    """How a program failed, such as `it fails with exit code 1: ValueError: no`."""
    if ending.status < 0:
        return f"it was ended by signal {-ending.status}"
    words = _error_line(ending.stderr)
    return f"it fails with exit code {ending.status}" + (f": {words}" if words else "")


def _error_line(stderr: bytes) -> str:
    """The last line of what a program printed to stderr, such as `ValueError: no`."""
    lines = stderr[-4000:].decode(errors="replace").strip().splitlines()
    return _short(lines[-1], 2 * _MOST_SHOWN) if lines else ""


def _shown(value: object) -> str:
    try:
        return _short(repr(value))
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to print"


def _short(text: str, most: int = _MOST_SHOWN) -> str:
    """The text; if it is longer than `most`, its begin and its end with ` … ` between."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


_FROM = re.compile(r"(?:^|;)[ \t]*from[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_IMPORTS = re.compile(r"(?:^|;)[ \t]*import[ \t]+([^\n#;]+)", re.MULTILINE)
_NAME = re.compile(r"\s*([A-Za-z_]\w*)")


def _packages_of_tests(test: CodeTest) -> tuple[str, ...]:
    needs = "import pytest" if test.framework == "pytest" or "pytest.raises(" in test.source else ""
    return _packages_of(f"{needs}\n{test.setup}\n{test.source}", test.modules)


def _packages_of(source: str, but: Sequence[str] = ()) -> tuple[str, ...]:
    """The folder of installed packages, alone in a tuple, if code imports one of them, such as numpy: the jail must
    show that folder. Otherwise an empty tuple.

    Args:
        source: the code.
        but: names that are the program's own modules.
    """
    imported = (_NAME.match(part) for names in _IMPORTS.findall(source) for part in names.split(","))
    named = {*_FROM.findall(source), *(found[1] for found in imported if found)} - sys.stdlib_module_names - {*but}
    # bounded, for a hostile program may name a great many; some, such as `__main__`, have no spec
    for name in sorted(named)[:_MOST_IMPORTS]:
        try:
            spec = find_spec(name)
        except ValueError:
            continue
        if spec is not None and spec.origin is not None and "site-packages" in spec.origin:
            # a package is a folder, other modules are a file
            return (os.path.realpath(Path(spec.origin).parents[spec.submodule_search_locations is not None]),)
    return ()
