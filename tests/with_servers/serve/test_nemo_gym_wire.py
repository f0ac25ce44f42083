"""A NeMo-Gym run whose samples would all be masked ends by an error."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner.service.admission import Refusal, ServiceSettings
from agentscope_tuner.service.wire_formats import to_nemo_gym
from agentscope_tuner.task_judge.batch import Pair, judge_for
from agentscope_tuner.task_judge.contract.judgement import Judgement
from tests.core.adapters.test_adapters_nemo_gym import request, said
from tests.core.adapters.test_adapters_verl import settings


def served_by(folder: Path) -> Any:
    judge = judge_for(settings(folder))

    async def one(pair: Pair) -> Judgement:
        return await judge.ajudge(*pair)

    return SimpleNamespace(judge=judge, settings=ServiceSettings(), one=one)


def test_a_run_without_verdicts_is_stopped(tmp_path: Path) -> None:
    # every sample was masked, to the end of the training
    served = served_by(tmp_path)
    *before, last = [request(said("boom"), answer="42", level=place) for place in range(64 * 3)]
    assert all(asyncio.run(to_nemo_gym(served, payload, 0.0))["mask_sample"] for payload in before)
    with pytest.raises(Refusal) as refused:
        asyncio.run(to_nemo_gym(served, last, 0.0))
    assert "no verdict in 3 batches in a row" in refused.value.detail


def test_nemo_gym_gets_a_masked_sample_for_a_message_and_a_refusal_for_what_is_no_request(tmp_path: Path) -> None:
    served = served_by(tmp_path)
    got = asyncio.run(to_nemo_gym(served, request({**said("42"), "role": "gpt"}, answer="42"), 0.0))
    assert got["mask_sample"]
    assert "has the policy's role, assistant, but 'gpt'" in got["failure_reason"]
    assert asyncio.run(to_nemo_gym(served, request(said("42"), answer="42"), 0.0))["reward"] == 1.0
    for missing in ("response", "responses_create_params"):
        with pytest.raises(Refusal) as refused:
            asyncio.run(to_nemo_gym(served, {**request(said("42"), answer="42"), missing: None}, 0.0))
        assert refused.value.status == 422
