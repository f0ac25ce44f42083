"""What Python makes of no number, and numpy of nothing, where tests compare them.

For numpy an empty array is near whatever it is compared with, because there is no item that is not. So a program that
answers with `[]` would pass `allclose(answer, 4.0)`, or `(answer == array).all()`. Here such a comparison of nothing
with something ends the test, also where the test has made the array of an empty list.

For Python nothing is greater than NaN, also no bound. So a program that answers with it, or with infinity by which a
test divides, would pass `not abs(answer - 4.0) > 1e-6`. Here to ask which of it and another number is greater ends the
test; and so it does where the test has made another float or an array of it, since the tests' code is compiled with
comparisons that look (see `guarded`). An answer that is infinite, or becomes so as a test computes with it, would be
within an infinite share of itself: that ends the test, too. None of it holds where the test names such numbers.
"""

from __future__ import annotations

import ast
import builtins
import functools
import math
import operator
import re
import sys
import unittest
from collections.abc import Callable
from decimal import Decimal
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
    """A float of the program that is infinite or NaN, or what a test computes with it that is.

    Attributes:
        is_difference: whether it is the difference to something, as an error is.
        is_share: whether it is a part of something, as a relative tolerance is.
    """

    # by which a program gets it, and a test knows it
    __module__ = "builtins"
    is_difference = is_share = False

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        of_python = {"subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv"}
        plain = [float(one) if isinstance(one, NotFinite) else one for one in inputs]
        found = getattr(ufunc, method)(*plain, **named)
        if not isinstance(found, float) or found - found == 0:
            return found
        return _marked(float(found), of_python.get(ufunc.__name__, ufunc.__name__), *inputs)


def _marked(found: float, name: str, *of: Any) -> NotFinite:
    """What a test has computed of numbers of which one is not finite, with what it is."""
    one = NotFinite(found)
    one.is_difference = name == "sub" or any(getattr(other, "is_difference", False) for other in of)
    parts = [other for other in of if isinstance(other, int | float) and math.isfinite(other)]
    is_part = name == "mul" and any(abs(part) < 1 for part in parts)
    is_part |= name == "truediv" and any(abs(part) > 1 for part in parts)
    one.is_share = is_part or any(getattr(other, "is_share", False) for other in of)
    return one


def _computed(name: str) -> Callable[..., Any]:
    plain = getattr(float, f"__{name}__")

    def compute(self: float, *others: object) -> Any:
        found = plain(self, *others)
        is_odd = isinstance(found, float) and found - found != 0
        return _marked(found, name.removeprefix("r"), self, *others) if is_odd else found

    return compute


def _compared(name: str) -> Callable[[float, object], Any]:
    plain = getattr(float, name)

    def compare(self: float, other: object) -> Any:
        if self != self:
            _refuse_size()
        for error, bound in ((self, other), (other, self)):
            if getattr(error, "is_difference", False) and getattr(bound, "is_share", False):
                raise NotComparableError("the program's answer is infinite, and so is the tolerance made of it")
        return plain(self, other)

    return compare


def _refuse_size() -> Any:
    raise NotComparableError("the program's answer is not a number, and its size is asked for")


_OF_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
for _name in (*_OF_TWO, *(f"r{name}" for name in _OF_TWO), "neg", "pos", "abs"):
    setattr(NotFinite, f"__{_name}__", _computed(_name))
NotFinite.__round__ = lambda self, *digits: self if digits else round(float(self))  # type: ignore[method-assign]
for _name in ("lt", "le", "gt", "ge"):
    setattr(NotFinite, f"__{_name}__", _compared(f"__{_name}__"))


