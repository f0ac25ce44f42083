"""The deadline of a verdict: how a judge is asked so that it cannot take longer.

A judge that bounds itself is asked directly. Of the others, an async judge is cancelled, and one that computes runs in
a child process, which is killed. Any other sync judge works in a thread, which cannot be ended: it is counted, and no
longer waited for. Too many such threads would use up the process, so from some number on the judge is asked no more.

`Traits` says how a judge must be called: computed once, for the trainers' adapters, the engines and the service.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import pickle
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

from agentscope_tuner._run import loops
from agentscope_tuner._run.child import ChildProgram
from agentscope_tuner._run.pool import PoolQuestion, QuestionPool, WallTimeUp, Worker, WorkerLost
from agentscope_tuner.config import Settings
from agentscope_tuner.errors import Cause, DeadlineError, JudgeError
from agentscope_tuner.graders.client.usage import recorded
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

T = TypeVar("T")
_log = logging.getLogger(__name__)

# Seconds for a cancelled judge to end, and then for its event loop to show that it is not blocked
_GRACE_SECONDS = 0.25
# Verdicts that began together hang together. When the first one's time ends, those whose time ends within this share of
# the limit count as hanging, too
_NEARLY = 0.1
_THREAD = "its thread cannot be ended, and is left behind"

_Outcome = tuple[Any, BaseException | None]


class TimeLimit:
    """Asks one judge, for `seconds` at most.

    Args:
        judge: its name, for messages.
        seconds: for one verdict, or for the one call that ranks a group.
        max_abandoned: how many abandoned verdicts may hang before the judge is asked no more.
    """

    def __init__(self, judge: str, seconds: float, max_abandoned: int) -> None:
        self._judge = judge
        self._seconds = seconds
        self._max_abandoned = max_abandoned
        self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        # In another process no verdict hangs yet
        return TimeLimit, (self._judge, self._seconds, self._max_abandoned)

    def _forget(self) -> None:
        self._pid = os.getpid()
        # Verdicts that cannot be ended, and when their time is over, by time.monotonic
        self._left: dict[object, float] = {}
        self._slots = loops.PerLoop(lambda: asyncio.Semaphore(loops.threads_at_once()))

    def call(self, task_id: str, function: Callable[..., T], *args: Any) -> T:
        """`function(*args)` for a caller that does not await.

        Raises:
            DeadlineError: the call took too long, or too many others hang.
        """
        future = self._start(self._seconds, function, *args)
        try:
            return future.result(self._seconds)
        except TimeoutError:
            if future.done():
                return future.result()  # the judge's own error, or it ended in the same moment
            self._tell(task_id, _THREAD)
            raise _late(self._seconds) from None

    async def acall(self, task_id: str, function: Callable[..., T], *args: Any) -> T:
        """`call` for callers inside an event loop, which goes on meanwhile.

        Raises:
            DeadlineError: as for `call`.
        """
        loop = asyncio.get_running_loop()
        slot = _Slot(self._slots.here())
        # The wait does not count: every verdict frees its slot at its deadline, and if too many hang, no more is asked
        await slot.acquire()
        end = loop.time() + self._seconds
        try:
            future = self._start(self._seconds, function, *args)
        # No thread was started, so no thread will free the slot
        except BaseException:
            slot.release()
            raise
        answer = asyncio.wrap_future(future)
        try:
            await asyncio.wait({answer}, timeout=end - loop.time())
        except asyncio.CancelledError:
            # The thread works on: its slot is free when the thread ends, or counts as hanging
            future.add_done_callback(lambda _: loops.call_soon(loop, slot.release))
            loop.call_at(end, slot.release)
            answer.cancel()
            raise
        slot.release()
        if answer.done():
            return answer.result()
        answer.cancel()
        self._tell(task_id, _THREAD)
        raise _late(self._seconds)

    async def awaited(
        self, task_id: str, function: Callable[..., Awaitable[T]], *args: Any, on_this_loop: bool = False
    ) -> T:
        """`await function(*args)`; it is cancelled when its time is over.

        Args:
            on_this_loop: run it on the caller's loop, where its connections live; else on the judges' own loop, where a
                judge that blocks, or ignores its cancellation, delays only other foreign judges.

        Raises:
            DeadlineError: as for `call`.
        """
        self._check(0.0)
        home = asyncio.get_running_loop()
        outcome: asyncio.Future[_Outcome] = home.create_future()
        where = home if on_this_loop else loops.judges_loop()
        ends: list[_Outcome] = []

        def ended(told: _Outcome) -> None:
            # Counted here, and not in the caller's loop alone: that may have closed meanwhile
            ends.append(told)
            self._end(outcome)
            loops.call_soon(home, _bring, outcome, told)

        cancel = _begin(_performed(partial(function, *args)), where, ended)
        try:
            await asyncio.wait({outcome}, timeout=self._seconds)
            if not outcome.done():
                cancel()
                await asyncio.wait({outcome}, timeout=_GRACE_SECONDS)
                if not outcome.done():
                    await self._leave_behind(task_id, outcome, None if where is home else where, ends)
                raise _late(self._seconds)
        except asyncio.CancelledError:
            cancel()
            raise
        result, error = outcome.result()
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    async def _leave_behind(
        self,
        task_id: str,
        outcome: asyncio.Future[_Outcome],
        away: asyncio.AbstractEventLoop | None,
        ends: Sequence[_Outcome],
    ) -> None:
        if away is not None and await _is_blocked(away):
            # However many verdicts wait for the loop, one thread hangs; it goes on when it calls this, or has closed
            self._left[away] = time.monotonic()
            loops.call_soon(away, self._end, away)
            loops.replace_judges_loop(away)
            self._tell(task_id, "it blocks its event loop, which is left behind: await what takes long")
        else:
            self._left[outcome] = time.monotonic()
            if ends:
                # In its own thread, in the same moment
                self._end(outcome)
            self._tell(task_id, "it did not end when it was cancelled, and is left behind")

    def _start(self, seconds: float, function: Callable[..., T], *args: Any) -> Future[T]:
        self._check(self._seconds * _NEARLY)
        future = loops.start_thread(function, *args)
        # Count the verdict from its start: its caller may give up before it ends
        self._left[future] = time.monotonic() + seconds
        future.add_done_callback(self._end)
        return future

    def _check(self, soon: float) -> None:
        """Check that not too many verdicts hang, now or within `soon` seconds.

        Raises:
            DeadlineError: too many hang, so the judge is not asked.
        """
        if self._left and self._hanging(soon) >= self._max_abandoned:
            raise DeadlineError(
                f"{self._max_abandoned} earlier verdicts or more hang beyond the deadline of {self._seconds:g} s, "
                "and max_abandoned allows no more: the judge is not asked until some of them end",
                cause=Cause.BREAKER,
            )

    def _hanging(self, soon: float = 0.0) -> int:
        if self._pid != os.getpid():
            self._forget()
        for call in list(self._left):
            # A loop that closed before it could call went on; what was left there hangs no more
            if isinstance(call, asyncio.AbstractEventLoop) and call.is_closed():
                self._end(call)
        latest = time.monotonic() + soon
        return sum(end <= latest for end in list(self._left.values()))

    def _end(self, call: object) -> None:
        self._left.pop(call, None)

    def _tell(self, task_id: str, why: str) -> None:
        _log.warning(
            "%s, task %r: no verdict within %g s: %s (%d of at most %d)",
            self._judge,
            task_id,
            self._seconds,
            why,
            self._hanging(),
            self._max_abandoned,
        )


class _Slot:
    """One slot of a semaphore, which is released only once."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self._held = False

    async def acquire(self) -> None:
        await self._slots.acquire()
        self._held = True

    def release(self) -> None:
        if self._held:
            self._held = False
            self._slots.release()


