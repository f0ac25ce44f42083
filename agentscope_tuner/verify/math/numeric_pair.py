"""The values of two expressions at one point, compared (worker side)."""

from __future__ import annotations

from fractions import Fraction

from mpmath import mp

from agentscope_tuner.verify.math.numeric_matrix import OutOfRange, Value


class NumericPair:
    """Two values at one point, compared at mpmath's current precision.

    Attributes:
        hidden: the binary magnitudes of terms too small for this precision (see `Numeric`).
        real, one_real: whether both values are real, and whether exactly one is.
        fractions: both values as exact fractions, where both are single real numbers.
        refuted: whether the values differ by more than the tolerance; also true where their shapes differ.
        sure: whether the tolerance is small beside the values, so that agreement proves something.
        vanished: whether the tolerance is small in itself: then values that small are zero.
    """

    def __init__(self, values: list[Value], scale: Value, hidden: list[int]) -> None:
        self.hidden = hidden
        self.real, self.one_real = True, False
        self.fractions: tuple[Fraction, Fraction] | None = None
        self.refuted, self.sure, self.vanished = True, True, False
        if [isinstance(v, list) for v in values] in ([True, False], [False, True]):
            return
        cells = [_cells(v) for v in values]
        if cells[0][0] != cells[1][0]:
            return
        left, right = cells[0][1], cells[1][1]
        size = max(abs(v) for v in (*left, *right))
        tolerance = max(scale, size) * mp.mpf(10) ** (15 - mp.dps)
        reals = [all(abs(mp.im(v)) <= tolerance for v in side) for side in (left, right)]
        self.real, self.one_real = all(reals), reals[0] != reals[1]
        self.refuted = any(abs(a - b) > tolerance for a, b in zip(left, right, strict=True))
        # after cancellation only more digits separate zero from a small difference
        self.sure = tolerance <= size * mp.mpf(10) ** -20
        self.vanished = tolerance <= mp.mpf(10) ** (-mp.dps // 2)
        if self.real and len(left) == 1:
            self.fractions = (_fraction(left[0]), _fraction(right[0]))

    def agrees(self) -> bool:
        """Whether two values that were not refuted agree at the highest precision.

        They agree if they have the same digits, or if all digits cancelled on both sides.

        Raises:
            OutOfRange: the terms are too large to compare at this precision.
        """
        if not self.sure and not self.vanished:
            raise OutOfRange("terms too large to tell with 1,000 digits")
        return True


def _cells(value: Value) -> tuple[tuple[int, int], list[Value]]:
    if not isinstance(value, list):
        return (0, 0), [value]
    return (len(value), len(value[0])), [cell for row in value for cell in row]


def _fraction(value: Value) -> Fraction:
    sign, mantissa, exponent, _ = mp.mpf(mp.re(value))._mpf_
    two = Fraction(2) ** int(exponent)
    return Fraction(-mantissa if sign else mantissa) * two
