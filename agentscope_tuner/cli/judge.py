"""`astuner judge`: rollouts in, scored rollouts and a summary out."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from omegaconf import DictConfig
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from agentscope_tuner._version import __version__
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
from agentscope_tuner.cli.summary_table import example_table, summary_table
from agentscope_tuner.config import load_config, task_judge_section
from agentscope_tuner.engines.local import ordered_map
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records import Row, ScoredFile, Summary, own_keys, read_rows, scored_line
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
        config = load_config(conf, overrides or ())
        task_judge, digest = load_judge(config), _digest(config)
        try:
            with _opened(input_) as (stream, name), ScoredFile(output, resume=resume) as scored:
                rows = islice(read_rows(stream, name), limit)
                watched = _watched(rows, stream, summary)
                for row, line, judgement in _score(task_judge, watched, _Earlier(scored, digest), jobs):
                    scored.write(line or scored_line(row, judgement, digest))
                    summary.add(judgement, name=row.rollout.id if row.rollout else row.where, label=_label(row))
                    if strict and judgement.status == "failed":
                        raise _StrictStop(judgement.error)
        except (_StrictStop, KeyboardInterrupt) as exc:
            why = printable(str(exc)) if isinstance(exc, _StrictStop) else "interrupted"
            err.print(f"stopped: {why}\n{summary.rows} rows are kept; --resume goes on", markup=False, soft_wrap=True)
            raise typer.Exit(EXIT_ROWS_FAILED if isinstance(exc, _StrictStop) else EXIT_INTERRUPTED) from exc
    out.print(example_table(summary))
    out.print(summary_table(summary, time.perf_counter() - started, title=f"{name} ▸ {output}"))
    if summary.statuses["failed"]:
        raise typer.Exit(EXIT_ROWS_FAILED)


class _StrictStop(Exception):
    pass


def _digest(config: DictConfig) -> str:
    """Names what decided the verdicts: two runs with the same digest had the same judge, rules and settings."""
    section = task_judge_section(config).model_dump_json()
    return hashlib.sha256(f"{__version__} {section}".encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class _Earlier:
    """Verdicts of an earlier run over the same input, taken over where the row is the same and has one."""

    scored: ScoredFile
    digest: str

    def __call__(self, rows: Iterator[Row]) -> Iterator[tuple[Row, bytes | None, Judgement | None]]:
        earlier = self.scored.earlier()
        for row in rows:
            line, kept = next(earlier, (None, {}))
            judgement = self._verdict(row, kept)
            yield row, line if judgement else None, judgement

    def _verdict(self, row: Row, kept: dict[str, Any]) -> Judgement | None:
        verdict = kept.pop("judgement", None)
        if row.rollout is None or not isinstance(verdict, dict):
            return None
        if kept.get("id", row.rollout.id) != row.rollout.id:
            raise ConfigError(
                f"{row.where} has id {row.rollout.id!r} where the earlier output has {kept['id']!r}: "
                "it was made from another input; run without --resume"
            )
        if verdict.pop("config", None) != self.digest:
            raise ConfigError(
                f"{row.where}: the earlier output was judged under another configuration or version; "
                "run without --resume"
            )
        judgement = Judgement.from_dict(verdict)
        if judgement is None or judgement.status == "failed" or own_keys(row.raw) != kept:
            return None
        return judgement


def _score(
    task_judge: TaskJudge, rows: Iterator[Row], earlier: _Earlier, jobs: int
) -> Iterator[tuple[Row, bytes | None, Judgement]]:
    """Each row with its verdict, and its line where an earlier run had it."""

    def verdict(item: tuple[Row, bytes | None, Judgement | None]) -> Judgement:
        return item[2] or _judge_row(task_judge, item[0])

    for (row, line, _), judgement in ordered_map(verdict, earlier(rows), jobs=jobs):
        yield row, line, judgement


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
        assert row.problem is not None
        kind = re.sub(r" at column \d+", "", row.problem)
        return Judgement("failed", None, None, reason=f"bad row: {kind}", error=f"{row.where}: {row.problem}")
    judgement = task_judge.judge(WorkflowTask(task=row.rollout.task), row.rollout.output)
    return replace(judgement, error=f"{row.where}: {judgement.error}") if judgement.status == "failed" else judgement


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
        for row in rows:
            if time.monotonic() - drawn > _REDRAW_SECONDS:
                drawn = time.monotonic()
                description = f"{summary.rows} rows, {summary.statuses['failed']} failed"
                progress.update(bar, description=description, completed=stream.tell() if seekable else summary.rows)
            yield row
