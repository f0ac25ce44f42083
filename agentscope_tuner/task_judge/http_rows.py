"""Rows that go to a reward service, and verdicts that come back; rows asked for one by one are sent together."""

from __future__ import annotations

import asyncio
import copy
import json
import math
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from agentscope_tuner._run.loops import PerLoop
from agentscope_tuner.bounds import bounded
from agentscope_tuner.errors import DeadlineError, input_error, told
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


def wire_row(task: WorkflowTask, output: WorkflowOutput) -> bytes:
    """The rollout as JSON; numpy's arrays and numbers as lists and numbers.

    NaN, an empty cell of a data frame, and infinities become null; keys, dates and bytes, which YAML can hold, text.

    Raises:
        JudgeError: the rollout holds another value that JSON cannot hold, such as an object of a program's own class.
    """
    # A rollout's own fields win over its task's fields, as they do for a local judge
    known = {"task_id": task.task_id, "env_type": task.env_type}
    # Bounded when it was made; a workflow may have changed it since
    row: dict[str, Any] = {"task": task.task.model_dump() | known, "output": bounded(output.model_dump())}
    if task.task_env_uuid:
        row["task_env_uuid"] = task.task_env_uuid
    with told("the rollout is not JSON, nothing was sent", TypeError, ValueError, RecursionError, to=input_error):
        try:
            return _encoded(row)
        except (TypeError, ValueError):
            return _encoded(_plain(row))


def _encoded(value: object) -> bytes:
    # ASCII escapes: a policy may write lone surrogates, which no UTF-8 can carry
    return json.dumps(value, allow_nan=False, ensure_ascii=True, default=of_numpy).encode("ascii")


