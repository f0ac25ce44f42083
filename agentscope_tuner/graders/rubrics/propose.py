"""Makes rubrics from one sample: the model proposes and revises them until judging by them gives the label.

Of all proposed rubrics, `merged` and `choose` keep a small set of different ones: by embeddings and the coding rate.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.reply import Reply, ReplyError, final_json
from agentscope_tuner.graders.injection_defence import neutralise
from agentscope_tuner.graders.listwise import rank_all
from agentscope_tuner.graders.prompt import MOST_CHARS, ReplyForm, as_texts, build_prompt, echoes, object_schema
from agentscope_tuner.graders.rubrics.saved import PROPOSE, REVISE, SORT, WORDS, Rubric, make_grader
from agentscope_tuner.graders.rubrics.settings import AutoGraderConfig, Sample
from agentscope_tuner.graders.schema import GraderMode, GraderScore, grader_error
from agentscope_tuner.graders.template import LanguageEnum, PromptTemplate, fill


def inputs_of(query: str, ground_truth: str | None) -> dict[str, Any]:
    """The arguments of a grader other than the answer, by name."""
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
        prompt = build_prompt(template.in_language(self._language), self._language, own, texts, form)
        return (await self._model.ask(prompt, lambda reply: _rubrics(reply, echoes(texts), self._count))).value


async def judge_sample(
    config: AutoGraderConfig, model: ChatModel, sample: Sample, rubrics: str
) -> tuple[tuple[float, ...], str]:
    """Judge a sample by `rubrics`: the score of its one answer, or in listwise mode the place of each of its answers.

    Also gives the grader's reason. The same grader judges rewards, so that learning, measuring and rewards agree.

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
    """`rubrics` with at most `categories_number` themes, sorted so that the rubrics of a theme are together.

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

    prompt = build_prompt(SORT.in_language(language), language, own, texts, form)
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


# Letters and digits form words; scripts that often set no spaces are read as pairs of characters
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+", re.UNICODE)
_SAME = 0.9
# The squared distortion ε² of the coding rate: 0.5 squared, as in the paper's experiments
_EPSILON_SQUARED = 0.25

Vector = dict[int, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rubric by which the grader gave its samples' labels; `gain` is the coding rate that it added when chosen.

    `samples` are the samples' lines in the file.
    """

    text: str
    samples: tuple[int, ...]
    gain: float = 0.0


def tfidf(texts: Sequence[str]) -> list[Vector]:
    """Unit vectors of term frequency times the smoothed inverse document frequency `log((1 + n) / (1 + df)) + 1`."""
    counts = [Counter(_terms(text)) for text in texts]
    frequency = Counter(term for count in counts for term in count)
    index = {term: number for number, term in enumerate(sorted(frequency))}
    weight = {term: math.log((1 + len(texts)) / (1 + seen)) + 1 for term, seen in frequency.items()}
    return [unit({index[term]: times * weight[term] for term, times in count.items()}) for count in counts]


def unit(vector: Vector) -> Vector:
    """`vector` scaled to length 1; an empty vector stays empty."""
    norm = math.sqrt(sum(value * value for value in vector.values()))
    return {key: value / norm for key, value in vector.items()} if norm else vector


def dot(one: Vector, other: Vector) -> float:
    """The inner product; for unit vectors it is their cosine."""
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    return sum(value * large[key] for key, value in small.items() if key in large)


def merged(candidates: Sequence[Candidate], vectors: Sequence[Vector]) -> tuple[list[Candidate], list[Vector]]:
    """The candidates without near-duplicates (cosine of 0.9 or more); the first keeps the samples of its duplicates."""
    kept: list[Candidate] = []
    kept_vectors: list[Vector] = []
    for candidate, vector in zip(candidates, vectors, strict=True):
        same = next((index for index, earlier in enumerate(kept_vectors) if dot(earlier, vector) >= _SAME), None)
        if same is None:
            kept.append(candidate)
            kept_vectors.append(vector)
        else:
            kept[same] = replace(kept[same], samples=tuple(sorted({*kept[same].samples, *candidate.samples})))
    return kept, kept_vectors


def choose(
    vectors: Sequence[Vector], chosen: Sequence[int], dimension: int, most: int, least_gain: float
) -> list[tuple[int, float]]:
    """The vectors to add to the `chosen` ones, found greedily, each with the coding rate that it adds.

    The coding rate of n vectors of dimension d is `1/2 logdet(I + d / (n ε²) Z Zᵀ)` (Yu et al., arXiv 2006.08558, eq.
    5). A vector that differs from all others adds more to the rate than a similar one.

    Args:
        vectors: unit vectors of all candidates.
        chosen: indices already in the set.
        dimension: the dimension d of the vectors.
        most: the largest number of vectors to add.
        least_gain: a vector that adds less is not added.
    """
    inside = list(chosen)
    rate = coding_rate([vectors[index] for index in inside], dimension)
    added: list[tuple[int, float]] = []
    while len(added) < most:
        alpha = dimension / ((len(inside) + 1) * _EPSILON_SQUARED)
        factor = _cholesky([vectors[index] for index in inside], alpha)
        known = sum(math.log(row[-1]) for row in factor)
        held = [vectors[index] for index in inside]
        gains = [
            (known + math.log(_next_row(factor, held, vectors[index], alpha)[-1]) - rate, -index)
            for index in range(len(vectors))
            if index not in inside
        ]
        if not gains or max(gains)[0] < least_gain:
            break
        gain, negative = max(gains)
        inside.append(-negative)
        added.append((-negative, gain))
        rate += gain
    return added


def coding_rate(vectors: Sequence[Vector], dimension: int) -> float:
    """The coding rate of `vectors` in nats; see `choose`."""
    if not vectors:
        return 0.0
    alpha = dimension / (len(vectors) * _EPSILON_SQUARED)
    return sum(math.log(row[-1]) for row in _cholesky(vectors, alpha))


def _cholesky(vectors: Sequence[Vector], alpha: float) -> list[list[float]]:
    """The rows of the Cholesky factor of I + alpha ZᵀZ, which has the same determinant as I + alpha Z Zᵀ."""
    rows: list[list[float]] = []
    for index, vector in enumerate(vectors):
        rows.append(_next_row(rows, vectors[:index], vector, alpha))
    return rows


def _next_row(rows: Sequence[Sequence[float]], before: Sequence[Vector], vector: Vector, alpha: float) -> list[float]:
    row: list[float] = []
    for above, other in zip(rows, before, strict=True):
        known = sum(mine * theirs for mine, theirs in zip(row, above, strict=False))
        row.append((alpha * dot(vector, other) - known) / above[-1])
    row.append(math.sqrt(1.0 + alpha * dot(vector, vector) - sum(value * value for value in row)))
    return row


def _terms(text: str) -> list[str]:
    terms: list[str] = []
    for word in _WORD.findall(text.lower()):
        if re.match(rf"[{_CJK}]", word):
            terms += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        else:
            terms.append(word)
    return terms
