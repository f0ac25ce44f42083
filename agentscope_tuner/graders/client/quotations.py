"""Finds verdicts that the judged texts already contain: a reply that repeats one quotes it, and is not a judgement.

Verdicts are compared by meaning, not by spelling: as JSON under any keys, as keys with their values, or as a score
beside its reason in whatever notation.
"""

from __future__ import annotations

import html
import json
import math
import re
import sys
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Any

from agentscope_tuner.graders.injection_defence import as_written, composed, lower_letters

# A key, a colon or an equals sign, and a value. Each may be in up to six quotes and backslashes
_BETWEEN = ":=∶"
_QUOTE = r"[\\\"'“”‘’„«»`´]{0,6}"
_PAIR = re.compile(
    rf"({_QUOTE})([^\W\d][\w \-\\]{{0,30}}?){_QUOTE}\s{{0,8}}(?:[{_BETWEEN}]|=>)\s{{0,8}}"
    rf"(?:\[([^\[\]{{}}]{{0,200}})\]|({_QUOTE})(.{{0,40}}?)(?=[\"'“”‘’`\\,;<>(){{}}\[\]\n]|$))",
    re.DOTALL,
)
_UNICODE_ESCAPE = re.compile(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "null": None, "none": None}
_AROUND_VALUES = " \t\r\n\"'“”‘’`\\*_"
_NO_QUOTES = dict.fromkeys(map(ord, "\"'“”‘’`\\"))
Pair = tuple[str, object]


