"""Numbers as texts: rounding, percents, and the literals that no arithmetic is needed to compare."""

from __future__ import annotations

import re
from fractions import Fraction

from agentscope_tuner.verify.math.node import Node
from agentscope_tuner.verify.math.text import Unreadable

# an answer with at least so many decimals may round or cut an exact value
ROUNDED_DECIMALS = 6
# a float printed in full differs from its value by this much at most, relatively
FLOAT_NOISE = Fraction(1, 10**12)
_MOST_NOISE = Fraction(1, 10**6)
# no float prints more digits than these
_FLOAT_DIGITS = 17
_FLOAT_DECIMALS = 10
_MAX_PERIOD = 100
_PLAIN = re.compile(r"([-+]?)(?:(?<=[-+])\s+)?(\d+(?:,\d{3})*)?(?:\.(\d*))?")


def plain_key(text: str) -> tuple[str, str, str] | None:
    """The sign, whole digits and decimals of a plain number, however long, without converting a digit; else None."""
    match = _PLAIN.fullmatch(text.strip())
    if match is None or not (match[2] or match[3]):
        return None
    whole = (match[2] or "").replace(",", "").lstrip("0")
    decimals = (match[3] or "").rstrip("0")
    sign = "-" if match[1] == "-" and (whole or decimals) else ""
    return sign, whole, decimals


def decimals(node: Node) -> int | None:
    """How many decimals a written number has; None for anything computed."""
    if node.head in ("neg", "percent", "unit", "deg"):
        return decimals(node.args[0])
    if node.head != "num" or not node.name:
        return None
    mantissa, _, exponent = node.name.lower().partition("e")
    return max(0, len(mantissa.partition(".")[2]) - int(exponent or 0))


def close(ref: Node, ref_value: Fraction, ans: Node, ans_value: Fraction) -> bool:
    """Whether the two numbers are the same under the rounding policy of docs/math_equivalence.md."""
    if ref_value == ans_value:
        return True
    ref_places, ans_places = decimals(ref), decimals(ans)
    if ref_places is not None and ans_places is not None and 2 <= ref_places < ans_places:
        return abs(ref_value - ans_value) <= Fraction(1, 2 * 10**ref_places)
    return rounded(ref_value, ans_places, ans_value) or (
        ref_places is not None and rounded(ans_value, ref_places, ref_value)
    )


def rounded(exact: Fraction, places: int | None, written: Fraction) -> bool:
    """Whether a written decimal is `exact` rounded or cut at its last place, or a float that prints its own noise."""
    if places is None or places < ROUNDED_DECIMALS:
        return False
    difference = abs(exact - written)
    printed = abs(written) * 10**places < 10**_FLOAT_DIGITS
    if places >= _FLOAT_DECIMALS and printed and difference <= min(FLOAT_NOISE * abs(exact), _MOST_NOISE):
        return True
    # rounded half a unit either way, or cut towards zero
    last = Fraction(1, 10**places)
    near = difference <= last / 2 or (difference < last and abs(written) < abs(exact))
    # an exact decimal with fewer places needs no rounding: what differs from it differs
    return near and abs(written) * 10**places >= 1000


def continued(text: str) -> Fraction:
    """The value of decimals that dots continue, if they end in one digit three times or in several digits twice.

    Raises:
        Unreadable: nothing in them repeats.
    """
    decimals = text.partition(".")[2]
    if not 2 < len(decimals) <= _MAX_PERIOD:
        raise Unreadable("decimals that dots continue")
    one = len(set(decimals[-3:])) == 1
    sizes = (1,) if one else range(2, len(decimals) // 2 + 1)
    size = next((n for n in sizes if one or decimals[-n:] == decimals[-2 * n : -n]), 0)
    if not size:
        raise Unreadable("decimals that dots continue")
    return recurring(text, decimals[-size:])


def recurring(text: str, digits: str) -> Fraction:
    """The value of a decimal after which `digits` repeat for ever."""
    places = len(text.partition(".")[2])
    return Fraction(text) + Fraction(int(digits), (10 ** len(digits) - 1) * 10**places)
