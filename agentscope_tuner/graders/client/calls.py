"""Keeps the prompts to judge models about a verdict, and their replies, for a person to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agentscope_tuner.graders.prompt.template import ChatMessage

#: Bounds on the calls kept for one verdict, and on the characters of one message or reply: a row must stay small.
MOST_CALLS = 16
MOST_CHARS = 20_000

#: `model`, `messages` (each a `role` and its `content`), and either the `reply` or the `error`.
JudgeCall = Mapping[str, Any]

_CALLS: ContextVar[list[JudgeCall] | None] = ContextVar("calls", default=None)


@contextmanager
def recorded() -> Iterator[list[JudgeCall]]:
    """The first `MOST_CALLS` calls that graders and their tasks make inside the `with` block."""
    calls: list[JudgeCall] = []
    token = _CALLS.set(calls)
    try:
        yield calls
    finally:
        _CALLS.reset(token)


def record_call(model: str, messages: Callable[[], Sequence[ChatMessage]], *, reply: str = "", error: str = "") -> None:
    """Keep a call of the current verdict, if calls are kept; otherwise `messages` is not called."""
    calls = _CALLS.get()
    if calls is None or len(calls) >= MOST_CALLS:
        return
    asked = [{"role": message.role, "content": _shortened(message.content)} for message in messages()]
    told = {"error": _shortened(error)} if error else {"reply": _shortened(reply)}
    calls.append({"model": model, "messages": asked, **told})


def _shortened(text: str) -> str:
    """`text`, or the beginning and the end of one that is longer than `MOST_CHARS`."""
    if len(text) <= MOST_CHARS:
        return text
    half = MOST_CHARS // 2
    return f"{text[:half]} […{len(text) - 2 * half} characters…] {text[-half:]}"
