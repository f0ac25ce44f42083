"""What data an object is made of, other data of its kind, and what of a test's text is data."""

from __future__ import annotations

import ast
import datetime
import json
import math
import operator
import os
import random
from collections import Counter, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from agentscope_tuner.verify.code.inside import stand_ins
from agentscope_tuner.verify.code.inside.stand_ins import Difference, NearOne, NotComparableError

_DAY = datetime.timedelta(days=1)


@pytest.mark.parametrize(
    ("value", "given"),
    [
        (1, {1.0}),
        ("a", {"a"}),
        (b"a", {b"a"}),
        # the same number, however it is written
        ("3", {3.0}),
        (Decimal("1.5"), {1.5}),
        (Fraction(1, 2), {0.5}),
        (1 + 2j, {1.0, 2.0}),
        (10**400, {10**400}),
        ([1, [2.5, (3,)]], {1.0, 2.5, 3.0}),
        (deque([1, frozenset([2])]), {1.0, 2.0}),
        ({4}, {4.0}),
        ({"a": 1}, {"a", 1.0}),
        # the names of an object's fields are no data
        ({"": {"x": 1, "y": [2]}}, {1.0, 2.0}),
        ({"": 1, "b": 2}, {"", "b", 1.0, 2.0}),
        (True, {"True"}),
        (datetime.date(2024, 1, 2), {"datetime.date(2024, 1, 2)"}),
        (datetime.time(1), {"datetime.time(1, 0)"}),
        (_DAY, {"datetime.timedelta(days=1)"}),
        (None, set()),
        (object, set()),
    ],
    ids=lambda value: str(value)[:20],
)
def test_the_data_in_a_value(value: object, given: set[object]) -> None:
    assert stand_ins.given_of(value) == given


@pytest.mark.parametrize(
    ("data", "other"),
    [
        (True, False),
        (False, True),
        (1, 2),
        (1.5, 2.5),
        (Decimal(1), Decimal(2)),
        (Fraction(1, 2), Fraction(3, 2)),
        ("a", "a~"),
        (b"a", b"a~"),
        (datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)),
        (datetime.datetime(2024, 1, 1, 5), datetime.datetime(2024, 1, 2, 5)),
        (_DAY, 2 * _DAY),
        *((kind.max, kind.max - _DAY) for kind in (datetime.date, datetime.datetime, datetime.timedelta)),
        # the first part that has another
        ([1, 2], [2, 2]),
        ([None, 2, 3], [None, 3, 3]),
        ((1,), (2,)),
        ([[], [3]], [[], [4]]),
        ({"a": None, "b": "x"}, {"a": None, "b": "x~"}),
        *((one, None) for one in list[Any](([None], [], (), {}, None, 1j, {1}, deque([1])))),
    ],
)
def test_other_data_of_the_same_kind(data: Any, other: object) -> None:
    found = stand_ins.otherwise(data)
    assert (type(found), found) == (type(other), other)


@pytest.mark.parametrize(
    ("data", "more"),
    [
        ("a", "a~"),
        (b"a", b"a~"),
        ([1], [1, None]),
        ((1,), (1, None)),
        (1, 2),
        (1.5, 2.5),
        (1e300, -1e300),
        (math.inf, -math.inf),
        (1j, 1 + 1j),
        (Decimal(1), Decimal(2)),
        ({}, [{}]),
        (None, [None]),
    ],
)
def test_data_that_is_not_the_same(data: Any, more: object) -> None:
    assert stand_ins._unequal(data) == more


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1.0, 1.0000009, True),
        (1.0, 1.000002, False),
        (1e-10, 0.0, True),
        (2e-9, 0.0, False),
        (1, 1.0, True),
        (1, 1 + 1e-12, True),
        (1, 2, False),
        ("1", 1.0, False),
        ("a", "a", True),
        ({"a": 1.0}, {"a": 1.0000001}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1, "b": 1}, False),
        ({"a": 1}, [1], False),
        ([1.0, 2], (1.0000001, 2), True),
        (deque([1]), [1], True),
        ([1], [1, 2], False),
        ([1, 2], [1, 3], False),
        ({1}, {1}, True),
        ({1}, {2}, False),
    ],
)
def test_two_states_are_alike(one: object, other: object, alike: bool) -> None:
    assert stand_ins._alike(one, other) is alike
    assert stand_ins._alike(other, one) is alike


