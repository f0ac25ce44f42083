"""What learning will cost, before it costs anything."""

from __future__ import annotations

from dataclasses import dataclass

from agentscope_tuner.graders.prompt.template import PromptTemplate
from agentscope_tuner.rubrics.config import AutoGraderConfig
from agentscope_tuner.rubrics.prompts import EVALUATION, PROPOSE
from agentscope_tuner.rubrics.samples import read_samples, split

_REPLY_TOKENS = 150
_CLOSING_CHARS = 450


@dataclass(frozen=True, slots=True)
class Plan:
    """Bounds on what learning takes.

    Attributes:
        learn_from, held_out: numbers of samples.
        calls: fewest and most; votes and swapped orders included, retries not.
        tokens: prompt and reply tokens for so many calls, at three characters a token.
        cost: for so many tokens in the configured prices' currency; None without prices.
    """

    learn_from: int
    held_out: int
    calls: tuple[int, int]
    tokens: tuple[int, int]
    cost: tuple[float, float] | None


def plan(config: AutoGraderConfig) -> Plan:
    """Read the samples and reckon; asks no model.

    Raises:
        ConfigError: the samples cannot be read.
    """
    samples = read_samples(config.training_file(), config)
    seen, held = split(samples, config.holdout, config.seed)
    tried = min(len(seen), config.max_iterations * config.batch_size)
    verdict = config.votes * (2 if config.swap else 1)
    sorting = int(config.enable_categorization)
    # fewest: the rubrics of the first `patience` batches add nothing more; most: every sample needs every revision
    least_tried = min(tried, config.patience * config.batch_size)
    fewest = least_tried * (1 + verdict) + 2 * len(held) * verdict + sorting
    most = tried * (1 + config.max_epochs) * (1 + verdict) + 2 * len(held) * verdict + sorting
    material = sum(len(sample.query) + sum(map(len, sample.answers)) for sample in samples) / len(samples)
    frame = max(_chars(PROPOSE, config), _chars(EVALUATION[config.mode], config)) + _CLOSING_CHARS
    prompt_tokens = (material + frame) / 3
    tokens = (int(fewest * (prompt_tokens + _REPLY_TOKENS)), int(most * (prompt_tokens + _REPLY_TOKENS)))
    prices = config.settings().prices
    cost = None
    if prices is not None:
        one = prices.cost(int(prompt_tokens), _REPLY_TOKENS)
        cost = (fewest * one, most * one)
    return Plan(len(seen), len(held), (fewest, most), tokens, cost)


def _chars(template: PromptTemplate, config: AutoGraderConfig) -> int:
    return sum(len(message.content) for message in template.in_language(config.language))
