"""A queue that decides whose work is next: requests of any size take turns by the seconds that they have used.

A request is the work that one caller waits for together, such as the rows of a batch.
"""

from __future__ import annotations

import heapq
import itertools
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


class Request:
    """Identifies work that one caller waits for together, such as the rows of a batch, which takes turns as one."""


_request: ContextVar[Request | None] = ContextVar("astuner_request", default=None)


def current_request() -> Request:
    """The `Request` that new work belongs to: that of the caller's `one_request` block, else a new one."""
    return _request.get() or Request()


@contextmanager
def one_request() -> Iterator[None]:
    """A context in which all queued work is one request, such as the rows of a batch, and takes turns as one.

    So a large batch does not hold up the single row of a different caller. The work of tasks that the block starts is
    included. A block inside another block joins the outer block's request.
    """
    token = _request.set(current_request())
    try:
        yield
    finally:
        _request.reset(token)


@dataclass(order=True, slots=True)
class _Waiting(Generic[T]):
    turn: float
    order: int
    item: T = field(compare=False)
    seconds: float = field(compare=False)


@dataclass(eq=False, slots=True)
class _RequestShare(Generic[T]):
    """The state of a request in the queue: the seconds that it has used, and its waiting items.

    Attributes:
        used: the used seconds on the queue's virtual clock; only differences between requests have a meaning.
        waiting: a heap of the request's items.
        version: the number of the request's latest entry in the heap of requests; older entries are void.
    """

    used: float = 0.0
    waiting: list[_Waiting[T]] = field(default_factory=list)
    version: int = 0


class FairQueue(Generic[T]):
    """A queue of items that belong to requests. Requests take turns by the seconds that they have used.

    Each request begins with its shortest item. This is fair queueing by virtual time (Demers, Keshav and Shenker 1989;
    Goyal, Vin and Cheng 1996): the request that has used the fewest seconds, its next item included, is next. A new
    request starts with as many used seconds as the request whose turn it is. So it neither waits for the whole queue
    before it, nor overtakes all requests that wait. Work that took longer than expected is charged to its own request.
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._order = itertools.count()
        self._shares: weakref.WeakKeyDictionary[Request, _RequestShare[T]] = weakref.WeakKeyDictionary()
        self._places: list[tuple[float, int, int, _RequestShare[T]]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, item: T, request: Request, seconds: float) -> None:
        """Put an item into the queue.

        Args:
            item: the item that `take` hands out later.
            request: the request that the item is part of; the item, or the caller, keeps it alive.
            seconds: the seconds that the item is expected to take, above 0.
        """
        if (share := self._shares.get(request)) is None:
            share = self._shares[request] = _RequestShare()
        if not share.waiting:
            share.used = max(share.used, self._now)
        # A stream of short items must not overtake a long item for ever. So the seconds that the request had used when
        # the item arrived count in its turn, too
        heapq.heappush(share.waiting, _Waiting(share.used + seconds, next(self._order), item, seconds))
        self._count += 1
        self._place(share)

    def take(self) -> T | None:
        """The next item, whose expected seconds are charged to its request; None when the queue is empty."""
        while self._places:
            _, _, version, share = heapq.heappop(self._places)
            if version != share.version:
                continue
            work = heapq.heappop(share.waiting)
            self._count -= 1
            self._now = max(self._now, share.used)
            share.used += work.seconds
            self._place(share)
            return work.item
        return None

    def charge(self, request: Request, seconds: float) -> None:
        """Add `seconds`, which may be negative, to those that a request has used.

        They are the difference between the seconds that an item took and the seconds that `take` has charged for it.
        """
        if (share := self._shares.get(request)) is not None:
            share.used += seconds
            self._place(share)

    def _place(self, share: _RequestShare[T]) -> None:
        share.version += 1
        if share.waiting:
            turn = share.used + share.waiting[0].seconds
            heapq.heappush(self._places, (turn, next(self._order), share.version, share))
