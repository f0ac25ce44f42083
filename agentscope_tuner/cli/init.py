"""`astuner init`: writes a first configuration, rows for it and a test."""

from __future__ import annotations

import json
import shlex
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from typing import Annotated

import typer

from agentscope_tuner.cli.console import config_errors, fail, say
from agentscope_tuner.cli.from_rows import look
from agentscope_tuner.cli.options import Json, Map, source_lines
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.records.formats.sample import ROLES, ColumnMap
from agentscope_tuner.storage import write_whole


class Starter(StrEnum):
    """The judge to start with; each has a commented configuration under `agentscope_tuner/cli/starters`."""

    MATH = "math"
    COUNTDOWN = "countdown"
    CODE = "code"
    LLM = "llm"
    ENV = "env"
    CUSTOM = "custom"
    # with --from alone
    AUTO = "auto"
    CHOICE = "choice"
    INSTRUCTION = "instruction"
    SQL = "sql"
    TASK_RUBRICS = "task_rubrics"


_FROM = "Your rows: the configuration that reads them is written, with reasons. The kind auto chooses the judge, too."


def init(
    kind: Annotated[Starter, typer.Argument(help="The judge to begin with.")],
    folder: Annotated[Path, typer.Argument(help="The folder for the files; it is created if it is missing.")] = Path(),
    from_: Annotated[str | None, typer.Option("--from", help=_FROM, metavar="ROWS")] = None,
    map_: Map = None,
    as_json: Json = False,
) -> None:
    """Write a configuration with example rows and a test; or, with --from, a configuration that reads your rows.

    Prints the commands to run next. Never overwrites a file.
    """
    if from_ is not None:
        wrote, whys, commands = _init_from(kind, folder, from_, map_ or [])
    elif map_:
        raise fail("--map names columns of the rows that --from gives: add --from ROWS")
    else:
        wrote, whys, commands = _start(kind, folder), [], _next_commands(kind, folder)
    if as_json:
        print(json.dumps({"wrote": [str(path) for path in wrote], "why": whys, "next": commands}))
        return
    say("wrote " + ", ".join(map(str, wrote)))
    for why in whys:
        say(f"  {why}")
    say("\n  ".join(["\nNext:", *commands]))


def _start(kind: Starter, folder: Path) -> list[Path]:
    if not (sources := _sources(kind)):
        raise fail(f"init {kind} writes the configuration for rows of yours: give --from ROWS")
    taken = [folder / source.name for source in sources if (folder / source.name).exists()]
    if taken:
        raise fail(f"{str(taken[0])!r} is there already: {_elsewhere(kind, folder)}`")
    _check_folder(kind, folder)
    with config_errors(), told(f"cannot write to {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources:
            (folder / source.name).write_bytes(source.read_bytes())
    return [folder / source.name for source in sources]


def _check_folder(kind: Starter, folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise fail(f"{str(folder)!r} is a file, and init writes a folder: {_elsewhere(kind, folder)}`")


def _elsewhere(kind: Starter, folder: Path) -> str:
    """The advice to name another folder, with the beginning of a command that names a free one."""
    beside = folder if folder.name else Path("my_judge")
    names = (beside.with_name(f"{beside.name}-{number}") for number in count(2))
    free = next(path for path in chain([beside], names) if not path.exists())
    return f"name another folder, as in `astuner init {kind} {shlex.quote(str(free))}"


def _sources(kind: Starter) -> list[Traversable]:
    """The files that a starter writes; empty if it only makes a configuration for rows."""
    starters = files("agentscope_tuner").joinpath("cli", "starters")
    folder = starters.joinpath(kind)
    found = (file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else ()
    own = sorted(found, key=lambda file: file.name)
    # judges that need no model or environment share a test, which compares their verdicts with the rows' labels
    shared = own and not any(file.name == "test_judge.py" for file in own)
    return [*own, starters.joinpath("labelled", "test_judge.py")] if shared else own


def _init_from(kind: Starter, folder: Path, rows: str, pairs: list[str]) -> tuple[list[Path], list[str], list[str]]:
    target = folder / "judge.yaml"
    if target.exists():
        raise fail(f"{str(target)!r} is there already: {_elsewhere(kind, folder)} --from …`")
    _check_folder(kind, folder)
    with config_errors(), source_lines(rows) as (lines, name):
        found = look(lines, kind.value, _named(pairs))
    with config_errors(), told(f"cannot write to {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(target, found.yaml(name))
    conf, given = shlex.quote(str(target)), shlex.quote(rows)
    commands = [f"astuner check --conf {conf} --input {given}"]
    if found.responses:
        commands.append(f"astuner judge --conf {conf} --input {given} --output scored.jsonl")
    return [target], found.whys, commands


def _named(pairs: list[str]) -> dict[str, str]:
    """The pairs of `--map` as a mapping from role to column: `{"answer": "solution"}` for `solution=answer`."""
    ColumnMap(pairs)
    named = {role: column for column, _, role in (pair.partition("=") for pair in pairs)}
    if others := sorted(named.keys() - ROLES.keys()):
        raise ConfigError(f"init writes `reads` for {', '.join(ROLES)}, and not for {', '.join(others)}")
    return named


def _next_commands(kind: Starter, folder: Path) -> list[str]:
    enter = [] if folder == Path() else [f"cd {folder}"]
    judge = "astuner judge --conf judge.yaml --input rows.jsonl --output scored.jsonl"
    serve = {
        Starter.LLM: ["astuner llm serve    # in another terminal: a small model on this machine"],
        Starter.ENV: ["astuner env serve    # in another terminal: the reference environments"],
    }
    return [
        *enter,
        "pytest test_judge.py" + ("" if find_spec("pytest") else "    # once you have it: pip install pytest"),
        "astuner check --conf judge.yaml",
        *serve.get(kind, []),
        *([] if kind is Starter.ENV else [judge]),
    ]
