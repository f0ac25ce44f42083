"""Makes rubrics from one sample: the model proposes and revises them until judging by them gives the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.reply import Reply, ReplyError, final_json
from agentscope_tuner.graders.prompt.fence import neutralise
from agentscope_tuner.graders.prompt.judge_prompt import as_texts, build_prompt, echoes
from agentscope_tuner.graders.prompt.template import LanguageEnum, PromptTemplate, fill
from agentscope_tuner.graders.schema import GraderMode
from agentscope_tuner.rubrics import prompts
from agentscope_tuner.rubrics.config import AutoGraderConfig
from agentscope_tuner.rubrics.judging import inputs_of, ranked, scored
from agentscope_tuner.rubrics.samples import Sample
from agentscope_tuner.rubrics.saved import make_grader
from agentscope_tuner.rubrics.select import Candidate

_LONGEST_RUBRIC = 1_000


@dataclass(frozen=True, slots=True)
class SampleOutcome:
    """The result of learning from one sample.

    Attributes:
        sample: the sample.
        candidates: the rubrics that reproduced its label; empty if no revision did.
        revisions: the number of revisions.
        error: why learning from this sample failed; None otherwise.
    """

    sample: Sample
    candidates: tuple[Candidate, ...] = ()
    revisions: int = 0
    error: str | None = None


class Proposer:
    """Proposes rubrics for samples with one model."""

    def __init__(self, config: AutoGraderConfig, model: ChatModel) -> None:
        self._config = config
        self._model = model
        self._language = LanguageEnum(config.language)
        self._count = config.query_specific_generate_number

    async def attempt(self, sample: Sample) -> SampleOutcome:
        """Propose rubrics, judge by them, revise them at most `max_epochs` times, and judge the last revision."""
        try:
            rubrics = await self._ask(prompts.PROPOSE, sample, {})
            for revision in range(self._config.max_epochs + 1):
                places, reason = await judge_sample(self._config, self._model, sample, numbered(rubrics))
                if reproduces(self._config, sample, places):
                    found = tuple(Candidate(text, (sample.line,)) for text in rubrics)
                    return SampleOutcome(sample, found, revision)
                if revision < self._config.max_epochs:
                    feedback = {"rubrics": numbered(rubrics), "got": _numbers_text(places), "reason": reason}
                    rubrics = await self._ask(prompts.REVISE, sample, feedback)
        except GraderError as exc:
            return SampleOutcome(sample, error=str(exc))
        return SampleOutcome(sample, revisions=self._config.max_epochs)

    async def _ask(self, template: PromptTemplate, sample: Sample, feedback: dict[str, str]) -> list[str]:
        config, key = self._config, (self._config.mode, self._language)
        scale = {"label": _numbers_text(sample.labels), "low": f"{config.min_score:g}", "high": f"{config.max_score:g}"}
        own = {
            "labelled": fill(prompts.LABELLED[key], scale),
            "verdict": prompts.VERDICT[key],
            "count": str(self._count),
            "got": feedback.get("got", ""),
        }
        data: dict[str, Any] = {"query": sample.query, "response": _answers(sample)}
        data |= {name: feedback[name] for name in ("rubrics", "reason") if name in feedback}
        texts = as_texts(data, self._language, 60_000)
        form = fill(prompts.RUBRICS_FORM[self._language], {"count": str(self._count)})
        items = {"type": "array", "items": {"type": "string"}, "minItems": self._count, "maxItems": self._count}
        schema = {
            "type": "object",
            "properties": {"rubrics": items},
            "required": ["rubrics"],
            "additionalProperties": False,
        }
        prompt = build_prompt(template, self._language, own, texts, form, schema)
        return (await self._model.ask(prompt, lambda reply: _rubrics(reply, echoes(texts), self._count))).value


async def judge_sample(
    config: AutoGraderConfig, model: ChatModel, sample: Sample, rubrics: str
) -> tuple[tuple[float, ...], str]:
    """The grader's score of the sample's answer, or the places of its candidates, and the grader's reason.

    Rewards are judged with the same prompt and the same check for answers without content.

    Raises:
        GraderError: there is no verdict.
    """
    grader = make_grader(config, rubrics, model)
    inputs = inputs_of(sample.query, sample.ground_truth)
    if config.mode is GraderMode.POINTWISE:
        opinion = await scored(config, grader, inputs, sample.answers[0])
    else:
        opinion = await ranked(config, grader, inputs, sample.answers)
    return opinion.values, opinion.reason


def reproduces(config: AutoGraderConfig, sample: Sample, places: Sequence[float]) -> bool:
    """Whether the score lies within the tolerance of its label, or the places order every pair as the labels do."""
    if config.mode is GraderMode.POINTWISE:
        return abs(places[0] - sample.labels[0]) <= config.tolerance + 1e-9
    pairs = [(a, b) for a in range(len(places)) for b in range(a)]
    return all(
        (places[a] - places[b]) * (sample.labels[a] - sample.labels[b]) > 0
        for a, b in pairs
        if sample.labels[a] != sample.labels[b]
    )


def numbered(rubrics: Sequence[str]) -> str:
    """Rubrics as numbered lines for a prompt."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(rubrics, start=1))


def _answers(sample: Sample) -> Any:
    return sample.answers[0] if len(sample.answers) == 1 else list(sample.answers)


def _numbers_text(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _rubrics(reply: Reply, judged: Sequence[str], count: int) -> list[str]:
    found = final_json(reply, judged).get("rubrics")
    if not isinstance(found, list) or not all(isinstance(text, str) and text.strip() for text in found):
        raise ReplyError(f"rubrics must be a list of texts, got {found!r:.200}")
    if any(text.strip().startswith("<") and text.strip().endswith(">") for text in found):
        raise ReplyError(f"the form's placeholder came back in place of a rubric: {found!r:.200}")
    if len(found) != count:
        raise ReplyError(f"{count} rubric(s) were asked for, got {len(found)}")
    # Neutralised, because rubrics stand in prompts outside the fence
    return [neutralise(" ".join(text.split()), _LONGEST_RUBRIC) for text in found]
