"""OpenRLHF's contract without OpenRLHF: one query in, scalars out, and the prompt never judged as an answer."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters.openrlhf import decode_request, encode_response, response_of, reward_file
from agentscope_tuner.task_judge.batch import judge_for
from tests.core.adapters.test_adapters_verl import MEASURES, settings

PROMPT = r"<|im_start|>user\nWhat is 6*7? Answer in \boxed{}, as in \boxed{0}.<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        (PROMPT + "42", PROMPT, "42"),
        (PROMPT + "42<|im_end|>", PROMPT, "42"),
        (PROMPT + "42<|im_end|><|endoftext|>", PROMPT, "42"),
        (PROMPT + "42</s>", PROMPT, "42"),
        (PROMPT, PROMPT, ""),
        # a long prompt is cut from the left
        (PROMPT[30:] + "42", PROMPT, "42"),
        ("a" * 64 + "b", "a" * 100, "b"),
        ("42", "", "42"),
        # the response repeats the prompt
        ("ab" * 20 + "ab" * 20, "ab" * 20, "ab" * 20),
    ],
)
def test_the_response_is_the_query_without_its_prompt(query: str, prompt: str, response: str) -> None:
    assert response_of(query, prompt) == response


@pytest.mark.parametrize("query", ["What is 6*7?" + PROMPT, r"a lossy tokenizer's prompt, \boxed{42}", "", PROMPT[-5:]])
def test_a_query_that_hides_its_prompt_has_no_verdict(query: str) -> None:
    with pytest.raises(JudgeError, match="does not begin with its prompt"):
        response_of(query, PROMPT)


def test_separating_a_megabyte_takes_no_more_than_its_length() -> None:
    # a search that starts anew at every character would take hours here
    prompt = "a" * 1_000_000 + "b"
    began = time.perf_counter()
    with pytest.raises(JudgeError):
        response_of("a" * 999_999 + "c", prompt)
    assert time.perf_counter() - began < 30


def test_labels_become_the_reference() -> None:
    task, output = decode_request({"query": [PROMPT + "42"], "prompts": [PROMPT], "labels": ["42"]})
    assert (task.task.metadata, output.metadata["final_answer"]) == ({"label": "42", "answer": "42"}, "42")
    task, _ = decode_request({"query": ["q1"], "prompts": ["q"], "labels": ['{"target": 3, "nums": [1, 2]}']})
    assert task.task.metadata["nums"] == [1, 2]


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"query": "q", "prompts": "q", "labels": "1"},
        {"query": ["q", "q"], "prompts": ["q", "q"], "labels": ["1", "1"]},
        {"query": ["q"], "prompts": ["q"], "labels": []},
        {"query": [1], "prompts": ["q"], "labels": ["1"]},
    ],
)
def test_another_shape_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(JudgeError, match=r"one query, one prompt and one label|must be str"):
        decode_request(payload)


def test_the_judges_metrics_are_logged_for_every_sample(tmp_path: Path) -> None:
    reward_func = reward_file(settings(tmp_path, MEASURES))
    logs = [reward_func([PROMPT + answer], [PROMPT], ["42"])["extra_logs"] for answer in ("42", "free", "")]
    assert [isinstance(log, dict) and "Measures/tokens" in log for log in logs] == [True] * 3


def test_the_answer_is_scalars_and_a_failure_raises(tmp_path: Path) -> None:
    config = settings(tmp_path)
    reward_func = reward_file(config)
    scored = reward_func([PROMPT + "42<|im_end|>"], [PROMPT], ["42"])
    logs = scored["extra_logs"]
    assert isinstance(logs, dict)
    assert logs.pop("judge_seconds") > 0
    assert scored == {"rewards": 1.0, "scores": 1.0, "extra_logs": {"acc": 1.0, "filtered": 0.0, "failed": 0.0}}
    with pytest.raises(JudgeError, match="the judge model did not answer"):
        reward_func([PROMPT + "boom"], [PROMPT], ["42"])
    judge = judge_for(config)
    with pytest.raises(JudgeError, match="the judge model did not answer"):
        encode_response(judge, judge.judge(*decode_request({"query": ["boom"], "prompts": [""], "labels": ["42"]})))
