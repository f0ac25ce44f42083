"""Runs tests that have passed again, with changed answers of the program, to find those that passed by checking
nothing.

Used in the jail of tests that carry code, when all of them have run: `Replays.refused` names the tests that do not
count, and says why.

A test sees one answer at a time. So a program could give two answers to one call, each of which meets one of two
bounds; or an answer with so few items that `zip` ends before any of them is compared with another. A single run of the
test cannot show that. But the test can be run again without the program, with its recorded messages in place of it.
There every answer is JSON, in which whatever can be iterated has its items: a list, a range, bytes, the data of a class
that is built on a list, a list that the test has lent. What the program prints, or calls, is repeated as well. A test
is run again in four cases:

- The same call got several answers. They are all replaced by one and the same. If no answer of the program makes the
  test pass, and one that it did not give does, its answers contradict each other. A test that wants several answers, as
  of a counter, passes with none; and one of random answers passes with any order of them.
- An answer is empty, and a loop over it that asserts something has mostly not begun. The answer gets items. If the test
  passes, it has not checked what it was written for.
- `zip` or `map` has left items out. An answer gets one more item. If the side that ended grows by it, and the longer
  side does not, then the answer was to be compared with the longer side.
- The program has emptied a list that a test has lent it, and an answer is empty. Both get items. If the test passes
  only as long as both hold the same, whatever that is, it compares the answer with the list that the program has
  emptied.

A test that does not pass with the very answers that it got is left alone: it depends on more than these. If the
messages were too many to keep, a test fails if nothing of an answer was checked.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import itertools
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

from agentscope_tuner.verify.code.inside.code_values import pack
from agentscope_tuner.verify.code.inside.stand_ins import is_of_tests

CONTRADICTING = "the program's answers to one call contradict each other"
TOO_FEW = "the program's answer has fewer items than it is compared with"
EMPTY = "the program's answer is empty, and the test looks at each item of it"
EMPTIED = "the program has emptied what the test compares its answer with"
# Requests that only ask what a name means; None is for an answer to the program
_NAMING = {"module", "method", "names", "attr", "states", None}
# Requests that read an object and say something of it
_READING = {
    *("len", "str", "repr", "int", "float", "complex", "index", "bool", "abs", "round", "floor", "ceil", "trunc"),
    *("getitem", "contains", "items", "content", "bytes", "format", "hash"),
}
# The keys of such a request if the tests have changed nothing since the last one; and the seconds in which hardly
# anything changes by itself
_OF_READING, _MOMENT = {"do", "h", "name", "op", "args", "loop"}, 0.01
# Characters of messages that are kept of one test, and of all tests
_MOST_KEPT, _MOST_OF_ALL = 1_000_000, 16_000_000
# Answers and items that are tried; parts of an answer that are changed; parts of JSON that are read; CPU seconds in all
_MOST_TRIED, _MOST_PARTS, _MOST_INLINE, _SECONDS = 600, 20, 100_000, 1.0
# Items for a list that was emptied: numbers, and texts without capital letters. A test that passes with this many of
# them does not ask for a certain one
_TRIED_ALONE, _SEVERAL = (7, 8, 9, "0", "1", "2"), 3
# Items that no list has which is sorted, or which has no item twice
_UNLIKE_SORTED = ([9, 7, 8], [7, 7])
_SIZED = (list, tuple, str)
_DEPTH = 20


class _DivergedError(BaseException):
    """A test that is run again asks for what it did not ask for at first, or takes too long."""


class _Replied(NamedTuple):
    """A message of the program, as it was recorded.

    Attributes:
        to: the question, or the answer of the tests, to which the program replied.
        reply: the message.
        call: two hashes: of how the tests have come to the called object, and of that with the arguments. None if it
            replies to no call, or to a call of an object of unknown origin.
        is_of_empty: whether the question had nothing but empty things in it, such as an empty list: then the reply may
            be empty as well.
        read: what was read, of which object, and when: the same as in the message before if nothing happened meanwhile.
    """

    to: tuple[object, ...]
    reply: dict[str, Any]
    call: tuple[int, int] | None
    is_of_empty: bool
    read: tuple[object, ...] = ()

    def telling(self, **told: Any) -> _Replied:
        """The same message with these keys of the reply replaced."""
        return self._replace(reply=self.reply | told)


class _Pairs:
    """One call of `zip` or `map` by a test: counts the items that it has taken of each side."""

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.sizes = [len(one) if type(one) in _SIZED else -1 for one in given]
        self.taken = [0] * len(given)
        self._given, self._items = given, [*map(iter, given)]
        # the side that ended first, and the sides that are longer
        self.ended, self.longer = -1, dict[int, Any]()

    def __iter__(self) -> _Pairs:
        return self

    def __next__(self) -> tuple[Any, ...]:
        row: list[Any] = []
        for at, one in enumerate(self._items):
            try:
                row.append(next(one))
            except StopIteration:
                self.ended = at
                self.longer = {
                    other: one for other, one in enumerate(self._given) if self.sizes[other] > self.taken[at]
                }
                raise
            self.taken[at] += 1
        return tuple(row)

    def grown(self, before: _Pairs, at: int) -> bool:
        """Whether a side is longer than it was in the earlier run `before`."""
        is_sized = min(self.sizes[at], before.sizes[at]) >= 0
        return self.sizes[at] > before.sizes[at] if is_sized else self.taken[at] > before.taken[at]


class _Run(NamedTuple):
    """A test that has passed, as it can be run again.

    Attributes:
        rerun: runs it again; raises if it fails.
        said: the program's messages; None if there were too many to keep.
        before: the state of this side as the test began.
        is_uneven: whether a `zip` or `map` of it has left items out.
        loops: the loops that it has reached, by number, and whether they have begun.
    """

    name: str
    rerun: Callable[[], object]
    said: list[_Replied] | None
    before: list[dict[str, Any]]
    is_uneven: bool
    loops: dict[int, bool]


class Replays:
    """Records what the program replies during each test, and runs tests that have passed again, with changed replies.

    So it finds tests that passed because the program left something out, such as an empty answer over which a loop has
    checked nothing. The module lists the cases.

    Args:
        program: the `Program`, whose messages are recorded.
        source: the tests and their set-up.
        bounds: starts to collect the numbers with which tests compare sizes, and gives the set that they are added to.
    """

    def __init__(self, program: Any, source: str, bounds: Callable[[], set[float]]) -> None:
        self._program, self._source, self._bounds = program, source, bounds
        self._shared, self._ask = program._shared, program.ask
        self._send, self._receive = program._talk.send, program._talk.receive_any
        self._runs: list[_Run] = []
        self._said: list[_Replied] | None = None
        self._before: list[dict[str, Any]] = []
        self._script: Iterator[_Replied] | None = None
        self._pairs: list[_Pairs] | None = None
        # the loops that a test has reached, and whether they have begun; and by loop, in how many more tests it has not
        # begun than it has
        self._loops, self._idle = dict[int, bool](), Counter[int]()
        self._end, self._kept, self._all = 0.0, 0, 0
        # what the program is given in a replay
        self._given: list[object] = []
        # what was asked last; and by the number of an object, how the tests came to it, and whether from empty things
        self._asking: tuple[Any, ...] = ((None,), None, False, 0, ())
        self._known, self._has_threads = dict[Any, tuple[int, bool]](), False
        # how often something has happened beside what was read, and when the program was last heard
        self._moment, self._heard, tell = 0, 0.0, self._shared.outgoing

        def outgoing() -> Any:
            self._moment += "held" in (told := tell())
            return told

        vars(self._shared)["outgoing"] = outgoing
        program.ask, program._talk.send, program._talk.receive_any = self._asked, self._sent, self._received
        for kind, least in ((zip, 2), (map, 3)):
            setattr(builtins, kind.__name__, self._pairing(kind, least))
        setattr(builtins, _EACH, self._each)

    def _each(self, loop: int, items: Iterable[Any]) -> Iterator[Any]:
        """The items that a watched loop of the tests iterates over; notes whether there are any."""
        self._loops.setdefault(loop, False)
        for one in items:
            self._loops[loop] = True
            yield one

    def _pairing(self, plain: Any, least: int) -> type:
        """A replacement for `zip` or `map` that counts, in calls by the tests themselves, which items are left out.

        Args:
            plain: the built-in class.
            least: the number of arguments from which on there are two sides.
        """

        class Watched(type):
            def __instancecheck__(cls, one: object) -> bool:
                return isinstance(one, (plain, _Pairs, itertools.starmap))

            def __call__(cls, *given: Any, **named: Any) -> Any:
                is_watched = len(given) >= least and not named and self._pairs is not None
                if not is_watched or not is_of_tests(sys._getframe(1).f_code):
                    return plain(*given, **named)
                sides = given[least - 2 :]  # without the function
                self._pairs.append(pairs := _Pairs(sides))  # type: ignore[union-attr]
                return pairs if least == 2 else itertools.starmap(given[0], pairs)

        return Watched(plain.__name__, (), {"__module__": "builtins"})

    def _asked(self, request: dict[str, Any], arguments: Any = (), named: Any = None) -> Any:
        """Replaces `Program.ask`: in a replay, notes what the program is given."""
        if self._script is not None:
            self._given += [*arguments, *(named or {}).values()]
        return self._ask(request, arguments, named)

    def _sent(self, message: dict[str, Any], name: str | None = None) -> None:
        """Replaces `Conversations.send`: notes what is asked; in a replay, sends nothing."""
        to = (*(message.get(key) for key in ("do", "h", "name", "op", "makes")),)
        if self._script is not None:
            self._shared.outgoing()
            self._asking = (to, None, False, 0, ())
            return
        self._has_threads |= to[0] == "threads"
        self._send(message, name)
        self._moment += to[0] == "turn" or time.monotonic() - self._heard > _MOMENT
        is_read = message.keys() <= _OF_READING and (to[0] == "attr" or to[3] in _READING)
        read = (self._moment, to, json.dumps(message.get("args"))) if is_read else ()
        call, (origin, is_of_empty) = None, self._known.get(message.get("h"), (0, False))
        if to[0] == "call":
            given = _inline([*message["args"], *message["named"].values()], self._shared.told)
            call = (origin, hash((origin, json.dumps([given, [*message["named"]]])))) if origin else None
            origin = call[1] if call else 0
            # whether all containers and texts in it are empty; without arguments, what holds for the called object
            is_of_empty = not any([one.items for one in map(_items, given) if one] or given or [not is_of_empty])
        elif origin or to[0] in ("module", "method"):
            origin = hash((origin, to[0], to[2]))
        self._asking = (to, call, is_of_empty, origin, read)

    def _received(self) -> dict[str, Any]:
        """Replaces `Conversations.receive_any`: records the reply; in a replay, gives the recorded one."""
        to, call, is_of_empty, origin, read = self._asking
        if self._script is not None:
            # when the event loop asks for a turn depends on time, so such a request may come in any place
            one = _Replied(to, {"ok": None}, None, False) if to[0] == "turn" else next(self._script, None)
            if one is None or one.to != to:
                raise _DivergedError
            self._shared.incoming(one.reply)
            return one.reply
        reply: dict[str, Any] = self._receive()
        self._heard = time.monotonic()
        if isinstance(told := reply.get("ok"), dict) and isinstance(told.get("h"), dict):
            self._known[told["h"]["id"]] = (origin, is_of_empty)
        # read once: another thread may have ended the record, since it became too long
        if (said := self._said) is not None and to[0] != "turn":
            self._kept += len(json.dumps(reply))
            said.append(_Replied(to, reply, call, is_of_empty, read))
            self._said = said if self._kept <= _MOST_KEPT else None
        return reply

    def begin(self) -> None:
        """Start to record, since a test begins."""
        self._said, self._pairs, self._kept, self._loops = [], [], 0, {}
        self._before = [_copied(vars(self._program)), _copied(vars(self._shared)) | self._shared.alive()]

    def end(self, name: str, rerun: Callable[[], object] | None) -> None:
        """End the record of a test. If it has passed, it is kept for a replay.

        Args:
            name: of the test.
            rerun: runs the test again, and raises if it fails; None if it has not passed.
        """
        said, pairs = self._said, self._pairs
        self._said = self._pairs = None
        self._idle.update({loop: -1 if begun else 1 for loop, begun in self._loops.items()})
        self._all += self._kept
        said = said if self._all <= _MOST_OF_ALL else None
        if rerun and self._kept and not self._has_threads:
            is_uneven = any(one.longer and (said or not one.taken[one.ended]) for one in pairs or [])
            self._runs.append(_Run(name, rerun, said, self._before, is_uneven, self._loops))

    def refused(self) -> dict[str, str]:
        """The tests that passed and yet do not count, by name, and why: the answer was empty, say, so that the loop
        over it has checked nothing.

        Called once, when all tests have ended: it runs tests again on recorded replies, and from then on the program
        is not asked any more.
        """
        found = {}
        # with a script, however empty, the program is not asked any more
        self._script, self._end = iter(()), time.process_time() + _SECONDS
        for run in sorted(self._runs, key=lambda run: len(run.said or ())):
            loops = {loop for loop, begun in run.loops.items() if not begun and self._idle[loop] > 0}
            if run.is_uneven and self._lacks(run):
                found[run.name] = TOO_FEW
            elif loops and self._skips_its_loops(run, loops):
                found[run.name] = EMPTY
        self._end = min(self._end, time.process_time() + _SECONDS / 2)
        for places in self._differing():
            if self._contradict(places):
                found |= {self._runs[at].name: CONTRADICTING for at, _ in places}
        return found | {run.name: EMPTIED for run in self._runs if run.name not in found and self._is_hollow(run)}

    def _passes(self, run: _Run, said: Iterable[_Replied]) -> bool:
        """Whether the test passes, within its share of the time, if the program says this."""
        end = min(self._end, time.process_time() + _SECONDS / 4)

        def trace(frame: FrameType, *_: object) -> Any:
            # checked in whatever the tests call, too, such as `difflib`
            if time.process_time() > end:
                raise _DivergedError
            return trace if is_of_tests(frame.f_code) else None

        self._script, self._pairs, self._given, self._loops = iter([*said]), [], [], {}
        sides = [vars(self._program), vars(self._shared)]
        now = [{**side} for side in sides]
        before = sys.gettrace()
        try:
            for side, begun in zip(sides, run.before, strict=True):
                side |= _copied(begun)
            sys.settrace(trace)
            run.rerun()
        except BaseException:  # noqa: BLE001 - whatever a test ends with
            return False
        finally:
            sys.settrace(before)
            self._script = iter(())
            for side, own in zip(sides, now, strict=True):
                side |= own
        return True

    def _lacks(self, run: _Run) -> bool:
        """Whether an answer has ended a `zip` or `map` before all that it was to be compared with."""
        if run.said is None or not self._passes(run, run.said):
            return run.said is None
        given, first = self._given, [*(self._pairs or [])]
        # the sides that a longer answer makes longer, as the number of the `zip` and of the side
        grown: set[tuple[int, int]] = set()
        for at in range(len(run.said)):
            for said in _longer(run.said, at, []):
                if time.process_time() > self._end:
                    return False
                self._passes(run, said)
                for place, (before, now) in enumerate(zip(first, self._pairs or [], strict=False)):
                    grown |= {(place, side) for side in range(len(now.sizes)) if now.grown(before, side)}
        return any(
            (place, pairs.ended) in grown and (place, side) not in grown and not any(one is part for part in given)
            for place, pairs in enumerate(first)
            for side, one in pairs.longer.items()
        )

    def _skips_its_loops(self, run: _Run, loops: set[int]) -> bool:
        """Whether a test, of which these `loops` have not begun, passes if an answer has items and one of the loops
        begins. So its empty answer was not checked. True as well if its messages were too many to keep.
        """
        if run.said is None or not self._passes(run, run.said):
            return run.said is None
        tried = _unlike(map(pack, _possible(self._source, ())))[: _MOST_TRIED // 3]
        return any(
            self._passes(run, said) and any(map(self._loops.get, loops))
            for at, one in enumerate(run.said)
            if not one.is_of_empty
            for said in _longer(run.said, at, tried)
            if time.process_time() < self._end
        )

    def _is_hollow(self, run: _Run) -> bool:
        """Whether a test only compares an answer with a list that the program has emptied: it passes whatever the two
        hold, as long as they hold the same.
        """
        said, began = run.said or [], time.monotonic()
        if not any(_emptied(one.reply) for one in said):
            return False
        # a test that waits would wait in each replay
        if not self._passes(run, said) or time.monotonic() - began > _SECONDS / 10:
            return False
        item = _TRIED_ALONE[0]
        if any(_is_emptied(one) for one in said):
            # both are one list: a test that passes with any items asks only for what is not in the list
            alone = [_refilled(said, None)]
            is_any = all(self._passes(run, _refilled(said, items)) for items in _UNLIKE_SORTED)
        else:
            # if one of them may change alone, it is compared with something else
            alone = [
                _refilled(said, None),
                _refilled(said, [item], answers=False),
                _refilled(said, [item], emptied=False),
            ]
            is_any = False
        if is_any or any(self._passes(run, other) for other in alone):
            return False
        return sum(self._passes(run, _refilled(said, [one])) for one in _TRIED_ALONE) >= _SEVERAL

    def _differing(self) -> Iterator[list[tuple[int, int]]]:
        """For each call or reading of an object that got several answers, with no other call in between by which a
        state may have changed: the positions of the answers, each as the number of the run and of the message in it.
        """
        groups: dict[object, list[tuple[int, int]]] = {}
        stretch, current = 0, None
        # messages that read something else, and what the last has read
        others, last = 0, ()  # type: tuple[int, tuple[object, ...]]
        for at, run in enumerate(self._runs):
            for place, one in enumerate(run.said or ()):
                # before its length, an object is asked for its items, and may have none
                if one.to[3:4] != ("items",) or one.reply.get("ok") is not None:
                    others, last = others + (one.read != last), one.read
                if one.read and "ok" in one.reply:
                    groups.setdefault((others, "read"), []).append((at, place))
                # a new object is no answer, unless it is plain data
                if one.to[0] in _NAMING or (one.to[-1] and _is_object(one.reply.get("ok"))):
                    continue
                called = one.call[0] if one.call else None
                stretch, current = stretch + (called is None or called != current), called
                if one.call and "ok" in one.reply:
                    groups.setdefault((stretch, one.call), []).append((at, place))
        yield from (places for places in groups.values() if len(places) > 1)

    def _contradict(self, places: list[tuple[int, int]]) -> bool:
        """Whether these answers to one call contradict each other: one answer to all of them would pass, none of those
        that the program gave does, and their order matters.
        """
        given = [_value((self._runs[at].said or [])[place]) for at, place in places]

        def passes(values: Sequence[Any]) -> bool:
            if time.process_time() > self._end:
                return False
            runs = {at: [*(self._runs[at].said or ())] for at, _ in places}
            for (at, place), value in zip(places, values, strict=True):
                runs[at][place] = runs[at][place].telling(ok=value)
            return all(self._passes(self._runs[at], said) for at, said in runs.items())

        bounds = self._bounds()
        if (
            len(_unlike(given)) < 2
            or not passes(given)
            or any(passes([one] * len(given)) for one in _unlike(given)[:20])
        ):
            return False
        if all(passes(given[by:] + given[:by]) for by in range(1, min(len(given), 9))) and passes(given[::-1]):
            return False
        tried = _unlike(map(pack, _possible(self._source, bounds)))[:_MOST_TRIED]
        # `float` takes no int for an answer
        is_float = {*map(type, given)} == {float}
        tried = [float(one) if is_float and type(one) is int else one for one in tried]
        return any(passes([one] * len(given)) for one in tried)


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """A copy of an object's variables, with copies of its own lists, sets and dictionaries."""
    return {name: copy.copy(part) if type(part) in (dict, list, set) else part for name, part in state.items()}


