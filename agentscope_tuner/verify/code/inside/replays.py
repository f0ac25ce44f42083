"""Finds tests that have passed without checking the program's answer, by running them again with changed answers.

Used in the tests' process of tests that carry code, when all of them have run: `Replays.refused` names the tests that
do not count, and says why.

A hostile program can pass some tests by what it leaves out. For `for item in solve(2): assert item > 0` it returns
`[]`, and nothing is asserted. For `assert solve(2) > 3` and then `assert solve(2) < 4`, it returns 5 at first, and 1
when it is called again. One run of the test cannot show that. But all messages of the program are recorded, so the test
can be run again with the recorded messages in place of the program, some of them changed. In them every answer is JSON,
so items can be added to any answer that has some: a list, a range, bytes, the data of a class that is built on a list,
or a list of the tests that the program has changed. What the program prints, and its calls of the tests' functions, are
repeated as recorded.

A test is run again in four cases:

- The same call got several answers. They are all replaced by a single one. If the test passes with none of the
  program's own answers, and passes with some other value, then the program's answers contradict each other. A test that
  wants several answers, as of a counter, passes with no single value. A test of random answers passes also with their
  order changed.
- An answer is empty, and a loop over it that asserts something ran no round in most tests. The answer gets items. If
  the test passes, it has not checked that the answer is empty.
- `zip` or `map` has left items out, as in `for got, wanted in zip(solve(2), [4, 5])`. An answer gets one more item. If
  the shorter side grows by it and the longer one does not, the answer was to be compared with the longer side.
- The program has emptied a list that it got from the test, and an answer is empty. Both get items. If the test passes
  only as long as both hold the same, whatever that is, it compares the answer with the list that the program has
  emptied.

A test that does not pass with the recorded answers unchanged is left alone: it depends on more than these. If the
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
# Questions that only ask for the value of a name; None is for an answer of the tests to the program
_NAMING = {"module", "method", "names", "attr", "states", None}
# Operators that read an object without changing it
_READING = {
    *("len", "str", "repr", "int", "float", "complex", "index", "bool", "abs", "round", "floor", "ceil", "trunc"),
    *("getitem", "contains", "items", "content", "bytes", "format", "hash"),
}
# The keys of a question with such an operator, if the tests have changed nothing since the last question; and the
# seconds in which hardly anything changes by itself
_OF_READING, _MOMENT = {"do", "h", "name", "op", "args", "loop"}, 0.01
# Characters of messages that are kept of one test, and of all tests
_MOST_KEPT, _MOST_OF_ALL = 1_000_000, 16_000_000
# Answers and items that are tried; parts of an answer that are changed; parts of JSON that are read; CPU seconds in all
_MOST_TRIED, _MOST_PARTS, _MOST_INLINE, _SECONDS = 600, 20, 100_000, 1.0
# Items for a list that was emptied: numbers, and texts without capital letters. A test that passes with `_SEVERAL` of
# them does not expect a certain item
_TRIED_ALONE, _SEVERAL = (7, 8, 9, "0", "1", "2"), 3
# Lists that are not sorted, or have an item twice
_UNLIKE_SORTED = ([9, 7, 8], [7, 7])
_SIZED = (list, tuple, str)
_DEPTH = 20


class _DivergedError(BaseException):
    """Ends a test that is run again, because it asks the program something else than in its first run, or takes too
    long.
    """


class _Replied(NamedTuple):
    """One recorded message of the program.

    Attributes:
        to: the question that the program replied to, such as a call of its object 3; or the answer of the tests to a
            question of the program.
        reply: the message.
        call: for a reply to a call such as `solve(2)`: two hashes, one of how the test came to `solve`, one of that and
            the arguments. None for any other reply, and for a call of an object of unknown origin.
        is_of_empty: whether all arguments of the call were empty, as in `solve([])`. Then the answer may rightly be
            empty.
        read: what was read of which object, as by `len(answer)`, and a counter of events that may have changed the
            object since.
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
    """One call of `zip` or `map` by a test, in the tests' process: counts the items that it has taken of each side,
    such as 1 and 1 of `zip([1], [4, 5])`.
    """

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
        """Whether the side `at` of this call is longer than it was in an earlier run.

        Args:
            before: the same call of `zip` or `map` in the earlier run.
            at: the number of the side.
        """
        is_sized = min(self.sizes[at], before.sizes[at]) >= 0
        return self.sizes[at] > before.sizes[at] if is_sized else self.taken[at] > before.taken[at]


