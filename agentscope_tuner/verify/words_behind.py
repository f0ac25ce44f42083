"""Reads the words behind an answer: its sentence must be understood, and no later one may take the answer back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from agentscope_tuner.verify.neutral_words import (
    BEFORE_NUMBERS,
    DENIES,
    IS_UNSPACED,
    MATHEMATICS,
    NUMBERS,
    OPENS,
    REASONS,
    REMARKS,
    SAYS_SO,
    SUPPOSES,
    WORDS,
    Asked,
)
from agentscope_tuner.verify.words_before import (
    CALLS_WRONG,
    FORMULA,
    SENTENCE_END,
    SHIFTS,
    TURNS_UNSPACED,
    excludes_others,
    strange_before,
)

# A writer who says that they have no answer, and a short sentence that calls what it follows wrong
_HAS_NONE = re.compile(
    r"\bi (?:\w+ ){0,2}(?:do not know|don['’]t know|could(?: not|n['’]t)|cannot|can['’]t|was(?: not|n['’]t) able"
    r"|am not able|have no\b|have(?: not|n['’]t)|did(?: not|n['’]t) (?:solve|find|finish)|am unable|was unable|give up"
    r"|retract|withdraw|take (?:it|that) back)|\bi (?:do not|don['’]t|would not)[,.;]|\bno (?:final )?answer\b"
    r"|\bno sé\b"
    r"|je ne sais pas|weiß (?:es )?nicht|non lo so|não sei|не знаю|nie wiem|bilmiyorum|không biết|tidak tahu|不知道"
    r"|无法确定|わからない|分かりません|わかりません|모르|모른다|لا أعرف|لا أعلم|नहीं जानता|पता नहीं|ไม่รู้|ไม่ทราบ",
    re.IGNORECASE,
)
_MORE = frozenset({"more", "less", "fewer"})
_VERBS = frozenset(
    "is are was were be been do does did can could may might should must will would has have had".split()  # noqa: SIM905
)
_COMPLEMENTED: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "than": lambda said: any(word.lower() in _MORE or word.lower().endswith("er") for word in said),
    "not": lambda said: bool(said) and _VERBS.isdisjoint(word.lower() for word in said),
    **dict.fromkeys(("st", "nd", "rd", "th", "square", "cubic"), lambda said: not said),
}
_SPEAKS_OF_ANSWER = re.compile(
    r"answer|result|value|solution|guess|right|correct|wrong|true|truth|false|real|actual|expected|^(?:it|that|this)$"
)
_WORDS_AND_NUMBERS = re.compile(r"\d[\d.,:]*|(?![-'])[^\s\d!-&(-,./:-@\[-`{-~。，、！？（）；：।؟–—…“”✓✔✅☑\ufe0f]+")
_OWN_FORMULA = re.compile(r"(?:[^$\n]|\n(?!\n)){0,120}?(?P<close>\$\$?|\\[)\]])")
_ADDS_MORE = re.compile(
    r"\W*(?:and|plus|und|et|y|e|и)\s+(?:a|an|one|two|three|half|ein|un|une|uno|una|\d)\b", re.IGNORECASE
)
# `, not 400`
_DENIES_ANOTHER = re.compile(
    r"[,，;；(（]\s*(?:and |und |y |et |而)?(?:not|nicht|no|pas|non|не|不是|ではなく)\s*\$?[-−]?\d", re.IGNORECASE
)
# A suffix that a number takes: `8'dir`
_SUFFIX = re.compile(r"\A['’]\w{1,5}")
_MOST_WORDS, _MOST_REMARKED, _MOST_SIGNS, _AFTER = 5, 12, 36, 400
# Marks of a value. Text may rightly call a letter, a yes or a name wrong, as in `the wrong step is \boxed{B}`, so only
# values are checked for such text
_IS_VALUE = re.compile(r"\d|\\(?:pi|infty|frac|sqrt)")
_SET_BEHIND = re.compile(r"\s*\\text[a-z]*\s*\{([^{}]*)\}")
_CLOSING = re.compile(r"(?:[\s$*_`)\]}”\"]|\\[)\],;:! ])*")
_CONFIRMED = re.compile(r"[?？\s$*)]*(?:yes|yep|correct|right|indeed|是的|对|没错|正确)", re.IGNORECASE)
_NO_OTHER = re.compile(r"\b(?:no|none|nothing|nobody|cannot|not|never)\b|n['’]t\b|没有|无|不", re.IGNORECASE)
_MOST_SENTENCES, _TWO = 6, 2
_THE = frozenset("the la le el il o a der die das den dem".split())  # noqa: SIM905


def strange_behind(text: str, behind: str, asked: Asked, is_value: bool) -> str:
    """What is said behind an answer other than that it is the answer; empty where all is understood.

    Args:
        text: the answer.
    """
    if (set_behind := _SET_BEHIND.match(behind)) is not None:
        behind = f" {set_behind[1]} {behind[set_behind.end() :].lstrip(' $')}"
    own = _OWN_FORMULA.match(behind)
    behind = behind[:_AFTER] if own is None else behind[own.start("close") : _AFTER]
    words = words_behind(behind)
    if not words.strip():
        return ""
    gap = behind[: len(behind) - len(words)]
    # behind a new line, or a formula that stands alone, a new sentence begins
    begins = "\n" in gap or (("$$" in gap or "\\]" in gap) and words[:1].isupper())
    if words[:1] == "." and not words[1:2].isdigit():
        begins, words = True, words[1:]
    stop = None if begins else SENTENCE_END.search(words)
    end = 0 if begins else len(words) if stop is None else stop.end()
    first, rest = words[:end], words[end:]
    if first[-1:] in "?？؟" and first and _CONFIRMED.match(rest) is None:
        return "?"
    if text in words:
        # said again, it is confirmed
        return ""
    if not is_value:
        # what is wrong may be the answer
        first = _REASONED.split(first)[0]
        turned_round = CALLS_WRONG.search(first) or _TURNED.search(first)
        return turned_round[0] if turned_round and asked.text and turned_round[0].lower() not in asked.text else ""
    return _strange(first, asked) or _taken_back_later(rest, asked)


# A choice is right because the others are wrong
_REASONED = re.compile(r"\b(?:because|since|as|denn|weil|car|puisque|porque|perché)\b", re.IGNORECASE)


def _taken_back_later(rest: str, asked: Asked) -> str:
    """What a later sentence says of the answer that is not understood."""
    for sentence in [one for one in SENTENCE_END.split(rest) if one.strip()][:_MOST_SENTENCES]:
        if (found := _HAS_NONE.search(sentence)) is not None and found[0].lower() not in asked.text:
            return found[0]
        words: list[str] = [word.lower() for word in WORDS.findall(FORMULA.sub(" ", sentence))]
        if asked.text == "" or not _ADVERSE.isdisjoint(words[:3]):
            adverse = next((word for word in words[:3] if word in _ADVERSE), "")
            if adverse and len(words) > _MOST_WORDS and not any(map(str.isdigit, sentence)):
                return adverse
        if any(map(str.isdigit, sentence)) or len(words) > _MOST_REMARKED:
            continue
        if len(words) <= _MOST_WORDS and len(sentence) <= _MOST_SIGNS and _NO_OTHER.search(sentence) is None:
            found = CALLS_WRONG.search(sentence)
            if found is not None and found[0].lower() not in asked.text:
                return found[0]
        is_read = asked.text and (len(words) < _MOST_WORDS or not _OF_ANSWER.isdisjoint(words))
        if is_read and (strange := _unknown_remark(sentence, asked)):
            return strange
    return ""


# Words that turn against what was said before
_ADVERSE = frozenset(
    """however but yet though unfortunately allerdings jedoch aber leider cependant toutefois mais embargo pero porém
    mas contudo però tuttavia ma однако но увы jednak ale niestety maar echter ancak fakat""".split()  # noqa: SIM905
)
_TURNED = re.compile(r"\b(?:is off|fails|no more|not|scheidet)\b|不适|不適|不对")
# Words of a sentence that speaks of the answer, or of who gave it
_OF_ANSWER = frozenset("it this that these those answer result value number above mine my i box boxed".split())  # noqa: SIM905


def words_behind(behind: str) -> str:
    """The text behind an answer from its first word: what closes the answer is cut off."""
    at = _CLOSING.match(behind)
    assert at is not None
    return behind[at.end() :]


def _strange(sentence: str, asked: Asked) -> str:
    """The first word of an answer's sentence behind it that is not understood; empty where all are."""
    if _DENIES_ANOTHER.match(sentence):
        return ""
    sentence = (
        FORMULA.sub(" ", _SUFFIX.sub("", sentence).replace("i.e.", "ie").replace("e.g.", "eg"))
        .replace("years old", "years")
        .replace("left over", "left")
        .replace("no total", "total")
    )
    if _ADDS_MORE.match(sentence):
        return sentence.split()[0]
    said = [found for found in _WORDS_AND_NUMBERS.finditer(sentence) if not _is_invisible(found[0])]
    words = [found[0].lower() for found in said]
    for place, (found, word) in enumerate(zip(said, words, strict=True)):
        rest = words[place + 1 :]
        if word[0].isdigit():
            # a number of the question's, in its own words: `years old 10 years from now`
            if place == 0 or not re.search(rf"(?<![\d.,]){re.escape(word.strip('.,:'))}(?![\d.]\d)", asked.text):
                return sentence[found.start() :] if place else ""
        elif word in _COMPLEMENTED:
            # `more than James`, `not in the team`, `18th floor`: what they speak of must be the question's
            understood = _COMPLEMENTED[word](words[:place]) and _is_of_question(rest, asked)
            return "" if understood else found[0]
        elif (word in OPENS or (_is_step(word) and sentence[: found.start()].rstrip()[-1:] == ",")) and not (
            word == "over" and rest and rest[0][0].isdigit()
        ):
            if not asked.text or word in REASONS or _is_of_the_world(rest, asked):
                return ""
            return _unknown_remark(sentence[found.end() :], asked)
        elif (
            word not in SAYS_SO
            and _COPULA.sub("", word) not in SAYS_SO | {""}
            and unicodedata.category(word[0]) != "Sc"
            and not asked.counts_or_says(word)
            and not (place == 0 and not asked.text and _is_noun(word))
        ):
            return "" if _tells_of_world(words, place, asked) else found[0]
    return ""


