r"""Whether the words of an answer are about something else than its question asks for.

A word is not harmless only because the question has it: if the question gives the girls and asks for the boys,
`12\text{ girls}` is a wrong answer. So the clause that asks is found, behind `how many`, `the number of` or `find`. A
word that only the rest of the question has must follow a preposition or an article: `12\text{ boys in the class}`.

An answer may not state what the clause denies, nor the operation that is asked for (`the square of 144`), nor a
different one of the options that the question offers.

Only texts are read, so no value is known here. Most languages without spaces are left to `words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.number_words import is_number_word
from agentscope_tuner.verify.words import DENIES, IS_HANGUL, IS_UNSPACED, SUPPOSES, WORDS, denies

_TYPE = r"\\(?:text[a-z]*|mathrm|mathbf|mbox|operatorname)\s*\{"
_PIECES = re.compile(
    rf"(?P<opens>{_TYPE})|(?P<formula>(?:\\[a-zA-Z]+|\\[,;:! ]|[\d.,+\-−*/^_=<>()\[\]|:$&%!°~]|\\."
    rf"|(?<![^\W\d_])[a-zA-Z](?![^\W\d_]))++)"
    r"|(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)"
)
_WORDED = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2}|[^\x00-\x7f]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_ELIDED = re.compile(r"\b[ldnjmtsc]['’](?=\w)|\bqu['’](?=\w)", re.IGNORECASE)
_COUNTS = re.compile(
    r"\bhow many\b|\bcombien\b|\bcuánt[oa]s\b|\bwie ?viele\b|\bquant[oiae]s?\b|\bсколько\b|\bhoeveel\b|\bile\b|\bkaç\b"
    r"|\bbao nhiêu\b|\bberapa\b"
    r"|\b(?:number of|nombre d[e'’]|anzahl (?:der|von|an)|número de|numero di|число|количество)\b",
    re.IGNORECASE,
)
_BIDS = re.compile(
    r"\b(?:find|determine|compute|calculate|evaluate|what (?:is|are|was|were)|give|state|trouvez?|calculez?|bestimme?"
    r"|berechne|halla|calcula|trova|calcola|найдите|вычислите)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;?!:\n。？]|\.(?!\d)|\b(?:if|when|given|si|wenn|se|если|falls|als)\b(?!\w)", re.IGNORECASE)
_ARTICLES = frozenset("a an un une uno una ein eine einen um uma".split())  # noqa: SIM905
_OF = frozenset("of de di von do da del der du".split())  # noqa: SIM905
_THAN = frozenset("than als чем".split())  # noqa: SIM905
BEFORE_NOUNS = _ARTICLES | frozenset(
    """the in on at of from to for with by into per le la les l il lo i gli el los las au aux à dans sur en de des du d
    di del della dei da do dos das na no nas nos em con per der die das dem den des im am auf von mit zum zur в на с из
    у по к this that these those his her its their our my your""".split()  # noqa: SIM905
)
_FILLS = frozenset(
    """is are was were be there here it they in all total altogether left remaining more only just exactly of the a an
    such have has had do does did can could ways way times time number numbers answer value solution solutions final
    result total each and or now he she we you i es son hay sont il y a ist sind gibt è sono ci ha hanno não são há
    est les des""".split()  # noqa: SIM905
)
# Words that join others and do not change a value
JOINING = (BEFORE_NOUNS | _FILLS) - frozenset("per times time more into from with or and".split())  # noqa: SIM905
JOINING |= frozenset("you can would could must should will make thus needed required used sold possible".split())  # noqa: SIM905
JOINING |= frozenset(
    """zahl nombre número numero число liczba getal er genau exactement exactamente esattamente exatamente ровно precies
    insgesamt всего у""".split()  # noqa: SIM905
)
#: Articles, pronouns and verbs of several languages that join a name to a sentence and do not change it.
JOINING_NAMES = _ARTICLES - {"a"} | frozenset(
    """la les il lo gli el los las der die das the it is es ist sind elle est ce c'est sont son è sono são é ela ele
    esta esta este ella это o os as will wird sein sera será sarà будет""".split()  # noqa: SIM905
)
_GENERIC = frozenset("things items objects people persons ways pieces units times points solutions cases".split())  # noqa: SIM905
_PRONOUNS = frozenset("his her its their he she it they them".split())  # noqa: SIM905
_NO_OPTIONS = _FILLS | frozenset("not more less fewer than and or neither both what which who how many".split())  # noqa: SIM905
_NOT = DENIES - {"but", "point", "no"} | {"no"}
_RELATES = re.compile(r"[=:<>]|\\(?:[gl]eq?|approx|equiv)(?![a-z])")
_OPTIONS = re.compile(
    r"((?:[^\W\d_][\w-]*, )*)([^\W\d_][\w-]*),? (?:or|oder|ou|o|или|eller|veya|atau|lub)"
    r" (?:is it |an? |the |der |die |das |la |el |le )?([^\W\d_][\w-]*)"
)
_ASKS_WHICH = re.compile(
    r"\b(?:who|which|what|wer|welche[rs]?|qui|quel(?:le)?|quién|cuál|chi|quale|кто|как\w+)\b[^,?.:]*[,:]"
)
_UNSPACED_OPTIONS = re.compile(r"([\u4e00-\u9fff]{2})(?:还是|或者?)([\u4e00-\u9fff]{2})")
_TAIL = re.compile(rf"(?P<value>.*[\d}}])(?:\\[ ,;:!]|~|\s)*{_TYPE}(?P<tail>[^{{}}\d$\\]+)\}}\s*\.?")
_NAMED = re.compile(
    rf"(?P<head>{_TYPE}[^=:\d]*?)(?:(?:\b(?:is|are|es|est|ist|è|é)|:)\s*\}}|\}}(?:\\[ ,;:!]|~"
    rf"|\s)*[=:])(?:\\[ ,;:!]|~|\s)*(?P<value>[-\d\\][^=:]*)"
)
_LONGEST, _FEWEST, _STEM, _ENDING, _SHORT, _ROOT = 300, 2, 4, 3, 3, 6
# Only the end of a question is read: it asks, and some patterns take quadratic time
_MOST_ASKED = 1_500


class _Said(NamedTuple):
    """A word of an answer, in lower case, or a formula in it, for which `is_word` is False."""

    text: str
    is_word: bool


def says_another(answer: str, reference: str, question: str, is_unit: Callable[[str], bool]) -> str:
    r"""A word of the answer that makes it an answer to something else: `girls`, if the question asks for the boys.

    Empty if there is none.

    Args:
        answer: the text of the answer, such as `12\text{ girls}`.
        reference: the text of the reference; its words are always allowed.
        is_unit: whether a word is a unit of measurement, which is allowed behind any number.
    """
    if len(answer) > _LONGEST:
        return ""
    question = question[-_MOST_ASKED:]
    if any(map(str.isdigit, reference)) and (
        amount := _other_amount(answer, reference, question) or _unsaid_option(answer, reference, question)
    ):
        return amount
    if _WORDED.search(answer) is None:
        return ""
    known = _words(reference)
    if not any(map(str.isdigit, reference)):
        return _other_option(answer, known, question)
    if IS_UNSPACED.search(answer) is not None or IS_HANGUL.search(answer) is not None:
        return _other_measure(answer, reference, question)
    said = list(_said(answer))
    words = [one.text for one in said if one.is_word]
    if not words or len(words) == len(said):
        return ""
    return (
        _operates(said, known, reference, question)
        or _other_group(said, known, question, is_unit)
        or _other_subject(answer, known, question, is_unit)
    )


_LAST_ENDED = re.compile(r"[?？؟]\s*\Z")
_CONTENT = 3


def _other_subject(answer: str, known: Sequence[str], question: str, is_unit: Callable[[str], bool]) -> str:
    """The person or thing that the answer names as its subject, if the question asks about a different one; else empty.

    `tom` for `Tom has 12`, if the question is `Tom has 5 apples. Ann has more. How many apples does Ann have?` This
    needs no list of words, so it works in any language: the subject occurs only before the last sentence, and the
    answer does not name the one that occurs both before it and in it.

    Args:
        known: the words of the reference.
    """
    sentences = [one for one in _SENTENCE.findall(question) if one.strip(" \n.")]
    at = max((at for at, one in enumerate(sentences) if _LAST_ENDED.search(one)), default=len(sentences) - 1)
    if at < 1:
        return ""
    told, asked = " ".join(sentences[:at]), sentences[at]
    words = [word for word in _words(answer) if not any(same_word(word, one) for one in known)]
    others = {word for word in words if word in _words(told) and not any(same_word(word, one) for one in _words(asked))}
    rivals = {word for word in _words(asked) if word in _words(told) and not any(same_word(word, one) for one in words)}
    names: list[str] = [word.lower() for word in _WORD.findall(answer) if word[0].isupper()]
    asked_names = {word.lower() for word in _WORD.findall(asked)[1:] if word[0].isupper()}
    mine = [name for name in names if name in others and name not in _FILLS]
    if mine and rivals & asked_names:
        return mine[0]
    if (clause := _asking_words(question)) is not None and clause.counts:
        return ""
    rivals = {one for one in rivals - asked_names if _is_content(one) and not is_unit(one)}
    value = re.search(r"\d", answer)
    behind = _words(answer[value.start() :])[:1] if value is not None else []
    spoken = [word for word in words if word not in _FILLS and word not in BEFORE_NOUNS][:1]
    found = [one for one in (*behind, *spoken) if one in others and _is_content(one) and not is_unit(one)]
    return found[0] if found and rivals else ""


@lru_cache(maxsize=1_024)
def subject_of_another(clause: str, question: str) -> str:
    """The person or thing that a clause is about, if the question asks about a different one; else empty.

    `Ann` for `and Ann is`, if the question is `Tom is 4 years older than Ann. How old is Tom?`

    Args:
        clause: the text before the value, such as `and Ann is` or `乙数是`.
    """
    question = question[-_MOST_ASKED:]
    asked, _ = asking_clause(question)
    if not asked:
        return ""
    if IS_UNSPACED.search(clause) is not None:
        return _unspaced_subject(clause, asked, question)
    words = [word for word in _WORD.findall(_ELIDED.sub("", clause)) if word.lower() not in _FILLS | BEFORE_NOUNS]
    names = {word for word in _WORD.findall(question) if word[0].isupper()}
    if mine := next((word for word in words if word.removesuffix("'s") in names), ""):
        verb = next(iter(_WORD.findall(clause.partition(mine)[2])), "")
        # the question asks the same about another name: `hat Tom`, `does Tom have`
        verbs = rf"\b(?:{re.escape(verb)}|{_AUXILIARIES})"
        rivals = [one for one in names if verb and re.search(rf"{verbs} {re.escape(one)}\b", asked)]
        return mine if rivals and mine not in asked else ""
    first = next((word.lower() for word in words if _is_content(word.lower()) and word.lower() not in _JOINS), "")
    told, wanted = _words(question), _words(asked)
    is_other = first in told and not any(same_word(first, one) for one in wanted)
    return first if is_other and len(wanted) > _FEWEST else ""


_AUXILIARIES = "does|did|do|is|was|were|are|will|has|have|had|can|would|should"
_JOINS = frozenset("so then thus therefore hence while but also whereas".split())  # noqa: SIM905


def is_of_total(clause: str, question: str) -> bool:
    """Whether a Chinese clause gives a total, `共270人`, and the question does not ask for one."""
    asked, _ = asking_clause(question[-_MOST_ASKED:])
    return _TOTAL_UNSPACED.match(clause.strip()) is not None and _TOTAL_UNSPACED.search(asked) is None


_TOTAL_UNSPACED = re.compile("一?共|总|合计|两[人者数]")
_UNSPACED_SUBJECT = re.compile(
    r"(?:[而则那么所以其中因此另外即且和]|答[:：])*(?P<name>[\u4e00-\u9fff]{1,6}?)(?:的\w{1,3})?[是有为共=:：了]"
)


# Words for a thing that was named before: `求其最小值`
_MEANS_FORMER = re.compile("[其它该此这]|その|それ")


def _unspaced_subject(clause: str, asked: str, question: str) -> str:
    """As `subject_of_another`, in Chinese: `乙数` for `乙数是`, if the clause that asks, `asked`, is `求甲数`."""
    found = _UNSPACED_SUBJECT.match(clause.strip())
    if found is None or (name := found["name"]) in asked or _MEANS_FORMER.search(asked) is not None:
        return ""
    if question.rstrip(" 。.?？$").endswith(name):
        return ""
    if name in question:
        # a name of one character is a part of many words
        return name if len(name) > 1 else ""
    told = [sign for sign in name if sign in question and sign not in asked]
    others = [sign for sign in name if sign not in told]
    # `乙数`, where the question has `甲、乙两数` and asks for `甲数`
    return name if told == [name[0]] and others and all(sign in asked for sign in others) else ""


def _is_content(word: str) -> bool:
    """Whether a word in lower case has a meaning of its own, like `girls`: no article, preposition or number word."""
    return len(word) >= _CONTENT and word not in _FILLS and word not in BEFORE_NOUNS and not is_number_word(word)


# Words that say which amount a value is, `12 each`, and words of a question that asks for this amount. The second
# pattern of a total has the words of questions that ask for no total
_AMOUNTS = tuple(
    (re.compile(said, re.IGNORECASE), re.compile(asked, re.IGNORECASE), is_total)
    for said, asked, is_total in (
        (
            r"\b(?:each|apiece)\b|[每各]",
            r"\b(?:each|every\w*|one|per|an?|single|apiece|equal\w*|average|both)\b|[每各]|一(?!共)|平均",
            False,
        ),
        (
            r"(?<!\\)\b(?:left|remain\w*)\b|[剩余]",
            r"\b(?:left|remain\w*|still|now|after\w*|rest|keep|more|over|end|unused)\b|[剩余还]",
            False,
        ),
        (
            r"\b(?:total|altogether|in all|together|combined)\b|共",
            r"\b(?:each|apiece|every\w*|per|one|left|remain\w*)\b|[每各剩余还]",
            True,
        ),
        (r"\bapart\b", r"\b(?:apart|distance|between|far (?:is|are))\b", False),
        (r"\bold(?:er)?\b", r"\b(?:old\w*|ages?|birthday)\b", False),
        (r"\bdeep\b", r"\b(?:deep|depth|high|height)\b", False),
        (r"\btall\b", r"\b(?:tall|height|high)\b", False),
        (r"\bwide\b", r"\b(?:wide|width|broad)\b", False),
        (r"\bhigh\b", r"\b(?:high|height|tall)\b", False),
    )
)
_OWNS = re.compile(r"\b(?:have|has|(?:are|is) there)\b", re.IGNORECASE)
_CLOCK = re.compile(r"\d[:：点時时]\d")
_SAID_BEFORE = re.compile(r"^\\text\s*\{\s*(?P<run>[\u4e00-\u9fff]{1,12}?)了?\s*+(?:\}\s*+)?\d")
_SAID_BEHIND = re.compile(r"\d(?:[\s~}]|\\[ ,;:!])*\\text\s*\{\s*(?P<run>[a-z]{3,})\s*\}$")


def _other_amount(answer: str, reference: str, question: str) -> str:
    """A word that makes the answer a different amount than the one asked for, such as `each`; empty if there is none.

    Or a verb whose number the question gives: `spent` of `12 spent`, if the question has `She spent 5 dollars.`
    """
    clause, _ = asking_clause(question)
    if not clause or not any(map(str.isdigit, question)):
        # without a number the question gives no other amount
        return ""
    told = [one for one in _SENTENCE.findall(question) if any(map(str.isdigit, one))]
    if len(told) >= _FEWEST and clause not in told[0] and _OWNS.search(clause) is not None:
        # the question gives a first amount and its changes, so it asks for the amount now
        clause += " now"
    for said, asked, is_total in _AMOUNTS:
        found = None if said.search(reference) or said.search(clause) else said.search(answer)
        if found is not None and (asked.search(clause) is not None) == is_total:
            return found[0]
    found = _SAID_BEFORE.match(answer) or _SAID_BEHIND.search(answer)
    if found is None or _CLOCK.search(answer) is not None:
        return ""
    if IS_UNSPACED.search(verb := found["run"]):
        is_told = re.search(rf"{verb[-1]}了?\d", question) is not None
        return verb if is_told and verb[-1] not in clause else ""
    is_told = re.search(rf"\b{verb} (?:\\?\$\\?)?\d", question) is not None and verb not in BEFORE_NOUNS
    return verb if is_told and not any(same_word(verb, one) for one in _words(clause)) else ""


# Measure words for several things at once: pairs, dozens, sets. A question for single things does not ask for these
_COLLECTIVE = re.compile(r"\d[\s~}]*(?:\\text[a-z]*\s*\{\s*)?(?P<measure>[双雙对對打副套足膳]|켤레|쌍|다스)")
_ASKED_MEASURE = re.compile(r"(?:多少|几|幾|何|몇\s?|いく)(?P<measure>[双雙对對打副套足膳]|켤레|쌍|다스)")


def _other_measure(answer: str, reference: str, question: str) -> str:
    """A measure word of the answer that the question has but does not ask for: `双` of `5双`; or empty."""
    said = _COLLECTIVE.search(answer)
    if said is None or said["measure"] in reference or said["measure"] not in question:
        return ""
    asked = {found["measure"] for found in _ASKED_MEASURE.finditer(question)}
    return "" if said["measure"] in asked else said["measure"]


def without_own_words(answer: str, question: str, is_unit: Callable[[str], bool]) -> str:
    r"""The value without words that only repeat the question: `12` for `12\text{ boys in the class}`.

    Also without a name before the value: `4` for `\text{reciprocal}=4`. The words must have the order of the clause
    that asks, and its denial, if it has one. Any other text comes back as it is.

    Args:
        is_unit: whether a word is a unit or changes the value; such words are read elsewhere.
    """
    question = question[-_MOST_ASKED:]
    if "\\text" not in answer or len(answer) > _LONGEST or (asked := _asking_words(question)) is None:
        return answer
    if (named := _NAMED.fullmatch(answer)) is not None:
        head = [word for word in _words(named["head"]) if word not in _ARTICLES and word != "the"]
        if head and _repeats(head, asked.words, question, is_unit) and _same_noun(head, asked.words):
            return named["value"]
    match = _TAIL.fullmatch(answer) if asked.counts else None
    if match is None:
        return answer
    words = _words(match["tail"])
    measured = any(is_unit(word) for word in words if word not in BEFORE_NOUNS and word not in _NOT)
    if not words or words[-1] in _NOT or measured or not _repeats(words, asked.words, question, is_unit):
        return answer
    return match["value"]


def _same_noun(head: Sequence[str], asked: Sequence[str]) -> bool:
    """Whether a name begins with the noun of the clause that asks: `sum`, but not `digits`, of `the sum of the digits`.

    Args:
        head: the words of the name, without an article.
        asked: the words of the clause.
    """
    own = next((word for word in asked if word not in BEFORE_NOUNS and word not in _FILLS), "")
    return same_word(head[0], own)


def _repeats(words: Sequence[str], asked: Sequence[str], question: str, is_unit: Callable[[str], bool]) -> bool:
    """Whether words only repeat the clause that asks, or the rest of the question behind a preposition.

    Such as `boys in the class`, if the clause is `boys are there` and the rest of the question has `in the class`.
    """
    at = 0
    for place, word in enumerate(words):
        found = next((i for i in range(at, len(asked)) if same_word(word, asked[i])), -1)
        if found >= 0:
            if place and not _NOT.isdisjoint(asked[at:found]):
                return False
            at = found + 1
            continue
        led = place > 0 and words[place - 1] in BEFORE_NOUNS
        in_place = at > 0 and (word in BEFORE_NOUNS or (led and _has(question, word) and not is_unit(word)))
        if not in_place or word in _NOT or len(words) == 1:
            return False
    return not _leaves_denial(words, asked)


def _leaves_denial(words: Sequence[str], asked: Sequence[str]) -> bool:
    """Whether words state what the clause that asks denies: `scouts`, if the clause is `girls are not scouts`."""
    denied = [at for at, word in enumerate(asked) if word in _NOT]
    if not denied or not _NOT.isdisjoint(words):
        return False
    said, behind = asked[: denied[0]], asked[denied[0] + 1 :]
    # who is asked for may be named in the denial, too: the girls who are not girl scouts
    own = [word for word in words if word not in said]
    return any(same_word(word, one) for word in own for one in behind)


class _Clause(NamedTuple):
    """The words of the clause that asks, in lower case, and whether it asks for a count."""

    words: tuple[str, ...]
    counts: bool


@lru_cache(maxsize=1_024)
def _asking_words(question: str) -> _Clause | None:
    """The clause that asks: `boys are there` of `How many boys are there?`; None if the question has none."""
    begun = list(_COUNTS.finditer(question))
    bids = list(_BIDS.finditer(question)) if not begun else []
    if not begun and not bids:
        return None
    first = (begun or bids)[-1]
    end = _CLAUSE_END.search(question, first.end())
    words = _words(question[first.end() : len(question) if end is None else end.start()])
    if len(begun) >= _FEWEST and re.fullmatch(_AUXILIARIES, words[0] if words else "") is not None:
        # `The number of cells doubles. How many are there?`
        told = _words(question[begun[-2].end() : first.start()])
        words = (*takewhile(lambda word: word not in BEFORE_NOUNS, told[:_FEWEST]), *words)
    elif begun and _PLURAL_IN_S.match(first[0]) is not None:
        words = (*_left_out(words, question), *words)
    return _Clause(tuple(words), bool(begun)) if words else None


# Languages whose plurals end in `s` or `x`
_PLURAL_IN_S = re.compile(r"how many|combien|cuánt|quantos|quantas", re.IGNORECASE)
_PLURAL = re.compile(r"[^\W\d_]+[sx]|people|children|men|women")


def _left_out(asked: Sequence[str], question: str) -> Sequence[str]:
    """The noun that the clause that asks leaves out: `kids` of `18 kids play, 7 play here. How many play there?`

    Its first word must be a verb that also has a number before it in the question. Empty for any other clause.

    Args:
        asked: the words of the clause.
    """
    verb, *behind = [one for one in asked if len(one) > 1 and one not in _FILLS | BEFORE_NOUNS | {"them", "ne"}] or [""]
    numbered = [one[0].lower() for one in _WORD.finditer(question) if _is_numbered(question, one.start())]
    if verb not in numbered or any(_PLURAL.fullmatch(one) is not None for one in (verb, *behind[:1])):
        return ()
    # the first noun is the whole group; the numbers are parts of it
    return [one for one in numbered if _PLURAL.fullmatch(one) is not None][:1]


@lru_cache(maxsize=1_024)
def _words(text: str) -> Sequence[str]:
    """The words of a text in lower case: `l`, `aire`, `is`, `not` of `L'aire isn't 5`."""
    text = _ELIDED.sub(lambda found: f"{found[0][:-1]} ", text.replace("’", "'").lower()).replace("n't", " not")
    return tuple(_WORD.findall(re.sub(r"\\[a-z]+", " ", text)))


def _said(answer: str) -> Iterator[_Said]:
    """The words of an answer and the formulas between them, in their order."""
    formula = ""
    for piece in _PIECES.finditer(_ELIDED.sub(" ", answer.replace("n't", " not").replace("n’t", " not"))):
        if piece["formula"]:
            formula += piece["formula"]
        elif piece["word"]:
            if formula.strip(" ~\\,;:!$.()"):
                yield _Said(formula, is_word=False)
            formula = ""
            yield _Said(piece["word"].lower(), is_word=True)
    if formula.strip(" ~\\,;:!$.()"):
        yield _Said(formula, is_word=False)


def same_word(one: str, other: str) -> bool:
    """Whether two words may be forms of the same word: `addition` and `additive`, but not `girl` and `girder`.

    They share their first letters, all but the last three and at least four; six are always enough. Shorter ones are
    singular and plural: `boy` and `boys`.
    """
    if one == other:
        return True
    short, long = (one, other) if len(one) < len(other) else (other, one)
    if len(short) == 3 and long == f"{short}s":
        return True
    shared = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return shared >= min(max(_STEM, len(long) - _ENDING), _ROOT)


def _has(question: str, word: str) -> bool:
    """Whether a question contains a word, or a form of it."""
    return any(same_word(word, one) for one in _words(question))


def _unsaid_option(answer: str, reference: str, question: str) -> str:
    """An option that the reference states and the answer leaves out; empty if there is none.

    `loss` for the answer `7`, if the reference is `loss of 7 dollars` and the question `What is the profit or loss?`
    """
    options = options_of(question) if _WORDED.search(reference) is not None else frozenset()
    known, said = _words(reference), _words(answer)
    held = [one for one in options if any(same_word(word, one) for word in known)]
    return held[0] if len(held) == 1 and not any(same_word(word, held[0]) for word in said) else ""


def _other_option(answer: str, known: Sequence[str], question: str) -> str:
    """An option of the question that the answer states and the reference does not: `even` of `odd or even`; or empty.

    Args:
        known: the words of the reference.
    """
    if IS_UNSPACED.search(answer) is not None:
        said = "".join(re.findall(r"[\u4e00-\u9fff]", answer))
        pair = _UNSPACED_OPTIONS.search(question)
        others = [one for one in pair.groups() if not any(one in word for word in known)] if pair is not None else []
        return next((one for one in others if one in said and len(others) == 1), "")
    options = options_of(question)
    if not options or any(word in ("neither", "both", "none", "yes", "no") for word in known):
        return ""
    if not any(same_word(word, one) for word in known for one in options):
        return ""
    words = _words(answer)
    for at, word in enumerate(words):
        is_other = any(same_word(word, one) for one in options) and not any(same_word(word, one) for one in known)
        if is_other and (at == 0 or words[at - 1] not in _THAN):
            return word
    return ""


def option_behind(answer: str, sentences: Sequence[str], question: str) -> str:
    """The words behind an answer that state a different option of the question: `it is even`, behind the answer `odd`.

    Empty if there are none. Only the beginning of a sentence is read, or the part behind a `but`, up to its first comma
    or reason: an option that is named elsewhere may be about a different thing.

    Args:
        answer: one of the options; for any other answer the result is empty.
        sentences: the sentences behind it.
        question: the task's text, in lower case.
    """
    options = options_of(question)
    held = {one for one in options for word in _words(answer) if same_word(word, one)}
    if len(held) != 1:
        return ""
    for said in sentences:
        supposed = not SUPPOSES.isdisjoint(WORDS.findall(said.lower()))
        for clause in () if supposed else _BUT.split(said.lower()):
            said_first = _ENDS_FIRST.split(clause.strip(" .!,;:"), maxsplit=1)[0]
            *before, last = WORDS.findall(said_first) or [""]
            is_other = any(same_word(last, one) for one in options - held)
            if is_other and not any(map(denies, before)) and _is_asked_of(before, question):
                return said_first.strip()
    return ""


_BUT = re.compile(r"\b(?:but|however|aber|jedoch|mais|pero|ma|però|но|однако)\b")
_ENDS_FIRST = re.compile(
    r"[,;:.!—–$\d(]|\b(?:since|because|as|for|and|where|when|denn|weil|und|car|puisque|et|porque|pues|y|perché|e"
    r"|потому|так)\b"
)
_SURELY = frozenset(
    """is was ist war est était es era è é in fact indeed actually really clearly so thus hence therefore then instead
    rather also daher tatsächlich donc en fait por tanto quindi infatti""".split()  # noqa: SIM905
)
_POINTS_BACK = frozenset("it this that es das dies il elle cela ce eso esto esso questo это он она answer".split())  # noqa: SIM905
_STATEMENTS = re.compile(r"statement|claim|assertion|proposition|aussage|behauptung|affirm|énoncé|enunciado|утвержден")
_THE = frozenset("the der die das le la el lo il o a l".split())  # noqa: SIM905


def _is_asked_of(before: Sequence[str], question: str) -> bool:
    """Whether the words before an option are about the thing asked for: `it is`, `the capital is`, or none at all."""
    subject = [word for word in before if word not in _SURELY]
    if len(subject) == len(("the", "capital")) and subject[0] in _THE:
        return subject[1] in _words(question) or bool(_STATEMENTS.match(subject[1]))
    return not subject or (len(subject) == 1 and subject[0] in _POINTS_BACK)


@lru_cache(maxsize=1_024)
def options_of(question: str) -> frozenset[str]:
    """The words that a question offers as answers, in lower case: `odd` and `even` of `Is it odd or even?`"""
    found = _OPTIONS.findall(_ASKS_WHICH.sub(" ", question[-_MOST_ASKED:].lower()))
    words = [word for first, *rest in found for word in (*first.replace(",", " ").split(), *rest)]
    return frozenset(word for word in words if word not in _NO_OPTIONS and len(word) > 1)


# Words that ask for an order: from the cheapest to the most expensive; first … then; how many each has
_ORDERS = re.compile(
    r"\bfrom (?:the )?(?:\w+est|most|least) to (?:the )?(?:\w+est|most|least)\b|\b(?:von"
    r"|vom) (?:\w+ )?\w+sten (?:bis )?(?:zum|zu)\b"
    r"|\bdu (?:plus|moins) \w+ au (?:plus|moins)\b|\bde (?:la |el )?(?:más|menos|mayor"
    r"|menor)[^.?!]{1,30} a (?:la |el )?(?:más|menos|mayor|menor)\b"
    r"|\bd[ao]l? (?:più|meno|mais|menos) \w+ a[lo]? (?:più|meno|mais|menos)\b|\bот (?:сам\w+ |наи"
    r"|наим)\w+ (?:\w+ )?(?:к|до) "
    r"|\bfirst\b[^?!]*\bthen\b|\bzuerst\b.*\bdann\b|\bd['’]abord\b.*\b(?:puis|ensuite)\b"
    r"|\bprimero\b.*\b(?:luego|después)\b"
    r"|\bprima\b.*\bpoi\b|\bсначала\b.*\b(?:потом|затем)\b|先.*[再后]"
    r"|\bin the order (?:they|in which|that|of|given)\b|\bin (?:this|that) order\b"
    r"|\bhow (?:many|much|old)\b[^.?!]{0,60}\beach\b|\bjeweils\b|\brespectiv|\brispettiv|\bсоответственно\b"
    r"|\bsırasıyla\b|\blần lượt\b|\bmasing-masing\b|\bodpowiednio\b|それぞれ|각각|क्रमशः|على التوالي"
    r"|各[^，。？?]{0,4}[多几]",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.?!。？！؟।\n]*(?:\.(?=\S)[^.?!。？！؟।\n]*)*[.?!。？！؟।\n]?")
_ASKS = re.compile(
    r"\b(?:how (?:many|much|old|long|far|high)|what|who|when|where|solve for|wie(?: ?viele?| \w+)?|was|wer|que|qui"
    r"|quién|qué|che|chi|cosa|что|кто|find|determine|compute|calculate|evaluate|give|state|write|express|name|list|report"
    r"|provide|combien|cuánt\w+|quant[oiae]s?|сколько|hoeveel|ile|kaç|trouve[rz]?|calcule[rz]?|donne[rz]?|détermine[rz]?"
    r"|bestimmen?|berechnen?|gib|nenne|halla|calcula|determina|encuentra|trova|calcola|encontre|calcule|найдите|вычислите"
    r"|укажите|определите|berapa|tìm|tính|oblicz|podaj|znajdź|bepaal|bereken|geef"
    r"|add meg|határozd meg|számítsd ki|aflați|calculați|determinați|знайдіть|обчисліть|визначте|určete|vypočítejte)\b"
    r"|จงหา|求(?!め)|写出|计算",
    re.IGNORECASE,
)
# The beginning of a condition, or of the range in which the values asked for lie
_CONDITION = re.compile(
    r"[;:；：]|\b(?:that|which|where|whose|when|if|such|for|so|with|given|between|than|satisfying|on|knowing|wenn|falls|für"
    r"|mit|bei|zwischen|deren|dessen|si|quand|lorsque|entre|dont|tels?|telles?|sachant|avec|cuando|con|se|quando|tra|cui"
    r"|com|если|когда|при|между|для|котор\w+|jika|khi|nếu|als|waar|jeśli|gdy|gdzie)\b",
    re.IGNORECASE,
)
_JOIN = re.compile(
    r"[,，]\s*(?:(?:and|und|et|en|og|och|ve|dan|và|oraz)\s)?"
    r"|(?<=[^\s,]\s)(?:and|und|et|ve|dan|và|en|og|och|oraz|és|și|و|और|και|(?<!nd )(?<!et )(?<!\s[yeiиі] )[yeiиі])(?=\s)"
    r"|[和与與及、]|以及|และ|(?<=[\u3040-\u9fff$])と(?=\S)|(?<=[\uac00-\ud7a3])[와과]\s|(?<=\s)و(?=\S)",
    re.IGNORECASE,
)
# Words for all things of a kind, whose order is free
_SETS = re.compile(
    r"\b(?:all|every|any|roots?|solutions?|zeros|zeroes|factors|divisors|multiples|common|possible|which|two|both"
    r"|alle|wurzeln|lösung\w*|nullstellen|teiler|gemeinsame\w*|zwei|welche\w*|tou(?:te)?s|racines|diviseurs|commun\w*"
    r"|deux|quel(?:le)?s|todos|todas|raíces|soluci\w+|divisores|comun\w*|dos|cuáles|tutt[ie]|radici|soluzion\w+|due"
    r"|quali|raízes|soluç\w+|dois|quais|все|корн\w+|решени\w+|делител\w+|общ\w+|два|какие|kök\w*|çözüm\w*|ortak"
    r"|nghiệm|akar|chung)\b|[根解]|所有|公[约約倍]|两个|两数",
    re.IGNORECASE,
)
_CROSSES = re.compile(r"intersect|schnittp|incroci|交点|交點|交点|пересеч|kesiş|giao điểm", re.IGNORECASE)
_GIVEN = re.compile(r"-?(?:\d|\\[dt]?frac)")
_PART_OF = re.compile(r"\b(?:of|der|des|von|de|di|du|do|da)\b")
_SIMPLE = re.compile(r"[a-zA-Z\\_{}\d',\s]*")
_IN_DOLLARS = re.compile(r"\$\$?([^$]{0,200})\$\$?|\\\(([^$]{0,200}?)\\\)")


_BEGINS = re.compile(
    r"\b(?:how \w+|what|solve|find|determine|compute|calculate|evaluate|give|state|wie ?\w+|was (?:ist|sind)|welche\w*"
    r"|berechne\w*|bestimme\w*|finde|gib|combien|quel(?:le)?s?|calcule[rz]?|trouve[rz]?|détermine[rz]?|donne[rz]?|cuánt\w*"
    r"|cuál\w*|qué|calcula|halla|encuentra|determina|quant[oaie]s?|qual[ei]?|trova|calcola|encontre|найдите|найти|вычислите|определите"
    r"|чему|как\w+|сколько|hoeveel|bereken|bepaal|wat|ile|oblicz|jak\w*|znajdź|bao nhiêu|tính|tìm|berapa|hitung)\b",
    re.IGNORECASE,
)
# Question words that come last in their clause, behind the thing asked for
_ENDS = re.compile(r"求|多少|[几幾何]|いく[つら]|どれ|몇|구하|구해|얼마|몇|\bkaç|\bnedir|\bbulun")
_CLAUSES = re.compile(r",(?!\s?-?\d)|[，、;；]")


@lru_cache(maxsize=1_024)
def asking_clause(question: str) -> tuple[str, bool]:
    """The clause that asks, without its conditions: `find y` of `If x=2, find y when z=3.`; empty if there is none.

    The second value is True if the clause was found by a question word that may stand last, as in Chinese
    (`y是多少`, `求y`): then it is everything between two commas.
    """
    for sentence in reversed(_SENTENCE.findall(question[-_MOST_ASKED:])):
        for clause in reversed(_CLAUSES.split(sentence)) if _ENDS.search(sentence) else ():
            if _ENDS.search(clause):
                return clause, True
        if (begun := _BEGINS.search(sentence)) is not None:
            clause = sentence[begun.start() :]
            end = _CONDITION.search(clause, begun.end() - begun.start())
            return clause[: len(clause) if end is None else end.start()], False
    return "", False


def asks_at_once(before: str) -> bool:
    """Whether a text ends with words that ask for the formula behind it: `find the value of`, `求`."""
    asks = max((m.end() for m in (*_BEGINS.finditer(before), *_ENDS.finditer(before))), default=None)
    return asks is not None and _OF_VALUE.fullmatch(before, asks) is not None


_OF_VALUE = re.compile(
    r"(?i)(?:\s+(?:is|are|ist|sind|est|es|é|è))?(?:\s+(?:the|all|der|den|die|das|la|le|les|el|los|il|o|os))?"
    r"(?:\s+(?:real|possible|exact|positive|integer))?(?:\s+(?:values?|wert|werte|valeurs?|valor(?:es)?|valore|значени[ея]))?"
    r"(?:\s+(?:of|von|de|di|for|nach|pour|para|per))?[\s$]*"
)


def asks_count(question: str) -> bool:
    """Whether a question asks for a count: `How many dogs are there?`"""
    clause = asking_clause(question)[0]
    return _COUNTS.search(clause) is not None or _COUNTS_UNSPACED.search(clause) is not None


_COUNTS_UNSPACED = re.compile("[多几]少?|何|몇|いく")


@lru_cache(maxsize=1_024)
def asks_order(question: str) -> bool:
    """Whether a question asks for its values in an order: `List them from smallest to largest`."""
    return _ORDERS.search(question[-_MOST_ASKED:]) is not None


@lru_cache(maxsize=1_024)
def asked_parts(question: str) -> tuple[str, ...]:
    """The things that a question asks for one by one: `the quotient` and `the remainder`, in lower case.

    Empty if it asks for a single thing, or for a set, whose order is free: `the roots of p and q`, `all a and b`.
    """
    sentences = [one for one in _SENTENCE.findall(question[-_MOST_ASKED:]) if one.strip(" \n.")]
    for at, sentence in enumerate(reversed(sentences)):
        begun = _ASKS.search(sentence)
        if begun is None and at and sentence.strip()[-1:] not in "?？؟":
            continue
        clause = (sentence if begun is None else sentence[begun.end() :]).rpartition("，")[2]
        if len(parts := _conjuncts(clause)) > 1:
            return parts
    return ()


def _conjuncts(clause: str) -> tuple[str, ...]:
    """The parts of a clause that `and` or a comma joins, in lower case; empty unless their order matters."""
    clause = _IN_DOLLARS.sub(_named_formula, clause).strip()
    end = _CONDITION.search(clause, 1)
    parts = [one.strip(" .?!。？！") for one in _JOIN.split(clause[: len(clause) if end is None else end.start()])]
    parts = [one.lower() for one in parts if one]
    parts = parts[: next((at for at, one in enumerate(parts) if at and _GIVEN.match(one)), len(parts))]
    heads = [part if (of := _PART_OF.search(part)) is None else part[: of.start()] for part in parts]
    if len(parts) < _FEWEST or _CROSSES.search(clause) is not None or any("=" in head for head in heads):
        return ()
    return () if _SETS.search(heads[0]) is not None else tuple(parts)


def _named_formula(found: re.Match[str]) -> str:
    """A word for a formula: names such as `x,y` as they are, any other formula as `it`, an equation as `=`."""
    inside: str = found[1] or found[2] or ""
    return inside if _SIMPLE.fullmatch(inside) else "=" if "=" in inside else "it"


def parts_of(question: str, count: int) -> tuple[str, ...]:
    """The things that a question asks for one by one (see `asked_parts`), if there are `count` of them; else empty.

    With a count of 2, `the sum and the product of x and y` gives `the sum` and `the product of x`: `and y` belongs to
    the second.
    """
    parts = asked_parts(question)
    if len(parts) > count and _PART_OF.search(parts[count - 1]) is not None:
        parts = parts[:count]
    return parts if len(parts) == count else ()


def _operates(said: Sequence[_Said], known: Sequence[str], reference: str, question: str) -> str:
    """Words before the value that make a different one of it, such as `square of` or `than`; empty if there are none.

    `square of` for the answer `the square of 12`, if the question is `Find the square of 12`.

    Args:
        said: the words and formulas of the answer.
        known: the words of the reference.
    """
    at = max(at for at, one in enumerate(said) if not one.is_word)
    words = [one.text for one in said[:at] if one.is_word]
    if not words or at == 0 or not said[at - 1].is_word or _RELATES.search(said[at].text):
        return ""
    if (
        words[-1] in _THAN
        and sum(not one.is_word for one in said) == 1
        and _RELATES.search(reference) is None
        and reference[:1] not in "(["
    ):
        return words[-1]
    if len(words) < _FEWEST or words[-1] not in _OF or not _ARTICLES.isdisjoint(words):
        return ""
    noun = words[-2]
    asked = " ".join(_words(question))
    is_asked = f" {noun} {words[-1]} " in f" {asked} "
    return f"{noun} {words[-1]}" if is_asked and noun not in known and noun not in ("out", "total") else ""


def _other_group(said: Sequence[_Said], known: Sequence[str], question: str, is_unit: Callable[[str], bool]) -> str:
    """A word of the answer that names a different group or quantity than the one asked for; empty if there is none.

    Such as `girls` of `12 girls`, if the boys are asked for.

    Args:
        said: the words and formulas of the answer.
        known: the words of the reference.
    """
    if (asked := _asking_words(question)) is None:
        return ""
    values = [at for at, one in enumerate(said) if not one.is_word]
    words = [one.text for one in said if one.is_word]
    last = values[-1]
    tail = [one.text for one in said[last + 1 :]]
    named = _RELATES.match(said[last].text.strip()) is not None
    head = [one.text for one in said[:last] if one.is_word] if named else []
    if _leaves_denial(words, asked.words):
        return next(word for word in words if _leaves_denial([word], asked.words))
    if asked.counts and tail and is_unit(tail[0]) and _counts_things(tail[0], known, asked.words, question, is_unit):
        return tail[0]
    own = [word for word in asked.words if word not in _FILLS and word not in BEFORE_NOUNS]
    counted = asked.counts and (len(own) >= _FEWEST or any(word.endswith("s") for word in own))
    for at, word in enumerate(said):
        if not word.is_word or word.text in _FILLS or word.text in BEFORE_NOUNS or len(word.text) < _SHORT:
            continue
        if asked.counts and word.text in tail[:1] and _is_not_counted(tail, known, asked.words, question):
            return word.text
        if any(same_word(word.text, one) for one in (*known, *asked.words)) or is_unit(word.text):
            continue
        inside = [one.text for one in said[max(at - 2, 0) : at]]
        in_question = _has(question, word.text)
        if in_question and len(inside) == _FEWEST and _replaces(inside, asked.words):
            return word.text
        if counted and word.text in (tail or head):
            if in_question and at + 1 < len(said) and _qualifies(word.text, said[at + 1].text, asked.words, question):
                continue
            led = bool(inside) and inside[-1] in BEFORE_NOUNS
            if in_question and (not led or _is_one_of_several(word.text, question)):
                return word.text
            if not in_question and _counts_another(tail, word.text, asked.words, is_unit):
                return word.text
        states = not asked.counts and in_question and word.text in head and _PRONOUNS.isdisjoint(asked.words)
        if states and not any(same_word(one, mine) for one in head if one not in BEFORE_NOUNS for mine in own):
            return word.text
    return ""


_COMPARES = re.compile(
    r"\b(?:more|fewer|less|\w{3,}er)\b[^,.;]{0,40}?\bthan\b|\btimes as\b|\b(?:mehr|weniger|\w{3,}er) (?:\w+ )?als\b"
    r"|\b(?:plus|moins|más|menos|mais|più|meno)\b(?: \w+)? (?:que|di|do que|che)\b",
    re.IGNORECASE,
)
_COMPARES_BEFORE = re.compile(r"比[^，。；,;]{1,12}[多少大小长短高低重轻贵便快慢][^，。；,;的]{0,4}\Z")


def compares(before: str, behind: str, question: str) -> str:
    """The words that make a value a difference or a ratio: `more than`, of `5 more than Ann`.

    Empty if there are none, or if the question asks for a difference or a ratio.

    Args:
        before: the text before the value.
        behind: the text behind it.
    """
    found = _COMPARES.search(behind[:_LONGEST]) or _COMPARES_BEFORE.search(before[-_SHORT_CLAUSE:])
    is_behind = found is not None and found.re.pattern == _COMPARES.pattern
    if found is None or (is_behind and _CLAUSE_ENDED.search(behind, 0, found.start()) is not None):
        return ""
    question = question[-_MOST_ASKED:]
    sentences = [one for one in _SENTENCE.findall(question) if one.strip(" \n.")]
    asked = asking_clause(question)[0].lower()
    if sentences and is_behind:
        # the clause ends before its condition, which may compare, too; a Chinese sentence both gives and asks
        asked += f" {sentences[-1].lower()}"
    compared = re.findall(r"\w+er\b|more|less|fewer", found[0].lower())
    asks = _ASKS_COMPARED.search(asked) or _COMPARES.search(asked) or any(word in asked for word in compared)
    return "" if asks or not asked else found[0].strip()


_CLAUSE_ENDED = re.compile(r"[,，;；.。(（\n]|\b(?:because|since|weil|denn|car|porque)\b")
_ASKS_COMPARED = re.compile(r"\b(?:more|less|fewer|than|times|differ\w*|ratio|factor)\b|[比差倍]", re.IGNORECASE)
_SHORT_CLAUSE = 40


@lru_cache(maxsize=1_024)
def is_only_given(noun: str, following: str, question: str) -> bool:
    """Whether a question only gives the number of a noun and asks for the number of a different one.

    True for `eggs`, if the question is `A box holds 12 eggs. How many boxes hold 36 eggs?`

    Args:
        noun: the word behind the value of an answer, in lower case.
        following: the word behind the noun, in lower case: `duck` in `duck eggs` only describes the eggs.
    """
    if (asked := _asking_words(question[-_MOST_ASKED:])) is None or not asked.counts:
        return False
    if _is_given(noun, (), asked.words, question):
        return True
    own = [one for one in asked.words if one not in _FILLS and one not in BEFORE_NOUNS and not is_number_word(one)]
    if own[:1] != list(asked.words[:1]) or not noun.endswith("s") or any(same_word(noun, o) for o in (*own, *_GENERIC)):
        return False
    if not any(
        _is_numbered(question, at.start()) for at in _WORD.finditer(question) if same_word(own[0], at[0].lower())
    ):
        # the question gives no number of the noun that it asks for
        return False
    return _only_numbered(noun, question) and not _qualifies(noun, following, asked.words, question)


def _counts_things(
    unit: str, known: Sequence[str], asked: Sequence[str], question: str, is_unit: Callable[[str], bool]
) -> bool:
    """Whether the clause that asks counts things and no amounts, for an answer in a unit: `6 liters`, for `How many
    glasses?` False if the clause has the unit, as in `every day`, but for an amount such as `250 ml`.

    Args:
        unit: the word behind the value.
        known: the words of the reference.
        asked: the words of the clause.
    """
    has_unit = any(same_word(unit, one) for one in asked) and not _only_numbered(unit, question)
    if has_unit or any(same_word(unit, one) for one in known):
        return False
    small = BEFORE_NOUNS | _FILLS
    things = list(takewhile(lambda one: one not in small, dropwhile(small.__contains__, asked)))
    is_plural = bool(things) and _PLURAL.fullmatch(things[-1]) is not None
    return is_plural and not any(is_unit(one) or one in _GENERIC for one in things)


def _is_not_counted(tail: Sequence[str], known: Sequence[str], asked: Sequence[str], question: str) -> bool:
    """Whether the noun behind a value is in the clause that asks, but another one is counted there.

    Such as girls, for `cats does the girl have`, or `dozen`, for `eggs are in 3 dozen`.

    Args:
        tail: the words behind the value, the noun first; `4 dog legs` counts legs.
        known: the words of the reference.
        asked: the words of the clause.
    """
    if _is_given(tail[0], known, asked, question):
        return True
    own = next((one for one in asked if _is_content(one)), tail[0])
    places = [at for at, one in enumerate(asked) if same_word(tail[0], one)]
    # not of `Combien l'entier a-t-il de diviseurs`, which begins with another noun
    if asked[0] in BEFORE_NOUNS - _OF or places[:1] <= [0] or any(same_word(own, one) for one in tail):
        return False
    return all(asked[at - 1] in BEFORE_NOUNS for at in places)


def _is_given(word: str, known: Sequence[str], asked: Sequence[str], question: str) -> bool:
    """Whether the clause that asks counts a different noun and has this one only behind a number.

    True for `dozen`, if the question is `How many eggs are in 3 dozen?`

    Args:
        word: the noun behind the value of an answer.
        known: the words of the reference.
        asked: the words of the clause.
    """
    own = [one for one in asked if one not in _FILLS and one not in BEFORE_NOUNS and not is_number_word(one)]
    if not own or same_word(word, own[0]) or not any(same_word(word, one) for one in own):
        return False
    if any(same_word(word, one) for one in known):
        return False
    return _only_numbered(word, question)


def _only_numbered(noun: str, question: str) -> bool:
    """Whether a question has a noun, and always with a number before it: `eggs` of `12 eggs and 3 eggs`."""
    places = [found.start() for found in _WORD.finditer(question.lower()) if same_word(noun, found[0])]
    return bool(places) and all(map(partial(_is_numbered, question), places))


def _is_numbered(question: str, at: int) -> bool:
    """Whether a number is directly before position `at` of the question: before `eggs` in `12 eggs`."""
    before = question[:at].rstrip(" $").lower()
    return before[-1:].isdigit() or is_number_word(before.rpartition(" ")[2])


def _is_one_of_several(word: str, question: str) -> bool:
    """Whether a word is the singular of things that the question numbers: the wagon of `8 wagons with 40 seats each`.

    Then `seats per wagon` and `seats in a wagon` are not the seats of all of them.
    """
    forms = [at for at in _WORD.finditer(question) if same_word(word, at[0].lower()) and word != at[0].lower()]
    return any(len(word) <= len(at[0]) and _is_numbered(question, at.start()) for at in forms)


def _counts_another(tail: Sequence[str], word: str, asked: Sequence[str], is_unit: Callable[[str], bool]) -> bool:
    """Whether an answer may count something else than is asked for: `12 elephants` for `How many boys are there?`

    Not `12 brave boys`: what is asked for, or a unit, may follow the strange word.

    Args:
        tail: the words behind the value.
        word: the strange word, which neither the clause nor the reference has; false unless `tail` begins with it.
        asked: the words of the clause that asks.
        is_unit: whether a word is a unit.
    """
    if tail[:1] != [word] or word in _GENERIC or not _GENERIC.isdisjoint(asked):
        return False
    return not any(is_unit(other) or any(same_word(other, one) for one in asked) for other in tail[1:])


def _qualifies(word: str, behind: str, asked: Sequence[str], question: str) -> bool:
    """Whether a word only describes the noun that is asked for, as `duck` in `duck eggs`, in the question, too.

    Args:
        word: the describing word.
        behind: the noun behind it.
        asked: the words of the clause that asks.
    """
    words = _words(question)
    together = any(same_word(word, one) and same_word(behind, other) for one, other in pairwise(words))
    # if the question asks for `blue marbles`, `red` in `red marbles` is no mere description
    others = [one for one, other in pairwise(asked) if same_word(behind, other) and _is_content(one)]
    return together and not others and any(same_word(behind, one) for one in asked)


def _replaces(led: Sequence[str], asked: Sequence[str]) -> bool:
    """Whether the clause that asks has the same two words before its own noun: `to the line`, for `to the plane`.

    Args:
        led: the two words before the answer's noun.
        asked: the words of the clause.
    """
    return any(list(asked[at : at + len(led)]) == list(led) for at in range(len(asked) - len(led)))
