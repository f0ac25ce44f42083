"""AutoGraderJudge: an LLM judges by rubrics that were learned from labelled samples."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentscope_tuner._run import loops
from agentscope_tuner.config import task_judge_section
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.graders.client.usage import Usage, metered
from agentscope_tuner.graders.cost import Estimate, Reckoner
from agentscope_tuner.graders.listwise import place_reward
from agentscope_tuner.graders.rubrics.learn import learn_once
from agentscope_tuner.graders.rubrics.propose import expected, inputs_of, ranked, scored
from agentscope_tuner.graders.rubrics.samples import check_row
from agentscope_tuner.graders.rubrics.saved import check_proven, in_prompt, load, make_grader
from agentscope_tuner.graders.rubrics.settings import WHERE, AutoGraderConfig, auto_grader_config
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.llm.model_judge import ModelJudge
from agentscope_tuner.task_judge.llm.rollout_fields import as_shown
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

_log = logging.getLogger(__name__)


class RubricTasks:
    """The checks of `astuner check` on the tasks of rubrics, and on the samples that rubrics are learned from."""

    # One query has many answers, so two rows of one task id do not contradict each other
    reference_keys: ClassVar[tuple[str, ...]] = ()

    def __init__(self, settings: AutoGraderConfig) -> None:
        self._settings = settings

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `missing`, or `unusable label`."""
        return check_row(task.model_dump(), self._settings)

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        """See BaseJudge."""
        return True

    def note_on(self, output: WorkflowOutput) -> str | None:
        """See BaseJudge."""
        return None


class AutoGraderJudge(ModelJudge):
    """`judge_type: rubrics_auto_grader`; configured under `astuner.task_judge.rubrics_auto_grader`, see
    AutoGraderConfig.

    Pointwise, the reward is the score, scaled to 0.0 to 1.0 unless `reward_scale: raw`; success is a scaled score of
    `success_threshold` or more. Listwise, an advantage group is ranked at once: 1.0 for the best, 0.0 for the worst,
    ties alike; success is being among the best and better than another. A single output is ranked among the task's
    `metadata["candidates"]`. An answer with no content is filtered, as `no_content`: the least reward,
    without a call.

    Raises:
        ConfigError: the section is wrong, or there is no usable learned grader and `auto_learn` is off.
    """

    bounds_itself = True
    takes_kwargs = False
    metric_names = ("score", *Usage.metric_names())
    reference_keys = RubricTasks.reference_keys

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.settings, self.path = auto_grader_config(config)
        if self.ranks_groups():
            self.metric_names = ("place", "judge_disagreements", "group_size", *Usage.metric_names())
        if self.settings.auto_learn:
            learn_once(self.settings, self.path)
        # Read it here: a grader that is missing, damaged or unproven must stop the run before its first rollout
        self.saved = load(self.path, self.settings)
        check_proven(self.saved, self.path, self.settings)
        if self.saved.model_name != self.settings.model_name:
            _log.warning(
                "rubrics learned with %s judge by %s: their measured agreement is not this model's",
                self.saved.model_name,
                self.settings.model_name,
            )
        self.grader = make_grader(_within_deadline(self.settings, config), in_prompt(self.saved.rubrics))
        _ = self.grader.model.endpoint  # fails now for a missing key, too
        self.judge_models, self.top_score = [self.grader.model], self.settings.max_score
        self.response_path = f"output.metadata.{self.settings.answer_field}"

    def ranks_groups(self) -> bool:
        """True with `grader_mode: listwise`."""
        return self.settings.grader_mode == "listwise"

    def ranks_alone(self, workflow_task: WorkflowTask) -> bool:
        """See BaseJudge: among the task's `metadata["candidates"]`; a task without them is refused by their reader."""
        return True

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge. A judge that ranks needs other answers to this task: its `metadata["candidates"]`."""
        if self.ranks_groups():
            return await self._rank_alone(workflow_task, workflow_output)
        answer = self._answer(workflow_output)
        with metered() as meter:
            opinion = await scored(self.settings, self.grader, self._inputs(workflow_task), answer)
        low, high = self.settings.min_score, self.settings.max_score
        raw = self.settings.reward_scale == "raw"
        if opinion.empty:
            by = opinion.reason.partition(":")[0]
            return Reward(low if raw else 0.0, False, reason=_line(opinion.reason), filtered_by=by)
        score = opinion.values[0]
        share = (score - low) / (high - low)
        metrics = {"score": score, **meter.usage.metrics()}
        success = share >= self.settings.success_threshold - 1e-9
        return Reward(score if raw else share, success, reason=_line(opinion.reason), metrics=metrics)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge and RubricTasks."""
        return RubricTasks(self.settings).check_task(task, output)

    def _answer(self, output: WorkflowOutput) -> str:
        key = self.settings.answer_field
        if key not in output.metadata:
            raise JudgeError(
                f"workflow_output.metadata has no {key!r} ({WHERE}.answer_field), only {sorted(output.metadata)!r}",
                cause=Cause.INPUT,
            )
        answer = output.metadata[key]
        if not isinstance(answer, str):
            raise JudgeError(
                f"{key} must be a str ('' when the agent gave none), got {type(answer).__name__}", cause=Cause.INPUT
            )
        return answer

    def _inputs(self, task: WorkflowTask) -> dict[str, Any]:
        inner, key = task.task, self.settings.query_field
        query = getattr(inner, key, None) if key != "metadata" else None
        query = inner.metadata.get(key) if query is None else query
        if not isinstance(query, str):
            raise JudgeError(
                f"the task has no text {key!r} ({WHERE}.query_field), neither itself nor in its metadata",
                cause=Cause.REFERENCE,
            )
        if self.settings.ground_truth_field is None:
            return inputs_of(query, None)
        truth = as_shown(inner.metadata.get(self.settings.ground_truth_field))
        if truth is None or str(truth).strip() == "":
            name = self.settings.ground_truth_field
            message = f"the task's metadata has no {name!r} ({WHERE}.ground_truth_field), got {truth!r}"
            raise JudgeError(message, cause=Cause.REFERENCE)
        return inputs_of(query, str(truth))

    async def _rank_alone(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """Rank one output among the task's `metadata["candidates"]`, a list of answers or of `{answer, …}`.

        Raises:
            JudgeError: the task has none: a place needs others to compare with.
        """
        answers = [self._answer(workflow_output), *_candidates(workflow_task)]
        return (await self._rank(workflow_task, answers, rows=1))[0]

    def estimate(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput], reckoner: Reckoner
    ) -> Estimate:
        """See BaseJudge."""
        answers, inputs = [self._answer(output) for output in workflow_outputs], self._inputs(workflow_task)
        if self.ranks_groups() and len(answers) == 1:
            answers += _candidates(workflow_task)
        prompts = expected(self.settings, self.grader, inputs, answers)
        return reckoner.reckon((self.grader.model, prompt) for prompt in prompts)

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> Sequence[tuple[float, bool]]:
        """Rank an advantage group. A group of one is ranked as `compute_reward` ranks it."""
        if not self.ranks_groups():
            return super().compute_rewards(workflow_task, workflow_outputs)
        if len(workflow_outputs) == 1:
            return [self.compute_reward(workflow_task, workflow_outputs[0])]
        answers = [self._answer(output) for output in workflow_outputs]
        return loops.run(self._rank(workflow_task, answers, len(answers)))

    async def _rank(self, task: WorkflowTask, answers: list[str], rows: int) -> list[Reward]:
        with metered(rows) as meter:
            opinion = await ranked(self.settings, self.grader, self._inputs(task), answers)
        shared = {name: value / rows for name, value in meter.usage.metrics().items()}
        shared |= {"judge_disagreements": float(opinion.disagreements), "group_size": float(len(answers))}
        return [
            _no_content(opinion.empty[index], shared)
            if index in opinion.empty
            else _placed(opinion.values, index, opinion.reason, shared)
            for index in range(len(answers))
        ]


