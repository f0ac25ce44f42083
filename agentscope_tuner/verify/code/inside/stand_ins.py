"""Stand-ins: objects in the tests' process that represent objects of the program, which runs in another process.

Tests that carry code run in one jail, the program in a second one. After `tree = make_tree()` in a test, the tree
itself is in the program's process; the test has a `StandIn`. Whatever the test does with it, such as `tree.size` or
`tree + 1`, is sent to the program's process as a question. `remote` makes the stand-ins.

The program is hostile. It could return an object whose `__eq__` is always true, and so pass `assert f(2) == [4]`. So
the program's class must not decide whether its own answer is right. If a function of the program returned the object,
the stand-in compares the data that the object holds, or ends the test with a NotComparableError. Only for objects that
the test itself has made, as by `Point(1, 2)`, does the program's class define `==`, `<`, `+` and so on.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import itertools
import linecache
import math
import operator
import random
import sys
import types
import unittest
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from agentscope_tuner.verify.code.inside import code_values
from agentscope_tuner.verify.code.inside.code_values import pack, unpack

PYTEST_FILE = "test_program.py"
#: The reason of failure for a test that was skipped after the program had answered it: the answer may have caused that.
SKIPPED = "skipped, after the program had answered"
# Shuffles guesses; not the module's own functions, whose order a test's `random.seed` would decide
_dice = random.SystemRandom()

_DATA = (str, bytes, list, tuple, dict, set, frozenset, int, float)
_PLAIN_METHODS = {name for kind in _DATA for name in dir(kind) if name[0] != "_"} | {"equals"}
# Of these, the methods that answer yes or no; below, those that make one set of two sets, and those that return their
# second argument if nothing is found, such as `get`
_SAYING = {name for name in _PLAIN_METHODS if name.startswith("is")} | {"startswith", "endswith", "equals"}
# Methods whose result follows from the data in the object alone, such as `count`
_OF_CONTENT = (_SAYING - {"equals"}) | {"count", "index", "find", "rindex", "rfind", "bit_length", "bit_count"}
_OF_SETS = {"difference", "intersection", "symmetric_difference", "union"}
_WITH_DEFAULT = {"get", "pop", "setdefault"}
# Methods that return all parts of a mapping; and all parts of other data, too
_LOOKS = {"keys", "values", "items"}
_LOOKS_AT_DATA = {*_LOOKS, "copy", "split", "rsplit", "splitlines"}


class NotComparableError(BaseException):
    """Ends a test: the program answered with an object of its own class, and the test needs data, as in
    `assert f(2) < 4`.

    It is a BaseException, so that a test's `except Exception` does not catch it.
    """


class CannotTravelError(BaseException):
    """Ends a test that works only with the program in the tests' own process, as one that replaces `open` by its own
    function.
    """


def named(found: Any, name: str) -> Any:
    """Return `found`, the value of the attribute or global variable `name` of the program, as in
    `from main import Point`.

    If it is a class and the name begins with a capital letter, note that the test uses it as a class: only objects of
    such classes may decide what they equal. Otherwise a program could define a class `solve` in place of the function,
    and `solve(2) == 4` would ask that class.
    """
    if isinstance(found, StandInClass) and name.lstrip("_")[:1].isupper():
        type.__setattr__(found, "_is_class", True)
    return found


def told_of(exc: BaseException | None) -> tuple[object, ...]:
    """What the program learns of an exception that a test raised: `("ValueError", ["no"])` for `ValueError("no")`.

    That is the name of the built-in class and the arguments as text. An AssertionError travels without arguments, which
    may hold what the test expects. For None, as at the normal end of a `with`, an empty tuple.
    """
    if exc is None:
        return ()
    # the message of a failed assertion may hold what the test expects
    words = [] if isinstance(exc, AssertionError) else [_plain_or_text(part) for part in exc.args]
    return built_in(type(exc)), words


def built_in(kind: type) -> str:
    """The name of the nearest built-in base of a class: `ValueError` after `class EmptyError(ValueError)`."""
    return next(one.__name__ for one in kind.__mro__ if one.__module__ == "builtins")


def _plain_or_text(value: object) -> object:
    """The value if it is None, a truth value or a number; otherwise its text: `1` for 1, `'[1]'` for `[1]`."""
    return value if value is None or type(value) in (bool, int, float) else str(value)


def is_thrown(exc: BaseException | None) -> bool:
    """Whether a test raised this exception on purpose within `with program_object:`. True for `raise ValueError` or
    `1 / 0`.

    Then the program's `__exit__` may swallow the exception. It may not swallow a failed `assert`, nor an exception that
    comes in some cases only, such as `if f(2) != 4: raise ValueError`. By that the test says that the program is wrong.
    """
    if not isinstance(exc, Exception) or isinstance(exc, AssertionError | unittest.SkipTest):
        return False
    places, looped = _places(exc), ""
    for trace, path in places:
        # the outermost frame is back at its `with` statement
        now = _span_of_step(trace.tb_frame, trace.tb_frame.f_lasti)[0] if trace is exc.__traceback__ else None
        # a loop over a generator's call asks for all that it yields
        asked = (ast.Yield,) if looped == trace.tb_frame.f_code.co_name else ()
        # if the source of the code is unknown, it may run in some cases only
        if len(path) == 1 or any(_forks(node, path) for node in _ran(path, now) if not isinstance(node, asked)):
            return False
        looped = ast.unparse(path[-1].iter.func) if isinstance(getattr(path[-1], "iter", None), ast.Call) else ""
    return is_raised(exc) or (bool(places) and _is_alone(*places[-1]))


def is_raised(exc: BaseException) -> bool:
    """Whether a `raise` statement of the tests raised the exception. False if an `assert` raised it, or the expression
    in `raise f(1)`.
    """
    trace, path = next(reversed(_places(exc)), (None, [None]))
    return trace is not None and isinstance(path[-1], ast.Raise) and _is_whole(path[-1], trace)


def _places(exc: BaseException) -> list[tuple[types.TracebackType, list[Any]]]:
    """The places in the tests' code through which an exception passed, from the outermost to the innermost.

    Each place is the traceback and the path of syntax nodes that leads to it, such as module, function, `with`,
    `raise`. Nodes are compared instead of compiled code, which differs between versions of Python.
    """
    found, trace = [], exc.__traceback__
    while trace is not None:
        if is_of_tests(trace.tb_frame.f_code):
            begin, end = _span_of_step(trace.tb_frame, trace.tb_lasti)
            inner: list[Any] = [_parsed("".join(linecache.getlines(trace.tb_frame.f_code.co_filename)))]
            path = []
            while inner:
                path.append(inner[0])
                inner = [one for one in _parts(path[-1]) if _span(one)[0] <= begin and end <= _span(one)[1]]
            # the expression that a loop iterates over may raise after some rounds; before Python 3.13 the step is that
            # of the whole loop
            found.append((trace, path[: -1 if path[-1] is getattr(path[-2:][0], "iter", None) else None]))
        trace = trace.tb_next
    return found


_parsed = lru_cache(8)(ast.parse)


def _span(node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """The position of a syntax node in the text: its begin and its end, as pairs of line and column. `((1, 0), (1, 5))`
    for the statement `x = 1`.
    """
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _span_of_step(frame: types.FrameType, step: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The position in the text of one step of compiled code: its begin and its end, as pairs of line and column."""
    first, last, begin, end = next(itertools.islice(frame.f_code.co_positions(), step // 2, None))
    # a step without a position counts as all of the text
    return (first or 0, begin or 0), (last or sys.maxsize, end or 0)


def _is_whole(node: ast.AST, trace: types.TracebackType) -> bool:
    """Whether the exception was raised by `node` itself, and not by a part of it: in `1 / f(0)`, by the division and
    not by `f(0)`.
    """
    return _span(node) == _span_of_step(trace.tb_frame, trace.tb_lasti)


def _parts(node: ast.AST) -> Iterator[Any]:
    """The nodes directly below a syntax node that have a position in the text: `x` and `1` for the
    statement `x = 1`.
    """
    for part in ast.iter_child_nodes(node):
        yield from (part,) if hasattr(part, "lineno") else _parts(part)


def _ran(path: list[Any], now: tuple[int, int] | None) -> Iterator[Any]:
    """The syntax nodes that ran before the exception: since the test's function began, or since the `with` statement
    that ends now.

    Args:
        path: the nodes from the module down to the place at which the exception passed.
        now: line and column at which that `with` begins; None if no `with` ends.
    """
    parts = path[:1]
    for node in reversed(path):
        body = getattr(node, "body", None)
        if isinstance(node, ast.With | ast.AsyncWith) and now and _span(node)[0] <= now < _span(node.body[0])[0]:
            parts = [*node.items[1:], *node.body]
            break
        if isinstance(node, _OWN_CODE) and any(part in path for part in (body if isinstance(body, list) else [body])):
            parts = [node]
            break
    return (node for node in _nodes_of(parts, path) if _span(node)[0] < _span(path[-1])[1])


_OWN_CODE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS_IN_ONE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _nodes_of(parts: Iterable[ast.AST], path: list[Any]) -> Iterator[Any]:
    """All syntax nodes within `parts` that have a position in the text. Functions, comprehensions and assertions are
    left out unless the exception passed through them: they run at another time, or have passed.

    Args:
        parts: nodes of the tests.
        path: the nodes from the module down to the place at which the exception passed.
    """
    for node in parts:
        if node in path or not isinstance(node, (*_OWN_CODE, *_LOOPS_IN_ONE, ast.Assert)):
            yield from (node,) if hasattr(node, "lineno") else ()
            yield from _nodes_of(ast.iter_child_nodes(node), path)


def _forks(node: Any, path: list[Any]) -> bool:
    """Whether this node makes it depend on a value if the end of the path is reached: true for an `if` before the
    `raise`. False if the exception was raised in the condition itself, as in `if 1 / 0:`.

    Args:
        path: the nodes from the module down to the place at which the exception passed.
    """
    match node:
        case ast.If() | ast.IfExp() | ast.While():
            return node.test not in path
        case ast.Match():
            return node.subject not in path
        case ast.For() | ast.AsyncFor():
            return node is not path[-1] and node.iter not in path
        case ast.BoolOp():
            return node.values[0] not in path
        case ast.Compare():
            return len(node.ops) > 1 and node.left not in path and node.comparators[0] not in path
        case ast.Try() | ast.TryStar():
            return bool(node.handlers) and not any(one in path for one in node.body)
        case ast.With() | ast.AsyncWith():
            # code behind a `with` that returns runs only if the `with` swallowed an exception before the `return`
            return node not in path and any(
                isinstance(one, ast.Return | ast.Break | ast.Continue) for one in ast.walk(node)
            )
        case ast.Yield() | ast.YieldFrom():
            # whoever iterates over the generator may stop there
            return node not in path
    return isinstance(node, _LOOPS_IN_ONE)


# Built-in functions that always give the same result for the same arguments
_PURE = {"abs", "chr", "divmod", "iter", "len", "max", "min", "next", "ord", "pow", "round", "sorted", "sum"}
_PURE_MODULES = {"collections", "datetime", "decimal", "fractions", "json", "math", "operator", "re"}


def _is_alone(trace: types.TracebackType, path: list[Any]) -> bool:
    """Whether the expression that raised consists of constants and of Python's own functions, such as `1 / 0` or
    `int("x")`. Then it raises whatever the program does.
    """
    frame, nodes = trace.tb_frame, [*ast.walk(path[0])]
    known = {*constants_of(path[0]), *(name for name, one in set_once(nodes).items() if isinstance(one, ast.Constant))}

    def is_known(node: ast.AST) -> bool:
        if isinstance(node, ast.Name) and node.id not in known:
            return _is_of_python(node.id, {**vars(builtins), **frame.f_globals, **frame.f_locals}.get(node.id))
        return isinstance(node, (*_OF_DATA, ast.Call, ast.keyword)) or getattr(node, "attr", "_")[0] != "_"

    one = path[-1].iter if isinstance(path[-1], ast.For) else path[-1]
    is_whole = _is_whole(one, trace) or _is_whole(path[-1], trace)
    return is_whole and isinstance(one, ast.expr) and all(map(is_known, ast.walk(one)))


def _is_of_python(name: str, one: Any) -> bool:
    """Whether a name is Python's own class, function or module that gives the same result for the same arguments: true
    for `len` and `math`, false for a `len` that the program defines, and for `open`.

    Args:
        name: as the test writes it.
        one: its value.
    """
    if isinstance(one, types.ModuleType):
        return one.__name__ in _PURE_MODULES
    is_own = type(one) in (type, types.FunctionType, types.BuiltinFunctionType)
    # a method of a built-in object has no module
    home = (one.__module__ or "").partition(".")[0] if is_own else ""
    return home in _PURE_MODULES or (home == "builtins" and (isinstance(one, type) or name in _PURE))


# Syntax nodes of data. A call is none of them: its function, such as `len`, may be the program's
_OF_DATA = (
    *(ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Subscript, ast.Slice, ast.Compare),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)


def set_once(nodes: Sequence[ast.AST]) -> dict[str, ast.expr]:
    """The variables that are assigned exactly once, by a statement such as `x = 1`, each with the node of its value."""
    stored = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    stored += Counter(node.arg for node in nodes if isinstance(node, ast.arg))
    told = [node for node in nodes if isinstance(node, ast.Assign) and len(node.targets) == 1]
    found = {node.targets[0].id: node.value for node in told if isinstance(node.targets[0], ast.Name)}
    return {name: value for name, value in found.items() if stored[name] == 1}


def constants_of(tree: ast.Module) -> dict[str, ast.expr]:
    """The variables that hold constant data in the tests, each with the node of its value: `CASES` after
    `CASES = [1, 2]`, if the tests only read items of it, as by `CASES[0]`, and no item is itself a list or dictionary.
    """
    nodes = [*ast.walk(tree)]
    looked_up = {id(node.value) for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)}
    read = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    others = {node.id for node in read if id(node) not in looked_up}
    found = {name: value for name, value in set_once(nodes).items() if name not in others and is_data(value, {})}
    changing = (ast.List, ast.Dict, ast.Set)
    return {
        name: value
        for name, value in found.items()
        if not any(isinstance(node, changing) for node in ast.walk(value) if node is not value)
    }


def is_data(value: ast.expr, constants: dict[str, ast.expr]) -> bool:
    """Whether an expression consists of literals, operators and variables in `constants`, without any call: true for
    `[1, 2 + 3]`, false for `[f(1)]`.
    """
    nodes = [*ast.walk(value)]
    return all(
        isinstance(node, _OF_DATA) and (not isinstance(node, ast.Name) or node.id in constants) for node in nodes
    )


def is_of_tests(code: types.CodeType) -> bool:
    """Whether compiled code belongs to the tests: true for a test's function, false for code of pytest or the standard
    library.
    """
    return code.co_filename.startswith("<tests") or code.co_filename.endswith(PYTEST_FILE)


def number_of(one: Any) -> int:
    """The number of the program's object that a stand-in represents. Questions to the program name the object by it."""
    number: int = object.__getattribute__(one, "_number")
    return number


class LentDefault:
    """Replaces a default value of a test's function on its way to the program.

    If a test passes the program a function such as `def check(got, expected=[4])`, the default may be the right answer.
    So the program's process gets this wrapper. It can pass the wrapper to a function of the tests, but cannot see the
    value.
    """

    def __init__(self, value: object) -> None:
        self.value = value


def own_default(value: Any) -> Any:
    """The value inside a `LentDefault`, for a function of the tests that receives it back. Any other value
    as it is.
    """
    return value.value if isinstance(value, LentDefault) else value


def _signature_of(one: Any) -> Any:
    """The signature of a function or class of the program, asked from its process: what `inspect.signature(solve)`
    gives in a test.
    """
    *parameters, result = one._program.operate("signature", one._number)
    told = [[*part[:2], [own_default(own) for own in part[2]], *part[3:]] for part in parameters]
    return code_values.signature([*told, result])


def _annotations_of(one: Any) -> dict[str, object]:
    """The annotations of a function of the program, by parameter: `{"x": int}` for `def solve(x: int)`."""
    told = one._program.operate("annotations", one._number)
    return {str(name): code_values.hint(hint) for name, hint in told.items()}


class StandInFunction:
    """The tests' side of a function of the program, such as `solve` after `from main import solve`. A call of it,
    `solve(2)`, calls the function in the program's process and gives its result.
    """

    __signature__ = property(_signature_of)
    __annotations__ = property(_annotations_of)

    def __init__(self, program: Any, number: int, name: str, doc: str | None) -> None:
        self._program, self._number, self.__name__, self.__doc__ = program, number, name, doc

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _OF_FUNCTION:
            raise AttributeError(name)
        return self._program.ask({"do": "attr", "h": self._number, "name": name})

    def __call__(self, *arguments: object, **named: object) -> Any:
        return self._program.call(self._number, arguments, named)


class StandInMethod(StandInFunction):
    """The tests' side of a function that the program has written in Python. It becomes a method in a class of the
    tests, as any such function does: after `class Tests: run = solve`, `Tests().run(1)` calls `solve` with the object
    and 1.
    """

    def __get__(self, one: object, kind: type | None = None) -> Any:
        return self if one is None else types.MethodType(self, one)


# Special attributes that a test may read of a function, of any object, and of a class
_OF_FUNCTION = {"__wrapped__", "__defaults__", "__kwdefaults__"}
_OF_WRAPPER = {"__name__", "__wrapped__"}
_OF_KIND = {"__members__", "__slots__", "__abstractmethods__", "__match_args__"}


class LikeBuiltIn(type):
    """The metaclass of classes that replace a built-in exception class in the tests' process.

    If the program defines `OddError = ValueError`, a test gets a subclass of ValueError for `OddError`. The subclass
    equals ValueError, so that `OddError == ValueError` is still true in a test.
    """

    def __eq__(cls, other: object) -> bool:
        return cls is other or vars(cls).get("_stands_for", cls) is other

    def __hash__(cls) -> int:
        return type.__hash__(vars(cls).get("_stands_for", cls))


class StandInErrorClass(LikeBuiltIn):
    """The metaclass of the tests' side of exception classes that the program defines, such as `EmptyError`.

    A test can write `except EmptyError`. A call, `EmptyError("no")`, makes the exception in the program's process, and
    attributes of the class are read there.
    """

    _number: int
    _program: Any

    def __call__(cls, *arguments: object, **named: object) -> Any:
        if "_number" not in vars(cls):
            return super().__call__(*arguments, **named)
        return cls._program.call(cls._number, arguments, named)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") or "_program" not in vars(cls):
            raise AttributeError(name)
        return cls._program.ask({"do": "attr", "h": cls._number, "name": name})


class StandInClass(type):
    """The metaclass of the tests' side of all other classes of the program, such as `Point`.

    A call, `Point(1, 2)`, makes the object in the program's process and gives a stand-in for it. For
    `class Mine(Point)` in a test, the program's process makes such a class, too.
    """

    _number: int
    _program: Any
    __signature__ = property(_signature_of)

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any], /, **more: object) -> Any:
        if "_program" in space:
            return super().__new__(cls, name, bases, space)
        program = bases[0]._program  # type: ignore[attr-defined]
        told = {key: value for key, value in space.items() if key not in _OF_CLASS}
        others = [value for value in told.values() if not isinstance(value, (*_IN_CLASS, StandIn))]
        if any(hasattr(type(value), "__get__") for value in others):
            program.cannot_travel = f"its class {name} is built on a class of the program"
            raise CannotTravelError(program.cannot_travel)
        builtins.super = _super  # type: ignore[assignment, misc]
        # its methods run in this process; the program asks for their results
        made = super().__new__(cls, name, bases, {**space, "_program": program, "_is_class": True})
        type.__setattr__(made, "_number", program.derive(made, told, more))
        return made

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any], /, **more: object) -> None:
        super().__init__(name, bases, space)

    def __call__(cls, *arguments: object, **named: object) -> Any:
        return cls._program.make(cls, cls._number, arguments, named)

    def __instancecheck__(cls, one: object) -> bool:
        # the program's class may decide this itself, as a protocol does
        return super().__instancecheck__(one) or cls._program.operate("isinstance", cls._number, one) is True

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name not in _OF_KIND:
            raise AttributeError(name)
        found = named(cls._program.ask({"do": "attr", "h": cls._number, "name": name}), name)
        own: object = type(found)
        if own is cls and vars(cls).get("_is_class", False):
            # a member of its class, such as an Enum's, counts as made by the test
            object.__setattr__(found, "_made", True)
        return found if vars(cls).get("_is_class", False) else as_of_data(cls._program, found, name)

    def __setattr__(cls, name: str, value: object) -> None:
        cls._program.ask({"do": "set", "h": cls._number, "name": name, "value": cls._program.pack(value)})

    def __delattr__(cls, name: str) -> None:
        cls._program.ask({"do": "delete", "h": cls._number, "name": name})

    def __dir__(cls) -> list[str]:
        return sorted(cls._program.operate("dir", cls._number))

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls._program.operate("iter", cls._number))

    def __getitem__(cls, key: object) -> Any:
        return cls._program.operate("getitem", cls._number, key)

    def __len__(cls) -> int:
        return int(cls._program.operate("len", cls._number))


