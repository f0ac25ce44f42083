"""What the program's side says of objects: the data that they show, hold, are gone through by, and have in them."""

from __future__ import annotations

import collections
import dataclasses
import json
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from agentscope_tuner.verify.code.inside import run_program, serve_program


class _Point:
    __slots__ = ("x", "y", "z")

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class _Named:
    __slots__ = "name"

    def __init__(self, name: Any) -> None:
        self.name = name


class _Box:
    def __init__(self, *held: Any) -> None:
        self.held, self.first = [*held], held[0] if held else None


class _Shown(_Box):
    def __str__(self) -> str:
        return "shown"

    def __int__(self) -> int:
        return 7

    def __float__(self) -> float:
        return 7.5


class _Sized(_Box):
    def __len__(self) -> int:
        return len(self.held)


class _Indexed(_Sized):
    def __getitem__(self, at: int) -> Any:
        return self.held[at]


class _Iterated(_Sized):
    def __iter__(self) -> Iterator[Any]:
        return iter(self.held)


class _Keyed(_Iterated):
    def keys(self) -> list[Any]:
        return self.held

    def __getitem__(self, key: Any) -> Any:
        return [key]


class _Unsaid(_Sized):
    def __getitem__(self, at: int) -> Any:
        raise KeyError(at)


class _Holding(_Box):
    def __contains__(self, one: object) -> bool:
        return one in self.held and one != 2


class _Items(list[Any]):
    pass


@pytest.mark.parametrize(
    ("one", "state"),
    [
        (3, 3),
        ("a", "a"),
        ([1, {"a": (2,)}], [1, {"a": (2,)}]),
        (_Box(1), {"held": [1], "first": 1}),
        (_Point(1, "a"), {"x": 1, "y": "a"}),
        (_Named("n"), {"name": "n"}),
        # objects within in the same way, and of anything else its class
        (_Box(_Point(1, 2)), {"held": [{"": {"x": 1, "y": 2}}], "first": {"": {"x": 1, "y": 2}}}),
        ([_Point(1, 2), 3], [{"": {"x": 1, "y": 2}}, 3]),
        ({"a": _Named(1)}, [["a", {"": {"name": 1}}]]),
        ({_Named(1)}, [{"": {"name": 1}}]),
        (_Box(len), {"held": ["builtin_function_or_method"], "first": "builtin_function_or_method"}),
        (int, "type"),
        (len, "builtin_function_or_method"),
    ],
)
def test_what_an_object_holds_by_name(one: Any, state: Any) -> None:
    assert serve_program._state(one) == state


def test_pythons_own_names_are_no_part_of_an_object_nor_what_is_too_deep() -> None:
    one: Any = _Box()
    one.__dict__ |= {"__orig_class__": 1, "_own": 2}
    assert serve_program._state(one) == {"held": [], "first": None, "_own": 2}
    chain: Any = _Named(0)
    for _ in range(6):
        chain = _Named(chain)
    found = serve_program._state(chain)
    levels = 0
    while isinstance(found, dict):
        found = found.get("", found)["name"]
        levels += 1
    assert (levels, found) == (5, "_Named")


@pytest.mark.parametrize(
    ("one", "views"),
    [
        (_Box(1, 2), [[1, 2], 1]),
        (_Shown(1), [[1], 1, "shown", 7, 7.5]),
        (_Iterated(3, 4), [[3, 4], 3, [3, 4]]),
        (_Keyed("k"), [["k"], "k", {"k": ["k"]}]),
        (_Box(len), []),
        (iter([1]), []),
        (_Items([1]), [[1]]),
    ],
)
def test_the_data_that_an_object_says_it_is(one: Any, views: list[Any]) -> None:
    assert sorted(map(repr, serve_program._views(one))) == sorted(map(repr, views))


@pytest.mark.parametrize(
    ("one", "items"),
    [
        (_Box(1), None),
        (_Sized(1), None),
        (_Indexed(1, 2), [1, 2]),
        (_Iterated(1, 2), [1, 2]),
        # keys
        (_Keyed("a", "b"), ("a", "b")),
        ({"a": 1}, ("a",)),
        (collections.deque([1]), [1]),
        (_Unsaid(1), None),
        (iter([1]), None),
    ],
)
def test_all_items_of_what_has_a_length(one: Any, items: Any) -> None:
    found = serve_program._items(one)
    assert (type(found), found) == (type(items), items)


def test_what_an_object_says_is_in_it() -> None:
    inner = _Box(5)
    assert serve_program._inside(_Holding(1, 2, 3)) == [1, 3]
    assert serve_program._inside(_Holding({"k": 4}, (5, [6]))) == []
    assert serve_program._inside(_Holding(inner, 5, _Box)) == [inner, 5, _Box]
    assert [serve_program._inside(one) for one in (_Box(1), _Iterated(1), [1], {"a": 1})] == [None] * 4

    class Both(_Holding):
        def __getitem__(self, at: int) -> Any:
            return self.held[at]

    assert serve_program._inside(Both(1)) is None


