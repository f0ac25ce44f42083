"""How much of a text repeats itself, in n-grams of words."""

from __future__ import annotations

from typing import NamedTuple

from agentscope_tuner.verify.text.words import words_of

#: Of a longer text its last words are counted, for it is the end that runs into a loop.
MOST_WORDS = 200_000


class Repetition(NamedTuple):
    """Attributes:
    share: of the n-grams, those that stood before already; 0.0 to below 1.0.
    distinct: how many different n-grams there are.
    total: how many n-grams there are.
    """

    share: float
    distinct: int
    total: int


def repetition(text: str, n: int) -> Repetition:
    """The share of repeated n-grams, `1 - distinct / total`.

    It is the scale of the n-gram repetition penalty of "Demystifying Long Chain-of-Thought Reasoning in LLMs" (arXiv
    2502.03373), in the form for whole outputs, over words in lower case. Where a script has no blanks, as Chinese, each
    character is a word. A text of fewer than `n` words repeats nothing.
    """
    words = words_of(text)[-MOST_WORDS:]
    total = max(len(words) - n + 1, 0)
    if total == 0:
        return Repetition(0.0, 0, 0)
    distinct = len(set(zip(*(words[start:] for start in range(n)), strict=False)))
    return Repetition(1.0 - distinct / total, distinct, total)
