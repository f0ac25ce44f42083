"""HttpJudge: the judge of a trainer whose verdicts come from a reward service (`astuner serve`) over the network."""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Sequence
from functools import partial
from typing import Any

import httpx
from pydantic import Field, ValidationError

from agentscope_tuner._http import (
    BadAnswer,
    HttpAnswer,
    HttpCall,
    HttpLimits,
    Peer,
    detail_of,
    json_object,
    malformed,
    shown,
    token_in,
)
from agentscope_tuner._http.client import HttpExchange
from agentscope_tuner._run import loops
from agentscope_tuner.config import StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import Cause, ConfigError, DeadlineError, JudgeError, endpoint_error, judge_error
from agentscope_tuner.task_judge.base_judge import KWARGS, BaseJudge, Reward
from agentscope_tuner.task_judge.contract.judgement import cause_of
from agentscope_tuner.task_judge.http_rows import Gathered, LateError, WireVerdict, wire_row
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

#: The header with the seconds that the client will wait; the service then gives up the work.
DEADLINE_HEADER = "X-Deadline-Seconds"
_MOST_CHARS = 1000
_DEADLINE_SECONDS = 300.0
# Begins the ids of rows: other processes may ask the same service
_PROCESS_NAME = secrets.token_hex(4)
# The beginning of a failed verdict's error
_TASK_NAMED = re.compile(r"\Atask (?:'[^']*'|\"[^\"]*\"): ")
# A longer row is sent alone, because the service refuses long requests
_BATCH_BYTES = 2**20


class HttpJudgeConfig(StrictSection):
    """HttpJudge's `astuner.task_judge.judge_kwargs`."""

    #: the URL of the judge's native wire: `http://host:8000/reward`, or `http://host:8000/math/reward`; or a list of
    #: URLs: when one does not answer, the next is asked
    url: str | list[str] = Field(description="the service that scores, such as `url: http://127.0.0.1:8000/reward`")
    #: a file that holds the service's bearer token; read again when the service refuses what was in it
    token_file: str | None = None
    #: sent with each request
    headers: dict[str, str] | None = None
    #: a PEM file with the only certificates to trust; else those that SSL_CERT_FILE names, or the usual ones
    ca_file: str | None = None
    #: seconds that one try may take; the service is told
    timeout: float = Field(default=60.0, gt=0)
    #: seconds that a verdict may take in all: the wait for its turn, tries, and the waits between them. Those of
    #: `astuner.task_judge.deadline` when null, and never more
    deadline: float | None = Field(default=None, gt=0)
    #: how often a request is sent at most; as often as the deadline has time for when null
    tries: int | None = Field(default=None, ge=1)
    #: requests under way at once, for each event loop
    max_connections: int = Field(default=16, ge=1)
    #: rows in one request, at most, when as many are asked for at the same time
    max_batch: int = Field(default=64, ge=1)
    #: whether the service's judge ranks advantage groups, which are then sent whole
    listwise: bool = False


