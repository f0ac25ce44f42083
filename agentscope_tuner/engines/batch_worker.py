"""An engine's worker: a child process that takes batches of units, and answers with their results."""

from __future__ import annotations

import pickle
import time
from typing import Any

from agentscope_tuner._child.entry import ParentChannel
from agentscope_tuner._child.journal import ResultJournal
from agentscope_tuner.errors import ConfigError

# A batch that takes longer than planned is handed back in part: other workers may be idle, and rows wait behind it.
SLICE_SECONDS = 0.05


def main(channel: ParentChannel, journal: int) -> None:
    """Judge until the engine closes the channel.

    Args:
        channel: brings a recipe (`Work.recipe`) and then batches; takes None once the work is made, or a text that says
            why it cannot be, and then the answers. All of them are pickles: both ends are one program under one user.
        journal: the descriptor to note results in.
    """
    messages = iter(channel)
    recipe = next(messages, None)
    if recipe is None:
        return
    try:
        kind, *arguments = pickle.loads(recipe)
        work = kind(*arguments)
    # boundary: whatever keeps the judge from being built is told to the parent, which raises it
    except BaseException as exc:  # noqa: BLE001
        channel.send(_pickled(str(exc) if isinstance(exc, ConfigError) else f"{type(exc).__name__}: {exc}"))
        return
    channel.send(_pickled(None))
    notes = ResultJournal(journal)
    for message in messages:
        batch, units = pickle.loads(message)
        channel.send(_pickled(_judge(work, notes, batch, units)))


def _pickled(message: object) -> bytes:
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def _judge(work: Any, notes: ResultJournal, batch: int, units: list[bytes]) -> tuple[int, float, list[bytes]]:
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
        return _pickled(work.judge_packed(pickle.loads(unit)))
    # boundary: an error while a row is judged fails that row, and the worker goes on
    except BaseException as exc:  # noqa: BLE001
        return _pickled(f"{type(exc).__name__} in a worker process: {exc}")
