"""`astuner judge`: rollouts in, scored rollouts and a summary out."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from agentscope_tuner.cli.config import Conf, Overrides
from agentscope_tuner.cli.console import EXIT_ROWS_FAILED, config_errors, err, fail, out
from agentscope_tuner.cli.summary_table import example_table, summary_table
from agentscope_tuner.config import load_config
from agentscope_tuner.engines.local import ordered_map
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records import Row, ScoredFile, Summary, read_rows, scored_line
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.protocol import load_judge
from agentscope_tuner.task_judge.task_judge import TaskJudge
from agentscope_tuner.workflow import WorkflowTask

_REDRAW_SECONDS = 0.1


def judge(
    conf: Conf,
    input_: Annotated[str, typer.Option("--input", help="Rollouts, one JSON object a line; - reads standard input.")],
    output: Annotated[Path, typer.Option("--output", help="Where the scored rollouts go.")],
    overrides: Overrides = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep rows that an earlier run already scored; judge its failed ones again."),
    ] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Judge only the first N rows.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Rows at once, for judges that wait.")] = 1,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first row that fails.")] = False,
) -> None:
    """Judge a file of rollouts. Exit code 3 when any row failed: it then has no reward, which is not a reward of 0."""
    if str(output) == "-":
        raise fail("--output must be a file: scored rows are written aside and renamed when they are whole")
    summary, started = Summary(), time.perf_counter()
    with config_errors():
        task_judge = load_judge(load_config(conf, overrides or ()))
        try:
            with _opened(input_) as (stream, name), ScoredFile(output, resume=resume) as scored:
                rows = islice(read_rows(stream, name), limit)
                for row, line, judgement in _score(task_judge, _watched(rows, stream, summary), scored, jobs):
                    scored.write(line)
                    summary.add(judgement, name=row.rollout.id if row.rollout else row.where, label=_label(row))
                    if strict and judgement.status == "failed":
                        raise _StrictStop(judgement.error)
        except (_StrictStop, KeyboardInterrupt) as exc:
            err.print(f"stopped: {exc or 'interrupted'}\n{summary.rows} rows are kept; --resume goes on", markup=False)
            raise typer.Exit(EXIT_ROWS_FAILED if isinstance(exc, _StrictStop) else 130) from exc
    out.print(example_table(summary))
    out.print(summary_table(summary, time.perf_counter() - started, title=f"{name} ▸ {output}"))
    if summary.statuses["failed"]:
        raise typer.Exit(EXIT_ROWS_FAILED)


class _StrictStop(Exception):
    pass


def _score(
    task_judge: TaskJudge, rows: Iterator[Row], scored: ScoredFile, jobs: int
) -> Iterator[tuple[Row, bytes, Judgement]]:
    earlier = scored.earlier()

    def with_earlier() -> Iterator[tuple[Row, bytes | None, Judgement | None]]:
        for row in rows:
            yield (row, *_earlier_verdict(row, next(earlier, None)))

    def verdict(item: tuple[Row, bytes | None, Judgement | None]) -> Judgement:
        return item[2] or _judge_row(task_judge, item[0])

    for (row, line, _), judgement in ordered_map(verdict, with_earlier(), jobs=jobs):
        yield row, line or scored_line(row, judgement), judgement


def _label(row: Row) -> bool | None:
    label = row.rollout.label if row.rollout else None
    is_success = label.get("is_success") if label else None
    return is_success if isinstance(is_success, bool) else None


def _earlier_verdict(
    row: Row, earlier: tuple[bytes, dict[str, object]] | None
) -> tuple[bytes | None, Judgement | None]:
    if earlier is None:
        return None, None
    line, kept = earlier
    if row.rollout is not None and "id" in kept and kept["id"] != row.rollout.id:
        raise ConfigError(
            f"{row.where} has id {row.rollout.id!r} where the earlier output has {kept['id']!r}: "
            "it was made from another input; run without --resume"
        )
    judgement = Judgement.from_dict(kept.get("judgement"))
    return (None, None) if judgement is None or judgement.status == "failed" else (line, judgement)


def _judge_row(task_judge: TaskJudge, row: Row) -> Judgement:
    if row.rollout is None:
        return Judgement("failed", None, None, reason=f"bad row: {row.problem}", error=f"{row.where}: {row.problem}")
    return task_judge.judge(WorkflowTask(task=row.rollout.task), row.rollout.output)


@contextlib.contextmanager
def _opened(source: str) -> Iterator[tuple[BinaryIO, str]]:
    if source == "-":
        yield sys.stdin.buffer, "<stdin>"
        return
    try:
        stream = open(source, "rb")  # noqa: SIM115 - closed below; the with of an except would hide judging errors
    except OSError as exc:
        raise ConfigError(f"cannot read {source!r}: {exc}") from exc
    with stream:
        yield stream, Path(source).name


def _watched(rows: Iterator[Row], stream: BinaryIO, summary: Summary) -> Iterator[Row]:
    """The rows, with a progress bar over the file's bytes while they are read, on a terminal only."""
    if not err.is_terminal:
        yield from rows
        return
    seekable = stream.seekable()
    total = Path(stream.name).stat().st_size if seekable else None
    columns: list[ProgressColumn] = [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=err, transient=True) as progress:
        bar = progress.add_task("judging", total=total)
        drawn = 0.0
        for row in rows:
            if time.monotonic() - drawn > _REDRAW_SECONDS:
                drawn = time.monotonic()
                description = f"{summary.rows} rows, {summary.statuses['failed']} failed"
                progress.update(bar, description=description, completed=stream.tell() if seekable else summary.rows)
            yield row