# What a test is about where it names one, so that the program may answer with it: a word, or a part of a name, and none
# of "finance", "dominant" or "info"
_BEFORE, _BEHIND = r"(?<![A-Za-z])(?:is|has|not|no|to|as|any|all|equal|fill|drop|np|pos|neg)?_?", r"s?(?![A-Za-z])"
_NAN = re.compile(
    rf"NaN|(?<![A-Z])NAN(?![A-Z])|{_BEFORE}(?:nan|na|NA){_BEHIND}|(?:is|not)null|isfinite|isinf"
    r"|(?<![A-Za-z])nan(?:max|min|mean|median|sum|std|var|prod|arg|percentile|quantile|to)|[Nn]on_?[Ff]inite"
)
_INFINITE = re.compile(
    rf"{_NAN.pattern}|{_BEFORE}[Ii]nf(?:inity|inite|initely)?{_BEHIND}|(?<![A-Z])[PN]?INF(?:INITY)?(?![A-Z])|Infinity"
)
_INFINITIES = (math.inf, -math.inf)
_Order = Callable[[Any, Any], Any]
_ORDERING: dict[str, _Order] = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge}
_ASSERTED = ("assertLess", "assertLessEqual", "assertGreater", "assertGreaterEqual")
_ASKED = "_asked_for_size_"
_SIZED = {list, tuple, str}