# Descriptors of which the program's process can make a copy, such as a property
_IN_CLASS = (types.FunctionType, StandInFunction, property, classmethod, staticmethod)
# Names that every class statement puts into a class
_OF_CLASS = {
    *("__module__", "__qualname__", "__classcell__", "__annotations__"),
    *("__firstlineno__", "__static_attributes__"),
}
_own_super = super


def _super(*given: Any) -> Any:
    """Replaces the built-in `super` in the tests' process. In `class Mine(Point)` of a test, `super().move()` calls the
    program's `Point.move`; anywhere else, it is Python's own `super`.
    """
    if not given:
        frame = sys._getframe(1)
        given = (frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]])
    return _Above(*given) if isinstance(given[0], StandInClass) else _own_super(*given)


class _Above:
    """The result of `super()` in a test's class that is built on a class of the program: to read `super().move` asks
    the program's process.
    """

    def __init__(self, kind: StandInClass, one: Any) -> None:
        self.kind, self.one = kind, one

    def __getattribute__(self, name: str) -> Any:
        kind, one = (object.__getattribute__(self, part) for part in ("kind", "one"))
        return kind._program.ask({"do": "above", "h": number_of(one), "class": kind._number, "name": name})


class StandIn:
    """The tests' side of an object of the program. Whatever a test does with it, such as `answer.size` or
    `len(answer)`, is asked from the program's process.

    Left out are comparisons by which the program's class would decide the test: `answer == [4]` is decided here, by the
    data that the object holds; see the module.

    `_made` says who made the object. It is true for `Point(1, 2)` in a test, where the test itself has named and called
    the class. It is false for an answer of the program, such as the result of `solve(2)`.
    """

    _program: Any
    _number: int
    _made: bool
    # the data from which a test has made it; and for an answer, its recorded state, alone in a list
    _given: frozenset[object] = frozenset()
    _frozen: Any = None
    # fields that its class, a dataclass, does not compare
    _passed_over: frozenset[str] = frozenset()
    # the built-in type that the program's class is built on: then it holds that data itself
    _plain: Any = None
    # its items, and before them the number of questions that had been asked when they were read
    _seen: tuple[int, list[Any] | tuple[Any, ...] | None] = (-1, None)
    # what it contains by `in`, if it cannot be iterated, and before that the number of calls when this was asked; the
    # same for its length
    _inside: tuple[int, Any] = (-1, None)
    _length = (-1, 0)
    # what a test has read of it, if it has no list of items: its length, or an iteration
    _looked = ""
    # if a test read it as an attribute that built-in data has too, such as `keys`: the object, and the name
    _method_of: tuple[Any, str] | None = None
    # 1 if it is a result of arithmetic with plain data; 2 if that is a difference, a remainder or an intersection
    _met = 0

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        try:
            found: dict[str, Any] = self._operate("vars")
        except TypeError:
            raise AttributeError("__dict__") from None
        return found

    def __dir__(self) -> list[str]:
        return [*map(str, self._operate("dir"))]

    def __pow__(self, other: object, modulus: object = None) -> Any:
        if modulus is not None and self._made:
            return self._operate("pow", other, modulus)
        return self._meet("pow", other)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in _OF_WRAPPER:
            raise AttributeError(name)
        self._refuse_read()
        found = self._program.ask({"do": "attr", "h": self._number, "name": name})
        if isinstance(found, StandInFunction):
            found.__dict__["_of"] = self
        if not self._made and name in _PLAIN_METHODS:
            if isinstance(found, StandInFunction | StandInClass):
                return partial(self._plainly, name, found)
            if isinstance(found, StandIn) and not found._made:
                # an object in the place of a method: a test may call it, or read it
                object.__setattr__(found, "_method_of", (self, name))
        return named(found, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._program.ask({"do": "set", "h": self._number, "name": name, "value": self._program.pack(value)})

    def __delattr__(self, name: str) -> None:
        self._program.ask({"do": "delete", "h": self._number, "name": name})

    def __copy__(self) -> Any:
        return self._operate("copy")

    def __deepcopy__(self, memo: object) -> Any:
        return self._operate("deepcopy")

    def __call__(self, *arguments: object, **named: object) -> Any:
        if self._method_of is None:
            return self._program.call(self._number, arguments, named)
        one, name = self._method_of

        def call(*given: object, **others: object) -> Any:
            return self._program.call(self._number, given, others)

        return one._plainly(name, call, *arguments, **named)

    def _plainly(self, name: str, method: Callable[..., Any], /, *arguments: object, **named: object) -> Any:
        """Call a method that built-in data has too, such as `startswith`, on an answer of the program.

        In `assert f(2).startswith("a")`, a class of the program could define `startswith` to be always true. So the
        data in the object answers, or `_checked_answer` checks what the program says.

        Args:
            name: of the method.
            method: calls it in the program's process.
            arguments: of the call.
            named: its arguments by name.
        """
        if name in _OF_CONTENT and hasattr(self._plain, name):
            return getattr(self._plain, name)(self, *arguments, **named)
        if name in _LOOKS_AT_DATA and hasattr(self._plain, name):
            length = len(getattr(self._plain, name)(self, *arguments, **named))
            return self._looked_over(name, method(*arguments, **named), length)
        if self._plain is None and name in _LOOKS and not arguments:
            return self._looked_over(name, method(), None)
        return _checked_answer(self._program, method, name, *arguments, **named)

    def __contains__(self, item: object) -> bool:
        if self._made:
            return bool(self._operate("contains", item))
        if hasattr(self._plain, "__contains__"):
            return bool(self._plain.__contains__(self, item))
        if self._inside[0] != self._program.calls:
            # asked before the program receives what the test looks for; and only once, so that all answers agree
            object.__setattr__(self, "_inside", (self._program.calls, self._operate("inside")))
        if self._inside[1] is not None:
            self._look(self._looked)
        return any(item is one or item == one for one in (self if self._inside[1] is None else self._inside[1]))

    def _looked_over(self, name: str, found: Any, length: int | None) -> Any:
        """Return the keys, values or items that the program gave, if their number is the object's length. So a test
        cannot be shown three keys of an object with `len(one) == 4`.

        Args:
            name: of the method that the test called, such as `keys`.
            found: the program's result of that method.
            length: the number that there must be; None means the object's own length.

        Raises:
            NotComparableError: there are more or fewer.
        """
        if not isinstance(found, list | tuple | set | frozenset | dict | types.GeneratorType | StandIn):
            return found
        items = [*found]
        if length is None:
            with suppress(TypeError):
                length = len(self)
        if length not in (None, len(items)):
            raise NotComparableError(f"the program's {type(self).__name__} has other {name} than it holds")
        if isinstance(found, StandIn):
            # to read it again gives the items that were counted
            object.__setattr__(found, "_seen", (self._program.questions, items))
        return iter(items) if hasattr(type(found), "__next__") else found

    def _items(self) -> list[Any] | tuple[Any, ...] | None:
        """The items of a collection that a function of the program returned, as a list; the keys of a mapping, as a
        tuple. None for an object that is no such collection.

        They are asked once, so that `len(one)`, `one[0]` and `for item in one` agree with each other.
        """
        if self._made or self._plain is not None:
            return None
        if self._seen[0] != self._program.questions:
            items = self._operate("items")
            is_known = type(items) in (list, tuple)
            object.__setattr__(self, "_seen", (self._program.questions, items if is_known else None))
        return self._seen[1]

    def __len__(self) -> int:
        self._refuse_read()
        if (items := self._items()) is not None:
            return len(items)
        length = int(self._operate("len"))
        object.__setattr__(self, "_length", (self._program.calls, length))
        self._look("its length")
        return length

    def _look(self, what: str) -> None:
        """Note that a test has read the length of an object, or has iterated over it, if the object has no fixed list
        of items.

        Args:
            what: `its length` or `an iteration`.

        Raises:
            NotComparableError: the test has read both, and the object need not give the same number for both.
        """
        is_other = self._looked not in ("", what)
        if self._inside[1] is not None and self._inside[0] == self._length[0]:
            is_other |= len(self._inside[1]) > self._length[1]
        if not self._made and self._plain is None and is_other:
            raise NotComparableError(f"the program's {type(self).__name__} has a length that is not that of its items")
        object.__setattr__(self, "_looked", what)

    def __getitem__(self, key: object) -> Any:
        self._refuse_read()
        items = self._items() if type(key) in (int, slice) else None
        if not isinstance(items, list):
            return self._operate("getitem", key)
        if type(key) is int:
            return items[key] if -len(items) <= key < len(items) else self._operate("getitem", key)
        found = self._operate("getitem", key)
        if hasattr(type(found), "__len__") and len(found) != len(items[key]):  # type: ignore[call-overload]
            raise NotComparableError(f"a slice of the program's {type(self).__name__} is not one of its items")
        return found

    def __reversed__(self) -> Any:
        if (items := self._items()) is not None:
            return reversed(items)
        self._look("an iteration")
        return self._operate("reversed")

    def __iter__(self) -> Iterator[Any]:
        self._refuse_read()
        if (items := self._items()) is not None:
            return iter([*items])
        self._look("an iteration")
        found = self._operate("iter")
        # an object that is its own iterator must not be asked for an iterator again
        return found if hasattr(type(found), "__next__") else iter(found)

    def __hash__(self) -> int:
        return hash(self._operate("hash"))

    def __bool__(self) -> bool:
        self._refuse_read(2 if self._made else 1)
        return bool(self._operate("bool"))

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        if self._is_data(other):
            is_same = self._plain.__eq__(self, other)
            if is_same is True or not self._made or isinstance(other, StandIn):
                return is_same
            # it may hold more than its data shows, such as several values for each key
            return self._knows(other)
        own: object = self.__class__
        if own is types.SimpleNamespace and type(other) is own:
            return bool(self.__dict__ == vars(other))
        if self._may_meet(other):
            is_own_to_say = self._made == other._made  # type: ignore[attr-defined]
            # read before the program's class is asked for `==`: it could change the answer to agree
            states = () if is_own_to_say else self._states(other)
            is_same = self._operate("eq", other) is True and not self._equals_anything()
            return is_same and (is_own_to_say or self._holds_the_same(*states))
        if type(other) is own and own in self._program.known.values():
            # so that Python asks the class of the tests
            return NotImplemented
        if self._made or isinstance(other, StandIn):
            return self._made and self._knows(other)
        # before the program receives what the answer is compared with
        if isinstance(other, dict | set | frozenset | list | str) and self._operate("content") == other:
            return True
        if any(one._knows(other) and self == one for one in self._program.made_of(self, other)):
            return True
        self._program.withhold(f"an object of {type(self).__name__!r}, which the test has not made, equals no data")
        return False

    def __ne__(self, other: object) -> Any:
        if self is other:
            return False
        if self._is_data(other):
            is_made = self._made and not isinstance(other, StandIn)
            return not self == other if is_made else self._plain.__ne__(self, other)
        return self._operate("ne", other) is True if self._may_meet(other) else not self == other

    def __enter__(self) -> Any:
        return self._operate("enter")

    def __exit__(self, kind: object, exc: BaseException | None, trace: object) -> bool:
        # the program learns of each exception, but may only swallow one that the test raised on purpose
        return self._operate("exit", *told_of(exc)) is True and is_thrown(exc)

    async def __aenter__(self) -> Any:
        return await self._operate("aenter")

    async def __aexit__(self, kind: object, exc: BaseException | None, trace: object) -> bool:
        return await self._operate("aexit", *told_of(exc)) is True and is_thrown(exc)

    def __aiter__(self) -> Any:
        return self._operate("aiter")

    async def __anext__(self) -> Any:
        items = await self._operate("anext")
        if not items:
            raise StopAsyncIteration
        return items[0]

    def _equals_anything(self) -> bool:
        """Whether the program's class has an `__eq__` that is true for anything: the object equals even a new
        `object()`.
        """
        noted = dict(self._program.withheld)
        try:
            return self._operate("eq", object()) is True
        # it reads attributes that only objects of its class have
        except Exception:  # noqa: BLE001
            return False
        finally:
            self._program.withheld = noted

    def _states(self, other: Any) -> tuple[Any, object, object]:
        """For a comparison of an object that the test made with an answer of the program, such as `Point(1, 2) == f()`:
        the test's object, what that holds, and what the answer holds.

        The answer's state was recorded before the program received the test's object. So its class cannot copy the
        expected values into the answer.
        """
        answer, made = (self, other) if other._made else (other, self)
        held = answer._operate("state") if answer._frozen is None else answer._frozen[0]
        return made, made._operate("state"), held

    def _holds_the_same(self, made: Any, wanted: object, held: Any) -> bool:
        """Whether an answer of the program holds the data that the test's object was made of: 1 and 2 in
        `f() == Point(1, 2)`.

        Args:
            made: the test's object.
            wanted: what that holds, such as `{"x": 1, "y": 2}`.
            held: what the answer holds.
        """
        given = made._given
        parts: dict[str, Any] = wanted if isinstance(wanted, dict) else {}
        # fields that the dataclass does not compare
        passed_over = {name: given_of(part) for name, part in parts.items() if name in type(made)._passed_over}
        told = {
            name: own
            for name, part in parts.items()
            if isinstance(held, dict) and _alike(held.get(name), part) and (own := given_of(part)) <= given
        }
        covered = frozenset().union(*told.values(), *(passed_over.values() if told.keys() - passed_over else ()))
        if not given:
            is_same = True
        elif told and held.keys() == parts.keys() and self._covers(covered, given, _alike(held, wanted)):
            # an object that holds more than the data it was made of may be the same for all data: so an object made of
            # other data must differ
            is_all_given = all(given_of(part) <= given for part in parts.values())
            is_same = (is_all_given and not made._others()) or made._differs({name: parts[name] for name in told})
        else:
            is_same = _alike(held, wanted) and made._differs(parts)
        if not is_same:
            self._program.withhold(f"an object of {type(self).__name__!r} holds other data than the test's")
        return is_same

    @staticmethod
    def _covers(covered: frozenset[object], given: frozenset[object], is_whole: bool) -> bool:
        """Whether fields hold all the data that an object was made of. A zero may be missing if all fields agree.

        Args:
            covered: the data in these fields.
            given: the data that the object was made of.
            is_whole: whether all fields agree.
        """
        return given <= covered or (is_whole and frozenset(filter(None, given)) <= covered)

    def _others(self) -> list[Any]:
        """Objects of the same class that the test has made of other data: `Point(3, 4)` for `Point(1, 2)`."""
        found = [one for one in self._program.made if type(one) is type(self) and one._given != self._given]
        return found[-_MOST_OTHERS:]

    def _differs(self, parts: dict[str, Any]) -> bool:
        """Whether an object made of other data, such as `Point(2, 2)` beside `Point(1, 2)`, has another value in one of
        these fields. Otherwise the fields are the same for all objects, so equal fields prove nothing.
        """
        for one in self._others() or self._program.made_otherwise(self):
            state = one._operate("state")
            if isinstance(state, dict) and any(not _alike(state.get(name), part) for name, part in parts.items()):
                return True
        return False

    def _knows(self, other: object) -> bool:
        """Whether the program knows by itself that its object equals `other`, before it is sent `other`: as in
        `assert f(2) == 4`, if the object stands for 4.

        The program must first say which data the object may be, and the class must then equal `other` and none of the
        rest. So the program has one guess, as if it had returned plain data.
        """
        kinds = (int, float, complex, Decimal) if isinstance(other, int | float | complex | Decimal) else (type(other),)
        views = self._program.ask({"do": "op", "op": "views", "h": self._number, "args": []})
        if isinstance(other, list | tuple):
            told = [type(other)(view) for view in views if type(view) in (list, tuple)]
        else:
            told = [view for view in views if type(view) in kinds]
        if isinstance(other, StandIn | StandInFunction) or other not in told:
            return False
        told = [view for at, view in enumerate(told) if view not in told[:at]]
        _dice.shuffle(told)
        if [view for view in told if self._operate("eq", view) is True] != [other]:
            return False
        # the program has answered: from now on it may see what is expected
        return not self._equals_anything() and self._operate("eq", _unequal(other)) is not True

    def _may_meet(self, other: object) -> bool:
        """Whether the program's own class may decide a comparison with `other`: if the test has made one of the two
        objects, or if both are of the same class of the program.
        """
        is_own = type(self) is type(other) and isinstance(type(self), StandInClass)
        return isinstance(other, StandIn) and (self._made or other._made or is_own)

    def _is_data(self, other: object) -> bool:
        """Whether a comparison is about the built-in data that the object holds, as for a program's class built on
        `list`. True beside plain data such as `[4]`, or beside a second object with data, unless the test has made
        both.
        """
        if self._plain is None or not isinstance(other, StandIn):
            return self._plain is not None
        return other._plain is not None and not (self._made and other._made)

    def _meet(self, name: str, other: object) -> Any:
        """The result of a binary operator with another operand: `_meet("lt", 4)` for `answer < 4`."""
        if self._is_data(other) and (name in _COMPARING or not (self._made or self._may_meet(other))):
            how = getattr(self._plain, f"__{name.rstrip('_')}__", None)
            return NotImplemented if how is None else how(self, other)
        return self._marked(name, other, self._operate(name, other))

    def _marked(self, name: str, other: object, answer: Any) -> Any:
        """The result of an operator, with a mark if it is arithmetic with plain data, as `answer - 4` is.

        A test may compare by such a result: `assert answer - 4 == 0`. Then the program's class would decide that its
        answer is right. With the mark, to read the result as data ends the test.
        """
        if answer is NotImplemented:
            return answer
        is_own = isinstance(answer, StandIn) and answer._plain is None
        if self._may_meet(other) or isinstance(other, _FUNCTIONS):
            met = self._met
        elif name in _COMPARING or not (self._made or is_own):
            # the program may raise an error here; by any other result it would decide the test
            raise NotComparableError(f"the program answered with an object of its class {type(self).__name__}")
        else:
            is_less = name.removeprefix("i").removeprefix("r").rstrip("_") in _LESS
            met = max(self._met, (0 if name.rstrip("_")[-3:] != "sub" else 1) if self._made else 1 + is_less)
        is_quotient = name in ("truediv", "rtruediv") and isinstance(answer, int | float) and not self._may_meet(other)
        if not met and is_quotient and abs(answer - 1) < _ABOUT:
            return NearOne(answer, type(self).__name__)
        if not met:
            return answer
        if not is_own:
            return Difference(_plain_of(answer), type(self).__name__)
        object.__setattr__(answer, "_met", max(met, answer._met))
        return answer

    def _refuse_read(self, least: int = 2) -> None:
        """End the test (NotComparableError) if this object is a marked result such as `answer - 4`, and is now read as
        data.

        Args:
            least: the lowest mark (`_met`) that is refused.
        """
        if self._met >= least and not (self._made and least > 1):
            raise NotComparableError(f"the program's {type(self).__name__} is compared by arithmetic with data")

    def _operate(self, name: str, *others: object) -> Any:
        """Ask the program for the result of an operator on the object, such as `len`. If the test has made the object,
        a result of the same class counts as made by the test as well.
        """
        answer = self._program.operate(name, self._number, *others)
        if isinstance(answer, StandIn) and type(answer) is type(self) and self._made:
            object.__setattr__(answer, "_made", True)
        return answer


_MOST_OTHERS = 5
# A quotient that differs from 1 by less may be of two values that a test takes for equal
_ABOUT = 0.1


def given_of(value: Any) -> frozenset[object]:
    """All numbers, texts and other values in data, at any depth: `{1.0, "a"}` for `[1, ["a"]]`. For a stand-in, the
    data that the test has made it of.
    """
    # by its type: a mock may pass for a stand-in by `isinstance`
    if issubclass(type(value), StandIn):
        return frozenset(value._given)
    if isinstance(value, dict):
        # `{"": fields}` is the state of an object: the names of its fields are no data
        parts = value[""].values() if value.keys() == {""} else [*value, *value.values()]
        return frozenset().union(*map(given_of, parts))
    if isinstance(value, list | tuple | set | frozenset | deque):
        return frozenset().union(*map(given_of, value))
    if isinstance(value, complex):
        return given_of((value.real, value.imag))
    if isinstance(value, bool | datetime.date | datetime.time | datetime.timedelta):
        return frozenset({repr(value)})
    if not isinstance(value, str | bytes | int | float | Decimal | Fraction):
        return frozenset()
    try:
        # the same number, however it is written
        return frozenset({float(value)})
    except (ValueError, OverflowError):
        return frozenset({value})


def otherwise(data: Any) -> Any:
    """Data of the same kind with another value, such as `[2, 2]` for `[1, 2]`; None if no such value is known here, as
    for None.
    """
    if isinstance(data, bool):
        return not data
    if isinstance(data, int | float | Decimal | Fraction):
        return data + 1
    if isinstance(data, str | bytes):
        return _unequal(data)
    if isinstance(data, datetime.date | datetime.timedelta):
        day = datetime.timedelta(days=1)
        return data - day if data == type(data).max else data + day
    if type(data) not in (list, tuple, dict):
        return None
    # only the first part for which another value is known is changed
    parts = [[key, part] for key, part in data.items()] if isinstance(data, dict) else [[None, part] for part in data]
    for place in parts:
        if (other := otherwise(place[1])) is not None:
            place[1] = other
            return dict(parts) if isinstance(data, dict) else type(data)(part for _, part in parts)
    return None


def _alike(one: Any, other: Any) -> bool:
    """Whether two states of objects are equal, up to rounding errors of floats: `{"x": 0.3}` and `{"x": 0.1 + 0.2}`
    are.
    """
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return numbers and math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple | deque) and isinstance(other, list | tuple | deque):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _unequal(data: Any) -> object:
    """Data that does not equal `data`, mostly of the same kind: `[1, None]` for `[1]`, 4 for 3.

    It is asked as a check: an object that equals `[1]` and `[1, None]` equals anything.
    """
    if isinstance(data, list | tuple | str | bytes):
        more: Any = {list: [None], tuple: (None,), str: "~", bytes: b"~"}
        return data + next(more[kind] for kind in more if isinstance(data, kind))
    if isinstance(data, int | float | complex | Decimal):
        return data + 1 if data + 1 != data else -data
    return [data]


