"""How much work a worker process is sent at once."""

from __future__ import annotations

# A batch that takes longer than planned is handed back in part: other workers may be idle, and rows wait behind it.
SLICE_SECONDS = 0.05

_MOST_STEPS = 1024
# How far the input is read ahead for each job: in steps, and in batches
_AHEAD_STEPS, _AHEAD_BATCHES = 8, 4


class BatchPace:
    """Learns from finished batches how much fits into a slice of time.

    Attributes:
        batch: the span of the next batch.
        step: the span of a row, averaged over recent batches.
    """

    def __init__(self) -> None:
        self.batch = self.step = 1

    def learn(self, span: int, steps: int, seconds: float) -> None:
        """Record a batch: how many of its rows were judged, and in how many seconds."""
        self.step = max(1, span // max(steps, 1))
        fitting = int(SLICE_SECONDS * span / seconds) if seconds > 0 else 4 * span
        # One slow row says little about the next, so shrink slowly: the worker hands back what does not fit.
        self.batch = max(1, self.batch // 2, min(fitting, 4 * max(self.batch, span), _MOST_STEPS * self.step))

    def ahead(self, jobs: int) -> int:
        """The span of the input to read ahead for `jobs` workers."""
        return jobs * max(_AHEAD_STEPS * self.step, _AHEAD_BATCHES * self.batch)

    @property
    def is_quick(self) -> bool:
        """Whether several rows fit into a slice. Slow rows are assigned singly, so no row waits behind a slow row."""
        return self.batch > self.step
