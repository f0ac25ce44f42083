"""Python values as JSON, with their types, on their way between a jailed program and the process that judges it.

The arguments and the result of a function are sent like this. So is each message between the tests' process and the
program's process, for tests that carry code (`JailLine`). A JSON list is a list. A type that JSON does not have becomes
an object of one key, the tag of the type: `{"t": [1, 2]}` is the tuple `(1, 2)`. Readers accept only the tags listed
here, so hostile text becomes plain data or a ValueError. An object of a subclass of a built-in type becomes one of the
built-in type.

Some values of the standard library, such as a UUID, become the call that makes them (`pack_standard`). The signatures
and annotations of a program's functions are sent as well.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import datetime
import importlib
import json
import math
import os
import struct
import sys
import typing
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

#: Containers that can be changed.
MUTABLE = (list, dict, set, deque, bytearray)
#: Kinds of plain data that a class may be built on, a subclass before its base.
PLAIN_KINDS = (
    *(int, float, complex, str, bytes, bytearray, list, set, frozenset, tuple, deque),
    *(Counter, OrderedDict, defaultdict, dict),
    *(Decimal, Fraction, datetime.datetime, datetime.date, datetime.time, datetime.timedelta),
)
_EXACT = {*PLAIN_KINDS}
#: Deeper values are no plain data.
MOST_DEPTH = 200
# Python refuses to read an int of more than 4,300 digits
_MOST_BITS = 14_000
# A set of numbers that were chosen to share a hash takes minutes; other numbers hardly ever share one
_MOST_OF_A_HASH = 100
_MOST_EXPONENT = 10_000


class NotPlainError(ValueError):
    """A value is no plain data, or a text is not one that `dump` writes."""


def dump(value: object, handle: Callable[[object], object] | None = None) -> bytes:
    """The JSON text of a value, with its types: `dump((1, 2))` is `b'{"t": [1, 2]}'`.

    Args:
        value: the value.
        handle: makes JSON of an object that is no plain data, of a named tuple, and of a member of an Enum.

    Raises:
        NotPlainError: the value has a part that is no plain data.
    """
    return json.dumps(pack(value, handle)).encode()


def load(text: bytes, handle: Callable[[object], object] | None = None) -> object:
    """The value of a text that `dump` wrote: `load(b'{"t": [1, 2]}')` is `(1, 2)`.

    Args:
        text: the JSON.
        handle: makes values of the JSON that `dump`'s `handle` made.

    Raises:
        NotPlainError: `dump` never writes such a text.
    """
    try:
        return unpack(json.loads(text, parse_constant=_refuse), handle)
    except (ValueError, RecursionError, TypeError, ArithmeticError, LookupError, AttributeError) as exc:
        raise NotPlainError(f"unreadable: {exc}"[:200]) from None


def _refuse(name: str) -> object:
    raise NotPlainError(f"{name} is no JSON number")


def pack(
    value: Any,
    handle: Callable[[object], object] | None = None,
    depth: int = MOST_DEPTH,
    *,
    is_plain: bool = False,
    share: Callable[[object], object] | None = None,
    owns: Callable[[type], bool] = lambda _: False,
) -> object:
    """A value as `json.dumps` accepts it, with its types: `pack((1, 2))` is `{"t": [1, 2]}`.

    Args:
        value: the value.
        handle: makes JSON of an object that is no plain data.
        depth: of nesting that is still allowed.
        is_plain: whether an object of a class that is built on plain data becomes that data.
        share: makes JSON of a container that can be changed, such as the number by which both processes know it.
        owns: whether objects of a class go to `handle`, although the class is built on plain data.

    Raises:
        NotPlainError: the value has a part that is no plain data.
    """
    if value is None or value is True or value is False:
        return value
    if depth == 0:
        raise NotPlainError("nested too deep")
    # not `__class__`, by which an object may pass for anything
    own = type(value)
    if handle is not None and not is_plain and own not in _EXACT and (owns(own) or _is_named(own)):
        return handle(value)
    if share is not None and issubclass(own, MUTABLE):
        return share(value)
    for kind, how in _PACKERS:
        if issubclass(own, kind):
            return how(value, lambda part: pack(part, handle, depth - 1, share=share, owns=owns))
    if type(value).__module__ == "numpy" and callable(getattr(value, "tolist", None)):
        items = pack(value.tolist(), handle, depth - 1)
        numbers = str(value.dtype.str)
        return {"np": [numbers, items]} if isinstance(items, list) and numbers[1:] in _ARRAYS else items
    if own.__module__.partition(".")[0] == "pathlib" and hasattr(own, "__fspath__"):
        return {"p": os.fspath(value)}
    if value is Ellipsis or value is NotImplemented:
        return {"o": repr(value)}
    if handle is not None:
        return handle(value)
    raise NotPlainError(f"an object of type {type(value).__name__}")


def _is_named(kind: type) -> bool:
    """Whether a class is an Enum or a class of named tuples."""
    return issubclass(kind, Enum) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


def contents(value: object, inner: Callable[[Any], object]) -> object:
    """The parts of a built-in container as JSON, each made by `inner`: `[inner(1), inner(2)]` for `[1, 2]`."""
    return next(how for kind, how in _PACKERS if isinstance(value, kind))(value, inner)


# numpy's numbers, as `dtype.str` writes them
_ARRAYS = {"b1", *(f"{kind}{size}" for kind in "iuf" for size in (1, 2, 4, 8)), "c8", "c16"}
_Pack = Callable[[Any], object]
#: Is given each array without items that arrives, and gives what to use in its place; see `empty_arrays`.
make_empty: Callable[[Any], Any] = lambda array: array  # noqa: E731
#: The same for each float that is infinite or NaN, also as a part of a complex number.
make_not_finite: Callable[..., float] = lambda number, **_: number  # noqa: E731


def _int(value: int, _: _Pack) -> object:
    value = int.__index__(value)
    return value if value.bit_length() <= _MOST_BITS else {"x": hex(value)}


def _float(value: float, _: _Pack) -> object:
    value = float.__float__(value)
    return value if math.isfinite(value) else {"f": repr(value)}


def _pairs(value: dict[Any, Any], inner: _Pack) -> list[object]:
    return [[inner(key), inner(part)] for key, part in dict.items(value)]


def _default(value: defaultdict[Any, Any], inner: _Pack) -> object:
    factory = getattr(value.default_factory, "__name__", "")
    return {"k": [factory if factory in _FACTORIES else "", *_pairs(value, inner)]}


def _sequence(tag: str) -> Callable[[Any, _Pack], object]:
    return lambda value, inner: {tag: [inner(part) for part in value]}


# a subclass before its base
_PACKERS: list[tuple[type, Callable[[Any, _Pack], object]]] = [
    (int, _int),
    (float, _float),
    (str, lambda value, _: str.__str__(value)),
    (list, lambda value, inner: [inner(part) for part in list.__iter__(value)]),
    (tuple, lambda value, inner: {"t": [inner(part) for part in tuple.__iter__(value)]}),
    (Counter, lambda value, inner: {"k": ["Counter", *_pairs(value, inner)]}),
    # by its own `items`: it keeps an order of its own, which `move_to_end` changes
    (OrderedDict, lambda value, inner: {"k": ["OrderedDict", *_pairs(dict(OrderedDict.items(value)), inner)]}),
    (defaultdict, _default),
    (dict, lambda value, inner: {"d": _pairs(value, inner)}),
    (set, _sequence("s")),
    (frozenset, _sequence("z")),
    (deque, _sequence("q")),
    (bytes, lambda value, _: {"b": bytes.hex(value)}),
    (bytearray, lambda value, _: {"y": bytearray.hex(value)}),
    (complex, lambda value, _: {"c": [repr(value.real), repr(value.imag)]}),
    (Decimal, lambda value, _: {"D": str(value)}),
    (Fraction, lambda value, inner: {"F": [inner(value.numerator), inner(value.denominator)]}),
    (slice, lambda value, inner: {"sl": [inner(value.start), inner(value.stop), inner(value.step)]}),
    (range, lambda value, inner: {"r": [inner(value.start), inner(value.stop), inner(value.step)]}),
    (datetime.datetime, lambda value, _: {"dt": ["datetime", value.isoformat()]}),
    (datetime.date, lambda value, _: {"dt": ["date", value.isoformat()]}),
    (datetime.time, lambda value, _: {"dt": ["time", value.isoformat()]}),
    (datetime.timedelta, lambda value, _: {"dl": [value.days, value.seconds, value.microseconds]}),
]


def unpack(value: Any, handle: Callable[[object], object] | None = None, depth: int = 2 * MOST_DEPTH) -> object:
    """The value that `pack` made JSON of: `unpack({"t": [1, 2]})` is `(1, 2)`.

    Args:
        handle: makes values of objects whose tag is unknown here, which `pack`'s `handle` made.
        depth: of nesting that is still allowed.
    """
    if depth == 0:
        raise NotPlainError("nested too deep")
    if isinstance(value, list):
        return [unpack(part, handle, depth - 1) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise NotPlainError("an object of other than one key")
    ((tag, content),) = value.items()
    if tag in _UNPACKERS:
        return _UNPACKERS[tag](content, lambda part: unpack(part, handle, depth - 1))
    if handle is not None:
        return handle(value)
    raise NotPlainError(f"no such tag: {tag!r:.40}")


# made once, or `json.loads` would make a new one for each message
_READER = json.JSONDecoder(parse_constant=_refuse)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise NotPlainError("no text")
    return value


def _decimal(value: object, _: _Pack) -> Decimal:
    number = Decimal(_text(value))
    if number.is_finite() and abs(number.adjusted()) > _MOST_EXPONENT:
        raise NotPlainError("an exponent over the bounds")
    return number


def _complex(parts: Any, _: _Pack) -> complex:
    """The complex number of two texts: `1+2j` for `["1.0", "2.0"]`. A part that is infinite or NaN goes through
    `make_not_finite`.
    """
    found = [float(_text(part)) for part in parts[:2]]
    return complex(*(one if math.isfinite(one) else make_not_finite(one, is_part=True) for one in found))


def _spread(keys: list[Any]) -> list[Any]:
    """Return the keys of a set or dictionary.

    Raises:
        NotPlainError: so many keys share a hash that to make the set would take minutes.
    """
    if len(keys) > _MOST_OF_A_HASH and max(Counter(map(hash, keys)).values()) > _MOST_OF_A_HASH:
        raise NotPlainError("keys that share a hash")
    return keys


def _mapping(value: Any, inner: _Pack) -> dict[object, object]:
    pairs = [(inner(key), inner(part)) for key, part in value]
    return dict(zip(_spread([key for key, _ in pairs]), (part for _, part in pairs), strict=True))


def _fraction(parts: list[Any]) -> Fraction:
    # never from text, of which Fraction would compute any power of ten
    if len(parts) != 2 or not all(isinstance(part, int) and part.bit_length() <= _MOST_BITS for part in parts):
        raise NotPlainError("no fraction within the bounds")
    return Fraction(*parts)


# what a `defaultdict` may make, and the kinds of dictionaries that say more than `dict`
_FACTORIES: dict[str, Callable[[], Any]] = {kind.__name__: kind for kind in (int, float, str, bool, list, dict, set)}
_KINDS: dict[str, Callable[[], dict[Any, Any]]] = {"Counter": Counter, "OrderedDict": OrderedDict}


def _mapping_of_kind(value: Any, inner: _Pack) -> dict[object, object]:
    kind, *pairs = value
    made = _KINDS[kind]() if kind in _KINDS else defaultdict(_FACTORIES[kind] if kind else None)
    made.update(_mapping(pairs, inner))
    return made


def _path(value: object, _: _Pack) -> object:
    # slow to import, and few values are paths
    import pathlib

    return pathlib.Path(_text(value))


def _array(value: Any, inner: _Pack) -> object:
    """The numpy array for `[type, items]`: that of 1 and 2 for `["<i8", [1, 2]]`. Plain lists if numpy is not imported
    in this process.
    """
    kind, items = value
    if _text(kind)[1:] not in _ARRAYS:
        raise NotPlainError("an array of other than numbers")
    if (numpy := sys.modules.get("numpy")) is None:
        return inner(items)
    array = numpy.array(_grid(items, inner), dtype=kind)
    return array if array.size else make_empty(array)


def _grid(items: Any, inner: _Pack) -> object:
    """The numbers of an array in nested lists, such as `[[1, 2], [3, 4]]`.

    Raises:
        NotPlainError: an item is no number; a `range`, say, could make a huge array of a few bytes.
    """
    # no range, which in a few bytes could name as large an array as the program likes
    if isinstance(items, list):
        return [_grid(part, inner) for part in items]
    number = inner(items)
    if not isinstance(number, int | float | complex):
        raise NotPlainError("an array of other than numbers")
    return number


def _moment(value: Any, _: _Pack) -> object:
    kinds: dict[str, Any] = {"datetime": datetime.datetime, "date": datetime.date, "time": datetime.time}
    return kinds[value[0]].fromisoformat(_text(value[1]))


def _listed(kind: Callable[[list[Any]], object]) -> Callable[[Any, _Pack], object]:
    def read(value: Any, inner: _Pack) -> object:
        if not isinstance(value, list):
            raise NotPlainError("no list")
        return kind([inner(part) for part in value])

    return read


_UNPACKERS: dict[str, Callable[[Any, _Pack], object]] = {
    "x": lambda value, _: int(_text(value), 16),
    "f": lambda value, _: make_not_finite(float(_text(value))),
    "o": lambda value, _: {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}[_text(value)],
    "d": _mapping,
    "k": _mapping_of_kind,
    "sl": _listed(lambda parts: slice(*parts)),
    "t": _listed(tuple),
    "s": _listed(lambda parts: set(_spread(parts))),
    "z": _listed(lambda parts: frozenset(_spread(parts))),
    "q": _listed(deque),
    "b": lambda value, _: bytes.fromhex(_text(value)),
    "y": lambda value, _: bytearray.fromhex(_text(value)),
    "c": _complex,
    "D": _decimal,
    "F": _listed(_fraction),
    "r": _listed(lambda parts: range(*parts)),
    "dt": _moment,
    "p": _path,
    "np": _array,
    "dl": _listed(lambda parts: datetime.timedelta(*parts)),
}


_LENGTH = struct.Struct("<I")
MOST_BYTES = 16 * 2**20
_MOST_READ = 2**16


class LineEndedError(BaseException):
    """Ends a test or a program: the process at the other end of the line has ended, or has sent something that is no
    message.

    It is a BaseException, so that a test's `except Exception` does not catch it.
    """


class JailLine:
    """One end of the line between the tests' process and the program's process: sends and receives messages, which are
    JSON objects.

    Args:
        descriptor: of the line's socket.
        received: is called with the JSON text of each message that arrives.
    """

    def __init__(self, descriptor: int, received: Callable[[bytes], object] = lambda _: None) -> None:
        self._descriptor, self._received = descriptor, received
        # what was read with the message before it
        self._read = bytearray()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message to the process at the other end, such as `{"do": "names"}`.

        Raises:
            LineEndedError: nobody reads any more, or the message is too long.
        """
        data = json.dumps(message).encode()
        if len(data) > MOST_BYTES:
            raise LineEndedError(f"a message of {len(data):,} bytes")
        view = memoryview(_LENGTH.pack(len(data)) + data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as exc:
            raise LineEndedError("the other side has ended") from exc

    def receive(self) -> dict[str, Any]:
        """The next message from the process at the other end. Waits for it.

        Raises:
            LineEndedError: that process has ended, or has sent something that is no message.
        """
        (size,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if size > MOST_BYTES:
            raise LineEndedError(f"a message of {size:,} bytes")
        try:
            # no message holds JSON's NaN or Infinity: `pack` writes such floats as text
            message = _READER.decode((data := self._exactly(size)).decode())
        except (ValueError, RecursionError) as exc:
            raise LineEndedError("no message") from exc
        if not isinstance(message, dict):
            raise LineEndedError("no message")
        self._received(data)
        return message

    def _exactly(self, size: int) -> bytes:
        """The next `size` bytes of the line. Waits for them."""
        while len(self._read) < size:
            try:
                # as much as there is: a system call takes longer than to read a short message
                piece = os.read(self._descriptor, max(_MOST_READ, size - len(self._read)))
            except OSError as exc:
                raise LineEndedError("the other side has ended") from exc
            if not piece:
                raise LineEndedError("the program ended before its tests did")
            self._read += piece
        data = bytes(self._read[:size])
        del self._read[:size]
        return data


_MOST_HINT = 1000
# By module and class: what the class, or a function of the module, is called with
_STANDARD_KINDS: dict[tuple[str, str], tuple[str, Callable[[Any], list[object]]]] = {
    ("uuid", "UUID"): ("UUID", lambda value: [str(value)]),
    ("re", "Pattern"): ("compile", lambda value: [value.pattern, value.flags]),
    ("datetime", "timezone"): ("timezone", lambda value: [*value.__getinitargs__()]),
    ("zoneinfo", "ZoneInfo"): ("ZoneInfo", lambda value: [value.key]),
    **{
        ("ipaddress", name): (name, lambda value: [str(value)])
        for kind in ("Address", "Network", "Interface")
        for name in (f"IPv4{kind}", f"IPv6{kind}")
    },
}


def pack_standard(value: object) -> object:
    """JSON of the call that makes a value of the standard library, such as a UUID, a pattern of `re` or a time zone:
    `{"st": ["uuid", "UUID", ["…"]]}`. None for any other value, also one of a subclass of such a class.
    """
    own = (type(value).__module__, type(value).__name__)
    # the very class: another may have its name
    if own not in _STANDARD_KINDS or getattr(sys.modules.get(own[0]), own[1], None) is not type(value):
        return None
    return {"st": [*own, pack(_STANDARD_KINDS[own][1](value))]}


def unpack_standard(told: Any) -> object:
    """The value that `pack_standard` made JSON of, such as a UUID for `{"st": ["uuid", "UUID", ["…"]]}`."""
    home, name, arguments = told["st"]
    make = getattr(importlib.import_module(home), _STANDARD_KINDS[home, name][0])
    return make(*unpack(arguments))  # type: ignore[misc]


def signature_told(one: Any) -> list[object]:
    """The signature of a function or a class as data for the other process: `[["x", 1, [3], ["int"]], ["str"]]` for
    `def f(x: int = 3) -> str`.

    For each parameter, that is its name, its kind, its default alone in a list, and its annotation. The last item is
    the annotation of the result.
    """
    # slow to import, and few tests ask
    import inspect

    own = inspect.signature(one)
    parameters = [
        [part.name, int(part.kind), [] if part.default is part.empty else [part.default], hint_told(part.annotation)]
        for part in own.parameters.values()
    ]
    return [*parameters, hint_told(own.return_annotation)]


def ask_in_protocols(kind: type) -> None:
    """Make `isinstance(one, SomeProtocol)` work in this process for objects that represent one of the other process:
    their attributes are read by `getattr`, which asks the other process.

    Called once in each process, at the start. Python 3.12 and later would look into the representing object itself,
    which has none of the attributes.

    Args:
        kind: the class on which the classes of such objects are built, `StandIn` or `_Lent`.
    """
    of_typing: Any = typing
    if not hasattr(of_typing, "_lazy_load_getattr_static"):
        return
    python_s = of_typing._lazy_load_getattr_static

    def found(one: object, name: str, *default: object) -> object:
        if issubclass(type(one), kind):
            return getattr(one, name, *default)
        return python_s()(one, name, *default)

    of_typing._lazy_load_getattr_static = lambda: found


def signature(told: list[Any]) -> Any:
    """The signature that `signature_told` made data of: `(x: int = 3) -> str` for
    `[["x", 1, [3], ["int"]], ["str"]]`.
    """
    import inspect

    *parameters, result = told
    nothing = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(
                name, inspect._ParameterKind(kind), default=default[0] if default else nothing, annotation=hint(part)
            )
            for name, kind, default, part in parameters
        ],
        return_annotation=hint(result),
    )


