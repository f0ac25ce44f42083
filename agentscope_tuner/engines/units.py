"""Units: the rows that are judged together. One row each, or a whole advantage group where the judge ranks."""

from __future__ import annotations

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

# more neighbours with one task id than any trainer's group has: a constant column, which must not fill the memory
MOST_IN_GROUP = 1024


@dataclass(slots=True, eq=False)
class Unit(Generic[In, Out]):
    """Rows that are judged together.

    Attributes:
        number: the units of a run are numbered from 0.
        first: the place of its first row in the input, from 0.
        items: the rows, neighbours in the input.
        size: about how many bytes they hold.
        results: one for each row, once there are any. A unit that comes with results is handed on in its place.
    """

    number: int
    first: int
    items: Sequence[In]
    size: int = 0
    results: Sequence[Out] | None = None


class Work(Protocol[In, Out]):
    """What an engine does with a unit; each process has its own.

    Attributes:
        traits: how the judge wants to be asked.
        concurrency: `astuner.task_judge.concurrency`.
        deadline: seconds for the verdict on a unit, in a process that can be killed; None for no limit.
        recipe: the work's class and the arguments that make the same in another process.
    """

    traits: Traits
    concurrency: int
    deadline: float | None
    recipe: tuple[object, ...]

    def units(self, items: Iterable[Any]) -> Iterator[Unit[In, Out]]:
        """What is judged together, read from `items` as needed."""

    def judge(self, items: Sequence[In]) -> Sequence[Out]:
        """A result for each item of a unit."""

    async def ajudge(self, items: Sequence[In]) -> Sequence[Out]:
        """`judge` for judges that await."""

    def failed(self, items: Sequence[In], error: JudgeError) -> Sequence[Out]:
        """Results that say why there is no verdict."""

    # between processes travels plain data where it can: a pickle that names classes takes twenty times as long to read

    def pack(self, items: Sequence[In]) -> Any:
        """A unit's items, for another process."""

    def judge_packed(self, packed: Any) -> Any:
        """`judge` in that process."""

    def unpack(self, packed: Any) -> Sequence[Out]:
        """The results of `judge_packed`."""


def groups(items: Iterable[In], key: Callable[[In], str] | None) -> Iterator[tuple[list[In], str | None]]:
    """Neighbours with one key, and items whose key is empty each by itself; and why a group cannot be judged, or None.

    Without a `key` every item is by itself. A run of more than `MOST_IN_GROUP` neighbours is no group that a judge
    could rank: its items come one by one.
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
    """Where those who judge lay finished rows, and the caller finds them: in the input's order, or as they come.

    The caller's thread only takes from `ready` and reads the counts: Ctrl-C may strike it anywhere.

    Attributes:
        ready: `(place in the input, result)`, to be handed on.
        news: set when anything here has changed.
        settled: how many units are finished or dropped.
        released: how many of them, and how many bytes of them, have come to `ready`.
        error: what ended the judging as a whole; None as long as it goes on.
    """

    def __init__(self, *, ordered: bool) -> None:
        self.ready: deque[tuple[int, Out]] = deque()
        self.news = threading.Event()
        self.settled = 0
        self.released = 0
        self.released_bytes = 0
        self.error: BaseException | None = None
        self._ordered = ordered
        self._lock = threading.Lock()
        self._held: dict[int, tuple[Unit[Any, Out], Sequence[Out]]] = {}
        self._next = 0

    def finish(self, units: Iterable[tuple[Unit[Any, Out], Sequence[Out]]]) -> None:
        """Take the results of units, from any thread."""
        with self._lock:
            count = 0
            for unit, results in units:
                if self._ordered:
                    self._held[unit.number] = (unit, results)
                else:
                    self._release(unit, results)
                count += 1
            while self._next in self._held:
                self._release(*self._held.pop(self._next))
                self._next += 1
            # counted last: the caller reads without the lock, and goes home when all is settled and nothing is ready
            self.settled += count
        self.news.set()

    def drop(self, count: int) -> None:
        """Note that `count` units will never be judged."""
        with self._lock:
            self.settled += count
        self.news.set()

    def fail(self, error: BaseException) -> None:
        """Note that nothing more will come."""
        self.error = error
        self.news.set()

    def _release(self, unit: Unit[Any, Out], results: Sequence[Out]) -> None:
        self.ready.extend(enumerate(results, unit.first))
        self.released += 1
        self.released_bytes += unit.size
