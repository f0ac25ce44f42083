"""One comparison on its way through the sandbox's queue and a worker, and what may come of it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, cast

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.verify.math.answer import Verdict
from agentscope_tuner.verify.turns import Request

Told = tuple[Verdict, str]


@dataclass(eq=False, slots=True)
class QueuedPair:
    """A question to a worker, and who waits for its answer.

    Attributes:
        kind: its stage and the size of its texts, by which its seconds are expected.
        seconds: that it is expected to take.
        died: workers that died while they computed it.
        not_begun: workers that died before.
    """

    question: bytes
    shown: str
    stage: str
    kind: tuple[str, int]
    seconds: float
    request: Request
    told: Future[Told]
    died: int = 0
    not_begun: int = 0


def first_guess(stage: str, size: int) -> float:
    """Seconds of a comparison of a kind that none was made of yet: longer texts take longer, and sympy much longer."""
    return 2.0**size * (1e-3 if stage == "sympy" else 1e-4)


def given_up(comparison: QueuedPair) -> JudgeError:
    """The error of a comparison under which too many workers died."""
    return JudgeError(
        f"{comparison.died + comparison.not_begun} symbolic workers died or starved one after another, "
        f"{comparison.died} of them on the answer {comparison.shown!r}",
        cause=Cause.WORKER,
    )


def fail(comparison: QueuedPair, exc: BaseException) -> None:
    """Raise a JudgeError in the waiting caller: there is no verdict."""
    if not isinstance(exc, JudgeError):
        error = JudgeError(f"the symbolic stage's queue failed: {type(exc).__name__}: {exc}", cause=Cause.BUG)
        error.__cause__ = exc
        exc = error
    if not comparison.told.done():
        comparison.told.set_exception(exc)


def verdict_of(reply: dict[str, Any]) -> Told:
    """The verdict in a worker's reply.

    Raises:
        JudgeError: that there is no verdict.
    """
    if "judge_error" in reply:
        raise JudgeError(str(reply["judge_error"]), cause=Cause(reply.get("cause", Cause.BUG)))
    outcome = reply.get("outcome")
    if outcome not in ("equal", "different", "undecided"):
        raise JudgeError(f"the symbolic worker answered {reply!r}", cause=Cause.BUG)
    return cast("Verdict", outcome), str(reply.get("reason", ""))
