"""A task's own rubrics: reads the field's formats, and computes the score by the formula of each format."""

from __future__ import annotations

import difflib
import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from agentscope_tuner.graders.injection_defence import plain

Aggregation = Literal["auto", "points", "weighted_mean", "required_pass", "all_pass", "any_pass"]

# The weight of a criterion that names a category of Rubrics as Rewards (arXiv 2507.17746) and no weight
_CATEGORIES = {"essential": 5.0, "important": 3.0, "optional": 1.0, "pitfall": -1.0}
_CATEGORY = re.compile(r"\s*(essential|important|optional|pitfall)\b(?: criteria| criterion)?\s*[:：]", re.IGNORECASE)
_FORM = 'a list such as [{"criterion": "names its source", "points": 1}]'
_TEXTS = ("criterion", "description", "text", "title")
_WEIGHTS = ("points", "weight")
_KNOWN = {*_TEXTS, *_WEIGHTS, "id", "name", "tags", "type", "polarity", "importance", "category", "level", "axis"}
_NUMBERS = frozenset({*_WEIGHTS, "min", "max"})
_KNOWN |= {*_NUMBERS, "files"}
_MUST = frozenset({"must_have", "must-have", "must have", "required"})
_MOST_CRITERIA = 200
# Sums of larger weights may overflow to infinity, and a share of infinity is no score
_MOST_POINTS = 1e9


@dataclass(frozen=True, slots=True)
class Criterion:
    """One statement about an answer, which is true or false; or, with a `span`, a quality of which it has some.

    Attributes:
        name: its name in metrics: its own id, or `c<number>` by its place in the list.
        text: the statement, as the judge model is shown it.
        weight: never 0. Below 0, an answer that meets the criterion is worse.
        must_have: whether an answer must meet the criterion.
        span: the lowest and the highest score of a likert or numeric criterion; None for one that is met or not.
    """

    name: str
    text: str
    weight: float
    must_have: bool = False
    span: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Rubrics:
    """A task's criteria in the given order, the aggregation that their format uses, and the files to be judged."""

    criteria: tuple[Criterion, ...]
    published: Aggregation
    files: tuple[str, ...] = ()


def read_rubrics(value: Any) -> Rubrics:
    """The criteria in `task.metadata.rubrics`.

    A criterion may have one of these formats:

    - `{criterion, points}` of HealthBench
    - `{title, description, weight}` of Rubrics as Rewards, also with a category (Essential, Important, Optional,
      Pitfall) in place of the weight
    - `{description, type, weight, polarity, importance}` of Harbor's rewardkit, of the type binary, likert (from 1 to
      its `points`) or numeric (from `min` to `max`); or the whole file of its judge, as TOML
    - `{criterion, weight}` of open-instruct
    - a plain text, of weight 1

    The list may stand under `criteria`, `rubrics` or `criterion`, and all of it may be JSON in a text. Keys that are
    not known are left alone, unless they look like a misspelt one. A criterion that is repeated in the same words and
    with the same weight counts once.

    Raises:
        ValueError: a criterion is malformed, or repeated with another weight. The message names it and the problem.
    """
    whole = _parsed(value)
    value = whole
    if isinstance(whole, Mapping):
        value = next((whole[key] for key in ("criteria", "rubrics", "criterion") if key in whole), whole)
    if not isinstance(value, Sequence) or isinstance(value, str) or not 0 < len(value) <= _MOST_CRITERIA:
        raise ValueError(f"rubrics must be a list of 1 to {_MOST_CRITERIA} criteria, got {value!r:.200}: write {_FORM}")
    # Tables give all criteria the same keys, with null where one of them has none, or NaN in the place of a text
    value = [
        {key: one for key, one in item.items() if one is not None and (key in _NUMBERS or not _is_nan(one))}
        if isinstance(item, Mapping)
        else item
        for item in value
    ]
    criteria = _merged([_criterion(item, number) for number, item in enumerate(value, start=1)])
    names = [criterion.name for criterion in criteria]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two criteria have the id {name!r}")
    if not any(criterion.weight > 0 for criterion in criteria):
        raise ValueError(
            "no criterion has a positive weight, so that no answer could earn anything: give one points above 0"
        )
    by_points = any(isinstance(item, Mapping) and "points" in item and _kind(item) != "likert" for item in value)
    harbor = any(isinstance(item, Mapping) and "polarity" in item for item in value)
    negative = any(criterion.weight < 0 for criterion in criteria)
    published: Aggregation = "points" if by_points or (negative and not harbor) else "weighted_mean"
    return Rubrics(criteria, *_of_the_file(whole, published))


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _parsed(value: Any) -> Any:
    """`value` read as JSON, or else as TOML, if it is a text; anything else unchanged."""
    if not isinstance(value, str):
        return value
    value = value.removeprefix("\ufeff")
    try:
        found = json.loads(value)
        return _parsed(found) if found != value else found  # JSON in a column of JSON
    except (ValueError, RecursionError) as exc:
        failed = exc
    try:
        return tomllib.loads(value)
    except tomllib.TOMLDecodeError as exc:
        if value.lstrip()[:1] in ("[", "{") and "[[" not in value:
            raise ValueError(f"rubrics must be JSON, where they are a text, got {value!r:.200}: {failed}") from exc
        if "=" not in value:
            raise ValueError(
                f"rubrics must be a list of criteria, JSON or TOML, got {value!r:.200}: write {_FORM}"
            ) from exc
        raise ValueError(f"rubrics must be a list of criteria, JSON or TOML, got {value!r:.200}: {exc}") from exc


