"""AutoGraderJudge: an LLM judges by rubrics that were learned from labelled samples."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentscope_tuner.config import task_judge_section
from agentscope_tuner.errors import reference_error
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.cost import Estimate, Reckoner
from agentscope_tuner.graders.injection_defence import is_blank
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.rubrics.learn import learn_once
from agentscope_tuner.graders.rubrics.propose import inputs_of
from agentscope_tuner.graders.rubrics.saved import check_proven, in_prompt, load, make_grader
from agentscope_tuner.graders.rubrics.settings import WHERE, AutoGraderConfig, auto_grader_config, check_row
from agentscope_tuner.task_judge.base_judge import Reward, as_list, final_answer
from agentscope_tuner.task_judge.llm.jury import PanelRanking
from agentscope_tuner.task_judge.llm.probes import ModelJudge
from agentscope_tuner.task_judge.llm.rollout_fields import as_shown
from agentscope_tuner.task_judge.llm.settings import LLMJudgeConfig, Panels, within
from agentscope_tuner.task_judge.llm_judge import LLMJudge
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

    def row_notes(self, task: Task, output: WorkflowOutput | None = None) -> list[str]:
        """See BaseJudge."""
        return []


class AutoGraderJudge(LLMJudge):
    """`judge_type: rubrics_auto_grader`; configured under `astuner.task_judge.rubrics_auto_grader`, see
    AutoGraderConfig.

    LLMJudge with a learned grader. Pointwise, the reward is the score, scaled to 0.0 to 1.0 unless `reward_scale: raw`;
    success is a scaled score of `success_threshold` or more. Listwise, an advantage group is ranked at once: 1.0 for
    the best, 0.0 for the worst, ties alike; success is being among the best and better than another. A single output is
    ranked among the task's `metadata["candidates"]`. An answer with no content is filtered, as `no_content`: the least
    reward, without a call.

    Raises:
        ConfigError: the section is wrong, or there is no usable learned grader and `auto_learn` is off.
    """

    takes_kwargs = False
    metric_names = ("score", *Usage.metric_names())
    reference_keys = RubricTasks.reference_keys
    grader: LLMGrader

    def __init__(self, config: Any) -> None:
        ModelJudge.__init__(self, config)
        self.rubrics, self.path = auto_grader_config(config)
        mine = self.rubrics
        if mine.auto_learn:
            learn_once(mine, self.path)
        # Read it here: a grader that is missing, damaged or unproven must stop the run before its first rollout
        self.saved = load(self.path, mine)
        check_proven(self.saved, self.path, mine)
        if self.saved.model_name != mine.model_name:
            _log.warning(
                "rubrics learned with %s judge by %s: their measured agreement is not this model's",
                self.saved.model_name,
                mine.model_name,
            )
        model = ChatModel(within(mine.settings(), task_judge_section(config).deadline))
        _ = model.endpoint  # fails now for a missing key, too
        grader = make_grader(mine, in_prompt(self.saved.rubrics), model)
        settings = LLMJudgeConfig(mode=mine.grader_mode, shuffle_seed=None, **mine.model_dump(include=_SHARED))
        self._ask(settings, Panels({mine.model_name: model}, {}, None), {mine.model_name: grader}, {})
        if self.ranks_groups():
            self.metric_names = ("place", "judge_disagreements", "group_size", *Usage.metric_names())

    # Said again, because it overrides `compute_rewards`: see BaseJudge.__init_subclass__
    def ranks_groups(self) -> bool:
        """True with `grader_mode: listwise`."""
        return super().ranks_groups()

    def ranks_alone(self, workflow_task: WorkflowTask) -> bool:
        """See BaseJudge: among the task's `metadata["candidates"]`; a task without them is refused by their reader."""
        return True

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge. A judge that ranks needs other answers to this task: its `metadata["candidates"]`."""
        if not self.ranks_groups():
            return await super().acompute_reward(workflow_task, workflow_output)
        answers = [final_answer(workflow_output, self.rubrics.answer_field), *_candidates(workflow_task)]
        return (await self._placed(answers, self.inputs(workflow_task), rows=1))[0]

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> Sequence[tuple[float, bool]]:
        """Rank an advantage group. A group of one is ranked as `compute_reward` ranks it."""
        if self.ranks_groups() and len(workflow_outputs) == 1:
            return [self.compute_reward(workflow_task, workflow_outputs[0])]
        return super().compute_rewards(workflow_task, workflow_outputs)

    def estimate(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner) -> Estimate:
        """See BaseJudge."""
        others = _candidates(task) if self.ranks_groups() and len(outputs) == 1 else []
        key = self.rubrics.answer_field
        outputs = [*outputs, *(WorkflowOutput(metadata={key: text}) for text in others)]
        return super().estimate(task, outputs, reckoner)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge and RubricTasks."""
        return RubricTasks(self.rubrics).check_task(task, output)

    def _paths(self) -> dict[str, str]:
        return {"response": f"output.metadata.{self.rubrics.answer_field}"}

    def _values(self, task: WorkflowTask, output: WorkflowOutput, paths: Mapping[str, str]) -> dict[str, Any]:
        return {"response": final_answer(output, self.rubrics.answer_field), **self.inputs(task)}

    def _more_metrics(self, found: PanelRanking) -> dict[str, float]:
        return {"judge_disagreements": float(found.disagreements), "group_size": float(len(found.places))}

    def inputs(self, task: WorkflowTask) -> dict[str, Any]:
        inner, key = task.task, self.rubrics.query_field
        query = getattr(inner, key, None) if key != "metadata" else None
        query = inner.metadata.get(key) if query is None else query
        # without one the model would score the answer all the same
        if not isinstance(query, str) or is_blank(query):
            raise reference_error(
                f"the task has no text {key!r} ({WHERE}.query_field), neither itself nor in its metadata"
            )
        if self.rubrics.ground_truth_field is None:
            return inputs_of(query, None)
        truth = as_shown(inner.metadata.get(self.rubrics.ground_truth_field))
        if truth is None or str(truth).strip() == "":
            name = self.rubrics.ground_truth_field
            message = f"the task's metadata has no {name!r} ({WHERE}.ground_truth_field), got {truth!r}"
            raise reference_error(message)
        return inputs_of(query, str(truth))


# The keys that LLMJudgeConfig has under the same names
_SHARED = {"model_name", "success_threshold", "reward_scale", "max_group_chars"}


def _candidates(task: WorkflowTask) -> list[str]:
    """The other answers to a task: its `metadata["candidates"]`.

    Raises:
        JudgeError: the task has no candidates, or they are no answers.
    """
    candidates = as_list(task.task.metadata.get("candidates"))
    if not candidates:
        raise reference_error(
            "a listwise judge ranks an advantage group (compute_rewards), or one output among "
            'task.metadata["candidates"], and this task has none'
        )
    texts = [item.get("answer") if isinstance(item, dict) else item for item in candidates]
    others = [text for text in texts if isinstance(text, str)]
    if len(others) < len(texts):
        raise reference_error("task.metadata['candidates'] must hold texts, or mappings with a text 'answer'")
    return others