@dataclasses.dataclass
class _Data:
    kept: ClassVar[int] = 0
    a: int
    b: int = dataclasses.field(init=False, default=1)
    c: int = dataclasses.field(compare=False, default=2)


def test_the_fields_of_a_dataclass() -> None:
    assert serve_program._fields(_Data) == [["a", True, True], ["b", False, True], ["c", True, False]]
    assert serve_program._fields(_Box) == []


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((), None),
        (("",), None),
        (("KeyError", ["k"]), KeyError("k")),
        (("KeyError",), KeyError()),
        (("NoSuchError", [1]), Exception(1)),
        (("UnicodeDecodeError", ["x"]), Exception("x")),
    ],
)
def test_what_a_context_manager_is_told(given: tuple[Any, ...], error: Exception | None) -> None:
    kind, found, trace = serve_program._error(*given)
    assert (kind, repr(found), trace) == (type(error) if error else None, repr(error), None)


class _Undone:
    def __add__(self, other: Any) -> Any:
        return NotImplemented if other == 1 else _raised(TypeError("mine")) if other == 2 else other

    def __lt__(self, other: Any) -> Any:
        return NotImplemented


def _raised(exc: Exception) -> Any:
    raise exc


def test_an_operator_that_its_class_does_not_know_here() -> None:
    operators: dict[str, Callable[[Any, Any], Any]] = serve_program._OPERATORS
    one = _Undone()
    # a test may call the method by its name
    assert [operators[name](one, 1) for name in ("add", "lt", "gt")] == [NotImplemented] * 3
    assert operators["add"](one, 3) == 3
    for name, pair, why in (
        ("add", (one, 2), "mine"),
        ("add", (object(), 3), "unsupported operand"),
        ("sub", (one, 3), "unsupported operand"),
        ("iadd", (one, 1), "unsupported operand"),
        ("radd", (1, one), "unsupported operand"),
    ):
        with pytest.raises(TypeError, match=why):
            operators[name](*pair)


@pytest.mark.parametrize("name", [*serve_program._ARITHMETIC, "divmod"])
def test_arithmetic_with_the_operands_swapped_and_in_place(name: str) -> None:
    plain = divmod if name == "divmod" else getattr(operator, name)
    pairs = [(7, 2), (2, 7), (1, 3)] if name != "matmul" else []
    for one, other in pairs:
        assert serve_program._OPERATORS[name](one, other) == plain(one, other)
        assert serve_program._OPERATORS[f"r{name}"](one, other) == plain(other, one)
        if name != "divmod":
            assert serve_program._OPERATORS[f"i{name}"](one, other) == plain(one, other)


def _texts(*said: Any) -> run_program.ProgramTexts:
    def refuse(why: str) -> Callable[[], object]:
        return lambda: _raised(ValueError(why))

    texts = run_program.ProgramTexts(
        "x = 'the tests own'\nassert f() == 1, 'it says 12345678'", refuse("code"), refuse("statements")
    )
    for one in said:
        texts.keep(json.dumps(one).encode())
    return texts


@pytest.mark.parametrize(
    ("text", "is_foreign"),
    [
        ("1 + 2 + 3 + 4", True),
        ("1+2+3+4", True),
        ("2 + 3", True),
        ("PRINT('said')", True),
        ("print('said'); more", True),
        ("first, line\nother", True),
        ("the tests own", False),
        ("unsaid words", False),
        ("", False),
        # what the tests say of a failure is not theirs to run
        ("it says 12345678", False),
        (b"1 + 2 + 3 + 4", True),
        (b"unsaid words", True),
        (b"the tests own", False),
        (None, False),
    ],
)
def test_text_that_the_program_has_said(text: Any, is_foreign: bool) -> None:
    texts = _texts({"ok": ["1 + 2 + 3 + 4", {"a": "print('said')"}]}, {"out": "first, line\nsecond"})
    assert texts._is_foreign(text, _texts.__code__) is is_foreign
    # and in a later message
    texts.keep(b'["unsaid words"]')
    assert texts._is_foreign("unsaid words", _texts.__code__)


@pytest.mark.parametrize(
    ("text", "is_expression"),
    [
        *((one, True) for one in ("1", "[1, 'a', {2: (3,)}]", "1 + x * 2", "-x < 3 and not y", "1 if x else 2", "{1}")),
        *(
            (one, True)
            for one in ("abs(x)", "max(1, x)", "math.sqrt(x)", "sqrt(2)", "math.pi", "not python at all", "")
        ),
        *((one, False) for one in ("z", "f(1)", "open('a')", "x.real", "[i for i in x]", "lambda: 1", "math._x(1)")),
        *((one, False) for one in ("abs(x, key=1)", "f'{x}'", "round(x, ndigits=1)", "min(z)", "min(1)", "len(held)")),
        *((one, False) for one in ("x[0]", "(x := 1)", "len.x")),
    ],
)
def test_an_expression_that_only_computes(text: str, is_expression: bool) -> None:
    names: dict[str, object] = {"x": 5, "y": True, "sqrt": math.sqrt, "math": math, "held": [1], "f": abs, "min": 3}
    assert run_program._is_expression(text, names) is is_expression
