"""The wires of servers of reward models: a request for several chats, and a score for each, or a reason why not.

`ChatFormat` writes a chat as the model reads it: by the template of its own tokenizer, or by one text with fields.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from agentscope_tuner.errors import Cause, ConfigError, JudgeError, install
from agentscope_tuner.graders.injection_defence import neutralise, special_tokens
from agentscope_tuner.graders.template import fill, headings

WireName = Literal["vllm_classify", "vllm_pooling", "sglang_classify", "sglang_embeddings", "slime"]

# Heads of reward models have one or a few outputs; more are a layer's hidden states
_MOST_CLASSES = 32


class NoScore(JudgeError):
    """The server answered, and its answer is no score of a reward model."""

    cause = Cause.ENDPOINT


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat to be scored: as the model reads it, and in parts for the one wire that takes parts."""

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


def _named(model: str | None, fields: dict[str, Any]) -> dict[str, Any]:
    return {**({"model": model} if model else {}), **fields}


def _texts(chats: Sequence[Chat]) -> list[str]:
    return [chat.text for chat in chats]


WIRES: dict[str, Wire] = {
    # use_activation: a softmax over one class makes every answer 1.0; older servers call it `activation`
    "vllm_classify": Wire(
        "/classify",
        lambda model, chats: _named(model, {"input": _texts(chats), "use_activation": False}),
        lambda item: item["probs"],
    ),
    "vllm_pooling": Wire(
        "/pooling",
        lambda model, chats: _named(model, {"input": _texts(chats), "use_activation": False}),
        lambda item: item["data"],
    ),
    "sglang_classify": Wire(
        "/v1/classify", lambda model, chats: _named(model, {"input": _texts(chats)}), lambda item: item["probs"]
    ),
    "sglang_embeddings": Wire(
        "/v1/embeddings", lambda model, chats: _named(model, {"input": _texts(chats)}), lambda item: item["embedding"]
    ),
    "slime": Wire(
        "",
        lambda _, chats: {"prompt": chats[0].query, "response": chats[0].response, "label": chats[0].label},
        lambda item: item["score"],
        many=False,
    ),
}


def scores(wire: Wire, data: object, size: int, index: int | None, most_tokens: int | None) -> list[float]:
    """The score of each of `size` chats in a server's answer.

    Args:
        wire: of the server.
        data: its answer, parsed.
        size: how many chats were asked about.
        index: which output of the model is the score; None where it has one.
        most_tokens: the longest input that the model reads; None where the server refuses longer ones itself.

    Raises:
        NoScore: the answer has another form, a number that is none, several outputs and no `index`, or so many that
            they are hidden states; or the server may have cut the input.
    """
    if not wire.many:
        found = data if not isinstance(data, Mapping) else data.get("score", data.get("reward"))
        return [_number(found)]
    rows = data.get("data") if isinstance(data, Mapping) else None
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
    if type(read) is not int:
        raise NoScore(
            "max_tokens is set, and the server does not say how many tokens it read (usage.prompt_tokens): whether it "
            "cut the chat cannot be known",
            cause=Cause.CONFIG,
        )
    if size == 1 and read >= most_tokens:
        raise TooLong(f"the chat has {read} tokens or more, and the model reads {most_tokens}: its end is cut off")


class TooLong(NoScore):
    """The server read as many tokens of one chat as the model can read, so that it may have cut off the rest."""


def encoded(wire: Wire, model: str | None, chats: Sequence[Chat]) -> bytes:
    """The body of a request."""
    return json.dumps(wire.body(model, chats)).encode("utf-8", "replace")


Messages = Sequence[Mapping[str, str]]


class ChatFormat:
    """Writes chats for one reward model.

    Special tokens in a message's text, and the words around the fields of `text`, are respelled: otherwise an answer
    could begin a turn of its own, in which somebody praises it.

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
        try:
            config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
            file = folder / "chat_template.jinja"
            template = file.read_text(encoding="utf-8") if file.is_file() else config.get("chat_template")
            if isinstance(template, list):
                template = next((one["template"] for one in template if one["name"] == "default"), None)
            self._bos, self._eos = _content(config.get("bos_token")), _content(config.get("eos_token"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
            raise ConfigError(
                f"{where} must be a folder with tokenizer_config.json, got {str(folder)!r}: {exc}"
            ) from exc
        if not isinstance(template, str):
            raise ConfigError(f"{where}: {str(folder)!r} has no chat_template: write the chat by `text`")
        # The server's tokenizer adds its own, and two of them change the score
        self._strips_bos = bool(self._bos) and config.get("add_bos_token") is not False
        tokens = folder / "tokenizer.json"
        self._tokens = special_tokens(str(tokens)) if tokens.is_file() else ()
        self._template = _compiled(template, where)

    def write(self, messages: Messages) -> str:
        """The chat as text.

        Raises:
            JudgeError: the template refuses the messages.
        """
        safe = [{**message, "content": neutralise(message["content"], tokens=self._tokens)} for message in messages]
        if self._template is None:
            last = {message["role"]: message["content"] for message in safe}
            return fill(str(self._text), {"query": last.get("user", ""), "response": last.get("assistant", "")})
        try:
            written: str = self._template.render(
                messages=safe, bos_token=self._bos, eos_token=self._eos, add_generation_prompt=False, tools=None
            )
        except Exception as exc:  # a foreign template may fail in any way
            raise JudgeError(f"the chat template refuses these messages: {exc}") from exc
        return written.removeprefix(self._bos) if self._strips_bos else written


def _content(token: Any) -> str:
    return str(token["content"] if isinstance(token, Mapping) else token or "")


def _compiled(template: str, where: str) -> Any:
    try:
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError as exc:
        raise ConfigError(f"{where}: chat templates need jinja2: {install('reward-model')}") from exc
    from jinja2 import TemplateError

    def refuse(message: str) -> None:
        raise TemplateError(message)

    world = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    world.filters["tojson"] = lambda value, **_: json.dumps(value, ensure_ascii=False)
    world.globals |= {"raise_exception": refuse, "strftime_now": lambda form: datetime(2024, 7, 26).strftime(form)}
    try:
        return world.from_string(template)
    except TemplateError as exc:
        raise ConfigError(f"{where}: the chat template cannot be read: {exc}") from exc
