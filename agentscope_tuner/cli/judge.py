"""`astuner judge`: rollouts in, scored rollouts and a summary out."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from agentscope_tuner.cli.config import Conf, Overrides
from agentscope_tuner.cli.console import fail
from agentscope_tuner.cli.judge_file import RowsAsked, judge_file, show_costs
from agentscope_tuner.records.formats import FORMATS

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


class Engine(StrEnum):
    """The engine that judges the rows of `astuner judge`."""

    LOCAL = "local"
    RAY = "ray"


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
    asked = RowsAsked(conf, overrides or (), input_, limit, format_, map_, tasks)
    if dry_run:
        show_costs(asked, output if resume else None)
        return
    if output is None:
        raise fail("--output is missing: the file that the scored rollouts go to")
    if engine is Engine.RAY:
        if limit or strict:
            raise fail("--limit and --strict need rows one after the other: --engine local")
        if format_ or map_ or tasks:
            raise fail("--format, --map and --tasks are read by --engine local")
        from agentscope_tuner.cli.judge_ray import judge_on_ray

        judge_on_ray(conf, overrides, input_, output, address=address, jobs=jobs, resume=resume)
        return
    if output == "-":
        raise fail("--output must be a file: scored rows are written aside and renamed when they are whole")
    judge_file(asked, output, resume=resume, jobs=jobs, strict=strict)