def _of_the_file(whole: Any, published: Aggregation) -> tuple[Aggregation, tuple[str, ...]]:
    """The aggregation and the files that rewardkit's file states under [scoring] and [judge].

    Without them, or in another format, the aggregation is `published`, and there are no files.
    """
    scoring, judge = (whole.get(key) if isinstance(whole, Mapping) else None for key in ("scoring", "judge"))
    if isinstance(scoring, Mapping) and "aggregation" in scoring:
        if (stated := str(scoring["aggregation"]).replace("-", "_")) not in _FORMULAS:
            raise ValueError(f"scoring.aggregation must be one of {', '.join(_FORMULAS)}, got {stated!r}")
        published = cast(Aggregation, stated)
    files = judge.get("files", ()) if isinstance(judge, Mapping) else ()
    if not isinstance(files, list | tuple) or not all(isinstance(file, str) for file in files):
        raise ValueError(f"judge.files must be a list of paths, got {files!r:.100}")
    return published, tuple(files)


def _merged(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """`criteria` without repetitions of an earlier criterion, which would count twice."""
    kept: dict[str, Criterion] = {}
    for criterion in criteria:
        first = kept.setdefault(_comparable(criterion.text), criterion)
        if (first.weight, first.must_have, first.span) != (criterion.weight, criterion.must_have, criterion.span):
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
        raise ValueError(f"criterion {number} must be a mapping or a text, got {item!r:.100}: write {_FORM}")
    for key in set(map(str, item)) - _KNOWN:
        if meant := difflib.get_close_matches(key.lower(), _KNOWN, n=1, cutoff=0.8):
            raise ValueError(f"criterion {number} has no key {key!r}; did you mean {meant[0]!r}?")
    text = next((item[key] for key in _TEXTS if item.get(key)), None)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(
            f"criterion {number} has no text, neither criterion nor description, only {sorted(item)!r}: write {_FORM}"
        )
    name = item.get("id", item.get("name"))
    weight = _weight(item, text, number)
    must = str(item.get("importance", "")).strip().lower() in _MUST
    called = str(name) if name is not None else f"c{number}"
    return Criterion(called, " ".join(text.split()), weight, must, _span(item, number))


def _kind(item: Mapping[str, Any]) -> str:
    return str(item.get("type", "binary")).lower()


def _span(item: Mapping[str, Any], number: int) -> tuple[float, float] | None:
    if (kind := _kind(item)) in ("binary", "bool", "boolean", "yes_no"):
        return None
    if kind not in ("likert", "numeric"):
        raise ValueError(f"criterion {number} is of type {item['type']!r}; it must be binary, likert or numeric")
    low, high = (1, item.get("points", 5)) if kind == "likert" else (0, 1)
    low, high = item.get("min", low), item.get("max", high)
    numbers = [end for end in (low, high) if isinstance(end, int | float) and not isinstance(end, bool)]
    if len(numbers) < 2 or not -_MOST_POINTS <= numbers[0] < numbers[1] <= _MOST_POINTS:
        raise ValueError(f"criterion {number}: its scores must go from a number to a larger, got {low!r} to {high!r}")
    return float(low), float(high)


def _weight(item: Mapping[str, Any], text: str, number: int) -> float:
    # The points of a likert criterion are its scale
    given = [key for key in _WEIGHTS if key in item and not (key == "points" and _kind(item) == "likert")]
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