class HttpJudge(BaseJudge):
    """Asks a reward service for each verdict; configured by HttpJudgeConfig.

    Rows that are asked for at the same time, such as those of a training step, share requests, because a request for
    each row would cost many times more. If a request fails, all its rows fail. A row that fails in the service fails
    alone. A row that was not judged in the request's time, while others were, is sent again by itself.

    Judging changes nothing, so after a broken connection, 429, 502, 503 or 504 a request is sent again, after the
    service's Retry-After if there is one. The reason, the metrics and the ids of the rules that the service found
    broken are passed on. Rules of this side's own configuration run before a row is sent. The rollout must be JSON: the
    `gym_env` of a task stays here, so an environment's judge cannot be asked this way.

    One judge serves any number of threads and event loops, each loop with connections of its own, and forked children.

    Args:
        config: the whole training configuration.
        transport: replaces the network in tests: `httpx.MockTransport`.

    Raises:
        ConfigError: the settings are wrong, or the token's file cannot be read.
        JudgeError: of a verdict: the service reached none, could not be reached, or answered something else.
    """

    bounds_itself = True

    def __init__(self, config: Any, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        self.settings = validate_section(HttpJudgeConfig, section.judge_kwargs, KWARGS)
        bounds = [seconds for seconds in (self.settings.deadline, section.deadline) if seconds is not None]
        limits = HttpLimits(
            headers=self.settings.headers or {},
            ca_file=self.settings.ca_file,
            deadline=min(bounds, default=_DEADLINE_SECONDS),
            tries=self.settings.tries,
            max_connections=self.settings.max_connections,
        )
        peer = Peer("reward service", endpoint_error, endpoint_error, self._bad_answer, DeadlineError, DEADLINE_HEADER)
        self._numbers = itertools.count()
        self._deadline = limits.deadline
        self._exchange = HttpExchange(
            peer,
            self.settings.url,
            limits,
            transport,
            read_token=partial(token_in, self.settings.token_file, f"{KWARGS}.token_file"),
        )
        self._gathered: Gathered[Reward | JudgeError] = Gathered(
            self._ask,
            most_rows=self.settings.max_batch,
            most_bytes=_BATCH_BYTES,
            senders=self.settings.max_connections,
            patience=limits.deadline,
            again=lambda verdict: isinstance(verdict, LateError),
        )
        for url in self._exchange.base_url.split(" or "):
            if httpx.URL(url).path in {"", "/"}:
                raise ConfigError(
                    f"{KWARGS}.url must be that of the service's native wire, such as {url}/reward, "
                    f"got {self.settings.url!r}"
                )

    def ranks_groups(self) -> bool:
        """True with `listwise: true`. Other judges' groups need not fail as a whole, nor be sent one after another."""
        return self.settings.listwise

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        row = wire_row(workflow_task, workflow_output)
        if self.ranks_groups():
            # Never in one request with other rows, which would be ranked with it
            (verdict,) = await self._ask([row])
        else:
            verdict = await self._gathered.ask(row)
        if isinstance(verdict, JudgeError):
            raise verdict
        return verdict

    def compute_rewards(self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]) -> Sequence[Any]:
        """See BaseJudge. With `listwise: true` an advantage group is one request, and fails as a whole; but where the
        service's rules left one rollout to rank, that one has no verdict, and the others have theirs.
        """
        if not self.ranks_groups():
            return super().compute_rewards(workflow_task, workflow_outputs)
        rows = [wire_row(workflow_task, output) for output in workflow_outputs]
        rewards: list[Reward | JudgeError] = []
        for verdict in loops.run(self._many(rows, b'{"rollouts":[')):
            if isinstance(verdict, JudgeError) and verdict.cause is not Cause.ALONE:
                raise verdict
            rewards.append(verdict)
        return rewards

    async def _ask(self, rows: Sequence[bytes], ends_at: float | None = None) -> Sequence[Reward | JudgeError]:
        """One request: a verdict for each row, or the reason why there is none."""
        if len(rows) == 1:
            return await self._one(rows[0], ends_at)
        # "pointwise": a judge that ranks must not take neighbours that came together by chance for a group
        return await self._many(rows, b'{"pointwise":true,"rollouts":[', ends_at)

    async def aclose(self) -> None:
        """Closes the running loop's connections. A later verdict opens new ones."""
        await self._exchange.aclose()

    def close(self) -> None:
        """Closes the connections of callers that do not await. A later verdict opens new ones."""
        loops.run(self.aclose())

    async def _one(self, row: bytes, ends_at: float | None) -> list[Reward | JudgeError]:
        where = "judging a rollout"
        name, body = self._named(row)

        def parse(answer: HttpAnswer) -> list[Reward | JudgeError]:
            return [self._verdict(answer, where, name, _body(answer, where))]

        return await self._exchange.run(HttpCall("", body, where, parse, self.settings.timeout, ends_at=ends_at))

    async def _many(
        self, rows: Sequence[bytes], beginning: bytes, ends_at: float | None = None
    ) -> list[Reward | JudgeError]:
        where = f"judging {len(rows)} rollouts"
        named = [self._named(row) for row in rows]
        body = beginning + b",".join(row for _, row in named) + b"]}"

        def parse(answer: HttpAnswer) -> list[Reward | JudgeError]:
            judgements = _body(answer, where).get("judgements")
            if not isinstance(judgements, list) or len(judgements) != len(rows):
                raise malformed(answer, where, f"judgements must be a list of {len(rows)}")
            return [
                self._verdict(answer, where, name, judgement)
                for (name, _), judgement in zip(named, judgements, strict=True)
            ]

        # A busy service takes longer over many rows, and a try that is given up wastes the verdicts on most of them
        seconds = min(self.settings.timeout * len(rows), max(self.settings.timeout, self._deadline / 2))
        return await self._exchange.run(HttpCall("", body, where, parse, seconds, ends_at=ends_at))

    def _named(self, row: bytes) -> tuple[str, bytes]:
        """A new id for a row, which its verdict must repeat, and the row with this id."""
        name = f"{_PROCESS_NAME}-{next(self._numbers)}"
        return name, b'{"id":"%s",%s' % (name.encode(), row[1:])

    def _verdict(self, answer: HttpAnswer, where: str, name: str, judgement: object) -> Reward | JudgeError:
        try:
            verdict = WireVerdict.model_validate(judgement)
        except ValidationError as exc:
            first = exc.errors(include_url=False)[0]
            path = ".".join(str(part) for part in first["loc"]) or "the judgement"
            raise malformed(answer, where, f"{path}: {first['msg']}") from exc
        if verdict.id not in {None, name}:
            # A cache or a proxy has mixed up answers: this is the verdict on another rollout
            raise malformed(answer, where, f"the verdict is on row {verdict.id!r:.80}, asked was {name!r}")
        if verdict.status == "failed":
            # without the task's id, which this side names: summaries count failures by their words
            told = shown(_TASK_NAMED.sub("", verdict.error or verdict.reason)) or "the service does not say why"
            # The service's own cause; services of an earlier version send none
            cause = cause_of(verdict.cause) if verdict.cause else Cause.ENDPOINT
            message = f"the reward service at {self._exchange.base_url} reached no verdict: {told}"
            error = LateError(message) if verdict.late else judge_error(message, cause)
            error.metrics = verdict.metrics
            return error
        if verdict.reward is None or verdict.is_success is None:
            raise malformed(answer, where, f"status {verdict.status!r} without reward and is_success")
        if verdict.status == "filtered" and not verdict.violations:
            raise malformed(answer, where, "status 'filtered' without violations")
        return Reward(
            verdict.reward,
            verdict.is_success,
            reason=verdict.reason,
            metrics=verdict.metrics,
            filtered_by=verdict.violations[-1] if verdict.status == "filtered" else "",
            violations=tuple(verdict.violations),
            turns=tuple(verdict.turns),
        )

    def _bad_answer(self, status: int, detail: str, where: str) -> JudgeError:
        return endpoint_error(f"{where} at {self._exchange.base_url}: answered {status}: {detail[:_MOST_CHARS]}")


def _body(answer: HttpAnswer, where: str) -> dict[str, Any]:
    if answer.status != 200:
        raise BadAnswer(answer.status, shown(detail_of(answer)) or "an empty body", where)
    return json_object(answer, where)
