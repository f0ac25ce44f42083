"""The verdict on an answer at its position in the output: the words around it and the values behind it count, too."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache

from agentscope_tuner.verify import re
from agentscope_tuner.verify.again import (
    CALLS_RIGHT,
    CONCLUDING,
    IS_SAID,
    LIST,
    ROUGHLY,
    ROUGHLY_BEFORE,
    NewFormula,
    NewNumber,
    announces,
    is_of_else,
    sentence_around,
    turns,
)
from agentscope_tuner.verify.asked_clause import (
    BEFORE_NOUNS,
    asking_clause,
    compares,
    is_of_total,
    same_word,
    subject_of_another,
)
from agentscope_tuner.verify.find import PlacedAnswer
from agentscope_tuner.verify.labels import CONTRADICTION, is_denied, same_text
from agentscope_tuner.verify.math.around import (
    given_noun,
    is_alone,
    is_in_another_dimension,
    said_by,
    units_of,
    with_unit,
    with_unit_in_english,
)
from agentscope_tuner.verify.math.compare_notations import NEXT_DAY_BEHIND
from agentscope_tuner.verify.math.compare_words import yes_or_no
from agentscope_tuner.verify.math.exact import value_at
from agentscope_tuner.verify.math.node import DIFFERENT, Quantity
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.prose import allowed, time_of_day
from agentscope_tuner.verify.math.quantities import is_other_kind, names_one_quantity, names_quantity, speaks_of_another
from agentscope_tuner.verify.math.question import about
from agentscope_tuner.verify.math.tokens import TooComplex, Unreadable, tokenize
from agentscope_tuner.verify.math.units import PhysicalUnit, measure, operates
from agentscope_tuner.verify.math.unwrap import bare, reference, short
from agentscope_tuner.verify.math.verdict import (
    UNREAD,
    Asking,
    MathVerdict,
    answered,
    awaited,
    verdict_of,
    written_alike,
)
from agentscope_tuner.verify.number_words import is_number_word
from agentscope_tuner.verify.remarks import IN_FACT, is_neutral
from agentscope_tuner.verify.words import (
    CALLS_WRONG,
    OFFERS,
    OPENS,
    OPERATES_SOON,
    SENTENCE_END,
    SO,
    SOUGHT,
    SUPPOSES,
    VERBS,
    WORDS,
    denies,
    repeats_given,
    word_set,
)


def _is_given(again: str, answer: str, behind: str, question: str) -> bool:
    """Whether a number behind an answer only repeats the question's: `12` in `12 weeks in 84 days`.

    In a later sentence, it has to be beside other numbers of the question: `She had 12, and ate 5.`

    Args:
        again: the number.
        answer: the answer itself.
        behind: the text behind the answer.
        question: the text of the question.
    """
    number = _number_pattern(again)
    sentences = SENTENCE_END.split(behind)
    at = next((at for at, one in enumerate(sentences) if number.search(one)), len(sentences))
    if at == len(sentences) or announces(behind) or number.search(question) is None:
        return False
    if at:
        return repeats_given(sentences[at], f"{question} {answer}")
    found = number.search(sentences[0])
    return found is not None and any(map(str.isalpha, sentences[0][: found.start()]))


_CLAUSES = re.compile(r"[,，;；。!！?？\n]|\.(?!\d)|\b(?:and|while|whereas)\b")


def _is_of_another(again: str, behind: str, question: str) -> bool:
    """Whether a number behind an answer belongs to a different person or thing: `and Ann is 12` for Tom's age.

    Args:
        again: the number.
        behind: the text behind the answer.
        question: the text of the question.
    """
    number = _number_pattern(again)
    clause = next((one for one in _CLAUSES.split(behind) if number.search(one)), "")
    found = number.search(clause)
    if found is None or clause[: found.start()].endswith("("):
        # the number of a part
        return False
    led = clause[: found.start()]
    if re.search(r"\b(?:really|actually|in truth|in fact)\b", led, re.IGNORECASE) is not None:
        return False
    is_else = is_of_total(led, question) or subject_of_another(led, question) != ""
    return is_else or _is_of_another_owner(led, question)


# A comma within a pair of numbers ends none
_ENDS_CLAUSE = re.compile(r"[;；。!！?？\n]|[,，](?!\s?-?\d)|\.(?!\d)")


def _subject_before(before: str, question: str) -> str:
    r"""The person of the question to whom a box is given, if a different one is asked for: `Ann` for
    `So Ann is \boxed{24}`.

    Empty if there is none.
    """
    near = before[-_NEAR_SUBJECT:]
    # it begins in one of the last two lines
    ends = _ENDS_GIVEN_TO.search(near, near.rfind("\n", 0, max(near.rfind("\n"), 0)) + 1)
    if ends is None:
        return ""
    # most sentences have a line of their own
    begins = near.rfind("\n", 0, ends.start()) + 1
    is_all = begins > 0 and begins == ends.start() and _CLAUSES.search(near, begins) is None
    clause = (near[begins:] if is_all else _CLAUSES.split(near)[-1]).rstrip(" $\\([{*:：")
    if (kin := _KIN.search(clause)) is not None and kin[1].lower() in question.lower():
        # `Mia's brother is`, if Mia's age is asked for
        return "" if kin[1].lower() in asking_clause(question)[0].lower() else kin[1]
    named = _GIVEN_TO.fullmatch(clause)
    first = re.search(r"[A-ZÀ-ÞА-Я]\w+(?=\s\w+\Z)", clause)
    if named is None or (first is not None and re.search(rf"(?<!\w){first[0].lower()}(?!\w)", question) is not None):
        # a word that the question writes in lower case is no name: `Se necesitan`
        return ""
    return subject_of_another(clause, question)


_NEAR_SUBJECT = 80
_KIN = re.compile(
    r"[A-Z]\w{1,20}['’]s ((?:grand|step)?(?:brother|sister|mother|father|son|daughter|parent)"
    r"|mom|dad|wife|husband|friend|cousin|uncle|aunt|nephew|niece|teacher|partner|neighbou?r|twin|boss|dog|cat)"
    r" (?:is|was|has|had|gets|got|earns|pays)\Z"
)
# A name with its verb and nothing else
_GIVEN_TO = re.compile(
    r"\W*(?:(?i:so|thus|therefore|hence|then|and|also|daher|donc|luego|quindi|portanto)\s)*[A-ZÀ-ÞА-Я]\w+\s\w+"
    r"|\W*(?:所以|因此|则|那么|故|答[:：]?)?[\u4e00-\u9fff]{1,6}[是有为]"
)
# How such a clause ends: a faster search, done first
_ENDS_GIVEN_TO = re.compile(r"(?:[A-ZÀ-ÞА-Я]\w+(?:['’]s \w+)?\s\w+|[是有为])[ $\\(\[{*:：]*\Z")


def _without_word(roughly: re.Match[str]) -> str:
    """The mark of a rounded value without its word: ` $` for `about $`. A `≈` stays."""
    said = roughly[0]
    return said if "≈" in said or "\\" in said else said[len(said.rstrip("$ \n\t")) :]


_HAS_DECIMALS = re.compile(r"\d(?:[.,]|\{,\})\d")


_NOUN_UNSPACED = re.compile(r"[\s$]*+(?:\\[)\]])?\s*+(?P<noun>[\u3040-\u9fff]{1,4}?)(?=[。，,.!！\s]|あ|で|\Z)")
_ASKED_UNSPACED = re.compile(r"(?:多少|[几幾何])(?P<noun>[\u3040-\u9fff]{1,4})")


def _given_unspaced(text: str, behind: str, question: str) -> str:
    """The noun right behind a box, in a language without spaces, if the question asks for a different one.

    `辆` for `20辆` if the question gives a number of `辆`, and asks `多少人`. Empty if there is none.

    Args:
        text: the answer in the box.
        behind: the text behind the box.
        question: the text of the question.
    """
    said = _NOUN_UNSPACED.match(behind) if text.isdigit() else None
    asked = None if said is None else _ASKED_UNSPACED.search(asking_clause(question)[0])
    if said is None or asked is None or said["noun"] in asked["noun"]:
        return ""
    noun = said["noun"]
    # two things with one measure word are distinguished by their names: `个盘子`, `个苹果`
    differs = asked["noun"][0] != noun[0] or (len(noun) > 1 < len(asked["noun"]) and asked["noun"][1] != noun[1])
    is_given = re.search(rf"\d\s?{noun}", question) is not None and differs
    return noun if is_given and re.search(rf"\d\s?{asked['noun'][0]}", question) is not None else ""


def _said_again(found: PlacedAnswer, question: str | None) -> list[tuple[str, ...]]:
    """The values that the text behind an answer states for it again, each in its possible spellings.

    Left out are the numbers that the question gives, and those that belong to other things.
    """
    if (other := _other_coordinate(found.text or "", found.behind)) != "":
        return [(other,)]
    if not found.again:
        return []

    def speaks(number: str) -> bool:
        """Whether a number behind the answer may be a second value for it, and does not belong to something else."""
        number = number.removeprefix(ROUGHLY)
        return not question or not (
            is_of_else(number, found.behind, question)
            or _is_shown_else(number, found, question)
            or _is_put_in(number, found, question)
        )

    last = next((one for one in found.again if isinstance(one, NewNumber) and speaks(one[-1])), None)
    again = [one for one in found.again if not isinstance(one, NewNumber) or one is last]
    if not question:
        return again
    again = [one for one in again if not isinstance(one, NewFormula) or _is_of_asked(one.led, question)]
    again = [one for one in again if not _is_the_same_amount(one, found, question)]
    again = [
        one
        for one in again
        if not isinstance(one, NewNumber) or not _is_given(one[-1], found.text or "", found.behind, question)
    ]
    return [one for one in again if not _is_of_another(one[-1], found.behind, question)]


_NAMED_COORDINATE = re.compile(
    r"(?<![a-zA-Z])(?P<axis>[xyz])\$?\s?[-–]?\s?(?:[cCkK]oord\w*|坐标|座標|좌표|координат\w*)(?:\s?[^\W\d_]{1,8})?"
    r"[\s$=:：]*(?P<said>-?\d+(?:[.,]\d+)?)(?![\d/^])"
)
_NUMBERS = re.compile(r"(?:\\left)?\((?P<said>[-\d.,;\s]+?)(?:\\right)?\)")


def _other_coordinate(text: str, behind: str) -> str:
    """The number that the text behind a point calls one of its coordinates, if it is not: `5` for `x-coordinate is 5`.

    Empty if there is none.
    """
    point = _NUMBERS.search(text) if "oord" in behind or "标" in behind or "標" in behind or "좌표" in behind else None
    if point is None:
        return ""
    values = dict(zip("xyz", map(_number, re.split("[,;]", point["said"])), strict=False))
    named = _NAMED_COORDINATE.finditer(behind)
    return next((one["said"] for one in named if values.get(one["axis"]) not in (None, _number(one["said"]))), "")


def _is_shown_else(number: str, found: PlacedAnswer, question: str) -> bool:
    """Whether the words around a number behind an answer show that it is a different quantity, or a part of a check.

    They do so by its unit, by a noun or a case of its own, or by arithmetic that leads from the answer to the number.
    """
    behind, text = found.behind, found.text or ""
    at = next(reversed(list(itertools.islice(_number_pattern(number).finditer(behind), _MOST_SAID))), None)
    if at is None:
        return False
    begins, sentence = sentence_around(behind, *at.span())
    words = WORDS.findall(_FORMULAS.sub(" ", sentence).lower())
    if _turns_back(sentence) or any(map(_calls_right, words)):
        return False
    given = {*_values_in(question)}
    if any(
        _number_pattern(number).search(one[0]) and given.issuperset(_values_in(one[0]))
        for one in _EXCLUDES.finditer(sentence)
    ):
        # values that the answer excludes: `for $x\\ne 3,-4$`
        return True
    if (point := _AT_POINT.search(sentence)) is not None and point["letter"] in _letters(text):
        said = re.sub(rf"(?<![a-zA-Z\\]){point['letter']}(?![a-zA-Z])", f"({point['at']})", text.rpartition("=")[2])
        return _number(said) == _number(number) is not None
    supposes = _is_hypothetical(behind[begins : at.start()], sentence, number, text, question)
    # a denial of two other things denies no answer
    denies_else = not any(map(denies, words[:1])) and _POINTS_BACK.isdisjoint(words)
    turning = [one for one in words if turns(one) and not (one in SUPPOSES or (denies_else and denies(one)))]
    if {*turning} - {"would"} and not supposes:
        return False
    led = _CLAUSES.split(behind[begins : at.start()])[-1]
    counted = next(iter(WORDS.findall(behind[at.end() : at.end() + _NEAR_SUBJECT])), "")
    noun = " ".join([*led.rstrip(" $").split()[-_MOST_OF_NOUN:], counted])
    return (
        supposes
        or (
            any(map(str.isalpha, behind[: at.start()]))
            and not _says_asked(led, noun, question)
            and is_in_another_dimension(found, _quantity(text), at.end(), question)
        )
        or speaks_of_another(noun, question) is True
        or _is_of_opposite(f"{led}{_ENDS_CLAUSE.split(behind[at.start() :])[0]}", question)
        or _is_checked(number, text, behind[: at.start()], sentence, question)
        or _is_derived(number, text, led, question)
    )


def _is_of_another_owner(led: str, question: str) -> bool:
    """Whether a clause is about a different thing of the question: `The speed of the wind is`, if the boat's is asked
    for.
    """
    said, asked = (WORDS.findall(one.lower()) for one in (led, asking_clause(question)[0]))
    if not SO.isdisjoint(said) or any(map(turns, said)):
        return False
    told = WORDS.findall(question.lower())
    for at, noun in enumerate(said):
        places = [place for place, one in enumerate(asked) if len(noun) >= _STEM - 1 and same_word(noun, one)]
        mine, theirs = _next_noun(said[at + 1 :]), [_next_noun(asked[place + 1 :]) for place in places]
        if mine and theirs and all(theirs) and not is_neutral(mine) and not any(same_word(mine, one) for one in asked):
            return any(same_word(mine, one) for one in told)
    return False


def _next_noun(words: Sequence[str]) -> str:
    """The next noun behind articles and prepositions: `boat` for `of the boat`. Empty if a verb comes first, or
    nothing.
    """
    one = next((one for one in words if one not in BEFORE_NOUNS), "")
    return "" if len(one) < _STEM - 1 or one in VERBS or one in OPENS else one


def _is_put_in(number: str, found: PlacedAnswer, question: str) -> bool:
    """Whether a number is only in a formula of the question with the answer in place of its letter.

    9 in `$3+6=9$`, behind the answer 3 to `Solve $x+6=9$`.
    """
    letter, _, value = (found.text or "").rpartition("=")
    letters = [letter.strip()] if letter else _letters(asking_clause(question)[0])
    said = found.behind.split("$")
    told = [one.strip("$") for one in _FORMULAS.findall(question)] if sum(number in one for one in said) == 1 else []
    put = (
        re.sub(rf"(?<![a-zA-Z\\]){one}(?![a-zA-Z])", lambda _: value.strip(), formula)
        for one in letters
        if len(one) == 1 and one.isalpha()
        for formula in told
    )
    formulas = {"".join(one.split()) for one in said if number in one}
    return any("".join(one.split()) in formulas for one in put)


_MOST_SAID, _MOST_PAIRS, _MOST_OF_NOUN = 8, 30, 4
_FORMULAS, _EQUATIONS = re.compile(r"\$[^$]*\$"), re.compile(r"\$[^$=]*=[^$]*\$")
_SPEAKS_OF_ANSWER = re.compile(
    r"\A\W*no(?![^\W_])|答案|所求|应[为是该]|更正|其实"
    r"|(?<![^\W_])(?:oops|sorry|precisely|again|answer|result|choice|pick)(?![^\W_])",
    re.IGNORECASE,
)
_OWN = word_set("its their his her sein seine ihr ihre su sus sa ses suo sua sue seu seus его её их jego jej")
_POINTS_BACK = word_set("it this that es das dies ce cela eso esto questo isso это ella elle они она")
# Words at the beginning of a sentence about a supposed or different case
_OTHERWISE = SUPPOSES | word_set("without ohne sans sin senza sem без bez zonder utan")
_CASES = _OTHERWISE | word_set(
    "when with for at by con para com por mit für bei avec pour per quando cuando lorsque при для с voor khi"
)
_CASE_UNSPACED = re.compile(r"\W*(?:如果|[若当]|もし)")
_WOULD = re.compile(
    r"\b(?:(?<!\bit )would|w[äü]r(?:de)?n?e?n?|gäbe|hätten?|(?:aur|ser|dur)ai(?:en)?t|\w+rían?|\w+ri[ae]m?"
    r"|\w+rebbe(?:ro)?|бы|byłoby|zou(?:den)?|skulle)\b"
)
_EXCLUDES = re.compile(r"\$[^$]*(?:\\neq?(?![a-z])|≠)[^$]*\$")
_AT_POINT = re.compile(r"(?<![a-zA-Z])(?P<letter>[a-z])\s*=\s*(?P<at>-?\d{1,6})(?![\d.])")
_OPPOSITES = (
    (
        "maxim|größt|höchst|máxim|massim|макс|наибольш|największ|en büyük|lớn nhất|最大|최대",
        "minim|kleinst|niedrigst|mínim|наименьш|миним|najmniejsz|en küçük|nhỏ nhất|最小|최소",
    ),
    (
        r"\b(?:increas|croissant|creci|cresc|rosn|artan|đồng biến)|wachsend|steigend|возраст|递增|増加|증가",
        r"\b(?:d[eé]cr[eo]|malej|azalan|nghịch biến)|fallend|убыва|递减|減少|감소",
    ),
)


def _turns_back(sentence: str) -> bool:
    """Whether a sentence offers a different answer, or takes this one back: `Sorry, the answer is 6.`"""
    begun = IN_FACT.match(sentence)
    is_instead = begun is not None and begun["instead"] is not None
    return is_instead or OFFERS.search(sentence) is not None or _SPEAKS_OF_ANSWER.search(sentence) is not None


def _number_pattern(number: str) -> re.Pattern[str]:
    """A pattern that finds this number as a whole: `5` in `5 apples`, not in `15` or `5.5`."""
    return re.compile(rf"(?<![\d.,]){re.escape(number)}(?![\d.,]*\d)")


def _calls_right(word: str) -> bool:
    """Whether a word calls an answer right: `correct`."""
    return CALLS_RIGHT.fullmatch(word) is not None and not word.startswith(("total", "value"))


def _is_hypothetical(led: str, sentence: str, number: str, text: str, question: str) -> bool:
    """Whether a sentence is about a supposed case, not the question's: `If it were 7, we would get 10.`

    Args:
        led: the words of the sentence before the number.
        sentence: the sentence.
        number: the number behind the answer.
        text: the answer.
        question: the text of the question.
    """
    first, (case, *more) = next(iter(WORDS.findall(sentence.lower())), ""), _values_in(sentence) or [Fraction(0)]
    would, begins = _WOULD.search(sentence) is not None, first in _CASES or _CASE_UNSPACED.match(sentence)
    if would and first in _OTHERWISE:
        return True
    if would and begins and [case] == _values_in(number) and case not in _values_in(f"{question} {text}"):
        return True
    if not begins or not more or "%" in sentence or case in _values_in(f"{question} {text} {number}"):
        return False
    said, asked = WORDS.findall(led.lower()), WORDS.findall(asking_clause(question)[0].lower())
    return would or not any(len(one) > 2 and same_word(one, other) for one in said for other in asked)


def _is_of_opposite(sentence: str, question: str) -> bool:
    """Whether a sentence is about the opposite of what is asked for: about the minimum, if a maximum is asked for."""
    texts = question.lower(), sentence.lower()
    said = ([[re.search(one, text) is not None for one in pair] for text in texts] for pair in _OPPOSITES)
    return any(asked[0] != asked[1] and asked == told[::-1] for asked, told in said)


def _values_in(said: str) -> list[Fraction]:
    """The numbers of a text: 1000 and 5/2 for `1,000 and 2,5`. A comma before three digits is no decimal comma."""
    return [
        Fraction(re.sub(r",(?=\d{3}(?!\d))", "", one.replace("{,}", ".")).replace(",", "."))
        for one in re.findall(r"\d{1,12}(?:(?:,|\.|\{,\})\d{1,12})?(?![\d,.]*\d)", said)
    ]


def _is_checked(number: str, text: str, before: str, sentence: str, question: str) -> bool:
    """Whether a number is part of a check of the answer, and no new answer.

    It is in a true equation with the answer, `$3+5=8$`, is one of a list, or gives the answer with another number of
    the sentence.

    Args:
        number: the number behind the answer.
        text: the answer.
        before: the text between the answer and the number.
        sentence: the sentence with the number.
        question: the text of the question.
    """
    own, stands = _number_pattern(text), _number_pattern(number)
    # a check states several numbers: `with 7 and 11 coprime`
    told = len(_values_in(_EQUATIONS.sub(" ", sentence))) > 1
    for equation in itertools.islice(_EQUATIONS.finditer(before), _MOST_SAID if told else 0):
        if own.search(equation[0]) and stands.search(equation[0]):
            sides = {_number(side) for side in equation[0].strip("$").split("=")}
            if len(sides) == 1 and None not in sides:
                return True
    if "," not in text.replace("{,}", "") and any(
        stands.search(one[0])
        and not own.search(one[0])
        and len({*_values_in(one[0])}) == len(_values_in(one[0]))
        and any(map(str.isalpha, sentence[: one.start()]))
        and IS_SAID.search(sentence[: one.start()]) is None
        for one in LIST.finditer(sentence)
    ):
        return True
    one, mine, values = _number(number), _number(text), dict.fromkeys(_values_in(_EQUATIONS.sub(" ", sentence)))
    if CONCLUDING.search(sentence) is not None or mine is None or mine in values:
        return False
    pairs = itertools.islice(itertools.permutations(values, 2), _MOST_PAIRS)
    given = _values_in(question)
    return any(
        (mine in (a + b, a * b) and one in (a, b) and one < mine)
        or (mine in (a - b, b and a / b) and one in (a, b) and (b in given or (mine < 1 and mine != a - b)))
        for a, b in pairs
    )


# Words before a noun and its number: `a line with slope -1`, `it has discriminant -12`
_HAVING = word_set("with mit avec con com с met med has have hat haben tiene tem ha имеет heeft")


def _is_derived(number: str, text: str, led: str, question: str) -> bool:
    """Whether a number follows from the answer, and belongs to a noun that is not asked for: `its perimeter is 20`.

    If the noun has an `its` or a `with`, or the answer has letters or is a list, the number need not be computed from
    the answer.

    Args:
        number: the number behind the answer.
        text: the answer.
        led: the words of the clause before the number.
        question: the text of the question.
    """
    *front, noun, verb = ["", "", *WORDS.findall(led.lower())]
    is_attribute = verb not in VERBS and noun in _HAVING and not any(map(str.isdigit, led.lower().rpartition(noun)[2]))
    if is_attribute:
        front, noun, verb = [*front, noun], verb, "is"
    # a conclusion may be about the answer: `So the number of arrangements is`
    is_noun = len(noun) >= _STEM - 1 and noun not in OPENS | _POINTS_BACK and not is_neutral(noun)
    if verb not in VERBS or not is_noun or not SO.isdisjoint(front) or speaks_of_another(led, question) is False:
        return False
    if noun.endswith("ing") or OPERATES_SOON.search(noun) or SOUGHT.search(noun):
        return False
    asked = WORDS.findall(asking_clause(question)[0].lower())
    if is_number_word(noun) or _calls_right(noun) or any(same_word(noun, one) for one in asked):
        return False
    in_question = any(same_word(noun, one) for one in WORDS.findall(question.lower()))
    if "," not in text and _OWN.isdisjoint(front) and not in_question and not names_quantity(noun):
        return False
    if is_attribute or _letters(text) or "," in text or not _OWN.isdisjoint(front):
        return True
    mine, theirs, given = _number(text), next(iter(_values_in(number)), None), _values_in(question)
    if not mine or not theirs:
        return False
    by_sum = {value for one in given for value in (mine + one, mine - one, one - mine)}
    others = [one for one in (*map(Fraction, (2, 3, 4)), mine, *given) if one]
    return theirs in by_sum or any(theirs in (mine * one, mine / one, one / mine) for one in others)


_OPTION = re.compile(r"(?:(?<=\s)|\A)\(?([A-H])[).:、．]\s*(?P<said>[^\n]*?)(?=\s\(?[A-H][).:、．]|\n|\Z)")
_LETTER = re.compile(r"(?<![a-zA-Z])(?:[B-H]|A(?!\s+[a-z]))(?![a-zA-Z'’]|\s?[=_^])")
_CHOOSING = re.compile(
    r"(?:fit|suit|match|work|choose|chosen|choice|pick|mark|select|take|go|opt|correspond)\w*|better|best|second|thought"
    r"|sheet|say|final|so|with|on|one|ps|or|to|for|should|ought|might|though|make|rather|passt|besser|nein|doch|non|нет"
)
_CHOOSES_UNSPACED = re.compile(r"(?:选择?|應?应?[该当]?[为是選选]|选项|其实)\s*$")
_AFFIRMS, _NEGATES = (
    re.compile("yes|yep|ja|oui|sí|sim|sì|да|doch|si|true"),
    re.compile("no|nope|nein|non|não|нет|false"),
)
_OPENS_SENTENCE = re.compile(
    r"\A\W*(?:p\.?\s?s\.?\W+|(?:so|thus|hence|therefore|indeed|actually|then|otherwise"
    r"|in (?:truth|fact)|on second thoughts?|well)\b\W*)*",
    re.IGNORECASE,
)


def _says_contrary(text: str, behind: str, question: str) -> str:
    """The sentence behind an answer in words that says the contrary, `No, it is not` behind `Yes`, or chooses another
    option.

    Empty if there is none.

    Args:
        text: the answer: the letter of an option, or a word for yes or no.
        behind: the text behind it.
        question: the text of the question.
    """
    text = unworded(text)
    is_letter = re.fullmatch("[A-H]", text) is not None
    affirms, negates = _AFFIRMS.fullmatch(text.lower()), _NEGATES.fullmatch(text.lower())
    if not (is_letter or affirms or negates) or not behind.strip():
        return ""
    for sentence in SENTENCE_END.split(behind[:_MOST_READ]):
        if is_letter:
            if sentence and (
                _takes_option(sentence, text, question, behind) or _denies_option(sentence, text, question, behind)
            ):
                return sentence.strip()
            continue
        if affirms and _COUNTEREXAMPLE.search(sentence) and not is_denied(sentence) and "=" in sentence:
            return sentence.strip()
        clauses = [_OPENS_SENTENCE.sub("", one).strip(" $()*\n.!").lower() for one in _PARTS.split(sentence)]
        if any(map((_NEGATES if affirms else _AFFIRMS).fullmatch, clauses)):
            return sentence.strip()
        contrary = "no" if affirms else "yes"
        for said in (_AFTER_ALL.sub("", one) for one in clauses if _SAYS_IS.match(one) is not None):
            if yes_or_no(f"{contrary}, {said}", about(question)) == contrary:
                return said
    return ""


_MOST_READ = 1_000
_COUNTEREXAMPLE = re.compile(
    r"counter-?example|gegenbeispiel|contre-exemple|contraejemplo|контрпример|反例", re.IGNORECASE
)
# A sentence ends before its reason
_PARTS = re.compile(r"[,;:(，；：]|\b(?:because|since|as|if|when|only|denn|weil|car|porque|perché)\b.*", re.DOTALL)
_SAYS_IS = re.compile(
    r"(?!that is\Z)(?:it|this|that|they|es|c['’]?est|il|elle|[^\s=]+)\s+(?:\w+\s+){0,3}?"
    r"(?:is|are|ist|sind|est|does|do)\b|c['’]est\b(?![ -]à[ -])|es\b"
)
_AFTER_ALL = re.compile(r"\s(?:after all|indeed|actually)\Z")


def unworded(text: str) -> str:
    r"""A text without a command that sets it upright or bold, and without brackets: `C` for `\text{(C)}`."""
    set_as = re.fullmatch(r"\\(?:text|mathrm|textbf|mathbf)\s*\{\s*+\(?([^{}()]*+)\)?\s*+\}", text.strip())
    return (text if set_as is None else set_as[1]).strip(" .()")


def _denies_option(sentence: str, letter: str, question: str, behind: str) -> bool:
    """Whether a clause calls this option wrong, `B is wrong`, or a clause right after a denial chooses a different one.

    False if the question itself asks for a wrong or denied option.

    Args:
        sentence: the sentence behind the answer.
        letter: the letter of the answer.
        question: the text of the question.
        behind: the whole text behind the answer.
    """
    if CALLS_WRONG.search(question) or any(map(denies, WORDS.findall(question.lower()))) or "不" in question:
        return False
    denied = False
    for clause in _PARTS_SENTENCE.split(sentence):
        own = re.search(rf"(?<![a-zA-Z]){letter}(?![a-zA-Z'’])", clause) is not None
        denied_by = [word for word in WORDS.findall(clause.lower()) if denies(word) and word not in _NO_DENIALS]
        is_wrong = bool(denied_by) or is_denied(clause) or _CALLS_WRONG.search(clause) is not None
        if (
            is_wrong
            and own
            and (not denied_by or _is_of_stem(clause, question))
            and not {*_LETTER.findall(clause)} - {letter}
            and "$" not in clause
        ):
            return True
        if denied and _takes_option(clause, letter, question, behind):
            return True
        denied = is_wrong and not _LETTER.findall(clause)
    return False


def _says_asked(led: str, noun: str, question: str) -> bool:
    """Whether a clause gives its number to what the question asks for, or refers back to it: `it is`.

    Args:
        led: the words of the clause before the number.
        noun: the last of these words, and the word behind the number.
        question: the text of the question.
    """
    words = WORDS.findall(led.lower())
    is_said = VERBS.issuperset(words[-1:])
    return is_said and (not _POINTS_BACK.isdisjoint(words[-2:-1]) or speaks_of_another(noun, question) is False)


def _is_of_stem(clause: str, question: str) -> bool:
    """Whether a clause is about the choice: it has few words, calls an option right, or has a word of the stem."""
    words, asked = WORDS.findall(clause.lower()), WORDS.findall(question.partition("\n")[0].lower())
    return (
        len(words) <= _FEW_WORDS
        or any(map(_calls_right, words))
        or any(same_word(one, other) for one in words for other in asked if len(other) >= _STEM)
    )


_FEW_WORDS = 3
_PARTS_SENTENCE = re.compile("[,，;；:：、]")
_NO_DENIALS = frozenset({"no", "pas", "point", "but"})
_CALLS_WRONG = re.compile(rf"{CALLS_WRONG.pattern}|違う|\bno (?:es|era|son)\b", re.IGNORECASE)


def _takes_option(sentence: str, letter: str, question: str, behind: str) -> bool:
    """Whether a sentence chooses a different option of the question than `letter`: `C fits better`, `The sum is 12`.

    Args:
        sentence: the sentence behind the answer.
        letter: the letter of the answer.
        question: the text of the question, with its options.
        behind: the whole text behind the answer.
    """
    options = {found[1]: found["said"].strip(" .$") for found in _OPTION.finditer(question)}
    if letter not in options or is_denied(sentence) or CALLS_WRONG.search(sentence) is not None or "$" in sentence:
        return False
    named = set(_LETTER.findall(sentence))
    if letter in named:
        return False
    for other in named & set(options):
        before, _, rest = sentence.partition(other)
        words = re.findall(r"[^\W\d_]+", f"{before} {rest}".lower())
        if _CHOOSES_UNSPACED.search(before) is not None or all(
            _CHOOSING.fullmatch(word) or CALLS_RIGHT.fullmatch(word) or is_neutral(word) or word == "option"
            for word in words
        ):
            return True
    # `Why not B? It is 12` is about B
    unnamed = [said for one, said in options.items() if one == letter or one not in _LETTER.findall(behind)]
    stated = [one for one in unnamed if one and sentence.rstrip(" .$").endswith(f" {one}")]
    led = sentence.rstrip(" .$")[: -len(stated[0])] if stated else ""
    return (
        bool(stated)
        and stated[0] != options[letter]
        and IS_SAID.search(led.rstrip(" $")) is not None
        and _is_of_asked(led, question)
    )


_NOUN_BEFORE_IS = re.compile(r"(?P<noun>[\u4e00-\u9fff]{2})应?该?(?:[为是為]|は|が)\W*\Z")


def _is_of_asked(led: str, question: str) -> bool:
    """Whether the words before a formula are about what the question asks for: `the tangent line is`, not
    `the normal line is`.
    """
    if (unspaced := _NOUN_BEFORE_IS.search(led)) is not None:
        return unspaced["noun"] in question or CALLS_RIGHT.fullmatch(unspaced["noun"]) is not None
    if IN_FACT.match(led) is not None:
        return True
    asked, text = about(question), question.lower()
    words = [word.lower() for word in re.findall(r"[^\W\d_]{3,}", IS_SAID.sub("", led))]
    return (
        any(_CORRECTS.fullmatch(word) or word in _TAKES_BACK for word in words)
        or all(
            CALLS_RIGHT.fullmatch(word)
            or turns(word)
            or word[:_STEM] in text
            # of `\\lim`, the limit
            or f"\\{word[:3]}" in text
            or is_neutral(word)
            or (asked is not None and allowed(word, asked.words, question))
            for word in words
        )
    )


_STEM = 5
# Behind a box, an `actual` value is the answer's, whatever noun follows
_CORRECTS = re.compile("correct(?:ed)?|right|true|actual|real|final")
_TAKES_BACK = frozenset(("wait", "sorry", "oops", "instead", "should", "actually", "correction", "swapped"))


def _is_the_same_amount(again: tuple[str, ...], found: PlacedAnswer, question: str) -> bool:
    """Whether a number behind an answer is the same quantity in a different unit: `120 minutes` behind `2 hours`.

    Args:
        again: the spellings of the number, with its unit.
        found: the answer and the text around it.
        question: the text of the question; its unit counts if the answer has none.
    """
    written = again[0].removeprefix(ROUGHLY)
    text = _ROUGH.split(found.text or "")[-1].replace("\\mathrm", "\\text")
    theirs, mine = (
        _quantity(_PLAIN_UNIT.sub(r"\1\\text{ \2}", written)),
        _quantity(_IN_TEXT.sub(r"\1\\text{ \2}", text)),
    )
    asked = units_of(found, question)
    if mine is None and len(asked) == 1 and (value := _number(text)) is not None:
        mine = value, next(iter(asked))
    if mine is None or theirs is None or mine[1].dimension != theirs[1].dimension:
        return False
    converted = mine[0] * mine[1].size / theirs[1].size
    # it is rounded as it is written: to its last decimal, or to its zeros, to a twentieth at most
    number = re.match(r"-?\d[\d.,{}]*", written)
    last = min(_last_place(number[0]) if number is not None else Fraction(0), abs(converted) / 10)
    return abs(theirs[0] - converted) * 2 <= last


_ROUGH = re.compile(r"(?:=|≈|\\approx(?![a-z]))\s*")
_IN_TEXT = re.compile(r"\A\s*\\text\s*\{\s*(\d+)\s+([^{}\d]+)\}\s*\Z")
_PLAIN_UNIT = re.compile(r"\A(-?[\d.,]+)\s([^\W\d_]{1,14})\Z")


def _number(text: str) -> Fraction | None:
    """The value of a formula, 7 for `3+4`, with fixed numbers for its letters; None if it cannot be read."""
    with suppress(Unreadable, TooComplex):
        return value_at("amount", parse_tokens(tokenize(text)))
    return None


def _last_place(number: str) -> Fraction:
    """The size of the last digit that a number is written to: a tenth for `3.1`, a thousand for `93000`."""
    whole, _, decimals = number.replace("{,}", "").replace(",", "").partition(".")
    if decimals:
        return Fraction(1, 10 ** len(decimals))
    return Fraction(10 ** (len(whole) - max(len(whole.rstrip("0")), 1)))


def _quantity(text: str) -> tuple[Fraction, PhysicalUnit] | None:
    r"""The number and the unit of an amount: 5 and kilometres for `5\text{ km}`; None for any other text."""
    with suppress(Unreadable, TooComplex):
        node = parse_tokens(tokenize(text))
        if isinstance(node, Quantity) and (value := value_at("amount", node.inside)) is not None:
            return value, measure(node.unit)
    return None


def _of_place(found: PlacedAnswer, ground_truth: str, question: str | None) -> Asking:
    """The verdict on an answer as it was found, with the text around it and the answers beside it.

    Yields:
        Each text to be compared with the reference. The caller sends back the verdict on it.
    """
    reference(ground_truth)
    found = with_unit_in_english(found, ground_truth)
    if _HAS_DECIMALS.search(ground_truth) is not None:
        # such a reference is rounded, too
        found = found._replace(before=ROUGHLY_BEFORE.sub(_without_word, found.before))
    if (late := NEXT_DAY_BEHIND.match(found.behind)) is not None and time_of_day(found.text or "") is not None:
        found = found._replace(behind=late["close"] + found.behind[late.end() :])
    again = _said_again(found, question)
    text, problem = said_by(found, question)
    if problem:
        return MathVerdict("different", "place", problem)
    if question and (other := _says_contrary(text, found.behind, question)):
        return MathVerdict("different", "place", f"another value after {found.where}: {short(other)}")
    if found.boxed:
        text = with_unit(text, found, about(question), ground_truth)
        if question and (other := _gives_another(text, found, question)):
            return MathVerdict("different", "place", f"{UNREAD}: {other!r} beside the answer")
    first: MathVerdict = yield text
    if first.outcome == "equal" and (unlike := (yield from _equated(found, text))):
        return MathVerdict("different", "place", f"another value after {found.where}: {short(unlike)}")
    # other values beside a single number are found above
    other_said = _OR_ELSE.match(found.behind) if first.outcome == "equal" and _is_of_parts(text) else None
    if other_said is not None and not _has_value((yield other_said["said"])):
        return MathVerdict("different", "place", f"another value after {found.where}: {short(other_said['said'])}")
    if first.outcome == "equal":
        for spellings in again:
            said = False
            for one in spellings:
                said = said or _has_value((yield f"{text}{one}" if one.startswith(ROUGHLY) else one))
            if not said:
                return MathVerdict("different", "place", f"another value after {found.where}: {short(spellings[-1])}")
    return (yield from _together(found, text, again, first, question))


_HAS_PARTS = re.compile(r",|\\text|(?<![\\\w])[^\W\d_]{3,}")
# An alternative right behind an answer of words or of several values
_OR_ELSE = re.compile(
    r"(?:[\s*$.。,，}]|입니다)*(?:\\(?:lor|vee)(?![a-z])|∨|(?:\bor|\boder|\bou|\bили|或|i\.e\.)(?=[\s,$]))[\s,$\\~]*"
    r"(?P<said>\\?[^\W_][^.。\n$]{0,60})"
)


def _is_of_parts(text: str) -> bool:
    r"""Whether an answer has words or several values, `3, 4`. An amount with its unit, `5\text{ km}`, has not."""
    return _HAS_PARTS.search(text) is not None and _quantity(text) is None


# An equation, or a relation of three sides, that a sentence begins with or concludes
_BEGINS = (
    r"(?:\A|[.!?。\n])[\s*]*+(?:(?:so|thus|hence|therefore|here|now|actually|correctly|also|in interval notation"
    r"|daher|folglich"
    r"|donc|ainsi|luego|por tanto|quindi|portanto|поэтому|итак|所以|因此)\b[\s,]*+|we (?:get|obtain|have|find)\s++)*+\$"
)
_EQUATED = re.compile(
    rf"{_BEGINS}(?P<name>[^$=<>\n]{{1,20}})=(?P<side>[^$=<>\n]{{1,80}})\$"
    r"(?:(?:,| and|, and| und| et| y| e| и) \$(?P<more>[a-z]=[^$=<>,\n]{1,40})\$)?(?P<ends>\W*(?:\Z|[.\n]))?",
    re.IGNORECASE,
)
_BOUND = r"-?[\d.]+\s*"
_RANGED = re.compile(
    rf"{_BEGINS}(?P<said>{_BOUND}(?:<|\\leq?\b|≤)\s*[a-z]\s*(?:<|\\leq?\b|≤)\s*{_BOUND}|[(\[]\s*{_BOUND},\s*{_BOUND}[)\]])\$",
    re.IGNORECASE,
)
_PAIR = re.compile(r"[(\[]([^(),;\[\]]+),([^(),;\[\]]+)[)\]]")
_MOST_EQUATED = 2


def _equated(found: PlacedAnswer, text: str) -> Generator[str, MathVerdict, str]:
    """The formula behind an answer that gives a different value under a name of the answer: `f(x)=2x^2` behind `3x^2`.

    Empty if there is none. A name is the answer's if the answer is right under this name.

    Yields:
        As `_of_place`.
    """
    letters, pair = _letters(text), _PAIR.fullmatch(text.strip())
    if "=" in text or not (letters or pair):
        return ""
    stated: list[tuple[str, str]] = []
    for said in itertools.islice(_EQUATED.finditer(found.behind), _MOST_EQUATED):
        name, side = said["name"].strip(), said["side"]
        if letters and _letters(side) == letters and "''" not in name:
            stated.append((f"{name}={text}", f"{name}={side}"))
        elif pair and said["more"] is not None and said["ends"] is not None and len(name) == 1:
            own = f"{name}={pair[1]}, {said['more'][0]}={pair[2]}"
            stated.append((own, f"{name}={side}, {said['more']}"))
    if pair and not letters:
        stated += [(text, one["said"]) for one in itertools.islice(_RANGED.finditer(found.behind), _MOST_EQUATED)]
    for own, other in stated:
        if same_text(own) != same_text(other) and (yield own).outcome == "equal":
            verdict: MathVerdict = yield other
            if not _has_value(verdict):
                return other
    return ""


def _letters(formula: str) -> frozenset[str]:
    r"""The single letters of a formula: `x` and `y` for `2x+\sin y`."""
    return frozenset(re.findall(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])", formula))


def _together(
    found: PlacedAnswer, text: str, again: Sequence[tuple[str, ...]], first: MathVerdict, question: str | None
) -> Asking:
    """The verdict on an answer together with the answers beside it, or with the boxes that name its other parts.

    Args:
        found: the answer and the text around it.
        text: the answer.
        again: the values that the text behind the answer states again.
        first: the verdict on `text` alone.
        question: the text of the question.

    Yields:
        As `_of_place`.
    """
    if first.outcome == "undecided" or (first.outcome == "equal" and not found.others):
        return first
    if first.outcome == "equal":
        same = True
        for other in found.others:
            same = same and (yield other).outcome == "equal"
        if same:
            return first
    if not (members := [*found.others, text] if found.others else _parts(found, question)):
        return first
    together: MathVerdict = yield ", ".join(members)
    if together.outcome == "equal":
        if unlike := _first_not_among(again, members):
            return MathVerdict("different", "place", f"another value after {found.where}: {short(unlike)}")
        return together
    return MathVerdict("different", "place", f"{CONTRADICTION} in {found.where}") if found.others else first


def _parts(found: PlacedAnswer, question: str | None) -> list[str]:
    """The contents of boxes that each name a part of the answer; empty if the text around one of them changes it."""
    for content, before, behind in found.parts:
        alone = found._replace(text=content, raw=content, before=before, behind=behind, again=())
        text, problem = said_by(alone, question)
        if problem or text != content:
            return []
    return [content for content, _, _ in found.parts]


def _first_not_among(again: Sequence[tuple[str, ...]], members: Sequence[str]) -> str:
    """The first value stated behind several answers that is none of them; empty if all are among them."""
    known = {same_text(side) for member in members for side in (member, member.rpartition("=")[2])}
    known.add(same_text(", ".join(members)))
    for spellings in again:
        if known.isdisjoint(map(same_text, spellings)):
            return spellings[-1]
    return ""


_COUNTED_IN_BOX = re.compile(r"(?P<number>\d{1,9})\s*(?:\\[ ,;])?\\text\s*\{(?P<noun>[^{}]{1,30})\}")


def _gives_another(text: str, found: PlacedAnswer, question: str) -> str:
    """The words that give a box to a different thing or person than the question asks for, `Ann`; empty if there are
    none.
    """
    in_box = _COUNTED_IN_BOX.fullmatch(text)
    number, behind = (text, found.behind) if in_box is None else (in_box["number"], in_box["noun"])
    return (
        given_noun(number, behind, question)
        or _given_unspaced(number, behind, question)
        or _subject_before(found.before, question)
        or compares(found.before, found.behind, question)
        or _other_power(found.before, question)
        or _other_quantity(found.before, question)
    )


# The noun that a box is the value of: `The surface area is $4\\pi r^2=\\boxed{36\\pi}$`
_SAID_TO_BE = re.compile(
    r"(?:\A|[.!?。！？\n,，;；])\s*(?:(?P<noun>[^\W\d_]+(?:[\s'’-][^\W\d_]+){0,5}?)(?:\s(?:is|are|equals|ist|beträgt|est|vaut"
    r"|es|é|è|равен|равна|равно|wynosi)(?:\s[^\W\d_]+)?|[为是為]|(?<=[은는이は]))"
    r"|(?P<label>[^\W\d_]+(?:\s[^\W\d_]+)?)\s?[:：=])\s?(?:[\s$]|\\[(\[])*(?:[^$=]{0,60}=\s*)?\Z"
)


def _other_quantity(before: str, question: str) -> str:
    """The quantity that the clause before a box names, `the perimeter`, if a different one is asked for; else empty."""
    near = before[-_NEAR_SUBJECT * 2 :]
    said = _SAID_TO_BE.search(near, max(map(near.rfind, ".!?。！？\n,，;；")) if near else 0)
    return "" if said is None else _quantity_of_another((said["noun"] or said["label"]).lower(), question)


# Words that make a different quantity of one: `the square root of the area`, `the distance per hour`
_WORKED = word_set("root per wurzel pro racine raíz raiz radice por корень pierwiastek")


@lru_cache(maxsize=1_024)
def _quantity_of_another(noun: str, question: str) -> str:
    """As `_other_quantity`, for the words before `is`, in lower case."""
    own, asked = WORDS.findall(noun), WORDS.findall(asking_clause(question)[0].lower())
    content = [one for one in own if len(one) > 1 and one not in OPENS and one not in SO and not _calls_right(one)]
    if all(any(same_word(one, other) for other in asked) for one in content):
        return ""
    if not _WORKED.isdisjoint(own) or any(
        is_number_word(one) or operates(one) for one in content if len(one) >= _STEM - 1
    ):
        # `half the base`
        return ""
    is_other = speaks_of_another(noun, question) is True and names_one_quantity(noun)
    return noun if is_other and is_other_kind(noun, question) else ""


_POWER = re.compile(r"(?<![a-zA-Z])p(?:OH|H|K[a-z]?)(?![a-zA-Z])")


@lru_cache(maxsize=1_024)
def _asked_powers(question: str) -> frozenset[str]:
    """The `pH`, `pOH` or `pK` in the clause that asks."""
    return frozenset(_POWER.findall(asking_clause(question)[0]))


def _other_power(before: str, question: str) -> str:
    """The `pOH` to which a box is given, if the `pH` is asked for, or the reverse; empty if there is none."""
    asked = _asked_powers(question)
    said = _POWER.findall(_CLAUSES.split(before[-_NEAR_SUBJECT:].rstrip(" $\n:"))[-1]) if asked else []
    return said[-1] if said and said[-1] not in asked else ""


def _has_value(verdict: MathVerdict) -> bool:
    """Whether a text has the reference's value, even if it is only copied or not worked out."""
    return verdict.outcome == "equal" or verdict.reason.startswith(("copied:", "unworked:"))


