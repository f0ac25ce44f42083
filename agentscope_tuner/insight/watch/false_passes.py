"""A test that may be looked at after every row: is the share of false passes over a tolerance?

A test by betting (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", arXiv
2010.09686). Under the hypothesis that no row's chance of being a false pass exceeds m, the wealth of a gambler who bets
on more than m is a supermartingale, so that the chance that it ever reaches 1/alpha is at most alpha (Ville 1939): over
the whole run, however often anybody looks, and also where the share changes from step to step. The gambler spreads the
stake over six sizes of bets, and over all moments at which gaming may begin, as e-detectors do (Shin, Ramdas and
Rinaldo, arXiv 2203.03532): the stake that joins at row k is 1 / ((k + 1)(k + 2)), which adds up to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# shares of the largest bet that cannot lose more than the stake
_BETS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
# hypotheses for the lower bound
_GRID = tuple(number / 40 for number in range(1, 40))


@dataclass(slots=True)
class Wealth:
    """The gambler's wealth against one hypothesis, a chance of at most `m`."""

    m: float
    rows: int = 0
    stakes: list[float] = field(default_factory=lambda: [0.0] * len(_BETS))
    most: float = 1.0

    def add(self, value: float) -> float:
        """One more row, 0 to 1; the wealth after it."""
        joins = 1 / ((self.rows + 1) * (self.rows + 2))
        self.rows += 1
        for place, bet in enumerate(_BETS):
            # a bet of bet/m: the factor is at least 1 - bet
            self.stakes[place] = min(1e200, (self.stakes[place] + joins) * (1 + bet * (value - self.m) / self.m))
        wealth = sum(self.stakes) / len(_BETS) + 1 / (self.rows + 1)
        self.most = max(self.most, wealth)
        return wealth


class FalsePassTest:
    """Whether false passes among a judge's passes have become more than `tolerance`.

    Args:
        tolerance: a share of false passes that is no gaming: the judge's own error, 0 to 1.
        alpha: the chance of a false alarm over a whole run.
    """

    def __init__(self, tolerance: float = 0.1, alpha: float = 0.05) -> None:
        self.tolerance, self.alpha = tolerance, alpha
        self._test = Wealth(tolerance)
        self._grid = [Wealth(m) for m in _GRID]
        self.rows = self.false = 0

    def add(self, false_pass: bool) -> None:
        """One pass that got a second opinion."""
        self.rows += 1
        self.false += false_pass
        for wealth in (self._test, *self._grid):
            wealth.add(float(false_pass))

    @property
    def alarmed(self) -> bool:
        """Whether the hypothesis is refused: true in at most `alpha` of the runs that are not gamed."""
        return self._test.most >= 1 / self.alpha

    @property
    def lower_bound(self) -> float:
        """At some step of the run at least this share of passes was false; wrong in at most `alpha` of all runs.

        The bound of a confidence sequence: it holds at all times at once, because the wealth against a larger m is
        never larger.
        """
        return max((wealth.m for wealth in self._grid if wealth.most >= 1 / self.alpha), default=0.0)

    @property
    def evidence(self) -> float:
        """The largest wealth so far, in shares of what an alarm takes."""
        return min(1.0, self._test.most * self.alpha)
