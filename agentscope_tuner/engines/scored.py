"""Rows with their verdicts, of this run or an earlier one: one by one, and in blocks, written and counted.

`resumed` gives the rows of the input, each with the earlier run's verdict where that run judged it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.blocks import Block, gathered
from agentscope_tuner.records.output import EarlierRow
from agentscope_tuner.records.reader import Line, Row, parse_line
from agentscope_tuner.records.scored_rows import Summary
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
            written.append(row.line)
            found.summary.add(row.judgement, name=row.name, label=row.label)
            found.kept += row.kept
            if found.error is None and row.judgement.status == "failed":
                found.error = row.judgement.error
        found.data = b"".join(written)
        return found


def resumed(blocks: Iterable[Block], earlier: Iterator[EarlierRow], digest: str) -> Iterator[Block]:
    """The blocks, their lines joined with an earlier run as by `with_earlier`; blocks after its last row pass
    unchanged.

    Args:
        blocks: of lines.
        earlier: the rows that the earlier run wrote, from its first row on.
        digest: names the configuration of this run.

    Raises:
        ConfigError: as `with_earlier`; the rows before the wrong row are handed on first.
    """
    following = _Following(earlier)
    for block in blocks:
        if following.ended:
            yield block
        else:
            yield from gathered(with_earlier(block.items(), following, digest))


class _Following(Iterator[EarlierRow]):
    """Iterates the rows of an earlier run, and knows whether they have ended."""

    def __init__(self, rows: Iterator[EarlierRow]) -> None:
        self.ended = False
        self._rows = rows

    def __next__(self) -> EarlierRow:
        try:
            return next(self._rows)
        except StopIteration:
            self.ended = True
            raise


def with_earlier(lines: Iterator[Line], earlier: Iterator[EarlierRow], digest: str) -> Iterator[Line | JudgedBefore]:
    """The lines; where an earlier run over the same input judged a line, with its verdict.

    Raises:
        ConfigError: the earlier run judged another input, or by another configuration.
    """
    for line in lines:
        before = next(earlier, None)
        row = parse_line(line)
        judgement = _verdict_of(row, before, digest) if before else None
        if before and before.is_of(row.raw):
            line = line._replace(spent=before.spent)
        if before and judgement:
            yield JudgedBefore(line, ScoredLine(before.line, judgement, *name_and_label(row), kept=True))
        else:
            yield line


def _verdict_of(row: Row, before: EarlierRow, digest: str) -> Judgement | None:
    """The judgement that the earlier run wrote, where the row is the same and has one.

    Raises:
        ConfigError: the earlier run judged another input, or by another configuration.
    """
    if row.rollout is None or before.judgement is None:
        return None
    # A rollout's id is a string, even where its line has a number
    if str(before.own.get("id", row.rollout.id)) != row.rollout.id:
        raise ConfigError(
            f"{row.where} has id {row.rollout.id!r} where the earlier output has {before.own['id']!r}: "
            "it was made from another input; run without --resume"
        )
    if before.config != digest:
        raise ConfigError(
            f"{row.where}: the earlier output was judged under another configuration or version: run without --resume "
            "to judge every row again, or name another --output"
        )
    return before.judgement if before.judgement.status != "failed" and before.is_of(row.raw) else None
