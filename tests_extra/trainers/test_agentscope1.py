"""agentscope 1.0.21's own tuner: its check accepts our judge function, and its types come back."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import agentscope
import cloudpickle
import pytest
from agentscope.message import Msg, TextBlock, ThinkingBlock
from agentscope.tuner import JudgeOutput, check_judge_function
from omegaconf import OmegaConf

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters.agentscope import judge_func
from tests_extra.trainers.judges import HOSTILE, config


def build(tmp_path: Path, settings: dict[str, Any] | None = None) -> Any:
    path = tmp_path / "judge.yaml"
    protocol = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    OmegaConf.save(OmegaConf.create(settings or {"astuner": {"task_judge": {"judge_protocol": protocol}}}), path)
    return judge_func(path)


def test_the_version_is_the_one_the_guide_names() -> None:
    assert agentscope.__version__ == "1.0.21"


def test_the_tuners_check_accepts_our_function(tmp_path: Path) -> None:
    check_judge_function(build(tmp_path))

    def wrong(task: dict[str, Any], output: str) -> None: ...

    with pytest.raises(ValueError, match="response"):
        check_judge_function(wrong)


@pytest.mark.parametrize(
    ("response", "reward"),
    [
        (Msg("agent", r"\boxed{\frac{84}{2}}", "assistant"), 1.0),
        (Msg("agent", [TextBlock(type="text", text=r"\boxed{42}")], "assistant"), 1.0),
        (
            Msg(
                "agent",
                [ThinkingBlock(type="thinking", thinking=r"\boxed{42}"), TextBlock(type="text", text="?")],
                "assistant",
            ),
            0.0,
        ),
        (r"\boxed{41}", 0.0),
        *((attack, 0.0) for attack in HOSTILE),
    ],
)
def test_responses_are_judged(response: Any, reward: float, tmp_path: Path) -> None:
    judge = build(tmp_path)
    task = {"question": "6*7?", "answer": "42"}
    output = asyncio.run(judge(task=task, response=response, auxiliary_models={}, logger=logging.getLogger("tuner")))
    assert isinstance(output, JudgeOutput)
    assert output.reward == reward
    assert set(output.metrics or {}) == {"success", "filtered", "failed", "judge_seconds"}


def test_the_function_reaches_a_rays_worker(tmp_path: Path) -> None:
    judge = cloudpickle.loads(cloudpickle.dumps(build(tmp_path)))
    check_judge_function(judge)
    assert asyncio.run(judge(task={"answer": "42"}, response=r"\boxed{42}")).reward == 1.0


def test_a_failed_verdict_raises(tmp_path: Path) -> None:
    judge = build(tmp_path, config("Fails"))
    with pytest.raises(JudgeError, match="the judge model did not answer"):
        asyncio.run(judge(task={"answer": "41"}, response=r"\boxed{41}"))
