"""What a test may ask of the size of a number that is none, and of nothing; and that its text asks so."""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import operator
import unittest
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, cast

import pytest

from agentscope_tuner.verify.code.inside import code_values, empty_arrays
from agentscope_tuner.verify.code.inside.empty_arrays import NotFinite, Sizes
from agentscope_tuner.verify.code.inside.stand_ins import NotComparableError

_NAN, _INF = NotFinite("nan"), NotFinite("inf")
_NO_SIZE = "the program's answer is not a number, and its size is asked for"
_MADE_OF_IT = "the program's answer is infinite, and is compared with what is made of it"
_OF_NOTHING = "an array of nothing is compared with something"
_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}


def _tried(act: Callable[..., Any], *given: Any, **named: Any) -> Any:
    try:
        return act(*given, **named)
    except NotComparableError as exc:
        return str(exc)


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge"])
def test_what_is_no_number_has_no_size(name: str) -> None:
    compare = getattr(operator, name)
    assert [_tried(compare, *pair) for pair in ((_NAN, 1), (1, _NAN), (_NAN, _INF))] == [_NO_SIZE] * 3
    for one, other in ((_INF, 1), (1, _INF), (_INF, _INF), (NotFinite("-inf"), 0)):
        assert compare(one, other) is compare(float(one), float(other))


@pytest.mark.parametrize(
    ("compute", "is_difference", "is_share"),
    [
        (lambda one: one, False, False),
        (lambda one: one - 1, True, False),
        (lambda one: 1 - one, True, False),
        (lambda one: abs(one - 1), True, False),
        (lambda one: one + 1, False, False),
        (lambda one: -one, False, False),
        (lambda one: one * 0.5, False, True),
        (lambda one: 1e-6 * one, False, True),
        (lambda one: one * 1, False, False),
        (lambda one: one * 2, False, False),
        (lambda one: one / 100, False, True),
        (lambda one: one / 1, False, False),
        (lambda one: one / 0.5, False, False),
        (lambda one: one / 100 + 1, False, True),
        (lambda one: (one - 1) / 100, True, True),
        (lambda one: round(one, 2), False, False),
        (lambda one: one**2, False, False),
    ],
)
def test_what_is_computed_of_it_is_followed(compute: Any, is_difference: bool, is_share: bool) -> None:
    found = compute(_INF)
    assert (type(found), found.is_difference, found.is_share) == (NotFinite, is_difference, is_share)
    assert float(found) in (math.inf, -math.inf)


def test_what_is_finite_again_is_a_float() -> None:
    assert [(type(one), one) for one in (1 / _INF, 3 % _INF, math.copysign(1, _INF))] == [
        *((float, 0.0), (float, 3.0), (float, 1.0)),
    ]
    assert _INF.__add__(cast("Any", "a")) is NotImplemented
    with pytest.raises(OverflowError):
        round(_INF)


def test_an_infinite_error_is_within_no_infinite_share() -> None:
    error, share = _INF - 4, _INF * 1e-6
    why = "the program's answer is infinite, and so is the tolerance made of it"
    assert [_tried(operator.le, *pair) for pair in ((error, share), (share, error))] == [why, why]
    assert [_tried(operator.le, *pair) for pair in ((error, 1e-6), (error, error), (share, share), (1, share))] == [
        *(False, True, True, True),
    ]


def _looking(words: str, *, is_asked: bool = True) -> Any:
    return Sizes(words, lambda: is_asked)


@pytest.fixture
def sizes() -> Any:
    return _looking("assert f() < 1")


