"""Comparisons of answers in words: choices, names, yes and no, sentences; and the order in which all rules are tried.

A rule gives EQUAL or DIFFERENT for pairs that it can decide, and UNKNOWN for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import BEFORE_NOUNS, JOINING_NAMES, asking_clause, same_word
from agentscope_tuner.verify.math.compare_claims import (
    ELEMENTS,
    cardinals,
    chemistry,
    configurations,
    growths,
    hypotheses,
    is_other_structure,
    laws,
    lines,
    matchings,
    products_of_vectors,
    quantified,
    roles,
    tables,
    turned_round,
)
from agentscope_tuner.verify.math.compare_notations import (
    LONGEST_FORM,
    LONGEST_OPTION,
    SET_TYPE,
    WRITING,
    bearings,
    days,
    digits,
    directed,
    money,
    permutations,
    records,
    remainders,
    times,
    unset,
    weekdays,
    whole_numbers,
)
from agentscope_tuner.verify.math.exact import exact_value
from agentscope_tuner.verify.math.named_parts import who_and_how_many
from agentscope_tuner.verify.math.node import (
    DIFFERENT,
    EQUAL,
    UNKNOWN,
    Outcome,
    difference,
    is_equation,
    symbols,
)
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.prose import (
    NEUTRAL,
    allowed,
    choice,
    is_many,
    is_sentence,
    letter,
    phrase,
    plain,
    signs,
    speaks_of_another,
)
from agentscope_tuner.verify.math.question import Question, is_english
from agentscope_tuner.verify.math.tokens import TooComplex, Unreadable
from agentscope_tuner.verify.math.units import operates
from agentscope_tuner.verify.math.unwrap import Pair
from agentscope_tuner.verify.words import CALLS_WRONG, DENIES, OFFERS, word_set

_YES_NO = re.compile(
    r"(yes|no|true|false|ja|nein|oui|non|sí|sim|não|sì|да|нет|はい|いいえ|네|예|아니[오요])\b(?:\s*[,.;:、，。–-]\s*(.*))?",
    re.IGNORECASE | re.DOTALL,
)
# A reason for a yes or a no, which must not say the contrary
_REASON = re.compile(
    r"\b(?:since|because|as|denn|weil|da|car|puisque|porque|pues|perché|poiché|pois|так как|потому что|поскольку)\b",
    re.IGNORECASE,
)
_TURNS_ROUND = re.compile(r"\b(?:false|wrong|incorrect)\b", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|isn['’]t|aren['’]t)\s+(?:an?\s+|the\s+)?(\w+)", re.IGNORECASE)
# Negations at the end of a sentence: `素数ではない`
_DENIED_BEHIND = re.compile(
    r"(?:では(?:ない|ありません)|じゃない|[이가] 아니(?:다|에요))(?:です)?[。.]?\Z|[이가] 아닙니다[。.]?\Z"
)
_COPULA_BEHIND = re.compile("(?:です|である|だ|입니다|이다)[。.]?\\Z")
_CAPITAL = re.compile("[A-J]")
_LONGEST_LETTER = 40
_SHORT_NAME = 3
_NAME_ALONE = re.compile(r"(?![a-z]$)[^\W\d_]+(?:['’ -]+[^\W\d_]+)*")
_NO_WORDS = frozenset({"not", "no", "does", "do", "exist", "exists", "cannot", "never", "such"})


def forms(pair: Pair) -> Outcome:
    """The outcome of the first rule of `_FORMS` that can decide the pair: `B \\to 1, A \\to 3` for `A-3, B-1`.

    These rules are for special forms such as matchings, distributions and money; they are tried before the parser reads
    the answer. UNKNOWN if no rule can decide.
    """
    if len(pair.truth) + len(pair.answer) > LONGEST_FORM:
        return UNKNOWN
    for rule in _FORMS_OF_FORMULAS if pair.is_formula else _FORMS:
        found = rule(pair)
        if found is not UNKNOWN:
            return found
    return UNKNOWN


_Rules = tuple[Callable[[Pair], Outcome], ...]
_YES_OR_NO = re.compile(
    r"(?:(?P<yes>yes|ja|oui|sí|sì|sim|да|так|tak|evet|ano|có|ya|da|igen|ναι|نعم|हाँ|हां|ใช่|是|はい|네|예)"
    r"|(?P<no>no|nein|non|não|нет|ні|nie|hayır|nee|ne|không|tidak|nej|nu|nem|όχι|لا|नहीं|ไม่|否|不|不是|いいえ|아니[요오]))"
    r"(?:\s*[,.;:，。、–—-]\s*(?P<rest>.+))?|(?P<alone>.+)"
)
_IT = r"(?:it|this|that|we|you|one|they|he|she)"
_CAN_BE = re.compile(
    rf"(?:{_IT}(?: is|['’]s) )?possible|{_IT} can(?: be done)?|(?:это )?(?:можно|возможно)|(?:das "
    rf"|es )?(?:ist möglich|geht)"
    r"|kann man|man kann(?: es| das)?|(?:c['’]est|il est) possible|on peut|(?:es|è|é) (?:posible"
    r"|possibile|possível)|se puede"
    r"|si può|可以|能够?|可能|有可能|存在"
)
_CANNOT_BE = re.compile(
    rf"(?:{_IT}(?: is|['’]s) )?(?:impossible|not possible)|{_IT} isn['’]t possible|{_IT} (?:cannot"
    rf"|can not|can['’]t)(?: be done)?"
    r"|(?:это )?(?:нельзя|невозможно|не возможно)|(?:das |es )?(?:ist (?:nicht möglich|unmöglich)"
    r"|geht nicht)|kann man nicht"
    r"|man kann(?: es| das)? nicht|(?:c['’]est|il est) impossible|(?:ce|il) n['’]est pas possible|on ne peut pas"
    r"|(?:es|è|é) (?:imposible|impossibile|impossível)|(?:no es|non è|não é) (?:posible|possibile|possível)|no se puede"
    r"|non si può|不可以|不能|不可能|不存在"
)
_ASKS_CAN = re.compile(
    r"\bcan\b|possib|можно|возможно|\bkann\b|möglich|\bpeut|\bpuede|posible|\bpuò|possív|能|可以|是否|存在",
    re.IGNORECASE,
)
_ASKS_CANNOT = re.compile(
    r"\b(?:no|not|never|nobody|none)\b|n['’]t\b|\bне\b|\bni(?:cht|e)\b|不"
    r"|impossib|\bcannot\b|can['’]t|нельзя|невозмож|unmöglich|imposib|impossív|不能|不可能|not possible",
    re.IGNORECASE,
)


def _possible(pair: Pair) -> Outcome:
    """Compare answers to whether something is possible: `No`, `No, it is impossible` and `It is impossible`."""
    if pair.question is None or pair.question.has(_ASKS_CANNOT):
        return UNKNOWN
    mine, theirs = (_said_possible(one, pair.question) for one in (pair.truth, pair.answer))
    if len(mine) != 1 or not theirs:
        return UNKNOWN
    return EQUAL if mine == theirs else DIFFERENT


def _said_possible(text: str, question: Question) -> frozenset[bool]:
    """Whether a text answers the question with yes, as a set: {False} for `No, it is impossible`.

    Both values if the text contradicts itself, `Yes, it is impossible`; empty if it says anything else.
    """
    match = _YES_OR_NO.fullmatch(unset(text).lower().rstrip(" .。!"))
    if match is None:
        return frozenset()
    rest = match["rest"] or match["alone"]
    found = set() if match["alone"] else {match["yes"] is not None}
    if rest is None:
        return frozenset(found)
    can = _CAN_BE.fullmatch(rest) is not None
    if not can and _CANNOT_BE.fullmatch(rest) is None:
        return frozenset()
    return frozenset((*found, can)) if found or _ASKS_CAN.search(question.text) is not None else frozenset()


def wordings(pair: Pair) -> Outcome:
    """The outcome of the first rule of `_WORDINGS` that can decide the pair, `May 5` for `5 May`; else UNKNOWN."""
    rules = _WORDINGS_OF_VALUES if pair.is_wordless else _WORDINGS_OF_FORMULAS if pair.is_formula else _WORDINGS
    if rules is _WORDINGS and is_other_structure(pair):
        return DIFFERENT
    for rule in rules:
        found = rule(pair)
        if found is not UNKNOWN:
            return found
    return UNKNOWN


# Letters of several choices, and the words that may be between them: `A,B,D`, `(B) and (A)`
_SEVERAL_LETTERS = re.compile(r"[A-H]{2,8}")
_AND_LETTERS = word_set(
    "and und et y e и ve dan và och en og i options option choices only"
    " statement statements nur aussagen solo solamente только tylko"
)
_NUMERALS = dict(zip("I II III IV V VI".split(), "ABCDEF", strict=True))  # noqa: SIM905
_PIECES = re.compile(r"[^\W\d_]+|\S")
_MARKS_OF_LETTERS = frozenset("(),;.、，；&和")


def _choice_letters(text: str) -> str:
    """The letters of several choices, in the text's order: `BA` for `(B) and (A)`, `AC` for `I and III only`.

    Empty for any other text.
    """
    if len(text) > _LONGEST_LETTER:
        return ""
    pieces = [one for one in _PIECES.findall(WRITING.sub(" ", text)) if one not in _MARKS_OF_LETTERS]
    pieces = [one for one in pieces if one.lower() not in _AND_LETTERS or one in _NUMERALS]
    if _NUMERALS.keys() >= {*pieces}:
        pieces = [_NUMERALS[one] for one in pieces]
    if len(pieces) > 1 and any(map(_SEVERAL_LETTERS.fullmatch, pieces)):
        return ""
    joined = "".join(pieces)
    return joined if _SEVERAL_LETTERS.fullmatch(joined) and len(set(joined)) == len(joined) else ""


def _several_choices(pair: Pair) -> Outcome:
    """Compare letters or numerals of several choices: `I, III` and `I and III only`."""
    mine = _choice_letters(pair.truth) if _CAPITAL.search(pair.truth) else ""
    if mine and OFFERS.search(pair.answer) is not None:
        return DIFFERENT
    if mine and sorted(mine) == list(mine) and (theirs := _choice_letters(pair.answer)):
        ordered = pair.question is not None and pair.question.orders(len(mine))
        # letters without a separator may be a name: `ABC` is not `BAC`
        is_list = theirs not in pair.answer and not ordered
        if theirs == mine or (is_list and sorted(theirs) == list(mine)):
            return EQUAL
    return UNKNOWN


def _choices(pair: Pair) -> Outcome:
    """Compare letters of single choices: `(B)` for `B`, and `B) 5` if the question offers 5 under B."""
    truth = letter(pair.ref.text) if _CAPITAL.search(pair.ref.text) else None
    stated = letter(_who_is(pair)) if len(pair.answer) < _LONGEST_LETTER else None
    if truth is None:
        # The reference may give a letter and a value: an answer may be that letter alone
        return EQUAL if stated is not None and stated == pair.ref.letter else UNKNOWN
    if stated is not None:
        return EQUAL if stated == truth else DIFFERENT
    chosen = choice(pair.answer)
    if chosen is None or chosen[0] != truth or not _is_offered(pair.question, *chosen):
        return UNKNOWN
    return EQUAL


# `B is the liar`, and the words by which a question asks for that person: `Who is the liar?`
_IS_THAT = re.compile(
    r"(?P<who>[^\W\d_]+)(?: (?:is|ist|est|es|è|é|jest|je|є|är|er)(?: (?:the|an?|der|die|das|le|la|el|il|den|de))?"
    r"| (?:[—–-]|это|to))(?P<role> [^\W\d_]{3,})"
)
_ASKS_WHO = re.compile(
    r"\b(?:who|which|wer|welche[rs]?|qui|lequel|laquelle|quién|quem|chi|кто|хто|kto|kdo|który|který|vem|hvem|wie)\b(?P<rest>[^,.?]*)",
    re.IGNORECASE,
)
_NOT_WHO = word_set("than as like not no never of's before after als que di від чем не ні ne nicht pas non não nie")


def _who_is(pair: Pair) -> str:
    """The name alone if the answer is a sentence about it: `B` for `B is the liar` and the question `Who is the liar?`

    The answer as it is if the name is not the reference's, or if the question does not ask who is that.
    """
    text, question = pair.answer, pair.question
    said = None if question is None else _IS_THAT.fullmatch(unset(text).rstrip(" ."))
    if said is None or question is None or said["who"] != unset(pair.ref.text):
        return text
    asked = [found["rest"].lower().split() for found in _ASKS_WHO.finditer(question.text)]
    if len(asked) != 1 or not _NOT_WHO.isdisjoint(asked[0]):
        return text
    is_asked = any(same_word(said["role"].strip().lower(), word) for word in asked[0][:_NEAR_WHO])
    return said["who"] if is_asked else text


_NEAR_WHO = 5


_TRUTHS = dict.fromkeys("正确 对 √ ✓ ✔ \\surd \\checkmark 是 맞다 참 正しい ○".split(), True)  # noqa: SIM905
_TRUTHS |= dict.fromkeys(
    """verdadero verdadeiro verdadera verdadeira vero vera vrai vraie wahr richtig waar верно истинно правда істинно
    prawda pravda doğru đúng benar صحيح सही σωστό sant adevărat igaz ถูก""".split(),  # noqa: SIM905
    True,
)
_TRUTHS |= dict.fromkeys(
    """falso falsa faux fausse falsch onwaar неверно ложно хибно fałsz nepravda yanlış sai salah خطأ गलत λάθος falskt
    fals hamis ผิด""".split(),  # noqa: SIM905
    False,
)
_TRUTHS |= {"true": True, "True": True, "false": False, "False": False}
_TRUTHS |= dict.fromkeys("错误 错 不正确 不对 × ✗ ✘ \\times 否 틀리다 거짓 誤り".split(), False)  # noqa: SIM905


_IS_CALLED_TRUE = re.compile("true|correct|right|valid|wahr|richtig|vrai|verdad|ver[ao]|верн|истин|прав", re.IGNORECASE)
_CALLED = re.compile(
    r"(?:(?:the|this|that|given|above|die|diese|la|cette|l['’]|esta|a|questa|данное|это)\s+)*"
    r"(?:statement|claim|assertion|proposition|aussage|behauptung|affirmation|afirmación|proposición|afirmação"
    r"|affermazione|утверждение|высказывание)\s+(?:(?:is|ist|est|es|é|è)\s+)?(?P<not>(?:not|nicht|no|não|non|не)\s+)?"
    r"(?P<said>true|false|correct|incorrect|wrong|valid|invalid|wahr|falsch|richtig|vraie?|fausse|verdader[oa]|fals[oa]"
    r"|verdadeir[oa]|ver[oa]|верно|неверно|истинно|ложно)[.]?"
    r"|(?:该|此|这个?|这一|本|上述|この|その)?(?:命题|说法|结论|判断|陈述|命題)[是はが]?(?P<told>正确|错误|不正确|不对|错|对|正しい|誤り)"
    r"(?:的|です|である)?[。.]?",
    re.IGNORECASE,
)


def _true_or_false(pair: Pair) -> Outcome:
    """Compare marks and words that say whether a statement is true: `√` and `正确`."""
    truth, stated = map(_truth_of, (pair.ref.text, pair.answer))
    if truth is None or stated is None:
        return UNKNOWN
    return EQUAL if truth is stated else DIFFERENT


def _truth_of(text: str) -> bool | None:
    """Whether a text says that a statement is true: False for `The claim is not true` and for the mark `×`.

    None if the text says anything else.
    """
    said = WRITING.sub(" ", text).strip() if len(text) <= LONGEST_OPTION else ""
    found = _CALLED.fullmatch(said)
    if found is None:
        mark = WRITING.sub("", text).strip()
        return _TRUTHS.get(mark, _TRUTHS.get(mark.lower()))
    word = found["said"] or found["told"]
    return (_TRUTHS[word] if word in _TRUTHS else _IS_CALLED_TRUE.match(word) is not None) is (found["not"] is None)


def _lone_signs(pair: Pair) -> Outcome:
    """Compare relation signs that fill gaps, and marks beside statements: `>,<,=`."""
    mine = signs(pair.ref.text)
    if mine is None:
        return UNKNOWN
    return EQUAL if signs(_sign_in_gap(pair)) == mine else DIFFERENT


_COMPARED = re.compile(r"(?P<left>[^<>=]+?)(?P<sign>\\[lg]t(?![a-z])|[<>=＞＜＝])(?P<right>[^<>=]+)")


def _sign_in_gap(pair: Pair) -> str:
    """The relation sign that fills the question's gap, `>` of `-3>-5` for `-3____-5`; any other answer as it is."""
    said = "".join(pair.answer.replace("$", "").split())
    found = _COMPARED.fullmatch(said) if len(said) <= LONGEST_OPTION else None
    if found is None or pair.question is None:
        return pair.answer
    gap = rf"(?<![\w.]){re.escape(found['left'])}[_○〇□()（）\\{{}}]+{re.escape(found['right'])}(?![\w.])"
    asked = "".join(pair.question.text.replace("$", "").replace("\\underline", "").split())
    return found["sign"] if re.search(gap, asked) is not None else pair.answer


