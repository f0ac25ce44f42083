"""Ends a test that would pass only because the program answered with an empty array, with NaN, or with infinity.

Used in the tests' process of tests that carry code, before the tests run: `guard_numbers` always, `guard` for tests
with arrays.

Empty arrays: numpy finds an empty array near anything, since it has no item that is not near. So a program that returns
`[]` would pass `allclose(solve(2), 4.0)` or `(solve(2) == array).all()`. Here a test ends if it compares an empty array
with something that is not empty, also if the test has made the array from an empty list.

NaN: every comparison with NaN by `<` or `>` is false. So a program that returns NaN, or an infinity by which a test
divides, would pass `assert not abs(solve(2) - 4.0) > 1e-6`. Here a test ends if it asks whether NaN or a different
number is greater. This also works if the test has made another float or an array of the answer, since the tests' code
is compiled with comparisons that check their operands (see `guarded`).

Infinity: if the answer is infinite, so is a tolerance such as `0.1 * answer`, and the error is within it. A test that
compares the two ends, too.

The rules for NaN and infinity do not apply if the test itself names such numbers.
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
    """A float of the program that is infinite or NaN, or the result of a test's arithmetic with one. It replaces the
    plain float in the tests' process, so that comparisons with it are checked.

    Attributes:
        is_difference: whether it is the result of a subtraction, such as an error.
        is_share: whether it is a part of a number, such as the tolerance `0.1 * answer`.
    """

    # as of Python's own, so that it goes to a program, and passes in a test, as a float
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
    """A `NotFinite` for the result of arithmetic, marked as a difference, a share, or neither.

    Args:
        found: the result, which is infinite or NaN.
        name: of the operator, such as `sub`.
        of: its operands.
    """
    one = NotFinite(found)
    one.is_difference = name == "sub" or any(getattr(other, "is_difference", False) for other in of)
    parts = [other for other in of if isinstance(other, int | float) and math.isfinite(other)]
    is_part = name == "mul" and any(abs(part) < 1 for part in parts)
    is_part |= name == "truediv" and any(abs(part) > 1 for part in parts)
    one.is_share = is_part or any(getattr(other, "is_share", False) for other in of)
    return one


def _computed(name: str) -> Callable[..., Any]:
    """The method of NotFinite for an operator, such as `__sub__` for `sub`. A result that is infinite or NaN is a
    `NotFinite` as well.
    """
    plain = getattr(float, f"__{name}__")

    def compute(self: float, *others: object) -> Any:
        found = plain(self, *others)
        is_odd = isinstance(found, float) and found - found != 0
        return _marked(found, name.removeprefix("r"), self, *others) if is_odd else found

    return compute


def _compared(name: str) -> Callable[[float, object], Any]:
    """The method of NotFinite for a comparison, such as `__lt__`. It ends the test if a side is NaN, or if an infinite
    difference is compared with an infinite share, as in `abs(answer - 4) < 0.1 * answer`.
    """
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
    """End the test, because it asks whether NaN is less or greater than a number."""
    raise NotComparableError("the program's answer is not a number, and its size is asked for")


_OF_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
for _name in (*_OF_TWO, *(f"r{name}" for name in _OF_TWO), "neg", "pos", "abs"):
    setattr(NotFinite, f"__{_name}__", _computed(_name))
NotFinite.__round__ = lambda self, *digits: self if digits else round(float(self))  # type: ignore[method-assign]
for _name in ("lt", "le", "gt", "ge"):
    setattr(NotFinite, f"__{_name}__", _compared(f"__{_name}__"))


# Words by which a test shows that it is about NaN or infinity, so that the program may answer with it: a whole word, or
# a part of a name; but nothing in "finance", "dominant" or "info"
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
    """The comparisons by size in tests, each with a check of its operands. Lives in the tests' process: the compiled
    code of the tests calls these methods in place of `<`, `max` and so on (see `guarded`).

    A check ends the test (NotComparableError) if a NaN or an infinity of the program would decide the comparison, as
    NaN does in `assert not abs(answer - 4) > 1e-6`.

    Args:
        words: the source of the tests and their set-up code.
        is_asked: whether the program has answered yet. Before that, all numbers are the test's own.
    """

    def __init__(self, words: str, is_asked: Callable[[], bool]) -> None:
        self._names_nan, self._names_infinite = bool(_NAN.search(words)), bool(_INFINITE.search(words))
        self._is_asked, self._has_odd = is_asked, False
        # the numbers that were compared by size, since `note` was called
        self.seen: set[float] | None = None
        for name in _ORDERING:
            setattr(self, name, self._quick(name))
        self.Eq, self.NotEq = (functools.partial(self._equal, how) for how in (operator.eq, operator.ne))

    def _quick(self, name: str) -> Callable[..., Any]:
        """The checked comparison for `Lt`, `LtE`, `Gt` or `GtE`: `Lt(a, b)` replaces `a < b`. It is quick for plain
        numbers and texts, as in the loops of a test.
        """
        how, plain = _ORDERING[name], {int, float, str}
        compare = functools.partial(self._compare, how)

        def quick(first: Any, second: Any) -> Any:
            # by their exact types: `==` of another class could say anything
            if type(first) in plain and type(second) in plain and first == first and second == second:
                if first == second and first in _INFINITIES:
                    self.look_at(first, second)
                if self.seen is not None and type(first) is not str:
                    self.seen.update((first, second))
                return how(first, second)
            return compare(first, second)

        return quick

    def _equal(self, how: _Order, first: Any, second: Any) -> Any:
        """`==` or `!=`, for tests with arrays. Ends the test if one side is an array, the other a list or tuple, and
        exactly one of them is empty, as in `(array == []).all()`.
        """
        kinds = {type(first), type(second)}
        is_beside = not kinds.isdisjoint((list, tuple)) and any(hasattr(kind, "__array_ufunc__") for kind in kinds)
        if is_beside and self._is_asked() and is_nothing(first) != is_nothing(second):
            _refuse()
        return how(first, second)

    def received(self, number: float, *, is_part: bool = False) -> float:
        """Return a number of the program that is infinite or NaN as a `NotFinite`, by which it is recognized in a
        test's arithmetic.

        Args:
            number: as it arrived from the program.
            is_part: whether it is a part of a complex number, whose arithmetic cannot be followed.
        """
        self._has_odd = True
        # a part is not followed, so even a test that names infinity is checked from now on
        self._names_infinite &= not is_part
        return NotFinite(number)

    def note(self) -> set[float]:
        """Collect the numbers that the tests compare by size from now on, in the set that is returned."""
        self.seen = set()
        return self.seen

    def look(self, one: Any) -> Any:
        """Return a value that a test compares by size. Ends the test if the value is NaN and comes from the
        program.
        """
        # by its class: an object of the program may say anything of itself
        if issubclass(type(one), float):
            if float.__ne__(one, one) and (self._has_odd or not self._names_nan) and self._is_asked():
                _refuse_size()
        elif _is_array(one) and not self._names_nan and self._is_asked():
            import numpy

            if numpy.isnan(one).any():
                _refuse_size()
        return one

    def _compare(self, how: _Order, first: Any, second: Any) -> Any:
        """The comparison `how` of two values, such as `operator.lt`, with the checks of `look_at`."""
        self.look_at(first, second)
        return how(first, second)

    def look_at(self, first: Any, second: Any) -> None:
        """Check two values that a test compares by size. Ends the test if one of them is the program's NaN.

        It also ends the test if both are the same infinity and the test does not name infinity: then the test has made
        one of them of the answer. (Two floats of the program may both be infinite, as distances are.)
        """
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
            # two answers may be equal and infinite, as distances are
            kinds = {type(first), type(second)}
            is_odd = kinds <= {float, Decimal, NotFinite} and kinds != {NotFinite}
            is_odd = is_odd and first == second and first in _INFINITIES
        if is_odd:
            raise NotComparableError("the program's answer is infinite, and is compared with what is made of it")

    def call(self, function: Any) -> Any:
        """The function that a test calls by `float`, `max` or `min`: the built-in function with a check of its
        arguments, or `function` itself if the test has its own function of that name.
        """
        if function is builtins.float:
            return lambda *given: given[0] if given and type(given[0]) is NotFinite else float(*given)
        return functools.partial(self._extreme, function) if function in (builtins.max, builtins.min) else function

    def _extreme(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """`max` or `min` of the arguments, each of which is checked."""
        if "key" in named:
            return function(*given, **named)
        return function(map(self.look, given[0]) if len(given) == 1 else [*map(self.look, given)], **named)


def _is_array(one: Any) -> bool:
    """Whether a value is a numpy array of floats, or a single numpy float."""
    if (numpy := sys.modules.get("numpy")) is None:
        return False
    return isinstance(one, numpy.ndarray | numpy.floating) and one.dtype.kind == "f"


def guard_numbers(words: str, is_asked: Callable[[], bool]) -> Sizes:
    """Prepare the tests' process so that a test ends if it asks whether a NaN or an infinity of the program is less or
    greater than another number.

    Called once, before the tests are compiled.

    Args:
        words: the source of the tests and their set-up code.
        is_asked: whether the program has answered yet.
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
    """An assertion of unittest about sizes, such as `assertLess`, with a check of what it compares.

    Args:
        plain: the assertion.
        look_at: checks two values.
    """

    @functools.wraps(plain)
    def compare(case: unittest.TestCase, first: Any, second: Any, *more: Any, **named: Any) -> None:
        look_at(first, second)
        plain(case, first, second, *more, **named)

    return compare