def _within_deadline(settings: AutoGraderConfig, config: Any) -> AutoGraderConfig:
    """`settings`, whose calls take no longer than `astuner.task_judge.deadline` allows a verdict."""
    deadline = task_judge_section(config).deadline
    if deadline is None or settings.settings().deadline_seconds <= deadline:
        return settings
    return settings.model_copy(update={"client": {**settings.client, "deadline_seconds": deadline}})


def _candidates(task: WorkflowTask) -> list[str]:
    """The other answers to a task: its `metadata["candidates"]`.

    Raises:
        JudgeError: the task has no candidates, or they are no answers.
    """
    candidates = task.task.metadata.get("candidates")
    if not isinstance(candidates, list) or not candidates:
        raise JudgeError(
            "a listwise judge ranks an advantage group (compute_rewards), or one output among "
            'task.metadata["candidates"], and this task has none',
            cause=Cause.REFERENCE,
        )
    texts = [item.get("answer") if isinstance(item, dict) else item for item in candidates]
    others = [text for text in texts if isinstance(text, str)]
    if len(others) < len(texts):
        raise JudgeError(
            "task.metadata['candidates'] must hold texts, or mappings with a text 'answer'", cause=Cause.REFERENCE
        )
    return others


def _no_content(reason: str, shared: dict[str, float]) -> Reward:
    # 0.0 even where all of a group is empty, whose mean place would pay more
    return Reward(0.0, False, reason=reason, metrics=shared, filtered_by="no_content")


def _placed(places: Sequence[float], index: int, reason: str, shared: dict[str, float]) -> Reward:
    best = places[index] == min(places) and places[index] < max(places)
    text = _line(f"place {places[index]:g} of {len(places)}: {reason}")
    return Reward(
        place_reward(places[index], len(places)), best, reason=text, metrics={"place": places[index], **shared}
    )


def _line(text: str) -> str:
    return " ".join(text.split())
