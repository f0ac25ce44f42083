"""How far ahead of its caller an engine reads."""

from __future__ import annotations

import itertools
from collections import deque
from typing import cast

import pytest

from agentscope_tuner._run import channel
from agentscope_tuner.engines.crew import Crew, Rows, Work, _Feed
from agentscope_tuner.engines.processes import Batch, BatchWorker
from agentscope_tuner.records.blocks import Block, LineBlock

MEBIBYTE = 2**20


class HeldCrew(Crew[int]):
    """Finishes a unit when the test says so."""

    def __init__(self, ahead: int) -> None:
        super().__init__(cast("Work[int]", None), Rows[int](ordered=True), ahead)
        self.begun: list[Block] = []

    def begin(self, unit: Block) -> None:
        self.begun.append(unit)

    def drop(self) -> None:
        """Nothing interrupts it."""

    def close(self) -> None:
        """It holds nothing."""


@pytest.mark.parametrize(
    ("noted", "begun"),
    [(0, [(2, 0)]), (1, [(2, 1)]), (2, [(2, 2), (3, 0)]), (4, [(2, 2), (3, 2)]), (5, [(2, 2), (3, 3), (1, 0)])],
)
def test_a_dead_worker_had_begun_the_row_behind_its_last_note_and_none_later(
    noted: int, begun: list[tuple[int, int]]
) -> None:
    class Dead(BatchWorker):
        def __init__(self) -> None:
            self._journal = channel.create_journal()
            self.jobs = deque([Batch(1, blocks[:3]), Batch(2, blocks[3:])])
            notes = channel.ResultJournal(self._journal)
            notes.begin(1)
            for number in range(noted):
                notes.add(b"%d" % number)

    blocks: list[Block] = [LineBlock(tuple(range(rows)), rows) for rows in (2, 3, 1, 4)]
    found, others = Dead().recovered()
    assert [(len(list(block.unconverted())), len(notes)) for block, notes in found] == begun
    assert others == blocks[len(begun) :]


def test_units_of_many_bytes_wait_until_others_are_handed_on() -> None:
    crew = HeldCrew(ahead=1000)
    feed = _Feed(crew, (LineBlock((number,), 16 * MEBIBYTE, number=number) for number in itertools.count()))
    feed.fill()
    assert len(crew.begun) == 4, "64 MiB are begun and not handed on"
    feed.fill()
    assert len(crew.begun) == 4
    # the order holds it back: its bytes are still in memory
    crew.rows.finish([(crew.begun[1], [1])])
    feed.fill()
    assert len(crew.begun) == 4
    crew.rows.finish([(crew.begun[0], [0])])
    feed.fill()
    assert len(crew.begun) == 6


def test_units_of_few_bytes_wait_by_their_number() -> None:
    crew = HeldCrew(ahead=3)
    feed = _Feed(crew, (LineBlock((number,), 1, number=number) for number in itertools.count()))
    feed.fill()
    assert len(crew.begun) == 3
    crew.rows.finish([(crew.begun[0], [0])])
    feed.fill()
    assert len(crew.begun) == 4


def test_one_unit_larger_than_the_bound_is_begun_alone() -> None:
    crew = HeldCrew(ahead=1000)
    feed = _Feed(crew, (LineBlock((number,), 100 * MEBIBYTE, number=number) for number in itertools.count()))
    feed.fill()
    assert len(crew.begun) == 1