def _unlike(values: Iterable[Any]) -> list[Any]:
    """The values without repetitions, as JSON. Objects of one class count as the same, whatever their numbers."""
    return [*{re.sub(r'"id": \d+', "", json.dumps(value)): value for value in values}.values()]


def _inline(node: Any, held: Callable[[int], Any], left: list[int] | None = None, depth: int = _DEPTH) -> Any:
    """JSON with the contents of containers in place of their numbers: `[1]` for `{"m": 3}`. Stops where it becomes too
    much.

    Args:
        held: gives the contents of the container with a number, or None.
        left: how many parts may still be read, alone in a list.
        depth: of nesting that is still read.
    """
    left = left or [_MOST_INLINE]
    left[0] -= 1
    if type(node) not in (list, dict) or depth == 0 or left[0] < 0:
        return node
    if type(node) is list:
        return [_inline(part, held, left, depth - 1) for part in node]
    if "m" in node and (content := held(node["m"])) is not None:
        return _inline(content, held, left, depth - 1)
    return {key: _inline(part, held, left, depth - 1) for key, part in node.items()}


def _value(said: _Replied) -> Any:
    """The answer in a reply, as JSON, with the contents of containers in place of their numbers."""
    held = said.reply.get("held", {})
    return _inline(said.reply["ok"], lambda number: held.get(str(number)))


