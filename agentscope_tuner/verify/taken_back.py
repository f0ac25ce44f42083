r"""Answers that the words around them take back: `The answer is not \boxed{7}`, `\boxed{7} is wrong`.

A solution may discuss wrong attempts elsewhere. So only a bounded number of words directly before and behind the answer
are read. They are read alike around a box, a tag, a mark or a label.
"""

from __future__ import annotations

import re

from agentscope_tuner.verify.labels import labelled

_BEFORE, _AFTER = 100, 400
_SPACES = re.compile(r"\s+")
# Formula delimiters, emphasis and brackets that may stand between a word and a box
_OPENING = ' -−\t\r\n\f\v\u00a0\u3000$*_`:：,，([{“"\\'
_OPENING_COMMAND = re.compile(r"\\(?:[;!]|displaystyle|quad|qquad|Large|large|mathbf|bf)\Z")
_ENDING = " \t\r\n$*_`)]}.\\"
_CLOSING = re.compile(r"(?:[\s$*_`)\]}”\"]|\\[)\],;:! ])*")
_STOPS = re.compile(r"(?:[\s$*_`)\]}”\".,;:!?。，；：！？…—–-]|\\[)\],;:! ])*")
_THE_ANSWER = (
    r"(?:(?:that|the|my|our|its|this|final|correct|right|total|it)\s+){0,4}"
    r"(?:(?:answer|result|value|sum|total|solution|number|it)\s+)?(?:is|was|were|equals|be|are)"
)
# Matched in lower case at each word of `_DENIALS`, because a search would take longer than the rest of the verdict
_DENIED = re.compile(
    r"(?:not|never|cannot|n't)(?:\s+(?:be|equal(?:\s+to)?|the\s+answer|necessarily|really|actually|exactly|simply))*$"
    r"|(?:instead\s+of|rather\s+than|other\s+than|anything\s+but|different\s+from|except"
    r"|(?<=\bno )longer(?:\s+(?:be|equal))?|rul(?:e|es|ed|ing)\s+out|(?<=\bas )opposed\s+to|neither|nor|unlike"
    r"|far\s+from)$"
    r"|(?:not|never|cannot|n't|doubt|deny|false|wrong|unlikely|impossible)"
    r"(?:\s+(?:really|actually|think|believe|say|claim|mean|conclude|agree|true|certain|sure|clear|likely|possible|the|case))"
    rf"{{0,3}}\s+{_THE_ANSWER}$"
    rf"|(?:if|whether|suppose|supposing|assume|assuming|unless|pretend)\s+{_THE_ANSWER}$"
)
_DENIED_IN_CHINESE = re.compile(
    r"(?:不是|不为|不等于|不等同于?|并非|绝非|而非|不可能是|不会是|不应该?是|不再是|排除|除了|(?:如果|假设|假如|若|是否)(?:答案|结果)?[是为])$"
)
# A quick test before the expressions above: every sentence that they match ends with a word of this list ...
_LAST_WORDS = frozenset(
    re.findall(
        r"\w+",
        """not never cannot be equal equals to answer necessarily really actually exactly simply of than but from except
        longer out neither nor unlike is was were are wrong incorrect false mistaken result value guess solution total
        sum write say choose pick put box give accept submit""",
    )
)
# ... and begins with a word of this list
_DENIALS = frozenset(
    re.findall(
        r"\w+",
        """not cannot never instead rather other anything different except longer rule rules ruled ruling opposed
        neither nor unlike far doubt deny false wrong unlikely impossible if whether suppose supposing assume assuming
        unless pretend incorrect mistaken""",
    )
)
_WORD = re.compile(r"[a-z']+")
_WORD_SIGNS = re.compile(r"[^\W_]+")
_LETTERS = "abcdefghijklmnopqrstuvwxyz'"
_FIRST_HAN = "\u4e00"
# The most characters of a sentence that denies a box
_MOST_DENIED = 64
# `no number except \boxed{7}` and `没有别的，除了` confirm the box, because they exclude all other values
_EXCEPTING = re.compile(r"(?:except|other\s+than|anything\s+but|rather\s+than|different\s+from|除了)\Z", re.IGNORECASE)
_NO_OTHER = re.compile(r"\b(?:no|none|nothing|nobody|cannot|not|never)\b|n['’]t\b|没有|无|不", re.IGNORECASE)
_NO_OTHER_BEHIND = re.compile(
    r"[\s$*]*(?:[之以]?外)?[\s，,]*(?:(?:就|再|也|便|并)?(?:没有|无|不存在|不再有)(?:其他|其它|别的|他|另外|任何|第二)|别无"
    r"|(?:其他|其它|别的|其余|任何)[^，。；\n]{0,12}?[都均皆也]?(?:不|没))"
    r"|[\s$*,]*(?:there\s+(?:is|are)\s+)?(?:no|none|nothing|nobody)\b",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(r"[?？\s$*)]*(?:yes|yep|correct|right|indeed|是的|对|没错|正确)", re.IGNORECASE)
# Applied to values only, because a task may ask for the wrong statement: `the wrong answer is \boxed{B}`
_CALLED_WRONG_BEFORE = re.compile(
    r"(?:wrong|incorrect|false|mistaken)(?:\s+(?:answer|result|value|guess|solution|total|sum))?(?:\s+(?:would\s+be|is|was))?$"
    r"|(?:never|not|n't|cannot)\s+(?:answer|write|say|choose|pick|put|box|give|accept|submit)$"
)
_CALLED_WRONG_IN_CHINESE = re.compile(
    r"(?:错误|不正确|错)的?(?:答案|结果)?[是为]?$|(?:不能|不要|不应|不可|别)(?:填|写|选|答|取|是|为)?$"
)
# Text before a box that is struck out, hidden or commented out
_HIDDEN = re.compile(
    r"(?:\\(?:[hv]?phantom|sout|st|[xbh]?cancel|iffalse|begin\{comment\}|(?:text)?color\s*\{?\s*white\s*\}?)\s*(?:\{\s*)?\$?|~~"
    r"|<!--[^>]{0,40}|<(?:s|del|strike)>)\s*\$?\Z"
    r"|(?:\A|\n)[^\S\n]*%[^\n]{0,60}\Z"
)
_HIDING = ("%", "~~", "<", "phantom", "sout", "\\st", "cancel", "iffalse", "comment", "white")
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
    """Whether the words around a box deny it, suppose it, question it, or take it back.

    Args:
        text: the whole output.
        start: the position of the box's start.
        end: the position of the box's end.
        inside: the text in the box.
    """
    near = text[max(start - _BEFORE, 0) : start]
    before = _without_opening(near).lower().replace("’", "'")
    denials = _denials(before)
    if denials and any(_denies(before, at, text, end) for at in denials):
        return True
    behind = text[end : end + _AFTER]
    # Most outputs end with the box, so the substitution is skipped for them
    behind = _SPACES.sub(" ", behind) if behind.strip(_ENDING) else ""
    if _IS_VALUE.search(inside) is None:
        return behind != "" and _is_asked(_words_behind(behind))
    if (denials and any(_calls_wrong(before, at) for at in denials)) or _is_hidden(near, start):
        return True
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


def _denies(before: str, at: int, text: str, end: int) -> bool:
    found = _DENIED_IN_CHINESE.search(before, at) if before[-1] >= _FIRST_HAN else _DENIED.match(before, at)
    if found is None:
        return False
    if _EXCEPTING.search(found[0]) is None:
        return True
    return (
        _NO_OTHER.search(before, 0, found.start()) is None and _NO_OTHER_BEHIND.match(text, end, end + _BEFORE) is None
    )


def _calls_wrong(before: str, at: int) -> bool:
    if before[-1] >= _FIRST_HAN:
        return _CALLED_WRONG_IN_CHINESE.search(before, at) is not None
    return _CALLED_WRONG_BEFORE.match(before, at) is not None


def _without_opening(text: str) -> str:
    """The text before a box up to its last word: the delimiters, emphasis and brackets behind the word are cut off."""
    text = text.rstrip(_OPENING)
    # Most texts end in a word without a command, so look for a backslash near the end before the slower search
    while "\\" in text[-14:] and (command := _OPENING_COMMAND.search(text, max(len(text) - 14, 0))) is not None:
        text = text[: command.start()].rstrip(_OPENING)
    return text


def _denials(before: str) -> list[int]:
    """The positions in `before` where a denial of the box may begin; most boxes have none."""
    last, at = before[-1:], max(len(before) - _MOST_DENIED, 0)
    if last >= _FIRST_HAN:
        return [at]
    word = before[len(before.rstrip(_LETTERS)) :]
    if word not in _LAST_WORDS and not word.endswith("n't"):
        return []
    if "not" not in before and "n't" not in before and _DENIALS.isdisjoint(before.replace("(", " ").split()):
        return []
    words = _WORD.finditer(before, at)
    starts = (found.start() if found[0] in _DENIALS else found.end() - 3 for found in words if _may_deny(found[0]))
    return list(starts)


def _may_deny(word: str) -> bool:
    return word in _DENIALS or word.endswith("n't")


def _is_hidden(near: str, start: int) -> bool:
    """Whether a value is struck out or commented out by the text before it."""
    for hiding in _HIDING:  # noqa: SIM110 - a generator takes twice as long
        # a mark before the text where the window begins within a line
        if hiding in near and _HIDDEN.search("…" + near if start > _BEFORE else near):
            return True
    return False


def _past_stops(text: str, at: int) -> int:
    stops = _STOPS.match(text, at)
    assert stops is not None
    return stops.end()
