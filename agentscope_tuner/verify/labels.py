r"""Answers that a label announces: `Answer: 42`, `The answer is 42.`, `**Final Answer**`, `答案是 42。`, `故选 B`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from agentscope_tuner.verify.statements import CONTRADICTION, DENIAL, Found, is_denied, is_prose, statement_at

# Answers come last, so only this many characters at the end are searched
_TAIL = 20_000
_MOST_LABELS = 24
# The text is hostile, so every repetition is bounded
_ENGLISH = r"""
    (?<![^\W_])(?:answers?|ans|final\s{1,3}result|(?:correct|right)\s{1,3}(?:option|choice))(?![^\W_])[*_`"']{0,4}
    # the question it answers
    (?:\s{1,3}(?:to|for|of)\s[^.:：=\n]{1,80}?)?
    (?:\s\([^()\n]{1,40}\))?
    (?:
        [\s*_`]{0,8}(?:[:：]|=(?!=)|(?<=\s)[-–—](?=\s))
      | ['’]s\b
      | [\s*_`]{1,8}(?:is|are|equals?|becomes|(?:should|must|will|would|has\s{1,3}to)\s{1,3}be
            |(?:comes|works|turns)\s{1,3}out\s{1,3}(?:to\s{1,3}be|to|as))\b(?!\s{0,3}n['’]t)
      | [\s*_`]{1,8}(?P<denied>(?:[a-z]{2,8}n['’]t|cannot|(?:can|must|should|will|would|could)\s{1,3}not)
            (?:\s{1,3}(?:be|equal))?)\b
      # a heading: the answer stands below
      | [*_`:：]{0,6}[^\S\n]{0,8}\n
    )
"""
_CHINESE = r"""
    (?:答案|最终结果)[】\]*_`"']{0,4}(?:应该|应当|应|就|也|便)?
    (?:
        (?P<chinese_denied>(?:肯定|绝对|显然|一定|当然)?(?:不|并非|绝非)(?:会|可能|应该|应)?(?:是|为|等于)?)
      | [\s*_`]{0,8}(?:[:：]|=(?!=)) | 是 | 为 | 等于 | 即 | 选择? | (?<=】) | [*_`]{0,6}[^\S\n]{0,8}\n
    )
  | (?:^|(?<=[，。,;；：:\s故应此以]))(?:选择?[:：]?(?=\s{0,3}[*$（(]{0,3}[A-H](?![a-z]))|答[:：])
"""
_LABEL = re.compile(f"{_ENGLISH}|{_CHINESE}", re.VERBOSE | re.IGNORECASE | re.MULTILINE)
# The text before a label in a heading: only markup and a few adjectives, because a heading holds nothing but the label
_HEADING = re.compile(
    r"[\s#>*_\-0-9.)]*(?:(?:the|my|our|final|correct)\s+)*$|[\s#>*_\-0-9.)【]*(?:最终|正确)?$", re.IGNORECASE
)
_VALUE = re.compile(r"[0-9０-９$\\π∞√±^]|[A-Za-z]\s*=|^[\s(\[{]*[A-Za-z][\s)\]}.:]*$")
_MOST_WORDS, _MOST_LETTERS, _BEFORE = 5, 60, 60
# Words before a label that deny its statement, `I do not think the answer is 42`, or suppose it, `if the answer is 42`
_DETERMINERS = r"(?:(?:that|the|my|our|its|this|final|correct|right)\s){0,4}$"
_DENIED_BEFORE = re.compile(
    r"(?:(?:\b(?:not|never|cannot)|n['’]t)\s(?:(?:really|actually|be|think|believe|say|claim|mean|conclude|agree|accept|true"
    rf"|certain|sure|clear|likely|possible|the\scase)\s){{0,3}}|\b(?:doubt|deny|false|wrong|unlikely|impossible)\s){_DETERMINERS}"
    r"|(?:不认为|不觉得|不相信|不能说|并不是说|不可能)[^，。；\n]{0,6}$",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    rf"\b(?:if|whether|suppose|supposing|assume|assuming|unless)\s{_DETERMINERS}"
    r"|(?:如果|假设|假如|假定|若|是否|难道)[^，。；\n]{0,6}$",
    re.IGNORECASE,
)
# Words and signs that may stand between two statements of one sentence
_BETWEEN_STATEMENTS = re.compile(
    r"[\s.,;:!*_`#。，；（(]*(?:(?:so|thus|or|and|then|hence|therefore|also|either|maybe|perhaps|possibly|alternatively|the|my|our"
    r"|final|correct|another|other|或者?|和|也|所以|因此|最终|正确)[\s.,;:*_`#，]*)*",
    re.IGNORECASE,
)
_OR = re.compile(
    r"[\s.,;*_。，；]*(?:or|alternatively|maybe|perhaps|possibly|or\s+(?:maybe|perhaps|possibly)|或者?|也可能(?:是)?|也许是?)"
    r"[\s,，]*(?:it\s+is\s+)?[(\[]?[-−]?[0-9$\\]",
    re.IGNORECASE,
)


class _Statement(NamedTuple):
    text: str
    denied: bool
    start: int
    end: int


def labelled(text: str) -> Found | None:
    """The last answer that a label announces; without a label, the value in bold in the last paragraph."""
    statements = list(_statements(text))
    asserted = [statement for statement in statements if not statement.denied]
    if not asserted:
        return Found("", DENIAL) if statements else _emphasised(text)
    # Prefer a statement with a value: "The answer is reasonable." only comments on an answer
    last = next((one for one in reversed(asserted) if _VALUE.search(one.text)), asserted[-1])
    if any(other.denied and last.text in other.text and other.start > last.start for other in statements):
        return Found("", DENIAL)
    if _OR.match(text[last.end - 1 : last.end + 80]) or _contradicted(text, last, asserted):
        return Found("", CONTRADICTION)
    return Found(last.text)


def _contradicted(text: str, last: _Statement, asserted: list[_Statement]) -> bool:
    """Whether the last statement is one of several side by side, and another of them gives a different answer."""
    start = last.start
    for other in reversed(asserted[: asserted.index(last)]):
        if not _BETWEEN_STATEMENTS.fullmatch(text[other.end : start][:200]):
            return False
        if re.sub(r"[\s$]", "", other.text) != re.sub(r"[\s$]", "", last.text):
            return True
        start = other.start
    return False


def _statements(text: str) -> Iterator[_Statement]:
    labels = list(_LABEL.finditer(text, max(len(text) - _TAIL, 0)))[-_MOST_LABELS:]
    for number, label in enumerate(labels):
        if label[0].endswith("\n") and not _HEADING.fullmatch(_line_before(text, label.start())):
            continue
        said, end = statement_at(text, label.end())
        following = labels[number + 1].start() if number + 1 < len(labels) else len(text)
        if following < end:
            # The second label announces the answer: "Final Answer: The final answer is 42."
            said, end = text[label.end() : following].strip(), following
            if not re.search(r"[0-9]", said):
                continue
        value = _VALUE.search(said)
        before = text[max(label.start() - _BEFORE, 0) : label.start()]
        if _SUPPOSED.search(before):
            continue
        denied = bool(label["denied"] or label["chinese_denied"] or _DENIED_BEFORE.search(before))
        if value is not None:
            yield _Statement(said, denied or is_denied(said), label.start(), end)
        elif said and not denied and len(said) <= _MOST_LETTERS and len(said.split()) <= _MOST_WORDS:
            yield _Statement(said, False, label.start(), end)


def _line_before(text: str, at: int) -> str:
    return text[max(text.rfind("\n", max(at - 100, 0), at) + 1, at - 100) : at]


_EMPHASISED = re.compile(r"(\*\*|__)(?=\S)([^*_\n]{1,200})(?<=\S)\1")
_LAST_PARAGRAPH = 1_000


def _emphasised(text: str) -> Found | None:
    """The only value in bold in the last paragraph, if it ends a statement: `The product is **42**.`"""
    paragraph = re.split(r"\n[^\S\n]*\n", text.strip()[-_LAST_PARAGRAPH:])[-1]
    spans = [span for span in _EMPHASISED.finditer(paragraph) if _VALUE.search(span[2]) and not is_prose(span[2])]
    if not spans:
        return None
    if len({span[2].strip() for span in spans}) > 1:
        return Found("", CONTRADICTION)
    sentence = re.split(r"(?<=[.!?])\s|[。！？\n]", paragraph[: spans[-1].start()])[-1]
    if is_denied(sentence):
        return Found("", DENIAL)
    stated = re.search(r"(?:^|\b(?:is|are|equals?|be)|[:：=]|是|为|等于)[\s$]*$", sentence, re.IGNORECASE)
    ended = re.match(r"[\s.!。！$]*$", paragraph[spans[-1].end() :])
    return Found(spans[-1][2].strip().rstrip(".")) if stated and ended else None
