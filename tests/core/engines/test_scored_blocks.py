"""Blocks through the local engine: the same rows in the same order, whoever judges them and however often it dies."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import Rollout
from agentscope_tuner.engines.judging import LineJudge, ScoredBlock, judged_before
from agentscope_tuner.engines.local import score
from agentscope_tuner.records.blocks import Block, TextBlock, gathered, read_blocks, read_lines
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.task_judge.contract.judgement import Judgement
from tests.core.engines.test_engine import MATH, config, has_ended, here, noted, rollout, rollouts, workers
from tests.scored_lines import score_lines


def text(rows: Iterable[Rollout]) -> bytes:
    return b"".join(row.model_dump_json().encode() + b"\n" for row in rows)


def scored(judge: LineJudge, data: bytes, **options: Any) -> list[ScoredBlock]:
    return list(score(judge, read_blocks(io.BytesIO(data), "f"), **options))


def rows_of(blocks: Iterable[ScoredBlock]) -> list[dict[str, Any]]:
    return [json.loads(line) for block in blocks for line in block.data.splitlines()]


def total(blocks: Iterable[ScoredBlock]) -> Summary:
    summary = Summary()
    for block in blocks:
        summary.merge(block.summary)
    return summary


def without_seconds(line: bytes) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(line)
    row["judgement"].pop("seconds")
    return row


ROW = b'{"id": %b, "task": {"metadata": {"answer": %b}}, "output": {"metadata": {"final_answer": %b}}%b}'
FAULTY = [
    b"{not json",
    b"[]",
    b'{"id": "no task"}',
    b'{"id": "\xff", "task": {}, "output": {}}',
    ROW % (b"7", b'"42"', rb'"\\boxed{42}"', b""),
    ROW % (b'"half a pair"', b'"42"', rb'"\ud83d \\boxed{1}"', b""),
    ROW % (b'"nan"', b"NaN", rb'"\\boxed{1}"', b""),
    ROW % (b'"not text"', b'"42"', b"42", b""),
    ROW % (b'"judged"', b'"1"', rb'"\\boxed{1}"', b', "judgement": {"status": "judged"}, "more": 1'),
    ROW % (b'"labelled"', b'"1"', rb'"\\boxed{1}"', b', "label": {"is_success": true}'),
]


# two processes take a second to start
TWO = pytest.param(2, marks=pytest.mark.slow)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("jobs", [1, TWO])
def test_faulty_rows_are_written_and_counted_as_when_they_are_judged_one_by_one(jobs: int, end: bytes) -> None:
    data = end.join(FAULTY * 3)
    judge = LineJudge({"astuner": {"task_judge": {"judge_protocol": MATH}}}, "digest")
    one_by_one = list(score_lines(judge, read_lines(io.BytesIO(data), "f"), jobs=1))
    expected = Summary()
    for row in one_by_one:
        expected.add(row.judgement, name=row.name, label=row.label)
    blocks = scored(judge, data, jobs=jobs)
    lines = [line for block in blocks for line in block.data.splitlines(keepends=True)]
    assert [without_seconds(line) for line in lines] == [without_seconds(row.line) for row in one_by_one]
    found = total(blocks)
    for name in ("rows", "statuses", "successes", "failures", "causes", "labelled", "agreed"):
        assert getattr(found, name) == getattr(expected, name)
    assert list(found.examples) == list(expected.examples)


def test_a_summary_of_blocks_shows_the_examples_that_a_summary_of_rows_shows() -> None:
    judgements = [Judgement("judged", float(at), True, f"kind {at}: x") for at in range(20)]
    rows, blocks = Summary(), Summary()
    for at in (*range(7), *range(20)):
        rows.add(judgements[at], name=str(at))
    for part in (range(7), range(20)):
        block = Summary(most_examples=16)
        for at in part:
            block.add(judgements[at], name=str(at))
        blocks.merge(block)
    assert blocks.examples == rows.examples


@pytest.mark.parametrize("jobs", [1, *(pytest.param(jobs, marks=pytest.mark.slow) for jobs in (2, 3))])
def test_every_row_of_every_block_is_judged_once_and_in_order(jobs: int, tmp_path: Path) -> None:
    data = text(rollouts(300))
    made = [TextBlock("f", at, line + b"\n") for at, line in enumerate(data.splitlines(), 1)]
    blocks: list[Block] = [TextBlock("f", 1, data[: data.index(b"\n", 9000) + 1])]
    blocks += made[len(list(blocks[0].items())) :]
    found = rows_of(score(LineJudge(config("Obedient", tmp_path)), blocks, jobs=jobs))
    assert [row["id"] for row in found] == [f"r{at}" for at in range(300)]
    assert set(noted(tmp_path, "judged").values()) == {1}
    assert len(set(noted(tmp_path, "pids"))) == 1 + jobs


@pytest.mark.slow
def test_in_blocks_rows_that_kill_their_worker_fail_alone_and_none_is_judged_twice(tmp_path: Path) -> None:
    data = text(rollouts(400, r0="die", r5="die once", r77="exit", r78="die once", r399="die"))
    blocks = scored(LineJudge(config("Obedient", tmp_path), "d"), data, jobs=2)
    found = rows_of(blocks)
    assert [row["id"] for row in found] == [f"r{at}" for at in range(400)]
    failed = {row["id"]: row["judgement"]["error"] for row in found if row["judgement"]["status"] == "failed"}
    assert list(failed) == ["r0", "r77", "r399"]
    assert failed["r77"] == (
        "f:78: task 'r77': 2 worker processes died of judging it, the last one ended with exit code 7"
    )
    begun = noted(tmp_path, "begun")
    assert {name: count for name, count in begun.items() if count > 1} == dict.fromkeys(
        ("r0", "r5", "r77", "r78", "r399"), 2
    )
    summary = total(blocks)
    assert (summary.rows, summary.statuses["failed"], summary.reward_sum) == (
        400,
        3,
        sum(float(len(row["id"])) for row in found if row["id"] not in failed),
    )
    assert {row["judgement"]["config"] for row in found} == {"d"}


@pytest.mark.slow
def test_workers_that_are_killed_in_the_middle_lose_no_row_of_their_blocks(tmp_path: Path) -> None:
    data = text(rollouts(3000))
    results = score(LineJudge(config("Obedient", tmp_path)), read_blocks(io.BytesIO(data), "f"), jobs=2)
    found = [next(results)]
    killed = workers(tmp_path)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    found += results
    assert [row["id"] for row in rows_of(found)] == [f"r{at}" for at in range(3000)]
    judged = noted(tmp_path, "judged")
    assert sum(judged.values()) - len(judged) <= len(killed), "only what was in hand may be judged again"


@pytest.mark.slow
def test_a_row_past_its_deadline_fails_and_the_rows_behind_it_in_its_block_go_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate-r3")
    whole = config("Obedient", tmp_path)
    whole["astuner"]["task_judge"]["deadline"] = 1.0
    found = rows_of(scored(LineJudge(whole), text(rollouts(20, r3="wait")), jobs=2))
    assert [row["id"] for row in found if row["judgement"]["status"] == "failed"] == ["r3"]
    assert "no verdict within 1 s" in found[3]["judgement"]["error"]
    assert noted(tmp_path, "begun")["r3"] == 1, "another worker would take as long"
    assert [row["id"] for row in found] == [f"r{at}" for at in range(20)]


@pytest.mark.slow
def test_a_judge_that_interrupts_in_a_worker_fails_its_row(tmp_path: Path) -> None:
    found = rows_of(scored(LineJudge(config("Obedient", tmp_path)), text(rollouts(20, r5="interrupt")), jobs=2))
    assert [row["id"] for row in found if row["judgement"]["status"] == "failed"] == ["r5"]
    assert "KeyboardInterrupt in a worker process" in found[5]["judgement"]["error"]


@pytest.fixture
def heard_ctrl_c() -> Iterator[None]:
    """Python's own handler of Ctrl-C, which a process that a shell started in the background does not have."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_ctrl_c")
