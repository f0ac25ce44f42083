"""What Python makes of no number, and numpy of nothing, where tests compare them.

For numpy an empty array is near whatever it is compared with, because there is no item that is not. So a program that
answers with `[]` would pass `allclose(answer, 4.0)`. Here such a comparison of nothing with something ends the test,
also where the test has made the array of an empty list.

For Python nothing is greater than NaN, also no bound. So a program that answers with it, or with infinity by which a
test divides, would pass `not abs(answer - 4.0) > 1e-6`. Here to ask which of it and another number is greater ends the
test.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

from agentscope_tuner.verify.code.inside import code_values
from agentscope_tuner.verify.code.inside.stand_ins import NotComparableError, is_of_tests

_COMPARING = ("allclose", "isclose", "array_equiv")
_ASSERTING = (
    *("assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal"),
    *("assert_array_equal", "assert_array_less", "assert_equal"),
)
_OPERANDS = ("a", "b", "x", "y", "actual", "desired")
_BY_OPERATOR = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "subtract"}


class NotFinite(float):
    """A float of the program that is infinite or NaN, or what a test computes with it that is."""

    # by which a program gets it, and a test knows it
    __module__ = "builtins"


def _computed(name: str) -> Callable[..., Any]:
    plain = getattr(float, name)

    def compute(self: float, *others: object) -> Any:
        found = plain(self, *others)
        return NotFinite(found) if isinstance(found, float) and found - found != 0 else found

    return compute


def _compared(name: str) -> Callable[[float, object], Any]:
    plain = getattr(float, name)

    def compare(self: float, other: object) -> Any:
        if self != self:
            raise NotComparableError("the program's answer is not a number, and its size is asked for")
        return plain(self, other)

    return compare


_OF_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
for _name in (*_OF_TWO, *(f"r{name}" for name in _OF_TWO), "neg", "pos", "abs", "round"):
    setattr(NotFinite, f"__{_name}__", _computed(f"__{_name}__"))
for _name in ("lt", "le", "gt", "ge"):
    setattr(NotFinite, f"__{_name}__", _compared(f"__{_name}__"))


def guard_numbers() -> None:
    """Have the program's numbers that are not finite end a test that asks which of them and another is greater."""
    code_values.make_not_finite = NotFinite
    own = math.fabs
    math.fabs = functools.wraps(own)(lambda number: (abs if type(number) is NotFinite else own)(number))


def guard() -> None:
    """Have numpy's comparisons, and empty arrays of the program, refuse to compare nothing with something."""
    import numpy
    import numpy.testing

    for home, names in ((numpy, _COMPARING), (numpy.testing, _ASSERTING)):
        for name in names:
            if hasattr(home, name):
                setattr(home, name, _guarded(getattr(home, name)))

    class EmptyArray(numpy.ndarray[Any, Any]):
        """An empty array of the program's, or one that its test has made of an empty list."""

        # by which a program gets it as an array
        __module__ = "numpy"

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
            if ufunc.__name__ in _BY_OPERATOR and not all(is_nothing(one) for one in inputs):
                _refuse()
            plain = [one.view(numpy.ndarray) if isinstance(one, EmptyArray) else one for one in inputs]
            return kept(getattr(ufunc, method)(*plain, **named))

        @property
        def flat(self) -> Any:
            # by which `approx` compares a number with each item
            return _refuse()

    def kept(found: Any) -> Any:
        """What a function of numpy's gives, of which later comparisons know that it is nothing."""
        return found.view(EmptyArray) if type(found) is numpy.ndarray and found.size == 0 else found

    for name in numpy.__all__:
        one = getattr(numpy, name)
        if callable(one) and not isinstance(one, type):
            setattr(numpy, name, _Called(one, kept))
    code_values.make_empty = kept


class _Called:
    """A function of numpy's, whose empty arrays are known as such where the tests themselves call it."""

    def __init__(self, function: Any, kept: Callable[[Any], Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function, self._kept = function, kept

    def __call__(self, *given: Any, **named: Any) -> Any:
        if not is_of_tests(sys._getframe(1).f_code):
            return self._function(*given, **named)
        # lists are no arrays yet
        if self.__name__ in _BY_OPERATOR and len({is_nothing(one) for one in given[:2]}) > 1:
            _refuse()
        found = self._function(*given, **named)
        return self._kept(found) if any(map(is_nothing, (*given, *named.values()))) else found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def is_nothing(value: Any) -> bool:
    """Whether it is an array, or lists within lists, without a number."""
    if isinstance(value, list | tuple):
        return all(map(is_nothing, value))
    # asked of its class: an object of the program may say anything
    if hasattr(type(value), "__array_ufunc__"):
        return bool(value.size == 0)
    if isinstance(value, str | bytes | dict | set | frozenset) or not hasattr(type(value), "__len__"):
        return False
    try:
        # what numpy takes for a sequence, too
        return len(value) == 0
    except Exception:  # noqa: BLE001 - a stand-in for what has no length
        return False


def _guarded(compare: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compare)
    def compared(*given: Any, **named: Any) -> Any:
        operands = [*given[:2], *(named[name] for name in _OPERANDS if name in named)]
        if len({is_nothing(one) for one in operands}) > 1:
            _refuse()
        return compare(*given, **named)

    return compared


def _refuse() -> Any:
    raise NotComparableError("an array of nothing is compared with something")