class Difference:
    """The result of `answer - 4`, where the program's class did the subtraction. It lives in the tests' process.

    It equals the value that the program gave, such as 3. But if a test could see that it is 0, or less than a bound,
    the program would decide that its own answer is right. So the test ends if it compares the result with a bound, as
    in `abs(answer - 4) < 1e-6`, or finds it equal to 0.
    """

    def __init__(self, value: Any, name: str) -> None:
        self.value, self._name = value, name

    @property
    def __class__(self) -> Any:
        return type(self.value)

    @__class__.setter
    def __class__(self, kind: type) -> None:
        raise TypeError("a difference keeps its class")

    def __eq__(self, other: object) -> bool:
        is_same = not issubclass(type(other), Difference) and bool(self.value == other)
        if is_same and not other:
            self._refuse()
        return is_same

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value)

    def _refuse(self, *_: object) -> Any:
        raise NotComparableError(f"the program's {self._name} is compared by a difference to data")

    def _plus(self, other: Any) -> Any:
        return self.value + other if other else self._refuse()

    def _minus(self, other: Any) -> Any:
        return self.value - other if other else self._refuse()

    __add__ = __radd__ = _plus
    __sub__ = _minus
    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __abs__ = __round__ = __int__ = __float__ = __index__ = _refuse
    __mul__ = __pow__ = __truediv__ = __floordiv__ = __mod__ = __len__ = __iter__ = __contains__ = _refuse


