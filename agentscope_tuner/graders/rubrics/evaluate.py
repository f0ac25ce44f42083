"""Measures the learned grader on held-out samples: against their labels, and beside two baselines.

The measures of agreement, with intervals, are pure functions over pairs of a label and a prediction.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Sequence
from itertools import chain
from statistics import correlation, fmean
from typing import Any

from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.combine import shared_places
from agentscope_tuner.graders.rubrics.propose import judge_sample
from agentscope_tuner.graders.rubrics.settings import AutoGraderConfig, Sample, distinct
from agentscope_tuner.graders.schema import GraderMode

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
    labels, guesses = shared_places([label for label, _ in pairs]), shared_places([guess for _, guess in pairs])
    return None if len(set(labels)) < 2 or len(set(guesses)) < 2 else correlation(labels, guesses)


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
    if not (n := len(pairs)):
        return None
    label_mean, guess_mean = sum(p[0] for p in pairs) / n, sum(p[1] for p in pairs) / n
    expected = (label_mean - guess_mean) ** 2 + sum(
        (label - label_mean) ** 2 + (guess - guess_mean) ** 2 for label, guess in pairs
    ) / n  # fmt: skip
    observed = sum((label - guess) ** 2 for label, guess in pairs) / n
    return 1 - observed / expected if expected else None


#: With fewer clusters no interval is given.
LEAST_CLUSTERS = 10
#: With fewer rows none is given for a share or another measure with a range: it would be too wide.
LEAST_ROWS = 50
_MOST_LEFT_OUT = 200
#: The quantile of the normal distribution for a 95 % interval.
NORMAL = 1.959963984540054


def interval(
    metric: Metric, samples: Sequence[Pairs], seed: int, within: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """The 95 % interval of `metric` by the jackknife that leaves out one sample at a time; see `jackknifed`.

    More than 200 samples are dealt into 200 random groups, and one group is left out at a time, to save time.

    None if there are fewer than ten samples, because such an interval would be wrong too often; if there are fewer than
    fifty pairs, for a metric `within` a range; or if the metric is undefined or does not vary.
    """
    if len(samples) < LEAST_CLUSTERS or (within is not None and sum(map(len, samples)) < LEAST_ROWS):
        return None
    groups, dealt = min(len(samples), _MOST_LEFT_OUT), list(samples)
    random.Random(seed).shuffle(dealt)

    def left(number: int) -> float | None:
        rest = dealt.copy()
        del rest[number::groups]
        return metric(list(chain.from_iterable(rest)))

    return jackknifed(metric(list(chain.from_iterable(dealt))), list(map(left, range(groups))), within)


def jackknifed(
    whole: float | None, left: Sequence[float | None], within: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """The 95 % interval of a statistic: its value is `whole`, and `left` its values with one group left out each.

    Rows of one task resemble each other, so leaving out single rows would make the intervals too narrow. The variance
    is (G - 1) / G times the sum of squared deviations of the G statistics from the whole one, and the quantile is that
    of t with G - 1 degrees of freedom (Bell and McCaffrey 2002, CR3). None if a value is undefined, or none varies.

    Near an end of its range a statistic is skewed, and a symmetric interval of few clusters covers it too seldom. So
    the interval of a statistic `within` a range is symmetric in the log odds of its place there, with the variance by
    the delta method (Brown, Cai and DasGupta 2001); from -1 to 1 these are twice Fisher's z.
    """
    values = [value for value in left if value is not None]
    if whole is None or len(values) < len(left):
        return None
    spread = math.sqrt(sum((value - whole) ** 2 for value in values) * (len(left) - 1) / len(left))
    wide = t_quantile(len(left) - 1) * spread
    if not math.isfinite(wide) or wide <= 0:
        return None
    if within is None or not within[0] < whole < within[1]:
        return whole - wide, whole + wide
    least, length = within[0], within[1] - within[0]
    place = (whole - least) / length
    odds, reach = math.log(place / (1 - place)), wide / length / (place * (1 - place))
    low, high = (least + length * (1 + math.tanh((odds + side) / 2)) / 2 for side in (-reach, reach))
    return low, high


def t_quantile(freedom: int) -> float:
    """The quantile 0.975 of Student's t, by Hill's expansion (Cornish and Fisher 1937), to 0.001 from 9 degrees on."""
    z, n = NORMAL, float(freedom)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / n + second / n**2 + third / n**3


def rank_p_value(samples: Sequence[Pairs], seed: int, draws: int = 4000) -> float | None:
    """The one-sided p-value of a permutation test of Spearman's rho. None if all labels or all predictions are equal.

    It is `(1 + hits) / (1 + draws)`, where a hit is a draw of shuffled labels that agree in order at least as well as
    the real labels. If every sample has one pair, the labels are shuffled among all samples. Otherwise the labels of a
    sample, which is then a ranking, are shuffled within it.
    """
    pairs = [pair for sample in samples for pair in sample]
    labels, guesses = shared_places([label for label, _ in pairs]), shared_places([guess for _, guess in pairs])
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


#: The ranges of the metrics that have one.
RANGES = {"agreement": (0.0, 1.0), **dict.fromkeys(("spearman", "kendall", "quadratic_kappa"), (-1.0, 1.0))}


def metrics(tolerance: float) -> dict[str, Metric]:
    """All metrics, by name."""
    return {
        "agreement": agreement(tolerance),
        "mae": mae,
        "spearman": spearman,
        "kendall": kendall,
        "quadratic_kappa": quadratic_kappa,
    }


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


async def evaluate(
    config: AutoGraderConfig,
    model: ChatModel,
    rubrics: str,
    samples: Sequence[Sample],
    mean: float | None,
    done: Callable[[], None],
) -> dict[str, Any]:
    """Agreement with the labels of `samples`: by `rubrics`, by no rubrics, and by a constant.

    All three are compared on the samples for which both graders gave a verdict. Failed verdicts are counted. In
    listwise mode labels and predictions are places, and the candidates of all samples are pooled.

    Args:
        config: the configuration.
        model: the judge model.
        rubrics: the learned rubrics, as they are written in the prompt.
        samples: labelled samples that learning has not seen.
        mean: the constant prediction, such as the mean label of the learning samples. None takes the mean label of
            `samples`.
        done: called after every verdict.

    Raises:
        GraderError: for half of the samples or more, one of the two graders gave no verdict.
    """
    samples = distinct(samples)
    learned, plain = await asyncio.gather(
        _verdicts(config, model, rubrics, samples, done), _verdicts(config, model, "", samples, done)
    )
    failures = [sum(verdict is None for verdict in verdicts) for verdicts in (learned, plain)]
    if mean is None:
        mean = fmean([label for sample in samples for label in sample.labels])
    both = [
        (sample, by, without) for sample, by, without in zip(samples, learned, plain, strict=True) if by and without
    ]
    if 2 * len(both) <= len(samples):
        raise GraderError(
            f"{failures[0]} of {len(samples)} verdicts with rubrics failed, and {failures[1]} without: "
            "the evaluation would mean nothing"
        )
    return {
        "samples": len(samples),
        "queries": len({sample.same_query for sample, _, _ in both}),
        "failed": {"learned": failures[0], "no_rubrics": failures[1]},
        "tolerance": tolerance(config),
        **_report(
            config, [sample for sample, _, _ in both], [by for _, by, _ in both], [no for _, _, no in both], mean
        ),
    }


def _report(
    config: AutoGraderConfig,
    samples: Sequence[Sample],
    learned: Sequence[Sequence[float]],
    plain: Sequence[Sequence[float]],
    mean: float,
) -> dict[str, Any]:
    """The agreement of three predictions with the labels: with the learned rubrics, without any, and always `mean`.

    Args:
        config: the configuration.
        samples: the samples for which both graders gave a verdict.
        learned: for each sample the predictions with the rubrics.
        plain: for each sample the predictions without rubrics.
        mean: the constant prediction.
    """
    pairs = [_pairs(sample, predicted) for sample, predicted in zip(samples, learned, strict=True)]
    chance = rank_p_value(pairs, config.seed)
    # Answers to one query are alike, so whole queries are left out and not answers
    by_rubrics, by_nothing, by_mean = (
        _by_query(samples, [_pairs(sample, predicted) for sample, predicted in zip(samples, guesses, strict=True)])
        for guesses in (learned, plain, [[mean] * len(sample.labels) for sample in samples])
    )
    return {
        "learned": {**_measured(config, by_rubrics), "order_by_chance": None if chance is None else round(chance, 5)},
        "no_rubrics": _measured(config, by_nothing),
        "constant_mean": {"value": round(mean, 4), **_measured(config, by_mean)},
        **_compared(by_rubrics, by_nothing, config.seed),
    }


def _compared(learned: Sequence[Pairs], plain: Sequence[Pairs], seed: int) -> dict[str, Any]:
    paired = [[*zip(_errors(without), _errors(by), strict=True)] for by, without in zip(learned, plain, strict=True)]
    gain, spread = _difference([pair for pairs in paired for pair in pairs]), interval(_difference, paired, seed)
    return {"mae_gain": {"value": round(gain, 4), "interval": _rounded(spread)}}


def _by_query(samples: Sequence[Sample], pairs: Sequence[Pairs]) -> list[Pairs]:
    groups: dict[str, list[tuple[float, float]]] = {}
    for sample, mine in zip(samples, pairs, strict=True):
        groups.setdefault(sample.same_query, []).extend(mine)
    return list(groups.values())


def tolerance(config: AutoGraderConfig) -> float:
    """The largest difference from its label at which a prediction agrees; half a place in listwise mode."""
    return config.tolerance if config.mode is GraderMode.POINTWISE else 0.5


async def _verdicts(
    config: AutoGraderConfig,
    model: ChatModel,
    rubrics: str,
    samples: Sequence[Sample],
    done: Callable[[], None],
) -> list[tuple[float, ...] | None]:
    async def one(sample: Sample) -> tuple[float, ...] | None:
        try:
            return (await judge_sample(config, model, sample, rubrics))[0]
        except GraderError:
            return None
        finally:
            done()

    return await asyncio.gather(*map(one, samples))


def _pairs(sample: Sample, predicted: Sequence[float]) -> Pairs:
    return list(zip(sample.labels, predicted, strict=True))


def _measured(config: AutoGraderConfig, samples: Sequence[Pairs]) -> dict[str, Any]:
    pooled = [pair for pairs in samples for pair in pairs]
    report = {}
    for name, metric in metrics(tolerance(config)).items():
        value, spread = metric(pooled), interval(metric, samples, config.seed, RANGES.get(name))
        report[name] = {
            "value": None if value is None else round(value, 4),
            "interval": _rounded(spread),
        }
    return report


def _rounded(spread: tuple[float, float] | None) -> list[float] | None:
    return None if spread is None else [round(bound, 4) for bound in spread]


def _errors(pairs: Pairs) -> list[float]:
    return [abs(label - guess) for label, guess in pairs]


def _difference(pairs: Pairs) -> float:
    return fmean([plain - learned for plain, learned in pairs])
