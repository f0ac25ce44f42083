"""Lists, dicts and other containers that both the tests and the program hold.

Each has one number on both sides. A message names it by its number, and tells its contents where they are new or have
changed since the last message. So two names for one list are two names for one list on the other side as well, within a
value and between values.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from agentscope_tuner.verify.code.inside.code_values import MUTABLE, NotPlainError, contents

# What is looked at before each message, as text; the oldest beyond it are copies from then on
_MOST_BYTES = 200_000


def _references(held: dict[int, object], number: int) -> int:
    return sys.getrefcount(held[number])


_ALONE = _references({0: []}, 0)


class SharedContainers:
    """One side's containers that the other side holds, too.

    Args:
        pack, unpack: make data of what a container holds, and the other way round.
        first: the first number that this side gives; the other side begins with the next.
    """

    def __init__(self, pack: Callable[[object], object], unpack: Callable[[object], Any], first: int) -> None:
        self._pack, self._unpack, self._next = pack, unpack, first
        self._held: dict[int, object] = {}
        self._numbers: dict[int, int] = {}
        # what the other side knows of each
        self._known: dict[int, str] = {}
        self._mentioned: set[int] = set()

    def share(self, value: object) -> object:
        """What stands for the container in a message."""
        if id(value) not in self._numbers:
            self._hold(self._next, value)
            self._next += 2
        self._mentioned.add(number := self._numbers[id(value)])
        return {"m": number}

    def __getitem__(self, number: int) -> object:
        """The container that a message names."""
        return self._held[number]

    def outgoing(self) -> dict[str, object]:
        """What the next message tells of containers."""
        told: dict[int, object] = {}
        try:
            self._tell(told)
        except BaseException:  # whatever cannot travel
            # nothing is sent: those of this message do not exist, and the rest is told by the next
            self._known.update(dict.fromkeys(told, ""))
            for number in self._held.keys() - self._known.keys():
                self._forget(number)
            raise
        dropped = self._dropped()
        self._mentioned.clear()
        return ({"held": told} if told else {}) | ({"dropped": dropped} if dropped else {})

    def _tell(self, told: dict[int, object]) -> None:
        seen = 0
        # those within containers are found meanwhile
        while numbers := [*self._held][seen:]:
            seen += len(numbers)
            for number in numbers:
                content = self._content(self._held[number])
                if (text := json.dumps(content)) != self._known.get(number):
                    self._known[number], told[number] = text, content

    def incoming(self, message: dict[str, Any]) -> None:
        """Make the containers what the other side has made of them."""
        told = {int(number): content for number, content in message.get("held", {}).items()}
        for number, content in told.items():
            if number not in self._held:
                self._hold(number, self._empty(content))
        for number, content in told.items():
            self._fill(self._held[number], content)
        for number in told:
            self._known[number] = json.dumps(self._content(self._held[number]))
        for number in message.get("dropped", []):
            self._forget(int(number))
        self._mentioned.clear()

    def _hold(self, number: int, value: object) -> None:
        self._held[number] = value
        self._numbers[id(value)] = number

    def _forget(self, number: int) -> None:
        del self._numbers[id(self._held.pop(number))]
        self._known.pop(number, None)

    def _dropped(self) -> list[int]:
        """Forget what nothing else here holds any more, and the oldest of too much."""
        size = sum(map(len, self._known.values()))
        dropped = []
        for number in [*self._held]:
            if number in self._mentioned:
                continue
            if size > _MOST_BYTES or _references(self._held, number) <= _ALONE:
                size -= len(self._known[number])
                self._forget(number)
                dropped.append(number)
        return dropped

    def _content(self, value: Any) -> object:
        if isinstance(value, defaultdict):
            items = [[self._pack(key), self._pack(part)] for key, part in value.items()]
            return {"makes": [self._pack(value.default_factory), items]}
        if isinstance(value, deque) and value.maxlen is not None:
            return {"most": [value.maxlen, contents([*value], self._pack)]}
        return contents(value, self._pack)

    def _empty(self, content: Any) -> object:
        if isinstance(content, list):
            return []
        ((tag, parts),) = content.items()
        if tag == "makes":
            return defaultdict(self._unpack(parts[0]))
        if tag == "most":
            return deque(maxlen=int(parts[0]))
        kinds = {"d": dict, "s": set, "q": deque, "y": bytearray}
        return kinds[tag]() if tag in kinds else {"Counter": Counter, "OrderedDict": OrderedDict}[parts[0]]()

    def _fill(self, old: Any, content: Any) -> None:
        if isinstance(content, dict) and "makes" in content:
            new: Any = self._unpack({"d": content["makes"][1]})
        else:
            new = self._unpack(content["most"][1] if isinstance(content, dict) and "most" in content else content)
        kind = next((kind for kind in MUTABLE if isinstance(old, kind)), None)
        if kind is None or not isinstance(new, (list, deque) if kind is deque else kind):
            raise NotPlainError("a container of another kind")
        if isinstance(old, list | bytearray):
            old[:] = new
        else:
            old.clear()
            (old.extend if isinstance(old, deque) else old.update)(new)
