"""What a stage can say."""

from __future__ import annotations

import enum
from collections.abc import Sequence


class Outcome(enum.Enum):
    """What a stage can say; UNKNOWN leaves it to the next."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


EQUAL, DIFFERENT, UNKNOWN = Outcome.EQUAL, Outcome.DIFFERENT, Outcome.UNKNOWN


def all_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Equal when all are; different as soon as one is."""
    if DIFFERENT in outcomes:
        return DIFFERENT
    return UNKNOWN if UNKNOWN in outcomes else EQUAL