def found_in_class(self: Any, one: Any, kind: type | None = None) -> Any:
    """The `__get__` of a descriptor of the program, such as its own kind of property, in a class that a test builds on
    the program's class. It reads the attribute in the program's process.
    """
    if not isinstance(one, StandIn):
        return self
    held = (name for base in type(one).__mro__ for name, part in vars(base).items() if part is self)
    return StandIn.__getattr__(one, next(held))


class NearOne(Difference):
    """The result of `price / 10.0` if it is about 1, where the program's class did the division. It lives in the tests'
    process.

    By it a test could see that `price` is nearly 10, and the program would decide that. So `price / 10.0 - 1`, or a
    comparison with a bound, ends the test, as for a `Difference`.
    """

    def _plus(self, other: Any) -> Any:
        self._refuse()

    __add__ = __radd__ = __sub__ = _plus


class StandInIterator(StandIn):
    """The tests' side of an iterator of the program, such as a `zip`: each `next(answer)` takes one item from it in the
    program's process.
    """

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._operate("next")

    def __await__(self) -> Generator[Any, None, Any]:
        answer: Any = yield from self._program.awaited(self._number).__await__()
        return answer


class StandInView(StandIn):
    """The tests' side of a view such as `answer.keys()`, or of a memoryview. It is compared here, by its items:
    `answer.keys() == {"a"}` never asks the program.
    """

    def __eq__(self, other: object) -> Any:
        if isinstance(other, bytes | bytearray | memoryview):
            items = [*self]
            return all(type(one) is int and 0 <= one < 256 for one in items) and bytes(items) == other
        # compared here: the program does not receive the other side
        return {*self} == {*other} if isinstance(other, AbstractSet) else super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return not self == other

    __hash__ = StandIn.__hash__


