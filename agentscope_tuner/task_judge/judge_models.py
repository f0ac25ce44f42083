"""The judge models to ask: one, or several as a jury, and more expensive models where the first are unsure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, model_validator

from agentscope_tuner.config import StrictSection, validate_section
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.chat_settings import ChatSettings
from agentscope_tuner.graders.combine import VoteRule
from agentscope_tuner.task_judge.conditions import Condition, Known, parse_condition

_UNNAMED = re.compile(r"[^\w.-]+")


class JurorModel(StrictSection):
    """One judge model of several; settings that it lacks come from the section."""

    model_name: str = Field(min_length=1)
    #: in metrics and reasons; the model's when None
    name: str | None = Field(default=None, min_length=1)
    base_url: str | None = None
    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)
    #: over the section's: see ChatSettings
    client: dict[str, Any] = Field(default_factory=dict)

    @property
    def called(self) -> str:
        """The model's name in metrics and reasons."""
        return _UNNAMED.sub("_", self.name or self.model_name)


def _jurors(value: object) -> object:
    """A model's name, or a list of names and mappings, as a list of mappings."""
    items = [value] if isinstance(value, str | Mapping) else value
    if not isinstance(items, list):
        return items
    return [{"model_name": item} if isinstance(item, str) else item for item in items]


Jurors = Annotated[list[JurorModel], BeforeValidator(_jurors), Field(min_length=1, max_length=20)]


class Escalation(StrictSection):
    """When to ask again for a verdict, and which models."""

    #: such as 0.3 < score < 0.7, or disagreement > 0.5: see conditions.py
    when: str
    to: Jurors


class ModelsSection(StrictSection):
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
    base_url: str | None = None
    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)
    #: the client's limits: see ChatSettings
    client: dict[str, Any] = Field(default_factory=dict)
    #: of a run: calls, tokens, cost; see RunBudget
    budget: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> ModelsSection:
        if (self.model_name is None) is (self.models is None):
            raise ValueError("give model_name, or models for a jury: one of both")
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
    def every(self) -> list[ChatModel]:
        """All of them."""
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
    """`settings` with `deadline` where their own deadline is longer."""
    if deadline is None or settings.deadline_seconds <= deadline:
        return settings
    return settings.model_copy(update={"deadline_seconds": deadline})
