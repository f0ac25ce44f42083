"""Statistics of verdicts beside labels, with intervals. scikit-learn and scipy come with the extra `insight`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from agentscope_tuner.errors import ConfigError, install
from agentscope_tuner.graders.rubrics.evaluate import LEAST_CLUSTERS, LEAST_ROWS, NORMAL, jackknifed, t_quantile

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]
    Bools = NDArray[numpy.bool_]


Interval = tuple[float, float]

#: The measures' ranges.
RANGES = {
    **dict.fromkeys(("accuracy", "precision", "recall", "f1", "auc"), (0.0, 1.0)),
    **dict.fromkeys(("kappa", "spearman", "kendall", "quadratic_kappa"), (-1.0, 1.0)),
}

_GROUPS, _FEW_GROUPS, _MANY_ROWS = 200, 40, 5_000


def clustered_share(
    hits: Sequence[float], totals: Sequence[float], rows_of: Sequence[float] | None = None
) -> Interval | None:
    """The 95 % interval of a share whose rows come in clusters, such as tasks, that resemble each other within.

    Wilson's interval with the effective number of rows: the number of independent rows that would have the variance of
    the ratio of sums over clusters, with the factor G / (G - 1) of G clusters. It is multiplied by u / t, the normal
    quantile and that of t with G - 1 degrees of freedom, so that few clusters widen the interval. Korn and Graubard
    (1998) square this for Clopper and Pearson's interval; Wilson's, which leans towards a half, covers too often then
    (`benchmarks.insight.coverage`). Only then it is cut to the real number of rows, as official statistics do (Parker
    and others 2017): cut before, independent rows of ten clusters would be covered far too often. A row a cluster is
    Wilson's interval itself. F1 is such a share, too: of hits twice, and of what is not one of two sides.

    Args:
        hits: the hits of each cluster.
        totals: the rows of each cluster.
        rows_of: the same, where `totals` counts some of them twice.

    Returns:
        None under ten clusters with rows, or under fifty rows: a share of fewer has so few values that none holds each
        true share between a tenth and nine tenths in 92 to 97 % of draws. Wilson's does from fifty rows on.
    """
    pairs = [(hit, total) for hit, total in zip(hits, totals, strict=True) if total]
    clusters, rows = len(pairs), sum(total for _, total in pairs)
    if clusters < LEAST_CLUSTERS or sum(rows_of or totals) < LEAST_ROWS:
        return None
    share = sum(hit for hit, _ in pairs) / rows
    if rows == clusters:
        return wilson(share, rows)
    fewer = NORMAL / t_quantile(clusters - 1)
    squares = sum((hit - share * total) ** 2 for hit, total in pairs)
    variance = squares * clusters / (clusters - 1) / rows**2
    if not squares:
        # All clusters alike: where all or none are hits they may be copies of one row, elsewhere they are balanced
        effective = clusters * fewer**2 if share in (0.0, 1.0) else rows
    else:
        effective = min(rows, share * (1 - share) / variance * fewer)
    return wilson(share, effective)


def wilson(share: float, rows: float) -> Interval:
    """The 95 % score interval of a share (Wilson 1927), which is the share of `rows` rows."""
    z2 = NORMAL * NORMAL
    middle = share + z2 / (2 * rows)
    spread = NORMAL * math.sqrt(share * (1 - share) / rows + z2 / (4 * rows * rows))
    low, high = (middle - spread) / (1 + z2 / rows), (middle + spread) / (1 + z2 / rows)
    # Rounding errors must not put a bound below 0 or above 1, nor off the end where the share itself lies
    return (0.0 if share == 0 else max(0.0, low)), (1.0 if share == 1 else min(1.0, high))


def jackknife(
    statistics: Callable[[NDArray[numpy.intp]], Mapping[str, float]], clusters: Sequence[object]
) -> dict[str, Interval]:
    """95 % intervals of several statistics by the jackknife that leaves out one cluster at a time.

    To save time, the clusters of more than 200 are left out in 200 groups by chance, and those of more than 5,000 rows
    in 40. The formula is that of `jackknifed`.

    Args:
        statistics: computes the statistics of the rows at given positions; an undefined statistic is NaN or left out.
        clusters: the cluster of each row, such as its task.

    Returns:
        The interval of each statistic that is defined whatever is left out, and that varies; none under ten clusters,
        or under fifty rows.
    """
    import numpy as np

    names, member = np.unique(np.asarray([str(cluster) for cluster in clusters]), return_inverse=True)
    if len(names) < LEAST_CLUSTERS or len(member) < LEAST_ROWS:
        return {}
    groups = min(len(names), _GROUPS if len(member) <= _MANY_ROWS else _FEW_GROUPS)
    group = (np.random.default_rng(0).permutation(len(names)) % groups)[member]
    whole = statistics(np.arange(len(member)))
    left = [statistics(np.flatnonzero(group != number)) for number in range(groups)]
    found = (
        (name, jackknifed(value, [one.get(name, math.nan) for one in left], RANGES.get(name)))
        for name, value in whole.items()
    )
    return {name: interval for name, interval in found if interval is not None}


_BINS = 10


def need_packages() -> None:
    """Check that the packages of the extra `insight` are installed.

    Raises:
        ConfigError: they are not.
    """
    if not (find_spec("scipy") and find_spec("sklearn")):
        raise ConfigError(f"statistics need scipy and scikit-learn: {install('insight')}")


class Confusion(NamedTuple):
    """Counts of right and wrong verdicts: the confusion matrix of verdicts against labels."""

    true_positive: int
    false_positive: int
    true_negative: int
    false_negative: int

    @classmethod
    def of(cls, labels: Bools, verdicts: Bools) -> Confusion:
        """The counts over two arrays of the same length."""
        both, verdict, label = int((labels & verdicts).sum()), int(verdicts.sum()), int(labels.sum())
        return cls(both, verdict - both, len(labels) - verdict - label + both, label - both)

    def measures(self) -> dict[str, float]:
        """Accuracy, precision, recall, F1 and Cohen's kappa; a measure with a denominator of 0 is NaN."""
        tp, fp, tn, fn = self
        n = sum(self)
        chance = _ratio((tp + fp) * (tp + fn) + (tn + fn) * (tn + fp), n * n)
        accuracy = _ratio(tp + tn, n)
        return {
            "accuracy": accuracy,
            "precision": _ratio(tp, tp + fp),
            "recall": _ratio(tp, tp + fn),
            "f1": _ratio(2 * tp, 2 * tp + fp + fn),
            "kappa": _ratio(accuracy - chance, 1 - chance),
        }


