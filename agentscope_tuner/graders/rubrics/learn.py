"""Learns rubrics: proposes, judges, revises, chooses, evaluates and saves them; `plan` estimates the cost before."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.usage import text_tokens
from agentscope_tuner.graders.injection_defence import MARK_END, Border
from agentscope_tuner.graders.prompt import closing
from agentscope_tuner.graders.rubrics.evaluate import evaluate
from agentscope_tuner.graders.rubrics.propose import (
    Candidate,
    Proposer,
    SampleOutcome,
    Vector,
    choose,
    merged,
    sort_into_themes,
    tfidf,
    unit,
)
from agentscope_tuner.graders.rubrics.saved import (
    PROPOSE,
    Journal,
    Rubric,
    SavedGrader,
    evaluation_template,
    in_prompt,
    locked,
    save,
    verdict_on,
)
from agentscope_tuner.graders.rubrics.settings import AutoGraderConfig, Sample, digest, read_samples, split
from agentscope_tuner.graders.template import LanguageEnum

_REPLY_TOKENS = 150
# Tokens of a prompt for the form of the reply, the markers' delimiters and the chat template
_FORM_TOKENS = 80


@dataclass(frozen=True, slots=True)
class Plan:
    """Bounds on the samples, calls, tokens and cost of learning.

    Attributes:
        learn_from: the number of samples to learn from.
        held_out: the number of samples held out.
        held_out_queries: the number of different queries of the samples held out.
        calls: the fewest and the most calls, with votes and swapped orders, without retries.
        tokens: prompt and reply tokens of the fewest and of the most calls, estimated.
        cost: the cost of these tokens in the currency of the configured prices; None without prices.
    """

    learn_from: int
    held_out: int
    held_out_queries: int
    calls: tuple[int, int]
    tokens: tuple[int, int]
    cost: tuple[float, float] | None


def plan(config: AutoGraderConfig) -> Plan:
    """Read the samples and compute the bounds; asks no model.

    Raises:
        ConfigError: the samples cannot be read.
    """
    samples = read_samples(config.training_file(), config)
    seen, held = split(samples, config.holdout, config.seed)
    tried = min(len(seen), config.max_iterations * config.batch_size)
    verdict = config.votes * (2 if config.swap else 1)
    sorting = int(config.enable_categorization)
    # Fewest: learning stops after `patience` batches, and no sample needs a revision.
    # Most: all samples need all revisions.
    least_tried = min(tried, config.patience * config.batch_size)
    fewest = least_tried * (1 + verdict) + 2 * len(held) * verdict + sorting
    most = tried * (1 + config.max_epochs) * (1 + verdict) + 2 * len(held) * verdict + sorting
    material = sum(_tokens([sample.query, *sample.answers]) for sample in samples) / len(samples)
    evaluation = evaluation_template(config).in_language(config.language)
    frame = max(
        _tokens([one.content for one in frames]) for frames in (PROPOSE.in_language(config.language), evaluation)
    )
    prompt_tokens = (
        material + frame + _tokens([closing(LanguageEnum(config.language), Border("", MARK_END), "")]) + _FORM_TOKENS
    )
    tokens = (int(fewest * (prompt_tokens + _REPLY_TOKENS)), int(most * (prompt_tokens + _REPLY_TOKENS)))
    prices = config.settings().prices
    cost = None
    if prices is not None:
        one = prices.cost(int(prompt_tokens), _REPLY_TOKENS)
        cost = (fewest * one, most * one)
    return Plan(len(seen), len(held), len({sample.same_query for sample in held}), (fewest, most), tokens, cost)


def _tokens(texts: Sequence[str]) -> int:
    return sum(map(text_tokens, texts))


#: A callback: it gets the stage's name, the number of steps done, and the number of all steps.
Progress = Callable[[str, int, int], None]


def journal_path(path: Path) -> Path:
    """The path of the journal of learning, for the grader at `path`."""
    return path.with_name("auto_grader.journal.jsonl")


def learn_and_save(config: AutoGraderConfig, path: Path, progress: Progress | None = None) -> SavedGrader:
    """Learn rubrics and write them to `path`. A run that was killed continues from its journal.

    Raises:
        ConfigError: the samples cannot be read, the model has no key, or another process is learning this grader.
        GraderError: no proposal reproduced its label, or too many calls failed. Nothing is written then.
    """
    with locked(path):
        return _learn(config, path, progress)


def learn_once(config: AutoGraderConfig, path: Path) -> None:
    """Learn rubrics and write them to `path`, unless `path` exists already.

    When several processes start, one of them learns. The others wait as long as its journal grows.
    """
    if path.exists():
        return
    with locked(path, patience=2 * config.settings().deadline_seconds, progress=journal_path(path)):
        if not path.exists():
            _learn(config, path, None)


def _learn(config: AutoGraderConfig, path: Path, progress: Progress | None) -> SavedGrader:
    samples = read_samples(config.training_file(), config)
    evaluation_template(config)
    journal = Journal(journal_path(path))
    try:
        model = ChatModel(config.settings(), journal)
        saved = loops.run(_Learner(config, model, progress or (lambda *_: None)).run(samples, journal))
    finally:
        journal.close()
    save(saved, path)
    return saved


class _Learner:
    def __init__(self, config: AutoGraderConfig, model: ChatModel, progress: Progress) -> None:
        self._config, self._model, self._progress = config, model, progress
        self._embeddings: str = config.embedding_model or "tfidf"
        self._tried = 0

    async def run(self, samples: Sequence[Sample], journal: Journal) -> SavedGrader:
        config, before = self._config, self._model.usage
        seen, held = split(samples, config.holdout, config.seed)
        attempts, chosen = await self._propose(seen)
        errors = [attempt.error for attempt in attempts if attempt.error is not None]
        if not chosen:
            raise GraderError(_no_rubric(config, attempts, errors))
        rubrics = [Rubric(text=one.text, samples=list(one.samples), gain=round(one.gain, 4)) for one in chosen]
        if config.enable_categorization:
            rubrics = await sort_into_themes(config, self._model, rubrics)
        mean = sum(label for sample in seen for label in sample.labels) / sum(len(sample.labels) for sample in seen)
        report = await self._evaluate(rubrics, held, mean)
        spent = self._model.usage
        return SavedGrader(
            model_name=config.model_name,
            grader_mode=config.grader_mode,
            language=config.language,
            min_score=config.min_score,
            max_score=config.max_score,
            rubrics=rubrics,
            data={"file": str(config.training_file()), "digest": digest(samples), "learned_from": len(seen)},
            learning={
                "tried_samples": len(attempts),
                "reproduced": sum(bool(attempt.candidates) for attempt in attempts),
                "failed": len(errors),
                "embeddings": self._embeddings,
                "seed": config.seed,
                "calls": spent.calls - before.calls,
                "from_journal": journal.resumed,
                "cost": round(spent.cost - before.cost, 6),
                # Over all runs of this learning, resumed ones included
                "total_calls": spent.calls - before.calls + journal.spent_before.calls,
                "total_cost": round(spent.cost - before.cost + journal.spent_before.cost, 6),
            },
            evaluation={**report, "held_out": [sample.line for sample in held]},
            verdict=verdict_on(report),
        )

    async def _propose(self, seen: Sequence[Sample]) -> tuple[list[SampleOutcome], list[Candidate]]:
        """Learn from batches of samples, until none is left or `patience` batches in a row add no rubric."""
        config, proposer = self._config, Proposer(self._config, self._model)
        order = list(seen)
        random.Random(config.seed).shuffle(order)
        order = order[: config.max_iterations * config.batch_size]
        attempts: list[SampleOutcome] = []
        chosen: list[Candidate] = []
        stale = 0
        for start in range(0, len(order), config.batch_size):
            batch = order[start : start + config.batch_size]
            attempts += await asyncio.gather(*(self._attempt(proposer, sample, len(order)) for sample in batch))
            pool = [candidate for attempt in attempts for candidate in attempt.candidates]
            more = await self._choose(pool, chosen)
            stale = 0 if len(more) > len(chosen) else stale + 1
            chosen = more
            if stale >= config.patience or len(chosen) >= config.max_total_rubrics:
                break
        return attempts, chosen

    async def _attempt(self, proposer: Proposer, sample: Sample, total: int) -> SampleOutcome:
        attempt = await proposer.attempt(sample)
        self._tried += 1
        self._progress("samples", self._tried, total)
        return attempt

    async def _choose(self, pool: Sequence[Candidate], chosen: Sequence[Candidate]) -> list[Candidate]:
        if not pool:
            return []
        # Chosen rubrics come first, in their order, so that none is dropped as the copy of a new rubric
        first = {candidate.text: number for number, candidate in enumerate(chosen)}
        ordered = sorted(pool, key=lambda candidate: first.get(candidate.text, len(first)))
        vectors, dimension = await self._embed([candidate.text for candidate in ordered])
        kept, kept_vectors = merged(ordered, vectors)
        texts = [candidate.text for candidate in kept]
        inside = [texts.index(text) for text in first if text in texts]
        most = min(self._config.mcr_batch_size, self._config.max_total_rubrics - len(inside))
        added = choose(kept_vectors, inside, dimension, most, self._config.min_increment_threshold)
        gains = {candidate.text: candidate.gain for candidate in chosen}
        old = [replace(kept[index], gain=gains[kept[index].text]) for index in inside]
        return old + [replace(kept[index], gain=gain) for index, gain in added]

    async def _embed(self, texts: Sequence[str]) -> tuple[list[Vector], int]:
        if not self._embeddings.startswith("tfidf"):
            try:
                rows = await self._model.embed(self._embeddings, texts)
                return [unit(dict(enumerate(row))) for row in rows], len(rows[0])
            except GraderError as exc:
                self._embeddings = f"tfidf, because the endpoint gave no embeddings: {exc}"
        vectors = tfidf(texts)
        return vectors, len({key for vector in vectors for key in vector})

    async def _evaluate(self, rubrics: Sequence[Rubric], held: Sequence[Sample], mean: float) -> dict[str, Any]:
        finished = Counter[str]()

        def done() -> None:
            finished["verdicts"] += 1
            self._progress("held-out verdicts", finished["verdicts"], 2 * len(held))

        return await evaluate(self._config, self._model, in_prompt(rubrics), held, mean, done)


def _no_rubric(config: AutoGraderConfig, attempts: Sequence[SampleOutcome], errors: Sequence[str]) -> str:
    if len(errors) == len(attempts):
        return f"all of {len(attempts)} proposals failed; the first: {errors[0]}"
    failed = f", {len(errors)} of them failed: {errors[0]}" if errors else ""
    return (
        f"no rubric reproduced its label after {config.max_epochs} revisions ({len(attempts)} samples{failed}): "
        "use a stronger model, or a larger label_tolerance"
    )
