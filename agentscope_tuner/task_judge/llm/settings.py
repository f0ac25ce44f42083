"""`astuner.task_judge.llm`, typed: the models to ask, as a jury or again where they are unsure, and the grader."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, FiniteFloat, model_validator

from agentscope_tuner.config import SECTION, WITH_OFF, StrictSection, validate_section
from agentscope_tuner.errors import ConfigError, did_you_mean, told
from agentscope_tuner.graders.base_grader import BaseGrader
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.settings import MODEL_NAME, ChatSettings, EndpointSection
from agentscope_tuner.graders.combine import GradingSection, VoteRule
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.prompt import MOST_CHARS
from agentscope_tuner.graders.ready import READY as READY
from agentscope_tuner.graders.schema import GraderMode
from agentscope_tuner.graders.template import ChatMessage, LanguageEnum, PromptTemplate
from agentscope_tuner.task_judge.combined.condition import Condition, Known, parse_condition

_UNNAMED = re.compile(r"[^\w.-]+")


class JurorModel(EndpointSection):
    """One judge model of several. Settings that it lacks are the section's; its `client` overrides the section's."""

    model_name: str = Field(min_length=1, description=MODEL_NAME)
    #: in metrics and reasons; the model's when None
    name: str | None = Field(default=None, min_length=1)

    @property
    def called(self) -> str:
        """The model's name in metrics and reasons."""
        return _UNNAMED.sub("_", self.name or self.model_name)


def _jurors(value: object) -> object:
    """Models as a list of mappings: `"m"` gives `[{"model_name": "m"}]`. pydantic refuses what is no list."""
    items = [value] if isinstance(value, str | Mapping) else value
    if not isinstance(items, list):
        return items
    return [{"model_name": item} if isinstance(item, str) else item for item in items]


Jurors = Annotated[list[JurorModel], BeforeValidator(_jurors), Field(min_length=1, max_length=20)]


class Escalation(StrictSection):
    """When to ask again for a verdict, and which models."""

    #: such as 0.3 < score < 0.7, or disagreement > 0.5: see task_judge/combined
    when: str = Field(description="the condition, such as `when: 0.3 < score < 0.7`")
    to: Jurors = Field(description="the models that are asked then, such as `to: qwen-max`")


class ModelsSection(EndpointSection):
    """The judge models of a section, and the budget of a run for all of them together."""

    #: the one judge model; or `models`
    model_name: str | None = Field(default=None, min_length=1)
    #: a jury: each is asked, and their verdicts become one
    models: Jurors | None = None
    #: how the jurors' verdicts become one
    jury_rule: VoteRule = "median"
    #: skip: less than half of the jurors may fail; error: none
    failed_jurors: Literal["skip", "error"] = "skip"
    #: dearer models, asked where the first are unsure
    escalate: Escalation | None = None
    #: of a run: calls, tokens, cost; see RunBudget
    budget: dict[str, Any] | None = None
    #: whether the models take images: send; or refuse: an image that is part of a question is no verdict
    images: Literal["send", "refuse"] = "refuse"
    #: whether each model is tried with answers that say nothing, and what becomes of one that pays them
    probes: Annotated[Literal["refuse", "warn", "off"], WITH_OFF] = "off"

    #: such a section, for the message that it lacks a model
    _example: ClassVar[str] = "model_name: MODEL and base_url: URL"

    @model_validator(mode="after")
    def _one_way(self) -> ModelsSection:
        if self.model_name is not None and self.models is not None:
            raise ValueError("model_name and models stand there: leave one of the two, models for a jury")
        if self.model_name is None and self.models is None:
            told = f"write {self._example}; for a jury write models in place of model_name"
            raise ValueError(f"model_name is missing: {told}")
        return self

    @property
    def first(self) -> list[JurorModel]:
        """The models that are asked about every answer."""
        return self.models or [JurorModel(model_name=str(self.model_name))]


