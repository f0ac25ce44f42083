"""Equal questions asked at the same time share one request, and all callers get its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Flight(Generic[T]):
    """A question that is being asked, shared by its callers. When the last caller stops waiting, it is cancelled."""

    def __init__(
        self, work: Coroutine[Any, Any, T], flights: dict[tuple[str, int], Any], place: tuple[str, int]
    ) -> None:
        self._task = asyncio.get_running_loop().create_task(work)
        self._task.add_done_callback(lambda _: self._remove())
        self._flights, self._place = flights, place
        self._waiting = 0
        flights[place] = self

    def _remove(self) -> None:
        if self._flights.get(self._place) is self:
            del self._flights[self._place]

    async def join(self) -> T:
        """Wait for the answer as one more caller; raises the question's error."""
        self._waiting += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self._waiting -= 1
            if not self._waiting and not self._task.done():
                self._remove()  # a later caller must not join a question that is being cancelled
                self._task.cancel()