#: Built-in classes of views, by name.
VIEWS = {type({}.keys()).__name__, type({}.items()).__name__, memoryview.__name__}


def as_of_data(program: Any, found: Any, name: str) -> Any:
    """The attribute `name` of an object that the program returned, for the test that reads it. If built-in data has
    such a method too, such as `startswith`, its calls are checked (`_checked_answer`): the program's own `startswith`
    could be always true.

    Args:
        program: the program.
        found: the value of the attribute, as the program gave it.
        name: of the attribute.
    """
    is_method = name in _PLAIN_METHODS and isinstance(found, StandInFunction)
    return partial(_checked_answer, program, found, name) if is_method else found


def _checked_answer(program: Any, method: Callable[..., Any], name: str, /, *arguments: object, **named: object) -> Any:
    """Call a method that built-in data has too, such as `startswith`, in the program's process, and give its result.

    Raises:
        NotComparableError: by that result the program would decide the test, as by True for `f(2).startswith("a")`, or
            by the argument itself.
    """
    given = [*arguments, *named.values()]
    program.is_told |= bool(given)
    answer = method(*arguments, **named)
    if not given or (name == "equals" and all(isinstance(one, StandIn) for one in given)):
        return answer
    kind = type(answer)
    if name in _WITH_DEFAULT and kind in (type(None), *map(type, given[1:])) and answer in (None, *given[1:]):
        return answer
    # a yes or no of any kind, something empty, or the argument itself
    is_said = name in _SAYING or kind is bool or (kind in _DATA and not answer and kind not in (int, float))
    is_said |= name in _OF_SETS and not isinstance(answer, StandIn | set | frozenset)
    echoed = given[1:] if kind in (int, float) else given
    is_said |= any(answer is one or (kind is type(one) and kind in _DATA and answer == one) for one in echoed)
    if is_said:
        raise NotComparableError(f"the program answered with an object of its own that has a method {name!r}")
    if isinstance(answer, StandIn) and not answer._made and not all(isinstance(one, StandIn) for one in given):
        # read as data, such as an empty difference of sets, it would decide the test
        object.__setattr__(answer, "_met", max(answer._met, 2 if name in _OF_SETS - {"union"} else 1))
    return answer


