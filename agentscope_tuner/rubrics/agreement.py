"""Measures of agreement between predictions and labels, with bootstrap intervals: pure functions over pairs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

Pairs = Sequence[tuple[float, float]]
Metric = Callable[[Pairs], "float | None"]


def mae(pairs: Pairs) -> float | None:
    """Mean absolute error, in units of the label."""
    return sum(abs(label - guess) for label, guess in pairs) / len(pairs) if pairs else None


def agreement(tolerance: float) -> Metric:
    """A metric: the share of predictions within `tolerance` of their label."""

    def share(pairs: Pairs) -> float | None:
        within = sum(abs(label - guess) <= tolerance + 1e-9 for label, guess in pairs)
        return within / len(pairs) if pairs else None

    return share


def spearman(pairs: Pairs) -> float | None:
    """Spearman's rho: Pearson's correlation of ranks, ties at their mean rank. None if one side is constant."""
    labels, guesses = _ranks([label for label, _ in pairs]), _ranks([guess for _, guess in pairs])
    middle = (len(pairs) + 1) / 2
    both = sum((x - middle) * (y - middle) for x, y in zip(labels, guesses, strict=True))
    spread = math.sqrt(sum((x - middle) ** 2 for x in labels) * sum((y - middle) ** 2 for y in guesses))
    return both / spread if spread else None


def kendall(pairs: Pairs) -> float | None:
    """Kendall's tau-b, which corrects for ties. None if all labels, or all predictions, are equal."""
    concordant = label_ties = guess_ties = total = 0
    for index, (label, guess) in enumerate(pairs):
        for other_label, other_guess in pairs[:index]:
            x, y = _sign(label - other_label), _sign(guess - other_guess)
            concordant += x * y
            label_ties += x == 0
            guess_ties += y == 0
            total += 1
    spread = math.sqrt((total - label_ties) * (total - guess_ties))
    return concordant / spread if spread else None


def quadratic_kappa(pairs: Pairs) -> float | None:
    """Cohen's kappa with quadratic weights, where each value is a category of its own. None if all values are equal.

    It is 1 - observed / expected (Cohen 1968). `observed` is the mean squared difference within the pairs. `expected`
    is the mean squared difference between all labels and all predictions. The weights' normalisation cancels.
    """
    n = len(pairs)
    if not n:
        return None
    label_mean, guess_mean = sum(p[0] for p in pairs) / n, sum(p[1] for p in pairs) / n
    expected = (label_mean - guess_mean) ** 2 + sum(
        (label - label_mean) ** 2 + (guess - guess_mean) ** 2 for label, guess in pairs
    ) / n  # fmt: skip
    observed = sum((label - guess) ** 2 for label, guess in pairs) / n
    return 1 - observed / expected if expected else None


def interval(metric: Metric, samples: Sequence[Pairs], seed: int, draws: int = 1000) -> tuple[float, float] | None:
    """A 95 % percentile bootstrap interval of `metric`, drawing whole samples with replacement.

    Draws on which the metric is undefined are left out. None if half of the draws or more are left out.
    """
    size = sum(map(len, samples))
    # Kendall's tau compares all pairs, so large sets get fewer draws, but at least 200
    draws = min(draws, max(200, 4_000_000 // max(1, size * size)))
    generator = random.Random(seed)
    values = []
    for _ in range(draws):
        drawn = [pair for _ in samples for pair in generator.choice(samples)]
        value = metric(drawn)
        if value is not None:
            values.append(value)
    if len(values) * 2 < draws:
        return None
    values.sort()
    return values[int(0.025 * len(values))], values[min(len(values) - 1, int(0.975 * len(values)))]


def rank_p_value(samples: Sequence[Pairs], seed: int, draws: int = 4000) -> float | None:
    """The one-sided p-value of a permutation test of Spearman's rho. None if all labels or all predictions are equal.

    It is `(1 + hits) / (1 + draws)`, where a hit is a draw of shuffled labels that agree in order at least as well as
    the real labels. If every sample has one pair, the labels are shuffled among all samples. Otherwise the labels of a
    sample, which is then a ranking, are shuffled within it.
    """
    pairs = [pair for sample in samples for pair in sample]
    labels, guesses = _ranks([label for label, _ in pairs]), _ranks([guess for _, guess in pairs])
    if len(set(labels)) < 2 or len(set(guesses)) < 2:
        return None
    generator = random.Random(seed)
    observed = sum(x * y for x, y in zip(labels, guesses, strict=True)) - 1e-9
    draws = min(draws, max(500, 4_000_000 // len(pairs)))
    blocks: list[tuple[int, int]] = []
    start = 0
    for sample in samples:
        blocks.append((start, start + len(sample)))
        start += len(sample)
    if all(len(sample) == 1 for sample in samples):
        blocks = [(0, len(pairs))]
    hits = 0
    for _ in range(draws):
        total = 0.0
        for first, last in blocks:
            dealt = labels[first:last]
            generator.shuffle(dealt)
            total += sum(x * y for x, y in zip(dealt, guesses[first:last], strict=True))
        hits += total >= observed
    return (1 + hits) / (1 + draws)


def metrics(tolerance: float) -> dict[str, Metric]:
    """All metrics, by name."""
    return {
        "agreement": agreement(tolerance),
        "mae": mae,
        "spearman": spearman,
        "kendall": kendall,
        "quadratic_kappa": quadratic_kappa,
    }


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=lambda index: values[index])
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for index in order[start : end + 1]:
            ranks[index] = (start + end) / 2 + 1
        start = end + 1
    return ranks


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