def rank_measures(labels: Floats, scores: Floats) -> dict[str, float]:
    """Spearman's rho, Kendall's tau-b and quadratic-weighted kappa; NaN when labels or scores are constant."""
    from scipy import stats

    if len(labels) < 2 or labels.min() == labels.max() or scores.min() == scores.max():
        return {"spearman": math.nan, "kendall": math.nan, "quadratic_kappa": math.nan}
    return {
        "spearman": float(stats.spearmanr(labels, scores).statistic),
        "kendall": float(stats.kendalltau(labels, scores).statistic),
        "quadratic_kappa": quadratic_kappa(labels, scores),
    }


def quadratic_kappa(labels: Floats, scores: Floats) -> float:
    """Cohen's kappa with quadratic weights (Cohen 1968) on the values themselves; NaN when all values are equal.

    It is 1 minus a quotient: the mean squared difference of each label and its own score, divided by the mean squared
    difference of all labels and all scores. On equally spaced categories it equals scikit-learn's
    `cohen_kappa_score(weights="quadratic")`, but it is defined for all numbers.
    """
    expected = labels.var() + scores.var() + (labels.mean() - scores.mean()) ** 2
    return _ratio(expected - float(((labels - scores) ** 2).mean()), expected)


def auc(labels: Bools, scores: Floats) -> float:
    """The chance that a right row has a higher score than a wrong row; a tie counts half. NaN without both kinds.

    It is computed from the sum of the right rows' ranks (Mann and Whitney 1947). The jackknife computes it hundreds of
    times, and scikit-learn's `roc_auc_score` spends fifty times as long on checks of its input.
    """
    from scipy.stats import rankdata

    right = int(labels.sum())
    wrong = len(labels) - right
    if not right or not wrong:
        return math.nan
    ranks = float(rankdata(scores)[labels].sum())
    return (ranks - right * (right + 1) / 2) / (right * wrong)


def best_threshold(labels: Bools, scores: Floats) -> dict[str, float] | None:
    """The `reward` that separates right from wrong labels best, and the `balanced_accuracy` there.

    Best is the largest difference of true and false positive rate (Youden's J). None without both kinds of labels.
    """
    from sklearn.metrics import roc_curve

    if not labels.any() or labels.all():
        return None
    false, true, thresholds = roc_curve(labels, scores)
    # At the first point the threshold is infinite and no row counts as right, so it is no candidate
    best = int((true - false)[1:].argmax()) + 1
    return {"reward": float(thresholds[best]), "balanced_accuracy": float((true[best] + 1 - false[best]) / 2)}


def calibration(labels: Bools, scores: Floats) -> dict[str, Any] | None:
    """The quality of scores as probabilities of a right label.

    Returns:
        `ece`, the expected calibration error over ten bins of equal width (Naeini et al. 2015), 0 to 1; and `bins`, for
        each bin with rows the number of rows, their mean score, and the share of right labels. None when a score lies
        outside 0 to 1, so that the scores are no probabilities.
    """
    import numpy as np

    if not len(scores) or scores.min() < 0 or scores.max() > 1:
        return None
    place = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    bins, ece = list[list[float]](), 0.0
    for number in np.unique(place):
        chosen = place == number
        score, share = float(scores[chosen].mean()), float(labels[chosen].mean())
        bins.append([int(chosen.sum()), score, share])
        ece += chosen.mean() * abs(score - share)
    return {"ece": float(ece), "bins": bins}


# If the number of tasks times the number of changed rows exceeds this, the sum is nearly enough normal for a p-value
_MOST_SUMMED = 50_000_000


def mcnemar(by_task: Iterable[int]) -> float:
    """The two-sided p-value of McNemar's test that two judges pass the same share of rows.

    Rows of a task change together. So each task counts as one change, of the size of its difference, whose direction is
    chance if the judges do not differ. The p-value is exact, and that of the usual test where no task has two changes.

    Args:
        by_task: for each task the number of rows that only the first judge passes, less that of those that only the
            second one does.
    """
    import numpy as np

    found = [difference for difference in by_task if difference]
    sizes = list(map(abs, found))
    far = abs(sum(found))
    if len(sizes) * sum(sizes) > _MOST_SUMMED:
        return math.erfc(far / math.sqrt(2 * sum(size * size for size in sizes)))
    chances = np.ones(1)
    for size in sizes:
        chances = (np.pad(chances, (2 * size, 0)) + np.pad(chances, (0, 2 * size))) / 2
    sums = np.arange(len(chances)) - sum(sizes)
    return min(1.0, float(chances[np.abs(sums) >= far].sum()))


def plain(measures: dict[str, Any]) -> dict[str, Any]:
    """The measures with None in place of NaN, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in measures.items()
    }


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else math.nan
