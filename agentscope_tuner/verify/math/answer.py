r"""Whether two mathematical answers are the same, decided by stages, the cheapest first.

exact ▸ normalised ▸ numeric ▸ structure ▸ symbolic ▸ sympy. The first four run in the caller's process, in time linear
in the text. The last two run in `sandbox`. docs/math_equivalence.md has the policy for rounding, percents, units, order
and hedges.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol

from agentscope_tuner.verify.math.cheap import CheapComparer, is_rational
from agentscope_tuner.verify.math.copied import hands_back, restates
from agentscope_tuner.verify.math.names import is_work
from agentscope_tuner.verify.math.node import Relation
from agentscope_tuner.verify.math.number import plain_key
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.own_stack import on_own_stack
from agentscope_tuner.verify.math.pair import Pair
from agentscope_tuner.verify.math.qualifier import NARROWED
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.read import bare, read_reference, reference, short
from agentscope_tuner.verify.math.text import TooComplex
from agentscope_tuner.verify.math.wording import wordings
from agentscope_tuner.verify.math.worked import is_unworked

Verdict = Literal["equal", "different", "undecided"]
Copied = Literal["refuse", "accept"]


@dataclass(frozen=True)
class MathVerdict:
    """The verdict, the stage that reached it, and the reason in words."""

    outcome: Verdict
    stage: str
    reason: str


class Symbolic(Protocol):
    """A function that runs the worker's stages: `sandbox.Sandbox.compare`, or a fake in a test."""

    def __call__(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> tuple[Verdict, str]: ...


class AwaitedSymbolic(Protocol):
    """As `Symbolic`, for callers inside an event loop: `sandbox.Sandbox.acompare`."""

    def __call__(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> Awaitable[tuple[Verdict, str]]: ...


def check_reference(text: str) -> None:
    """Read a reference as `compare` does, and raise if it is unusable.

    Raises:
        JudgeError: it is empty, a missing or infinite number, damaged, unreadable, over the bounds, or states several
            values.
    """
    read_reference(reference(text), None)


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
        answer: hostile text; every string gets a verdict within the bounds of time and memory.
        ground_truth: bare, in `$…$`, `\(…\)` or a box, or a GSM8K solution that ends in `#### 42`.
        symbolic: runs the worker's stages; without it, a pair that the cheap stages cannot decide is undecided.
        question: the task's text; the meaning of a word or a sign may depend on it.
        copied: whether a formula of `question` may be an answer.

    Raises:
        JudgeError: the reference is unusable (see `check_reference`), or the sandbox failed.
    """
    text, truth = bare(answer), reference(ground_truth)
    if text == truth:
        return _same_text(text)
    pair = Pair.of(text, truth, question)
    return _cheap(pair, copied) or _worker(pair, symbolic, copied)


async def acompare(
    answer: str,
    ground_truth: str,
    *,
    symbolic: AwaitedSymbolic,
    question: str | None = None,
    copied: Copied = "refuse",
) -> MathVerdict:
    """As `compare`; the cheap stages run at once, and the worker's stages are awaited."""
    text, truth = bare(answer), reference(ground_truth)
    if text == truth:
        return _same_text(text)
    pair = Pair.of(text, truth, question)
    return _cheap(pair, copied) or await _aworker(pair, symbolic, copied)


def compare_exact(
    answer: str, ground_truth: str, *, question: str | None = None, copied: Copied = "refuse"
) -> MathVerdict:
    """The documented exact-string judge: the texts without their wrapping must have the same characters.

    The question changes nothing: the reference's own text is an answer, even if the question has it too.
    """
    text, truth = bare(answer), reference(ground_truth)
    if text == truth:
        return _same_text(text)
    return _verdict("exact", DIFFERENT, Pair.of(text, truth, question))


def _same_text(text: str) -> MathVerdict:
    """The verdict for equal texts. It is the most common, so it is reached before the texts are read."""
    shown = short(text)
    return MathVerdict("equal", "exact", f"exact: {shown} = {shown}")


STAGES = ("exact", "normalised", "numeric", "structure", "symbolic", "sympy")
CHEAP_STAGES = STAGES[:4]
WORKER_STAGES = STAGES[4:]


def _cheap(pair: Pair, copied: Copied) -> MathVerdict | None:
    # The exact stage is done: the texts differ
    for stage in CHEAP_STAGES[1:]:
        verdict = run_stage(stage, pair, copied=copied)
        if verdict is not None:
            return verdict
    if copied == "refuse" and (problem := on_own_stack(_problem, pair)) is not None:
        # A copied or unworked answer is different even if its value is right, so no worker is needed
        return MathVerdict("different", CHEAP_STAGES[-1], problem)
    return None


def _worker(pair: Pair, symbolic: Symbolic | None, copied: Copied) -> MathVerdict:
    if symbolic is None:
        unknown = f"undecided without a symbolic stage: {_shown(pair, UNKNOWN)}"
        return MathVerdict("undecided", "structure", unknown)
    verdict = None
    for stage in _worker_stages(pair):
        verdict = run_stage(stage, pair, symbolic=symbolic, copied=copied)
        if verdict is None or verdict.outcome != "undecided":
            break
    assert verdict is not None
    return verdict


async def _aworker(pair: Pair, symbolic: AwaitedSymbolic, copied: Copied) -> MathVerdict:
    verdict = None
    for stage in _worker_stages(pair):
        found = await symbolic(pair.answer, pair.truth, question=_text(pair.question), stage=stage)
        verdict = run_stage(stage, pair, symbolic=partial(_given_outcome, found), copied=copied)
        if verdict is None or verdict.outcome != "undecided":
            break
    assert verdict is not None
    return verdict


def _given_outcome(
    found: tuple[Verdict, str], answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
) -> tuple[Verdict, str]:
    """A `Symbolic` that returns the outcome it was given."""
    return found


def _worker_stages(pair: Pair) -> Iterator[str]:
    # A generator, so that the need for sympy is checked only if the first stage leaves the pair undecided
    yield WORKER_STAGES[0]
    if pair.is_for_sympy():
        yield WORKER_STAGES[1]


def run_stage(
    stage: str, pair: Pair, *, symbolic: Symbolic | None = None, copied: Copied = "refuse"
) -> MathVerdict | None:
    """The verdict of one stage; None if the stage leaves the pair to later stages.

    Raises:
        JudgeError: the reference cannot be read, or the sandbox failed.
    """
    if stage in WORKER_STAGES:
        verdict = _in_worker(stage, pair, symbolic)
    else:
        try:
            outcome, note = on_own_stack(_CHEAP[stage], pair)
        except TooComplex as exc:
            return MathVerdict("undecided", stage, f"undecided: {exc}: {short(pair.answer)}")
        verdict = None if outcome is UNKNOWN else _verdict(stage, outcome, pair, note)
    # The reference's own text is an answer, even if the question has it too
    if verdict is None or verdict.outcome != "equal" or copied == "accept" or stage in ("exact", "normalised"):
        return verdict
    problem = on_own_stack(_problem, pair)
    return verdict if problem is None else MathVerdict("different", stage, problem)


def _problem(pair: Pair) -> str | None:
    """Why an answer with the right value does not answer the question; None if it does."""
    ref, ans, question = pair.ref.node, pair.ans.node, pair.question
    if ref is None or ans is None or question is None:
        return None
    if restates(question, ans, ref) or hands_back(question, ans, pair.answer, pair.ref.text):
        return f"copied: {short(pair.answer)} stands in the question"
    values = CheapComparer(pair.seed, question)
    if is_unworked(question, ans, ref, lambda mine, theirs: values.leaf(mine, theirs) is EQUAL):
        return f"unworked: {short(pair.answer)} is still to be worked out"
    return None


def _in_worker(stage: str, pair: Pair, symbolic: Symbolic | None) -> MathVerdict | None:
    if symbolic is None or (stage == "sympy" and not pair.is_for_sympy()):
        return None
    outcome, reason = symbolic(pair.answer, pair.truth, question=_text(pair.question), stage=stage)
    return MathVerdict(outcome, stage, reason or f"{stage}: {_shown(pair, _OUTCOMES[outcome])}")


def _text(question: Question | None) -> str | None:
    return None if question is None else question.text


def _exact(pair: Pair) -> tuple[Outcome, str]:
    return (EQUAL if pair.answer == pair.truth else UNKNOWN), ""


def _normalised(pair: Pair) -> tuple[Outcome, str]:
    if not pair.answer:
        return DIFFERENT, "the box is empty"
    ref_key, ans_key = plain_key(pair.truth), plain_key(pair.answer)
    if ref_key is not None and ref_key == ans_key:
        # Digits compared as text: fast even for very long numbers
        return EQUAL, ""
    by_words = wordings(pair)
    if by_words is not UNKNOWN:
        return by_words, ""
    ref, ans = pair.ref, pair.ans
    if ans.tokens and ans.tokens == ref.tokens:
        return EQUAL, ""
    if ref.fields and ans.fields and ref.fields != ans.fields:
        return DIFFERENT, "said of other numbers"
    if ans.fields and NARROWED in ans.fields and not ref.fields and not _speaks_of_bounds(pair.question):
        return DIFFERENT, "said of a part of the arguments"
    if ref.reading is None or ans.reading is None:
        same = bool(ans.tokens) and ans.wording() == ref.wording()
        return (EQUAL, "") if same else (DIFFERENT, ans.problem or "compared word by word")
    return UNKNOWN, ""


def _speaks_of_bounds(question: Question | None) -> bool:
    return question is not None and question.bounds_arguments


def _numeric(pair: Pair) -> tuple[Outcome, str]:
    ref, ans = pair.ref.node, pair.ans.node
    if ref is None or ans is None or not (is_rational(ref) and is_rational(ans)):
        return UNKNOWN, ""
    return _structure(pair)


def _structure(pair: Pair) -> tuple[Outcome, str]:
    ref, ans = pair.ref, pair.ans
    if ref.reading is None or ans.reading is None or ref.node is None or ans.node is None:
        return UNKNOWN, ""
    stated = ans.node.args[-1] if isinstance(ans.node, Relation) else ans.node
    if is_work(stated) and not is_work(ref.node):
        return DIFFERENT, "left unevaluated"
    return CheapComparer(pair.seed, pair.question).compare(ref.reading, ans.reading), ""


_CHEAP: dict[str, Callable[[Pair], tuple[Outcome, str]]] = {
    "exact": _exact,
    "normalised": _normalised,
    "numeric": _numeric,
    "structure": _structure,
}
_OUTCOMES = {"equal": EQUAL, "different": DIFFERENT, "undecided": UNKNOWN}


def _verdict(stage: str, outcome: Outcome, pair: Pair, note: str = "") -> MathVerdict:
    reason = f"{stage}: {_shown(pair, outcome)}{note and f' ({note})'}"
    return MathVerdict("equal" if outcome is EQUAL else "different", stage, reason)


def _shown(pair: Pair, outcome: Outcome) -> str:
    sign = "=" if outcome is EQUAL else "≠" if outcome is DIFFERENT else "?"
    return f"{short(pair.answer)} {sign} {short(pair.truth)}"
