"""RewardModelJudge: the score that a served reward model gives a chat."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import httpx
from pydantic import Field, SecretStr, model_validator

from agentscope_tuner._http import BadAnswer, HttpAnswer, HttpCall, HttpLimits, Peer, detail_of, shown
from agentscope_tuner._http.client import HttpExchange
from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import (
    Cause,
    ConfigError,
    DeadlineError,
    JudgeError,
    config_fault,
    endpoint_error,
    importing,
    reference_error,
    told,
)
from agentscope_tuner.graders.client.reply import is_about_prompt
from agentscope_tuner.graders.injection_defence import neutralise, special_tokens
from agentscope_tuner.graders.llm_grader import NO_CONTENT
from agentscope_tuner.graders.prompt import Trajectory, as_json, is_empty
from agentscope_tuner.graders.template import fill, headings
from agentscope_tuner.graders.whose_fault import HARMLESS, is_to_blame
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.http_rows import Gathered
from agentscope_tuner.task_judge.llm.probes import Once
from agentscope_tuner.task_judge.llm.rollout_fields import USUAL_PATHS, Reader, as_shown, check_path
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

WireName = Literal["vllm_classify", "vllm_pooling", "sglang_classify", "sglang_embeddings", "slime"]

# Heads of reward models have one or a few outputs; more are a layer's hidden states
_MOST_CLASSES = 32


class NoScore(JudgeError):
    """The server answered, and its answer is no score of a reward model: it refuses, breaks, or says something else."""

    cause = Cause.ENDPOINT


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat to be scored: the text that the model reads, and its parts, for the one wire that takes parts."""

    text: str
    query: str
    response: str
    label: str


@dataclass(frozen=True, slots=True)
class Wire:
    """One kind of server.

    Attributes:
        path: of the requests, behind the configured URL.
        body: the request for some chats to a model.
        values: the outputs of the model for one item of the answer's `data`.
        many: whether a request may hold several chats.
    """

    path: str
    body: Callable[[str | None, Sequence[Chat]], dict[str, Any]]
    values: Callable[[Mapping[str, Any]], Any]
    many: bool = True


def _named(model: str | None, chats: Sequence[Chat]) -> dict[str, Any]:
    return {**({"model": model} if model else {}), "input": [chat.text for chat in chats]}


def _raw(model: str | None, chats: Sequence[Chat]) -> dict[str, Any]:
    # A softmax over one class makes every answer 1.0; older servers call it `activation`
    return {**_named(model, chats), "use_activation": False}


WIRES: dict[str, Wire] = {
    "vllm_classify": Wire("/classify", _raw, lambda item: item["probs"]),
    "vllm_pooling": Wire("/pooling", _raw, lambda item: item["data"]),
    "sglang_classify": Wire("/v1/classify", _named, lambda item: item["probs"]),
    "sglang_embeddings": Wire("/v1/embeddings", _named, lambda item: item["embedding"]),
    "slime": Wire(
        "",
        lambda _, chats: {"prompt": chats[0].query, "response": chats[0].response, "label": chats[0].label},
        lambda item: item["score"],
        many=False,
    ),
}


def scores(wire: Wire, data: object, size: int, index: int | None, most_tokens: int | None) -> list[float]:
    """The score of each of `size` chats in a server's answer, in the order of the chats.

    Args:
        wire: the kind of server.
        data: the server's answer, parsed.
        size: how many chats were asked about.
        index: which output of the model is the score; None if it has only one.
        most_tokens: the longest input that the model reads; None if the server refuses longer ones itself.

    Raises:
        NoScore: the answer has another form, a number that is none, several outputs and no `index`, or so many that
            they are hidden states; or the server may have cut the input.
    """
    rows = data.get("data") if isinstance(data, Mapping) else None
    for one in [data, *(rows if isinstance(rows, list) else [])]:
        # Beside an error some servers give a default in the place of a score
        if isinstance(one, Mapping) and (one.get("error") or one.get("object") == "error"):
            raise NoScore(f"the answer tells of an error: {str(one)[:200]!r}")
    if not wire.many:
        found = data if not isinstance(data, Mapping) else data.get("score", data.get("reward"))
        return [_number(found)]
    if not isinstance(rows, list) or len(rows) != size or not all(isinstance(row, Mapping) for row in rows):
        raise NoScore(f"data must be a list of {size}, one for each chat, got {str(data)[:200]!r}")
    numbers = [row.get("index", place) for place, row in enumerate(rows)]
    if sorted(map(str, numbers)) != sorted(map(str, range(size))):
        raise NoScore(f"every index from 0 to {size - 1} must stand there once, got {numbers!r:.200}")
    if most_tokens is not None:
        _check_length(data, size, most_tokens)
    found = [0.0] * size
    for number, row in zip(numbers, rows, strict=True):
        found[int(number)] = _score(wire, row, index)
    return found


