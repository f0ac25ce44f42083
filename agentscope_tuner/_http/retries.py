"""Whether a failed request is sent again, and after which pause."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

# When a request is sent again: retries end with the call's deadline. A fixed number of tries would give up a busy
# endpoint long before the caller's time is over. So an endpoint that answers 429 with Retry-After is asked until it
# answers, or until the deadline. Only an endpoint that never answered, and refuses connections, is given up in
# seconds: its URL is wrong, or it was not started.
FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0
#: Seconds that a call waits for an endpoint which refuses connections and has never answered.
REFUSED_SECONDS = 5.0
# Seconds: the longest pause that a header may ask for
_LONGEST_RETRY_AFTER = 86_400.0
# Answers of a service, or of a proxy before it, after which a later try may succeed
PASSING_STATUS = frozenset({429, 502, 503, 504})


def may_repeat(failure: int | Exception, *, repeatable: bool) -> bool:
    """Whether a call of a service may be sent again: another try may succeed, and does no harm.

    Args:
        failure: the status of its answer, or the error of a call that was not answered.
        repeatable: whether the call changes nothing. Any other may be repeated only if the first surely did not arrive.
    """
    if isinstance(failure, int):
        return repeatable and failure in PASSING_STATUS
    # Imported late: judges that ask nobody load this module, too
    from httpx import ConnectError, ConnectTimeout, PoolTimeout

    # Errors before any byte of the request was sent
    return repeatable or isinstance(failure, ConnectError | ConnectTimeout | PoolTimeout)


def backoff(attempt: int, first: float = FIRST_PAUSE) -> float:
    """Seconds between try `attempt` (from 1) and the next: `first`, doubled with each try, 10 at most."""
    # the exponent is bounded too: 2.0**1024 is an OverflowError
    return min(_LONGEST_PAUSE, first * 2.0 ** min(attempt - 1, 64))


def is_refused(exc: BaseException | None) -> bool:
    """Whether nobody listens at the address, or the host's name is unknown: found without waiting."""
    while exc is not None:
        if isinstance(exc, ConnectionRefusedError | socket.gaierror):
            return True
        exc = exc.__cause__
    return False


def is_busy(status: int, asked: float) -> bool:
    """Whether an answer says that the endpoint has too many requests.

    A 503 without Retry-After may come from a broken endpoint, and fewer requests do not mend that.

    Args:
        status: the answer's HTTP status.
        asked: the seconds that its Retry-After asks for; 0.0 without this header.
    """
    return status == 429 or (status == 503 and asked > 0)


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds, 0 to a day, that `retry-after-ms` or `retry-after` (RFC 9110, 10.2.3) asks for; 0.0 without them.

    Args:
        headers: the answer's headers; looked up in lower case.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit if value[:1].isdigit() else _seconds_until(value)
        except (ValueError, OverflowError, OSError):
            # Neither a number nor a date. A date with an offset of 10^12 hours parses, but has no value
            continue
        return min(max(0.0, seconds), _LONGEST_RETRY_AFTER)
    return 0.0


def _seconds_until(date: str) -> float:
    return parsedate_to_datetime(date).timestamp() - time.time()


@dataclass(slots=True)
class _TestMode:
    """Whether tests run without waits, and then the most tries of a call."""

    most_tries: int | None = None


TEST_MODE = _TestMode()


@contextmanager
def without_waits(tries: int) -> Iterator[None]:
    """For tests: inside this context every pause of this process is zero, and a call is tried `tries` times at most."""
    before, TEST_MODE.most_tries = TEST_MODE.most_tries, tries
    try:
        yield
    finally:
        TEST_MODE.most_tries = before


@dataclass(slots=True)
class Retries:
    """Counts the failed tries of one call, and says how long to wait before the next.

    Attributes:
        first: seconds before the second try; see `backoff`.
        most: tries in all; None for as many as fit before the deadline.
        tried: how many tries have failed so far.
        exhausted: whether no try is left, however much time is left.
        waited_refused: seconds waited while nobody listened.
    """

    first: float = FIRST_PAUSE
    most: int | None = None
    tried: int = 0
    exhausted: bool = False
    waited_refused: float = 0.0

    def pause(self, remaining: float, asked: float = 0.0, *, refused: bool = False) -> float | None:
        """Counts a try that failed.

        Args:
            remaining: seconds until the call's deadline.
            asked: seconds that the endpoint's Retry-After asks for.
            refused: whether nobody listens at an endpoint that has never answered; see `REFUSED_SECONDS`.

        Returns:
            Seconds to wait before the next try; None when no try or no time is left.
        """
        self.tried += 1
        self.exhausted = any(most is not None and self.tried >= most for most in (self.most, TEST_MODE.most_tries))
        # Jitter: a thousand calls that failed together must not be sent again together
        seconds = backoff(self.tried, self.first) * random.uniform(0.5, 1.0)
        if asked:
            # The endpoint knows the best pause. But a pause of 1 ms would mean a thousand requests a second
            seconds = max(asked, self.first)
        if refused:
            remaining = min(remaining, REFUSED_SECONDS - self.waited_refused)
            self.waited_refused += seconds
            self.exhausted = self.exhausted or seconds >= remaining
        if self.exhausted or seconds >= remaining:
            return None
        return seconds if TEST_MODE.most_tries is None else 0.0
