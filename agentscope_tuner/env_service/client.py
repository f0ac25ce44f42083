"""Clients of an env service, a server that runs the environments in which agents play their episodes.

They are `AsyncEnvServiceClient`, and `EnvServiceClient` for callers that do not await.

A repeated request must do no harm. Evaluate, get_info, profile and healthz change nothing, so they are tried again
after every temporary failure. Create, step and release are tried again only if the first request surely did not arrive.

`GymEnv` is one episode: the handle that a workflow finds in `workflow_task.gym_env`.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

from agentscope_tuner._http import HttpAnswer, HttpCall, HttpLimits, Peer, check_number
from agentscope_tuner._http.client import HttpExchange
from agentscope_tuner._run import loops
from agentscope_tuner.env_service import wire
from agentscope_tuner.env_service.wire import Created, StepResult
from agentscope_tuner.errors import (
    ConfigError,
    EnvServerError,
    EnvServiceError,
    EnvTimeout,
    EnvUnreachable,
    InstanceNotFound,
)

P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger(__name__)

#: Seconds one try of a verb may take, from connecting to the last byte of the answer.
TIMEOUTS: Mapping[str, float] = {
    "healthz": 5.0,
    "get_env_profile": 30.0,
    "create": 60.0,
    "step": 60.0,
    "evaluate": 120.0,
    "get_info": 30.0,
    "release": 10.0,
}
# Calls that change nothing when they are repeated. A second create resets the episode; a second step is played, too
_REPEATABLE = frozenset({"healthz", "get_env_profile", "evaluate", "get_info"})
# Calls that do not wait for a service that restarts: healthz is asked to know its state now, and release is best effort
_IMPATIENT = frozenset({"healthz", "release"})

_ENV_SERVICE = Peer("env service", EnvUnreachable, EnvTimeout, EnvServerError)


@dataclass(frozen=True, slots=True)
class ClientOptions(HttpLimits):
    """A client's limits: those of `HttpLimits`, and a time limit for each verb (kind of request).

    Attributes:
        timeouts: seconds that one try may take, by verb, in place of those in `TIMEOUTS`: `{"step": 120.0}`.
    """

    timeouts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.timeouts) - set(TIMEOUTS)):
            raise ConfigError(f"timeouts names no verb of the env service: {unknown!r}; there are {sorted(TIMEOUTS)!r}")
        for verb, seconds in self.timeouts.items():
            check_number(f"timeouts[{verb!r}]", seconds)
        # Not a bare super(): with slots, dataclass makes a new class, which a bare super() does not know
        HttpLimits.__post_init__(self)


class AsyncEnvServiceClient:
    """An async client of an env service, over HTTP. Any number of tasks and event loops may share it.

    Every method raises an `EnvServiceError` when it got no usable answer: `EnvUnreachable`, `EnvTimeout`,
    `InstanceNotFound`, `BadScore` or `EnvServerError`. Calls that may be repeated without harm are tried again first. A
    step or a create is sent again only when the first request surely did not arrive.

    Args:
        base_url: `http://host:port` of the service, or several URLs: if one does not answer, the next is asked. An
            episode is played on the service that created it.
        options: the bearer token, timeouts and limits.
        transport: replaces the network in tests: `httpx.MockTransport`.

    Raises:
        ConfigError: `base_url` is not an http URL.
    """

    def __init__(
        self,
        base_url: str | Sequence[str],
        options: ClientOptions | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._options = options or ClientOptions()
        self._exchange = HttpExchange(_ENV_SERVICE, base_url, self._options, transport)

    async def healthz(self) -> bool:
        """True if the service is running; otherwise an EnvServiceError is raised."""
        return await self._ask("healthz", "healthz", None, wire.read_health)

    async def get_env_profile(
        self, env_type: str, split: str = "train", params: Mapping[str, Any] | None = None
    ) -> list[str]:
        """The ids of the tasks that the environment `env_type` has in `split`: `["train-0", "train-1", …]`."""
        body = wire.request_body(env_type=env_type, params={"split": split, **(params or {})})
        return await self._ask("get_env_profile", f"get_env_profile of {env_type!r}", body, wire.read_profile)

    async def create_instance(
        self, env_type: str, task_id: str, instance_id: str | None = None, params: Mapping[str, Any] | None = None
    ) -> Created:
        """Start an episode of the task `task_id`, and return its first chat messages and its id.

        Without an `instance_id` it gets a new id; the id of a running episode would reset that episode.
        """
        name = instance_id or uuid.uuid4().hex
        where = f"create of instance {name!r} ({env_type!r}, task {task_id!r})"
        body = wire.request_body(env_type=env_type, task_id=task_id, instance_id=name, params=params)
        read = partial(wire.read_created, instance_id=name, task_id=task_id)
        return await self._ask("create", where, body, read, home_of=lambda created: created.instance_id)

    async def step(
        self, instance_id: str, action: Mapping[str, Any], params: Mapping[str, Any] | None = None
    ) -> StepResult:
        """Play `action`, a chat message such as `{"role": "assistant", "content": "left"}`, and return the result.

        After any error except `InstanceNotFound` and status 4xx it is unknown whether the action was played.
        """
        return await self._ask_about(instance_id, "step", wire.read_step, action, params)

    async def evaluate(
        self, instance_id: str, messages: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None
    ) -> float:
        """The episode's score, by the environment: any finite number, and 1 or more if the task is solved."""
        return await self._ask_about(instance_id, "evaluate", wire.read_score, messages, params)

    async def get_info(
        self, instance_id: str, messages: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        """The environment's information about the episode: any JSON value."""
        return await self._ask_about(instance_id, "get_info", wire.read_data, messages, params)

    async def release_instance(self, instance_id: str) -> bool:
        """End the episode; True if the service confirms it.

        A failure is logged and gives False, because an exception would hide the episode's own error. The service ends
        idle episodes by itself.
        """
        try:
            return await self._ask_about(instance_id, "release", wire.read_released)
        # boundary: nothing may hide the error of the episode's own block; False says that the release failed
        except Exception as exc:  # noqa: BLE001
            logger.warning("instance %r was not released: %s", instance_id, exc)
            return False

    async def _ask_about(
        self,
        instance_id: str,
        verb: str,
        read: Callable[[HttpAnswer, str, str], T],
        messages: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> T:
        body = wire.request_body(instance_id=instance_id, messages=messages, params=params)
        where = f"{verb} of instance {instance_id!r}"
        return await self._ask(verb, where, body, lambda answer, where: read(answer, where, instance_id), instance_id)

    async def _ask(
        self,
        verb: str,
        where: str,
        body: bytes | None,
        read: Callable[[HttpAnswer, str], T],
        instance_id: str = "",
        home_of: Callable[[T], str] | None = None,
    ) -> T:
        call = HttpCall(
            path=f"/{verb}",
            body=body,
            where=where,
            parse=lambda answer: read(answer, where),
            seconds=self._options.timeouts.get(verb, TIMEOUTS[verb]),
            repeatable=verb in _REPEATABLE,
            patient=verb not in _IMPATIENT,
            # A service may drop the connection after this answer: no call that must not be repeated may use it next
            apart=verb == "evaluate",
            home=instance_id,
            home_of=home_of,
            unknown_here=(InstanceNotFound,),
        )
        return await self._exchange.run(call)

    async def aclose(self) -> None:
        """Close the connections of the running event loop. A later call opens new ones."""
        await self._exchange.aclose()

    async def __aenter__(self) -> AsyncEnvServiceClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


_Async = Callable[Concatenate[AsyncEnvServiceClient, P], Coroutine[Any, Any, T]]


def _blocking(method: _Async[P, T]) -> Callable[Concatenate[EnvServiceClient, P], T]:
    """The async `method` of AsyncEnvServiceClient as a method of EnvServiceClient, which waits for the result."""

    def call(self: EnvServiceClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return loops.run(method(self._client, *args, **kwargs))

    update_wrapper(call, method)
    return call


class EnvServiceClient:
    """`AsyncEnvServiceClient` for callers that do not await, with the same methods, arguments, results and errors.

    It works from any thread and inside a running event loop, because the requests run on astuner's background loop. So
    a deadline holds even while a name is being resolved, or while headers arrive slowly.
    """

    def __init__(
        self,
        base_url: str | Sequence[str],
        options: ClientOptions | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._client = AsyncEnvServiceClient(base_url, options, transport=transport)

    healthz = _blocking(AsyncEnvServiceClient.healthz)
    get_env_profile = _blocking(AsyncEnvServiceClient.get_env_profile)
    create_instance = _blocking(AsyncEnvServiceClient.create_instance)
    step = _blocking(AsyncEnvServiceClient.step)
    evaluate = _blocking(AsyncEnvServiceClient.evaluate)
    get_info = _blocking(AsyncEnvServiceClient.get_info)
    release_instance = _blocking(AsyncEnvServiceClient.release_instance)
    close = _blocking(AsyncEnvServiceClient.aclose)

    def __enter__(self) -> EnvServiceClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class GymEnv:
    """The handle of one episode: `with GymEnv(client, env_type, task_id) as env:` creates it, and always releases it.

    A workflow finds it in `workflow_task.gym_env`, and plays by `step`. A step whose request failed may or may not have
    been played. So the episode is broken from then on: later steps and evaluations raise an error. Otherwise a workflow
    that swallowed the first error would be scored for an episode that the network ended.

    Args:
        client: the service's client, which this handle does not close.
        env_type: the kind of environment, such as `frozenlake`.
        task_id: the task to play.
        instance_id: the id of the episode, to be put into `workflow_task.task_env_uuid`, too; by default a new id.
        params: parameters for the environment's creation.

    Attributes:
        instance_id: the id of the episode; the service may replace it at creation.
        state: the chat messages that open the episode; empty before it is created.
        turn_rewards: the reward of each step so far, as the environment answered; None for a step without a reward.
    """

    def __init__(
        self,
        client: EnvServiceClient,
        env_type: str,
        task_id: str,
        *,
        instance_id: str | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self.client = client
        self.env_type = env_type
        self.task_id = task_id
        self.instance_id = instance_id or uuid.uuid4().hex
        self.state: list[dict[str, Any]] = []
        self.turn_rewards: list[float | None] = []
        self._params = params
        self._broken: BaseException | None = None
        self._scores: dict[str, float] = {}

    def create(self) -> Created:
        """Start the episode, and return its first chat messages; `with` does this."""
        created = self.client.create_instance(self.env_type, self.task_id, self.instance_id, self._params)
        self.instance_id = created.instance_id
        self.state = created.state
        return created

    def step(self, action: Mapping[str, Any], params: Mapping[str, Any] | None = None) -> StepResult:
        """Play `action`, a chat message such as `{"role": "assistant", "content": "left"}`, and return the result.

        Raises:
            EnvServiceError: the request failed. The episode may go on after a status 4xx, since it may be unchanged;
                any other failure breaks it, except that the service does not know the episode.
        """
        self._raise_if_broken("step")
        self._scores.clear()
        try:
            result = self.client.step(self.instance_id, action, params)
        except BaseException as exc:
            # BaseException, because after Ctrl-C, too, it is unknown whether the step was played
            refused = isinstance(exc, EnvServerError) and 400 <= exc.status < 500
            if not refused and not isinstance(exc, InstanceNotFound):
                self._broken = exc
            raise
        self.turn_rewards.append(result.reward)
        return result

    def evaluate(
        self,
        instance_id: str | None = None,
        params: Mapping[str, Any] | None = None,
        messages: Mapping[str, Any] | None = None,
    ) -> float:
        """The episode's score, by the environment; it is requested once and kept until the next step.

        Args:
            instance_id: may be left out; if given, it must be this episode's.
            params: parameters for the environment's evaluation.
            messages: chat messages for the environment's evaluation, if it reads any.

        Raises:
            EnvServiceError: there is no score, or the request of an earlier step failed.
        """
        if instance_id is not None and instance_id != self.instance_id:
            raise EnvServiceError(f"this handle plays instance {self.instance_id!r}, asked to evaluate {instance_id!r}")
        self._raise_if_broken("evaluate")
        key = repr((sorted((params or {}).items()), sorted((messages or {}).items())))
        if key not in self._scores:
            self._scores[key] = self.client.evaluate(self.instance_id, messages=messages, params=params)
        return self._scores[key]

    def get_info(self, params: Mapping[str, Any] | None = None) -> Any:
        """The environment's information about the episode: any JSON value."""
        return self.client.get_info(self.instance_id, params=params)

    def release(self) -> bool:
        """End the episode; False if that failed. `with` does this. A score that was requested before is kept."""
        return self.client.release_instance(self.instance_id)

    def _raise_if_broken(self, verb: str) -> None:
        if self._broken is not None:
            told = f"start a new episode: {type(self._broken).__name__}: {self._broken}"
            failed = f"{verb} of instance {self.instance_id!r}: an earlier step failed and may have been played"
            raise EnvServiceError(f"{failed}, {told}") from self._broken

    def __enter__(self) -> GymEnv:
        try:
            self.create()
        except BaseException:
            # After a lost answer or Ctrl-C the service may still hold the episode
            self.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
