"""Clients of an env service: `AsyncEnvServiceClient`, and `EnvServiceClient` for callers that do not await.

A second request must do no harm. Evaluate, get_info, profile and healthz change nothing, so they are tried again after
every failure that may pass. Create, step and release are tried again only when the first request surely did not arrive.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

import httpx

from agentscope_tuner import _loop
from agentscope_tuner._http.answer import HttpCall
from agentscope_tuner._http.exchange import HttpExchange
from agentscope_tuner._http.limits import Peer
from agentscope_tuner.env_service import wire
from agentscope_tuner.env_service.options import ClientOptions
from agentscope_tuner.env_service.wire import Created, EnvCall, StepResult, Verb
from agentscope_tuner.errors import EnvServerError, EnvTimeout, EnvUnreachable, InstanceNotFound

T = TypeVar("T")
logger = logging.getLogger(__name__)

_ENV_SERVICE = Peer("env service", EnvUnreachable, EnvTimeout, EnvServerError)


class AsyncEnvServiceClient:
    """An async client of an env service, over HTTP. Any number of tasks and event loops may share it.

    Every method raises an `EnvServiceError` when it got no usable answer: `EnvUnreachable`, `EnvTimeout`,
    `InstanceNotFound`, `BadScore` or `EnvServerError`. Calls that may be repeated without harm are tried again first. A
    step or a create is sent again only when the first request surely did not arrive.

    Args:
        base_url: `http://host:port` of the service, or several URLs: when one does not answer, the next is asked; an
            episode is played where it was created.
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
        """True when the service is up; raises otherwise."""
        return await self._result(wire.healthz())

    async def get_env_profile(
        self, env_type: str, split: str = "train", params: Mapping[str, Any] | None = None
    ) -> list[str]:
        """The ids of the tasks that `env_type` has in `split`."""
        return await self._result(wire.get_env_profile(env_type, split, params))

    async def create_instance(
        self, env_type: str, task_id: str, instance_id: str | None = None, params: Mapping[str, Any] | None = None
    ) -> Created:
        """Starts an episode. Without an `instance_id` it gets a fresh one; a known one would reset that episode."""
        return await self._result(wire.create(env_type, task_id, instance_id or uuid.uuid4().hex, params))

    async def step(
        self, instance_id: str, action: Mapping[str, Any], params: Mapping[str, Any] | None = None
    ) -> StepResult:
        """Plays `action`, a chat message such as `{"role": "assistant", "content": "left"}`.

        After any error but `InstanceNotFound` and status 4xx it is unknown whether the action was played.
        """
        return await self._result(wire.step(instance_id, action, params))

    async def evaluate(
        self, instance_id: str, messages: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None
    ) -> float:
        """The episode's score: any finite number, and 1 or more when the task is solved."""
        return await self._result(wire.evaluate(instance_id, messages, params))

    async def get_info(
        self, instance_id: str, messages: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        """What the environment tells about the episode: any JSON value."""
        return await self._result(wire.get_info(instance_id, messages, params))

    async def release_instance(self, instance_id: str) -> bool:
        """Ends the episode, best effort: True when the service confirms it.

        A failure is logged and gives False, because an exception would hide the episode's own error. The service
        releases idle instances by itself.
        """
        try:
            return await self._result(wire.release(instance_id))
        # boundary: nothing may hide the error of the episode's own block; False says that the release failed
        except Exception as exc:  # noqa: BLE001
            logger.warning("instance %r was not released: %s", instance_id, exc)
            return False

    async def _result(self, call: EnvCall[T]) -> T:
        return await self._exchange.run(
            HttpCall(
                path=f"/{call.verb.value}",
                body=call.body,
                where=call.where,
                parse=call.parse,
                seconds=self._options.timeout(call.verb),
                repeatable=call.verb.repeatable,
                # No retries: a caller of healthz wants to know now, and the end of an episode waits for no restart.
                patient=call.verb not in {Verb.HEALTHZ, Verb.RELEASE},
                # A service may drop the connection after this answer: no call that must not be repeated may inherit it
                apart=call.verb is Verb.EVALUATE,
                home=call.instance_id,
                home_of=_created_id if call.verb is Verb.CREATE else None,
                unknown_here=(InstanceNotFound,),
            )
        )

    async def aclose(self) -> None:
        """Closes the running loop's connections. A later call opens new ones."""
        await self._exchange.aclose()

    async def __aenter__(self) -> AsyncEnvServiceClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


def _created_id(created: object) -> str:
    assert isinstance(created, Created)
    return created.instance_id


class EnvServiceClient:
    """`AsyncEnvServiceClient` for callers that do not await, with the same arguments, results and errors.

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

    def healthz(self) -> bool:
        """True when the service is up; raises otherwise."""
        return _loop.run(self._client.healthz())

    def get_env_profile(
        self, env_type: str, split: str = "train", params: Mapping[str, Any] | None = None
    ) -> list[str]:
        """The ids of the tasks that `env_type` has in `split`."""
        return _loop.run(self._client.get_env_profile(env_type, split, params))

    def create_instance(
        self, env_type: str, task_id: str, instance_id: str | None = None, params: Mapping[str, Any] | None = None
    ) -> Created:
        """Starts an episode. Without an `instance_id` it gets a fresh one; a known one would reset that episode."""
        return _loop.run(self._client.create_instance(env_type, task_id, instance_id, params))

    def step(self, instance_id: str, action: Mapping[str, Any], params: Mapping[str, Any] | None = None) -> StepResult:
        """Plays `action`; see `AsyncEnvServiceClient.step`."""
        return _loop.run(self._client.step(instance_id, action, params))

    def evaluate(
        self, instance_id: str, messages: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None
    ) -> float:
        """The episode's score: any finite number, and 1 or more when the task is solved."""
        return _loop.run(self._client.evaluate(instance_id, messages, params))

    def get_info(
        self, instance_id: str, messages: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        """What the environment tells about the episode: any JSON value."""
        return _loop.run(self._client.get_info(instance_id, messages, params))

    def release_instance(self, instance_id: str) -> bool:
        """Ends the episode, best effort; see `AsyncEnvServiceClient.release_instance`."""
        return _loop.run(self._client.release_instance(instance_id))

    def close(self) -> None:
        """Closes the connections. A later call opens new ones."""
        _loop.run(self._client.aclose())

    def __enter__(self) -> EnvServiceClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
