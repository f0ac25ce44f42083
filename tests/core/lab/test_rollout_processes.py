"""Rollouts over two processes: the same rows as in one, whichever process dies."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agentscope_tuner._run.channel import ParentChannel
from agentscope_tuner._run.pool import Toll
from agentscope_tuner.config import resolve
from agentscope_tuner.errors import Cause, ConfigError
from agentscope_tuner.lab.rollouts.processes import RolloutProcesses, _Task, main
from agentscope_tuner.lab.rollouts.rows import RolloutRow
from agentscope_tuner.lab.rollouts.settings import load_settings
from agentscope_tuner.workflow import Task
from tests.rollout_world import fake_lenders, tasks_of

WORLD = "tests.rollout_world"


def config_of(judge: str = "LengthJudge", **rollout: Any) -> Any:
    reader = {"type": "jsonl_dataset_file", "jsonl_dataset_file": {"training": {"file_path": "unread"}}}
    model = {"base_url": "http://127.0.0.1:1/v1", "name": "none"}
    wanted = {"agentscope_workflow": f"{WORLD}->Act", "model": model, "num_repeat": 2, **rollout}
    section = {"task_reader": reader, "rollout": wanted, "task_judge": {"judge_protocol": f"{WORLD}->{judge}"}}
    return resolve({"astuner": section})


def processes_of(judge: str = "LengthJudge", **rollout: Any) -> RolloutProcesses:
    config = config_of(judge, **rollout)
    return RolloutProcesses(config, fake_lenders, load_settings(config).rollout, 2)


def rows_of(groups: Iterable[list[RolloutRow]]) -> dict[str, RolloutRow]:
    return {row.id: row for group in groups for row in group}


@pytest.mark.slow
def test_two_processes_play_and_judge_every_task() -> None:
    queries = ["a", "raise it", "unpicklable", *("b" * n for n in range(2, 12))]
    rows = rows_of(processes_of().run(tasks_of(*queries)))
    assert sorted(rows) == sorted(f"t{n}-{k}" for n in range(len(queries)) for k in range(2))
    for n, query in enumerate(queries):
        row = rows[f"t{n}-1"]
        if query == "raise it":
            assert (row.failed, row.judgement.cause) == (True, Cause.ROLLOUT)
        else:
            assert row.judgement.reward == len(query)
            assert row.played.output is not None
            assert row.played.output.metadata["final_answer"] == query
            assert len(row.played.trajectory) == 1


@pytest.mark.slow
def test_a_task_that_kills_its_process_costs_no_other_row() -> None:
    queries = ["a", "die", *("b" * n for n in range(2, 12))]
    rows = rows_of(processes_of(max_env_worker=8).run(tasks_of(*queries)))
    assert len(rows) == 2 * len(queries)
    for name, row in rows.items():
        if name.startswith("t1-"):
            assert (row.failed, row.judgement.cause) == (True, Cause.WORKER)
            assert "died" in row.judgement.reason
        else:
            assert row.judgement.reward == len(queries[int(name[1:].partition("-")[0])])


@pytest.mark.slow
def test_a_process_that_is_killed_from_outside_loses_nothing() -> None:
    runner = processes_of(max_env_worker=4)
    queries = ["b" * n for n in range(1, 41)]
    groups = runner.run(tasks_of(*queries))
    rows = rows_of([next(groups)])
    for worker in runner.workers:
        os.kill(worker.child.pid, signal.SIGKILL)
    rows |= rows_of(groups)
    assert len(rows) == 80
    assert all(row.judgement.reward == len(queries[int(name[1:].partition("-")[0])]) for name, row in rows.items())


@pytest.mark.slow
def test_what_is_done_is_handed_on_when_it_is_stopped() -> None:
    runner = processes_of(num_repeat=1)
    rows: dict[str, RolloutRow] = {}
    for group in runner.run(tasks_of("a", "hang", "bb")):
        rows |= rows_of([group])
        if len(rows) == 2:
            runner.stop()
    assert sorted(rows) == ["t0-0", "t2-0"]
    assert runner.running == 0


def test_what_keeps_a_process_from_its_work_is_said_once() -> None:
    runner = processes_of()
    # a lender that no module of another process has
    runner._recipes = [b"no recipe"] * 2
    with pytest.raises(ConfigError, match="UnpicklingError"):
        list(runner.run([Task(task_id="t")]))


class Parent:
    """The parent's end of a channel, in this process: hands tasks out and keeps what comes back."""

    def __init__(self, config: Any, *tasks: Task) -> None:
        self._config = config
        self._messages = [*(pickle.dumps((task, {})) for task in tasks), pickle.dumps(None)]
        self.told: list[tuple[str, Any]] = []
        self._all_told = threading.Event()

    def load(self, make: Callable[..., Any]) -> Any:
        return make(self._config, fake_lenders, 2)

    def __iter__(self) -> Iterator[bytes]:
        yield from self._messages[:-1]
        assert self._all_told.wait(10)
        yield self._messages[-1]

    def send(self, message: bytes) -> None:
        self.told.append(pickle.loads(message))
        if len(self.told) == len(self._messages) - 1:
            self._all_told.set()


