"""One run of the workflow, in a thread and an event loop of its own."""

from __future__ import annotations

import asyncio
import copy
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from agentscope_tuner._run import loops
from agentscope_tuner.env_service import GymEnv
from agentscope_tuner.lab.rollouts.rows import MOST_REASON_CHARS, Played, bounded, check_writable, ending
from agentscope_tuner.lab.rollouts.settings import EnvPlace
from agentscope_tuner.workflow import Task, Workflow, WorkflowOutput, WorkflowTask

logger = logging.getLogger(__name__)

_CLOSE_SECONDS = 5.0
#: Seconds to start a rollout's thread and make its model; neither counts as the rollout's own time.
START_SECONDS = 60.0

P = ParamSpec("P")
T = TypeVar("T")


class Call(Protocol):
    """One recorded call of the model."""

    def to_dict(self) -> dict[str, Any]: ...


class Lender(Protocol):
    """The object that a workflow gets as `model_tuner`. If it has `async def aclose()`, that method is awaited in the
    end.
    """

    @property
    def trajectory(self) -> Sequence[Call]:
        """The recorded calls of trainable roles."""


@dataclass(frozen=True, slots=True)
class Script:
    """The settings that all runs share.

    Attributes:
        workflow: a new workflow is made for each run, because workflows keep state.
        lend: makes the model of one run; called in the run's event loop.
        timeout: seconds that the environment's creation and the workflow may take together.
        place: where each run gets an episode; None without an environment service.
    """

    workflow: Callable[[], Workflow]
    lend: Callable[[], Lender]
    timeout: float
    place: EnvPlace | None = None


