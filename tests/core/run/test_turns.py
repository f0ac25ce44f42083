"""Works that keep an event loop busy take turns, so that what is quick waits for one of them and not for all."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from agentscope_tuner._run import loops


def test_one_work_goes_on_in_each_round_of_the_loop_in_the_order_of_asking() -> None:
    """A cheap request waited for a piece of every batch under way: sixty batches delayed it by 0.8 s."""
    happened: list[str] = []

    async def busy(name: str) -> None:
        for _ in range(2):
            await loops.turn()
            happened.append(name)

    async def quick() -> None:
        for _ in range(8):
            happened.append("quick")
            await asyncio.sleep(0)

    async def together() -> None:
        await asyncio.gather(*(busy(name) for name in "abc"), quick())

    asyncio.run(together())
    works = [name for name in happened if name != "quick"]
    assert works == ["a", "b", "c", "a", "b", "c"]
    assert all("quick" in {one, other} for one, other in pairwise(happened))


def test_a_work_that_is_cancelled_keeps_no_other_from_its_turn() -> None:
    async def three() -> list[object]:
        works = [asyncio.ensure_future(loops.turn()) for _ in range(3)]
        works[1].cancel()
        return await asyncio.gather(*works, return_exceptions=True)

    first, second, third = asyncio.run(three())
    assert (first, type(second), third) == (None, asyncio.CancelledError, None)
