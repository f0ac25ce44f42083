"""What a second run of a test puts in the place of the program's answers, and which of its loops tell what they see."""

from __future__ import annotations

import ast
import builtins
import itertools
import types
from typing import Any

import pytest

from agentscope_tuner.verify.code.inside import replays
from agentscope_tuner.verify.code.inside.replays import _Pairs, _Replied


def _replied(reply: dict[str, Any], call: tuple[int, int] | None = None, to: str = "") -> _Replied:
    return _Replied((to,), reply, call, False)


@pytest.mark.parametrize(
    ("node", "items", "kind", "of_seven"),
    [
        ([1, 2], [1, 2], "", [7]),
        ("ab", ["a", "b"], "text", [7]),
        *(({tag: [1]}, [1], "", {tag: [7]}) for tag in "tszq"),
        ({"d": [["a", 1]]}, [["a", 1]], "pairs", {"d": [[7, 7]]}),
        ({"k": ["Counter", ["a", 1]]}, [["a", 1]], "pairs", {"k": ["Counter", [7, 7]]}),
        ({"b": "0a0b"}, [10, 11], "", {"b": "07"}),
        ({"y": "00"}, [0], "", {"y": "07"}),
        ({"r": [0, 6, 2]}, [0, 2, 4], "", [7]),
        ({"h": {"id": 3, "data": [1, 2]}}, [1, 2], "", {"h": {"id": 3, "data": [7]}}),
        ({"h": {"data": {"d": []}}}, [], "pairs", {"h": {"data": {"d": [[7, 7]]}}}),
        ({"makes": ["int", {"d": [["a", 1]]}]}, [["a", 1]], "pairs", {"makes": ["int", {"d": [[7, 7]]}]}),
        ({"makes": ["int", [["a", 1]]]}, [["a", 1]], "pairs", {"makes": ["int", [[7, 7]]]}),
        ({"most": [2, [1, 2]]}, [1, 2], "", {"most": [2, [7]]}),
        ({"own": [{"h": 1}, {"s": [5]}]}, [5], "", {"own": [{"h": 1}, {"s": [7]}]}),
        ({"np": ["<i8", [1, 2]]}, [1, 2], "", {"np": ["<i8", [7]]}),
    ],
)
def test_the_items_of_a_value(node: Any, items: list[Any], kind: str, of_seven: Any) -> None:
    found = replays._items(node)
    assert found is not None
    assert (found.items, found.kind, found.of([7])) == (items, kind, of_seven)


def test_text_and_bytes_of_other_items_are_lists() -> None:
    for node, like, made in (("ab", ["c", "d"], "cd"), ("ab", [], ""), ({"b": "00"}, [255, 0], {"b": "ff00"})):
        found = replays._items(node)
        assert found is not None
        assert found.of(like) == made
        assert found.of([*like, None]) == [*like, None]
    assert [replays._are_bytes([one]) for one in (0, 255, 256, -1, True, "a")] == [True, True, *[False] * 4]


@pytest.mark.parametrize(
    "node",
    [
        1,
        None,
        {"x": "0x1"},
        {"a": 1, "b": 2},
        {"h": {"id": 1}},
        {"r": ["x", 1, 1]},
        {"r": [0, 100_000, 1]},
        {"np": ["<i8", 1]},
    ],
)
def test_what_has_no_items(node: Any) -> None:
    assert replays._items(node) is None


@pytest.mark.parametrize(
    ("node", "depth", "whole"),
    [
        ([{"m": 1}, {"m": 9}], 20, [[1, {"t": [3]}], {"m": 9}]),
        ({"m": 1}, 2, [1, {"m": 2}]),
        ({"m": 1}, 0, {"m": 1}),
        ({"a": [{"m": 2}], "b": 1}, 20, {"a": [{"t": [3]}], "b": 1}),
        (5, 20, 5),
    ],
)
def test_containers_stand_where_they_are_named(node: Any, depth: int, whole: Any) -> None:
    held: dict[int, Any] = {1: [1, {"m": 2}], 2: {"t": [3]}}
    assert replays._inline(node, held.get, None, depth) == whole


def test_containers_are_named_beyond_what_is_too_much() -> None:
    held: dict[int, Any] = {1: [5]}
    node = [1, 2, {"m": 1}]
    assert [replays._inline(node, held.get, [most]) for most in (3, 4, 5)] == [node, [1, 2, [5]], [1, 2, [5]]]


def test_an_object_is_like_others_of_its_class() -> None:
    of_a_class = [{"h": {"id": one, "class": kind}} for one, kind in ((1, "A"), (22, "A"), (3, "B"))]
    assert replays._unlike([1, 1, "1", [1], *of_a_class, True]) == [1, "1", [1], *of_a_class[1:], True]