class _Run(NamedTuple):
    """A test that has passed, with all that is needed to run it again.

    Attributes:
        name: of the test.
        rerun: runs the test again; raises if it fails.
        said: the recorded messages of the program; None if there were too many to keep.
        before: the state of the tests' process as the test began.
        is_uneven: whether a `zip` or `map` in the test has left items out.
        loops: the loops that the test has reached, by number, and whether they ran a round.
    """

    name: str
    rerun: Callable[[], object]
    said: list[_Replied] | None
    before: list[dict[str, Any]]
    is_uneven: bool
    loops: dict[int, bool]


class Replays:
    """Records the program's messages during each test, and later runs the tests that have passed again with changed
    messages. Lives in the tests' process.

    So it finds tests that passed although nothing was checked, such as a loop of assertions over the answer `[]`. The
    module lists the cases.

    Args:
        program: the `Program` whose messages are recorded.
        source: the tests and their set-up code.
        bounds: starts to collect the numbers with which tests compare sizes, such as the 3 of `answer > 3`; returns the
            set that they are added to.
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
        # the loops that a test has reached, and whether they ran a round; and for each loop, the number of tests in
        # which it ran none, minus the number of those in which it ran one
        self._loops, self._idle = dict[int, bool](), Counter[int]()
        self._end, self._kept, self._all = 0.0, 0, 0
        # the arguments that the program gets in a repeated run
        self._given: list[object] = []
        # the last question; and by the number of an object, how the tests came to it, and whether by empty arguments
        self._asking: tuple[Any, ...] = ((None,), None, False, 0, ())
        self._known, self._has_threads = dict[Any, tuple[int, bool]](), False
        # how often something happened that may change an object, and the time of the program's last message
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
        """The items over which a loop of the tests iterates, unchanged. Notes whether the loop ran a round.

        Args:
            loop: the number of the loop.
            items: those of the loop.
        """
        self._loops.setdefault(loop, False)
        for one in items:
            self._loops[loop] = True
            yield one

    def _pairing(self, plain: Any, least: int) -> type:
        """A replacement for `zip` or `map` that notes, if the tests call it, which items are left out because another
        side is shorter.

        Args:
            plain: the built-in class.
            least: the smallest number of arguments with which there are two sides: 2 for `zip(a, b)`, 3 for
                `map(f, a, b)`.
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
        """Replaces `Program.ask`. In a repeated run, notes the arguments that the program gets."""
        if self._script is not None:
            self._given += [*arguments, *(named or {}).values()]
        return self._ask(request, arguments, named)

    def _sent(self, message: dict[str, Any], name: str | None = None) -> None:
        """Replaces `Conversations.send`: notes the question that is sent. In a repeated run, nothing is sent."""
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
            # whether all containers and texts in the arguments are empty; without arguments, as for the called object
            is_of_empty = not any([one.items for one in map(_items, given) if one] or given or [not is_of_empty])
        elif origin or to[0] in ("module", "method"):
            origin = hash((origin, to[0], to[2]))
        self._asking = (to, call, is_of_empty, origin, read)

    def _received(self) -> dict[str, Any]:
        """Replaces `Conversations.receive_any`: records the program's message. In a repeated run, returns the recorded
        one in its place.
        """
        to, call, is_of_empty, origin, read = self._asking
        if self._script is not None:
            # when the event loop asks for a turn depends on time, so such a request may come in any place
            recorded: dict[str, Any] = {"ok": None}
            if to[0] != "turn":
                one = next(self._script, None)
                if one is None or one.to != to:
                    raise _DivergedError
                recorded = one.reply
            self._shared.incoming(recorded)
            return recorded
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
        """Start a new record, because a test begins."""
        self._said, self._pairs, self._kept, self._loops = [], [], 0, {}
        self._before = [_copied(vars(self._program)), _copied(vars(self._shared)) | self._shared.alive()]

    def end(self, name: str, rerun: Callable[[], object] | None) -> None:
        """End the record of a test. If the test has passed, the record is kept for a repeated run.

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
        """The tests that passed and must not count, by name, each with the reason: for example, the program's answer
        was empty, so the loop over it has checked nothing.

        Called once, when all tests have ended. It runs tests again with recorded messages; the program itself is not
        asked any more.
        """
        found = {}
        # while there is a script, even an empty one, the program is not asked any more
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
        """Whether a test passes, within its share of the time, if the program's messages are those in `said`."""
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
        """Whether the program's answer was too short, so that a `zip` or `map` has left out items that the answer was
        to be compared with: an answer of one item in `zip(answer, [4, 5])`.
        """
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
        """Whether a test still passes when an empty answer gets items and a loop over it runs a round. Then the test
        has not checked that the answer is empty. True as well if the test's messages were too many to keep.

        Args:
            run: the test.
            loops: the numbers of its loops that ran no round.
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
        """Whether a test only compares an answer with a list that the program has emptied, as in
        `assert sort(items) == sorted(items)`: it passes whatever the two hold, as long as they hold the same.
        """
        said, began = run.said or [], time.monotonic()
        if not any(_emptied(one.reply) for one in said):
            return False
        # a test that waits would wait in each replay
        if not self._passes(run, said) or time.monotonic() - began > _SECONDS / 10:
            return False
        item = _TRIED_ALONE[0]
        if any(_is_emptied(one) for one in said):
            # answer and emptied list are the same list. If the test passes with any items, it does not check them
            alone = [_refilled(said, None)]
            is_any = all(self._passes(run, _refilled(said, items)) for items in _UNLIKE_SORTED)
        else:
            # if the test passes although only one of the two changes, it compares that with something else
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
        """The groups of recorded answers to one and the same call, or reading of an object, if there are several and
        nothing happened between them that may have changed the result.

        Each answer is given as its position: the number of the run, and the number of the message in it.
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
                # an object that the test has just made is no answer, unless it is plain data
                if one.to[0] in _NAMING or (one.to[-1] and _is_object(one.reply.get("ok"))):
                    continue
                called = one.call[0] if one.call else None
                stretch, current = stretch + (called is None or called != current), called
                if one.call and "ok" in one.reply:
                    groups.setdefault((stretch, one.call), []).append((at, place))
        yield from (places for places in groups.values() if len(places) > 1)

    def _contradict(self, places: list[tuple[int, int]]) -> bool:
        """Whether the program's answers to one call contradict each other: a single answer to all the calls would pass
        the tests, none of the program's answers does so, and the order of the answers matters.

        Args:
            places: the positions of the answers, as `_differing` gives them.
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
    """A copy of an object's variables; its lists, sets and dictionaries are copied, too."""
    return {name: copy.copy(part) if type(part) in (dict, list, set) else part for name, part in state.items()}


