"""Places, and what a refusal says."""

from __future__ import annotations

import asyncio

import pytest

from agentscope_tuner.service.admission import Gate, Refusal


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def refusal(gate: Gate) -> Refusal:
    with pytest.raises(Refusal) as caught, gate.entered():
        pass
    assert gate.full
    return caught.value


@pytest.mark.parametrize(
    ("seconds", "told"), [(None, "1"), (0.01, "1"), (4.0, "6"), (4.1, "7"), (1000.0, "60")], ids=str
)
def test_a_client_is_told_to_come_when_the_queue_will_have_been_judged(seconds: float | None, told: str) -> None:
    """It was told 1 s, however long a verdict took: two at once, of three that want one."""

    async def run() -> Refusal:
        clock = Clock()
        gate = Gate(2, 2, 100, clock)
        if seconds is not None:
            async with gate.slot():
                clock.now += seconds
        end = asyncio.Event()

        async def hold() -> None:
            async with gate.slot():
                await end.wait()

        holders = [asyncio.create_task(hold()) for _ in range(4)]
        while gate.waiting < 2:
            await asyncio.sleep(0)
        found = refusal(gate)
        end.set()
        await asyncio.gather(*holders)
        assert not gate.full
        return found

    found = asyncio.run(run())
    assert (found.status, found.headers()) == (429, {"Retry-After": told})
    assert found.detail == "the service is full: 2 judged, 2 wait"


def test_bytes_of_unfinished_bodies_are_bounded_and_given_back() -> None:
    gate = Gate(1, 0, 100)
    full = []
    with gate.entered() as hold:
        hold(1500)
        full.append(gate.full)
        hold(1)
        full.append(gate.full)
        with pytest.raises(Refusal, match="is full"):
            hold(100)
    assert [*full, gate.full] == [False, True, False]


def test_a_drain_waits_for_a_body_that_is_being_read() -> None:
    async def run() -> None:
        gate = Gate(1, 1, 100)
        with gate.entered():
            gate.draining = True
            drained = asyncio.create_task(gate.drained())
            await asyncio.sleep(0)
            assert not drained.done()
            with pytest.raises(Refusal, match="shutting down"), gate.entered():
                pass
        await drained

    asyncio.run(run())
