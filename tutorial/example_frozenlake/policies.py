"""Two policies for FrozenLake: one that knows the way but stumbles, and any model behind an OpenAI-compatible URL."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol

Message = dict[str, Any]

STEPS = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}


class Policy(Protocol):
    """Reads the chat so far and writes the next message."""

    def reply(self, messages: Sequence[Message]) -> str: ...


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


class ModelPolicy:
    """Asks a chat model.

    Args:
        base_url: of an OpenAI-compatible endpoint, with its `/v1`.
        model: its name there.
        api_key: any text, for local servers that ask for none.
    """

    def __init__(self, base_url: str, model: str, api_key: str = "none") -> None:
        from openai import OpenAI

        self._client = OpenAI(base_url=base_url, api_key=api_key, timeout=120.0)
        self._model = model

    def reply(self, messages: Sequence[Message]) -> str:
        """What the model says to the first message, which has the rules, and the latest one, which has the lake."""
        latest = [messages[0], *messages[-1:]] if len(messages) > 1 else list(messages)
        prompt = "\n\n".join(str(message["content"]) for message in latest)
        completion = self._client.chat.completions.create(
            model=self._model, messages=[{"role": "user", "content": prompt}], temperature=0.8, max_tokens=32
        )
        return completion.choices[0].message.content or ""


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
