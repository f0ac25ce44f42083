"""A client's time limits for an env service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from agentscope_tuner._http.limits import HttpLimits, check_number
from agentscope_tuner.env_service.wire import Verb
from agentscope_tuner.errors import ConfigError

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


@dataclass(frozen=True, slots=True)
class ClientOptions(HttpLimits):
    """A client's limits: `HttpLimits`, and a time limit for each verb.

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
        # Not a bare super(): with slots, dataclass makes a new class, which a bare super() does not know
        HttpLimits.__post_init__(self)

    def timeout(self, verb: Verb) -> float:
        """Seconds one try of `verb` may take."""
        return self.timeouts.get(verb.value, TIMEOUTS[verb.value])
