"""The wire formats: each turns a request's JSON into rows to judge, and the verdicts into a response's JSON.

`openapi.yaml` describes them. Rows are parsed here one by one, so that a malformed row of a batch fails alone.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentscope_tuner.adapters import nemo_gym, openrlhf, slime
from agentscope_tuner.adapters.rollout import STANDING, the_failing_run
from agentscope_tuner.errors import Cause, DeadlineError, JudgeError
from agentscope_tuner.service.admission import Refusal, ServiceSettings
from agentscope_tuner.service.metrics import WIRE_NAMES, JudgeMetrics
from agentscope_tuner.task_judge.batch import ConfiguredJudge, read_or_unread
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.workflow import Identifier, Task, WorkflowOutput, WorkflowTask, first_problem

_log = logging.getLogger(__name__)
_RETRY_SECONDS = 1
# The most characters of a logged answer
_LOGGED_CHARS = 2000

Pair = tuple[WorkflowTask, WorkflowOutput]


class RewardRow(BaseModel):
    """A row of a request: one rollout to judge, with the same keys as a line of a rollout file."""

    # The `extra` of the task and the output may hold any fields; further fields of the row are not read
    model_config = ConfigDict(extra="ignore")

    task: Task
    output: WorkflowOutput
    id: Identifier | None = Field(default=None, description="comes back with the verdict")
    task_env_uuid: str = Field(default="", description="the environment instance the rollout ran in")


def read_row(data: Any, settings: ServiceSettings) -> Pair:
    """Parse a row of a request's JSON, and return its task and output, as judges take them.

    Raises:
        Refusal: the row is no rollout, or its answer is too long.
    """
    try:
        row = RewardRow.model_validate(data)
    except ValidationError as exc:
        raise Refusal(422, first_problem(exc) + _flat(data)) from exc
    check_answer(row.output, settings)
    task = row.task
    # WorkflowTask would copy the id and the environment from its task, but more slowly
    made = WorkflowTask(task=task, task_id=task.task_id, env_type=task.env_type, task_env_uuid=row.task_env_uuid)
    return made, row.output


def _flat(data: Any) -> str:
    """The end of the message about a row that has neither `task` nor `output`, but columns side by side: how to write
    it. Empty for other rows.
    """
    if not isinstance(data, Mapping) or "task" in data or "output" in data:
        return ""
    task, output = '{"task_id": "1", "metadata": {"answer": REFERENCE}}', '{"metadata": {"final_answer": ANSWER}}'
    form = f'{{"task": {task}, "output": {output}}}'
    return f"; got the keys {sorted(map(str, data))!r:.200}, write {form}"


def check_answer(output: WorkflowOutput, settings: ServiceSettings) -> None:
    """Check that the final answer is not longer than `max_answer_chars`.

    Raises:
        Refusal: 413, it is longer.
    """
    answer = output.metadata.get("final_answer")
    if isinstance(answer, str) and len(answer) > settings.max_answer_chars:
        raise Refusal(413, f"the answer has {len(answer)} characters, more than {settings.max_answer_chars}")


def read_batch(data: dict[str, Any], settings: ServiceSettings) -> list[Any]:
    """The rows of a batch `{"rollouts": [row, …]}`, not yet parsed.

    Raises:
        Refusal: `rollouts` is no list, or has more rows than allowed.
    """
    rows = data["rollouts"]
    if not isinstance(rows, list):
        raise Refusal(422, f"rollouts must be a list of rows, got {type(rows).__name__}")
    if len(rows) > settings.max_rows:
        raise Refusal(413, f"the batch has {len(rows)} rows, more than {settings.max_rows}: send several")
    return rows


def written(data: Any, judgement: Judgement) -> dict[str, Any]:
    """The verdict on the row `data` as JSON for the answer, with the row's own `id` if it has one."""
    own = data.get("id") if isinstance(data, dict) else None
    return {"id": own, **judgement.to_dict()} if isinstance(own, str) or type(own) is int else judgement.to_dict()


def written_late(data: Any) -> dict[str, Any]:
    """The JSON for a row that was not judged within the request's time: a failed verdict with `"late": true`."""
    return {**written(data, Judgement.failed(DeadlineError("not judged within the request's time"))), "late": True}


@dataclass(frozen=True, slots=True)
class Served:
    """A judge that the service offers under the route `name`, with the service's settings and the judge's metrics.

    Its verdicts are counted and logged.
    """

    name: str
    judge: ConfiguredJudge
    settings: ServiceSettings
    metrics: JudgeMetrics

    async def one(self, pair: Pair) -> Judgement:
        """The verdict on one row; it is counted and logged."""
        judgement = await self.judge.ajudge(*pair)
        self._note([pair], [judgement])
        return judgement

    async def many(self, pairs: Sequence[Pair], ends_at: float) -> list[Judgement | None]:
        """A verdict for each row, in order; None for rows that are not judged by the time `ends_at`.

        Args:
            pairs: the rows.
            ends_at: a time of the running loop's clock.

        Raises:
            Refusal: 504, no row was judged by then.
        """
        judgements = await self.judge.ajudge_until(pairs, ends_at)
        if pairs and not any(judgements):
            raise Refusal(504, "no row was judged within the request's time", retry_after=_RETRY_SECONDS)
        known = [(pair, found) for pair, found in zip(pairs, judgements, strict=True) if found is not None]
        self._note([pair for pair, _ in known], [found for _, found in known])
        return judgements

    def _note(self, pairs: Sequence[Pair], judgements: Sequence[Judgement]) -> None:
        self.metrics.verdicts(judgements)
        if failed := sum(judgement.status == "failed" for judgement in judgements):
            # Log errors without their messages, which may quote an answer
            _log.warning("judge %r gave no verdict on %d of %d rows", self.name, failed, len(judgements))
        if self.settings.log_answers:
            for (task, output), judgement in zip(pairs, judgements, strict=True):
                answer = repr(output.metadata.get("final_answer"))[:_LOGGED_CHARS]
                _log.info("judge %r, task %r: %r on %s", self.name, task.task_id, judgement.to_dict(), answer)