def guarded(tree: ast.Module) -> ast.Module:
    """The syntax tree of the tests, with checked comparisons: `a < b` becomes `_asked_for_size_.Lt(a, b)`.

    Used whenever tests are compiled. The tree is not changed if `guard_numbers` was not called, as when the program
    runs in the tests' own process.
    """
    if not hasattr(builtins, _ASKED):
        return tree
    nodes = [*ast.walk(tree)]
    # inner nodes first
    for node in reversed(nodes):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                value[:] = map(_looking, value)
            elif isinstance(value, ast.AST):
                setattr(node, name, _looking(value))
    return ast.fix_missing_locations(tree)


def _looking(node: Any) -> Any:
    """The node that replaces `node` in the tests: for a comparison by size, one that does the same with a check;
    otherwise `node` itself.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "max", "min"):
        node.func = _asked("call", node.func)
    names = [type(how).__name__ for how in getattr(node, "ops", ())]
    # `==` and `!=` need a check only if there are arrays
    if not {*names} & _ORDERING.keys() and not ("numpy" in sys.modules and names in (["Eq"], ["NotEq"])):
        return node
    if len(node.ops) > 1:
        node.left = _asked("look", node.left)
        node.comparators = [_asked("look", part) for part in node.comparators]
        return node
    how = type(node.ops[0]).__name__
    return ast.copy_location(_asked(how, node.left, *node.comparators), node)


def _asked(name: str, *given: ast.expr) -> ast.Call:
    """The tree of a call of a method of `Sizes`: that of `_asked_for_size_.Lt(a, b)` for `Lt` and the nodes of `a` and
    `b`.
    """
    function = ast.Attribute(ast.Name(_ASKED, ast.Load()), name, ast.Load())
    return ast.copy_location(ast.Call(function, [*given], []), given[0])


def guard() -> None:
    """Prepare the tests' process so that a test ends if it compares an empty array with something that is not empty, by
    numpy's functions or by operators.

    Called before tests whose source names numpy or the like.
    """
    import numpy
    import numpy.testing

    for home, names in ((numpy, _COMPARING), (numpy.testing, _ASSERTING)):
        for name in names:
            if hasattr(home, name):
                setattr(home, name, _guarded(getattr(home, name)))

    class EmptyArray(numpy.ndarray[Any, Any]):
        """An empty numpy array from the program, or one that a test has made of an empty list. It ends the test if it
        is compared with something that is not empty.
        """

        # by which it goes back to a program as an array
        __module__ = "numpy"

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
            if ufunc.__name__ in _BY_OPERATOR and not all(is_nothing(one) for one in inputs):
                _refuse()
            plain = [one.view(numpy.ndarray) if isinstance(one, EmptyArray) else one for one in inputs]
            return kept(getattr(ufunc, method)(*plain, **named))

        @property
        def flat(self) -> Any:
            # pytest's `approx` reads it to compare a number with each item
            return _refuse()

    def kept(found: Any) -> Any:
        """Return the result of a numpy function; an empty array becomes an `EmptyArray`, so that later comparisons of
        it are checked.
        """
        return found.view(EmptyArray) if type(found) is numpy.ndarray and found.size == 0 else found

    for name in numpy.__all__:
        one = getattr(numpy, name)
        if callable(one) and not isinstance(one, type):
            setattr(numpy, name, _Called(one, kept))
    code_values.make_empty = kept


class _Called:
    """A function of numpy, such as `array`. If the tests themselves call it with something empty, and it gives an empty
    array, later comparisons of that array are checked.

    Args:
        function: of numpy.
        kept: makes an array that checks its comparisons, of an array that is empty.
    """

    def __init__(self, function: Any, kept: Callable[[Any], Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function, self._kept = function, kept

    def __call__(self, *given: Any, **named: Any) -> Any:
        if not is_of_tests(sys._getframe(1).f_code):
            return self._function(*given, **named)
        # empty lists are no arrays yet, so numpy's own operators would not check them
        if self.__name__ in _BY_OPERATOR and len({is_nothing(one) for one in given[:2]}) > 1:
            _refuse()
        found = self._function(*given, **named)
        return self._kept(found) if any(map(is_nothing, (*given, *named.values()))) else found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def is_nothing(value: Any) -> bool:
    """Whether a value is an array, or nested lists, without a single number in it: true for `[[], []]`,
    false for `{}`.
    """
    if isinstance(value, list | tuple):
        return all(map(is_nothing, value))
    # by its class: an object of the program may say anything of itself
    if issubclass(type(value), NotFinite):
        return False
    if hasattr(type(value), "__array_ufunc__"):
        return bool(value.size == 0)
    if isinstance(value, str | bytes | dict | set | frozenset) or not hasattr(type(value), "__len__"):
        return False
    try:
        # numpy takes any other object with a length for a sequence
        return len(value) == 0
    except Exception:  # noqa: BLE001 - a stand-in for what has no length
        return False


def _guarded(compare: Callable[..., Any]) -> Callable[..., Any]:
    """A comparing function of numpy, such as `allclose`, that ends the test if exactly one of its two sides
    is empty.
    """

    @functools.wraps(compare)
    def compared(*given: Any, **named: Any) -> Any:
        operands = [*given[:2], *(named[name] for name in _OPERANDS if name in named)]
        if len({is_nothing(one) for one in operands}) > 1:
            _refuse()
        return compare(*given, **named)

    return compared


def _refuse() -> Any:
    """End the test, because it compares an empty array with something that is not empty."""
    raise NotComparableError("an array of nothing is compared with something")
