"""A chat as a reward model reads it: written by the template of the model's own tokenizer, or by one of two fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError, JudgeError, install
from agentscope_tuner.graders.injection_defence import neutralise, special_tokens
from agentscope_tuner.graders.template import fill, headings

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
