"""Run a command with a small model beside it: `python -m tutorial.with_local_model -- COMMAND…`.

`astuner llm serve` is started on a free port of 127.0.0.1; once it answers, COMMAND runs with ASTUNER_BASE_URL set to
its address, and the server ends with it. Where ASTUNER_BASE_URL is set already, COMMAND runs against that endpoint and
nothing is served. The exit code is COMMAND's.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO

import httpx

VARIABLE = "ASTUNER_BASE_URL"
LLM_SERVE = (
    sys.executable,
    "-c",
    "from agentscope_tuner.cli import main; main()",
    *("llm", "serve", "--port", "0"),
)
# loading takes about a second; on a machine with other work some more
START_SECONDS = 120.0
STOP_SECONDS = 10.0
# what a shell answers for a command that it cannot run, or that is not there
NOT_RUNNABLE, NOT_FOUND = 126, 127
# its address may stand between the escape sequences of a coloured line
_ADDRESS = re.compile(r"http://[\w.:\[\]-]+/v1")


class ServerError(Exception):
    """The model server did not come up; the message says how it ended."""


class Signals:
    """SIGINT, SIGTERM and SIGHUP: noted, and handed on to the command once there is one.

    Nothing is raised: whoever waits looks at `received`, so that no process is lost between its start and its name.
    """

    HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.received: int | None = None
        self._command: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Signals:
        self._before = {number: signal.signal(number, self._receive) for number in self.HANDLED}
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = number
        self._hand_on(number)

    def _hand_on(self, number: int) -> None:
        if self._command is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._command.pid, number)

    def wait_for(self, command: subprocess.Popen[bytes]) -> int:
        """The command's exit code as a shell gives it: 128 and the signal's number when a signal ended it."""
        self._command = command
        if self.received is not None:
            self._hand_on(self.received)
        code = command.wait()
        self._command = None
        return code if code >= 0 else 128 - code


@contextmanager
def served_model(signals: Signals, server: Sequence[str] = LLM_SERVE) -> Iterator[str]:
    """The base URL of a model server, which is ended with the block.

    Args:
        signals: one that arrives ends the waiting.
        server: its command; it prints its address, `http://…/v1`, and answers `/v1/models` when it is ready.

    Raises:
        ServerError: it ended, or did not answer in `START_SECONDS`, or a signal arrived first.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        # a session of its own: Ctrl-C must end the command first, which still needs its model to end well
        process = subprocess.Popen(server, stdout=said, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            yield _address(process, said, signals)
            if process.poll() is not None:
                _say(f"the model server ended meanwhile with exit code {process.returncode}")
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[bytes], said: IO[str], signals: Signals) -> str:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and signals.received is None:
        # before the file is read: what it said as it ended is then in the file
        ended = process.poll()
        said.seek(0)
        text = said.read()
        if ended is not None:
            raise ServerError(f"the model server ended with exit code {ended} before it answered. {text}".rstrip())
        found = _ADDRESS.search(text)
        if found is not None and _answers(found.group()):
            return found.group()
        time.sleep(0.05)
    if signals.received is not None:
        raise ServerError(f"stopped by {signal.Signals(signals.received).name} before the model server answered")
    raise ServerError(f"the model server did not answer within {START_SECONDS:g} seconds")


def _answers(base_url: str) -> bool:
    try:
        # no proxy of the environment stands between this machine and itself
        return httpx.get(f"{base_url}/models", timeout=5, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def run(command: Sequence[str], server: Sequence[str] = LLM_SERVE) -> int:
    """Run `command` with a model beside it; its exit code, or 1 when there is no model."""
    with Signals() as signals:
        try:
            with served_model(signals, server) as base_url:
                # here too: however a signal arrives, it reaches the command once, through `signals`
                environment = {**os.environ, VARIABLE: base_url}
                return signals.wait_for(subprocess.Popen(command, env=environment, start_new_session=True))
        except ServerError as exc:
            _say(str(exc))
            return 1 if signals.received is None else 128 + signals.received


def _say(message: str) -> None:
    print(f"with_local_model: {message}", file=sys.stderr, flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tutorial.with_local_model", description=__doc__)
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="what to run, after --")
    command: list[str] = parser.parse_args().command
    try:
        if os.environ.get(VARIABLE):
            os.execvp(command[0], command)
        sys.exit(run(command))
    except FileNotFoundError as exc:
        _say(f"no such command: {exc}")
        sys.exit(NOT_FOUND)
    except PermissionError as exc:
        _say(f"cannot run the command: {exc}")
        sys.exit(NOT_RUNNABLE)


if __name__ == "__main__":
    main()
