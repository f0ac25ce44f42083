"""What is said of a program by how its runs ended, and of tests by the report that they left."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from agentscope_tuner._jail.jail import Ending, RunLimits
from agentscope_tuner.verify.code import formats, grade
from agentscope_tuner.verify.code.formats import CallTest, CodeTest, StdinTest, TestSet
from agentscope_tuner.verify.code.grade import Bounds, BrokenTests, SharedInterpreter, StarvedError, TestResult

_TEST = CodeTest("file", "", number=2)
_FAILED = "AssertionError\x1f: 1"


def _answer(**bounds: Any) -> grade._TestedProgram:
    return grade._TestedProgram("", "python", Bounds(**bounds))


def _ended(report: object = None, **ended: Any) -> Ending:
    result = b"" if report is None else json.dumps(report).encode()
    return Ending(**{"kind": "exit", "cpu_seconds": 1.0, "peak_memory": 5, "result": result, **ended})


def _failed(why: str, kind: Any, share: float = 0.0) -> TestResult:
    return TestResult(2, False, why, kind, share, cpu_seconds=1.0, peak_memory=5)


@pytest.mark.parametrize(
    ("tests", "withheld", "hidden", "shown", "kind", "share"),
    [
        ([["a", None], ["b", _FAILED]], [], "1 of 2 fail, first number 2: AssertionError", None, "wrong", 0.5),
        ([["b", _FAILED], ["a", None]], [], "1 of 2 fail, first number 1: AssertionError", None, "wrong", 0.5),
        ([["a", f"line 3: {_FAILED}"]], [], "number 1: line 3: AssertionError", None, "wrong", 0.0),
        ([["test 2", f"line 3: {_FAILED}"]], [], "line 3: AssertionError", None, "wrong", 0.0),
        ([["test 3", _FAILED]], [], "number 1: AssertionError", None, "wrong", 0.0),
        # what no test of its own has said
        ([["the tests", "ValueError\x1f: 1"]], [], "the tests: ValueError", None, "error", 0.0),
        ([["the tests' imports", "OSError\x1f: 1"]], [], "the tests' imports: OSError", None, "error", 0.0),
        ([["a", "NotComparableError: no"]], [], "number 1: NotComparableError: no", None, "wrong", 0.0),
        ([["a", "LineEndedError: it"]], [], "number 1: LineEndedError: it", None, "crash", 0.0),
        ([["a", "MemoryError"]], ["x"], "number 1: MemoryError (x)", None, "memory", 0.0),
        (
            *([["a", None], ["b", "KeyError\x1f: AssertionError"], ["c", None], ["d", "MemoryError"]], ["x", "y"]),
            *("2 of 4 fail, first number 2: KeyError (x; y)", "2 of 4 fail, first b: KeyError: AssertionError (x; y)"),
            *("error", 0.5),
        ),
    ],
)
def test_what_is_told_of_failed_tests(
    tests: list[Any], withheld: list[str], hidden: str, shown: str | None, kind: str, share: float
) -> None:
    report = {"tests": tests, "withheld": withheld}
    found = _answer()._reported(_TEST, _ended(), _ended(report, cpu_seconds=3.0), RunLimits())
    assert found == _failed(hidden, kind, share)
    name, failed = next((name, why) for name, why in tests if why)
    number = f"number {1 + [one[0] for one in tests].index(name)}"
    whole = shown or hidden.replace(number, name).replace(failed.partition("\x1f")[0], failed.replace("\x1f", ""))
    for answer, test in (
        (_answer(show_expected=True), _TEST),
        (_answer(), CodeTest("file", "", public=True, number=2)),
    ):
        assert answer._reported(test, _ended(), _ended(report), RunLimits()) == _failed(whole, kind, share)


@pytest.mark.parametrize(
    ("program", "tests", "why", "kind"),
    [
        ({"kind": "cpu"}, {}, "over 4 s of CPU", "timeout"),
        ({"kind": "memory"}, {"kind": "cpu"}, "over 1024 MB of memory", "memory"),
        ({}, {"kind": "cpu"}, "its tests did not end: over 4 s of CPU", "timeout"),
        ({}, {"kind": "wall"}, "its tests did not end: over 8 s, though it hardly computed", "timeout"),
        ({}, {"kind": "memory"}, "its tests did not end: over 1024 MB of memory", "memory"),
        ({}, {"kind": "processes"}, "its tests did not end: over 64 processes", "crash"),
        ({}, {"result": b""}, "its tests did not end: they left no report", "wrong"),
        ({}, {"result": b"", "status": 3}, "its tests did not end: they left no report", "error"),
        ({}, {"result": b"", "status": -6}, "its tests did not end: they left no report", "crash"),
    ],
)
def test_tests_that_did_not_end(program: dict[str, Any], tests: dict[str, Any], why: str, kind: str) -> None:
    passed = {"tests": [["a", None]]}
    found = _answer()._reported(_TEST, _ended(**program), _ended(passed, **tests), RunLimits())
    assert found == _failed(why, kind)


def test_tests_that_passed() -> None:
    passed = TestResult(2, True, share=1.0, cpu_seconds=1.0, peak_memory=5)
    two: dict[str, Any] = {"tests": [["a", None], ["b", None]]}
    # what the program used counts
    assert _answer()._reported(_TEST, _ended(), _ended(two, cpu_seconds=3.0), RunLimits()) == passed
    assert _answer()._inside(_TEST, _ended(two | {"nonce": "n"}), "n", RunLimits()) == (passed, 2)
    over = _ended(two | {"nonce": "n"}, kind="cpu")
    assert _answer()._inside(_TEST, over, "n", RunLimits()) == (_failed("over 4 s of CPU", "timeout"), 0)


@pytest.mark.parametrize(
    ("report", "error", "words"),
    [
        ({"broken": "no\x1f test", "shared": False}, BrokenTests, "no test"),
        (
            {"broken": "they use 'x'", "shared": True},
            SharedInterpreter,
            "they need the program in their own interpreter (they use 'x'): code.shared_interpreter runs them there, "
            "where a program can answer for its tests",
        ),
    ],
)
def test_tests_that_cannot_be_run(report: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as refused:
        _answer()._reported(_TEST, _ended(), _ended(report), RunLimits())
    assert (type(refused.value), str(refused.value)) == (error, words)


@pytest.mark.parametrize(
    ("ended", "at_first", "at_last"),
    [
        ({"status": -9}, True, False),
        ({"status": -6}, False, False),
        ({"status": 9}, False, False),
        ({"kind": "cpu", "status": -9}, False, False),
        ({"kind": "starved"}, "the machine gave it too little CPU", "the machine gave it too little CPU"),
        ({"kind": "killed"}, "the machine ran out of memory", "the machine ran out of memory"),
    ],
)
def test_a_run_that_must_be_done_again(ended: dict[str, Any], at_first: bool | str, at_last: bool | str) -> None:
    def asked(last: bool) -> bool | str:
        try:
            return _answer()._is_doubtful(_ended(**ended), last)
        except StarvedError as exc:
            return str(exc)

    assert (asked(False), asked(True)) == (at_first, at_last)


class _Compiler:
    """A jail in which the compiler ends as it is told."""

    alive = True

    def __init__(self, ending: Ending) -> None:
        self._ending, self.given = ending, RunLimits()

    def run(self, _: object, limits: RunLimits) -> Ending:
        self.given = limits
        return self._ending


def _compiling(ending: Ending, total_seconds: float) -> tuple[grade._TestedProgram, _Compiler]:
    answer = grade._TestedProgram("int main() {}", "cpp", Bounds(total_seconds=total_seconds))
    compiler: Any = _Compiler(ending)
    answer._jails["program  "] = compiler
    return answer, compiler


@pytest.mark.parametrize(
    ("ended", "told", "binary"),
    [
        ({"result": b"ELF"}, "", b"ELF"),
        ({"result": b"ELF", "stderr": b"main.cpp: warning: unused"}, "", b"ELF"),
        ({"status": 1, "stderr": b"main.cpp: no\nmain.cpp: error\n"}, "it does not compile: main.cpp: error", None),
        ({"kind": "cpu", "result": b"ELF"}, "it does not compile: over 10 s of CPU", None),
        ({"status": 1, "result": b"ELF"}, "it does not compile: it fails with exit code 1", None),
        ({"status": -9}, "it does not compile: it was ended by signal 9", None),
        ({"kind": "starved", "result": b"ELF"}, "✗ the machine gave the compiler too little CPU", None),
        ({"kind": "killed", "result": b"ELF"}, "✗ the machine ran out of memory", None),
    ],
)
def test_how_a_compiler_ends(ended: dict[str, Any], told: str, binary: bytes | None) -> None:
    answer, compiler = _compiling(_ended(waited_seconds=7.0, **ended), total_seconds=100.0)
    until = answer._until
    try:
        found = answer._compile(RunLimits(seconds=3.0))
    except StarvedError as exc:
        found = f"✗ {exc}"
    assert (found, answer._binary, round(answer._until - until, 3)) == (told, binary, 7.0)
    assert (compiler.given.seconds, compiler.given.wall_seconds, compiler.given.address_space) == (10.0, 10.0, False)


@pytest.mark.parametrize(("seconds", "total", "given"), [(3.0, 100.0, 10.0), (20.0, 100.0, 20.0), (20.0, 5.0, 5.0)])
def test_a_compiler_has_no_more_time_than_is_left(seconds: float, total: float, given: float) -> None:
    answer, compiler = _compiling(_ended(result=b"ELF"), total_seconds=total)
    answer._compile(RunLimits(seconds=seconds))
    assert given - 1 < compiler.given.seconds == compiler.given.wall_seconds <= given


def test_public_and_cheap_tests_come_first() -> None:
    tests: list[formats.Test] = [
        StdinTest("123", "", number=1),
        CallTest("f", [], [], size=2, number=2),
        CodeTest("assert", "long source", public=True, number=3),
        StdinTest("1", "", public=True, number=4),
        StdinTest("12", "", number=5),
        CodeTest("assert", "a", number=6),
    ]
    assert [test.number for test in grade.in_order(tests)] == [4, 3, 6, 2, 5, 1]


@pytest.mark.parametrize(
    ("test", "checker", "number"),
    [
        (StdinTest("", "x" * 1024 + " \n", number=7), "", 0),
        (StdinTest("", "x" * 1025, number=7), "", 7),
        (StdinTest("", "x" * 1025, number=7), "checker", 0),
        (CallTest("f", [], [], 0, number=7, length=1024), "", 0),
        (CallTest("f", [], [], 0, number=7, length=1025), "checker", 7),
        (CodeTest("file", "x" * 2000, number=7), "", 0),
    ],
)
def test_a_test_that_expects_more_than_may_be_written(test: Any, checker: str, number: int) -> None:
    tests = TestSet([StdinTest("", "y", number=1), test, StdinTest("", "z" * 1025, number=8)], checker=checker)
    assert grade._too_long(tests, 1) == (number or (0 if checker else 8))
    if number:
        with pytest.raises(BrokenTests) as refused:
            grade.grade("", tests, "python", Bounds(limits=RunLimits(output_kb=1)))
        words = "test 7 expects more than the 1 KB that a program may write: raise output_kb"
        assert str(refused.value) == words


def test_what_the_clock_counts() -> None:
    answer = _answer(total_seconds=100.0)
    assert answer._limits() == RunLimits()
    assert grade._TestedProgram("", "cpp", Bounds())._limits() == RunLimits(address_space=False)
    short = _answer(total_seconds=5.0)._limits()
    assert short is not None
    assert 4.0 < short.wall_seconds <= 5.0
    before = answer._until
    for taken, later, spare in ((5.0, 5.0, 95.0), (200.0, 100.0, 0.0), (1.0, 100.0, 0.0)):
        answer._excuse(taken)
        assert (round(answer._until - before, 3), answer._spare) == (later, spare)
    assert answer._until - time.monotonic() > 190


def test_no_test_begins_when_all_the_time_is_used_up() -> None:
    answer = _answer(total_seconds=0.0)
    assert (answer._limits(), answer.is_hopeless) == (None, False)
    assert answer.result(_TEST) == TestResult(2, False, "over 0 s for all tests together", "timeout")
    assert answer.is_hopeless


def test_tests_in_python_need_a_program_in_python() -> None:
    answer = grade._TestedProgram("", "cpp", Bounds())
    with pytest.raises(BrokenTests, match=r"^tests in Python cannot call a program in cpp$"):
        answer.result(_TEST)


def test_words_of_a_result_can_be_printed() -> None:
    ended = _ended(cpu_seconds=0.123456)
    assert grade._result(_TEST, "a\0b\x1b[1mé…", ended, 0.25, "crash") == TestResult(
        *(2, False, "a\ufffdb\ufffd[1mé…", "crash", 0.25, 0.1235, 5)
    )
    assert grade._result(_TEST, None, ended, 0.25, "crash") == TestResult(2, True, "", None, 1.0, 0.1235, 5)


def test_long_words_are_cut_in_their_midst() -> None:
    assert [grade._short(text, 4) for text in ("abcd", "abcde", "abcdefgh")] == ["abcd", "ab … de", "ab … gh"]
    assert grade._short("x" * 80) == "x" * 80
    assert grade._short("x" * 40 + "y" * 41) == f"{'x' * 40} … {'y' * 40}"
    assert (grade._shown(["a"]), grade._shown([10**5000])) == ("['a']", "a list too large to print")
    assert grade._error_line(b"a\nb \n \n") == "b"
    assert grade._error_line(b"x" * 161) == f"{'x' * 80} … {'x' * 80}"


def test_a_result_is_read_up_to_some_times_the_text_of_what_is_expected() -> None:
    assert grade._longest(CallTest("f", [], ["a", {"a": [1, 2]}, None], 0)) == 10_000 + 20 * len('{"a": [1, 2]}')
