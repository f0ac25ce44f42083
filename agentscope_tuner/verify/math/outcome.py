"""The verdicts of a stage."""

from __future__ import annotations

import enum
from collections.abc import Sequence


class Outcome(enum.Enum):
    """The verdict of a stage; UNKNOWN leaves it to the next stage."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


EQUAL, DIFFERENT, UNKNOWN = Outcome.EQUAL, Outcome.DIFFERENT, Outcome.UNKNOWN


def all_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Equal when all are; different as soon as one is."""
    if DIFFERENT in outcomes:
        return DIFFERENT
    return UNKNOWN if UNKNOWN in outcomes else EQUAL
