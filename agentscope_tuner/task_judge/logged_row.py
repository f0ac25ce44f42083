"""One row of a training's log, encoded fast, because users would switch off a log that costs as much as the judge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import pydantic_core

from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.wire_row import of_numpy
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

Verdict = tuple[tuple[WorkflowTask, WorkflowOutput], Judgement]


class LoggedOutput(msgspec.Struct, gc=False):
    """The `output` of a row."""

    metadata: dict[str, Any]


class LoggedRow(msgspec.Struct, gc=False, omit_defaults=True):
    """A scored row, as `astuner judge` writes it, with the `step` of its training and the `time` of its verdict."""

    id: str
    task: dict[str, Any]
    output: LoggedOutput
    judgement: Judgement
    # The time as text, formatted once for a whole batch
    time: msgspec.Raw
    step: int | None = None


def rows_of(
    token: str,
    first: int,
    verdicts: Iterable[Verdict],
    step: int | None,
    time: float,
) -> list[LoggedRow]:
    """The rows of verdicts, named `<token>-<number>` from the number `first` on; `time` in seconds since 1970."""
    # one comprehension and no call a row: this runs beside judges that make a verdict in 30 microseconds. `__dict__` is
    # what pydantic holds; a copy of the model would cost more than its encoding
    at = msgspec.Raw(b"%.3f" % time)
    return [
        LoggedRow(
            f"{token}-{number}",
            task.task.__dict__
            if task.task_id == task.task.task_id and not task.task.__pydantic_extra__
            else _with_extras(task),
            LoggedOutput(output.metadata),
            judgement,
            at,
            step,
        )
        for number, ((task, output), judgement) in enumerate(verdicts, first)
    ]


def _with_extras(task: WorkflowTask) -> dict[str, Any]:
    return {**task.task.__dict__, **(task.task.__pydantic_extra__ or {}), "task_id": task.task_id}


def encoded(rows: Sequence[LoggedRow]) -> bytes:
    """A line of JSON each, whatever a workflow has left in its metadata."""
    try:
        return _ENCODER.encode_lines(rows)
    except Exception:  # noqa: BLE001 - metadata is anybody's: each row is written by itself, the odd one in a slower way
        return b"".join(_odd(row) for row in rows)


def _odd(row: LoggedRow) -> bytes:
    try:
        return _ENCODER.encode(row) + b"\n"
    except Exception:  # noqa: BLE001 - see above
        pass
    plain: dict[str, Any] = {
        "id": row.id,
        "task": row.task,
        "output": {"metadata": row.output.metadata},
        "judgement": row.judgement.to_dict(),
        "time": float(bytes(row.time)),
        **({} if row.step is None else {"step": row.step}),
    }
    try:
        # half a surrogate pair: UTF-8 cannot encode it, a JSON escape can
        return json.dumps(plain, default=_plain).encode() + b"\n"
    except Exception:  # noqa: BLE001 - a policy's arguments may be nested a thousand deep: its verdict is a row all the same
        task = {key: row.task.get(key) for key in ("main_query", "task_id")}
        plain["task"] = {**task, "metadata": _flat(row.task.get("metadata"))}
        plain["output"] = {"metadata": _flat(row.output.metadata)}
        return json.dumps(plain).encode() + b"\n"


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if type(value).__module__ == "numpy":
        return of_numpy(value)
    return pydantic_core.to_jsonable_python(value, fallback=repr)


def _flat(metadata: object) -> dict[str, Any]:
    plain = (str, int, float, type(None))
    items = metadata.items() if isinstance(metadata, Mapping) else ()
    return {str(key): value if isinstance(value, plain) else "cannot be written" for key, value in items}


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