class Quotable:
    """The judged texts, searched for verdicts that a reply may quote; the search waits until it is first needed."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._spelled: list[str] = []
        self._letters: list[str] = []
        self._unquoted: list[str] = []
        self._objects: set[Pair] = set()
        self._shapes: list[Shape] = []
        self._whole = True
        self._pairs: set[Pair] | None = None

    def repeats(self, verdict: dict[str, Any], written: str) -> bool:
        """Whether the judged texts already contain `verdict`, so that the reply may be quoting them instead of judging.

        The text `<mark>9</mark> all correct` contains `{"score": 9, "reason": "all correct"}`: spelling, notation and
        the names of keys may differ.

        Args:
            verdict: a JSON object in a reply.
            written: the same object as the reply spells it.
        """
        leaves = list(_leaves(verdict))
        if not self._spelled:
            self._search_objects()
        if leaves and self._objects.issuperset(leaves):
            return True
        if self._shapes:
            # many answers contain a short reason such as `correct`, beside sentences that are no score
            keys = {key for key, _ in self._objects}
            words = any(isinstance(said, str) and (len(said) > _SHORT or key in keys) for key, said in leaves)
            if _is_shaped_as_one_of(self._shapes, verdict, words=words):
                return True
        if any(True for one in zip(self._spelled, self._letters, strict=True) for _ in _stated_beside(verdict, *one)):
            return True
        if not leaves or not all(any(key in text for text in self._letters) for key, _ in leaves):
            return False  # true of most verdicts, and much cheaper than a search for pairs
        wanted = _unquoted(one_spelling(as_written(written)))
        self._unquoted = self._unquoted or list(map(_unquoted, self._spelled))
        # Broken JSON without end must not hide a verdict
        if not self._whole or any(wanted in text for text in self._unquoted):
            return True
        if self._pairs is None:
            self._pairs = self._objects.union(*map(_pairs_in, self._spelled))
        return all(map(self._holds, leaves))

    def _search_objects(self) -> None:
        for text in self._texts:
            written = as_written(text)
            # Without its codes a text may be other JSON than its copy: one behind a backslash is
            for one in {written, text.replace("∶", ":")}:
                if "{" not in one:
                    continue
                for read in {one, _BARE_WORD.sub(_quoted, one)}:
                    found, whole = _objects_in(read)
                    self._objects.update(*map(_leaves, found))
                    self._shapes += map(_shape, found)
                    self._whole &= whole
            self._spelled.append(one_spelling(written))
        self._letters = list(map(_low, self._spelled))

    def _holds(self, pair: Pair) -> bool:
        assert self._pairs is not None
        if pair in self._pairs:
            return True
        # The search for pairs ends a value at a quote or a comma, but a text may hold both: look for the whole text
        value = pair[1]
        # A value that is empty, or punctuation alone, is nothing that the judge has added
        return value == "" or (isinstance(value, str) and len(value) > 1 and any(value in one for one in self._letters))


def _unquoted(text: str) -> str:
    """`text` without white space, and without quotes and backslashes, which a reply may double."""
    return "".join(text.translate(_NO_QUOTES).split())


def _objects_in(text: str) -> tuple[list[object], bool]:
    """The JSON objects in `text`, read as those of a reply are, and whether the whole text could be searched."""
    found = [value for _, _, value in _places_of_objects(without_lone_backslashes(text))]
    whole = None not in found[-1:]
    return found if whole else found[:-1], whole


def _places_of_objects(text: str) -> Iterator[tuple[int, int, object]]:
    """The start, the end and the value of each JSON object in `text`.

    A last item with the value None says that the search was given up, or that an object at the end is left open. It is
    given up when attempts that did not parse have cost 25 times the text's length, enough to try each brace once.
    """
    position, left, end, is_open = 0, _A_TRY * len(text) // 4, len(text.rstrip()), False
    while brace := _OBJECT_OPEN.search(text, position):
        start, position = brace.start(), brace.start() + 1
        try:
            value, position = _ANY.raw_decode(text, start)
            yield start, position, value
        except json.JSONDecodeError as exc:
            left -= exc.pos - start + _A_TRY
            # the next turn may close it
            is_open = is_open or exc.pos >= end or exc.msg.startswith("Unterminated")
        except (ValueError, RecursionError):  # too many digits, or too deep
            left -= sys.getrecursionlimit() + _A_TRY
        if left < 0:
            is_open = True
            break
    if is_open:
        yield len(text), len(text), None


def _quoted(match: re.Match[str]) -> str:
    return match[0] if _CONSTANT.fullmatch(match[1]) else f'"{match[1]}"'


# The values of each object in a JSON value, without their keys
Shape = list[list[object]]


def _shape(value: object) -> Shape:
    """The values of each object in a JSON value, without keys: `[[1.0], ["x"]]` for `{"a": 1, "b": {"c": "X"}}`.

    By them a verdict is recognised that was quoted with other keys. Each value is in the form of `_meaning`.
    """
    found, waiting = [], [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | tuple):
            inner = list(one.values()) if isinstance(one, dict) else [each for _, each in one]
            own = [_meaning(each) for each in inner if not isinstance(each, dict | tuple | list)]
            found += [own] if own else []
            waiting += [each for each in inner if isinstance(each, dict | tuple | list)]
        elif isinstance(one, list):
            waiting += reversed(one)
    return found


def _is_shaped_as_one_of(shapes: Sequence[Shape], verdict: Mapping[str, Any], *, words: bool) -> bool:
    """Whether an object in the judged texts, given as `shapes`, has the values of `verdict`, under whatever keys.

    It may have more values, and a score as a word in any language: `{"mark": "zehn", "note": "all correct"}` for
    `{"score": 10, "reason": "all correct"}`. With `words` the score may be several words. Yes and no may be words too,
    but then the object must have exactly as many values as the verdict.
    """
    wanted = _shape(dict(verdict))
    if len(wanted) == 1 and not any(isinstance(value, bool) for value in wanted[0]):
        most = None if words else _SHORT
        return any(_says(own, wanted[0], words_for=(float,), most=most) for shape in shapes for own in shape)
    return any(
        len(shape) == len(wanted)
        and all(
            len(own) == len(one) and _says(own, one, words_for=(bool,)) for own, one in zip(shape, wanted, strict=True)
        )
        for shape in shapes
    )


def _says(
    own: Sequence[object], wanted: Sequence[object], words_for: tuple[type, ...], most: int | None = None
) -> bool:
    """Whether an object with the values `own` has all values `wanted`; there must be a text among these.

    Args:
        own: the values of an object in the judged text.
        wanted: the values of the verdict.
        words_for: the types of values that may be texts in `own`: with `float`, `ten` may be 10.
        most: the most letters of such a text; None for any number.
    """
    left = [(type(value), value) for value in own if value != _HIDDEN_MEANING]
    if not any(isinstance(value, str) and value for value in wanted):
        return False
    for value in sorted(wanted, key=lambda value: not isinstance(value, str)):
        alike = [one for one in left if _is_alike(one[1], value, [said for _, said in left])]
        is_worded = type(value) in words_for
        words = [
            (kind, one)
            for kind, one in left
            if isinstance(one, str) and ((is_worded and (most is None or len(one) <= most)) or _is_respelt(one, value))
        ]
        if alike or words:
            left.remove((alike or words)[0])
        elif value != "":
            return False
    return True


def _is_alike(own: object, value: object, beside: Sequence[object]) -> bool:
    """Whether the value `own` of an object means the same as `value`: 1 for true, or a score on a different scale.

    So 90 (of 100) means 9 (of 10). With a 4 in `beside`, the values of the same object, 3 (of 4) means 0.75.
    """
    if (type(own), own) == (type(value), value) or (isinstance(value, bool) and type(own) is float and own == value):
        return True
    if isinstance(value, bool) or not isinstance(own, float) or not isinstance(value, float) or not own or not value:
        return False
    # the number of a row says nothing by itself
    others = [most for most in beside if isinstance(most, float) and (most > own or beside.count(own) > 1)]
    tops = [100.0, *([] if own.is_integer() else [1.0]), *others]
    return any(math.isclose(own / most * top, value) for most in tops for top in _SCALES if most >= own)


def _is_respelt(planted: object, written: object) -> bool:
    """Whether `written`, from a reply, may be `planted`, from the judged text, with its spelling corrected.

    They must share 60 % of their pairs of neighbouring letters, or 40 % if `written` has 12 characters or fewer: one
    typing error, as in `allcorect` for `allcorrect`, changes more of a short text.
    """
    if not isinstance(planted, str) or not isinstance(written, str) or not 4 <= len(written) <= _MOST_MENDED:
        return False
    one, other = ({text[at : at + 2] for at in range(len(text) - 1)} for text in (planted, written))
    return len(one & other) >= (0.6 if len(written) > _SHORT else 0.4) * max(len(one), len(other))


_MOST_MENDED, _SHORT = 300, 12


def _leaves(value: object) -> Iterator[Pair]:
    """Each key with a value that is no object: `("score", 10.0)` and `("b", "yes")` for the JSON object
    `{"Score": 10, "a": {"b": "Yes!"}}`, which is a dict or a tuple of pairs.
    """
    waiting = [("", value)]
    while waiting:
        key, one = waiting.pop()
        if isinstance(one, dict | tuple):
            waiting += one.items() if isinstance(one, dict) else one
        elif isinstance(one, list) and any(isinstance(item, dict | list | tuple) for item in one):
            waiting += [(key, item) for item in one]
        else:
            yield _letters_of(key), tuple(map(_meaning, one)) if isinstance(one, list) else _meaning(one)


def _low(text: str) -> str:
    """The letters and digits of `text` in lower case, without accents and styles: `Réponse 10!` is `reponse10`."""
    if text.isascii():
        return lower_letters(text)
    text = text.translate(_styled()) if _STYLED.search(text) else text
    # syllables of Hangul come together again
    return unicodedata.normalize("NFC", lower_letters(unicodedata.normalize("NFD", text)))


# Styled letters that NFKC keeps (small capitals, on discs, of flags), and the end of their Unicode names
_STYLED = re.compile("[\u0250-\u02af\u1d00-\u1d2b\ua730\ua731\U0001f150-\U0001f1ff]")
_STYLE = re.compile(r"(?:SMALL CAPITAL|NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL LETTER|SYMBOL LETTER) ([A-Z])\Z")


@lru_cache(maxsize=1)
def _styled() -> dict[int, str]:
    codes = (*range(0x250, 0x2B0), *range(0x1D00, 0x1D2C), 0xA730, 0xA731, *range(0x1F150, 0x1F200))
    names = ((code, _STYLE.search(unicodedata.name(chr(code), ""))) for code in codes)
    return {code: name[1].lower() for code, name in names if name is not None}


@lru_cache(maxsize=4096)
def _count_letters(char: str) -> int:
    return len(_low(char))


def _letters_of(key: str) -> str:
    # most keys are plain words, which have one spelling
    return key.lower() if key.isascii() and key.isalnum() else _low(one_spelling(as_written(key)))


def _pairs_in(text: str) -> Iterator[Pair]:
    for match in _pair_matches(text):
        key = _low(match[2])
        if match[3] is not None:
            yield key, tuple(_meaning(item) for item in match[3].split(","))
        else:
            yield key, _meaning(match[5])


def _pair_matches(text: str) -> Iterator[re.Match[str]]:
    position, last = 0, max(map(text.rfind, _BETWEEN))
    # behind the last colon or equals sign there is no key, and to look for one would read the text to its end
    while position <= last and (match := _PAIR.search(text, position)):
        yield match
        # The value may itself hold a pair, as in {"verdict": {"score": 10}}: go on right behind the key
        position = max(match.end(2), match.start() + 1)


# Entities for the `&` of an entity, such as `&amp;amp;`, resolved together: each by itself would take a pass of its own
_NESTED = re.compile(r"&(?:(?:amp|#0{0,7}38|#[xX]0{0,7}26);?)+")
_MOST_NESTED = 4


def one_spelling(text: str) -> str:
    """`text` with entities and escapes resolved, in composed NFKC form, without invisible characters."""
    unescaped = text
    for _ in range(_MOST_NESTED if "&" in text else 0):
        unescaped = html.unescape(_NESTED.sub("&", unescaped))
    if "\\" in unescaped:
        unescaped = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), unescaped)
    return composed(unescaped if unescaped.isascii() else unescaped.encode("utf-8", "replace").decode("utf-8"))


def _meaning(value: object) -> object:
    """A form in which equal values are equal: numbers as floats, words without case and punctuation."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return float(value) if abs(value) <= sys.float_info.max else str(value)
    text = one_spelling(as_written(str(value))).strip(_AROUND_VALUES)
    try:
        number = float(text)
        return number if math.isfinite(number) else text
    except (ValueError, OverflowError):
        return _WORDS.get(text.casefold(), _low(text))