def _is_offered(question: Question | None, letter_: str, value: str) -> bool:
    """Whether the question offers this value under this letter: 5 under B in `(A) 3 (B) 5`."""
    if question is None:
        return False
    offered = question.choices.get(letter_, "")
    offered, value = offered.replace("\\$", "$"), value.replace("\\$", "$")
    with suppress(Unreadable, TooComplex):
        if offered and exact_value(parse(offered)) == exact_value(parse(value)) is not None:
            return True
    plain, said = ("".join(WRITING.sub("", one).replace("\\%", "%").split()) for one in (question.text, value))
    return any(f"{letter_}{mark}{said}" in plain for mark in ")）.．:：、")


_CONVERGES = re.compile(
    r"(?:(?:the )?(?P<what>series|sequence|integral|it) )?(?:is )?"
    r"(?:(\w+?)(?:al)?(?:ly)? )?(con|di)verg(?:es?|ent|ence)"
    r"(?: (\w+?)(?:al)?(?:ly)?)?"
)
_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")


def _in_any_case(pair: Pair) -> Outcome:
    r"""Accept words beside a formula in upper or lower case: `\text{Reject } H_0` for `\text{reject } H_0`."""
    if "\\text" not in pair.truth or "\\text" not in pair.answer:
        return UNKNOWN
    mine, theirs = ("".join(_TEXT.sub(lambda m: m[1].lower(), side).split()) for side in (pair.truth, pair.answer))
    words = _TEXT.match(pair.truth)
    # `\\text{CO}` alone is a chemical formula, in which the case counts
    has_sign = words is not None and words.end() < len(pair.truth.rstrip()) and len(words[1].strip()) > len("CO2")
    return EQUAL if mine == theirs and has_sign else UNKNOWN


