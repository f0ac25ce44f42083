"""An answer in JSON against a reference, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agentscope_tuner.verify.text.strict_json import NotStrictJsonError, comparable, read_json, stated_json


class JsonMatch(NamedTuple):
    """Attributes:
    share: the share of the weights that the answer earns, 0.0 to 1.0.
    equal: whether it is right as a whole.
    reason: which fields are wrong, in words.
    """

    share: float
    equal: bool
    reason: str


def compare_json(text: str, reference: object, weights: Mapping[str, float] | None, *, fence: bool) -> JsonMatch:
    """How much of `reference` the JSON in `text` states.

    Of two objects the fields are compared: each that is equal earns its weight, and what the answer adds to the
    reference's fields counts as one wrong field of the mean weight each, so that guessing under more names earns less.
    Anything else is equal or not. Values are compared as `strict_json.comparable` has it: numbers exactly, `true` is
    not 1, and 1.0 is 1.

    Args:
        reference: a JSON value.
        weights: of the fields that are compared; those of the reference, with the same weight, when None. What the
            answer adds to the reference's fields is then not punished for fields that are in the reference.
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
