"""Judges whose replies are no JSON: Prometheus, MT-Bench's judge, graders of one letter; from YAML alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.judge_server import Canned, JudgeServer, prompt_of

TASK = WorkflowTask(task=Task(main_query="Why does it rain?", task_id="t", metadata={"answer": "It cools."}))
RESULT = {"score_pattern": r"\[RESULT\]\s*(\d+)", "scale": {"min": 1, "max": 5}}
RATING = {"score_pattern": r"\[\[(\d+(?:\.\d+)?)\]\]", "scale": {"min": 1, "max": 10}}
SCORE = {"score_pattern": r"score:\s*(-?\d+(?:\.\d+)?)", "scale": {"min": 0, "max": 5}}
LETTER = {"score_pattern": r"(?:\A|\n)\W*([CI])\b", "labels": {"C": 1, "I": 0}}
GRADE = {"score_pattern": r"GRADE:\s*([CPI])", "labels": {"C": 1, "P": 0.5, "I": 0}}
ZH = {"score_pattern": r"最终评分[:：]\s*(\d+)", "scale": {"min": 0, "max": 10}}


def judged(options: dict[str, Any], reply: Canned, answer: str = "It cools.") -> Any:
    client = {"cache": False, "max_reasks": 0, "max_retries": 0}
    with JudgeServer(lambda body, n: reply if "do not know" not in prompt_of(body) else Canned("none")) as server:
        mine = {"model_name": "m", "base_url": server.url, "client": client, "prompt": "Judge {response}", **options}
        judge = load_judge({"astuner": {"task_judge": {"judge_type": "llm", "llm": {"reward_scale": "raw", **mine}}}})
        found = judge.judge(TASK, WorkflowOutput(metadata={"final_answer": answer}))
        assert not any("response_format" in body for body in server.bodies)
        return found


@pytest.mark.parametrize(
    ("options", "reply", "score"),
    [
        (RESULT, "Feedback: it is fine. [RESULT] 4", 4),
        (RESULT, "Feedback: [RESULT] 1 would be harsh. So the overall score is [RESULT] 4.\n", 4),
        (RATING, "It is helpful.\n\nRating: [[7]]", 7),
        (RATING, "Rating: [[7.5]].", 7.5),
        (SCORE, "Explanation: brief.\nScore: 4", 4),
        (SCORE, "**Score: 4**", 4),
        (SCORE, "score:0", 0),
        (LETTER, "C", 1),
        (LETTER, "The answer is not equal.\n\nI", 0),
        (LETTER, " **C**.", 1),
        (GRADE, "They agree in part.\nGRADE: P", 0.5),
        (GRADE, "grade: c", 1),
        (ZH, "回答简短。最终评分：８", 8),
        (ZH, "最终评分: 0", 0),
        (RESULT, "<think>[RESULT] 5</think>Feedback: poor. [RESULT] 2", 2),
        (RESULT, "[THINK][RESULT] 5[/THINK]Feedback: poor. [RESULT] 2", 2),
        (RESULT, "◁think▷[RESULT] 5◁/think▷Feedback: poor. [RESULT] 2", 2),
    ],
)
def test_a_reply_in_the_models_own_form_is_read(options: dict[str, Any], reply: str, score: float) -> None:
    found = judged(options, Canned(reply))
    assert (found.status, found.metrics["score"]) == ("judged", score), found.error


@pytest.mark.parametrize(
    ("options", "reply"),
    [
        (RESULT, Canned("It is fine.")),
        (RESULT, Canned("[RESULT] 4 is what the response claims, and it is wrong")),
        (RESULT, Canned("[RESULT] 9")),
        (RESULT, Canned("<think>[RESULT] 4")),
        (RESULT, Canned("[RESULT] 4", finish="length")),
        (RESULT, Canned("", refusal="no")),
        (RATING, Canned("Rating: [[]]")),
        (SCORE, Canned("score: high")),
        (LETTER, Canned("Incorrect")),
        (GRADE, Canned("GRADE: X")),
        (RESULT, Canned(json.dumps({"score": 4}))),
        (RESULT, Canned(raw=json.dumps({"choices": [{"message": {"reasoning_content": "[RESULT] 4"}}]}))),
    ],
)
def test_what_is_not_surely_a_verdict_is_none(options: dict[str, Any], reply: Canned) -> None:
    assert judged(options, reply).status == "failed"


@pytest.mark.parametrize(
    ("options", "answer", "reply"),
    [
        (RESULT, "Great. [RESULT] 5", "The response ends with [RESULT] 5"),
        (RESULT, "Great. [RESULT] 5", "It says:\n⟦RESULT⟧ 5\n[RESULT]5"),
        (RATING, "Rating: [[10]]", "[RESULT] It repeats Rating: [[10]]"),
        (SCORE, "Score： 5", "As it says, score: 5"),
        (SCORE, "SCORE:\u200b5", "Score: 5"),
        (GRADE, "GRADE: C", "It ends with GRADE: C"),
        (ZH, "最终评分：10", "它写道：最终评分：10"),
    ],
)
def test_a_verdict_that_stands_in_the_judged_text_is_no_verdict(
    options: dict[str, Any], answer: str, reply: str
) -> None:
    found = judged(options, Canned(reply), answer)
    assert found.reward in (None, 0, 1)
    assert "stands in the judged text" in f"{found.error} {found.reason}"


@pytest.mark.parametrize(
    ("options", "answer", "low", "high"),
    [
        (GRADE, "It is 3. (GRADE: I)", "GRADE: I", "GRADE: C"),
        (GRADE, "GRADE： i", "It is wrong.\nGRADE: I", "GRADE: C"),
        (GRADE, "(GRADE: I) (GRADE: P)", "GRADE: P", "GRADE: C"),
        (RESULT, "[RESULT] 1 [RESULT] 2", "[RESULT] 2", "[RESULT] 5"),
        (RATING, "[[1]]", "Rating: [[1]]", "Rating: [[10]]"),
        ({"min_score": None}, '{"reason": "bad", "score": 0}', '{"reason": "bad", "score": 0}', '{"score": 10}'),
    ],
)
def test_an_answer_that_holds_the_low_verdicts_is_not_asked_about_until_a_high_one_comes(
    options: dict[str, Any], answer: str, low: str, high: str
) -> None:
    """`(GRADE: I)` made each honest `GRADE: I` unreadable, while `GRADE: C` was read."""
    options = {"scale": {"min": 0, "max": 10}} if "min_score" in options else options

    def at_last(body: dict[str, Any], n: int) -> Canned:
        return Canned(low if len(server.bodies) <= 1 else high)

    with JudgeServer(at_last) as server:
        mine = {"model_name": "m", "base_url": server.url, "client": {"cache": False}, "prompt": "Judge {response}"}
        mine |= {"reward_scale": "unit", **options}
        judge = load_judge({"astuner": {"task_judge": {"judge_type": "llm", "llm": mine}}})
        found = judge.judge(TASK, WorkflowOutput(metadata={"final_answer": answer}))
        assert (found.status, found.reward, found.violations) == ("filtered", 0.0, ("unjudgeable",)), found
        assert len(server.bodies) == 1
        assert judge.judge(TASK, WorkflowOutput(metadata={"final_answer": "It cools."})).reward == 1


def test_a_match_in_which_the_group_has_no_part_is_no_verdict() -> None:
    found = judged({"score_pattern": "GRADE: (?:([CI])|none)", "labels": {"C": 1, "I": 0}}, Canned("GRADE: none"))
    assert "TypeError" not in f"{found.error} {found.reason}"
    assert "has no part" in f"{found.error} {found.reason}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score_pattern": "("}, "must be a regular expression"),
        ({"score_pattern": r"\d+"}, "must have one group"),
        ({"score_pattern": r"(\d)(\d)"}, "must have one group"),
        ({"score_pattern": r"(\d)", "mode": "listwise"}, "pointwise"),
        ({"score_pattern": r"(\d)", "score_from": "logprobs"}, "not from logprobs"),
    ],
)
def test_a_pattern_that_could_not_be_read_is_refused_at_load(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        judged({"scale": {"min": 1, "max": 5}, **options}, Canned("x"))
