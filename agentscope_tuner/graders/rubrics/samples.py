"""Reads labelled samples strictly, and splits them for learning and for evaluation."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.graders.injection_defence import lower_letters, plain
from agentscope_tuner.graders.rubrics.saved import LEAST_HELD_OUT
from agentscope_tuner.graders.rubrics.settings import AutoGraderConfig
from agentscope_tuner.graders.schema import GraderMode, is_finite_number

_FEWEST = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """One labelled sample.

    Attributes:
        line: the number of its line in the file, for messages.
        query: the question that the answers answer.
        answers: one answer in pointwise mode, two or more candidates in listwise mode.
        labels: the score of the answer, or the candidates' ranks, where 1 is best and ties are allowed.
        ground_truth: the right answer, where `ground_truth_field` names a field of the row.
    """

    line: int
    query: str
    answers: tuple[str, ...]
    labels: tuple[float, ...]
    ground_truth: str | None = None

    @property
    def same_query(self) -> str:
        """A key that is equal for queries which differ only in case, spacing, punctuation or widths."""
        return _letters(self.query)


def check_row(row: Mapping[str, Any], config: AutoGraderConfig) -> str | None:
    """Why rubrics cannot judge a row, or cannot be learned from a labelled row; None if they can.

    A row is labelled by `metadata.score` in pointwise mode, and by ranks in `metadata.candidates` in listwise mode.
    """
    metadata = row["metadata"]
    query = row.get(config.query_field, metadata.get(config.query_field))
    if not isinstance(query, str) or not query.strip():
        return f"missing: no text {config.query_field!r}, the query, neither in the task nor in its metadata"
    candidates = metadata.get("candidates")
    ranked = isinstance(candidates, list) and any(isinstance(one, Mapping) and "rank" in one for one in candidates)
    if not (ranked if config.mode is GraderMode.LISTWISE else "score" in metadata):
        return None
    try:
        _sample(row, 0, config)
    except KeyError as exc:
        return f"missing: the labelled sample has no {exc}"
    except (ValueError, TypeError) as exc:
        return f"unusable label: {exc}"
    return None


def read_samples(path: Path, config: AutoGraderConfig) -> list[Sample]:
    """The samples in `path`.

    Raises:
        ConfigError: the file cannot be read, a row is malformed (the message names its line), or rows are too few.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"cannot read the labelled samples {str(path)!r}: {exc}") from exc
    samples = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            samples.append(_sample(json.loads(line), number, config))
        except (ValueError, KeyError, TypeError) as exc:
            wanted = (
                "metadata.answer and metadata.score" if config.mode is GraderMode.POINTWISE else "metadata.candidates"
            )
            what = f"missing {exc}" if isinstance(exc, KeyError) else str(exc)
            raise ConfigError(
                f"{path}, line {number}: {what}; a {config.grader_mode} row holds {config.query_field} and {wanted}"
            ) from exc
    if len(samples) < _FEWEST:
        raise ConfigError(f"{path}: {len(samples)} labelled samples; learning and evaluation need {_FEWEST} at least")
    return samples


def distinct(samples: Sequence[Sample]) -> list[Sample]:
    """The samples without copies: the first of equal samples stays, with the mean of their labels."""
    copies: dict[tuple[str, ...], list[Sample]] = {}
    for sample in samples:
        copies.setdefault((sample.same_query, *map(_letters, sample.answers)), []).append(sample)
    return [
        replace(
            same[0], labels=tuple(sum(labels) / len(same) for labels in zip(*(s.labels for s in same), strict=True))
        )
        for same in copies.values()
    ]


def _letters(text: str) -> str:
    return lower_letters(plain(text)) or text.strip()


def _sample(row: Mapping[str, Any], line: int, config: AutoGraderConfig) -> Sample:
    metadata = row["metadata"]
    query = row[config.query_field] if config.query_field in row else metadata[config.query_field]
    truth = None if config.ground_truth_field is None else _text(metadata[config.ground_truth_field])
    if config.mode is GraderMode.POINTWISE:
        answer, label = metadata[config.reference_field], metadata["score"]
        if not is_finite_number(label) or not config.min_score <= label <= config.max_score:
            raise ValueError(f"score must lie within {config.min_score:g} to {config.max_score:g}, got {label!r}")
        return Sample(line, _text(query), (_text(answer),), (float(label),), truth)
    candidates = metadata["candidates"]
    if len(candidates) < 2:
        raise ValueError(f"candidates must be two or more, got {len(candidates)}")
    ranks = [candidate["rank"] for candidate in candidates]
    if any(type(rank) is not int or rank < 1 for rank in ranks) or len(set(ranks)) == 1:
        raise ValueError(f"ranks must be whole numbers from 1 that tell candidates apart, got {ranks!r}")
    return Sample(line, _text(query), tuple(_text(c["answer"]) for c in candidates), tuple(map(float, ranks)), truth)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"query and answers must be texts, got {value!r:.100}")
    return value


def split(samples: Sequence[Sample], holdout: float, seed: int) -> tuple[list[Sample], list[Sample]]:
    """Samples to learn from, and samples held out: by query, stratified by label, the same for the same seed.

    Copies count once, and all samples of a query are on one side. At least the share `holdout` of the queries is held
    out. If a proof needs more queries, up to half of them are. Queries are sorted by mean label, with equal ones
    shuffled, and every n-th query is held out, so that both sides span all labels.

    Raises:
        ConfigError: there is only one query, so that nothing can be held out.
    """
    groups: dict[str, list[Sample]] = {}
    for sample in distinct(samples):
        groups.setdefault(sample.same_query, []).append(sample)
    if len(groups) < 2:
        raise ConfigError("all labelled samples share one query: rubrics are measured on queries they have not seen")
    generator = random.Random(seed)
    ordered = sorted(groups.values(), key=lambda group: (_mean_label(group), generator.random()))
    size = max(1, round(holdout * len(ordered)), min(LEAST_HELD_OUT, len(ordered) // 2))
    size = min(size, len(ordered) - 1)
    step = len(ordered) / size
    start = generator.random() * step
    chosen = {int(start + step * index) for index in range(size)}
    learn = [sample for index, group in enumerate(ordered) if index not in chosen for sample in group]
    held = [sample for index, group in enumerate(ordered) if index in chosen for sample in group]
    return sorted(learn, key=lambda sample: sample.line), sorted(held, key=lambda sample: sample.line)


def _mean_label(group: Sequence[Sample]) -> tuple[float, ...]:
    if any(len(sample.labels) > 1 for sample in group):
        return tuple(sorted(group[0].labels))
    return (sum(sample.labels[0] for sample in group) / len(group),)


def digest(samples: Sequence[Sample]) -> str:
    """A digest of the samples' content; it does not depend on the file's path."""
    plain = [[sample.query, sample.answers, sample.labels] for sample in samples]
    return hashlib.sha256(json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[:16]
