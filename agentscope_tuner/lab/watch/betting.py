"""Tests by betting that stay valid if they are read after every row: is a judge of a run being gamed?

A hypothesis says that the mean of some number from 0 to 1 exceeds m at no step of a run. A gambler bets against it
(Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", arXiv 2010.09686). Under the
hypothesis the gambler's wealth is a supermartingale, so the chance that it ever reaches 1/alpha is at most alpha (Ville
1939). This bound holds over the whole run, for any number of readings, and if the mean changes between steps.

Neither the best size of a bet nor the start of gaming is known. So the gambler spreads the stake over seven sizes, and
over all steps at which gaming may begin, as e-detectors do (Shin, Ramdas and Rinaldo, arXiv 2203.03532). What is left
of the stake after k steps is 1 / sqrt(k + 1): it falls so slowly that late gaming is not bet on with next to nothing.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from operator import itemgetter
from statistics import fmean, pvariance

# Sizes of bets, as shares of the largest bet that cannot lose more than its stake; what is not bet cannot be lost
_BETS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95)
# The values of m that are tested for bounds, and the means that a run's start may have
_GRID = tuple(number / 40 for number in range(1, 40))
_STARTS = tuple(number / 80 for number in range(80))
# A gambler with more wealth than this has lately won, so more rows are asked about next
_GROWN = 3.0
# Beyond this wealth no bet can change a finding
_ENOUGH = 1e12
_LATELY = 0.2


def _left(moments: int) -> float:
    """The part of the stake that is left after `moments` moments at which gaming may begin: 1 at first, 0.5 after
    three.
    """
    return 1 / math.sqrt(moments + 1)


@dataclass(slots=True)
class Wealth:
    """The gambler's wealth against one hypothesis: the mean of the values is at most `m`.

    Attributes:
        m: the mean.
        late: whether the stake is spread over all moments at which the values may begin to grow.
        rows: number of rows so far.
        moments: number of these moments so far.
        stakes: the wealth in the bets of each size.
        now, most: the wealth, and the highest so far.
        lately: the wealth of one bet that begins anew whenever it has lost.
    """

    m: float
    late: bool = True
    rows: int = 0
    moments: int = 0
    stakes: list[float] = field(default_factory=lambda: [0.0] * len(_BETS))
    now: float = 1.0
    most: float = 1.0
    lately: float = 1.0

    def add(self, value: float, *, m: float | None = None, moment: bool = True) -> None:
        """Add a row with a value from 0 to 1.

        Args:
            value: the value.
            m: replaces the mean for this row.
            moment: whether the values may begin to grow with this row.
        """
        if self.most >= _ENOUGH:
            return
        joins = 0.0 if self.late or self.rows else 1.0
        if self.late and moment:
            joins = _left(self.moments) - _left(self.moments + 1)
            self.moments += 1
        self.rows += 1
        # The bet is bet/m, so the factor is at least 1 - bet and the stake stays positive
        m = self.m if m is None else m
        gain = (value - m) / m
        self.stakes = [(stake + joins) * (1 + bet * gain) for stake, bet in zip(self.stakes, _BETS, strict=True)]
        self.now = sum(self.stakes) / len(_BETS) + (_left(self.moments) if self.late else 0.0)
        self.most = max(self.most, self.now)
        self.lately = max(1.0, self.lately) * (1 + _LATELY * gain)


class FalsePassTest:
    """Tests whether the share of false passes among a judge's passes has come to exceed `tolerance`.

    Args:
        tolerance: the share of false passes that the judge's own errors explain without gaming, 0 to 1.
        alpha: the chance of a false alarm over a whole run.
    """

    def __init__(self, tolerance: float = 0.1, alpha: float = 0.05) -> None:
        self.tolerance, self.alpha = tolerance, alpha
        self._test = Wealth(tolerance)
        self._grid = [Wealth(m) for m in _GRID]
        self.rows, self.false = 0, 0.0
        self._first = True

    def begin_step(self) -> None:
        """Begin a step, with whose first pass gaming may begin."""
        self._first = True

    def add(self, false: float) -> None:
        """Add a pass that got a second opinion: 1 if it is a false pass, 0 if not; or the share of false passes among
        several.
        """
        self.rows += 1
        self.false += false
        self._test.add(false, moment=self._first)
        for wealth in self._grid:
            # A bound that is proven stays proven: to bet on would change nothing
            if wealth.most * self.alpha < 1:
                wealth.add(false, moment=self._first)
        self._first = False

    @property
    def alarmed(self) -> bool:
        """Whether the hypothesis is rejected; this happens in at most `alpha` of the runs without gaming."""
        return self._test.most >= 1 / self.alpha

    @property
    def growing(self) -> bool:
        """Whether the latest rows suggest gaming, so that more rows should get a second opinion."""
        return self._test.lately >= _GROWN and not self.alarmed

    @property
    def lower_bound(self) -> float:
        """A share of false passes that some step of the run has reached; wrong in at most `alpha` of all runs.

        It is the bound of a confidence sequence, so it holds at all times at once: the wealth against a larger m is
        never larger.
        """
        return max((wealth.m for wealth in self._grid if wealth.most >= 1 / self.alpha), default=0.0)

    @property
    def evidence(self) -> float:
        """The highest wealth so far, as a share of the wealth that raises the alarm."""
        return min(1.0, self._test.most * self.alpha)


_LATEST = 40
# A mean has clearly risen if it is higher by more than this number of standard errors
_CLEARLY = 2.0


class StartAndNow:
    """The values of a run's start, and the latest values, to see whether their mean has risen."""

    def __init__(self, latest: int) -> None:
        self._start: list[float] = []
        self._latest: deque[float] = deque(maxlen=latest)

    def add(self, value: float, *, at_start: bool) -> None:
        """Add a value."""
        (self._start if at_start else self._latest).append(value)

    @property
    def means(self) -> tuple[float, float]:
        """The mean of the start's values, and the mean of the latest values; 0.0 for a mean of no values."""
        return fmean(self._start or (0.0,)), fmean(self._latest or (0.0,))

    @property
    def risen(self) -> bool:
        """Whether the latest mean exceeds the start's by more than chance explains: by `_CLEARLY` standard errors or
        more.
        """
        start, now = self.means
        squares = (pvariance(values) / len(values) for values in (self._start, self._latest) if values)
        return now - start > _CLEARLY * math.sqrt(sum(squares))


