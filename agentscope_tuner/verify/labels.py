r"""Answers behind a label: `Answer: 42`, `The answer is 42.`, `**Final Answer**`, `答案是 42。`, `故选 B`.

A statement, the value behind a label, is cut out of its sentence: it is of limited length, without Markdown, and
distinguished from prose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.strict_json import NotStrictJsonError, read_json, stated_json
from agentscope_tuner.verify.words import foretold_wrong

_WINDOW = 400
CONTRADICTION = "two different answers side by side"
DENIAL = "a denial"


class Found(NamedTuple):
    """The answer that was found at one kind of place in an output: in a box, behind a label, in JSON.

    Attributes:
        text: the answer, stripped.
        problem: the reason why there is no answer; empty for an answer.
        raw: the answer with its characters as in the output.
        before: the text just before a box.
        behind: the text just behind a box.
        others: different answers of equal rank beside it.
        again: the values that the text behind it states, each in its possible spellings.
        start: the position of a labelled answer in the output; -1 for other answers.
        end: the position of its end; -1 for other answers.
        parts: the boxes, if each names a part of the answer, each with the text before and behind it.
    """

    text: str
    problem: str = ""
    raw: str = ""
    before: str = ""
    behind: str = ""
    others: tuple[str, ...] = ()
    again: tuple[tuple[str, ...], ...] = ()
    start: int = -1
    end: int = -1
    parts: tuple[tuple[str, str, str], ...] = ()


def same_text(text: str) -> str:
    """The text without white space and `$`, by which answers are compared: `42` for ` $4 2$ `."""
    return re.sub(r"[\s$]", "", text)


def sole_answer(answers: Sequence[str]) -> Found:
    """The last of `answers`; earlier ones with different characters become its `others`."""
    last = same_text(answers[-1])
    others = tuple(dict.fromkeys(answer for answer in answers[:-1] if same_text(answer) != last))
    return Found(answers[-1].strip(), "", answers[-1], "", "", others)


_DENIED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|no\s+longer|anything\s+but|other\s+than|different\s+from|far\s+from|unlikely"
    r"|ruled?\s+out|incorrect|wrong|impossible|invalid|absurd|nonsense)\b|n['’]t\b|不是|不为|不等于|不会|不可能|并非|绝非|而非|不对|错误|排除",
    re.IGNORECASE,
)


def is_denied(text: str) -> bool:
    """Whether `text` contains a word of denial: `is not 5`, `5 is wrong`."""
    return _DENIED.search(text) is not None


_MATH = r"\$\$.*?\$\$|\$[^$\n]*\$|\\\(.*?\\\)|\\\[.*?\\\]|\\begin\{.*?\\end\{[a-zA-Z]*\*?\}|\\text\{[^{}]*\}"
_FORMULA = re.compile(_MATH, re.DOTALL)
_NAMES = re.compile(r"\\[a-zA-Z]+|\b(?:sin|cos|tan|cot|sec|csc|log|ln|exp|pi|sqrt|mod|and|or)\b")
_WORD = re.compile(r"[^\W\d_]{2,}")


def is_prose(text: str) -> bool:
    """Whether `text` contains words outside of its formulas: `$x$ is big`, but not `$x$`."""
    return _WORD.search(_NAMES.sub(" ", _FORMULA.sub(" ", text))) is not None


_PIECE = re.compile(
    rf"{_MATH}|(?P<stop>[.?!](?=[*_\"'”’)\]}}]*(?:\s|$)))|(?P<end>\n|[。！？])|.",
    re.DOTALL,
)
_ABBREVIATED = re.compile(r"\b(?:approx|ca|cm|cu|ft|hr|in|lb|min|mi|no|oz|sec|sq|vs|yd|e\.g|i\.e)$", re.IGNORECASE)
# The sentence continues behind the full stop of an abbreviation
_GOES_ON = re.compile(r"[^\S\n]*[a-z0-9(]")
_BEFORE_DENIAL = re.compile(r"[\s*_`}\"“:：]{0,40}")


def statement_at(text: str, at: int, *, whole_line: bool = False) -> tuple[str, int]:
    """The statement at position `at`, cleaned, and the position of its end.

    Behind the colon of `Answer: **42**` the statement is `42`.

    A statement ends with its sentence. Full stops and line breaks within a formula do not end it. White space, line
    breaks and Markdown before it are skipped. The statement is empty when no words follow, when it is a question, and
    when it is too long to be an answer.

    Args:
        whole_line: the statement is the rest of the line at `at`; its full stops do not end it.
    """
    start = at if whole_line else _past_markup(text, at)
    window = text[start : start + _WINDOW]
    for piece in _PIECE.finditer(window):
        if piece.lastgroup is None or (whole_line and piece[0] != "\n"):
            continue
        if piece.lastgroup == "stop":
            behind = window[piece.end() :]
            if piece[0] == "." and _ABBREVIATED.search(window[: piece.start()]) and _GOES_ON.match(behind):
                continue
        if piece[0] in "?？":
            return "", start + piece.end()
        return clean(window[: piece.start()]), start + piece.end()
    return (clean(window) if start + _WINDOW >= len(text) else ""), start + len(window)


def _past_markup(text: str, at: int) -> int:
    """The position behind white space and Markdown at `at`."""
    match = _BEFORE_DENIAL.match(text, at)
    assert match is not None
    # The pattern skips a closing brace, too, as in \textbf{Answer:} 42
    return match.end()


_EMPHASIS = re.compile(r"(?<![\w)\]}*_])(\*\*|__|\*|_|`)(?=\S)([^*`\n]*?\S)\1(?![\w(*_])")
_REMARK = re.compile(
    r"[,;，；(（]?\s*(?:\b(?:because|since|which|so|hence|therefore|thus|giving|as\s+(?:required|desired|expected|needed|wanted"
    r"|shown|computed|calculated|above|before)|rather\s+than|instead\s+of)\b|(?<=[,;(（])\s*(?:and\s+)?not\b|因为|所以|因此|其中|即)"
    r".*",
    re.DOTALL | re.IGNORECASE,
)
# This remark is not removed, because it denies the value: `42, which is wrong`
_TAKEN_BACK = re.compile(
    r"[,;，；(（]?\s*which\s+(?:is|was|were|seems|looks|(?:turns|turned)\s+out\s+to\s+be|would\s+be|can(?:not|['’]t)\s+be)"
    r"(?:n['’]t)?\s+(?:\w+\s+){0,2}?(?:wrong|incorrect|false|impossible|invalid|absurd|nonsense"
    r"|(?<=n['’]t\s)(?:it|right|correct|true|valid|possible)|(?:not|never|be)\s+(?:the\s+)?(?:right|correct|true|valid|possible"
    r"|allowed|answer|it))\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:(?:simply|just|exactly|clearly|then|thus|therefore|indeed|also|option|choice|选项)\s*+(?::\s*+)?)+",
    re.IGNORECASE,
)
# A verb at the end of a sentence, behind the value
_COPULA = re.compile(r"\s?(?:です|である|だ|となる|になります|입니다|이다|이에요|예요)$")
_AROUND = '*_` \t\n"“”✓✔✅☑\ufe0f'
_DELIMITER = re.compile(r"\$\$?|\\[()\[\]]")


def clean(text: str) -> str:
    r"""A statement without emphasis, closing remark and full stop: `42` for `**42**, because it is so.`

    Inner `$` are dropped, too; one pair `$…$` around it stays. A remark that denies the value stays as well.
    """
    text = text.strip()
    for _ in range(3):
        text = _EMPHASIS.sub(r"\2", text)
    text = _FILLER.sub("", text.strip(_AROUND))
    remark = _REMARK.search(_FORMULA.sub(lambda math: "0" * len(math[0]), text), 1)
    if remark is not None and not _TAKEN_BACK.match(remark[0]):
        text = text[: remark.start()]
    text = _COPULA.sub("", text.strip(_AROUND).rstrip(".,;:，。；").rstrip())
    if text.endswith("$") and text.count("$") % 2:
        # The `$` that opens this formula is before the label
        text = text[:-1].rstrip()
    if len(_DELIMITER.findall(text)) > 2:
        # The statement holds several formulas with words between them
        text = _DELIMITER.sub(" ", text).strip()
    return text


# The word for an answer, language by language
_ANSWER_ABROAD = (
    r"antwort|réponse|respuesta|resposta|risposta|ответ|odpowiedź|cevap|đáp\s(?:án|số)|jawaban|antwoord|svar"
    r"|odpověď|відповідь|απάντηση|răspuns|válasz|vastaus|답안?|정답|答案|答え|解答|الإجابة|الجواب|उत्तर|คำตอบ|پاسخ|תשובה"
)
ANSWER = f"answers?|{_ANSWER_ABROAD}"
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
# In other languages a colon or a verb follows the word, perhaps with an adjective between them: `Réponse finale :`
_ABROAD = rf"""
    (?<![^\W_])(?:{_ANSWER_ABROAD}|ergebnis|résultat|resultado|risultato)(?:은|는|は)?[*_`]{{0,4}}
    (?:\s(?:final|finale|correcta|correta|corretta|cuối\scùng|akhir|końcowa))?
    (?:
        [\s*_`]{{0,8}}(?:[:：]|[—–](?=\s))
      | (?<=[は은는])
      | \s(?:ist|lautet|est|es|é|è|adalah|là|is|är|to)\b
    )
