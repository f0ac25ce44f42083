"""How calls of an env service are sent.

What may be sent again is decided by what a second sending could do. Evaluate, get_info, profile and healthz change
nothing, so they are tried again after every failure that may pass. Create, step and release are tried again only when
the first request surely did not arrive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

import httpx

from agentscope_tuner._http import answer, exchange
from agentscope_tuner._http.limits import Limits, Peer, check_number
from agentscope_tuner.env_service.wire import Call, Verb
from agentscope_tuner.errors import ConfigError, EnvServerError, EnvTimeout, EnvUnreachable

T = TypeVar("T")

#: Seconds one try of a verb may take, from connecting to the last byte of the answer.
TIMEOUTS: Mapping[str, float] = MappingProxyType(
    {
        "healthz": 5.0,
        "get_env_profile": 30.0,
        "create": 60.0,
        "step": 60.0,
        "evaluate": 120.0,
        "get_info": 30.0,
        "release": 10.0,
    }
)

_ENV_SERVICE = Peer("env service", EnvUnreachable, EnvTimeout, EnvServerError)


@dataclass(frozen=True, slots=True)
class ClientOptions(Limits):
    """How patient a client is, and how much it takes: `Limits`, and a time for each verb.

    Attributes:
        timeouts: seconds one try may take, by verb, in place of those in `TIMEOUTS`.
    """

    timeouts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = sorted(set(self.timeouts) - set(TIMEOUTS))
        if unknown:
            raise ConfigError(f"timeouts names no verb of the env service: {unknown!r}; there are {sorted(TIMEOUTS)!r}")
        for verb, seconds in self.timeouts.items():
            check_number(f"timeouts[{verb!r}]", seconds)
        # not super(): dataclass makes a class with slots anew, which a bare super() does not know
        Limits.__post_init__(self)

    def timeout(self, verb: Verb) -> float:
        """Seconds one try of `verb` may take."""
        return self.timeouts.get(verb.value, TIMEOUTS[verb.value])


class Exchange:
    """Sends calls to one env service; see `agentscope_tuner._http.exchange.Exchange`."""

    def __init__(
        self, base_url: str, options: ClientOptions, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._options = options
        self._exchange = exchange.Exchange(_ENV_SERVICE, base_url, options, transport)

    async def run(self, call: Call[T]) -> T:
        """The result of `call`.

        Raises:
            EnvServiceError: a subclass that says what went wrong; the message names the call and the tries made.
        """
        return await self._exchange.run(
            answer.Call(
                path=f"/{call.verb.value}",
                body=call.body,
                where=call.where,
                parse=call.parse,
                seconds=self._options.timeout(call.verb),
                repeatable=call.verb.repeatable,
                # whoever asks whether a service is up wants to know now, and the end of an episode waits for no restart
                patient=call.verb not in {Verb.HEALTHZ, Verb.RELEASE},
                # it may be the last thing a service answers before it drops the connection: no one may inherit it
                closing=call.verb is Verb.EVALUATE,
            )
        )

    async def aclose(self) -> None:
        """Closes the connections of the running loop; the next call opens new ones."""
        await self._exchange.aclose()
