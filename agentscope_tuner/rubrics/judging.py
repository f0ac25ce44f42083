"""Judges with a learned grader. Learning, measuring and rewards all use these functions, so they judge alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentscope_tuner.graders.client.chat_model import Prompt
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.listwise import Ranking, group_prompts, rank_all, shared_places
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.prompt.guard import no_content
from agentscope_tuner.graders.schema import GraderMode, GraderScore, grader_error
from agentscope_tuner.rubrics.config import AutoGraderConfig


@dataclass(frozen=True, slots=True)
class Opinion:
    """A learned grader's verdict on one answer, or on several.

    Attributes:
        values: the score of the one answer, or the place of each answer, where 1 is best.
        reason: the judge model's reason.
        usage: the usage of all calls.
        empty: for each answer without content, its index and the reason. The model is not shown such answers.
        disagreements: see Ranking.
    """

    values: tuple[float, ...]
    reason: str
    usage: Usage
    empty: Mapping[int, str] = field(default_factory=dict)
    disagreements: int = 0


def inputs_of(query: str, ground_truth: str | None) -> dict[str, Any]:
    """The arguments of a grader beside the answer."""
    return {"query": query, "ground_truth": ground_truth}


async def scored(config: AutoGraderConfig, grader: LLMGrader, inputs: Mapping[str, Any], answer: str) -> Opinion:
    """The grader's opinion of one answer.

    Raises:
        GraderError: there is no verdict.
    """
    empty = _empty(config, inputs, [answer])
    if empty:
        return Opinion((config.min_score,), empty[0], Usage(), empty)
    result = await grader.aevaluate(response=answer, **inputs)
    if result.error is not None or not isinstance(result, GraderScore):
        raise grader_error(f"{result.error}", result.cause)
    return Opinion((result.score,), result.reason, result.metadata["usage"])


async def ranked(
    config: AutoGraderConfig, grader: LLMGrader, inputs: Mapping[str, Any], answers: Sequence[str]
) -> Opinion:
    """The grader's places for several answers; answers without content share the places behind all others.

    Raises:
        GraderError: there is no ranking.
    """
    empty = _empty(config, inputs, answers)
    judged = [index for index in range(len(answers)) if index not in empty]
    ranking = Ranking([1.0] * len(judged), "the only answer with content", Usage())
    if len(judged) > 1:
        ranking = await rank_all(grader, [answers[index] for index in judged], config.max_group_chars, inputs)
    position = dict.fromkeys(empty, float(len(answers) + 1)) | dict(zip(judged, ranking.places, strict=True))
    places = shared_places([position[index] for index in range(len(answers))])
    return Opinion(tuple(places), ranking.reason, ranking.usage, empty, ranking.disagreements)


def expected(
    config: AutoGraderConfig, grader: LLMGrader, inputs: Mapping[str, Any], answers: Sequence[str]
) -> list[Prompt]:
    """About the prompts that `scored` would send for each answer, or `ranked` for all; nothing is sent."""
    empty = _empty(config, inputs, answers)
    judged = [answer for index, answer in enumerate(answers) if index not in empty]
    if config.mode is GraderMode.LISTWISE:
        return group_prompts(grader, judged, config.max_group_chars, inputs)
    return [prompt for answer in judged for prompt in grader.prompts({**inputs, "response": answer})]


def _empty(config: AutoGraderConfig, inputs: Mapping[str, Any], answers: Sequence[str]) -> dict[int, str]:
    reasons = {
        index: no_content(answer, inputs["ground_truth"])
        for index, answer in enumerate(answers)
        if config.filter_no_content or not answer.strip()
    }
    return {index: reason for index, reason in reasons.items() if reason is not None}