class RiseTest:
    """Tests whether the mean of some number from 0 to 1 has come to exceed what it was at a run's start by `rise`.

    The hypothesis: at no step the mean exceeds that of any step of the start by more than `rise`. Nobody knows the
    start's mean, so there is a gambler for each mean that it may have. He bets at the start that the mean is lower, and
    goes on, with what he has then, betting that the later mean is more than `rise` higher. Of all of them one starts
    from the truth, and his wealth reaches 1/`alpha` with the chance `alpha` at most: the alarm waits for the poorest.

    Args:
        rise: the rise of the mean that is no gaming, 0 to 1.
        alpha: the chance of a false alarm over a whole run.
        start_steps, start_rows: the start has so many steps at least, and so many values.

    Attributes:
        values: the values of the start, and the latest values.
    """

    def __init__(self, rise: float = 0.1, alpha: float = 0.05, *, start_steps: int = 10, start_rows: int = 40) -> None:
        self.rise, self.alpha = rise, alpha
        self._start_steps, self._start_rows = start_steps, start_rows
        # For each mean m of the grid a gambler bets first that the start's mean is below m, then that the later mean
        # exceeds the next mean of the grid by more than `rise`
        self._start = {m: Wealth(1 - m, late=False) for m in _STARTS}
        self._later = {m: Wealth(min(0.99, m + _STARTS[1] + rise)) for m in _STARTS}
        self.begun = False
        self._steps = self.rows = 0
        self._widest = self._most = 0.0
        self._first = True
        self.values = StartAndNow(_LATEST)

    def begin_step(self, most: float = 1.0) -> None:
        """Begin a step. No mean can exceed `most` in it, and the rise that is tested for may begin with its first
        value.
        """
        self._most, self._first = most, True
        if self.begun:
            return
        if self._steps >= self._start_steps and self.rows >= self._start_rows:
            self.begun = True
            # Only the gamblers who have not won at the start go on: the others have refuted their mean
            poor = [m for m in _STARTS if m < self._widest and self._start[m].now < 1 / self.alpha]
            self._later = {m: self._later[m] for m in poor}
            return
        self._steps += 1
        self._widest = max(self._widest, most)

    def add(self, value: float) -> None:
        """Add a value of the step, drawn at random."""
        self.rows += 1
        self.values.add(value, at_start=not self.begun)
        if not self.begun:
            for m, wealth in self._start.items():
                # No mean exceeds the widest step's: on that scale the start is known sooner
                if 0 < m < self._widest:
                    wealth.add(1 - value / self._widest, m=1 - m / self._widest)
            return
        for wealth in self._later.values():
            # Where no mean can be so high that the hypothesis fails, a bet could only lose
            if self._most > wealth.m:
                wealth.add(value, moment=self._first)
        self._first = False

    @property
    def _poorest(self) -> tuple[float, Wealth]:
        """The highest wealth that the poorest gambler has had, and the `Wealth` of his later bets."""
        return min(((self._start[m].now * later.most, later) for m, later in self._later.items()), key=itemgetter(0))

    @property
    def alarmed(self) -> bool:
        """Whether the hypothesis is rejected; this happens in at most `alpha` of the runs without gaming."""
        return self.begun and self._poorest[0] >= 1 / self.alpha

    @property
    def growing(self) -> bool:
        """Whether more rows are wanted: the latest rows suggest a rise, or the start is still to be measured."""
        return not self.begun or (self._poorest[1].lately >= _GROWN and not self.alarmed)

    @property
    def evidence(self) -> float:
        """The highest wealth so far, as a share of the wealth that raises the alarm."""
        return min(1.0, self._poorest[0] * self.alpha) if self.begun else 0.0