def _operator(name: str, *, swapped: bool = False) -> Callable[[StandIn, object], Any]:
    """The method of StandIn for a binary operator: `__add__` for `add`, or `__radd__` if `swapped`."""

    def operate(self: StandIn, other: object) -> Any:
        if not swapped:
            return self._meet(name, other)
        if not self._made and self._plain is not None:
            how = getattr(self._plain, f"__r{name.rstrip('_')}__", None)
            return NotImplemented if how is None else how(self, other)
        return self._marked(f"r{name}", other, self._program.operate(f"r{name}", self._number, other))

    return operate


def _unary(name: str) -> Callable[..., Any]:
    """The method of StandIn for an operator without a second operand, such as `neg`, or with a key, as `setitem`."""

    def operate(self: StandIn, *others: object) -> Any:
        self._refuse_read(1 if name in (*_ROUNDING, "int", "index") else 2)
        return self._operate(name, *others)

    return operate


_COMPARING = ("lt", "le", "gt", "ge")
_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "divmod"),
    *("lshift", "rshift", "and", "or", "xor"),
)
# Operators whose result shows how an object differs from the data beside it
_LESS = ("sub", "floordiv", "mod", "divmod", "shift", "and", "or", "xor")
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
_ROUNDING = ("abs", "round", "float", "complex", "floor", "ceil", "trunc")
_UNARY = ("neg", "pos", "invert", *_ROUNDING, "int", "index", "str", "repr", "bytes")
_KEYED = ("setitem", "delitem", "format")
_READING = {
    *(*_ROUNDING, "int", "index", "neg", "pos", "bool", "hash"),
    *("len", "iter", "next", "getitem", "contains", "reversed"),
}
for _name in _COMPARING:
    setattr(StandIn, f"__{_name}__", _operator(_name))
