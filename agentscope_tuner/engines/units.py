"""Units: rows that are judged together. A unit is one row, or a whole advantage group where the judge ranks."""

from __future__ import annotations

import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Generic, Protocol, TypeVar

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.traits import Traits

In = TypeVar("In")
Out = TypeVar("Out")

# No trainer has larger groups. A longer run is a data set with the same task id everywhere: it must not fill the memory
MOST_IN_GROUP = 1024


@dataclass(slots=True, eq=False)
class Unit(Generic[In, Out]):
    """Rows that are judged together.

    Attributes:
        number: where the unit begins in the run: the first unit at 0, each other where the unit before it ends.
        first: the place of its first row in the input, from 0.
        items: its rows, which are neighbours in the input, or a block of them.
        size: roughly how many bytes the rows hold.
        results: a result for each row, where the results are known before judging; such a unit is passed on and not
            judged.
        span: the unit's length in the run: 1, or the block's span.
    """

    number: int
    first: int
    items: Sequence[In]
    size: int = 0
    results: Sequence[Out] | None = None
    span: int = 1

    @property
    def end(self) -> int:
        """Where the next unit begins."""
        return self.number + self.span


class UnitAnswer(Protocol):
    """The judging of one unit in a worker process: iterating judges it, step by step."""

    def __iter__(self) -> Iterator[bytes]:
        """A note for each step as soon as it is done, from which `Work.recovered` makes results."""

    def packed(self) -> Any:
        """The results of all steps until now, as plain data."""


class Work(Protocol[In, Out]):
    """Judges units for an engine; every process that judges makes its own object from `recipe`.

    Attributes:
        traits: how the judge must be called.
        concurrency: `astuner.task_judge.concurrency`.
        deadline: seconds for the verdict on a unit, in a process that can be killed; None for no limit.
        recipe: the work's class and arguments, from which another process makes the same object.
    """

    traits: Traits
    concurrency: int
    deadline: float | None
    recipe: tuple[object, ...]

    def units(self, items: Iterable[Any]) -> Iterator[Unit[In, Out]]:
        """Groups `items` into units, reading them as needed."""

    def judge(self, items: Sequence[In]) -> Sequence[Out]:
        """A result for each item of a unit."""

    async def ajudge(self, items: Sequence[In]) -> Sequence[Out]:
        """`judge` for judges that await."""

    def failed(self, items: Sequence[In], error: JudgeError) -> Sequence[Out]:
        """A failed result for each item, with `error`."""

    # Plain tuples go between processes: a pickle that names classes takes twenty times as long to read

    def pack(self, items: Sequence[In]) -> Any:
        """The items of a unit as plain data, to be sent to another process."""

    def answer(self, packed: Any) -> UnitAnswer:
        """`judge` in that process, not begun yet. An exception while the unit is judged fails the whole unit."""

    def unpack(self, packed: Any) -> Sequence[Out]:
        """The results from `UnitAnswer.packed`."""

    def recovered(self, items: Sequence[In], notes: list[bytes]) -> Sequence[Out] | str:
        """The results of `items` from the notes of a dead worker, or a text that says why there are none."""

    def steps(self, items: Sequence[In]) -> int:
        """How many notes the judging of all `items` gives."""

    def cut(self, unit: Unit[In, Out], steps: int) -> tuple[Unit[In, Out], Unit[In, Out] | None]:
        """The part that the first `steps` steps (at least one) judge, and the rest; None where nothing is left."""

    def split(self, unit: Unit[In, Out], span: int) -> tuple[Unit[In, Out], Unit[In, Out] | None]:
        """A part of a unit, about `span` long, and the rest; a unit that has to be judged as a whole is not split."""


