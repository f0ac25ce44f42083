"""What graders may answer, and how a failure looks."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner.errors import Cause
from agentscope_tuner.graders import GraderMode, GraderRank, GraderScore


@pytest.mark.parametrize("score", [True, None, "7", float("nan"), float("inf"), float("-inf"), 10**400, [1]])
def test_a_score_is_a_finite_number(score: Any) -> None:
    with pytest.raises(ValueError, match="finite number"):
        GraderScore("g", score)


@pytest.mark.parametrize(
    "rank", [[0, 1], [1, 1, 3], [1, 3], [2, 3], [], [1.0, 2.0], [True, 2], ["1", "2"], "12", None, 1]
)
def test_a_rank_is_a_permutation(rank: Any) -> None:
    with pytest.raises(ValueError, match="rank must be"):
        GraderRank("g", rank)


def test_verdicts_keep_what_they_are_given() -> None:
    score = GraderScore("g", 0.0, "wrong in every step", {"k": 1})
    assert (score.score, score.reason, score.metadata, score.error) == (0.0, "wrong in every step", {"k": 1}, None)
    assert GraderRank("g", [2, 1, 3]).rank == [2, 1, 3]


def test_a_failure_is_marked() -> None:
    score, rank = GraderScore.failed("g", "HTTP 500"), GraderRank.failed("g", "HTTP 500")
    assert (score.score, score.reason, score.error) == (0.0, "Evaluation failed: HTTP 500", "HTTP 500")
    assert (list(rank.rank), rank.error) == ([], "HTTP 500")


@pytest.mark.parametrize("kind", [GraderScore, GraderRank])
@pytest.mark.parametrize(("error", "told"), [("HTTP 500", "HTTP 500"), (" boom ", " boom "), ("", "unknown error")])
def test_a_failure_keeps_its_error_cause_and_facts(kind: Any, error: str, told: str) -> None:
    failed = kind.failed("g", error, {"tries": 2}, Cause.DEADLINE)
    assert (failed.name, failed.error, failed.reason) == ("g", told, f"Evaluation failed: {error}")
    assert (failed.metadata, failed.cause) == ({"tries": 2}, Cause.DEADLINE)
    assert (kind.failed("g", error).metadata, kind.failed("g", error).cause) == ({}, None)


def test_the_conventions_unmarked_failure_is_marked_too() -> None:
    assert GraderScore("g", 0.0, "Evaluation failed: boom").error == "boom"
    assert GraderRank("g", [], "Evaluation failed: boom").error == "boom"
    assert GraderScore("g", 0.5, "Evaluation failed: boom").error is None


def test_modes_read_like_the_configuration() -> None:
    assert GraderMode("pointwise") is GraderMode.POINTWISE
    assert str(GraderMode.LISTWISE) == "listwise"