def test_ctrl_c_hands_on_the_rows_that_were_judged_in_this_process() -> None:
    judge = LineJudge(config("Interrupted"))
    results = score(judge, read_blocks(io.BytesIO(text(rollouts(20, r5="ctrl-c"))), "f"), jobs=1)
    found: list[ScoredBlock] = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(results)
    assert [row["id"] for row in rows_of(found)] == [f"r{at}" for at in range(5)]


@pytest.mark.parametrize("jobs", [1, TWO])
def test_a_block_ends_with_its_first_failed_row_where_the_run_is_to_stop_there(jobs: int, tmp_path: Path) -> None:
    data = text(rollouts(50)) + b"{broken\n" + text(rollouts(50))
    found: list[ScoredBlock] = []
    results = score(
        LineJudge(here(config("Obedient", tmp_path), jobs), "", True), read_blocks(io.BytesIO(data), "f"), jobs=jobs
    )
    for block in results:
        found.append(block)
        if block.error is not None:
            break
    results.close()
    assert [row.get("id") for row in rows_of(found)] == [*(f"r{at}" for at in range(50)), None]
    assert found[-1].error is not None
    assert found[-1].error.startswith("f:51: Invalid JSON")


@pytest.mark.parametrize("jobs", [1, TWO])
def test_an_earlier_runs_verdicts_keep_their_place_in_a_block(jobs: int, tmp_path: Path) -> None:
    judge = LineJudge(here(config("Obedient", tmp_path), jobs))
    lines = [Line(f"f:{at}", row.model_dump_json().encode()) for at, row in enumerate(rollouts(90))]
    first = {row.name: row for row in score_lines(judge, lines, jobs=1)}
    (tmp_path / "begun").unlink()
    items = [
        judged_before(line, first[f"r{at}"].line, first[f"r{at}"].judgement) if at % 3 else line
        for at, line in enumerate(lines)
    ]
    blocks = list(score(judge, gathered(items), jobs=jobs))
    assert [row["id"] for row in rows_of(blocks)] == [f"r{at}" for at in range(90)]
    assert sum(block.kept for block in blocks) == 60
    assert sorted(noted(tmp_path, "begun")) == sorted(f"r{at}" for at in range(0, 90, 3))