@dataclass(frozen=True, slots=True)
class Panels:
    """The models by name: those asked first, and those asked if `when` holds for the first verdict."""

    first: Mapping[str, ChatModel]
    dearer: Mapping[str, ChatModel]
    when: Condition | None

    @property
    def metric_names(self) -> list[str]:
        """The metrics that a jury and an escalation add to a verdict."""
        jury = ["jury_size", "jury_failed", "jury_disagreement"] if len(self.first) > 1 else []
        return [*jury, "escalated"] if self.when is not None else jury

    @property
    def every(self) -> list[ChatModel]:
        """All models, of both panels."""
        return [*self.first.values(), *self.dearer.values()]


def build_panels(section: ModelsSection, where: str, deadline: float | None, known: Known) -> Panels:
    """The models of `section`; their calls take no longer than `deadline` allows a verdict.

    Args:
        section: the configuration.
        where: its key, for messages.
        deadline: seconds for a verdict; None for no limit.
        known: what `escalate.when` may look at.

    Raises:
        ConfigError: a wrong setting, a missing key or file, two models of one name, or a wrong condition.
    """
    budget_name = _budget_name(section, where)

    def panel(jurors: list[JurorModel], key: str) -> dict[str, ChatModel]:
        names = [juror.called for juror in jurors]
        if double := next((name for name in names if names.count(name) > 1), None):
            raise ConfigError(f"{where}.{key}: two models are called {double!r}: give one of them another name")
        return {
            juror.called: ChatModel(_settings(section, juror, where, deadline), budget_name=budget_name)
            for juror in jurors
        }

    first, dearer, when = panel(section.first, "models"), {}, None
    if section.escalate is not None:
        when = parse_condition(section.escalate.when, known, f"{where}.escalate.when")
        dearer = panel(section.escalate.to, "escalate.to")
        if both := sorted(set(first) & set(dearer)):
            raise ConfigError(f"{where}.escalate.to: {both[0]!r} is asked first already: give it another name")
    for model in [*first.values(), *dearer.values()]:
        _ = model.endpoint, model.settings.markers  # fails now for a missing key or file
    return Panels(first, dearer, when)


def _settings(section: ModelsSection, juror: JurorModel, where: str, deadline: float | None) -> ChatSettings:
    # A key belongs to a host, so it is not sent to another host
    api_key = juror.api_key or (section.api_key if juror.base_url is None else None)
    fields: dict[str, Any] = {
        **section.client,
        **juror.client,
        "model_name": juror.model_name,
        "base_url": juror.base_url or section.base_url,
        "api_key": api_key,
    }
    if section.budget is not None:
        if "budget" in juror.client:
            raise ConfigError(f"{where}.budget is of all models together: {juror.called!r} cannot have one, too")
        fields["budget"] = section.budget
    return within(validate_section(ChatSettings, fields, f"{where}.client"), deadline)


def _budget_name(section: ModelsSection, where: str) -> str:
    """The name of the budget that all models of the section share; empty where each has its own budget, or none."""
    if section.budget is None:
        return ""
    return hashlib.sha256(f"{where} {section.model_dump_json()}".encode()).hexdigest()


def within(settings: ChatSettings, deadline: float | None) -> ChatSettings:
    """`settings`, with `deadline` in place of their own deadline if that is longer."""
    if deadline is None or settings.deadline_seconds <= deadline:
        return settings
    return settings.model_copy(update={"deadline_seconds": deadline})


WHERE = f"{SECTION}.llm"
_MESSAGES = {"response": "output.metadata.messages"}
#: The paths of the variables of some ready graders, if `reads` does not set them.
READY_PATHS: dict[str, Mapping[str, str]] = {
    "grounding": {"context": "task.metadata.context"},
    "trajectory": _MESSAGES,
    "tool_use": _MESSAGES,
    "memory": _MESSAGES,
    "coherence": _MESSAGES,
}
_MOST_LABELS = 20
# The keys that a ready grader, and any LLMGrader, has under the same names
_READY_OWN = {"language", "votes", "vote_rule", "swap", "max_chars"}
_GRADERS_OWN = {*_READY_OWN, "mode", "score_from", "score_pattern"}