@pytest.mark.timeout(20)
def test_a_process_plays_the_tasks_that_it_is_sent_until_it_is_told_to_stop() -> None:
    parent = Parent(config_of(), *tasks_of("say a", "say b"))
    main(cast("ParentChannel", parent))
    *groups, last = parent.told
    assert [kind for kind, _ in groups] == ["rows", "rows"]
    assert sorted(json.loads(line)["id"] for _, rows in groups for line, _ in rows) == ["t0-0", "t0-1", "t1-0", "t1-1"]
    assert last == ("ended", 0)


class Silent(SimpleQueue[Any]):
    """Brings what it was given, and then nothing; notes how long the caller would have waited for the first."""

    def __init__(self, *given: Any) -> None:
        self.given, self.waited = deque(given), list[float | None]()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        self.waited.append(timeout)
        return self.get_nowait()

    def get_nowait(self) -> Any:
        if not self.given:
            raise Empty
        return self.given.popleft()


@pytest.mark.parametrize("groups", [[], [[1]], [[1], [2]]])
def test_groups_are_waited_for_a_moment_at_a_time(groups: list[Any]) -> None:
    runner = processes_of()
    runner._groups = queue = Silent(*groups)
    assert list(runner._received()) == groups
    # a wait without an end would not hear `stop`
    assert queue.waited == [0.1]
    runner._groups = Silent([1], ConfigError("no such judge"))
    with pytest.raises(ConfigError, match="no such judge"):
        list(runner._received())


@pytest.mark.parametrize(
    ("ready", "over", "deaths", "again", "fresh", "given_up"),
    [
        # a process that did not start had begun nothing
        (False, False, [0, 0], [], ["t0", "t1"], []),
        (True, False, [0, 0], ["t0", "t1"], [], []),
        (True, False, [0], ["t0"], [], []),
        (True, False, [1], [], [], ["t0-0", "t0-1"]),
        # which of several killed it is not known
        (True, False, [1, 0], ["t0", "t1"], [], []),
        # its end was asked for
        (True, True, [1], ["t0"], [], []),
    ],
)
def test_a_task_is_given_up_only_where_it_was_alone_in_two_processes_that_died(
    ready: bool, over: bool, deaths: list[int], again: list[str], fresh: list[str], given_up: list[str]
) -> None:
    runner = processes_of()
    runner._over = over
    jobs = [_Task(task, {}, Toll(died)) for task, died in zip(tasks_of(*"ab"), deaths, strict=False)]
    runner.lost(cast("Any", SimpleNamespace(ready=ready, jobs=jobs)), cast("Any", None))
    held = [[task.task.task_id for task in queue] for queue in (runner._again, runner._fresh)]
    runner._groups.put([])
    assert (held, [row.id for row in cast("list[RolloutRow]", runner._groups.get())]) == ([again, fresh], given_up)


def test_a_task_that_is_given_up_keeps_its_earlier_rows_and_says_why() -> None:
    (task,) = tasks_of("a")
    kept = processes_of()._failed(_Task(task, {}, Toll(2)))[0]
    first, second = processes_of()._failed(_Task(task, {0: dataclasses.replace(kept, id="kept")}, Toll(2)))
    assert (first.id, second.id, second.failed, second.kept) == ("kept", "t0-1", True, False)
    told = "the process that ran it died, 2 times"
    assert (second.played.status, second.played.error, second.played.reason) == ("failed", told, told)
    judgement = second.judgement
    assert (judgement.error, judgement.reason, judgement.cause) == (told, f"rollout failed: {told}", Cause.WORKER)


@pytest.mark.parametrize(
    ("at_once", "processes", "shares", "most_tasks"),
    [(7, 2, [4, 3], 3), (8, 3, [3, 3, 2], 3), (4, 2, [2, 2], 2), (1, 4, [1], 2)],
)
def test_the_rollouts_at_once_are_shared_between_processes(
    at_once: int, processes: int, shares: list[int], most_tasks: int
) -> None:
    config = config_of(max_env_worker=at_once)
    runner = RolloutProcesses(config, fake_lenders, load_settings(config).rollout, processes)
    assert [pickle.loads(recipe)[2] for recipe in runner._recipes] == shares
    # whole groups of two rollouts for every place, and one more
    assert runner._most_tasks == most_tasks
    runner.workers.extend(cast("Any", [SimpleNamespace(jobs=[1, 2, 3])]))
    assert runner.running == min(at_once, 6)
    runner.workers.clear()