def _is_object(told: Any) -> bool:
    """Whether JSON names an object of the program that holds no plain data itself."""
    return isinstance(told, dict) and isinstance(told.get("h"), dict) and "data" not in told["h"]


class _Items(NamedTuple):
    """The items of a value that is JSON, and how to make the same kind of value from other items.

    Attributes:
        items: what the value is iterated for.
        made_of: makes JSON of the same kind from such items.
        kind: `text`, `pairs` (the items of a dictionary), or empty for any other.
    """

    items: list[Any]
    made_of: Callable[[list[Any]], Any]
    kind: str = ""

    def of(self, items: list[Any]) -> Any:
        """The same kind of value with these items; in a dictionary, each is the key and the value."""
        return self.made_of([[one, one] for one in items] if self.kind == "pairs" else items)


def _items(node: Any) -> _Items | None:
    """The items of a value that is JSON; None if it has none. `[1, 2]` for the tuple `{"t": [1, 2]}`."""
    if type(node) is list:
        return _Items(node, list)
    if type(node) is str:
        return _Items([*node], lambda items: "".join(items) if {*map(type, items)} <= {str} else items, "text")
    if type(node) is not dict or len(node) != 1 or _is_object(node):
        return None
    ((tag, told),) = node.items()
    if tag in ("t", "s", "z", "q", "d"):
        return _Items(told, lambda items: {tag: items}, "pairs" if tag == "d" else "")
    if tag == "k":
        return _Items(told[1:], lambda items: {tag: [told[0], *items]}, "pairs")
    if tag in ("b", "y"):
        return _Items([*bytes.fromhex(told)], lambda items: {tag: bytes(items).hex()} if _are_bytes(items) else items)
    if tag == "r" and all(type(part) is int and abs(part) < _MOST_INLINE for part in told):
        return _Items([*range(*told)], list)
    inner: Any = None
    if tag == "h" and isinstance(told, dict) and (inner := _items(told["data"])):
        return _Items(inner.items, lambda items: {tag: told | {"data": inner.made_of(items)}}, inner.kind)
    if tag in ("makes", "most", "own", "np") and (inner := _items(told[1])):
        kind = "pairs" if tag == "makes" else inner.kind
        return _Items(inner.items, lambda items: {tag: [told[0], inner.made_of(items)]}, kind)
    return None


