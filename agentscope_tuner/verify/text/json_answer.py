"""Compares an answer in JSON with a reference, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agentscope_tuner.verify.text.strict_json import NotStrictJsonError, comparable, read_json, stated_json


class JsonMatch(NamedTuple):
    """Attributes:
    share: the share of the weights that the answer earns, 0.0 to 1.0.
    equal: whether all of the answer is right.
    reason: names the wrong and the added fields.
    """

    share: float
    equal: bool
    reason: str


def compare_json(text: str, reference: object, weights: Mapping[str, float] | None, *, fence: bool) -> JsonMatch:
    """Compare the JSON value in `text` with `reference`.

    Two objects are compared field by field, and each equal field earns its weight. Guesses under many names must not
    pay, so each field that the reference does not have counts as a wrong field of the mean weight. All other values are
    equal or different as a whole. `strict_json.comparable` defines equality: numbers are compared exactly, `true` is
    not 1, and 1.0 is 1.

    Args:
        text: the answer.
        reference: a JSON value.
        weights: the weight of each field to compare; None compares all fields of the reference with the same weight.
            A field of the reference without a weight is neither paid nor punished.
        fence: whether the JSON may be the only code block of the text.
    """
    try:
        value = read_json(stated_json(text, fence=fence))
    except NotStrictJsonError as exc:
        return JsonMatch(0.0, False, str(exc))
    if not isinstance(reference, Mapping):
        equal = comparable(value) == comparable(reference)
        return JsonMatch(float(equal), equal, "equal" if equal else "not the reference's value")
    if not isinstance(value, dict):
        return JsonMatch(0.0, False, f"an object is asked for, got {type(value).__name__}")
    paid = dict.fromkeys(reference, 1.0) if weights is None else weights
    wrong = [name for name in paid if name not in value or comparable(value[name]) != comparable(reference[name])]
    added = [name for name in value if name not in reference]
    total = sum(paid.values())
    mean = total / len(paid) if paid else 1.0
    earned = total - sum(paid[name] for name in wrong)
    whole = total + mean * len(added)
    if not wrong and not added:
        return JsonMatch(1.0, True, f"all of {len(paid)} fields are right")
    said = [f"wrong or missing: {', '.join(map(repr, wrong))}"] if wrong else []
    said += [f"not asked for: {', '.join(map(repr, added[:8]))}"] if added else []
    return JsonMatch(earned / whole if whole else 0.0, False, "; ".join(said)[:400])
