"""Mixed data on Ray, by files and by the judge pool: the same rewards as by the command line, bit by bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tuner import Rollout, WorkflowTask
from agentscope_tuner.engines.ray.files import score_files
from agentscope_tuner.engines.ray.pool import RayJudge
from tests.mixed_rows import CONFIG, DIGEST, digest, mixed_rows, write_rows
from tests.with_ray.rollouts import scored

pytestmark = pytest.mark.usefixtures("small_ray")


def test_files_are_paid_the_same_bits(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl")
    list(score_files(CONFIG, [source], tmp_path / "out", digest="d", jobs=2, size=20_000))
    assert digest([row["judgement"]["reward"] for row in scored(tmp_path / "out")]) == DIGEST


def test_the_pool_pays_the_same_bits() -> None:
    rows = [Rollout.model_validate(row) for row in mixed_rows()]
    judge = RayJudge(CONFIG, name="mixed", workers=2, num_cpus=0.5)
    try:
        rewards = judge.get(
            [judge.compute_reward.remote(WorkflowTask(task=row.task), row.output) for row in rows], timeout=300
        )
    finally:
        judge.shutdown()
    assert digest([reward for reward, _ in rewards]) == DIGEST