def _emptied(reply: dict[str, Any]) -> list[str]:
    """The numbers of the containers that the tests have lent, and the program has emptied, as the reply says. (The
    tests' side gives odd numbers.)
    """
    held = {key: _items(told) for key, told in reply.get("held", {}).items() if int(key) % 2}
    return [key for key, found in held.items() if found and not found.items]


def _is_emptied(one: _Replied) -> bool:
    """Whether the program answers with a container that it has emptied."""
    answer = one.reply.get("ok")
    return isinstance(answer, dict) and str(answer.get("m")) in _emptied(one.reply)


def _refilled(
    said: list[_Replied], items: list[Any] | None, *, emptied: bool = True, answers: bool = True
) -> Iterator[_Replied]:
    """The messages, with `items` in what the program has emptied, and in what is empty from then on; if `items` is
    None, what was emptied keeps what it held.

    Args:
        emptied: whether the emptied containers get the items.
        answers: whether other empty values get them.
    """
    has_emptied = False
    for one in said:
        held = one.reply.get("held", {})
        has_emptied |= bool(own := _emptied(one.reply))
        if items is None:
            yield one.telling(held={key: told for key, told in held.items() if key not in own}) if own else one
            continue
        told = {"ok": one.reply.get("ok"), **held} if has_emptied else {}
        empty = {key: found for key, part in told.items() if (found := _items(part)) and not found.items}
        filled = {key: found.of(items) for key, found in empty.items() if (emptied if key in own else answers)}
        answer = {"ok": filled.pop("ok")} if "ok" in filled else {}
        yield one.telling(held=held | filled, **answer) if filled or answer else one


