"""The episodes of the reference server: each is played in a process of its own, which is killed if an answer is late.

There are limits on the number of episodes, the seconds of a call, the bytes of an answer, and the seconds that an
episode may be without calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentscope_tuner._http import check_number
from agentscope_tuner._run.child import ChildProgram
from agentscope_tuner._run.pool import PoolQuestion, QuestionPool, WallTimeUp, Worker, WorkerLost
from agentscope_tuner.env_service.environment import TOKEN_VARIABLE


class EpisodeRefusal(Exception):
    """A call failed, and is answered with the HTTP status `status` and the text `detail`."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail


class EpisodeLost(EpisodeRefusal):
    """The environment's process is dead, or was killed because it could no longer be trusted. Status 500."""

    def __init__(self, detail: str) -> None:
        super().__init__(500, detail)


@dataclass(eq=False, slots=True)
class _Call(PoolQuestion):
    """A call of an environment's method, or the wait for its start.

    Attributes:
        what: the method's name, for messages.
    """

    what: str = "the start"


class EpisodeProcess(QuestionPool[Worker[_Call], _Call]):
    """The process that plays one episode, with one call at a time.

    It is a pool of one worker, which is not replaced when it dies: the state of the episode is lost with it.

    Args:
        protocol: the environment's class, as `module->Class`.
        max_answer_bytes: the process is killed for a longer answer.
        seconds: how long the process may take to start.
    """

    def __init__(self, protocol: str, *, max_answer_bytes: int, seconds: float) -> None:
        super().__init__(1, repeats=False)
        self.start_seconds = seconds
        # Modules of the working directory can be imported, too
        path = [os.getcwd(), *sys.path]
        self._program = ChildProgram("agentscope_tuner.env_service.episode_worker", [protocol], path)
        self._max_answer_bytes = max_answer_bytes
        self._loss: WorkerLost | None = None
        self._asked = 0

    async def load(self) -> None:
        """Start the process and wait until it has loaded the environment.

        Raises:
            EpisodeRefusal: the environment cannot be loaded.
            EpisodeLost: the process died, or took too long.
        """
        await self._answer(_Call(None))

    async def call(self, method: str, *arguments: object, seconds: float) -> Any:
        """Call the environment's `method` in the process, and return its result.

        Raises:
            EpisodeRefusal: 400, the environment raised, and the episode goes on; 500, its answer breaks the rules for
                environments.
            EpisodeLost: the process died, hung for `seconds`, or wrote too much; it is dead now.
        """
        self._asked += 1
        request = {"id": self._asked, "method": method, "arguments": arguments}
        message = await self._answer(_Call(json.dumps(request).encode("ascii"), what=method, limit=seconds))
        try:
            return _data(message, self._asked)
        except _UNREADABLE as exc:
            await self.aclose()
            raise EpisodeLost(f"{method}: the environment {_UNREAD}") from exc

    async def _answer(self, call: _Call) -> Any:
        try:
            return await asyncio.wrap_future(self.ask(call))
        # A late answer would be read as the next call's answer, and a process without a caller would never end
        except asyncio.CancelledError:
            await self.aclose()
            raise

    async def stop(self, seconds: float) -> None:
        """End the process: call the environment's `close`, for at most `seconds`, then kill what is left."""
        with contextlib.suppress(EpisodeRefusal):
            await self.call("close", seconds=seconds)
        await self.aclose()

    # The methods of Pool and QuestionPool that say how this worker is started and lost

    def start(self) -> Worker[_Call]:
        return Worker(
            self._program,
            # An environment is foreign code, and the token gives access to every other episode
            environment={name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE},
            # An environment's prints must not mix with the server's own output
            stdout=2,
            most_bytes=self._max_answer_bytes,
        )

    def start_worker(self) -> bool:
        # The environment's state is lost with its process: a new process could not continue the episode
        if self._loss is not None:
            self.fail(EpisodeLost(f"the environment {self._loss.how}"))
        return not self._attending and self._loss is None and super().start_worker()

    def started(self, worker: Worker[_Call], message: bytes) -> None:
        try:
            _data(message, 0)
        except _UNREADABLE as exc:
            raise EpisodeLost(f"the start: the environment {_UNREAD}") from exc

    def lost(self, worker: Worker[_Call], loss: WorkerLost) -> None:
        self._loss = loss
        super().lost(worker, loss)

    def cannot_start(self, times: int, loss: WorkerLost) -> Exception:
        return self.given_up(_Call(None, limit=self.start_seconds), loss)

    def given_up(self, question: _Call, loss: WorkerLost) -> EpisodeLost:
        if isinstance(loss, WallTimeUp):
            late = f"did not end within {question.limit:g} s and the environment was killed"
            return EpisodeLost(f"{question.what} {late}")
        return EpisodeLost(f"{question.what}: the environment {loss.how}")