# A text without any of these holds no key with its value, and spells its numbers as they are
_COULD_SAY_MORE = "{:=&\\"
_IN_OTHER_SIGNS = re.compile(r"[｛：∶＝\d²³¹\u2070-\u209f\u2150-\u218f\u2460-\u24ff\u3220-\u33ff]")
# Or no number in any numerals
_COULD_COUNT = re.compile(r"\d|[^\x00-\xbf]|(?<!\w)[IVXLCDM]++(?!\w)|([*+|])[^\S\n]?\1")
_LONE_BACKSLASH = re.compile(r'\\(?:(\\|["/bfnrt]|u[0-9a-fA-F]{4})|)')


def could_be_quoted(objects: Sequence[tuple[dict[str, Any], str]], echoes: Sequence[str]) -> bool:
    """Whether the judged texts `echoes` may contain one of `objects`; if False, a search by `Quotable` is not needed.

    Args:
        objects: the JSON objects of a reply, each with how the reply spells it.
        echoes: the judged texts.
    """
    text = "\n".join(echoes)
    if any(map(text.__contains__, _COULD_SAY_MORE)) or (not text.isascii() and _IN_OTHER_SIGNS.search(text)):
        return True
    folded = (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
    for value, _ in objects:
        for key, said in value.items():
            word = TOKEN.search(said) if isinstance(said, str) else None
            # the answer may spell the number beside it otherwise
            if word is not None and word[0].casefold() in folded and _COULD_COUNT.search(text) is not None:
                return True
            # of a ranking one place is enough for a search
            one = said[0] if isinstance(said, list) and said else said
            if isinstance(one, int | float) and str(one).removesuffix(".0") in text:
                return True
            if key == "label" and str(one).strip().casefold() in folded:
                return True
    return False


def without_lone_backslashes(text: str) -> str:
    """`text` as JSON: models write LaTeX such as \\( or \\alpha into its strings with single backslashes."""
    return _LONE_BACKSLASH.sub(lambda match: match[0] if match[1] else "\\\\", text)


def _stated_beside(verdict: Mapping[str, Any], text: str, all_letters: str) -> Iterator[tuple[int, int]]:
    """The spans of `text` that are a score of `verdict` near its reason, in whatever notation: a table, tags, a call.

    For `{"score": 9, "reason": "all correct"}`, `| all correct | 9 |` yields the span of the 9. Without a reason the
    score must be near its key. `all_letters` is `_low(text)`. A span may come twice.
    """
    words = {_letters_of(one) for key, one in verdict.items() if isinstance(one, str) and key != "label"} - {""}
    others = [(key, one) for key, one in verdict.items() if not isinstance(one, str)]
    words = words or {_letters_of(key) for key, one in others if len(others) == 1 and isinstance(one, int | float)}
    if not any(map(all_letters.__contains__, words)) or not (spans := _scores_in(verdict, text, words)):
        return
    # all that may be beside a score, with more punctuation between the letters than any words have
    longest = max(map(len, words), default=0)
    room = (_RECORD if longest > _SHORT else _BESIDE) + 4 * longest
    start = max(0, spans[0][0] - room)
    part = text[start : spans[-1][1] + room]
    letters = _low(part)
    places = _places_of_letters(part)
    # a list of numbers is less often a ranking than a number is a score
    of_list = isinstance(verdict.get("rank"), list) and "rank" not in text.casefold()
    fields = {one for one in spans if _is_number_field(text, *one)} if longest > _SHORT else set()
    for said in (one for one in words if len(one) > _SHORT or not of_list):
        at = letters.find(said)
        while at >= 0:
            first, behind = start + places[at], start + places[at + len(said) - 1] + 1
            at = letters.find(said, at + len(said))
            is_field = len(said) > _SHORT and _FIELD_BEFORE.search(text, max(0, first - _EDGE), first)
            room = _RECORD if is_field and _FIELD_BEHIND.match(text, behind) else _BESIDE
            near = spans[bisect_left(spans, (first - room, 0)) : bisect_right(spans, (behind + room, 0))]
            if near and (reach := _BESIDE if len(said) > _SHORT else _reach_of_a_word(text, first, behind)):
                beside = (span for span in near if first - reach <= span[0] <= behind + reach or span in fields)
                yield from (span for span in beside if span[1] <= first or span[0] >= behind)


def _is_number_field(text: str, first: int, behind: int) -> bool:
    before = _NUMBER_BEFORE.search(text, max(0, first - _EDGE), first)
    return before is not None and _NUMBER_BEHIND.match(text, behind) is not None


def _reach_of_a_word(text: str, first: int, behind: int) -> int:
    """How many characters away a score still is beside the word `text[first:behind]`: few if the word is inside a
    sentence, none if it is only a part of a longer word.
    """
    if any(_IN_A_WORD.search(text[max(0, edge - 1) : edge + 1]) for edge in (first, behind)):
        return 0
    in_sentence = _SPACE_WORD.match(text, behind) and _WORD_SPACE.search(text[max(0, first - 3) : first])
    return _NEXT if in_sentence else _BESIDE


def _scores_in(verdict: Mapping[str, Any], text: str, words: set[str]) -> list[tuple[int, int]]:
    """The spans of `text` that may be the score of `verdict`: a number in any numerals, a label, or a whole ranking.

    A number that counts something, as in `9 apples and 3`, is none. One of `words`, the verdict's own, may follow it.
    """
    spans: list[tuple[int, int]] = []
    numbers = [one for one in verdict.values() if type(one) in (int, float)]
    begun = tuple(one[:_MOST_BEGUN] for one in words if len(one) > _SHORT)
    for alone, match in _numerals(text) if numbers else ():
        # `10 out of 10`, but not `10 apples and 3`
        if alone and float(alone[0]) in numbers and (alone[1] is None or float(alone[1]) >= float(alone[0])):
            spans += [alone.span()]
        if (
            match
            and not _values(match).isdisjoint(numbers)
            and (
                _BY_ITSELF.match(text, match.end())
                or _low(text[match.end() : match.end() + 2 * _MOST_BEGUN]).startswith(begun)
            )
        ):
            spans += [match.span()]
    label, rank = verdict.get("label"), verdict.get("rank")
    # labels are words of answers, such as yes
    if isinstance(label, str) and "label" in text.casefold():
        spans += places_of_words(label, text)
    if isinstance(rank, list) and rank and all(type(one) is int for one in rank):
        spans += places_of_words(" ".join(map(str, rank)), text)
    return sorted(spans)


@lru_cache(maxsize=2)
def _numeral(is_ascii: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Two patterns: for the characters that may begin a number, which is fast, and for a number in numerals of any
    kind but words, such as `9`, `XIV`, `90%` and `十`. Those for text that `is_ascii` are compiled in less time.
    """
    # characters for numbers that are no decimal digits, such as 十 and ፲; a class of 16 bits is searched much sooner
    near, far = (
        "".join(one for one in map(chr, codes) if unicodedata.numeric(one, 0) and not one.isdecimal())
        for codes in (range(0x80, 0x100 if is_ascii else 0x10000), range(0x10000, 0x10000 if is_ascii else 0x20000))
    )
    signs = f"[{near}]" if is_ascii else f"(?:[{near}]|(?![\\x00-\\uffff])[{far}])"
    numeral = re.compile(
        r"(?:(?P<caps>(?:\d\u20e3|\U0001f51f)+)|(?P<coded>0[xX][0-9a-fA-F]{1,6}|0[bB][01]{1,20}|0[oO][0-7]{1,7})\b"
        r"|(?<![\w.])(?:(?P<power>\d{1,6}(?:\.\d{1,6})?[eE][-+]?\d{1,2})\b|(?P<mixed>\d{1,6}\s\d{1,2}/\d{1,2})(?![/\d])"
        r"|(?P<apart>\d(?:[\s_\u0300-\u036f]\d){1,5})(?!\w)|(?P<comma>\d{1,6}[,٫]\d{1,6})(?![.,٫]?\d)"
        r"|(?P<sum>\d{1,6}(?:\s?[-+*/×·÷−]\s?\d{1,6}){1,9})|(?P<share>\d{1,3}(?:\.\d{1,6})?\s?[%٪])"
        r"|(?P<plain>\d{1,6}(?:\.\d{1,6})?)(?![.,]?\d))"
        rf"|(?<!\w)(?:(?P<roman>[VX]|[IVXLCDM]{{2,12}})(?!\w)|(?P<signs>{signs}{{1,8}})(?!\w\w))"
        r"|(?P<tally>(?P<one>[*+|]|[^\x00-\xbf\w\s—–―。、…])(?:[^\S\n]?(?P=one)){2,99}))"
    )
    # a letter of Rome's begins one at the beginning of a word, with another behind it but for V and X
    roman = r"(?<!\w[IVXLCDM])(?<![ILCDM](?![IVXLCDM]))"
    digit, others = ("0-9", "") if is_ascii else (r"\d", rf"|[^\x00-\xbf\w]|[{near}]|[^\x00-\uffff]")
    return re.compile(rf"[{digit}*+|IVXLCDM]{roman}{others}"), numeral


def _numerals(text: str) -> Iterator[tuple[re.Match[str] | None, re.Match[str] | None]]:
    """Two matches for each position in `text` where a number may begin: digits that count nothing, and any numeral.

    Each is None if it does not fit: `10 apples; XIV` has the numerals `10` and `XIV`.
    """
    begins, numeral = _numeral(text.isascii())
    end = 0
    for at in map(re.Match.start, begins.finditer(text)):
        if (found := numeral.match(text, at) if at >= end else None) is not None:
            end = found.end()
        yield _ALONE.match(text, at), found


def _values(match: re.Match[str]) -> set[float]:
    """The numbers that a match of `_numeral` may mean: 14 for `XIV`; for `90%` that share of 1, 5, 10 and 100."""
    said = match[0]
    match match.lastgroup:
        case "plain" | "power":
            return {float(said)}
        case "caps" | "apart":
            return {float(re.sub(r"[\s_\u20e3\u0300-\u036f]", "", said.replace("\U0001f51f", "10")))}
        case "comma":
            # or the last of a list
            return {float(said.replace(",", ".").replace("٫", ".")), float(re.split("[,٫]", said)[1])}
        case "mixed":
            whole, share = said.split(maxsplit=1)
            return {float(whole) + _computed(share), _computed(share)}
        case "coded":
            return {float(int(said, 0))}
        case "share":
            return {float(said[:-1]) / 100 * top for top in _SCALES}
        case "sum":
            found = _computed(said)
            return {found, *(found * top for top in _SCALES if "/" in said)}
        case "roman":
            digits = [_ROMAN[one] for one in said]
            return {float(sum(-a if a < b else a for a, b in zip(digits, [*digits[1:], 0], strict=True)))}
        case "signs":
            return {_positional(said)}
    count = said.count(said[0])
    # three to five stars are so many of five
    return {float(count), *(count / 5 * top for top in _SCALES if count <= 5 and not said.isascii())}


def _computed(sums: str) -> float:
    """The value of `5+5` or `2 × 10 / 2`; infinite after a division by 0."""
    total = 0.0
    for sign, term in re.findall(r"([-+−]?)([^-+−]+)", sums):
        value = -1.0 if sign in ("-", "−") else 1.0
        for by, number in re.findall(r"([*/×·÷]?)\s*(\d+)", term):
            if by in ("/", "÷"):
                value = value / float(number) if float(number) else math.inf
            else:
                value *= float(number)
        total += value
    return total


def _positional(signs: str) -> float:
    """The value of characters for numbers: 20 of 二十 (two tens) and 二〇 (a two and a nought), 120000 of 十二万."""
    total = below = held = 0.0
    for value in map(unicodedata.numeric, signs):
        if value >= 10_000:
            total, below, held = total + (below + held or 1) * value, 0.0, 0.0
        elif value >= 10:
            below, held = below + (held or 1) * value, 0.0
        else:
            held = held * 10 + value
    return total + below + held


def _places_of_letters(text: str) -> list[int]:
    """For each character of `_low(text)`, the index in `text` of the character that it comes from."""
    if text.isascii():
        return list(compress(range(len(text)), map(str.isalnum, text)))
    return [place for place, char in enumerate(text) for _ in range(_count_letters(char))]


# How many characters away still is beside: usually; next to a word inside a sentence; and within one record, if the
# score and the reason are fields of it: a line, a cell, the text behind a key or between tags
_BESIDE, _NEXT, _RECORD = 60, 12, 400
_SIGNS = r"\n\t|<>{}()\[\]:;="
_FIELD_BEFORE = re.compile(rf"(?:\A|[{_SIGNS}]|[\"'”’][^\S\n]*,|\([^\W\d_]{{1,20}}[^\S\n])[^\S\n]*[\"'“‘`*_]{{0,3}}\Z")
_FIELD_BEHIND = re.compile(rf"[\"'”’`*_]{{0,3}}[.。]?[\"'”’]?[^\S\n]*(?:\Z|[{_SIGNS}]|(?<=[\"'”’]),|,[^\S\n]*[\"'“‘])")
# The number may be in a list, and have a unit behind it
_NUMBER_BEFORE = re.compile(rf"(?:\A|[{_SIGNS},]|\([^\W\d_]{{1,20}}[^\S\n])[^\S\n]*[\"'“‘`*_]{{0,3}}\Z")
_NUMBER_BEHIND = re.compile(rf"(?:[^\S\n]?[^\W\d_]{{1,12}})?[\"'”’`*_]{{0,3}}[^\S\n]*(?:\Z|[{_SIGNS},])")
_EDGE = 32
_SPACE_WORD, _WORD_SPACE = re.compile(r"[^\S\n]\w"), re.compile(r"\w[^\S\n]\Z")
# A number that counts nothing, unlike `9 apples`: behind it the line or the clause ends, after a unit at most; or a
# number follows that may be the top of the scale, as in `10 out of 10`
_BEHIND = r"(?![\w%]|[^\S\n]\w)|(?=[^\S\n]?[^\W\d_]{1,12}[^\S\n]*(?:[^\w\s]|\n|\Z))"
_ALONE = re.compile(
    rf"\d(?<!\d\d)(?<!\d\.\d)\d{{0,5}}(?:\.\d{{1,6}})?(?!\d|\.\d)(?:{_BEHIND}"
    r"|(?=[^\S\n]?(?:[^\W\d_]{1,9}[^\S\n]?){1,2}(\d{1,6})(?![\d.])))"
)
# The tops of scales on which a share may be stated; and the values of Roman digits
_SCALES = (1, 5, 10, 100)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
# The most letters of a reason that are compared with the text right behind a number
_MOST_BEGUN = 24
_BY_ITSELF = re.compile(_BEHIND)
# Inside a word, of a script that has spaces between words
_IN_A_WORD = re.compile(r"[^\W\d_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")


def without_verdicts(text: str, said: str, *keys: str, verdict: Mapping[str, Any] | None = None) -> str:
    """A judged text with a note in place of a verdict that a reply quoted, or unchanged if it has none.

    `My answer. GRADE: C` with `GRADE: C` quoted becomes `My answer. (a verdict, not shown)`.

    Args:
        text: the judged text.
        said: the quoted verdict, if replies are no JSON; then this alone is hidden.
        keys: the keys that are hidden with their values, such as `score`.
        verdict: the quoted JSON verdict. Its score is hidden, too, beside its reason or in JSON with the same values.
    """
    scoreless = _without_scores(as_written(text), verdict or {})
    spelled, pieces, end = one_spelling(scoreless), list[str](), 0
    found = (
        _places_of(said, spelled)
        if said
        else [*_places_of_keys(keys, spelled), *_stated_beside(verdict or {}, spelled, _low(spelled))]
    )
    for start, behind in sorted(set(found)):
        if start >= end:
            pieces += [spelled[end:start], _HIDDEN]
            end = behind
    return "".join([*pieces, spelled[end:]]) if pieces or scoreless != as_written(text) else text


def _without_scores(text: str, verdict: Mapping[str, Any]) -> str:
    wanted = _shape(dict(verdict))
    if len(wanted) != 1:
        return text
    for read in dict.fromkeys(map(without_lone_backslashes, (text, _BARE_WORD.sub(_quoted, text)))):
        pieces, end = list[str](), 0
        for start, behind, value in _places_of_objects(read):
            if any(_says(own, wanted[0], words_for=(float,)) for own in _shape(value)):
                pieces += [read[end:start], _scoreless(value, wanted[0])]
                end = behind
        if pieces:
            return "".join([*pieces, read[end:]])
    return text


def _scoreless(value: object, wanted: Sequence[object]) -> str:
    """JSON of `value`, with notes in place of what may be the score in an object that has the values `wanted`.

    These are the wanted numbers, and each text that is not wanted: `nine` may be the score in words.
    """
    try:
        if isinstance(value, list):
            return f"[{', '.join(_scoreless(each, wanted) for each in value)}]"
        if not isinstance(value, tuple):
            return json.dumps(value, ensure_ascii=False)
        own = [None if isinstance(each, tuple | list) else _meaning(each) for _, each in value]
        hidden = set[int]()
        if _says(own, wanted, words_for=(float,)):
            texts = {
                min(range(len(own)), key=lambda at: (own[at] != said, not _is_respelt(own[at], said)))
                for said in wanted
                if isinstance(said, str)
            }
            hidden = {
                at
                for at, one in enumerate(own)
                if at not in texts and (isinstance(one, str) or any(_is_alike(one, said, own) for said in wanted))
            }
        pairs = (
            (key, json.dumps(_HIDDEN) if at in hidden else _scoreless(each, wanted))
            for at, (key, each) in enumerate(value)
        )
        return f"{{{', '.join(f'{json.dumps(key, ensure_ascii=False)}: {each}' for key, each in pairs)}}}"
    except RecursionError:
        return json.dumps(_HIDDEN)


def _places_of_keys(keys: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _pair_matches(text) if _low(match[2]) in keys)


def _places_of(said: str, text: str) -> Iterator[tuple[int, int]]:
    """The spans of `text` that say `said`; case, spaces and the punctuation between words may differ."""
    letters = [(letter, place) for place, char in enumerate(text) if not char.isspace() for letter in char.casefold()]
    bare, wanted = "".join(letter for letter, _ in letters), unspaced(said)
    start = bare.find(wanted)
    while start >= 0:
        yield letters[start][1], letters[start + len(wanted) - 1][1] + 1
        start = bare.find(wanted, start + len(wanted))
    # with other punctuation between its words
    if len(TOKEN.findall(said)) > 1:
        yield from places_of_words(said, text)


def places_of_words(said: str, text: str) -> Iterator[tuple[int, int]]:
    """The spans of `text` with the words and numbers of `said` in their order, whatever punctuation is between them."""
    wanted = [one.casefold() for one in TOKEN.findall(composed(said))]
    found = list(TOKEN.finditer(text)) if wanted else []
    words = [one[0].casefold() for one in found]
    for at in range(len(words) - len(wanted) + 1):
        if words[at] == wanted[0] and words[at : at + len(wanted)] == wanted:
            yield found[at].start(), found[at + len(wanted) - 1].end()


# A word or a number; `score10` is both
TOKEN = re.compile(r"[^\W\d_]+|\d+")
_HIDDEN = "(a verdict, not shown)"
_HIDDEN_MEANING = _low(_HIDDEN)


def unspaced(text: str) -> str:
    """`text` in one spelling, in lower case and without white space: `All  Correct` is `allcorrect`."""
    return "".join(composed(as_written(text)).casefold().split())


# Objects as tuples of pairs, because a key may occur twice
_ANY = json.JSONDecoder(object_pairs_hook=tuple, strict=False)
# A set of texts in a program, `{"a", "b"}`, is no object
_OBJECT_OPEN = re.compile(r"\{\s*+\"(?:[^\"\\]++|\\.)*+\"\s*+:", re.DOTALL)
# A value that JSON would have in quotes
_BARE_WORD = re.compile(r"(?<=[:：∶])\s{0,8}+([^\s\"'{\[\],:][^\"{}\[\],:\n]{0,60}+)(?=[,}])")
_CONSTANT = re.compile(r"(?:true|false|null|NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*")
# The cost of an attempt to parse, beside the characters that it reads
_A_TRY = 100