async def _performed(function: Callable[[], Awaitable[Any]]) -> _Outcome:
    try:
        return await function(), None
    # boundary: SystemExit and KeyboardInterrupt would end the loop; the caller decides what each of them means
    except BaseException as exc:  # noqa: BLE001
        return None, exc


def _begin(
    work: Coroutine[Any, Any, _Outcome], where: asyncio.AbstractEventLoop, ended: Callable[[_Outcome], None]
) -> Callable[[], None]:
    """Start `work` on the loop `where`, without waiting for it; when it ends, that loop calls `ended` with its outcome.

    Returns:
        A function that cancels the work; any thread may call it.
    """
    tasks: list[asyncio.Task[_Outcome]] = []

    def tell(task: asyncio.Task[_Outcome]) -> None:
        # A task that is cancelled before a blocked loop has begun it runs no line, and has no result
        ended((None, asyncio.CancelledError()) if task.cancelled() else task.result())

    def begin() -> None:
        tasks.append(where.create_task(work))
        tasks[0].add_done_callback(tell)

    if where is asyncio.get_running_loop():
        begin()
    else:
        where.call_soon_threadsafe(begin)
    return lambda: loops.call_soon(where, lambda: tasks[0].cancel())


def _bring(outcome: asyncio.Future[_Outcome], told: _Outcome) -> None:
    if not outcome.done():
        outcome.set_result(told)