def _manner_of_convergence(pair: Pair) -> Outcome:
    """Accept a different wording of how a series converges: `converges conditionally`, `conditionally convergent`."""
    if "verg" not in pair.truth or len(pair.answer) > LONGEST_OPTION:
        return UNKNOWN
    mine, theirs = (
        _CONVERGES.fullmatch(" ".join(WRITING.sub(" ", side).lower().split()).rstrip(". "))
        for side in (pair.ref.text, pair.answer)
    )
    if mine is None or theirs is None:
        return UNKNOWN
    asked = "" if pair.question is None else pair.question.text.lower()
    if (theirs["what"] or "") not in f"{asked} it":
        return UNKNOWN
    return EQUAL if {*mine.groups()[1:], None} == {*theirs.groups()[1:], None} else UNKNOWN


_NAME_SET = re.compile(r"\\(?:text|mathrm)\s*\{\s*[a-z]{1,3}\s*\}\s*\^\s*(?:\d|\{\d\})")


_GROUPED = re.compile(r"([_^])\{(\w*[^\w{}][^{}]*)\}")


def _typeset(pair: Pair) -> Outcome:
    r"""Accept the same words or names with other commands for type: `\mathrm{SO}_4^{2-}` for `SO_4^{2-}`.

    Also a comma in braces: `3{,}5` for `3,5`.
    """
    if pair.answer.replace("{,}", ",") == pair.truth:
        return EQUAL
    # several characters in an index or exponent are kept together: `F_{n+2}` is not `F_n+2`
    mine, theirs = (SET_TYPE.sub("", _GROUPED.sub(r"\1(\2)", side)) for side in (pair.truth, pair.answer))
    is_told = not pair.truth.isascii() or unset(pair.truth) == unset(pair.answer)
    is_worded = is_told and "\\text" in pair.answer + pair.truth
    # the letters of `\text{sp}^2` are a name, not a product
    is_name = _NAME_SET.fullmatch(pair.truth) is not None or _NAME_SET.fullmatch(pair.answer) is not None
    return EQUAL if mine == theirs and (is_worded or is_name or mine[:1].isupper()) else UNKNOWN


