"""JSON as policies write it, read strictly and within bounds: one value for each key, no NaN, no endless nesting."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from agentscope_tuner.verify.text.fences import Fenced, fenced

MOST_CHARS = 1_000_000
MOST_DEPTH = 64
# as many as an int may have that Python prints
_MOST_DIGITS = 4_000
# a string is one match, also an unclosed string, so that no character is read twice
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


class NotStrictJsonError(ValueError):
    """The text is no JSON of the strict kind; the message says why, in words for a verdict's reason."""


def read_json(
    text: str,
    *,
    real: Callable[[str], object] | None = None,
    most_chars: int = MOST_CHARS,
    most_depth: int = MOST_DEPTH,
) -> object:
    """The value that all of `text` states as JSON (RFC 8259), white space around it apart.

    Refused beyond the RFC: the same key twice in one object, `NaN` and `Infinity`, and what is over the bounds
    (1,000,000 characters, 64 levels, numbers of 4,000 digits). Linear in the text; no recursion beyond the levels.

    Args:
        real: makes a number of digits with a point or an exponent; exact Decimals by default.

    Raises:
        NotStrictJsonError: why it is refused.
    """
    if len(text) > most_chars:
        raise NotStrictJsonError(f"over the bounds: {len(text):,} characters of JSON, at most {most_chars:,} are read")
    if _is_deeper(text, most_depth):
        raise NotStrictJsonError(f"over the bounds: JSON nested more than {most_depth} levels deep")
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_whole,
            parse_float=real or exact_real,
        )
    except json.JSONDecodeError as exc:
        raise NotStrictJsonError(f"not JSON: {exc.msg} at character {exc.pos}") from None


def exact_real(digits: str) -> Decimal:
    """A number with a point or an exponent, as it is written.

    Raises:
        NotStrictJsonError: it is too long, or its exponent too large.
    """
    if len(digits) <= _MOST_DIGITS:
        try:
            return Decimal(digits)
        except InvalidOperation:
            pass
    raise NotStrictJsonError(f"over the bounds: the number {digits:.40}")


def float_real(digits: str) -> float:
    """The nearest binary fraction.

    Raises:
        NotStrictJsonError: it is too long, or too large for one.
    """
    number = float(digits) if len(digits) <= _MOST_DIGITS else math.inf
    if math.isinf(number):
        raise NotStrictJsonError(f"over the bounds: the number {digits:.40}")
    return number


def comparable(value: object) -> object:
    """A form of a JSON value that is equal to another's exactly where the values are: `true` is not 1, and 1.0 is 1.

    Floats count as they are printed: 0.1 is a tenth. The form can be hashed, and so can its parts.

    Raises:
        ValueError: the value is none that JSON has, such as NaN, a date, or a key that is no string; or nested deeper
            than `MOST_DEPTH`. The message names it.
    """
    return _comparable(value, MOST_DEPTH)


def _comparable(value: object, levels: int) -> object:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int):
        return ("number", value)
    if isinstance(value, float | Decimal):
        number = Decimal(repr(value)) if isinstance(value, float) else value
        if not number.is_finite():
            raise ValueError(f"{value!r} is no JSON number")
        return ("number", number)
    if levels == 0:
        raise ValueError(f"nested more than {MOST_DEPTH} levels deep")
    if isinstance(value, list | tuple):
        return ("list", *[_comparable(item, levels - 1) for item in value])
    if isinstance(value, dict):
        if foreign := [key for key in value if not isinstance(key, str)]:
            raise ValueError(f"the key {foreign[0]!r:.40} is no string")
        return ("object", frozenset((key, _comparable(item, levels - 1)) for key, item in value.items()))
    raise ValueError(f"{value!r:.40} is no JSON value")


def _is_deeper(text: str, most: int) -> bool:
    depth = 0
    for piece in _PIECE.finditer(text):
        first = piece[0][0]
        if first in "[{":
            depth += 1
            if depth > most:
                return True
        elif first != '"':
            depth -= 1
    return False


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise NotStrictJsonError(f"the key {twice!r:.40} stands twice in one object")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise NotStrictJsonError(f"over the bounds: the number {digits:.40}")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise NotStrictJsonError(f"{name} is no JSON number")


def stated_json(text: str, *, fence: bool) -> str:
    """Where the one JSON value of `text` stands: all of the text, or, where `fence` allows it, its only code block.

    Words may stand around a code block. Two blocks state two values, so neither is taken.

    Raises:
        NotStrictJsonError: why there is none.
    """
    found = fenced(text) if fence else Fenced([], text, True)
    if not found.closed:
        raise NotStrictJsonError("a code block that is never closed")
    if len(found.blocks) > 1:
        raise NotStrictJsonError(f"{len(found.blocks)} code blocks, where one value is asked for")
    return (found.blocks[0] if found.blocks else text).strip()
