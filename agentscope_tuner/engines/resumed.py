"""Resumes a run: the rows of the input, each with the earlier run's verdict where that run judged it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentscope_tuner.engines.scored import JudgedBefore, ScoredLine, name_and_label
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records import EarlierRow, Line, Row, parse_line
from agentscope_tuner.records.blocks import Block, gathered
from agentscope_tuner.task_judge.contract.judgement import Judgement


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
            f"{row.where}: the earlier output was judged under another configuration or version; run without --resume"
        )
    return before.judgement if before.judgement.status != "failed" and before.is_of(row.raw) else None
