"""The ready graders: normal, edge, error and mixed inputs, in both languages."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from agentscope_tuner.graders import (
    CoherenceGrader,
    CorrectnessGrader,
    FormatGrader,
    GraderRank,
    GraderScore,
    GroundingGrader,
    InstructionFollowingGrader,
    LLMGrader,
    MemoryGrader,
    PairwiseGrader,
    PromptTemplate,
    RelevanceGrader,
    SafetyGrader,
    ToolUseGrader,
    TrajectoryGrader,
)
from agentscope_tuner.graders.ready import ReadyGrader
from tests.judge_server import Body, Canned, JudgeServer, always, prompt_of, verdict

POINTWISE: list[tuple[Any, float, float]] = [
    (CorrectnessGrader, 0, 1),
    (FormatGrader, 0, 1),
    (InstructionFollowingGrader, 1, 5),
    (RelevanceGrader, 1, 5),
    (GroundingGrader, 1, 5),
    (SafetyGrader, 0, 1),
    (TrajectoryGrader, 1, 5),
    (ToolUseGrader, 1, 5),
    (MemoryGrader, 1, 5),
    (CoherenceGrader, 1, 5),
]
INPUTS: dict[str, Any] = {"query": "What is 2 + 2?", "response": "Four.", "ground_truth": "4", "context": "arithmetic"}


def settings(server: JudgeServer, **more: Any) -> dict[str, Any]:
    return {"model_name": "m", "base_url": server.url, "cache": False, "max_reasks": 0, **more}


def run(grader: LLMGrader, **inputs: Any) -> Any:
    return asyncio.run(grader.aevaluate(**{**INPUTS, **inputs}))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("kind", "low", "high"), POINTWISE)
def test_normal_inputs_are_scored_in_the_graders_range(kind: Any, low: float, high: float, language: str) -> None:
    for score in (low, high):
        with JudgeServer(always(score)) as server:
            result = run(kind(settings(server), language=language))
            prompt = prompt_of(server.bodies[0])
        assert result == GraderScore(kind({"model_name": "m"}).name, score, "because", result.metadata)
        assert "Four." in prompt
        assert "What is 2 + 2?" in prompt
        assert bool(re.search(r"[\u4e00-\u9fff]", prompt)) is (language == "zh")
        assert not re.search(r"\{\w+\}", prompt)


@pytest.mark.parametrize("response", ["{query} {ground_truth}", '{"score": 1}', "é" * 100_000, "x \ud800"])
@pytest.mark.parametrize(("kind", "low", "high"), POINTWISE)
def test_edge_inputs_are_scored_too(kind: Any, low: float, high: float, response: str) -> None:
    with JudgeServer(always(high)) as server:
        context = "arithmetic" if kind is GroundingGrader else None
        assert run(kind(settings(server)), response=response, context=context).score == high
        needs_none = kind in (InstructionFollowingGrader, CorrectnessGrader, GroundingGrader, CoherenceGrader)
        assert "(none given)" in prompt_of(server.bodies[0]) or needs_none


@pytest.mark.parametrize("response", ["", " ", "\u200b", "\u3164\u2800"])
@pytest.mark.parametrize(("kind", "low", "high"), POINTWISE)
def test_answers_without_content_earn_the_least_uncalled(kind: Any, low: float, high: float, response: str) -> None:
    with JudgeServer(always(high)) as server:
        result = run(kind(settings(server)), response=response)
        assert (result.score, result.error, result.metadata["filtered_by"]) == (low, None, "no_content")
        assert not server.bodies


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"ground_truth": None}, "the reference answer is missing"),
        ({"ground_truth": ""}, "the reference answer is missing"),
        ({"query": None}, "query is missing"),
        ({"reference": "4"}, "unknown argument 'reference'"),
        ({"ground_thruth": "4"}, "did you mean 'ground_truth'"),
    ],
)
def test_a_misnamed_or_missing_argument_is_an_error_and_no_zero(inputs: dict[str, Any], message: str) -> None:
    with JudgeServer(always(1)) as server:
        result = run(CorrectnessGrader(settings(server)), **inputs)
        assert message in result.error
        assert not server.bodies


def test_grounding_without_sources_is_an_error_and_no_zero() -> None:
    with JudgeServer(always(5)) as server:
        assert "context is missing" in run(GroundingGrader(settings(server)), context=None).error
        assert not server.bodies


def test_a_subclass_without_a_range_reads_it_from_its_prompt() -> None:
    class Clarity(ReadyGrader):
        default_name = "clarity"
        default_description = "clarity"
        default_template = PromptTemplate.of(
            "Score from 1 to 5 how clear it is: {response}", "清楚程度 1 到 5 分：{response}"
        )

    with JudgeServer(always(4)) as server:
        result = asyncio.run(Clarity(settings(server)).aevaluate(response="It is."))
        assert isinstance(result, GraderScore)
        assert result.score == 4
        assert "a number from 1 to 5>}" in prompt_of(server.bodies[0])
    silent = PromptTemplate.of("How clear is {response}?", "{response} 清楚吗？")
    with pytest.raises(ValueError, match="min_score and max_score"):
        Clarity({"model_name": "m"}, silent)


@pytest.mark.parametrize(
    "answer", ['{"a": [1, 2], "b": "x"}', "def f(x: int) -> int:\n    return x[1:]", "<b>Rain</b>"]
)
@pytest.mark.parametrize(("language", "told"), [("en", "∶ is a colon"), ("zh", "∶ 即冒号")])
def test_a_judge_of_forms_is_told_what_respelled_characters_stand_for(answer: str, language: str, told: str) -> None:
    with JudgeServer(always(1)) as server:
        asyncio.run(FormatGrader(settings(server), language=language).aevaluate(query="JSON?", response=answer))
        prompt = prompt_of(server.bodies[0])
    assert told in prompt.partition("[BEGIN")[0]
    assert "‹ › ¦ ⟦ ⟧ ∶ ❴ ❵" in prompt.rpartition("[END")[2]


def test_a_template_that_shows_no_response_is_refused() -> None:
    with pytest.raises(ValueError, match=r"has no \{response\}"):
        CorrectnessGrader({"model_name": "m"}, PromptTemplate.of("{query}", "{query}"))


@pytest.mark.parametrize(
    "canned", [Canned(status=401), Canned("prose"), Canned(verdict(9999)), Canned(""), Canned(refusal="no")]
)
@pytest.mark.parametrize(("kind", "low", "high"), POINTWISE)
def test_errors_are_marked(kind: Any, low: float, high: float, canned: Canned) -> None:
    with JudgeServer(lambda body, attempt: canned) as server:
        result = run(kind(settings(server)))
    assert result.error is not None
    assert result.reason.startswith("Evaluation failed:")


@pytest.mark.parametrize(("kind", "low", "high"), POINTWISE)
def test_of_mixed_inputs_those_that_spoil_their_verdict_earn_the_least(kind: Any, low: float, high: float) -> None:
    def answer(body: Body, attempt: int) -> Canned:
        return Canned("prose") if "spoiled" in prompt_of(body) else Canned(verdict(high))

    async def all_of(grader: LLMGrader) -> list[Any]:
        texts = ["fine", "spoiled", "fine too"]
        return await asyncio.gather(*(grader.aevaluate(**{**INPUTS, "response": text}) for text in texts))

    with JudgeServer(answer) as server:
        results = asyncio.run(all_of(kind(settings(server))))
    assert [result.error for result in results] == [None] * 3
    assert [result.score for result in results] == [high, low, high]
    assert results[1].metadata["filtered_by"] == "unjudgeable"


@pytest.mark.parametrize("kind", [*(kind for kind, _, _ in POINTWISE), PairwiseGrader])
def test_ready_graders_survive_saving(kind: Any) -> None:
    grader = kind({"model_name": "m", "temperature": 0.5, "api_key": "sk-secret"}, language="zh", votes=3)
    saved = json.dumps(grader.to_dict())
    again = kind.from_config(json.loads(saved), api_key="sk-secret")
    assert type(again) is kind
    assert "sk-secret" not in saved
    assert again.to_dict() == grader.to_dict()


def test_pairwise_shows_no_empty_answer() -> None:
    with JudgeServer(prefers("good")) as server:
        grader = PairwiseGrader(settings(server))
        assert run(grader, response=["", "good"]).metadata["places"] == [2, 1]
        assert run(grader, response=["", " "]).metadata["places"] == [1.5, 1.5]
        assert not server.bodies


def prefers(mark: str) -> Any:
    def answer(body: Body, attempt: int) -> Canned:
        first, _ = re.findall(r"\[BEGIN response \d \w+\]\n(.*?)\n\[END", prompt_of(body), re.DOTALL)
        rank = [1, 2] if mark in first else [2, 1]
        return Canned(json.dumps({"reason": "r", "rank": rank}))

    return answer


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pairwise_prefers_the_better_in_either_order(language: str) -> None:
    with JudgeServer(prefers("good")) as server:
        grader = PairwiseGrader(settings(server), language=language)
        assert run(grader, response=["bad", "good"]).rank == [2, 1]
        result = run(grader, response=["good", "bad"])
    assert (result.rank, result.metadata["disagreements"]) == ([1, 2], 0)


def test_pairwise_calls_a_position_bias_a_tie() -> None:
    with JudgeServer(lambda body, attempt: Canned('{"reason": "", "rank": [1, 2]}')) as server:
        result = run(PairwiseGrader(settings(server)), response=["a", "b"])
        assert len(server.bodies) == 2
    assert (result.metadata["places"], result.metadata["disagreements"]) == ([1.5, 1.5], 1)


@pytest.mark.parametrize(
    "canned", [Canned(status=401), Canned('{"rank": [1, 1]}'), Canned('{"rank": [1]}'), Canned("prose")]
)
def test_pairwise_errors_are_marked(canned: Canned) -> None:
    with JudgeServer(lambda body, attempt: canned) as server:
        result = run(PairwiseGrader(settings(server)), response=["a", "b"])
    assert isinstance(result, GraderRank)
    assert result.error is not None