class Attempt:
    """One run of the workflow. `play` is called once, in the run's own thread; the other methods from any thread."""

    def __init__(self, script: Script, task: Task) -> None:
        self._script = script
        # Copies, because a workflow may write into its task: other repeats and the judge must not see that
        self._given = task.model_copy(deep=True)
        self._task = WorkflowTask(task=task.model_copy(deep=True))
        self._lender: Lender | None = None
        self._env: GymEnv | None = None
        self._lock = threading.Lock()
        self._given_up = False
        self._started = time.monotonic()
        self._entering = 0.0
        #: Called from the run's thread with the seconds that its next part may take.
        self.on_part: Callable[[float], None] = lambda seconds: None
        self._thread = 0
        self._cancel: Callable[[], object] | None = None
        self._runner = asyncio.Runner()

    def play(self) -> Played:
        """Run the workflow to its end or its timeout; every outcome becomes a `Played`."""
        self._thread = threading.get_ident()
        self._started = time.monotonic()
        self.on_part(self._script.timeout)
        try:
            self._enter()
            self._entering = self._seconds()
            output = self._runner.run(self._execute())
        except _OutOfTime as exc:
            return self._without_output("timed_out", f"no end within {self._script.timeout:g} s", exc.__cause__)
        # the boundary to a user's workflow: it may fail in any way, sys.exit included, and none of them is an answer
        except BaseException as exc:  # noqa: BLE001
            # Not `str(exc)`: the exception's own `__str__` may raise
            return self._without_output("failed", " ".join("".join(traceback.format_exception_only(exc)).split()), exc)
        status, why_not = ending(output)
        if why_not is not None:
            return self._without_output(status, why_not)
        return Played(status, self._judged_task(), output, self._calls(), seconds=self._seconds())

    def close(self) -> None:
        """Cancel the tasks that the workflow left in its loop; never returns when a task refuses to be cancelled."""
        self._runner.close()

    def overdue(self, grace: float) -> Played:
        """The result of a run that did not end when it was cancelled: it blocks, or it ignored the cancellation."""
        frame = sys._current_frames().get(self._thread)
        stack = "".join(traceback.format_stack(frame)) if frame is not None else ""
        limit = f"no end within {self._script.timeout:g} s, nor in the {grace:g} s after it was cancelled: left behind"
        return self._without_output("timed_out", limit, stack=stack)

    def cancel(self) -> None:
        """Cancel the workflow as its timeout would; without effect when it does not run."""
        with self._lock:
            if self._cancel is not None:
                self._cancel()

    def release(self) -> None:
        """Release the environment's episode, best effort: now, or as soon as it is created."""
        with self._lock:
            self._given_up = True
            env, self._env = self._env, None
        if env is not None:
            env.release()

    def _without_output(self, status: str, reason: str, exc: BaseException | None = None, *, stack: str = "") -> Played:
        told = "".join(traceback.format_exception(exc)) if exc is not None else stack
        # The last line of a traceback is its exception. A stack, or an agent's reply, needs the reason after it
        error = told.rstrip() if status == "failed" and told else f"{told}{reason}"
        task, calls, short = self._judged_task(), self._calls(), reason[:MOST_REASON_CHARS]
        return Played(status, task, None, calls, bounded(error), self._seconds(), short)

    def _judged_task(self) -> WorkflowTask:
        """The data set's fields as they were read: else the policy could make a tool change the ground truth."""
        given = {"task": self._given, "task_id": self._given.task_id, "env_type": self._given.env_type}
        # Keep an environment that the workflow brought along: the judge may ask it
        return self._task.model_copy(update=given)

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _calls(self) -> tuple[dict[str, Any], ...]:
        try:
            return tuple(call.to_dict() for call in self._lender.trajectory) if self._lender is not None else ()
        # the boundary to the lender's records: a call under way may be half written
        except Exception as exc:  # noqa: BLE001
            return ({"error": f"the recorded calls cannot be read: {type(exc).__name__}: {exc}"},)

    def _enter(self) -> None:
        if (place := self._script.place) is None:
            return
        env = GymEnv(place.client, place.env_type, self._task.task_id, params=place.params)
        try:
            env.create()
        except BaseException:
            # The answer was lost, but the service may have created the episode
            env.release()
            raise
        with self._lock:
            given_up = self._given_up
            self._env = None if given_up else env
        if given_up:
            env.release()
            raise RuntimeError("given up while its environment was being created")
        self._task.gym_env, self._task.task_env_uuid = env, env.instance_id
        for task in (self._given, self._task.task):
            task.init_messages = task.init_messages or copy.deepcopy(env.state)

    async def _execute(self) -> WorkflowOutput:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        loop.set_default_executor(_DaemonThreads())
        with self._lock:
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        # The first model imports its client, which takes seconds on a busy machine: do not count them as the workflow's
        # time
        self.on_part(START_SECONDS)
        self._lender = self._script.lend()
        left = self._script.timeout - self._entering
        self.on_part(left)
        try:
            return await self._limited(max(0.0, left))
        finally:
            with self._lock:
                self._cancel = None
            await _close(self._lender)

    async def _limited(self, seconds: float) -> WorkflowOutput:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                output = await self._script.workflow().execute(self._task, cast(Any, self._lender))
        except TimeoutError as exc:
            # The workflow's own TimeoutError, unless the limit is over
            if not limit.expired():
                raise
            raise _OutOfTime from exc
        if limit.expired():
            # The workflow returned although it was cancelled: agents then return a polite message, which is no answer
            raise _OutOfTime
        if not isinstance(output, WorkflowOutput):
            raise TypeError(f"execute must return a WorkflowOutput, got {output!r:.200}")
        check_writable(output)
        return output


class _OutOfTime(Exception):
    pass


async def _close(lender: Lender) -> None:
    if (aclose := getattr(lender, "aclose", None)) is None:
        return
    try:
        await asyncio.wait_for(aclose(), _CLOSE_SECONDS)
    except Exception as exc:  # noqa: BLE001  # the rollout is over, and its result stays valid
        logger.warning("the model of a rollout was not closed: %s: %s", type(exc).__name__, exc)


class _DaemonThreads(ThreadPoolExecutor):
    """A daemon thread for each call: a function that a workflow gives to `asyncio.to_thread` may never return, and the
    usual pool's threads would then keep the process from ending.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return loops.start_thread(partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Returns at once, without waiting for the threads."""
