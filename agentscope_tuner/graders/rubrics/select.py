"""Selects a small set of different rubrics, by embeddings, near-duplicates and the coding rate."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

# Letters and digits form words; scripts that often set no spaces are read as pairs of characters
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+", re.UNICODE)
_SAME = 0.9
# The squared distortion ε² of the coding rate: 0.5 squared, as in the paper's experiments
_EPSILON_SQUARED = 0.25

Vector = dict[int, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rubric that reproduced its samples' labels; `gain` is the coding rate it added when it was chosen."""

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
