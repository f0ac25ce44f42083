"""What learning will cost, before it costs anything."""

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
# Tokens of the reply's form, of the markers' delimiters and of the chat template
_FORM_TOKENS = 80


@dataclass(frozen=True, slots=True)
class Plan:
    """Bounds on what learning takes.

    Attributes:
        learn_from, held_out: numbers of samples.
        held_out_queries: how many different queries those held out have.
        calls: fewest and most; votes and swapped orders included, retries not.
        tokens: prompt and reply tokens for so many calls, estimated.
        cost: for so many tokens in the configured prices' currency; None without prices.
    """

    learn_from: int
    held_out: int
    held_out_queries: int
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