#: The function for a wire format. It takes a judge, a request's JSON, and the time (by the loop's clock) at which the
#: answer must be sent, and returns the answer's JSON.
Wire = Callable[[Served, dict[str, Any], float], Awaitable[Any]]


async def native(served: Served, data: dict[str, Any], ends_at: float) -> dict[str, Any]:
    """Answer `/reward`, this package's own wire: the verdict on one row, or on each row of `{"rollouts": [row, …]}`.

    Raises:
        Refusal: the request cannot be read, or no row was judged by `ends_at`.
    """
    if "rollouts" in data:
        if data.get("pointwise") and served.judge.listwise:
            raise Refusal(422, "this judge ranks advantage groups, which these rows are not: set HttpJudge's listwise")
        return {"judgements": await _batch(served, read_batch(data, served.settings), ends_at)}
    return written(data, await served.one(read_row(data, served.settings)))


async def _batch(served: Served, rows: list[Any], ends_at: float) -> list[dict[str, Any]]:
    read = [_read_or_failed(row, served.settings) for row in rows]
    served.metrics.verdicts([item for item in read if isinstance(item, Judgement)])
    judged = iter(await served.many([item for item in read if not isinstance(item, Judgement)], ends_at))
    verdicts = (item if isinstance(item, Judgement) else next(judged) for item in read)
    return [
        written(row, verdict) if verdict is not None else written_late(row)
        for row, verdict in zip(rows, verdicts, strict=True)
    ]


def _read_or_failed(row: Any, settings: ServiceSettings) -> Pair | Judgement:
    try:
        return read_row(row, settings)
    except Refusal as exc:
        return Judgement.failed(f"bad row: {exc.detail}", cause=Cause.INPUT)


async def to_openrlhf(served: Served, data: dict[str, Any], ends_at: float) -> Any:
    """Answer a request of OpenRLHF. A failed verdict, which its wire cannot express, becomes an error status."""
    # JSON has no NaN
    encode = partial(openrlhf.encode_response, served.judge, unmeasured=0.0)
    return await _of_trainer(served, lambda: openrlhf.decode_request(data), lambda _, found: encode(found))


async def to_nemo_gym(served: Served, data: dict[str, Any], ends_at: float) -> Any:
    """Answer a request of NeMo-Gym. A failed verdict is a masked sample; if all fail, an error status stops the run."""

    def encode(pair: Pair, judgement: Judgement) -> dict[str, Any]:
        the_failing_run(served.judge).add([pair], [judgement])
        return nemo_gym.encode_response(data, served.judge, judgement)

    def read(request: Any) -> Pair:
        return nemo_gym.decode_request(request or {**data, "response": {"output": []}})

    # a body that is no request of NeMo-Gym is refused; a request whose message cannot be read is a failed verdict
    return await _of_trainer(served, lambda: read_or_unread(read, data), encode)


async def to_slime(served: Served, data: dict[str, Any], ends_at: float) -> Any:
    """Answer a request of slime with the reward itself. A failed verdict is an error status, and slime asks again."""
    encode = partial(slime.encode_response, served.judge)
    return await _of_trainer(served, lambda: slime.decode_request(data), lambda _, found: encode(found))


async def _of_trainer(served: Served, decode: Callable[[], Pair], encode: Callable[[Pair, Judgement], Any]) -> Any:
    """Judge the one row of a trainer's request, and return the answer's JSON.

    Args:
        served: the judge.
        decode: reads the row.
        encode: writes the answer.

    Raises:
        Refusal: the row cannot be read, or the trainer's wire cannot express the verdict.
    """
    try:
        pair = decode()
    except JudgeError as exc:
        raise Refusal(422, exc.message) from exc
    except ValidationError as exc:
        raise Refusal(422, first_problem(exc)) from exc
    check_answer(pair[1], served.settings)
    judgement = await served.one(pair)
    try:
        return encode(pair, judgement)
    except JudgeError as exc:
        # The same row could not get a verdict later, either
        if exc.cause in STANDING:
            raise Refusal(422, f"no verdict: {exc}") from exc
        raise Refusal(503, f"no verdict: {exc}", retry_after=_RETRY_SECONDS) from exc


WIRES: Mapping[str, Wire] = dict(zip(WIRE_NAMES, (native, to_openrlhf, to_nemo_gym, to_slime), strict=True))
