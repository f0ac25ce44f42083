"""How far ahead of its caller an engine reads."""

from __future__ import annotations

import itertools
from collections import deque
from typing import cast

import pytest

from agentscope_tuner._run import channel
from agentscope_tuner.engines.crew import MOST_IN_GROUP, BatchPace, Crew, Rows, Work, _Feed, groups
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


def block(number: int, *, rows: int = 1) -> LineBlock:
    return LineBlock(tuple(range(rows)), 10 * rows, number=number)


@pytest.mark.parametrize(
    ("finished", "begun", "ready", "failed"),
    [
        # nothing is finished behind what is not: nothing is made up
        ([], [0, 1], [], []),
        ([0], [1, 2], ["done 0"], []),
        # what is finished keeps its place, and what begins behind it is left out
        ([2], [0, 1, 3], ["lost 0", "lost 1", "done 2"], [0, 1]),
        ([0, 3], [1, 2, 4], ["done 0", "lost 1", "lost 2", "done 3"], [1, 2]),
        # what was handed on, or finished while its future still stood among those begun, is not failed
        ([0, 2], [0, 1, 2], ["done 0", "lost 1", "done 2"], [1]),
        ([1, 3], [0, 1, 2, 3], ["lost 0", "done 1", "lost 2", "done 3"], [0, 2]),
    ],
)
def test_an_interrupted_run_hands_on_what_is_finished_at_its_place(
    finished: list[int], begun: list[int], ready: list[str], failed: list[int]
) -> None:
    rows, lost = Rows[str](ordered=True), []

    def fail(unit: Block) -> list[str]:
        lost.append(unit.number)
        return [f"lost {unit.number}"]

    rows.finish([(block(number), [f"done {number}"]) for number in finished])
    rows.give_up([block(number) for number in begun], fail)
    assert list(rows.ready) == ready
    # of one that is finished, but not handed on yet, a failure may be made: it is dropped
    assert set(lost) - set(finished) == set(failed)


@pytest.mark.parametrize(("ordered", "first", "then"), [(True, [], ["a", "b", "c"]), (False, ["c"], ["c", "a", "b"])])
def test_results_come_in_the_order_of_the_input_or_as_they_are_finished(
    ordered: bool, first: list[str], then: list[str]
) -> None:
    rows = Rows[str](ordered=ordered)
    rows.finish([(block(2), ["c"])])
    assert (list(rows.ready), rows.ended) == (first, 1)
    assert (rows.released, rows.released_bytes) == (len(first), 10 * len(first))
    rows.finish([(block(0, rows=2), ["a", "b"])])
    assert (list(rows.ready), rows.ended, rows.released, rows.released_bytes) == (then, 3, 3, 30)
    rows.drop(4)
    assert (rows.ended, rows.released) == (7, 3)


@pytest.mark.parametrize(
    ("batches", "batch", "step", "is_quick"),
    [
        ([], 1, 1, False),
        # as many as fit into 50 ms, but no more than four times what was tried
        ([(1, 1, 0.025)], 2, 1, True),
        ([(1, 1, 0.001)], 4, 1, True),
        ([(1, 1, 0.0)], 4, 1, True),
        ([(4, 4, 0.001), (16, 16, 0.001)], 64, 1, True),
        # one slow batch halves it, and one row is the least
        ([(4, 4, 0.001), (16, 16, 0.001), (1, 1, 9.0)], 32, 1, True),
        ([(1, 1, 9.0)], 1, 1, False),
        # a block of bytes: a row is 100 of them, and 1,024 rows are the most
        ([(1000, 10, 0.5)], 100, 100, False),
        ([(1000, 10, 0.4)], 125, 100, True),
        ([(1_000_000, 100, 0.0)], 4_000_000, 10_000, True),
        ([(1_000_000, 10_000, 0.0)], 102_400, 100, True),
        # none was finished
        ([(7, 0, 1.0)], 1, 7, False),
    ],
)
def test_a_batch_grows_to_what_fits_into_a_slice_of_time(
    batches: list[tuple[int, int, float]], batch: int, step: int, is_quick: bool
) -> None:
    pace = BatchPace()
    for one in batches:
        pace.learn(*one)
    assert (pace.batch, pace.step, pace.is_quick) == (batch, step, is_quick)
    # eight steps or four batches, whichever is more, for each job
    assert pace.ahead(3) == 3 * max(8 * step, 4 * batch)


@pytest.mark.parametrize(
    ("size", "sizes"), [(1, [1]), (MOST_IN_GROUP, [MOST_IN_GROUP]), (MOST_IN_GROUP + 1, [1] * (MOST_IN_GROUP + 1))]
)
def test_the_largest_group_is_ranked_and_one_more_is_told_why_not(size: int, sizes: list[int]) -> None:
    found = list(groups(["a"] * size + ["b", "", ""], str))
    *first, b, alone, other = found
    assert [len(group) for group, _ in first] == sizes
    whole = size <= MOST_IN_GROUP
    why = "more than 1024 neighbours have task id 'a': an advantage group cannot be that large"
    assert {told for _, told in first} == {None if whole else why}
    assert (b, alone, other) == ((["b"], None), ([""], None), ([""], None))
    assert list(groups(["a", "a"], None)) == [(["a"], None), (["a"], None)]
