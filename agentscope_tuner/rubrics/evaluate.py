"""Measures the learned grader on held-out samples: against their labels, and beside two baselines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.schema import GraderMode
from agentscope_tuner.rubrics import agreement
from agentscope_tuner.rubrics.config import AutoGraderConfig
from agentscope_tuner.rubrics.proposals import judge_sample
from agentscope_tuner.rubrics.samples import Sample, distinct

Pairs = agreement.Pairs


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
        rubrics: the learned rubrics, as they stand in the prompt.
        samples: labelled samples that learning has not seen.
        mean: the constant prediction, such as the mean label of the learning samples. None takes the mean label of
            `samples`.
        done: called after every verdict.

    Raises:
        GraderError: half of the verdicts or more failed.
    """
    samples = distinct(samples)
    learned, plain = await asyncio.gather(
        _verdicts(config, model, rubrics, samples, done), _verdicts(config, model, "", samples, done)
    )
    failures = [sum(verdict is None for verdict in verdicts) for verdicts in (learned, plain)]
    if mean is None:
        mean = _mean([label for sample in samples for label in sample.labels])
    both = [
        (sample, by, without) for sample, by, without in zip(samples, learned, plain, strict=True) if by and without
    ]
    if 2 * len(both) <= len(samples):
        raise GraderError(f"{failures} of twice {len(samples)} verdicts failed: the evaluation would mean nothing")
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
    """The agreement of all three with the labels, on samples for which each of them has a prediction."""
    pairs = [_pairs(sample, predicted) for sample, predicted in zip(samples, learned, strict=True)]
    chance = agreement.rank_p_value(pairs, config.seed)
    # Answers to one query are alike, so the bootstrap draws whole queries and not answers
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
    gain = _error(plain) - _error(learned)
    paired = [[*zip(_errors(without), _errors(by), strict=True)] for by, without in zip(learned, plain, strict=True)]
    spread = agreement.interval(_difference, paired, seed)
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
    for name, metric in agreement.metrics(tolerance(config)).items():
        value, spread = metric(pooled), agreement.interval(metric, samples, config.seed)
        report[name] = {
            "value": None if value is None else round(value, 4),
            "interval": _rounded(spread),
        }
    return report


def _rounded(spread: tuple[float, float] | None) -> list[float] | None:
    return None if spread is None else [round(bound, 4) for bound in spread]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _errors(pairs: Pairs) -> list[float]:
    return [abs(label - guess) for label, guess in pairs]


def _error(samples: Sequence[Pairs]) -> float:
    return _mean([error for pairs in samples for error in _errors(pairs)])


def _difference(pairs: Pairs) -> float:
    return _mean([plain - learned for plain, learned in pairs])
