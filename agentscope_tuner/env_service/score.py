"""Which values are a score: finite numbers only, and no values that merely look like a number."""

from __future__ import annotations

import math
from numbers import Real

from agentscope_tuner.errors import BadScore


def finite_score(value: object, instance_id: str) -> float:
    """`value` as a float when it is a finite number, of Python's or numpy's types.

    `True`, `"0.8"` and `None` are refused: they show a broken environment, and a guess would reward the policy for it.

    Raises:
        BadScore: when `value` is anything else; the message names `instance_id`.
    """
    # True and False are ints to Python
    if not isinstance(value, bool) and isinstance(value, Real):
        try:
            score = float(value)
        except OverflowError:
            score = math.inf
        if math.isfinite(score):
            return score
    kind = type(value).__name__
    raise BadScore(f"instance {instance_id!r}: evaluate must give a finite number, got {_shown(value)} ({kind})")


def _shown(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:
        # Python refuses to print an integer of more than 4,300 digits
        return "a number too long to print"
    return shown if len(shown) <= 200 else f"{shown[:200]}…"
