"""Whether the endpoints that the judges depend on answer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping

from agentscope_tuner.errors import DeadlineError
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.deadline import TimeLimit

_log = logging.getLogger(__name__)

_PROBE_SECONDS = 5.0
_FRESH_SECONDS = 2.0
# The most checks that may hang; then a judge is asked no more until one of them ends
_MOST_HANGING = 4


class Probe:
    """Asks the judges whether they could judge now: all at once, within seconds, and once for several callers.

    Args:
        judges: the judges by the names of their paths.
        seconds: the time limit for an answer.
    """

    def __init__(self, judges: Mapping[str, ConfiguredJudge], seconds: float = _PROBE_SECONDS) -> None:
        self._judges = judges
        self._seconds = seconds
        self._limits = {name: TimeLimit(judge.name, seconds, _MOST_HANGING) for name, judge in judges.items()}
        self._lock = asyncio.Lock()
        self._found: dict[str, str | None] = {}
        self._fresh_until = 0.0

    async def problems(self) -> dict[str, str | None]:
        """For each judge, why it is not ready; None where it is ready."""
        async with self._lock:
            if time.monotonic() >= self._fresh_until:
                found = await asyncio.gather(*(self._problem(name, judge) for name, judge in self._judges.items()))
                self._found = dict(zip(self._judges, found, strict=True))
                self._fresh_until = time.monotonic() + _FRESH_SECONDS
        return self._found

    async def _problem(self, name: str, judge: ConfiguredJudge) -> str | None:
        try:
            await judge.aready(self._limits[name])
        except DeadlineError:
            return f"no answer within {self._seconds:g} s"
        except asyncio.CancelledError:
            if (current := asyncio.current_task()) is not None and current.cancelling():
                raise
            return "it cancelled itself"
        # the boundary to a user's judge: whatever it raises, it is not ready
        except BaseException as exc:  # noqa: BLE001
            _log.warning("judge %r is not ready: %s", name, exc)
            return f"{type(exc).__name__}: {exc}"
        return None
