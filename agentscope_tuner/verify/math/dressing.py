r"""What stands around a value without being part of it: `Answer:`, the letter of a choice, a remark in brackets.

Each is taken off only where the rest is still an answer and the words say nothing about its size: `5 \text{ (exact)}`
is 5, `5 \text{ (or 6)}` is nothing.
"""

from __future__ import annotations

import re

from agentscope_tuner.verify.math.compound import added_up
from agentscope_tuner.verify.math.text import MAX_CHARS
from agentscope_tuner.verify.math.unit import changes_number, known, singular

_TEXT = r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)"
# without one of these there is nothing to take off
_SPACES = re.compile(r"\s+")
_PLAIN_WORD = re.compile(
    r"\\text|\\math(?:rm|bf)|\\mbox|(?<![\\a-zA-Z])[a-zA-Z]{2}|[答)∎■□✓✔∴⇒]|\d\s?[a-zA-Z]|^\s*(?:=|\\[tiRL])"
    r"|\\(?:blacksquare|square|Box|qed|QED|checkmark)\b"
)
_LEADING = re.compile(
    rf"(?:\\(?:therefore|implies|Rightarrow|Longrightarrow)\b|[∴⇒]|=>|=(?![=<>])|"
    rf"{_TEXT}\s*\{{\s*(?:therefore|thus|hence|so|exactly|precisely)\s*[,:]?\s*\}}|(?:therefore|thus|hence|so|exactly|precisely)\b[,:]?)"
    r"(?:\\[ ,;:!~]|~|\s)*(?=\S)",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    rf"(?<=\S)(?:\\[ ,;:!~]|\\q?quad|~|\s)*(?:\\(?:blacksquare|square|Box|qed|QED|qedsymbol|checkmark)\b|[∎■□✓✔]|"
    rf"{_TEXT}\s*\{{\s*Q\.?E\.?D\.?\s*\}})\s*\.?\s*$"
)
_LABEL = re.compile(
    rf"(?:{_TEXT}\s*\{{\s*)?(?:(?:the\s+)?(?:final\s+)?(?:answer|ans|result|ratio)(?:\s+is)?|答案(?:是|为)?)\s*"
    r"(?P<close>\}?)\s*(?:[:：=]|(?<=is)|(?<=是)|(?<=ratio))\s*\}?(?:\\[ ,;:!~]|~|\s)*",
    re.IGNORECASE,
)
# words before a value that only name it: `Total:`, `\\text{The only solution is }`
_NAMING = re.compile(
    rf"(?:{_TEXT}\s*\{{\s*(?P<inside>[a-zA-Z][a-zA-Z' -]{{1,80}}?)\s*"
    r"(?:(?P<mark>:|\b(?:is|are|equals|be)\b)\s*\}|\}(?:\\[ ,;:!~]|~|\s)*:)"
    r"|(?P<bare>[a-zA-Z][a-zA-Z' -]{2,60}?)\s*(?::(?=\s)|\b(?:is|are|equals)\b\s*:?))(?:\\[ ,;:!~]|~|\s)*"
)
_EQUATED = re.compile(rf"(?:{_TEXT}\s*\{{\s*)?([a-zA-Z][a-zA-Z' -]{{1,60}}?)\s*:?\s*\}}?\s*=")
_RATIO = re.compile(rf"{_TEXT}\s*\{{\s*(?:the\s+)?ratio\s*(?:of|is)?\s*\}}\s*", re.IGNORECASE)
_CHOICE = re.compile(
    rf"(?:(?:{_TEXT}\s*\{{)+\s*\(?(?P<inside>[A-J])\s*[).:]\s*\}}*|\(?(?P<bare>[A-J])\)|(?P<dot>[A-J])[.:](?=\s))"
    r"(?:\\[ ,;:!~]|\\quad|\\qquad|~|\s)*(?=\S)"
)
_LETTER = re.compile(
    rf"(?:{_TEXT}\s*\{{)*\s*(?:(?:option|choice|answer)\s*)?\(?\s*([A-Ja-j])\s*\)?\.?\s*\}}*", re.IGNORECASE
)
_REMARK = re.compile(
    rf"(?:{_TEXT}\s*\{{\s*\(([a-zA-Z' -]+)\)\s*\}}|"
    rf"\(\s*{_TEXT}\s*\{{([a-zA-Z' -]+)\}}\s*\)|\s\(([a-zA-Z' -]{{3,}})\))\s*$"
)
# why the value is right says nothing about its size
_REASON = re.compile(rf"(?:{_TEXT}\s*\{{\s*\(|\(\s*{_TEXT}\s*\{{|\s\()\s*(?:since|because)\b.{{1,160}}\)\s*\}}*\s*$")
_ONLY = re.compile(rf"(?:{_TEXT}\s*\{{\s*(?:only|exactly)\s*\.?\s*\}}|(?<=\s)(?:only|exactly))\s*$", re.IGNORECASE)
# `for x > 0 only` says more than `x = 2 only`
_RESTRICTS = re.compile(r"\b(?:for|when|if|where|on)\b")
_ORDINAL = re.compile(rf"(\d+)\s*(?:\^\s*)?(?:\{{\s*)?(?:{_TEXT}\s*\{{\s*)?(st|nd|rd|th)\s*\}}?\s*\}}?")
_TO = re.compile(rf"(\d+(?:\.\d+)?)\s*(?:{_TEXT}\s*\{{\s*to\s*\}}|\bto\b)\s*(\d+(?:\.\d+)?)", re.IGNORECASE)
_ROOTS = frozenset({"double root", "triple root", "repeated root", "multiplicity two"})
# words of labels that `changes_number` knows and that change nothing there
_INTRODUCING = frozenset(
    """the is are be a an of for with to and correct final only exactly simplified required expected shaded combined
    desired actually approximately one two three four first answer percent percentage probability all both prime even
    odd""".split()  # noqa: SIM905
)
_DENYING = frozenset(
    """bad fake guess guessed dummy error invalid placeholder previous excluded rejected discarded twice half double
    previously estimate bound least most fewer greater""".split()  # noqa: SIM905
)
_MOST_WORDS = 6
# where the letter of a choice stands
_HEAD = 200


