"""What numpy makes of nothing, where tests compare arrays.

For numpy an empty array is near whatever it is compared with, because there is no item that is not. So a program that
answers with `[]` would pass `allclose(answer, 4.0)`. Here such a comparison of nothing with something ends the test.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from agentscope_tuner.verify.code.inside import code_values
from agentscope_tuner.verify.code.inside.stand_ins import NotComparableError

_COMPARING = ("allclose", "isclose", "array_equiv")
# What makes an array of a list
_MAKING = ("array", "asarray", "asanyarray", "ascontiguousarray", "atleast_1d", "ravel")
_ASSERTING = (
    *("assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal"),
    *("assert_array_equal", "assert_array_less", "assert_equal"),
)
_OPERANDS = ("a", "b", "x", "y", "actual", "desired")
_BY_OPERATOR = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "subtract"}


def guard() -> None:
    """Have numpy's comparisons, and empty arrays, refuse to compare nothing with something."""
    import numpy
    import numpy.testing

    for home, names in ((numpy, _COMPARING), (numpy.testing, _ASSERTING)):
        for name in names:
            if hasattr(home, name):
                setattr(home, name, _guarded(getattr(home, name)))

    for name in _BY_OPERATOR:
        setattr(numpy, name, _guarded_operator(getattr(numpy, name)))

    class EmptyArray(numpy.ndarray[Any, Any]):
        """An empty array of the program's, or one that a test makes of what the program gives."""

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
            if ufunc.__name__ in _BY_OPERATOR and not all(is_nothing(one) for one in inputs):
                _refuse()
            plain = [one.view(numpy.ndarray) if isinstance(one, EmptyArray) else one for one in inputs]
            return getattr(ufunc, method)(*plain, **named)

        @property
        def flat(self) -> Any:
            # by which `approx` compares a number with each item
            return _refuse()

    for name in _MAKING:
        setattr(numpy, name, _seen(getattr(numpy, name), numpy.ndarray, EmptyArray))
    code_values.make_empty = lambda array: array.view(EmptyArray)


def _seen(make: Callable[..., Any], plain: Any, empty: Any) -> Callable[..., Any]:
    """The function, which marks the empty arrays that a test has made of a list."""

    @functools.wraps(make)
    def array(*given: Any, **named: Any) -> Any:
        found = make(*given, **named)
        # a package that a test uses may hold empty arrays of its own
        is_of_test = not sys._getframe(1).f_globals.get("__package__")
        return found.view(empty) if type(found) is plain and found.size == 0 and is_of_test else found

    return array


def is_nothing(value: Any) -> bool:
    """Whether it is an array, or lists within lists, without a number."""
    if isinstance(value, list | tuple):
        return all(map(is_nothing, value))
    # asked of its class: an object of the program may say anything
    return hasattr(type(value), "__array_ufunc__") and value.size == 0


def _guarded(compare: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compare)
    def compared(*given: Any, **named: Any) -> Any:
        operands = [*given[:2], *(named[name] for name in _OPERANDS if name in named)]
        if len({is_nothing(one) for one in operands}) > 1:
            _refuse()
        return compare(*given, **named)

    return compared


def _guarded_operator(operator: Any) -> Callable[..., Any]:
    guarded = _guarded(operator)
    for method in ("outer", "at", "reduce", "accumulate", "reduceat"):
        setattr(guarded, method, getattr(operator, method))
    return guarded


def _refuse() -> Any:
    raise NotComparableError("an array of nothing is compared with something")
