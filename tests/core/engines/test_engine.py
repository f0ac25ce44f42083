"""The local engine: order, back-pressure, and workers that die."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import ConfigError, JudgeError, Rollout, Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.engines import local
from agentscope_tuner.engines.crew import MOST_IN_GROUP, Rows
from agentscope_tuner.engines.judging import JudgedBefore, LineJudge, RolloutJudge
from agentscope_tuner.engines.local import WaitingCrew, automatic_jobs, score
from agentscope_tuner.engines.processes import Batch, BatchWorker, ProcessCrew
from agentscope_tuner.records.blocks import Block, LineBlock
from agentscope_tuner.records.reader import Line
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.deadline import Traits
from agentscope_tuner.task_judge.contract.judgement import Judgement
from tests.scored_lines import score_lines

ROOT = Path(__file__).parents[3]
MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"


SLOW = pytest.mark.slow
# a worker process takes most of a second to start
ONE_OR_TWO = [1, pytest.param(2, marks=SLOW)]


def config(name: str, notes: Path | None = None, **kwargs: Any) -> dict[str, Any]:
    protocol = name if "->" in name else f"tests.engine_judges->{name}"
    return {"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": {"notes": str(notes), **kwargs}}}}


def here(judge: dict[str, Any], jobs: int = 1) -> dict[str, Any]:
    """`judge` without a deadline where it judges row by row: for a deadline it would have a process of its own."""
    if jobs == 1:
        judge["astuner"]["task_judge"]["deadline"] = None
    return judge


def rollout(name: str, do: str | None = None, answer: str = "", **metadata: Any) -> Rollout:
    task = Task(task_id=name, metadata={"do": do, **metadata})
    return Rollout(id=name, task=task, output=WorkflowOutput(metadata={"final_answer": answer}))


def rollouts(count: int, **doing: str) -> list[Rollout]:
    """`count` rollouts named r0, r1, …; `r3="die"` gives one something to do."""
    return [rollout(f"r{at}", doing.get(f"r{at}")) for at in range(count)]


def noted(notes: Path, name: str) -> Counter[str]:
    path = notes / name
    return Counter(path.read_text().split()) if path.exists() else Counter()


def rewards(judgements: Iterable[tuple[int, Judgement]]) -> dict[int, float | None]:
    return {place: judgement.reward for place, judgement in judgements}


def workers(notes: Path) -> list[int]:
    """The processes that loaded the judge, apart from this one."""
    return [int(pid) for pid in noted(notes, "pids") if int(pid) != os.getpid()]


def has_ended(pid: int, seconds: float = 20.0) -> bool:
    """Whether a process is gone, or goes in time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([descriptor], [], [], seconds)
    os.close(descriptor)
    return bool(ended)


@pytest.mark.parametrize(
    ("judge", "jobs"),
    [("Obedient", 1), *(pytest.param("Obedient", jobs, marks=SLOW) for jobs in (2, 3)), ("InThisProcess", 3)],
)
def test_every_row_is_judged_once_and_in_order(judge: str, jobs: int, tmp_path: Path) -> None:
    found = list(score(config(judge, tmp_path), rollouts(300), jobs=jobs))
    assert [place for place, _ in found] == list(range(300))
    assert [judgement.reward for _, judgement in found] == [float(len(f"r{at}")) for at in range(300)]
    assert set(noted(tmp_path, "judged").values()) == {1}
    processes = len(set(noted(tmp_path, "pids")))
    assert processes == (1 if judge == "InThisProcess" else 1 + jobs)


@pytest.mark.slow
def test_without_order_a_slow_row_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate-r0")
    results = score(config("Obedient", tmp_path), rollouts(200, r0="wait"), jobs=2, ordered=False)
    places = [next(results)[0] for _ in range(150)]
    assert 0 not in places
    (tmp_path / "gate-r0").write_bytes(b"go")
    assert sorted([*places, *(place for place, _ in results)]) == list(range(200))


def test_no_row_waits_behind_the_first_row_of_a_worker_that_started_late(tmp_path: Path) -> None:
    """Others had shown by then that rows are quick: up to a thousand of them were sent to it, behind one that hung."""

    class Started(BatchWorker):
        def __init__(self, *, has_answered: bool) -> None:
            self.jobs = deque([Batch(1, [])])
            self.since, self.has_answered = time.monotonic(), has_answered

    crew = ProcessCrew(RolloutJudge(config("Obedient", tmp_path)), Rows(ordered=False), 2)
    crew.pace.learn(1, 1, 0.0)
    # Last: on a busy machine a slice of time has passed while the judge was loaded
    late, known = Started(has_answered=False), Started(has_answered=True)
    crew.workers = [late]
    assert crew.with_room() is None
    crew.workers = [late, known]
    assert crew.with_room() is known


