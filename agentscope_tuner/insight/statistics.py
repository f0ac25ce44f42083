"""How well verdicts agree with labels. scikit-learn and scipy compute, from the extra `insight`."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from agentscope_tuner.errors import ConfigError, install

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]
    Bools = NDArray[numpy.bool_]

_BINS = 10


def need_packages() -> None:
    """Checks that the statistics can be computed.

    Raises:
        ConfigError: the extra is not installed.
    """
    try:
        import scipy
        import sklearn  # noqa: F401
    except ImportError as exc:
        raise ConfigError(f"statistics need scipy and scikit-learn: {install('insight')}") from exc
    del scipy


@dataclass(frozen=True, slots=True)
class Confusion:
    """Verdicts beside labels, counted."""

    true_positive: int
    false_positive: int
    true_negative: int
    false_negative: int

    @classmethod
    def of(cls, labels: Bools, verdicts: Bools) -> Confusion:
        """Counted over two arrays of one length."""
        both, verdict, label = int((labels & verdicts).sum()), int(verdicts.sum()), int(labels.sum())
        return cls(both, verdict - both, len(labels) - verdict - label + both, label - both)

    @property
    def total(self) -> int:
        """How many."""
        return self.true_positive + self.false_positive + self.true_negative + self.false_negative

    def measures(self) -> dict[str, float]:
        """Accuracy, precision, recall, F1 and Cohen's kappa; NaN where a denominator is 0, and not 0."""
        tp, fp, tn, fn = self.true_positive, self.false_positive, self.true_negative, self.false_negative
        n = self.total
        chance = _ratio((tp + fp) * (tp + fn) + (tn + fn) * (tn + fp), n * n)
        accuracy = _ratio(tp + tn, n)
        return {
            "accuracy": accuracy,
            "precision": _ratio(tp, tp + fp),
            "recall": _ratio(tp, tp + fn),
            "f1": _ratio(2 * tp, 2 * tp + fp + fn),
            "kappa": _ratio(accuracy - chance, 1 - chance),
        }

    def to_dict(self) -> dict[str, int]:
        """Plain data for JSON."""
        return asdict(self)


def rank_measures(labels: Floats, scores: Floats) -> dict[str, float]:
    """Spearman's rho, Kendall's tau-b and quadratic-weighted kappa; NaN where one side is constant."""
    from scipy import stats

    if len(labels) < 2 or labels.min() == labels.max() or scores.min() == scores.max():
        return {"spearman": math.nan, "kendall": math.nan, "quadratic_kappa": math.nan}
    return {
        "spearman": float(stats.spearmanr(labels, scores).statistic),
        "kendall": float(stats.kendalltau(labels, scores).statistic),
        "quadratic_kappa": quadratic_kappa(labels, scores),
    }


def quadratic_kappa(labels: Floats, scores: Floats) -> float:
    """Cohen's kappa with quadratic weights (Cohen 1968), the values themselves as the scale; NaN where all are equal.

    1 minus the mean squared difference of the pairs over that of all labels with all scores: on equally spaced
    categories scikit-learn's `cohen_kappa_score(weights="quadratic")`, and defined for any number.
    """
    expected = labels.var() + scores.var() + (labels.mean() - scores.mean()) ** 2
    return _ratio(expected - float(((labels - scores) ** 2).mean()), expected)


def auc(labels: Bools, scores: Floats) -> float:
    """The chance that a right row is scored above a wrong one, ties counting half; NaN without both kinds.

    By the sum of the right rows' ranks (Mann and Whitney 1947). A bootstrap asks for it hundreds of times, and
    scikit-learn's `roc_auc_score` spends fifty times as long on looking at its input.
    """
    from scipy.stats import rankdata

    right = int(labels.sum())
    wrong = len(labels) - right
    if not right or not wrong:
        return math.nan
    ranks = float(rankdata(scores)[labels].sum())
    return (ranks - right * (right + 1) / 2) / (right * wrong)


def best_threshold(labels: Bools, scores: Floats) -> tuple[float, float] | None:
    """The score from which on "right" agrees best with the labels, and the balanced accuracy there.

    The largest true positive rate less false positive rate (Youden's J); None without both kinds of labels.
    """
    from sklearn.metrics import roc_curve

    if not labels.any() or labels.all():
        return None
    false, true, thresholds = roc_curve(labels, scores)
    # the first point says "nothing is right", at an infinite threshold
    best = int((true - false)[1:].argmax()) + 1
    return float(thresholds[best]), float((true[best] + 1 - false[best]) / 2)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Scores as probabilities of being right.

    Attributes:
        ece: the expected calibration error over ten bins of equal width (Naeini et al. 2015), 0 to 1.
        bins: for each bin that is not empty its rows, mean score and share of right ones.
    """

    ece: float
    bins: tuple[tuple[int, float, float], ...]


def calibration(labels: Bools, scores: Floats) -> Calibration | None:
    """None where scores leave 0 to 1: then they are no probabilities."""
    import numpy as np

    if not len(scores) or scores.min() < 0 or scores.max() > 1:
        return None
    place = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    bins, ece = [], 0.0
    for number in np.unique(place):
        chosen = place == number
        score, share = float(scores[chosen].mean()), float(labels[chosen].mean())
        bins.append((int(chosen.sum()), score, share))
        ece += chosen.mean() * abs(score - share)
    return Calibration(float(ece), tuple(bins))


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value of McNemar's test: whether two judges pass the same share.

    Args:
        only_first: rows that only the first judge passes.
        only_second: rows that only the second passes.
    """
    from scipy import stats

    changed = only_first + only_second
    return float(stats.binomtest(only_first, changed, 0.5).pvalue) if changed else 1.0


def plain(measures: dict[str, Any]) -> dict[str, Any]:
    """NaN as None, which JSON has."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in measures.items()
    }


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else math.nan
