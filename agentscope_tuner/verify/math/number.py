"""Written numbers: their decimals, their rounding, and literals that can be compared without arithmetic."""

from __future__ import annotations

import re
from fractions import Fraction

from agentscope_tuner.verify.math.node import (
    Degrees,
    Negation,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quantity,
    Quotient,
    Sum,
)
from agentscope_tuner.verify.math.text import Unreadable
from agentscope_tuner.verify.math.tree import walk

# An answer with at least this many decimals may be an exact value, rounded or cut
ROUNDED_DECIMALS = 6
# The largest relative difference between a value and its float printed in full
FLOAT_NOISE = Fraction(1, 10**12)
_MOST_NOISE = Fraction(1, 10**6)
# A float prints at most this many digits
_FLOAT_DIGITS = 17
_FLOAT_DECIMALS = 10
_MAX_PERIOD = 100
# A reference with this many significant digits may be the exact value, rounded
_ROUNDED_DIGITS = 3
_PLAIN = re.compile(r"([-+]?)(?:(?<=[-+])\s+)?(\d+(?:,\d{3})*)?(?:\.(\d*))?")
_SIGNS = (Negation, Percent, Quantity)


def plain_key(text: str) -> tuple[str, str, str] | None:
    """The sign, whole digits and decimals of a plain number; None for any other text.

    The digits stay text, because converting a very long number to an integer takes long.
    """
    match = _PLAIN.fullmatch(text.strip())
    if match is None or not (match[2] or match[3]):
        return None
    whole = (match[2] or "").replace(",", "").lstrip("0")
    decimals = (match[3] or "").rstrip("0")
    sign = "-" if match[1] == "-" and (whole or decimals) else ""
    return sign, whole, decimals


def decimals(node: Node) -> int | None:
    """The decimal places of a written number's value; None for a computed value. A percent sign adds two places."""
    if isinstance(node, _SIGNS):
        inside = decimals(node.inside)
        return inside if inside is None or not isinstance(node, Percent) else inside + 2
    if not isinstance(node, Number) or not node.text:
        return None
    mantissa, _, exponent = node.text.lower().partition("e")
    return max(0, len(mantissa.partition(".")[2]) - int(exponent or 0))


def _significant(node: Node) -> int:
    """The number of significant digits of a written number; 0 for a computed value."""
    while isinstance(node, _SIGNS):
        node = node.inside
    mantissa = node.text.lower().partition("e")[0] if isinstance(node, Number) else ""
    return len(mantissa.replace(".", "").lstrip("0"))


def _is_exact(node: Node) -> bool:
    """Whether the value holds no decimal number, so it was not rounded on the way."""
    return not any(is_decimal(n) for n in walk(node))


def is_decimal(node: Node) -> bool:
    """Whether the node is a literal that was written with a decimal point."""
    return isinstance(node, Number) and "." in node.text


def literal(node: Node) -> Fraction | None:
    """The value of a written number, fraction or mixed number; None for any other node."""
    match node:
        case Number(value):
            return value
        case Negation(inside):
            found = literal(inside)
            return None if found is None else -found
        case Quotient(above, below):
            top, bottom = literal(above), literal(below)
            return None if top is None or not bottom else top / bottom
        case Sum(terms):
            parts = [literal(term) for term in terms]
            known = [part for part in parts if part is not None]
            return sum(known, Fraction(0)) if len(known) == len(parts) else None
    return None


def close(ref: Node, ref_value: Fraction, ans: Node, ans_value: Fraction) -> bool:
    """Whether the two numbers are equal under the rounding policy of docs/math_equivalence.md."""
    if ref_value == ans_value:
        return True
    written, answered = scientific(ref), scientific(ans)
    if written is not None and answered is not None and written[1] == answered[1]:
        (mine, _), (theirs, _) = written, answered
        return close(mine, mine.value, theirs, theirs.value)
    ref_places, ans_places = decimals(ref), decimals(ans)
    if ref_places and _takes_rounded(ref, ref_places, ans, ans_places):
        return half_up(ans_value, ref_places) == ref_value
    return _rounded(ref_value, ans_places, ans_value) or (
        ref_places is not None and _rounded(ans_value, ref_places, ref_value)
    )


def scientific(node: Node) -> tuple[Number, Fraction] | None:
    r"""The mantissa and the exponent of `6.02\cdot 10^{23}`; None for any other node."""
    match node:
        case Product((Number() as mantissa, Power(Number(base), exponent))) if base == 10:
            power = literal(exponent)
            return None if power is None else (mantissa, power)
    return None


def _takes_rounded(ref: Node, ref_places: int, ans: Node, ans_places: int | None) -> bool:
    digits = _significant(ref)
    written = ref_places - 2 * any(isinstance(n, Percent) for n in walk(ref))
    if isinstance(ans, Degrees) or (isinstance(ref, Percent) and not isinstance(ans, Percent)):
        # A value converted to another unit must be exact: allowing rounding as well would accept wrong values
        return False
    if ans_places is None or ans_places == 0:
        return digits >= _ROUNDED_DIGITS and _is_exact(ans)
    return ans_places > ref_places and (digits >= _ROUNDED_DIGITS or (digits >= 2 and written >= 2))


def half_up(value: Fraction, places: int) -> Fraction:
    """The value rounded to `places` decimals. Halves go away from zero, so every value has exactly one rounding."""
    scaled = abs(value) * 10**places + Fraction(1, 2)
    whole = scaled.numerator // scaled.denominator
    return Fraction(whole if value >= 0 else -whole, 10**places)


def _rounded(exact: Fraction, places: int | None, written: Fraction) -> bool:
    """Whether a written decimal is `exact` rounded or cut at its last place, or `exact` as a float prints it."""
    if places is None or places < ROUNDED_DECIMALS:
        return False
    difference = abs(exact - written)
    printed = abs(written) * 10**places < 10**_FLOAT_DIGITS
    if places >= _FLOAT_DECIMALS and printed and difference <= min(FLOAT_NOISE * abs(exact), _MOST_NOISE):
        return True
    last = Fraction(1, 10**places)
    near = half_up(exact, places) == written or (difference < last and abs(written) < abs(exact))
    # With few significant digits the last place is too coarse to show that the value was computed
    return near and abs(written) * 10**places >= 1000


def continued(text: str) -> Fraction:
    """The value of a decimal that dots continue, like `0.333…`.

    It must end in one digit written three times, or in a group of digits written twice.

    Raises:
        Unreadable: the decimals do not repeat.
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
    """The value of a decimal after which `digits` repeat for ever.

    Raises:
        Unreadable: more repeating digits than the bound.
    """
    if len(digits) > _MAX_PERIOD:
        raise Unreadable(f"{len(digits)} digits that repeat")
    places = len(text.partition(".")[2])
    return Fraction(text) + Fraction(int(digits), (10 ** len(digits) - 1) * 10**places)
