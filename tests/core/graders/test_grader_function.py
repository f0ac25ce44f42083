"""Functions as graders, and sums of graders."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from agentscope_tuner.errors import Cause, ConfigError, GraderTimeout, JudgeError
from agentscope_tuner.graders import (
    BaseGrader,
    FunctionGrader,
    GraderMode,
    GraderRank,
    GraderScore,
    RelevanceGrader,
    WeightedSumGrader,
)
from agentscope_tuner.graders.base_grader import evaluate


def word_count(response: str, **_: Any) -> int:
    """Counts words."""
    return len(response.split())


async def exact(response: str, ground_truth: str, **_: Any) -> bool:
    return response == ground_truth


def by_length(response: list[str], **_: Any) -> list[int]:
    order = sorted(range(len(response)), key=lambda index: -len(response[index]))
    return [order.index(index) + 1 for index in range(len(response))]


def broken(**_: Any) -> float:
    raise RuntimeError("boom")


def run(grader: BaseGrader, **kwargs: Any) -> GraderScore | GraderRank:
    return asyncio.run(grader.aevaluate(**kwargs))


def test_sync_and_async_functions_grade() -> None:
    assert run(FunctionGrader(word_count), response="a b c") == GraderScore("word_count", 3.0)
    assert run(FunctionGrader(exact, "em"), response="a", ground_truth="a") == GraderScore("em", 1.0)
    assert run(FunctionGrader(by_length, mode="listwise"), response=["a", "abc", "ab"]).rank == [3, 1, 2]  # type: ignore[union-attr]


def test_a_sync_function_runs_off_the_loop() -> None:
    def where(**_: Any) -> GraderScore:
        return GraderScore("where", 1.0, threading.current_thread().name)

    assert run(FunctionGrader(where)).reason != threading.current_thread().name


@pytest.mark.parametrize("answer", [None, "7", float("nan"), [1, 2], GraderRank("g", [1])])
def test_what_is_not_a_score_is_a_failure(answer: Any) -> None:
    result = run(FunctionGrader(lambda **_: answer, "f"))
    assert result.error is not None
    assert result.reason.startswith("Evaluation failed:")


def test_what_a_function_raises_is_a_failure() -> None:
    assert run(FunctionGrader(broken)).error == "RuntimeError: boom"
    assert run(FunctionGrader(lambda **_: [1, 1], "f", mode=GraderMode.LISTWISE)).error is not None


@pytest.mark.parametrize(
    ("raised", "cause"),
    [
        (RuntimeError("boom"), None),
        (JudgeError("boom"), Cause.JUDGE),
        (JudgeError("boom", cause=Cause.REFERENCE), Cause.REFERENCE),
        (GraderTimeout("boom"), Cause.DEADLINE),
    ],
)
def test_a_failure_has_the_cause_that_the_function_names(raised: Exception, cause: Cause | None) -> None:
    def fails(**_: Any) -> float:
        raise raised

    assert run(FunctionGrader(fails)).cause == cause


def test_function_graders_survive_saving() -> None:
    again = FunctionGrader.from_config(FunctionGrader(word_count, "words").to_dict())
    assert (again.func, again.name, again.mode, again.description) == (
        word_count,
        "words",
        "pointwise",
        "Counts words.",
    )
    with pytest.raises(ValueError, match="cannot be saved"):
        FunctionGrader(lambda **_: 1.0, "f").to_dict()


@pytest.mark.parametrize("func", ["os.path", "no.such.module->f", "os.path->nothing", "os.path->sep"])
def test_a_function_that_is_not_there_is_a_config_error(func: str) -> None:
    with pytest.raises(ConfigError, match="module->function"):
        FunctionGrader.from_config({"func": func, "name": "f", "mode": "pointwise", "description": ""})


class _Conventional(BaseGrader):
    """Written as the grader conventions show: catches everything and sets no error."""

    async def aevaluate(self, **kwargs: Any) -> GraderScore:
        try:
            raise TimeoutError("no answer")
        except TimeoutError as exc:
            return GraderScore(name=self.name, score=0.0, reason=f"Evaluation failed: {exc!s}")


class _Rude(BaseGrader):
    """Breaks the convention."""

    async def aevaluate(self, **kwargs: Any) -> GraderScore | GraderRank:
        raise KeyError("response")


class _Confused(BaseGrader):
    async def aevaluate(self, **kwargs: Any) -> Any:
        return 0.7


@pytest.mark.parametrize("grader", [_Conventional("g"), _Rude("g"), _Confused("g")])
def test_foreign_graders_that_fail_are_failures(grader: BaseGrader) -> None:
    assert asyncio.run(evaluate(grader, response="x")).error is not None


def half(**_: Any) -> float:
    return 0.5


def test_a_weighted_sum_adds_up() -> None:
    parts = [(FunctionGrader(word_count), 2.0), (FunctionGrader(half), -1.0)]
    result = run(WeightedSumGrader(parts), response="a b")
    assert isinstance(result, GraderScore)
    assert result.score == pytest.approx(3.5)
    assert (result.name, result.reason) == ("weighted_sum", "word_count 2 x 2: ; half 0.5 x -1: ")
    told = WeightedSumGrader(parts, name="both", description="how long").to_dict()
    assert told == {"name": "both", "mode": "pointwise", "description": "how long"}
    assert result.metadata["parts"] == {"word_count": 2.0, "half": 0.5}


@pytest.mark.parametrize("weights", [(1e308, 1e308), (1e308, -1e308)])
def test_a_sum_beyond_every_float_is_an_error(weights: tuple[float, float]) -> None:
    """`aevaluate` raised a ValueError, and promises to raise nothing."""
    parts = [(FunctionGrader(lambda **_: 10.0, name), weight) for name, weight in zip("ab", weights, strict=True)]
    assert str(run(WeightedSumGrader(parts)).error).startswith("the parts make no finite number: a 10 x 1e+308")


def test_a_failed_part_is_an_error_unless_the_user_says_otherwise() -> None:
    parts = [(FunctionGrader(half), 1.0), (FunctionGrader(broken), 3.0)]
    assert run(WeightedSumGrader(parts), response="a").error == "broken: RuntimeError: boom"
    skipping = run(WeightedSumGrader(parts, failed_parts="skip"), response="a")
    assert isinstance(skipping, GraderScore)
    assert (skipping.error, skipping.score) == (None, 2.0)
    assert skipping.metadata["failed_parts"] == {"broken": "RuntimeError: boom"}
    assert run(WeightedSumGrader(parts[1:], failed_parts="skip")).error is not None
    for weight in (0.0, -1.0):
        with pytest.raises(ValueError, match="all of them must be positive"):
            WeightedSumGrader([(FunctionGrader(half), weight)], failed_parts="skip")


@pytest.mark.parametrize(("weight", "score"), [(1.0, 1.0), (-1.0, -5.0)])
def test_a_text_that_a_penaltys_judge_cannot_judge_does_not_escape_it(weight: float, score: float) -> None:
    model = {"model_name": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": "k"}
    result = run(WeightedSumGrader([(RelevanceGrader(model, max_chars=1000), weight)]), query="q", response="x" * 2000)
    assert isinstance(result, GraderScore)
    assert (result.error, result.score) == (None, score)


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [(FunctionGrader(half), 1.0), (FunctionGrader(half), 1.0)],
        [(FunctionGrader(by_length, mode="listwise"), 1.0)],
    ],
)
def test_sums_that_mean_nothing_are_refused(parts: list[tuple[BaseGrader, float]]) -> None:
    with pytest.raises(ValueError, match="weighted sum"):
        WeightedSumGrader(parts)
