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
# combined and routed judges in one another
_MOST_NESTED = 2


def _empty_list_for_null(value: object) -> object:
    # `rules:` with every rule commented out reads as null and means no rules
    return [] if value is None else value


def _text_keys(value: object) -> object:
    """YAML reads the route `1:` as a number and `true:` as a truth value; rows hold either, or text."""
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
    # numpy's scalars are numbers too, and pandas makes floats of whole numbers where one cell is missing
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
    # where the answer stands, in order of preference: the first place that holds one is read
    answer_in: list[Literal["boxed", "tag", "hash", "label", "last_value"]] = Field(default=["boxed"], min_length=1)
    # whether a formula that stands in the question may be an answer
    copied: Literal["refuse", "accept"] = "refuse"
    # worker processes of the symbolic stage, shared by the process's judges
    workers: int = Field(default=1, ge=1, le=256)
    # CPU seconds that the symbolic stage may take over one answer
    deadline: float = Field(default=0.5, gt=0, le=3600)
    # an answer that nobody can check within the bounds: 0.0 with its reason, or a JudgeError
    on_undecided: Literal["zero", "error"] = "zero"


class TaskJudgeConfig(StrictSection):
    """`astuner.task_judge`: which judge, and the rules that run before it."""

    # the judge's name in logs and trainers' metrics; by default its class
    name: str | None = Field(default=None, pattern=r"^[\w.-]{1,64}$")
    # its metrics, for trainers that take the same ones of every sample; by default those its class names
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
    # rows judged at once by a judge that awaits: in each process, by every engine, trainer and service
    concurrency: int = Field(default=64, ge=1, le=10_000)
    # seconds for one verdict, whichever judge reaches it; null: no limit but those that judges set themselves
    deadline: float | None = Field(default=300.0, gt=0)
    # a folder for every row that trains and its judgement, which `astuner watch` reads
    log_dir: str | None = None
    # of the advantage groups, how many are logged, each whole or not at all
    log_share: float = Field(default=1.0, gt=0, le=1)
    # whether a judgement keeps what judge models were asked and replied, up to 20,000 characters a message
    keep_calls: bool = False
    # verdicts beyond their deadline, in threads that nothing can end, at which the judge is asked no more
    max_abandoned: int = Field(default=32, ge=1)
    math: MathConfig = Field(default_factory=MathConfig)
    rubrics_auto_grader: dict[str, Any] = Field(default_factory=dict)
    llm: dict[str, Any] = Field(default_factory=dict)
    task_rubrics: dict[str, Any] = Field(default_factory=dict)
    # judge_type: combined. The judges that are asked, by name
    parts: dict[str, PartConfig] = Field(default_factory=dict)
    # how the parts' rewards become one: one of the four combinations, or `module->function`
    reward: str = "weighted_sum"
    # whose is_success counts: a part's name, or all, or any
    success: str = "all"
    # the least and the largest reward
    clip: list[float] | None = Field(default=None, min_length=2, max_length=2)
    # judge_type: routed. Where a row says which route it takes
    by: str | None = None
    # the judges, by that value; `default` is asked about any other
    routes: Annotated[dict[str, TaskJudgeConfig], BeforeValidator(_text_keys)] = Field(default_factory=dict)

    def digest(self) -> str:
        """Names what decides the verdicts: two runs with one digest had the same judge, rules, settings and version."""
        deciding = json.dumps(_deciding(self.model_dump(mode="json")))
        return hashlib.sha256(f"{__version__} {deciding}".encode()).hexdigest()[:12]


class PartConfig(TaskJudgeConfig):
    """`astuner.task_judge.parts.<name>`: a whole section, and what the part is worth in the combined reward."""

    weight: float = 1.0
    # a condition on other parts, such as `correct.is_success`; unmet, the part is not asked
    when: str | None = Field(default=None, min_length=1)
    # whether the verdict goes on without this part where it fails
    optional: bool = False


TaskJudgeConfig.model_rebuild()


def _deciding(section: dict[str, Any]) -> dict[str, Any]:
    """A section without the keys that decide no verdict, down to parts of parts."""
    no_part = ("name", "metric_names", "concurrency", "log_dir", "log_share", "keep_calls")
    kept = {key: value for key, value in section.items() if key not in no_part}
    for key in ("llm", "task_rubrics", "rubrics_auto_grader"):
        kept[key] = _without_spending(kept[key])
    for key in ("parts", "routes"):
        kept[key] = {name: _deciding(part) for name, part in kept[key].items()}
    return kept


def _without_spending(value: Any) -> Any:
    """The settings of judge models without budgets and keys, at any depth.

    A run that stopped because its budget was spent goes on with a larger one, and one with another key goes on, too.
    """
    if isinstance(value, dict):
        return {name: _without_spending(one) for name, one in value.items() if name not in ("budget", "api_key")}
    return [_without_spending(one) for one in value] if isinstance(value, list) else value