async def _is_blocked(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether `loop` does not run a call within `_GRACE_SECONDS`."""
    home = asyncio.get_running_loop()
    answer: asyncio.Future[_Outcome] = home.create_future()
    loops.call_soon(loop, loops.call_soon, home, _bring, answer, (None, None))
    await asyncio.wait({answer}, timeout=_GRACE_SECONDS)
    return not answer.done()


# The host's other cores belong to the trainer's other processes, each of which has such a pool
_MOST_PROCESSES = 4


class JudgingProcesses:
    """Processes that each have the judge that `recipe` describes, started when there is work for them.

    Args:
        judge: its name, for messages.
        seconds: the time limit for one question, including the wait for a free process.
        recipe: the judge's configuration.
    """

    def __init__(self, judge: str, seconds: float, recipe: Settings) -> None:
        self._made_of = judge, seconds, recipe
        self._pool = _JudgingPool(seconds, pickle.dumps((recipe,), pickle.HIGHEST_PROTOCOL))
        self.most = self._pool.most
        weakref.finalize(self, self._pool.close, wait=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return JudgingProcesses, self._made_of

    def ask(self, task: WorkflowTask, about: object) -> Future[bytes] | None:
        """Have a process judge an output, or a list of a group's outputs; None if they cannot be pickled for it.

        The future raises a DeadlineError when the answer takes too long, and its process is killed; and a JudgeError
        when two processes died of it. `answer_of` reads its message.
        """
        try:
            question = pickle.dumps((task, about), pickle.HIGHEST_PROTOCOL)
        # boundary: a trainer may attach any object to tasks and outputs, and pickling that object may raise anything
        except Exception:  # noqa: BLE001
            return None
        return self._pool.ask(PoolQuestion(question, limit=self._pool.seconds))


class _JudgingPool(QuestionPool[Worker[PoolQuestion], PoolQuestion]):
    """The pool of these processes. Its workers refer to it, so it is closed when JudgingProcesses is forgotten."""

    loads = "the judge"

    def __init__(self, seconds: float, recipe: bytes) -> None:
        super().__init__(min(_MOST_PROCESSES, os.cpu_count() or 1))
        self.seconds = seconds
        self._recipe = recipe

    def start(self) -> Worker[PoolQuestion]:
        worker: Worker[PoolQuestion] = Worker(ChildProgram("agentscope_tuner.task_judge.contract.loading"))
        worker.send(self._recipe)
        return worker

    def started(self, worker: Worker[PoolQuestion], message: bytes) -> None:
        if (problem := pickle.loads(message)) is not None:
            raise JudgeError(f"a process could not load the judge: {problem}", cause=Cause.WORKER)

    def given_up(self, question: PoolQuestion, loss: WorkerLost) -> JudgeError:
        if isinstance(loss, WallTimeUp):
            return _late(self.seconds)
        return JudgeError("its worker died twice while it was judged", cause=Cause.WORKER)


def answer_of(message: bytes) -> Any:
    """The judge's own answer in a process's message, a list of them for a group; raises the judge's JudgeError."""
    kind, answer = pickle.loads(message)
    if kind == "answered":
        return answer
    error, frames = answer
    if frames:
        _log.info("the judge raised in its process\n%s", frames)
    raise error


def _late(seconds: float) -> DeadlineError:
    return DeadlineError(f"no verdict within {seconds:g} s, the deadline for a verdict")


@contextmanager
def _kept() -> Iterator[Callable[[Any], Any]]:
    """A context that records model calls. Its function adds them to a result; a JudgeError gets them, too."""
    with recorded() as calls:

        def keep(result: Any) -> Any:
            if isinstance(result, Reward | JudgeError):
                result.calls = tuple(calls)
            return result

        try:
            yield keep
        except JudgeError as exc:
            exc.calls = tuple(calls)
            raise


class Asking:
    """Asks `judge` about single outputs and whole groups.

    A judge that computes is called in child processes, because they can be killed. In a thread, a computation inside
    one call of compiled code would stop all other threads, even those that watch the time.

    Args:
        judge: the judge.
        traits: its traits.
        deadline: seconds for one verdict, or for the one call that ranks a group; None for a judge that is not watched.
        max_abandoned: see TimeLimit.
        recipe: how another process makes the same judge; None where only this process has it.
        keep_calls: whether rewards and errors carry the questions to judge models and their replies.
    """

    def __init__(
        self,
        judge: BaseJudge,
        traits: Traits,
        deadline: float | None,
        max_abandoned: int,
        recipe: Settings | None,
        *,
        keep_calls: bool = False,
    ) -> None:
        self._keep_calls = keep_calls
        self._judge = judge
        self._traits = traits
        self._limit: TimeLimit | None = None
        self._processes: JudgingProcesses | None = None
        if deadline is None or traits.bounded:
            return
        self._limit = TimeLimit(traits.name, deadline, max_abandoned)
        if traits.kind == "cpu" and recipe is not None and not traits.in_main:
            self._processes = JudgingProcesses(traits.name, deadline, recipe)

    def unwatched(self) -> Asking:
        """A copy without a deadline, for a process that is killed when its verdict takes too long."""
        other = copy.copy(self)
        other._limit = other._processes = None
        return other

    def _without_calls(self) -> Asking:
        other = copy.copy(self)
        other._keep_calls = False
        return other

    def at_once(self, concurrency: int) -> int:
        """How many rows to ask the judge about at once, `concurrency` where it awaits. More rows would lose time while
        they wait for a process.
        """
        if self._processes is not None:
            return self._processes.most
        return concurrency if self._traits.awaits else loops.THREADS_AT_ONCE

    @property
    def in_loop(self) -> bool:
        """Whether many rows are asked for on an event loop: a judge that awaits, or one that is watched."""
        return self._traits.awaits or self._limit is not None

    def ask(self, task: WorkflowTask, output: WorkflowOutput) -> object:
        """The judge's own answer, for callers that do not await.

        Raises:
            DeadlineError: its time is over.
        """
        if self._keep_calls:
            with _kept() as keep:
                return keep(self._without_calls().ask(task, output))
        judge, limit = self._judge, self._limit
        if limit is None:
            return judge.compute_reward(task, output)
        if (message := self._away(task, output)) is not None:
            return answer_of(message.result())
        if self._traits.awaits and type(judge).compute_reward is BaseJudge.compute_reward:
            return loops.run(limit.awaited(task.task_id, judge.acompute_reward, task, output))
        return limit.call(task.task_id, judge.compute_reward, task, output)

    def aask(self, task: WorkflowTask, output: WorkflowOutput) -> Awaitable[object]:
        """`ask` for callers inside an event loop."""
        if self._limit is None and not self._keep_calls:
            return self._judge.acompute_reward(task, output)
        return self._aasked(task, output, self._limit)

    async def _aasked(self, task: WorkflowTask, output: WorkflowOutput, limit: TimeLimit | None) -> object:
        if self._keep_calls or limit is None:
            with _kept() as keep:
                return keep(await self._without_calls().aask(task, output))
        judge = self._judge
        if (message := self._away(task, output)) is not None:
            return answer_of(await asyncio.wrap_future(message))
        if self._traits.awaits:
            # An environment's connections may belong to the loop that the workflow ran on
            here = task.gym_env is not None
            return await limit.awaited(task.task_id, judge.acompute_reward, task, output, on_this_loop=here)
        return await limit.acall(task.task_id, judge.compute_reward, task, output)

    def rank(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
        """The judge's answer to a group.

        Raises:
            DeadlineError: its time is over.
        """
        if self._keep_calls:
            with _kept() as keep:
                return [keep(one) for one in self._without_calls().rank(task, outputs)]
        call = partial(ranking, self._judge, task, outputs)
        if self._limit is None or not outputs:
            return call()
        if (message := self._away(task, list(outputs))) is not None:
            return list(answer_of(message.result()))
        return self._limit.call(task.task_id, call)

    async def arank(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
        """`rank` for callers inside an event loop."""
        if self._limit is None or self._processes is not None or self._keep_calls:
            return await loops.in_thread(self.rank, task, outputs)
        return await self._limit.acall(task.task_id, ranking, self._judge, task, outputs)

    def _away(self, task: WorkflowTask, about: object) -> Future[bytes] | None:
        """The future message of the process that is asked; None if the judge has to be asked in this process."""
        # A live environment works in this process only
        return None if self._processes is None or task.gym_env is not None else self._processes.ask(task, about)


def ranking(judge: BaseJudge, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Any]:
    """`compute_rewards` as a list: a generator would be read outside of the time limit."""
    return list(judge.compute_rewards(task, list(outputs))) if outputs else []


@dataclass(frozen=True, slots=True)
class Traits:
    """How to call a judge, from its class, from its settings, and from the judges that it asks.

    Attributes:
        name: the class name, for metrics, logs and errors.
        kind: `BaseJudge.judge_kind`: `"cpu"` computes, in processes; `"io"` waits, in the caller's process.
        ranks: `compute_rewards` sees a whole advantage group at once; see `BaseJudge.ranks_groups`.
        awaits: `acompute_reward` is the judge's own, so the event loop that runs it stays free.
        bounded: every verdict ends within a bound of the judge's own; see `BaseJudge.bounds_itself`.
        in_main: the class stands in the main script, where another process does not find it.
    """

    name: str
    kind: Literal["cpu", "io"]
    ranks: bool
    awaits: bool
    bounded: bool
    in_main: bool

    @classmethod
    def of(cls, judge: BaseJudge) -> Traits:
        """The traits of `judge`. For a judge that asks others, `kind`, `awaits` and `in_main` follow from theirs."""
        own = type(judge)
        kind, awaits = own.judge_kind, own.acompute_reward is not BaseJudge.acompute_reward
        in_main = own.__module__ == "__main__"
        if judge.asks:
            asked = [each.traits for each in judge.asks.values()]
            kind = "cpu" if all(traits.kind == "cpu" for traits in asked) else "io"
            awaits = any(traits.awaits for traits in asked)
            in_main = any(traits.in_main for traits in asked)
        return cls(own.__name__, kind, judge.ranks_groups(), awaits, judge.bounds_itself, in_main)

    @property
    def shares_loop(self) -> bool:
        """Whether many units may be judged at once on one event loop: ranking is a call that blocks."""
        return self.awaits and not self.ranks
