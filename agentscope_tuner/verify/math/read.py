"""Texts to sides: remove the wrapping, scan tokens, parse nodes, and resolve the values that the nodes state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify.boxed import last_boxes
from agentscope_tuner.verify.math.clock import time_of_day
from agentscope_tuner.verify.math.componentwise import componentwise
from agentscope_tuner.verify.math.damage import is_missing, lost_backslash
from agentscope_tuner.verify.math.dressing import choice, denied_name, undressed
from agentscope_tuner.verify.math.excluded import without_exclusion
from agentscope_tuner.verify.math.labelled_parts import by_letters, by_sides, with_names
from agentscope_tuner.verify.math.modulus import with_modulus
from agentscope_tuner.verify.math.node import Array, Collection, Node, Quantity, Text
from agentscope_tuner.verify.math.own_stack import on_own_stack
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.qualifier import FIELD_NAMES, Fields, without_qualifier
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.reading import Family, Reading
from agentscope_tuner.verify.math.resolve import resolve
from agentscope_tuner.verify.math.respelled import respelled
from agentscope_tuner.verify.math.stated import StatesSeveral, candidates, is_sentence
from agentscope_tuner.verify.math.text import Token, TooComplex, Unreadable, tokenize
from agentscope_tuner.verify.math.told import chance, components, counted, in_figures, least, told, uncalled, unlabelled
from agentscope_tuner.verify.math.tree import walk
from agentscope_tuner.verify.math.unit import changes_number, singular, unknown_words
from agentscope_tuner.verify.math.written_out import written_out

_SHOWN = 80
_DELIMITED = re.compile(r"\$\$(.*)\$\$|\$([^$]*)\$|\\\((.*)\\\)|\\\[(.*)\\\]", re.DOTALL)
_OPENING = ("$", "\\")
_GSM8K = re.compile(r"####\s*(.*?)\s*$", re.DOTALL)
_ROUGH = re.compile(r"\s*(?:~(?=\s*\\?[-+$\d])|\\(?:approx|sim|simeq)\b|≈|∼)")
_FOOTNOTE = re.compile(r"[\d)}\]]\s*\^\s*\{?\s*(?:\*|\\(?:ast|star|dagger|ddagger)\b|[†‡])\s*\}?\s*$|[†‡*]\s*$")
_WORD = re.compile(r"[^\W\d_]+")
_BOX = re.compile(r"\\f?box(?:ed)?\s*\{")


@dataclass(frozen=True)
class Side:
    """A text with its tokens and its meaning. A text that is not mathematics has no reading, and equals only itself."""

    text: str
    tokens: tuple[str, ...]
    node: Node | None
    reading: Reading | None
    problem: str = ""
    # the domain of a free name, if the text states it
    fields: Fields | None = None
    # the letter of a choice before the value
    letter: str | None = None
    # the sentence that states the value, if the reference was a sentence
    sentence: str = ""

    def wording(self) -> str:
        """The text in the form in which words are compared."""
        said = [t for t in self.tokens if t not in (".", ",")]
        # Spaces keep two neighbouring numbers from becoming one longer number
        return "".join(f" {t} " if t[:1].isdigit() else t for t in said).lower()


def short(text: str) -> str:
    """The text for a message; of a long text its beginning and its length."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 20]}… ({len(text)} characters)"


def bare(text: str) -> str:
    r"""The answer without its wrapping: a box, `$…$`, `\(…\)`, white space, a final full stop."""
    for _ in range(4):
        before = text
        text = text.strip()
        if text[:1] in _OPENING and (match := _DELIMITED.fullmatch(text)):
            text = next(g for g in match.groups() if g is not None).strip()
        if text.startswith("\\") and (inside := _whole_box(text)) is not None:
            text = inside
        if text.endswith(".") and not text.endswith(".."):
            text = text[:-1].rstrip()
        if text == before:
            break
    return text


def _whole_box(text: str) -> str | None:
    """The content of a box that is the whole text; None for any other text, also for two boxes: two answers."""
    match = _BOX.match(text)
    if match is None:
        return None
    depth = 0
    for brace in re.finditer(r"\\.|[{}]", text[match.end() - 1 :], re.DOTALL):
        depth += (brace.group() == "{") - (brace.group() == "}")
        if depth == 0:
            end = match.end() - 1 + brace.start()
            return text[match.end() : end].strip() if end == len(text) - 1 else None
    return None


@lru_cache(maxsize=1024)
def reference(text: str) -> str:
    """The answer in a data set's reference: the text after `####`, the content of the last box, or the whole text.

    Cached between verdicts, as readings are (see `read_reference`): without the cache an exact match takes a fifth more
    CPU time.

    Raises:
        JudgeError: the reference is empty, damaged, or a missing or infinite number.
    """
    if "####" in text and (match := _GSM8K.search(text)):
        text = match[1]
    elif "\\boxed" in text or "\\fbox" in text:
        # Do not strip: a leading tab or line break may be the rest of a damaged backslash
        text = next(reversed(last_boxes(text)), "") or text
    if (lost := lost_backslash(text)) is not None:
        raise JudgeError(f"the reference answer {short(text)!r} is damaged: it holds {lost}", cause=Cause.REFERENCE)
    text = bare(text)
    if not text:
        raise JudgeError("the reference answer is empty: give the task's metadata an 'answer'", cause=Cause.REFERENCE)
    if is_missing(text):
        raise JudgeError(
            f"the reference answer {text!r} is a missing or infinite number, no answer", cause=Cause.REFERENCE
        )
    return text