def _unlike(values: Iterable[Any]) -> list[Any]:
    """The values (JSON) without repetitions: `[1, 2]` for 1, 2 and 1. Objects of one class count as equal, whatever
    their numbers.
    """
    return [*{re.sub(r'"id": \d+', "", json.dumps(value)): value for value in values}.values()]


def _inline(node: Any, held: Callable[[int], Any], left: list[int] | None = None, depth: int = _DEPTH) -> Any:
    """JSON with the contents of containers in place of their numbers: `[1]` for `{"m": 3}`. Parts beyond the bounds
    stay as they are.

    Args:
        node: the JSON.
        held: gives the contents of the container with a number; None if they are unknown.
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
    """The answer in a recorded message, as JSON, with the contents of containers in place of their numbers."""
    held = said.reply.get("held", {})
    return _inline(said.reply["ok"], lambda number: held.get(str(number)))


def _is_object(told: Any) -> bool:
    """Whether JSON represents an object of the program, and not plain data: `{"h": {"id": 3, …}}`, without a key `data`
    in it.
    """
    return isinstance(told, dict) and isinstance(told.get("h"), dict) and "data" not in told["h"]


class _Items(NamedTuple):
    """The items of a value that is JSON, and a way to make the same kind of value from other items.

    Attributes:
        items: those that a loop over the value gives.
        made_of: makes JSON of the same kind from a list of such items.
        kind: `text`; `pairs` for a dictionary, whose items are keys and values; empty for any other kind.
    """

    items: list[Any]
    made_of: Callable[[list[Any]], Any]
    kind: str = ""

    def of(self, items: list[Any]) -> Any:
        """JSON of the same kind of value with these items: `{"t": [7]}` for a tuple and the item 7. In a dictionary,
        each item becomes a key and its value.
        """
        return self.made_of([[one, one] for one in items] if self.kind == "pairs" else items)


def _items(node: Any) -> _Items | None:
    """The items of a value that is JSON: `[1, 2]` for the tuple `{"t": [1, 2]}`. None for a value without items, such
    as 3.
    """
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
    """The numbers of the tests' own containers that the program has emptied, as its message reports: `["3"]` if `items`
    is the container 3 and the program called `items.clear()`.
    """
    held = {key: _items(told) for key, told in reply.get("held", {}).items() if int(key) % 2}
    return [key for key, found in held.items() if found and not found.items]


def _is_emptied(one: _Replied) -> bool:
    """Whether the program's answer is a container of the tests that it has emptied."""
    answer = one.reply.get("ok")
    return isinstance(answer, dict) and str(answer.get("m")) in _emptied(one.reply)


