"""Answers that are short sentences around one number: `She needs 7 boxes`, `小明一共有42个苹果`.

Words around a number may change it. So a word is removed only if the question has it too, or if it is in a list of
harmless words.
"""

from __future__ import annotations

import re
from itertools import takewhile

from agentscope_tuner.verify.math.dressing import denies
from agentscope_tuner.verify.math.in_words import in_chinese_figures, is_number_word, numbers_said
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.unit import known, singular
from agentscope_tuner.verify.math.unit_words import COUNTERS

_LONGEST = 200
_WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox)(?![a-zA-Z])|[{}]|\\[ ,;:!]|~")
_NUMBER = r"[-+]?(?:\\?\$|[￥¥])?\d[\d,]*(?:\.\d+)?(?:/\d+)?(?:\\?%)?"
_HAN = re.compile(r"[\u4e00-\u9fff]")
_IN_CHINESE = re.compile(rf"(?P<before>[^\\$^_=<>]*?)(?P<value>{_NUMBER})\s*[（(]?(?P<after>[\u4e00-\u9fff/]*)[）)]?")
_HARMLESS = tuple(
    sorted(
        """答案 答 一共 总共 总计 合计 共有 共计 共 有 是 为 需要 需 要 可以 能 可 还剩 剩下 剩 还 得到 得 等于 应该
        应 用 花费 花了 花 卖了 卖 买了 买 付 现价 所以 因此 故 则 即 他们 她们 它们 她 他 它 每天 的 了 最后 最终
        结果 现在 ， , ： : 。""".split(),  # noqa: SIM905
        key=len,
        reverse=True,
    )
)
# Words that change the number before them: 五个半 is five and a half, 四十多 more than forty
_CHANGES = re.compile("[半多余倍成折几约分左右]")
# Words that deny or change the number after them (is not 8, half is 8), even if the question has them too
_TAKES_BACK = re.compile(
    r"(?:不是|不为|不等于|并非|不到|不足|不止|不超过|没有|未到|多于|少于|大于|小于|超过|低于|高于|不|没|未|非"
    r"|半数?[是为有]?|倍[是为于]?|除了|除去|减去|加上|乘以|负|大?约|接近|将近|几乎|错[的误]?[是为]?|的)$"
)
_FEWEST_SHARED = 2
# A month before a number makes a date
_MONTHS = frozenset(
    "january february march april june july august september october november december".split()  # noqa: SIM905
)
_CALLED = re.compile(
    r"(?:(?:\\mathbb\s*\{?[EP]\}?|\\Pr|\\(?:text|mathrm|operatorname)\{(?:Var|Pr|P|E)\}|[PECA]|Var|Pr|\\det)\s*(?:\\left)?[(\[]"
    r"(?P<said>[^()\[\]]{2,60}?|[A-Z])(?:\\right)?[)\]]|(?:\\left)?\[[^=\[\]]{1,60}\]_\S{1,12}?\^\S{1,12}?"
    r"|(?:\\left)?\|[A-Z]{1,3}(?:\\right)?\||\\det\s*[A-Z]|\\(?:bar|overline|hat|tilde)\s*\{?[a-zA-Z]\}?"
    r"|\(?[a-zA-Z]\s*\\circ\s*[a-zA-Z]\)?\s*\([a-z]\))\s*=\s*(?=\S)"
)
_MOST_COUNTED = 3
_POINT = re.compile(r"[A-Z](?:'|_\d)?\s*(?:\\left)?(?=\([^()]*,[^()]*\)$)")
_SCALED = re.compile(rf"({_NUMBER})\s+(dozens?|hundreds?|thousands?|millions?|billions?)", re.IGNORECASE)
_OUT_OF = re.compile(r"(\d{1,30}) (?:out of|in) (\d{1,30})")
_LEADING = re.compile(r"\\text\s*\{\s*([a-zA-Z ]{2,60}?)\s*\}(?:\\[ ,;:!]|~|\s)*(?=\\left|[(\[\\])")
_PART = re.compile(r"\\text\s*\{\s*of (?:the |a |an |all |his |her |their )?([a-z ]{2,40}?)\s*\}$")
_PLACES = frozenset({"on", "over", "in", "at", "for", "when", "from", "interval", "point"})
_CHANCES = frozenset({"probability", "chance", "chances", "likelihood", "likely", "fraction", "proportion"})
_WORD = re.compile(r"[a-zA-Z]{2,}")
_MODULO = re.compile(
    r"(\d{1,30})\s*(?:\\pmod|\\bmod|\\mod|\(?\s*(?:\\text\{\s*)?mod\s*\}?)\s*\{?\s*(\d{1,30})\s*\}?\)?"
)
_REMAINDERS = frozenset({"mod", "modulo", "remainder", "remainders", "congruent", "residue"})
_UNIT_VECTOR = re.compile(
    r"(?:\\(?:mathbf|hat|vec|boldsymbol|overrightarrow)\s*\{?\s*(?:\\(?:mathbf|hat|vec|boldsymbol)\s*\{?\s*)?"
    r"\\?([ijk])(?:math)?\s*\}?\s*\}?)"
)

