"""One comparison in the sandbox's queue, and its possible results: a verdict or an error."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, cast

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify.math.answer import Verdict
from agentscope_tuner.verify.turns import Request

ReasonedVerdict = tuple[Verdict, str]


@dataclass(eq=False, slots=True)
class QueuedPair:
    """A question to a worker, and the future that its caller waits for.

    Attributes:
        question: the message to the worker.
        shown: the start of the answer, for error messages.
        stage: the worker's stage, `symbolic` or `sympy`.
        kind: the stage and the size of the texts; comparisons of one kind are expected to take equally long.
        seconds: CPU seconds that the comparison is expected to take.
        request: the request that the comparison is part of.
        verdict: receives the verdict, or a JudgeError.
        died: number of workers that died while they computed the comparison.
        not_begun: number of workers that died before they began it.
    """

    question: bytes
    shown: str
    stage: str
    kind: tuple[str, int]
    seconds: float
    request: Request
    verdict: Future[ReasonedVerdict]
    died: int = 0
    not_begun: int = 0


def first_guess(stage: str, size: int) -> float:
    """Expected seconds of the first comparison of a kind: longer texts take longer, and sympy ten times as long."""
    return 2.0**size * (1e-3 if stage == "sympy" else 1e-4)


def given_up(comparison: QueuedPair) -> JudgeError:
    """The error for a comparison that too many workers died on."""
    return JudgeError(
        f"{comparison.died + comparison.not_begun} symbolic workers died or starved one after another, "
        f"{comparison.died} of them on the answer {comparison.shown!r}",
        cause=Cause.WORKER,
    )


def fail(comparison: QueuedPair, exc: BaseException) -> None:
    """Make the waiting caller raise a JudgeError, because there is no verdict."""
    if not isinstance(exc, JudgeError):
        error = JudgeError(f"the symbolic stage's queue failed: {type(exc).__name__}: {exc}", cause=Cause.BUG)
        error.__cause__ = exc
        exc = error
    if not comparison.verdict.done():
        comparison.verdict.set_exception(exc)


def verdict_of(reply: dict[str, Any]) -> ReasonedVerdict:
    """The verdict and its reason from a worker's reply.

    Raises:
        JudgeError: the reply holds an error, or no known verdict.
    """
    if "judge_error" in reply:
        raise JudgeError(str(reply["judge_error"]), cause=Cause(reply.get("cause", Cause.BUG)))
    outcome = reply.get("outcome")
    if outcome not in ("equal", "different", "undecided"):
        raise JudgeError(f"the symbolic worker answered {reply!r}", cause=Cause.BUG)
    return cast("Verdict", outcome), str(reply.get("reason", ""))
