"""Reads JSON from hostile text, strictly and within bounds: one value for each key, no NaN, limited nesting."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from agentscope_tuner.verify import re
from agentscope_tuner.verify.text import Fenced, fenced

MOST_CHARS = 1_000_000
MOST_DEPTH = 64
# Python refuses to print an int of more than 4,300 digits
_MOST_DIGITS = 4_000
# A string is one match, even without its closing quote, so that no character is read twice
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


class NotStrictJsonError(ValueError):
    """The text is not strict JSON; the message can be part of a verdict's reason."""


def read_json(
    text: str,
    *,
    real: Callable[[str], object] | None = None,
    most_chars: int = MOST_CHARS,
    most_depth: int = MOST_DEPTH,
) -> object:
    """The value of `text`, which must be one JSON value (RFC 8259) with nothing but white space around it.

    Also refused are a key that an object has twice, `NaN` and `Infinity`, which Python's reader would accept, and
    numbers of more than 4,000 digits. Time is linear in the text, and recursion is no deeper than `most_depth`.

    Args:
        text: the JSON.
        real: makes a number from digits with a point or an exponent; exact Decimals by default.
        most_chars: the most characters of `text`.
        most_depth: the most levels of nested lists and objects.

    Raises:
        NotStrictJsonError: the text is refused; the message names the reason.
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
    """The exact value of a number with a point or an exponent: `Decimal("1.5")` for `1.5`.

    Raises:
        NotStrictJsonError: the number has too many digits, or its exponent is too large.
    """
    if len(digits) <= _MOST_DIGITS:
        try:
            return Decimal(digits)
        except InvalidOperation:
            pass
    raise NotStrictJsonError(f"over the bounds: the number {digits:.40}")


def float_real(digits: str) -> float:
    """The nearest float to a number with a point or an exponent: 150.0 for `1.5e2`.

    Raises:
        NotStrictJsonError: the number has too many digits, or is too large for a float.
    """
    number = float(digits) if len(digits) <= _MOST_DIGITS else math.inf
    if math.isinf(number):
        raise NotStrictJsonError(f"over the bounds: the number {digits:.40}")
    return number


def comparable(value: object) -> object:
    """A form of a JSON value for comparisons: two forms are equal if, and only if, the JSON values are.

    Python's own comparison does not fit: in JSON `true` is not 1, and 1.0 is 1. A float has the value that it prints
    as, so 0.1 is a tenth. The form and its parts are hashable.

    Raises:
        ValueError: the value does not exist in JSON, such as NaN, a date, or a key that is not a string; or it is
            nested deeper than `MOST_DEPTH`. The message names the value.
    """
    return _comparable(value, MOST_DEPTH)


def _comparable(value: object, levels: int) -> object:
    """`comparable` for a value with at most `levels` more levels of nested lists and objects."""
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
    """Whether the lists and objects of a text are nested more than `most` levels deep, found without parsing it."""
    depth = 0
    for piece in _PIECE.finditer(text):
        if (first := piece[0][0]) in "[{":
            depth += 1
            if depth > most:
                return True
        elif first != '"':
            depth -= 1
    return False


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object with these keys and values.

    Raises:
        NotStrictJsonError: it has a key twice.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise NotStrictJsonError(f"the key {twice!r:.40} stands twice in one object")
    return found


def _whole(digits: str) -> int:
    """The whole number with these digits.

    Raises:
        NotStrictJsonError: there are too many.
    """
    if len(digits) > _MOST_DIGITS:
        raise NotStrictJsonError(f"over the bounds: the number {digits:.40}")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    """Raise for `NaN` or `Infinity`."""
    raise NotStrictJsonError(f"{name} is no JSON number")


def stated_json(text: str, *, fence: bool) -> str:
    """The part of `text` that should be its one JSON value: the only code block, or else all of the text.

    Other words may be around the code block. Two blocks would be two values, so such a text is refused.

    Args:
        text: an answer.
        fence: whether the value may be in a code block.

    Raises:
        NotStrictJsonError: the text has several code blocks, or an unclosed one.
    """
    found = fenced(text) if fence else Fenced([], text, True)
    if not found.closed:
        raise NotStrictJsonError("a code block that is never closed")
    if len(found.blocks) > 1:
        raise NotStrictJsonError(f"{len(found.blocks)} code blocks, where one value is asked for")
    return (found.blocks[0] if found.blocks else text).strip()
