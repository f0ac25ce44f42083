"""TaskRubricsJudge: each task has its own list of criteria, and a judge model says yes or no to each criterion."""

from __future__ import annotations

import random
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import Cause, JudgeError, input_error, reference_error, told
from agentscope_tuner.graders.client.reply import AnswerAtFault
from agentscope_tuner.graders.client.usage import Usage, metered
from agentscope_tuner.graders.combine import unordered
from agentscope_tuner.graders.cost import Estimate, Reckoner
from agentscope_tuner.graders.criteria_grader import CriteriaGrader, Met
from agentscope_tuner.graders.llm_grader import NO_CONTENT
from agentscope_tuner.graders.prompt import MOST_CHARS, Trajectory, is_empty
from agentscope_tuner.graders.rubrics.criteria import Aggregation, Rubrics, aggregated, read_rubrics
from agentscope_tuner.task_judge.base_judge import Counts, Reward
from agentscope_tuner.task_judge.llm.jury import CriteriaPanel
from agentscope_tuner.task_judge.llm.probes import ModelJudge, Probes
from agentscope_tuner.task_judge.llm.rollout_fields import USUAL_PATHS, Reader, check_path, read_path
from agentscope_tuner.task_judge.llm.settings import ModelsSection, build_panels
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

WHERE = f"{SECTION}.task_rubrics"
_MOST_COUNTED = 10_000
_LEAST_SEEN = 4
_MOST_NOTES = 20
_REASON_CRITERIA = 6


class TaskRubricsReads(StrictSection):
    """The paths of a rollout's fields."""

    rubrics: str = "task.metadata.rubrics"
    query: str = USUAL_PATHS["query"]
    response: str = USUAL_PATHS["response"]


class TaskRubricsConfig(ModelsSection):
    """How a judge model is asked about each task's criteria, and how they are added up."""

    language: Literal["en", "zh"] = "en"
    reads: TaskRubricsReads = Field(default_factory=TaskRubricsReads)
    #: the criteria of all tasks, in place of each task's own: JSON, or the TOML of rewardkit's judges
    rubrics_file: str | None = None
    calls: Literal["together", "each"] = "together"
    score_from: Literal["text", "logprobs"] = "text"
    aggregation: Aggregation = "auto"
    #: a must-have that is not met makes the score 0
    gate_must_haves: bool = False
    success_threshold: float = Field(default=0.7, ge=0, le=1)
    #: of the order in which criteria are shown; null: as listed
    shuffle_seed: int | None = 0
    #: of all that a prompt shows; an answer that does not fit earns the least
    max_chars: int = Field(default=MOST_CHARS, ge=1_000)


