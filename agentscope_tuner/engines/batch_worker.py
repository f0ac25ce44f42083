"""An engine's worker: a child process that takes batches of blocks, and answers with their results."""

from __future__ import annotations

import gc
import pickle
import time
from itertools import accumulate
from typing import Any

from agentscope_tuner._run.channel import ResultJournal, Slots
from agentscope_tuner._run.child_entry import ParentChannel
from agentscope_tuner.engines.crew import SLICE_SECONDS
from agentscope_tuner.errors import ConfigError

#: How many steps of a block are done, whether these are all, and its results, or a text that says why there are none.
Part = tuple[int, bool, Any]


def main(channel: ParentChannel, journal: int, given: list[int], answers: list[int]) -> None:
    """Judge until the engine closes the channel.

    Args:
        channel: brings a recipe (`Work.recipe`), then the number of each batch and the sizes of its blocks; takes None
            once the work is made, or a text that says why it cannot be, then the number of each batch and the size of
            its answer. All of them are pickles: both ends are one program under one user.
        journal: the descriptor to note results in.
        given: the descriptors of the slots that bring batches.
        answers: the descriptors of the slots that take the answers.
    """
    messages = iter(channel)
    recipe = next(messages, None)
    if recipe is None:
        return
    # The judge's objects live until the exit: exempt them from garbage collection
    gc.disable()
    try:
        kind, *arguments = pickle.loads(recipe)
        work = kind(*arguments)
    # boundary: any error that keeps the judge from being built goes to the parent, which raises it
    except BaseException as exc:  # noqa: BLE001
        channel.send(_pickled(str(exc) if isinstance(exc, ConfigError) else f"{type(exc).__name__}: {exc}"))
        return
    gc.freeze()
    gc.enable()
    channel.send(_pickled(None))
    notes, batches, answered = ResultJournal(journal), Slots(given), Slots(answers)
    for message in messages:
        batch, sizes = pickle.loads(message)
        answer = _pickled(_judge(work, notes, batch, _blocks(batches.get(batch, sum(sizes)), sizes)))
        answered.put(batch, answer)
        channel.send(_pickled((batch, len(answer))))


def _blocks(data: bytes, sizes: list[int]) -> list[memoryview]:
    whole, ends = memoryview(data), list(accumulate(sizes))
    return [whole[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def _pickled(message: object) -> bytes:
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def _judge(work: Any, notes: ResultJournal, batch: int, blocks: list[memoryview]) -> tuple[int, float, list[Part]]:
    """The batch's number, the seconds spent, and the outcome of each block that was begun within the slice of time."""
    notes.begin(batch)
    parts: list[Part] = []
    started = now = time.monotonic()
    for block in blocks:
        steps, whole = 0, True
        try:
            answer = work.answer(pickle.loads(block))
            for note in answer:
                notes.add(note)
                steps += 1
                now = time.monotonic()
                if now - started > SLICE_SECONDS:
                    whole = False
                    break
            parts.append((steps, whole, answer.packed()))
        # boundary: an error while a block is judged fails that block, and the worker goes on
        except BaseException as exc:  # noqa: BLE001
            parts.append((steps, True, f"{type(exc).__name__} in a worker process: {exc}"))
            notes.add(_pickled(parts[-1][2]))
        now = time.monotonic()
        if now - started > SLICE_SECONDS:
            break
    return batch, now - started, parts
