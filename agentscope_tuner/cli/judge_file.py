"""The work of `astuner judge` on this machine: a file of rollouts in, a scored file and a summary out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import BinaryIO, TypeVar

import typer

from agentscope_tuner.cli.console import EXIT_INTERRUPTED, EXIT_ROWS_FAILED, config_errors, err, out, printable
from agentscope_tuner.cli.sources import Source, opened_source, rollout_lines
from agentscope_tuner.cli.summary_table import example_table, summary_table
from agentscope_tuner.config import resolve
from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.local import score_blocks
from agentscope_tuner.engines.resumed import resumed, with_earlier
from agentscope_tuner.errors import Cause, ConfigError
from agentscope_tuner.records import Line, Summary, earlier_rows
from agentscope_tuner.records.blocks import Block, gathered, limited
from agentscope_tuner.records.formats import Conversion
from agentscope_tuner.records.formats.converted_block import converted
from agentscope_tuner.records.output import scored_output, stage_of
from agentscope_tuner.records.scored_file import furthest
from agentscope_tuner.storage.stored_file import plain

_REDRAW_SECONDS = 0.1

In = TypeVar("In")


@dataclass(frozen=True, slots=True)
class RowsAsked:
    """The rows to judge, and how to read them.

    Attributes:
        conf: the training YAML.
        overrides: overrides of it, `key=value`.
        input_: a file, a folder, or `-`.
        limit: judge only so many rows, from the first on.
        format_: the trainer whose rows they are.
        pairs: the pairs of `--map`: where columns of the rows go.
        tasks: where the tasks' metadata stands.
    """

    conf: str
    overrides: Sequence[str]
    input_: str
    limit: int | None = None
    format_: str | None = None
    pairs: Sequence[str] | None = None
    tasks: str | None = None

    def rollouts(self, source: Source) -> Iterator[Line]:
        """The rows, one by one, as rollouts."""
        return rollout_lines(islice(source.lines(), self.limit), self.format_, self.pairs, self.tasks)

    def blocks(self, source: Source) -> Iterator[Block]:
        """The rows in blocks; the process that judges a block turns it into rollouts."""
        foreign = bool(self.format_ or self.pairs)
        if foreign and self.tasks:
            # Their contents would be sent to the workers with every block
            return gathered(self.rollouts(source))
        blocks = limited(source.blocks(), self.limit) if self.limit else source.blocks()
        return converted(blocks, Conversion(self.format_, self.pairs or ())) if foreign else blocks


def judge_file(asked: RowsAsked, output: str, *, resume: bool, jobs: int | None, strict: bool) -> None:
    """Judge the rows into `output`; exit code 3 when any row failed."""
    summary, kept, started = Summary(), 0, time.perf_counter()
    with config_errors():
        _check_apart(asked.input_, output)
        settings = resolve(asked.conf, asked.overrides)
        digest = settings.task_judge.digest()
        # Load the judge first: a wrong configuration must leave an earlier output as it is
        judge = LineJudge(settings, digest)
        try:
            with (
                opened_source(asked.input_, watched=partial(_watched, summary)) as source,
                scored_output(output, resume=resume) as scored,
            ):
                blocks = asked.blocks(source)
                if resume:
                    blocks = resumed(blocks, scored.earlier(), digest)
                with closing(score_blocks(judge, blocks, jobs=jobs, stop_at_failure=strict)) as results:
                    for block in results:
                        scored.write(block.data)
                        summary.merge(block.summary)
                        kept += block.kept
                        if strict and block.error is not None:
                            raise _StrictStop(block.error)
        except (_StrictStop, KeyboardInterrupt) as exc:
            raise _stopped(exc, summary) from exc
    if summary.rows:
        out.print(example_table(summary))
    out.print(summary_table(summary, time.perf_counter() - started, title=f"{source.name} ▸ {output}", kept=kept))
    for note in (*_notes(summary, source.name), *judge.run_notes()):
        out.print(f"note: {printable(note)}", markup=False, soft_wrap=True)
    if summary.statuses["failed"]:
        raise typer.Exit(EXIT_ROWS_FAILED)


def _notes(summary: Summary, name: str) -> Iterator[str]:
    if not summary.rows:
        yield f"{name!r} holds no rows: nothing was judged"
    if summary.causes[Cause.BUG.value]:
        yield "a judge raised, or returned no reward: `astuner -v judge … --jobs 1` logs where, each frame"


def show_costs(asked: RowsAsked, resumed: str | None) -> None:
    """Print what it would cost to judge the rows that the output `resumed` lacks."""
    from agentscope_tuner.cli.dry_run import DryRun

    with config_errors():
        settings = resolve(asked.conf, asked.overrides)
        digest = settings.task_judge.digest()
        judge, found = LineJudge(settings, digest), DryRun()
        with opened_source(asked.input_, watched=partial(_watched, Summary())) as source:
            lines = asked.rollouts(source)
            earlier = earlier_rows(furthest(stage_of(resumed))) if resumed is not None else None
            found.add(judge, lines if earlier is None else with_earlier(lines, earlier, digest))
    out.print(found.table(f"{source.name}: nothing was sent"))


def _check_apart(input_: str, output: str) -> None:
    with suppress(OSError):
        if os.path.samefile(plain(input_), plain(output)):
            raise ConfigError(
                f"--input and --output are one file, {output!r}: the rollouts would be written over, so name another"
            )


class _StrictStop(Exception):
    pass


def _stopped(exc: _StrictStop | KeyboardInterrupt, summary: Summary) -> typer.Exit:
    """Print why the run ends early; returns the exit for the caller to raise."""
    strict = isinstance(exc, _StrictStop)
    why = printable(str(exc)) if strict else "interrupted"
    err.print(f"stopped: {why}\n{summary.rows} rows are kept; --resume goes on", markup=False, soft_wrap=True)
    return typer.Exit(EXIT_ROWS_FAILED if strict else EXIT_INTERRUPTED)


def _watched(summary: Summary, parts: Iterator[In], stream: BinaryIO) -> Iterator[In]:
    """The parts of a file, with a progress bar over its bytes while they are read, on a terminal only."""
    if not err.is_terminal:
        yield from parts
        return
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    seekable = stream.seekable()
    total = os.fstat(stream.fileno()).st_size if seekable else None
    columns: list[ProgressColumn] = [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        *([TaskProgressColumn()] if total else []),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=err, transient=True) as progress:
        bar = progress.add_task("judging", total=total)
        started, drawn = time.monotonic(), 0.0
        for part in parts:
            if (now := time.monotonic()) - drawn > _REDRAW_SECONDS:
                drawn = now
                rate = summary.rows / max(now - started, _REDRAW_SECONDS)
                description = f"{summary.rows} rows, {summary.statuses['failed']} failed, {rate:,.0f} a second"
                progress.update(bar, description=description, completed=stream.tell() if seekable else summary.rows)
            yield part
