"""`astuner.second_opinion`: who gives second opinions on a run, about how many of its rows."""

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
    """`astuner.second_opinion`; one of `conf`, `task_judge` and `labels` says who is asked."""

    # a stricter judge's YAML
    conf: str | None = None
    # or the stricter judge itself, as under astuner.task_judge
    task_judge: dict[str, Any] | None = None
    # or a file of labels, as `astuner agree` reads it
    labels: str | None = None
    # asked rows as a share of all rows; three times as many while monitors are worried
    rate: float = Field(default=0.02, ge=0, le=1)
    # never more than this share of all rows so far
    most: float = Field(default=0.05, ge=0, le=1)
    # nor than this many rows over the whole run
    budget: int | None = Field(default=None, ge=0)
    # the share of false passes that is no gaming
    tolerance: float = Field(default=0.1, ge=0.001, le=0.99)
    # the chance of a false alarm over the whole run
    alpha: float = Field(default=0.05, ge=1e-9, le=0.5)
    # of the drawing of rows
    seed: int = 0

    @model_validator(mode="after")
    def _one_is_asked(self) -> SecondOpinionConfig:
        named = [key for key in ("conf", "task_judge", "labels") if getattr(self, key) is not None]
        if len(named) != 1:
            raise ValueError(f"name one of conf, task_judge and labels; named are {named!r}")
        return self


def opinion_section(settings: Settings) -> SecondOpinionConfig | None:
    """The typed section of a configuration; None where it has none.

    Raises:
        ConfigError: the section is wrong.
    """
    ours = settings.whole.get("astuner") or {}
    if ours.get("second_opinion") is None:
        return None
    return read_section(SecondOpinionConfig, settings.whole, OPINION)


def opinion_of(section: SecondOpinionConfig) -> tuple[SecondOpinion, Collection[str]]:
    """The second opinion that a section describes, and the ids of the rows that it tells apart by their order.

    Raises:
        ConfigError: its judge cannot be loaded, or its labels cannot be read.
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
    """A section with other values, and with the judge of a YAML, or the labels of any other file, where `path` is one.

    Raises:
        ConfigError: a value is wrong, or nobody is named.
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
    # its verdicts are no rows of the run, also where its YAML names the run's log_dir
    judge = ConfiguredJudge(source, logs=False)
    if judge.listwise:
        raise ConfigError(f"{judge.name} ranks whole groups: a second opinion is asked about one answer at a time")
    return asks_judge(judge), ()