_IN_ENGLISH = re.compile(
    rf"(?P<before>(?:[a-zA-Z][a-zA-Z'-]*\s+){{1,8}})(?P<value>{_NUMBER})(?P<after>(?:\s+[a-zA-Z]+)*)"
)
_HELPERS = frozenset(
    """he she it they we you i there the a an his her their in total all is are was were has have had will would can
    be needs need takes take costs cost makes make gets get earns earn spends spend pays pay saves save so equals equal
    therefore thus altogether now each""".split()  # noqa: SIM905
)
_CLOSING = re.compile(
    r"(?<=[a-z0-9])(?:\s+(?:are|is|were|was|will be)\s+(?:needed|required|left|remaining|necessary|"
    r"used|sold|there|possible)(?:\s+in (?:total|all))?|\s+in (?:total|all)"
    r"|\s+(?:is|are)\s+the\s+(?:(?:final\s+|correct\s+)?(?:answer|solution|value|number|result)"
    r"|(?:only|smallest|largest|least|greatest|minimum|maximum|total)(?:\s+(?:answer|solution|value|number))?))$",
    re.IGNORECASE,
)


def uncalled(text: str, question: Question | None) -> str:
    r"""The value after a call with an equals sign, as after `P(\text{sum}=7) =`, `C(9,4) =` or `[-\cos x]_0^\pi =`."""
    match = _CALLED.match(text) if "=" in text and len(text) <= _LONGEST else None
    words = _WORD.findall(match["said"] or "") if match is not None else []
    known = question.words if question is not None else frozenset()
    if match is None or any(denies(word) and word.lower() not in known for word in words):
        return text
    return text[match.end() :]


def in_figures(text: str) -> str:
    r"""A number in words as digits: 42 for `\text{forty-two}`, with the words after it; any other text as it is."""
    if _HAN.search(text):
        return in_chinese_figures("".join(_WRITING.sub(" ", text).split())) or text
    words = _WRITING.sub(" ", text).split() if len(text) <= _LONGEST else []
    size = sum(1 for _ in takewhile(lambda word: is_number_word(word) or word.lower() == "and", words))
    found = list(numbers_said(" ".join(words[:size])))
    if len(found) != 1 or len(words) - size > _MOST_COUNTED or not all(w.isalpha() for w in words[size:]):
        return text
    return f"{found[0]}\\text{{ {' '.join(words[size:])}}}" if words[size:] else str(found[0])


def counted(text: str, question: Question | None) -> str:
    """The 3 of `3 dozen`, if the question asks how many dozen; any other text as it is."""
    match = (
        _SCALED.fullmatch(_WRITING.sub(" ", text).strip()) if question is not None and len(text) <= _LONGEST else None
    )
    if match is None or question is None or not {match[2].lower(), singular(match[2])} & question.counted:
        return text
    return match[1]


def chance(text: str, question: Question | None) -> str:
    r"""`3 \text{ out of } 8` as a fraction, if the question is about a probability or a fraction; else the text."""
    if question is None or len(text) > _LONGEST or not _CHANCES & question.words:
        return text
    match = _OUT_OF.fullmatch(" ".join(_WRITING.sub(" ", text).split()))
    return text if match is None else f"\\frac{{{match[1]}}}{{{match[2]}}}"


def least(text: str, question: Question | None) -> str:
    r"""The 9 of `9 \pmod{10}`, if the question is about remainders; any other text as it is."""
    match = _MODULO.fullmatch(text) if "mod" in text else None
    if match is None or question is None or not (_REMAINDERS & question.words or "\\pmod" in question.text):
        return text
    return match[1] if int(match[1]) < int(match[2]) else text


def unlabelled(text: str) -> str:
    """`V(1, 4)` as `(1, 4)`, without the point's name; any other text as it is."""
    match = _POINT.match(text)
    return text[match.end() :] if match is not None else text


def components(text: str) -> str:
    r"""`5\mathbf{i}+2\mathbf{j}-\mathbf{k}` as the tuple `(5, 2, -1)`; any other text as it is."""
    parts = _UNIT_VECTOR.split(text) if len(text) <= _LONGEST else []
    # The coefficient before each unit vector, the vector's letter, and the text after the last vector
    before, letters, rest = parts[:-1:2], parts[1::2], parts[-1] if parts else ""
    known = {letter: _coefficient(one) for letter, one in zip(letters, before, strict=True)}
    if rest.strip() or len(letters) < 2 or letters != sorted(set(letters)) or None in known.values():
        return text
    size = "ijk" if "k" in letters else "ij"
    return f"({', '.join(known.get(letter) or '0' for letter in size)})"


