"""The verdicts of a stage."""

from __future__ import annotations

import enum
from collections.abc import Sequence


class Outcome(enum.Enum):
    """The verdict of a stage; UNKNOWN leaves the decision to the next stage."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


EQUAL, DIFFERENT, UNKNOWN = Outcome.EQUAL, Outcome.DIFFERENT, Outcome.UNKNOWN


def all_of(outcomes: Sequence[Outcome]) -> Outcome:
    """EQUAL when all outcomes are; DIFFERENT when any outcome is; else UNKNOWN."""
    if DIFFERENT in outcomes:
        return DIFFERENT
    return UNKNOWN if UNKNOWN in outcomes else EQUAL