for _name in _BINARY:
    _remote = f"{_name}_" if _name in ("and", "or") else _name
    if _name != "pow":
        setattr(StandIn, f"__{_name}__", _operator(_remote))
    setattr(StandIn, f"__r{_name}__", _operator(_remote, swapped=True))
    if _name != "divmod":
        setattr(StandIn, f"__i{_name}__", _operator(f"i{_remote}"))
for _name in (*_UNARY, *_KEYED):
    setattr(StandIn, f"__{_name}__", _unary(_name))


# Methods that a stand-in keeps, whatever data it holds
_OF_STAND_IN = {
    *("__class__", "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__getattribute__", "__getattr__"),
    *("__setattr__", "__delattr__", "__dict__", "__dir__", "__doc__", "__module__", "__annotations__", "__weakref__"),
    *("__copy__", "__deepcopy__", "__class_getitem__"),
}


def of_data(plain: type, over: set[str], fields: list[str]) -> dict[str, Any]:
    """The attributes of the stand-ins' class, for a class of the program that is built on data, such as
    `class Row(list)`.

    Such a stand-in holds the data itself. What `Row` does not define anew, such as `append`, is done here by the
    built-in type.

    Args:
        plain: the built-in type, such as `list`.
        over: the names that the program's class defines; these ask the program.
        fields: the names of the items, if the class is a named tuple.
    """
    space: dict[str, Any] = {"_plain": plain}
    over = over | ({"__getitem__"} if "__missing__" in over else set())
    own = vars(StandIn)
    for name in {*dir(plain), *own} - _OF_STAND_IN:
        is_operator = name.startswith("__")
        if name not in over and hasattr(plain, name):
            space[name] = getattr(plain, name) if is_operator else vars(plain).get(name, getattr(plain, name))
        elif is_operator and name in own:
            is_reflected = name[2:-2].removeprefix("r").removeprefix("i") in _BINARY
            asked = own[name] if name in over or not is_reflected else lambda self, other: NotImplemented
            # only if the data can do it: a list has no hash, while a class that is built on it may have one
            is_read = getattr(plain, name, None) is not None and name[2:-2] in _READING
            space[name] = _read(asked, getattr(plain, name)) if is_read else asked
        elif name in over and name[0] != "_":
            space[name] = _asked(name)
    if "__missing__" in over:
        space["__missing__"] = _missing
    # for other classes, `_fields` is asked from the program
    space |= {"_fields": tuple(fields)} if fields else {}
    return space | {name: property(operator.itemgetter(at)) for at, name in enumerate(fields) if name[0] != "_"}


