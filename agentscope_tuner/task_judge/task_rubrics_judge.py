"""TaskRubricsJudge: each task brings its own list of criteria, and a judge model says yes or no to each."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Literal

from pydantic import Field, SecretStr

from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.graders.client.chat_model import ChatModel, ChatSettings
from agentscope_tuner.graders.client.endpoint import probe
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.criteria_grader import CriteriaGrader, Met
from agentscope_tuner.graders.prompt.guard import no_content
from agentscope_tuner.graders.prompt.judge_prompt import Trajectory
from agentscope_tuner.rubrics.criteria import Aggregation, Rubrics, aggregated, read_rubrics
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.llm_settings import within
from agentscope_tuner.task_judge.reads import USUAL_PATHS, check_path, read_path
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

WHERE = f"{SECTION}.task_rubrics"
_MOST_COUNTED = 10_000
_LEAST_SEEN = 4
_MOST_NOTES = 20
_REASON_CRITERIA = 6


class TaskRubricsReads(StrictSection):
    """Where the parts of a rollout are read."""

    rubrics: str = "task.metadata.rubrics"
    query: str = USUAL_PATHS["query"]
    response: str = USUAL_PATHS["response"]


class TaskRubricsConfig(StrictSection):
    """How the criteria of each task are asked about and added up."""

    model_name: str = Field(min_length=1)
    base_url: str | None = None
    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)
    client: dict[str, Any] = Field(default_factory=dict, description="the client's limits: see ChatSettings")
    budget: dict[str, Any] | None = Field(default=None, description="of a run: calls, tokens, cost; see RunBudget")
    language: Literal["en", "zh"] = "en"
    reads: TaskRubricsReads = Field(default_factory=TaskRubricsReads)
    calls: Literal["together", "each"] = "together"
    score_from: Literal["text", "logprobs"] = "text"
    aggregation: Aggregation = "auto"
    gate_must_haves: bool = Field(default=False, description="a must-have that is not met makes the score 0")
    success_threshold: float = Field(default=0.7, ge=0, le=1)
    shuffle_seed: int | None = Field(default=0, description="of the order in which criteria are shown; null: as listed")
    max_chars: int = Field(default=60_000, ge=1_000, description="of a longer value the middle is left out")
    filter_no_content: bool = Field(default=True, description="answers with nothing to judge earn 0.0, uncalled")


class TaskRubricsJudge(BaseJudge):
    """`judge_type: task_rubrics`; configured under `astuner.task_judge.task_rubrics`, see TaskRubricsConfig.

    The reward is the score, 0.0 to 1.0; success is `success_threshold` or more. A criterion that cannot be
    decided fails the row. Metrics hold `criterion_<id>` for each, 1.0 where it is met.

    Raises:
        ConfigError: the section is wrong.
    """

    bounds_itself = True
    metric_names = ("score", "criteria", "criteria_met", "criteria_quoted", *Usage.metric_names())

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        self.settings = validate_section(TaskRubricsConfig, section.task_rubrics, WHERE)
        mine = self.settings
        for name in type(mine.reads).model_fields:
            check_path(getattr(mine.reads, name), f"{WHERE}.reads.{name}")
        fields = {**mine.client, "model_name": mine.model_name, "base_url": mine.base_url, "api_key": mine.api_key}
        fields |= {"budget": mine.budget} if mine.budget is not None else {}
        chat = within(validate_section(ChatSettings, fields, f"{WHERE}.client"), section.deadline)
        self.model = ChatModel(chat)
        try:
            self.grader = CriteriaGrader(self.model, mine.language, mine.calls, mine.score_from, mine.max_chars)
        except ValueError as exc:
            raise ConfigError(f"{WHERE}: {exc}") from exc
        _ = self.model.endpoint, self.model.settings.markers  # a missing key or file is found now
        # how often each task's criterion was asked about, and how often it was met
        self._seen: Counter[tuple[str, str]] = Counter()
        self._met: Counter[tuple[str, str]] = Counter()

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        reads = self.settings.reads
        rubrics = self._rubrics(read_path(reads.rubrics, workflow_task, workflow_output))
        query = str(read_path(reads.query, workflow_task, workflow_output))
        response = read_path(reads.response, workflow_task, workflow_output)
        if not isinstance(response, str | Trajectory):
            raise JudgeError(
                f"{reads.response} must be a text or chat messages, got {type(response).__name__}", cause=Cause.INPUT
            )
        text = response if isinstance(response, str) else "\n".join(response)
        reason = no_content(text) if self.settings.filter_no_content or not text.strip() else None
        if reason is not None:
            return Reward(0.0, False, reason=f"no_content: {reason}", filtered_by="no_content")
        order = self._order(workflow_task, rubrics)
        shown = [rubrics.criteria[index].text for index in order]
        decided, usage = await self.grader.decide(query, response, shown)
        back = dict(zip(order, decided, strict=True))
        met = [back[index] for index in range(len(rubrics.criteria))]
        self._count(workflow_task, rubrics, met)
        return self._reward(rubrics, met, usage)

    def _rubrics(self, value: Any) -> Rubrics:
        try:
            rubrics = read_rubrics(value)
            # whether it can be added up as asked is known before a call is paid for
            aggregated(rubrics, [0.0] * len(rubrics.criteria), self.settings.aggregation, self.settings.gate_must_haves)
        except ValueError as exc:
            raise JudgeError(f"{self.settings.reads.rubrics}: {exc}", cause=Cause.REFERENCE) from exc
        return rubrics

    def _order(self, task: WorkflowTask, rubrics: Rubrics) -> list[int]:
        order = list(range(len(rubrics.criteria)))
        if self.settings.shuffle_seed is not None:
            # by the task: all answers of an advantage group are asked about in one order
            random.Random(f"{self.settings.shuffle_seed} {task.task_id} {task.task.main_query}").shuffle(order)
        return order

    def _reward(self, rubrics: Rubrics, met: list[Met], usage: Usage) -> Reward:
        score = aggregated(
            rubrics, [one.value for one in met], self.settings.aggregation, self.settings.gate_must_haves
        )
        metrics = {f"criterion_{one.name}": verdict.value for one, verdict in zip(rubrics.criteria, met, strict=True)}
        metrics |= {
            "score": score,
            "criteria": float(len(met)),
            "criteria_met": float(sum(one.value >= 0.5 for one in met)),
            "criteria_quoted": float(sum(bool(one.quote) for one in met)),
            **usage.metrics(),
        }
        success = score >= self.settings.success_threshold - 1e-9
        return Reward(score, success, reason=_reason(score, rubrics, met), metrics=metrics)

    def _count(self, task: WorkflowTask, rubrics: Rubrics, met: list[Met]) -> None:
        for criterion, verdict in zip(rubrics.criteria, met, strict=True):
            key = (task.task_id or task.task.main_query[:80], criterion.text)
            if key in self._seen or len(self._seen) < _MOST_COUNTED:
                self._seen[key] += 1
                self._met[key] += verdict.value >= 0.5

    def run_notes(self) -> list[str]:
        """What a person should look at after a run: criteria that were always or never met, of tasks seen four times or
        more. They tell no answer from another.
        """
        notes = []
        for (task, text), seen in self._seen.items():
            if seen >= _LEAST_SEEN and self._met[task, text] in (0, seen):
                how = "never" if not self._met[task, text] else "always"
                notes.append(f"criterion {how} met in {seen} answers to {task!r}: {text:.160}")
        more = len(notes) - _MOST_NOTES
        return notes[:_MOST_NOTES] + ([f"and {more} more criteria always or never met"] if more > 0 else [])

    async def aready(self) -> None:
        """Asks the judge model's endpoint whether it answers."""
        await probe(self.model.endpoint)


def _reason(score: float, rubrics: Rubrics, met: list[Met]) -> str:
    pairs = list(zip(rubrics.criteria, met, strict=True))
    missing = [one.text for one, verdict in pairs if one.weight > 0 and verdict.value < 0.5]
    against = [one.text for one, verdict in pairs if one.weight < 0 and verdict.value >= 0.5]
    parts = [f"{what}: {_some(texts)}" for what, texts in (("missing", missing), ("against it", against)) if texts]
    return f"rubrics {score:.3g}; {'; '.join(parts) or 'all criteria met'}"


def _some(texts: list[str]) -> str:
    shown = " | ".join(f"{text:.120}" for text in texts[:_REASON_CRITERIA])
    return shown + (f" | and {len(texts) - _REASON_CRITERIA} more" if len(texts) > _REASON_CRITERIA else "")