def of_numpy(value: object) -> Any:
    """numpy's array as a list, or its scalar as a number.

    Raises:
        TypeError: the value is not numpy's.
    """
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"JSON has no form for a {type(value).__name__}")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(bounded(key)): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(inner) for inner in value]
    if isinstance(value, date | bytes):
        return str(value)
    if type(value).__module__ == "numpy":
        return _plain(of_numpy(value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


class WireVerdict(BaseModel):
    """A `Judgement` as it comes over the wire, without defaults for fields that the service did not send."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    status: Literal["judged", "filtered", "failed"]
    reward: float | None
    is_success: bool | None
    reason: str
    violations: list[str]
    error: str | None
    metrics: dict[str, float]
    turns: list[float | None] = []
    cause: str | None = None
    id: str | None = None
    late: bool = False


class LateError(DeadlineError):
    """The result of a row that had no verdict when the request's time was over, while other rows had theirs."""


T = TypeVar("T")

_GRACE_SECONDS = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class _Row(Generic[T]):
    body: bytes
    asked_at: float
    result: asyncio.Future[T]
    # Whether the row is sent alone, because it had no result when it was sent with others
    alone: bool = False


@dataclass(slots=True)
class _Line(Generic[T]):
    """The rows of one event loop that wait to be sent, and its senders."""

    rows: deque[_Row[T]] = field(default_factory=deque)
    senders: set[asyncio.Task[None]] = field(default_factory=set)
    # How many of the senders have a request under way, and take no row until it ends
    busy: int = 0


@dataclass(eq=False)
class Gathered(Generic[T]):
    """Sends rows together: the rows of one turn of the event loop, and the rows that come while all senders are busy.

    A free sender never waits for more rows to come. Serves any number of event loops.

    Attributes:
        send: `send(rows, until)` gives one result for each row, in order; `until` is the time, by the loop's clock,
            from which no caller waits for any of them. An exception of it is raised to the caller of each row.
        most_rows: the most rows of one request.
        most_bytes: the most bytes of a request with more than one row.
        senders: the most requests under way at once, for each loop.
        patience: the most seconds from `ask` to the row's result.
        again: whether a row that was sent with others is to be sent once more, alone, because of its result.
    """

    send: Callable[[Sequence[bytes], float], Awaitable[Sequence[T]]]
    _: KW_ONLY
    most_rows: int
    most_bytes: int
    senders: int
    patience: float
    again: Callable[[T], bool] = lambda _: False
    _lines: PerLoop[_Line[T]] = field(default_factory=lambda: PerLoop(_Line), init=False)

    async def ask(self, row: bytes) -> T:
        """The result of `row`.

        Raises:
            DeadlineError: the row's time was over, before it was sent or after.
            Exception: the exception of the request that carried the row.
        """
        loop = asyncio.get_running_loop()
        line = self._lines.here()
        result: asyncio.Future[T] = loop.create_future()
        self._add(line, _Row(row, loop.time(), result))
        # `send` ends by then, too, and its error says more about the reason
        timer = loop.call_later(self.patience + _GRACE_SECONDS, self._expire, result, "no verdict")
        try:
            return await result
        finally:
            timer.cancel()

    def _add(self, line: _Line[T], row: _Row[T]) -> None:
        line.rows.append(row)
        # A row must not wait for a request under way while another sender could take it: that request may hang
        if len(line.senders) < min(self.senders, line.busy + len(line.rows)):
            line.senders.add(asyncio.get_running_loop().create_task(self._empty(line)))

    def _expire(self, result: asyncio.Future[T], told: str) -> None:
        if not result.done():
            result.set_exception(
                DeadlineError(f"{told} within {self.patience:g} s: the requests before it took too long")
            )

    async def _empty(self, line: _Line[T]) -> None:
        # The task starts in the loop's next turn: by then every row of this turn is in the line
        try:
            while rows := self._next(line):
                line.busy += 1
                try:
                    await self._send_all(line, rows)
                finally:
                    line.busy -= 1
        finally:
            # A callback would run later, and a row could wait for a sender that is gone: remove the sender here
            task = asyncio.current_task()
            assert task is not None
            line.senders.discard(task)

    async def _send_all(self, line: _Line[T], rows: Sequence[_Row[T]]) -> None:
        unsettled = set(rows)
        try:
            ends_at = max(row.asked_at for row in rows) + self.patience
            for row, result in zip(rows, await self._sent(rows, ends_at), strict=True):
                if row.result.done():
                    continue
                if len(rows) > 1 and self.again(result):
                    unsettled.discard(row)
                    self._add(line, replace(row, alone=True))
                else:
                    row.result.set_result(result)
        # boundary: every row of this sending gets its error, whatever the error is
        except Exception as exc:  # noqa: BLE001
            for row in rows:
                if not row.result.done():
                    row.result.set_exception(copy.copy(exc))
        finally:
            # The loop is ending: cancel the rows, so that no caller waits for ever
            for row in unsettled:
                row.result.cancel()

    async def _sent(self, rows: Sequence[_Row[T]], ends_at: float) -> Sequence[T]:
        """The results of `send`, which is cancelled as soon as no caller waits for any of the rows.

        It may hang, and other requests wait for its connection.
        """
        async with asyncio.timeout(None) as limit:
            sends = True

            def gone(_: asyncio.Future[T]) -> None:
                if sends and all(row.result.done() for row in rows):
                    limit.reschedule(0.0)

            for row in rows:
                row.result.add_done_callback(gone)
            try:
                return await self.send([row.body for row in rows], ends_at)
            finally:
                sends = False

    def _next(self, line: _Line[T]) -> list[_Row[T]]:
        now = asyncio.get_running_loop().time()
        rows: list[_Row[T]] = []
        size = 0
        while line.rows and len(rows) < self.most_rows:
            row = line.rows[0]
            if row.result.done():
                line.rows.popleft()  # its caller has gone
                continue
            if now - row.asked_at > self.patience:
                self._expire(line.rows.popleft().result, "not sent")
                continue
            size += len(row.body)
            if rows and (size > self.most_bytes or row.alone):
                break
            rows.append(line.rows.popleft())
            if row.alone:
                break
        return rows
