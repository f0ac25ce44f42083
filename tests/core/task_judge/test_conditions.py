"""The grammar of `when`: comparisons of named values, joined by and, or, not; closed, and read at load."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.combined.condition import parse_condition

KNOWN = {"score": float, "correct.is_success": bool, "correct.reward": float, "my-part.reward": float}


def values(score: float = 0.5, success: bool = True, reward: float = 1.0) -> dict[str, float | bool]:
    return {"score": score, "correct.is_success": success, "correct.reward": reward, "my-part.reward": -1.0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.3 < score < 0.7", True),
        ("0.3<score<0.5", False),
        ("0.5 <= score <= .5", True),
        ("score >= 0.5 and score != 1", True),
        ("score < 0.2 or score > 0.8", False),
        ("not score < 0.2", True),
        ("not (score < 0.2 or correct.is_success)", False),
        ("correct.is_success", True),
        ("not not correct.is_success", True),
        ("correct.is_success and correct.reward == 1", True),
        ("my-part.reward < -0.5", True),
        ("my-part.reward > -.5", False),
        ("my-part.reward > -2", True),
        # `and` binds closer than `or`, `not` closer than `and`
        ("correct.is_success or score < 0 and score > 1", True),
        ("(correct.is_success or score < 0) and score > 1", False),
        ("not correct.is_success or correct.reward == 1", True),
        ("0 < score < 1 > correct.reward", False),
        ("  ((score > 0.4))  ", True),
    ],
)
def test_conditions_hold_as_they_read(text: str, expected: bool) -> None:
    condition = parse_condition(text, KNOWN, "when")
    assert condition.holds(values()) is expected
    assert pickle.loads(pickle.dumps(condition)).holds(values()) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("correct.is_success", None),
        ("not correct.is_success", None),
        ("correct.reward >= 0", None),
        ("correct.reward < 0 <= score", None),
        ("score < 0 < correct.reward", False),
        ("correct.is_success or score > 0", True),
        ("correct.is_success or score < 0", None),
        ("correct.is_success and score < 0", False),
        ("correct.is_success and score > 0", None),
        ("not (correct.is_success and score < 0)", True),
    ],
)
def test_what_is_missing_is_neither_true_nor_false(text: str, expected: bool | None) -> None:
    assert parse_condition(text, KNOWN, "when").holds({"score": 0.5}) is expected


def test_a_condition_names_what_it_looks_at() -> None:
    assert parse_condition("score > 0 and correct.is_success", KNOWN, "when").names == {"score", "correct.is_success"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scoer > 0.3", "did you mean 'score'"),
        ("score", "is a number: compare it"),
        ("0.5", "is a number: compare it"),
        ("correct.is_success > 0", "stands alone"),
        ("score > correct.is_success", "stands alone"),
        ("score >", "cannot read .*: invalid syntax"),
        ("score > and", "cannot read .*: invalid syntax"),
        ("< 3", "cannot read .*: invalid syntax"),
        ("(score > 0.3", "never closed"),
        ("score > 0.3)", r"unmatched '\)'"),
        ("score > 0.3 score < 0.7", "cannot read .*: invalid syntax"),
        ("score = 0.3", "= 0.3': invalid syntax"),
        ("__import__('os').system('id')", "unknown name '__import__'"),
        ("score(0)", r"cannot read 'score\(0\)'"),
        ("score in (1, 2)", "unknown name 'in'"),
        ("'a' < score", "unknown name 'a'"),
        ("1j < score", "cannot read '1j'"),
        ("__import__ (0)", "unknown name '__import__'"),
        ("score > 0 # and score < 1", "cannot read '#'"),
        ("score > 0\0", "cannot read .*x00"),
        ("score > 0.3; 1", "cannot read .*: invalid syntax"),
        ("score ** 2 > 1", r"cannot read 'score \*\* 2'"),
        ("lambda: 1", "unknown name 'lambda'"),
        ("score > 1e400", "cannot read '1e400'"),
        ("- score > 0", "cannot read '- score'"),
        ("", "must be a condition"),
        (None, "must be a condition"),
        (True, "must be a condition"),
        ("(" * 100 + "score > 0" + ")" * 100, "50 brackets"),
        ("score > 0 and " * 60 + "score > 0", "at most 500"),
    ],
)
def test_anything_else_is_refused_at_load(text: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_condition(text, KNOWN, "llm.escalate.when")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("score + 1 > 0", "cannot read 'score + 1' in 'score + 1 > 0'"),
        ("score", "'score' is a number: compare it, as in 0.3 < score in 'score'"),
        ("(score > 0", "cannot read '(score > 0': '(' was never closed in '(score > 0'"),
        (
            "score > x",
            "unknown name 'x' (known are correct.is_success, correct.reward, my-part.reward, score) in 'score > x'",
        ),
        (
            "scor > 0",
            "unknown name 'scor' (did you mean 'score'? known are correct.is_success, correct.reward, "
            "my-part.reward, score) in 'scor > 0'",
        ),
        (
            "0 < correct.is_success",
            "'correct.is_success' is true or false: it stands alone, or after not in '0 < correct.is_success'",
        ),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_a_condition_is(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_condition(text, KNOWN, "here")
    grammar = (
        "; a condition compares names and numbers (<, <=, >, >=, ==, !=) and joins them with and, or, not and brackets"
    )
    assert str(caught.value) == f"here: {told}{grammar}"