@pytest.mark.parametrize("name", _ORDER)
def test_the_order_of_plain_data_is_pythons(sizes: Any, name: str) -> None:
    for one, other in itertools.product((-1, 0, 1.5, 2, 10**400), repeat=2):
        assert getattr(sizes, name)(one, other) is _ORDER[name](one, other)
    assert getattr(sizes, name)("a", "b") is _ORDER[name]("a", "b")
    assert getattr(sizes, name)([1], [2]) is _ORDER[name]([1], [2])
    with pytest.raises(TypeError):
        getattr(sizes, name)(1, "a")


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (math.nan, 1, _NO_SIZE),
        (1, math.nan, _NO_SIZE),
        (_NAN, 1, _NO_SIZE),
        (math.inf, math.inf, _MADE_OF_IT),
        (-math.inf, -math.inf, _MADE_OF_IT),
        (math.inf, _INF, _MADE_OF_IT),
        (Decimal("inf"), math.inf, _MADE_OF_IT),
        (math.inf, -math.inf, None),
        (math.inf, 1, None),
        # answers alone, as a distance may be
        (_INF, _INF, None),
        pytest.param(10**400, 10**400, None, id="large"),
    ],
)
def test_the_order_of_what_is_not_finite(sizes: Any, one: Any, other: Any, why: str | None) -> None:
    for name, compare in _ORDER.items():
        assert _tried(getattr(sizes, name), one, other) == (compare(one, other) if why is None else why)
    told: list[object] = []
    asserted = _tried(
        empty_arrays._asserting(lambda *given, **more: told.append((given, more)), sizes.look_at), 0, one, other, msg=3
    )
    assert (asserted, told) == (why, [] if why else [((0, one, other), {"msg": 3})])
    # until the program has answered, a test's numbers are its own
    early = _looking("", is_asked=False)
    if type(one) is not NotFinite:
        assert early.Lt(one, other) is (one < other)


@pytest.mark.parametrize(
    ("words", "names_nan", "names_infinite"),
    [
        *(
            (word, True, True)
            for word in ("math.nan", "NaN", "NAN", "isnan(x)", "np.nanmax(a)", "notnull", "isfinite(x)")
        ),
        *((word, True, True) for word in ("dropna()", "pd.NA", "nonfinite", "is_nan", "nans")),
        *(
            (word, False, True)
            for word in ("math.inf", "-inf", "Infinity", "float('infinity')", "INF", "PINF", "is_infinite")
        ),
        *((word, False, False) for word in ("finance", "dominant", "info", "banana", "INFO", "name", "")),
    ],
)
def test_a_test_that_names_such_numbers_may_compare_them(words: str, names_nan: bool, names_infinite: bool) -> None:
    sizes = _looking(words)
    assert _tried(sizes.Lt, math.nan, 1) == (False if names_nan else _NO_SIZE)
    assert _tried(sizes.LtE, math.inf, math.inf) == (True if names_infinite else _MADE_OF_IT)


def test_a_number_of_the_program_that_a_test_names() -> None:
    sizes = _looking("nan inf")
    assert (_tried(sizes.Lt, math.nan, 1), _tried(sizes.LtE, math.inf, math.inf)) == (False, True)
    found = sizes.received(math.inf)
    assert (type(found), found) == (NotFinite, math.inf)
    assert (_tried(sizes.Lt, math.nan, 1), _tried(sizes.LtE, math.inf, math.inf)) == (_NO_SIZE, True)
    sizes.received(math.inf, is_part=True)
    assert _tried(sizes.LtE, math.inf, math.inf) == _MADE_OF_IT


def test_the_numbers_that_sizes_are_compared_with_are_noted(sizes: Any) -> None:
    assert sizes.Lt(1, 2)
    seen = sizes.note()
    assert (sizes.Lt(3, 4.5), sizes.Gt("a", "b"), sizes.LtE([5], [6])) == (True, False, True)
    assert seen == {3, 4.5}
    assert (sizes.note(), seen) == (set(), {3, 4.5})


class _Array:
    def __init__(self, size: int) -> None:
        self.size = size

    def __array_ufunc__(self) -> None:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


def test_nothing_equals_something_only_where_no_array_is_asked(sizes: Any) -> None:
    pairs: list[Any] = [(_Array(0), [1]), ([], _Array(2)), ((), _Array(1))]
    for pair in pairs:
        assert [_tried(how, *pair) for how in (sizes.Eq, sizes.NotEq)] == [_OF_NOTHING] * 2
    pairs = [(_Array(0), []), (_Array(1), [2]), ([], [1]), (_Array(0), _Array(1)), (_Array(0), {1})]
    for pair in pairs:
        assert [_tried(how, *pair) for how in (sizes.Eq, sizes.NotEq)] == [False, True]
    assert _looking("", is_asked=False).Eq(_Array(0), [1]) is False


def test_what_a_test_calls_looks_at_what_it_is_given(sizes: Any) -> None:
    assert sizes.call(len) is len
    for function, found in ((max, 3), (min, 1)):
        called = sizes.call(function)
        assert (called(1, 3), called([1, 3]), called(iter([3, 1])), called([], default=found)) == (found,) * 4
        assert [_tried(called, *given) for given in ((1, math.nan), ([math.nan, 1],), ((_NAN,),))] == [_NO_SIZE] * 3
        assert called(1, -3, key=abs) == (-3 if found == 3 else 1)
        assert _tried(called, [math.nan], key=str) != _NO_SIZE
    number = sizes.call(float)
    assert (number(_INF) is _INF, number("1.5"), number(), type(number(3))) == (True, 1.5, 0.0, float)


