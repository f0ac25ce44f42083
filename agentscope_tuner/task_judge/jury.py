"""Several judge models asked about one answer: who voted, who failed, and how far the votes lie apart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.graders.schema import grader_error

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ballot(Generic[T]):
    """The jurors' answers.

    Attributes:
        votes: by the jurors' names, in their order; never empty.
        failures: why the other jurors gave no vote. A failure is no vote.
    """

    votes: Mapping[str, T]
    failures: Mapping[str, JudgeError]

    @property
    def size(self) -> int:
        """How many jurors were asked."""
        return len(self.votes) + len(self.failures)

    def metrics(self, disagreement: float) -> dict[str, float]:
        """For a jury of several: how many were asked and failed, and how far their votes lie apart, 0 to 1."""
        if self.size == 1:
            return {}
        failed = float(len(self.failures))
        return {"jury_size": float(self.size), "jury_failed": failed, "jury_disagreement": disagreement}

    def told(self, votes: Mapping[str, str], rule: str) -> str:
        """Each juror's vote, as the beginning of a reason; empty for a jury of one."""
        if self.size == 1:
            return ""
        failed = "".join(f", {name} failed ({error.message:.120})" for name, error in self.failures.items())
        return f"{rule} of {', '.join(f'{name} {vote}' for name, vote in votes.items())}{failed}: "


async def poll(asked: Mapping[str, Awaitable[T]], failed_jurors: Literal["skip", "error"]) -> Ballot[T]:
    """Ask all jurors at once.

    Raises:
        JudgeError: the only juror failed; one of several failed and `failed_jurors` is `error`; half of the jurors or
            more failed; or the run's budget is spent, which is no juror's failure.
    """
    results = await asyncio.gather(*asked.values(), return_exceptions=True)
    votes: dict[str, T] = {}
    failures: dict[str, JudgeError] = {}
    for name, result in zip(asked, results, strict=True):
        if isinstance(result, JudgeError):
            failures[name] = result
        elif isinstance(result, BaseException):
            raise result
        else:
            votes[name] = result
    spent = [error for error in failures.values() if error.cause is Cause.INTERRUPTED]
    if spent or len(results) == 1:
        for error in spent or failures.values():
            raise error
    if failures and (failed_jurors == "error" or 2 * len(failures) >= len(results)):
        name, error = next(iter(failures.items()))
        raise grader_error(f"{len(failures)} of {len(results)} jurors failed; {name}: {error.message}", error.cause)
    return Ballot(votes, failures)


def spread(shares: Sequence[float]) -> float:
    """How far votes lie apart, 0 to 1: the largest share of the range less the smallest."""
    return max(shares) - min(shares)
