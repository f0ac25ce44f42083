"""A policy without a model: it knows the way over the lake, and stumbles."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

STEPS = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}


class ScriptedPolicy:
    """Walks the shortest way, and says a random direction instead with probability `stumble`.

    Args:
        stumble: from 0.0, which always arrives, to 1.0, which wanders.
        seed: of the stumbling.
    """

    def __init__(self, stumble: float, seed: int) -> None:
        self._stumble = stumble
        self._chance = random.Random(seed)

    def reply(self, messages: Sequence[Message]) -> str:
        """One word, a direction."""
        if self._chance.random() < self._stumble:
            return self._chance.choice(sorted(STEPS))
        lake = str(messages[-1]["content"]).rpartition("\n\n")[2]
        return shortest_way(lake)[0]


def shortest_way(lake: str) -> list[str]:
    """The directions from P to G around the holes of `lake`, rows of letters divided by spaces.

    Raises:
        ValueError: there is no way, or no lake.
    """
    rows = [row.split() for row in lake.splitlines()]
    cells = {(i, j): cell for i, row in enumerate(rows) for j, cell in enumerate(row)}
    start = next((place for place, cell in cells.items() if cell == "P"), None)
    if start is None:
        raise ValueError(f"no P on the lake {lake!r}")
    ways: deque[tuple[tuple[int, int], list[str]]] = deque([(start, [])])
    seen = {start}
    while ways:
        (i, j), way = ways.popleft()
        if cells[i, j] == "G":
            return way
        for direction, (down, right) in STEPS.items():
            place = (i + down, j + right)
            if cells.get(place, "H") != "H" and place not in seen:
                seen.add(place)
                ways.append((place, [*way, direction]))
    raise ValueError(f"no way from P to G on the lake {lake!r}")
