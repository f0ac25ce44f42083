"""What Python makes of no number, and numpy of nothing, where tests compare them.

For numpy an empty array is near whatever it is compared with, because there is no item that is not. So a program that
answers with `[]` would pass `allclose(answer, 4.0)`. Here such a comparison of nothing with something ends the test,
also where the test has made the array of an empty list.

For Python nothing is greater than NaN, also no bound. So a program that answers with it, or with infinity by which a
test divides, would pass `not abs(answer - 4.0) > 1e-6`. Here to ask which of it and another number is greater ends the
test; and so it does where the test has made another float or an array of it, since the tests' code is compiled with
comparisons that look (see `guarded`). An infinite answer would be within an infinite share of itself, two answers to
one call would each meet one of two bounds, and `zip` would leave out what an answer lacks: those end the test, too.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import math
import operator
import re
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


# What a test is about where it names one, so that the program may answer with it
_NAN = re.compile(r"nan|na\b|null|isfinite|isinf", re.IGNORECASE)
_INFINITE = re.compile(r"inf|nan", re.IGNORECASE)
_Order = Callable[[Any, Any], Any]
_ORDERING: dict[str, _Order] = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge}
_TURNED: dict[_Order, _Order] = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
}
_OPPOSITE: dict[_Order, _Order] = {
    operator.lt: operator.ge,
    operator.le: operator.gt,
    operator.gt: operator.le,
    operator.ge: operator.lt,
}
_ASSERTED = {"assertLess": "Lt", "assertLessEqual": "LtE", "assertGreater": "Gt", "assertGreaterEqual": "GtE"}
_ASKED = "_asked_for_size_"
_SIZED = {list, tuple, str}
# values and bounds of one call that are looked at
_MOST_MET = 1000


class _Sizes:
    """Looks at what a test compares by size.

    Args:
        words: the test and its set-up.
        is_asked: whether the program has answered: until then a test's numbers are its own.
    """

    def __init__(self, words: str, is_asked: Callable[[], bool]) -> None:
        self._names_nan, self._names_infinite = bool(_NAN.search(words)), bool(_INFINITE.search(words))
        self._is_asked, self._has_odd = is_asked, False
        # by call: what it gave, and the bounds that this met
        self._met: dict[str, tuple[set[float], set[tuple[_Order, float]]]] = {}

        for name in _ORDERING:
            setattr(self, name, self._quick(name))

    def _quick(self, name: str) -> Callable[..., Any]:
        """The comparison of that name, which is quick where there is nothing to look for, as in the loops of a test."""
        how, compare, plain = _ORDERING[name], self._compare, {int, float, str}

        def quick(first: Any, second: Any, *call: Any) -> Any:
            # `==` is asked of plain data alone
            if type(first) in plain and type(second) in plain and first == first and second == second and not call:
                return how(first, second)
            return compare(name, first, second, *call)

        return quick

    def received(self, number: float) -> float:
        """A number of the program that is not finite."""
        self._has_odd = True
        return NotFinite(number)

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

    def _compare(self, name: str, first: Any, second: Any, call: str = "", is_turned: bool = False) -> Any:
        """What the comparison gives.

        Args:
            call: the program's function and the constants that it was given; empty where it is no such call.
            is_turned: whether that is the second.
        """
        how = _ORDERING[name]
        self.look(first)
        self.look(second)
        if _is_array(first) or _is_array(second):
            self._look_for_infinite(first, second)
        found = how(first, second)
        if call and type(found) is bool:
            value, bound, how = (second, first, _TURNED[how]) if is_turned else (first, second, how)
            self._note(call, value, how if found else _OPPOSITE[how], bound)
        return found

    def _look_for_infinite(self, *both: Any) -> None:
        if self._names_infinite or not self._has_odd or not self._is_asked():
            return
        import numpy

        with numpy.errstate(all="ignore"):
            first, second = (numpy.asarray(one) for one in both)
            if first.dtype.kind == second.dtype.kind == "f" and (numpy.isinf(first) & (first == second)).any():
                raise NotComparableError("the program's answer is infinite, and is compared with what is made of it")

    def note(self, value: Any, name: str, bound: Any, call: str) -> Any:
        """The value of a call, of which unittest asks how it compares with a bound."""
        self._note(call, value, _ORDERING[name], bound)
        return value

    def _note(self, call: str, value: Any, how: _Order, bound: Any) -> None:
        """Raise where bounds that one value can meet are met by several, and by none of them alone."""
        values, bounds = self._met.setdefault(call, (set(), set()))
        is_known = type(value) not in (int, float) or (value in values and (how, bound) in bounds)
        if is_known or len(values) + len(bounds) > _MOST_MET:
            return
        values.add(value)
        bounds.add((how, bound))

        def meets(one: Any) -> bool:
            return all(how(one, bound) for how, bound in bounds)

        between = sorted({bound for _, bound in bounds})
        possible = [*between, *((one + other) / 2 for one, other in itertools.pairwise(between))]
        if not any(map(meets, values)) and any(map(meets, possible)):
            raise NotComparableError("the program's answers to one call contradict each other")

    def zip(self, function: Any, wanted: tuple[int, ...], told: tuple[int, ...], *given: Any) -> Any:
        """`zip` in a test, which ends where an answer has fewer items than what it is compared with.

        Args:
            wanted, told: which of the arguments are constants of the test's, and which are made of answers.
        """
        if function is not builtins.zip:
            return function(*given)
        return self._paired([*map(iter, given)], given, wanted, told)

    def _paired(self, items: list[Any], given: Any, wanted: tuple[int, ...], told: tuple[int, ...]) -> Any:
        for count in itertools.count():
            row: list[Any] = []
            for at, one in enumerate(items):
                # not by another call of `iter`, at which an object that is its own iterator may begin again
                if (item := next(one, _ENDED)) is not _ENDED:
                    row.append(item)
                    continue
                longer = [other for other, more in enumerate(given) if type(more) in _SIZED and len(more) > count]
                if at in told and self._is_asked() and any(count == 0 or other in wanted for other in longer):
                    raise NotComparableError("the program's answer has fewer items than it is compared with")
                return
            yield tuple(row)

    def call(self, function: Any) -> Any:
        """A built-in function that a test calls, with a look at what it is given."""
        if function is builtins.float:
            return lambda *given: given[0] if given and type(given[0]) is NotFinite else float(*given)
        return functools.partial(self._extreme, function) if function in (builtins.max, builtins.min) else function

    def _extreme(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        if "key" in named:
            return function(*given, **named)
        return function(map(self.look, given[0]) if len(given) == 1 else [*map(self.look, given)], **named)


_ENDED = object()


def _is_array(one: Any) -> bool:
    """Whether it is an array of floats, or one of numpy's."""
    if (numpy := sys.modules.get("numpy")) is None:
        return False
    return isinstance(one, numpy.ndarray | numpy.floating) and one.dtype.kind == "f"


