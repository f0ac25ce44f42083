"""Rollouts of every behaviour a workflow can show: each becomes a row that tells, and none holds up another."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from agentscope_tuner import BaseJudge, Task, Workflow, WorkflowOutput, WorkflowTask
from agentscope_tuner.lab.rollouts.attempt import Attempt, Script
from agentscope_tuner.lab.rollouts.rows import RolloutRow
from agentscope_tuner.lab.rollouts.runner import RolloutRunner
from agentscope_tuner.rules import compile_rules
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.task_judge.env_service_as_judge import EnvServiceJudge
from tests.rollout_world import (
    FOR_EVER,
    Act,
    EnvWorld,
    FakeLender,
    Gate,
    LengthJudge,
    RankJudge,
    run_all,
    runner_of,
    tasks_of,
)
from tests.tables import each_row_unasked


@each_row_unasked
def gate() -> Iterator[None]:
    Gate.opened.clear()
    yield
    Gate.opened.set()


def test_every_task_is_run_num_repeat_times_and_judged() -> None:
    groups = list(runner_of(num_repeat=3).run(tasks_of("a", "bb")))
    assert sorted([row.id for row in group] for group in groups) == [["t0-0", "t0-1", "t0-2"], ["t1-0", "t1-1", "t1-2"]]
    rows = [row for group in groups for row in group]
    assert sorted(row.judgement.reward or 0 for row in rows) == [1.0] * 3 + [2.0] * 3
    assert {row.played.status for row in rows} == {"finished"}
    assert [len(row.played.trajectory) for row in rows] == [1] * 6, "one lender a rollout"


def test_to_cancel_a_run_that_has_ended_changes_nothing() -> None:
    attempt = Attempt(Script(Act, FakeLender, 60.0, None), Task(main_query="fine"))
    played = attempt.play()
    attempt.cancel()
    attempt.close()
    assert (played.status, played.output is not None) == ("finished", True)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("raise", "ValueError: the workflow's own words"),
        ("timeout", "TimeoutError: the workflow's own clock"),
        ("exit", "SystemExit: 0"),
        ("nothing", "execute must return a WorkflowOutput, got None"),
    ],
)
def test_a_workflow_that_fails_is_a_row_with_its_traceback_and_no_reward(query: str, error: str) -> None:
    rows = run_all(runner_of(), tasks_of(query, "fine"))
    failed = rows["t0-0"]
    assert (failed.played.status, failed.judgement.status, failed.judgement.reward) == ("failed", "failed", None)
    assert failed.played.error is not None
    assert error in failed.played.error
    assert "Traceback" in failed.played.error
    assert len(failed.to_line("digest")) < 20_000
    assert json.loads(failed.to_line("digest"))["output"] is None
    assert [call["response"]["content"] for call in failed.played.trajectory] == [query]
    assert rows["t1-0"].judgement.reward == 4.0


@pytest.mark.parametrize("query", ["hang", "polite", "stubborn", "block", "block-thread"])
def test_a_workflow_without_an_end_times_out_and_says_where_it_stood(query: str) -> None:
    # what heeds its cancellation is waited for, however busy the machine is
    grace = FOR_EVER if query in ("hang", "polite") else 0.05
    for timeout in (0.2, 5.0, 50.0):
        late = run_all(runner_of(timeout=timeout, grace=grace), tasks_of(query))["t0-0"]
        assert (late.played.status, late.judgement.status, late.played.output) == ("timed_out", "failed", None)
        if late.played.trajectory:
            break  # else a busy machine had not begun it when its time was over
    assert late.played.error is not None
    assert f"no end within {timeout:g} s" in late.played.error
    if query in ("hang", "block"):
        assert "rollout_world.py" in late.played.error
    assert len(late.played.trajectory) == 1


@pytest.mark.parametrize("query", ["hang", "block", "stubborn", "block-thread"])
def test_one_hanging_rollout_does_not_delay_the_others(query: str) -> None:
    runner = runner_of(max_env_worker=2)
    groups = runner.run(tasks_of(query, *["quick"] * 40))
    quick = [next(groups) for _ in range(40)]
    assert {row.judgement.reward for group in quick for row in group} == {5.0}
    runner.stop()
    assert list(groups) == []


def test_no_more_than_max_env_worker_run_at_once_and_no_fewer() -> None:
    at_once, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(4)

    class Count(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
            nonlocal at_once, most
            with lock:
                at_once += 1
                most = max(most, at_once)
            together.wait(60)
            with lock:
                at_once -= 1
            return WorkflowOutput(metadata={"final_answer": "x"})

    rows = run_all(runner_of(max_env_worker=4, num_repeat=4, workflow=Count), tasks_of("a", "b", "c"))
    assert (len(rows), most) == (12, 4)


def test_tasks_are_read_as_they_are_begun() -> None:
    read: list[str] = []

    def tasks() -> Iterator[Task]:
        for task in tasks_of(*["x"] * 1000):
            read.append(task.task_id)
            yield task

    groups = runner_of(max_env_worker=2, num_repeat=2).run(tasks())
    for _ in range(10):
        next(groups)
    assert len(read) < 20


@pytest.mark.parametrize(
    ("reason", "status", "reward"),
    [
        ("completed", "finished", 13.0),
        ("exceed_max_iters", "exceed_max_iters", 20.0),
        ("interrupted", "interrupted", None),
        ("awaiting_tool_calls", "awaiting_tool_calls", None),
        ("error", "failed", None),
    ],
)
def test_how_an_agent_ended_is_marked(reason: str, status: str, reward: float | None) -> None:
    row = run_all(runner_of(), tasks_of(f"end {reason}"))["t0-0"]
    assert (row.played.status, row.judgement.reward) == (status, reward)
    if reason == "awaiting_tool_calls":
        assert "is_read_only=True" in (row.judgement.error or "")


def test_an_exception_that_cannot_be_told_is_a_failed_row_all_the_same() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    class Raises(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
            raise Mute

    row = run_all(runner_of(workflow=Raises), tasks_of("a"))["t0-0"]
    assert (row.played.status, row.judgement.status) == ("failed", "failed")
    assert "Mute" in row.judgement.reason


def test_what_a_workflow_writes_into_its_task_reaches_no_judge_no_repeat_and_no_row() -> None:
    class Cheat(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
            found.append(task.task.metadata["answer"]["is"])
            task.task.metadata["answer"]["is"] = "666"
            task.task.metadata["myself"] = task.task.metadata
            task.task.task_id = task.task_id = "other"
            task.gym_env = "an environment of its own"
            return WorkflowOutput(reward=1.0, is_success=True, metadata={"final_answer": "666"})

    class SameJudge(BaseJudge):
        def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
            assert workflow_task.gym_env == "an environment of its own"
            assert workflow_task.task_id == "t0"
            same = workflow_task.task.metadata == {"answer": {"is": workflow_output.metadata["final_answer"]}}
            return float(same), same

    found: list[str] = []
    given = Task(task_id="t0", metadata={"answer": {"is": "4"}})
    rows = run_all(runner_of(SameJudge({}), workflow=Cheat, num_repeat=3, max_env_worker=1), [given])
    assert found == ["4"] * 3
    assert [(name, row.judgement.reward) for name, row in rows.items()] == [("t0-0", 0), ("t0-1", 0), ("t0-2", 0)]
    assert json.loads(rows["t0-0"].to_line("d"))["task"] == {"task_id": "t0", "metadata": {"answer": {"is": "4"}}}


def test_stopping_keeps_an_output_whose_judge_was_still_at_work() -> None:
    at_work = threading.Event()

    class Telling(LengthJudge):
        def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
            if workflow_output.metadata["final_answer"] == "unending":
                at_work.set()
            return super().compute_reward(workflow_task, workflow_output)

    class Following(Act):
        async def execute(self, task: WorkflowTask, model_tuner: FakeLender) -> WorkflowOutput:
            if task.task.main_query == "x":
                at_work.wait(FOR_EVER)
            return await super().execute(task, model_tuner)

    runner = runner_of(Telling(), workflow=Following, max_env_worker=2)
    groups = runner.run(tasks_of("unending", "x"))
    assert next(groups)[0].id == "t1-0"
    runner.stop()
    ((row,),) = list(groups)
    assert (row.id, row.played.status, row.judgement.status) == ("t0-0", "finished", "failed")
    assert "interrupted before there was a verdict" in (row.judgement.error or "")


def test_what_a_workflow_leaves_behind_does_not_hold_it_up() -> None:
    assert run_all(runner_of(), tasks_of("leave"))["t0-0"].judgement.reward == 5.0


def test_a_broken_judge_is_no_reward_and_keeps_the_output() -> None:
    row = run_all(runner_of(), tasks_of("unjudgeable"))["t0-0"]
    assert (row.played.status, row.judgement.status, row.judgement.reward) == ("finished", "failed", None)
    assert "no verdict on this" in (row.judgement.error or "")
    assert row.played.output is not None


def test_a_judge_without_an_end_is_left_behind() -> None:
    runner = runner_of(timeout=0.5)
    rows = run_all(runner, tasks_of("unending", "x"))
    assert "the judge gave no verdict within" in (rows["t0-0"].judgement.error or "")
    assert (rows["t1-0"].judgement.reward, runner.left_behind) == (1.0, 1)


def test_the_model_is_closed_in_the_rollouts_own_loop() -> None:
    loops: list[object] = []

    class Closing(FakeLender):
        def __init__(self) -> None:
            super().__init__()
            loops.append(asyncio.get_running_loop())

        async def aclose(self) -> None:
            assert loops[-1] is asyncio.get_running_loop()
            await super().aclose()
            closed.append(self)

    closed: list[FakeLender] = []
    runner = runner_of()
    runner.script = type(runner.script)(runner.script.workflow, Closing, FOR_EVER)
    run_all(runner, tasks_of("a"))
    assert [lender.closed for lender in closed] == [True]


# ------------------------------------------------------------------------------------------------------------ groups


@pytest.mark.parametrize("max_env_worker", [1, 64])
def test_a_judge_that_ranks_sees_the_group_at_once_and_without_what_failed(max_env_worker: int) -> None:
    class FirstFails(Workflow):
        made = 0

        async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
            with lock:
                FirstFails.made += 1
                if task.task_id == "t0" and FirstFails.made == 1:
                    raise ValueError("unlucky")
            return WorkflowOutput(metadata={"final_answer": "x"})

    lock = threading.Lock()
    runner = runner_of(RankJudge(), num_repeat=4, max_env_worker=max_env_worker, workflow=FirstFails)
    groups = {group[0].played.task.task_id: group for group in runner.run(tasks_of("a"))}
    rewards = [row.judgement.reward for row in groups["t0"]]
    assert sorted(reward or 0.0 for reward in rewards) == [0.0, 3.0, 3.0, 3.0]
    assert rewards.count(None) == 1


def test_a_group_of_which_all_failed_is_not_ranked() -> None:
    rows = run_all(runner_of(RankJudge(), num_repeat=2), tasks_of("raise"))
    assert [row.judgement.status for row in rows.values()] == ["failed", "failed"]


# ----------------------------------------------------------------------------------------------------- environments


class Plays(Workflow):
    """Wants its episode to be there."""

    async def execute(self, task: WorkflowTask, model_tuner: FakeLender) -> WorkflowOutput:
        assert task.gym_env.instance_id == task.task_env_uuid
        words = task.task.init_messages[0]["content"]
        if "hang" in words:
            await asyncio.Event().wait()
        if "block" in words:
            Gate.opened.wait(FOR_EVER)
        if "raise" in words:
            raise ValueError(words)
        return WorkflowOutput(metadata={"final_answer": words})


def env_rows(world: EnvWorld, *ids: str, **options: Any) -> dict[str, RolloutRow]:
    judge = options.pop("judge", EnvServiceJudge(None))
    runner = runner_of(judge, place=world.place(), workflow=options.pop("workflow", Plays), **options)
    return dict(run_all(runner, [Task(task_id=name, env_type="game") for name in ids]))


def test_each_rollout_has_an_episode_which_is_judged_and_then_released() -> None:
    world = EnvWorld()
    rows = env_rows(world, "first", "second", num_repeat=3)
    assert {row.judgement.reward for row in rows.values()} == {1.5}
    assert len(set(world.created)) == 6
    assert sorted(world.released) == sorted(world.created)
    assert not world.evaluated_after_release
    line = json.loads(rows["first-0"].to_line("digest"))
    assert line["task"]["init_messages"] == [{"role": "user", "content": "play first"}]


def test_a_workflow_that_edits_its_messages_changes_neither_the_row_nor_the_episode() -> None:
    class Edits(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: FakeLender) -> WorkflowOutput:
            task.task.init_messages[0]["content"] = "edited"
            return WorkflowOutput(metadata={"final_answer": task.gym_env.state[0]["content"]})

    rows = env_rows(EnvWorld(), "first", workflow=Edits)
    line = json.loads(rows["first-0"].to_line("digest"))
    assert line["task"]["init_messages"] == [{"role": "user", "content": "play first"}]
    assert line["output"]["metadata"]["final_answer"] == "play first"


@pytest.mark.parametrize("task_id", ["raise", "hang", "block"])
def test_an_episode_is_released_whatever_happens(task_id: str) -> None:
    world = EnvWorld()
    rows = env_rows(world, task_id, timeout=0.5)
    assert rows[f"{task_id}-0"].judgement.reward is None
    assert world.released == world.created != []


def test_an_environment_that_refuses_is_a_failed_row() -> None:
    row = env_rows(EnvWorld(), "absent")["absent-0"]
    assert row.played.status == "failed"
    assert "no such task" in (row.judgement.error or "")


def test_episodes_of_a_ranked_group_live_until_it_is_ranked() -> None:
    world = EnvWorld()

    class RankByEnv(RankJudge):
        def compute_rewards(self, workflow_task: Any, workflow_outputs: Any) -> list[tuple[float, bool]]:
            assert world.released == []
            return super().compute_rewards(workflow_task, workflow_outputs)

    rows = env_rows(world, "first", num_repeat=3, max_env_worker=1, judge=RankByEnv())
    assert {row.judgement.reward for row in rows.values()} == {3.0}
    assert sorted(world.released) == sorted(world.created)


def test_stopping_releases_episodes_and_hands_on_what_is_done() -> None:
    world = EnvWorld()
    runner = runner_of(EnvServiceJudge(None), place=world.place(), workflow=Plays, num_repeat=1, max_env_worker=3)
    groups = runner.run([Task(task_id=name) for name in ("hang", "block", "first", "second")])
    assert [next(groups)[0].id, next(groups)[0].id] == ["first-0", "second-0"]
    runner.stop()
    assert list(groups) == []
    assert sorted(world.released) == sorted(world.created)
    assert len(world.created) == 4


# ------------------------------------------------------------------------------------------------------------- rows


def test_what_json_cannot_hold_is_written_as_text() -> None:
    class Odd(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
            odd = {"final_answer": "half \ud800", "set": {2, 1}, "task": task.task, "thing": object()}
            return WorkflowOutput(metadata=odd)

    row = run_all(runner_of(workflow=Odd), tasks_of("a"))["t0-0"]
    written = json.loads(row.to_line("d"))["output"]["metadata"]
    assert written["set"] == [1, 2]
    assert written["task"]["task_id"] == "t0"
    assert written["thing"].startswith("<object object")
    assert written["final_answer"] == "half \ud800"


def test_an_output_that_cannot_be_written_at_all_fails_its_row() -> None:
    class Circle(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
            output = WorkflowOutput(metadata={"final_answer": "x"})
            output.metadata["myself"] = output.metadata
            return output

    row = run_all(runner_of(workflow=Circle), tasks_of("a"))["t0-0"]
    assert row.played.status == "failed"
    assert "cannot be written as JSON" in (row.played.error or "")
    assert json.loads(row.to_line("d"))["output"] is None


def test_an_output_too_long_to_be_read_again_fails_its_row() -> None:
    class Long(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
            return WorkflowOutput(metadata={"final_answer": "x", "log": "y" * 17 * 2**20})

    row = run_all(runner_of(workflow=Long), tasks_of("a"))["t0-0"]
    assert (row.played.status, row.judgement.reward) == ("failed", None)
    assert "bytes as JSON, and a row at most 16777216" in row.judgement.reason


def test_a_message_in_the_output_is_written_whole() -> None:
    class Block(BaseModel):
        type: str = "text"
        text: str

    class Says(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: Any) -> WorkflowOutput:
            return WorkflowOutput(metadata={"final_answer": "x", "said": [Block(text="y")]})

    row = run_all(runner_of(workflow=Says), tasks_of("a"))["t0-0"]
    assert json.loads(row.to_line("d"))["output"] == {
        "metadata": {"final_answer": "x", "said": [{"type": "text", "text": "y"}]}
    }


def test_a_row_too_long_to_be_read_again_leaves_its_trajectory_out() -> None:
    class Long(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: FakeLender) -> WorkflowOutput:
            for _ in range(17):
                model_tuner.ask("x" * 2**20)
            return WorkflowOutput(metadata={"final_answer": "x"})

    row = run_all(runner_of(workflow=Long), tasks_of("a"))["t0-0"]
    written = json.loads(row.to_line("d"))
    assert written["trajectory"] == []
    assert written["trajectory_left_out"].startswith("17 calls")


def test_the_start_up_is_not_the_workflows_time() -> None:
    """On a busy machine the model's first import took longer than the timeout, and the rollout was left behind."""
    lending = threading.Event()

    def lend() -> FakeLender:
        lending.wait(1.0)  # longer than the timeout and the grace together
        return FakeLender()

    script = Script(Act, lend, 0.4, None)
    runner = RolloutRunner(script, TaskJudge(LengthJudge(), compile_rules([])), grace=0.05)
    row = run_all(runner, tasks_of("fine"))["t0-0"]
    assert (row.played.status, row.judgement.reward) == ("finished", 4.0)
    assert runner.left_behind == 0
