"""One finished rollout as a judge and as a file gets it, totals over a run, and an earlier run's rows to go on from."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from pydantic import BaseModel

from agentscope_tuner.errors import Cause, ConfigError, told
from agentscope_tuner.records.output import EarlierRow, ScoredFile
from agentscope_tuner.records.reader import MAX_LINE_BYTES
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

# Endings of an agent's reply that leave nothing to judge: the status of the row, and the reason
_NO_VERDICT = {
    "interrupted": ("interrupted", "the agent was interrupted, and says so in place of an answer"),
    "awaiting_tool_calls": (
        "awaiting_tool_calls",
        "the agent waits for someone to allow a tool: make it with FunctionTool(f, is_read_only=True), or allow it",
    ),
    "error": ("failed", "the agent ended with an error, and says so in place of an answer"),
}
_MOST_ERROR_CHARS = 8000
_MOST_STATUS_CHARS = 64
_MOST_REPR_CHARS = 1000
#: The most characters of a failed rollout's reason.
MOST_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class Played:
    """The result of one run of the workflow.

    Attributes:
        status: `finished`; `failed`, it raised; `timed_out`; `interrupted` or `awaiting_tool_calls`, which leave
            nothing to judge; or another `finished_reason` of the output, such as `exceed_max_iters`: the policy's own
            way to end, which is judged.
        task: the task for the judge: the data set's fields as they were read, without the workflow's changes, and an
            environment's opening messages.
        output: what the workflow returned; None when there is nothing to judge.
        trajectory: the model's recorded calls, as plain data.
        error: the traceback, or the workflow's place when its time was over; None when there is an output.
        seconds: wall clock, from the environment's creation to the workflow's end.
        reason: `error` in one line.
    """

    status: str
    task: WorkflowTask
    output: WorkflowOutput | None
    trajectory: Sequence[dict[str, Any]] = ()
    error: str | None = None
    seconds: float = 0.0
    reason: str = ""

    def no_judgement(self) -> Judgement:
        """The failed judgement of a rollout without an output."""
        assert self.output is None
        reason = f"rollout {self.status}: {self.reason}"
        return Judgement.failed(self.error or reason, cause=Cause.ROLLOUT, reason=reason)


@dataclass(frozen=True, slots=True)
class RolloutRow:
    """One rollout and its verdict.

    Attributes:
        id: `<task_id>-<n>`, n from 0 within the group.
        played: the workflow's result.
        judgement: its verdict.
        task_digest: a digest of the task as it was read, by which a later run sees that the task has changed.
        line: the line as it is written, where it is known.
        kept: whether an earlier run wrote it.
    """

    id: str
    played: Played
    judgement: Judgement
    task_digest: str = ""
    line: bytes | None = field(default=None, repr=False)
    kept: bool = False

    @property
    def failed(self) -> bool:
        """Whether there is no reward."""
        return self.judgement.status == "failed"

    def to_line(self, digest: str) -> bytes:
        """One line of JSON, as `astuner judge` reads and writes them; `digest` names the configuration.

        A value that JSON cannot hold is written as its repr. A row that is too long to be read again is written without
        its trajectory, and says so in `trajectory_left_out`.
        """
        if self.line is not None:
            return self.line
        played = self.played
        row: dict[str, Any] = {
            "id": self.id,
            "task": _set_fields(played.task.task),
            # Null, not an empty output: judging this file again must not reward the row
            "output": None if played.output is None else _set_fields(played.output),
            "status": played.status,
            "error": played.error,
            "seconds": round(played.seconds, 3),
            "config": f"{digest}-{self.task_digest}",
            "trajectory": list(played.trajectory),
        }
        judgement = self.judgement.to_dict()
        line = _encode({**row, "judgement": judgement})
        if len(line) > MAX_LINE_BYTES:
            row["trajectory_left_out"] = f"{len(played.trajectory)} calls, the row had {len(line)} bytes"
            line = _encode({**row, "trajectory": [], "judgement": judgement})
        return line


def task_digest(task: Task) -> str:
    """A digest of the task as it was read: two tasks with the same digest are the same task."""
    return hashlib.sha256(_encode(task.model_dump())).hexdigest()[:12]


def ending(output: WorkflowOutput) -> tuple[str, str | None]:
    """A rollout's status from its output's `finished_reason`, and, if there is nothing to judge, the reason."""
    reason = output.metadata.get("finished_reason")
    if reason is None or reason == "completed":
        return "finished", None
    told = str(reason)[:_MOST_STATUS_CHARS]
    return _NO_VERDICT.get(told, (told, None))


def check_writable(output: WorkflowOutput) -> None:
    """Check that a row can hold `output`.

    Raises:
        ValueError: it cannot: the output contains itself, is nested too deep, or is too long to be read again.
    """
    with told("the workflow's output cannot be written as JSON", ValueError, RecursionError, to=ValueError):
        size = len(_encode(_set_fields(output)))
    if size > MAX_LINE_BYTES:
        raise ValueError(f"the workflow's output has {size} bytes as JSON, and a row at most {MAX_LINE_BYTES}")


def _set_fields(model: Task | WorkflowOutput) -> dict[str, Any]:
    """The fields that were set, with all fields of nested models: `exclude_unset` would drop the types of a message's
    blocks.
    """
    return model.model_dump(include=model.model_fields_set)


def bounded(text: str) -> str:
    """`text`, cut in the middle, because a traceback names its exception last."""
    if len(text) <= _MOST_ERROR_CHARS:
        return text
    half = _MOST_ERROR_CHARS // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters …\n{text[-half:]}"


def read_row(before: EarlierRow) -> RolloutRow | None:
    """The row that `to_line` wrote; None when the line is no such row."""
    row, judgement = before.own, before.judgement
    try:
        task, output = Task.model_validate(row["task"]), row["output"]
        status = row["status"]
        if judgement is None or not isinstance(status, str) or (output is None and judgement.reward is not None):
            return None
        made = None if output is None else WorkflowOutput.model_validate(output)
        played = Played(status, WorkflowTask(task=task), made, row["trajectory"], row["error"], row["seconds"])
        return RolloutRow(row["id"], played, judgement, row["config"].partition("-")[2], before.line, kept=True)
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def _encode(row: dict[str, Any]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, default=_plain, skipkeys=True)
    # A model can write half a surrogate pair: UTF-8 cannot encode it, a JSON escape can
    return text.encode(errors="backslashreplace") + b"\n"


def _plain(value: object) -> Any:
    """A plain form of a value in a workflow's metadata that JSON cannot hold."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Judgement):
        return value.to_dict()
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    return repr(value)[:_MOST_REPR_CHARS]


