"""RoutedJudge: several judges for mixed data; each task goes to one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentscope_tuner.config import SECTION, route_name
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.graders.cost import Estimate, Reckoner
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.combined.settings import AsksJudges, same_for
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.task_judge import estimate_of
from agentscope_tuner.task_judge.llm.rollout_fields import check_path, read_path
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

DEFAULT = "default"
_MOST_SHOWN = 20


class RoutedJudge(AsksJudges):
    """`judge_type: routed`: reads the kind of a task at `by`, and asks the judge of this route.

    The metric `route/<name>` of a verdict is its reward. A value that names no route goes to the route `default`, where
    there is one; a value that is missing, or a blank text, goes nowhere.

    Raises:
        ConfigError: the section is wrong, or the judge of a route cannot be loaded.
    """

    takes_kwargs = False
    inner_key = "routes"

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        if (by := self.section.by) is None:
            raise ConfigError(
                f"{SECTION}.by is missing: the field that names a row's route, for instance "
                "`by: task.metadata.data_source`; its values are the keys under routes"
            )
        check_path(by, f"{SECTION}.by")
        if not self.asks:
            raise ConfigError(f"{SECTION}.routes is missing: name the judge of each value of {by}")
        if self._ranks and not by.startswith("task."):
            raise ConfigError(
                f"{SECTION}.by: a route ranks whole advantage groups, and {by!r} may send the outputs of one task "
                "different ways: name a field of the task"
            )
        self.by = by
        tops = (judge.inner.top_reward for judge in self.asks.values())
        self.top_reward = max((top for top in tops if top is not None), default=None)

    def ranks_groups(self) -> bool:
        """True if a route ranks."""
        return self._ranks

    def ranks_alone(self, workflow_task: WorkflowTask) -> bool:
        """See BaseJudge: True if the judge of the task's route does not rank, or can rank one output alone."""
        judge = self.asks[self.route(workflow_task.task)]
        return not judge.traits.ranks or judge.inner.ranks_alone(workflow_task)

    def route(self, task: Task, output: WorkflowOutput | None = None) -> str:
        """The name of the route that an output to `task` takes.

        Raises:
            JudgeError: the value at `by` is missing or blank, or no route has this value and there is no `default`.
        """
        value = read_path(self.by, WorkflowTask(task=task), output or WorkflowOutput())
        if (name := route_name(value)) is not None and name in self.asks:
            return name
        cause = Cause.REFERENCE if self.by.startswith("task.") else Cause.INPUT
        more = f" and {len(self.asks) - _MOST_SHOWN} more" if len(self.asks) > _MOST_SHOWN else ""
        known = f"the routes are {', '.join(list(self.asks)[:_MOST_SHOWN])}{more}"
        # An empty cell is a blank text in a CSV file, None in Parquet and NaN in pandas
        if name is None or not name.strip():
            raise JudgeError(
                f"{self.by} must be a text or a number that names a route, got {value!r:.100}; {known}", cause=cause
            )
        if DEFAULT not in self.asks:
            raise JudgeError(f"{self.by} is {name!r:.100}, and no route has that name; {known}", cause=cause)
        return DEFAULT

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        name = self.route(workflow_task.task, workflow_output)
        return self.pass_on(name, self.asks[name].judge(workflow_task, workflow_output))

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        name = self.route(workflow_task.task, workflow_output)
        return self.pass_on(name, await self.asks[name].ajudge(workflow_task, workflow_output))

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> Sequence[Any]:
        """Judge a group, which takes one route as a whole: the route of its task."""
        if not self._ranks:
            return super().compute_rewards(workflow_task, workflow_outputs)
        name = self.route(workflow_task.task)
        rewards: list[Reward | JudgeError] = []
        for judgement in self.asks[name].judge_group(workflow_task, workflow_outputs):
            try:
                rewards.append(self.pass_on(name, judgement))
            except JudgeError as error:
                rewards.append(error)
        return rewards

    def pass_on(self, name: str, judgement: Judgement) -> Reward:
        """The reward of a verdict that the route `name` gave.

        Raises:
            JudgeError: the route gave no reward.
        """
        judgement = self.paid(name, judgement)
        assert judgement.reward is not None
        return Reward(
            judgement.reward,
            bool(judgement.is_success),
            reason=f"route {name}: {judgement.reason}",
            metrics={**judgement.metrics, f"route/{name}": judgement.reward},
            filtered_by=judgement.violations[0] if judgement.status == "filtered" and judgement.violations else "",
            violations=judgement.violations,
            turns=judgement.turns,
        )

    def estimate(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner) -> Estimate:
        """See BaseJudge: what the judges of the outputs' routes would use."""
        total = Estimate()
        for output in outputs[:1] if self._ranks else outputs:
            judge = self.asks[self.route(task.task, None if self._ranks else output)]
            total += estimate_of(judge, task, outputs if self._ranks else [output], reckoner)[1]
        return total

    def check_group(self, tasks: Sequence[Task]) -> str | None:
        """See BaseJudge: the rollouts of a group take one route."""
        try:
            names = sorted({self.route(task) for task in tasks})
        except JudgeError as error:
            return error.message
        if len(names) == 1:
            return self.asks[names[0]].inner.check_group(tasks)
        return (
            f"the group of task {tasks[0].task_id!r} takes several routes, {', '.join(names)}: a group is judged as a "
            f"whole, so its rows must have one {self.by}"
        )

    def row_notes(self, task: Task, output: WorkflowOutput | None = None) -> list[str]:
        """See BaseJudge: those of the route's judge."""
        try:
            return self.asks[self.route(task, output)].row_notes(task, output)
        except JudgeError:
            return []

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `unrouted`, or the answer of the route's judge."""
        if output is None and self.by.startswith("output."):
            return None
        try:
            return self.problem_of([self.route(task, output)], task, output)
        except JudgeError as error:
            return f"unrouted: {error.message}"

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        """See BaseJudge: as any route sees it, since a reference does not say which route it takes."""
        return first == second or any(
            same_for(judge, first, second)
            for judge in self.asks.values()
            if any(first.get(key) is not None for key in judge.inner.reference_keys)
        )

    async def aready(self) -> None:
        """See BaseJudge: asks the judge of every route."""
        await self.ready(self.asks)