def _asked(name: str) -> property:
    """A property that reads the attribute `name` in the program's process."""
    return property(lambda self: StandIn.__getattr__(self, name))


def _missing(self: StandIn, key: object) -> Any:
    """The `__missing__` of the stand-in for a program's dictionary: `answer["x"]`, if the data has no key `x`, asks the
    program for the value.
    """
    method = self._program.ask({"do": "attr", "h": self._number, "name": "__missing__"})
    return _checked_answer(self._program, method, "__missing__", key)


def _read(asked: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """The method for an operator that reads data, such as `len`. For an answer of the program, the data that it holds
    decides, whatever `__len__` the program's class defines. For an object that the test has made, the program is asked.

    Args:
        asked: the method that asks the program.
        plain: the method of the built-in type.
    """

    def read(self: Any, *given: object) -> Any:
        if self._made:
            return asked(self, *given)
        self._program.withhold(f"an object of {type(self).__name__!r}, which the test has not made, is what it holds")
        return plain(self, *given)

    return read


def new(kind: type, data: Any) -> Any:
    """A new stand-in of the class `kind`. If the program's class is built on data, such as a list, it holds that
    `data`.
    """
    plain = vars(kind).get("_plain", getattr(kind, "_plain", None))
    if plain is None or data is None:
        return (plain or object).__new__(kind)
    if not isinstance(data, plain):
        raise TypeError(f"no {plain.__name__}")
    if plain is float and data != data:
        # NaN stays a plain float, whatever its class
        return data
    if plain is Fraction:
        one: Any = object.__new__(kind)
        for name in Fraction.__slots__:
            object.__setattr__(one, name, getattr(data, name))
        return one
    return plain.__new__(kind, *(data.__reduce__()[1] if plain.__module__ == "datetime" else (data,)))


def _plain_of(value: Any) -> Any:
    """The plain data in a stand-in: `[1]` for an object of `class Row(list)` with that item. Any other
    value as it is.
    """
    return unpack(pack(value)) if isinstance(value, StandIn) else value