class Scale(StrictSection):
    """The range of scores, both ends included."""

    min: FiniteFloat = Field(description="the lowest score, such as `min: 1`")
    max: FiniteFloat = Field(description="the highest score, such as `max: 5`")

    @model_validator(mode="after")
    def _a_range(self) -> Scale:
        if self.min >= self.max:
            raise ValueError("min must be below max")
        return self


class LLMJudgeConfig(ModelsSection, GradingSection):
    """How to ask one or several judge models about a rollout, and how their score becomes a reward."""

    _example: ClassVar[str] = "llm: {model_name: MODEL, base_url: URL, grader: relevance}"

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
    #: of replies that are no JSON: its one group is the score, or one of labels
    score_pattern: str | None = None
    #: listwise: all answers in one prompt, or each pair of them in its own
    compare: Literal["group", "pairs"] = "group"
    #: compare: pairs: of more pairs a part is asked about, in which each answer stands as often
    most_pairs: int = Field(default=64, ge=2)
    #: listwise: of the order in which answers are shown; null: as they come
    shuffle_seed: int | None = 0
    #: of all that a prompt shows; an answer that does not fit earns the least
    max_chars: int = Field(default=MOST_CHARS, ge=1_000)


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
        example = "" if given else ", such as prompt: 'Score from 1 to 5. Answer: {response}'"
        raise ConfigError(f"{WHERE}: give one of prompt, prompt_file, template and grader, got {given!r}{example}")
    with told(f"{WHERE}.{given[0]}", ValueError, TypeError):
        if config.grader is not None:
            return _named_grader(config, config.grader, model, find)
        messages = config.template or [ChatMessage(content=_prompt(config))]
        template = PromptTemplate(messages={LanguageEnum(config.language): messages})
        low, high = (config.scale.min, config.scale.max) if config.scale else (None, None)
        options = config.model_dump(include=_GRADERS_OWN)
        labels = _labels(config, template)
        return LLMGrader(model, "llm", template=template, min_score=low, max_score=high, labels=labels, **options)


def _prompt(config: LLMJudgeConfig) -> str:
    if config.prompt is not None:
        return config.prompt
    path = Path(str(config.prompt_file))
    with told(f"{WHERE}.prompt_file: cannot read {str(path)!r}"):
        return path.read_text(encoding="utf-8")


def _labels(config: LLMJudgeConfig, template: PromptTemplate) -> dict[str, float] | None:
    """The labels that a judge model may answer with, and the score of each; None if it answers with a score.

    With `score_from: logprobs` and no labels in the configuration these are the numbers of the range: 1 to 3 gives
    `{"1": 1.0, "2": 2.0, "3": 3.0}`.

    Raises:
        ValueError: the range is too long for that, or not of whole numbers.
    """
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
    for key in ("scale", "labels", "score_pattern") if name in READY else ():
        if getattr(config, key) is not None:
            raise ConfigError(f"{WHERE}.{key}: the grader {name!r} has its own; give a prompt to have another")
    if name in READY:
        mode = READY[name].default_mode
        if config.score_from != "text" or config.mode != mode:
            what = "writes a score for one response" if mode == "pointwise" else "compares responses, mode: listwise"
            raise ConfigError(f"{WHERE}.grader: {name!r} {what}; give a prompt for anything else")
        return READY[name](model, **config.model_dump(include=_READY_OWN))
    if "->" not in name:
        hint = did_you_mean(name, READY)
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
    if built.mode is GraderMode.LISTWISE:
        raise ConfigError(f"{WHERE}.grader: {name!r} ranks, and only an LLMGrader is asked for places")
    return built
