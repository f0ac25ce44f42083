r"""Boxes that their own sentence takes back: `The answer is not \boxed{7}`, `\boxed{7} is wrong`, `\boxed{7}？不对`.

Only the words directly before and behind the box are read, a bounded number of them: what a solution says elsewhere
about wrong attempts is no concern of its answer.
"""

from __future__ import annotations

import re

from agentscope_tuner.verify.labels import labelled

_BEFORE, _AFTER = 100, 400
_SPACES = re.compile(r"\s+")
# formula delimiters, emphasis and brackets between a word and a box
_OPENING = re.compile(
    r"(?:[\s$*_`:：,，(\[{“\"]|\\[(\[,;:! ]|\\(?:displaystyle|quad|qquad|Large|large|mathbf|bf)(?![a-zA-Z]))+$"
)
_CLOSING = re.compile(r"(?:[\s$*_`)\]}”\"]|\\[)\],;:! ])*")
_STOPS = re.compile(r"(?:[\s$*_`)\]}”\".,;:!?。，；：！？…—–-]|\\[)\],;:! ])*")
_THE_ANSWER = (
    r"(?:(?:that|the|my|our|its|this|final|correct|right|total|it)\s+){0,4}"
    r"(?:(?:answer|result|value|sum|total|solution|number|it)\s+)?(?:is|was|were|equals|be|are)"
)
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|never|cannot)|n['’]t)(?:\s+(?:be|equal(?:\s+to)?|the\s+answer|necessarily|really|actually|exactly|simply))*$"
    r"|\b(?:instead\s+of|rather\s+than|other\s+than|anything\s+but|different\s+from|except|no\s+longer(?:\s+(?:be|equal))?"
    r"|rul(?:e|es|ed|ing)\s+out|as\s+opposed\s+to|neither|nor|unlike|far\s+from)$"
    r"|(?:\b(?:not|never|cannot)|n['’]t|\bdoubt|\bdeny|\bfalse|\bwrong|\bunlikely|\bimpossible)"
    r"(?:\s+(?:really|actually|think|believe|say|claim|mean|conclude|agree|true|certain|sure|clear|likely|possible|the|case))"
    rf"{{0,3}}\s+{_THE_ANSWER}$"
    rf"|\b(?:if|whether|suppose|supposing|assume|assuming|unless|pretend)\s+{_THE_ANSWER}$"
    r"|(?:不是|不为|不等于|并非|绝非|而非|不可能是|不会是|不应该?是|不再是|排除|除了|(?:如果|假设|假如|若|是否)(?:答案|结果)?[是为])$",
    re.IGNORECASE,
)
# `no number except`, `没有别的，除了`: the box is all that is left
_EXCEPTING = re.compile(r"(?:except|other\s+than|anything\s+but|rather\s+than|different\s+from|除了)\Z", re.IGNORECASE)
_NO_OTHER = re.compile(r"\b(?:no|none|nothing|nobody|cannot|not|never)\b|n['’]t\b|没有|无|不", re.IGNORECASE)
_CONFIRMED = re.compile(r"[?？\s$*)]*(?:yes|yep|correct|right|indeed|是的|对|没错|正确)", re.IGNORECASE)
# of a value only: the statement that is wrong may be asked for
_CALLED_WRONG_BEFORE = re.compile(
    r"\b(?:wrong|incorrect|false|mistaken)(?:\s+(?:answer|result|value|guess|solution|total|sum))?(?:\s+(?:would\s+be|is|was))?$"
    r"|\b(?:do\s+not|don['’]t|never|(?:should|must|can)\s*not|cannot)\s+(?:answer|write|say|choose|pick|put|box|give|accept|submit)$"
    r"|(?:错误|不正确|错)的?(?:答案|结果)?[是为]?$|(?:不能|不要|不应|不可|别)(?:填|写|选|答|取|是|为)?$",
    re.IGNORECASE,
)
# what is struck out, hidden or commented out
_HIDDEN = re.compile(
    r"(?:\\(?:[hv]?phantom|sout|st|[xbh]?cancel|iffalse|begin\{comment\}|(?:text)?color\s*\{?\s*white\s*\}?)\s*(?:\{\s*)?\$?|~~"
    r"|<!--[^>]{0,40}|<(?:s|del|strike)>)\s*\$?\Z"
    r"|(?:\A|\n)[^\S\n]*%[^\n]{0,60}\Z"
)
# a part of a longer number or of a formula
_PART_BEFORE = re.compile(r"(?:(?:\A|[\s$=(:：])[-−]|\d|(?<![\d.])0\.)\$?\Z")
_PART_BEHIND = re.compile(r"\s?\^(?!\s*\{?\s*(?:\\circ|\\prime|\*))|\d|\.\d")
# another integer beside the box: one of several candidates, or what the box is said to equal
_OR_BEFORE = re.compile(r"(?P<other>[-−]?\d[\d,]*)[\s$]*(?:\bor|或者?是?)\s*\$?\Z", re.IGNORECASE)
_OR_BEHIND = re.compile(r"\s*\$?\s*(?:\bor\b|或者?)\s*\$?(?P<other>[-−]?\d[\d,]*)(?![\d.]*[\d/%^])", re.IGNORECASE)
_EQUATED = re.compile(
    r"\s*\$?\s*(?:=|→|->|\\(?:right)?(?:to|arrow)\b)\s*\$?\s*(?P<other>[-−]?\d[\d,]*)\s*(?:\$|\.?\s*\Z|\\[)\]])"
)
_INTEGER = re.compile(r"\s*[-−]?\d[\d,]*\s*")
# what settles nothing when it is called wrong: a letter, a yes, a name
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
# the counted noun behind the box
_COUNTED = re.compile(r"(?:[\u4e00-\u9fff]{1,4}|[a-zA-Z]{1,15}(?:\s[a-zA-Z]{1,15}){0,2})?(?=[.。，,！!？?;；])")
_VALUE = re.compile(r"[\s$*\\()\[\].,;!{}]")


