"""`astuner judge`: rollouts in, scored rollouts and a summary out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Annotated, BinaryIO

import typer
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from agentscope_tuner.cli.config import Conf, Overrides
from agentscope_tuner.cli.console import (
    EXIT_INTERRUPTED,
    EXIT_ROWS_FAILED,
    config_errors,
    err,
    fail,
    out,
    printable,
)
from agentscope_tuner.cli.dry_run import DryRun
from agentscope_tuner.cli.judge_ray import Engine, judge_on_ray
from agentscope_tuner.cli.sources import rollout_lines, source_lines
from agentscope_tuner.cli.summary_table import example_table, summary_table
from agentscope_tuner.config import resolve
from agentscope_tuner.engines.judging import JudgedBefore, LineJudge, judged_before
from agentscope_tuner.engines.local import score_lines
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records import EarlierRow, Line, Row, Summary, earlier_rows, parse_line
from agentscope_tuner.records.formats import FORMATS
from agentscope_tuner.records.output import scored_output, stage_of
from agentscope_tuner.records.scored_file import furthest
from agentscope_tuner.task_judge.judgement import Judgement

_REDRAW_SECONDS = 0.1
_JOBS = (
    "Rows at once. By default a process for each core for judges that compute, `concurrency` for those that await, "
    "else 1, which judges in this process."
)
_ENGINE = (
    "ray: --input is a pattern, of JSONL or Parquet files, --output a folder, and --jobs how many judge actors. Ray is "
    "started on this machine unless --address says where it runs."
)
_FORMAT = (
    f"Rows as a trainer has or dumps them: {', '.join(FORMATS)}; auto looks at the first row. The output holds the "
    "rollouts made of them. --input may then be a folder of JSONL, Parquet or torch files."
)
_TASKS = "Tasks whose metadata the rows get by their query, for dumps without the data set's columns, such as TRL's."
_INPUT = (
    "Rollouts: a file of JSON lines, Parquet or Arrow, or a folder or a pattern of them; a path or a URL; - reads "
    "standard input."
)
_OUTPUT = "Where the scored rollouts go: a file by path or URL, of JSON lines, or by its suffix Parquet or Arrow."
_DRY_RUN = (
    "Say how many calls and tokens judging would take, and what they would cost; send nothing, write nothing. With "
    "--resume, of the rows that --output lacks."
)
_MAP = (
    "Where a column of the rows goes, such as prompt=task.main_query, completion=output.metadata.final_answer or "
    "answer=task.metadata.answer. May be given several times, also with --format."
)


def judge(
    conf: Conf,
    input_: Annotated[str, typer.Option("--input", help=_INPUT)],
    output: Annotated[str | None, typer.Option("--output", help=_OUTPUT)] = None,
    overrides: Overrides = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep rows that an earlier run already scored; judge its failed ones again."),
    ] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Judge only the first N rows.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help=_JOBS, show_default="by the judge's kind")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first row that fails.")] = False,
    format_: Annotated[str | None, typer.Option("--format", help=_FORMAT)] = None,
    map_: Annotated[list[str] | None, typer.Option("--map", help=_MAP, metavar="COLUMN=PATH")] = None,
    tasks: Annotated[str | None, typer.Option("--tasks", help=_TASKS)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)] = False,
    engine: Annotated[Engine, typer.Option("--engine", help=_ENGINE)] = Engine.LOCAL,
    address: Annotated[str | None, typer.Option("--address", help="The Ray cluster's, such as auto.")] = None,
) -> None:
    """Judge a file of rollouts. Exit code 3 when any row failed: it then has no reward, which is not a reward of 0."""
    if dry_run and engine is Engine.RAY:
        raise fail("--dry-run reads the rows here: --engine local, with one of the files as --input")
    if dry_run:
        rows = partial(rollout_lines, format_=format_, pairs=map_, tasks=tasks)
        _say_what_it_costs(conf, overrides, input_, output if resume else None, limit, rows)
        return
    if output is None:
        raise fail("--output is missing: the file that the scored rollouts go to")
    if engine is Engine.RAY:
        if limit or strict:
            raise fail("--limit and --strict need rows one after the other: --engine local")
        if format_ or map_ or tasks:
            raise fail("--format, --map and --tasks are read by --engine local")
        judge_on_ray(conf, overrides, input_, output, address=address, jobs=jobs, resume=resume)
        return
    if output == "-":
        raise fail("--output must be a file: scored rows are written aside and renamed when they are whole")
    summary, kept, started = Summary(), 0, time.perf_counter()
    with config_errors():
        settings = resolve(conf, overrides or ())
        digest = settings.task_judge.digest()
        # Load the judge first: a wrong configuration must leave an earlier output as it is
        line_judge = LineJudge(settings, digest)
        try:
            with (
                source_lines(input_, watched=partial(_watched, summary)) as (source, name),
                scored_output(output, resume=resume) as scored,
            ):
                lines = rollout_lines(islice(source, limit), format_, map_, tasks)
                todo = _with_earlier(lines, scored.earlier(), digest) if resume else lines
                with closing(score_lines(line_judge, todo, jobs=jobs)) as results:
                    for row in results:
                        scored.write(row.line)
                        summary.add(row.judgement, name=row.name, label=row.label)
                        kept += row.kept
                        if strict and row.judgement.status == "failed":
                            raise _StrictStop(row.judgement.error)
        except (_StrictStop, KeyboardInterrupt) as exc:
            why = printable(str(exc)) if isinstance(exc, _StrictStop) else "interrupted"
            err.print(f"stopped: {why}\n{summary.rows} rows are kept; --resume goes on", markup=False, soft_wrap=True)
            raise typer.Exit(EXIT_ROWS_FAILED if isinstance(exc, _StrictStop) else EXIT_INTERRUPTED) from exc
    out.print(example_table(summary))
    out.print(summary_table(summary, time.perf_counter() - started, title=f"{name} ▸ {output}", kept=kept))
    for note in line_judge.run_notes():
        out.print(f"note: {printable(note)}", markup=False, soft_wrap=True)
    if summary.statuses["failed"]:
        raise typer.Exit(EXIT_ROWS_FAILED)


def _say_what_it_costs(
    conf: str,
    overrides: list[str] | None,
    input_: str,
    resumed: str | None,
    limit: int | None,
    rows: Callable[[Iterator[Line]], Iterator[Line]],
) -> None:
    with config_errors():
        settings = resolve(conf, overrides or ())
        digest = settings.task_judge.digest()
        line_judge, found = LineJudge(settings, digest), DryRun()
        with source_lines(input_, watched=partial(_watched, Summary())) as (source, name):
            lines = rows(islice(source, limit))
            earlier = earlier_rows(furthest(stage_of(resumed))) if resumed is not None else None
            found.add(line_judge, lines if earlier is None else _with_earlier(lines, earlier, digest))
    out.print(found.table(f"{name}: nothing was sent"))


class _StrictStop(Exception):
    pass


def _with_earlier(lines: Iterator[Line], earlier: Iterator[EarlierRow], digest: str) -> Iterator[Line | JudgedBefore]:
    """The lines; those that an earlier run over the same input judged, with what it wrote."""
    for line in lines:
        before = next(earlier, None)
        row = parse_line(line)
        judgement = _verdict_of(row, before, digest) if before else None
        if before and before.is_of(row.raw):
            line = line._replace(spent=before.spent)
        yield judged_before(line, before.line, judgement) if before and judgement else line


def _verdict_of(row: Row, before: EarlierRow, digest: str) -> Judgement | None:
    """The judgement that the earlier run wrote, where the row is the same and has one.

    Raises:
        ConfigError: the earlier run judged another input, or by another configuration.
    """
    if row.rollout is None or before.judgement is None:
        return None
    # a rollout's id is a text, also where its line has a number
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


def _watched(summary: Summary, lines: Iterator[Line], stream: BinaryIO) -> Iterator[Line]:
    """The lines, with a progress bar over the file's bytes while they are read, on a terminal only."""
    if not err.is_terminal:
        yield from lines
        return
    seekable = stream.seekable()
    total = os.fstat(stream.fileno()).st_size if seekable else None
    columns: list[ProgressColumn] = [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=err, transient=True) as progress:
        bar = progress.add_task("judging", total=total)
        drawn = 0.0
        for line in lines:
            if time.monotonic() - drawn > _REDRAW_SECONDS:
                drawn = time.monotonic()
                description = f"{summary.rows} rows, {summary.statuses['failed']} failed"
                progress.update(bar, description=description, completed=stream.tell() if seekable else summary.rows)
            yield line
