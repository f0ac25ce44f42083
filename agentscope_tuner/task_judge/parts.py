"""Loads the parts of a combined judge, checks them against each other, and puts them into the order of asking."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentscope_tuner.config import SECTION, PartConfig, TaskJudgeConfig
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.conditions import Condition, parse_condition
from agentscope_tuner.task_judge.inner_judges import load_inner
from agentscope_tuner.task_judge.task_judge import TaskJudge

WHERE = f"{SECTION}.parts"
_NAME = re.compile(r"[^\W\d][\w-]{0,63}")
# Names with a meaning in a condition or in `success`
_RESERVED = ("all", "and", "any", "not", "or")


@dataclass(frozen=True, slots=True)
class Part:
    """One judge of a combined one.

    Attributes:
        name: its key; its reward is the metric `part/<name>`.
        weight: its factor in a sum or mean.
        judge: the judge behind its own rules and deadline.
        settings: its section.
        when: the condition under which it is asked; None for always.
        needs: the parts that the condition reads.
        counts: whether it counts for the reward: a part of weight 0 does not, it only observes.
        may_fail: whether the verdict goes on if this part fails: it is optional, or only observes.
        zero_on_error: whether a failure counts as a reward of 0.0, which a user asked for by name.
        key: `part/<name>`.
    """

    name: str
    weight: float
    judge: TaskJudge
    settings: PartConfig
    when: Condition | None
    needs: frozenset[str]
    counts: bool
    may_fail: bool
    zero_on_error: bool
    key: str

    @property
    def is_cheap(self) -> bool:
        """Whether the part computes, and waits for no service."""
        return self.judge.traits.kind == "cpu"


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """A part's verdict, as a user's function of the parts gets it.

    Attributes:
        name: the part's.
        weight: its weight.
        status: as a `Judgement`'s; `skipped` where its condition was not met; `failed` only where it may fail.
        reward: None exactly when skipped or failed.
        is_success: likewise.
    """

    name: str
    weight: float
    status: Literal["judged", "filtered", "skipped", "failed"]
    reward: float | None
    is_success: bool | None


@dataclass(frozen=True, slots=True)
class Stage:
    """Parts that depend only on earlier stages: one cheap part, or several parts that wait at the same time."""

    parts: tuple[Part, ...]
    waits: bool


def load_parts(config: Any, section: TaskJudgeConfig, *, weighs: bool) -> list[Part]:
    """The parts of `section`, in their order.

    Args:
        config: the whole configuration.
        section: the combined judge's.
        weighs: whether a weight of 0 takes a part out of the reward; a function of the parts decides that itself.

    Raises:
        ConfigError: there are no parts, a name or a condition cannot be used, or a part cannot be loaded.
    """
    if not section.parts:
        raise ConfigError(f"{WHERE} is missing: name at least one part, each with a task_judge section of its own")
    conditions = {name: _condition(section, name) for name in section.parts}
    needs = {name: _needs(condition) for name, condition in conditions.items()}
    needed = frozenset({section.success}).union(*needs.values())
    return [
        Part(
            name,
            settings.weight,
            _load(config, section, name),
            settings,
            conditions[name],
            needs[name],
            counts=not weighs or settings.weight != 0,
            may_fail=settings.optional or (weighs and settings.weight == 0 and name not in needed),
            zero_on_error=settings.on_error == "zero",
            key=f"part/{name}",
        )
        for name, settings in section.parts.items()
    ]


def _load(config: Any, section: TaskJudgeConfig, name: str) -> TaskJudge:
    judge = load_inner(config, section, section.parts[name], f"parts.{name}")
    # The outer judge warns of an ignored reward: once is enough
    judge.heeds_own_reward = True
    if judge.traits.ranks and section.parts[name].when is not None:
        raise ConfigError(
            f"{WHERE}.{name}.when: {judge.traits.name} ranks whole advantage groups, and a condition would take some "
            "of their members out: remove it, or multiply with the part that it names"
        )
    return judge


def _condition(section: TaskJudgeConfig, name: str) -> Condition | None:
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise ConfigError(
            f"{WHERE}: a part's name is a letter and up to 63 letters, digits, _ or -, and none of "
            f"{', '.join(_RESERVED)}, got {name!r}"
        )
    when = section.parts[name].when
    if when is None:
        return None
    known: dict[str, type] = {}
    for other in section.parts:
        if other != name:
            known |= {f"{other}.is_success": bool, f"{other}.reward": float}
    return parse_condition(when, known, f"{WHERE}.{name}.when")


def _needs(condition: Condition | None) -> frozenset[str]:
    return frozenset() if condition is None else frozenset(name.rpartition(".")[0] for name in condition.names)


def in_stages(parts: Sequence[Part]) -> list[Stage]:
    """The order in which parts are asked: each after those its condition reads, cheap ones as early as that allows.

    Raises:
        ConfigError: conditions lead in a circle.
    """
    stages: list[Stage] = []
    waiting, asked = list(parts), set[str]()
    while waiting:
        ready = [part for part in waiting if asked >= part.needs]
        if not ready:
            circle = ", ".join(f"{part.name} when {part.settings.when}" for part in waiting)
            raise ConfigError(f"{WHERE}: these conditions lead in a circle: {circle}")
        cheap = [part for part in ready if part.is_cheap]
        stages += [Stage((part,), waits=False) for part in cheap] or [Stage(tuple(ready), waits=True)]
        asked.update(part.name for part in cheap or ready)
        waiting = [part for part in waiting if part.name not in asked]
    return stages


def metric_names_of(parts: Sequence[Part]) -> tuple[str, ...]:
    """Every metric that verdicts of these parts may carry, each once."""
    names: dict[str, None] = {}
    for part in parts:
        key = part.key
        names[key] = None
        for flag, has in (("skipped", part.when is not None), ("failed", part.may_fail or part.zero_on_error)):
            names |= {f"{key}/{flag}": None} if has else {}
        own = part.settings.metric_names
        for metric in part.judge.inner.metric_names if own is None else own:
            names[metric if metric.startswith("judge_") else f"{key}/{metric}"] = None
    return tuple(names)


def shares_reference(parts: Mapping[str, TaskJudge], first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether every part reads the same from two references."""
    return all(
        judge.inner.same_reference(
            {key: first.get(key) for key in judge.inner.reference_keys},
            {key: second.get(key) for key in judge.inner.reference_keys},
        )
        for judge in parts.values()
    )
