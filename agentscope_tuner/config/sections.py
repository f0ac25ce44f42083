"""The typed section of every configuration, `astuner.task_judge`, and its defaults."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from agentscope_tuner._version import __version__
from agentscope_tuner.config.problems import StrictSection

SECTION = "astuner.task_judge"


def _empty_list_for_null(value: object) -> object:
    # `rules:` with every rule commented out reads as null and means no rules
    return [] if value is None else value


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

    # what logs and trainers' metrics call the judge; by default its class
    name: str | None = Field(default=None, pattern=r"^[\w.-]{1,64}$")
    # its metrics, for trainers that take the same ones of every sample; by default those its class names
    metric_names: list[str] | None = None
    judge_type: Literal["customized_protocol", "rubrics_auto_grader", "llm", "task_rubrics"] = "customized_protocol"
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
    # verdicts beyond their deadline, in threads that nothing can end, at which the judge is asked no more
    max_abandoned: int = Field(default=32, ge=1)
    math: MathConfig = Field(default_factory=MathConfig)
    rubrics_auto_grader: dict[str, Any] = Field(default_factory=dict)
    llm: dict[str, Any] = Field(default_factory=dict)
    task_rubrics: dict[str, Any] = Field(default_factory=dict)

    def digest(self) -> str:
        """Names what decides the verdicts: two runs with one digest had the same judge, rules, settings and version."""
        # a run that stopped because its budget was spent goes on with a larger one
        sections = ("llm", "task_rubrics", "rubrics_auto_grader")
        spending: Any = {section: {"budget": True, "client": {"budget": True}} for section in sections}
        deciding = self.model_dump_json(exclude={"name": True, "metric_names": True, "concurrency": True, **spending})
        return hashlib.sha256(f"{__version__} {deciding}".encode()).hexdigest()[:12]
