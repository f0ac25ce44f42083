"""Puzzles judged by the scorers of a puzzle collection, which run in a jail.

Here is which answers must not reach a scorer: some scorers run them, and some pay them for nothing.
"""

from __future__ import annotations

import re

#: Scorers of version 0.1.25 that run the answer as code; what an answer may hold there is checked before.
RUN_THE_ANSWER = frozenset(
    (
        *("binary_matrix", "countdown", "intermediate_integration", "n_queens", "polynomial_multiplication"),
        *("puzzle24", "simple_integration", "spiral_matrix", "string_insertion"),
    )
)
_NAMES = {
    *("sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "exp", "log", "ln", "sqrt"),
}
_PIECE = re.compile(
    r"[A-Za-z]\w*|_(?!\w)|[0-9]+(?:\.[0-9]+)?|\*\*|[-+*/^(),\[\]{}\s=·×÷−|\\$]|'[A-Za-z0-9 _.-]*'|\"[A-Za-z0-9 _.-]*\""
)
_NO_NUMBER = re.compile(r"\b(?:nan|inf|infinity)\b", re.IGNORECASE)
_TRUTHS = {"True": {"true", "yes"}, "False": {"false", "no"}}
# Behind these a bracket groups; behind anything else it calls what stands there
_GROUPS_BEHIND = {*"-+*/^(,[{=·×÷−|$", "**"}
_MOST_CHARS = 20_000
_MOST_POWER = 3


def unfit(dataset: str, answer: str, own: str) -> str | None:
    """Why `answer` cannot be right and must not be scored; None where it may be.

    Args:
        own: the data set's own answer, which may hold what others must not.
    """
    if len(answer) > _MOST_CHARS:
        return f"over the bounds: {len(answer):,} characters"
    if _NO_NUMBER.search(answer) and not _NO_NUMBER.search(own):
        return "NaN and infinity are no answers"
    # a scorer that asks for the truth of both texts takes "False" for true
    if own.strip() in _TRUTHS and answer.strip().strip(".").lower() not in _TRUTHS[own.strip()]:
        return "not the right truth"
    return _no_data(answer) if dataset in RUN_THE_ANSWER else None


def _no_data(answer: str) -> str | None:
    """Why the answer is more than numbers, letters, lists and formulas."""
    at, powers, before = 0, 0, "("
    for piece in _PIECE.finditer(answer):
        if piece.start() != at:
            break
        at, word = piece.end(), piece[0]
        if "__" in word:
            return f"{word!r:.40} is no part of an answer"
        if word == "(" and not (before in _GROUPS_BEHIND or before in _NAMES or before[0].isdigit()):
            return f"{before!r:.40}, called, is no part of an answer"
        powers += word in ("**", "^")
        before = before if word.isspace() else word
    if at != len(answer):
        return f"{answer[at : at + 20]!r} is no part of an answer"
    return "too many powers" if powers > _MOST_POWER * (1 + len(answer) // 20) else None
