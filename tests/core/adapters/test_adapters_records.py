"""A record as ground truth: each adapter gives its fields to the judge, of a mapping as of JSON in a text column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, WorkflowOutput, WorkflowTask
from agentscope_tuner.adapters import agentscope, areal, ms_swift, nemo_gym, open_instruct, openrlhf, rllm, slime, verl
from agentscope_tuner.adapters.trl import reward_func
from agentscope_tuner.task_judge.batch import judge_for
from tests.core.adapters.test_adapters_more import Sample, said
from tests.core.adapters.test_adapters_nemo_gym import request as verify_request
from tests.core.adapters.test_adapters_nemo_gym import said as output_message
from tests.core.adapters.test_adapters_verl import settings
from tests.tables import each_row_unasked


class Told(BaseJudge):
    """1.0 for a text of the reference and the level, as the task has them."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        told = workflow_task.task.metadata
        right = workflow_output.metadata["final_answer"] == f"{told['answer']} at level {told.get('level')}"
        return float(right), right


def trl_(config: str, answer: str, truth: Any) -> Any:
    return reward_func(config)(["6*7="], [answer], answer=[truth])[0]


def ms_swift_(config: str, answer: str, truth: Any) -> Any:
    return ms_swift.orm(config)()([answer], messages=[said(answer)], answer=[truth])[0]


def ms_swift_solution(config: str, answer: str, truth: Any) -> Any:
    return ms_swift.orm(config)()([answer], messages=[said(answer)], solution=[truth])[0]


def verl_(config: str, answer: str, truth: Any) -> Any:
    return verl.compute_score_sync("math", answer, truth, config=config)["score"]


def openrlhf_(config: str, answer: str, truth: Any) -> Any:
    return openrlhf.reward_file(config)([f"6*7={answer}"], ["6*7="], [truth])["rewards"]


def nemo_gym_(config: str, answer: str, truth: Any, column: str = "expected_answer") -> Any:
    payload = verify_request(output_message(answer), **{column: truth})
    judge = judge_for(config)
    return nemo_gym.encode_response(payload, judge, judge.judge(*nemo_gym.decode_request(payload)))["reward"]


def nemo_gym_answer(config: str, answer: str, truth: Any) -> Any:
    return nemo_gym_(config, answer, truth, "answer")


def slime_(config: str, answer: str, truth: Any) -> Any:
    return judge_for(config).judge(*slime.as_pair(Sample(answer, label=truth))).reward


def slime_metadata(config: str, answer: str, truth: Any) -> Any:
    sample = Sample(answer, label=None, metadata={"answer": truth})
    return judge_for(config).judge(*slime.as_pair(sample)).reward


def areal_(config: str, answer: str, truth: Any) -> Any:
    return areal.reward_fn(config)("6*7=", answer, answer=truth)


def rllm_(config: str, answer: str, truth: Any) -> Any:
    task, episode = {"question": "6*7=", "answer": truth}, SimpleNamespace(artifacts={"answer": answer})
    return rllm.JudgeEvaluator(config).evaluate(task, episode).reward


def open_instruct_(config: str, answer: str, truth: Any) -> Any:
    return open_instruct.verifier("math_judge", config)()([1], answer, truth, "6*7=").score


def agentscope_(config: str, answer: str, truth: Any) -> Any:
    return judge_for(config).judge(*agentscope.as_pair({"question": "6*7=", "answer": truth}, answer)).reward


def agentscope_ground_truth(config: str, answer: str, truth: Any) -> Any:
    return judge_for(config).judge(*agentscope.as_pair({"question": "6*7=", "ground_truth": truth}, answer)).reward


SEAMS = [
    trl_,
    ms_swift_,
    ms_swift_solution,
    verl_,
    openrlhf_,
    nemo_gym_,
    nemo_gym_answer,
    slime_,
    slime_metadata,
    areal_,
    rllm_,
    open_instruct_,
    agentscope_,
    agentscope_ground_truth,
]


@each_row_unasked
def trainers_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """The types of trainers that are not on PyPI, as they document them."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "stand_ins"))


@pytest.mark.parametrize("ask", SEAMS, ids=lambda ask: ask.__name__)
def test_a_record_is_read_and_other_texts_stay_as_they_are(ask: Callable[[str, str, Any], Any], tmp_path: Path) -> None:
    config = settings(tmp_path, "tests.core.adapters.test_adapters_records->Told")
    for truth, right in [
        ({"answer": "42", "level": 3}, "42 at level 3"),
        ('{"answer": "42", "level": 3}', "42 at level 3"),
        (' {"level": 3}', ' {"level": 3} at level 3'),
        ("{1, 2}", "{1, 2} at level None"),
        ("{42}", "{42} at level None"),
        ("42", "42 at level None"),
    ]:
        assert ask(config, right, truth) == 1.0, truth
        assert ask(config, f"not {right}", truth) == 0.0, truth
