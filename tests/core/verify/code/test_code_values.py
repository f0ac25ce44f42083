"""Values travel between jails with their types, and nothing else is taken for one."""

from __future__ import annotations

import collections
import collections.abc
import datetime
import enum
import inspect
import ipaddress
import json
import re
import socket
import typing
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.verify.code.inside import code_values
from agentscope_tuner.verify.code.inside.code_values import (
    JailLine,
    LineEndedError,
    NotPlainError,
    ask_in_protocols,
    dump,
    hint,
    hint_told,
    load,
    pack,
)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        pytest.param(-(10**5000), id="large"),
        1.5,
        "text \ud800 \0",
        [1, [2]],
        (1, (2,)),
        {"a": 1, 2: [3], (4, 5): None},
        {1, 2},
        frozenset({1}),
        collections.deque([1, 2]),
        b"\xff",
        bytearray(b"x"),
        complex(1, float("inf")),
        Decimal("1.10"),
        Fraction(1, 3),
        range(1, 9, 2),
        Path("a/b.txt"),
        slice(1, None, 2),
        collections.Counter("aab"),
        collections.OrderedDict(b=1, a=2),
        collections.defaultdict(int, a=1),
        Ellipsis,
        datetime.datetime(2024, 1, 2, 3, 4, 5),
        datetime.date(2024, 1, 2),
        datetime.time(1, 2),
        datetime.timedelta(days=1, seconds=2),
        float("-inf"),
    ],
)
def test_a_value_comes_back_as_it_went(value: object) -> None:
    back = load(dump(value))
    assert type(back) is type(value)
    assert back == value


class _Colour(enum.IntEnum):
    RED = 1


class _Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


@pytest.mark.parametrize(("value", "plain"), [(_Colour.RED, 1), (_Liar(3), 3)])
def test_a_subclass_travels_as_the_built_in_type(value: object, plain: object) -> None:
    back = load(dump(value))
    assert type(back) is type(plain)
    assert back == plain


def _nested() -> object:
    value: list[object] = []
    value.append(value)
    return value


@pytest.mark.parametrize("value", [object(), _nested(), lambda: 1, int, [object()], {"a": object()}, iter([])])
def test_what_is_no_plain_data_does_not_travel(value: object) -> None:
    with pytest.raises(NotPlainError):
        dump(value)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"NaN",
        b"\xff",
        b'{"a": 1, "t": []}',
        b'{"unknown": 1}',
        b'{"h": {"id": 1}}',
        b'{"t": 1}',
        b'{"d": [1]}',
        b'{"d": [[[1], 2]]}',
        b'{"s": [[1]]}',
        b'{"x": 1}',
        b'{"x": "zz"}',
        b'{"F": [1, 0]}',
        b'{"F": [1, 2, 3]}',
        b'{"D": "1e999999999"}',
        b'{"dt": ["system", "x"]}',
        b'{"r": ["a"]}',
        b'{"c": ["x", "y"]}',
        b"[" * 1_000_000,
        b"9" * 5000,
    ],
)
def test_a_text_that_is_none_of_ours_is_refused(text: bytes) -> None:
    with pytest.raises(NotPlainError):
        load(text)


_ALIKE = [number * (2**61 - 1) for number in range(20_000)]


@pytest.mark.parametrize(
    "text",
    [
        # ten to the power of ten millions, for one who reads text as a fraction
        '{"F": ["1e9999999"]}',
        '{"F": [{"D": "1e9999"}, 3]}',
        f'{{"F": [{{"x": "{"7" * 100_000}"}}, {{"x": "{"5" * 100_001}"}}]}}',
        # numbers of one hash, for which a table takes the square of their number
        json.dumps({"s": _ALIKE}),
        json.dumps({"z": _ALIKE}),
        json.dumps({"d": [[number, 1] for number in _ALIKE]}),
        json.dumps({"k": ["Counter", *([number, 1] for number in _ALIKE)]}),
        '{"np": ["|O", [1]]}',
    ],
    ids=lambda text: text[:30],
)
def test_a_text_that_would_take_minutes_is_refused_at_once(text: str) -> None:
    with pytest.raises(NotPlainError):
        load(text.encode())


def test_large_sets_of_honest_numbers_are_read() -> None:
    assert load(dump(set(range(-5000, 5000)))) == set(range(-5000, 5000))
    assert load(dump({number / 7: number for number in range(5000)})) == {number / 7: number for number in range(5000)}


@pytest.mark.parametrize(
    "items", ['{"r": [0, 9, 1]}', '[{"r": [0, 9, 1]}]', '{"b": "00"}', '[{"t": [1]}]', '["1"]', "[null]"]
)
def test_an_array_is_made_of_lists_of_numbers_alone(items: str) -> None:
    pytest.importorskip("numpy")
    with pytest.raises(NotPlainError):
        load(f'{{"np": ["<i8", {items}]}}'.encode())


class _StandsFor:
    def __getattr__(self, name: str) -> object:
        if name == "area":
            return lambda: 4
        raise AttributeError(name)


@typing.runtime_checkable
class _HasArea(typing.Protocol):
    def area(self) -> int: ...


