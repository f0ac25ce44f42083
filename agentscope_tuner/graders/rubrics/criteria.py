"""A task's own rubrics: reads the field's formats, and computes the score by the formula of each format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentscope_tuner.graders.injection_defence import plain

Aggregation = Literal["auto", "points", "weighted_mean", "required_pass", "all_pass", "any_pass"]

# The weight of a criterion that names a category of Rubrics as Rewards (arXiv 2507.17746) and no weight
_CATEGORIES = {"essential": 5.0, "important": 3.0, "optional": 1.0, "pitfall": -1.0}
_CATEGORY = re.compile(r"\s*(essential|important|optional|pitfall)\b(?: criteria| criterion)?\s*[:：]", re.IGNORECASE)
_TEXTS = ("criterion", "description", "text", "title")
_WEIGHTS = ("points", "weight")
_KNOWN = {*_TEXTS, *_WEIGHTS, "id", "name", "tags", "type", "polarity", "importance", "category", "level", "axis"}
_MUST = frozenset({"must_have", "must-have", "must have", "required"})
_MOST_CRITERIA = 200
# Sums of larger weights may overflow to infinity, and a share of infinity is no score
_MOST_POINTS = 1e9


@dataclass(frozen=True, slots=True)
class Criterion:
    """One statement about an answer, which is true or false.

    Attributes:
        name: its name in metrics: its own id, or `c<number>` by its place in the list.
        text: the statement, as the judge model is shown it.
        weight: never 0. Below 0, an answer that meets the criterion is worse.
        must_have: whether an answer must meet the criterion.
    """

    name: str
    text: str
    weight: float
    must_have: bool = False


@dataclass(frozen=True, slots=True)
class Rubrics:
    """A task's criteria, in the task's order, and the aggregation that their format publishes."""

    criteria: tuple[Criterion, ...]
    published: Literal["points", "weighted_mean"]


def read_rubrics(value: Any) -> Rubrics:
    """The criteria in `task.metadata.rubrics`.

    A criterion may have one of these formats:

    - `{criterion, points}` of HealthBench
    - `{title, description, weight}` of Rubrics as Rewards, also with a category (Essential, Important, Optional,
      Pitfall) in place of the weight
    - `{description, weight, polarity, importance}` of Harbor's rewardkit
    - `{criterion, weight}` of open-instruct
    - a plain text, of weight 1

    A criterion that is repeated in the same words and with the same weight counts once.

    Raises:
        ValueError: a criterion is malformed, or repeated with another weight. The message names it and the problem.
    """
    if isinstance(value, Mapping):
        value = value.get("criteria", value.get("rubrics", value))
    if not isinstance(value, Sequence) or isinstance(value, str) or not 0 < len(value) <= _MOST_CRITERIA:
        raise ValueError(f"rubrics must be a list of 1 to {_MOST_CRITERIA} criteria, got {value!r:.200}")
    criteria = _merged([_criterion(item, number) for number, item in enumerate(value, start=1)])
    names = [criterion.name for criterion in criteria]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two criteria have the id {name!r}")
    if not any(criterion.weight > 0 for criterion in criteria):
        raise ValueError("no criterion has a positive weight, so that no answer could earn anything")
    by_points = any(isinstance(item, Mapping) and "points" in item for item in value)
    harbor = any(isinstance(item, Mapping) and "polarity" in item for item in value)
    negative = any(criterion.weight < 0 for criterion in criteria)
    return Rubrics(criteria, "points" if by_points or (negative and not harbor) else "weighted_mean")


def _merged(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """`criteria` without repetitions of an earlier criterion, which would count twice."""
    kept: dict[str, Criterion] = {}
    for criterion in criteria:
        first = kept.setdefault(_comparable(criterion.text), criterion)
        if (first.weight, first.must_have) != (criterion.weight, criterion.must_have):
            raise ValueError(
                f"the criterion {criterion.text!r:.100} stands there twice, {_worth(first)} and {_worth(criterion)}: "
                "give it once"
            )
    return tuple(kept.values())


def _comparable(text: str) -> str:
    # Signs and case stay, because criteria may differ in them alone: "x < 3", "x > 3"
    return plain(text).rstrip(" .;。；")


def _worth(criterion: Criterion) -> str:
    return f"{criterion.name!r} of weight {criterion.weight:g}{', a must-have' if criterion.must_have else ''}"


def _criterion(item: Any, number: int) -> Criterion:
    if isinstance(item, str):
        item = {"criterion": item}
    if not isinstance(item, Mapping):
        raise ValueError(f"criterion {number} must be a mapping or a text, got {item!r:.100}")
    if unknown := sorted(set(map(str, item)) - _KNOWN):
        raise ValueError(f"criterion {number} has unknown keys {unknown!r}; known are {', '.join(sorted(_KNOWN))}")
    text = next((item[key] for key in _TEXTS if item.get(key)), None)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"criterion {number} has no text, neither criterion nor description, only {sorted(item)!r}")
    if str(item.get("type", "binary")).lower() not in ("binary", "bool", "boolean", "yes_no"):
        raise ValueError(f"criterion {number} is of type {item['type']!r}; a criterion is met or not: binary")
    name = item.get("id", item.get("name"))
    weight = _weight(item, text, number)
    must = str(item.get("importance", "")).strip().lower() in _MUST
    return Criterion(str(name) if name is not None else f"c{number}", " ".join(text.split()), weight, must)


def _weight(item: Mapping[str, Any], text: str, number: int) -> float:
    given = [key for key in _WEIGHTS if key in item]
    if len(given) > 1:
        raise ValueError(f"criterion {number} has points and a weight: give one")
    weight: Any = item[given[0]] if given else _category_weight(item, text)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < abs(weight) <= _MOST_POINTS:
        raise ValueError(
            f"criterion {number}: {given[0] if given else 'weight'} must be a number other than 0, at most "
            f"{_MOST_POINTS:g} in size, got {weight!r:.40}"
        )
    polarity = str(item.get("polarity", "positive")).strip().lower()
    if polarity not in ("positive", "negative"):
        raise ValueError(f"criterion {number}: polarity must be positive or negative, got {item['polarity']!r}")
    return -abs(float(weight)) if polarity == "negative" else float(weight)


def _category_weight(item: Mapping[str, Any], text: str) -> float:
    for key in ("category", "level", "importance"):
        if (weight := _CATEGORIES.get(str(item.get(key, "")).strip().lower())) is not None:
            return weight
    found = _CATEGORY.match(text) or _CATEGORY.match(f"{item.get('title', '')}:")
    return _CATEGORIES[found[1].lower()] if found else 1.0


def aggregated(rubrics: Rubrics, met: Sequence[float], how: Aggregation, gate: bool = False) -> float:
    """The score of an answer, 0 to 1.

    Args:
        rubrics: the criteria.
        met: for each criterion 1.0 if the answer meets it and 0.0 if not, or the probability that it does.
        how: the formula. A negative criterion is passed if it is not met.
            `points` (HealthBench): the sum of the met weights over the sum of the positive weights, clipped to 0 to 1.
            `weighted_mean` (Harbor): the mean of the passed criteria, by the weights without their signs.
            `required_pass`: whether all must-haves are passed.
            `all_pass`, `any_pass`: whether all criteria, or any, are passed.
            `auto`: the formula that the criteria's format publishes.
        gate: whether a must-have that is not passed makes the score 0.

    Raises:
        ValueError: `how` or `gate` needs must-haves, and the criteria have none.
    """
    pairs = list(zip(rubrics.criteria, met, strict=True))
    passed = [value if criterion.weight > 0 else 1.0 - value for criterion, value in pairs]
    required = [passed[index] for index, criterion in enumerate(rubrics.criteria) if criterion.must_have]
    if (gate or how == "required_pass") and not required:
        raise ValueError("must-haves decide, and no criterion has importance: must_have")
    score = _FORMULAS[rubrics.published if how == "auto" else how](rubrics, met, passed, required)
    return 0.0 if gate and min(required) < _PASSED else score


def _points(rubrics: Rubrics, met: Sequence[float], passed: Sequence[float], required: Sequence[float]) -> float:
    achieved = sum(criterion.weight * value for criterion, value in zip(rubrics.criteria, met, strict=True))
    possible = sum(criterion.weight for criterion in rubrics.criteria if criterion.weight > 0)
    return min(1.0, max(0.0, achieved / possible))


def _weighted_mean(rubrics: Rubrics, met: Sequence[float], passed: Sequence[float], required: Sequence[float]) -> float:
    weights = [abs(criterion.weight) for criterion in rubrics.criteria]
    return sum(weight * value for weight, value in zip(weights, passed, strict=True)) / sum(weights)


_PASSED = 0.5
_FORMULAS: dict[str, Callable[[Rubrics, Sequence[float], Sequence[float], Sequence[float]], float]] = {
    "points": _points,
    "weighted_mean": _weighted_mean,
    "required_pass": lambda rubrics, met, passed, required: float(min(required) >= _PASSED),
    "all_pass": lambda rubrics, met, passed, required: float(min(passed) >= _PASSED),
    "any_pass": lambda rubrics, met, passed, required: float(max(passed) >= _PASSED),
}
