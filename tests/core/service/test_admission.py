"""Places, and what a refusal says."""

from __future__ import annotations

import asyncio

import pytest

from agentscope_tuner.service.admission import Gate, Lane, Refusal, ServiceSettings


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def refusal(gate: Gate) -> Refusal:
    with pytest.raises(Refusal) as caught, gate.entered(gate.slow):
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
            async with gate.slow.slot():
                clock.now += seconds
        end = asyncio.Event()

        async def hold() -> None:
            async with gate.slow.slot():
                await end.wait()

        holders = [asyncio.create_task(hold()) for _ in range(4)]
        while gate.slow.waiting < 2:
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
    async def run() -> list[bool]:
        gate = Gate(1, 0, 100)
        full = []
        with gate.entered(gate.slow) as hold:
            hold(1500)
            full.append(gate.full)
            hold(1)
            full.append(gate.full)
            with pytest.raises(Refusal, match="is full"):
                hold(100)
        return [*full, gate.full]

    assert asyncio.run(run()) == [False, True, False]


def test_what_is_inside_when_the_drain_is_over_is_cancelled() -> None:
    async def run() -> bool:
        gate = Gate(1, 1, 100)

        async def inside() -> None:
            with gate.entered(gate.slow):
                await asyncio.Event().wait()

        request = asyncio.create_task(inside())
        await asyncio.sleep(0)
        gate.give_up()
        await asyncio.wait([request])
        await gate.drained()
        return gate.given_up and request.cancelled()

    assert asyncio.run(run())


def test_a_drain_waits_for_a_body_that_is_being_read() -> None:
    async def run() -> None:
        gate = Gate(1, 1, 100)
        with gate.entered(gate.slow):
            gate.draining = True
            drained = asyncio.create_task(gate.drained())
            await asyncio.sleep(0)
            assert not drained.done()
            with pytest.raises(Refusal, match="shutting down"), gate.entered(gate.slow):
                pass
        await drained

    asyncio.run(run())


async def several(lane: Lane, count: int, until: asyncio.Event) -> list[asyncio.Task[str]]:
    """Requests that are judged until the event: what each of them gets."""

    async def judged() -> str:
        try:
            async with lane.slot():
                await until.wait()
        except Refusal as exc:
            return f"{exc.status}: {exc.detail}"
        return "judged"

    return [asyncio.create_task(judged()) for _ in range(count)]


def test_slow_requests_give_their_slots_back_and_cheap_ones_wait_for_none_of_them() -> None:
    """80 of them held every slot: cheap ones waited for 19.7 s in place of 7 ms."""

    async def run() -> list[str]:
        gate = Gate(2, 3, 100)
        ended = asyncio.Event()
        slow = await several(gate.cheap, 5, ended)
        while gate.cheap.aside < 5:
            await asyncio.sleep(0.01)
        assert (gate.running, gate.waiting, gate.full) == (5, 0, False)
        for _ in range(100):
            async with gate.cheap.slot():
                pass
        # those beyond the bound are cancelled, with a time to come back, and hold no slot either
        more = await several(gate.cheap, 2, ended)
        found = await asyncio.gather(*more)
        async with gate.cheap.slot():
            ended.set()
        return [*found, *(await asyncio.gather(*slow)), f"{gate.running} {gate.cheap.aside}"]

    refused = "429: this request takes long, and the service is full of such: 5 judged"
    assert asyncio.run(run()) == [refused] * 2 + ["judged"] * 5 + ["0 0"]


def test_a_lane_that_waits_for_others_keeps_its_slots_and_fills_no_other_lane() -> None:
    async def run() -> None:
        gate = Gate(1, 1, 100)
        ended = asyncio.Event()
        slow = await several(gate.slow, 3, ended)
        while gate.slow.waiting < 1:
            await asyncio.sleep(0)
        assert await slow[2] == "429: the service is full: 1 judged, 1 wait"
        async with gate.cheap.slot():
            assert (gate.running, gate.waiting) == (2, 1)
        ended.set()
        assert [await task for task in slow[:2]] == ["judged"] * 2

    asyncio.run(run())


def test_of_those_that_wait_the_highest_priority_is_judged_first_and_the_first_of_it() -> None:
    async def run() -> list[str]:
        gate, order = Gate(1, 9, 100), list[str]()

        async def judged(name: str, priority: int) -> None:
            async with gate.slow.slot(priority):
                order.append(name)

        async with gate.slow.slot():
            asked = {"later": -1, "a": 0, "gone": 5, "b": 0, "first": 3, "second": 3}
            tasks = {name: asyncio.create_task(judged(name, priority)) for name, priority in asked.items()}
            while gate.slow.waiting < len(tasks):
                await asyncio.sleep(0)
            tasks["gone"].cancel()
            # one is cancelled before the slot is given away, one in the same step of the loop
            await asyncio.sleep(0)
            tasks["first"].cancel()
        found = await asyncio.gather(*tasks.values(), return_exceptions=True)
        assert [type(one).__name__ for one in found if one is not None] == ["CancelledError"] * 2
        assert (gate.running, gate.waiting, gate.full) == (0, 0, False)
        return order

    assert asyncio.run(run()) == ["second", "a", "b", "later"]


def test_a_slot_that_comes_to_a_request_with_its_end_goes_on_to_the_next() -> None:
    async def run() -> None:
        gate = Gate(1, 9, 100)
        async with gate.slow.slot():
            ended = await several(gate.slow, 2, asyncio.Event())
            while gate.slow.waiting < 2:
                await asyncio.sleep(0)
        # the first has its slot, and has not run since
        ended[0].cancel()
        while not gate.slow.running:
            await asyncio.sleep(0)
        assert (gate.slow.running, gate.slow.waiting) == (1, 0)
        ended[1].cancel()
        await asyncio.wait(ended)
        assert not gate.full
        async with gate.slow.slot():
            pass

    asyncio.run(run())


def test_a_request_that_is_cancelled_or_fails_gives_its_place_back() -> None:
    async def run() -> None:
        gate = Gate(1, 0, 100)
        for aside in (0, 1):
            (task,) = await several(gate.cheap, 1, asyncio.Event())
            while gate.cheap.running < 1 or gate.cheap.aside < aside:
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait({task})
            with pytest.raises(TimeoutError):
                async with gate.cheap.slot():
                    raise TimeoutError
            assert (gate.running, gate.cheap.aside, gate.full) == (0, 0, False)

    asyncio.run(run())


def test_answers_are_written_to_no_log_unless_it_is_asked_for() -> None:
    assert not ServiceSettings().log_answers