@typing.runtime_checkable
class _HasName(typing.Protocol):
    def name(self) -> str: ...


def test_a_protocol_asks_what_stands_for_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python 3.12 on it looked into its class, where nothing is."""
    hook = "_lazy_load_getattr_static"
    monkeypatch.setattr(typing, hook, getattr(typing, hook, None), raising=False)
    if getattr(typing, hook) is None:
        monkeypatch.delattr(typing, hook)
    ask_in_protocols(_StandsFor)
    assert isinstance(_StandsFor(), _HasArea)
    assert not isinstance(_StandsFor(), _HasName)
    assert not isinstance(object(), _HasArea)


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


_ONE_HASH = [number * (2**61 - 1) for number in range(101)]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (object(), "an object of type object"),
        ([object()], "an object of type object"),
        (_deep(201), "nested too deep"),
        (_deep(200), ""),
    ],
)
def test_why_a_value_does_not_travel(value: object, why: str) -> None:
    if not why:
        assert load(dump(value)) == value
        return
    with pytest.raises(NotPlainError) as refused:
        dump(value)
    assert str(refused.value) == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("NaN", "NaN is no JSON number"),
        ('{"a": 1, "b": 2}', "an object of other than one key"),
        ('{"unknown": 1}', "no such tag: 'unknown'"),
        ('{"t": 1}', "no list"),
        ('{"x": 1}', "no text"),
        ('{"b": 5}', "no text"),
        ('{"F": [1, 2, 3]}', "no fraction within the bounds"),
        ('{"F": ["1", 2]}', "no fraction within the bounds"),
        ('{"F": [1, {"x": "1' + "0" * 3500 + '"}]}', "no fraction within the bounds"),
        ('{"D": "1e10001"}', "an exponent over the bounds"),
        ('{"D": "-1e-10001"}', "an exponent over the bounds"),
        ('{"np": ["|O", [1]]}', "an array of other than numbers"),
        (json.dumps({"s": _ONE_HASH}), "keys that share a hash"),
        (json.dumps({"d": [[one, 1] for one in _ONE_HASH]}), "keys that share a hash"),
        ("[" * 401 + "]" * 401, "nested too deep"),
    ],
    ids=lambda text: text[:30],
)
def test_why_a_text_is_refused(text: str, why: str) -> None:
    with pytest.raises(NotPlainError) as refused:
        load(text.encode())
    assert str(refused.value) == f"unreadable: {why}"


def test_what_is_at_a_bound_is_read() -> None:
    assert load(json.dumps({"s": _ONE_HASH[1:]}).encode()) == {*_ONE_HASH[1:]}
    assert load(b'{"D": "1e10000"}') == Decimal("1e10000")
    assert load(b'{"D": "-1e-10000"}') == Decimal("-1e-10000")
    assert load(b'{"D": "Infinity"}') == Decimal("Infinity")
    assert load(b"[" * 400 + b"]" * 400) == _deep(400)
    assert pack(2**14_000 - 1) == 2**14_000 - 1
    assert (pack(2**14_000), pack(-(2**14_000))) == ({"x": hex(2**14_000)}, {"x": hex(-(2**14_000))})


class _Pair(typing.NamedTuple):
    a: int
    b: int


class _Shade(enum.Enum):
    DARK = 1


class _Items(list[object]):
    pass


@pytest.mark.parametrize(
    ("value", "handled", "alone", "plain"),
    [
        (_Pair(1, 2), "H", {"t": [1, 2]}, {"t": [1, 2]}),
        (_Colour.RED, "H", 1, 1),
        (_Shade.DARK, "H", None, "H"),
        (_Items([1]), [1], [1], [1]),
        (int, "H", None, "H"),
        (True, True, True, True),
    ],
)
def test_who_packs_what_is_more_than_plain(value: object, handled: object, alone: object, plain: object) -> None:
    def handle(_: object) -> str:
        return "H"

    assert pack(value, handle) == handled
    assert pack(value, handle, is_plain=True) == plain
    if alone is None:
        with pytest.raises(NotPlainError):
            pack(value)
    else:
        assert pack(value) == alone
    assert pack((value, [2]), handle, share=lambda _: "S") == {"t": ["S" if handled == [1] else handled, "S"]}
    assert pack([value], handle, owns=lambda kind: kind is _Items) == ["H" if handled == [1] else handled]


def _of_all_kinds(a: int, /, b, *c: "str", d=3, e: list[int] = None, **g) -> str:  # type: ignore[no-untyped-def, assignment] # noqa: RUF013, UP037
    return ""


def test_a_signature_comes_back_as_it_went() -> None:
    told = code_values.signature_told(inspect.unwrap(_of_all_kinds))
    assert told == [
        *(["a", 0, [], ["'int'"]], ["b", 1, [], []], ["c", 2, [], ["\"'str'\""]], ["d", 3, [3], []]),
        *(["e", 3, [None], ["'list[int]'"]], ["g", 4, [], []], ["'str'"]),
    ]
    assert str(code_values.signature(told)) == str(inspect.signature(_of_all_kinds))
    assert code_values.signature(code_values.signature_told(lambda one=1: one)) == inspect.signature(lambda one=1: one)


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (int, "int"),
        (None, "None"),
        (list[int], "list[int]"),
        (typing.Any, "typing.Any"),
        (typing.List, "typing.List"),  # noqa: UP006
        (collections.abc.Iterable, "collections.abc.Iterable"),
        (collections.abc.Callable[[int], str], "collections.abc.Callable[[int], str]"),
        (int | None, "int | None"),
        (dict[str, tuple[int, ...]], "dict[str, tuple[int, ...]]"),
        ("text", "'text'"),
    ],
)
def test_an_annotation_is_told_by_its_source(annotation: object, told: str) -> None:
    assert hint_told(annotation) == [told]
    assert hint([told]) == annotation
    assert repr(hint([told])) == repr(annotation)


@pytest.mark.parametrize("source", ["os.system", "print", "foo", "x.y", "(", "list[int]()", "Decimal", "typing.foo"])
def test_an_annotation_that_names_more_than_types_is_text(source: str) -> None:
    found = hint([source])
    assert not isinstance(found, str | type)
    assert (found == source, found == hint([source]), found == "other", hash(found)) == (
        True,
        True,
        False,
        hash(source),
    )
    assert repr(found) == repr(source)
    assert hint([source + " " * 990 + "x" * 100]) == f"{source}{' ' * 990}{'x' * 100}"[:1000]


def test_no_annotation_is_none() -> None:
    nothing = inspect.Parameter.empty
    assert (hint_told(nothing), hint([]), hint(["..."]), hint(["5"])) == ([], nothing, ..., "5")


@pytest.mark.parametrize(
    ("source", "asked", "own"),
    [
        ("x = y", "y", "x"),
        ("x = 1\nprint(x)", "print x", "x"),
        ("import a.b as c, d\ndef f(z): return z + w", "w", "c d f"),
        ("from a import b", "", "b"),
        ("def f():\n  global q\n  q = r", "r", "f q"),
        ("class A:\n  x = y\n  def g(self): return self.h + k", "y k", "A"),
        ("[i for i in j]", "j", ""),
        ("assert [f(a, b) for a, b in j] == [c]", "f j c", ""),
        ("x = {i: k for i in j for k in i}", "j", "x"),
        ("def f(): return {i: 1 for i in j}", "j", "f"),
        ("def f():\n  def g(): return h\n  return g", "h", "f"),
    ],
)
def test_the_variables_of_a_module(source: str, asked: str, own: str) -> None:
    assert code_values.globals_of(source) == ({*asked.split()}, {*own.split()})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (uuid.UUID(int=5), ["uuid", "UUID", ["00000000-0000-0000-0000-000000000005"]]),
        (re.compile("a", re.IGNORECASE), ["re", "Pattern", ["a", 34]]),
        (datetime.UTC, ["datetime", "timezone", [{"dl": [0, 0, 0]}]]),
        (ipaddress.ip_address("1.2.3.4"), ["ipaddress", "IPv4Address", ["1.2.3.4"]]),
        (ipaddress.ip_interface("::1/64"), ["ipaddress", "IPv6Interface", ["::1/64"]]),
        (5, None),
        (object(), None),
        (type("UUID", (uuid.UUID,), {"__module__": "uuid"})(int=5), None),
    ],
)
def test_values_of_the_standard_library(value: object, told: list[object] | None) -> None:
    found: Any = code_values.pack_standard(value)
    assert found == (told and {"st": told})
    assert found is None or code_values.unpack_standard(found) == value


def test_messages_come_in_order_and_whole() -> None:
    mine, theirs = socket.socketpair()
    seen: list[bytes] = []
    with mine, theirs:
        here, there = JailLine(mine.fileno()), JailLine(theirs.fileno(), seen.append)
        for message in ({"a": 1}, {"b": ["é" * 200]}):
            here.send(message)
        assert (there.receive(), there.receive()) == ({"a": 1}, {"b": ["é" * 200]})
        assert seen == [b'{"a": 1}', json.dumps({"b": ["é" * 200]}).encode()]
        said = []
        for data in (b"[1]", b"{", b"\xff", b"NaN", b'{"a": NaN}', b"[" * 10_000):
            mine.sendall(len(data).to_bytes(4, "little") + data)
            said.append(_ending(there.receive))
        assert said == ["no message"] * 6
        mine.sendall((code_values.MOST_BYTES + 1).to_bytes(4, "little"))
        assert _ending(there.receive) == "a message of 16,777,217 bytes"
        assert _ending(lambda: here.send({"a": "x" * code_values.MOST_BYTES})) == "a message of 16,777,225 bytes"
        mine.close()
        assert _ending(there.receive) == "the program ended before its tests did"
        theirs.close()
        assert _ending(there.receive) == _ending(lambda: there.send({})) == "the other side has ended"
    assert len(seen) == 2


def _ending(act: collections.abc.Callable[[], object]) -> str:
    with pytest.raises(LineEndedError) as ended:
        act()
    return str(ended.value)
