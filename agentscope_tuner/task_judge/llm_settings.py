"""`astuner.task_judge.llm`, typed, and the grader that it describes."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from agentscope_tuner.config import SECTION, StrictSection
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.graders.base_grader import BaseGrader
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.combine import VoteRule
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.prompt.template import ChatMessage, LanguageEnum, PromptTemplate
from agentscope_tuner.graders.ready.correctness import CorrectnessGrader
from agentscope_tuner.graders.ready.format_grader import FormatGrader
from agentscope_tuner.graders.ready.instruction_following import InstructionFollowingGrader
from agentscope_tuner.graders.ready.ready_grader import ReadyGrader
from agentscope_tuner.graders.ready.relevance import RelevanceGrader
from agentscope_tuner.task_judge.judge_models import ModelsSection

WHERE = f"{SECTION}.llm"
READY: dict[str, type[ReadyGrader]] = {
    "correctness": CorrectnessGrader,
    "relevance": RelevanceGrader,
    "instruction_following": InstructionFollowingGrader,
    "format": FormatGrader,
}
_MOST_LABELS = 20


class Scale(StrictSection):
    """The range of scores, both ends included."""

    min: float
    max: float


class LLMJudgeConfig(ModelsSection):
    """How to ask one or several judge models about a rollout, and how their score becomes a reward."""

    language: Literal["en", "zh"] = "en"

    #: one user message, with {response} and other variables
    prompt: str | None = None
    #: a file that holds it
    prompt_file: str | None = None
    #: several messages
    template: list[ChatMessage] | None = None
    #: a ready one, or module->Class
    grader: str | None = None
    #: for a grader of module->Class
    grader_kwargs: dict[str, Any] = Field(default_factory=dict)
    #: from a variable to where it is read
    reads: dict[str, str] = Field(default_factory=dict)

    mode: Literal["pointwise", "listwise"] = "pointwise"
    #: as the prompt states it when None
    scale: Scale | None = None
    #: words to answer, and what each is worth
    labels: dict[str, float] | None = None
    score_from: Literal["text", "logprobs"] = "text"
    #: share of the score range
    success_threshold: float = Field(default=0.7, ge=0, le=1)
    reward_scale: Literal["unit", "raw"] = "unit"
    votes: int = Field(default=1, ge=1)
    vote_rule: VoteRule = "median"
    #: listwise: ask in both orders
    swap: bool = False
    #: of a longer value the middle is left out
    max_chars: int = Field(default=60_000, ge=1_000)
    #: listwise: longer groups are ranked in chunks
    max_group_chars: int = Field(default=48_000, ge=1_000)
    #: answers with nothing to judge earn the least, uncalled
    filter_no_content: bool = True


def build_grader(config: LLMJudgeConfig, model: ChatModel, find: Any) -> BaseGrader:
    """The grader that `config` describes.

    Args:
        config: the section.
        model: the judge model.
        find: finds the class for `module->Class`.

    Raises:
        ConfigError: none or several prompts, a prompt without `{response}`, an unknown grader, a range that is
        not known,
            or options that contradict each other.
    """
    given = [name for name in ("prompt", "prompt_file", "template", "grader") if getattr(config, name) is not None]
    if len(given) != 1:
        raise ConfigError(f"{WHERE}: give one of prompt, prompt_file, template and grader, got {given!r}")
    try:
        if config.grader is not None:
            return _named_grader(config, config.grader, model, find)
        messages = config.template or [ChatMessage(content=_prompt(config))]
        template = PromptTemplate(messages={LanguageEnum(config.language): messages})
        low, high = (config.scale.min, config.scale.max) if config.scale else (None, None)
        return LLMGrader(
            model,
            "llm",
            config.mode,
            template,
            config.language,
            min_score=low,
            max_score=high,
            score_from=config.score_from,
            labels=_labels(config, template),
            votes=config.votes,
            vote_rule=config.vote_rule,
            swap=config.swap,
            max_chars=config.max_chars,
            filter_no_content=config.filter_no_content,
        )
    except (ValueError, TypeError) as exc:
        raise ConfigError(f"{WHERE}.{given[0]}: {exc}") from exc


def _prompt(config: LLMJudgeConfig) -> str:
    if config.prompt is not None:
        return config.prompt
    path = Path(str(config.prompt_file))
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{WHERE}.prompt_file: cannot read {str(path)!r}: {exc}") from exc


def _labels(config: LLMJudgeConfig, template: PromptTemplate) -> dict[str, float] | None:
    """The labels; for `logprobs` over a range of whole numbers, the numbers themselves."""
    if config.labels is not None or config.score_from == "text":
        return config.labels
    span = (config.scale.min, config.scale.max) if config.scale else template.stated_range(config.language)
    if span is None:
        return None
    low, high = span
    if low != int(low) or high != int(high) or not 0 < high - low < _MOST_LABELS:
        raise ValueError(
            f"score_from: logprobs needs labels, or a short range of whole numbers, got {low:g} to {high:g}"
        )
    return {str(number): float(number) for number in range(int(low), int(high) + 1)}


def _named_grader(config: LLMJudgeConfig, name: str, model: ChatModel, find: Any) -> BaseGrader:
    for key in ("scale", "labels") if name in READY else ():
        if getattr(config, key) is not None:
            raise ConfigError(f"{WHERE}.{key}: the grader {name!r} has its own range; give a prompt to have another")
    if name in READY:
        if config.score_from != "text" or config.mode != "pointwise":
            raise ConfigError(
                f"{WHERE}.grader: {name!r} writes a score for one response; give a prompt for anything else"
            )
        return READY[name](
            model, language=config.language, votes=config.votes, filter_no_content=config.filter_no_content
        )
    if "->" not in name:
        nearest = difflib.get_close_matches(name, READY, n=1)
        hint = f"did you mean {nearest[0]!r}? " if nearest else ""
        raise ConfigError(f"{WHERE}.grader: {hint}must be one of {', '.join(READY)} or 'module->Class', got {name!r}")
    found = find(name)
    if not issubclass(found, BaseGrader):
        raise ConfigError(f"{WHERE}.grader: {name!r} is not a subclass of BaseGrader")
    if not issubclass(found, LLMGrader) and (config.models is not None or config.escalate is not None):
        raise ConfigError(f"{WHERE}.grader: {name!r} is no LLMGrader, so that models and escalate would change nothing")
    if issubclass(found, LLMGrader):
        subclass: LLMGrader = found(model, language=config.language, **config.grader_kwargs)
        return subclass
    built: BaseGrader = found(**config.grader_kwargs)
    return built
