"""TaskJudge: runs the rules, then the judge, then checks the judge's answer."""

from __future__ import annotations

import asyncio
import copy
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NoReturn

from msgspec import structs

from agentscope_tuner._run import loops
from agentscope_tuner.config import Settings
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, called_so, config_fault
from agentscope_tuner.graders.cost import Estimate, Reckoner
from agentscope_tuner.rules import RuleSet
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward, final_answer
from agentscope_tuner.task_judge.contract.columns import NO_READS, Reads, hint
from agentscope_tuner.task_judge.contract.columns import WHERE as READS
from agentscope_tuner.task_judge.contract.deadline import Asking, Traits
from agentscope_tuner.task_judge.contract.judgement import (
    RULES_REWARD,
    Check,
    FramesOf,
    Judgement,
    checked,
    is_plain,
    is_the_callers,
    place_of,
    placed,
)
from agentscope_tuner.task_judge.workflow_reward_as_judge import warn_passed_over
from agentscope_tuner.workflow import Boundary, Task, WorkflowOutput, WorkflowTask

_log = logging.getLogger(__name__)

_Outcome = Judgement | JudgeError
# What callers give by mistake in place of a WorkflowTask, and of a WorkflowOutput
_NO_TASK, _NO_OUTPUT = (Task, WorkflowOutput, str, dict, list, tuple), (Task, WorkflowTask, str, dict, list, tuple)
_KINDS = (WorkflowTask, WorkflowOutput)
_OUTPUT = "WorkflowOutput(metadata={{'final_answer': ANSWER}})"
_ONE = (
    f"{{}}(WorkflowTask(task=Task(task_id='1', metadata={{{{'answer': REFERENCE}}}})), {_OUTPUT}), "
    "all imported from agentscope_tuner"
)
_CALLS = (
    "write .compute_reward(task, output) for a reward, .judge(task, output) for a Judgement; a trainer's reward "
    "function comes from agentscope_tuner.adapters, and `astuner judge` reads files"
)
_SEVERAL = _ONE.replace(_OUTPUT, f"[{_OUTPUT}, …]")
# Reasons may quote an answer or an exception of any length, but logs and rollout files need one line
_MOST_CHARS = 2000


