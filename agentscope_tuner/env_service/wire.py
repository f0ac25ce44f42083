"""The env service's protocol, without any I/O: calls become requests, answers become results or errors.

Every call but `GET /healthz` is a POST of `{env_type, task_id, instance_id, messages, params}`; a success reads
`{"success": true, "data": …}`, a failure is a 400 or 500 with `{"detail": "…"}`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from agentscope_tuner._http.answer import (
    BadAnswer,
    HttpAnswer,
    an_object,
    detail_of,
    json_object,
    malformed,
    shown,
    text_of,
)
from agentscope_tuner.env_service.score import finite_score
from agentscope_tuner.errors import EnvServiceError, InstanceNotFound

T = TypeVar("T")


class Verb(StrEnum):
    """The calls of the service; the value is the path."""

    HEALTHZ = "healthz"
    PROFILE = "get_env_profile"
    CREATE = "create"
    STEP = "step"
    EVALUATE = "evaluate"
    INFO = "get_info"
    RELEASE = "release"

    @property
    def repeatable(self) -> bool:
        """Whether a second call changes nothing. A second create resets the episode; a second step is played, too."""
        return self in {Verb.HEALTHZ, Verb.PROFILE, Verb.EVALUATE, Verb.INFO}


@dataclass(frozen=True, slots=True)
class EnvCall(Generic[T]):
    """One request and how to read its answer.

    Attributes:
        body: the JSON to POST; None for a GET.
        where: the call in words, for messages: `evaluate of instance 'x'`.
        parse: the result in an answer; raises a `BadAnswer` or an `EnvServiceError` when there is none.
        instance_id: the id of the episode, which must exist already; empty for calls without an episode.
    """

    verb: Verb
    body: bytes | None
    where: str
    parse: Callable[[HttpAnswer], T]
    instance_id: str = ""


@dataclass(frozen=True, slots=True)
class Created:
    """A fresh episode: its opening chat messages, its id, its task, and further information from the environment."""

    state: list[dict[str, Any]]
    instance_id: str
    task_id: str
    info: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a step: new chat messages, the step's own reward (or None), whether the episode ended."""

    state: list[dict[str, Any]]
    reward: float | None
    is_terminated: bool
    info: dict[str, Any]


def healthz() -> EnvCall[bool]:
    """Asks whether the service is up; anything but `OK` is an error."""
    where = Verb.HEALTHZ.value

    def parse(answer: HttpAnswer) -> bool:
        if answer.status != 200 or answer.body.strip().strip(b'"') != b"OK":
            raise BadAnswer(answer.status, text_of(answer.body) or "an empty body instead of 'OK'", where)
        return True

    return EnvCall(Verb.HEALTHZ, None, where, parse)


def get_env_profile(env_type: str, split: str, params: Mapping[str, Any] | None) -> EnvCall[list[str]]:
    """Asks for the ids of the tasks that `env_type` has in `split`."""
    where = f"get_env_profile of {env_type!r}"

    def parse(answer: HttpAnswer) -> list[str]:
        data = _data(answer, where)
        if not isinstance(data, list) or not all(isinstance(item, str | int) for item in data):
            raise malformed(answer, where, "data must be a list of task ids")
        return [str(item) for item in data]

    body = _body(env_type=env_type, params={"split": split, **(params or {})})
    return EnvCall(Verb.PROFILE, body, where, parse)


def create(env_type: str, task_id: str, instance_id: str, params: Mapping[str, Any] | None) -> EnvCall[Created]:
    """Starts an episode of `task_id` under `instance_id`."""
    where = f"create of instance {instance_id!r} ({env_type!r}, task {task_id!r})"

    def parse(answer: HttpAnswer) -> Created:
        data = an_object(answer, where, _data(answer, where))
        info = an_object(answer, where, data.get("info", {}))
        # the service may have replaced the id
        given = str(info.get("instance_id") or instance_id)
        return Created(_messages(answer, where, data), given, str(info.get("task_id") or task_id), info)

    body = _body(env_type=env_type, task_id=task_id, instance_id=instance_id, params=params)
    return EnvCall(Verb.CREATE, body, where, parse)


def step(instance_id: str, action: Mapping[str, Any], params: Mapping[str, Any] | None) -> EnvCall[StepResult]:
    """Plays `action`, a chat message, in the episode."""
    where = f"step of instance {instance_id!r}"

    def parse(answer: HttpAnswer) -> StepResult:
        data = an_object(answer, where, _data(answer, where, instance_id))
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

    return EnvCall(Verb.STEP, _body(instance_id=instance_id, messages=action, params=params), where, parse, instance_id)


def evaluate(instance_id: str, messages: Mapping[str, Any] | None, params: Mapping[str, Any] | None) -> EnvCall[float]:
    """Asks for the episode's score, a finite number."""
    where = f"evaluate of instance {instance_id!r}"

    def parse(answer: HttpAnswer) -> float:
        return finite_score(_data(answer, where, instance_id), instance_id)

    body = _body(instance_id=instance_id, messages=messages, params=params)
    return EnvCall(Verb.EVALUATE, body, where, parse, instance_id)


def get_info(instance_id: str, messages: Mapping[str, Any] | None, params: Mapping[str, Any] | None) -> EnvCall[Any]:
    """Asks what the environment tells about the episode: any JSON value."""
    where = f"get_info of instance {instance_id!r}"

    def parse(answer: HttpAnswer) -> Any:
        return _data(answer, where, instance_id)

    body = _body(instance_id=instance_id, messages=messages, params=params)
    return EnvCall(Verb.INFO, body, where, parse, instance_id)


def release(instance_id: str) -> EnvCall[bool]:
    """Ends the episode; False when the service does not know it."""
    where = f"release of instance {instance_id!r}"

    def parse(answer: HttpAnswer) -> bool:
        return _envelope(answer, where, instance_id).get("success") is True

    return EnvCall(Verb.RELEASE, _body(instance_id=instance_id), where, parse, instance_id)


def _body(
    *,
    env_type: str = "default",
    task_id: str | None = None,
    instance_id: str | None = None,
    messages: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
) -> bytes:
    request = {
        "env_type": env_type,
        "task_id": task_id,
        "instance_id": instance_id,
        "messages": _mapping("messages", messages, instance_id),
        "params": _mapping("params", params, instance_id),
    }
    # ASCII escapes: a policy may write lone surrogates, which no UTF-8 can carry
    try:
        return json.dumps(request, allow_nan=False, ensure_ascii=True).encode("ascii")
    except (TypeError, ValueError, RecursionError) as exc:
        raise EnvServiceError(f"instance {instance_id!r}: the request is not JSON, nothing was sent: {exc}") from exc


def _mapping(name: str, value: object, instance_id: str | None) -> dict[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        kind = type(value).__name__
        raise EnvServiceError(f"instance {instance_id!r}: {name} must be a mapping, nothing was sent, got {kind}")
    return dict(value or {})


def _envelope(answer: HttpAnswer, where: str, instance_id: str = "") -> dict[str, Any]:
    """The JSON object of an answer with status 200."""
    if answer.status != 200:
        raise _refusal(answer, where, instance_id)
    return json_object(answer, where)


def _data(answer: HttpAnswer, where: str, instance_id: str = "") -> Any:
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
