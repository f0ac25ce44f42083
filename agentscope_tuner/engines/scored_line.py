"""A row of a rollout file with its verdict, of this run or an earlier one."""

from __future__ import annotations

from typing import NamedTuple

from agentscope_tuner.records import Line, Row, parse_line
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.workflow import Rollout


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