def _phrases(pair: Pair) -> Outcome:
    r"""Compare standard phrases, such as `no solution`: `No real solutions` for `\text{no solution}`."""
    truth = phrase(pair.ref.text)
    if is_many(pair.ref.text, pair.answer, pair.question.text if pair.question is not None else ""):
        return EQUAL
    stated = None if truth is None else phrase(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    asked = f"{pair.question.text} {pair.ref.text}" if pair.question is not None else ""
    if truth == stated and asked and speaks_of_another(pair.answer, asked):
        return DIFFERENT
    return EQUAL if truth == stated else DIFFERENT


def _yes_no(pair: Pair) -> Outcome:
    """Compare a yes or a no, also with words that repeat the question: `True` for `Yes`, `Yes, 7 is prime`."""
    truth = yes_or_no(pair.ref.text, pair.question) if _YES_NO.search(pair.ref.text) else None
    stated = None if truth is None else yes_or_no(pair.answer, pair.question)
    if truth is None or stated is None:
        return UNKNOWN
    same = _AS_YES.get(truth, truth) == _AS_YES.get(stated, stated)
    return EQUAL if same else DIFFERENT


_AS_YES = {"true": "yes", "false": "no"}


def yes_or_no(text: str, question: Question | None) -> str | None:
    """The yes or no of a text, in its own language and in lower case: `yes` for `Yes, 7 is prime`.

    None if the text says something else, or if its reason contradicts it: `Yes, because 7 is not prime`.
    """
    match = _YES_NO.fullmatch(WRITING.sub(" ", text).strip())
    if match is None:
        return None
    rest, *reasons = _REASON.split(match[2] or "", maxsplit=1)
    if match[1].lower() in ("yes", "true") and any(_is_contrary(reason, question) for reason in reasons):
        return None
    if any(_holds(reason) is False for reason in reasons):
        return None
    if match[1][0] in "いは아네예" and rest and question is not None:
        # in a language without spaces, the rest must repeat the question's words; after a no they must be denied
        denied = _DENIED_BEHIND.search(rest)
        left = _COPULA_BEHIND.sub("", rest[: denied.start()] if denied is not None else rest)
        return match[1] if left in question.text and (denied is not None) == (match[1][0] in "い아") else None
    words, denying = rest.lower().split(), match[1].lower() in ("no", "false")
    others = [word for word in words if CALLS_WRONG.fullmatch(word.strip(".,!")) is None]
    is_named = len(words) - len(others) == 1 and CALLS_WRONG.search("" if question is None else question.text) is None
    if match[1].lower() not in _AFFIRMS and is_named and not reasons:
        # `Nein, falsch`
        repeats = all(_repeats_asked(one.strip(".,!").removeprefix("c'"), question) for one in others)
        return match[1].lower() if repeats else None
    if denying and question is not None and _affirms(match[2] or "", question.text) and not _is_true(text):
        return None
    asked = question.words if question is not None else frozenset()
    if all(allowed(w, asked, "") or (denying and w.strip(".") in _NO_WORDS) for w in words) or _is_true(text):
        return match[1].lower()
    words = [word.strip(".,!") for word in words]
    # after a yes the rest may repeat the question, and after a no it may deny it
    own = match[1].lower() in _AFFIRMS or not {*_NO_WORDS}.isdisjoint(words)
    again = all((denying and word in _NO_WORDS) or _repeats_asked(word, question) for word in words)
    if denying and not again:
        # after a no the rest may state the contrary of the question: `No, it is irrational`
        contrary = [word for word in words if _is_contrary_of(word, asked)]
        rest = [word for word in words if word not in contrary]
        own = again = len(contrary) == 1 and all(_repeats_asked(word, question) for word in rest)
    return match[1].lower() if own and again else None


# Prefixes that turn a word into its contrary: `irrational`, `divergiert`
_CONTRARY = re.compile(r"(?P<not>(?:un|in|im|ir|dis|non-?|не)(?=\w{4}))|(?P<apart>di(?=verg)|рас(?=ход))")


def _is_contrary_of(word: str, asked: frozenset[str]) -> bool:
    """Whether a word is one of the question's words with a prefix that denies it: `irrational` for `rational`.

    Args:
        word: a word of the answer.
        asked: the question's words.
    """
    found = _CONTRARY.match(word)
    if found is None:
        return False
    stem = word[found.end() :]
    stems = (stem,) if found["not"] else (f"con{stem}", f"kon{stem}", f"с{stem}")
    return any(same_word(one, other) for one in stems for other in asked)


_AFFIRMS = frozenset({"yes", "true", "ja", "oui", "sí", "sim", "sì", "да"})
_IS_TRUE = frozenset("true correct right stimmt richtig wahr vrai correcto cierto verdad verdade vero верно".split())  # noqa: SIM905


def _repeats_asked(word: str, question: Question | None) -> bool:
    """Whether a word behind a yes adds nothing: it affirms, is neutral, or is in the question: `Yes, 7 is prime`."""
    if word in _IS_TRUE or word in NEUTRAL:
        return True
    if question is None or word in DENIES:
        return False
    asked = question.text.lower()
    # `x=0`, as the question has it
    is_formula = (
        "=" in word and re.search(rf"(?<!\w){re.escape(word)}(?![\w.])", re.sub(r"\s*=\s*", "=", asked)) is not None
    )
    return is_formula or word in re.findall(r"\w+", asked)


def _is_contrary(reason: str, question: Question | None) -> bool:
    """Whether the reason after a yes denies what is asked: `because 7 is not prime`."""
    asked = question.words if question is not None else frozenset()
    return _TURNS_ROUND.search(reason) is not None or any(word.lower() in asked for word in _DENIED.findall(reason))


def _affirms(reason: str, asked: str) -> bool:
    """Whether the reason after a no states what is asked, and denies nothing: `because 9 is prime`.

    Args:
        reason: the words behind the no.
        asked: the question.
    """
    said = re.findall(r"[^\W\d_]+(?:['’]t)?", reason.lower())
    if any(word in DENIES or word in _NO_WORDS or word.endswith(("'t", "’t")) for word in said):
        return False
    contents = [
        word for word in said if len(word) > 2 and word not in NEUTRAL and word not in ("because", "since", "has")
    ]
    return bool(contents) and any(same_word(contents[-1], one) for one in re.findall(r"[^\W\d_]+", asked.lower()))


def _is_true(text: str) -> bool:
    """Whether the text behind its first word is only a true equation of numbers: `No, 91=7\\cdot 13`."""
    return _holds(WRITING.sub(" ", re.split(r"[,.;:]", text, maxsplit=1)[-1])) is True


def _holds(reason: str) -> bool | None:
    """Whether an equation of numbers is true: False for `because 1+1=3`; None for any other text."""
    try:
        node = parse(_REASON.sub("", reason, count=1))
    except (Unreadable, TooComplex):
        return None
    return exact_value(difference(*node.args)) == 0 if is_equation(node) and not symbols(node) else None


def _initials(pair: Pair) -> Outcome:
    """Accept the first letters of the question's options for the options, or the other way: `T, F`, `True, False`."""
    options = pair.question.options if pair.question is not None else frozenset()
    first = {word[0]: word for word in options}
    if len(first) != len(options) or len(pair.answer) > LONGEST_OPTION:
        return UNKNOWN
    sides = [[first.get(w, w) for w in plain(t).replace(",", " ").split()] for t in (pair.ref.text, pair.answer)]
    return EQUAL if sides[0] == sides[1] and sides[0] and set(sides[0]) <= options else UNKNOWN


# Words for the same property, one property a row; a pronoun and a verb may be before them: `it converges`
_PROPERTIES = tuple(
    re.compile(
        rf"(?:(?:they|it|these|sie|es|ils|elles|il|elle) )?(?:(?:is|are|ist|sind|est|sont|son|sono|são) )?(?:{one})"
    )
    for one in (
        r"perpendic\w+|orth?ogon\w+|senkrecht\w*|перпендикуляр\w+|ортогональн\w+|垂直|直交|수직|직교",
        r"converg\w+|konverg\w+|сходится|сходящ\w+|收敛|収束\w*|수렴\w*",
        r"diverg\w+|расходится|расходящ\w+|发散|発散\w*|발산\w*",
        r"(?:strictly |mono\w+ |streng )?(?:increas(?:es|ing)|wachsend|steigend|croissante?|creciente|crescent[ei])",
        r"(?:strictly |mono\w+ |streng )?(?:decreas(?:es|ing)|fallend|fällt|décroissante?|decreciente|decrescent[ei])",
        r"(?:line\w+ |linéairement )?(?:independent|unabhängig|indépendante?s?|independientes?)",
        r"(?:line\w+ |linéairement )?(?:dependent|abhängig|dépendante?s?|dependientes?)",
    )
)


def _one_property(pair: Pair) -> Outcome:
    """Accept a synonym for a property: `orthogonal` for `perpendicular`, `it converges` for `convergent`."""
    if len(pair.answer) > LONGEST_OPTION or len(pair.ref.text) > LONGEST_OPTION:
        return UNKNOWN
    truth, said = plain(pair.ref.text), plain(pair.answer)
    if not any(one.fullmatch(truth) is not None and one.fullmatch(said) is not None for one in _PROPERTIES):
        return UNKNOWN
    asked = "" if pair.question is None else pair.question.text.lower()
    # a qualified property may be a different answer: `strictly increasing` if the question distinguishes the two,
    # `linearly independent` if it is not about linear algebra
    is_linear = "line" in truth or "line" in said or "liné" in truth or "liné" in said
    is_other = any(one in asked for one in ("strict", "streng")) or (
        is_linear and "line" not in asked and "liné" not in asked
    )
    return UNKNOWN if is_other else EQUAL


def _same_words(pair: Pair) -> Outcome:
    """Compare names and other words: an answer may add neutral words, and words of the question but for its options.

    `It is Thursday` for `Thursday`; `odd function` for `odd` if the question is about a function.
    """
    truth = plain(pair.ref.text).split()
    if not truth or not _NAME_ALONE.fullmatch(" ".join(truth)) or len(pair.answer) > LONGEST_OPTION:
        return UNKNOWN
    said = plain(_who_is(pair)).replace(",", " ").split()
    if said == truth:
        return EQUAL if _same_case(pair) else DIFFERENT
    if _breaks_off(said, truth):
        return UNKNOWN
    more = {*said} - {*truth} - NEUTRAL - JOINING_NAMES
    if len(truth) == 1 and more and _YES_NO.fullmatch(truth[0]) is not None:
        # further words beside a yes or a no may contradict it
        return UNKNOWN
    truth = truth[truth[0] == "the" and len(truth) > 1 :]
    question = pair.question
    asked, options = (question.text, question.options) if question is not None else ("", frozenset())
    if said[:-1] == truth and any(f"{one} {said[-1]}" in asked.lower() for one in options):
        # `sometimes true`, if the question has `always, sometimes or never true`
        return EQUAL
    if len(truth) == len(said) == 1 and not truth[0].isascii():
        return _same_unspaced(truth[0], said[0], asked)
    if _is_object(truth, plain(pair.answer).split(), asked):
        return DIFFERENT
    words = question.words if question is not None else frozenset()
    offers = OFFERS.search(pair.answer) is not None and OFFERS.search(pair.ref.text) is None
    if offers or any(_is_member(part, truth) for part in _PARTED.split(plain(pair.answer))):
        return UNKNOWN
    said = said[said[:1] == ["one"] :]
    said = [word for at, word in enumerate(said) if not _is_named(said[max(at - 1, 0) : at + 1], asked)]
    if truth[-1] in options and _STRICTLY.isdisjoint((*words, *truth)):
        said = [word for word in said if word not in _STRICTLY]
    left = [w for w in said if w in truth or w in options or w.isdigit() or not _adds_nothing(w, words, asked)]
    own = [w for w in truth if w in options or w not in words]
    # a noun of the question may be left out: `odd` for `odd function`
    short_of = [own] if own == truth[: len(own)] and not NEUTRAL.issuperset(own) else []
    return EQUAL if left in (truth, [w for w in truth if w not in NEUTRAL], *short_of) else UNKNOWN


def _same_unspaced(truth: str, said: str, asked: str) -> Outcome:
    """Compare two words of a script without spaces, as `_same_words` does: `等腰三角形` for `等腰`.

    Args:
        truth: the reference.
        said: the answer.
        asked: the question, whose words the answer may repeat before or behind the reference.
    """
    before, _, behind = said.partition(truth)
    kind = truth.removeprefix(said)
    if kind != truth and len(said) > 1 and re.search(f"(?:什么|何种|哪种|哪类){re.escape(kind)}", asked):
        return EQUAL
    subject = _SUBJECT.sub("", before)
    around = (
        {_COPULA.sub("", behind).removeprefix("是").removesuffix("者"), subject}
        if subject[1:] or not subject
        else {"?"}
    )
    if before.endswith(("比", "于", "於")):
        # the answer compares something else with the reference
        return DIFFERENT
    if behind.startswith("的"):
        # the answer is something that belongs to the reference
        return DIFFERENT
    framed = truth in said and all(rest in asked for rest in around)
    return EQUAL if framed and not _TURNED.search(before + behind) else UNKNOWN


def _adds_nothing(word: str, words: frozenset[str], asked: str) -> bool:
    """Whether a further word in an answer adds nothing: it joins names, is neutral, or is in the question.

    Args:
        word: the word of the answer.
        words: the question's words.
        asked: the question's text.
    """
    return word in JOINING_NAMES or allowed(word, words, asked) or _is_inflected(word, asked)


_FEWEST_SHARED = 5


def _is_inflected(word: str, asked: str) -> bool:
    """Whether a word is an inflected form of a word of the question: `wygrała` for `wygrał`.

    Never for English questions, short words, words that calculate, and forms of a word that denies, such as `keiner`.
    """
    if len(word) < _FEWEST_SHARED or is_english(asked.lower()) or operates(word):
        return False
    forms = (one for one in asked.lower().split() if one[:_FEWEST_SHARED] == word[:_FEWEST_SHARED])
    return any(same_word(one, word) for one in forms) and not any(same_word(word, one) for one in DENIES)


_BEFORE_OBJECTS = word_set(
    """of before after than de del di da do von vor nach avant après antes después prima dopo после до перед przed po"""
)


def _is_object(truth: Sequence[str], said: Sequence[str], asked: str) -> bool:
    """Whether the answer only mentions the reference, as `the sister of Joe` mentions `Joe`.

    False for `the city of Paris` if the question asks for a city.

    Args:
        truth: the words of the reference.
        said: the words of the answer.
        asked: the question.
    """
    at = next((at for at in range(1, len(said)) if list(said[at : at + len(truth)]) == list(truth)), 0)
    if not at or said[at - 1] not in _BEFORE_OBJECTS:
        return False
    kind = next((word for word in reversed(said[: at - 1]) if word not in NEUTRAL), "")
    clause = re.findall(r"[^\W\d_]+", (asking_clause(asked)[0] or re.split(r"[.。]\s*(?=\S)", asked)[-1]).lower())
    asks_kind = bool(kind) and any(same_word(kind, word) for word in clause)
    only_of = said[at - 1] in ("of", "de", "di", "von") and said[at - 2] not in _BEFORE_OBJECTS
    return not (only_of and asks_kind)


# Words that may be added to `increasing` and `decreasing`
_STRICTLY = frozenset("strictly streng strictement estrictamente strettamente strikt строго ściśle".split())  # noqa: SIM905


def _is_named(words: Sequence[str], asked: str) -> bool:
    """Whether a word and a number are together in the question, too: `number 8` if it has `the number 8`."""
    return len(words) == 2 and words[1].isdigit() and f" {' '.join(words)} " in f" {asked.lower()} "


# Separators of the members of a list
_PARTED = re.compile(r",|;|/|&|\b(?:and|und|et|y|e|ed|o|и|en|of|i|og|och|ve|hay)\b")


def _is_member(part: str, truth: Sequence[str]) -> bool:
    """Whether a part of an answer names a further thing: `Anna` in `Anna, Clara` for the reference `Clara`.

    A part with an article or a verb only describes the reference: `the tallest` in `Clara, the tallest`.
    """
    words = part.split()
    return bool(words) and set(words).isdisjoint(truth) and (NEUTRAL | JOINING_NAMES | _IS_TRUE).isdisjoint(words)


_TURNED = re.compile("[不非未无没]")
_SUBJECT = re.compile("^(?:该|这个|此|它|其|この|その|これ|それ)|(?:是|为|は|が|은|는|이|가)$")
_COPULA = re.compile("^(?:である|です|だ|이다|입니다)[。.]?$|^。$")


def _same_case(pair: Pair) -> bool:
    """Whether short names agree in their capitals: False for `CO` and `Co`, and for every chemical element."""
    mine, theirs = ("".join(WRITING.sub("", side).split()) for side in (pair.ref.text, pair.answer))
    return mine not in ELEMENTS and (
        len(mine) > _SHORT_NAME or mine[1:] == theirs[1:] or mine.lower() != theirs.lower() or mine.isupper() is False
    )


_FILLING = frozenset("a all an in is it its of the unit units".split())  # noqa: SIM905
_ORDERING = frozenset("after before but by from less minus more no not or over than then to".split())  # noqa: SIM905


def _amounts(pair: Pair) -> Outcome:
    """Compare a number with its words, in any order: `a profit of 20` and `20 profit`."""
    sides = pair.ref.text, pair.answer
    if len(pair.answer) > LONGEST_OPTION or not all(map(_WORDED.search, sides)):
        return UNKNOWN
    if any(sign in pair.ref.text + pair.answer for sign in "=<>^_+*/"):
        return UNKNOWN
    mine, theirs = (_WORD_OR_NUMBER.findall(plain(side).replace("to the ", "")) for side in sides)
    if _breaks_off(theirs, mine):
        return UNKNOWN
    mine, theirs = ([w for w in side if w not in _FILLING] for side in (mine, theirs))
    words = [[w for w in side if w[0].isalpha()] for side in (mine, theirs)]
    # the number may be before or behind its words, and a letter before or behind a single word
    letter_first = len(mine) == 2 and min(map(len, mine)) == 1 and mine == theirs[::-1]
    if (
        sorted(mine) != sorted(theirs)
        or sum(w[0].isdigit() for w in mine) > 1
        or not (letter_first or words[0] == words[1])
    ):
        return UNKNOWN
    return EQUAL if _ORDERING.isdisjoint(mine) else UNKNOWN


def _breaks_off(said: list[str], truth: list[str]) -> bool:
    """Whether an answer breaks off after a word that needs a noun, which the reference does not have: `5 hours of`."""
    return not BEFORE_NOUNS.isdisjoint({*said[-1:]} - {*truth})


_WORDED = re.compile(r"\\text\s*\{[^{}]*[a-z]{3}")
_WORD_OR_NUMBER = re.compile(r"\\?[^\W\d_]+|\d+(?:\.\d+)?|[^\s\w]")


def _sentences(pair: Pair) -> Outcome:
    """Accept the sentence of a reference without a value, in any typesetting and case; UNKNOWN for other words."""
    if pair.ref.reading is not None or not is_sentence(pair.ref.text):
        return UNKNOWN
    return EQUAL if _plain_words(pair.ref.text) == _plain_words(pair.answer) else UNKNOWN


def _plain_words(text: str) -> str:
    r"""A text in lower case without spaces, commands for type and a final full stop: `itis` for `\text{It is}.`"""
    return "".join(WRITING.sub(" ", text).lower().replace("\\(", "").replace("\\)", "").split()).rstrip(".")


_FORMS: _Rules = (
    matchings,
    roles,
    laws,
    growths,
    quantified,
    hypotheses,
    _possible,
    _several_choices,
    cardinals,
    directed,
    money,
    lines,
    tables,
    who_and_how_many,
)
_WORDINGS: _Rules = (
    products_of_vectors,
    _choices,
    _true_or_false,
    _lone_signs,
    bearings,
    times,
    weekdays,
    days,
    remainders,
    whole_numbers,
    records,
    digits,
    _manner_of_convergence,
    _in_any_case,
    permutations,
    configurations,
    chemistry,
    turned_round,
    _typeset,
    _phrases,
    _yes_no,
    _initials,
    _one_property,
    _same_words,
    _amounts,
    _sentences,
)
# The rules that apply to texts without words
_FORMS_OF_FORMULAS: _Rules = (matchings, money, lines)
_WORDINGS_OF_VALUES: _Rules = (remainders, configurations, whole_numbers, records)
_WORDINGS_OF_FORMULAS: _Rules = (
    products_of_vectors,
    _lone_signs,
    days,
    *_WORDINGS_OF_VALUES,
    permutations,
    _typeset,
    _same_words,
)
