"""Values that are stated in words: sentences, labelled values, numbers in words, conditions behind a value."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from itertools import islice, takewhile
from typing import NamedTuple
from unicodedata import category

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import BEFORE_NOUNS, JOINING, asking_clause, without_own_words
from agentscope_tuner.verify.math.around import asked_of, read_tokens
from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.node import (
    Array,
    Collection,
    Connective,
    Node,
    Power,
    Quotient,
    Relation,
    all_known,
    literal,
    substituted,
    symbols,
    walk,
)
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.prose import NEUTRAL, allowed, is_of_numbers, is_wordless, plain
from agentscope_tuner.verify.math.question import LABEL_ROWS, Question
from agentscope_tuner.verify.math.readings import Side
from agentscope_tuner.verify.math.tokens import TooComplex, Unreadable, respelled, tokenize
from agentscope_tuner.verify.math.units import (
    COUNTERS,
    RATES,
    exponent_named,
    is_physical,
    is_unit_word,
    known,
    operates,
    singular,
    unit_named,
)
from agentscope_tuner.verify.number_words import (
    in_chinese_figures,
    is_number_word,
    number_in_words,
    numbers_said,
    with_figures,
)
from agentscope_tuner.verify.words import (
    DENIES,
    IS_HANGUL,
    IS_UNSPACED,
    REASONS,
    SENTENCE_END,
    SUPPOSES,
    VERBS,
    WORDS,
    Asked,
    operated,
    shifts,
)

_LONGEST = 300
_WRITING = re.compile(r"\\(?:text|textbf|mathrm|textrm|mbox)(?![a-zA-Z])|[{}]|\\[ ,;:!]|~")
_NUMBER = r"[-+]?(?:\\?\$|[￥¥])?\d[\d,]*(?:\.\d+)?(?:/\d+)?(?:\\?%)?"
HAN = re.compile(r"[\u4e00-\u9fff]")
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
# Words that change the number before them: 五个半 is five and a half, 四十多 is more than forty
_CHANGES = re.compile("[半多余倍成折几约分左右]")
# Words that deny or change the number after them (is not 8, half is 8), even if the question has them too
_TAKES_BACK = re.compile(
    r"(?:不是|不为|不等于|并非|不到|不足|不止|不超过|没有|未到|多于|少于|大于|小于|超过|低于|高于|不|没|未|非"
    r"|半数?[是为有]?|倍[是为于]?|除了|除去|减去|加上|乘以|负|大?约|接近|将近|几乎|错[的误]?[是为]?|的)$"
)
_FEWEST_SHARED = 2
_CALLED = re.compile(
    r"(?:(?:\\mathbb\s*\{?[EP]\}?|\\Pr|\\(?:text|mathrm|operatorname)\{(?:Var|Pr|P|E)\}|[PECA]|Var|Pr|\\(?:var)?phi"
    r")\s*(?:\\left)?[(\[]"
    r"(?P<said>[^()\[\]]{2,60}?|[A-Z\d])(?:\\right)?[)\]]|(?:\\left)?\[[^=\[\]]{1,60}\]_\S{1,12}?\^\S{1,12}?"
    r"|(?:\\left)?\|(?:\\overline\{?)?[A-Z]{1,3}\}?(?:\\right)?\||\\(?:bar|overline|hat|tilde)\s*\{?[a-zA-Z]\}?"
    r"|\(?[a-zA-Z]\s*\\circ\s*[a-zA-Z]\)?\s*\([a-z\d]+\)|\\#\s*[A-Z]|A_\{?\d+\}?\^\{?\d+\}?|\\\|[^|=]{1,30}\\\|"
    r"|\|\s*\\(?:vec|mathbf|boldsymbol|overrightarrow)\s*\{?[a-zA-Z]{1,2}\}?\s*\|)\s*=\s*(?=\S)"
)
# A name with what it is applied to: `\operatorname{kgV}(6,8) =`
_NAMED_CALL = re.compile(
    r"\\(?:operatorname|text|mathrm)\s*\{(?P<name>[^\W\d_]{2,20})\}\s*(?P<of>\([^()=]{1,40}\)|[A-Z])?\s*=\s*(?=\S)"
)
# `|z| =`, before the value if the question asks for the modulus
_MODULUS = re.compile(r"(?:\\left)?\s*(?:\||\\[lr]?vert)\s*[a-zA-Z]\s*(?:\\right)?\s*(?:\||\\[lr]?vert)\s*=\s*(?=\S)")
_ASKS_SIZE = re.compile(r"\|[^|]{1,40}\||modul|magnitude|absolute|betrag|módulo|модул|模|절댓값|絶対値", re.IGNORECASE)
_MOST_COUNTED = 3
_POINT = re.compile(r"[A-Z](?:'|_\d)?\s*(?:\\left)?(?=\([^()]*[,;|][^()]*\)$)")
_POINT_LISTED = re.compile(r"(?<![\w\\])[A-Z](?:'|_\d)?\s*(?:\\left)?(?=\([^()]*[,;|][^()]*\))")
_SCALED = re.compile(rf"({_NUMBER})\s+(dozens?|hundreds?|thousands?|millions?|billions?)", re.IGNORECASE)
_LEADING = re.compile(r"\\text\s*\{\s*([a-zA-Z ]{2,60}?)\s*\}(?:\\[ ,;:!]|~|\s)*(?=\\left|[(\[\\])(?!\\approx)")
_PART = re.compile(r"\\text\s*\{\s*of (?:the |a |an |all |his |her |their )?([a-z ]{2,40}?)\s*\}$")
_OUT_OF = re.compile(r"(\d{1,30}) (?:out of|in) (\d{1,30})")
# Words before the point at which a function takes a value: `at x=2`, `für x=2`
AT_WORDS = (
    "if and only if|iff|if|when|at(?: the point)?|for|bei|an der Stelle|für|wenn|pour|quand|lorsque|en|cuando|para|per"
    "|quando|em|при|когда|коли|dla|gdy|przy|voor|bij|pro|khi|tại|saat|ketika|för|när|ved|for|amikor|pentru|για|όταν"
)
# An extreme value by its name, `y_{\\max}=`, and then the point at which it is attained, `at x=2`
_EXTREME = re.compile(
    r"(?:\\text\s*\{\s*)?(?:the\s+)?(?:[a-zA-Z]\s*_\s*\{?\s*)?(?:\\(?:text|mathrm)\s*\{\s*)?\\?(?P<name>max"
    r"|min)(?:imum|imal)?"
    r"(?:\s+value)?(?:\s+(?:is|of))?\s*:?\s*\}*(?:\s*[a-zA-Z](?:\([a-z]\))?)?\s*(?:=|\\approx(?![a-z])|≈|(?<=[\s}]))\s*(?=[-\d\\(.])"
)
_ATTAINED = re.compile(
    r"(?:,|\\[ ,;:]|~|\s)*(?:[(（]?\\text\s*\{[\s,(（]*(?:(?:attained|reached|achieved|occurring|obtained"
    r"|which is attained)\s+)?"
    rf"(?:{AT_WORDS}|where|当|时|で)\s*\$?\}}(?:\\[ ,;:]|~"
    r"|\s)*|[(（](?=[a-z]\s*=))"
    r"(?P<place>(?:[a-zA-Z]\s*=\s*)+(?:(?!最|不|not\b)[^=,;()（）]|\([^()]*\)){1,60}?|\([^()]{1,40}\)(?:\s*=\s*\([^()]{1,40}\))?)\s*"
    r"(?:(?:\\text\s*\{)?\s*(?:のとき|일\s?때|[时時](?:取[得到])?)\s*\}?)?\s*[)）]?\}?$"
)
_BOUND_IN_WORDS = re.compile(
    r"(?:all )?(?:the )?(?:real )?(?:numbers?|values|reals|x) (?:that are )?(?P<more>greater|larger|more"
    r"|bigger|less|smaller|fewer)"
    r" than (?P<equal>or equal to )?(?P<end>-?\d+(?:\.\d+)?(?:/\d+)?)"
)
_PLACES = frozenset({"on", "over", "in", "at", "for", "when", "from", "interval", "point"})
_CHANCES = frozenset({"probability", "chance", "chances", "likelihood", "likely", "fraction", "proportion"})
_TOLD_WORD = re.compile(r"[a-zA-Z]{2,}")
_MODULO = re.compile(
    r"(\d{1,30})\s*(?:\\pmod|\\bmod|\\mod|\(?\s*(?:\\text\{\s*)?mod\s*\}?)\s*\{?\s*(\d{1,30})\s*\}?\)?"
)
_ASKED_MODULUS = re.compile(r"(?:modulo|mod|divided by)\W{0,8}(\d+)", re.IGNORECASE)
_REMAINDERS = frozenset({"mod", "modulo", "remainder", "remainders", "congruent", "residue"})
_UNIT_VECTOR = re.compile(
    r"(?:\\(?:mathbf|hat|vec|boldsymbol|overrightarrow)\s*\{?\s*(?:\\(?:mathbf|hat|vec|boldsymbol)\s*\{?\s*)?"
    r"\\?([ijk])(?:math)?\s*\}?\s*\}?)"
)
_VECTOR_NAME = re.compile(
    r"(?:\\nabla\s*\\times\s*|\\(?:operatorname|text|mathrm)\{(?:curl|rot)\}\s*)?\\(?:vec|mathbf|boldsymbol|overrightarrow)\s*(?:[a-zA-Z]|\{\s*[a-zA-Z]{1,2}\s*\})"
)


def uncalled(text: str, question: Question) -> str:
    r"""The text without the call before its value: `126` for `C(9,4) = 126`, `1/6` for `P(\text{sum}=7) = 1/6`.

    A call with words that the question does not have, or a false equation of numbers, stays.
    """
    match = _CALLED.match(text) if "=" in text else None
    size = _MODULUS.match(text)
    if size is not None and _ASKS_SIZE.search(asking_clause(question.text)[0]) is not None:
        return text[size.end() :]
    if match is None:
        named = _NAMED_CALL.match(text) if "=" in text else None
        if named is None or named["name"].lower() not in question.words:
            return text
        given = re.findall(r"\d+|[a-zA-Z]", named["of"] or "")
        return text[named.end() :] if all(one in question.text for one in given) else text
    words = _TOLD_WORD.findall(_WRITING.sub(" ", match["said"] or ""))
    known_ = all(word.isupper() or allowed(word, question.words, "") for word in words)
    if question.text and match[0].lstrip().startswith("P"):
        # the numbers in `P(...)` must be numbers of the question
        known_ = known_ and set(map(Fraction, re.findall(r"\d+", match[0]))) <= question.numbers
    return text[match.end() :] if known_ and not is_false(text) else text


def is_false(equation_: str) -> bool:
    """Whether an equation of numbers is wrong: True for `A_6^2=15`, since it is 30; False for `x=5`."""
    sides = equation_.split("=")
    with suppress(Unreadable, TooComplex):
        nodes = [read_tokens(tokenize(respelled(f"{side}=")[:-1])) for side in (sides[0], sides[-1])]
        values = [None if node is None else exact_value(node) for node in nodes]
        return None not in values and values[0] != values[1]
    return False


def in_figures(text: str, asked: str = "") -> str:
    r"""A number in words as digits: `\text{forty-two apples}` as `42\text{ apples}`. Any other text stays as it is.

    A Roman number is read, too, if it is typeset upright and the question does not contain it.

    Args:
        asked: the question's text.
    """
    if HAN.search(text):
        return in_chinese_figures("".join(_WRITING.sub(" ", text).split())) or text
    roman = _ROMAN.fullmatch("".join(_WRITING.sub(" ", text).split()))
    if roman is not None and "{" in text and roman[2] not in asked:
        digits = [_ROMAN_DIGITS[one] for one in roman[2]]
        signed = (-one if one < after else one for one, after in zip(digits, [*digits[1:], 0], strict=True))
        return f"{roman[1]}{sum(signed)}"
    words = _WRITING.sub(" ", text).split()
    words = [{"halves": "half", "fourth": "quarter", "fourths": "quarter"}.get(word, word) for word in words]
    size = sum(1 for _ in takewhile(lambda word: is_number_word(word) or word.lower() == "and", words))
    found = list(numbers_said(" ".join(words[:size])))
    if len(found) == 1 and [word.rstrip("s") for word in words[size:]] in _PARTS_OF_ONE:
        return f"\\frac{{{found[0]}}}{{{_PARTS_OF_ONE.index([words[size].rstrip('s')]) + 2}}}"
    if not found and (foreign := number_in_words(words)) is not None:
        size = foreign[1]
        found = [Fraction(foreign[0])]
    if len(found) != 1 or len(words) - size > _MOST_COUNTED or not all(w.isalpha() for w in words[size:]):
        return text
    return f"{found[0]}\\text{{ {' '.join(words[size:])}}}" if words[size:] else str(found[0])


# A Roman number, as of an oxidation state: `+\mathrm{VII}`
_ROMAN = re.compile(r"([-+]?)(?=[IVX])(X{0,3}(?:IX|IV|V?I{0,3}))")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10}
_PARTS_OF_ONE = [[word] for word in "half third quarter fifth sixth seventh eighth ninth tenth".split()]  # noqa: SIM905


def counted(text: str, question: Question) -> str:
    """The 3 of `3 dozen`, if the question asks how many dozen; any other text as it is."""
    match = _SCALED.fullmatch(_WRITING.sub(" ", text).strip()) if question.counted else None
    return match[1] if match is not None and {match[2].lower(), singular(match[2])} & question.counted else text


def chance(text: str, question: Question) -> str:
    r"""`3 \text{ out of } 8` as a fraction, if the question is about a probability or a fraction; else the text."""
    match = _OUT_OF.fullmatch(" ".join(_WRITING.sub(" ", text).split())) if _CHANCES & question.words else None
    return text if match is None else f"\\frac{{{match[1]}}}{{{match[2]}}}"


def extreme(text: str, question: Question) -> str:
    r"""The value alone, if the question asks for that extreme value: `3` for `y_{\min}=3` and for `3\text{ at }x=2`.

    Any other text stays as it is.
    """
    if not any(sign in text for sign in ("min", "max", "=")):
        return text
    match = _EXTREME.match(text)
    if match is not None and question.asks_extreme(match["name"]):
        text = text[match.end() :].strip()
        text = text[:-1] if text.endswith("}") and text.count("}") > text.count("{") else text
    if question.asks_extreme("min") or question.asks_extreme("max"):
        attained = _ATTAINED.search(text)
        text = text[: attained.start()] if attained is not None and attained.start() > 0 else text
    return text


def least(text: str, question: Question) -> str:
    r"""The 9 of `9 \pmod{10}`, if the question is about remainders; any other text as it is."""
    match = _MODULO.fullmatch(text) if "mod" in text else None
    if match is None or not (_REMAINDERS & question.words or "\\pmod" in question.text):
        return text
    moduli = _ASKED_MODULUS.findall(question.text)
    asked = not moduli or match[2] in moduli
    return match[1] if asked and int(match[1]) < int(match[2]) else text


def unlabelled(text: str, ref: Node) -> str:
    """The text without the names of points: `(1, 4)` for `V(1, 4)`; in a list only if `ref` lists points, too."""
    if isinstance(ref, Collection) and any(isinstance(one, Collection) for one in ref.args):
        return _POINT_LISTED.sub("", text)
    match = _POINT.match(text)
    return text[match.end() :] if match is not None else text


def components(text: str) -> str:
    r"""`5\mathbf{i}+2\mathbf{j}-\mathbf{k}` as the tuple `(5, 2, -1)`; any other text as it is."""
    name, equals, vector = text.rpartition("=")
    if equals and len(text) <= _LONGEST and _VECTOR_NAME.fullmatch(name.strip()):
        return vector.strip() if (found := components(vector)) == vector else found
    parts = _UNIT_VECTOR.split(text) if len(text) <= _LONGEST else []
    # The coefficient before each unit vector, the vector's letter, and the text after the last vector
    before, letters, rest = parts[:-1:2], parts[1::2], parts[-1] if parts else ""
    known = {letter: _coefficient(one) for letter, one in zip(letters, before, strict=True)}
    if letters == ["k"] and not rest.strip() and known["k"] is not None:
        return f"(0, 0, {known['k']})"
    if rest.strip() or len(letters) < 2 or letters != sorted(set(letters)) or None in known.values():
        return text
    size = "ijk" if "k" in letters else "ij"
    return f"({', '.join(known.get(letter) or '0' for letter in size)})"


def _coefficient(text: str) -> str | None:
    """The number before a unit vector: `3` of `+ 3`, `-1` of `-`, `1` of an empty text; None if it cannot be one."""
    text = re.sub(r"\\[,;:! ]", "", text).strip().removeprefix("+").strip()
    if "," in text or not _BRACKETS_CLOSED.fullmatch(text):
        return None
    return {"": "1", "-": "-1"}.get(text, text)


_BRACKETS_CLOSED = re.compile(r"[^()]*+(?:\([^()]*+\)[^()]*+)*+")


# A value among words: a formula with a digit
_IN_WORDS = re.compile(
    r"(?:\\[a-zA-Z]+|\\[%$]|[\d+\-−*/^_=<>()\[\]|$%!°{}]|[.,:](?=\d)"
    r"|(?<![^\W\d_'’])[a-zA-Z](?=\s?[=^_(]|\d)| (?=[-+*/=<>\d]))+"
)
_WORDED = re.compile(r"(?<![\\a-zA-Z])[^\W\d_]{2}")
_AT = frozenset("at on in by from for with to".split())  # noqa: SIM905
_SUPERLATIVES = frozenset("only smallest largest greatest".split())  # noqa: SIM905
_REFLEXIVE, _ENDING = (["se"], ["si"]), frozenset({"है", "हैं"})
_NOT_BEHIND = (VERBS - JOINING - _ENDING) | {"and"}
# Characters that may stand beside words; a dash without a letter or a space on each side may be the value's minus sign
_BESIDE_WORDS = frozenset(" ,.;!'’-–—…،、，。°²³·⋅•")
_LOOSE_DASH = re.compile(r"(?<![\w ])-|-(?![\w ])")
_NAMED_SO = re.compile(r"^\s*[a-zA-Z]\s?=(?!=)")
_RELATED = re.compile(r"[=<>:]|\\(?:[gl]eq?|neq?|[gl]t|in|equiv|approx|sim)(?![a-z])")
_SET_WORDS = re.compile(r"\\(?:text[a-z]*|mathrm|mathbf|mbox)\s*\{([^{}]*)\}|(?:\\[ ,;:!]|\\q?quad(?![a-z])|~)+")


_ABBREVIATION = 3
# `12\\text{ cm}`, which is no sentence
_MEASURED = re.compile(r"-?\d+(?:\.\d+)?\s?\\text\s?\{\s*(?P<unit>[a-zA-Z]{1,3})\s*\}")


def told(text: str, question: Question) -> str:
    r"""The value that a sentence states, with its unit: `8` for `\text{Es gibt 8 Teiler}`.

    If a word is neither harmless nor a word of the question, the text stays as it is.
    """
    if not any(map(str.isdigit, text)) and not HAN.search(text):
        words = " ".join(_WRITING.sub(" ", text).split()).rstrip(" .").split()
        figured = with_figures(words) if len(words) > _MOST_COUNTED else words
        return text if figured == words or (said := told(" ".join(figured), question)) == " ".join(figured) else said
    if HAN.search(text):
        return _in_chinese(" ".join(_WRITING.sub(" ", text).split()).rstrip(" .。"), question) or text
    measured = _MEASURED.fullmatch(text)
    if measured is not None and _unit_word(measured["unit"]):
        return text
    found = _sentence(text, question) if _WORDED.search(text) is not None else None
    if found is None:
        return _without_lead(text, question)
    _, value, behind = found
    words = behind.split()
    units = [_unit_word(word) for word in takewhile(_unit_word, words)]
    if any(_names_unit(word) and word != "in" for word in words[len(units) :]):
        return text
    return f"{value}\\text{{ {' '.join(units)}}}" if units else value


def _is_prose(said: str) -> bool:
    """Whether a text has only letters, digits, currency signs and punctuation: `apples, pears`, but not `@x`.

    A dash beside another punctuation mark, or at an end, is not allowed.
    """
    known = (sign.isalnum() or sign in _BESIDE_WORDS or category(sign) in ("Mn", "Mc", "Sc") for sign in said)
    return all(known) and _LOOSE_DASH.search(said) is None


def _names_unit(word: str) -> bool:
    """Whether a word contains a unit of measurement: `cm`, also in a product or with a power, `kg·m`, `m²`."""
    return any(unit_named(part) is not None for part in re.split(r"[²³]|[^\w'’-]", word.strip("'’-")) if part)


_RAISED = {"²": "squared", "³": "cubed"}


def _unit_word(word: str) -> str:
    """The English words for a word of a unit: `meter squared` for `metros²`. Empty for any other word, and for `in`.

    A word that the table of units has already, or a word for a power, comes back as it is.
    """
    if word[-1:] in _RAISED:
        return f"{own} {_RAISED[word[-1]]}" if (own := _unit_word(word[:-1])) else ""
    if word == "in" or known(singular(word)) or exponent_named(word):
        return "" if word == "in" else word
    # In short words case matters: `Ms` does not mean milliseconds
    return (unit_named(word) or "") if len(word) > _ABBREVIATION else ""


def _sentence(text: str, question: Question) -> tuple[str, str, str] | None:
    r"""The words before the value, the value, and the words behind it: `("there are", "8", " girls")`.

    None if the sentence has more than one number that is not the question's, if a word is not understood, or if the
    words make a different quantity of the value, as in `half of 8`.
    """
    plain = _SET_WORDS.sub(lambda said: f" {said[1] or ''} ", text).replace("~", " ")
    plain = _without_condition(" ".join(plain.split()).rstrip(" ."), question.text)
    asked = asked_of(question)
    if asked.text:
        plain = " ".join(with_figures(plain.split()))
    values = [one for one in _IN_WORDS.finditer(plain) if any(map(str.isdigit, one[0]))]
    own = [one for one in values if not asked.has(one[0].strip())] if len(values) > 1 else values
    # the power of a unit is no value: the 2 of `216 cm^2`
    if len(own) != 1 or own[0][0].strip()[:1] in "^_" or _RELATED.search(_NAMED_SO.sub("", own[0][0])) is not None:
        return None
    joined = WORDS.findall(plain[values[0].end() : values[-1].start()])
    before, value, behind = plain[: own[0].start()], own[0][0].strip(), plain[own[0].end() :].rstrip(" .。")
    led, followed = ([word.lower() for word in WORDS.findall(said)] for said in (before, behind))
    # a unit with capitals inside, `mA`, before its number is not a harmless word
    is_unit = any(word[1:].lower() != word[1:] and _names_unit(word) for word in before.split())
    if is_unit or _is_of_other_person(before, question.text) or not _is_of_question(led, followed, question, asked):
        return None
    led, before = led[led[:1] in _REFLEXIVE :], before.lower().rstrip().removesuffix("for")
    if (
        not (led or followed)
        or not all(map(_is_prose, (before.strip(" :"), behind.strip())))
        or not BEFORE_NOUNS.isdisjoint(followed[-1:])
        # `5 of 6` offers two values in Dutch, and states neither in English
        or (len(values) > 1 and ({"and", "or"}.issuperset(joined) or plain.split()[1:-1] == joined[:1]))
        or not all(_leaves_value_unchanged(word, question, asked) for word in (*_without_deed(led, asked), *followed))
        or any(asked.counts(word) and not asked.says(word) and word not in JOINING for word in led)
        or _words_change_value(before, behind, followed, asked)
    ):
        return None
    return before, value, behind


def _is_of_question(led: list[str], followed: list[str], question: Question, asked: Asked) -> bool:
    """Whether the words beside a value fit the question, if they have `for`, `se` or `है`; other words always fit.

    They fit if the clause that asks has all of them; the first may be a name of the question. `for` also needs a span
    of time behind the value: `for 5 days`.

    Args:
        led: the words before the value, in lower case.
        followed: the words behind it, in lower case.
    """
    if led[:1] not in _REFLEXIVE and led[-1:] != ["for"] and _ENDING.isdisjoint(followed[-1:]):
        return True
    last = _last_asked(question.text)
    own = Asked(last, lambda word: allowed(word, frozenset(), last), asked.counts)
    # `se pagan` fits a question with `se paga`
    is_other = led[:1] in _REFLEXIVE and (len(led) == 1 or " ".join(led)[: len("se paga")] not in last)
    if is_other or (led[-1:] == ["for"] and not any(map(_SPAN.fullmatch, followed[:1]))):
        return False
    is_name = bool(led) and led[0].capitalize() in question.text and led[0] not in question.text
    return all(word in JOINING or own.says(word) for word in led[is_name:]) and all(
        own.says(word) or asked.counts(word) or word in _ENDING or not any(map(str.isalpha, word)) for word in followed
    )


def _is_of_other_person(before: str, question: str) -> bool:
    """Whether the words before a value name a person, and the question asks about a different one.

    Such as `Nina is`, if the question is `Tom is 4 years older than Nina. How old is Tom?`

    Args:
        before: the words before the value.
        question: the task's text.
    """
    asks = asking_clause(question)[0]
    own = [word for word in _PROPER.findall(before) if word in question and f" {word.lower()} " not in question]
    own = [word for word in own if word.lower() not in JOINING and word.lower() not in VERBS]
    return bool(own) and own[0] not in asks and re.search(r"(?<=[a-z,] )[A-Z][a-z]+", asks) is not None


_PROPER = re.compile(r"\b[A-Z][a-z]+\b")
_GOES_ON = re.compile(r",|\b(?:if|when|as|than|while|after|before)\b")
_SPAN = re.compile(r"(?:second|minute|hour|day|week|month|year)s?|s|min|h|hrs?")


def _last_asked(text: str) -> str:
    """The beginning of the last sentence with a question mark, in lower case: `how old is tom`.

    Empty if the text has no question mark.
    """
    return _GOES_ON.split(SENTENCE_END.split(text.rpartition("?")[0])[-1].strip(" ¿").lower())[0]


def _without_deed(led: list[str], asked: Asked) -> list[str]:
    """The words before a value without a verb that only says what somebody does: `["she"]` for `["she", "takes"]`.

    Verbs that change a value, such as `halves`, stay.
    """
    who = len(led) == 2 and (led[0] in ("he", "she", "it") or asked.has(led[0]))
    deed = who and led[1].endswith("s") and not operates(led[1])
    return led[:1] if deed else led


def _words_change_value(before: str, behind: str, followed: list[str], asked: Asked) -> bool:
    """Whether the words around a value make a different one of it: `half of 12`, `26, the square`, `5 of the girls`.

    True also if this cannot be known: in Korean, and in languages without spaces between words, such as Chinese.

    Args:
        followed: the words of `behind`, in lower case.
    """
    if IS_HANGUL.search(before + behind) is not None or IS_UNSPACED.search(before + behind) is not None:
        return True
    if behind[:1] not in ("", " ", ",") or any(len(word) == 1 and word.isascii() for word in followed):
        return True
    if any(_is_power_alone(followed, at) and not asked.says(word) for at, word in enumerate(followed)):
        return True
    if not _NOT_BEHIND.isdisjoint(followed) or _is_other_quantity(before, behind, asked.text):
        return True
    alone = not before.strip() and len(followed) == 1 and (operates(followed[0]) or followed[0] in _AT)
    return alone or operated(before.lower(), asked) != "" or shifts(before.lower()) != ""


def _is_power_alone(words: list[str], at: int) -> bool:
    """Whether the word at index `at` is a power without a unit beside it: `the square`, but not `square metres`."""
    return exponent_named(words[at]) > 0 and not any(
        map(is_unit_word, (*words[max(at - 1, 0) : at], *words[at + 1 : at + 2]))
    )


def _is_other_quantity(before: str, behind: str, asked: str) -> bool:
    """Whether the words around a value make it a different quantity than the one asked for.

    True for a preposition before it (`at 5`), for `of` behind it (`5 of the girls`), and for words that lead a
    different number in the question (`eats 5`, if it has `eats 3`).

    Args:
        asked: the question's text.
    """
    led = WORDS.findall(before.lower())
    if _first(behind) == "of" or (led and led != ["in"] and (led[-1] in _AT or led[-1].endswith("'s"))):
        return True
    if len(led) == 1 and _last_asked(asked).startswith(f"{led[0]} "):
        # `In how many days?`
        return False
    given = re.search(rf"(?<!\w){re.escape(' '.join(led[-2:]))} \W{{0,2}}[\d.,]+\W*(\w*\W*\w*)", asked) if led else None
    names = JOINING.isdisjoint(led) and VERBS.isdisjoint(led)
    said = WORDS.findall(behind.lower())[:2]
    # `is 36 years old` is the same quantity although the question has `is 4 years older`
    return given is not None and (names or WORDS.findall(given[1])[: max(len(said), 1)] == said)


def _first(text: str) -> str:
    """The first word of a text, in lower case; empty if it has none."""
    return next(iter(WORDS.findall(text.lower())), "")


def _without_condition(plain: str, asked: str) -> str:
    """The text without words with which the question ends, too: `8 primes` for `8 primes less than 20`."""
    asked = _BOUND.sub(_bound, " ".join(asked.replace("$", "").split()).rstrip(" ?.").lower())
    words = _BOUND.sub(_bound, plain).split()
    for at in range(2, len(words) - 1):
        if (
            words[at - 1].isalpha()
            and words[at].lower() not in RATES
            and asked.endswith(" " + " ".join(words[at:]).lower())
        ):
            return " ".join(words[:at])
    return plain


_BOUND = re.compile(r"\b(?:(?P<below>below|under|less than|smaller than)|above|(?:greater|more|larger) than)(?= \d)")


def _bound(found: re.Match[str]) -> str:
    """`below` for a match like `less than`, `above` for one like `more than`."""
    return "below" if found["below"] else "above"


def _leaves_value_unchanged(word: str, question: Question, asked: Asked) -> bool:
    """Whether a word in lower case changes no value beside it: it joins words, or the question has it.

    False for words that deny, suppose or give reasons, such as `not` and `if`.
    """
    if word in SUPPOSES or word in DENIES or word in REASONS:
        return False
    if word in JOINING or word in NEUTRAL or word in VERBS or {word, singular(word)} & question.counted:
        return True
    if not question.text and word in _SUPERLATIVES:
        return True
    return not (operates(word) or operates(singular(word))) and (asked.says(word) or asked.counts(word))


def _without_lead(text: str, question: Question) -> str:
    r"""The value without words of the question around it, if the question has them.

    `\text{increasing on }(2,\infty)` becomes `(2,\infty)`, and `\frac58\text{ of the pizza}` becomes `\frac58`.
    """
    match = _LEADING.match(text)
    if match is not None and question.text and all(_may_lead(word, question) for word in match[1].split()):
        text = text[match.end() :]
    match = _PART.search(text)
    if match is not None and _CHANCES & question.words and all(w.lower() in question.words for w in match[1].split()):
        text = text[: match.start()]
    return text


def _may_lead(word: str, question: Question) -> bool:
    """Whether a word before an interval or a point may be dropped: `on`, or a word of the question, as `increasing`."""
    word = word.lower()
    return word in _PLACES or (word in question.words and word not in ("not", "no", "never", "except", "or"))


def _in_chinese(plain: str, question: Question) -> str | None:
    """The value of a Chinese sentence, with its unit: `12` for `共有12个苹果`; None if its words are not understood."""
    match = _IN_CHINESE.fullmatch(plain.replace(" ", ""))
    asked = question.text.replace(" ", "")
    if match is None:
        return None
    before, after = match["before"], match["after"]
    if _TAKES_BACK.search(before) or not _is_harmless(before, asked) or _is_given(before, asked):
        return None
    if not after or known(after) or all(map(known, after.split("/"))):
        return f"{match['value']}\\text{{{after}}}" if after else match["value"]
    counted = after[1:] if after[0] in COUNTERS else after
    if _CHANGES.search(after) or not counted or counted not in asked:
        return None
    return match["value"]


def _is_given(before: str, asked: str) -> bool:
    """Whether the words before a value lead a number of the question, which asks for the number of a different thing.

    Such as `甲每分钟走` for the question `甲每分钟走80米，乙每分钟走多少`.
    """
    behind = [asked[at.end() : at.end() + 1] for at in re.finditer(re.escape(before), asked)] if before else []
    if not behind or not all(map(str.isdigit, behind)):
        return False
    said = (before[at:] for at in range(1, len(before) - 1))
    return any(f"{words}多少" in asked or f"{words}几" in asked for words in said)


def _is_harmless(before: str, asked: str) -> bool:
    """Whether the Chinese text before a value consists of harmless words and pieces of the question: `一共有苹果`."""
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


_TEXT = r"\\(?:text|textbf|mathrm|textrm|mbox)"
_GAP = r"(?:\\[ ,;:!~]|\\q?quad|~|\s)*"
_NAME = re.compile(
    rf"{_GAP}(?:{_TEXT}\s*\{{\s*(?:the\s+)?(?P<inside>[a-zA-Z][a-zA-Z ]{{0,30}}?"
    rf"|[\u4e00-\u9fff]{{1,8}}?)\s*[:=：是为]?\s*"
    rf"(?:\bis\s*)?\}}{_GAP}[:=：]?"
    rf"|(?P<bare>[a-zA-Z]{{2,20}}(?: [a-zA-Z]{{2,20}})?)\s*[:=])"
    rf"{_GAP}(?P<value>\S(?:.*\S)?){_GAP}"
)
_PARTED = re.compile(
    rf"[,;，；](?!\d{{3}}(?!\d))(?![^()]*\))|\\q?quad|{_TEXT}\s*\{{\s*(?:,\s*)?and\s+\}}|\\\\|\band\b(?![^{{}}]*\}})"
)
_LETTERED = re.compile(
    rf"(?:^|(?<=[\s,;~}}。；：:，、])"
    rf"|(?<=quad))(?:(?:{_TEXT}\s*\{{\s*)?[(（]\s*(?:{_TEXT}\s*\{{\s*)?([a-h1-8]|[iv]{{1,4}})\s*\}}?\s*[)）]\s*\}}?[:.]?"
    rf"|{_TEXT}\s*\{{\s*([a-h])\)\s*\}}){_GAP}"
)
_BETWEEN = re.compile(r"(?:\\[ ,;:!~]|\\q?quad|[~\s,;.，；。、])*+\Z")
_DIMENSIONS = frozenset({"dimension", "dimensions", "length", "width", "size", "order", "rectangle", "sides"})
_SIDE = r"(\d[\d.]*(?:/\d+)?)\s*([a-z]{1,12}\.?)?"
_BY = re.compile(rf"{_SIDE}\s*(?:by|×|\\times|x)\s*{_SIDE}")
_FEWEST = 2
_LABELS = re.compile(rf"{_TEXT}\s*\{{|[a-z]\s*[:=]")


def with_names(text: str, question: Question) -> str:
    r"""Labelled values as equations: `mean 4, median 5` as `\text{mean}=4,\ \text{median}=5`.

    The question must have every name; any other text comes back as it is.
    """
    if not question.text or len(text) > _LONGEST:
        return text
    if HAN.search(text) or _FUNCTIONS.search(text):
        text = _in_asked_order(text, question) or text
    elif (said := _said_by_name(text, question)) is not None:
        return said
    if not _LABELS.search(text):
        return text
    found = [_NAME.fullmatch(part) for part in _PARTED.split(text) if part.strip(" ~\\,;:!")]
    if len(found) < _FEWEST or None in found:
        return text
    named = [(" ".join((m["inside"] or m["bare"]).lower().split()), m["value"]) for m in found if m is not None]
    if any(not _is_in_question(name, question) for name, _ in named) or len({name for name, _ in named}) < len(named):
        return text
    return ",\\ ".join(f"\\text{{{name}}}={value}" for name, value in named)


# A value behind the words that name it, and its unit: `mean 4`, `Tom is 24 years old`
_SAID_OF = re.compile(
    r"(?:(?:so|then|thus|therefore|the|and|that) )*(?P<name>[^\W\d_][^\d=:;$()\\]*?)\s?"
    r"(?:=|:|\b(?:is|are|was|has|have|gets?|är|er|ist|sind|est|es|è|é|jest|wynosi|bedraagt|adalah|là|равна|равно|равен)\b)?"
    rf"\s?(?P<value>{_NUMBER}|\\[dt]?frac\{{\d+\}}\{{\d+\}}|\$[^$]{{1,40}}\$|\([^()]{{1,40}}\)"
    r"|(?<=[:=] )[^\s,;:=]{1,40})"
    r"(?P<unit>(?: [^\W\d_]+){0,3})",
    re.IGNORECASE,
)
_SAID_APART = re.compile(
    r"(?:[,;](?:\s(?:and|while))?\s|\s(?:and|und|et|y|e|en|och|og|oraz|і|и|ve|dan|và)\s|\n)(?![^()]*\))"
)


def _said_by_name(text: str, question: Question) -> str | None:
    r"""Two or more named values as equations: `mean 4, median 5` as `\text{mean}=4,\ \text{median}=5`.

    None if a part of the text is no named value, or if a name is not in the question.
    """
    plain = re.sub(r"(?<=[:=])(?=\S)", " ", " ".join(_WRITING.sub(" ", text.replace("\\quad", " ")).split()))
    found = all_known(_SAID_OF.fullmatch(part.strip()) for part in _SAID_APART.split(plain.rstrip(".")))
    if found is None or len(found) < _FEWEST:
        return None
    said = [(m["name"].strip().lower(), m["value"], m["unit"].split()) for m in found]
    names = [name for name, *_ in said]
    if any(len(name) == 1 and name.isascii() for name in names):
        # a letter is a symbol, which has a case
        return None
    if len(set(names)) < len(names) or not all(_is_in_question(name, question) for name in names):
        return None
    words = [word for *_, unit in said for word in unit]
    if not all(known(singular(word)) or allowed(word, question.words, question.text) for word in words):
        return None
    units = [" ".join(word for word in unit if known(singular(word))) for *_, unit in said]
    return ",\\ ".join(
        f"\\text{{{name}}}={value}" + (f"\\text{{ {unit}}}" if unit and len(set(units)) > 1 else "")
        for (name, value, _), unit in zip(said, units, strict=True)
    )


# A function with its arguments, `\gcd(6,8)=2`, and in Chinese a noun with its number, `鸡5只`
_FUNCTIONS = re.compile(r"(?<![a-zA-Z])(?:gcd|lcm)(?![a-zA-Z])")
_COUNTED = re.compile(
    rf"(?:\\operatorname)?\\?(?P<name>gcd|lcm)(?:\((?P<of>[\d,]+)\))?=(?P<is>-?[^=,]+)"
    rf"|(?P<counted>[\u4e00-\u9fff]{{1,6}}?)[有是为:：=]?(?P<many>{_NUMBER})[{''.join(COUNTERS)}]?"
)


def _in_asked_order(text: str, question: Question) -> str | None:
    """The values in the order in which the question asks for them.

    `兔3只,鸡5只` becomes `5, 3`, if the question is `鸡和兔各有多少只`.

    None unless each value has the name of one thing that the question asks for.
    """
    plain = "".join(_WRITING.sub("", text).split())
    found = [_COUNTED.fullmatch(part) for part in re.split(r"[,，、；;](?![^()]*\))", plain)]
    asked = re.split("[,，。；;]", question.text.rstrip("?？。"))[-1]
    places: dict[int, str] = {}
    for one in found:
        if one is None or not set(re.findall(r"\d+", one["of"] or "")) <= set(re.findall(r"\d+", question.text)):
            return None
        # `甲数` of `甲、乙两数`
        said = one["name"] or (one["counted"] if one["counted"] in asked else one["counted"].removesuffix("数"))
        named = re.search(said or "(?!)", asked)
        if named is None:
            return None
        places[named.start()] = one["is"] or one["many"]
    return ", ".join(places[at] for at in sorted(places)) if len(places) == len(found) >= _FEWEST else None


def _is_in_question(name: str, question: Question) -> bool:
    """Whether the question has all words of a name, and none of them is a unit or changes a value."""
    if not name.isascii():
        return name in question.text
    return all(
        word in question.words and allowed(word, question.words, "") and not known(singular(word)) and word != "or"
        for word in name.split()
    )


class Lettered(NamedTuple):
    """A text of lettered parts, such as `x: (a) 5 (b) 2`.

    Attributes:
        before: the text before the first label: `x:`.
        labels: the letters or numbers: `("a", "b")`.
        parts: the text behind each label: `("5", "2")`.
    """

    before: str
    labels: tuple[str, ...]
    parts: tuple[str, ...]


def lettered(text: str, longest: int = _LONGEST) -> Lettered | None:
    """The parts of a text like `(a) 5 (b) 2`; None if it has over `longest` characters or its labels are not in order.

    There must be two parts or more, and none may be empty.
    """
    marks = list(_LETTERED.finditer(text)) if len(text) <= longest else []
    said = [m[1] or m[2] for m in marks]
    if len(marks) < _FEWEST or said not in [row[: len(said)] for row in LABEL_ROWS]:
        return None
    ends = [*(m.start() for m in marks[1:]), len(text)]
    parts = tuple(_BETWEEN.sub("", text[m.end() : end]).strip() for m, end in zip(marks, ends, strict=True))
    return Lettered(text[: marks[0].start()].strip(), tuple(said), parts) if all(parts) else None


_DECLARED = re.compile(
    r"[\s,]*(?:for (?:some|any|every|an arbitrary)|where|with)\s+(?:(?:real|arbitrary|any|an?)\s+)*"
    r"(?P<first>constants?\s+)?"
    r"(?P<name>[a-zA-Z])(?P<field>\s*\\in\s*\\mathbb\s*\{?R\}?)?"
    r"(?P<then>\s+is\s+(?:an?\s+)?(?:(?:real|arbitrary|any)\s+)*constant)?[\s.]*\Z"
)


# `(t\\in\\mathbb{R})` behind the values
_IN_BRACKETS = re.compile(
    r"(?<=[\w)}])(?:\\[ ,;:!]|\\q?quad|~|\s|,)+\(\s*(?P<name>[a-z])\s*"
    r"(?:\\in\s*\\mathbb\s*\{?R\}?|\\text\s*\{\s*(?:is )?(?:any )?real(?: number)?\s*\})\s*\)\s*\Z"
)
_PLAINLY = re.compile(r"\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}|\\(?:q?quad(?![a-z])|[ ,;:!])|[$~]")


def with_declared_constant(text: str) -> str:
    r"""`kx\text{ for some constant }k` as `kx,\ k\in\mathbb{R}`: a constant that words declare, as a condition.

    Any other text comes back as it is.
    """
    if len(text) > _LONGEST:
        return text
    if (behind := _IN_BRACKETS.search(text)) is not None:
        return rf"{text[: behind.start()]},\ {behind['name']}\in\mathbb{{R}}"
    if not any(word in text for word in ("for ", "where ", "with ")):
        return text
    said = _PLAINLY.sub(lambda m: m[1] or " ", text)
    found = _DECLARED.search(said)
    if found is None or not (found["first"] or found["field"] or found["then"]):
        return text
    before, name = said[: found.start()].strip(), found["name"]
    # `x` in `f(x)=` is an argument, not a constant
    is_free = name in before and re.search(rf"\([^()]*(?<![a-zA-Z]){name}(?![a-zA-Z])[^()]*\)\s*=", before) is None
    return rf"{before},\ {name}\in\mathbb{{R}}" if is_free else text


def by_letters(text: str) -> str:
    r"""The values of lettered parts without their letters: `(a) 5, (b) 2` as `(5, 2)`. Any other text stays as it is.

    Parts that name their values come back as a list, whose order is free: `(a) x=5, (b) y=2` as `x=5, y=2`.
    """
    found = lettered(text)
    if found is None or found.before:
        return text
    values = ", ".join(found.parts)
    if values.count(",") >= len(found.parts):
        return text
    # values with names may be listed in any order
    names = {one[1] for part in found.parts if (one := _EQUATION.fullmatch(part)) is not None}
    return values if len(names) == len(found.parts) else f"({values})"


_EQUATION = re.compile(r"[\s$]*([^=<>\\,]{1,12}?)\s*=[^=<>]+")


_TWO_COMPARED = re.compile(r"(?P<first>[^<>]+?)\s*(?:(?P<more>>|\\gt(?![a-z]))|<|\\lt(?![a-z]))\s*(?P<second>[^<>]+)")
_WHICH_OF_TWO = re.compile(
    r"\b(?:which|welche\w*|quel\w*|cuál|quale|как\w+)\b[^?]{0,60}?\b(?:(?P<more>greater|larger|bigger|größer"
    r"|plus grande?|mayor"
    r"|maggiore|maior|больше)|less|smaller|kleiner|plus petite?|menor|minore|меньше)\b",
    re.IGNORECASE,
)


def chosen_of(text: str, question: Question) -> str:
    """The value that the question asks for, of two that the answer compares: `3^{20}` for `3^{20}>2^{30}`.

    The question must contain both and ask which is greater, or less. Any other text comes back as it is.
    """
    asked = _WHICH_OF_TWO.search(question.text)
    match = _TWO_COMPARED.fullmatch(text) if asked is not None else None
    if match is None or asked is None:
        return text
    try:
        offered = all(key(parse_tokens(tokenize(match[name]))) in question.formulas for name in ("first", "second"))
    except (Unreadable, TooComplex):
        return text
    if not offered:
        return text
    return match["first" if (match["more"] is None) == (asked["more"] is None) else "second"]


_IN_BASE = re.compile(r"\(?(?P<digits>\d{1,60})\)?_\{?(?P<base>\d{1,2})\}?")


_BASE_WORD = (
    r"(?:\bbas(?:e|is|en?)\b|taban\w*|进制|進制|進法|진법|счислени\w*|основани\w*|systemie|talsystem"
    r"|talstelsel|hệ cơ số)"
)
_HAN_BASES = dict(zip("2 3 4 5 6 7 8 9 16".split(), "二 三 四 五 六 七 八 九 十六".split(), strict=True))  # noqa: SIM905
_OF_BASES = re.compile(_BASE_WORD, re.IGNORECASE)
_TO_TEN = re.compile(r"\b(?:in|to|into) (?:base (?:ten|10)|decimal)|十进制数?\W*$|为十进制|成十进制", re.IGNORECASE)


def without_asked_base(text: str, question: Question) -> str:
    r"""The digits alone if the question asks for their base: `110` for `110_2`, of a question like `Write 6 in binary`.

    With a base that the question does not ask for, `110_3` becomes `\text{110_3}` if the question names any base. Any
    other text comes back as it is.
    """
    match = _IN_BASE.fullmatch(text)
    named = {"2": "binary", "8": "octal", "16": "hexadecimal"}.get(match["base"], "(?!)") if match is not None else ""
    asked = match is not None and re.search(
        rf"\b(?:in|to) base \$?{match['base']}(?!\d)|\b{named}\b", question.text, re.IGNORECASE
    )
    if match is None or asked:
        return text if match is None else match["digits"]
    # in other languages the number is beside the word for a base: `base 2`, `二进制`
    base = match["base"]
    says_base = _OF_BASES.search(question.text) is not None
    behind = rf"(?:(?<!\d){base}[^\d\w]{{0,3}}|{_HAN_BASES.get(base, '(?!)')}){_BASE_WORD}"
    beside = rf"{_BASE_WORD}[^\d\w]{{0,3}}{base}(?!\d)|{behind}"
    if _TO_TEN.search(question.text) is not None if base == "10" else re.search(beside, question.text, re.IGNORECASE):
        return match["digits"]
    # as a text it can equal no number, since `110_3` and `110_2` are different numbers
    return f"\\text{{{text}}}" if says_base else text


def by_sides(text: str, question: Question, *, in_order: bool = True) -> str:
    r"""`8 \text{ m by } 5 \text{ m}` as the list `8\text{ m}, 5\text{ m}`, if the question asks for dimensions.

    The size of a matrix, `8 \times 5`, becomes the pair `(8,5)`. Any other text comes back as it is.

    Args:
        in_order: whether the sides stay in their order; otherwise the smaller number comes first.
    """
    match = _BY.fullmatch(plain(text)) if _DIMENSIONS & question.words else None
    if match is not None and match[4] is match[2] is None and _OF_ROWS & question.words:
        return f"({match[1]},{match[3]})"
    if match is None or (match[4] is match[2] is None and "by" not in text):
        return text
    first, second = match[2] or match[4], match[4]
    if any(unit is not None and unit_named(unit.rstrip(".")) is None for unit in (first, second)):
        return text
    sides = [(match[1], first), (match[3], second)]
    if not in_order:
        sides.sort(key=lambda side: Fraction(side[0].rstrip(".")))
    return ", ".join(value if unit is None else f"{value}\\text{{ {unit}}}" for value, unit in sides)


# The size of a matrix: first its rows, then its columns
_OF_ROWS = frozenset({"matrix", "matrices"})


_VALUE = r"-?\d+(?:\.\d+)?(?:/\d+)?|-?\\[dt]?frac\{?\d+\}?\{?\d+\}?"
_EXCLUSION = re.compile(
    rf"(?:\\[ ,;:!]|\\q?quad|[\s,;({{~]|\\text\s*\{{[\s,(]*+(?:for|where|if|when|with|provided)?\s*\}})+"
    rf"(?P<name>[a-zA-Z])\s*(?:\\neq?(?![a-zA-Z])|≠|!="
    rf"|\\not\s*=)\s*(?P<values>(?P<both>\\pm\s*)?(?:{_VALUE})(?:\s*,\s*(?:{_VALUE}))*)\s*[)}}]*$"
)
_MOST_FORMULAS = 40
# The relation signs of a chain that puts its members in order: `a < b < c`
_SORTED = re.compile(r"\\[lg]t(?![a-zA-Z])|[<>]")


def _read(text: str) -> Node | None:
    """The formula that a text states; None if it cannot be read."""
    try:
        return parse_tokens(tokenize(text))
    except (Unreadable, TooComplex):
        return None


def without_exclusion(text: str, question: Question) -> str:
    r"""The formula without points at which it is undefined: `\frac{1}{x-2}` for `\frac{1}{x-2}, x\ne 2`.

    Each excluded value must be a zero of a denominator, in the formula or in the question's formulas. Any other text
    comes back as it is.
    """
    match = _EXCLUSION.search(text) if any(sign in text for sign in ("\\ne", "≠", "!=", "\\not")) else None
    if match is None or not (value := text[: match.start()]).strip() or _BOUNDED.search(value) is not None:
        return text
    own = _read(value)
    below = [
        part.below
        for formula in (*(() if own is None else (own,)), *islice(question.formulas.values(), _MOST_FORMULAS))
        for part in walk(formula)
        if isinstance(part, Quotient) and symbols(part.below) == {match["name"]}
    ]
    said = match["values"]
    points = (
        [said.removeprefix(match["both"]), f"-{said.removeprefix(match['both'])}"] if match["both"] else said.split(",")
    )
    values = list(map(_read, points))
    held = all(v is not None and any(exact_value(substituted(b, match["name"], v)) == 0 for b in below) for v in values)
    return value if held else text


_TRANSFORM = re.compile("laplace|z[- ]transf|лаплас|拉普拉斯|ラプラス|라플라스|z变换|z変換", re.IGNORECASE)
# The half-plane of a transform: `, s>3`, `(\\operatorname{Re}(s)>3)`
_REGION = re.compile(
    r"(?:\\[ ,;:!]|\\q?quad|[\s,;(]|\\text\s*\{[\s,(]*+(?:for|where|if|when|with)?\s*\})+"
    rf"(?:(?:\\Re|\\(?:operatorname|mathrm|text)\s*\{{\s*Re\s*\}}|Re)\s*(?:\\[ ,])?\s*[({{]?\s*)?"
    rf"(?P<name>[a-zA-Z])\s*[)}}]?\s*"
    rf"(?:>|\\gt)\s*(?P<least>{_VALUE})\s*\)?"
)


def without_region(text: str, question: Question) -> str:
    r"""The transform without the half-plane in which it converges: `\frac{1}{s-3}` for `\frac{1}{s-3}, s>3`.

    The half-plane must begin at a pole, with no real pole in it. Any other text comes back as it is.
    """
    match = next(_REGION.finditer(text), None) if ">" in text or "\\gt" in text else None
    if match is None or match.end() != len(text) or _TRANSFORM.search(question.text) is None:
        return text
    own = _read(text[: match.start()].rpartition("=")[2])
    if own is None or symbols(own) != {match["name"]} or match["name"] not in "spz":
        return text
    if text.count("(") != text.count(")"):
        return text
    below = [part.below for part in walk(own) if isinstance(part, Quotient)]
    below += [part.base for part in walk(own) if isinstance(part, Power) and (literal(part.exponent) or 0) < 0]

    def at(more: str) -> list[Fraction | None]:
        point = _read(f"{match['least']}{more}")
        return [None if point is None else exact_value(substituted(one, match["name"], point)) for one in below]

    # the half-plane begins at a real pole, or at the real part of a conjugate pair, and has no real pole in it
    beside = zip(at("+1"), at("-1"), strict=True)
    begins = 0 in at("+0") or any(one is not None and one == other for one, other in beside)
    has_pole = any(0 in at(f"+{more}/2") for more in range(1, _MOST_POLES))
    return text[: match.start()] if begins and not has_pole else text


_MOST_POLES = 60


# A text that states a set: there an exclusion such as `x\\ne 2` is a part of the answer
_BOUNDED = re.compile(r"[<>≤≥∈]|\\(?:[gl]eq?|[gl]t|in|mathbb)(?![a-z])")
# A value, and in brackets a remark about a different value: `x=2 (x=-1 is extraneous)`
_BRACKETED = re.compile(r"(?P<kept>[^()（）]*\S)\s*[(（](?P<said>[^()（）]{2,60})[)）]\s*\.?")
_REJECTS = re.compile(
    r"(?:extraneous|reject|discard|inadmissib|entfällt|verworfen|verwerf|scheinlösung|rejet|écart|descart|extrañ|scart"
    r"|estrane|rejeit|отбрасыва|посторонн|odrzuc|afgewezen|verworpen|förkast|舍去|舍|不合题意|增根)"
)
_CANDIDATES = frozenset(
    """other root candidate andere lösung nullstelle autre racine otra raíz solución altra radice soluzione outra raiz
    solução корень другой решение se""".split()  # noqa: SIM905
)
_REASONED = REASONS | {"as"}


def without_rejected(text: str, question: Question) -> str:
    r"""The value without a bracket that rejects a different value: `x=2` for `x=2\ (x=-1\text{ is extraneous})`.

    A bracket that gives a bound as the reason is dropped, too, if the value fulfils it: `x=2\ (\text{since }x>0)`. Any
    other text comes back as it is.
    """
    plain = " ".join(_SET_WORDS.sub(lambda said: f" {said[1] or ''} ", text).replace("~", " ").split())
    match = _BRACKETED.fullmatch(plain) if plain[-1:] in ")）" else None
    formulas = [one[0].strip() for one in _IN_WORDS.finditer(match["said"])] if match is not None else []
    if match is None or len(formulas) != 1 or _WORDED.search(_NAMED_SO.sub("", match["kept"])) is not None:
        return text
    words = [word.lower() for word in WORDS.findall(match["said"].replace(formulas[0], " "))]
    kept = _named_value(match["kept"]) if words else None
    if kept is None:
        return text
    other = _named_value(formulas[0])
    reason, _, bound = match["said"].strip().partition(" ")
    if reason.lower() in _REASONED:
        return match["kept"] if _fulfils(bound.strip(), *kept) else text
    asked = asked_of(question)
    said = all(
        _REJECTS.match(word) or word in _CANDIDATES or _leaves_value_unchanged(word, question, asked) for word in words
    )
    rejects = said and any(map(_REJECTS.match, words)) and other is not None and other[1] != kept[1]
    return match["kept"] if rejects and other is not None and (other[0] in ("", kept[0]) or not kept[0]) else text


def _named_value(text: str) -> tuple[str, Fraction] | None:
    """The name and the value of a text: `("x", 2)` for `x=2`, `("", 2)` for `2`; None if it states no number."""
    name, _, said = text.strip().rpartition("=")
    try:
        node = parse_tokens(tokenize(said))
    except (Unreadable, TooComplex):
        return None
    value = exact_value(node) if not symbols(node) else None
    return None if value is None or not (name.strip().isalpha() or not name) else (name.strip(), value)


def _fulfils(bound: str, name: str, value: Fraction) -> bool:
    """Whether a value fulfils a bound: 2 fulfils `x>0`. With a name, which may be empty, the bound must be about it."""
    match = re.fullmatch(r"([a-zA-Z])\s*(<|>|\\[gl]eq?|≤|≥)\s*(\S+)", bound)
    end = _named_value(match[3]) if match is not None else None
    if match is None or end is None or name not in ("", match[1]):
        return False
    greater = match[2] in (">", "≥", "\\ge", "\\geq")
    return (value > end[1] if greater else value < end[1]) or (value == end[1] and match[2] not in "<>")


# The topic of a sentence with its particle, in Japanese or Korean: `\\text{面積は}`
_TOPIC = re.compile(r"\\text\s*\{\s*(?P<said>[^{}\s]{2,12}?)[はが은는이가]\s*\}\s*")


def without_introduction(text: str, ref: Side, question: Question) -> str:
    r"""The answer without the words and labels around its value: `8` for `\text{Es gibt 8 Teiler}`.

    Which words are dropped depends on `ref`, the reference, and on the question. A text over `_LONGEST` stays as it is.
    """
    if len(text) > _LONGEST or is_wordless(text) or (is_of_numbers(text) and ">" not in text and "<" not in text):
        return text
    topic = None if text.isascii() else _TOPIC.match(text)
    if topic is not None and "=" not in ref.text and topic["said"] in question.text:
        text = text[topic.end() :]
    text = without_rejected(text, question) if text[-1:] in ")）}" else text
    if "=" not in ref.text:
        text = uncalled(text, question)
    if question.text and any(map(str.isdigit, ref.text)) and "=" not in ref.text:
        text = chosen_of(without_own_words(text, question.text, _measures), question)
        text = without_asked_base(text, question) if ref.text.isdigit() else text
    if isinstance(ref.node, Collection) and ref.text[:1] != "(" and _ALTERNATIVES.search(text):
        text = _without_indices(text, question)
    if isinstance(ref.node, Collection) and question.asks_order and _SORTED.search(text):
        text = _SORTED.sub(", ", text)
    if isinstance(ref.node, (Array, Collection, Connective)):
        text = by_sides(with_names(by_letters(text), question), question)
        text = unlabelled(components(text), ref.node)
    if text[-1:].isalpha() or text.endswith("}"):
        text = in_figures(text, question.text) if any(map(str.isdigit, ref.text)) else text
    if isinstance(ref.node, Relation) and (
        match := _BOUND_IN_WORDS.fullmatch(" ".join(_WRITING.sub(" ", text).split()))
    ):
        sign = ">" if match["more"] in ("greater", "larger", "more", "bigger") else "<"
        return f"{next(iter(sorted(symbols(ref.node))), 'x')}{sign}{'=' if match['equal'] else ''}{match['end']}"
    text = chance(counted(text if "=" in ref.text else extreme(text, question), question), question)
    if _EXCLUSION.search(ref.text) is None:
        text = without_exclusion(text, question)
    if ">" not in ref.text and "\\gt" not in ref.text:
        text = without_region(text, question)
    return told(least(text, question), question)


_ALTERNATIVES = re.compile(r"\\(?:lor|vee)(?![a-z])|∨|\\text\s*\{\s*or\s*\}")
_INDEXED = re.compile(r"([a-z])_\{?\d\}?(?=\s*=)")


def _without_indices(text: str, question: Question) -> str:
    r"""`x_1=1 \lor x_2=4` as `x=1 \lor x=4`, if one letter has the indices and the question has no indexed letter."""
    letters = set(_INDEXED.findall(text))
    return text if len(letters) != 1 or _INDEX.search(question.text) else _INDEXED.sub(r"\1", text)


_INDEX = re.compile(r"[a-z]_\{?\d")


def _measures(word: str) -> bool:
    """Whether a word is a unit of measurement, such as `cm`, or changes a number, such as `half`."""
    return operates(word) or is_physical(((singular(word), 1),))
