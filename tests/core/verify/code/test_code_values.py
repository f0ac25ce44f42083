"""Values travel between jails with their types, and nothing else is taken for one."""

from __future__ import annotations

import collections
import datetime
import enum
import json
import typing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from agentscope_tuner.verify.code.inside.code_values import NotPlainError, ask_in_protocols, dump, load


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