@pytest.mark.parametrize(
    ("reply", "emptied", "is_answer"),
    [
        # what the tests lend has odd numbers
        ({"ok": {"m": 1}, "held": {"1": [], "2": [], "3": [1]}}, ["1"], True),
        ({"ok": {"m": 2}, "held": {"1": [], "2": []}}, ["1"], False),
        ({"ok": {"m": 5}, "held": {"5": {"d": []}, "7": {"s": []}}}, ["5", "7"], True),
        ({"ok": [], "held": {"1": []}}, ["1"], False),
        ({"ok": {"m": 1}, "held": {"1": 5}}, [], False),
        ({"ok": {"m": 1}}, [], False),
        ({}, [], False),
    ],
)
def test_what_the_program_has_emptied(reply: dict[str, Any], emptied: list[str], is_answer: bool) -> None:
    assert replays._emptied(reply) == emptied
    assert replays._is_emptied(_replied(reply)) is is_answer


_EMPTY_BEFORE: dict[str, Any] = {"ok": []}
_EMPTY_AFTER: dict[str, Any] = {"ok": {"d": []}}
_EMPTYING: dict[str, Any] = {"ok": [], "held": {"1": [], "2": [], "3": [4]}}


@pytest.mark.parametrize(
    ("items", "which", "emptying", "after"),
    [
        (None, {}, {"ok": [], "held": {"2": [], "3": [4]}}, _EMPTY_AFTER),
        ([7], {}, {"ok": [7], "held": {"1": [7], "2": [7], "3": [4]}}, {"ok": {"d": [[7, 7]]}, "held": {}}),
        ([7], {"answers": False}, {"ok": [], "held": {"1": [7], "2": [], "3": [4]}}, _EMPTY_AFTER),
        (
            [7],
            {"emptied": False},
            {"ok": [7], "held": {"1": [], "2": [7], "3": [4]}},
            {"ok": {"d": [[7, 7]]}, "held": {}},
        ),
    ],
)
def test_what_was_emptied_and_is_empty_from_then_on_is_filled(
    items: list[Any] | None, which: dict[str, bool], emptying: dict[str, Any], after: dict[str, Any]
) -> None:
    said = [_replied(one) for one in (_EMPTY_BEFORE, _EMPTYING, {"ok": 5}, _EMPTY_AFTER)]
    found = [one.reply for one in replays._refilled(said, items, **which)]
    assert found == [_EMPTY_BEFORE, emptying, {"ok": 5}, after]


_ANY = [0, "0", [0, 0], [], {"d": []}]


@pytest.mark.parametrize(
    ("node", "grown"),
    [
        ([1, 2], [[1, 2, 2]]),
        ([], [[0], ["0"], [0, 0], [[0, 0]], [[]], [{"d": []}]]),
        ({"s": [1]}, [{"s": [1, 1]}]),
        ("a b", ["a b\nb", "a b b", "a b,b"]),
        ("a b ", ["a b \nb", "a b  b", "a b ,b"]),
        ([[1], [2]], [[[1], [2], 2], [[1], [2], [2]], [[1, 1], [2]], [[1], [2, 2]]]),
        ({"d": [["a", 1]]}, [{"d": [["a", 1], [one, 1]]} for one in _ANY]),
        ({"d": []}, [{"d": [[one, one]]} for one in _ANY]),
        ({"d": [["a", [1]]]}, [*({"d": [["a", [1]], [one, [1]]]} for one in _ANY), {"d": [["a", [1, 1]]]}]),
        (5, []),
    ],
)
def test_a_value_with_one_more_item(node: Any, grown: list[Any]) -> None:
    assert [*replays._grown(node, [])] == grown


@pytest.mark.parametrize(
    ("node", "tried", "grown"),
    [
        ([], [5, [6]], [[5], [6], [[6]]]),
        ([1], [5], []),
        ("", ["x"], ["x", ["x"]]),
        ("", [5], [[5]]),
        ({"t": []}, [{"t": [1]}], [{"t": [1]}, {"t": [{"t": [1]}]}]),
        ({"b": ""}, [65], [{"b": "41"}]),
        ([[], [3]], [4], [[[4], [3]]]),
        ([[3]], [4], []),
    ],
)
def test_what_is_empty_holds_what_is_tried(node: Any, tried: list[Any], grown: list[Any]) -> None:
    assert [*replays._grown(node, tried)] == grown


def test_parts_grow_no_deeper_than_they_are_looked_at() -> None:
    outer = [[[[1]], [1]], [[[1]], [[1]]]]
    assert [*replays._grown([[[1]]], [], 1)] == outer
    assert [*replays._grown([[[1]]], [], 2)] == [*outer, [[[1], 1]], [[[1], [1]]]]
    many = [[1]] * 25
    # the whole, and twenty of its parts
    assert len([*replays._grown(many, [])]) == 2 + 20