# Rewards of a group that differ by less than this count as equal
_SPREAD = 1e-9
_MOST_STATUSES = 50


@dataclass(slots=True)
class RolloutTally:
    """Counts over groups; the object does not grow with their number."""

    groups: int = 0
    spread: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    rows: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    # Trainable roles that have made no call so far
    unheard: set[str] = field(default_factory=set)

    def add(self, group: Sequence[RolloutRow]) -> None:
        """Count one group."""
        self.groups += 1
        rewards = [row.judgement.reward for row in group if row.judgement.reward is not None]
        self.spread += bool(rewards) and max(rewards) - min(rewards) > _SPREAD
        for row in group:
            self.rows += 1
            status = row.played.status
            self.statuses[status if status in self.statuses or len(self.statuses) < _MOST_STATUSES else "(others)"] += 1
            self.seconds += row.played.seconds
            for call in row.played.trajectory:
                self.calls += 1
                self.unheard.discard(str(call.get("role")))
                self.prompt_tokens += _count(call.get("prompt_tokens"))
                self.completion_tokens += _count(call.get("completion_tokens"))

    def lines(self) -> list[tuple[str, str]]:
        """The heading and the value of each line of the summary."""
        if not self.rows:
            return []
        told = [(f"rollouts {status}", str(count)) for status, count in self.statuses.most_common()]
        told.append(("groups", str(self.groups)))
        # If all rewards of a group are the same, its advantages are 0, and GRPO learns nothing from it
        told.append(("groups with a spread of rewards", f"{self.spread} ({self.spread / self.groups:.1%})"))
        told.append(("seconds a rollout", f"{self.seconds / self.rows:.2f}"))
        told.append(("model calls", f"{self.calls:,} ({self.calls / self.rows:.1f} a rollout)"))
        told.append(("tokens", f"{self.prompt_tokens:,} in, {self.completion_tokens:,} out"))
        if self.unheard:
            # A role without any call is probably misspelt
            told.append(("trainable_targets without a call", ", ".join(sorted(self.unheard))))
        return told


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


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
        self._scored, self._digest, self._tasks, self._num_repeat = scored, digest, tasks, num_repeat
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
        digests = {task.task_id: task_digest(task) for task in self._tasks}
        for before in self._scored.earlier():
            if str(before.own.get("config")).partition("-")[0] != self._digest:
                made = f"row {before.own.get('id')!r:.100} was made under another configuration or version"
                raise ConfigError(f"{made}; run without --resume")
            row = read_row(before)
            if row is not None and digests.get(row.played.task.task_id) == row.task_digest:
                yield row


def _place(row: RolloutRow) -> int:
    return int(row.id.rpartition("-")[2])