def undressed(text: str) -> str:
    """The value without what stands around it."""
    if len(text) > MAX_CHARS or not _PLAIN_WORD.search(text):
        return text
    # a run of spaces could be parted in many ways
    text = _without_naming(_without_label(_without_marks(_SPACES.sub(" ", text))))
    if (quantity := added_up(text)) is not None:
        return quantity
    if match := _ORDINAL.fullmatch(text):
        return match[1]
    if match := _TO.fullmatch(text):
        return f"{match[1]}:{match[2]}"
    if not _RESTRICTS.search(text):
        text = _ONLY.sub("", text) or text
    text = _REASON.sub("", text) or text
    match = _REMARK.search(text)
    if match is not None and match.start() > 0:
        words = next(g for g in match.groups() if g is not None)
        unit = _unit_of(words)
        if unit is not None:
            return f"{text[: match.start()]}\\text{{ {unit}}}"
        if _says_nothing(words):
            return text[: match.start()]
    return text


def _without_marks(text: str) -> str:
    r"""Without `\therefore` before the value and `\blacksquare` behind it."""
    leading = _LEADING.match(text)
    text = text[leading.end() :] if leading is not None else text
    # a run of thin spaces is looked through once, not from each of its members
    head, tail = text[:-_HEAD], text[-_HEAD:]
    return head + (_TRAILING.sub("", tail) or tail)


def _without_label(text: str) -> str:
    for pattern in (_LABEL, _RATIO):
        match = pattern.match(text)
        if match is not None and text[match.end() :].strip(" }$"):
            opened = "{" in match.group() and not match.groupdict().get("close", "}")
            rest = text[match.end() :].strip()
            text = rest[:-1] if opened and rest.endswith("}") else rest
    return text


def _without_naming(text: str) -> str:
    match = _NAMING.match(text)
    if match is None or not text[match.end() :].strip(" }$.,"):
        return text
    words = match["inside"] or match["bare"]
    # capitals beside a colon are the sides of a ratio
    if words.isupper() or any(map(denies, words.split())):
        return text
    return text[match.end() :].strip()


def denies(word: str) -> bool:
    """Whether a word before a value says that the value is not the answer, or not all of it: `wrong`, `half of`."""
    word = word.lower().strip("'-")
    return word in _DENYING or (changes_number(word) and word not in _INTRODUCING)


def denied_name(text: str) -> str | None:
    r"""The word of `\text{wrong} = 42` that takes the value back; None where nothing does."""
    match = _EQUATED.match(text.strip()) if "=" in text else None
    # a single letter is a name
    return next((w for w in match[1].split() if len(w) > 2 and denies(w)), None) if match else None


def choice(text: str) -> tuple[str, str] | None:
    r"""The letter and the value of `\textbf{(A) }5`; None where no letter of a choice stands before a value."""
    match = _CHOICE.match(text[:_HEAD]) if text[:1] in "\\(ABCDEFGHIJ" else None
    if match is None:
        return None
    rest = text[match.end() :].strip()
    if not rest or rest[0] in "=+*/^_,)}<>-" or rest.startswith(("\\cup", "\\cap", "\\le", "\\ge", "\\in")):
        return None
    return next(g for g in match.groups() if g is not None), rest


def letter(text: str) -> str | None:
    r"""The letter of a multiple choice that is all of the text: `C`, `(c)`, `\text{Option C}`."""
    match = _LETTER.fullmatch(text.strip())
    return match[1].upper() if match else None


def _unit_of(words: str) -> str | None:
    parts = words.split()
    return words.strip() if parts and all(known(singular(p)) or p in ("square", "cubic") for p in parts) else None


def _says_nothing(words: str) -> bool:
    parts = words.lower().split()
    if not parts or len(parts) > _MOST_WORDS:
        return False
    return " ".join(parts) in _ROOTS or not any(map(_is_telling, parts))


def _is_telling(word: str) -> bool:
    return changes_number(word) and word not in (
        "rounded",
        "simplified",
        "the",
        "for",
        "with",
        "exactly",
        "only",
        "approximately",
    )
