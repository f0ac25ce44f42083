"""CombinedJudge: several judges as one, whose rewards are combined."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner.errors import Cause, ConfigError, DeadlineError, JudgeError, config_fault
from agentscope_tuner.graders.cost import Estimate, Reckoner
from agentscope_tuner.graders.schema import is_finite_number
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.combined.settings import (
    COMBINATIONS,
    Account,
    AsksJudges,
    Part,
    PartVerdicts,
    check_together,
    function_of,
    in_stages,
    load_parts,
    same_for,
    written,
)
from agentscope_tuner.task_judge.contract.judgement import RULES_REWARD, Judgement
from agentscope_tuner.task_judge.contract.task_judge import estimate_of
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

# Each part is cancelled at its own deadline, and may take this much longer to end
_GRACE_SECONDS = 1.0


_NO_TURNS = (
    "a combined judge gives one reward for a rollout: name the judge with `turns: true` by itself, or leave turns out"
)


class CombinedJudge(AsksJudges):
    """`judge_type: combined`: asks the judges under `parts`, and combines their rewards as `reward` says.

    Cheap parts are asked first, then the parts that wait, at the same time. A part with `when` is asked only where its
    condition holds. If a part fails, the verdict fails, unless the part is optional or has weight 0.

    Raises:
        ConfigError: the section is wrong, or a part cannot be loaded.
    """

    takes_kwargs = False
    inner_key = "parts"

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        if self.gives_turns:
            raise ConfigError(_NO_TURNS)
        section = self.section
        self._function = function_of(section.reward)
        self.parts = load_parts(self.asks, section, weighs=self._function is None)
        check_together(section)
        self.stages = in_stages(self.parts)
        self._required = [part.name for part in self.parts if not part.may_fail]
        self._must_succeed = frozenset(part.name for part in self.parts if part.counts and not part.may_fail)
        self.component_names = tuple(part.name for part in self.parts if part.counts)
        self.metric_names = tuple(dict.fromkeys(name for part in self.parts for name in part.metric_names()))
        # A user's function of the parts is foreign code, so it is watched
        self.bounds_itself = self.bounds_itself and self._function is None
        # Parts in successive stages have a deadline each; all together have the combined judge's deadline
        stages_that_wait = sum(not stage[0].is_cheap for stage in self.stages)
        self._seconds = section.deadline if stages_that_wait > 1 else None

    def paid(self, name: str, judgement: Judgement) -> Judgement:
        """See AsksJudges."""
        if judgement.turns:
            raise config_fault(f"{self.called(name)}: {_NO_TURNS}")
        zero = self.section.parts[name].on_error == "zero"
        if judgement.cause is Cause.ALONE and RULES_REWARD in judgement.metrics and not zero:
            # The reward that this part's rules gave the others of the group; `reward_of` makes no verdict of the sum
            return Judgement("filtered", judgement.metrics[RULES_REWARD], False, judgement.reason)
        return super().paid(name, judgement)

    def ranks_groups(self) -> bool:
        """True if a part ranks."""
        return self._ranks

    def ranks_alone(self, workflow_task: WorkflowTask) -> bool:
        """See BaseJudge: True if every part that ranks can rank one output of this task alone."""
        ranking = [part.judge.inner for part in self.parts if part.judge.traits.ranks]
        return all(judge.ranks_alone(workflow_task) for judge in ranking)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge. Cheap parts are asked here; a loop is needed from the first part that waits."""
        found = PartVerdicts(self.paid)
        with found.accounted():
            for number, stage in enumerate(self.stages):
                if (asked := found.asked(stage)) and not stage[0].is_cheap:
                    loops.run(self._ask_from(number, found, workflow_task, workflow_output))
                    break
                for part in asked:
                    found.add(part, part.judge.outcome(workflow_task, workflow_output))
            return self.reward_of(found)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        found = PartVerdicts(self.paid)
        with found.accounted():
            await self._ask_from(0, found, workflow_task, workflow_output)
            return self.reward_of(found)

    def ask(self, found: PartVerdicts, ask: Callable[[Part], Judgement]) -> Reward:
        """Ask the parts one after another by `ask`, and fill `found`, to show a verdict part by part.

        Raises:
            JudgeError: there is no verdict.
        """
        for stage in self.stages:
            for part in found.asked(stage):
                found.add(part, ask(part))
        return self.reward_of(found)

    async def _ask_from(self, first: int, found: PartVerdicts, task: WorkflowTask, output: WorkflowOutput) -> None:
        """Ask the stages from `first` on.

        Raises:
            DeadlineError: the parts together took longer than the combined judge's deadline.
        """
        seconds = self._seconds
        try:
            async with asyncio.timeout(None if seconds is None else seconds + _GRACE_SECONDS):
                for stage in self.stages[first:]:
                    asked = found.asked(stage)
                    asking = [part.judge.aoutcome(task, output) for part in asked]
                    # A task costs more than a cheap verdict
                    found.add_all(asked, [await asking[0]] if len(asking) == 1 else await asyncio.gather(*asking))
        except TimeoutError:
            raise DeadlineError(f"the parts took more than {seconds:g} s together: {found.said()}") from None

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> Sequence[Any]:
        """Judge a group: parts that rank see the whole group, all others see each output by itself."""
        if not self._ranks:
            return super().compute_rewards(workflow_task, workflow_outputs)
        group = [PartVerdicts(self.paid) for _ in workflow_outputs]
        errors: dict[int, JudgeError] = {}
        for stage in self.stages:
            places = [self._places(part, group, errors) for part in stage]
            calls = [
                partial(part.judge.judge_group, workflow_task, [workflow_outputs[place] for place in own])
                for part, own in zip(stage, places, strict=True)
            ]
            for part, own, judgements in zip(stage, places, _at_once(calls), strict=True):
                for place, judgement in zip(own, judgements, strict=True):
                    try:
                        group[place].add(part, judgement)
                    except JudgeError as error:
                        errors.setdefault(place, error)
        for place, failed in errors.items():
            failed.metrics = group[place].spent
        return [errors.get(place) or self._reward_or_error(found) for place, found in enumerate(group)]

    def _places(self, part: Part, group: Sequence[PartVerdicts], errors: dict[int, JudgeError]) -> list[int]:
        """The indexes of the outputs that a part is asked about.

        A part that ranks needs the whole group, so it is asked about failed outputs, too; other parts are not.
        """
        if part.judge.traits.ranks:
            return list(range(len(group))) if len(errors) < len(group) else []
        return [place for place, found in enumerate(group) if place not in errors and found.asked((part,))]

    def _reward_or_error(self, found: PartVerdicts) -> Reward | JudgeError:
        try:
            with found.accounted():
                return self.reward_of(found)
        except JudgeError as error:
            return error

    def reward_of(self, found: PartVerdicts) -> Reward:
        """The reward that the parts' verdicts make.

        Raises:
            JudgeError: a required part was not asked because another part failed; no part that counts has a verdict; or
                the combined reward is not finite.
        """
        account = found.account(self.parts)
        if found.lacking:
            self._check_lacking(found, account.counted)
        # + 0.0 removes the sign of a negative zero
        combined = (self._combined(account) if self._function is None else self._asked_function(found)) + 0.0
        told = f"{written(self.section.reward, account.counted, account.rewards)} = {combined:g}"
        reward = combined
        if self.section.clip is not None:
            low, high = self.section.clip
            reward = min(max(combined, low), high)
            told += f", clipped to {reward:g}" if reward != combined else ""
        if found.alone:
            raise self._alone(found, reward, account.metrics)
        return Reward(
            reward,
            self._success(found, account.counted),
            reason=told + account.told,
            metrics=account.metrics,
            violations=account.violations,
        )

    def _alone(self, found: PartVerdicts, reward: float, metrics: Mapping[str, float]) -> JudgeError:
        """The error for a rollout that a part has no others to rank with; its metrics hold the reward of `settled`."""
        part, told = next(iter(found.alone.items()))
        error = JudgeError(f"{self.called(part)} ({self.asks[part].traits.name}): {told}", cause=Cause.ALONE)
        unranked = {f"part/{name}" for name in found.alone}
        error.metrics = {key: value for key, value in metrics.items() if key not in unranked} | {RULES_REWARD: reward}
        return error

    def _check_lacking(self, found: PartVerdicts, counted: Sequence[Part]) -> None:
        if not counted and any(part.name in found.lacking for part in self.parts if part.counts):
            raise JudgeError(f"no part that counts has a verdict: {found.said()}")
        # `optional` excuses the failed part, not the parts whose condition reads it: without them the reward would be
        # lower
        if lost := [name for name in self._required if name in found.lacking]:
            raise JudgeError(f"{', '.join(lost)} was not asked, for a failure: {found.said()}")

    def _combined(self, account: Account) -> float:
        if not account.rewards:
            # All conditions were unmet: parts that are not asked add nothing. Only a sum comes here, by check_together
            return 0.0
        reward = self.section.reward
        try:
            combined = COMBINATIONS[reward]([part.weight for part in account.counted], account.rewards)
        # ValueError: of infinities of both signs
        except (OverflowError, ValueError):
            combined = math.inf
        if not math.isfinite(combined):
            told = written(reward, account.counted, account.rewards)
            raise config_fault(f"the parts make no finite number: {told} = {combined}")
        return combined

    def _asked_function(self, found: PartVerdicts) -> float:
        assert self._function is not None
        name = self.section.reward
        verdicts = MappingProxyType({part.name: found.verdict(part) for part in self.parts})
        try:
            answer = self._function(verdicts)
            if is_finite_number(answer):
                return float(answer)
        except JudgeError:
            raise
        # boundary: a user's function may fail in any way
        except Exception as exc:
            raise JudgeError(f"{name} raised {type(exc).__name__}: {exc}", cause=Cause.BUG) from exc
        raise JudgeError(f"{name} must return a finite number, got {answer!r:.200}", cause=Cause.BUG)

    def _success(self, found: PartVerdicts, counted: Sequence[Part]) -> bool:
        if (success := self.section.success) == "any":
            return any(found.is_success(part.name) for part in counted)
        if success != "all":
            return found.is_success(success)
        # A part that was not asked counts as no success; an optional part without a verdict is left out
        names = self._must_succeed.union([part.name for part in counted])
        return bool(names) and all(map(found.is_success, names))

    def estimate(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner) -> Estimate:
        """See BaseJudge: the sum over the parts; those with a condition count as perhaps asked."""
        total = Estimate()
        for part in self.parts:
            found = estimate_of(part.judge, task, outputs, reckoner)[1]
            total += found if part.when is None else found.perhaps
        return total

    def check_group(self, tasks: Sequence[Task]) -> str | None:
        """See BaseJudge: the first problem that a part finds."""
        for name, judge in self.asks.items():
            if (problem := judge.inner.check_group(tasks)) is not None:
                return self.named(name, problem)
        return None

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: the first problem of a part that must not fail."""
        return self.problem_of(self._required, task, output)

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        """See BaseJudge: as every part sees it."""
        return first == second or all(same_for(judge, first, second) for judge in self.asks.values())

    async def aready(self) -> None:
        """See BaseJudge: asks the parts that must not fail."""
        await self.ready(self._required)


def _at_once(calls: Sequence[Callable[[], list[Judgement]]]) -> list[list[Judgement]]:
    """The results of blocking calls, in order. Several calls run in a thread each, at the same time."""
    if len(calls) == 1:
        return [calls[0]()]
    return [future.result() for future in [loops.start_thread(call) for call in calls]]