def test_a_run_whose_verdicts_are_all_known_starts_no_worker(tmp_path: Path) -> None:
    judge = LineJudge(here(config("Obedient", tmp_path)))
    lines = [Line(f"f:{at}", row.model_dump_json().encode()) for at, row in enumerate(rollouts(150))]
    first = list(score_lines(judge, lines, jobs=1))
    # no worker could be told to load it
    judge.recipe = (LineJudge, threading.Lock())
    items = [judged_before(line, row.line, row.judgement) for line, row in zip(lines, first, strict=True)]
    blocks = list(score(judge, gathered(items), jobs=2))
    assert b"".join(block.data for block in blocks) == b"".join(row.line for row in first)
    assert sum(block.kept for block in blocks) == 150


@pytest.mark.parametrize("jobs", [1, TWO])
def test_a_group_that_lies_in_several_blocks_is_ranked_as_one(jobs: int, tmp_path: Path) -> None:
    rows = [rollout("a", answer="x" * length) for length in (3, 2, 1)]
    blocks = [TextBlock("f", at, text([row])) for at, row in enumerate(rows, 1)]
    found = rows_of(score(LineJudge(here(config("Ranking", tmp_path), jobs)), blocks, jobs=jobs))
    assert [row["judgement"]["reason"] for row in found] == [f"place {at} of 3" for at in range(3)]


@pytest.mark.parametrize("judge", [pytest.param("Obedient", marks=pytest.mark.slow), "InThisProcess"])
def test_an_endless_input_is_read_only_as_needed_and_leaves_no_process(judge: str, tmp_path: Path) -> None:
    taken = 0

    def endless() -> Iterator[Block]:
        nonlocal taken
        while True:
            taken += 1
            yield TextBlock("f", taken, text([rollout(f"r{taken}")]))

    results = score(LineJudge(config(judge, tmp_path)), endless(), jobs=2)
    assert [row["id"] for row in rows_of([next(results) for _ in range(10)])][:3] == ["r1", "r2", "r3"]
    assert taken < 20_000
    results.close()
    assert all(has_ended(pid) for pid in workers(tmp_path))


@pytest.mark.parametrize("jobs", [1, TWO])
def test_an_error_of_the_input_is_raised_after_the_blocks_before_it(jobs: int, tmp_path: Path) -> None:
    def breaking() -> Iterator[Block]:
        yield TextBlock("f", 1, text(rollouts(20)))
        raise OSError("the disk is gone")

    found: list[ScoredBlock] = []
    with pytest.raises(OSError, match="the disk is gone"):
        found.extend(score(LineJudge(here(config("Obedient", tmp_path), jobs)), breaking(), jobs=jobs))
    assert len(rows_of(found)) == 20


def test_a_few_rows_of_a_judge_that_bounds_itself_start_no_process() -> None:
    judge = LineJudge({"astuner": {"task_judge": {"judge_protocol": MATH}}})
    before = children()
    found = scored(judge, b"\n".join(FAULTY[4:5] * 5))
    assert total(found).statuses == {"judged": 5}
    # a worker of an earlier test may end meanwhile
    assert children() <= before


def children() -> set[str]:
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        # a thread of an earlier test may end meanwhile
        with suppress(FileNotFoundError):
            found.update((task / "children").read_text().split())
    return found