def _is_step(word: str) -> bool:
    """Whether a word begins what is done beside the answer, and not to it: `using`, but not `doubling`."""
    return word.endswith("ing") and _DOUBTS.search(word) is None


# Steps that change a value, and doubts
_DOUBTS = re.compile(
    r"^(?:doubl|tripl|halv|quadrupl|add|subtract|miss|exclud|ignor|omit|multipl|divid|squar|unlikel|doubt|improbab|perhaps|maybe"
    r"|possibl|probabl|guess|suppos)"
)


def _tells_of_world(words: Sequence[str], place: int, asked: Asked) -> bool:
    """Whether an unknown word speaks of the world: the question tells of one, or a noun is counted before it."""
    end = next((at for at, one in enumerate(words[place + 1 :], place + 1) if one in OPENS), len(words))
    tells = asked.tells or (place > 0 and (asked.counts(words[0]) or _is_noun(words[0])))
    return tells and words[0] not in _VERBS and words[0] not in SHIFTS and _is_of_the_world(words[:end], asked)


def _is_of_the_world(words: Sequence[str], asked: Asked) -> bool:
    """Whether words behind `in` or `of` say where or of what something is, and nothing of the answer."""
    return not any(
        (word in DENIES and not asked.has(word))
        or word in SUPPOSES
        or word in _OF_ANSWER
        or word[0].isdigit()
        or (IS_UNSPACED.search(word) is not None and _TURNS.search(word) is not None)
        or CALLS_WRONG.search(word)
        or _DOUBTS.search(word)
        or asked.changes(word)
        or word in _ADVERSE
        for word in words
    )