def _are_bytes(items: list[Any]) -> bool:
    return all(type(one) is int and 0 <= one < 256 for one in items)


# Items of several kinds, one of which a test may accept
_ANY: list[Any] = [0, "0", [0, 0], [], {"d": []}]


def _grown(node: Any, tried: list[Any], depth: int = _DEPTH) -> Iterator[Any]:
    """Versions of a value that is JSON, in each of which one part has one more item: `[1, 1]` for `[1]`, for example.

    Args:
        tried: items to add to what is empty; if there are any, nothing else grows.
        depth: of nesting that is still read.
    """
    if (found := _items(node)) is None or depth == 0:
        return
    items, kind = found.items, found.kind
    if kind == "text" and items and not tried:
        last = re.split(r"\s", "".join(items).rstrip())[-1]
        yield from (found.made_of([*items, mark, last]) for mark in "\n ,")
    elif not (tried and items):
        for one in tried or (items[-1:] if not kind else []) or _ANY:
            if (like := _items(one)) and like.items and like.kind == kind:
                yield found.made_of([*items, *like.items])
            more = [one, items[-1][1] if items else one] if kind == "pairs" else one
            yield [one] if kind == "text" else found.made_of([*items, more])
    for at, part in enumerate(items[:_MOST_PARTS] if kind != "text" else []):
        for new in _grown(part[1] if kind == "pairs" else part, tried, depth - 1):
            yield found.made_of([*items[:at], [part[0], new] if kind == "pairs" else new, *items[at + 1 :]])