def is_taken_back(text: str, start: int, end: int, inside: str) -> bool:
    """Whether the words around a box deny it, suppose it, ask for it, or take it back.

    Args:
        text: the whole output.
        start: where the box begins.
        end: where it ends.
        inside: the text in the box.
    """
    before = _OPENING.sub("", text[max(start - _BEFORE, 0) : start])
    denied = _DENIED_BEFORE.search(before)
    if denied is not None and not _is_denied_twice(before, denied):
        return True
    # a run of spaces could be parted in many ways
    behind = _SPACES.sub(" ", text[end : end + _AFTER])
    if _IS_VALUE.search(inside) is not None and _is_lost(text, start, before, behind, inside):
        return True
    at = _CLOSING.match(behind)
    assert at is not None
    rest = behind[at.end() :]
    if rest[:1] in ("?", "？"):
        return _CONFIRMED.match(rest) is None
    if not rest or _IS_VALUE.search(inside) is None:
        return False
    found = _CALLED_WRONG.match(rest, _past_stops(rest, 0))
    if found is None and (counted := _COUNTED.match(rest)) is not None:
        found = _CALLED_WRONG.match(rest, _past_stops(rest, counted.end()))
    if found is None:
        return False
    said = _VALUE.sub("", inside)
    other = found["other"] or found["meant"]
    if other is not None and _VALUE.sub("", other) == said:
        return False
    again = labelled(text[end:])
    # looked at once more, and found right
    return again is None or _VALUE.sub("", again.text) != said


def _is_denied_twice(before: str, denied: re.Match[str]) -> bool:
    return _EXCEPTING.search(denied[0]) is not None and _NO_OTHER.search(before, 0, denied.start()) is not None


def _is_lost(text: str, start: int, before: str, behind: str, inside: str) -> bool:
    """Whether a value is called wrong before it stands, is hidden, or is a part of something else."""
    near = text[max(start - _BEFORE, 0) : start]
    if start > _BEFORE:
        # the window begins within a line
        near = "…" + near
    if _CALLED_WRONG_BEFORE.search(before) or _HIDDEN.search(near) or _PART_BEFORE.search(near):
        return True
    if _PART_BEHIND.match(behind):
        return True
    if _INTEGER.fullmatch(inside) is None:
        return False
    others = (_OR_BEFORE.search(near), _OR_BEHIND.match(behind), _EQUATED.match(behind))
    return any(found is not None and _digits(found["other"]) != _digits(inside) for found in others)


def _digits(text: str) -> str:
    return text.replace(",", "").replace("−", "-").strip()


def _past_stops(text: str, at: int) -> int:
    stops = _STOPS.match(text, at)
    assert stops is not None
    return stops.end()
