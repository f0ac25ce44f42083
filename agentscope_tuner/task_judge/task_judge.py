"""TaskJudge: rules first, then the judge, then a check of what it answered."""

from __future__ import annotations

import asyncio
import copy
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any, Literal

from agentscope_tuner import _loop
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.rules import RuleSet
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.prefilter import Prefilter
from agentscope_tuner.task_judge.traits import Traits
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

_Outcome = Judgement | JudgeError
# reasons may quote an answer or an exception at any length; logs and rollout files want a line
_MOST_CHARS = 2000


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
        self._prefilter = Prefilter(rules, rule_reward)
        self._on_error = on_error
        self._traits = Traits.of(judge)

    @property
    def traits(self) -> Traits:
        """How the judge wants to be asked."""
        return self._traits

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """The trainer's call.

        Returns:
            `(raw_reward, is_success)` with `.reason` and `.metrics`; the reward is finite.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        return self._reward(self._outcome(workflow_task, workflow_output))

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """`compute_reward` for callers inside an event loop."""
        return self._reward(await self._aoutcome(workflow_task, workflow_output))

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> list[Reward]:
        """`compute_reward` for an advantage group: outputs of one task, one reward each, in order."""
        return [self._reward(outcome) for outcome in self._group(workflow_task, workflow_outputs)]

    def judge(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Judgement:
        """The full account of one verdict; a broken judge gives status `failed` with no reward, not an exception."""
        started = time.perf_counter()
        return _judgement(self._outcome(workflow_task, workflow_output), started)

    async def ajudge(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Judgement:
        """`judge` for callers inside an event loop."""
        started = time.perf_counter()
        return _judgement(await self._aoutcome(workflow_task, workflow_output), started)

    def judge_group(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> list[Judgement]:
        """`judge` for an advantage group; `seconds` is the group's.

        A judge that ranks (it overrides `compute_rewards`) sees the group at once and fails as a whole: a part has no
        rank. Any other judges each output by itself, those that await something all at the same time.
        """
        started = time.perf_counter()
        return [_judgement(outcome, started) for outcome in self._group(workflow_task, workflow_outputs)]

    async def ajudge_group(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[Judgement]:
        """`judge_group` for callers inside an event loop."""
        started = time.perf_counter()
        return [_judgement(outcome, started) for outcome in await self._agroup(workflow_task, workflow_outputs)]

    def _outcome(self, task: WorkflowTask, output: WorkflowOutput) -> _Outcome:
        try:
            with self._naming(task):
                filtered, violations = self._prefilter.check(task, output)
                return filtered or _checked(self.inner.compute_reward(task, output), violations)
        except JudgeError as error:
            return error

    async def _aoutcome(self, task: WorkflowTask, output: WorkflowOutput) -> _Outcome:
        try:
            with self._naming(task):
                filtered, violations = self._prefilter.check(task, output)
                return filtered or _checked(await self.inner.acompute_reward(task, output), violations)
        except JudgeError as error:
            return error

    def _group(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[_Outcome]:
        if self._traits.ranks:
            return self._ranked(task, outputs)
        if self._traits.awaits:
            return _loop.run(self._agroup(task, outputs))
        return [self._outcome(task, output) for output in outputs]

    async def _agroup(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[_Outcome]:
        if self._traits.ranks:
            try:
                with self._naming(task):
                    return await _loop.in_thread(self._ranked, task, outputs)
            except JudgeError as error:
                return [error] * len(outputs)
        return await asyncio.gather(*(self._aoutcome(task, output) for output in outputs))

    def _ranked(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[_Outcome]:
        try:
            with self._naming(task):
                checks = [self._prefilter.check(task, output) for output in outputs]
                kept = [output for output, (filtered, _) in zip(outputs, checks, strict=True) if filtered is None]
                results = list(self.inner.compute_rewards(task, kept)) if kept else []
                if len(results) != len(kept):
                    raise _no_reward(f"compute_rewards answered {len(results)} rewards for {len(kept)} outputs")
                remaining = iter(results)
                return [filtered or _checked(next(remaining), violations) for filtered, violations in checks]
        except JudgeError as error:
            return [error] * len(outputs)

    @contextmanager
    def _naming(self, task: WorkflowTask) -> Iterator[None]:
        """Every failure leaves as a JudgeError that names the task and the judge."""
        try:
            yield
        except (KeyboardInterrupt, asyncio.CancelledError, GeneratorExit) as exc:
            if _is_the_callers(exc):
                raise
            raise self._failure(exc, task) from exc
        except BaseException as exc:  # a user's judge may fail in any way, sys.exit included; none of them is a verdict
            raise self._failure(exc, task) from exc

    def _failure(self, exc: BaseException, task: WorkflowTask) -> JudgeError:
        """`exc` as a JudgeError that names the task and the judge."""
        try:
            # a copy: a judge may raise one stored error for many tasks
            error = copy.copy(exc) if isinstance(exc, JudgeError) else _unexpected(exc, str(exc))
            error.message = error.message[:_MOST_CHARS]
        # a class of the judge's own may refuse to be copied, or to say what is wrong
        except Exception:  # noqa: BLE001
            error = _unexpected(exc, f"{getattr(exc, 'message', 'it cannot be shown')!s:.{_MOST_CHARS}}")
        error.task_id = error.task_id or task.task_id
        error.judge = error.judge or self._traits.name
        return error

    def _reward(self, outcome: _Outcome) -> Reward:
        if isinstance(outcome, Judgement):
            assert outcome.reward is not None
            assert outcome.is_success is not None
            return Reward(outcome.reward, outcome.is_success, reason=outcome.reason, metrics=outcome.metrics)
        if self._on_error == "raise":
            raise outcome
        return Reward(0.0, False, reason=f"no verdict, 0.0 by on_error: zero: {outcome}", metrics={"failed": 1.0})


def _is_the_callers(exc: BaseException) -> bool:
    """Whether it was meant for whoever called the judge; the judge's own would end them, or the loop's thread."""
    if isinstance(exc, KeyboardInterrupt):
        # Ctrl-C strikes no other
        return threading.current_thread() is threading.main_thread()
    if isinstance(exc, asyncio.CancelledError):
        try:
            current = asyncio.current_task()
        except RuntimeError:
            return False
        return current is None or current.cancelling() > 0
    return True


def _unexpected(exc: BaseException, message: str) -> JudgeError:
    cause = Cause.CONFIG if isinstance(exc, ConfigError) else Cause.BUG
    return JudgeError(f"{type(exc).__name__}: {message}", cause=cause)


def _judgement(outcome: _Outcome, started: float) -> Judgement:
    if isinstance(outcome, JudgeError):
        return Judgement.failed(outcome, seconds=time.perf_counter() - started)
    # spelled out: `replace` takes longer than a cheap verdict
    return Judgement(
        outcome.status,
        outcome.reward,
        outcome.is_success,
        outcome.reason,
        outcome.violations,
        outcome.error,
        outcome.metrics,
        time.perf_counter() - started,
    )


def _no_reward(message: str) -> JudgeError:
    """The error of a judge whose answer is no reward."""
    return JudgeError(message, cause=Cause.BUG)


def _checked(result: Any, violations: tuple[str, ...]) -> Judgement:
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise _no_reward(f"a judge must return (raw_reward, is_success), got {result!r:.200}")
    raw_reward, is_success = result
    if not _is_finite(raw_reward):
        raise _no_reward(f"raw_reward must be a finite float, got {raw_reward!r:.200}")
    if not isinstance(is_success, bool) and not _is_numpy_bool(is_success):
        raise _no_reward(f"is_success must be a bool, got {is_success!r:.200}")
    if not isinstance(result, Reward):
        return Judgement("judged", float(raw_reward), bool(is_success), "", violations)
    if not isinstance(result.reason, str):
        raise _no_reward(f"a reward's reason must be a str, got {result.reason!r:.200}")
    reason, metrics = result.reason[:_MOST_CHARS], _checked_metrics(result.metrics)
    broken = (*violations, *_checked_violations(result))
    if result.filtered_by:
        broken = broken if result.filtered_by in result.violations else (*broken, result.filtered_by)
        return Judgement("filtered", float(raw_reward), bool(is_success), reason, broken, None, metrics)
    return Judgement("judged", float(raw_reward), bool(is_success), reason, broken, None, metrics)


def _checked_violations(result: Any) -> tuple[str, ...]:
    if not result.violations and isinstance(result.filtered_by, str):
        return ()
    names = (*result.violations, result.filtered_by)
    if isinstance(result.violations, str) or not all(isinstance(name, str) for name in names):
        raise _no_reward(f"a reward's violations and filtered_by must be ids of rules, got {names!r:.200}")
    return tuple(str(name) for name in result.violations)


def _checked_metrics(metrics: Any) -> dict[str, float]:
    if not metrics:
        return {}
    if not isinstance(metrics, Mapping) or not all(isinstance(n, str) and _is_finite(v) for n, v in metrics.items()):
        raise _no_reward(f"a reward's metrics must map names to finite numbers, got {metrics!r:.200}")
    # str(): a verdict goes to other processes, where a class of the judge's own may be unknown
    return {str(name): float(value) for name, value in metrics.items()}


def _is_finite(value: object) -> bool:
    if type(value) is float:
        return math.isfinite(value)
    # Real, not float: judges compute with numpy, whose scalars are numbers too
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def _is_numpy_bool(value: object) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")
