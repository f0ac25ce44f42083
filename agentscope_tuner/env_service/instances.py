"""The running episodes of a server: a worker process for each, with limits on their number and idle time."""

from __future__ import annotations

import asyncio
import logging
import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentscope_tuner.env_service.episode_process import EpisodeLost, EpisodeProcess, EpisodeRefusal
from agentscope_tuner.errors import ConfigError

logger = logging.getLogger(__name__)

# An answer may quote the whole request and add its own text
_ANSWER_FACTOR = 4


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of a server.

    Attributes:
        max_instances: episodes under way at once; a further create is answered 429.
        idle_seconds: an episode without a call for so long is released.
        call_seconds: an environment that takes longer over one call is killed.
        max_body_bytes: a longer request is answered 413; an environment that answers four times as much is killed.
    """

    max_instances: int = 256
    idle_seconds: float = 1800.0
    call_seconds: float = 60.0
    max_body_bytes: int = 1024 * 1024

    def __post_init__(self) -> None:
        for name in ("max_instances", "idle_seconds", "call_seconds", "max_body_bytes"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)!r}")


@dataclass(slots=True)
class _Instance:
    """An episode; `worker` is None while its process starts. One call at a time, in the order of arrival."""

    instance_id: str
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    worker: EpisodeProcess | None = None
    last_used: float = field(default_factory=time.monotonic)


class Instances:
    """All episodes of a server.

    Args:
        protocols: `module->Class` by `env_type`.
        limits: what is allowed.
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
        """Starts an episode and returns its first state. A known id gets a fresh episode.

        Raises:
            EpisodeRefusal: unknown environment, no room, or the environment refused the task.
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
        """The result of the environment's `step`, `evaluate` or `get_info`.

        Raises:
            EpisodeRefusal: the instance is unknown, the environment raised, or the episode was lost during the call.
        """
        instance = self._table.get(instance_id)
        if instance is None:
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
        """Ends an episode, even during a call; False when there is no such episode."""
        instance = self._table.pop(instance_id, None)
        if instance is None:
            return False
        if instance.worker is not None:
            if instance.turn.locked():
                await instance.worker.kill()
            else:
                async with instance.turn:
                    await instance.worker.stop(min(5.0, self._limits.call_seconds))
        return True

    async def profile(self, env_type: str, split: str, params: Mapping[str, Any]) -> Any:
        """The ids of an environment's tasks, from a separate process."""
        protocol = self._protocol(env_type)
        async with self._profiles:
            worker = await self._start(protocol)
        # Ask outside the semaphore: an environment that answers slowly must not delay other starts
        try:
            return await worker.call("get_env_profile", split, params, seconds=self._limits.call_seconds)
        finally:
            await worker.kill()

    async def expire(self) -> None:
        """Releases idle episodes in an endless loop; the server runs it as a task."""
        while True:
            await asyncio.sleep(min(30.0, self._limits.idle_seconds / 4))
            oldest = time.monotonic() - self._limits.idle_seconds
            idle = [one for one in self._table.values() if one.last_used < oldest and not one.turn.locked()]
            for instance in idle:
                logger.warning("instance %r was idle and is released", instance.instance_id)
                await self.release(instance.instance_id)

    async def close(self) -> None:
        """Ends all episodes."""
        await asyncio.gather(*(self.release(instance_id) for instance_id in list(self._table)))

    def _protocol(self, env_type: str) -> str:
        try:
            return self._protocols[env_type]
        except KeyError:
            raise EpisodeRefusal(400, f"env_type must be one of {sorted(self._protocols)}, got {env_type!r}") from None

    async def _start(self, protocol: str) -> EpisodeProcess:
        async with self._starts:
            limits = self._limits
            return await EpisodeProcess.start(
                protocol, max_answer_bytes=_ANSWER_FACTOR * limits.max_body_bytes, seconds=limits.call_seconds
            )

    async def _ask(self, instance: _Instance, method: str, *arguments: object) -> Any:
        assert instance.worker is not None
        return await instance.worker.call(method, *arguments, seconds=self._limits.call_seconds)

    def _check_current(self, instance: _Instance) -> None:
        if self._table.get(instance.instance_id) is not instance:
            raise _unknown(instance.instance_id)

    async def _drop(self, instance: _Instance) -> None:
        """Forgets an episode that cannot go on."""
        if self._table.get(instance.instance_id) is instance:
            del self._table[instance.instance_id]
        if instance.worker is not None:
            await instance.worker.kill()


def _unknown(instance_id: str) -> EpisodeRefusal:
    return EpisodeRefusal(400, f"Instance {instance_id} not found!")
