"""Records the failures of one verdict, and decides whether it is asked for again."""

from __future__ import annotations

import asyncio
import math
import socket
from typing import Any

from agentscope_tuner._http.retry import Retries, retry_after
from agentscope_tuner.errors import GraderError, GraderTimeout
from agentscope_tuner.graders.client.chat_settings import ChatSettings
from agentscope_tuner.graders.client.endpoint import Endpoint
from agentscope_tuner.graders.client.reply import ReplyError

_RETRIED = frozenset({408, 409, 429})
_REASK_TEMPERATURE = 0.3
_UNREACHED = ("connection failed: connection refused", "connection failed: the host's name is unknown")
_WHAT_TO_MEND = {
    400: "check the model's parameters (temperature, max_tokens, extra_body) and the prompt's length",
    401: "the key was refused: set api_key or the provider's environment variable",
    403: "the key may not use this model",
    404: "check model_name and base_url",
}


def _connection_failure(exc: Exception) -> str:
    """Why the connection failed. The aiohttp transport reports a refused connection as a timeout, so read causes."""
    found: BaseException | None = exc
    while found is not None:
        if isinstance(found, ConnectionRefusedError):
            return _UNREACHED[0]
        if isinstance(found, socket.gaierror):
            return _UNREACHED[1]
        found = found.__cause__
    return f"connection failed: {exc.__cause__ or exc}"


class Tries:
    """The failures of one verdict so far, and the decision whether to ask again."""

    def __init__(self, settings: ChatSettings, endpoint: Endpoint) -> None:
        self._settings = settings
        self._endpoint = endpoint
        self._unreadable = 0
        most = settings.max_retries
        self._retries = Retries(most=None if most is None else most + 1)
        self.failures: list[str] = []

    def unreadable(self, exc: ReplyError) -> None:
        """Record an unreadable reply; raises GraderError when there were more than `max_reasks`."""
        self._unreadable += 1
        self.failures.append(str(exc))
        if self._unreadable > self._settings.max_reasks:
            raise GraderError(self.report("no readable verdict")) from exc

    def varied(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body`, at a higher temperature after an unreadable reply: at temperature 0 the model would repeat it."""
        if not self._unreadable or body.get("temperature") is None:
            return body
        return body | {"temperature": max(body["temperature"], _REASK_TEMPERATURE)}

    def failed(self, exc: Exception, deadline: float | None) -> float:
        """Record a failed request. Returns the seconds before the next try; raises GraderError if there is none."""
        import openai

        if isinstance(exc, openai.APIStatusError):
            self.failures.append(f"HTTP {exc.status_code}: {exc.message}")
            if (exc.status_code not in _RETRIED and exc.status_code < 500) or exc.code == "insufficient_quota":
                hint = _WHAT_TO_MEND.get(exc.status_code, "the endpoint refuses such requests")
                if exc.code == "insufficient_quota":
                    hint = "the account has no quota left"
                raise GraderError(self.report(hint)) from exc
        elif isinstance(exc, TimeoutError):
            self.failures.append(
                f"no answer within {self._settings.try_seconds or self._settings.deadline_seconds / 4:g} s"
            )
        elif isinstance(exc, openai.APIConnectionError):
            self.failures.append(_connection_failure(exc))
        elif isinstance(exc, openai.APIError | ValueError):
            self.failures.append(f"the endpoint's answer could not be read: {exc}")
        else:
            raise exc
        remaining = math.inf if deadline is None else deadline - asyncio.get_running_loop().time()
        asked = retry_after(exc.response.headers) if isinstance(exc, openai.APIStatusError) else 0.0
        pause = self._retries.pause(remaining, asked)
        if pause is None:
            if self._retries.exhausted:
                raise GraderError(self.report("the endpoint failed too often")) from exc
            headline = f"no verdict within {self._settings.deadline_seconds:g} s"
            if asked:
                headline += f", the endpoint asks to wait {asked:.0f} s, beyond the deadline"
            raise self.out_of_time(headline) from exc
        return pause

    def out_of_time(self, headline: str) -> GraderError:
        """The error of a verdict past its deadline: a GraderTimeout, or a GraderError if nobody ever answered."""
        unreachable = self.failures and all(failure in _UNREACHED for failure in self.failures)
        return (GraderError if unreachable else GraderTimeout)(self.report(headline))

    def report(self, headline: str) -> str:
        """`headline` with each kind of failure and its count, without the key."""
        counted = dict.fromkeys(self.failures, 0)
        for failure in self.failures:
            counted[failure] += 1
        causes = "; ".join(f"{failure} ({times}x)" if times > 1 else failure for failure, times in counted.items())
        model = f"{self._settings.model_name} at {self._endpoint.base_url}"
        return self._endpoint.masked(f"{model}: {headline}: {causes or 'no answer'}")
