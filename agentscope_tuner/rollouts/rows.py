"""One finished rollout, as a judge and as a file gets it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from agentscope_tuner.errors import Cause
from agentscope_tuner.records import EarlierRow
from agentscope_tuner.records.reader import MAX_LINE_BYTES
from agentscope_tuner.task_judge.judgement import Judgement
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
        task_digest: names the task as the reader gave it, so that a later run sees when it is another.
        line: the line in the file, when an earlier run wrote it and it stays unchanged.
    """

    id: str
    played: Played
    judgement: Judgement
    task_digest: str = ""
    line: bytes | None = field(default=None, repr=False)

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
    """Names the task as the reader gave it: two tasks with one digest are the same task."""
    return hashlib.sha256(_encode(task.model_dump())).hexdigest()[:12]


def ending(output: WorkflowOutput) -> tuple[str, str | None]:
    """A rollout's status from its output's `finished_reason`, and, if there is nothing to judge, the reason."""
    reason = output.metadata.get("finished_reason")
    if reason is None or reason == "completed":
        return "finished", None
    told = str(reason)[:_MOST_STATUS_CHARS]
    return _NO_VERDICT.get(told, (told, None))


def check_writable(output: WorkflowOutput) -> None:
    """Whether a row can hold `output`.

    Raises:
        ValueError: the output contains itself, is nested too deep, or is too long to be read again.
    """
    try:
        size = len(_encode(_set_fields(output)))
    except (ValueError, RecursionError) as exc:
        raise ValueError(f"the workflow's output cannot be written as JSON: {exc}") from exc
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
        played = Played(
            status,
            WorkflowTask(task=task),
            None if output is None else WorkflowOutput.model_validate(output),
            row["trajectory"],
            row["error"],
            row["seconds"],
        )
        return RolloutRow(row["id"], played, judgement, row["config"].partition("-")[2], before.line)
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def _encode(row: dict[str, Any]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, default=_plain, skipkeys=True)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        # A model can write half a surrogate pair: UTF-8 cannot encode it, a JSON escape can
        return json.dumps(row, default=_plain, skipkeys=True).encode() + b"\n"


def _plain(value: object) -> Any:
    """A plain form of a value in a workflow's metadata that JSON cannot hold."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    return repr(value)[:_MOST_REPR_CHARS]
