"""Measures how much of a text is repeated, in n-grams of words."""

from __future__ import annotations

from typing import NamedTuple

from agentscope_tuner.verify.text.words import words_of

#: Models run into a loop at the end of a text, so only the last words of a longer text are counted.
MOST_WORDS = 200_000


class Repetition(NamedTuple):
    """Attributes:
    share: the share of the n-grams that occurred before, 0.0 to below 1.0.
    distinct: the number of different n-grams.
    total: the number of all n-grams.
    """

    share: float
    distinct: int
    total: int


def repetition(text: str, n: int) -> Repetition:
    """The share of repeated n-grams, `1 - distinct / total`.

    It is the scale of the n-gram repetition penalty of "Demystifying Long Chain-of-Thought Reasoning in LLMs" (arXiv
    2502.03373), in the form for whole outputs. Words are compared in lower case. In a script without blanks, such as
    Chinese, each character is a word. A text of fewer than `n` words has a share of 0.0.
    """
    words = words_of(text)[-MOST_WORDS:]
    total = max(len(words) - n + 1, 0)
    if total == 0:
        return Repetition(0.0, 0, 0)
    distinct = len(set(zip(*(words[start:] for start in range(n)), strict=False)))
    return Repetition(1.0 - distinct / total, distinct, total)
