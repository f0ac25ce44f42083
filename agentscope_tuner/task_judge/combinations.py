"""Combines the rewards of parts. Every combination is independent of the parts' order, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import mul

Weights = Sequence[float]
Rewards = Sequence[float]


def weighted_sum(weights: Weights, rewards: Rewards) -> float:
    """The sum of weight times reward, rounded once."""
    return math.fsum(map(mul, weights, rewards))


def weighted_mean(weights: Weights, rewards: Rewards) -> float:
    """`weighted_sum` over the sum of the weights of the parts that were asked, so a skipped part changes nothing."""
    return math.fsum(map(mul, weights, rewards)) / math.fsum(weights)


def product(weights: Weights, rewards: Rewards) -> float:
    """The product of the rewards; the weights do not count."""
    # sorted: a product of floats is rounded at each step, and depends on their order
    return math.prod(sorted(rewards))


def least(weights: Weights, rewards: Rewards) -> float:
    """The smallest reward; the weights do not count."""
    return min(rewards)


COMBINATIONS: Mapping[str, Callable[[Weights, Rewards], float]] = {
    "weighted_sum": weighted_sum,
    "weighted_mean": weighted_mean,
    "product": product,
    "min": least,
}


def written(combination: str, names: Sequence[str], weights: Weights, rewards: Rewards) -> str:
    """The combination as a formula for people: `1 × 1 (correct) + 0.3 × 0.5 (style)`."""
    if combination in ("weighted_sum", "weighted_mean"):
        terms = " + ".join([f"{w:g} × {r:g} ({name})" for name, w, r in zip(names, weights, rewards, strict=True)])
        terms = terms.replace(" + -", " - ") if " + -" in terms else terms
        return terms if combination == "weighted_sum" else f"({terms}) / {math.fsum(weights):g}"
    values = [f"{reward:g} ({name})" for name, reward in zip(names, rewards, strict=True)]
    if combination == "product":
        return " × ".join(values)
    return f"{combination} of {', '.join(values)}"
