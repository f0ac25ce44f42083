"""RoutedJudge: several judges for mixed data; each task goes to one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentscope_tuner.config import SECTION, route_name, task_judge_section
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.graders.reckoning import Estimate, Reckoner
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.estimates import estimate_of
from agentscope_tuner.task_judge.inner_judges import bounded, failure_of, first_problem, load_inner, zeroed
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.parts import shares_reference
from agentscope_tuner.task_judge.reads import check_path, read_path
from agentscope_tuner.task_judge.traits import AsksJudges, Traits
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

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = self._section = task_judge_section(config)
        if section.by is None:
            raise ConfigError(f"{SECTION}.by is missing: say where a row names its route: task.metadata.data_source")
        check_path(section.by, f"{SECTION}.by")
        self.by = section.by
        if not section.routes:
            raise ConfigError(f"{SECTION}.routes is missing: name the judge of each value of {section.by}")
        self.routes = {
            name: load_inner(config, section, settings, f"routes.{name}") for name, settings in section.routes.items()
        }
        inner = [judge.inner for judge in self.routes.values()]
        for judge in self.routes.values():
            # the outer judge warns of a passed-over reward: once is enough
            judge.heeds_own_reward = True
        self.metric_names = tuple(dict.fromkeys(name for judge in inner for name in judge.metric_names))
        self.reference_keys = tuple(dict.fromkeys(key for judge in inner for key in judge.reference_keys))
        self.reads_own_reward = any(judge.reads_own_reward for judge in inner)
        self._ranks = any(judge.traits.ranks for judge in self.routes.values())
        if self._ranks and not self.by.startswith("task."):
            raise ConfigError(
                f"{SECTION}.by: a route ranks whole advantage groups, and {self.by!r} may send the outputs of one task "
                "different ways: name a field of the task"
            )

    def own_traits(self) -> Traits:
        """See AsksJudges."""
        routes = self._section.routes
        ends = all(bounded(judge, routes[name].deadline) for name, judge in self.routes.items())
        return Traits.over(self, [judge.traits for judge in self.routes.values()], bounded=ends)

    def ranks_groups(self) -> bool:
        """True if a route ranks."""
        return self._ranks

    def route(self, task: Task, output: WorkflowOutput | None = None) -> str:
        """The name of the route that an output to `task` takes.

        Raises:
            JudgeError: the value at `by` is missing or blank, or no route has this value and there is no `default`.
        """
        value = read_path(self.by, WorkflowTask(task=task), output or WorkflowOutput())
        name = route_name(value)
        if name is not None and name in self.routes:
            return name
        cause = Cause.REFERENCE if self.by.startswith("task.") else Cause.INPUT
        known = f"the routes are {_shown(self.routes)}"
        # An empty cell is a blank text in a CSV file, None in Parquet and NaN in pandas
        if name is None or not name.strip():
            raise JudgeError(
                f"{self.by} must be a text or a number that names a route, got {value!r:.100}; {known}", cause=cause
            )
        if DEFAULT not in self.routes:
            raise JudgeError(f"{self.by} is {name!r:.100}, and no route has that name; {known}", cause=cause)
        return DEFAULT

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        name = self.route(workflow_task.task, workflow_output)
        return self.pass_on(name, self.routes[name].judge(workflow_task, workflow_output))

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        name = self.route(workflow_task.task, workflow_output)
        return self.pass_on(name, await self.routes[name].ajudge(workflow_task, workflow_output))

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> Sequence[Any]:
        """Judge a group, which takes one route as a whole: the route of its task."""
        if not self._ranks:
            return super().compute_rewards(workflow_task, workflow_outputs)
        name = self.route(workflow_task.task)
        rewards: list[Reward | JudgeError] = []
        for judgement in self.routes[name].judge_group(workflow_task, workflow_outputs):
            try:
                rewards.append(self.pass_on(name, judgement))
            except JudgeError as error:
                rewards.append(error)
        return rewards

    def estimate(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput], reckoner: Reckoner
    ) -> Estimate:
        """See BaseJudge: what the judges of the outputs' routes would use."""
        total = Estimate()
        for output in workflow_outputs[:1] if self._ranks else workflow_outputs:
            judge = self.routes[self.route(workflow_task.task, None if self._ranks else output)]
            outputs = workflow_outputs if self._ranks else [output]
            total += estimate_of(judge, workflow_task, outputs, reckoner)[1]
        return total

    def pass_on(self, name: str, judgement: Judgement) -> Reward:
        """The reward of a verdict that the route `name` gave.

        Raises:
            JudgeError: the route gave no reward.
        """
        if judgement.reward is None:
            if self._section.routes[name].on_error != "zero":
                raise failure_of(f"route {name!r}", self.routes[name], judgement)
            judgement = zeroed(judgement)
        assert judgement.reward is not None
        return Reward(
            judgement.reward,
            bool(judgement.is_success),
            reason=f"route {name}: {judgement.reason}",
            metrics={**judgement.metrics, f"route/{name}": judgement.reward},
            filtered_by=judgement.violations[0] if judgement.status == "filtered" and judgement.violations else "",
            violations=judgement.violations,
        )

    def check_group(self, tasks: Sequence[Task]) -> str | None:
        """See BaseJudge: the rollouts of a group take one route."""
        try:
            names = sorted({self.route(task) for task in tasks})
        except JudgeError as error:
            return error.message
        if len(names) == 1:
            return self.routes[names[0]].inner.check_group(tasks)
        return (
            f"the group of task {tasks[0].task_id!r} takes several routes, {', '.join(names)}: a group is judged as a "
            f"whole, so its rows must have one {self.by}"
        )

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `unrouted`, or the answer of the route's judge."""
        if output is None and self.by.startswith("output."):
            return None
        try:
            name = self.route(task, output)
        except JudgeError as error:
            return f"unrouted: {error.message}"
        return first_problem({f"route {name!r}": self.routes[name].inner.check_task(task, output)})

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        """See BaseJudge: as any route sees it, since a reference does not say which route it takes."""
        if first == second:
            return True
        return any(
            bool(judge.inner.reference_keys) and shares_reference({name: judge}, first, second)
            for name, judge in self.routes.items()
            if any(first.get(key) is not None for key in judge.inner.reference_keys)
        )

    def asked_judges(self) -> Mapping[str, BaseJudge]:
        """See AsksJudges."""
        return {name: judge.inner for name, judge in self.routes.items()}

    async def aready(self) -> None:
        """See BaseJudge: asks the judge of every route."""
        for name, judge in self.routes.items():
            try:
                await judge.inner.aready()
            except JudgeError as exc:
                raise JudgeError(f"route {name!r}: {exc.message}", cause=exc.cause) from exc


def _shown(names: Mapping[str, object]) -> str:
    shown = ", ".join(list(names)[:_MOST_SHOWN])
    return shown if len(names) <= _MOST_SHOWN else f"{shown} and {len(names) - _MOST_SHOWN} more"