def _read(text: str) -> Side:
    """The side with its tokens and its node; `_resolved` adds the reading."""
    chosen = choice(text)
    letter, rest = chosen if chosen is not None else (None, text)
    try:
        tokens = tokenize(undressed(respelled(rest)))
    except Unreadable as exc:
        return Side(text, (), None, None, str(exc))
    while tokens and tokens[-1].text in (".", ","):
        tokens.pop()
    keys = _key(tokens)
    tokens, fields = without_qualifier(with_modulus(tokens))
    try:
        return Side(text, keys, parse_tokens(tokens), None, "", fields, letter)
    except Unreadable as exc:
        return Side(text, keys, None, None, str(exc), fields, letter)


def _resolved(side: Side) -> Side:
    """The side with its reading; without a node if the node cannot be resolved."""
    if side.node is None:
        return side
    try:
        reading = resolve(componentwise(written_out(side.node)))
    except Unreadable as exc:
        return replace(side, node=None, problem=str(exc))
    fields = side.fields
    if isinstance(reading, Family) and reading.range.field in FIELD_NAMES:
        fields = frozenset({FIELD_NAMES[reading.range.field]})
    return replace(side, reading=reading, fields=fields)


def _key(tokens: list[Token]) -> tuple[str, ...]:
    # The case of a short word may matter: `Mg` is not `mg`
    return tuple(t.text.lower() if t.kind == "word" and len(t.text) > 3 else t.text for t in tokens)


def read_answer(text: str, ref: Side, question: Question | None) -> Side:
    """Read an answer; its reference and the question decide which words may be removed.

    Raises:
        TooComplex: the answer is over a bound.
    """
    lost = lost_backslash(text)
    if lost is not None:
        return Side(text, (), None, None, f"the answer holds {lost}")
    doubtful = _doubt(text)
    if doubtful is not None:
        return Side(text, (), None, None, doubtful)
    side = _read(_without_introduction(text, ref, question))
    strange = None if side.node is None else next(_strange_words(side.node, ref, question), None)
    if strange is not None:
        return replace(side, node=None, problem=f"the word {strange!r} after a number")
    return _resolved(side)


def _without_introduction(text: str, ref: Side, question: Question | None) -> str:
    """The answer without the words and labels around its value."""
    if "=" not in ref.text:
        text = uncalled(text, question)
    if isinstance(ref.node, (Array, Collection)):
        text = by_sides(with_names(by_letters(text, ref.text), question), question)
        text = unlabelled(components(text))
    if text[-1:].isalpha() or text.endswith("}"):
        text = in_figures(text) if any(map(str.isdigit, ref.text)) else text
    text = chance(counted(text, question), question)
    return told(least(without_exclusion(text, question), question), question)


def _doubt(text: str) -> str | None:
    r"""The part of an answer that denies or weakens its value: `\text{wrong} = 42`, `~42`, `42^{*}`; None without one.

    The result names this part in words, for the verdict's reason.
    """
    word = denied_name(text)
    if word is not None:
        return f"the word {word!r} before the value"
    if _ROUGH.match(text):
        return "a sign before the value that says about"
    return "a footnote's mark behind the value" if _FOOTNOTE.search(text[-_SHOWN:]) else None


def _strange_words(node: Node, ref: Side, question: Question | None) -> Iterator[str]:
    """The words after a number that may change it: they are no units, and not in the question or the reference."""
    for n in walk(node):
        for word in unknown_words(n.unit) if isinstance(n, Quantity) else ():
            words = {*ref.tokens, *_WORD.findall(ref.sentence)}
            said = words | set(map(singular, words)) | (question.words if question else frozenset())
            if question is not None and word.lower() in question.counted:
                continue
            if changes_number(word) or not (word in said or word.lower() in said):
                yield word


@lru_cache(maxsize=1024)
def read_reference(text: str, question: Question | None) -> Side:
    """Read a reference, which is trusted.

    Cached between verdicts, because an advantage group has eight or more answers to the same reference: reading it for
    each of them takes 1.7 times the CPU time. Within a verdict the `Pair` keeps it.

    Raises:
        JudgeError: the reference cannot be read, is over the bounds, or states several values.
    """
    try:
        side = on_own_stack(_read_stated, text)
    except TooComplex as exc:
        raise JudgeError(
            f"the reference answer {short(text)!r} is over the bounds: {exc}", cause=Cause.REFERENCE
        ) from exc
    except StatesSeveral as exc:
        raise JudgeError(
            f"the reference answer {short(text)!r} states several things: give the one that was asked for",
            cause=Cause.REFERENCE,
        ) from exc
    if side.node is None and not _is_wording(side):
        raise JudgeError(f"the reference answer {short(text)!r} cannot be read: {side.problem}", cause=Cause.REFERENCE)
    return side


def _read_stated(text: str) -> Side:
    """A reference, or the value that it states if it is a sentence; without a value it is compared word by word."""
    side = _resolved(_read(text))
    if not is_sentence(text) or (side.fields is not None and not _has_words(side)):
        return side
    for stated in candidates(text):
        found = _resolved(_read(bare(stated)))
        if not _has_words(found) or time_of_day(found.text) is not None:
            return replace(found, sentence=text)
    return replace(side, node=None, reading=None, problem=side.problem or "a sentence that states no value")


def _has_words(side: Side) -> bool:
    return side.node is None or any(isinstance(n, Text) for n in walk(side.node))


def _is_wording(side: Side) -> bool:
    """Whether a reference that is not mathematics can be compared word by word, like a date or a name."""
    brackets = [side.tokens.count(opener) - side.tokens.count(closer) for opener, closer in ("()", "[]", "{}")]
    return any(t[:1].isalpha() for t in side.tokens) and not any(brackets)
