"""A verdict has a deadline behind Ray, too."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.engines.ray.files import score_files
from agentscope_tuner.engines.ray.pool import RayJudge
from agentscope_tuner.errors import Cause, DeadlineError
from tests.with_ray.rollouts import scored, write

pytestmark = pytest.mark.usefixtures("small_ray")

SECONDS = 1.0
TASK = WorkflowTask(task=Task(task_id="t1"))
OUTPUT = WorkflowOutput(metadata={"final_answer": "hang"})


def config(judge: str) -> dict[str, Any]:
    section = {"judge_protocol": f"tests.hanging_judges->{judge}", "deadline": SECONDS}
    return {"astuner": {"task_judge": section}}


@pytest.mark.parametrize("judge", ["Blocks", "Awaits", "Swallows", "BlocksItsLoop"])
def test_a_pool_answers_in_time_for_a_judge_that_hangs(judge: str) -> None:
    pool = RayJudge(config(judge), name=judge, num_cpus=0.5)
    try:
        pool.judge(TASK, OUTPUT)  # the actor's start takes seconds
        started = time.monotonic()
        judgement = pool.judge(TASK, OUTPUT)
        assert (judgement.reward, judgement.cause) == (None, Cause.DEADLINE)
        assert str(judgement.error).startswith(f"task 't1': {judge}: no verdict within 1 s")
        with pytest.raises(DeadlineError, match="no verdict within 1 s"):
            pool.compute_reward(TASK, OUTPUT)
        with pytest.raises(DeadlineError, match="no verdict within 1 s"):
            asyncio.run(pool.acompute_reward(TASK, OUTPUT))
        assert time.monotonic() - started < 3 * (SECONDS + 2.0)
    finally:
        assert pool.shutdown()


def test_a_pool_answers_in_time_for_a_judge_that_ranks_for_ever() -> None:
    pool = RayJudge(config("RanksForEver"), name="RanksForEver", num_cpus=0.5)
    try:
        with pytest.raises(DeadlineError, match="no verdict within 1 s"):
            pool.compute_rewards(TASK, [OUTPUT] * 2)
    finally:
        assert pool.shutdown()


def test_a_computation_that_never_ends_stops_no_actor() -> None:
    pool = RayJudge(config("Computes"), name="computes", num_cpus=0.5)
    quick = WorkflowOutput(metadata={"final_answer": "quick"})
    try:
        for _ in range(2):
            # the start of the process that judges is not the verdict's time
            assert pool.judge(TASK, quick).reward == 1.0
            started = time.monotonic()
            with pytest.raises(DeadlineError, match="no verdict within 1 s"):
                pool.compute_reward(TASK, OUTPUT)
            assert time.monotonic() - started < SECONDS + 2.0
    finally:
        assert pool.shutdown()


@pytest.mark.parametrize("judge", ["SomeHang", "Computes"])
def test_a_file_is_judged_around_the_row_that_hangs(judge: str, tmp_path: Path) -> None:
    source = write(tmp_path / "r.jsonl", ["quick", "hang", "quick"])
    for _ in score_files(config(judge), [source], tmp_path / "out", digest="d", jobs=1):
        pass
    judgements = [row["judgement"] for row in scored(tmp_path / "out")]
    assert [one["reward"] for one in judgements] == [1.0, None, 1.0]
    assert judgements[1]["cause"] == Cause.DEADLINE
