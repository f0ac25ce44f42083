"""RayJudge: a pool of judge actors that a trainer's processes share."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import ray

from agentscope_tuner import ConfigError, JudgeError, WorkflowOutput, WorkflowTask
from agentscope_tuner.engines.ray.pool import RayJudge
from tests.with_ray.rollouts import config, rollout

pytestmark = pytest.mark.usefixtures("small_ray")


def sample(answer: str) -> tuple[WorkflowTask, WorkflowOutput]:
    row = rollout(0, answer)
    return WorkflowTask(task=row.task), row.output


@pytest.fixture(scope="module")
def judge(small_ray: Any) -> Any:
    pool = RayJudge(config(), name="shared", workers=2, num_cpus=0.5)
    yield pool
    pool.shutdown()


def pids(judge: RayJudge) -> list[int]:
    actors = [ray.get_actor(f"{judge.name}-{index}", namespace="astuner") for index in range(2)]
    return list(ray.get([actor.__ray_call__.remote(lambda _: os.getpid()) for actor in actors]))


def test_it_answers_as_the_judge_itself(judge: RayJudge) -> None:
    reward = judge.compute_reward(*sample("1234567"))
    assert (reward, reward.reason) == ((0.7, True), "length: 7")
    assert asyncio.run(judge.acompute_reward(*sample("123"))) == (0.3, False)
    task, output = sample("12")
    assert judge.compute_rewards(task, [output, output]) == [(0.2, False)] * 2
    assert judge.judge(task, output).reward == 0.2


def test_calls_that_do_not_wait_are_spread_over_the_pool(judge: RayJudge) -> None:
    refs = [judge.compute_reward.remote(*sample("x" * (number % 10))) for number in range(100)]
    assert judge.get(refs) == [(number % 10 / 10, number % 10 > 5) for number in range(100)]
    slow = RayJudge(config(seconds=0.2), name="slow", workers=2, num_cpus=0.5)
    assert len(set(pids(slow_started(slow)))) == 2
    slow.shutdown()


def slow_started(judge: RayJudge) -> RayJudge:
    judge.get([judge.compute_reward.remote(*sample("a")) for _ in range(4)])
    return judge


def test_errors_stay_judge_errors_wherever_they_are_caught(judge: RayJudge) -> None:
    with pytest.raises(JudgeError, match="broken") as caught:
        judge.compute_reward(*sample("break"))
    assert (type(caught.value), caught.value.task_id, caught.value.judge) == (JudgeError, "t0", "Mortal")
    with pytest.raises(JudgeError, match="broken"):
        asyncio.run(judge.acompute_reward(*sample("break")))
    with pytest.raises(JudgeError, match="broken"):
        ray.get(judge.compute_reward.remote(*sample("break")))
    failed = judge.judge(*sample("break"))
    assert (failed.status, failed.reward) == ("failed", None)


@ray.remote(num_cpus=0)
def trainer(judge: RayJudge, answer: str) -> tuple[float, bool]:
    return judge.compute_reward(*sample(answer))


def test_a_handle_works_in_the_trainers_tasks_and_so_do_its_errors(judge: RayJudge) -> None:
    assert ray.get([trainer.remote(judge, "12345678") for _ in range(3)]) == [(0.8, True)] * 3
    with pytest.raises(JudgeError, match="broken"):
        ray.get(trainer.remote(judge, "break"))


def test_an_actor_that_is_killed_is_started_again_and_its_calls_repeated(judge: RayJudge) -> None:
    before = pids(judge)
    refs = [judge.compute_reward.remote(*sample("1234")) for _ in range(50)]
    os.kill(before[0], signal.SIGKILL)
    assert judge.get(refs) == [(0.4, False)] * 50
    after = pids(judge)
    assert (after[0] != before[0], after[1]) == (True, before[1])


def test_a_rollout_that_kills_whoever_judges_it_has_no_verdict_and_the_pool_goes_on(judge: RayJudge) -> None:
    with pytest.raises(JudgeError, match="its worker died twice") as caught:
        judge.compute_reward(*sample("die"))
    assert caught.value.task_id == "t0"
    assert judge.judge(*sample("die")).status == "failed"
    assert judge.compute_reward(*sample("1")) == (0.1, False)


def test_rows_are_logged_by_whoever_judged_them(tmp_path: Path) -> None:
    logged = config()
    logged["astuner"]["task_judge"]["log_dir"] = str(tmp_path / "judged")
    pool = RayJudge(logged, name="logging", workers=2, num_cpus=0.5)
    task, output = sample("12")
    pool.compute_reward(task, output)
    pool.compute_rewards(task, [output, sample("123")[1]])
    assert pool.judge(*sample("break")).status == "failed"
    with pytest.raises(JudgeError, match="broken"):
        pool.compute_reward(*sample("break"))
    # a handle's calls are spread over the pool, so wait for none of them to be lost with its actor
    assert pool.shutdown() is True
    rows = [json.loads(line) for path in (tmp_path / "judged").iterdir() for line in path.read_text().splitlines()]
    assert sorted((row["judgement"]["status"], row["judgement"]["reward"] or 0) for row in rows) == [
        ("failed", 0),
        ("failed", 0),
        ("judged", 0.2),
        ("judged", 0.2),
        ("judged", 0.3),
    ]


def test_a_pool_is_found_by_its_name_and_its_configuration_is_its_own(judge: RayJudge) -> None:
    assert RayJudge(config(), name="shared", workers=2, num_cpus=0.5).compute_reward(*sample("1")) == (0.1, False)
    assert RayJudge(name="shared").compute_reward(*sample("1")) == (0.1, False)
    with pytest.raises(ConfigError, match="another configuration"):
        RayJudge(config(seconds=0.001), name="shared", workers=2).compute_reward(*sample("1"))
    with pytest.raises(ConfigError, match="no pool 'nowhere'"):
        RayJudge(name="nowhere").compute_reward(*sample("1"))
    with pytest.raises(ConfigError, match="Nobody"):
        RayJudge(config("Nobody"), name="new").compute_reward(*sample("1"))


def test_after_its_shutdown_a_handle_refuses_and_makes_no_pool() -> None:
    """It made a new one, detached, which nobody would ever end."""
    pool = RayJudge(config(), name="ended", num_cpus=0.5)
    assert pool.compute_reward(*sample("1")) == (0.1, False)
    assert pool.shutdown() is True
    for call in (pool.compute_reward, pool.compute_reward.remote):
        with pytest.raises(JudgeError, match="this RayJudge was shut down: make another for the pool 'ended'"):
            call(*sample("1"))
    with pytest.raises(JudgeError, match="was shut down"):
        asyncio.run(pool.acompute_reward(*sample("1")))
    assert pool.judge(*sample("1")).status == "failed"
    with pytest.raises(ValueError, match="ended-0"):
        ray.get_actor("ended-0", namespace="astuner")
    assert pool.shutdown() is True


def test_shutting_down_a_handle_that_was_never_used_makes_no_pool_either() -> None:
    assert RayJudge(config("Nobody"), name="unused").shutdown() is True


def test_shutting_down_finishes_what_was_begun_and_refuses_the_rest() -> None:
    pool = RayJudge(config("AwaitingMortal", seconds=0.3), name="draining", num_cpus=0.5)
    pool.compute_reward(*sample("1"))
    other = RayJudge(name="draining")
    refs = [pool.compute_reward.remote(*sample("123")) for _ in range(20)]
    assert pool.shutdown() is True
    assert other.get(refs) == [(0.3, False)] * 20
    with pytest.raises(ConfigError, match="no pool"):
        RayJudge(name="draining").compute_reward(*sample("1"))
    assert other.shutdown() is False or pool.shutdown() is True


def test_a_call_that_outlasts_the_shutdown_is_said_to(judge: RayJudge) -> None:
    pool = RayJudge(config(seconds=5), name="late", num_cpus=0.5)
    ref = pool.compute_reward.remote(*sample("1"))
    assert pool.shutdown(timeout=0.5) is False
    with pytest.raises(JudgeError):
        pool.get(ref)
