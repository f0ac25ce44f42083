"""Estimates the cost of learning before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentscope_tuner.graders.client.tokens import text_tokens
from agentscope_tuner.graders.prompt.template import LanguageEnum
from agentscope_tuner.graders.prompt.wording import closing
from agentscope_tuner.rubrics.config import AutoGraderConfig
from agentscope_tuner.rubrics.prompts import PROPOSE
from agentscope_tuner.rubrics.samples import read_samples, split
from agentscope_tuner.rubrics.saved import evaluation_template

_REPLY_TOKENS = 150
# Tokens of a prompt for the form of the reply, the markers' delimiters and the chat template
_FORM_TOKENS = 80


@dataclass(frozen=True, slots=True)
class Plan:
    """Bounds on the samples, calls, tokens and cost of learning.

    Attributes:
        learn_from: the number of samples to learn from.
        held_out: the number of samples held out.
        held_out_queries: the number of different queries of the samples held out.
        calls: the fewest and the most calls, with votes and swapped orders, without retries.
        tokens: prompt and reply tokens of the fewest and of the most calls, estimated.
        cost: the cost of these tokens in the currency of the configured prices; None without prices.
    """

    learn_from: int
    held_out: int
    held_out_queries: int
    calls: tuple[int, int]
    tokens: tuple[int, int]
    cost: tuple[float, float] | None


def plan(config: AutoGraderConfig) -> Plan:
    """Read the samples and compute the bounds; asks no model.

    Raises:
        ConfigError: the samples cannot be read.
    """
    samples = read_samples(config.training_file(), config)
    seen, held = split(samples, config.holdout, config.seed)
    tried = min(len(seen), config.max_iterations * config.batch_size)
    verdict = config.votes * (2 if config.swap else 1)
    sorting = int(config.enable_categorization)
    # Fewest: learning stops after `patience` batches, and no sample needs a revision.
    # Most: all samples need all revisions.
    least_tried = min(tried, config.patience * config.batch_size)
    fewest = least_tried * (1 + verdict) + 2 * len(held) * verdict + sorting
    most = tried * (1 + config.max_epochs) * (1 + verdict) + 2 * len(held) * verdict + sorting
    material = sum(_tokens([sample.query, *sample.answers]) for sample in samples) / len(samples)
    evaluation = evaluation_template(config).in_language(config.language)
    frame = max(
        _tokens([one.content for one in frames]) for frames in (PROPOSE.in_language(config.language), evaluation)
    )
    prompt_tokens = material + frame + _tokens([closing(LanguageEnum(config.language), "", "")]) + _FORM_TOKENS
    tokens = (int(fewest * (prompt_tokens + _REPLY_TOKENS)), int(most * (prompt_tokens + _REPLY_TOKENS)))
    prices = config.settings().prices
    cost = None
    if prices is not None:
        one = prices.cost(int(prompt_tokens), _REPLY_TOKENS)
        cost = (fewest * one, most * one)
    return Plan(len(seen), len(held), len({sample.same_query for sample in held}), (fewest, most), tokens, cost)


def _tokens(texts: Sequence[str]) -> int:
    return sum(map(text_tokens, texts))
