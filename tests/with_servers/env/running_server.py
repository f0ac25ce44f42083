"""`astuner env serve` as a user runs it: a process, its address read off its first line."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from types import TracebackType
from typing import Self

_COMMAND = [sys.executable, "-c", "from agentscope_tuner.cli import main; main()", "env", "serve"]


class RunningServer:
    """A server process; `with` starts it and ends it as an administrator would, by SIGTERM."""

    def __init__(self, *options: str, port: int = 0, token: str | None = None) -> None:
        environment = dict(os.environ)
        environment.pop("ASTUNER_ENV_TOKEN", None)
        if token is not None:
            environment["ASTUNER_ENV_TOKEN"] = token
        self.process = subprocess.Popen(
            [*_COMMAND, "--port", str(port), *options], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found is None:
            self.kill()
            raise RuntimeError(f"the server did not start: {line!r}")
        self.url, self.port = found.group(), int(found.group(1))

    def kill(self) -> None:
        """The power fails."""
        self.process.send_signal(signal.SIGKILL)
        self.wait()

    def terminate(self) -> None:
        """A polite end, which must come within 20 s."""
        self.process.send_signal(signal.SIGTERM)
        self.wait()

    def wait(self) -> None:
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def workers(self) -> list[int]:
        """The process ids of the worker processes that are alive and were started by this server."""
        return _children(self.process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.terminate()


def alive(pid: int) -> bool:
    """Whether process `pid` still runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except FileNotFoundError:
        return False


def _children(parent: int) -> list[int]:
    children: list[int] = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or not alive(int(entry)):
            continue
        try:
            with open(f"/proc/{entry}/stat") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except FileNotFoundError:
            continue
        if int(fields[1]) == parent:
            children.append(int(entry))
    return children
