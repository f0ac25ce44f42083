r"""Answers that the words around them take back: `The answer is not \boxed{7}`, `\boxed{7} is wrong`.

A solution may discuss wrong attempts elsewhere. So only a bounded number of words directly before and behind the answer
are read. They are read alike around a box, a tag, a mark or a label.
"""

from __future__ import annotations

import re

from agentscope_tuner.verify.labels import labelled

_BEFORE, _AFTER = 40, 400
_SPACES = re.compile(r"\s+")
_ENDING = " \t\r\n$*_`)]}.\\"
_CLOSING = re.compile(r"(?:[\s$*_`)\]}”\"]|\\[)\],;:! ])*")
_STOPS = re.compile(r"(?:[\s$*_`)\]}”\".,;:!?。，；：！？…—–-]|\\[)\],;:! ])*")
# A word right before an answer that denies it; `no number except \boxed{7}` confirms it
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|nicht|niemals|pas|jamais|nunca|não|mai|не|niet|nie|inte|bukan)|n['’]t"
    r"|不是|不为|不等于|并非|绝非|而非)(?: (?:be|equal(?:s|\ to)?))?[\s$*_`:：([{\\-]*\Z",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(r"[?？\s$*)]*(?:yes|yep|correct|right|indeed|是的|对|没错|正确)", re.IGNORECASE)
# Marks of a value. Text may rightly call a letter, a yes or a name wrong, as in `the wrong step is \boxed{B}`, so only
# values are checked for such text
_IS_VALUE = re.compile(r"\d|\\(?:pi|infty|frac|sqrt)")
_WRONG = (
    r"(?:wrong|incorrect|mistaken|a\s+mistake|an\s+error|erroneous|nonsense"
    r"|not\s+(?:the\s+)?(?:final\s+|actual\s+|real\s+)?(?:right|correct|answer)(?:\s+(?:answer|one|value))?)"
    r"(?!\s+(?:to|if|that|for|unless|on|by|only|when)\b)(?![-\w])"
)
_IS = (
    r"(?:is|was|seems|looks|appears|must\s+be|would\s+be|turns\s+out\s+to\s+be)"
    r"(?:\s+(?:actually|clearly|obviously|also|just|completely|simply|likely|probably|to\s+be))?"
)
_BACK = (
    r"(?:(?:but|and|however|although|though|yet|which|oh|wait|no|nope|actually|hmm+|sorry|oops|correction|hold\s+on"
    r"|scratch\s+that|never\s*mind)\b[\s,.:;!…—–-]*)"
)
_IT = (
    r"(?:that|this|it|the\s+(?:(?:above|previous|boxed|first)\s+)?(?:answer|result|value|box|one)"
    r"|my\s+(?:answer|result))"
)
_CALLED_WRONG = re.compile(
    rf"{_BACK}{{0,5}}(?:{_IT}\s+|which\s+)?(?:{_IS}\s+{_WRONG}|(?:is|was)n['’]t\s+(?:the\s+)?(?:right|correct|answer)\b"
    rf"|can(?:not|['’]t)\s+be\s+(?:right|correct|the\s+answer)\b)"
    rf"|{_BACK}{{0,5}}(?:that|it)['’]s\s+{_WRONG}"
    rf"|{_BACK}{{1,5}}i\s+(?:have\s+)?(?:made|make)\s+(?:a|an)\s+(?:\w+\s+)?(?:mistake|error)\b"
    r"|(?:scratch|ignore|disregard|forget|strike|discard)\s+(?:that|this|it|the\s+(?:above|previous|box|answer))\b"
    rf"|(?:wait|no|nope|actually|sorry|oops|correction)\b[\s,.:;!…—–-]*{_BACK}{{0,3}}(?:{_IT}|the\s+(?:correct|right|actual|real|true)\s+\w+|i\s+meant?)"
    r"\s+(?:(?:should|must|has\s+to|ought\s+to|would)\s+(?:have\s+been|be)|is|equals)\s*(?:actually\s*)?"
    r"(?P<other>[-$\\(\d]\S{0,30})"
    rf"|{_BACK}{{0,4}}(?:correction|i\s+meant?|or\s+rather|make\s+that|(?:no|nope|sorry|oops)(?=\s*[,.:;!—–-]))\s*[,.:：;!—–-]*\s*"
    r"(?P<meant>[-$\\(\d]\S{0,30})"
    r"|(?:no|nope)\s*[.!]*\s*$|[✗✘❌✖]|[(（]\s*(?:wrong|incorrect|false|错|不对|不是|×)"
    r"|(?:(?:但是?|不过|等等|等一下|哦|啊|抱歉|可是)[，,。.\s]*)*(?:(?:这|上面|该|此|那|以上|我)(?:个|的)?)?(?:答案|结果|数)?(?:是|显然|其实|好像|应该|算)*"
    r"(?:不对|不正确|错的|错误的?|错了|有误)(?!的)",
    re.IGNORECASE,
)
# The counted noun behind the box, as in `\boxed{7} apples.`
_COUNTED = re.compile(r"(?:[\u4e00-\u9fff]{1,4}|[a-zA-Z]{1,15}(?:\s[a-zA-Z]{1,15}){0,2})?(?=[.。，,！!？?;；])")
_VALUE = re.compile(r"[\s$*\\()\[\].,;!{}]")


# Words that say nothing but that the answer follows, wherever they stand
_PLAIN_LEADS = frozenset(
    """the a is are answer answers final therefore thus so hence result value number total sum of we get have obtain
    that this correct solution solutions""".split()  # noqa: SIM905
)


def needs_reading(near: str) -> bool:
    """Whether the sentence before a box has words of which it is not plain that they only lead to it."""
    return not _PLAIN_LEADS.issuperset(near.lower().replace(":", " ").replace(",", " ").split())


def is_taken_back(text: str, start: int, end: int, inside: str) -> bool:
    """Whether the words around a box deny it, question it, or take it back.

    Who compares values reads them closely: see `words_behind.turned`.

    Args:
        text: the whole output.
        start: the position of the box's start.
        end: the position of the box's end.
        inside: the text in the box.
    """
    if _DENIED.search(text, max(start - _BEFORE, 0), start) is not None:
        return True
    behind = text[end : end + _AFTER]
    # Most outputs end with the box, so the substitution is skipped for them
    behind = _SPACES.sub(" ", behind) if behind.strip(_ENDING) else ""
    if _IS_VALUE.search(inside) is None:
        return behind != "" and _is_asked(_words_behind(behind))
    return behind != "" and _is_corrected(_words_behind(behind), text[end:], inside)


def _words_behind(behind: str) -> str:
    at = _CLOSING.match(behind)
    assert at is not None
    return behind[at.end() :]


def _is_asked(words: str) -> bool:
    """Whether a question mark stands behind the box, and no confirmation behind the mark."""
    return words[:1] in ("?", "？") and _CONFIRMED.match(words) is None


def _is_corrected(words: str, rest: str, inside: str) -> bool:
    """Whether the words behind a value question it, call it wrong, or replace it.

    Args:
        words: the words behind the box, up to a bounded number of characters.
        rest: all of the text behind the box.
        inside: the text in the box.
    """
    if words[:1] in ("?", "？"):
        return _is_asked(words)
    found = _CALLED_WRONG.match(words, _past_stops(words, 0))
    if found is None and (counted := _COUNTED.match(words)) is not None:
        found = _CALLED_WRONG.match(words, _past_stops(words, counted.end()))
    if found is None:
        return False
    said = _VALUE.sub("", inside)
    other = found["other"] or found["meant"]
    if other is not None and _VALUE.sub("", other) == said:
        return False
    again = labelled(rest)
    # A later label that announces the same value confirms it
    return again is None or _VALUE.sub("", again.text) != said


def _past_stops(text: str, at: int) -> int:
    stops = _STOPS.match(text, at)
    assert stops is not None
    return stops.end()