def _score(wire: Wire, row: Mapping[str, Any], index: int | None) -> float:
    try:
        values = wire.values(row)
    except KeyError as exc:
        raise NoScore(f"an item of data has no {exc.args[0]!r}, only {sorted(row)!r:.200}") from exc
    values = values if isinstance(values, list) else [values]
    if len(values) > _MOST_CLASSES or any(isinstance(value, list) for value in values):
        raise NoScore(
            f"{len(values)} outputs are hidden states and no score: serve the model as a classifier "
            "(vLLM: --runner pooling --convert classify), or choose another wire",
            cause=Cause.CONFIG,
        )
    if len(values) == 1 and index in (None, 0):
        return _number(values[0])
    if index is None or not -len(values) <= index < len(values):
        raise NoScore(f"the model has {len(values)} outputs: set index to that of the score, got {index!r}",
                      cause=Cause.CONFIG)  # fmt: skip
    return _number(values[index])


def _number(value: object) -> float:
    # Compare instead of converting: JSON has integers beyond every float
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise NoScore(f"a score must be a finite number, got {value!r:.100}")
    return float(value)


def _check_length(data: object, size: int, most_tokens: int) -> None:
    usage = data.get("usage") if isinstance(data, Mapping) else None
    read = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
    if type(read) is not int or read < 1:
        raise NoScore(
            "max_tokens is set, and the server does not say how many tokens it read (usage.prompt_tokens): whether it "
            "cut the chat cannot be known",
            cause=Cause.CONFIG,
        )
    if size == 1 and read >= most_tokens:
        # It may have cut off the rest
        raise NoScore(f"the chat has {read} tokens or more, and the model reads {most_tokens}: its end is cut off")


def encoded(wire: Wire, model: str | None, chats: Sequence[Chat]) -> bytes:
    """The body of a request."""
    return json.dumps(wire.body(model, chats)).encode("utf-8", "replace")


Messages = Sequence[Mapping[str, str]]