def _coefficient(text: str) -> str | None:
    text = text.strip().removeprefix("+").strip()
    return None if "(" in text or "," in text else {"": "1", "-": "-1"}.get(text, text)


def told(text: str, question: Question | None) -> str:
    """The number of a short sentence, with its counted noun; any other text as it is."""
    if len(text) > _LONGEST or not text or not any(map(str.isdigit, text)):
        return text
    plain = " ".join(_WRITING.sub(" ", text).split()).rstrip(" .。")
    if _HAN.search(text):
        return _in_chinese(plain, question) or text
    if "\\" in plain.replace("\\$", "").replace("\\%", ""):
        return _without_lead(text, question) if question is not None else text
    short = _without_condition(plain, question.text) if question is not None else plain
    short = _CLOSING.sub("", short) if short[-1:].isalpha() else short
    match = _IN_ENGLISH.fullmatch(short) if question is not None else None
    if match is not None and question is not None and all(_is_said(word, question) for word in match["before"].split()):
        return f"{match['value']}\\text{{{match['after']}}}" if match["after"] else match["value"]
    return text if short == plain else short


def _without_lead(text: str, question: Question) -> str:
    r"""The value without a lead or a noun.

    `\text{increasing on }(2,\infty)` becomes `(2, \infty)`, and `\frac58\text{ of the pizza}` becomes `\frac58`.
    """
    match = _LEADING.match(text)
    if match is not None and all(_may_lead(word, question) for word in match[1].split()):
        text = text[match.end() :]
    match = _PART.search(text)
    if match is not None and _CHANCES & question.words and all(w.lower() in question.words for w in match[1].split()):
        text = text[: match.start()]
    return text


def _may_lead(word: str, question: Question) -> bool:
    """Whether a word may stand before an interval or a point: a preposition, or a word of the question."""
    word = word.lower()
    return word in _PLACES or (word in question.words and word not in ("not", "no", "never", "except", "or"))


def _without_condition(plain: str, asked: str) -> str:
    """The text without the question's last words: `8 primes less than 20` becomes `8 primes`."""
    asked = " ".join(asked.replace("$", "").split()).rstrip(" ?.").lower()
    words = plain.split()
    for at in range(2, len(words) - 1):
        if words[at - 1].isalpha() and asked.endswith(" " + " ".join(words[at:]).lower()):
            return " ".join(words[:at])
    return plain


def _is_said(word: str, question: Question) -> bool:
    word = word.lower()
    if word in _HELPERS:
        return True
    if word in _MONTHS:
        return False
    return not denies(word) and (word in question.words or singular(word) in question.words)


def _in_chinese(plain: str, question: Question | None) -> str | None:
    plain = plain.replace(" ", "")
    match = _IN_CHINESE.fullmatch(plain)
    asked = question.text.replace(" ", "") if question is not None else ""
    if match is None or _TAKES_BACK.search(match["before"]) or not _is_harmless(match["before"], asked):
        return None
    if _is_given(match["before"], asked):
        return None
    after = match["after"]
    if not after or known(after) or all(map(known, after.split("/"))):
        return f"{match['value']}\\text{{{after}}}" if after else match["value"]
    counted = after[1:] if after[0] in COUNTERS else after
    if _CHANGES.search(after) or not counted or counted not in asked:
        return None
    return match["value"]


def _is_given(before: str, asked: str) -> bool:
    """Whether the question gives the number of one thing and asks for another's: `甲每分钟走80米，乙每分钟走多少`."""
    behind = [asked[at.end() : at.end() + 1] for at in re.finditer(re.escape(before), asked)] if before else []
    if not behind or not all(map(str.isdigit, behind)):
        return False
    said = (before[at:] for at in range(1, len(before) - 1))
    return any(f"{words}多少" in asked or f"{words}几" in asked for words in said)


def _is_harmless(before: str, asked: str) -> bool:
    """Whether the text can be cut into harmless words and pieces of the question."""
    at = 0
    while at < len(before):
        size = next((len(word) for word in _HARMLESS if before.startswith(word, at)), 0)
        end = at + max(size, 1)
        while end < len(before) and before[at : end + 1] in asked:
            end += 1
        if not size and (end - at < _FEWEST_SHARED or before[at:end] not in asked):
            return False
        at = end if before[at:end] in asked else at + size
    return True
