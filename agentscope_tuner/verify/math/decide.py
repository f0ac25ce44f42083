"""The stages that run in the worker: they decide the pairs that the cheap stages left undecided."""

from __future__ import annotations

from agentscope_tuner.verify.math.answer import Verdict
from agentscope_tuner.verify.math.outcome import DIFFERENT, EQUAL, UNKNOWN, Outcome
from agentscope_tuner.verify.math.pair import Pair
from agentscope_tuner.verify.math.symbolic import SymbolicComparer
from agentscope_tuner.verify.math.text import TooComplex

_VERDICTS: dict[Outcome, Verdict] = {EQUAL: "equal", DIFFERENT: "different", UNKNOWN: "undecided"}


def decide(pair: Pair, comparing: type[SymbolicComparer] | None = None) -> tuple[Verdict, str]:
    """The final verdict on a pair that the cheap stages left undecided, and a reason where there is none.

    Args:
        comparing: the class that compares two leaves; a subclass adds a later stage.

    Raises:
        JudgeError: the reference cannot be read.
    """
    ref = pair.ref
    try:
        ans = pair.ans
        if ref.reading is None or ans.reading is None:
            return "different", ""
        kind = comparing or SymbolicComparer
        comparer = kind(pair.seed, pair.question)
        outcome = comparer.compare(ref.reading, ans.reading)
        if outcome is not EQUAL and comparer.other_log_base is not None:
            # The two answers may mean another base of `log`: compare all of it again in that base
            again = kind(pair.seed, pair.question, comparer.other_log_base)
            outcome = EQUAL if again.compare(ref.reading, ans.reading) is EQUAL else outcome
    except TooComplex as exc:
        return "undecided", f"undecided: {exc}"
    return _VERDICTS[outcome], ""


def warm_up() -> None:
    """Fill the caches and import the modules that the first pair would otherwise wait for."""
    decide(Pair.of("2\\sqrt{3}", "\\sqrt{12}", None))