@pytest.mark.parametrize("jobs", ONE_OR_TWO)
def test_the_input_is_read_only_as_needed(jobs: int, tmp_path: Path) -> None:
    taken = 0

    def endless() -> Iterator[Rollout]:
        nonlocal taken
        while True:
            yield rollout(f"r{taken}")
            taken += 1

    results = score(here(config("Obedient", tmp_path), jobs), endless(), jobs=jobs)
    assert [next(results)[0] for _ in range(10)] == list(range(10))
    assert taken < 10_000, "an endless input would be read for ever"
    results.close()
    assert all(has_ended(pid) for pid in workers(tmp_path))


@pytest.mark.slow
def test_a_killed_worker_loses_no_row_and_repeats_none_that_was_finished(tmp_path: Path) -> None:
    undisturbed = rewards(score(config("Obedient", tmp_path), rollouts(2000), jobs=2))
    again = tmp_path / "again"
    again.mkdir()
    results = score(config("Obedient", again), rollouts(2000), jobs=2, ordered=False)
    found = dict(next(results) for _ in range(50))
    for pid in workers(again):
        os.kill(pid, signal.SIGKILL)
    found |= dict(results)
    assert rewards(found.items()) == undisturbed
    judged, killed = noted(again, "judged"), 2
    assert sum(judged.values()) - len(judged) <= killed, "only what was in hand may be judged again"
    assert len(judged) == 2000


@pytest.mark.slow
def test_of_a_row_that_kills_its_worker_once_only_that_row_is_begun_again(tmp_path: Path) -> None:
    found = rewards(score(config("Obedient", tmp_path), rollouts(400, r77="die once"), jobs=2))
    assert found == {at: float(len(f"r{at}")) for at in range(400)}
    begun = noted(tmp_path, "begun")
    assert begun.pop("r77") == 2
    assert set(begun.values()) == {1}


@pytest.mark.parametrize(("do", "how"), [("die", "was killed by SIGKILL"), ("exit", "ended with exit code 7")])
@pytest.mark.slow
def test_a_row_that_kills_two_workers_fails_and_the_rest_goes_on(do: str, how: str, tmp_path: Path) -> None:
    found = dict(score(config("Obedient", tmp_path), rollouts(400, r5=do, r100=do), jobs=2))
    assert list(found) == list(range(400))
    failed = {place: judgement for place, judgement in found.items() if judgement.status == "failed"}
    assert list(failed) == [5, 100]
    assert failed[5].error == f"task 'r5': 2 worker processes died of judging it, the last one {how}"
    assert failed[5].reward is None
    begun = noted(tmp_path, "begun")
    assert (begun.pop("r5"), begun.pop("r100")) == (2, 2)
    assert set(begun.values()) == {1}


@pytest.mark.parametrize("judge", [pytest.param("Obedient", marks=SLOW), "InThisProcess"])
def test_a_judge_that_interrupts_fails_its_row_and_not_the_run(judge: str, tmp_path: Path) -> None:
    found = dict(score(config(judge, tmp_path), rollouts(20, r5="interrupt"), jobs=2))
    assert [place for place, judgement in found.items() if judgement.status == "failed"] == [5]
    assert "KeyboardInterrupt" in str(found[5].error)


def test_a_judge_without_a_deadline_that_interrupts_its_thread_fails_its_row_alone(tmp_path: Path) -> None:
    found = dict(score(here(config("InThisProcess", tmp_path)), rollouts(20, r5="interrupt"), jobs=2))
    assert [place for place, judgement in found.items() if judgement.status == "failed"] == [5]
    assert "KeyboardInterrupt" in str(found[5].error)