def test_an_iteration_ends_later() -> None:
    end = _replied({"raise": {"type": "StopIteration"}}, to="next")
    given = _replied({"ok": 3}, to="next")
    other = _replied({"ok": 4}, to="other")

    def longer(said: list[_Replied], *tried: Any) -> list[list[Any]]:
        at = len(said) - 1
        return [[one.reply.get("ok", "end") for one in found] for found in replays._longer(said, at, [*tried])]

    assert longer([given, other, end]) == [[3, 4, 3, "end"]]
    assert longer([given, end], 8) == []
    assert longer([other, end]) == [[4, one, "end"] for one in _ANY]
    assert longer([end], 8, 9) == [[8, "end"], [9, "end"]]
    later = end._replace(reply={"raise": {"type": "StopAsyncIteration"}})
    assert longer([given, later]) == [[3, 3, "end"]]
    assert longer([given, end._replace(reply={"raise": {"type": "KeyError"}})]) == []


def test_the_same_call_has_the_same_longer_answer() -> None:
    said = [_replied({"ok": [1]}, call) for call in ((1, 2), (1, 2), (1, 3), None)]
    failed = _replied({"raise": {"type": "KeyError"}}, (1, 2))
    (found,) = replays._longer([*said, failed], 0, [])
    assert [one.reply.get("ok") for one in found] == [[1, 1], [1, 1], [1], [1], None]
    (found,) = replays._longer(said, 3, [])
    assert [one.reply["ok"] for one in found] == [[1], [1], [1], [1, 1]]
    # by what it holds, where it is named by number
    named = [_replied(reply, (1, 2)) for reply in ({"ok": {"m": 2}, "held": {"2": [1]}}, {"ok": {"m": 2}})]
    (found,) = replays._longer(named, 0, [])
    assert [one.reply for one in found] == [{"ok": {"m": 2}, "held": {"2": [1, 1]}}, {"ok": [1, 1]}]


def test_values_that_a_test_may_take_for_right() -> None:
    found = [*replays._possible("assert f('a b', -3, {9: 'x,y'}) == [1, 2.5, 60]", [10, 4])]
    constants = [{9: "x,y"}, [1, 2.5, 60], "a b", -3, 9, "x,y", 1, 2.5, 60, 3]
    assert found[:67] == [*range(-2, 65)]
    assert found[67:74] == [-1.0, 1.75, 2.75, 3.5, 6.5, 9.5, 35.0]
    assert sorted(map(repr, found[74:84])) == sorted(map(repr, constants))
    assert found[84:88] == ["a", "b", "x", "y"]
    sizes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    lists = [[first + step * at for at in range(size)] for size in sizes for first in (0, 1) for step in range(4)]
    assert found[88 : 88 + len(lists)] == lists
    assert found[88 + len(lists) : 91 + len(lists)] == [True, False, None]
    framed = found[91 + len(lists) :]
    assert {*framed} == {
        f"{one}{' ' * (size - 6)}{other}" for one, other in (("a b", "x,y"), ("x,y", "a b")) for size in sizes
    }


def test_the_constants_of_a_test() -> None:
    source = "f('a', -1, [1, (2,)], {3: 4}, {5}, x, [y], 1 + 2, not z)"
    found = [*replays._constants(source)]
    assert sorted(map(repr, found)) == sorted(
        map(repr, ["a", -1, [1, (2,)], {3: 4}, {5}, 1, 1, (2,), 3, 4, 5, 2, 1, 2])
    )


@pytest.mark.parametrize(
    ("given", "rows", "sizes", "taken", "ended", "longer"),
    [
        (([1, 2], [3]), [(1, 3)], [2, 1], [2, 1], 1, [0]),
        (([1], [2, 3]), [(1, 2)], [1, 2], [1, 1], 0, [1]),
        ((iter([1]), [2, 3]), [(1, 2)], [-1, 2], [1, 1], 0, [1]),
        (([1], iter([2, 3])), [(1, 2)], [1, -1], [1, 1], 0, []),
        (([], []), [], [0, 0], [0, 0], 0, []),
        (((1, 2), "ab", range(1)), [(1, "a", 0)], [2, 2, -1], [2, 2, 1], 2, [0, 1]),
    ],
)
def test_what_a_pairing_leaves_out(
    given: tuple[Any, ...], rows: list[Any], sizes: list[int], taken: list[int], ended: int, longer: list[int]
) -> None:
    pairs = _Pairs(given)
    assert ([*pairs], pairs.sizes, pairs.taken, pairs.ended) == (rows, sizes, taken, ended)
    assert pairs.longer == {at: given[at] for at in longer}


