"""Confidence intervals of shares and of other statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Interval = tuple[float, float]

# The quantile of the normal distribution for a 95 % interval
_Z = 1.959963984540054
_MOST_ROWS_DRAWN = 5_000


def wilson(hits: int, total: int) -> Interval | None:
    """The 95 % score interval of a share (Wilson 1927); None when `total` is 0."""
    if not total:
        return None
    share, z2 = hits / total, _Z * _Z
    middle = share + z2 / (2 * total)
    spread = _Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    low, high = (middle - spread) / (1 + z2 / total), (middle + spread) / (1 + z2 / total)
    # Rounding errors must not put a bound below 0 or above 1, nor off the end where the share itself lies
    return (0.0 if hits == 0 else max(0.0, low)), (1.0 if hits == total else min(1.0, high))


def bootstrap(
    statistics: Callable[[NDArray[numpy.intp]], Mapping[str, float]],
    clusters: Sequence[object],
    *,
    draws: int = 200,
    seed: int = 0,
) -> dict[str, Interval]:
    """95 % percentile bootstrap intervals of several statistics, drawing whole clusters.

    Rows of one task resemble each other, so drawing single rows would make the intervals too narrow. Above 5,000 rows
    each draw takes only a part of the clusters, to save time. The spread is then scaled by the square root of that part
    (the m out of n bootstrap, Bickel, Götze and van Zwet 1997).

    Args:
        statistics: computes the statistics of the rows at given positions; an undefined statistic is NaN or left out.
        clusters: the cluster of each row, such as its task.
        draws: the number of draws.
        seed: the seed of the random draws.

    Returns:
        The interval of each statistic that was defined in at least half of the draws.
    """
    import numpy as np

    names, member = np.unique(np.asarray([str(cluster) for cluster in clusters]), return_inverse=True)
    order = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[order], np.arange(len(names) + 1))
    drawn = max(1, min(len(names), _MOST_ROWS_DRAWN * len(names) // max(1, len(member))))
    generator = np.random.default_rng(seed)
    whole = statistics(np.arange(len(member)))
    found: dict[str, list[float]] = {name: [] for name in whole}
    for _ in range(draws):
        picked = generator.integers(0, len(names), drawn)
        rows = np.concatenate([order[starts[cluster] : starts[cluster + 1]] for cluster in picked])
        for name, value in statistics(rows).items():
            if name in found and math.isfinite(value):
                found[name].append(value)
    scale = math.sqrt(drawn / len(names))
    defined = [name for name, values in found.items() if len(values) * 2 >= draws and math.isfinite(whole[name])]
    return {name: _percentiles(found[name], whole[name], scale) for name in defined}


def _percentiles(values: Sequence[float], whole: float, scale: float) -> Interval:
    """The middle 95 % of `values`, with distances from `whole` scaled; a scale of 1 gives the plain percentiles."""
    import numpy as np

    low, high = np.quantile(values, [0.025, 0.975])
    shift = whole * (1 - scale)
    return float(shift + scale * low), float(shift + scale * high)
