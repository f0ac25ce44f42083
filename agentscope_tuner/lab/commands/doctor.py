"""`astuner doctor`: why rewards are 0, or all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from agentscope_tuner.cli.console import Exit, config_errors, err, fail, say
from agentscope_tuner.cli.options import Format, Json, Map, rollout_lines, source_lines
from agentscope_tuner.lab.doctor import diagnose
from agentscope_tuner.lab.watch.run_rows import RunRows, is_json_lines
from agentscope_tuner.records.scored_rows import ScoredRow

# Groups are compared in memory
_MOST = 200_000
_RUN = "Scored rows, as `astuner judge` writes them, or the folder that `log_dir` or a trainer writes."


def doctor(
    run: Annotated[str, typer.Argument(help=_RUN)],
    format_: Format = None,
    map_: Map = None,
    as_json: Json = False,
) -> None:
    """Why is my reward 0, or without spread? The likeliest cause first, with rows and the line to write.

    Exit code 1 when a cause is found, 0 for rows from which a trainer learns.
    """
    with config_errors(), ExitStack() as stack:
        source = RunRows(Path(run), partial(rollout_lines, format_=format_, pairs=map_))
        rows = list(islice(_rows(source, run, stack), _MOST))
    if len(rows) == _MOST:
        err.print(f"the first {_MOST:,} rows are looked at")
    if source.unread:
        err.print(f"lines that could not be read: {source.unread:,}", style="yellow")
    if not rows:
        raise fail(f"{run!r} holds no row")
    found = diagnose(rows)
    if as_json:
        print(json.dumps({"rows": len(rows), "causes": [trouble.to_dict() for trouble in found]}))
    for place, trouble in enumerate(() if as_json else found, 1):
        say(f"{place}. {trouble.name}: {trouble.message}")
        say(f"   {trouble.rows:,} of {trouble.of:,}, for example {', '.join(trouble.examples)}")
        say(f"   write or do: {trouble.remedy}")
    if found:
        raise typer.Exit(Exit.FOUND)
    if not as_json:
        err.print(f"no cause found in {len(rows):,} rows: a trainer can learn from them")


def _rows(source: RunRows, run: str, stack: ExitStack) -> Iterator[ScoredRow]:
    if is_json_lines(Path(run)):
        return source.whole()
    lines, _ = stack.enter_context(source_lines(run))
    return source.scored(lines)