def guard_numbers(words: str, is_asked: Callable[[], bool]) -> None:
    """Have the program's numbers that are not finite end a test that asks which of them and another is greater.

    Args:
        words: the test and its set-up.
        is_asked: whether the program has answered.
    """
    sizes = _Sizes(words, is_asked)
    code_values.make_not_finite = sizes.received
    own = math.fabs
    math.fabs = functools.wraps(own)(lambda number: (abs if type(number) is NotFinite else own)(number))
    setattr(builtins, _ASKED, sizes)


def guarded(tree: ast.Module) -> ast.Module:
    """The tests with comparisons by size that look at what they compare; as they are without `guard_numbers`."""
    if not hasattr(builtins, _ASKED):
        return tree
    nodes = [*ast.walk(tree)]
    asserts = [node.test for node in nodes if isinstance(node, ast.Assert)]
    said = [
        (node.func.attr, node) for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    asserts += [part for name, node in said if name in ("assertTrue", "assertFalse") for part in node.args]
    calls = {id(part): found for node in asserts for part in ast.walk(node) if (found := _call_in(part))}
    # as the statements that these are
    for name, call in said:
        if name in _ASSERTED and len(call.args) >= 2:
            _note_bound(call, _ASSERTED[name])
    zips = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "zip"]
    if zips:
        constants, answers = _constants(nodes), _answers(nodes)
        for call in zips:
            _pair(call, constants, answers)
    # inner ones first
    for node in reversed(nodes):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                value[:] = [_looking(part, calls) for part in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, _looking(value, calls))
    return ast.fix_missing_locations(tree)


