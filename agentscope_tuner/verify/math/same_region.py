"""Two sets of real numbers compared (worker side).

Both sides' truth can change only at a few points. The two are equal when they agree at each of those points, between
them, and beyond them.
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
# where the search for changes on a grid does not reach; the tolerance of a comparison grows with the values in it, so
# that the farthest needs more digits than the rest
_FAR, _FAR_DIGITS = ("1e6", "1e9", "1e30", "1e90"), 240


def same_region(ref: Node, ans: Node, ref_line: RealLine, ans_line: RealLine) -> bool | None:
    """Whether both describe the same set of real numbers; None where neither holds anywhere, which says nothing.

    Raises:
        TooComplex: more points than the bound, or something that is no set of reals.
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
    """The points, apart from one another, and others between and around them."""
    near = mp.mpf(10) ** (-mp.dps // 3)
    apart = [p for at, p in enumerate(points) if at == 0 or p - points[at - 1] > near]
    if not apart:
        return [mp.mpf("-1.7"), mp.mpf("0.3")]
    between = [a + (b - a) * at for a, b in pairwise(apart) for at in _BETWEEN]
    return [*apart, *between, *(end for step in map(mp.mpf, _OUTSIDE) for end in (apart[0] - step, apart[-1] + step))]


def _same_far_away(ref: Node, ans: Node, ref_line: RealLine, ans_line: RealLine) -> bool:
    """Whether both agree where the search for changes did not look; what is out of range there says nothing."""
    with mp.workdps(_FAR_DIGITS):
        for x in (sign * mp.mpf(size) for size in _FAR for sign in (1, -1)):
            try:
                if ref_line.holds(ref, x) != ans_line.holds(ans, x):
                    return False
            except OutOfRange:
                continue
    return True
