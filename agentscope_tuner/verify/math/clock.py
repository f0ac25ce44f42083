"""Times of day: `8:34 p.m.` is `20:34`."""

from __future__ import annotations

import re

_WRITING = re.compile(r"\\(?:text|mathrm|textrm|mbox)|\\[ ,;:!~]|[{}\s~.$]")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?(am|pm)?(?:o'clock)?", re.IGNORECASE)
_NOON = 12


def time_of_day(text: str) -> tuple[int, bool] | None:
    """The seconds since midnight, and whether the text says am or pm; None where the text is not a time."""
    match = _TIME.fullmatch(_WRITING.sub("", text))
    if match is None:
        return None
    hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3] or 0)
    half = (match[4] or "").lower()
    if minutes >= 60 or seconds >= 60 or hours > 24 or (half and not 1 <= hours <= _NOON):
        return None
    if half:
        hours = hours % _NOON + (_NOON if half == "pm" else 0)
    return (hours * 60 + minutes) * 60 + seconds, bool(half)
