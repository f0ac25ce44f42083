"""Rows with their verdicts, of this run or an earlier one: one by one, and in blocks, written and counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from agentscope_tuner.records import Line, Row, Summary, parse_line
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.workflow import Rollout

# The summary of a whole run shows eight examples, of which seven may be known before a block
_EXAMPLES = 16


class ScoredLine(NamedTuple):
    """One row of a rollout file with its verdict.

    Attributes:
        line: the row to be written, with its judgement and its end.
        judgement: the same verdict.
        name: the rollout's id; the row's place where no id can be read.
        label: the row's own `label.is_success`, where it has one.
        kept: whether the verdict is an earlier run's.
    """

    line: bytes
    judgement: Judgement
    name: str
    label: bool | None
    kept: bool = False


class JudgedBefore(NamedTuple):
    """A line that an earlier run judged. It is passed on unchanged, unless its group has to be ranked again."""

    line: Line
    scored: ScoredLine

    @property
    def raw(self) -> bytes:
        """The line of the input."""
        return self.line.raw


def judged_before(line: Line, written: bytes, judgement: Judgement, *, kept: bool = True) -> JudgedBefore:
    """`line` with its verdict, as a run wrote it; `kept` is False where this run wrote it."""
    return JudgedBefore(line, ScoredLine(written, judgement, *name_and_label(parse_line(line)), kept=kept))


def name_and_label(row: Row) -> tuple[str, bool | None]:
    """The name of a row (its id, else its place in the file) and its `label.is_success`, for `Summary.add`."""
    if row.rollout is None:
        return row.where, None
    return row.rollout.id, label_of(row.rollout)


def label_of(rollout: Rollout) -> bool | None:
    """The rollout's own `label.is_success`; None where it has none."""
    is_success = rollout.label.get("is_success") if rollout.label else None
    return is_success if isinstance(is_success, bool) else None


@dataclass(slots=True)
class ScoredBlock:
    """Rows with their verdicts.

    Attributes:
        data: the rows to be written, each with its judgement and its end.
        summary: the summary of these rows.
        kept: how many of the verdicts are an earlier run's.
        error: the error of the first failed row; None where no row failed.
    """

    data: bytes = b""
    summary: Summary = field(default_factory=lambda: Summary(most_examples=_EXAMPLES))
    kept: int = 0
    error: str | None = None

    @classmethod
    def of(cls, rows: Iterable[ScoredLine]) -> ScoredBlock:
        """Make a block of rows that were scored one by one."""
        found, written = cls(), []
        for row in rows:
            found.count(row)
            written.append(row.line)
        found.data = b"".join(written)
        return found

    def count(self, row: ScoredLine) -> None:
        """Count a row; the caller adds its line."""
        self.summary.add(row.judgement, name=row.name, label=row.label)
        self.kept += row.kept
        if self.error is None and row.judgement.status == "failed":
            self.error = row.judgement.error


class JudgedRow(NamedTuple):
    """A row with a verdict, whose scored line is not made yet.

    Attributes:
        raw: the line of the input.
        rollout: the rollout in it.
        judgement: the verdict, without its seconds.
        seconds: the seconds that the verdict took.
        end: the end of the scored line, which has the verdict; empty where it is not made yet.
    """

    raw: bytes
    rollout: Rollout
    judgement: Judgement
    seconds: float
    end: bytes


class AlikeRows:
    """Collects rows that a summary counts alike, to add them at once: most rows of a run are alike."""

    def __init__(self) -> None:
        self._counts: dict[tuple[object, ...], int] = {}
        self._first: dict[tuple[object, ...], JudgedRow] = {}

    def add(self, row: JudgedRow, summary: Summary) -> None:
        """Take a row. A row with metrics of its own is added to `summary` at once, after all rows taken before it."""
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
