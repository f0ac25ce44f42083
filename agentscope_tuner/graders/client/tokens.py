"""An estimate of a prompt's tokens, from which the cost of judging is estimated.

The `max_tokens` rule counts by a definition of its own (`rules.tokens`), which must never change. This estimate is
fitted to the tokenizers of Qwen and DeepSeek. `make bench-tokens` prints its error for English, Chinese, code and
mathematics.
"""

from __future__ import annotations

import re
from collections import Counter

# Tokens that a chat template adds around a message
_PER_MESSAGE = 5
_LONG_WORD = 6
_TOKEN = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digit>\d)|(?P<symbols>[!-/:-@\[-`{-~]+)|(?P<lines>\n+)"
    "|(?P<han>[\u3400-\u9fff\uf900-\ufaff])|(?P<kana>[\u3040-\u30ff])|(?P<hangul>[\uac00-\ud7af])"
    "|(?P<wide>[\u3000-\u303f\uff00-\uffef\u2018-\u201f\u2026])|(?P<letter>[^\\W\\d_])|(?P<other>\\S)"
)
# Tokens for each match, by its kind
_WORTH = {
    "word": 0.95, "digit": 1.0, "symbols": 0.93, "lines": 0.66, "han": 0.62, "kana": 0.6, "hangul": 0.9, "wide": 0.9,
    "letter": 0.35, "other": 1.4,
}  # fmt: skip
# Further tokens for each character of a word beyond `_LONG_WORD`, and for each symbol of a run beyond the first
_FURTHER = {"word": 0.24, "symbols": 0.18}


def text_tokens(text: str) -> int:
    """The estimated number of tokens in `text`; time is linear in its length."""
    found: Counter[str] = Counter()
    further: Counter[str] = Counter()
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        found[kind] += 1
        if kind == "word":
            further[kind] += max(0, match.end() - match.start() - _LONG_WORD)
        elif kind == "symbols":
            further[kind] += match.end() - match.start() - 1
    total = sum(_WORTH[kind] * count for kind, count in found.items())
    return round(total + sum(_FURTHER[kind] * count for kind, count in further.items()))


def message_tokens(texts: list[str]) -> int:
    """The estimated number of tokens of a prompt of so many messages."""
    return sum(text_tokens(text) + _PER_MESSAGE for text in texts)
