r"""Whether two mathematical answers are the same, cheapest stage first.

exact ▸ normalised ▸ numeric ▸ structure ▸ symbolic. The stages before the last run in the caller's process, linear in
the text; the last runs in `sandbox`. The policy (rounding, percents, units, order, hedges) is written down in
docs/math_equivalence.md.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify.boxed import last_boxed
from agentscope_tuner.verify.math.cheap import CheapComparer, is_rational
from agentscope_tuner.verify.math.compare import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.damage import is_missing, lost_backslash
from agentscope_tuner.verify.math.node import Node
from agentscope_tuner.verify.math.number import plain_key
from agentscope_tuner.verify.math.own_stack import on_own_stack
from agentscope_tuner.verify.math.parse import parse_tokens
from agentscope_tuner.verify.math.shape import is_unevaluated
from agentscope_tuner.verify.math.text import Token, TooComplex, Unreadable, tokenize

_SHOWN = 80
_DELIMITED = re.compile(r"\$\$(.*)\$\$|\$([^$]*)\$|\\\((.*)\\\)|\\\[(.*)\\\]", re.DOTALL)
_GSM8K = re.compile(r"####\s*(.*?)\s*$", re.DOTALL)


Verdict = Literal["equal", "different", "undecided"]
Copied = Literal["refuse", "accept"]


@dataclass(frozen=True)
class MathVerdict:
    """What was decided, by which stage, and why in words."""

    outcome: Verdict
    stage: str
    reason: str


class Symbolic(Protocol):
    """The last stage, as `compare` needs it: `sandbox.Sandbox.compare` or a test's fake."""

    def __call__(self, answer: str, ground_truth: str) -> tuple[Verdict, str]: ...


@dataclass(frozen=True)
class Reading:
    """A text with its tokens and its meaning; a text that is no mathematics has `node` None and equals only itself."""

    text: str
    tokens: tuple[str, ...]
    node: Node | None
    problem: str = ""


def bare(text: str) -> str:
    r"""The answer without its wrapping: a box, `$…$`, `\(…\)`, white space, a final full stop."""
    for _ in range(4):
        before = text
        text = text.strip()
        if match := _DELIMITED.fullmatch(text):
            text = next(g for g in match.groups() if g is not None).strip()
        if text.startswith(("\\boxed", "\\fbox")) and text.endswith("}"):
            text = last_boxed(text) or text
        if text.endswith(".") and not text.endswith(".."):
            text = text[:-1].rstrip()
        if text == before:
            break
    return text


def reference(text: str) -> str:
    """The answer that a data set's reference states: what follows `####`, what stands in its last box, or all of it.

    Raises:
        JudgeError: there is nothing in it, or it is damaged or a missing number.
    """
    if "####" in text and (match := _GSM8K.search(text)):
        text = match[1]
    elif "\\boxed" in text or "\\fbox" in text:
        text = last_boxed(text) or text
    if (lost := lost_backslash(text)) is not None:
        raise JudgeError(f"the reference answer {_short(text)!r} is damaged: it holds {lost}", cause=Cause.REFERENCE)
    text = bare(text)
    if not text:
        raise JudgeError("the reference answer is empty: give the task's metadata an 'answer'", cause=Cause.REFERENCE)
    if is_missing(text):
        raise JudgeError(
            f"the reference answer {text!r} is a missing or infinite number, no answer", cause=Cause.REFERENCE
        )
    return text


@lru_cache(maxsize=256)
def read(text: str) -> Reading:
    """Tokens and meaning of a bare answer.

    Raises:
        TooComplex: it is over a bound.
    """
    try:
        tokens = tokenize(text)
    except Unreadable as exc:
        return Reading(text, (), None, str(exc))
    while tokens and tokens[-1].text in (".", ","):
        tokens.pop()
    try:
        return Reading(text, _key(tokens), parse_tokens(tokens))
    except Unreadable as exc:
        return Reading(text, _key(tokens), None, str(exc))


def _key(tokens: list[Token]) -> tuple[str, ...]:
    # two numbers side by side are kept apart; no other space has a meaning
    return tuple(t.text if t.kind != "word" else t.text.lower() for t in tokens)


@lru_cache(maxsize=1024)
def read_reference(text: str) -> Reading:
    # an advantage group asks about the same reference eight times and more
    try:
        reading = read(text)
    except TooComplex as exc:
        raise JudgeError(
            f"the reference answer {_short(text)!r} is over the bounds: {exc}", cause=Cause.REFERENCE
        ) from exc
    if reading.node is None and not _is_wording(reading):
        raise JudgeError(
            f"the reference answer {_short(text)!r} cannot be read: {reading.problem}", cause=Cause.REFERENCE
        )
    return reading


def _is_wording(reading: Reading) -> bool:
    """A date, a time, a name: no mathematics, but something to compare word by word."""
    brackets = [reading.tokens.count(opener) - reading.tokens.count(closer) for opener, closer in ("()", "[]", "{}")]
    return any(t[:1].isalpha() for t in reading.tokens) and not any(brackets)


def check_reference(text: str) -> None:
    """Read a reference as `compare` does, and say why it cannot be one.

    Raises:
        JudgeError: it is empty, a missing or infinite number, damaged, unreadable, or over the bounds.
    """
    read_reference(reference(text))


