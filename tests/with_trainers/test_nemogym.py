"""NeMo-Gym's own request and response classes on both sides of our wire.

NeMo-Gym 0.7 asks for Python 3.13.14; its verify classes import on older ones, where it is installed regardless.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest
from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse
from nemo_gym.failure_kinds import is_registered
from nemo_gym.openai_utils import NeMoGymResponse
from omegaconf import OmegaConf
from pydantic import ConfigDict

from agentscope_tuner.adapters.nemo_gym import FAILURE_KIND, decode_request, encode_response
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from tests.hanging_judges import release
from tests.with_trainers.judges import HANGING, HOSTILE, config, hanging

MATH = {
    "astuner": {"task_judge": {"judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"}}
}


class Request(BaseVerifyRequest):
    """A benchmark's request: NeMo-Gym's, with a field of its own."""

    model_config = ConfigDict(extra="allow")
    expected_answer: str


def sent(text: str, truth: str = "42") -> dict[str, Any]:
    """What NeMo-Gym posts: its own model, serialised by itself."""
    response = NeMoGymResponse.model_validate(
        {
            "id": "r1",
            "created_at": 0.0,
            "model": "policy",
            "object": "response",
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "id": "m1",
                    "content": [{"type": "output_text", "text": text, "annotations": []}],
                }
            ],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
        }
    )
    request = Request.model_validate(
        {
            "responses_create_params": {"input": [{"role": "user", "content": "6*7?"}]},
            "response": response.model_dump(),
            "expected_answer": truth,
        }
    )
    dumped: dict[str, Any] = request.model_dump(mode="json")
    return dumped


def verified(settings: dict[str, Any], payload: dict[str, Any]) -> BaseVerifyResponse:
    judge = ConfiguredJudge(OmegaConf.create(settings))
    task, output = decode_request(payload)
    assert task.task.main_query == "6*7?"
    return BaseVerifyResponse.model_validate(encode_response(payload, judge, judge.judge(task, output)))


def test_the_version_is_the_one_the_guide_names() -> None:
    assert version("nemo-gym") == "0.7.0"


@pytest.mark.parametrize(
    ("text", "reward"),
    [(r"\boxed{42.0}", 1.0), (r"\boxed{41}", 0.0), ("", 0.0), *((text, 0.0) for text in HOSTILE[:-1])],
)
def test_their_request_gives_their_response(text: str, reward: float) -> None:
    verdict = verified(MATH, sent(text))
    assert (verdict.reward, verdict.mask_sample, verdict.failure_kind) == (reward, False, None)


def test_a_failed_verdict_is_masked_with_a_kind_they_know() -> None:
    verdict = verified(config("Fails"), sent(r"\boxed{41}", "41"))
    assert (verdict.reward, verdict.mask_sample, verdict.failure_kind) == (0.0, True, FAILURE_KIND)
    assert "the judge model did not answer" in (verdict.failure_reason or "")
    assert is_registered(FAILURE_KIND)


@pytest.mark.parametrize("judge", HANGING)
def test_a_judge_that_hangs_is_masked_in_time(judge: str) -> None:
    with release():
        verdict = verified(hanging(judge), sent(r"\boxed{42}"))
    assert (verdict.reward, verdict.mask_sample, verdict.failure_kind) == (0.0, True, FAILURE_KIND)
    assert "no verdict within 0.3 s" in (verdict.failure_reason or "")
