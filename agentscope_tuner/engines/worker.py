"""The worker's end of an engine's process: takes batches of units, answers with their results."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import signal
import socket
import time
from typing import Any

from agentscope_tuner.engines import frames
from agentscope_tuner.engines.journal import Journal
from agentscope_tuner.errors import ConfigError

_PIECE = 2**20
# a batch that takes longer than planned is handed back in part: others may be idle, and the rows behind wait for it
SLICE_SECONDS = 0.05


def main(control: int, journal: int, lifeline: int) -> None:
    """Judge until the engine closes the channel. The arguments are inherited descriptors."""
    for descriptor in (control, journal, lifeline):
        os.set_inheritable(descriptor, False)
    _die_with_parent(lifeline)
    # the engine may have been started with it blocked
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # the engine may close the channel at any time
    with socket.socket(fileno=control) as channel, contextlib.suppress(ConnectionError):
        messages = _messages(channel)
        kind, *arguments = next(messages, (None,))
        if kind is None:
            return
        try:
            work = kind(*arguments)
        # boundary: whatever keeps the judge from being built is told to the parent, which raises it
        except BaseException as exc:  # noqa: BLE001
            channel.sendall(frames.encode(str(exc) if isinstance(exc, ConfigError) else f"{type(exc).__name__}: {exc}"))
            return
        channel.sendall(frames.encode(None))
        notes = Journal(journal)
        for batch, units in messages:
            channel.sendall(frames.encode(_judge(work, notes, batch, units)))


def _die_with_parent(lifeline: int) -> None:
    """Have the kernel kill this process and all it started when the other end of `lifeline` closes, as the parent ends.

    Neither a thread that watches nor a signal handler would do: a judge can hold the interpreter for hours.
    """
    fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    try:
        parent_is_gone = os.read(lifeline, 1) == b""
    except BlockingIOError:
        parent_is_gone = False
    if parent_is_gone:
        os._exit(0)


def _messages(channel: socket.socket) -> Any:
    decoder = frames.Decoder()
    while piece := channel.recv(_PIECE):
        yield from decoder.feed(piece)


def _judge(work: Any, notes: Journal, batch: int, units: list[bytes]) -> tuple[int, float, list[bytes]]:
    """The batch's number, the seconds spent, and the results of as many of its units as fit into a slice of time."""
    notes.begin(batch)
    results: list[bytes] = []
    started = now = time.monotonic()
    for unit in units:
        result = _result(work, unit)
        notes.add(result)
        results.append(result)
        now = time.monotonic()
        if now - started > SLICE_SECONDS:
            break
    return batch, now - started, results


def _result(work: Any, unit: bytes) -> bytes:
    """A pickled list of results, or a pickled text that says why there is none."""
    try:
        return pickle.dumps(work.judge_packed(pickle.loads(unit)), pickle.HIGHEST_PROTOCOL)
    # boundary: what a row does to its judge fails that row, and the worker goes on
    except BaseException as exc:  # noqa: BLE001
        return pickle.dumps(f"{type(exc).__name__} in a worker process: {exc}")