def compare(
    answer: str,
    ground_truth: str,
    *,
    symbolic: Symbolic | None = None,
    question: str | None = None,
    copied: Copied = "refuse",
) -> MathVerdict:
    r"""Whether `answer` (already out of its box) states what `ground_truth` states.

    Args:
        answer: hostile text; any string ends in a verdict within the bounds.
        ground_truth: bare, in `$…$`, `\(…\)` or a box, or a GSM8K solution ending in `#### 42`.
        symbolic: the last stage; without it, what the cheap stages cannot tell is undecided.
        question: the task's text; what a word or a sign means may depend on it.
        copied: whether a formula that stands in `question` may be an answer.

    Raises:
        JudgeError: the reference is no answer (see `check_reference`), or the sandbox failed.
    """
    truth = reference(ground_truth)
    found = bare(answer)
    verdict = cheap(found, truth)
    if verdict is not None:
        return verdict
    if symbolic is None:
        unknown = f"undecided without a symbolic stage: {_pair(found, UNKNOWN, truth)}"
        return MathVerdict("undecided", "structure", unknown)
    return symbolic_verdict(found, truth, symbolic)


async def acompare(
    answer: str,
    ground_truth: str,
    *,
    symbolic: Symbolic,
    question: str | None = None,
    copied: Copied = "refuse",
) -> MathVerdict:
    """As `compare`; the cheap stages run at once, the last is awaited in a thread while its worker works."""
    truth = reference(ground_truth)
    found = bare(answer)
    verdict = cheap(found, truth)
    if verdict is not None:
        return verdict
    return await asyncio.to_thread(symbolic_verdict, found, truth, symbolic)


def cheap(answer: str, truth: str) -> MathVerdict | None:
    """The stages before the last on bare texts; None where only the last can tell.

    Raises:
        JudgeError: the reference cannot be read.
    """
    if answer == truth:
        return _verdict("exact", EQUAL, answer, truth)
    for stage in STAGES[1:-1]:
        outcome, reason = run_stage(stage, answer, truth)
        if outcome is not None:
            return MathVerdict(outcome, stage, reason)
    return None


def symbolic_verdict(answer: str, truth: str, symbolic: Symbolic) -> MathVerdict:
    """The last stage on bare texts."""
    outcome, reason = symbolic(answer, truth)
    return MathVerdict(outcome, "symbolic", reason or f"symbolic: {_pair(answer, _OUTCOMES[outcome], truth)}")


STAGES = ("exact", "normalised", "numeric", "structure", "symbolic")


def run_stage(stage: str, answer: str, truth: str) -> tuple[Verdict | None, str]:
    """One cheap stage on bare texts: its verdict (None: not this stage's to say) and the reason.

    Raises:
        JudgeError: the reference cannot be read.
    """
    try:
        outcome, note = on_own_stack(_CHEAP[stage], answer, truth)
    except TooComplex as exc:
        return "undecided", f"undecided: {exc}: {_short(answer)}"
    if outcome is UNKNOWN:
        return None, note
    return (
        "equal" if outcome is EQUAL else "different"
    ), f"{stage}: {_pair(answer, outcome, truth)}{note and f' ({note})'}"


def _exact(answer: str, truth: str) -> tuple[Outcome, str]:
    return (EQUAL if answer == truth else UNKNOWN), ""


def _normalised(answer: str, truth: str) -> tuple[Outcome, str]:
    if not answer:
        return DIFFERENT, "the box is empty"
    ref_key, ans_key = plain_key(truth), plain_key(answer)
    if ref_key is not None and ref_key == ans_key:
        # digits compared as text: a number of any length, in no time
        return EQUAL, ""
    ref = read_reference(truth)
    ans = read(answer)
    if ans.tokens and ans.tokens == ref.tokens:
        return EQUAL, ""
    if ref.node is None or ans.node is None:
        same = bool(ans.tokens) and _wording(ans) == _wording(ref)
        return (EQUAL, "") if same else (DIFFERENT, ans.problem or "compared word by word")
    return UNKNOWN, ""


def _numeric(answer: str, truth: str) -> tuple[Outcome, str]:
    ref, ans = read_reference(truth), read(answer)
    if ref.node is None or ans.node is None or not (is_rational(ref.node) and is_rational(ans.node)):
        return UNKNOWN, ""
    return CheapComparer(f"{answer}|{truth}").compare(ref.node, ans.node), ""


def _structure(answer: str, truth: str) -> tuple[Outcome, str]:
    ref, ans = read_reference(truth), read(answer)
    if ref.node is None or ans.node is None:
        return UNKNOWN, ""
    if is_unevaluated(ans.node) and not is_unevaluated(ref.node) and ans.node.head != "rel":
        return DIFFERENT, "left unevaluated"
    return CheapComparer(f"{answer}|{truth}").compare(ref.node, ans.node), ""


_CHEAP: dict[str, Callable[[str, str], tuple[Outcome, str]]] = {
    "exact": _exact,
    "normalised": _normalised,
    "numeric": _numeric,
    "structure": _structure,
}
_OUTCOMES = {"equal": EQUAL, "different": DIFFERENT, "undecided": UNKNOWN}


def compare_exact(
    answer: str, ground_truth: str, *, question: str | None = None, copied: Copied = "refuse"
) -> MathVerdict:
    """The documented exact-string judge: the same characters once the wrapping is off."""
    truth = reference(ground_truth)
    found = bare(answer)
    return _verdict("exact", EQUAL if found == truth else DIFFERENT, found, truth)


def _verdict(stage: str, outcome: Outcome, answer: str, truth: str) -> MathVerdict:
    return MathVerdict("equal" if outcome is EQUAL else "different", stage, f"{stage}: {_pair(answer, outcome, truth)}")


def _pair(answer: str, outcome: Outcome, truth: str) -> str:
    sign = {EQUAL: "=", DIFFERENT: "≠", UNKNOWN: "?"}[outcome]
    return f"{_short(answer)} {sign} {_short(truth)}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 20]}… ({len(text)} characters)"


def _wording(reading: Reading) -> str:
    said = [t for t in reading.tokens if t not in (".", ",")]
    # two numbers side by side are not one longer number
    return "".join(f" {t} " if t[:1].isdigit() else t for t in said).lower()
