"""The typed section of every configuration, `astuner.task_judge`, and its defaults."""

from __future__ import annotations

import hashlib
import json
import math
from numbers import Real
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from agentscope_tuner._version import __version__
from agentscope_tuner.config.problems import StrictSection

SECTION = "astuner.task_judge"
# The depth to which combined and routed judges may be nested
_MOST_NESTED = 2


def _empty_list_for_null(value: object) -> object:
    # `rules:` with every rule commented out reads as null and means no rules
    return [] if value is None else value


def _text_keys(value: object) -> object:
    """Turn keys into text: YAML reads the route `1:` as a number and `true:` as a boolean; rows hold any of these."""
    if not isinstance(value, dict):
        return value
    named = {key: key if isinstance(key, str) else route_name(key) for key in value}
    twice = sorted({name for name in named.values() if list(named.values()).count(name) > 1}, key=str)
    if twice:
        raise ValueError(f"two routes are named {twice[0]!r}")
    return {named[key]: section for key, section in value.items()}


def route_name(value: object) -> str | None:
    """The name of the route that `value` stands for: text as it is, `1` and `1.0` as "1", `true` as "true".

    None for a value that names no route: None, NaN, a list, a mapping.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    # numpy's scalars are numbers, too; and pandas turns whole numbers into floats where a cell is missing
    if type(value) is int:
        return str(value)
    if isinstance(value, Real) and math.isfinite(value):
        number = float(value)
        return str(int(number)) if number.is_integer() else str(value)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return str(bool(value)).lower()
    return None


class MathConfig(StrictSection):
    """`astuner.task_judge.math`: how MathAnswerAsJudge compares."""

    equivalence: Literal["symbolic", "exact"] = "symbolic"
    # places of the answer, in order of preference: the first place that holds an answer is read
    answer_in: list[Literal["boxed", "tag", "hash", "label", "last_value"]] = Field(default=["boxed"], min_length=1)
    # whether a formula that already appears in the question may be the answer
    copied: Literal["refuse", "accept"] = "refuse"
    # worker processes of the symbolic stage, shared by the process's judges
    workers: int = Field(default=1, ge=1, le=256)
    # CPU seconds that the symbolic stage may take over one answer
    deadline: float = Field(default=0.5, gt=0, le=3600)
    # an answer that cannot be checked within the bounds: 0.0 with its reason, or a JudgeError
    on_undecided: Literal["zero", "error"] = "zero"


class TaskJudgeConfig(StrictSection):
    """`astuner.task_judge`: which judge, and the rules that run before it."""

    # the judge's name in logs and trainers' metrics; by default its class name
    name: str | None = Field(default=None, pattern=r"^[\w.-]{1,64}$")
    # its metrics' names, for trainers that need the same metrics of every sample; by default those of its class
    metric_names: list[str] | None = None
    judge_type: Literal["customized_protocol", "rubrics_auto_grader", "llm", "task_rubrics", "combined", "routed"] = (
        "customized_protocol"
    )
    judge_protocol: str | None = None
    judge_kwargs: dict[str, Any] = Field(default_factory=dict)
    rules: Annotated[list[dict[str, Any]], BeforeValidator(_empty_list_for_null)] = Field(default_factory=list)
    rule_modules: list[str] = Field(default_factory=list)
    rule_reward: float = 0.0
    on_error: Literal["raise", "zero"] = "raise"
    # rows that an async judge judges at once; counted in each process, over all callers
    concurrency: int = Field(default=64, ge=1, le=10_000)
    # seconds for one verdict, whichever judge reaches it; null: no limit but those that judges set themselves
    deadline: float | None = Field(default=300.0, gt=0)
    # a folder for every row that trains and its judgement, which `astuner watch` reads
    log_dir: str | None = None
    # the share of advantage groups that are logged, each whole or not at all
    log_share: float = Field(default=1.0, gt=0, le=1)
    # whether a judgement keeps the questions to judge models and their replies, up to 20,000 characters a message
    keep_calls: bool = False
    # how many verdicts may hang in threads beyond their deadline before the judge is asked no more
    max_abandoned: int = Field(default=32, ge=1)
    math: MathConfig = Field(default_factory=MathConfig)
    rubrics_auto_grader: dict[str, Any] = Field(default_factory=dict)
    llm: dict[str, Any] = Field(default_factory=dict)
    task_rubrics: dict[str, Any] = Field(default_factory=dict)
    # judge_type: combined. The parts' judges, by name
    parts: dict[str, PartConfig] = Field(default_factory=dict)
    # how the parts' rewards become one: one of the four combinations, or `module->function`
    reward: str = "weighted_sum"
    # whose is_success counts: a part's name, or all, or any
    success: str = "all"
    # the least and the largest reward
    clip: list[float] | None = Field(default=None, min_length=2, max_length=2)
    # judge_type: routed. The field of a row that names its route
    by: str | None = None
    # the judges, by the field's value; `default` judges rows with any other value
    routes: Annotated[dict[str, TaskJudgeConfig], BeforeValidator(_text_keys)] = Field(default_factory=dict)

    def digest(self) -> str:
        """A digest of everything that decides the verdicts: runs with the same digest had the same judge, rules,
        settings and version.
        """
        deciding = json.dumps(_deciding(self.model_dump(mode="json")))
        return hashlib.sha256(f"{__version__} {deciding}".encode()).hexdigest()[:12]


class PartConfig(TaskJudgeConfig):
    """`astuner.task_judge.parts.<name>`: a whole section, and the part's weight in the combined reward."""

    weight: float = 1.0
    # a condition on other parts, such as `correct.is_success`; if it is not met, the part is not asked
    when: str | None = Field(default=None, min_length=1)
    # whether the combined verdict goes on without this part if the part fails
    optional: bool = False


TaskJudgeConfig.model_rebuild()


def _deciding(section: dict[str, Any]) -> dict[str, Any]:
    """A section without the keys that do not influence verdicts, at any depth of parts."""
    no_part = ("name", "metric_names", "concurrency", "log_dir", "log_share", "keep_calls")
    kept = {key: value for key, value in section.items() if key not in no_part}
    for key in ("llm", "task_rubrics", "rubrics_auto_grader"):
        kept[key] = _without_spending(kept[key])
    for key in ("parts", "routes"):
        kept[key] = {name: _deciding(part) for name, part in kept[key].items()}
    return kept


def _without_spending(value: Any) -> Any:
    """The settings of judge models without budgets and keys, at any depth.

    A run that stopped because its budget was spent can be resumed with a larger budget, and any run with another key.
    """
    if isinstance(value, dict):
        return {name: _without_spending(one) for name, one in value.items() if name not in ("budget", "api_key")}
    return [_without_spending(one) for one in value] if isinstance(value, list) else value
