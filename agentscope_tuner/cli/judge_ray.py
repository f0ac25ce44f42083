"""`astuner judge --engine ray`: folders of rollouts in, scored partitions and a manifest out."""

from __future__ import annotations

import time
from pathlib import Path

import typer
from rich.progress import Progress

from agentscope_tuner.cli.config import Overrides
from agentscope_tuner.cli.console import EXIT_INTERRUPTED, EXIT_ROWS_FAILED, config_errors, err, out, printable
from agentscope_tuner.cli.summary_table import example_table, summary_table
from agentscope_tuner.config import Settings, resolve
from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.on_ray.files import score_files
from agentscope_tuner.on_ray.partition_source import input_files
from agentscope_tuner.records import Summary
from agentscope_tuner.storage.stored_file import is_url, plain
from agentscope_tuner.task_judge.base_judge import Counts
from agentscope_tuner.task_judge.protocol import load_judge


def add_counts(total: dict[str, list[int]], more: Counts) -> None:
    """Add the counts of one process to the counts of all processes."""
    for name, numbers in more.items():
        total[name] = [one + other for one, other in zip(total.get(name, [0] * len(numbers)), numbers, strict=True)]


def judge_on_ray(
    conf: str,
    overrides: Overrides,
    input_: str,
    target: str,
    *,
    address: str | None,
    jobs: int | None,
    resume: bool,
) -> None:
    """Judge the files that the pattern `input_` names into the folder `target`; exit code 3 when any row failed."""
    summary, counts, kept, started = Summary(), dict[str, list[int]](), 0, time.perf_counter()
    with config_errors():
        settings = resolve(conf, overrides or ())
        if is_url(target):
            raise ConfigError(f"--output must be a folder that every node sees, got {target!r}: mount the bucket")
        output = Path(plain(target))
        if output.exists() and not output.is_dir():
            raise ConfigError(f"--output must be a folder with --engine ray, got the file {str(output)!r}")
        digest, files = settings.task_judge.digest(), input_files(input_)
        records = score_files(settings, files, output, digest=digest, jobs=jobs, address=address, resume=resume)
        try:
            with Progress(console=err, transient=True, disable=not err.is_terminal) as progress:
                bar = progress.add_task("judging", total=None)
                for record in records:
                    summary.merge(Summary.from_dict(record.summary))
                    add_counts(counts, record.counts)
                    kept += record.kept
                    progress.update(bar, description=f"{summary.rows} rows, {summary.statuses['failed']} failed")
        except (JudgeError, KeyboardInterrupt) as exc:
            why = printable(str(exc)) if isinstance(exc, JudgeError) else "interrupted"
            stays = f"{summary.rows} rows in whole partitions are kept; --resume goes on"
            err.print(f"stopped: {why}\n{stays}", markup=False, soft_wrap=True)
            raise typer.Exit(EXIT_ROWS_FAILED if isinstance(exc, JudgeError) else EXIT_INTERRUPTED) from exc
    out.print(example_table(summary))
    out.print(summary_table(summary, time.perf_counter() - started, title=f"{input_} ▸ {output}", kept=kept))
    _print_notes(settings, counts)
    if summary.statuses["failed"]:
        raise typer.Exit(EXIT_ROWS_FAILED)


def _print_notes(settings: Settings, counts: Counts) -> None:
    for note in load_judge(settings).inner.notes_on(counts):
        out.print(f"note: {printable(note)}", markup=False, soft_wrap=True)