@pytest.mark.slow
def test_rows_that_cannot_leave_the_process_fail_by_themselves(tmp_path: Path) -> None:
    bad = rollout("lock", lock=threading.Lock())
    found = dict(score(config("Obedient", tmp_path), [rollout("a"), bad, rollout("b")], jobs=2))
    assert [found[place].status for place in range(3)] == ["judged", "failed", "judged"]
    assert "cannot be sent to a worker process" in str(found[1].error)


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ("raises", ConfigError, "could not load the judge: .*not here"),
        ("dies", JudgeError, "3 worker processes ended while they loaded the judge: one ended with exit code 9"),
    ],
)
@pytest.mark.slow
def test_workers_that_cannot_start_end_the_run(how: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        list(score(config("Fragile", pid=os.getpid(), how=how), rollouts(5), jobs=2))


def test_a_judge_that_cannot_be_loaded_is_known_before_the_first_row() -> None:
    with pytest.raises(ConfigError, match="no class 'Missing'"):
        score(config("Missing"), rollouts(1))


class CountedRows(Rows[int]):
    """Notes how many units were settled whenever one came to `ready`."""

    def _release(self, block: Block, results: Sequence[int]) -> None:
        super()._release(block, results)
        self.noted = [*getattr(self, "noted", ()), self.ended - self.released]


def test_no_unit_counts_as_settled_before_its_rows_are_ready() -> None:
    # the caller reads both without the lock: rows held back for the order's sake were lost at the end of a run
    rows = CountedRows(ordered=True)
    rows.finish([(LineBlock((number,), 1, number=number), [number]) for number in (1, 2, 3)])
    rows.finish([(LineBlock((0,), 1), [0])])
    assert list(rows.ready) == [0, 1, 2, 3]
    assert max(rows.noted) < 3
    assert rows.ended == rows.released == 4


@pytest.mark.parametrize(
    ("judge", "at_once", "jobs"), [("Meeting", 3, 3), ("Meeting", 64, None), ("MeetingInThreads", 3, 3)]
)
def test_rows_that_wait_do_so_at_the_same_time(judge: str, at_once: int, jobs: int | None) -> None:
    # without a deadline, for which each row had a thread of its own
    found = rewards(score(here(config(judge, at_once=at_once)), rollouts(4 * at_once), jobs=jobs))
    assert found == dict.fromkeys(range(4 * at_once), 1.0)


@pytest.mark.parametrize(
    ("kind", "awaits", "in_main", "has_processes", "crew", "in_threads", "told"),
    [
        ("cpu", False, False, True, ProcessCrew, None, []),
        ("cpu", True, True, True, WaitingCrew, True,
         ["the judge's class is in the main script, which worker processes do not run: judging in threads"]),
        ("cpu", False, False, False, WaitingCrew, True, ["worker processes need Linux: judging in threads"]),
        ("io", False, True, True, WaitingCrew, True, []),
        ("io", True, False, False, WaitingCrew, False, []),
    ],
)  # fmt: skip
def test_a_judge_is_asked_in_processes_in_threads_or_on_the_loop(
    kind: Any, awaits: bool, in_main: bool, has_processes: bool, crew: type, in_threads: bool | None, told: list[str],
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr(local, "_HAS_PROCESSES", has_processes)
    work = LineJudge({"astuner": {"task_judge": {"judge_protocol": MATH}}})
    work.traits = Traits("Judge", kind, False, awaits, True, in_main)
    made = local._crew(work, Rows(ordered=True), 2)
    assert (type(made), getattr(made, "_in_threads", None), caplog.messages) == (crew, in_threads, told)


def test_a_judge_that_cancels_fails_its_row_and_not_the_run() -> None:
    found = dict(score(config("Meeting", at_once=2), [*rollouts(2), rollout("c", "cancel"), *rollouts(2)], jobs=2))
    assert [judgement.status for judgement in found.values()] == ["judged", "judged", "failed", "judged", "judged"]


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("judge", [pytest.param("Obedient", marks=SLOW), "InThisProcess", "Meeting"])
def test_rows_before_an_error_of_the_input_are_handed_on(judge: str, jobs: int, tmp_path: Path) -> None:
    def breaking() -> Iterator[Rollout]:
        yield from rollouts(20)
        raise OSError("the disk is gone")

    places: list[int] = []
    with pytest.raises(OSError, match="the disk is gone"):
        places.extend(place for place, _ in score(config(judge, tmp_path, at_once=1), breaking(), jobs=jobs))
    assert places == list(range(20))


def test_jobs_follow_the_judge(tmp_path: Path) -> None:
    math = {"astuner": {"task_judge": {"judge_protocol": MATH}}}
    assert automatic_jobs(LineJudge(math)) == len(os.sched_getaffinity(0))
    assert automatic_jobs(LineJudge(config("Meeting", at_once=1))) == 64
    assert automatic_jobs(LineJudge(config("InThisProcess", tmp_path))) == 1
    assert automatic_jobs(LineJudge(limited("Crowded", 7))) == 7


def limited(name: str, concurrency: int) -> dict[str, Any]:
    whole = config(name)
    whole["astuner"]["task_judge"]["concurrency"] = concurrency
    return whole


def test_one_number_limits_the_rows_that_are_awaited_by_an_engine_and_in_a_trainers_batch() -> None:
    found = rewards(score(limited("Crowded", 5), rollouts(40)))
    assert max(reward or 0.0 for reward in found.values()) == 5
    pairs = [(WorkflowTask(task=row.task), row.output) for row in rollouts(40)]
    batch = ConfiguredJudge(limited("Crowded", 6)).judge_batch(pairs)
    assert max(judgement.reward or 0.0 for judgement in batch) == 6


GROUPED = ["a", "a", "b", "", "", "a"]


@pytest.mark.parametrize("jobs", ONE_OR_TWO)
def test_neighbours_of_one_task_are_ranked_together(jobs: int, tmp_path: Path) -> None:
    rows = [rollout(name, answer="x" * at) for at, name in enumerate(GROUPED)]
    found = dict(score(here(config("Ranking", tmp_path), jobs), rows, jobs=jobs))
    assert [found[at].reason.partition(", and")[0] for at in range(6)] == [
        "place 1 of 2",
        "place 0 of 2",
        *["this judge ranks whole advantage groups"] * 4,
    ]


@pytest.mark.slow
def test_a_group_dies_and_is_retried_as_a_whole(tmp_path: Path) -> None:
    rows = [rollout("a", "die once"), rollout("a"), rollout("b", "die"), rollout("b"), *[rollout("c")] * 2]
    found = dict(score(config("Ranking", tmp_path), rows, jobs=2))
    assert [found[at].status for at in range(6)] == ["judged", "judged", "failed", "failed", "judged", "judged"]


def test_a_group_too_large_to_be_one_fails_instead_of_being_ranked_in_parts(tmp_path: Path) -> None:
    rows = [rollout("a")] * (MOST_IN_GROUP + 2) + [rollout("b")] * 2
    found = dict(score(here(config("Ranking", tmp_path)), rows, jobs=1))
    assert [found[at].status for at in (0, MOST_IN_GROUP + 1, MOST_IN_GROUP + 2)] == ["failed", "failed", "judged"]
    assert "more than 1024 neighbours have task id 'a'" in str(found[0].error)


def lines(rows: Iterable[Rollout]) -> list[Line]:
    return [Line(f"f:{at}", row.model_dump_json().encode()) for at, row in enumerate(rows)]


def test_settled_lines_keep_their_place_and_a_group_with_a_new_row_is_ranked_anew(tmp_path: Path) -> None:
    judge = LineJudge(here(config("Ranking", tmp_path)))
    source = lines(rollout(name) for name in ("a", "a", "b", "b", "c"))
    first = list(score_lines(judge, source, jobs=1))
    (tmp_path / "begun").unlink()
    partly: list[Line | JudgedBefore] = [JudgedBefore(line, scored) for line, scored in zip(source, first, strict=True)]
    partly[3] = source[3]
    second = list(score_lines(judge, partly, jobs=1))
    assert [row.name for row in second] == ["a", "a", "b", "b", "c"]
    assert noted(tmp_path, "begun") == {"b": 1}
    assert second[:2] == first[:2]


@pytest.mark.parametrize("jobs", ONE_OR_TWO)
def test_a_line_that_cannot_be_read_does_not_part_its_group(jobs: int, tmp_path: Path) -> None:
    """The row behind it was ranked by itself, and came first whatever it held."""
    source = lines(rollout("a", answer="x" * length) for length in (3, 2, 1))
    source.insert(2, Line("f:9", b"{broken"))
    found = list(score_lines(LineJudge(here(config("Ranking", tmp_path), jobs)), source, jobs=jobs))
    assert [row.judgement.status for row in found] == ["judged", "judged", "failed", "judged"]
    assert [row.judgement.reason for row in found if row.judgement.reward is not None] == [
        "place 0 of 3",
        "place 1 of 3",
        "place 2 of 3",
    ]


@pytest.mark.parametrize("jobs", ONE_OR_TWO)
def test_lines_leave_ready_to_be_written(jobs: int, tmp_path: Path) -> None:
    source = [*lines(rollouts(3, r1="die" if jobs == 2 else "interrupt no one")), Line("f:3", b"{not json")]
    found = list(score_lines(LineJudge(here(config("Obedient", tmp_path), jobs), "d1"), source, jobs=jobs))
    written = [json.loads(row.line) for row in found]
    assert [line.get("id") for line in written] == ["r0", "r1", "r2", None]
    assert written[0]["judgement"]["config"] == "d1"
    assert found[3].judgement.reason.startswith("bad row: Invalid JSON")
    assert found[3].judgement.error is not None
    assert found[3].judgement.error.startswith("f:3: Invalid JSON: key must be a string at column 2: the line begins")


@SLOW
@pytest.mark.parametrize("hanging", [False, True])
def test_an_abandoned_run_leaves_no_process_even_if_its_judge_hangs(hanging: bool, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "news")
    rows = rollouts(50, r10="hang" if hanging else "")
    results = score(config("Obedient", tmp_path), rows, jobs=2, ordered=False)
    assert len([next(results) for _ in range(5)]) == 5
    if hanging:
        with (tmp_path / "news").open() as pipe:
            assert "r10" in pipe.read()
    results.close()
    assert workers(tmp_path)
    assert all(has_ended(pid, 0) for pid in workers(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["Obedient", "InThisProcess"])
def test_an_interrupt_hands_on_what_is_under_way_and_begins_nothing_more(judge: str, tmp_path: Path) -> None:
    for name in ("r0", "r1"):
        os.mkfifo(tmp_path / f"gate-{name}")

    def interrupted() -> Iterator[Rollout]:
        yield from rollouts(8, r0="wait", r1="wait")
        for name in ("r0", "r1"):
            # opens once the row is being judged
            (tmp_path / f"gate-{name}").write_bytes(b"go")
        raise KeyboardInterrupt

    results = score(config(judge, tmp_path), interrupted(), jobs=2)
    found: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(place for place, _ in results)
    assert found == list(range(len(found)))
    assert len(found) >= 2
    assert noted(tmp_path, "begun") == {f"r{place}": 1 for place in found}


def judge_file(folder: Path, *options: str) -> subprocess.Popen[str]:
    # a shell's background job, such as a CI's, has Ctrl-C switched off, and its children inherit that
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from agentscope_tuner.cli import main; main()"
    )
    command = ["-c", script, "judge", "--conf", str(folder / "conf.json")]
    files = ["--input", str(folder / "rows.jsonl"), "--output", str(folder / "scored.jsonl"), "--jobs", "2"]
    return subprocess.Popen([sys.executable, *command, *files, *options], cwd=ROOT, text=True, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_a_second_ctrl_c_ends_a_run_that_hangs_and_resume_goes_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate-r30")
    (tmp_path / "conf.json").write_text(json.dumps(config("Obedient", tmp_path)), encoding="utf-8")
    (tmp_path / "rows.jsonl").write_bytes(b"\n".join(line.raw for line in lines(rollouts(60, r30="wait"))))
    with judge_file(tmp_path) as run, (tmp_path / "gate-r30").open("wb"):
        assert run.stderr is not None
        run.send_signal(signal.SIGINT)
        assert "interrupted: what is under way" in run.stderr.readline()
        run.send_signal(signal.SIGINT)
        assert "--resume goes on" in run.stderr.read()
    assert run.returncode == 130
    assert all(has_ended(pid) for pid in workers(tmp_path))
    partial = tmp_path / "scored.jsonl.partial"
    # with order nothing is written while the first row's worker still starts
    kept = [json.loads(line)["id"] for line in partial.read_bytes().splitlines()] if partial.exists() else []
    assert kept == [f"r{at}" for at in range(len(kept))]
    (tmp_path / "gate-r30").unlink()
    (tmp_path / "gate-r30").touch()
    with judge_file(tmp_path, "--resume") as run:
        assert run.wait() == 0
    scored = [json.loads(line) for line in (tmp_path / "scored.jsonl").read_bytes().splitlines()]
    assert [row["id"] for row in scored] == [f"r{at}" for at in range(60)]
    judged = noted(tmp_path, "judged")
    assert [name for name in kept if judged[name] > 1] == []


SCRIPT = """
import sys
from tests.engine_judges import Obedient
from tests.core.engines.test_engine import config, rollouts, score
from pathlib import Path
for place, _ in score(config("Obedient", Path(sys.argv[1])), rollouts(50, r10="hang"), jobs=2):
    pass
"""


@pytest.mark.slow
def test_workers_die_with_their_parent_whatever_the_judge_is_at(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "news")
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)], cwd=ROOT) as parent:
        with (tmp_path / "news").open() as pipe:
            hanging = int(pipe.read().split()[0])
        pids = [int(pid) for pid in noted(tmp_path, "pids") if int(pid) != parent.pid]
        parent.kill()
    assert hanging in pids
    assert all(has_ended(pid) for pid in pids)
