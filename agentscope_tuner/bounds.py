"""Bounds on structures that a policy may have written, such as the arguments of its tool calls.

A policy can write JSON of any depth, but encoders, parsers and pickles stop after some hundred levels, each elsewhere.
So a rollout's metadata is bounded in one place, where its `WorkflowOutput` is made: whatever a policy nests, it
can be judged, sent, logged and shown. Rows that other programs wrote are bounded as text, by `readable`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

#: The most levels of lists and dictionaries in a value of metadata. A row around it adds five, and pydantic's parser
#: stops at 200.
MOST_LEVELS = 100
# In characters: a list or dictionary counts as 4,096, and as 1,024 where its keys and values become text; any other
# value as 128 beside its own
_HOLDER_SIZE, _FLAT_HOLDER_SIZE, _VALUE_SIZE, _MOST_SIZE = 4_096, 1_024, 128, 2**28
# Python prints no int of more than 4,300 digits
_MOST_INT, _MOST_DIGITS = 10**4_000, 4_000
_CUT = "…"


def bounded(value: Any) -> Any:
    """`value` itself if it is within bounds; else a copy in which texts replace the parts that are not.

    Lists and dictionaries below `MOST_LEVELS` become the text of their keys and values, and whole numbers of more than
    4,000 digits a note. After 65,000 lists and dictionaries, 260,000 of them below, two million values or 256 million
    characters, `…` stands for what follows: YAML's aliases can make that many of a few bytes.
    """
    return value if _is_within(value) else _Budget().copy(value, MOST_LEVELS)


def json_or(text: str | bytes, default: Any) -> Any:
    """The value of a JSON text; `default` if the text is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return default


def flat(value: Any) -> str:
    """All keys and values of nested data in one text: `a 1 b 2` for `{"a": [1, {"b": 2}]}`. So nothing can be hidden by
    nesting it deeply.
    """
    return _Budget().flat(value)


def _is_within(value: Any) -> bool:
    level: list[Any] = [value]
    size = 0
    for _ in range(MOST_LEVELS + 1):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, str):
                size += len(one)
            elif isinstance(one, dict | list | tuple):
                inner.extend(one.values() if isinstance(one, dict) else one)
                size += _HOLDER_SIZE
            elif isinstance(one, int) and not -_MOST_INT < one < _MOST_INT:
                return False
            if size + _VALUE_SIZE * len(inner) > _MOST_SIZE:
                return False
        if not inner:
            return True
        size += _VALUE_SIZE * len(inner)
        level = inner
    return False


class _Budget:
    """The size that is left for a copy."""

    def __init__(self) -> None:
        self._left = _MOST_SIZE

    def copy(self, value: Any, levels: int) -> Any:
        if not isinstance(value, dict | list | tuple):
            return self._leaf(value)
        if levels == 0:
            return self.flat(value)
        self._left -= _HOLDER_SIZE
        if self._left < 0:
            return _CUT
        if isinstance(value, dict):
            return {key: self.copy(inner, levels - 1) for key, inner in self._while_left(value.items())}
        return [self.copy(inner, levels - 1) for inner in self._while_left(value)]

    def flat(self, value: Any) -> str:
        shown: list[str] = []
        waiting: list[Iterator[Any]] = [iter((value,))]
        while waiting:
            if (one := next(waiting[-1], waiting)) is waiting:
                waiting.pop()
            # the cheap questions first: whether a value is a Mapping takes as long as the rest of its turn
            elif isinstance(one, list | tuple):
                self._left -= _FLAT_HOLDER_SIZE
                waiting.append(iter(one))
            elif isinstance(one, dict) or (not isinstance(one, str) and isinstance(one, Mapping)):
                self._left -= _FLAT_HOLDER_SIZE
                waiting.append(chain.from_iterable(one.items()))
            else:
                shown.append(str(self._leaf(one)))
            if self._left < 0:
                break
        if self._left < 0:
            shown.append(_CUT)
        return " ".join(shown)

    def _leaf(self, value: Any) -> Any:
        self._left -= _VALUE_SIZE + (len(value) if isinstance(value, str) else 0)
        if self._left < 0:
            return _CUT
        if isinstance(value, int) and not -_MOST_INT < value < _MOST_INT:
            return f"(a whole number of about {int(value.bit_length() * math.log10(2)):,} digits)"
        return value

    def _while_left(self, values: Iterable[Any]) -> Iterable[Any]:
        for value in values:
            yield value
            if self._left < 0:
                return


# A string is one match, even without its closing quote, so that no character is read twice
_STRING = rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_NUMBER = rb"-?(?:NaN|Infinity)|-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?"
_PIECE = re.compile(rb"%s|[\[{]|[\]}]|%s" % (_STRING, _NUMBER), re.DOTALL)
# Below the levels that are read, brackets of one direction are one match: there may be a million
_BRACKETS = re.compile(rb'%s|[\[{][^"\]}]*+|[\]}][^"\[{]*+' % _STRING, re.DOTALL)


def readable(raw: bytes) -> bytes:
    """JSON text in which whatever parsers refuse is replaced, so that the rest of a row can be read.

    Lists and objects deeper than `MOST_LEVELS` and numbers beyond a float, or of more than 4,000 digits, become strings
    of their own text, and NaN and Infinity become null. Time is linear in the text; what is no JSON stays none.
    """
    parts: list[bytes] = []
    depth = done = at = 0
    while (piece := _PIECE.search(raw, at)) is not None:
        start, at = piece.span()
        told: bytes | None = None
        if (first := piece[0][:1]) in b"[{":
            depth += 1
            if depth > MOST_LEVELS:
                at = _closed(raw, start)
                depth, told = depth - 1, _as_string(raw[start:at])
        elif first in b"]}":
            depth -= 1
        elif first != b'"':
            told = _number(piece[0])
        if told is not None:
            parts += [raw[done:start], told]
            done = at
    return b"".join([*parts, raw[done:]]) if parts else raw


def _closed(raw: bytes, start: int) -> int:
    """The position after the end of the list or object that begins at `start`; the end of the text if
    it is not closed.
    """
    depth = 0
    for run in _BRACKETS.finditer(raw, start):
        first, text = run[0][:1], run[0]
        if first in b"[{":
            depth += text.count(b"[") + text.count(b"{")
        elif first in b"]}":
            if (closing := text.count(b"]") + text.count(b"}")) >= depth:
                return run.start() + [at for at, char in enumerate(text) if char in b"]}"][depth - 1] + 1
            depth -= closing
    return len(raw)


def _number(text: bytes) -> bytes | None:
    """The replacement of a number that parsers refuse: `null` for `NaN`, a string for `1e999`. None if the number may
    stay.
    """
    if text[-1:] in b"Ny":
        return b"null"
    return _as_string(text) if len(text) > _MOST_DIGITS or math.isinf(float(text)) else None


def _as_string(text: bytes) -> bytes:
    return json.dumps(text.decode("utf-8", "replace")).encode("ascii")
