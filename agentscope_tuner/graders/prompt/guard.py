"""Finds answers without content, which LLM judges are known to reward.

A lone ":" or an opener such as "Thought process:" or "Solution" talked judge models into a pass (arXiv 2507.08794,
"One Token to Fool LLM-as-a-Judge"). Such answers are found without a call.
"""

from __future__ import annotations

import re
import unicodedata

from agentscope_tuner.graders.prompt.fence import neutralise
from agentscope_tuner.graders.prompt.openers import OPENERS, is_listed, is_listed_squeezed, is_ordinary_word
from agentscope_tuner.graders.prompt.visible import hides, letters, plain

__all__ = ["OPENERS", "no_content"]

_MARKUP = re.compile(
    r"\\(?:boxed|text|textbf|mathrm|mathbf)\s*\{([^{}]{0,200})\}|[<‹]/?(\w{1,20})\s?/?[>›]|\${1,2}\s*\${1,2}"
)
# Tags around which output formats are built. Any other tag, such as <b>, may itself be the answer
_FORMAT_TAGS = frozenset({
    "answer", "answers", "final", "final_answer", "output", "response", "reply", "result", "solution", "verdict",
    "submission", "think", "thinking", "thought", "thoughts", "reason", "reasoning", "reflection", "analysis",
    "scratchpad", "explanation", "conclusion", "step", "s",
})  # fmt: skip
# Punctuation of a sentence, and Markdown's rules. Symbols (→, ∅), brackets ({}) and operators may be an answer
_BLANK = re.compile(r"(?:[\s.,:;!?…·、。∶\u2800]|([-*_=#~`])\1\1+)*")
# Words at the beginning of an answer; only `#`, `*` and `>` may stand before them
_FIRST_WORDS = re.compile(r"[\s#*>]*([^\W_](?:[\w '’](?!_)){2,200})")
_FILLERS = frozenset({"sure", "ok", "okay", "alright", "well", "certainly", "of course", "好的", "好", "当然"})
_NOT_WORDS = re.compile(r"[^A-Za-z0-9 ']+")
_NESTED_MARKUP = 3
_HEAD_CHARS = 400
_MOST_CHARS = 20_000
_LONGEST_SET_APART = 150
_LONE_ANSWERS = frozenset("!?")
_OPENS = re.compile(r"(?:[:∶\-–—=>→|,、…]|\.\.\.)[\s*_`]*$|^\s*#{1,6}\s")
# Cyrillic, Greek and other letters that look like Latin ones
_LATIN = str.maketrans("аеорсухіјѕԁɡαοеνρτυικ", "aeopcyxijsdgaoevptuik")


def no_content(answer: str, reference: str | None = None) -> str | None:
    """Why `answer` has no content, in words; None when it has content.

    An answer of blanks and punctuation, or of openers alone, has no content. The answer is read as the judge model
    would read it: without invisible characters, and with wide letters as plain ones. Symbols, brackets, operators and
    single ordinary words may be the answer to a question, so the judge decides on them.

    Args:
        answer: the answer, as it came.
        reference: the right answer, where the task has one. If it reads like an opener or punctuation itself, only a
            blank answer has no content.
    """
    reason = _nothing_in(answer)
    if reason is None or reference is None or not plain(answer).strip():
        return reason
    return None if plain(reference).strip() and _nothing_in(reference) is not None else reason


def _nothing_in(answer: str) -> str | None:
    if len(answer) > _HEAD_CHARS and _begins_with_content(answer[:_HEAD_CHARS]):
        return None
    seen = plain(neutralise(answer))
    text, tags = seen, set[str]()
    for _ in range(_NESTED_MARKUP):
        tags |= {match[2].lower() for match in _MARKUP.finditer(text) if match[2]}
        text = _MARKUP.sub(lambda match: f" {match[1] or ''} ", text)
    if _BLANK.fullmatch(text):
        if not tags <= _FORMAT_TAGS:
            return None
        return None if text.strip() in _LONE_ANSWERS else "the answer holds no letter, no digit and no symbol"
    if _only_openers(text, disguised=hides(answer) or letters(seen) != letters(answer)):
        return f"the answer holds only an opener: {answer.strip()[:80]!r}"
    return None


def _begins_with_content(head: str) -> bool:
    """Whether `head`, the start of a long answer, shows content: most do, and the full check is not needed."""
    text = plain(neutralise(head))
    first = _FIRST_WORDS.match(text)
    return first is not None and not is_listed(_normalised(first[1])) and len(letters(text)) > _LONGEST_SET_APART


def _only_openers(text: str, disguised: bool) -> bool:
    words = [_normalised(segment) for segment in _segments(text)]
    words = [word for word in words if word not in _FILLERS] or words
    if not words:
        return False
    if all(map(is_listed, words)):
        return disguised or len(words) > 1 or not is_ordinary_word(words[0]) or _OPENS.search(text) is not None
    latin = [word.translate(_LATIN) for word in words]
    if latin != words and all(map(is_listed, latin)):
        return True
    # Letters with spaces between them: S o l u t i o n
    return len(text) <= _LONGEST_SET_APART and is_listed_squeezed(letters(text).casefold().translate(_LATIN))


def _segments(text: str) -> list[str]:
    """The runs of letters, digits, marks, inner spaces and apostrophes in `text`."""
    looked_at = text[:_MOST_CHARS]
    if looked_at.isascii():
        segments = [segment.strip(" '") for segment in _NOT_WORDS.split(looked_at)]
    else:
        kept = "".join(char if _may_be_in_word(char) else "\n" for char in looked_at)
        segments = [segment.strip(" '’") for segment in kept.split("\n")]
    segments = [segment for segment in segments if any(map(str.isalnum, segment))]
    # The rest counts as one segment of content: so long an answer is no opener
    return [*segments, "…"] if text[_MOST_CHARS:].strip() else segments


def _may_be_in_word(char: str) -> bool:
    return char.isalnum() or char in " '’" or unicodedata.category(char).startswith("M")


def _normalised(segment: str) -> str:
    return " ".join(segment.replace("’", "'").casefold().split())
