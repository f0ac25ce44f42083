"""A process that runs rollouts for its parent: it receives tasks and sends the rows of whole groups."""

from __future__ import annotations

import dataclasses
import gc
import json
import pickle
import threading
from collections.abc import Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from agentscope_tuner._run.channel import ParentChannel
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.rollouts.attempt import Script
from agentscope_tuner.lab.rollouts.readers import open_place
from agentscope_tuner.lab.rollouts.rows import RolloutRow
from agentscope_tuner.lab.rollouts.runner import RolloutRunner
from agentscope_tuner.lab.rollouts.settings import load_settings
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput


def main(channel: ParentChannel) -> None:
    """Run rollouts until the parent closes the channel, or says to stop.

    Args:
        channel: brings the recipe (the configuration, what makes the lender, rollouts at once), then
            `(task, rows of an earlier run by their place)`, and None to stop. Takes `("ready", None)` or
            `("broken", why)`, then `("rows", rows)` for each group, and last `("ended", workflows left behind)`. All of
            them are pickles: both ends are one program under one user.
    """
    messages = iter(channel)
    recipe = next(messages, None)
    if recipe is None:
        return
    try:
        config, make_lender, places = pickle.loads(recipe)
        settings, judge = load_settings(config), load_judge(config)
        lend = make_lender(settings)
    # boundary: any error that keeps the rollouts from starting goes to the parent, which raises it
    except BaseException as exc:  # noqa: BLE001
        told = str(exc) if isinstance(exc, ConfigError) else f"{type(exc).__name__}: {exc}"
        channel.send(pickle.dumps(("broken", told)))
        return
    # Exempt all loaded objects from garbage collection: to scan them stopped every rollout at once
    gc.freeze()
    channel.send(pickle.dumps(("ready", None)))
    wanted, handed = settings.rollout, _Handed(messages)
    with open_place(settings) as place:
        runner = RolloutRunner(
            Script(settings.workflow, lend, wanted.timeout, place),
            judge,
            num_repeat=wanted.num_repeat,
            max_env_worker=places,
            earlier=handed.earlier_of,
        )
        threading.Thread(target=handed.read, args=(runner,), daemon=True).start()
        for group in runner.run(handed.tasks()):
            channel.send(_pickled(group, settings.digest))
        channel.send(pickle.dumps(("ended", runner.left_behind)))


class _Handed:
    """The tasks that the parent has sent."""

    def __init__(self, messages: Iterator[bytes]) -> None:
        self._messages = messages
        self._waiting: SimpleQueue[Task] = SimpleQueue()
        self._earlier: dict[str, Mapping[int, RolloutRow]] = {}

    def read(self, runner: RolloutRunner) -> None:
        """Receive tasks until the parent says to stop."""
        for message in self._messages:
            handed = pickle.loads(message)
            if handed is None:
                runner.stop()
                return
            task, earlier = handed
            self._earlier[task.task_id] = earlier
            self._waiting.put(task)
            runner.look_again()

    def earlier_of(self, task_id: str) -> Mapping[int, RolloutRow]:
        """See RolloutRunner; called once for each task."""
        return self._earlier.pop(task_id, {})

    def tasks(self) -> Iterator[Task | None]:
        """The waiting tasks; None when no task waits now."""
        while True:
            try:
                yield self._waiting.get_nowait()
            except Empty:
                yield None


def _pickled(rows: Sequence[RolloutRow], digest: str) -> bytes:
    # A live environment works in this process only
    rows = [_with_task(row, row.played.task.model_copy(update={"gym_env": None})) for row in rows]
    try:
        return pickle.dumps(("rows", rows), pickle.HIGHEST_PROTOCOL)
    # boundary: a workflow may leave any object in its output, and pickling that object may raise anything
    except Exception:  # noqa: BLE001
        return pickle.dumps(("rows", [_as_written(row, digest) for row in rows]), pickle.HIGHEST_PROTOCOL)


def _with_task(row: RolloutRow, task: Any) -> RolloutRow:
    return dataclasses.replace(row, played=dataclasses.replace(row.played, task=task))


def _as_written(row: RolloutRow, digest: str) -> RolloutRow:
    """The row with its task and output as a file holds them."""
    line = json.loads(row.to_line(digest))
    output = None if line["output"] is None else WorkflowOutput.model_validate(line["output"])
    task = row.played.task.model_copy(update={"task": Task.model_validate(line["task"])})
    played = dataclasses.replace(row.played, task=task, output=output, trajectory=line["trajectory"])
    return dataclasses.replace(row, played=played)
