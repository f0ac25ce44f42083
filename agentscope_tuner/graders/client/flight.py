"""Equal questions asked at the same time: one request, and one answer for all who wait."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Flight(Generic[T]):
    """One question on its way, and the callers waiting for it. When the last of them is gone, it is given up."""

    def __init__(self, work: Coroutine[Any, Any, T], board: dict[tuple[str, int], Any], place: tuple[str, int]) -> None:
        self._task = asyncio.get_running_loop().create_task(work)
        self._task.add_done_callback(lambda _: self._leave())
        self._board, self._place = board, place
        self._waiting = 0
        board[place] = self

    def _leave(self) -> None:
        if self._board.get(self._place) is self:
            del self._board[self._place]

    async def join(self) -> T:
        """The answer, or its error, for one more caller."""
        self._waiting += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self._waiting -= 1
            if not self._waiting and not self._task.done():
                self._leave()  # at once: who asks from here on must not join a flight that is being cancelled
                self._task.cancel()