class TaskJudge:
    """The configured judge behind its rules, as a trainer uses it. Build one with `load_judge`.

    `compute_reward` gives the trainer's pair, `(raw_reward, is_success)`, or raises; `judge` gives the full `Judgement`
    and does not raise for a broken judge. `acompute_reward` and `ajudge` are the same for callers inside an event loop;
    `compute_rewards`, `judge_group` and `ajudge_group` take an advantage group. A judge that ranks has no verdict on
    one rollout alone.

    Args:
        judge: the judge that is asked about rollouts that break no `mark_bad` rule.
        rules: compiled rules, run before the judge.
        rule_reward: the reward of a rollout that a rule marks bad.
        on_error: `raise` a JudgeError when there is no verdict, or, where a user asked for it by name, `zero`:
            `compute_reward` then answers `(0.0, False)`. `judge` reports the failure either way.
        deadline: seconds for one verdict, or for the one call that ranks a group; after it the verdict is a
            DeadlineError. None for no limit. A judge that bounds itself (`BaseJudge.bounds_itself`) is given none.
        max_abandoned: how many verdicts may hang beyond their deadline before the judge is asked no more.
        recipe: the configuration for `load_judge` in another process, where a judge that computes is asked.
        keep_calls: whether a judgement keeps the questions to judge models and their replies.
        reads: which columns of a task's metadata hold its question and its answer.

    Attributes:
        inner: the judge itself.
        reference_keys: see `BaseJudge`.
        traits: how the judge must be called.
        heeds_own_reward: False if it should still warn, once, that a reward set by the workflow itself is ignored.
    """

    def __init__(
        self,
        judge: BaseJudge,
        rules: RuleSet,
        *,
        rule_reward: float = 0.0,
        on_error: Literal["raise", "zero"] = "raise",
        deadline: float | None = None,
        max_abandoned: int = 32,
        recipe: Settings | None = None,
        keep_calls: bool = False,
        reads: Reads = NO_READS,
    ) -> None:
        self.inner = judge
        self.reference_keys = judge.reference_keys
        self._reads, self._needs_answer = reads, "answer" in judge.reference_keys
        self._rules, self._rule_reward = rules, rule_reward
        self._has_rules = bool(rules.targets)
        # An environment's judge never reads the answer, so without a rule on the answer the output may lack it
        self._rules_read_answer = "output" in rules.targets
        self._on_error = on_error
        self.traits = Traits.of(judge)
        # Warn once: a workflow that sets a reward sets it on every rollout
        self.heeds_own_reward = judge.reads_own_reward
        self._asking = Asking(judge, self.traits, deadline, max_abandoned, recipe, keep_calls=keep_calls)

    def without_deadline(self) -> TaskJudge:
        """The same judge without a deadline, for a process that is killed when its verdict takes too long."""
        other = copy.copy(self)
        other._asking = self._asking.unwatched()
        return other

    def around(self, judge: BaseJudge) -> TaskJudge:
        """A copy with the same rules and no deadline that asks `judge` in place of this one's judge."""
        other = copy.copy(self)
        other.inner, other._asking = judge, Asking(judge, self.traits, None, 1, None)
        return other

    def at_once(self, concurrency: int) -> int:
        """How many rows of a batch are judged at once: `concurrency` where the judge awaits."""
        return self._asking.at_once(concurrency)

    def ask(self, workflow_task: WorkflowTask, about: WorkflowOutput | list[WorkflowOutput]) -> object:
        """The judge's own answer, without rules and checks, for a process that judges for another process.

        Args:
            workflow_task: the task.
            about: an output to it, or the outputs of a group that the judge ranks, which get a list of answers.

        Raises:
            JudgeError: as `compute_reward`, whatever `on_error` says.
        """
        try:
            if isinstance(about, list):
                return self._asking.rank(workflow_task, about)
            return self._asking.ask(workflow_task, about)
        # as in `outcome`
        except BaseException as exc:
            raise self._caught(exc, workflow_task) from exc

    @called_so(_ONE.format("compute_reward"))
    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """The trainer's call.

        Returns:
            `(raw_reward, is_success)` with `.reason` and `.metrics`; the reward is finite.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
            TypeError: a `Task`, a text or a dictionary was given in place of a `WorkflowTask` or `WorkflowOutput`.
        """
        found = self._answer(workflow_task, workflow_output)
        # A plain reward says all that its judgement would
        return found if isinstance(found, Reward) else self.reward_of(found)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """`compute_reward` for callers inside an event loop."""
        return self.reward_of(await self.aoutcome(workflow_task, workflow_output))

    @called_so(_SEVERAL.format("compute_rewards"))
    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> list[Reward]:
        """`compute_reward` for an advantage group: outputs of one task, one reward each, in order."""
        return [self.reward_of(outcome) for outcome in self.group_outcomes(workflow_task, workflow_outputs)]

    def __getattr__(self, name: str) -> NoReturn:
        # Asked only about names that a loaded judge lacks
        raise AttributeError(f"a loaded judge has no {name!r}: {_CALLS}")

    def __call__(self, *given: object, **named: object) -> NoReturn:
        """Refuses `judge(task, output)`, and the place of a trainer's reward function, with the way out."""
        raise TypeError(f"a judge is not called itself: {_CALLS}")

    @called_so(_ONE.format("judge"))
    def judge(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Judgement:
        """The full account of one verdict; a broken judge gives status `failed` with no reward, not an exception."""
        started = time.perf_counter()
        return judgement_of(self.outcome(workflow_task, workflow_output), started)

    async def ajudge(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Judgement:
        """`judge` for callers inside an event loop."""
        started = time.perf_counter()
        return judgement_of(await self.aoutcome(workflow_task, workflow_output), started)

    @called_so(_SEVERAL.format("judge_group"))
    def judge_group(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> list[Judgement]:
        """`judge` for an advantage group; `seconds` is the group's.

        A judge that ranks (it overrides `compute_rewards`) sees the group at once and fails as a whole: a part has no
        rank. Any other judges each output by itself, those that await something all at the same time.
        """
        started = time.perf_counter()
        return [judgement_of(outcome, started) for outcome in self.group_outcomes(workflow_task, workflow_outputs)]

    async def ajudge_group(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[Judgement]:
        """`judge_group` for callers inside an event loop."""
        started = time.perf_counter()
        return [judgement_of(outcome, started) for outcome in await self._agroup(workflow_task, workflow_outputs)]

    def outcome(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement | JudgeError:
        """`judge` without its seconds, for judges that ask this one; a failed judgement is given as its JudgeError."""
        found = self._answer(task, output)
        return Judgement("judged", found[0], found[1], found.reason) if isinstance(found, Reward) else found

    def _answer(self, task: WorkflowTask, output: WorkflowOutput) -> Reward | Judgement | JudgeError:
        """`outcome`; but the judge's own Reward, if a Judgement would say no more."""
        if (type(task), type(output)) != _KINDS and (isinstance(task, _NO_TASK) or isinstance(output, _NO_OUTPUT)):
            raise _other_kinds(task, output)
        try:
            task, (filtered, violations) = self._before(task, output)
            if filtered is not None:
                return filtered
            result = self._asking.ask(task, output)
            if type(result) is Reward and result.metrics == {} and not violations and is_plain(result):
                return result
            return checked(result, violations)
        except BaseException as exc:  # noqa: BLE001 - none of them is a verdict, and `_caught` raises the caller's own
            return self._caught(exc, task)

    async def aoutcome(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement | JudgeError:
        """`outcome` for callers inside an event loop."""
        if (type(task), type(output)) != _KINDS and (isinstance(task, _NO_TASK) or isinstance(output, _NO_OUTPUT)):
            raise _other_kinds(task, output)
        try:
            task, (filtered, violations) = self._before(task, output)
            return filtered or checked(await self._asking.aask(task, output), violations)
        except BaseException as exc:  # noqa: BLE001 - as in `outcome`
            return self._caught(exc, task)

    def _before(self, task: WorkflowTask, output: WorkflowOutput) -> tuple[WorkflowTask, Check]:
        """What comes before the judge: the task with its columns read, as the judge is given it, and the rules' result.

        Raises:
            JudgeError: a column is missing, a rule cannot be decided, or the judge ranks groups and cannot rank one
                output.
        """
        if output.reward is not None and not self.heeds_own_reward:
            self.heeds_own_reward = warn_passed_over(output.reward, self.traits.name)
        if self._reads.names_any or "answer" not in task.task.metadata:
            task = self._reads.task(task, self.reference_keys)
        check = self.filtered(task, output) if self._has_rules else (None, ())
        if check[0] is None and self.traits.ranks:
            self._check_alone(task)
        return task, check

    def filtered(self, task: WorkflowTask, output: WorkflowOutput) -> Check:
        """The rules' verdict, when a `mark_bad` rule is broken, else None; and the ids of all rules broken, in order.

        Raises:
            JudgeError: a rule cannot be decided: see RuleSet.check.
        """
        if not self._has_rules:
            return None, ()
        answer = final_answer(output) if self._rules_read_answer else ""
        broken = self._rules.check(answer, query=task.task.main_query, metadata=output.metadata)
        violations = tuple(violation.rule_id for violation in broken)
        marked = [
            f"{violation.rule_id} {violation.unfinished}".rstrip()
            for violation in broken
            if violation.action == "mark_bad"
        ]
        if not marked:
            return None, violations
        return Judgement("filtered", self._rule_reward, False, f"rules: {', '.join(marked)}", violations), violations

    def _check_alone(self, task: WorkflowTask) -> None:
        """Check that the judge can be asked about one rollout: alone in a ranking its rank would be a constant.

        Raises:
            JudgeError: the judge ranks, and the task brings no other answers.
        """
        if not self.inner.ranks_alone(task):
            kind, alone = type(self.inner), "one rollout alone has no rank"
            is_ours = kind.__module__.startswith("agentscope_tuner.")
            if kind.compute_reward is BaseJudge.compute_reward and not is_ours:
                raise config_fault(
                    "this judge ranks whole advantage groups, because its class has compute_rewards and no "
                    f"compute_reward(self, workflow_task, workflow_output); {alone}"
                )
            own = "" if is_ours else ". If it judges one, write in its class `def ranks_groups(self): return False`"
            raise config_fault(
                f"this judge ranks whole advantage groups, and {alone}: give it several rollouts of a task, one after "
                f"the other in a file, or take a trainer that hands over groups{own}"
            )

    def group_outcomes(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Judgement | JudgeError]:
        """`outcome` for each output of an advantage group."""
        _check_several(task, outputs)
        if self.traits.ranks:
            return self._ranked(task, outputs)
        if self._asking.in_loop:
            return loops.run(self._agroup(task, outputs))
        return [self.outcome(task, output) for output in outputs]

    async def _agroup(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[_Outcome]:
        _check_several(task, outputs)
        if self.traits.ranks:
            return await self._aranked(task, outputs)
        # An output that waits for a process must not use up the time of its verdict
        slots = asyncio.Semaphore(self.at_once(len(outputs)))

        async def one(output: WorkflowOutput) -> _Outcome:
            async with slots:
                return await self.aoutcome(task, output)

        return await asyncio.gather(*(one(output) for output in outputs))

    def _ranked(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[_Outcome]:
        try:
            task = self._reads.task(task, self.reference_keys)
            checks, kept = self._filtered(task, outputs)
            results = self._alone(task, checks, kept) or self._asking.rank(task, kept)
            return self._placed(task, checks, results)
        except BaseException as exc:  # noqa: BLE001 - as in `outcome`
            return [self._caught(exc, task)] * len(outputs)

    async def _aranked(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[_Outcome]:
        try:
            task = self._reads.task(task, self.reference_keys)
            checks, kept = self._filtered(task, outputs)
            results = self._alone(task, checks, kept) or await self._asking.arank(task, kept)
            return self._placed(task, checks, results)
        except BaseException as exc:  # noqa: BLE001 - as in `outcome`
            return [self._caught(exc, task)] * len(outputs)

    def _alone(self, task: WorkflowTask, checks: Sequence[Check], kept: Sequence[WorkflowOutput]) -> list[JudgeError]:
        """The error for the only output of a group that the rules left to a judge that ranks, in a list.

        The list is empty unless one of several outputs is left, or if the judge can rank this output alone.
        """
        if len(kept) != 1 or len(checks) == 1 or self.inner.ranks_alone(task):
            return []
        told = f"the rules left one of {len(checks)} rollouts, and {self.traits.name} has none to rank it with"
        error = JudgeError(told, cause=Cause.ALONE)
        error.metrics = {RULES_REWARD: self._rule_reward}
        return [error]

    def _placed(self, task: WorkflowTask, checks: Sequence[Check], results: Sequence[Any]) -> list[_Outcome]:
        outcomes = placed(checks, results)
        return [self._failure(found, task) if isinstance(found, JudgeError) else found for found in outcomes]

    def _filtered(
        self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]
    ) -> tuple[list[Check], list[WorkflowOutput]]:
        """The rules' result for each output, and the outputs that the judge is asked about."""
        if not self.heeds_own_reward and (own := [output for output in outputs if output.reward is not None]):
            self.heeds_own_reward = warn_passed_over(own[0].reward, self.traits.name)
        checks = [self.filtered(task, output) for output in outputs]
        if len(outputs) == 1 and checks[0][0] is None:
            self._check_alone(task)
        return checks, [output for output, (filtered, _) in zip(outputs, checks, strict=True) if filtered is None]

    def _caught(self, exc: BaseException, task: WorkflowTask) -> JudgeError:
        """The raised exception as a JudgeError: a user's judge may fail in any way, sys.exit included."""
        if isinstance(exc, KeyboardInterrupt | asyncio.CancelledError | GeneratorExit) and is_the_callers(exc):
            raise exc
        error = self._failure(exc, task)
        error.__cause__ = exc
        return error

    def _failure(self, exc: BaseException, task: WorkflowTask) -> JudgeError:
        """`exc` as a JudgeError that names the task and the judge."""
        try:
            # A copy, because a judge may raise one stored error for many tasks
            error = copy.copy(exc) if isinstance(exc, JudgeError) else _unexpected(exc, str(exc))
            error.message = error.message[:_MOST_CHARS]
        # An error of the judge's own class may fail to copy or to print
        except Exception:  # noqa: BLE001
            error = _unexpected(exc, f"{getattr(exc, 'message', 'it cannot be shown')!s:.{_MOST_CHARS}}")
        unread = self._needs_answer and error.cause is Cause.REFERENCE and "answer" not in task.task.metadata
        # another part of the task may be missing, such as the field that names its route
        if unread and "answer" in error.message and "reads" not in error.message:
            error.message += f"; {_beside(task.task) or hint(task.task.metadata)}"
        error.task_id = error.task_id or task.task_id
        error.judge = error.judge or self.traits.name
        return error

    def read(self, task: Task) -> Task:
        """`task` as the judge is given it: with its question and its answer out of the columns that `reads` names.

        Raises:
            JudgeError: it lacks a column that is named for its answer.
        """
        return self._reads.read(task, self.reference_keys)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge; of the task as the judge is given it."""
        try:
            read = self.read(task)
        except JudgeError as error:
            return f"missing: {error.message}"
        problem = self.inner.check_task(read, output)
        unread = self._needs_answer and "answer" not in read.metadata
        if problem and unread and "answer" in problem and READS not in problem:
            return f"{problem}; {hint(task.metadata)}"
        return problem

    def row_notes(self, task: Task, output: WorkflowOutput | None = None) -> list[str]:
        """See BaseJudge; none for a row that cannot be judged."""
        try:
            return self.inner.row_notes(self.read(task), output)
        except JudgeError:
            return []

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        """See BaseJudge."""
        return self.inner.same_reference(first, second)

    def refused(self, tasks: Sequence[Task]) -> list[Judgement]:
        """Failed judgements, if a group must not be ranked as one, such as one with two questions; empty if it may."""
        if not self.traits.ranks or len(tasks) < 2:
            return []
        asked = {task.main_query.strip() for task in tasks} - {""}
        problem = self.inner.check_group(tasks)
        if len(asked) > 1:
            # ids that are the numbers of rows, and two data sets
            problem = f"the group holds {len(asked)} questions, as {sorted(asked)[:2]!r:.200}: give each its own id"
        if problem is None:
            return []
        errors = (
            JudgeError(problem, task_id=task.task_id, judge=self.traits.name, cause=Cause.INPUT) for task in tasks
        )
        return list(map(Judgement.failed, errors))

    def reward_of(self, outcome: Judgement | JudgeError) -> Reward:
        """The trainer's reward from an outcome; see `compute_reward`."""
        if isinstance(outcome, Judgement):
            assert outcome.reward is not None
            assert outcome.is_success is not None
            return Reward(outcome.reward, outcome.is_success, reason=outcome.reason, metrics=outcome.metrics)
        if self._on_error == "raise":
            raise outcome
        reason = f"no verdict, 0.0 by on_error: zero: {outcome}"
        return Reward(0.0, False, reason=reason, metrics={**outcome.metrics, "failed": 1.0})


def _beside(task: Task) -> str:
    """Advice for `Task(answer=…)`, a column given as a field of the task instead of its metadata; else empty."""
    extra = task.model_extra or {}
    if task.metadata or not extra:
        return ""
    pairs = ", ".join(f"{name!r}: …" for name in list(extra)[:4])
    return f"the task has {pairs} as fields of its own: write Task(metadata={{{pairs}}})"


def _other_kinds(task: object, output: object) -> TypeError:
    """The error for a caller that gives a Task, a text or a list in place of a WorkflowTask or a WorkflowOutput."""
    many = ": call it for each of them" if isinstance(task, list | tuple) or isinstance(output, list | tuple) else ""
    got = f"got {type(task).__name__} and {type(output).__name__}{many}"
    return TypeError(f"write {_ONE.format('compute_reward')}; {got}")


def _check_several(task: object, outputs: object) -> None:
    """Check that a group is given as one WorkflowTask and a list of outputs.

    Raises:
        TypeError: `outputs` is a single output, or `task` is no WorkflowTask.
    """
    if isinstance(task, _NO_TASK):
        got = f"a group has one task and a list of outputs, got {type(task).__name__} and {type(outputs).__name__}"
        raise TypeError(f"write {_SEVERAL.format('judge_group')}; {got}")
    if isinstance(outputs, Boundary | str | Mapping):
        raise TypeError(f"the outputs of a group are a list, [output, …], got one {type(outputs).__name__}")


def _there_is(exc: BaseException) -> str:
    """The fields that the task or output has, if the judge looked for a missing one, to end a message; else empty."""
    of = exc.obj if isinstance(exc, AttributeError) else None
    return f"; {of.fields_told()}" if isinstance(of, Boundary) else ""


def _unexpected(exc: BaseException, message: str) -> JudgeError:
    cause = Cause.CONFIG if isinstance(exc, ConfigError) else Cause.BUG
    error = JudgeError(f"{type(exc).__name__}: {message}{_there_is(exc)}", cause=cause)
    error.place = place_of(exc)
    # Log the frames only: the message may quote an answer, and is in the error
    _log.info("the judge raised %s\n%s", type(exc).__name__, FramesOf(exc))
    return error


def judgement_of(outcome: Judgement | JudgeError, started: float) -> Judgement:
    """The full account of an outcome that was asked for when `perf_counter` showed `started`."""
    if isinstance(outcome, JudgeError):
        return Judgement.failed(outcome, seconds=time.perf_counter() - started)
    return structs.replace(outcome, seconds=time.perf_counter() - started)


def estimate_of(
    judge: TaskJudge, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner
) -> tuple[int, Estimate]:
    """How many outputs of one task the rules leave to the judge, and what it would use on them.

    Raises:
        JudgeError: there would be no verdict.
    """
    task = task.model_copy(update={"task": judge.read(task.task)})
    left = [output for output in outputs if judge.filtered(task, output)[0] is None]
    return len(left), judge.inner.estimate(task, left, reckoner) if left else Estimate()