def _longer(said: list[_Replied], at: int, tried: list[Any]) -> Iterator[list[_Replied]]:
    """Versions of the messages, in each of which one answer has more items, or an iteration ends later. All answers to
    the same call are changed alike.

    Args:
        at: the number of the message with that answer.
        tried: items to add to an answer that is empty; if there are any, nothing else changes.
    """
    one, reply = said[at], said[at].reply
    if reply.get("raise", {}).get("type") in ("StopIteration", "StopAsyncIteration"):
        before = [_value(other) for other in said[:at] if other.to == one.to and "ok" in other.reply]
        for more in [] if tried and before else tried or before[-1:] or _ANY:
            yield [*said[:at], one._replace(reply={"ok": more}), *said[at:]]
    held, call = reply.get("held", {}), one.call if "ok" in reply else None
    like = [place for place, other in enumerate(said) if call and other.call == call and "ok" in other.reply]
    for key, part in {"ok": reply.get("ok"), **held}.items():
        for new in _grown(part, tried):
            changed = [*said]
            changed[at] = one.telling(**{"ok": new} if key == "ok" else {"held": held | {key: new}})
            for place in like:
                changed[place] = said[place].telling(ok=_value(changed[at])) if place != at else changed[at]
            yield changed


# The name by which the tests' code calls `Replays._each`
_EACH = "_items_of_"