"""
_LABEL = re.compile(f"{_ENGLISH}|{_CHINESE}|{_ABROAD}", re.VERBOSE | re.IGNORECASE | re.MULTILINE)
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
# Words and punctuation that may be between two statements side by side
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
    """The text behind a label, and whether words deny it."""

    text: str
    denied: bool
    # the positions of the label's start, of its end, and of the statement's end
    start: int
    at: int
    end: int


def named_in_json(text: str) -> Found | None:
    """The answer in a JSON object that is the whole text or its last code block: `4` of `{"answer": 4}`.

    Of several labels with different values the last counts, and the rest are its `others`. None if there is none:
    lists, objects and `true` are no answers, and nothing may follow the JSON, which must be strict.
    """
    if "{" not in text or not text.rstrip().endswith(("}", "```")):
        return None
    try:
        fields = read_json(stated_json(text, fence=True), real=str)
    except NotStrictJsonError:
        return None
    if not isinstance(fields, dict):
        return None
    values = [
        str(value)
        for name, value in fields.items()
        if isinstance(value, str | int) and not isinstance(value, bool) and _is_label(name)
    ]
    return sole_answer(values) if values else None


def _is_label(name: str) -> bool:
    """Whether the name of a JSON field announces an answer: `final_answer`."""
    found = labelled(f"{name.replace('_', ' ')}: 0")
    return found is not None and not found.problem and found.text == "0"


def labelled(text: str) -> Found | None:
    """The last answer that a label announces: `42` of `The answer is 42.`

    Without a label, the value in bold in the last paragraph; None if there is none. If the answer is denied or
    contradicted, the result has no text and a `problem`.
    """
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
    return Found(last.text, start=last.at, end=last.end)


def _contradicted(text: str, last: _Statement, asserted: list[_Statement]) -> bool:
    """Whether the last statement has a different one directly before it, as in `Answer: 42 or answer: 43`."""
    start = last.start
    for other in reversed(asserted[: asserted.index(last)]):
        if not _BETWEEN_STATEMENTS.fullmatch(text[other.end : start][:200]):
            return False
        if re.sub(r"[\s$]", "", other.text) != re.sub(r"[\s$]", "", last.text):
            return True
        start = other.start
    return False


def _statements(text: str) -> Iterator[_Statement]:
    """The statements behind the last labels of a text, in their order, without those that are only supposed."""
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
        denied = bool(
            label["denied"] or label["chinese_denied"] or _DENIED_BEFORE.search(before) or foretold_wrong(before)
        )
        if value is not None:
            yield _Statement(said, denied or is_denied(said), label.start(), label.end(), end)
        elif said and not denied and len(said) <= _MOST_LETTERS and len(said.split()) <= _MOST_WORDS:
            yield _Statement(said, False, label.start(), label.end(), end)


def _line_before(text: str, at: int) -> str:
    """The part before `at` of its line, at most 100 characters."""
    return text[max(text.rfind("\n", max(at - 100, 0), at) + 1, at - 100) : at]


_EMPHASISED = re.compile(r"(\*\*|__)(?=\S)([^*_\n]{1,200})(?<=\S)\1")
_LAST_PARAGRAPH = 1_000


def _emphasised(text: str) -> Found | None:
    """The only value in bold in the last paragraph, if it ends a statement: `42` of `The product is **42**.`

    None if there is none; a result with a `problem` if there are two different ones, or if its sentence denies it.
    """
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