class ChatFormat:
    """Writes chats for one reward model.

    Special tokens in a message's text, and the words that the template or `text` writes around it, are respelled:
    otherwise an answer could begin a turn of its own, in which somebody praises it.

    Args:
        tokenizer: the folder of the model's tokenizer, as it is downloaded with the model; or None.
        text: in its place, a text with `{query}` and `{response}`.
        where: the key of the section, for messages.

    Raises:
        ConfigError: the folder has no chat template, or the template cannot be read.
    """

    def __init__(self, tokenizer: str | None, text: str | None, where: str) -> None:
        self._text = text
        self._template: Any = None
        self._tokens: tuple[str, ...] = ()
        self._bos = self._eos = ""
        self._strips_bos = False
        if tokenizer is not None:
            self._read(Path(tokenizer), f"{where}.tokenizer")
        elif text is None or "{response}" not in text:
            raise ConfigError(
                f"{where}: give tokenizer, the folder of the model's tokenizer, or a text with {{response}}"
            )
        else:
            self._tokens = headings(text)

    def _read(self, folder: Path, where: str) -> None:
        with told(f"{where} must be a folder with tokenizer_config.json, got {str(folder)!r}"):
            config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
            file = folder / "chat_template.jinja"
            template = file.read_text(encoding="utf-8") if file.is_file() else config.get("chat_template")
            if isinstance(template, list):
                template = next((one["template"] for one in template if one["name"] == "default"), None)
            self._bos, self._eos = _content(config.get("bos_token")), _content(config.get("eos_token"))
        if not isinstance(template, str):
            raise ConfigError(f"{where}: {str(folder)!r} has no chat_template: write the chat by `text`")
        # The server's tokenizer adds its own, and two of them change the score
        self._strips_bos = bool(self._bos) and config.get("add_bos_token") is not False
        tokens = folder / "tokenizer.json"
        self._tokens = special_tokens(str(tokens)) if tokens.is_file() else ()
        self._template = _compiled(template, where)
        # In many templates the head of a turn is no special token, as in "USER: … ASSISTANT: …"
        pair = [{"role": "user", "content": "{query}"}, {"role": "assistant", "content": "{response}"}]
        with contextlib.suppress(JudgeError):
            heads = headings(self.write([*pair, *pair]))
            self._tokens += tuple(head for head in heads if not head.isalpha() and any(map(str.isalpha, head)))

    def write(self, messages: Messages) -> str:
        """The chat as text.

        Raises:
            JudgeError: the template refuses the messages.
        """
        # If one text holds several turns, each has its role before it
        heads = {f"({message['role']})" for message in messages} if self._text and len(messages) > 2 else ()
        tokens = (*self._tokens, *heads)
        safe = [{**message, "content": neutralise(message["content"], tokens=tokens)} for message in messages]
        if self._template is None:
            query, response = parts_of(safe)
            return fill(str(self._text), {"query": query, "response": response})
        # a foreign template may fail in any way
        with told("the chat template refuses these messages", to=JudgeError):
            written: str = self._template.render(
                messages=safe, bos_token=self._bos, eos_token=self._eos, add_generation_prompt=False, tools=None
            )
        return written.removeprefix(self._bos) if self._strips_bos else written


def parts_of(messages: Messages) -> tuple[str, str]:
    """The text before the last answer, and that answer.

    If there are several turns before it, each begins with its role: `(system)`, `(user)`.
    """
    place = max(index for index, message in enumerate(messages) if message["role"] == "assistant")
    before = messages[:place]
    told = [f"({one['role']})\n{one['content']}" if len(before) > 1 else one["content"] for one in before]
    return "\n\n".join(told), messages[place]["content"]


def _content(token: Any) -> str:
    return str(token["content"] if isinstance(token, Mapping) else token or "")


def _compiled(template: str, where: str) -> Any:
    with importing(f"{where}: chat templates need jinja2", "reward-model"):
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment

    def refuse(message: str) -> None:
        raise TemplateError(message)

    world = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    world.filters["tojson"] = lambda value, **_: json.dumps(value, ensure_ascii=False)
    world.globals |= {"raise_exception": refuse, "strftime_now": lambda form: datetime(2024, 7, 26).strftime(form)}
    with told(f"{where}: the chat template cannot be read", TemplateError):
        return world.from_string(template)


WHERE = f"{SECTION}.reward_model"
_READER = Reader()
_DEADLINE_SECONDS = 120.0
_BATCH_BYTES = 2**20
# Requests about a chat whose score cannot be read, before its text may be blamed
_TRIES = 4
# Requests at once about a chat that took too long
_AT_ONCE = 8
_QUESTION = "What is the capital of France?"
# Scores that differ by no more than this share count as equal: half precision alone makes such differences
_ALIKE = 1e-6
# Answers that get different scores from a model that reads them
_PROBES = (HARMLESS, "Paris is the capital of France, a country in western Europe.", "x x x x x x x x")


class RewardModelReads(StrictSection):
    """The paths of a rollout's fields."""

    query: str = USUAL_PATHS["query"]
    response: str = USUAL_PATHS["response"]