def watched(tree: ast.Module) -> ast.Module:
    """The tests' tree with watched loops: what a loop that asserts something iterates over is passed through `Replays`,
    which notes whether the loop began.

    Used whenever tests are compiled; the tree stays as it is if there is no `Replays`.
    """
    if not hasattr(builtins, _EACH):
        return tree
    nodes = [*ast.walk(tree)]
    # a function that calls one which asserts something asserts something, too
    asserting = set[str]()
    for one in [node for node in nodes if isinstance(node, ast.FunctionDef)] * 2:
        asserting |= {one.name} if any(_asserts(node, asserting) for node in ast.walk(one)) else set()
    told: list[tuple[Any, Any]] = []
    for node in nodes:
        parts = [*ast.walk(node)]
        if isinstance(node, ast.For):
            told += [(vars(node), "iter")] if any(_asserts(part, asserting) for part in parts) else []
        elif _asserts(node, asserting):
            loops = [part for part in parts if isinstance(part, ast.comprehension) and not part.is_async]
            told += [(vars(part), "iter") for part in loops]
            subsets = [part.left for part in parts if isinstance(part, ast.Compare) and type(part.ops[0]) is ast.LtE]
            told += [(one.args, 0) for one in subsets if isinstance(one, ast.Call) and ast.unparse(one.func) == "set"]
    for holder, at in {(id(holder), at): (holder, at) for holder, at in told}.values():
        call = ast.Call(ast.Name(_EACH, ast.Load()), [ast.Constant(_numbers()), holder[at]], [])
        holder[at] = ast.copy_location(call, holder[at])
    return ast.fix_missing_locations(tree)


