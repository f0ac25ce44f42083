"""Stops a run that trains on nothing, for trainers which leave a failed verdict out and go on."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from functools import cache

from agentscope_tuner.config import SECTION
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.reads import likely_answers

_log = logging.getLogger(__name__)

#: Batches in a row without any verdict of the judge, after which a run is stopped.
MOST_BATCHES = 3
# What no later batch mends: the data set, the columns or the configuration
_STANDING = frozenset({Cause.REFERENCE, Cause.INPUT, Cause.CONFIG})
# A batch is often the completions of one prompt, whose cell may be empty in a sound data set: so many tasks that failed
# speak for all of them, before the first verdict and after it; or so many rows
_TASKS_AT_FIRST, _TASKS, _ROWS = 2, 8, 64
_MOST_SHOWN = 20
# Rows that count as a batch, where a trainer asks about a few at a time
_BATCH_ROWS = 64


class FailingRun:
    """Counts the verdicts of one judge in a trainer's process, logs those that fail, and stops a run without any.

    It stops when from the first row on, every row of two tasks or more fails for what no later batch mends
    (`reference`, `input`; `config` at once), when the judge is asked no more because its breaker is open, and after
    `MOST_BATCHES` batches in a row without a verdict, of eight tasks or 64 rows.
    Rows that a rule filters are no verdict of the judge, and no failure.

    Args:
        name: the judge's.
        keys: what the judge calls its reference.
        stops: whether to stop; the failures are logged in any case.
        rows: how many rows make a batch, where a trainer asks about a few at a time.
    """

    def __init__(self, name: str, keys: Sequence[str] = (), *, stops: bool = True, rows: int = 1) -> None:
        self._name, self._keys, self._stops, self._rows = name, keys, stops, rows
        self._waiting: tuple[list[Pair], list[Judgement]] = [], []
        self._reached = False
        # Of the batches in a row without a verdict
        self._empty_batches = self._empty_rows = 0
        self._empty_tasks: set[tuple[str, str]] = set()
        self._empty_causes: set[Cause | None] = set()
        self._causes: Counter[str] = Counter()
        self._told = 0

    def add(self, pairs: Sequence[Pair], judgements: Sequence[Judgement], *, trains: bool = True) -> None:
        """Count a batch, or a part of one.

        Args:
            trains: whether the run trains on these verdicts; those of an evaluation are logged, and stop nothing.

        Raises:
            JudgeError: the run must stop; the message names the columns that the rows have.
        """
        if self._rows > 1:
            self._waiting[0].extend(pairs)
            self._waiting[1].extend(judgements)
            at_once = any(judgement.cause is Cause.BREAKER for judgement in judgements)
            if len(self._waiting[1]) < self._rows and not at_once:
                return
            (pairs, judgements), self._waiting = self._waiting, ([], [])
        # The rules decided the group of a rollout that they left alone: nothing is broken
        failed = [each for each in judgements if each.status == "failed" and each.cause is not Cause.ALONE]
        self._causes.update(str(judgement.cause) for judgement in failed)
        if not trains:
            if failed:
                self._tell(failed, len(judgements))
            return
        if any(judgement.status == "judged" for judgement in judgements):
            self._reached, self._empty_batches, self._empty_rows = True, 0, 0
            self._empty_tasks, self._empty_causes = set(), set()
        elif failed:
            self._empty_batches += 1
            self._empty_rows += len(failed)
            self._empty_tasks |= {
                (pair[0].task_id, pair[0].task.main_query)
                for pair, found in zip(pairs, judgements, strict=True)
                if found.status == "failed"
            }
            self._empty_causes |= {judgement.cause for judgement in failed}
        if not failed:
            return
        problem = self._problem(failed) if self._empty_batches else None
        if problem is not None and self._stops:
            raise JudgeError(
                f"{problem}: {self._shown()}. {self._columns(pairs, failed[0])}The first: {failed[0].error}. "
                "A run without verdicts trains on nothing, so it is stopped; stop_when_failing=False lets it go on",
                judge=self._name,
                cause=failed[0].cause,
            )
        self._tell(failed, len(judgements))

    def _problem(self, failed: Sequence[Judgement]) -> str | None:
        causes, tasks, rows = self._empty_causes, len(self._empty_tasks), self._empty_rows
        sure = tasks >= _TASKS_AT_FIRST or rows >= _ROWS or causes == {Cause.CONFIG}
        if not self._reached and causes <= _STANDING and sure:
            return "no verdict on any row so far"
        if any(judgement.cause is Cause.BREAKER for judgement in failed):
            return "the judge is asked no more"
        if self._empty_batches >= MOST_BATCHES and (tasks >= _TASKS or rows >= _ROWS):
            return f"no verdict in {self._empty_batches} batches in a row"
        return None

    def _tell(self, failed: Sequence[Judgement], rows: int) -> None:
        total = sum(self._causes.values())
        # At first, and whenever their number has doubled: one line a step would be read by nobody
        if total >= 2 * self._told:
            self._told = total
            _log.warning(
                "%s gave no verdict on %d of %d rows (%s so far): %s",
                self._name, len(failed), rows, self._shown(), failed[0].error,
            )  # fmt: skip

    def _shown(self) -> str:
        return ", ".join(f"{count} {cause}" for cause, count in self._causes.most_common())

    def _columns(self, pairs: Sequence[Pair], first: Judgement) -> str:
        """The columns of the rows, and the one that looks like what is missing."""
        if first.cause is not Cause.REFERENCE or not pairs:
            return ""
        metadata = pairs[0][0].task.metadata
        columns = f"the columns {', '.join(map(repr, sorted(metadata)[:_MOST_SHOWN]))}" if metadata else "no column"
        told = f"The rows have {columns}. "
        guess = next(likely_answers({key: value for key, value in metadata.items() if key not in self._keys}), None)
        # a judge that found no column at all has said so already
        if guess is None or "reads:" in (first.error or ""):
            return told
        return f"{told}Is it {guess!r}? Then write `reads: {{answer: {guess}}}` under {SECTION}. "


def failing_run(judge: ConfiguredJudge, *, stops: bool = True) -> FailingRun:
    """A count for a trainer that asks about one sample, or one group, at a time."""
    return FailingRun(judge.name, judge.reference_keys, stops=stops, rows=_BATCH_ROWS)


#: The same count for each call with a judge, where a trainer calls a bare function.
the_failing_run = cache(failing_run)
