"""Rows with their verdicts, written and counted: the result of judging a block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from agentscope_tuner.engines.scored_line import ScoredLine, label_of
from agentscope_tuner.records import Summary
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.workflow import Rollout

# The summary of a whole run shows eight examples, of which seven may be known before a block
_EXAMPLES = 16


@dataclass(slots=True)
class ScoredBlock:
    """Rows with their verdicts.

    Attributes:
        data: the rows to be written, each with its judgement and its end.
        summary: of these rows.
        kept: how many of the verdicts are an earlier run's.
        error: of the first row that failed; None where none did.
    """

    data: bytes = b""
    summary: Summary = field(default_factory=lambda: Summary(most_examples=_EXAMPLES))
    kept: int = 0
    error: str | None = None

    @classmethod
    def of(cls, rows: Iterable[ScoredLine]) -> ScoredBlock:
        """Rows that were scored one by one."""
        found, written = cls(), []
        for row in rows:
            found.count(row)
            written.append(row.line)
        found.data = b"".join(written)
        return found

    def count(self, row: ScoredLine) -> None:
        """Count a row, whose line is the caller's to add."""
        self.summary.add(row.judgement, name=row.name, label=row.label)
        self.kept += row.kept
        if self.error is None and row.judgement.status == "failed":
            self.error = row.judgement.error


class JudgedRow(NamedTuple):
    """A row with a verdict, whose line is not put together yet.

    Attributes:
        raw: the line of the input.
        rollout: what it holds.
        judgement: the verdict, without its seconds.
        seconds: it took.
        end: the end of the scored line, which has the verdict; empty where it is not made yet.
    """

    raw: bytes
    rollout: Rollout
    judgement: Judgement
    seconds: float
    end: bytes


class AlikeRows:
    """Rows that a summary counts in the same way, to be added to it at once: most rows of a run are."""

    def __init__(self) -> None:
        self._counts: dict[tuple[object, ...], int] = {}
        self._first: dict[tuple[object, ...], JudgedRow] = {}

    def add(self, row: JudgedRow, summary: Summary) -> None:
        """Take a row; those taken before are added to `summary` first where it is like no other."""
        rollout, found = row.rollout, row.judgement
        if found.metrics or found.violations:
            self.flush(summary)
            summary.add(found, name=rollout.id, label=label_of(rollout))
            return
        label = rollout.label.get("is_success") if rollout.label else None
        kind = found.reason.partition(":")[0]
        key = (found.status, found.reward, found.is_success, kind, label is True, label is False)
        if key in self._counts:
            self._counts[key] += 1
        else:
            self._counts[key] = 1
            self._first[key] = row

    def flush(self, summary: Summary) -> None:
        """Add the rows to `summary`, in the order of the first of each kind."""
        for key, row in self._first.items():
            label = label_of(row.rollout)
            summary.add(row.judgement, name=row.rollout.id, label=label, count=self._counts[key])
        self._counts.clear()
        self._first.clear()