@pytest.mark.parametrize(
    ("source", "once", "constant"),
    [
        ("x = 1", "x", "x"),
        ("x = -1", "x", "x"),
        ("x = 'a' + 'b'", "x", "x"),
        ("x = (1, (2,))\nx[0]", "x", "x"),
        ("x = [1]\nx[0]", "x", "x"),
        ("x = 1\ny = 2\nx[0]", "x y", "x y"),
        ("x = f(1)\nx[0]", "x", ""),
        ("x = 1\ny = x", "x y", ""),
        # it may be changed
        ("x = [1]\nprint(x)", "x", ""),
        ("x = [[1]]\nx[0]", "x", ""),
        ("x = {'a': [1]}\nx['a']", "x", ""),
        ("x = {'a': 1}\nx['a']\nx['b'] = 2", "x", ""),
        ("x = {'a': 1}\nx['a']", "x", "x"),
        ("x = 1\nx", "x", ""),
        # set by more than one assignment
        ("x = 1\nx = 2", "", ""),
        ("x = y = 1", "", ""),
        ("x, y = 1, 2", "", ""),
        ("def f(x): x = 1", "", ""),
        ("for x in a: pass\nx = 1", "", ""),
        ("x += 1", "", ""),
        ("x.y = 1", "", ""),
    ],
)
def test_variables_that_are_set_once_and_constants(source: str, once: str, constant: str) -> None:
    tree = ast.parse(source)
    assert stand_ins.set_once([*ast.walk(tree)]).keys() == {*once.split()}
    assert stand_ins.constants_of(tree).keys() == {*constant.split()}


@pytest.mark.parametrize(
    ("expression", "is_data"),
    [
        *((one, True) for one in ("1", "x", "[1, x]", "(1, {x: 2})", "{x}", "x[0]", "x[1:2]", "1 < 2", "not x", "-x")),
        *((one, True) for one in ("x and 1", "x + 1")),
        *((one, False) for one in ("y", "[1, y]", "f(1)", "x.y", "lambda: 1", "1 if x else 2", "f'{x}'", "(*x,)")),
        *((one, False) for one in ("[one for one in x]", "(one := x)")),
    ],
)
def test_an_expression_of_constants(expression: str, is_data: bool) -> None:
    node = ast.parse(expression, mode="eval").body
    assert stand_ins.is_data(node, {"x": ast.Constant(1)}) is is_data


class _Odd(LookupError):
    pass


@pytest.mark.parametrize(
    ("exc", "told"),
    [
        (None, ()),
        (ValueError(1, "a", [2], None, True, 1.5), ("ValueError", [1, "a", "[2]", None, True, 1.5])),
        # it says what the test expects
        (AssertionError("x"), ("AssertionError", [])),
        (_Odd("z"), ("LookupError", ["z"])),
    ],
)
def test_what_the_program_is_told_of_an_exception(exc: BaseException | None, told: tuple[object, ...]) -> None:
    assert stand_ins.told_of(exc) == told


@pytest.mark.parametrize(
    ("name", "one", "is_pure"),
    [
        *(
            (one.__name__, one, True)
            for one in (math, json, len, sorted, int, ValueError, Counter, math.sqrt, json.dumps)
        ),
        *((one.__name__, one, False) for one in (os, random, print, input, os.getcwd, random.random)),
        # a name is not enough
        ("len", 5, False),
        ("sqrt", lambda one: one, False),
    ],
)
def test_what_gives_the_same_for_the_same(name: str, one: object, is_pure: bool) -> None:
    assert stand_ins._is_of_python(name, one) is is_pure


def _tried(act: Callable[[], object]) -> object:
    try:
        return act()
    except NotComparableError as exc:
        return str(exc)


def test_a_difference_is_no_more_than_the_data_that_it_is() -> None:
    refused = "the program's V is compared by a difference to data"
    one, nothing, near = Difference(3, "V"), Difference(0, "V"), NearOne(1.05, "V")
    assert (one == 3, one == 4, one != 3, one == Difference(3, "V"), near == 1.05, near == 1) == (
        *(True, False, False, False, True, False),
    )
    assert (repr(one), hash(one), one.__class__, type(one)) == ("3", hash(3), int, Difference)
    assert (one + 1, 1 + one, one - 1, nothing == 1) == (4, 4, 2, False)
    with pytest.raises(TypeError, match=r"^a difference keeps its class$"):
        one.__class__ = float
    unary: list[Any] = [bool, abs, round, int, float, len, iter, operator.index]
    compared: list[Any] = [operator.lt, operator.le, operator.gt, operator.ge, operator.mul, operator.pow]
    compared += [operator.mod, operator.truediv, operator.floordiv, operator.contains]
    added: list[Any] = [operator.add, operator.sub]
    acts = [
        *(partial(act, one) for act in unary),
        *(partial(act, one, 2) for act in compared),
        *(partial(act, one, 0) for act in added),
        *(partial(act, near, 1) for act in added),
        *(partial(operator.eq, nothing, 0), partial(operator.add, 0, one), partial(operator.add, 1, near)),
    ]
    assert [_tried(act) for act in acts] == [refused] * len(acts)
