"""A statistical test whether the share of false passes exceeds a tolerance. It stays valid if read after every row.

It is a test by betting (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", arXiv
2010.09686). The hypothesis is that no row's chance of being a false pass exceeds m. A gambler bets against it. Under
the hypothesis the gambler's wealth is a supermartingale, so the chance that it ever reaches 1/alpha is at most alpha
(Ville 1939). This bound holds over the whole run, for any number of readings, and if the share changes between steps.

Neither the best size of a bet nor the start of gaming is known. So the gambler spreads the stake over six sizes, and
over all rows at which gaming may begin, as e-detectors do (Shin, Ramdas and Rinaldo, arXiv 2203.03532). The part of the
stake that starts at row k is 1 / ((k + 1)(k + 2)); all parts add up to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# Sizes of bets, as shares of the largest bet that cannot lose more than its stake
_BETS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
# The values of m that are tested for the lower bound
_GRID = tuple(number / 40 for number in range(1, 40))


@dataclass(slots=True)
class Wealth:
    """The gambler's wealth against one hypothesis: the chance of a false pass is at most `m`.

    Attributes:
        m: the chance.
        rows: number of rows so far.
        stakes: the wealth in the bets of each size.
        most: the highest wealth so far.
    """

    m: float
    rows: int = 0
    stakes: list[float] = field(default_factory=lambda: [0.0] * len(_BETS))
    most: float = 1.0

    def add(self, value: float) -> float:
        """Add a row with a value from 0 (deserved pass) to 1 (false pass), and return the wealth after it."""
        joins = 1 / ((self.rows + 1) * (self.rows + 2))
        self.rows += 1
        for place, bet in enumerate(_BETS):
            # The bet is bet/m, so the factor is at least 1 - bet and the stake stays positive
            self.stakes[place] = min(1e200, (self.stakes[place] + joins) * (1 + bet * (value - self.m) / self.m))
        wealth = sum(self.stakes) / len(_BETS) + 1 / (self.rows + 1)
        self.most = max(self.most, wealth)
        return wealth


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
        self.rows = self.false = 0

    def add(self, false_pass: bool) -> None:
        """Add a pass that got a second opinion."""
        self.rows += 1
        self.false += false_pass
        for wealth in (self._test, *self._grid):
            wealth.add(float(false_pass))

    @property
    def alarmed(self) -> bool:
        """Whether the hypothesis is rejected; this happens in at most `alpha` of the runs without gaming."""
        return self._test.most >= 1 / self.alpha

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
