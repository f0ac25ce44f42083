"""What `ReasoningGymJudge` holds against an answer whose scorer pays it: another number than the data set's own."""

from __future__ import annotations

import pytest

from agentscope_tuner.task_judge.reasoning_gym_judge import another


@pytest.mark.parametrize(
    ("answer", "own", "is_same"),
    [
        ("1, 2, 3", "1,2,3", True),
        ("3/4", "0.75", True),
        ("1e5", "100000", True),
        ("x1 = 5", "5", True),
        ("2*5 = 10", "10", True),
        ("1,000", "1000", True),
        ("0.1667", "0.17", True),
        ("1001", "1000", False),
        ("10010", "10011", False),
        ("0", "0.17", False),
        ("-405", "405", False),
        ("405 or 13", "405", False),
        ("2*5 = 11", "10", False),
        ("3/5", "0.75", False),
        # a scorer finds the right one within
        ("not 405", "405", False),
        ("it isn't 405", "405", False),
        ("It is 405 apples.", "405", True),
        ("99 days or 0", "99 days", False),
        ("99 days\n0", "99 days", False),
        ("The knot holds for\n99 days.\n```", "99 days", True),
        ("It is not B, so it is\nA → C", "A → C", True),
        ("not 1 0\n0 1", "1 0\n0 1", False),
        (" 1  0\n0 1\n", "1 0\n0 1", True),
        ("HOT, NOT, NET", "HOT, NUT, NET", True),
        ("hot, not", "hot, not", True),
    ],
)
def test_only_the_data_sets_own_number_is_paid(answer: str, own: str, is_same: bool) -> None:
    assert (another(answer, own) is None) is is_same
