"""Two sets of real numbers compared (worker side).

Each side's truth can change only at a few points. So the sets are equal if both sides agree at each of those points,
between neighbouring points, and beyond the outermost.
"""

from __future__ import annotations

from itertools import pairwise

from mpmath import mp

from agentscope_tuner.verify.math.node import Node
from agentscope_tuner.verify.math.numeric_matrix import NotANumber, OutOfRange, Value
from agentscope_tuner.verify.math.real_line import RealLine
from agentscope_tuner.verify.math.text import TooComplex
from agentscope_tuner.verify.math.tree import EMPTY_SET

_MAX_POINTS = 200
_BETWEEN = (0.137, 0.5, 0.871)
_OUTSIDE = (1, "0.37", 1000)
# Points beyond the grid on which changes are searched. The tolerance of a comparison grows with its values, so the
# farthest point needs more digits than the others
_FAR, _FAR_DIGITS = ("1e6", "1e9", "1e30", "1e90"), 240


def same_region(ref: Node, ans: Node, ref_line: RealLine, ans_line: RealLine) -> bool | None:
    """Whether both describe the same set of real numbers; None where both seem empty, which proves nothing.

    Raises:
        TooComplex: more points than the bound, or a node that is not a set of reals.
    """
    try:
        points = sorted({mp.mpf(p) for line, node in ((ref_line, ref), (ans_line, ans)) for p in line.changes(node)})
    except NotANumber:
        return False
    if len(points) > _MAX_POINTS:
        raise TooComplex("too many points where the truth may change")
    holds = [(ref_line.holds(ref, x), ans_line.holds(ans, x)) for x in _places(points)]
    if any(r != a for r, a in holds) or not _same_far_away(ref, ans, ref_line, ans_line):
        return False
    # two statements that hold nowhere may have failed for different reasons
    return True if any(r for r, _ in holds) or ref == ans == EMPTY_SET else None


def _places(points: list[Value]) -> list[Value]:
    """Points to test: the given points without near duplicates, and points between and around them."""
    near = mp.mpf(10) ** (-mp.dps // 3)
    apart = [p for at, p in enumerate(points) if at == 0 or p - points[at - 1] > near]
    if not apart:
        return [mp.mpf("-1.7"), mp.mpf("0.3")]
    between = [a + (b - a) * at for a, b in pairwise(apart) for at in _BETWEEN]
    return [*apart, *between, *(end for step in map(mp.mpf, _OUTSIDE) for end in (apart[0] - step, apart[-1] + step))]


def _same_far_away(ref: Node, ans: Node, ref_line: RealLine, ans_line: RealLine) -> bool:
    """Whether both agree far outside the searched grid. A point where a value is out of range is skipped."""
    with mp.workdps(_FAR_DIGITS):
        for x in (sign * mp.mpf(size) for size in _FAR for sign in (1, -1)):
            try:
                if ref_line.holds(ref, x) != ans_line.holds(ans, x):
                    return False
            except OutOfRange:
                continue
    return True
