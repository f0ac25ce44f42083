"""What the program may read, set and call of what the tests lend it, and what it is told of that."""

from __future__ import annotations

import builtins
import enum
import functools
import logging
import random
import types
import unittest
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest

from agentscope_tuner.verify.code.inside import remote
from agentscope_tuner.verify.code.inside.code_values import JailLine
from agentscope_tuner.verify.code.inside.stand_ins import LentDefault, StandIn, StandInIterator, StandInView

_OWN = __name__


class _Node:
    kind = "node"

    def __init__(self) -> None:
        self.next, self._hidden = [1], 2

    def walk(self) -> str:
        return "walked"

    @classmethod
    def make(cls) -> str:
        return cls.__name__

    @staticmethod
    def of() -> int:
        return 5


class TestLike:
    __test__ = False
    data = 3

    def test_it(self) -> int:
        return 4

    def helper(self) -> int:
        return 6


class _Case(unittest.TestCase):
    def runTest(self) -> None:  # noqa: N802
        """Nothing."""


_Case.__module__ = TestLike.__module__ = _Node.__module__ = "tests"
_BUILT: Any = type("Built", (), {"__module__": "builtins", "x": 1})


def _plain() -> None:
    """Says."""


_WITH_DATA: Any = lambda: None  # noqa: E731
_WITH_DATA.mark = 1


def _tried(act: Callable[..., Any], *given: Any) -> Any:
    try:
        return act(*given)
    except AttributeError as exc:
        return f"✗ {exc}"