class TaskRubricsJudge(ModelJudge):
    """`judge_type: task_rubrics`; configured under `astuner.task_judge.task_rubrics`, see TaskRubricsConfig.

    The reward is the score, 0.0 to 1.0; success is `success_threshold` or more. A criterion that cannot be
    decided fails the row. Metrics hold `criterion_<id>` for each, 1.0 where it is met. A jury decides each criterion
    by itself; 0.5, half of its weight, is a tie.

    Raises:
        ConfigError: the section is wrong.
    """

    bounds_itself = True
    top_reward = 1.0
    # what a row's own criteria ask for is no reference
    reference_keys = ()

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        self.settings = mine = validate_section(TaskRubricsConfig, section.task_rubrics, WHERE)
        for name in type(mine.reads).model_fields:
            check_path(getattr(mine.reads, name), f"{WHERE}.reads.{name}")
        self.panels = build_panels(mine, WHERE, section.deadline, {"score": float, "disagreement": float})
        with told(WHERE, ValueError):
            self.first, self.dearer = (
                CriteriaPanel(
                    {
                        name: CriteriaGrader(model, mine.language, mine.calls, mine.score_from, mine.max_chars)
                        for name, model in models.items()
                    },
                    mine.jury_rule,
                    mine.failed_jurors,
                )
                for models in (self.panels.first, self.panels.dearer)
            )
        self._common = self._from_file(mine.rubrics_file)
        self._counts: dict[str, tuple[int, int]] = {}
        self._probes = Probes(mine.probes, WHERE)
        self._reader = Reader(WHERE, mine.images == "send")
        self.judge_models, self.response_path = self.panels.every, mine.reads.response
        # Criteria have no range of scores, so injected texts ask for ten points
        self.top_score = 10.0
        counts = ("score", "criteria", "criteria_met", "criteria_quoted", "criteria_absent", "criteria_unproven")
        sent = self._reader.counted()
        self.metric_names = (*counts, *self.panels.metric_names, *sent, *Usage.metric_names())

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        rubrics, query, response = self._case(workflow_task, workflow_output)
        if is_empty(response):
            return Reward(0.0, False, reason=NO_CONTENT, filtered_by="no_content")
        order = self._order(workflow_task, rubrics)
        shown = [rubrics.criteria[index] for index in order]
        with metered() as meter:
            await self._probes.check(lambda text: self._shares(rubrics, query, text))
            try:
                found = first = await self.first.decide(query, response, shown)
                if self.panels.when is not None:
                    score = self._score(rubrics, unordered(first.met, order))
                    if self.panels.when.holds({"score": score, "disagreement": first.disagreement}):
                        found = await self.dearer.decide(query, response, shown)
            except AnswerAtFault as exc:
                # To leave out the verdict would let a policy choose when it is judged
                told = " ".join(f"unjudgeable: {exc.message}".split())
                return Reward(0.0, False, reason=told, metrics=meter.usage.metrics(), filtered_by="unjudgeable")
        met = unordered(found.met, order)
        self._count(workflow_task, rubrics, met)
        metrics = {**found.metrics, **self._reader.counted(query, response), **meter.usage.metrics()}
        if self.panels.when is not None:
            metrics["escalated"] = float(found is not first)
        told = "asked again; " if found is not first else ""
        return self._reward(rubrics, met, metrics, told + found.told)

    def _shares(self, rubrics: Rubrics, query: str | Trajectory, text: str) -> dict[str, Coroutine[Any, Any, float]]:
        """For each model, by name, a coroutine that asks it to score the answer `text` by `rubrics`, 0 to 1."""

        async def share(name: str, grader: CriteriaGrader) -> float:
            alone = CriteriaPanel({name: grader}, self.settings.jury_rule, "error")
            return self._score(rubrics, list((await alone.decide(query, text, rubrics.criteria)).met))

        return {name: share(name, one) for name, one in {**self.first.graders, **self.dearer.graders}.items()}

    def _case(self, task: WorkflowTask, output: WorkflowOutput) -> tuple[Rubrics, str | Trajectory, str | Trajectory]:
        """The criteria, the query and the response."""
        reads = self.settings.reads
        rubrics = self._common or self._rubrics(read_path(reads.rubrics, task, output))
        response = self._reader.response(reads.response, task, output)
        if rubrics.files:
            response = _with_files(response, rubrics.files, output)
        if (query := self._reader.question(reads.query, task, output)) is None:
            cause = Cause.REFERENCE if reads.query.startswith("task.") else Cause.INPUT
            raise JudgeError(f"{reads.query} is missing: it is null, or NaN", cause=cause)
        return rubrics, query if isinstance(query, Trajectory) else str(query), response

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `unreadable`, for criteria that a row of the data set lacks or writes in an unknown form."""
        path = self.settings.reads.rubrics
        if self._common or not path.startswith("task."):
            return None
        try:
            self._rubrics(read_path(path, WorkflowTask(task=task), WorkflowOutput()))
        except JudgeError as error:
            return f"unreadable: {error.message}"
        return None

    def estimate(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner) -> Estimate:
        """See BaseJudge."""
        total = Estimate()
        for output in outputs:
            rubrics, query, response = self._case(task, output)
            if not is_empty(response):
                asked = [rubrics.criteria[index] for index in self._order(task, rubrics)]
                shown, spans = [one.text for one in asked], [one.span for one in asked]
                first, dearer = (
                    reckoner.reckon(
                        (grader.model, prompt)
                        for grader in panel.graders.values()
                        for prompt in grader.prompts(query, response, shown, spans)
                    )
                    for panel in (self.first, self.dearer)
                )
                total += first + dearer.perhaps
        return total

    def _from_file(self, file: str | None) -> Rubrics | None:
        if file is None:
            return None
        with told(f"{WHERE}.rubrics_file: cannot read {file!r}"):
            return self._rubrics(Path(file).read_text(encoding="utf-8"))

    def _rubrics(self, value: Any) -> Rubrics:
        with told(self.settings.reads.rubrics, ValueError, to=reference_error):
            rubrics = read_rubrics(value)
            # Check that the criteria can be added up before a call is paid for
            aggregated(rubrics, [0.0] * len(rubrics.criteria), self.settings.aggregation, self.settings.gate_must_haves)
        return rubrics

    def _order(self, task: WorkflowTask, rubrics: Rubrics) -> list[int]:
        order = list(range(len(rubrics.criteria)))
        if self.settings.shuffle_seed is not None:
            # The order depends on the task, so that all answers of an advantage group are judged in the same order
            random.Random(f"{self.settings.shuffle_seed} {task.task_id} {task.task.main_query}").shuffle(order)
        return order

    def _score(self, rubrics: Rubrics, met: Sequence[Met]) -> float:
        how, gate = self.settings.aggregation, self.settings.gate_must_haves
        return aggregated(rubrics, [one.value for one in met], how, gate)

    def _reward(self, rubrics: Rubrics, met: list[Met], more: Mapping[str, float], told: str) -> Reward:
        score = self._score(rubrics, met)
        metrics = {f"criterion_{one.name}": verdict.value for one, verdict in zip(rubrics.criteria, met, strict=True)}
        metrics |= {
            "score": score,
            "criteria": float(len(met)),
            "criteria_met": float(sum(one.value >= 0.5 for one in met)),
            "criteria_quoted": float(sum(bool(one.quote) for one in met)),
            "criteria_absent": float(sum(one.absent and one.value >= 0.5 for one in met)),
            "criteria_unproven": float(sum(one.unproven for one in met)),
            **more,
        }
        success = score >= self.settings.success_threshold - 1e-9
        return Reward(score, success, reason=told + _reason(score, rubrics, met), metrics=metrics)

    def _count(self, task: WorkflowTask, rubrics: Rubrics, met: list[Met]) -> None:
        for criterion, verdict in zip(rubrics.criteria, met, strict=True):
            key = f"{task.task_id or task.task.main_query[:80]!r}: {criterion.text:.160}"
            if key in self._counts or len(self._counts) < _MOST_COUNTED:
                seen, yes = self._counts.get(key, (0, 0))
                self._counts[key] = (seen + 1, yes + (verdict.value >= 0.5))

    def take_counts(self) -> Counts:
        """See BaseJudge: of each criterion of a task how often it was asked about, and how often it was met."""
        counts, self._counts = self._counts, {}
        return counts

    def notes_on(self, counts: Counts) -> list[str]:
        """See BaseJudge: criteria that were always or never met, in four answers to a task or more.

        They show no difference between the answers.
        """
        notes = []
        for key, (seen, met) in counts.items():
            if seen >= _LEAST_SEEN and met in (0, seen):
                notes.append(f"criterion {'always' if met else 'never'} met in {seen} answers to {key}")
        more = len(notes) - _MOST_NOTES
        return notes[:_MOST_NOTES] + ([f"and {more} more criteria always or never met"] if more > 0 else [])


def _with_files(response: str | Trajectory, files: Sequence[str], output: WorkflowOutput) -> Trajectory:
    """The response, and before it the texts of `files`, which `output.metadata["files"]` maps from path to text.

    Raises:
        JudgeError: `files` of the output is no such mapping.
    """
    written = output.metadata.get("files")
    # Files that the rubrics do not judge may be anything
    if not isinstance(written, Mapping) or not all(isinstance(written.get(path, ""), str) for path in files):
        raise input_error(
            f"the rubrics judge the files {list(files)!r:.200}: output.metadata.files must hold them, from path to text"
            f", got {written!r:.100}"
        )
    before = response if isinstance(response, Trajectory) else Trajectory([response])
    texts = [f"({path})\n{written.get(path, '(no such file)')}" for path in files]
    return Trajectory([*texts, *before], [*["assistant"] * len(texts), *before.roles], before.images)


def _reason(score: float, rubrics: Rubrics, met: list[Met]) -> str:
    pairs = list(zip(rubrics.criteria, met, strict=True))
    missing = [one.text for one, verdict in pairs if one.weight > 0 and verdict.value < 0.5]
    against = [one.text for one, verdict in pairs if one.weight < 0 and verdict.value >= 0.5]
    parts = [f"{what}: {_some(texts)}" for what, texts in (("missing", missing), ("against it", against)) if texts]
    return f"rubrics {score:.3g}; {'; '.join(parts) or 'all criteria met'}"


def _some(texts: list[str]) -> str:
    shown = " | ".join(f"{text:.120}" for text in texts[:_REASON_CRITERIA])
    return shown + (f" | and {len(texts) - _REASON_CRITERIA} more" if len(texts) > _REASON_CRITERIA else "")
