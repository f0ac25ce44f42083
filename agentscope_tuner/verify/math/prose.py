r"""Words around values and in place of them: labels, set phrases, times and dates, sentences, domains of letters.

Such text is removed only if the rest is still an answer, and only if its words do not change the value:
`5 \text{ (exact)}` is 5, but `5 \text{ (or 6)}` is left as it is.

References are trusted, so their wording needs no proof. The value of a sentence is the value after its last main verb,
or several values joined with `and`. A clause that states the point or condition (`, attained at $x=\frac12$`) holds no
value. A sentence that states two different things cannot be a reference. A sentence without a value is compared word
by word.

If only one side has such words, they are ignored. If both sides have them, the domains are compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import BEFORE_NOUNS
from agentscope_tuner.verify.labels import ANSWER
from agentscope_tuner.verify.math.node import all_known
from agentscope_tuner.verify.math.tokens import FUNCTIONS, MAX_CHARS, SPELLED, Token
from agentscope_tuner.verify.math.units import MARKED, added_up, is_unit_word, operates, singular
from agentscope_tuner.verify.words import asks_difference

_TEXT = r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)"
_SPACES = re.compile(r"\s+")
# A cheap test: without one of these there is nothing to remove
_PLAIN_WORD = re.compile(
    r"\\text|\\math(?:rm|bf)|\\mbox|(?<![\\a-zA-Z])[a-zA-Z]{2}|[答)）∎■□✓✔∴⇒]|\d\s?[a-zA-Z]|^\s*(?:=|\\[tiRL])"
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
# `all integers n >= 3`, whose domain is moved behind it
_ALL_OF = re.compile(
    rf"^{_TEXT}\s*\{{\s*(?:for )?(?:all|every|any) (?P<field>integer|real|natural)s?(?: numbers?| values?)?\s*\}}\s*"
    r"(?P<rest>(?P<name>[a-zA-Z])\s*(?:\\[gl]e|\\[gl]t|\\ne|[<>≤≥]).*)$"
)
_ALL_REALS = re.compile(rf"(?P<reals>{_TEXT}\s*\{{\s*all real(?: numbers)?)\s*\}}\s*[a-z]")
_RATIO = re.compile(rf"{_TEXT}\s*\{{\s*(?:the\s+)?ratio\s*(?:of|is)?\s*\}}\s*", re.IGNORECASE)
_CHOICE = re.compile(
    rf"(?:(?:{_TEXT}\s*\{{)+\s*(?:[Oo]ption\s+)?\(?(?P<inside>[A-J])\s*[).:．：、]\s*\}}*|\(?(?P<bare>[A-J])\)"
    r"|(?P<dot>[A-J])(?:[.:](?=\s|\\[ ,;:!]|\\q?quad|~)|[．：、]))"
    r"(?:\\[ ,;:!~]|\\quad|\\qquad|~|\s)*(?=\S)"
)
_WIDTHS = re.compile(r"\\[,;:! ]|\\q?quad(?![a-z])|~")
_LETTER = re.compile(
    rf"(?:{_TEXT}\s*\{{)*\s*(?:(?:{ANSWER}|option|choice|opción|opção|opzione|choix|вариант|seçenek|opsi|pilihan"
    rf"|phương án|故?选择?项?|答案[是为]|選択肢|보기|선택지|الخيار|विकल्प|ข้อ)\s*:?\s*)?"
    rf"\(?\s*([A-Ja-j])\s*\)?\.?\s*\}}*",
    re.IGNORECASE,
)
_WORDS = rf"(?:[^\W\d_]|{MARKED}|[' .-])"
_REMARK = re.compile(
    rf"(?:{_TEXT}\s*\{{\s*[(（]({_WORDS}++)[)）]\s*\}}|"
    rf"[(（]\s*{_TEXT}\s*\{{({_WORDS}++)\}}\s*[)）]|\s\((?=[^\x00-\x7f]|[a-zA-Z' -]{{3}})({_WORDS}++)\)"
    rf"|（({_WORDS}++)）)\s*$"
)
_ONLY = re.compile(rf"(?:{_TEXT}\s*\{{\s*(?:only|exactly)\s*\.?\s*\}}|(?<=\s)(?:only|exactly))\s*$", re.IGNORECASE)
# Words that make a final `only` a part of the answer: `for x > 0 only` restricts, `x = 2 only` does not
_RESTRICTS = re.compile(r"\b(?:for|when|if|where|on)\b")
_ORDINAL = re.compile(rf"(\d+)\s*(?:\^\s*)?(?:\{{\s*)?(?:{_TEXT}\s*\{{\s*)?(st|nd|rd|th)\s*\}}?\s*\}}?")
_TO = re.compile(
    rf"(?:{_TEXT}\s*\{{\s*)?(\d+(?:\.\d+)?)\s*(?:{_TEXT}\s*\{{\s*to\s*\}}|\bto\b)\s*(\d+(?:\.\d+)?)\s*\}}?",
    re.IGNORECASE,
)
# The words that may be around any answer: none of them changes a value. Every other word must be in the question or
# in the reference; an answer with another word is not read
NEUTRAL = frozenset(
    """the a an is are was were be of that this it its so and therefore thus hence then exactly exact precisely simply
    final correct answer answers result value values total sum number solution solutions equals equal required
    desired simplified rounded altogether needed there in all we get have as both which has
    exist exists percentage probability expected ways area length width height weight volume perimeter
    darab způsobů sposobów đơn vị diện tích thể""".split()  # noqa: SIM905
)
# Words that reverse or change an answer, in the languages of the models' solutions: they are never dropped
_TURNING = frozenset(
    """not no non nicht kein keine pas nunca jamais nie nem не нет ни değil không ไม่ नहीं ikke inte niet except false
    wrong falsch faux falso неверно 不 非 没 无 未 半 倍 几 아 안 或 和 与 及 と か 또""".split()  # noqa: SIM905
)
_ROOTS = frozenset({"double root", "triple root", "repeated root", "multiplicity two"})
# Labels and marks are searched in this many characters at either end
_HEAD = 200


Allows = Callable[[str], bool]


def undressed(text: str, allows: Allows) -> str:
    r"""The text without labels, marks and remarks around its value: `5` for `\text{Answer: } 5`, `3:4` for `3 to 4`.

    Args:
        text: an answer or a reference.
        allows: whether a word of a remark, such as `exact`, may be dropped.
    """
    if not text.isascii() and (whole := added_up(text)) is not None:
        return whole
    if len(text) > MAX_CHARS or not _PLAIN_WORD.search(text) or is_of_numbers(text) or is_value(text):
        return text
    # Patterns can match a long run of spaces in very many ways, which takes long, so each run becomes one space
    text = _ALL_OF.sub(r"\g<rest>\\text{ for \g<field> }\g<name>", _SPACES.sub(" ", text))
    if _ALL_REALS.fullmatch(text) is not None:
        return "\\mathbb{R}"
    text = _without_label(_without_marks(text))
    sides = text.split("=")
    summed = [added_up(side) or side for side in sides]
    if summed != sides:
        return "=".join(summed)
    if match := _ORDINAL.fullmatch(text):
        return match[1]
    if match := _TO.fullmatch(text):
        return f"{match[1]}:{match[2]}"
    if not _RESTRICTS.search(text):
        text = _ONLY.sub("", text) or text
    match = _REMARK.search(text)
    if match is not None and match.start() > 0:
        words = next(g for g in match.groups() if g is not None)
        unit = _unit_of(words)
        if unit is not None:
            return f"{text[: match.start()]}\\text{{ {unit}}}"
        if words.strip().lower() in _ROOTS or (
            all(map(allows, words.split())) and BEFORE_NOUNS.isdisjoint(words.split()[-1:])
        ):
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
    r"""The text without a label before its value: `5` for `\text{Answer: } 5` and for `the answer is 5`."""
    for pattern in (_LABEL, _RATIO):
        match = pattern.match(text)
        if match is not None and text[match.end() :].strip(" }$"):
            opened = "{" in match.group() and not match.groupdict().get("close", "}")
            rest = text[match.end() :].strip()
            text = rest[:-1] if opened and rest.endswith("}") else rest
    return text


def allowed(word: str, said: frozenset[str], asked: str) -> bool:
    """Whether a word around an answer may be dropped: it is neutral, or a word of the question or the reference.

    `apples` if apples are asked for; never `not`, which changes the answer.

    Args:
        word: the word.
        said: the words of the question and the reference, in lower case and in the singular.
        asked: the question's text, for words of alphabets without capitals and plurals.
    """
    low = word.lower().strip("'-.,:;!()")
    if low in NEUTRAL:
        return True
    if asks_difference(low, asked):
        return True
    if low in _TURNING or operates(low) or operates(singular(low)):
        return False
    if not low.isascii():
        # A single character is a word in East Asia, and a letter elsewhere
        spaced = low < "\u0900"
        return low in said if spaced else (len(low) > 1 or low >= "\u1100") and low in asked.lower()
    one = singular(low)
    stem = one.removesuffix("ing")
    # `colorings`, of how many ways to color
    is_act = stem != one and not said.isdisjoint((stem, f"{stem}e"))
    return is_act or low in said or one in said or any(f"{low}{end}" in said for end in _INFLECTIONS)


_INFLECTIONS = ("ed", "d", "ing")
_COMMANDS = r"\\(?:[dt]?frac|sqrt|cdot|times|pi|left|right|sin|cos|tan|ln|log)(?![a-zA-Z])"
_WORDLESS = re.compile(rf"(?:[\d+\-*/^{{}}().= ]++|{_COMMANDS}|(?<![a-zA-Z])[a-z](?![a-zA-Z]))+")
# Without names, and without letters that may be a unit or a power of ten
_VALUE = re.compile(rf"(?:[\d+\-/^{{}}(). ]++|{_COMMANDS}|(?<![a-zA-Z])[aciknpqrxyz](?![a-zA-Z]))+")
_OF_NUMBERS = re.compile(r"(?:[\d+\-/^{}().,<>\[\] ]|\\(?:[dt]?frac|sqrt|pi|left|right|infty)(?![a-zA-Z])|\\[{}])+")
# The characters and commands of such a formula. `->` is left out, because it may be between words
_FORMULA = re.compile(
    rf"(?:[\d+*/^{{}}().=<>,\[\] ]++|-(?!>)|{_COMMANDS}|\\(?:infty|leq?|geq?|cup)(?![a-zA-Z])"
    r"|(?<![a-zA-Z])[a-z](?![a-zA-Z])|\\[{}])+"
)


def is_formula(text: str) -> bool:
    """Whether a text is a formula or a list of formulas of numbers and single letters: `x=3, y=[2]`."""
    return _FORMULA.fullmatch(text) is not None


def is_wordless(text: str) -> bool:
    """Whether a text has only numbers, operators and single letters, `3+x`, so that few rules on words apply to it."""
    return _WORDLESS.fullmatch(text) is not None


def is_value(text: str) -> bool:
    """Whether a text is one value without a name, `2x+1`, so that no rule on words or notation applies to it."""
    return _VALUE.fullmatch(text) is not None


def is_of_numbers(text: str) -> bool:
    """Whether a text has only numbers, brackets and signs of arithmetic or order, `(3, 4]`, so that no rule on words
    applies.
    """
    return _OF_NUMBERS.fullmatch(text) is not None


def is_nameless(text: str) -> bool:
    r"""Whether a text has no letters, apart from commands of numbers such as `\frac`, and so names none of its
    values.
    """
    return is_of_numbers(text) or not any(map(str.isalpha, text))


def choice(text: str) -> tuple[str, str] | None:
    r"""The letter and the value of `\textbf{(A) }5`; None if no letter of a choice is before a value, as in `A`."""
    match = _CHOICE.match(text[:_HEAD]) if text[:1] in "\\(（ABCDEFGHIJ" else None
    if match is None:
        return None
    rest = text[match.end() :].strip()
    if not rest or rest[0] in "=+*/^_,)}<>" or rest.startswith(("\\cup", "\\cap", "\\le", "\\ge", "\\in")):
        return None
    if rest[0] == "-" and match["bare"] is not None:
        # a difference of the letter
        return None
    return next(g for g in match.groups() if g is not None), rest


def letter(text: str) -> str | None:
    r"""The letter if a text is only the letter of a choice: `C` for `C`, `(c)` or `\text{Option C}`; None for other
    texts.
    """
    match = _LETTER.fullmatch(_WIDTHS.sub(" ", text).strip())
    return match[1].upper() if match else None


def _unit_of(words: str) -> str | None:
    """The words, if all of them are units: `cm`; None for other words."""
    parts = words.split()
    return words.strip() if parts and all(map(is_unit_word, parts)) else None


_CYCLES = re.compile(r"(?:\(\s*\d{1,2}(?:(?:\\[ ,;:]|~|\\q?quad|\s)+\d{1,2})*\s*\))+")
_CYCLES_IN_SHORT = re.compile(r"(?:\([1-9]{2,9}\))+|(?:\(\d{1,2}(?:,\s*\d{1,2})+\))+")


def cycles(text: str, *, in_short: bool = False) -> object | None:
    r"""A permutation in cycles, `(1\ 3\ 2)(4\ 5)`, in a form that equal permutations share; None for another text.

    Disjoint cycles commute. For other cycles it matters whose factor acts first, so they are compared in their order.

    Args:
        text: an answer or a reference.
        in_short: whether `(132)(45)` and `(1,3,2)` are permutations, too, because nothing else can be meant.
    """
    text = "".join(text.split("$"))
    in_short = in_short and _CYCLES_IN_SHORT.fullmatch(text) is not None
    written = not in_short and _CYCLES.fullmatch(text) is not None and re.search(r"\d\D+\d", text) is not None
    if not written and not in_short:
        return None
    apart = r"\d+" if written or "," in text else r"\d"
    found = [re.findall(apart, one) for one in re.findall(r"\(([^()]*)\)", text)]
    turned = [tuple(one[one.index(min(one)) :] + one[: one.index(min(one))]) for one in found if len(one) > 1]
    moved = [at for one in turned for at in one]
    return frozenset(turned) if len(set(moved)) == len(moved) else tuple(turned)


# Signs that fill a gap or mark a statement as right or wrong, each with its other spellings
_LONE_SIGNS = {
    spelled: row.split()[0]
    for row in (
        "< \\lt", "> \\gt", "=", "≤ \\le \\leq", "≥ \\ge \\geq", "≠ \\ne \\neq", "+", "- −", "÷ \\div",
        "× \\times ✗ ✘ ✕", "√ \\checkmark \\surd ✓ ✔", "∈ \\in", "∉ \\notin", "⊂ \\subset", "⊃ \\supset",
    )
    for spelled in row.split()
}  # fmt: skip
_BETWEEN_SIGNS = re.compile(
    r"[,;，；、\s{}$~]|\\[ ,;:!]|\\q?quad(?![a-z])|[(（]\d[)）]|[\u2460-\u2473]|\\text(?![a-z])"
)


_GAP = re.compile(r"[(（](\d)[)）]")
_FULL_WIDTH = str.maketrans("＞＜＝＋－×÷", "><=+-×÷")


def signs(text: str) -> tuple[str, ...] | None:
    """The signs of a text that has nothing else: `("×", "√")` for `(1)×;(2)√`; None for any other text."""
    plain_signs = text[: _LONGEST + 1].translate(_FULL_WIDTH)
    gaps = _GAP.findall(plain_signs)
    if gaps != [str(at) for at in range(1, len(gaps) + 1)]:
        return None
    found = all_known(map(_LONE_SIGNS.get, _BETWEEN_SIGNS.sub(" ", plain_signs).split()))
    return tuple(found) if found else None


_CLOCK_WRITING = re.compile(r"\\(?:text|mathrm|textrm|mbox)|\\[ ,;:!~]|[{}\s~.$]")
_TIME = re.compile(
    r"(?:om|um|klo?|klokken|à|(?:alle)?ore|alle|às|alas|at|o|в|о|у|óra|saat|ώρα|בשעה|الساعة|ساعت|lúc|vào|pukul|στις|เวลา)?(?P<half>上午|早上|早晨|清晨|凌晨|午前|오전|下午|晚上|傍晚|午後|오후)?(\d{1,2})"
    r"(?P<points>[:h](\d{2})(?:min|:(\d{2}))?|[点點时時시](?:(\d{1,2})[分분]|(?P<part>[半整]))?)?"
    r"(?P<hour>o'clock|uhr|uur)?(?:h|hrs?|시|น)?"
    r"(?:(?P<am>am|(?:inthe|atthe)?morning|morgens|vormittags|delamañana|damanhã|dumatin|delmattino|утра)"
    r"|(?P<pm>pm|inthe(?:afternoon|evening)|nachmittags|abends|dela(?:tarde|noche)|datarde|danoite"
    r"|del?l'après-midi|dusoir|delpomeriggio|disera|дня|вечера))?(?:o'clock|h|hrs?|uhr|uur|시|น)?",
    re.IGNORECASE,
)
# A time with a point before its minutes, and the words of a time: `14.35 Uhr`
_POINTED_CLOCK = re.compile(r"(\d)\.(\d\d)(?!\d)")
_IS_CLOCK = re.compile(r"\b(?:uhr|uur|klo?|klokken|ore|pukul|óra)\b|\d\s*[ap]\.?m\b", re.IGNORECASE)
_NIGHT, _EVENING = frozenset("晚上 晚间 夜里 夜晚 深夜 밤".split()), 5  # noqa: SIM905
_BEFORE_NOON = frozenset("上午 早上 早晨 清晨 凌晨 午前 오전".split())  # noqa: SIM905
_NOON = 12


def time_of_day(text: str) -> tuple[int, bool] | None:
    """The seconds since midnight, and whether morning or afternoon is stated: `(55800, True)` for `3:30 pm`.

    None for any other text.
    """
    said = _CLOCK_WRITING.sub("", _POINTED_CLOCK.sub(r"\1:\2", text) if _IS_CLOCK.search(text) else text)
    match = _TIME.fullmatch(said.replace("’", "'"))
    if match is None or not any(match[one] for one in ("points", "hour", "half", "am", "pm")):
        return None
    minutes = int(match[4] or match[6] or (30 if match["part"] == "半" else 0))
    hours, seconds = int(match[2]), int(match[5] or 0)
    half = "am" if match["am"] else "pm" if match["pm"] else ""
    if match["half"]:
        half = "am" if match["half"] in _BEFORE_NOON else "pm" if hours <= _NOON else ""
        if match["half"] in _NIGHT and hours < _EVENING:
            # one o'clock at night is not in the afternoon
            return None
        if match["half"] in _NIGHT and hours == _NOON:
            half = "am"
    if minutes >= 60 or seconds >= 60 or hours > 24 or (half and not 1 <= hours <= _NOON):
        return None
    if half:
        hours = hours % _NOON + (_NOON if half == "pm" else 0)
    return (hours * 60 + minutes) * 60 + seconds, bool(half) or hours > _NOON


_WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox|operatorname)(?![a-zA-Z])|[{}$]|\\[ ,;:!~()]|~")
_SUBJECT = (
    r"(?:(?:(?:the|this|that) )?(?:(?:given|two-sided|infinite|improper) )?(?:limit|series|sequence|integral|sum|"
    r"product|derivative|equation|equations|system(?: of equations)?|inequality|inverse|value|expression|function|"
    r"slope|it) )?"
)
_COUNTED = (
    r"(?: (?:real |complex |integer |possible |such )?(?:solutions?|values?|roots?|ways|points?|pairs?|triples?))?"
)
# Each meaning, and the pattern of the phrases that express it
_PHRASES = {
    "no solution": rf"{_SUBJECT}(?:there (?:is|are|exists?) |(?:has|have) )?no (?:real )?solutions?"
    r"(?: exists?)?|(?:there (?:is|are|exists?) )?(?:none|no such [a-z]+(?: [a-z]+)?)(?: exists?)?"
    r"|(?:方程|方程组|此题)?无(?:实数?)?解|没有解|(?:the )?(?:empty|null) set|空集|"
    r"\\(?:emptyset|varnothing)|∅",
    "does not exist": rf"dne|{_SUBJECT}(?:dne|(?:does not|doesn't|do not|don't|fails to) exist)|(?:极限)?不存在"
    r"(?:(?:这样|满足条件)的[^\W\d_]{1,6})?",
    "infinitely many": rf"(?:there (?:are|is|exist) |{_SUBJECT}(?:has|have) )?"
    rf"(?:an )?(?:infinitely many|infinite(?: number of| many)?){_COUNTED}(?: exist)?|"
    r"无穷多个?解?|无数个?解?|无限多个?解?",
    "diverges": rf"{_SUBJECT}(?:is )?(?:diverges?|divergent)|(?:级数|该级数)?发散",
    "converges": rf"{_SUBJECT}(?:is )?(?:converges?|convergent)|(?:级数|该级数)?收敛",
    "undefined": rf"{_SUBJECT}(?:is )?(?:undefined|not defined)|无定义|未定义",
    "impossible": r"(?:(?:this|it) is )?(?:impossible|not possible)|不可能",
}
# The same in other languages, which a reference or a policy may speak
_PHRASES_ABROAD = {
    "no solution": r"(?:(?:la ecuación )?no (?:tiene|hay|existen?)|ninguna|sin) (?:soluci(?:ón|ones)|raíz|raíces)"
    r"(?: real(?:es)?)?"
    r"|(?:não (?:há|tem|existem?|possui)|nenhuma|sem) (?:solução|soluções|raiz|raízes)(?: (?:real|reais))?"
    r"|(?:nessuna|(?:l'equazione )?non (?:ha|ci sono|c'è|esistono)) (?:soluzion[ei]|radic[ei])(?: real[ei])?"
    r"|(?:aucune|pas de|(?:l'équation |elle )?n'(?:a|admet) (?:pas de|aucune)|il n'y a (?:pas de|aucune))"
    r" (?:solutions?|racines?)"
    r"(?: réelles?)?"
    r"|(?:(?:die gleichung )?hat |es gibt )?keine (?:reellen? )?lösung(?:en)?"
    r"|(?:er (?:is|zijn) )?geen (?:reële )?oplossing(?:en)?"
    r"|(?:нет|не имеет) (?:(?:действительных|вещественных) )?(?:решений|корней)"
    r"|(?:(?:действительных|вещественных) )?(?:решений|корней) нет|немає (?:дійсних )?(?:розв'язків|коренів)"
    r"|(?:brak|nie ma) (?:rozwiązań|pierwiastków)(?: rzeczywistych)?|(?:równanie )?sprzeczne"
    r"|(?:nemá|žádné) (?:reálné )?řešení|(?:(?:reel|gerçel|gerçek) )?(?:çözüm[üu]?|kökü?) yok(?:tur)?"
    r"|(?:phương trình )?(?:vô nghiệm|không có nghiệm)(?: thực)?"
    r"|tidak (?:ada|memiliki|mempunyai) (?:solusi|penyelesaian)(?: real)?"
    r"|(?:実数)?[解根](?:は|が)?(?:なし|ない|存在しない|もたない|持たない)"
    r"|(?:실수 ?)?(?:해|실?근)[는은가이]? ?(?:없다|없음|없습니다)"
    r"|(?:方程)?(?:无|没有)(?:实数?)?[根解]|لا (?:يوجد|توجد) (?:حل|حلول)(?: حقيقية?)?|कोई (?:वास्तविक )?हल नहीं(?: है)?"
    r"|αδύνατη|(?:καμία|δεν έχει) (?:πραγματική )?λύση"
    r"|(?:ingen|inga|saknar) (?:reell[ae]? )?(?:lösning(?:ar)?|løsning(?:er)?)"
    r"|nu (?:are|există) soluți[ei](?: reale)?|nincs (?:valós )?megoldása?|ไม่มีคำตอบ|אין פתרון",
    "does not exist": r"(?:(?:el límite|la derivada) )?no existe(?: el límite)?|(?:(?:o limite|a derivada) )?não existe"
    r"|(?:(?:il limite|la derivata) )?non esiste|(?:la (?:limite|dérivée) )?n'existe pas"
    r"|(?:(?:der grenzwert|die ableitung) )?existiert nicht|(?:de limiet )?bestaat niet"
    r"|(?:предел |производная )?не существует"
    r"|(?:границя )?не існує|(?:granica )?nie istnieje|(?:limita )?neexistuje"
    r"|(?:limit )?(?:yoktur|mevcut değil(?:dir)?)"
    r"|(?:giới hạn )?không tồn tại|(?:極限は)?存在しない|(?:극한이 )?존재하지 (?:않는다|않음)|غير موجودة?|δεν υπάρχει"
    r"|(?:gränsvärdet )?(?:finns inte|existerar inte)|(?:limita )?nu există|nem létezik",
    "infinitely many": r"infinit[ao]s(?: (?:soluciones|soluções))?|infinite(?: soluzioni)?"
    r"|une infinité(?: de solutions)?"
    r"|unendlich viele(?: lösungen)?|oneindig veel(?: oplossingen)?|бесконечно много(?: решений)?"
    r"|безліч(?: розв'язків)?"
    r"|nieskończenie wiele(?: rozwiązań)?|nekonečně mnoho(?: řešení)?|sonsuz(?: (?:sayıda )?çözüm)?|vô số(?: nghiệm)?"
    r"|tak (?:ber)?hingga(?: banyak(?:nya)?)?|無[限数]個?|무수히 많다|عدد لا نهائي|άπειρες(?: λύσεις)?"
    r"|oändligt många(?: lösningar)?"
    r"|végtelen sok(?: megoldás)?|o infinitate(?: de soluții)?",
    "diverges": r"(?:la s[ée]rie |a série )?(?:es |é |è |est )?diverge(?:nte)?|divergent(?:e|na)?"
    r"|(?:die reihe )?divergiert"
    r"|(?:ряд )?(?:расходится|розбігається)|(?:szereg jest )?rozbieżny|ıraksa[rk]|(?:chuỗi )?phân kỳ|divergen"
    r"|(?:級数は)?発散(?:する)?|발산(?:한다)?|divergerar",
    "converges": r"(?:la s[ée]rie |a série )?(?:es |é |è |est )?converge(?:nte)?|convergent(?:e|na)?"
    r"|(?:die reihe )?konvergiert"
    r"|(?:ряд )?(?:сходится|збігається)|(?:szereg jest )?zbieżny|yakınsa[rk]|(?:chuỗi )?hội tụ|konvergen"
    r"|(?:級数は)?収束(?:する)?|수렴(?:한다)?|konvergerar",
    "undefined": r"indefinid[ao]|no está definid[ao]|não (?:está |é )?definid[ao]|indefinito|non (?:è )?definit[ao]"
    r"|(?:non |n'est pas |in)défini|nicht definiert|undefiniert|niet gedefinieerd"
    r"|не определен[ао]?"
    r"|не определён|не визначен[ао]"
    r"|nie(?:określon[ey]| jest określon[ey])|tanımsız|không xác định|tidak terdefinisi|定義されない"
    r"|정의되지 (?:않는다|않음)|无意义",
}
_PATTERNS = tuple(
    (name, re.compile(rf"{pattern}|{abroad}" if (abroad := _PHRASES_ABROAD.get(name)) else pattern))
    for name, pattern in _PHRASES.items()
)
_HOW_MANY = re.compile(r"\bhow many\b|\bnumber of\b|多少|几个", re.IGNORECASE)
_LONGEST = 80
_INFINITELY_MANY = "infinitely many"

_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTH = "|".join(f"{m}|{m[:3]}" for m in _MONTHS) + "|sept"
_DAY = r"(?P<day>\d{1,2})(?:\^?\s*(?:st|nd|rd|th))?"
_YEAR = r"(?:,? ?(?P<year>\d{4}))?"
_DATES = (
    re.compile(rf"(?:on )?(?:the )?(?P<month>{_MONTH})\.? (?:the )?{_DAY}{_YEAR}"),
    re.compile(rf"(?:on )?(?:the )?{_DAY} (?:of )?(?P<month>{_MONTH})\.?{_YEAR}"),
    re.compile(r"(?P<year>[12]\d{3})-(?P<month>0\d|1[0-2])-(?P<day>[0-3]\d)"),
    re.compile(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]"),
)


class Day(NamedTuple):
    """A day of the calendar. The year is None if the text has none: `March 3`."""

    month: int
    day: int
    year: int | None


@lru_cache(maxsize=128)
def plain(text: str) -> str:
    r"""The words of a text in lower case, without commands that only set type: `no solution` for `\text{No
    Solution.}`
    """
    if len(text) > 3 * _LONGEST:
        return text
    return " ".join(_WRITING.sub(" ", text.replace("’", "'")).lower().split()).rstrip(" .!。")


@lru_cache(maxsize=1024)
def phrase(text: str) -> str | None:
    """The meaning of a set phrase: `no solution` for `keine Lösung`. The meanings are the keys of `_PHRASES`.

    None for any other text.
    """
    said = plain(text)
    if len(said) > _LONGEST:
        return None
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(said)), None)


_SAID_OF = re.compile(
    r"\b(?:limit|series|sequence|integral|sum|product|derivative|inequality|inverse|function|slope|roots?|ways|points?"
    r"|pairs?|triples?)\b"
)
# The same objects in a question's formulas
_SIGNS_OF = {
    "limi": r"\\lim",
    "seri": r"\\sum",
    "sequ": "_n|_{n",
    "inte": r"\\i*nt",
    "sum": r"\\sum|\+",
    "prod": r"\\prod|\\cdot",
    "deri": "'|prime",
    "func": r"[a-z]\(",
    "inve": r"\^{-1}|\^-1",
    "ineq": "[<>]|\\\\[lg]e",
    "pair": r"\([a-z], ?[a-z]\)",
}
_OTHER_NUMBERS = re.compile(
    r"integer|natural|rational|whole|complex|prime|ganz|entier|enter|inter[io]|цел|натур|整数|自然数", re.IGNORECASE
)


def speaks_of_another(text: str, question: str) -> bool:
    """Whether a phrase is about an object that the question does not have: `the series diverges`, if it has a
    sequence.
    """
    said, asked = plain(text), question.lower()
    if "real" in said.split() and "real" not in asked and _OTHER_NUMBERS.search(question) is not None:
        return True
    heads = [noun[:4].rstrip("s") for noun in _SAID_OF.findall(said)]
    return any(head not in asked and not re.search(_SIGNS_OF.get(head, r"(?!)"), question) for head in heads)


def is_many(text: str, other: str, question: str) -> bool:
    r"""Whether one text is `\infty`, the other means infinitely many, and the question asks how many."""
    pair = {plain(text), plain(other)}
    if "\\infty" not in pair or not _HOW_MANY.search(question):
        return False
    return _INFINITELY_MANY in (phrase(text), phrase(other))


@lru_cache(maxsize=1024)
def day(text: str) -> Day | None:
    """The day that the text names: `Day(3, 3, 2020)` for `March 3rd, 2020`; None if the text is no date."""
    said = plain(text)
    if len(said) > _LONGEST:
        return None
    for pattern in _DATES:
        match = pattern.fullmatch(said.replace("^ ", "") if said.isascii() else said.replace(" ", ""))
        if match is not None:
            month = match["month"]
            at = int(month) if month.isdigit() else [m[:3] for m in _MONTHS].index(month[:3]) + 1
            return Day(at, int(match["day"]), int(match["year"]) if match["year"] else None)
    return None


_MATH = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$((?:[^$\\]|\\.)+)(?<!\\)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_DOLLARS = re.compile(r"(?<!\\)\$+|\\[()\[\]]")
_VERBS = (
    r"is|are|equals?|be|was|were|takes?|costs?|has|have|gives?|get|gets|needs?|lasts?|weighs?|measures?|contains?|"
    r"requires?|earns?|becomes?|remains?|arrives? at|leaves? at|(?:converges?|tends?|simplifies|evaluates|comes?|"
    r"amounts?|sums?) to|approaches|totals|yields|answer:"
)
_VERB = re.compile(rf"\b(?:{_VERBS})\b", re.IGNORECASE)
_LEADS = re.compile(
    r"(?:(?:therefore|thus|hence|so|then|finally|consequently|and|we (?:get|have|find|obtain|conclude)(?: that)?|"
    r"it follows that|in conclusion|that is|i\.e\.)\b[,:]?\s*)+",
    re.IGNORECASE,
)
# A subordinate clause before the main clause
_BEFORE = re.compile(
    r"(?:if|when|since|because|as|for|given|let|between|with|where|by|in|at|from|using|after|among|of)\b[^,$\\]*"
    r"(?:(?:\$[^$]*\$|\\\((?:(?!\\\)).)*\\\))[^,$\\]*)*,\s+",
    re.IGNORECASE,
)
# Words that begin a clause after a value: when, where, because
_AFTER = re.compile(
    r"(?:,|\s)\s*\(?\b(?:attained|reached|achieved|obtained|occurring|which|when|whenever|at|if|since|because|so that|"
    r"given|by|as|with equality|on the interval|where)\b(?![^,]*\b(?:respectively)\b)",
    re.IGNORECASE,
)
_JOINED = re.compile(r",|;|\b(?:and|but|while)\b")
_ATTAINED = re.compile(r"\s*(?:only )?(?:attained|reached|achieved|obtained|realized|taken)\b")
_SO = re.compile(r"\b(?:so|therefore|hence|thus|which (?:gives|means|is)|then)\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:no|not|none|never|cannot|can't|isn't|aren't|doesn't|neither|nor|impossible)\b", re.IGNORECASE
)
# Words that change the meaning of the value after them: `at most 5` is not 5
_STATED_BOUNDS = re.compile(
    r"\b(?:at (?:least|most)|(?:more|less|fewer|greater|larger|smaller|bigger) than|over|under|above|below|half|twice|"
    r"double|(?<!for )(?:all|every|any)|multiples?|divisible|except|other than)\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"\\[a-zA-Z]+\s*(?:\{[^{}]*\})?|\{[^{}]*\}")
_WORD = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2,}")
_NUMBER = re.compile(r"(?<![\w.])-?\\?\$?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?(?:\s?\\?%)?")
# A number with its noun or unit
_COUNT = re.compile(rf"{_NUMBER.pattern}(?:\s+[a-zA-Z-]+)*")
_JOINERS = re.compile(r"[\s,;.&]|\b(?:and|or|only|respectively)\b", re.IGNORECASE)
# Words that may be around the only formula of a sentence without a verb
_HARMLESS = frozenset(
    """the a an answer answers exactly only just option choice total value maximum minimum final result of units unit
    number numbers sum product solution solutions area them these such ways possible values""".split()  # noqa: SIM905
)
_MATHEMATICS = FUNCTIONS | SPELLED.keys()
_FEWEST_WORDS = 2
_OPERATOR = re.compile(r"[-+*/=^<>()|{}≤≥·×]")
_LETTERS = re.compile(r"\s*[\d\s]*[a-zA-Z]{2,3}[\d\s]*")


class StatesSeveral(Exception):
    """A sentence states two values, and nothing in it decides which value is the answer."""


def is_sentence(text: str) -> bool:
    r"""Whether a text is a sentence, `The answer is $5$.`: it begins with a word or formula, and has words outside
    `\text{}`.
    """
    # a product of letters, alone between two operators, is no word: `F = ma + mg`
    parts = _OPERATOR.split(_COMMAND.sub("+", _MATH.sub(" $ ", text)))
    plain = " ".join(part for part in parts if _LETTERS.fullmatch(part) is None)
    # Not counted as words: capital letters, which name segments, and names of functions
    words = sum(1 for word in _WORD.findall(plain) if not word.isupper() and word not in _MATHEMATICS)
    if text[:1].isalpha():
        return words >= _FEWEST_WORDS - bool(_MATH.search(text))
    return words >= _FEWEST_WORDS and _MATH.match(text) is not None


def candidates(text: str) -> Iterator[str]:
    """The values that a sentence may state, the most certain first: `5` for `The maximum is $5$, attained at $x=2$.`

    Nothing if the sentence denies or limits its value: it is then compared word by word.

    Raises:
        StatesSeveral: two clauses state a value each.
    """
    clause = (
        _LEADS.sub("", text.strip().rstrip("."), count=1) if _LEADS.match(text.strip()) else text.strip().rstrip(".")
    )
    if _BEFORE.match(clause):
        clause = clause[_BEFORE.match(clause).end() :]  # type: ignore[union-attr]
        clause = clause[lead.end() :] if (lead := _LEADS.match(clause)) else clause
    formulas = list(_MATH.finditer(clause))
    verbs = [v for v in _VERB.finditer(clause) if not any(f.start() < v.start() < f.end() for f in formulas)]
    verb = verbs[-1] if verbs else None
    if verb is None:
        yield from _without_verb(clause, formulas)
        return
    if _DENIES.search(_MATH.sub(" ", clause)):
        return
    _refuse_several(clause, verbs)
    rest = _stated(clause[verb.end() :])
    if _STATED_BOUNDS.search(_MATH.sub(" ", rest)):
        return
    if not _has_value(rest) or _ATTAINED.match(clause, verb.end()):
        # The value is before the verb: `$x = 5$ is the only solution`
        yield from _values(_LEADS.sub("", clause[: verb.start()]))
        return
    yield from _values(rest)


def _refuse_several(clause: str, verbs: list[re.Match[str]]) -> None:
    """Refuse a clause with two verbs that state a value each, unless the second value follows from the first (`so`).

    Raises:
        StatesSeveral: the clause states two values.
    """
    for first, second in itertools.pairwise(verbs):
        between = clause[first.end() : second.start()]
        joined = next(reversed(list(_JOINED.finditer(between))), None)
        if joined is None or not _has_value(between[: joined.start()]) or _SO.search(between[joined.start() :]):
            continue
        if _has_value(clause[second.end() :]):
            raise StatesSeveral(_short(clause))


def _short(clause: str) -> str:
    """The clause, cut after 60 characters."""
    return clause if len(clause) <= 60 else f"{clause[:60]}…"


def _stated(rest: str) -> str:
    """The part of the text after a verb that holds the value: `$5$` for `$5$, attained at $x=2$`.

    It ends before words that state a point or condition, and it begins after the last colon.
    """
    plain = _MATH.sub(lambda m: "0" * len(m.group()), rest)
    after = _AFTER.search(plain)
    if after is not None and _has_value(rest[: after.start()]):
        rest, plain = rest[: after.start()], plain[: after.start()]
    colon = re.search(r":(?=\s)(?!.*:\s)", plain, re.DOTALL)
    return (rest[colon.end() :] if colon and _has_value(rest[colon.end() :]) else rest).strip(" ,")


def _has_value(text: str) -> bool:
    """Whether a text has a formula, a digit or a command."""
    return _MATH.search(text) is not None or re.search(r"\d|\\[a-zA-Z]", text) is not None


def _values(rest: str) -> Iterator[str]:
    """The possible values of the text after a verb, the most certain first: `5 apples`, then `5`.

    A list such as `the numbers $3$ and $5$` is one value, `3, 5`.
    """
    formulas = list(_MATH.finditer(rest))
    if not formulas:
        if _COUNT.fullmatch(rest) is None:
            yield rest
        yield from _numbers(rest)
        return
    between = _MATH.sub(" ", rest[formulas[0].start() : formulas[-1].end()])
    joined = len(formulas) > 1 and not _WORD.search(_JOINERS.sub(" ", between))
    if not joined:
        whole = _MATH.fullmatch(rest)
        yield _inside(whole) if whole else " ".join(_DOLLARS.sub(" ", rest).split())
    if joined:
        # A list: `the numbers $3$ and $5$`
        yield ", ".join(dict.fromkeys(map(_inside, formulas)))
    elif len({_inside(f) for f in formulas}) == 1:
        yield _inside(formulas[0])


def _numbers(rest: str) -> Iterator[str]:
    """The only number of a text with its unit, `5 cm` of `5 cm long`, and then without; nothing if it has several
    numbers.
    """
    numbers = list(_NUMBER.finditer(rest))
    if len(numbers) == 1:
        yield _with_unit(numbers[0])
        yield numbers[0].group()


def _with_unit(number: re.Match[str]) -> str:
    """The number with the unit after it: `5 cm` of `5 cm long`. Other words after it are dropped."""
    words = itertools.takewhile(_measures, number.string[number.end() :].split())
    return " ".join([number.group(), *words])


def _measures(word: str) -> bool:
    """Whether a word belongs to a unit: `cm`, `per`, `percent`."""
    return is_unit_word(word) or word in ("per", "percent", "degrees")


def _without_verb(clause: str, formulas: list[re.Match[str]]) -> Iterator[str]:
    """The values of a clause without a verb: 17 for `Answer: 17`, 5 for `the only solution $5$`.

    Nothing if the clause denies or limits its value, or has other words that may change it.
    """
    words = _MATH.sub(" ", clause)
    if _DENIES.search(words):
        return
    label, colon, rest = clause.partition(":")
    if colon and not _MATH.search(label) and _has_value(rest):
        yield from _values(rest.strip())
        return
    if _STATED_BOUNDS.search(words):
        return
    if formulas and len({_inside(f) for f in formulas}) == 1 and {w.lower() for w in _WORD.findall(words)} <= _HARMLESS:
        yield _inside(formulas[0])
    if not formulas and len(_NUMBER.findall(clause)) == 1:
        yield from _numbers(clause)


def _inside(match: re.Match[str]) -> str:
    """The formula without its dollar signs or brackets."""
    return next(g for g in match.groups() if g is not None).strip()


_OPENERS = frozenset(
    """for where with when avec où pour mit wobei für con para com per где для voor dla för với 其中 \\forall""".split()  # noqa: SIM905
)
_QUANTIFIERS = frozenset(
    """all every any each some a an arbitrary fixed constant constants is are 为任意常数 为常数 任意常数 是任意常数
    是常数 beliebig quelconque const tout tous chaque alle jede jedes todo todos cada ogni tutti всех любого każdego
    wszystkich elke varje mọi arbitraria arbitrario arbitraire qualsiasi cualquiera qualquer произвольная произвольное
    постоянная dowolne dowolna stała konstante constante costante keyfi sabit tetap willekeurig""".split()  # noqa: SIM905
)
_FIELDS = {
    "real": "real", "reals": "real", "\\mathbb{R}": "real",
    "integer": "integer", "integers": "integer", "whole": "integer", "\\mathbb{Z}": "integer",
    "rational": "rational", "rationals": "rational", "\\mathbb{Q}": "rational",
    "complex": "complex", "\\mathbb{C}": "complex",
    "natural": "natural", "naturals": "natural", "\\mathbb{N}": "natural",
    "entier": "integer", "entiers": "integer", "naturel": "natural", "naturels": "natural", "réel": "real",
    "ganzen": "integer", "natürlichen": "natural", "reellen": "real", "entero": "integer", "enteros": "integer",
    "naturales": "natural", "reales": "real", "intero": "integer", "naturale": "natural", "натуральных": "natural",
    "целых": "integer",
    "positive": "positive", "nonnegative": "nonnegative", "non-negative": "nonnegative",
    "nonzero": "nonzero", "non-zero": "nonzero", "non": "", "zero": "", "negative": "",
}  # fmt: skip
FIELD_NAMES = {name: field for name, field in _FIELDS.items() if name.startswith("\\")}
_NOUNS = frozenset(
    """zahlen zahl nombre nombres número números numero numeri чисел number numbers value values parameter parameters
    the a an any every all some domain of and in""".split()  # noqa: SIM905
)
_SIGNS = frozenset({"\\in", "\\forall", ",", "(", ")", ">=", ">", "!=", "-", "\\ne"})
_MOST = 14
_COUNTING = frozenset({"n", "k", "m", "l", "j"})
_BOUNDS = frozenset({">=", ">", "<", "<="})
# A marker among the fields: the function is given for only some of its arguments
NARROWED = "a part of the arguments"

Fields = frozenset[str]


def without_qualifier(tokens: list[Token]) -> tuple[list[Token], Fields | None]:
    r"""The tokens before the words that state a domain, and the fields of that domain; None if no words state one.

    `2k\pi \text{ for all } k\in\mathbb{Z}` gives the tokens of `2k\pi`, and `integer`.
    """
    for at in range(max(1, len(tokens) - _MOST), len(tokens)):
        token = tokens[at]
        is_opener = token.kind in ("word", "cmd") and token.text.lower() in _OPENERS
        if not is_opener and token.text not in ("(", ","):
            continue
        said = _without_indices(tokens[at + 1 :])
        if token.text == "(" and said and said[-1].text == ")":
            said = said[:-1]
            if any(t.text in ("(", ")") for t in said) or not _says_membership(said):
                continue
        elif token.text == ",":
            if not (_names_several(said) or _bounds_parameter(tokens[:at], said) or _says_constant(said)):
                continue
        elif not is_opener:
            continue
        fields = _fields(said, quantified=token.text in ("\\forall", ",", "("))
        own = _is_own_argument(tokens[:at], said)
        if fields is None or (own and "some" in {t.text.lower() for t in said}):
            # `P(x) = x for some x` is an equation to solve, not a function's definition
            return tokens, None
        if own and any(t.text in _BOUNDS for t in said):
            fields |= {NARROWED}
        end = at - 1 if tokens[at - 1].text in (",", ";", "(") else at
        return (tokens[:end], fields) if end else (tokens, None)
    return tokens, None


def _without_indices(tokens: list[Token]) -> list[Token]:
    r"""The tokens without the indices of letters: `C, C \in \mathbb{R}` for `C_1, C_2 \in \mathbb{R}`."""
    indices = {at for at in range(1, len(tokens)) if tokens[at].text == "_" and tokens[at - 1].kind == "sym"}
    if not indices:
        return tokens
    return [token for at, token in enumerate(tokens) if not indices & {at, at - 1}]


def _says_membership(tokens: list[Token]) -> bool:
    r"""Whether bracketed tokens state a domain, like `k \in \mathbb{Z}` and `C constant`, so that they are no
    factor.
    """
    return any(t.text.lower() in _MEMBERSHIP for t in tokens)


_MEMBERSHIP = frozenset(r"\in \forall constant constants integer real 为任意常数 为常数 是任意常数 是常数".split())  # noqa: SIM905


def _names_several(tokens: list[Token]) -> bool:
    r"""Whether the tokens after a comma give several letters a domain: `a, b \in \mathbb{R}`.

    False for a single letter, which is the parameter of a family.
    """
    names = [t for t in tokens[:-2] if t.kind == "sym"]
    parted = all(t.kind == "sym" or t.text == "," for t in tokens[:-2])
    ends = len(tokens) >= 5 and tokens[-2].text == "\\in" and tokens[-1].text in _FIELDS
    return ends and parted and len(names) > 1


def _says_constant(tokens: list[Token]) -> bool:
    r"""Whether the tokens after a comma say that a letter may be any number: `k \in \mathbb{R} arbitrary`."""
    words = {t.text.lower() for t in tokens if t.kind == "word"}
    return bool(words & _QUANTIFIERS) and tokens[0].kind == "sym" and tokens[0].text not in words


def _bounds_parameter(before: list[Token], said: list[Token]) -> bool:
    """Whether the tokens after a comma bound a letter of the value: `k >= 0` behind `n = 2^k`.

    Args:
        before: the tokens before the comma.
        said: the tokens after it.
    """
    texts = [t.text for t in before]
    if len(said) != 3 or said[0].text not in _COUNTING or said[1].text not in (">=", ">"):
        return False
    value = texts.index("=") + 1 if "=" in texts else 0
    # `k, k >= 1` bounds the unknown itself: there the bound is a part of the answer
    return len(texts) > 1 and said[0].text in texts[value:] and said[0].text not in texts[:value]


def _is_own_argument(before: list[Token], said: list[Token]) -> bool:
    """Whether the words name only arguments of the function on the left side: `x` behind `P(x) = x`.

    Args:
        before: the tokens before the words.
        said: the tokens of the words.
    """
    if len(before) < 4 or before[0].kind != "sym" or before[1].text != "(":
        return False
    arguments = set(itertools.takewhile(lambda text: text != ")", (t.text for t in before[2:])))
    return {t.text for t in said if t.kind == "sym"} <= arguments


def _fields(tokens: list[Token], *, quantified: bool) -> Fields | None:
    r"""The fields that the words name: `integer` for `k \in \mathbb{Z}`; None if there is any other word among them.

    Args:
        tokens: the words.
        quantified: whether a quantifier or a comma is before them, so that a name alone is enough.
    """
    found: set[str] = set()
    names = 0
    for at, token in enumerate(tokens):
        text = token.text.lower() if token.kind == "word" else token.text
        if text in _FIELDS:
            found.add(_FIELDS[text])
            quantified = True
        elif text in _QUANTIFIERS and not (text == "a" and token.kind == "sym" and at == len(tokens) - 1):
            quantified = True
        elif token.kind == "sym":
            names += 1
        elif token.kind == "num":
            if tokens[at - 1].text not in (">=", ">", "!=", "-") or token.text not in ("0", "1", "2"):
                return None
            if tokens[at - 1].text == "!=" and token.text != "0":
                # `x != 3` leaves one point out: that is a part of the answer
                return None
            quantified = True
            found.add(f"{tokens[at - 1].text} {token.text}")
        elif text not in _NOUNS and text not in _SIGNS:
            return None
    if not quantified or not (names or found):
        return None
    if {"non"} & {t.text.lower() for t in tokens}:
        found.add("nonzero" if "zero" in {t.text.lower() for t in tokens} else "nonnegative")
    elif {"zero", "negative"} & {t.text.lower() for t in tokens}:
        return None
    return frozenset(found - {""})
