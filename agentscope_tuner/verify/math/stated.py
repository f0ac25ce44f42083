r"""References that are sentences: `The smallest integer \( k \) is 2022.` states 2022.

References are trusted, so their wording needs no proof. The value of a sentence is the value after its last main verb,
or several values joined with `and`. A clause that says when or where (`, attained at $x=\frac12$`) holds no value. A
sentence that states two different things cannot be a reference. A sentence without a value is compared word by word.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from agentscope_tuner.verify.math.tables import FUNCTIONS, SPELLED
from agentscope_tuner.verify.math.unit import known, singular

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
    r"(?:(?:\$[^$]*\$|\\\(.*?\\\))[^,$\\]*)*,\s+",
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
_BOUNDS = re.compile(
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
# Words that may stand around the only formula of a sentence without a verb
_HARMLESS = frozenset(
    """the a an answer answers exactly only just option choice total value maximum minimum final result of units unit
    number numbers sum product solution solutions area them these such ways possible values""".split()  # noqa: SIM905
)
_MATHEMATICS = FUNCTIONS | SPELLED.keys()
_FEWEST_WORDS = 2


class StatesSeveral(Exception):
    """The sentence states two values, and nothing in it says which value is the answer."""


def is_sentence(text: str) -> bool:
    """Whether the text is a sentence: it begins with a word or a formula, and has words outside `\\text{}`."""
    plain = _COMMAND.sub(" ", _MATH.sub(" ", text))
    # Not counted as words: capital letters, which name segments, and names of functions
    words = sum(1 for word in _WORD.findall(plain) if not word.isupper() and word not in _MATHEMATICS)
    if text[:1].isalpha():
        return words >= _FEWEST_WORDS - bool(_MATH.search(text))
    return words >= _FEWEST_WORDS and _MATH.match(text) is not None


def candidates(text: str) -> Iterator[str]:
    """The values that the sentence may state, the most certain first; none if it must be compared word by word.

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
    if _BOUNDS.search(_MATH.sub(" ", rest)):
        return
    if not _has_value(rest) or _ATTAINED.match(clause, verb.end()):
        # The value stands before the verb: `$x = 5$ is the only solution`
        yield from _values(_LEADS.sub("", clause[: verb.start()]))
        return
    yield from _values(rest)


def _refuse_several(clause: str, verbs: list[re.Match[str]]) -> None:
    """Refuse a clause with two verbs that state a value each, unless the second value follows from the first (`so`)."""
    for first, second in itertools.pairwise(verbs):
        between = clause[first.end() : second.start()]
        joined = next(reversed(list(_JOINED.finditer(between))), None)
        if joined is None or not _has_value(between[: joined.start()]) or _SO.search(between[joined.start() :]):
            continue
        if _has_value(clause[second.end() :]):
            raise StatesSeveral(_short(clause))


def _short(clause: str) -> str:
    return clause if len(clause) <= 60 else f"{clause[:60]}…"


def _stated(rest: str) -> str:
    """The part of the text after the verb that holds the value.

    It ends before words that say when or where, and it begins after the last colon.
    """
    plain = _MATH.sub(lambda m: "0" * len(m.group()), rest)
    after = _AFTER.search(plain)
    if after is not None and _has_value(rest[: after.start()]):
        rest, plain = rest[: after.start()], plain[: after.start()]
    colon = re.search(r":(?=\s)(?!.*:\s)", plain, re.DOTALL)
    return (rest[colon.end() :] if colon and _has_value(rest[colon.end() :]) else rest).strip(" ,")


def _has_value(text: str) -> bool:
    return _MATH.search(text) is not None or re.search(r"\d|\\[a-zA-Z]", text) is not None


def _values(rest: str) -> Iterator[str]:
    """The possible values of the text after the verb, the most certain first."""
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
    numbers = list(_NUMBER.finditer(rest))
    if len(numbers) == 1:
        yield _with_unit(numbers[0])
        yield numbers[0].group()
    elif numbers and not _WORD.search(
        _JOINERS.sub(" ", _NUMBER.sub(" ", rest[numbers[0].start() : numbers[-1].end()]))
    ):
        yield ", ".join(n.group() for n in numbers)


def _with_unit(number: re.Match[str]) -> str:
    """The number with the unit after it; any other words after it do not change the number."""
    words = itertools.takewhile(_measures, number.string[number.end() :].split())
    return " ".join([number.group(), *words])


def _measures(word: str) -> bool:
    return known(singular(word)) or word in ("square", "cubic", "sq", "per", "percent", "degrees")


def _without_verb(clause: str, formulas: list[re.Match[str]]) -> Iterator[str]:
    """The values of a clause without a verb: `Hence $n = 101$`, `Answer: 17`, `$f(x) = 2x+1$ for all real $x$`."""
    words = _MATH.sub(" ", clause)
    if _DENIES.search(words):
        return
    label, colon, rest = clause.partition(":")
    if colon and not _MATH.search(label) and _has_value(rest):
        yield from _values(rest.strip())
        return
    if formulas and formulas[0].start() == 0:
        yield " ".join(_DOLLARS.sub(" ", clause).split())
    if _BOUNDS.search(words):
        return
    if formulas and len({_inside(f) for f in formulas}) == 1 and {w.lower() for w in _WORD.findall(words)} <= _HARMLESS:
        yield _inside(formulas[0])
    if not formulas and len(_NUMBER.findall(clause)) == 1:
        yield from _numbers(clause)


def _inside(match: re.Match[str]) -> str:
    return next(g for g in match.groups() if g is not None).strip()
