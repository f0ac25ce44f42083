"""Replies of a chat model on the wire, whole or as a stream of chunks, for tests.judge_server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.judge_server import Body, Canned

PLAIN = Canned()
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True)
class Say:
    """What the model says. `tools` are names and arguments of the functions it calls."""

    text: str = ""
    tools: Sequence[tuple[str, str]] = ()
    thoughts: str = ""
    finish: str | None = "stop"
    logprobs: bool = False
    usage: Mapping[str, int] | None = None
    how: Canned = PLAIN

    def canned(self, body: Body) -> Canned:
        """As the request wants it."""
        if self.how is PLAIN or self.how.cut:
            return replace(self.how, raw=self._stream(body) if body.get("stream") else json.dumps(self._whole(body)))
        return self.how

    @property
    def _finish(self) -> str | None:
        return "tool_calls" if self.tools and self.finish == "stop" else self.finish

    def _calls(self) -> list[dict[str, Any]]:
        return [
            {"index": at, "id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for at, (name, arguments) in enumerate(self.tools)
        ]

    def _logprobs(self, body: Body, text: str) -> dict[str, Any] | None:
        if not (self.logprobs and body.get("logprobs")):
            return None
        return {"content": [{"token": t, "logprob": -len(t) / 8, "top_logprobs": []} for t in pieces(text)]}

    def _whole(self, body: Body) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.thoughts:
            message["reasoning_content"] = self.thoughts
        if self.tools:
            message["tool_calls"] = self._calls()
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": self._finish,
            "logprobs": self._logprobs(body, self.text),
        }
        return {**_head(body), "object": "chat.completion", "choices": [choice], "usage": self.usage or USAGE}

    def _stream(self, body: Body) -> str:
        deltas: list[tuple[dict[str, Any], str | None, dict[str, Any] | None]] = [({"role": "assistant"}, None, None)]
        deltas += [({"reasoning_content": part}, None, None) for part in pieces(self.thoughts)]
        deltas += [({"content": part}, None, self._logprobs(body, part)) for part in pieces(self.text)]
        for call in self._calls():
            arguments = call["function"]["arguments"]
            half = len(arguments) // 2
            first = {**call, "function": {**call["function"], "arguments": arguments[:half]}}
            rest = {"index": call["index"], "function": {"arguments": arguments[half:]}}
            deltas += [({"tool_calls": [first]}, None, None), ({"tool_calls": [rest]}, None, None)]
        if self._finish is not None:
            deltas.append(({}, self._finish, None))
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": logprobs}]}
            for delta, finish, logprobs in deltas
        ]
        chunks.append({"choices": [], "usage": self.usage or USAGE})
        lines = [
            json.dumps({**_head(body), "object": "chat.completion.chunk", "usage": None, **chunk}) for chunk in chunks
        ]
        return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])


def _head(body: Body) -> dict[str, Any]:
    return {"id": "x", "created": 0, "model": body["model"]}


def pieces(text: str) -> list[str]:
    """Words with the blanks before them: tokens, near enough."""
    return re.findall(r"\s*\S+", text)


def last_text(body: Body) -> str:
    """What the last message of a request says."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def in_turn(*says: Say) -> Callable[[Body, int], Canned]:
    """One reply after the other; the last one goes on."""
    left = list(says)
    return lambda body, attempt: (left.pop(0) if len(left) > 1 else left[0]).canned(body)


def each(choose: Callable[[Body], Say]) -> Callable[[Body, int], Canned]:
    """A reply that depends on the request."""
    return lambda body, attempt: choose(body).canned(body)
