"""The server's end of a worker: a process that is asked, and killed when it is late."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from typing import Any

from agentscope_tuner.env_service.environment import TOKEN_VARIABLE

# a killed process is gone in milliseconds
_END_SECONDS = 1.0


class Refusal(Exception):
    """An answer that is no success: an HTTP status and its detail."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail


class WorkerLost(Refusal):
    """The worker is dead, or was killed since it could not be trusted any more. Status 500."""

    def __init__(self, detail: str) -> None:
        super().__init__(500, detail)


class WorkerProcess:
    """One worker. Not for concurrent calls: the caller holds the instance's lock."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._killed = False
        self._asked = 0

    @classmethod
    async def start(cls, protocol: str, *, max_line_bytes: int, seconds: float) -> WorkerProcess:
        """A fresh process that has loaded the environment `protocol`. An answer over `max_line_bytes` will be its end.

        Raises:
            Refusal: the environment cannot be loaded.
            WorkerLost: it died, or took longer than `seconds`.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "agentscope_tuner.env_service.worker",
            protocol,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=max_line_bytes,
            # a group of its own: what an environment starts is killed with it, and Ctrl-C is the server's to handle
            start_new_session=True,
            # an environment is foreign code, and the token opens every other episode
            env={name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE},
        )
        worker = cls(process)
        try:
            await worker._reply("the start", seconds)
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def call(self, method: str, *arguments: object, seconds: float) -> Any:
        """What the environment's `method` returned.

        Raises:
            Refusal: 400, the environment raised, and goes on; 500, it answered what no environment may.
            WorkerLost: it died, hung for `seconds`, or wrote too much; it is dead now.
        """
        self._asked += 1
        return await self._reply(method, seconds, {"id": self._asked, "method": method, "arguments": arguments})

    async def _reply(self, what: str, seconds: float, request: dict[str, object] | None = None) -> Any:
        """The data of the worker's next line, after sending it `request`."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            async with asyncio.timeout(seconds):
                if request is not None:
                    stdin.write(json.dumps(request).encode("ascii") + b"\n")
                    await stdin.drain()
                line = await stdout.readline()
            reply = json.loads(line)
            if reply["id"] != self._asked:
                raise ValueError(f"the answer to call {reply['id']!r} came to call {self._asked}")
        except TimeoutError as exc:
            await self.kill()
            raise WorkerLost(f"{what} did not end within {seconds:g} s and the environment was killed") from exc
        except (ConnectionError, ValueError, KeyError, TypeError) as exc:
            # an empty line at the end of the pipe, a line over the limit, half a line, or another call's answer
            how = await self._end()
            raise WorkerLost(f"{what}: the environment {how}") from exc
        except asyncio.CancelledError:
            # its answer would be read as the next call's
            await self.kill()
            raise
        if "error" in reply:
            raise Refusal(500 if reply["broken"] else 400, reply["error"])
        return reply["data"]

    async def stop(self, seconds: float) -> None:
        """Lets the environment close for `seconds`, then kills it."""
        with contextlib.suppress(Refusal):
            await self.call("close", seconds=seconds)
        await self.kill()

    async def _end(self) -> str:
        """How the process ended; one that did not is killed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
        code = self._process.returncode
        await self.kill()
        if code is None:
            return "answered what could not be read, and was killed"
        return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    async def kill(self) -> None:
        """Ends the process and all it started, at once."""
        if not self._killed:
            # once: its number may be another's later
            self._killed = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
                return
        # a child that left the group holds the pipe, whose end asyncio waits for: the server goes on without
        self._process._transport.close()  # type: ignore[attr-defined]