def test_a_side_that_is_longer_than_before() -> None:
    before, now = _Pairs(([1], iter([2]))), _Pairs(([1, 2], iter([2, 3])))
    assert ([*before], [*now]) == ([(1, 2)], [(1, 2), (2, 3)])
    assert [now.grown(before, at) for at in (0, 1)] == [True, True]
    assert [one.grown(other, at) for one, other in ((before, now), (now, now)) for at in (0, 1)] == [False] * 4


@pytest.mark.parametrize(
    ("source", "watched"),
    [
        ("for x in f():\n    assert x", "for x in _(f()):\n    assert x"),
        ("for x in f():\n    print(x)", "for x in f():\n    print(x)"),
        ("for x in f():\n    self.assertEqual(x, 1)", "for x in _(f()):\n    self.assertEqual(x, 1)"),
        (
            "for x in f():\n    for y in x:\n        assert y",
            "for x in _(f()):\n    for y in _(x):\n        assert y",
        ),
        ("assert all((x for x in f()))", "assert all((x for x in _(f())))"),
        ("assert [x for y in f() for x in y if x]", "assert [x for y in _(f()) for x in _(y) if x]"),
        ("self.assertTrue(all([x for x in f()]))", "self.assertTrue(all([x for x in _(f())]))"),
        ("x = [y for y in f()]", "x = [y for y in f()]"),
        ("assert all([y async for y in f()])", "assert all([y async for y in f()])"),
        ("assert set(a) <= set(b)", "assert set(_(a)) <= set(b)"),
        ("assert set(a) >= set(b)", "assert set(a) >= set(b)"),
        ("assert set(a) < set(b)", "assert set(a) < set(b)"),
        ("assert a <= set(b)", "assert a <= set(b)"),
        # by a function that asserts something, or calls one that does
        (
            "def one(x):\n    assert x\nfor x in f():\n    one(x)",
            "def one(x):\n    assert x\nfor x in _(f()):\n    one(x)",
        ),
        (
            "def two(x):\n    one(x)\n\ndef one(x):\n    assert x\nfor x in f():\n    two(x)",
            "def two(x):\n    one(x)\n\ndef one(x):\n    assert x\nfor x in _(f()):\n    two(x)",
        ),
    ],
)
def test_loops_that_assert_something_tell_what_they_go_over(
    monkeypatch: pytest.MonkeyPatch, source: str, watched: str
) -> None:
    assert ast.unparse(replays.watched(ast.parse(source))) == source
    monkeypatch.setattr(builtins, replays._EACH, lambda _, items: items, raising=False)
    monkeypatch.setattr(replays, "_numbers", itertools.count(5).__next__)
    numbered = watched.replace("_(", f"{replays._EACH}(5, ", 1).replace(" _(", f" {replays._EACH}(6, ")
    assert ast.unparse(replays.watched(ast.parse(source))) == numbered


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> tuple[replays.Replays, list[dict[str, Any]], list[dict[str, Any]]]:
    """What records a program, the messages that it will reply, and those that this side has read in a replay."""
    for name in ("zip", "map", replays._EACH):
        monkeypatch.setattr(builtins, name, getattr(builtins, name, None), raising=False)
    replies, read = list[dict[str, Any]](), list[dict[str, Any]]()
    talk = types.SimpleNamespace(send=lambda *_: None, receive_any=lambda: replies.pop(0))
    shared = types.SimpleNamespace(outgoing=dict, incoming=read.append, alive=dict)
    return replays.Replays(types.SimpleNamespace(_shared=shared, _talk=talk, ask=None), "", set), replies, read


_ASKED = {"do": "module", "name": "f"}


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ([_ASKED], [{"ok": 1}]),
        # an event loop may ask for a turn at any time
        ([{"do": "turn"}, _ASKED, {"do": "turn"}], [{"ok": None}, {"ok": 1}, {"ok": None}]),
        ([{"do": "module", "name": "g"}], None),
        ([_ASKED, _ASKED], None),
    ],
)
def test_a_replay_gives_what_was_recorded_for_the_same_request(
    recorder: tuple[replays.Replays, list[dict[str, Any]], list[dict[str, Any]]], asked: list[Any], given: object
) -> None:
    recording, replies, read = recorder
    recording.begin()
    for message, reply in ((_ASKED, {"ok": 1}), ({"do": "turn"}, {"ok": None})):
        replies.append(reply)
        recording._sent(message)
        assert recording._received() == reply
    said = recording._said
    assert said is not None
    assert ([one.reply for one in said], read) == ([{"ok": 1}], [])
    recording._script = iter(said)
    found = []
    try:
        for message in asked:
            recording._sent(message)
            found.append(recording._received())
    except replays._DivergedError:
        assert given is None
    else:
        assert found == given == read