_PLAIN_TEXT = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def numbers_first(found: PlacedAnswer, ground_truth: str, question: str | None) -> MathVerdict | None:
    """The verdict on a plain number, or on the very text of the reference, without the slower rules; None if these are
    needed.

    Most outputs end in one of these two. The same text is right, and a different whole number is wrong.

    Args:
        found: the answer and the text around it.
        ground_truth: the reference.
        question: the text of the question.

    Raises:
        JudgeError: the reference is unusable.
    """
    text = found.text or ""
    truth = reference(ground_truth)
    if found.is_plain() and bare(text) == truth:
        return written_alike(truth)
    if not found.boxed or found.others or _PLAIN_TEXT.fullmatch(text) is None:
        return None
    if text != truth and (_WHOLE_NUMBER.fullmatch(text) is None or _WHOLE_NUMBER.fullmatch(truth) is None):
        return None
    if not is_alone(found, about(question), ground_truth):
        return None
    if question and _gives_another(text, found, question):
        return None
    if found.again and _said_again(found, question):
        return None
    return written_alike(text) if text == truth else verdict_of("numeric", DIFFERENT, text, truth)


def judge_place(
    found: PlacedAnswer, ground_truth: str, question: str | None, compared: Callable[[str], MathVerdict]
) -> MathVerdict:
    """The verdict on an answer with the text around it.

    Args:
        found: the answer and the text around it.
        ground_truth: the reference.
        question: the text of the question.
        compared: the verdict on one text, compared with the reference.
    """
    return answered(_of_place(found, ground_truth, question), compared)


async def ajudge_place(
    found: PlacedAnswer, ground_truth: str, question: str | None, compared: Callable[[str], Awaitable[MathVerdict]]
) -> MathVerdict:
    """As `judge_place`, with an asynchronous `compared`."""
    return await awaited(_of_place(found, ground_truth, question), compared)