@pytest.mark.parametrize(
    ("one", "name", "found"),
    [
        (_Node(), "next", [1]),
        (_Node(), "kind", "node"),
        (_Node(), "missing", "✗ '_Node' object has no attribute 'missing'"),
        (_Node(), "_hidden", "✗ the program may not read '_hidden'"),
        (_Node(), "__dict__", "✗ the program may not read '__dict__'"),
        (_Node, "kind", "✗ the program may not read 'kind'"),
        (types.SimpleNamespace(x=3), "x", 3),
        (_BUILT(), "x", 1),
        # a function leads to the test's variables
        (_plain, "__globals__", "✗ the program may not read '__globals__'"),
        (_plain, "__doc__", "✗ the program may not read '__doc__'"),
        (_plain, "__dict__", {}),
        (_WITH_DATA, "__dict__", "✗ the program may not read '__dict__'"),
        (_WITH_DATA, "mark", "✗ the program may not read 'mark'"),
        (functools.partial(_plain), "func", "✗ the program may not read 'func'"),
        (_Node().walk, "x", "✗ the program may not read 'x'"),
        (len, "__name__", "✗ the program may not read '__name__'"),
        # of a mock what stands for the real thing
        (Mock(real=7), "real", 7),
        (Mock(), "called", "✗ the program may not read 'called'"),
        (Mock(), "assert_called", "✗ the program may not read 'assert_called'"),
        # of a test what it does, and not what it knows
        (TestLike(), "data", "✗ the program may not read 'data'"),
        (_Case(), "assertEqual", "✗ the program may not read 'assertEqual'"),
        (_Case(), "id", "✗ the program may not read 'id'"),
        (types.ModuleType("m"), "x", "✗ the program may not read 'x'"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_what_the_program_may_read(one: Any, name: str, found: Any) -> None:
    expected = (
        found.replace("_Node", type(one).__name__) if isinstance(found, str) and "no attribute" in found else found
    )
    assert _tried(remote._read_lent, one, name) == expected


def test_methods_of_a_test_may_be_read() -> None:
    assert (remote._read_lent(TestLike(), "helper")(), remote._read_lent(TestLike(), "test_it")()) == (6, 4)


def test_methods_that_are_called_by_a_class() -> None:
    assert (remote._read_lent(_Node, "make")(), remote._read_lent(_Node, "of")()) == ("_Node", 5)
    called = [(_Node, "make"), (_Node, "of"), (dict, "fromkeys")]
    not_called: list[tuple[type, str]] = [(_Node, "walk"), (_Node, "kind"), (_Node, "none"), (_Node, "__new__")]
    not_called += [(types.SimpleNamespace, "x"), (_Case, "setUpClass"), (TestLike, "data")]
    assert [remote._is_called_by_class(*one) for one in called] == [True, True, False]
    assert not any(remote._is_called_by_class(*one) for one in not_called)


@pytest.mark.parametrize(
    ("one", "name", "refused"),
    [
        (_Node(), "next", False),
        (_Node(), "other", False),
        (types.SimpleNamespace(), "x", False),
        (_Node(), "_hidden", True),
        (_Node(), "walk", True),
        (_Node, "kind", True),
        (_plain, "x", True),
        (TestLike(), "data", True),
        (_Case(), "x", True),
        (Mock(), "x", True),
        (random.Random(), "x", True),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_what_the_program_may_set(one: Any, name: str, refused: bool) -> None:
    if refused:
        assert _tried(remote._set_lent, one, name, 5) == f"✗ the program may not set {name!r}"
    else:
        remote._set_lent(one, name, 5)
        assert getattr(one, name) == 5


@pytest.mark.parametrize(
    ("kind", "is_test"),
    [
        (_Case, True),
        (unittest.TestCase, True),
        (TestLike, True),
        (_Node, False),
        (type("Testing", (), {}), False),
        (type("Other", (), {"test_a": 1}), False),
        (type("TestA", (), {"test": 1}), False),
    ],
)
def test_what_is_a_test(kind: type, is_test: bool) -> None:
    assert remote._is_test(kind) is is_test


@pytest.mark.parametrize(
    ("one", "is_mock"),
    [
        (Mock(), True),
        (MagicMock(return_value=3), True),
        (Mock(side_effect=KeyError), True),
        (Mock(side_effect=KeyError("k")), True),
        (Mock(side_effect=Mock()), True),
        (Mock(side_effect=len), False),
        (Mock(side_effect=[1]), False),
        (Mock(side_effect=int), False),
        (Mock(wraps=len), False),
        (len, False),
        (_Node(), False),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_a_mock_with_nothing_real_behind_it(one: Any, is_mock: bool) -> None:
    assert remote._is_mock(one) is is_mock


def test_the_same_thing_lent_again() -> None:
    one, other, items = _Node(), _Node(), [1]
    assert remote._identity(one.walk) == remote._identity(one.walk) == (id(one), "walk")
    assert remote._identity(items.append) == (id(items), "append")
    assert remote._identity(one.walk) != remote._identity(other.walk)
    assert (remote._identity(one), remote._identity(_plain)) == ((id(one), ""), (id(_plain), ""))


async def _later() -> None:
    """Nothing."""


def test_the_flags_of_a_function() -> None:
    assert remote._flags_of(_later) == _later.__code__.co_flags != remote._flags_of(_plain) == _plain.__code__.co_flags
    assert (remote._flags_of(len), remote._flags_of(_Node().walk), remote._flags_of(5)) == (0, 0, 0)


class _Sized(_Node):
    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("value", "name", "has"),
    [
        (_Sized(), "len", True),
        (_Node(), "len", False),
        (_Node(), "eq", False),
        (_Node(), "hash", False),
        ([], "eq", True),
        (MagicMock(), "len", True),
        (Mock(), "len", False),
        (_plain, "get", False),
        (_Sized, "len", False),
        (5, "index", True),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_what_an_object_can_do_by_its_class(value: Any, name: str, has: bool) -> None:
    assert remote._has(value, name) is has


@pytest.mark.parametrize(
    ("exc", "passes", "skips"),
    [
        (ValueError(), False, False),
        (SystemExit(), False, False),
        (KeyboardInterrupt(), False, False),
        (GeneratorExit(), True, False),
        (unittest.SkipTest("x"), False, True),
        (pytest.skip.Exception("x"), True, True),
        (pytest.fail.Exception("x"), True, False),
    ],
)
def test_exceptions_that_end_a_test(exc: BaseException, passes: bool, skips: bool) -> None:
    assert (remote._passes_by(exc), remote._is_skip(exc)) == (passes, skips)


@pytest.mark.parametrize(
    ("one", "told", "withheld"),
    [
        (lambda a, b: a, [["a", 1, [], []], ["b", 1, [], []], []], []),
        (
            lambda a, b=4: a,
            [["a", 1, [], []], ["b", 1, [4], []], []],
            ["the program may not read the defaults of what the tests lend"],
        ),
        (
            lambda *, b=None: b,
            [["b", 3, [None], []], []],
            ["the program may not read the defaults of what the tests lend"],
        ),
    ],
)
def test_a_lent_signature_keeps_its_defaults(one: Any, told: list[Any], withheld: list[str]) -> None:
    tests = remote.Program(JailLine(-1))
    found: Any = tests._signature(one)
    *parameters, result = found
    assert all(type(own) is LentDefault for part in parameters for own in part[2])
    assert [*([*part[:2], [own.value for own in part[2]], part[3]] for part in parameters), result] == told
    assert [*tests.withheld] == withheld


def test_what_was_withheld_is_noted_once_and_in_bounds() -> None:
    tests = remote.Program(JailLine(-1))
    for words in ("a", "a", "b\n", "x" * 300, *map(str, range(100))):
        tests.withhold(words)
    assert [*tests.withheld][:3] == ["a", "x" * 200, "0"]
    assert len(tests.withheld) == remote._MOST_WITHHELD


def test_fields_as_a_dataclass_has_them() -> None:
    assert remote._as_data([]) == {}
    found = remote._as_data([["a", True, True], ["b", 0, True], ["c", True, False]])
    fields = found["__dataclass_fields__"]
    assert [(one.name, one.init) for one in fields.values()] == [("a", True), ("b", False), ("c", True)]
    assert ({*found}, found["_passed_over"]) == ({"__dataclass_fields__", "_passed_over"}, {"c"})


def test_classes_of_the_standard_library() -> None:
    assert remote._standard("enum", "Enum") is enum.Enum
    assert [remote._standard(*one) for one in (("enum", "No"), ("builtins", "int"), ("pytest", "Item"), ("", ""))] == [
        None
    ] * 4
    assert remote._as_known(enum.Enum)["__class__"].fget(None) is enum.Enum
    assert (remote._as_known(None), remote._as_known(_plain)) == ({}, {})


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ({"home": "builtins", "name": "list_iterator", "next": True}, type(iter([]))),
        ({"home": "builtins", "name": "set_iterator", "next": True}, type(iter(set[int]()))),
        ({"home": "builtins", "name": "list_reverseiterator", "next": True}, type(reversed([]))),
        ({"home": "itertools", "name": "list_iterator", "next": True}, None),
        ({"home": "builtins", "name": "zip", "next": True}, None),
    ],
)
def test_what_stands_for_an_iterator(told: dict[str, Any], known: type | None) -> None:
    kind = remote._standing_for(None, told)
    assert issubclass(kind, StandInIterator)
    assert (kind is StandInIterator) is (known is None)
    assert known is None or (kind.__new__(kind).__class__ is known and kind is remote._standing_for(None, told))


def test_what_stands_for_a_view_and_for_anything_else() -> None:
    view = {"home": "builtins", "name": "dict_keys", "next": False}
    assert remote._standing_for(None, view) is StandInView
    assert remote._standing_for(None, view | {"home": "mine"}) is StandIn
    assert remote._standing_for(None, {"home": "builtins", "name": "object"}) is StandIn


@pytest.mark.parametrize(
    ("name", "level", "own", "of_logger", "logged"),
    [
        ("mine", 30, 0, 0, True),
        ("mine", 20, 0, 0, False),
        ("mine", 20, 20, 0, True),
        ("mine", 20, 30, 0, False),
        ("mine", 20, 30, 10, True),
        ("mine", 20, 10, 30, False),
        ("root", 40, 0, 0, True),
        ("root", 20, 20, 0, False),
    ],
)
def test_what_the_program_logs(name: str, level: int, own: int, of_logger: int, logged: bool) -> None:
    told: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = told.append  # type: ignore[method-assign, assignment]
    root, logger = logging.getLogger(), logging.getLogger(None if name == "root" else name)
    levels = root.level, logger.level
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logger.setLevel(of_logger or logger.level)
    try:
        remote._log(name, level, "careful %s", own)
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        logger.setLevel(levels[1])
    assert [(one.name, one.levelno, one.getMessage()) for one in told] == [(name, level, "careful %s")] * logged


def test_the_state_of_both_generators_of_random_numbers() -> None:
    state: Any = remote._RandomState((1, 2), [3])
    other: Any = remote._RandomState((1, 2), [4])
    assert (state == (1, 2), state == other, state != other, state == remote._RandomState((1, 2), [3])) == (
        *(True, False, True, True),
    )
    assert (state == (1, 3), hash(state) == hash((1, 2)), state.of_program) == (False, True, [3])


def test_what_a_test_may_replace() -> None:
    assert remote.PATCHABLE["builtins.open"] == (builtins, "open", open)
    assert remote.PATCHABLE["random.shuffle"][1:] == ("shuffle", random.shuffle)
    assert {"os.getenv", "os.path.exists", "time.sleep", "builtins.print"} <= remote.PATCHABLE.keys()
