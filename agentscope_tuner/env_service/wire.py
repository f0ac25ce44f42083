"""The env service's protocol for clients, without any I/O: it writes request bodies, and reads HTTP answers.

A function that reads takes the `answer`, and `where`: the call in words, such as `step of instance '1'`, for errors.

Every call but `GET /healthz` is a POST of `{env_type, task_id, instance_id, messages, params}`; a success reads
`{"success": true, "data": …}`, a failure is a 400 or 500 with `{"detail": "…"}`. A score is a finite number; a text of
digits or `true` is none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from agentscope_tuner._http import (
    BadAnswer,
    HttpAnswer,
    an_object,
    detail_of,
    json_object,
    malformed,
    shown,
    text_of,
)
from agentscope_tuner.errors import BadScore, EnvServiceError, InstanceNotFound, told


def finite_score(value: object, instance_id: str) -> float:
    """The environment's score `value` as a float, if it is a finite number of Python or numpy.

    `True`, `"0.8"` and `None` are refused: they show a broken environment, and a guess would reward the policy for it.

    Raises:
        BadScore: `value` is anything else; the message names `instance_id`.
    """
    # True and False are ints to Python
    if not isinstance(value, bool) and isinstance(value, Real):
        try:
            score = float(value)
        except OverflowError:
            score = math.inf
        if math.isfinite(score):
            return score
    kind = type(value).__name__
    raise BadScore(f"instance {instance_id!r}: evaluate must give a finite number, got {_shown(value)} ({kind})")


def _shown(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:
        # Python refuses to print an integer of more than 4,300 digits
        return "a number too long to print"
    return shown if len(shown) <= 200 else f"{shown[:200]}…"


@dataclass(frozen=True, slots=True)
class Created:
    """A new episode: the chat messages that open it (`state`), its id, its task's id, and the environment's `info`."""

    state: list[dict[str, Any]]
    instance_id: str
    task_id: str
    info: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StepResult:
    """The environment's answer to a step: new chat messages (`state`), the step's own reward or None, whether the
    episode has ended, and further `info`.
    """

    state: list[dict[str, Any]]
    reward: float | None
    is_terminated: bool
    info: dict[str, Any]


def read_health(answer: HttpAnswer, where: str) -> bool:
    """True if the answer is `OK`.

    Raises:
        BadAnswer: it is anything else.
    """
    if answer.status != 200 or answer.body.strip().strip(b'"') != b"OK":
        raise BadAnswer(answer.status, text_of(answer.body) or "an empty body instead of 'OK'", where)
    return True


def read_profile(answer: HttpAnswer, where: str) -> list[str]:
    """The ids of tasks in an answer to `get_env_profile`: `["train-0", "train-1"]`."""
    data = read_data(answer, where)
    if not isinstance(data, list) or not all(isinstance(item, str | int) for item in data):
        raise malformed(answer, where, "data must be a list of task ids")
    return [str(item) for item in data]


def read_created(answer: HttpAnswer, where: str, instance_id: str, task_id: str) -> Created:
    """The new episode in an answer to `create`; the service may have replaced the requested ids."""
    data = an_object(answer, where, read_data(answer, where))
    info = an_object(answer, where, data.get("info", {}))
    given = str(info.get("instance_id") or instance_id)
    return Created(_messages(answer, where, data), given, str(info.get("task_id") or task_id), info)


def read_step(answer: HttpAnswer, where: str, instance_id: str) -> StepResult:
    """The result in an answer to `step`."""
    data = an_object(answer, where, read_data(answer, where, instance_id))
    ended = data.get("is_terminated")
    if not isinstance(ended, bool):
        raise malformed(answer, where, f"is_terminated must be true or false, got {ended!r}")
    reward = data.get("reward")
    return StepResult(
        state=_messages(answer, where, data),
        reward=None if reward is None else finite_score(reward, instance_id),
        is_terminated=ended,
        info=an_object(answer, where, data.get("info") or {}),
    )


def read_score(answer: HttpAnswer, where: str, instance_id: str) -> float:
    """The episode's score in an answer to `evaluate`.

    Raises:
        BadScore: it is no finite number.
    """
    return finite_score(read_data(answer, where, instance_id), instance_id)


def read_released(answer: HttpAnswer, where: str, instance_id: str) -> bool:
    """Whether the service has ended the episode, by its answer to `release`; False if it has no such episode."""
    return _envelope(answer, where, instance_id).get("success") is True


def request_body(
    *,
    env_type: str = "default",
    task_id: str | None = None,
    instance_id: str | None = None,
    messages: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
) -> bytes:
    """The JSON body of a POST request, in ASCII.

    Raises:
        EnvServiceError: a value is no mapping, or cannot be written as JSON.
    """
    request = {
        "env_type": env_type,
        "task_id": task_id,
        "instance_id": instance_id,
        "messages": _mapping("messages", messages, instance_id),
        "params": _mapping("params", params, instance_id),
    }
    # ASCII escapes: a policy may write lone surrogates, which no UTF-8 can carry
    unsent = f"instance {instance_id!r}: the request is not JSON, nothing was sent"
    with told(unsent, TypeError, ValueError, RecursionError, to=EnvServiceError):
        return json.dumps(request, allow_nan=False, ensure_ascii=True).encode("ascii")


def _mapping(name: str, value: object, instance_id: str | None) -> dict[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        kind = type(value).__name__
        raise EnvServiceError(f"instance {instance_id!r}: {name} must be a mapping, nothing was sent, got {kind}")
    return dict(value or {})


def _envelope(answer: HttpAnswer, where: str, instance_id: str = "") -> dict[str, Any]:
    """The JSON object in the body of an answer with status 200.

    Raises:
        BadAnswer: the answer has a different status, or no JSON object.
        InstanceNotFound: the service does not know the episode.
    """
    if answer.status != 200:
        raise _refusal(answer, where, instance_id)
    return json_object(answer, where)


def read_data(answer: HttpAnswer, where: str, instance_id: str = "") -> Any:
    """The `data` in a successful answer: any JSON value; raises the errors of a failed answer."""
    envelope = _envelope(answer, where, instance_id)
    if envelope.get("success") is not True or "data" not in envelope:
        raise malformed(answer, where, "no success and data in the body")
    return envelope["data"]


def _refusal(answer: HttpAnswer, where: str, instance_id: str) -> BadAnswer | InstanceNotFound:
    detail = detail_of(answer)
    # Match the whole sentence, because an environment's own error may quote the policy's text
    if answer.status in {400, 404} and detail.strip().rstrip("!.") == f"Instance {instance_id} not found":
        return InstanceNotFound(f"{where}: the env service does not know the instance: released, expired or restarted?")
    return BadAnswer(answer.status, shown(detail) or "an empty body", where)


def _messages(answer: HttpAnswer, where: str, data: Mapping[str, Any]) -> list[dict[str, Any]]:
    state = data.get("state")
    # some environments answer a step with a message instead of a list of one message
    messages = [state] if isinstance(state, dict) else state
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise malformed(answer, where, "state must be a list of chat messages")
    return messages