class Undivided(Generic[In, Out]):
    """The part of a Work whose units are judged as a whole, in one step."""

    def judge_packed(self, packed: Any) -> Any:
        """`judge` in a worker process: the results of a unit as plain data."""
        raise NotImplementedError

    def unpack(self, packed: Any) -> Sequence[Out]:
        """The results from what `judge_packed` returned."""
        raise NotImplementedError

    def answer(self, packed: Any) -> UnitAnswer:
        """See Work."""
        return _OneStep(self, packed)

    def recovered(self, items: Sequence[In], notes: list[bytes]) -> Sequence[Out] | str:
        """See Work."""
        results = pickle.loads(notes[0])
        return results if isinstance(results, str) else self.unpack(results)

    def steps(self, items: Sequence[In]) -> int:
        """See Work."""
        return 1

    def cut(self, unit: Unit[In, Out], steps: int) -> tuple[Unit[In, Out], Unit[In, Out] | None]:
        """See Work."""
        return unit, None

    def split(self, unit: Unit[In, Out], span: int) -> tuple[Unit[In, Out], Unit[In, Out] | None]:
        """See Work."""
        return unit, None


class _OneStep:
    """The answer to a unit that is judged in one step."""

    def __init__(self, work: Undivided[Any, Any], packed: Any) -> None:
        self._work = work
        self._given = packed
        self._results: Any = None

    def __iter__(self) -> Iterator[bytes]:
        self._results = self._work.judge_packed(self._given)
        yield pickle.dumps(self._results, pickle.HIGHEST_PROTOCOL)

    def packed(self) -> Any:
        """See UnitAnswer."""
        return self._results


def groups(items: Iterable[In], key: Callable[[In], str] | None) -> Iterator[tuple[list[In], str | None]]:
    """Groups of neighbours with the same key, each with the reason why it cannot be judged, or None.

    An item with an empty key is a group by itself; so is every item where there is no `key`. No judge can rank a run
    of more than `MOST_IN_GROUP` neighbours: its items come one by one, each with that reason.
    """
    if key is None:
        for item in items:
            yield [item], None
        return
    for name, run in groupby(items, key):
        if not name:
            for item in run:
                yield [item], None
            continue
        group = list(islice(run, MOST_IN_GROUP + 1))
        if len(group) <= MOST_IN_GROUP:
            yield group, None
            continue
        why = (
            f"more than {MOST_IN_GROUP} neighbours have task id {name!r:.200}: an advantage group cannot be that large"
        )
        for part in (group, run):
            for item in part:
                yield [item], why


class Rows(Generic[Out]):
    """The results of a run: the crew adds them, the caller takes them, in the order of the input or as they come.

    The caller's thread takes no lock: Ctrl-C may interrupt it anywhere, and a held lock would stop the crew.

    Attributes:
        ready: `(place in the input, result)` of rows that can be handed on.
        news: set after every change.
        ended: the total span of the units that are finished or dropped.
        released: the total span of the units that have come to `ready`; `released_bytes` is their size.
        error: the exception that ended the whole run; None as long as it goes on.
    """

    def __init__(self, *, ordered: bool) -> None:
        self.ready: deque[tuple[int, Out]] = deque()
        self.news = threading.Event()
        self.ended = 0
        self.released = 0
        self.released_bytes = 0
        self.error: BaseException | None = None
        self._ordered = ordered
        self._lock = threading.Lock()
        self._held: dict[int, tuple[Unit[Any, Out], Sequence[Out]]] = {}
        self._next = 0

    def finish(self, units: Iterable[tuple[Unit[Any, Out], Sequence[Out]]]) -> None:
        """Add the results of units; any thread may call it."""
        with self._lock:
            span = 0
            for unit, results in units:
                if self._ordered:
                    self._held[unit.number] = (unit, results)
                else:
                    self._release(unit, results)
                span += unit.span
            while self._next in self._held:
                unit, results = self._held.pop(self._next)
                self._release(unit, results)
                self._next = unit.end
            # Increment last: the lock-free reader stops when all that was begun has ended and `ready` is empty
            self.ended += span
        self.news.set()

    def drop(self, span: int) -> None:
        """Count units that will never be judged, `span` in all."""
        with self._lock:
            self.ended += span
        self.news.set()

    def fail(self, error: BaseException) -> None:
        """End the run with `error`: no more results will come."""
        self.error = error
        self.news.set()

    def _release(self, unit: Unit[Any, Out], results: Sequence[Out]) -> None:
        self.ready.extend(enumerate(results, unit.first))
        self.released += unit.span
        self.released_bytes += unit.size
