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
    """One rollout to judge; each line of a rollout file is one."""

    # The `extra` of the task and the output may hold any fields; further fields of the row are not read
    model_config = ConfigDict(extra="ignore")

    task: Task
    output: WorkflowOutput
    id: Identifier | None = Field(default=None, description="comes back with the verdict")
    task_env_uuid: str = Field(default="", description="the environment instance the rollout ran in")


def read_row(data: Any, settings: ServiceSettings) -> Pair:
    """A row as a task and its output.

    Raises:
        Refusal: the row is no rollout, or its answer is too long.
    """
    try:
        row = RewardRow.model_validate(data)
    except ValidationError as exc:
        raise Refusal(422, first_problem(exc) + _flat(data)) from exc
    check_answer(row.output, settings)
    task = row.task
    # Its own defaults, which WorkflowTask would fill in more slowly
    made = WorkflowTask(task=task, task_id=task.task_id, env_type=task.env_type, task_env_uuid=row.task_env_uuid)
    return made, row.output


def _flat(data: Any) -> str:
    """The way out for a row of a file, whose columns stand side by side."""
    if not isinstance(data, Mapping) or "task" in data or "output" in data:
        return ""
    task, output = '{"task_id": "1", "metadata": {"answer": REFERENCE}}', '{"metadata": {"final_answer": ANSWER}}'
    form = f'{{"task": {task}, "output": {output}}}'
    return f"; got the keys {sorted(map(str, data))!r:.200}, write {form}"


def check_answer(output: WorkflowOutput, settings: ServiceSettings) -> None:
    """Raises Refusal for a final answer longer than the limit."""
    answer = output.metadata.get("final_answer")
    if isinstance(answer, str) and len(answer) > settings.max_answer_chars:
        raise Refusal(413, f"the answer has {len(answer)} characters, more than {settings.max_answer_chars}")


def read_batch(data: dict[str, Any], settings: ServiceSettings) -> list[Any]:
    """The rows of a batch, each as it came.

    Raises:
        Refusal: the rows are no list, or more than allowed.
    """
    rows = data["rollouts"]
    if not isinstance(rows, list):
        raise Refusal(422, f"rollouts must be a list of rows, got {type(rows).__name__}")
    if len(rows) > settings.max_rows:
        raise Refusal(413, f"the batch has {len(rows)} rows, more than {settings.max_rows}: send several")
    return rows


def written(data: Any, judgement: Judgement) -> dict[str, Any]:
    """The verdict on the row `data`, with the row's id."""
    own = data.get("id") if isinstance(data, dict) else None
    return {"id": own, **judgement.to_dict()} if isinstance(own, str) or type(own) is int else judgement.to_dict()


def written_late(data: Any) -> dict[str, Any]:
    """The failed verdict on the row `data`, which was not judged in the request's time."""
    return {**written(data, Judgement.failed(DeadlineError("not judged within the request's time"))), "late": True}


@dataclass(frozen=True, slots=True)
class Served:
    """A judge under its route, with its counts and its log."""

    name: str
    judge: ConfiguredJudge
    settings: ServiceSettings
    metrics: JudgeMetrics

    async def one(self, pair: Pair) -> Judgement:
        """One verdict."""
        judgement = await self.judge.ajudge(*pair)
        self._note([pair], [judgement])
        return judgement

    async def many(self, pairs: Sequence[Pair], ends_at: float) -> list[Judgement | None]:
        """A verdict for each row, in order; None for rows without a verdict at `ends_at`, by the running loop's clock.

        Raises:
            Refusal: 504, there is no verdict at all.
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


#: A wire: from a judge, a request's JSON and the time, by the loop's clock, when sending must begin, to the answer.
Wire = Callable[[Served, dict[str, Any], float], Awaitable[Any]]


async def native(served: Served, data: dict[str, Any], ends_at: float) -> dict[str, Any]:
    """`/reward`: one row, or `{"rollouts": [row, …]}`."""
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
    """OpenRLHF's wire, which cannot express a failed verdict: it becomes an error status."""
    # JSON has no NaN
    encode = partial(openrlhf.encode_response, served.judge, unmeasured=0.0)
    return await _of_trainer(served, lambda: openrlhf.decode_request(data), lambda _, found: encode(found))


async def to_nemo_gym(served: Served, data: dict[str, Any], ends_at: float) -> Any:
    """NeMo-Gym's wire: a failed verdict is a masked sample; where all are, an error status stops the run."""

    def encode(pair: Pair, judgement: Judgement) -> dict[str, Any]:
        the_failing_run(served.judge).add([pair], [judgement])
        return nemo_gym.encode_response(data, served.judge, judgement)

    def read(request: Any) -> Pair:
        return nemo_gym.decode_request(request or {**data, "response": {"output": []}})

    # what is no request of NeMo-Gym's is refused; one that is, with a message that nobody can read, is a failed verdict
    return await _of_trainer(served, lambda: read_or_unread(read, data), encode)


async def to_slime(served: Served, data: dict[str, Any], ends_at: float) -> Any:
    """slime's wire: the answer is the reward itself, and a failed verdict an error status, which slime asks again."""
    encode = partial(slime.encode_response, served.judge)
    return await _of_trainer(served, lambda: slime.decode_request(data), lambda _, found: encode(found))


async def _of_trainer(served: Served, decode: Callable[[], Pair], encode: Callable[[Pair, Judgement], Any]) -> Any:
    """The answer to the one row of a request. A row that cannot be read refuses the request, and so does a verdict that
    the trainer's wire cannot express.
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
        # The same question cannot have a verdict later, either
        if exc.cause in STANDING:
            raise Refusal(422, f"no verdict: {exc}") from exc
        raise Refusal(503, f"no verdict: {exc}", retry_after=_RETRY_SECONDS) from exc


WIRES: Mapping[str, Wire] = dict(zip(WIRE_NAMES, (native, to_openrlhf, to_nemo_gym, to_slime), strict=True))
