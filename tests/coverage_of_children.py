"""For `make coverage` alone: a pytest plugin that has the package's child processes measured.

`coverage` measures a child that Python's `site` starts it in, and writes what it saw when the child exits by itself.
Isolated children have no `site`, and all are killed once they are not needed.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence

from agentscope_tuner._child import process
from agentscope_tuner._child.process import ChildProcess, ChildProgram

# for a child to write its data; one that hangs is killed then
PATIENCE = 3.0

_command, _kill = ChildProgram.command, ChildProcess.kill


def with_site(program: ChildProgram, descriptors: Sequence[int]) -> list[str]:
    """The child's command line without `-S`."""
    return [word for word in _command(program, descriptors) if word != "-S"]


def kill_in_time(child: ChildProcess) -> None:
    """Close the channel, at whose end a child exits, and kill what is still there after a while."""
    with contextlib.suppress(OSError):
        child.channel.shutdown(socket.SHUT_RDWR)
    until = time.monotonic() + PATIENCE
    while not child.is_dead() and time.monotonic() < until:
        time.sleep(0.005)
    _kill(child)


def pytest_configure() -> None:
    """Put both in the place of the package's own."""
    setattr(ChildProgram, "command", with_site)  # noqa: B010 - mypy would not let a method be assigned to
    setattr(ChildProcess, "kill", kill_in_time)  # noqa: B010


def pytest_sessionfinish() -> None:
    """The kernel would kill them at the end of this process."""
    for child in list(process._LIVE):
        child.kill()
