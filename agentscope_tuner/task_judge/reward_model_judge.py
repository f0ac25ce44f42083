"""RewardModelJudge: the score that a served reward model gives a chat."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
from pydantic import Field, SecretStr, model_validator

from agentscope_tuner._http.answer import BadAnswer, HttpAnswer, HttpCall, HttpLimits, Peer, detail_of, shown
from agentscope_tuner._http.client import HttpExchange
from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import Cause, DeadlineError, JudgeError
from agentscope_tuner.graders.client.reply import is_about_prompt
from agentscope_tuner.graders.llm_grader import NO_CONTENT
from agentscope_tuner.graders.prompt import Trajectory, is_empty
from agentscope_tuner.graders.whose_fault import HARMLESS, is_to_blame
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.http_rows import Gathered
from agentscope_tuner.task_judge.llm.probes import Once
from agentscope_tuner.task_judge.llm.rollout_fields import USUAL_PATHS, Reader, check_path
from agentscope_tuner.task_judge.reward_model_wire import WIRES, Chat, ChatFormat, NoScore, WireName, encoded, scores
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

WHERE = f"{SECTION}.reward_model"
_READER = Reader()
_DEADLINE_SECONDS = 120.0
_BATCH_BYTES = 2**20
# Requests about a chat whose score cannot be read, before its text may be blamed
_TRIES = 4
# Requests at once about a chat that took too long
_AT_ONCE = 8
_QUESTION = "What is the capital of France?"
# The share of a score by which equal inputs differ in half precision, and different ones hardly so little
_ALIKE = 1e-6
# Answers of which a model that reads what it is given thinks differently
_PROBES = (HARMLESS, "Paris is the capital of France, a country in western Europe.", "x x x x x x x x")


class RewardModelReads(StrictSection):
    """The paths of a rollout's fields."""

    query: str = USUAL_PATHS["query"]
    response: str = USUAL_PATHS["response"]


class RewardModelConfig(StrictSection):
    """Which reward model is asked, what it is shown, and how its score becomes a reward."""

    #: the server's address, such as http://10.0.0.7:8000; or several of the same server
    url: str | list[str]
    wire: WireName = "vllm_classify"
    #: as the server calls it; not sent when None
    model_name: str | None = None
    #: the folder of the model's tokenizer, whose chat template writes the chat
    tokenizer: str | None = None
    #: in its place, a text with {query} and {response}
    text: str | None = None
    reads: RewardModelReads = Field(default_factory=RewardModelReads)
    #: which of the model's outputs is the score, where it has several
    index: int | None = None
    #: the longest chat that the model reads, for servers that cut longer ones without a word
    max_tokens: int | None = Field(default=None, ge=1)
    #: reward = (score - center) / scale, within clip
    center: float = 0.0
    scale: float = Field(default=1.0, gt=0)
    #: the least and the largest reward; an answer that cannot be scored earns the least
    clip: list[float] = Field(default=[-10.0, 10.0], min_length=2, max_length=2)
    #: rewards from which an answer is a success
    success_threshold: float = 0.0
    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)
    headers: dict[str, str] = Field(default_factory=dict)
    #: seconds for one try
    timeout: float = Field(default=30.0, gt=0)
    #: requests under way at once, and chats in one
    concurrency: int = Field(default=16, ge=1)
    max_batch: int = Field(default=32, ge=1)

    @model_validator(mode="after")
    def _one_chat(self) -> RewardModelConfig:
        if (self.tokenizer is None) is (self.text is None) and self.wire != "slime":
            raise ValueError("give tokenizer, the folder of the model's tokenizer, or text: one of both")
        if self.clip[0] >= self.clip[1]:
            raise ValueError(f"clip must be the least and the largest reward, got {self.clip!r}")
        return self