@pytest.mark.parametrize(
    ("value", "is_nothing"),
    [
        *((one, True) for one in list[Any](([], (), [[], ()], _Array(0), [_Array(0)], bytearray(), range(0)))),
        *(
            (one, False)
            for one in list[Any](([1], [[], 1], _Array(1), "", b"", {}, set(), frozenset(), 0, None, range(1), _INF))
        ),
    ],
)
def test_what_is_nothing(value: Any, is_nothing: bool) -> None:
    assert empty_arrays.is_nothing(value) is is_nothing


def test_a_comparison_of_nothing_with_something_is_refused() -> None:
    compared = empty_arrays._guarded(lambda *given, **named: (given, named))
    assert [_tried(compared, [], 1), _tried(compared, actual=[], desired=[2]), _tried(compared, 1, b=[])] == [
        _OF_NOTHING
    ] * 3
    assert _tried(compared, [], [], [1], rtol=1) == (([], [], [1]), {"rtol": 1})
    assert _tried(compared, 1, [2], err_msg=[]) == ((1, [2]), {"err_msg": []})


@pytest.fixture
def asked(sizes: Any) -> Iterator[Any]:
    setattr(builtins, empty_arrays._ASKED, sizes)
    yield sizes
    delattr(builtins, empty_arrays._ASKED)


@pytest.mark.parametrize(
    ("source", "looking"),
    [
        ("x < 1", "_.Lt(x, 1)"),
        ("x <= 1", "_.LtE(x, 1)"),
        ("x > 1", "_.Gt(x, 1)"),
        ("x >= 1", "_.GtE(x, 1)"),
        ("0 < x < 1", "_.look(0) < _.look(x) < _.look(1)"),
        ("0 == x < 1", "_.look(0) == _.look(x) < _.look(1)"),
        ("x in y", "x in y"),
        ("x is not y", "x is not y"),
        ("max(x, y)", "_.call(max)(x, y)"),
        ("min(x)", "_.call(min)(x)"),
        ("float(x)", "_.call(float)(x)"),
        ("a.max(x)", "a.max(x)"),
        ("int(x)", "int(x)"),
        ("f(x < 1, *[y > z])", "f(_.Lt(x, 1), *[_.Gt(y, z)])"),
        ("max(x < 1, 2) > 3", "_.Gt(_.call(max)(_.Lt(x, 1), 2), 3)"),
        ("not x < 1", "not _.Lt(x, 1)"),
        ("[one for one in x if one > 1]", "[one for one in x if _.Gt(one, 1)]"),
    ],
)
def test_a_comparison_looks_at_what_it_compares(asked: Any, source: str, looking: str) -> None:
    found = empty_arrays.guarded(ast.parse(source))
    assert ast.unparse(found) == looking.replace("_.", f"{empty_arrays._ASKED}.")
    compile(found, "<test>", "exec")


def test_a_text_stays_as_it_is_where_nobody_looks() -> None:
    assert ast.unparse(empty_arrays.guarded(ast.parse("max(x < 1)"))) == "max(x < 1)"


def test_the_tests_framework_looks_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in empty_arrays._ASSERTED:
        monkeypatch.setattr(unittest.TestCase, name, getattr(unittest.TestCase, name))
    monkeypatch.setattr(math, "fabs", math.fabs)
    monkeypatch.setattr(code_values, "make_not_finite", code_values.make_not_finite)
    monkeypatch.setattr(builtins, empty_arrays._ASKED, None, raising=False)
    sizes = empty_arrays.guard_numbers("assert f() < 1", lambda: True)
    assert getattr(builtins, empty_arrays._ASKED) is sizes
    assert type(code_values.make_not_finite(math.inf)) is NotFinite
    case = unittest.TestCase()
    for name in empty_arrays._ASSERTED:
        assert _tried(getattr(case, name), math.nan, 1) == _NO_SIZE
    below, above = case.assertLess, case.assertGreater
    below(1, 2, "so")
    with pytest.raises(AssertionError, match="so"):
        above(1, 2, "so")
    assert (type(math.fabs(_INF)), math.fabs(-2)) == (NotFinite, 2.0)
    assert math.fabs(_INF - 1).is_difference  # type: ignore[attr-defined]