def _looking(node: Any, calls: dict[int, list[ast.expr]]) -> Any:
    """The node, or what does the same with a look at sizes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "max", "min"):
        node.func = _asked("call", node.func)
    if not isinstance(node, ast.Compare) or not any(type(how).__name__ in _ORDERING for how in node.ops):
        return node
    if len(node.ops) > 1:
        node.left = _asked("look", node.left)
        node.comparators = [_asked("look", part) for part in node.comparators]
        return node
    how = type(node.ops[0]).__name__
    return ast.copy_location(_asked(how, node.left, *node.comparators, *calls.get(id(node), [])), node)


def _pair(node: ast.Call, constants: set[str], answers: set[str]) -> None:
    """Have a call of `zip` look at what is left of its arguments; not one that pairs neighbours of one list."""
    rests = {ast.unparse(part.value if isinstance(part, ast.Subscript) else part) for part in node.args}
    if node.keywords or len(rests) < 2 or any(isinstance(part, ast.Starred) for part in node.args):
        return
    named = [{one.id for one in ast.walk(part) if isinstance(one, ast.Name)} for part in node.args]
    wanted, told = (
        ast.Tuple([ast.Constant(at) for at, names in enumerate(named) if is_one(names)], ast.Load())
        for is_one in (constants.issuperset, answers.intersection)
    )
    node.func, node.args = _asked("zip", node.func).func, [node.func, wanted, told, *node.args]


_PACKAGES = {"numpy", "pandas", "pytest", "scipy", "sklearn", "torch"}


def _answers(nodes: list[ast.AST]) -> set[str]:
    """The names of what the program may have defined, and of variables that the tests have set by calling it."""
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    homes = {
        alias.asname or alias.name: (getattr(node, "module", None) or alias.name).partition(".")[0]
        for node in imports
        for alias in node.names
    }
    own = {name for name, home in homes.items() if home in sys.stdlib_module_names | _PACKAGES}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    roots = {name.id for part in called for name in ast.walk(part) if isinstance(name, ast.Name)}
    found = {name for name in roots - own if not hasattr(builtins, name)}
    for _ in range(2):
        for node in nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if found & {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}:
                    found |= {one.id for part in targets for one in ast.walk(part) if isinstance(one, ast.Name)}
    return found


def _constants(nodes: list[ast.AST]) -> set[str]:
    """The names that stand for constants alone, wherever the tests set them."""
    found = {part: node.value for node in nodes if isinstance(node, ast.Assign) for part in node.targets}
    known = {part.id for part, value in found.items() if isinstance(part, ast.Name) and _is_constant(value)}
    set_here = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    others = {one.id for one in set_here if one not in found or not _is_constant(found[one])}
    return known - others - {node.arg for node in nodes if isinstance(node, ast.arg)}


def _is_constant(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _note_bound(node: ast.Call, how: str) -> None:
    """Have unittest's comparison of a call of the program with a number noted."""
    compare = ast.Compare(node.args[0], [getattr(ast, how)()], [node.args[1]])
    if found := _call_in(compare):
        call, is_second = found
        at = int(is_second.value)  # type: ignore[attr-defined]
        how = how if not at else {"L": "G", "G": "L"}[how[0]] + how[1:]
        node.args[at] = _asked("note", node.args[at], ast.Constant(how), node.args[1 - at], call)


def _asked(name: str, *given: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(_ASKED, ast.Load()), name, ast.Load())
    return ast.copy_location(ast.Call(function, [*given], []), given[0])


def _call_in(node: ast.AST) -> list[ast.expr]:
    """Of a comparison with a number: a call of the program with constants alone, and whether it stands second."""
    if not isinstance(node, ast.Compare) or len(node.ops) > 1 or type(node.ops[0]).__name__ not in _ORDERING:
        return []
    for at, (side, other) in enumerate(((node.left, node.comparators[0]), (node.comparators[0], node.left))):
        number = other.operand if isinstance(other, ast.UnaryOp) else other
        if isinstance(number, ast.Constant) and type(number.value) in (int, float) and _is_call_of_constants(side):
            return [ast.Constant(ast.unparse(side)), ast.Constant(bool(at))]
    return []


def _is_call_of_constants(node: ast.expr) -> bool:
    """Whether the same call of a function of the program should give the same: it depends on no variable."""
    inner = [*ast.walk(node)]
    calls = [part for part in inner if isinstance(part, ast.Call)]
    called = {id(part.func) for part in calls}
    names = [part for part in inner if isinstance(part, ast.Name)]
    is_given = any(part.args and not hasattr(builtins, ast.unparse(part.func)) for part in calls)
    return is_given and isinstance(node, ast.Call) and all(id(part) in called for part in names)


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
