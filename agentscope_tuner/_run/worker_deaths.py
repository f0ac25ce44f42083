"""What the death of a worker process means: how often it is borne, who gets its work, and when work is given up.

A worker that dies is replaced by its `Pool`, in any case. A loaded or stopped machine must not cost a verdict, so there
is one `Policy` for every program: work that was begun is tried once more, by another worker; what says nothing about
the work is borne more often.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """When work is given up, the same for every program.

    Attributes:
        deaths: workers that die of one piece of work, before it gets no verdict. The first may have died of damage that
            an earlier piece left behind.
        losses: workers that are lost in a row for a reason that says nothing about the work: they end while they
            start, or are given no CPU.
        start_seconds: a worker that has not started by then counts as lost.
    """

    deaths: int = 2
    losses: int = 3
    start_seconds: float = 120.0


POLICY = Policy()


class WorkerLost(Exception):
    """A worker can give no more answers: it ended, its messages cannot be read, or it was killed.

    Attributes:
        begun: whether it had the whole of its oldest work. Otherwise its end says nothing about that work.
        how: how it ended, in words.
    """

    def __init__(self, *, begun: bool = False) -> None:
        super().__init__(begun)
        self.begun = begun
        self.how = ""


class WallTimeUp(WorkerLost):
    """The worker took longer over its oldest work than it may, and was killed."""


class CpuTimeUp(WorkerLost):
    """The worker used up the CPU time that its oldest work may cost, and was killed."""


class WorkerClosed(WorkerLost):
    """The pool was closed, and the worker ended with it."""


@dataclass(slots=True)
class Toll:
    """The workers that one piece of work has cost."""

    deaths: int = 0
    losses: int = 0

    def add(self, *, guilty: bool) -> bool:
        """Count a worker, which died of this work or was lost beside it; return whether the work is given up now."""
        if guilty:
            self.deaths += 1
        else:
            self.losses += 1
        return self.deaths >= POLICY.deaths or self.losses >= POLICY.losses

    def gives_up(self, loss: WorkerLost) -> bool:
        """Whether `loss` ends the work that the lost worker was at; otherwise another worker gets it."""
        if isinstance(loss, WorkerClosed):
            return False
        # Another worker would take as long
        return (isinstance(loss, WallTimeUp) and loss.begun) or self.add(guilty=loss.begun)
