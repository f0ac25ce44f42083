"""The server's end of an episode: a process that answers calls, and is killed when an answer is late."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from typing import Any

from agentscope_tuner._child.ask import ChildLost, WallTimeUp, aask
from agentscope_tuner._child.process import ChildProcess, ChildProgram
from agentscope_tuner.env_service.environment import TOKEN_VARIABLE

# Seconds: a killed process ends within milliseconds
_END_SECONDS = 1.0
_LOOK_SECONDS = 0.005


class EpisodeRefusal(Exception):
    """A call that failed: an HTTP status and its detail."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail


class EpisodeLost(EpisodeRefusal):
    """The environment's process is dead, or was killed because it could no longer be trusted. Status 500."""

    def __init__(self, detail: str) -> None:
        super().__init__(500, detail)


class EpisodeProcess:
    """One process with one environment. Not for concurrent calls: the caller holds the instance's lock.

    Raises:
        OSError: no process could be started.
    """

    def __init__(self, protocol: str, *, max_answer_bytes: int) -> None:
        self._child = ChildProcess(
            # Modules of the working directory can be imported, too
            ChildProgram("agentscope_tuner.env_service.episode_worker", [protocol], [os.getcwd(), *sys.path]),
            # An environment is foreign code, and the token gives access to every other episode
            environment={name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE},
            # An environment's prints must not mix with the server's own output
            stdout=2,
            most_bytes=max_answer_bytes,
        )
        self._asking = False
        self._asked = 0

    @classmethod
    async def start(cls, protocol: str, *, max_answer_bytes: int, seconds: float) -> EpisodeProcess:
        """A fresh process that has loaded the environment `protocol`; it is killed for an answer over
        `max_answer_bytes`.

        Raises:
            EpisodeRefusal: the environment cannot be loaded.
            EpisodeLost: the process died, or took longer than `seconds`.
        """
        episode = cls(protocol, max_answer_bytes=max_answer_bytes)
        try:
            await episode._reply("the start", seconds)
        # Also on a cancellation: no other code knows of the process, so it would never end
        except BaseException:
            await episode.kill()
            raise
        return episode

    async def call(self, method: str, *arguments: object, seconds: float) -> Any:
        """The value that the environment's `method` returned.

        Raises:
            EpisodeRefusal: 400, the environment raised, and the episode goes on; 500, its answer breaks the rules for
                environments.
            EpisodeLost: the process died, hung for `seconds`, or wrote too much; it is dead now.
        """
        self._asked += 1
        return await self._reply(method, seconds, {"id": self._asked, "method": method, "arguments": arguments})

    async def _reply(self, what: str, seconds: float, request: dict[str, object] | None = None) -> Any:
        """The data of the worker's next answer, after sending it `request`."""
        question = None if request is None else json.dumps(request).encode("ascii")
        try:
            reply = await self._answer(question, seconds)
        except WallTimeUp as exc:
            await self.kill()
            raise EpisodeLost(f"{what} did not end within {seconds:g} s and the environment was killed") from exc
        except (ChildLost, ValueError, KeyError, TypeError, RecursionError) as exc:
            # The channel ended, or the answer is over the limit, no JSON, or another call's
            how = await self._end()
            raise EpisodeLost(f"{what}: the environment {how}") from exc
        except asyncio.CancelledError:
            # A late answer would be read as the next call's answer
            await self.kill()
            raise
        if "error" in reply:
            raise EpisodeRefusal(500 if reply["broken"] else 400, reply["error"])
        return reply["data"]

    async def _answer(self, question: bytes | None, seconds: float) -> dict[str, Any]:
        self._asking = True
        try:
            reply: dict[str, Any] = json.loads(await aask(self._child, question, wall_seconds=seconds))
        finally:
            self._asking = False
        if reply["id"] != self._asked:
            raise ValueError(f"the answer to call {reply['id']!r} came to call {self._asked}")
        return reply

    async def stop(self, seconds: float) -> None:
        """Lets the environment close for `seconds`, then kills it."""
        with contextlib.suppress(EpisodeRefusal):
            await self.call("close", seconds=seconds)
        await self.kill()

    async def _end(self) -> str:
        """How the process ended; a process that did not end is killed."""
        ended = await self._is_dead_within(_END_SECONDS)
        how = await self.kill()
        return how if ended else "answered what could not be read, and was killed"

    async def kill(self) -> str:
        """Ends the process and its group at once; returns how it ended, in words."""
        self._child.kill()
        if not await self._is_dead_within(_END_SECONDS):
            return "cannot be killed"
        how = self._child.end()
        # A call that waits in another task notices the end, and then closes the channel
        if not self._asking:
            self._child.close()
        return how

    async def _is_dead_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not self._child.is_dead():
            if time.monotonic() > until:
                return False
            await asyncio.sleep(_LOOK_SECONDS)
        return True