def hint_told(annotation: object) -> list[str]:
    """The source of an annotation, alone in a list, such as `['int']`. An empty list if there is no annotation."""
    if isinstance(annotation, str) or annotation is None:
        return [repr(annotation)]
    if getattr(annotation, "__module__", "") == "inspect":
        return []
    if not isinstance(annotation, type) or hasattr(annotation, "__origin__"):
        return [repr(annotation)]
    home = f"{annotation.__module__}." if annotation.__module__ in ("typing", "collections.abc") else ""
    return [f"{home}{annotation.__name__}"]


class _Hint:
    """An annotation that is a text, in the process to which it was sent. It is no `str`, since `typing.get_type_hints`
    would run a text of the program there.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __eq__(self, other: object) -> bool:
        return self._text == (other._text if isinstance(other, _Hint) else other)

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return repr(self._text)


def hint(told: list[str]) -> object:
    """The annotation that `hint_told` made data of: the class `int` for `['int']`. A source with more than types in it
    is kept as text and never run.
    """
    if not told:
        import inspect

        return inspect.Parameter.empty
    source = str(told[0])[:_MOST_HINT]
    try:
        node = ast.parse(source, mode="eval").body
        return _Hint(node.value) if isinstance(node, ast.Constant) and type(node.value) is str else _typed(node)
    except Exception:  # noqa: BLE001 - the program's text
        return _Hint(source)


def _typed(node: ast.expr) -> Any:
    """The annotation that a syntax tree represents, such as `list[int]`, made without running it. Raises an exception
    if the tree has anything but types, `None` and `...` in it.
    """
    if isinstance(node, ast.Constant) and node.value in (None, Ellipsis):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [*map(_typed, node.elts)] if isinstance(node, ast.List) else tuple(map(_typed, node.elts))
    if isinstance(node, ast.Subscript):
        return _typed(node.value)[_typed(node.slice)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _typed(node.left) | _typed(node.right)
    home, _, name = ast.unparse(node).rpartition(".")
    found = getattr({"": builtins, "typing": typing, "collections.abc": collections.abc}[home], name)
    if not (isinstance(found, type) or home == "typing"):
        raise TypeError(name)
    return found


def globals_of(source: str) -> tuple[set[str], set[str]]:
    """The module's variables that code reads anywhere, and those that it sets: `{'x'}` and `{'y'}` for `y = x`."""
    # few programs need it
    import symtable

    asked, own = set(), set()
    tables = [symtable.symtable(source, "<tests>", "exec")]
    for table in tables:
        is_module = table.get_type() == "module"
        for symbol in table.get_symbols():
            if is_module or symbol.is_global():
                asked |= {symbol.get_name()} if symbol.is_referenced() else set()
                own |= {symbol.get_name()} if symbol.is_assigned() or symbol.is_imported() else set()
        tables += table.get_children()
    looped = _only_looped(source) if own else set()
    return asked - looped, own - looped


def _only_looped(source: str) -> set[str]:
    """The variables that only comprehensions use, such as `x` in `[x for x in items]`. Since Python 3.12, `symtable`
    counts them among the module's variables.
    """
    tree, looped, others = ast.parse(source), set[str](), set[str]()
    whole = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    inside = {id(node) for one in ast.walk(tree) if isinstance(one, whole) for node in ast.walk(one)}
    for node in ast.walk(tree):
        if isinstance(node, ast.comprehension):
            looped |= {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
        elif isinstance(node, ast.alias):
            others.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            others.add(node.name)
        elif isinstance(node, ast.Name) and id(node) not in inside:
            others.add(node.id)
    return looped - others