class RewardModelConfig(StrictSection):
    """Which reward model is asked, what it is shown, and how its score becomes a reward."""

    #: the server's address, such as http://10.0.0.7:8000; or several of the same server
    url: str | list[str] = Field(description="the address of the server, such as `url: http://127.0.0.1:8000`")
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
    api_key: SecretStr | None = Field(default=None, exclude=True)
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
        if self.max_tokens is not None and self.wire == "slime":
            raise ValueError("wire: slime does not say how many tokens the model read: leave out max_tokens")
        if self.clip[0] >= self.clip[1]:
            raise ValueError(f"clip must be the least and the largest reward, got {self.clip!r}")
        return self


class RewardModelJudge(BaseJudge):
    """`judge_type: reward_model`; configured under `astuner.task_judge.reward_model`, see RewardModelConfig.

    Chats that are asked for at the same time share a request. Before the first verdict of a process, and where
    different chats in a row score alike, the model scores three different answers; one that gives them all the same
    score is refused, for it does not read them. An answer without a visible character earns the least unasked; so does
    one that the server refuses although it takes others.

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
        self.top_reward = mine.clip[1]
        self._format = None if mine.wire == "slime" else ChatFormat(mine.tokenizer, mine.text, WHERE)
        key = mine.api_key.get_secret_value() if mine.api_key else None
        limits = HttpLimits(
            token=key,
            headers=mine.headers,
            deadline=min(section.deadline or _DEADLINE_SECONDS, _DEADLINE_SECONDS),
            max_connections=mine.concurrency,
        )
        self._seconds = limits.deadline
        peer = Peer("reward model's server", endpoint_error, endpoint_error, _refusal, DeadlineError)
        self._exchange = HttpExchange(peer, mine.url, limits, transport)
        self._chats: Gathered[float | JudgeError] = Gathered(
            self._send,
            # Servers report only the sum of the tokens of all chats in a request
            most_rows=mine.max_batch if self._wire.many and mine.max_tokens is None else 1,
            most_bytes=_BATCH_BYTES,
            senders=mine.concurrency,
            patience=limits.deadline,
            # One chat that the server refuses would otherwise take its neighbours' scores away
            again=_may_be_its_fault,
        )
        self._reads = Once()
        self._last, self._alike = ("", 0.0), 1

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        mine = self.settings
        response = _READER.response(mine.reads.response, workflow_task, workflow_output)
        if is_empty(response):
            return Reward(mine.clip[0], False, reason=NO_CONTENT, filtered_by="no_content")
        query = _READER.question(mine.reads.query, workflow_task, workflow_output)
        if query is None:
            raise reference_error(f"{mine.reads.query} is missing: it is null, or NaN")
        reference = as_shown(workflow_task.task.metadata.get("answer"))
        asked, label = _turns(query, "user"), "" if reference is None else str(reference)
        await self._reads.done(self._check_reading)
        score: float | JudgeError
        try:
            chat = self._chat(asked, response, label)
        except JudgeError as exc:
            self._chat(asked, _harmless(response), label)  # a template that refuses these turns, too, is broken
            score, at_fault = exc, True
        else:
            score, at_fault = await self._scored(chat, self._chat(asked, HARMLESS, label))
        if isinstance(score, JudgeError) and at_fault:
            # The answer's own text is the cause, and must not take its verdict away
            told = f"unjudgeable: {score.message}, though others are scored"
            return Reward(mine.clip[0], False, reason=" ".join(told.split()), filtered_by="unjudgeable")
        if isinstance(score, JudgeError):
            raise score
        self._recheck_if_alike(chat.text or chat.response, score)
        await self._reads.done(self._check_reading)
        low, high = mine.clip
        reward = min(high, max(low, (score - mine.center) / mine.scale))
        told = f"reward model {score:.4g}" + (f", {reward:.4g} centered and clipped" if reward != score else "")
        return Reward(reward, reward >= mine.success_threshold, reason=told, metrics={"score": score})

    def _recheck_if_alike(self, shown: str, score: float) -> None:
        """Have the model checked again if 2, 4, 8 … different chats in a row get the same score.

        Another model may be served by now, one that does not read its input.

        Args:
            shown: the chat that got `score`.
            score: its score.
        """
        if self._last[1] != score:
            self._alike = 1
        elif self._last[0] != shown:
            self._alike += 1
            if self._alike & (self._alike - 1) == 0:
                self._reads = Once()
        self._last = (shown, score)

    async def _scored(self, chat: Chat, harmless: Chat) -> tuple[float | JudgeError, bool]:
        """The score of `chat`, or the error; and whether the chat's own text is at fault (whose_fault.py).

        Args:
            chat: the chat.
            harmless: the same chat with a harmless answer, to see whether the server works.
        """
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
                at_fault = await is_to_blame(failed, again, control)
                # `again` may have got a score meanwhile
                return score, at_fault
        except TimeoutError:
            return first, False

    async def aready(self) -> None:
        """Asks the server for the score of a harmless chat."""
        found = await self._ask(self._chat(_turns("Hello", "user"), HARMLESS, ""))
        if isinstance(found, JudgeError):
            raise found

    async def _check_reading(self) -> None:
        """Check that the model gives different answers different scores.

        Raises:
            JudgeError: it gives them all the same score, so it does not read them; or the server failed.
        """
        asked = (self._ask_patiently(self._chat(_turns(_QUESTION, "user"), text, "Paris")) for text in _PROBES)
        found = [score for score, _ in await asyncio.gather(*asked)]
        for one in found:
            if isinstance(one, JudgeError):
                raise one
        numbers = [one for one in found if isinstance(one, float)]
        if max(numbers) - min(numbers) <= _ALIKE * max(1.0, abs(numbers[0])):
            raise config_fault(
                f"{len(_PROBES)} different answers all score {numbers[0]:g}, so that the model does not read them: a "
                "model of one class with its default activation scores 1 always (serve it without, or with "
                "wire: vllm_classify, which turns it off), and a chat that is cut before the answer scores alike"
            )

    def _chat(self, asked: Messages, response: str | Trajectory, label: str) -> Chat:
        messages: Messages = _turns(response, "assistant")
        roles = [message["role"] for message in messages]
        begin = roles.index("assistant")
        if "user" not in roles[:begin]:
            # A completion alone: a model that is shown no question scores it all the same
            messages = [*messages[:begin], *asked, *messages[begin:]]
        return Chat(self._format.write(messages) if self._format else "", *parts_of(messages), label)

    async def _ask(self, chat: Chat) -> float | JudgeError:
        try:
            return await self._chats.ask(_row(chat))
        except DeadlineError as exc:
            return exc

    async def _ask_patiently(self, chat: Chat) -> tuple[float | JudgeError, int]:
        """The score, or the error; and how often the server failed on this chat.

        It is asked a few times if the chat itself may cause the error, but not again once it took too long.
        """
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
        except (NoScore, DeadlineError) as exc:
            return [exc] * len(chats)
        return found


def _harmless(response: str | Trajectory) -> str | Trajectory:
    """A harmless answer in the place of `response`, in as many turns."""
    return Trajectory([HARMLESS] * len(response), response.roles) if isinstance(response, Trajectory) else HARMLESS


def _refusal(status: int, detail: str, where: str) -> JudgeError:
    kind = NoScore if is_about_prompt(status) or status >= 500 else JudgeError
    return kind(f"{where}: the reward model's server answered {status}: {detail[:500]}", cause=Cause.ENDPOINT)


def _may_be_its_fault(found: object) -> bool:
    """Whether `found` is an error that a chat's own text may cause: the server refuses it, fails, or is too slow."""
    return isinstance(found, NoScore | DeadlineError)


def _row(chat: Chat) -> bytes:
    return json.dumps([chat.text, chat.query, chat.response, chat.label]).encode()


def _turns(value: Any, role: str) -> list[dict[str, str]]:
    """`value` as messages: the turns of a Trajectory, or a single message of `role`."""
    if isinstance(value, Trajectory):
        return [{"role": role, "content": text} for role, text in zip(value.roles, value, strict=True)]
    return [{"role": role, "content": value if isinstance(value, str) else as_json(value)}]