def _refilled(
    said: list[_Replied], items: list[Any] | None, *, emptied: bool = True, answers: bool = True
) -> Iterator[_Replied]:
    """The recorded messages, with `items` put into the tests' containers that the program has emptied, and into what is
    empty in later messages.

    Args:
        said: the messages.
        items: None lets the containers of the tests keep what they held.
        emptied: whether the emptied containers get the items.
        answers: whether other empty values, such as the answer, get them.
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
    """Whether all items are numbers from 0 to 255."""
    return all(type(one) is int and 0 <= one < 256 for one in items)


# Items of several kinds, one of which a test may accept
_ANY: list[Any] = [0, "0", [0, 0], [], {"d": []}]


def _grown(node: Any, tried: list[Any], depth: int = _DEPTH) -> Iterator[Any]:
    """Versions of a value that is JSON, in each of which one part has one more item: `[1, 1]` for `[1]`, for example.

    Args:
        node: the value.
        tried: items to add to what is empty. If there are any, parts that are not empty stay as they are.
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
    """Versions of the recorded messages, in each of which one answer has more items, or one iteration ends later. All
    answers to the same call are changed in the same way.

    Args:
        said: the messages.
        at: the position of the message whose answer is changed.
        tried: items to add to an answer that is empty. If there are any, other answers stay as they are.
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
    """The syntax tree of the tests, changed so that `Replays` notes which loops ran a round.
    `for item in f(2): assert item` becomes `for item in _items_of_(0, f(2)): assert item`. Loops without an assertion
    stay as they are.

    Used whenever tests are compiled. If there is no `Replays` in the tests' process, the tree is not changed.
    """
    if not hasattr(builtins, _EACH):
        return tree
    nodes = [*ast.walk(tree)]
    # a function that calls such a function asserts something, too
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
    """Whether a syntax node asserts something: an `assert`, a call such as `self.assertEqual(…)`, or a call of one of
    the functions `asserting`.
    """
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Assert) or name.startswith("assert") or name in asserting


def _possible(source: str, bounds: Iterable[float]) -> Iterator[Any]:
    """Values that a test may accept as right: small numbers, the test's own constants, numbers between these, and
    simple lists such as `[0, 1, 2]`.

    Args:
        source: the tests.
        bounds: more numbers, with which the tests compare sizes.
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
    """The values of all constants in the source, such as 4 and `[1, 2]`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant | ast.UnaryOp | ast.List | ast.Tuple | ast.Dict | ast.Set):
            with contextlib.suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                yield ast.literal_eval(node)
