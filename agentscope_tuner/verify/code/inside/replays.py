"""Runs tests that have passed again, from what the program said then, to see what they leave out.

A test sees one answer at a time. So a program could give two answers to one call, each of which meets one of two
bounds; or an answer with so few items that `zip` ends before any of them is compared with another. The test alone
cannot tell, but it can be run again without the program, as a function of its answers (`Replays`):

- where the same call got several answers, with one answer to all of these: if none of the program's passes, and one
  that it did not give does, its answers contradict each other. A test that wants several, as of a counter, passes with
  none; and one of random answers passes with any order of them.
- where an answer is empty, and a loop over it that asserts something has never begun, with an answer that has items: if
  one passes, the test has not looked at what it was written for.
- where `zip` or `map` has left items out, with an answer that has one more item: if the side that ended grows by it,
  and the longer does not, then the longer is what the answer was to be compared with.

A test that does not even pass with the very answers that it got is not looked at: it depends on more than these.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import itertools
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType, GeneratorType
from typing import Any, NamedTuple

from agentscope_tuner.verify.code.inside.stand_ins import StandInFunction, is_of_tests

CONTRADICTING = "the program's answers to one call contradict each other"
TOO_FEW = "the program's answer has fewer items than it is compared with"
EMPTY = "the program's answer is empty, and the test looks at each item of it"
# What only says what a name stands for
_NAMING = {"module", "method", "names", "attr"}
_UNCHANGED = {*_NAMING, "call", "op", "seed"}
# items of answers that are kept, answers and items that are tried, and seconds of CPU for all of it
_MOST_KEPT, _MOST_TRIED, _SECONDS = 500_000, 600, 1.0
_SIZED = (list, tuple, str)
_DEPTH = 20
_SCALARS = {int, float, str, bytes, bool, complex, type(None)}


class _DivergedError(BaseException):
    """A test that runs again asks for what it has not asked before, or takes too long."""


class _Answer(NamedTuple):
    """One answer of the program: to what; by which call, if it is one of a function; and what it said, or raised.

    Attributes:
        is_of_empty: whether it was asked about something empty, such as an empty list or 0: then it may be so itself.
    """

    to: tuple[object, ...]
    call: object
    value: Any
    error: BaseException | None
    is_of_empty: bool = False


class _Pairs:
    """What one call of `zip` or `map` has taken: by side, its items, and its length if it has one."""

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.sizes = [len(one) if type(one) in _SIZED else -1 for one in given]
        self.taken = [0] * len(given)
        self._given, self._items = given, [*map(iter, given)]
        # the side that ended before others, and which these were
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
        """Whether a side is longer than it was before."""
        is_sized = min(self.sizes[at], before.sizes[at]) >= 0
        return self.sizes[at] > before.sizes[at] if is_sized else self.taken[at] > before.taken[at]


class _Run(NamedTuple):
    """A test that has passed: how to run it again, what the program said, whether it has paired things unevenly, and
    which of its loops have not begun.
    """

    name: str
    rerun: Callable[[], object]
    answers: list[_Answer]
    is_uneven: bool
    idle: set[int]


class Replays:
    """Keeps what the program answers in tests, and runs those that pass again.

    Args:
        program: whose `ask` is listened to.
        source: the tests and their set-up.
        bounds: is told the numbers that a test compares sizes with from now on; gives them.
    """

    def __init__(self, program: Any, source: str, bounds: Callable[[], set[float]]) -> None:
        self._program, self._ask, self._source, self._bounds = program, program.ask, source, bounds
        self._runs: list[_Run] = []
        self._answers: list[_Answer] | None = None
        self._script: Iterator[_Answer] | None = None
        self._pairs: list[_Pairs] | None = None
        # the loops that a test has come to, and of these those that have begun; and that have in any test
        self._met, self._begun, self._ever = set[int](), set[int](), set[int]()
        self._end = 0.0
        # what the program is given as a test runs again
        self._given: list[object] = []
        self._functions: set[int] = set()
        self._kept = self._depth = 0
        program.ask = self._asked
        for kind, least in ((zip, 2), (map, 3)):
            setattr(builtins, kind.__name__, self._pairing(kind, least))
        setattr(builtins, _EACH, self._each)

    def _each(self, loop: int, items: Iterable[Any]) -> Iterable[Any]:
        """What a loop of the tests goes over, with a note whether there is anything."""
        self._met.add(loop)
        for first in (left := iter(items)):
            self._begun.add(loop)
            return itertools.chain((first,), left)
        return ()

    def _pairing(self, plain: Any, least: int) -> type:
        """`zip` or `map`, of which it is noted what the tests' own calls leave out."""

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

    def _asked(
        self, request: dict[str, Any], arguments: tuple[object, ...] = (), named: dict[str, object] | None = None
    ) -> Any:
        to = (request["do"], request.get("h"), request.get("name"), request.get("op"))
        if self._script is not None:
            self._given += [*arguments, *(named or {}).values()]
            return self._answered(to)
        # what the program asks of what it was lent, it does not ask again
        is_kept, value, error = self._answers is not None and self._depth == 0, None, None
        call = (request["h"], _key((arguments, named))) if is_kept and request["do"] == "call" else None
        self._depth += 1
        try:
            value = self._ask(request, arguments, named)
        except Exception as exc:  # which the test is told again
            error = exc
            raise
        finally:
            self._depth -= 1
            if isinstance(value, StandInFunction) and request["do"] in ("module", "method"):
                self._functions.add(value._number)
            if is_kept and self._answers is not None:
                is_of_empty = call is not None and not all(map(_is_some, (*arguments, *(named or {}).values())))
                self._answers.append(_Answer(to, call, self._copied(value), error, is_of_empty))
                # too much for a second look
                self._answers = self._answers if self._kept <= _MOST_KEPT else None
        return value

    def _copied(self, value: Any, depth: int = _DEPTH) -> Any:
        """A copy of plain data; what is none, or too deep, is itself."""
        kind = type(value)
        self._kept += 1 + (len(value) // 64 if kind in (str, bytes) else 0)
        if kind is GeneratorType and value.gi_frame is not None and "number" in value.gi_frame.f_locals:
            # a new one of the same, which asks for the same items
            return self._program._generated(value.gi_frame.f_locals["number"])
        if kind in _SCALARS or self._kept > _MOST_KEPT:
            return value
        if depth == 0 or kind not in (list, tuple, dict, set, frozenset):
            return value
        if kind is dict:
            return {key: self._copied(part, depth - 1) for key, part in value.items()}
        return kind(self._copied(part, depth - 1) for part in value)

    def _answered(self, to: tuple[object, ...]) -> Any:
        answer = next(self._script or iter(()), None)
        if answer is None or answer.to != to:
            raise _DivergedError
        if answer.error is not None:
            raise answer.error
        return self._copied(answer.value)

    def begin(self) -> None:
        """A test begins."""
        self._answers, self._pairs = [], []
        self._met, self._begun = set(), set()

    def end(self, name: str, rerun: Callable[[], object] | None) -> None:
        """The test has ended; how to run it again, if it has passed.

        Args:
            rerun: raises where the test fails.
        """
        answers, pairs = self._answers, self._pairs
        self._answers = self._pairs = None
        self._ever |= self._begun
        if rerun and answers and self._kept <= _MOST_KEPT and all(one.to[0] in _UNCHANGED for one in answers):
            is_uneven = any(one.longer for one in pairs or [])
            self._runs.append(_Run(name, rerun, answers, is_uneven, self._met - self._begun))

    def refused(self) -> dict[str, str]:
        """The tests that have passed by what they leave out, and why."""
        found = {}
        uneven = [run for run in self._runs if run.is_uneven]
        calls = [*self._differing()]
        self._end = time.process_time() + _SECONDS
        for run in uneven:
            if self._lacks(run):
                found[run.name] = TOO_FEW
        found |= {run.name: EMPTY for run in self._runs if self._is_idle(run, run.idle - self._ever)}
        for places in calls:
            if self._contradict(places):
                found |= {self._runs[at].name: CONTRADICTING for at, _ in places}
        return found

    def _passes(self, run: _Run, answers: Iterable[_Answer]) -> bool:
        """Whether the test passes with these answers, and within its share of the time."""
        end = min(self._end, time.process_time() + _SECONDS / 4)

        def trace(frame: FrameType, *_: object) -> Any:
            if not is_of_tests(frame.f_code):
                return None
            if time.process_time() > end:
                raise _DivergedError
            return trace

        self._script, self._pairs, self._given = iter([*answers]), [], []
        self._begun = set()
        before = sys.gettrace()
        try:
            sys.settrace(trace)
            run.rerun()
        except BaseException:  # noqa: BLE001 - whatever a test ends with
            return False
        finally:
            sys.settrace(before)
            self._script = None
        return True

    def _lacks(self, run: _Run) -> bool:
        """Whether an answer has ended a `zip` before what it was to be compared with."""
        if not self._passes(run, run.answers):
            return False
        given, first = self._given, [*(self._pairs or [])]
        # by their place: the sides that an answer makes longer
        grown: set[tuple[int, int]] = set()
        for at in range(len(run.answers)):
            for answers in _longer(run.answers, at):
                if time.process_time() > self._end:
                    return False
                self._passes(run, answers)
                for place, (before, now) in enumerate(zip(first, self._pairs or [], strict=False)):
                    grown |= {(place, side) for side in range(len(now.sizes)) if now.grown(before, side)}
        return any(
            (place, pairs.ended) in grown and (place, side) not in grown and not any(one is part for part in given)
            for place, pairs in enumerate(first)
            for side, one in pairs.longer.items()
        )

    def _is_idle(self, run: _Run, loops: set[int]) -> bool:
        """Whether a test of these loops, which never began, would pass with an answer that is not empty."""
        if not loops or not self._passes(run, run.answers):
            return False
        tried = _unlike(_possible(self._source, ()))[: _MOST_TRIED // 3]
        return any(
            self._passes(run, answers) and not self._begun.isdisjoint(loops)
            for at, answer in enumerate(run.answers)
            if not answer.is_of_empty
            for answers in _filled(run.answers, at, tried)
        )

    def _differing(self) -> Iterator[list[tuple[int, int]]]:
        """By call: where it got other answers than before, and nothing else was called meanwhile that has a state."""
        groups: dict[object, list[tuple[int, int]]] = {}
        stretch, current = 0, None
        for at, run in enumerate(self._runs):
            for place, answer in enumerate(run.answers):
                if answer.to[0] in _NAMING:
                    continue
                number = answer.to[1] if answer.to[0] == "call" and answer.to[1] in self._functions else None
                stretch, current = stretch + (number is None or number != current), number
                if number is not None and answer.error is None:
                    groups.setdefault((stretch, answer.call), []).append((at, place))
        for places in groups.values():
            if len({_key(self._runs[at].answers[place].value) for at, place in places}) > 1:
                yield places

    def _contradict(self, places: list[tuple[int, int]]) -> bool:
        """Whether one answer to a call would pass, none that the program gave does, and their order matters."""
        given = [self._runs[at].answers[place].value for at, place in places]
        tests = {at: self._runs[at] for at, _ in places}

        def passes(values: Sequence[Any]) -> bool:
            told = dict(zip(places, values, strict=True))
            return all(
                self._passes(
                    run,
                    (
                        answer._replace(value=told.get((at, place), answer.value))
                        for place, answer in enumerate(run.answers)
                    ),
                )
                for at, run in tests.items()
            )

        bounds = self._bounds()
        if not passes(given) or any(passes([one] * len(given)) for one in _unlike(given)[:20]):
            return False
        if all(passes(given[by:] + given[:by]) for by in range(1, min(len(given), 9))) and passes(given[::-1]):
            return False
        tried = _unlike([*_possible(self._source, bounds)])[:_MOST_TRIED]
        return any(passes([one] * len(given)) for one in tried)


def _key(value: Any, seen: dict[int, Any] | None = None, depth: int = _DEPTH) -> object:
    """What equal values have in common; an object is the same as itself alone, as is what is deep or met again."""
    kind, seen = type(value), {} if seen is None else seen
    if kind in _SCALARS:
        # NaN is one value, and 0.0 is not -0.0; a large whole number has no text
        return kind, repr(value) if kind in (float, complex) else value
    if depth == 0 or id(value) in seen or kind not in (list, tuple, dict, set, frozenset):
        return id(value)
    seen[id(value)] = value
    inner = [*value.keys(), *value.values()] if kind is dict else value
    parts = (_key(part, seen, depth - 1) for part in inner)
    return (kind, *parts) if kind in (list, tuple, dict) else (kind, frozenset(parts))


def _unlike(values: Iterable[Any]) -> list[Any]:
    return [*{_key(value): value for value in values}.values()]


def _longer(answers: list[_Answer], at: int) -> Iterator[list[_Answer]]:
    """The answers, of which one has more items; or ends an iteration later."""
    answer = answers[at]
    if isinstance(answer.error, StopIteration | StopAsyncIteration):
        before = [one.value for one in answers[:at] if one.to == answer.to and one.error is None]
        for more in before[-1:] or (0, "0", (0, 0)):
            yield [*answers[:at], answer._replace(error=None, value=more), *answers[at:]]
        return
    value, kind = answer.value, type(answer.value)
    if kind is str:
        last = re.split(r"\s", value.rstrip())[-1] or "0"
        longer = [f"{value.rstrip()}{mark}{last}" for mark in "\n ,"] if value.strip() else ["0", "0\n0"]
    elif kind in (list, tuple):
        longer = [kind((*value, more)) for more in ([value[-1]] if value else (0, "0", (0, 0), [], {}))]
        nested = [(i, part) for i, part in enumerate(value[:20]) if type(part) in (list, tuple)]
        for i, part in nested:
            longer += [kind((*value[:i], type(part)((*part, part[-1] if part else 0)), *value[i + 1 :]))]
    elif kind is dict:
        longer = [value | {key: (*value.values(), 0)[0]} for key in ("0", 0) if key not in value]
    else:
        longer = []
    for one in longer:
        yield [*answers[:at], answer._replace(value=one), *answers[at + 1 :]]


def _is_some(value: object) -> bool:
    return type(value) not in (*_SIZED, *_SCALARS, dict, set, frozenset) or bool(value)


def _filled(answers: list[_Answer], at: int, tried: Iterable[Any]) -> Iterator[list[_Answer]]:
    """The answers, of which those of one call hold something, and were empty; or an iteration does not end at once."""
    answer, before = answers[at], answers[:at]
    value, kind = answer.value, type(answer.value)
    if isinstance(answer.error, StopIteration) and all(one.to != answer.to for one in before):
        yield from ([*before, answer._replace(error=None, value=one), *answers[at:]] for one in tried)
    # an object of the program would be asked
    if kind not in (list, tuple, dict, set, frozenset, str) or value:
        return

    def is_like(other: _Answer) -> bool:
        return answer.call is not None and other.call == answer.call and type(other.value) is kind and not other.value

    for one in tried:
        filled: list[Any] = [one] if type(one) is kind and one else []
        if kind in (list, tuple, str) or (kind is not dict and type(one) in _SCALARS):
            filled.append([one] if kind is str else kind([one]))
        for full in filled:
            yield [each._replace(value=full) if each is answer or is_like(each) else each for each in answers]


# By which the tests' code tells of its loops
_EACH = "_items_of_"


def watched(tree: ast.Module) -> ast.Module:
    """The tests with loops that tell what they go over, if they assert something; as they are without `Replays`."""
    if not hasattr(builtins, _EACH):
        return tree
    loops: list[Any] = []
    for node in [*ast.walk(tree)]:
        if isinstance(node, ast.For):
            loops += [node] if any(map(_asserts, ast.walk(node))) else []
        elif _asserts(node):
            calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
            calls = [one for one in calls if isinstance(one.func, ast.Name) and one.func.id in ("all", "any")]
            made = [part for one in calls for part in one.args if isinstance(part, ast.GeneratorExp | ast.ListComp)]
            loops += [part.generators[0] for part in made]
    for loop in {id(one): one for one in loops}.values():
        number = ast.Constant(_numbers())
        call = ast.Call(ast.Name(_EACH, ast.Load()), [number, loop.iter], [])
        loop.iter = ast.copy_location(call, loop.iter)
    return ast.fix_missing_locations(tree)


_numbers = itertools.count().__next__


def _asserts(node: ast.AST) -> bool:
    name = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Assert) or name.startswith("assert")


def _possible(source: str, bounds: Iterable[float]) -> Iterator[Any]:
    """Values that a test may take for right: small numbers, its own constants, what is between two, and plain lists."""
    constants = [*_constants(source)]
    known = {one for one in (*constants, *bounds) if type(one) in (int, float) and abs(one) < 1e300}
    numbers = sorted(known)
    yield from range(-2, 65)
    yield from ((one + other) / 2 for one, other in itertools.pairwise(numbers))
    yield from constants
    yield from (part for one in constants if isinstance(one, str) for part in re.split(r"[\s,;]+", one))
    sizes = sorted({*range(9), *(one for one in numbers if type(one) is int and 0 < one <= 50)})
    yield from ([first + step * at for at in range(size)] for size in sizes for first in (0, 1) for step in range(4))
    yield from (True, False, None)


def _constants(source: str) -> Iterator[Any]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant | ast.UnaryOp | ast.List | ast.Tuple | ast.Dict | ast.Set):
            with contextlib.suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                yield ast.literal_eval(node)
