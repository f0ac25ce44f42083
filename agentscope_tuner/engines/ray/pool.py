"""`RayJudge`: one pool of judge actors, which all the workers of a trainer on Ray ask for rewards."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

from agentscope_tuner._run.pool import POLICY
from agentscope_tuner.config import Source, resolve
from agentscope_tuner.engines.ray import enter, own_error, portable, ray_module
from agentscope_tuner.errors import AstunerError, Cause, ConfigError, JudgeError
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import judgement_of
from agentscope_tuner.task_judge.run_log import RunLog
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

Out = TypeVar("Out")


class JudgeActor:
    """The Ray actor of a `RayJudge` pool: it judges rollouts until `drain` has it refuse calls.

    Args:
        config: as `load_judge` takes it.
        directory: the working directory of the process that made the pool.
        digest: the fingerprint of the configuration and the pool's size: an existing pool is used only if it is equal.
        workers: how many actors the pool has.
    """

    def __init__(self, config: dict[str, Any], directory: str, digest: str, workers: int) -> None:
        enter(directory)
        settings = resolve(config)
        self._judge = load_judge(settings)
        self._about = {"digest": digest, "workers": workers}
        # A judge that computes gains nothing from several calls at once
        at_once = 1 if self._judge.traits.kind == "cpu" else settings.task_judge.concurrency
        self._slots = asyncio.Semaphore(at_once)
        self._begun = 0
        self._closed = False
        self._idle = asyncio.Event()
        section = settings.task_judge
        self._log = RunLog(Path(section.log_dir), share=section.log_share) if section.log_dir else None

    async def about(self) -> dict[str, Any]:
        return self._about

    async def compute_reward(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        return await self._in_slot(self._rewarded, task, output)

    async def compute_rewards(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Reward]:
        return await self._in_slot(asyncio.to_thread, self._group_rewarded, task, outputs)

    async def judge(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement:
        return await self._in_slot(self._judged, task, output)

    async def _judged(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement:
        return self._logged(task, [output], [await self._judge.ajudge(task, output)])[0]

    async def _rewarded(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        started = time.perf_counter()
        outcome = await self._judge.aoutcome(task, output)
        self._logged(task, [output], [judgement_of(outcome, started)])
        return self._judge.reward_of(outcome)

    def _group_rewarded(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Reward]:
        started = time.perf_counter()
        outcomes = self._judge.group_outcomes(task, outputs)
        self._logged(task, outputs, [judgement_of(outcome, started) for outcome in outcomes])
        return [self._judge.reward_of(outcome) for outcome in outcomes]

    def _logged(
        self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], judgements: list[Judgement]
    ) -> list[Judgement]:
        if self._log is not None:
            self._log.add([(task, output) for output in outputs], judgements, None)
        return judgements

    async def _in_slot(self, call: Callable[..., Awaitable[Out]], *args: Any) -> Out:
        if self._closed:
            raise JudgeError("the pool of judge actors is shutting down", cause=Cause.WORKER)
        self._begun += 1
        try:
            async with self._slots:
                return await call(*args)
        finally:
            self._begun -= 1
            if not self._begun:
                self._idle.set()

    async def drain(self, timeout: float) -> bool:
        """Refuse new calls from now on, and wait for begun ones, `timeout` seconds at most.

        Returns:
            Whether all begun calls have ended.
        """
        self._closed = True
        if self._begun:
            self._idle.clear()
            with suppress(TimeoutError):  # the method then returns False
                await asyncio.wait_for(self._idle.wait(), timeout)
        if self._log is not None:
            # The actor is killed next, and would lose the rows that still wait to be written
            self._log.close()
        return not self._begun


# Ray repeats every call of a dead actor in the actor that replaces it, and does not say which call killed it. So the
# limit is the one for workers that are lost for reasons outside of the work
_RETRIES = POLICY.losses
_NAMESPACE = "astuner"
# Seconds for an actor's report that its calls have ended, beyond the time of the calls
_ANSWER_SECONDS = 5.0


class RayJudge:
    """A handle of a named pool of judge actors; every worker of a trainer may hold a handle.

    It has the methods of a judge, such as `compute_reward`, and `.remote` calls that do not wait.

    The first process that uses the pool makes it. The pool is detached, so it outlives this process. A handle finds the
    pool by its name, and can be sent to tasks and actors. An actor that dies is started again, and its calls are
    repeated there. Ray must be running in this process: trainers on Ray have called `ray.init`.

        judge = RayJudge("configs/math.yaml", workers=4)
        raw_reward, is_success = judge.compute_reward(task, output)          # waits, as any judge does
        refs = [judge.compute_reward.remote(task, output) for …]             # or does not
        rewards = judge.get(refs)
        judge.shutdown()

    If the configuration names a `log_dir`, each actor writes the rows that it judges to its own files there; a
    relative path begins at the directory in which the pool was made.

    Args:
        config: as `load_judge` takes it; None for a handle of a pool that exists.
        name: the pool's name in the Ray cluster.
        workers: how many actors the pool has.
        num_cpus: the CPUs that each actor requests from Ray; a fraction is enough if the judge mostly waits.
    """

    def __init__(
        self,
        config: Source | None = None,
        *,
        name: str = "astuner-judge",
        workers: int = 1,
        num_cpus: float = 1.0,
    ) -> None:
        self.name = name
        self._config = config
        self._workers = workers
        self._num_cpus = num_cpus
        self._actors: list[_ActorHandle] = []
        self._ended = False
        self.compute_reward: _RemoteMethod[Reward] = _RemoteMethod(self, "compute_reward")
        self.compute_rewards: _RemoteMethod[list[Reward]] = _RemoteMethod(self, "compute_rewards")

    def __reduce__(self) -> tuple[Any, ...]:
        # In another process the handle finds the same pool by its name
        self._pool()
        return _handle_by_name, (self.name,)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """Ask the pool for the reward of one rollout, as `compute_reward`, but without blocking the event loop.

        Raises:
            JudgeError: there is no verdict.
        """
        ray = ray_module()
        try:
            reward: Reward = await self.compute_reward.remote(workflow_task, workflow_output)
        except ray.exceptions.RayError as exc:
            raise _judge_error(exc) from exc
        return reward

    def judge(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Judgement:
        """Judge one rollout and return its `Judgement` in full: status, reward, reason and metrics.

        If the judge raises its own error or its actors die, the status is `failed`; no JudgeError is raised.
        """
        try:
            judgement: Judgement = _RemoteMethod[Judgement](self, "judge")(workflow_task, workflow_output)
        except JudgeError as exc:
            return Judgement.failed(exc)
        return judgement

    def get(self, refs: Any, *, timeout: float | None = None) -> Any:
        """Wait for `.remote` calls and return the result of one ref, or the list of results of a list of refs.

        Raises:
            JudgeError: there is no verdict: the judge raised its own error, its actors died, or the `timeout` in
                seconds is over. `ray.get` would raise Ray's errors in the last two cases.
        """
        ray = ray_module()
        try:
            return ray.get(refs, timeout=timeout)
        except ray.exceptions.RayError as exc:
            raise _judge_error(exc) from exc

    def shutdown(self, timeout: float = 60.0) -> bool:
        """End the pool for all its handles: begun calls may finish, for `timeout` seconds; new calls are refused.

        Returns:
            Whether all begun calls were finished.
        """
        ray = ray_module()
        self._ended = True
        if not ray.is_initialized():
            return True
        try:
            handles = self._actors or [_ActorHandle(actor) for actor in _existing_actors(ray, self.name)]
        except ConfigError:
            # the pool was never made, or another handle ended it
            return True
        ends = time.monotonic() + timeout
        # Wait for this handle's calls before the drain: an actor may begin a call after a `drain` that was sent later
        clean = all(handle.is_idle_by(ends) for handle in handles)
        left = max(ends - time.monotonic(), 0.0)
        drained = [handle.actor.drain.remote(left) for handle in handles]
        ready, late = ray.wait(drained, num_returns=len(drained), timeout=left + _ANSWER_SECONDS)
        clean = clean and not late and all(_is_drained(ray, ref) for ref in ready)
        for handle in handles:
            ray.kill(handle.actor, no_restart=True)
        self._actors = []
        return clean

    def _pool(self) -> list[_ActorHandle]:
        if self._ended:
            # A new pool would be detached, and no handle would end it
            raise JudgeError(f"this RayJudge was shut down: make another for the pool {self.name!r}")
        if not self._actors:
            ray = ray_module()
            if not ray.is_initialized():
                raise ConfigError("RayJudge needs a running Ray: call ray.init(...) first")
            actors = _existing_actors(ray, self.name) if self._config is None else self._new_actors(ray)
            self._actors = [_ActorHandle(actor) for actor in actors]
        return self._actors

    def _new_actors(self, ray: Any) -> list[Any]:
        config = portable(self._config or {})
        digest = sha256(repr((config, self._workers)).encode()).hexdigest()[:12]
        # Load the judge here first: so its ConfigError reaches the caller. Ray would restart broken actors for ever
        load_judge(config)
        lives: dict[str, Any] = {"lifetime": "detached", "max_restarts": -1, "max_task_retries": _RETRIES}
        made = ray.remote(max_concurrency=1000, num_cpus=self._num_cpus, **lives)(JudgeActor)
        actors = [
            made.options(name=f"{self.name}-{index}", namespace=_NAMESPACE, get_if_exists=True).remote(
                config, os.getcwd(), digest, self._workers
            )
            for index in range(self._workers)
        ]
        if any(about["digest"] != digest for about in self.get([actor.about.remote() for actor in actors])):
            way_out = "give this one a name of its own, or shut the other down"
            raise ConfigError(f"a pool {self.name!r} with another configuration or size exists: {way_out}")
        return actors

    def _submit(self, method: str, *args: Any) -> Any:
        # Other handles use the same actors, and we do not see their calls: choose at random among the least busy
        handle = min(self._pool(), key=lambda handle: (handle.under_way, random.random()))
        return handle.call(method, *args)


class _RemoteMethod(Generic[Out]):
    """A method of `RayJudge` that can be called in two ways, as Ray's own methods.

    `judge.compute_reward(…)` waits for the result; `judge.compute_reward.remote(…)` returns a Ray object reference at
    once.
    """

    def __init__(self, judge: RayJudge, method: str) -> None:
        self._judge = judge
        self._method = method

    def __call__(self, workflow_task: WorkflowTask, output: WorkflowOutput | Sequence[WorkflowOutput]) -> Out:
        """Ask an actor and wait for its answer: the reward, rewards or judgement.

        Raises:
            JudgeError: there is no verdict.
        """
        try:
            result: Out = self._judge.get(self.remote(workflow_task, output))
        except JudgeError as exc:
            exc.task_id = exc.task_id or workflow_task.task_id
            raise
        return result

    def remote(self, workflow_task: WorkflowTask, output: WorkflowOutput | Sequence[WorkflowOutput]) -> Any:
        """Ask an actor without waiting; returns a reference for `RayJudge.get`, `ray.get`, `ray.wait` or `await`."""
        return self._judge._submit(self._method, workflow_task, output)


class _ActorHandle:
    """An actor of the pool, and how many unanswered calls of this process it has: the least busy actor is asked."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.under_way = 0
        self._changed = threading.Condition()

    def call(self, method: str, *args: Any) -> Any:
        ref = getattr(self.actor, method).remote(*args)
        # Count only after sending: a call that could not be sent would never end
        self._count(1)
        ref.future().add_done_callback(lambda _: self._count(-1))
        return ref

    def _count(self, change: int) -> None:
        with self._changed:
            self.under_way += change
            self._changed.notify_all()

    def is_idle_by(self, ends: float) -> bool:
        """Wait until no call of this process is unanswered, at most until `time.monotonic()` reaches `ends`.

        Returns:
            Whether all calls have ended.
        """
        with self._changed:
            return self._changed.wait_for(lambda: not self.under_way, max(ends - time.monotonic(), 0.0))


def _handle_by_name(name: str) -> RayJudge:
    return RayJudge(name=name)


def _existing_actors(ray: Any, name: str) -> list[Any]:
    try:
        first = ray.get_actor(f"{name}-0", namespace=_NAMESPACE)
        workers = ray.get(first.about.remote())["workers"]
        return [first, *(ray.get_actor(f"{name}-{index}", namespace=_NAMESPACE) for index in range(1, workers))]
    except (ValueError, ray.exceptions.RayActorError) as exc:
        raise ConfigError(f"there is no pool {name!r}: make it with RayJudge(config, name={name!r})") from exc


def _is_drained(ray: Any, ref: Any) -> bool:
    try:
        return bool(ray.get(ref))
    except ray.exceptions.RayError:
        return False


def _judge_error(exc: BaseException) -> AstunerError:
    """The error to raise for Ray's error: the judge's own error inside it if there is one, else a JudgeError that
    quotes Ray.
    """
    told = f"no judge actor answered: {type(exc).__name__}: {exc}"
    return own_error(exc) or JudgeError(told, cause=Cause.WORKER)
