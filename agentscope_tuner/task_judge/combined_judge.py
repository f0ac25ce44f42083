"""CombinedJudge: several judges as one, whose rewards are combined."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from types import MappingProxyType
from typing import Any

from agentscope_tuner import _loop, _threads
from agentscope_tuner.config import task_judge_section
from agentscope_tuner.errors import Cause, DeadlineError, JudgeError
from agentscope_tuner.graders.reckoning import Estimate, Reckoner
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.combinations import COMBINATIONS, written
from agentscope_tuner.task_judge.combined_settings import check_success, check_weights, clip_of, function_of
from agentscope_tuner.task_judge.estimates import estimate_of
from agentscope_tuner.task_judge.inner_judges import bounded, first_problem
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.part_verdicts import PartVerdicts
from agentscope_tuner.task_judge.parts import (
    Part,
    in_stages,
    load_parts,
    metric_names_of,
    shares_reference,
)
from agentscope_tuner.task_judge.traits import AsksJudges, Traits
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

# Each part is cancelled at its own deadline, and may take this much longer to end
_GRACE_SECONDS = 1.0


class CombinedJudge(AsksJudges):
    """`judge_type: combined`: asks the judges under `parts`, and combines their rewards as `reward` says.

    Cheap parts are asked first, then the parts that wait, at the same time. A part with `when` is asked only where its
    condition holds. If a part fails, the verdict fails, unless the part is optional or has weight 0.

    Raises:
        ConfigError: the section is wrong, or a part cannot be loaded.
    """

    takes_kwargs = False

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = self._section = task_judge_section(config)
        self._function = function_of(section.reward)
        self.parts = load_parts(config, section, weighs=self._function is None)
        check_success(section)
        if self._function is None:
            check_weights(section)
        self._clip = clip_of(section)
        self.stages = in_stages(self.parts)
        self._must_succeed = frozenset(part.name for part in self.parts if part.counts and not part.may_fail)
        inner = [part.judge.inner for part in self.parts]
        self.metric_names = metric_names_of(self.parts)
        self.reference_keys = tuple(dict.fromkeys(key for judge in inner for key in judge.reference_keys))
        self.reads_own_reward = any(judge.reads_own_reward for judge in inner)
        self._ranks = any(part.judge.traits.ranks for part in self.parts)
        # Parts in successive stages have a deadline each; all together have the combined judge's deadline
        self._waits = sum(stage.waits for stage in self.stages)

    def own_traits(self) -> Traits:
        """See AsksJudges."""
        # A user's function of the parts is foreign code, so it is watched
        ends = self._function is None and all(bounded(part.judge, part.settings.deadline) for part in self.parts)
        return Traits.over(self, [part.judge.traits for part in self.parts], bounded=ends)

    def ranks_groups(self) -> bool:
        """True if a part ranks."""
        return self._ranks

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        found = PartVerdicts()
        with found.accounted():
            for number, stage in enumerate(self.stages):
                asked = found.asked(stage.parts)
                if asked and stage.waits:
                    _loop.run(self._ask_from(number, found, workflow_task, workflow_output))
                    break
                for part in asked:
                    found.add(part, part.judge.outcome(workflow_task, workflow_output))
            return self.reward_of(found)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        found = PartVerdicts()
        with found.accounted():
            await self._ask_from(0, found, workflow_task, workflow_output)
            return self.reward_of(found)

    def ask(self, found: PartVerdicts, ask: Callable[[Part], Judgement]) -> Reward:
        """Ask the parts one after another by `ask`, and fill `found`, to show a verdict part by part.

        Raises:
            JudgeError: there is no verdict.
        """
        for stage in self.stages:
            for part in found.asked(stage.parts):
                found.add(part, ask(part))
        return self.reward_of(found)

    async def _ask_from(self, first: int, found: PartVerdicts, task: WorkflowTask, output: WorkflowOutput) -> None:
        """Ask the stages from `first` on.

        Raises:
            DeadlineError: the parts together took longer than the combined judge's deadline.
        """
        seconds = self._section.deadline if self._waits > 1 else None
        try:
            async with asyncio.timeout(None if seconds is None else seconds + _GRACE_SECONDS):
                for stage in self.stages[first:]:
                    asked = found.asked(stage.parts)
                    if len(asked) == 1:
                        found.add(asked[0], await asked[0].judge.aoutcome(task, output))
                        continue
                    outcomes = await asyncio.gather(*(part.judge.aoutcome(task, output) for part in asked))
                    found.add_all(asked, outcomes)
        except TimeoutError:
            raise DeadlineError(f"the parts took more than {seconds:g} s together: {found.said()}") from None

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> Sequence[Any]:
        """Judge a group: parts that rank see the whole group, all others see each output by itself."""
        if not self._ranks:
            return super().compute_rewards(workflow_task, workflow_outputs)
        group = [PartVerdicts() for _ in workflow_outputs]
        errors: dict[int, JudgeError] = {}
        for stage in self.stages:
            calls: list[Callable[[], list[Judgement]]] = []
            places = [self._places(part, group, errors) for part in stage.parts]
            for part, own in zip(stage.parts, places, strict=True):
                outputs = [workflow_outputs[place] for place in own]
                calls.append(_group_call(part, workflow_task, outputs))
            for part, own, judgements in zip(stage.parts, places, _at_once(calls), strict=True):
                for place, judgement in zip(own, judgements, strict=True):
                    try:
                        group[place].add(part, judgement)
                    except JudgeError as error:
                        errors.setdefault(place, error)
        for place, failed in errors.items():
            failed.metrics = group[place].spent
        return [errors.get(place) or self._reward_or_error(found) for place, found in enumerate(group)]

    def estimate(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput], reckoner: Reckoner
    ) -> Estimate:
        """See BaseJudge: the sum over the parts; those with a condition count as perhaps asked."""
        total = Estimate()
        for part in self.parts:
            found = estimate_of(part.judge, workflow_task, workflow_outputs, reckoner)[1]
            total += found if part.when is None else found.perhaps
        return total

    def _places(self, part: Part, group: Sequence[PartVerdicts], errors: dict[int, JudgeError]) -> list[int]:
        """The outputs that a part is asked about. A rank needs the whole group, so failed outputs stay in it."""
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
        counted, rewards = found.counted(self.parts)
        if found.lacking:
            self._check_lacking(found, counted)
        names = [part.name for part in counted]
        weights = [part.weight for part in counted]
        # + 0.0 removes the sign of a negative zero
        combined = self._combined(found, weights, rewards) + 0.0
        clipped = combined if self._clip is None else min(max(combined, self._clip[0]), self._clip[1])
        terms = written(self._section.reward, names, weights, rewards) if counted else "no part was asked"
        told = f"{terms} = {combined:g}" if clipped == combined else f"{terms} = {combined:g}, clipped to {clipped:g}"
        return Reward(
            clipped,
            self._success(found, counted),
            reason=f"{told}{found.told(self.parts)}",
            metrics=found.metrics(self.parts),
            violations=found.violations(self.parts),
        )

    def _check_lacking(self, found: PartVerdicts, counted: Sequence[Part]) -> None:
        if not counted and any(part.name in found.lacking for part in self.parts if part.counts):
            raise JudgeError(f"no part that counts has a verdict: {found.said()}")
        # `optional` excuses the failed part, not the parts whose condition reads it: without them the reward would be
        # lower
        lost = [part.name for part in self.parts if part.name in found.lacking and not part.may_fail]
        if lost:
            raise JudgeError(f"{', '.join(lost)} was not asked, for a failure: {found.said()}")

    def _combined(self, found: PartVerdicts, weights: Sequence[float], rewards: Sequence[float]) -> float:
        if self._function is not None:
            return self._asked_function(found)
        if not rewards:
            # All conditions were unmet: parts that are not asked add nothing. Only a sum comes here, see check_weights
            return 0.0
        try:
            combined = COMBINATIONS[self._section.reward](weights, rewards)
        except OverflowError:
            combined = math.inf
        if not math.isfinite(combined):
            told = written(self._section.reward, [part.name for part in self.parts if part.counts], weights, rewards)
            raise JudgeError(f"the parts make no finite number: {told} = {combined}", cause=Cause.CONFIG)
        return combined

    def _asked_function(self, found: PartVerdicts) -> float:
        assert self._function is not None
        name = self._section.reward
        verdicts = MappingProxyType({part.name: found.verdict(part) for part in self.parts})
        try:
            answer = self._function(verdicts)
            # Real: numpy's scalars are numbers too
            if type(answer) is not bool and isinstance(answer, Real) and math.isfinite(answer):
                return float(answer)
        except JudgeError:
            raise
        # boundary: a user's function may fail in any way; an int beyond the range of floats raises OverflowError
        except Exception as exc:
            raise JudgeError(f"{name} raised {type(exc).__name__}: {exc}", cause=Cause.BUG) from exc
        raise JudgeError(f"{name} must return a finite number, got {answer!r:.200}", cause=Cause.BUG)

    def _success(self, found: PartVerdicts, counted: Sequence[Part]) -> bool:
        success = self._section.success
        if success == "any":
            return any(found.is_success(part.name) for part in counted)
        if success != "all":
            return found.is_success(success)
        # A part that was not asked counts as no success; an optional part without a verdict is left out
        names = self._must_succeed.union([part.name for part in counted])
        return bool(names) and all(map(found.is_success, names))

    def check_group(self, tasks: Sequence[Task]) -> str | None:
        """See BaseJudge: the answer of a part that ranks."""
        return first_problem({f"part {part.name!r}": part.judge.inner.check_group(tasks) for part in self.parts})

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: the first problem of a part that must not fail."""
        return first_problem(
            {
                f"part {part.name!r}": part.judge.inner.check_task(task, output)
                for part in self.parts
                if not part.may_fail
            }
        )

    def same_reference(self, first: Any, second: Any) -> bool:
        """See BaseJudge: as every part sees it."""
        return first == second or shares_reference({part.name: part.judge for part in self.parts}, first, second)

    def asked_judges(self) -> Mapping[str, BaseJudge]:
        """See AsksJudges."""
        return {part.name: part.judge.inner for part in self.parts}

    async def aready(self) -> None:
        """See BaseJudge: asks the parts that must not fail."""
        for part in self.parts:
            if not part.may_fail:
                try:
                    await part.judge.inner.aready()
                except JudgeError as exc:
                    raise JudgeError(f"part {part.name!r}: {exc.message}", cause=exc.cause) from exc


def _group_call(part: Part, task: WorkflowTask, outputs: list[WorkflowOutput]) -> Callable[[], list[Judgement]]:
    return lambda: part.judge.judge_group(task, outputs) if outputs else []


def _at_once(calls: Sequence[Callable[[], list[Judgement]]]) -> list[list[Judgement]]:
    """The answers of blocking calls. Several calls run in threads: one thread for each part, not for each row."""
    if len(calls) == 1:
        return [calls[0]()]
    return [future.result() for future in [_threads.start(call) for call in calls]]