_numbers = itertools.count().__next__


def _asserts(node: ast.AST, asserting: set[str]) -> bool:
    """Whether a node asserts something, also by calling one of the functions `asserting`."""
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Assert) or name.startswith("assert") or name in asserting


def _possible(source: str, bounds: Iterable[float]) -> Iterator[Any]:
    """Values that a test may take for right: small numbers, its own constants, numbers between two of these, and plain
    lists.

    Args:
        source: the tests.
        bounds: more numbers, with which they compare sizes.
    """
    constants = [*_constants(source)]
    numbers = sorted({one for one in (*constants, *bounds) if type(one) in (int, float) and abs(one) < 1e300})
    yield from range(-2, 65)
    yield from ((one + other) / 2 for one, other in itertools.pairwise(numbers))
    yield from constants
    texts = [*dict.fromkeys(one for one in constants if isinstance(one, str))]
    yield from (part for one in texts for part in re.split(r"[\s,;]+", one))
    sizes = sorted({*range(9), *(one for one in numbers if type(one) is int and 0 < one <= 50)})
    yield from ([first + step * at for at in range(size)] for size in sizes for first in (0, 1) for step in range(4))
    yield from (True, False, None)
    # texts of several lengths that begin and end with texts of the test
    for first, last in itertools.permutations(texts[:_MOST_PARTS], 2):
        yield from {f"{first}{' ' * (size - len(first) - len(last))}{last}" for size in sizes}


def _constants(source: str) -> Iterator[Any]:
    """The values of all constants in the source, also of lists and other displays of constants."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant | ast.UnaryOp | ast.List | ast.Tuple | ast.Dict | ast.Set):
            with contextlib.suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                yield ast.literal_eval(node)
