"""Makes rubrics from one sample: the model proposes and revises them until judging by them gives the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.reply import Reply, ReplyError, final_json
from agentscope_tuner.graders.injection_defence import neutralise
from agentscope_tuner.graders.listwise import rank_all
from agentscope_tuner.graders.prompt import MOST_CHARS, ReplyForm, as_texts, build_prompt, echoes, object_schema
from agentscope_tuner.graders.rubrics.samples import Sample
from agentscope_tuner.graders.rubrics.saved import PROPOSE, REVISE, SORT, WORDS, Rubric, make_grader
from agentscope_tuner.graders.rubrics.select import Candidate
from agentscope_tuner.graders.rubrics.settings import AutoGraderConfig
from agentscope_tuner.graders.schema import GraderMode, GraderScore, grader_error
from agentscope_tuner.graders.template import LanguageEnum, PromptTemplate, fill


def inputs_of(query: str, ground_truth: str | None) -> dict[str, Any]:
    """The arguments of a grader beside the answer."""
    return {"query": query, "ground_truth": ground_truth}


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
            rubrics = await self._ask(PROPOSE, sample, {})
            for revision in range(self._config.max_epochs + 1):
                places, reason = await judge_sample(self._config, self._model, sample, numbered(rubrics))
                if reproduces(self._config, sample, places):
                    found = tuple(Candidate(text, (sample.line,)) for text in rubrics)
                    return SampleOutcome(sample, found, revision)
                if revision < self._config.max_epochs:
                    feedback = {"rubrics": numbered(rubrics), "got": _numbers_text(places), "reason": reason}
                    rubrics = await self._ask(REVISE, sample, feedback)
        except GraderError as exc:
            return SampleOutcome(sample, error=str(exc))
        return SampleOutcome(sample, revisions=self._config.max_epochs)

    async def _ask(self, template: PromptTemplate, sample: Sample, feedback: dict[str, str]) -> list[str]:
        config, language = self._config, self._language
        scale = {"label": _numbers_text(sample.labels), "low": f"{config.min_score:g}", "high": f"{config.max_score:g}"}
        own = {
            "labelled": fill(WORDS[f"labelled_{config.mode}"][language], scale),
            "verdict": WORDS[f"verdict_{config.mode}"][language],
            "count": str(self._count),
            "got": feedback.get("got", ""),
        }
        data: dict[str, Any] = {"query": sample.query, "response": _answers(sample)}
        data |= {name: feedback[name] for name in ("rubrics", "reason") if name in feedback}
        texts = as_texts(data, self._language, MOST_CHARS)
        words = fill(WORDS["rubrics_form"][language], {"count": str(self._count)})
        items = {"type": "array", "items": {"type": "string"}, "minItems": self._count, "maxItems": self._count}
        form = ReplyForm(words, object_schema({"rubrics": items}))
        prompt = build_prompt(template, self._language, own, texts, form)
        return (await self._model.ask(prompt, lambda reply: _rubrics(reply, echoes(texts), self._count))).value


async def judge_sample(
    config: AutoGraderConfig, model: ChatModel, sample: Sample, rubrics: str
) -> tuple[tuple[float, ...], str]:
    """The grader's score of the sample's answer, or the places of its candidates, and the grader's reason.

    Rewards are judged by the same grader, so that learning, measuring and rewards judge alike.

    Raises:
        GraderError: there is no verdict.
    """
    grader = make_grader(config, rubrics, model)
    inputs = inputs_of(sample.query, sample.ground_truth)
    if config.mode is GraderMode.LISTWISE:
        ranking = await rank_all(grader, sample.answers, config.max_group_chars, inputs)
        return tuple(ranking.places), ranking.reason
    result = await grader.aevaluate(response=sample.answers[0], **inputs)
    if result.error is not None or not isinstance(result, GraderScore):
        raise grader_error(f"{result.error}", result.cause)
    return (result.score,), result.reason


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


async def sort_into_themes(config: AutoGraderConfig, model: ChatModel, rubrics: Sequence[Rubric]) -> list[Rubric]:
    """`rubrics` with at most `categories_number` themes; the rubrics of a theme stand together.

    Raises:
        GraderError: the model gave no partition of the rubrics.
    """
    language = LanguageEnum(config.language)
    texts = as_texts({"rubrics": numbered([rubric.text for rubric in rubrics])}, language, 200_000)
    own = {"count": str(config.categories_number)}
    theme = object_schema({"name": {"type": "string"}, "rubrics": {"type": "array", "items": {"type": "integer"}}})
    form = ReplyForm(WORDS["themes_form"][language], object_schema({"themes": {"type": "array", "items": theme}}))

    def parse(reply: Reply) -> list[tuple[str, list[int]]]:
        return _themes(final_json(reply).get("themes"), len(rubrics), config.categories_number)

    prompt = build_prompt(SORT, language, own, texts, form)
    themes = (await model.ask(prompt, parse)).value
    return [rubrics[number - 1].model_copy(update={"theme": name}) for name, numbers in themes for number in numbers]


def _themes(found: object, size: int, most: int) -> list[tuple[str, list[int]]]:
    try:
        assert isinstance(found, list)
        themes = [(" ".join(theme["name"].split())[:80], list(theme["rubrics"])) for theme in found]
    except (AssertionError, KeyError, TypeError, AttributeError) as exc:
        raise ReplyError(f"themes must be a list of names and numbers, got {found!r:.200}") from exc
    numbers = [number for _, listed in themes for number in listed]
    if any(type(number) is not int for number in numbers) or sorted(numbers) != list(range(1, size + 1)):
        raise ReplyError(f"every number from 1 to {size} must stand in exactly one theme, got {numbers!r:.200}")
    if len(themes) > most or not all(name for name, _ in themes):
        raise ReplyError(f"at most {most} themes with names were asked for, got {[name for name, _ in themes]!r:.200}")
    return themes