class Sizes:
    """Looks at what a test compares by size.

    Args:
        words: the test and its set-up.
        is_asked: whether the program has answered: until then a test's numbers are its own.
    """

    def __init__(self, words: str, is_asked: Callable[[], bool]) -> None:
        self._names_nan, self._names_infinite = bool(_NAN.search(words)), bool(_INFINITE.search(words))
        self._is_asked, self._has_odd = is_asked, False
        # what the sizes of numbers were compared with, where that is asked for
        self.seen: set[float] | None = None
        for name in _ORDERING:
            setattr(self, name, self._quick(name))
        self.Eq, self.NotEq = (functools.partial(self._equal, how) for how in (operator.eq, operator.ne))

    def _quick(self, name: str) -> Callable[..., Any]:
        """The comparison of that name, which is quick where there is nothing to look for, as in the loops of a test."""
        how, plain = _ORDERING[name], {int, float, str}
        compare = functools.partial(self._compare, how)

        def quick(first: Any, second: Any) -> Any:
            # `==` is asked of plain data alone
            if type(first) in plain and type(second) in plain and first == first and second == second:
                if first == second and first in _INFINITIES:
                    self.look_at(first, second)
                if self.seen is not None and type(first) is not str:
                    self.seen.update((first, second))
                return how(first, second)
            return compare(first, second)

        return quick

    def _equal(self, how: _Order, first: Any, second: Any) -> Any:
        """`==` or `!=`, which numpy asks of an array where the other side is a list or a tuple of nothing."""
        kinds = {type(first), type(second)}
        is_beside = not kinds.isdisjoint((list, tuple)) and any(hasattr(kind, "__array_ufunc__") for kind in kinds)
        if is_beside and self._is_asked() and is_nothing(first) != is_nothing(second):
            _refuse()
        return how(first, second)

    def received(self, number: float, *, is_part: bool = False) -> float:
        """A number of the program that is not finite; as a part of another number it is not followed from here."""
        self._has_odd = True
        # what a test names is then no reason for what it meets
        self._names_infinite &= not is_part
        return NotFinite(number)

    def note(self) -> set[float]:
        """What numbers are compared with by size from now on."""
        self.seen = set()
        return self.seen

    def look(self, one: Any) -> Any:
        """A number whose size is asked for."""
        # asked of its class: an object of the program may say anything
        if issubclass(type(one), float):
            if float.__ne__(one, one) and (self._has_odd or not self._names_nan) and self._is_asked():
                _refuse_size()
        elif _is_array(one) and not self._names_nan and self._is_asked():
            import numpy

            if numpy.isnan(one).any():
                _refuse_size()
        return one

    def _compare(self, how: _Order, first: Any, second: Any) -> Any:
        self.look_at(first, second)
        return how(first, second)

    def look_at(self, first: Any, second: Any) -> None:
        """Two whose order is asked for. Where no test names infinity, two that are infinite are made of one answer."""
        self.look(first)
        self.look(second)
        if self._names_infinite or not self._is_asked():
            return
        if _is_array(first) or _is_array(second):
            import numpy

            with numpy.errstate(all="ignore"):
                both = [numpy.asarray(one) for one in (first, second)]
                is_odd = both[0].dtype.kind == both[1].dtype.kind == "f"
                is_odd = is_odd and bool((numpy.isinf(both[0]) & (both[0] == both[1])).any())
        else:
            # answers alone may be: a distance, say
            kinds = {type(first), type(second)}
            is_odd = kinds <= {float, Decimal, NotFinite} and kinds != {NotFinite}
            is_odd = is_odd and first == second and first in _INFINITIES
        if is_odd:
            raise NotComparableError("the program's answer is infinite, and is compared with what is made of it")

    def call(self, function: Any) -> Any:
        """A built-in function that a test calls, with a look at what it is given."""
        if function is builtins.float:
            return lambda *given: given[0] if given and type(given[0]) is NotFinite else float(*given)
        return functools.partial(self._extreme, function) if function in (builtins.max, builtins.min) else function

    def _extreme(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        if "key" in named:
            return function(*given, **named)
        return function(map(self.look, given[0]) if len(given) == 1 else [*map(self.look, given)], **named)


def _is_array(one: Any) -> bool:
    """Whether it is an array of floats, or one of numpy's."""
    if (numpy := sys.modules.get("numpy")) is None:
        return False
    return isinstance(one, numpy.ndarray | numpy.floating) and one.dtype.kind == "f"


def guard_numbers(words: str, is_asked: Callable[[], bool]) -> Sizes:
    """Have the program's numbers that are not finite end a test that asks which of them and another is greater.

    Args:
        words: the test and its set-up.
        is_asked: whether the program has answered.
    """
    sizes = Sizes(words, is_asked)
    code_values.make_not_finite = sizes.received
    own = math.fabs
    math.fabs = functools.wraps(own)(lambda number: (abs if type(number) is NotFinite else own)(number))
    for name in _ASSERTED:
        setattr(unittest.TestCase, name, _asserting(getattr(unittest.TestCase, name), sizes.look_at))
    setattr(builtins, _ASKED, sizes)
    return sizes


def _asserting(plain: Callable[..., None], look_at: Callable[[Any, Any], None]) -> Callable[..., None]:
    """An assertion of unittest's about sizes, with a look at what it compares."""

    @functools.wraps(plain)
    def compare(case: unittest.TestCase, first: Any, second: Any, *more: Any, **named: Any) -> None:
        look_at(first, second)
        plain(case, first, second, *more, **named)

    return compare


def guarded(tree: ast.Module) -> ast.Module:
    """The tests with comparisons by size that look at what they compare; as they are without `guard_numbers`."""
    if not hasattr(builtins, _ASKED):
        return tree
    nodes = [*ast.walk(tree)]
    # inner ones first
    for node in reversed(nodes):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                value[:] = map(_looking, value)
            elif isinstance(value, ast.AST):
                setattr(node, name, _looking(value))
    return ast.fix_missing_locations(tree)


def _looking(node: Any) -> Any:
    """The node, or what does the same with a look at sizes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "max", "min"):
        node.func = _asked("call", node.func)
    names = [type(how).__name__ for how in getattr(node, "ops", ())]
    # what is equal to an array is of interest where there are arrays
    if not {*names} & _ORDERING.keys() and not ("numpy" in sys.modules and names in (["Eq"], ["NotEq"])):
        return node
    if len(node.ops) > 1:
        node.left = _asked("look", node.left)
        node.comparators = [_asked("look", part) for part in node.comparators]
        return node
    how = type(node.ops[0]).__name__
    return ast.copy_location(_asked(how, node.left, *node.comparators), node)


def _asked(name: str, *given: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(_ASKED, ast.Load()), name, ast.Load())
    return ast.copy_location(ast.Call(function, [*given], []), given[0])


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
    if issubclass(type(value), NotFinite):
        return False
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
