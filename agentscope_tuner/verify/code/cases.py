"""Tests of programs, whatever data set they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class StdinTest:
    """A program reads `given`, and must print `expected`.

    Attributes:
        public: whether the policy may have seen it.
        number: its place in the data set, from 1.
    """

    given: str
    expected: str
    public: bool = False
    number: int = 0

    @property
    def size(self) -> int:
        """How dear the test is likely to be."""
        return len(self.given)


@dataclass(frozen=True, slots=True)
class CallTest:
    """A function `name`, or a method of that name of the class `Solution`, must return one of `expected`."""

    name: str
    arguments: Sequence[object]
    expected: Sequence[object]
    size: int
    public: bool = False
    number: int = 0


@dataclass(frozen=True, slots=True)
class CodeTest:
    """Tests that are code.

    Attributes:
        kind: `assert`: one statement; `check`: HumanEval's function of that name; `file`: of pytest or unittest.
        source: the code.
        setup: code that is run before it.
        entry: the function under test, where it is named.
        modules: names under which the tests import the program.
        framework: of a file.
    """

    kind: Literal["assert", "check", "file"]
    source: str
    setup: str = ""
    entry: str = ""
    modules: Sequence[str] = ()
    framework: Literal["pytest", "unittest"] = "unittest"
    public: bool = False
    number: int = 0

    @property
    def size(self) -> int:
        """How dear the test is likely to be."""
        return len(self.source)


Test = StdinTest | CallTest | CodeTest


@dataclass(frozen=True, slots=True)
class TestSet:
    """All tests of one task.

    Attributes:
        tests: in the data set's order.
        preamble: code of the task that stands above the program, such as the imports of HumanEval's prompt.
        prompt: what the program continues, where the policy may write the continuation alone.
        entry: the function that such a program defines.
        language: of the program, where the row says it.
        solution: a right program, where the row has one.
        tolerance: by which floats may differ, where the row says it.
        unordered: whether lines, or items of a list, may come in any order.
        weights: of the tests, where the row has them.
        checker: a script of the data set that judges what a program prints, where several outputs are right. It is
            started as `checker.py input.txt correct_output.txt solution_output.txt` and prints a score.
    """

    tests: Sequence[Test]
    preamble: str = ""
    prompt: str = ""
    entry: str = ""
    language: str = ""
    solution: str = ""
    tolerance: float | None = None
    unordered: bool = False
    weights: Sequence[float] = ()
    checker: str = ""

    # pytest takes classes of such names for tests of its own
    __test__ = False