# How a Korean sentence ends, written together with what is counted
_COPULA = re.compile("(?:입니다|이다|이에요|예요)$")
_TURNS = re.compile(f"{TURNS_UNSPACED.pattern}|[倍半多万亿千百舍弃]")


def _is_invisible(word: str) -> bool:
    """Half a pair, a null, a mark of the byte order: nobody reads them."""
    return all(unicodedata.category(sign)[0] == "C" for sign in word)


def _is_of_question(words: Sequence[str], asked: Asked) -> bool:
    """Whether words speak of what the question speaks of, and of no answer."""
    return any(map(asked.counts_or_says, words)) and not any(map(_SPEAKS_OF_ANSWER.search, words))


def _unknown_remark(said: str, asked: Asked) -> str:
    """The word of a remark on an answer, before it begins a reason, that is not understood or changes the value."""
    words: list[str] = [word.lower() for word in WORDS.findall(FORMULA.sub(" ", said))]
    if len(words) == _TWO and words[0] in _THE and CALLS_WRONG.search(words[1]) is None:
        # `at the market`
        return words[1] if asked.changes(words[1]) or words[1] in DENIES else ""
    for at, word in enumerate(words):
        if word in REASONS:
            return ""
        if word in REMARKS or word in MATHEMATICS:
            continue
        if word in DENIES:
            counted = asked.has(word) and at + 1 < len(words) and asked.says(words[at + 1])
        else:
            counted = asked.has(word) or (at > 0 and words[at - 1] in BEFORE_NUMBERS and word in NUMBERS)
        if not (counted if word in DENIES or asked.changes(word) else asked.understands(word) or asked.counts(word)):
            return word
    return ""


_COUNTED_UNSPACED = re.compile(r"[个只条本支名人张件辆头台元米次岁棵朵块间位份杯瓶把家][^不没非半倍多万亿千百]{0,4}")


def _is_noun(word: str) -> bool:
    """Whether a single word may be the noun that a value counts, where no question tells: a plural, not a scale."""
    if _COUNTED_UNSPACED.fullmatch(word) is not None:
        return True
    return word.isascii() and word.endswith("s") and not word.endswith(("ions", "ands", "eds", "ens", "ails"))


def turned(text: str, before: str, behind: str, asked: Asked) -> str:
    """What the sentence of an answer says of it other than that it is the answer; empty where it says nothing so.

    Args:
        text: the answer.
        before: the text before the answer.
        behind: the text behind it; its words must be understood.
        asked: what the question lets stand beside it.
    """
    is_value = _IS_VALUE.search(text) is not None
    if excludes_others(before, behind):
        return ""
    return strange_before(text, before, asked, is_value) or strange_behind(text, behind, asked, is_value)
