"""Loading the judges that another judge asks, each from a whole `task_judge` section inside its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.config import SECTION, TaskJudgeConfig, with_section
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, judge_error
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.protocol import load_judge
from agentscope_tuner.task_judge.task_judge import TaskJudge

_ASKING_TYPES = ("combined", "routed")
_DEFAULTS = TaskJudgeConfig()
# Settings of the whole run, not of one of its judges
_OF_THE_WHOLE = ("name", "concurrency")


def load_inner(config: Any, section: TaskJudgeConfig, inner: TaskJudgeConfig, key: str) -> TaskJudge:
    """The judge of `inner`, which gets the whole configuration with its own section as `astuner.task_judge`.

    Its deadline is no longer than the outer judge's.

    Args:
        config: the whole configuration, as a judge receives it; not changed.
        section: the section around it.
        inner: its own section.
        key: where it stands in `section`, such as `parts.style`.

    Raises:
        ConfigError: the judge cannot be loaded, or judges are nested too deep.
    """
    where = f"{SECTION}.{key}"
    for name in _OF_THE_WHOLE:
        if (value := getattr(inner, name)) != getattr(_DEFAULTS, name):
            raise ConfigError(f"{where}.{name} is read by nobody: write {SECTION}.{name} for the whole, got {value!r}")
    _check_depth(section, inner, where)
    fields = inner.model_dump(include=set(TaskJudgeConfig.model_fields))
    fields["deadline"] = _sooner(inner.deadline, section.deadline)
    try:
        return load_judge(with_section(config, TaskJudgeConfig.model_validate(fields)))
    except ConfigError as exc:
        told = str(exc)
        raise ConfigError(told.replace(SECTION, where) if SECTION in told else f"{where}: {told}") from exc


def _check_depth(section: TaskJudgeConfig, inner: TaskJudgeConfig, where: str) -> None:
    """Two levels of judges that ask others are enough for every use that is known, and keep reasons readable."""
    if inner.judge_type not in _ASKING_TYPES:
        return
    for kind, asked in (("parts", inner.parts), ("routes", inner.routes)):
        for name, each in asked.items():
            if each.judge_type in _ASKING_TYPES:
                raise ConfigError(
                    f"{where}.{kind}.{name}.judge_type: {each.judge_type!r} stands two levels inside {SECTION}, "
                    f"a {section.judge_type} judge: one such judge may hold another, and that one none"
                )


def _sooner(first: float | None, second: float | None) -> float | None:
    given = [seconds for seconds in (first, second) if seconds is not None]
    return min(given) if given else None


def zeroed(judgement: Judgement) -> Judgement:
    """The reward of a failed verdict under `on_error: zero`; its cost is kept."""
    reason = f"no verdict, 0.0 by on_error: zero: {judgement.reason}"
    return Judgement("judged", 0.0, False, reason, metrics=judgement.metrics)


def failure_of(key: str, judge: TaskJudge, judgement: Judgement) -> JudgeError:
    """The error of a judge whose inner judge `key` has no verdict.

    The message does not name the task, because summaries count failures by their words; the caller adds the name.
    """
    error = judge_error(f"{key} ({judge.traits.name}): {judgement.reason}", judgement.cause or Cause.JUDGE)
    error.metrics = judgement.metrics
    return error


def bounded(judge: TaskJudge, deadline: float | None) -> bool:
    """Whether every verdict of `judge` ends: by itself, or at its deadline."""
    return judge.traits.bounded or deadline is not None


def first_problem(problems: Mapping[str, str | None]) -> str | None:
    """The first problem that inner judges find in a row, with its kind and the judge's name."""
    for key, problem in problems.items():
        if problem is not None:
            kind, colon, said = problem.partition(":")
            return f"{kind}: {key}:{said}" if colon else f"{problem}: {key}"
    return None
