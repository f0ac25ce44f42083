"""Resumes from an earlier run's file: whole groups are copied, other groups keep their finished rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records import ScoredFile
from agentscope_tuner.rollouts.rows import RolloutRow, read_row, task_digest
from agentscope_tuner.workflow import Task


class Earlier:
    """The rows of an earlier run into the same file.

    Memory holds the ids of all tasks, and the rows of groups that are not whole.

    Args:
        scored: the output file; if it was not opened to be resumed, there are no rows.
        digest: the digest of the current configuration.
        tasks: the current tasks; rows of other tasks, or of a task that has changed, are not taken over.
        num_repeat: how many rollouts a group must have.
    """

    def __init__(self, scored: ScoredFile, digest: str, tasks: Iterable[Task], num_repeat: int) -> None:
        self._scored = scored
        self._digest = digest
        self._tasks = tasks
        self._num_repeat = num_repeat
        self._whole: set[str] = set()
        self._partial: dict[str, dict[int, RolloutRow]] = {}

    def whole_groups(self) -> Iterator[list[RolloutRow]]:
        """The groups that are complete. Read them to the end before calling any other method.

        Raises:
            ConfigError: the rows were made under another configuration or version.
        """
        for task_id, run in groupby(self._rows(), key=lambda row: row.played.task.task_id):
            group = {place: row for row in run if (place := _place(row)) < self._num_repeat}
            if len(group) == self._num_repeat and not any(row.failed for row in group.values()):
                self._whole.add(task_id)
                yield list(group.values())
            else:
                self._partial[task_id] = group

    def has(self, task_id: str) -> bool:
        """Whether the task's group is whole."""
        return task_id in self._whole

    def rows_of(self, task_id: str) -> Mapping[int, RolloutRow]:
        """The rows of a group that is not whole, by their place in it. Call it once for each group."""
        return self._partial.pop(task_id, {})

    def remaining(self) -> Iterator[list[RolloutRow]]:
        """The rows of all groups that `rows_of` was not called for."""
        yield from (list(group.values()) for group in self._partial.values())

    def _rows(self) -> Iterator[RolloutRow]:
        digests: dict[str, str] | None = None
        for before in self._scored.earlier():
            made_by = str(before.own.get("config")).partition("-")[0]
            if made_by != self._digest:
                raise ConfigError(
                    f"row {before.own.get('id')!r:.100} of the earlier output was made under another configuration or "
                    "version; run without --resume"
                )
            if digests is None:
                digests = {task.task_id: task_digest(task) for task in self._tasks}
            row = read_row(before)
            if row is not None and digests.get(row.played.task.task_id) == row.task_digest:
                yield row


def _place(row: RolloutRow) -> int:
    return int(row.id.rpartition("-")[2])
