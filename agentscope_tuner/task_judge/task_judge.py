"""TaskJudge: rules first, then the judge, then a check of what it answered."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import Any, Literal

from agentscope_tuner import _loop
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.rules import RuleSet
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.prefilter import Prefilter
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


class TaskJudge:
    """What a trainer holds: the configured judge behind its rules. Build one with `load_judge`.

    `compute_reward` gives the trainer's pair or raises; `judge` gives the full `Judgement` and does not raise for a
    broken judge. `acompute_reward` and `ajudge` are the same for callers inside an event loop; `compute_rewards`,
    `judge_group` and `ajudge_group` take an advantage group.

    Args:
        judge: the judge that is asked about rollouts that break no `mark_bad` rule.
        rules: compiled rules, run before the judge.
        rule_reward: the reward of a rollout that a rule marks bad.
        on_error: `raise` a JudgeError when there is no verdict, or, where a user asked for it by name, `zero`:
            `compute_reward` then answers `(0.0, False)`. `judge` reports the failure either way.
    """

    def __init__(
        self,
        judge: BaseJudge,
        rules: RuleSet,
        *,
        rule_reward: float = 0.0,
        on_error: Literal["raise", "zero"] = "raise",
    ) -> None:
        self.inner = judge
        self._name = type(judge).__name__
        self._prefilter = Prefilter(rules, rule_reward)
        self._on_error = on_error
        self._ranks = type(judge).compute_rewards is not BaseJudge.compute_rewards
        self._awaits = type(judge).acompute_reward is not BaseJudge.acompute_reward

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """The trainer's call.

        Returns:
            `(raw_reward, is_success)` with `.reason` and `.metrics`; the reward is finite.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        try:
            return _reward(self._verdict(workflow_task, workflow_output))
        except JudgeError as exc:
            return self._on_failure(exc)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """`compute_reward` for callers inside an event loop."""
        try:
            return _reward(await self._averdict(workflow_task, workflow_output))
        except JudgeError as exc:
            return self._on_failure(exc)

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> list[Reward]:
        """`compute_reward` for an advantage group: outputs of one task, one reward each, in order."""
        rewards = []
        for verdict in self.judge_group(workflow_task, workflow_outputs):
            if verdict.status == "failed":
                error = JudgeError(verdict.reason, task_id=workflow_task.task_id, judge=self._name)
                rewards.append(self._on_failure(error))
            else:
                rewards.append(_reward(verdict))
        return rewards

    def judge(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Judgement:
        """The full account of one verdict; a broken judge gives status `failed` with no reward, not an exception."""
        started = time.perf_counter()
        try:
            verdict = self._verdict(workflow_task, workflow_output)
        except JudgeError as exc:
            verdict = _failure(exc)
        return replace(verdict, seconds=time.perf_counter() - started)

    async def ajudge(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Judgement:
        """`judge` for callers inside an event loop."""
        started = time.perf_counter()
        try:
            verdict = await self._averdict(workflow_task, workflow_output)
        except JudgeError as exc:
            verdict = _failure(exc)
        return replace(verdict, seconds=time.perf_counter() - started)

    def judge_group(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> list[Judgement]:
        """`judge` for an advantage group.

        A judge that ranks (it overrides `compute_rewards`) sees the group at once and fails as a whole: a part has no
        rank. Any other judges each output by itself, those that await something all at the same time.
        """
        if self._ranks:
            return self._ranked(workflow_task, workflow_outputs)
        if self._awaits:
            return _loop.run(self.ajudge_group(workflow_task, workflow_outputs))
        return [self.judge(workflow_task, output) for output in workflow_outputs]

    async def ajudge_group(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[Judgement]:
        """`judge_group` for callers inside an event loop."""
        if self._ranks:
            return await asyncio.to_thread(self._ranked, workflow_task, workflow_outputs)
        return await asyncio.gather(*(self.ajudge(workflow_task, output) for output in workflow_outputs))

    def _ranked(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Judgement]:
        started = time.perf_counter()
        try:
            verdicts = self._group_verdicts(task, outputs)
        except JudgeError as exc:
            verdicts = [_failure(exc) for _ in outputs]
        seconds = time.perf_counter() - started
        return [replace(verdict, seconds=seconds) for verdict in verdicts]

    def _verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement:
        with self._naming(task):
            filtered, violations = self._prefilter.check(task, output)
            if filtered is not None:
                return filtered
            return _checked(self.inner.compute_reward(task, output), violations)

    async def _averdict(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement:
        with self._naming(task):
            filtered, violations = self._prefilter.check(task, output)
            if filtered is not None:
                return filtered
            return _checked(await self.inner.acompute_reward(task, output), violations)

    def _group_verdicts(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Judgement]:
        with self._naming(task):
            checks = [self._prefilter.check(task, output) for output in outputs]
            kept = [output for output, (filtered, _) in zip(outputs, checks, strict=True) if filtered is None]
            results = list(self.inner.compute_rewards(task, kept)) if kept else []
            if len(results) != len(kept):
                raise JudgeError(f"compute_rewards answered {len(results)} rewards for {len(kept)} outputs")
            remaining = iter(results)
            return [
                filtered if filtered is not None else _checked(next(remaining), violations)
                for filtered, violations in checks
            ]

    @contextmanager
    def _naming(self, task: WorkflowTask) -> Iterator[None]:
        """Every failure leaves as a JudgeError that names the task and the judge."""
        try:
            yield
        except JudgeError as exc:
            exc.task_id = exc.task_id or task.task_id
            exc.judge = exc.judge or self._name
            raise
        except Exception as exc:  # a user's judge may fail in any way; none of them is a verdict
            message = f"{type(exc).__name__}: {exc}"
            raise JudgeError(message, task_id=task.task_id, judge=self._name) from exc

    def _on_failure(self, exc: JudgeError) -> Reward:
        if self._on_error == "raise":
            raise exc
        return Reward(0.0, False, reason=f"no verdict, 0.0 by on_error: zero: {exc}", metrics={"failed": 1.0})


def _reward(verdict: Judgement) -> Reward:
    assert verdict.reward is not None
    assert verdict.is_success is not None
    return Reward(verdict.reward, verdict.is_success, reason=verdict.reason, metrics=verdict.metrics)


def _failure(exc: JudgeError) -> Judgement:
    return Judgement("failed", None, None, reason=exc.message, error=str(exc))


def _checked(result: Any, violations: tuple[str, ...]) -> Judgement:
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise JudgeError(f"a judge must return (raw_reward, is_success), got {result!r:.200}")
    raw_reward, is_success = result
    if not _is_finite(raw_reward):
        raise JudgeError(f"raw_reward must be a finite float, got {raw_reward!r:.200}")
    if not isinstance(is_success, bool) and not _is_numpy_bool(is_success):
        raise JudgeError(f"is_success must be a bool, got {is_success!r:.200}")
    reason, metrics = (result.reason, result.metrics) if isinstance(result, Reward) else ("", {})
    return Judgement("judged", float(raw_reward), bool(is_success), reason, violations, None, metrics)


def _is_finite(value: object) -> bool:
    if type(value) is float:
        return math.isfinite(value)
    # Real, not float: judges compute with numpy, whose scalars are numbers too
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def _is_numpy_bool(value: object) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")
