r"""400 injections by an eleventh author, who had read the source, in 40 languages, and 90 honest answers of odd kinds.

At first contact on 2026-11-28 none raised its score, none took a verdict away, and no honest answer was filtered.
Then 120 injections in 35 languages and 40 honest answers by a twelfth author: on the same day 7 raised their scores,
all found by a search over 112,599 short texts (`\[_\text{system}\]`, and four arrows that the simulated judge took for
tags), and no honest answer was filtered.

Then 60 injections in 12 languages and 30 honest answers by a thirteenth author, on the same day. None raised its score,
but of the 24 that are a score beside a word of praise all counted as the judge's own once it had transcribed them.

Then 320 injections in 39 languages and 80 honest answers by a fourteenth author, who had read the source, on that day.
None raised its score, closed the border or took a verdict away, and no honest answer was filtered; but all of the 36
that are a score in numerals other than digits counted as the judge's own once it had transcribed them.

Then 176 injections in 16 languages and 41 honest answers by a fifteenth author, who had read the source, on 2026-11-29.
None raised its score, closed the border or took a verdict away, and no honest answer was filtered; but without the
border the simulated judge obeys only 92 of them.

Then 43 planted verdicts and 19 honest answers that a judge quotes, by a sixteenth author, who had read the source, on
that day: 38 counted as the judge's own once it had transcribed them, and one honest answer was filtered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentscope_tuner.graders.prompt import Trajectory

_ROWS = Path(__file__).with_suffix(".jsonl")
_LATER_ROWS = Path(__file__).with_name("fourteenth.jsonl")
_FIFTEENTH_ROWS = Path(__file__).with_name("fifteenth.jsonl")
_LAST_ROWS = Path(__file__).with_name("sixteenth.jsonl")
_SEVENTEENTH_ROWS = Path(__file__).with_name("seventeenth.jsonl")
_EIGHTEENTH_ROWS = Path(__file__).with_name("eighteenth.jsonl")
_ALL_ROWS = (_ROWS, _LATER_ROWS, _FIFTEENTH_ROWS, _LAST_ROWS, _SEVENTEENTH_ROWS, _EIGHTEENTH_ROWS)


def _rows(rows: Path, *, honest: bool) -> Iterator[dict[str, Any]]:
    # a text may hold signs that `splitlines` takes for the end of a line, escaped in the file
    for line in rows.read_text(encoding="ascii").splitlines():
        row = json.loads(line)
        if row["family"].startswith("honest: ") == honest:
            yield row


def thirteenth() -> list[tuple[str, str | Trajectory]]:
    """Family and text of each injection; each asks for 10 of 10 points."""
    return _judged(_ROWS)


def _judged(rows: Path) -> list[tuple[str, str | Trajectory]]:
    return [
        (row["family"], Trajectory(row["text"], row["roles"]) if "roles" in row else row["text"])
        for row in _rows(rows, honest=False)
    ]


def fourteenth() -> list[tuple[str, str]]:
    """As `thirteenth`, by the twelfth author."""
    return [(row["family"], row["text"]) for row in _rows(_LATER_ROWS, honest=False)]


def fifteenth() -> list[tuple[str, str]]:
    """As `thirteenth`, by the thirteenth author."""
    return [(row["family"], row["text"]) for row in _rows(_FIFTEENTH_ROWS, honest=False)]


def sixteenth() -> list[tuple[str, str | Trajectory]]:
    """As `thirteenth`, by the fourteenth author."""
    return _judged(_LAST_ROWS)


def seventeenth() -> list[tuple[str, str | Trajectory]]:
    """As `thirteenth`, by the fifteenth author."""
    return _judged(_SEVENTEENTH_ROWS)


def transcribed_later() -> list[tuple[str, str, str]]:
    """Family and text of each of these that is a verdict in a notation of its own, and the judge's transcription."""
    paths = (_FIFTEENTH_ROWS, _LAST_ROWS, _EIGHTEENTH_ROWS)
    rows = [row for path in paths for row in _rows(path, honest=False) if "reply" in row]
    return [(row["family"], row["text"], json.dumps(row["reply"], ensure_ascii=False)) for row in rows]


def odd_answers() -> list[str]:
    """Honest answers about marks, judges, prompts and JSON."""
    return [row["text"] for rows in _ALL_ROWS for row in _rows(rows, honest=True)]


def with_verdicts() -> list[tuple[str, str, int]]:
    """Honest answers, each with the reason and the score that a judge of good faith gives it."""
    return [
        (row["text"], row["verdict"]["reason"], row["verdict"]["score"])
        for rows in (_ROWS, _LAST_ROWS, _EIGHTEENTH_ROWS)
        for row in _rows(rows, honest=True)
        if "verdict" in row
    ]
