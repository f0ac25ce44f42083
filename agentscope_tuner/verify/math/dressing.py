r"""Text around a value that is not part of it: `Answer:`, the letter of a choice, a remark in brackets.

Such text is removed only if the rest is still an answer, and only if its words do not change the value:
`5 \text{ (exact)}` is 5, but `5 \text{ (or 6)}` is left as it is.
"""

from __future__ import annotations

import re

from agentscope_tuner.verify.math.compound import added_up
from agentscope_tuner.verify.math.text import MAX_CHARS
from agentscope_tuner.verify.math.unit import changes_number, known, singular

_TEXT = r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)"
_SPACES = re.compile(r"\s+")
# A cheap test: without one of these there is nothing to remove
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
# Words before a value that name it: `Total:`, `\text{The only solution is }`
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
# A remark that gives a reason: it does not change the value
_REASON = re.compile(rf"(?:{_TEXT}\s*\{{\s*\(|\(\s*{_TEXT}\s*\{{|\s\()\s*(?:since|because)\b.{{1,160}}\)\s*\}}*\s*$")
_ONLY = re.compile(rf"(?:{_TEXT}\s*\{{\s*(?:only|exactly)\s*\.?\s*\}}|(?<=\s)(?:only|exactly))\s*$", re.IGNORECASE)
# Words that make a final `only` a part of the answer: `for x > 0 only` restricts, `x = 2 only` does not
_RESTRICTS = re.compile(r"\b(?:for|when|if|where|on)\b")
_ORDINAL = re.compile(rf"(\d+)\s*(?:\^\s*)?(?:\{{\s*)?(?:{_TEXT}\s*\{{\s*)?(st|nd|rd|th)\s*\}}?\s*\}}?")
_TO = re.compile(rf"(\d+(?:\.\d+)?)\s*(?:{_TEXT}\s*\{{\s*to\s*\}}|\bto\b)\s*(\d+(?:\.\d+)?)", re.IGNORECASE)
_ROOTS = frozenset({"double root", "triple root", "repeated root", "multiplicity two"})
# Words that change a number after it (`changes_number`), but not in a label before it
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
# Marks at either end are searched in this many characters
_HEAD = 200


def undressed(text: str) -> str:
    """The text without the words, marks and remarks around its value."""
    if len(text) > MAX_CHARS or not _PLAIN_WORD.search(text):
        return text
    # Patterns can match a long run of spaces in very many ways, which takes long, so each run becomes one space
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
        if _is_harmless(words):
            return text[: match.start()]
    return text


def _without_marks(text: str) -> str:
    r"""The text without a mark before the value (`\therefore`) or after it (`\blacksquare`)."""
    leading = _LEADING.match(text)
    text = text[leading.end() :] if leading is not None else text
    # A search in a long run of thin spaces takes quadratic time, so only the end of the text is searched
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
    # Capital letters beside a colon are the sides of a ratio: `AB:BC`
    if words.isupper() or any(map(denies, words.split())):
        return text
    return text[match.end() :].strip()


def denies(word: str) -> bool:
    """Whether a word before a value means that the value is not the whole answer: `wrong`, `half of`."""
    word = word.lower().strip("'-")
    return word in _DENYING or (changes_number(word) and word not in _INTRODUCING)


def denied_name(text: str) -> str | None:
    r"""The word of a name that denies its value: `wrong` in `\text{wrong} = 42`; None if there is no such word."""
    match = _EQUATED.match(text.strip()) if "=" in text else None
    # Words of one or two letters may be names
    return next((w for w in match[1].split() if len(w) > 2 and denies(w)), None) if match else None


def choice(text: str) -> tuple[str, str] | None:
    r"""The letter and the value of `\textbf{(A) }5`; None if no letter of a choice stands before a value."""
    match = _CHOICE.match(text[:_HEAD]) if text[:1] in "\\(ABCDEFGHIJ" else None
    if match is None:
        return None
    rest = text[match.end() :].strip()
    if not rest or rest[0] in "=+*/^_,)}<>-" or rest.startswith(("\\cup", "\\cap", "\\le", "\\ge", "\\in")):
        return None
    return next(g for g in match.groups() if g is not None), rest


def letter(text: str) -> str | None:
    r"""The letter of a text that is only the letter of a choice: `C`, `(c)`, `\text{Option C}`; None for any other."""
    match = _LETTER.fullmatch(text.strip())
    return match[1].upper() if match else None


def _unit_of(words: str) -> str | None:
    parts = words.split()
    return words.strip() if parts and all(known(singular(p)) or p in ("square", "cubic") for p in parts) else None


def _is_harmless(words: str) -> bool:
    parts = words.lower().split()
    if not parts or len(parts) > _MOST_WORDS:
        return False
    return " ".join(parts) in _ROOTS or not any(map(_may_change_value, parts))


def _may_change_value(word: str) -> bool:
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