_UNREAD = "answered what could not be read, and was killed"
_UNREADABLE = (ValueError, KeyError, TypeError, RecursionError)


def _data(message: bytes, number: int) -> Any:
    """The `data` in the process's answer to the call with id `number`.

    Raises:
        EpisodeRefusal: the answer is an error.
        ValueError: the answer cannot be read, or is for a different call; also KeyError, TypeError, RecursionError.
    """
    reply = json.loads(message)
    if reply["id"] != number:
        raise ValueError(f"the answer to call {reply['id']!r} came to call {number}")
    if "error" in reply:
        raise EpisodeRefusal(500 if reply["broken"] else 400, reply["error"])
    return reply["data"]


logger = logging.getLogger(__name__)

# An answer may quote the whole request and add its own text
_ANSWER_FACTOR = 4


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of the reference server.

    Attributes:
        max_instances: the most episodes at once; a further create is answered 429.
        idle_seconds: an episode without a call for so many seconds is ended.
        call_seconds: an environment that takes longer for one call is killed.
        max_body_bytes: a longer request is answered 413; an environment that answers four times as much is killed.
    """

    max_instances: int = 256
    idle_seconds: float = 1800.0
    call_seconds: float = 60.0
    max_body_bytes: int = 1024 * 1024

    def __post_init__(self) -> None:
        for name in ("max_instances", "idle_seconds", "call_seconds", "max_body_bytes"):
            check_number(name, getattr(self, name))


@dataclass(slots=True)
class _Instance:
    """An episode in the server's table. Its calls are made one at a time, in the order of arrival, under `turn`.

    Attributes:
        instance_id: the episode's id.
        turn: held during a call.
        worker: the process; None while it starts.
        last_used: the end of the last call, by `time.monotonic`.
    """

    instance_id: str
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    worker: EpisodeProcess | None = None
    last_used: float = field(default_factory=time.monotonic)


class Instances:
    """All episodes of the reference server, by id: it creates, calls and ends them, within the limits.

    Args:
        protocols: the environments' classes (`module->Class`) by `env_type`.
        limits: the server's limits.
    """

    def __init__(self, protocols: Mapping[str, str], limits: ServerLimits) -> None:
        self._protocols = protocols
        self._limits = limits
        self._table: dict[str, _Instance] = {}
        # Starting Python keeps a processor busy, so more starts at once than processors would delay all of them
        self._starts = asyncio.Semaphore(os.cpu_count() or 1)
        self._profiles = asyncio.Semaphore(os.cpu_count() or 1)

    async def create(
        self, env_type: str, task_id: str, instance_id: str | None, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Start an episode and return its first state, for the answer.

        If `instance_id` is the id of a running episode, that episode is ended first; without one, a new id is made.

        Raises:
            EpisodeRefusal: the environment is unknown, there are too many episodes, or the environment refused the
                task.
        """
        protocol = self._protocol(env_type)
        instance_id = instance_id or uuid.uuid4().hex
        # Repeat: while an old process is being stopped, another create may use this id
        while await self.release(instance_id):
            pass
        if len(self._table) >= self._limits.max_instances:
            raise EpisodeRefusal(429, f"{len(self._table)} instances are under way, no more are allowed: release some")
        instance = self._table[instance_id] = _Instance(instance_id)
        try:
            async with instance.turn:
                instance.worker = await self._start(protocol)
                # the instance may have been released, or created anew, while the process started
                self._check_current(instance)
                data: dict[str, Any] = await self._ask(instance, "create", task_id, instance_id, params)
                instance.last_used = time.monotonic()
        # Also when the client disconnected: it never got the instance's id, so it cannot release the instance
        except BaseException:
            await self._drop(instance)
            raise
        return data | {"info": {**(data.get("info") or {}), "instance_id": instance_id, "task_id": task_id}}

    async def call(self, instance_id: str, method: str, messages: Mapping[str, Any], params: Mapping[str, Any]) -> Any:
        """Call `step`, `evaluate` or `get_info` of an episode's environment, and return the result.

        `messages` is the first argument of the method: for `step`, the policy's chat message.

        Raises:
            EpisodeRefusal: the instance is unknown, the environment raised, or the episode was lost during the call.
        """
        if (instance := self._table.get(instance_id)) is None:
            raise _unknown(instance_id)
        async with instance.turn:
            self._check_current(instance)
            try:
                return await self._ask(instance, method, messages, params)
            except (EpisodeLost, asyncio.CancelledError):
                await self._drop(instance)
                raise
            finally:
                instance.last_used = time.monotonic()

    async def release(self, instance_id: str) -> bool:
        """End an episode, even during a call; False if there is no episode of this id."""
        if (instance := self._table.pop(instance_id, None)) is None:
            return False
        if instance.worker is not None:
            if instance.turn.locked():
                await instance.worker.aclose()
            else:
                async with instance.turn:
                    await instance.worker.stop(min(5.0, self._limits.call_seconds))
        return True

    async def profile(self, env_type: str, split: str, params: Mapping[str, Any]) -> Any:
        """The ids of an environment's tasks in `split`, which a process started for this call alone reports."""
        protocol = self._protocol(env_type)
        async with self._profiles:
            worker = await self._start(protocol)
        # Ask outside the semaphore: an environment that answers slowly must not delay other starts
        try:
            return await worker.call("get_env_profile", split, params, seconds=self._limits.call_seconds)
        finally:
            await worker.aclose()

    async def expire(self) -> None:
        """End idle episodes again and again, in an endless loop; the server runs it as a task."""
        while True:
            await asyncio.sleep(min(30.0, self._limits.idle_seconds / 4))
            oldest = time.monotonic() - self._limits.idle_seconds
            idle = [one for one in self._table.values() if one.last_used < oldest and not one.turn.locked()]
            for instance in idle:
                logger.warning("instance %r was idle and is released", instance.instance_id)
                await self.release(instance.instance_id)

    async def close(self) -> None:
        """End all episodes."""
        await asyncio.gather(*(self.release(instance_id) for instance_id in list(self._table)))

    def _protocol(self, env_type: str) -> str:
        try:
            return self._protocols[env_type]
        except KeyError:
            raise EpisodeRefusal(400, f"env_type must be one of {sorted(self._protocols)}, got {env_type!r}") from None

    async def _start(self, protocol: str) -> EpisodeProcess:
        async with self._starts:
            most, seconds = _ANSWER_FACTOR * self._limits.max_body_bytes, self._limits.call_seconds
            episode = EpisodeProcess(protocol, max_answer_bytes=most, seconds=seconds)
            await episode.load()
            return episode

    async def _ask(self, instance: _Instance, method: str, *arguments: object) -> Any:
        assert instance.worker is not None
        return await instance.worker.call(method, *arguments, seconds=self._limits.call_seconds)

    def _check_current(self, instance: _Instance) -> None:
        if self._table.get(instance.instance_id) is not instance:
            raise _unknown(instance.instance_id)

    async def _drop(self, instance: _Instance) -> None:
        """Remove an episode that cannot go on, and end its process."""
        if self._table.get(instance.instance_id) is instance:
            del self._table[instance.instance_id]
        if instance.worker is not None:
            await instance.worker.aclose()


def _unknown(instance_id: str) -> EpisodeRefusal:
    return EpisodeRefusal(400, f"Instance {instance_id} not found!")