class RewardModelJudge(BaseJudge):
    """`judge_type: reward_model`; configured under `astuner.task_judge.reward_model`, see RewardModelConfig.

    Chats that are asked for at the same time share a request. Before the first verdict of a process the model scores
    three different answers; one that gives them all the same score is refused, for it does not read them. An answer
    without a visible character earns the least unasked; so does one that the server refuses although it takes others.

    Args:
        config: the whole training configuration.
        transport: replaces the network in tests: `httpx.MockTransport`.

    Raises:
        ConfigError: the section is wrong, or the tokenizer's chat template cannot be read.
        JudgeError: of a verdict: no score within the deadline, or an answer that is none.
    """

    bounds_itself = True
    reference_keys = ()
    metric_names = ("score",)

    def __init__(self, config: Any, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        self.settings = mine = validate_section(RewardModelConfig, section.reward_model, WHERE)
        for name in type(mine.reads).model_fields:
            check_path(getattr(mine.reads, name), f"{WHERE}.reads.{name}")
        self._wire = WIRES[mine.wire]
        self._format = None if mine.wire == "slime" else ChatFormat(mine.tokenizer, mine.text, WHERE)
        key = mine.api_key.get_secret_value() if mine.api_key else None
        limits = HttpLimits(
            token=key,
            headers=mine.headers,
            deadline=min(section.deadline or _DEADLINE_SECONDS, _DEADLINE_SECONDS),
            max_connections=mine.concurrency,
        )
        self._seconds = limits.deadline
        peer = Peer("reward model's server", _endpoint_error, _endpoint_error, _refusal, DeadlineError)
        self._exchange = HttpExchange(peer, mine.url, limits, transport)
        self._chats: Gathered[float | JudgeError] = Gathered(
            self._send,
            # Of several chats in a request only the sum of their tokens is told
            most_rows=mine.max_batch if self._wire.many and mine.max_tokens is None else 1,
            most_bytes=_BATCH_BYTES,
            senders=mine.concurrency,
            patience=limits.deadline,
            # One chat that the server refuses would otherwise take its neighbours' scores away
            again=_may_be_its_fault,
        )
        self._reads: Once[bool] = Once()

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        mine = self.settings
        response = _READER.response(mine.reads.response, workflow_task, workflow_output)
        if is_empty(response):
            return Reward(mine.clip[0], False, reason=NO_CONTENT, filtered_by="no_content")
        query = _READER.value(mine.reads.query, workflow_task, workflow_output)
        if query is None:
            raise JudgeError(f"{mine.reads.query} is missing: it is null, or NaN", cause=Cause.REFERENCE)
        asked, label = _text(query), str(workflow_task.task.metadata.get("answer", ""))
        await self._reads.result(self._check_reading)
        score, at_fault = await self._scored(self._chat(asked, response, label), self._chat(asked, HARMLESS, label))
        if isinstance(score, JudgeError) and at_fault:
            # The answer's own text is the cause, and must not take its verdict away
            told = f"unjudgeable: {score.message}, though others are scored"
            return Reward(mine.clip[0], False, reason=" ".join(told.split()), filtered_by="unjudgeable")
        if isinstance(score, JudgeError):
            raise score
        low, high = mine.clip
        reward = min(high, max(low, (score - mine.center) / mine.scale))
        told = f"reward model {score:.4g}" + (f", {reward:.4g} centered and clipped" if reward != score else "")
        return Reward(reward, reward >= mine.success_threshold, reason=told, metrics={"score": score})

    async def _scored(self, chat: Chat, harmless: Chat) -> tuple[float | JudgeError, bool]:
        """The score of `chat`, or why there is none, and whether its own text is at fault (whose_fault.py)."""
        score, failed = await self._ask_patiently(chat)
        if not _may_be_its_fault(score):
            return score, False
        first = score
        # A chat over which the server broke, or took too long, is tried several times at once
        many = _AT_ONCE if isinstance(score, DeadlineError) else 1

        async def again() -> int:
            nonlocal score
            for score in await asyncio.gather(*(self._ask_once(chat) for _ in range(many))):
                if not _may_be_its_fault(score):
                    return 0
            return many

        async def control(_: int) -> bool:
            return not isinstance(await self._ask_once(harmless), JudgeError)

        try:
            async with asyncio.timeout(self._seconds):
                return score, await is_to_blame(failed, again, control)
        except TimeoutError:
            return first, False

    async def aready(self) -> None:
        """Asks the server for the score of a harmless chat."""
        found = await self._ask(self._chat("Hello", HARMLESS, ""))
        if isinstance(found, JudgeError):
            raise found

    async def _check_reading(self) -> bool:
        """True, or a JudgeError for a model that gives different answers one score."""
        asked = (self._ask_patiently(self._chat(_QUESTION, text, "Paris")) for text in _PROBES)
        found = [score for score, _ in await asyncio.gather(*asked)]
        for one in found:
            if isinstance(one, JudgeError):
                raise one
        numbers = [one for one in found if isinstance(one, float)]
        if max(numbers) - min(numbers) <= _ALIKE * max(1.0, abs(numbers[0])):
            raise JudgeError(
                f"{len(_PROBES)} different answers all score {numbers[0]:g}, so that the model does not read them: a "
                "model of one class with its default activation scores 1 always (serve it without, or with "
                "wire: vllm_classify, which turns it off), and a chat that is cut before the answer scores alike",
                cause=Cause.CONFIG,
            )
        return True

    def _chat(self, query: str, response: str | Trajectory, label: str) -> Chat:
        if isinstance(response, Trajectory):
            messages = [{"role": role, "content": text} for role, text in zip(response.roles, response, strict=True)]
        else:
            messages = [{"role": "user", "content": query}, {"role": "assistant", "content": response}]
        return Chat(self._format.write(messages) if self._format else "", query, _text(response), label)

    async def _ask(self, chat: Chat) -> float | JudgeError:
        try:
            return await self._chats.ask(_row(chat))
        except DeadlineError as exc:
            return exc

    async def _ask_patiently(self, chat: Chat) -> tuple[float | JudgeError, int]:
        """The score, or why there is none; and how often the server failed. One that answers badly is asked again."""
        score, failed = await self._ask(chat), 0
        while _may_be_its_fault(score):
            failed += 1
            if failed >= _TRIES or isinstance(score, DeadlineError):
                break
            score = await self._ask_once(chat)
        return score, failed

    async def _ask_once(self, chat: Chat) -> float | JudgeError:
        """The score, by a request of its own, in the time of one try."""
        (found,) = await self._send([_row(chat)], asyncio.get_running_loop().time() + self.settings.timeout)
        return found

    async def _send(self, rows: Sequence[bytes], ends_at: float) -> Sequence[float | JudgeError]:
        if len(rows) > 1:
            # One chat that takes too long would otherwise take its neighbours' scores away
            ends_at = min(ends_at, asyncio.get_running_loop().time() + self.settings.timeout)
        chats = [Chat(*json.loads(row)) for row in rows]
        where = f"scoring {len(chats)} chats"

        def parse(answer: HttpAnswer) -> list[float]:
            if answer.status != 200:
                raise BadAnswer(answer.status, shown(detail_of(answer)) or "an empty body", where)
            try:
                data = json.loads(answer.body)
            except (ValueError, RecursionError) as exc:
                raise NoScore(f"{where}: the answer is not JSON: {answer.body[:200]!r}") from exc
            return scores(self._wire, data, len(chats), self.settings.index, self.settings.max_tokens)

        body = encoded(self._wire, self.settings.model_name, chats)
        call = HttpCall(self._wire.path, body, where, parse, self.settings.timeout, ends_at=ends_at)
        try:
            found: list[float] = await self._exchange.run(call)
        except (NoScore, _Refused, DeadlineError) as exc:
            return [exc] * len(chats)
        return found


class _Refused(JudgeError):
    """The server refuses this request."""

    cause = Cause.ENDPOINT


def _refusal(status: int, detail: str, where: str) -> JudgeError:
    kind = _Refused if is_about_prompt(status) or status >= 500 else JudgeError
    return kind(f"{where}: the reward model's server answered {status}: {detail[:500]}", cause=Cause.ENDPOINT)


def _may_be_its_fault(found: object) -> bool:
    """Whether a chat's own text may be why it has no score: the server refuses it, breaks over it, or is too slow."""
    return isinstance(found, NoScore | _Refused | DeadlineError)


def _row(chat: Chat) -> bytes:
    return json.dumps([chat.text, chat.query, chat.response, chat.label]).encode()


def _endpoint_error(message: str) -> JudgeError:
    return JudgeError(message, cause=Cause.ENDPOINT)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value.joined() if isinstance(value, Trajectory) else str(value)
