"""Whether the judges are ready is answered in time, whatever their own check does."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, JudgeError
from agentscope_tuner.service.admission import Probe
from agentscope_tuner.task_judge.batch import ConfiguredJudge

SECONDS = 0.2
_released = threading.Event()


class _Judge(BaseJudge):
    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
        return 1.0, True


class Ready(_Judge):
    """Depends on nothing."""


class NotReady(_Judge):
    async def aready(self) -> None:
        raise JudgeError("the endpoint is down")


class Awaits(_Judge):
    async def aready(self) -> None:
        await asyncio.Event().wait()


class Blocks(_Judge):
    async def aready(self) -> None:
        _released.wait(60)


class Swallows(_Judge):
    async def aready(self) -> None:
        while not _released.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue


class Exits(_Judge):
    async def aready(self) -> None:
        raise SystemExit(3)


class Cancels(_Judge):
    async def aready(self) -> None:
        raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        ("Ready", None),
        ("NotReady", "JudgeError: the endpoint is down"),
        ("Awaits", "no answer within 0.2 s"),
        ("Blocks", "no answer within 0.2 s"),
        ("Swallows", "no answer within 0.2 s"),
        ("Exits", "SystemExit: 3"),
        ("Cancels", "it cancelled itself"),
    ],
)
def test_a_check_that_hangs_or_breaks_is_a_judge_that_is_not_ready(judge: str, problem: str | None) -> None:
    named = {"": ConfiguredJudge({"astuner": {"task_judge": {"judge_protocol": f"{__name__}->{judge}"}}})}
    started = time.monotonic()
    _released.clear()
    try:
        assert asyncio.run(Probe(named, SECONDS).problems()) == {"": problem}
        assert time.monotonic() - started < SECONDS + 30.0
    finally:
        _released.set()
