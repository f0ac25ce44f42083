"""The section `astuner.second_opinion`: the judge or labels for second opinions, and the number of asked rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from agentscope_tuner.config import Settings, StrictSection, read_section, validate_section
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.insight.labels import read_labels
from agentscope_tuner.insight.watch.second_opinion import Ask, SecondOpinion, asks_judge, asks_labels
from agentscope_tuner.task_judge.batch import ConfiguredJudge, located

OPINION = "astuner.second_opinion"


class SecondOpinionConfig(StrictSection):
    """The section `astuner.second_opinion`; exactly one of `conf`, `task_judge` and `labels` must be given."""

    # The YAML file of a stricter judge
    conf: str | None = None
    # Or the stricter judge's own section, as under astuner.task_judge
    task_judge: dict[str, Any] | None = None
    # Or a file of labels, in a format of `astuner agree`
    labels: str | None = None
    # Asked rows as a share of all rows; three times this share while a monitor worries
    rate: float = Field(default=0.02, ge=0, le=1)
    # The most asked rows, as a share of all rows so far
    most: float = Field(default=0.05, ge=0, le=1)
    # The most asked rows over the whole run; none is no limit
    budget: int | None = Field(default=None, ge=0)
    # The share of false passes that is no gaming
    tolerance: float = Field(default=0.1, ge=0.001, le=0.99)
    # The chance of a false alarm over the whole run
    alpha: float = Field(default=0.05, ge=1e-9, le=0.5)
    # The seed for drawing rows
    seed: int = 0

    @model_validator(mode="after")
    def _one_is_asked(self) -> SecondOpinionConfig:
        named = [key for key in ("conf", "task_judge", "labels") if getattr(self, key) is not None]
        if len(named) != 1:
            raise ValueError(f"name one of conf, task_judge and labels; named are {named!r}")
        return self


def opinion_section(settings: Settings) -> SecondOpinionConfig | None:
    """The typed section of a configuration; None for a configuration without it.

    Raises:
        ConfigError: the section has an error.
    """
    ours = settings.whole.get("astuner") or {}
    if ours.get("second_opinion") is None:
        return None
    return read_section(SecondOpinionConfig, settings.whole, OPINION)


def opinion_of(section: SecondOpinionConfig) -> tuple[SecondOpinion, Collection[str]]:
    """The second opinion that a section describes, and the ids in its labels.

    The rows of these ids must be numbered, because labels tell rows with the same id apart by their order.

    Raises:
        ConfigError: the section's judge cannot be loaded, or its labels cannot be read.
    """
    ask, ids = _asked(section)
    opinion = SecondOpinion(
        ask,
        rate=section.rate,
        most=section.most,
        budget=section.budget,
        tolerance=section.tolerance,
        alpha=section.alpha,
        seed=section.seed,
    )
    return opinion, ids


def changed(section: SecondOpinionConfig | None, path: Path | None, values: Mapping[str, Any]) -> SecondOpinionConfig:
    """A copy of a section with other values.

    Args:
        section: the section; None starts from the defaults.
        path: replaces the second judge: the YAML file of a judge, or any other file, which holds labels.
        values: replace the section's values.

    Raises:
        ConfigError: a value is wrong, or neither a judge nor labels are named.
    """
    kept = {} if section is None else section.model_dump()
    if path is not None:
        named = "conf" if path.suffix in (".yaml", ".yml") else "labels"
        kept |= {"conf": None, "task_judge": None, "labels": None, named: str(path)}
    return validate_section(SecondOpinionConfig, {**kept, **values}, OPINION)


def _asked(section: SecondOpinionConfig) -> tuple[Ask, Collection[str]]:
    if section.labels is not None:
        labels = read_labels(Path(section.labels))
        return asks_labels(labels), {name for name, _ in labels}
    source = located(section.conf) if section.conf is not None else {"astuner": {"task_judge": section.task_judge}}
    # The second judge's verdicts must not become rows of the run, even if its YAML names the run's log_dir
    judge = ConfiguredJudge(source, logs=False)
    if judge.listwise:
        raise ConfigError(f"{judge.name} ranks whole groups: a second opinion is asked about one answer at a time")
    return asks_judge(judge), ()
