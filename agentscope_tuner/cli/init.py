"""`astuner init`: writes a first configuration, rows for it and a test."""

from __future__ import annotations

import shlex
from enum import StrEnum
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from agentscope_tuner.cli.console import config_errors, fail, say
from agentscope_tuner.cli.from_rows import look
from agentscope_tuner.cli.options import source_lines


class Starter(StrEnum):
    """The judge to start with; each has a commented configuration under `agentscope_tuner/cli/starters`."""

    MATH = "math"
    COUNTDOWN = "countdown"
    CODE = "code"
    LLM = "llm"
    ENV = "env"
    CUSTOM = "custom"


# Judges that need no model or environment share a test, which compares their verdicts with the rows' labels
_FILES: dict[Starter, tuple[str, ...]] = {
    Starter.MATH: ("math/judge.yaml", "math/rows.jsonl", "labelled/test_judge.py"),
    Starter.COUNTDOWN: ("countdown/judge.yaml", "countdown/rows.jsonl", "labelled/test_judge.py"),
    Starter.CODE: ("code/judge.yaml", "code/rows.jsonl", "labelled/test_judge.py"),
    Starter.LLM: ("llm/judge.yaml", "llm/rows.jsonl", "llm/test_judge.py"),
    Starter.ENV: ("env/judge.yaml", "env/test_judge.py"),
    Starter.CUSTOM: ("custom/judge.yaml", "custom/my_judge.py", "custom/rows.jsonl", "labelled/test_judge.py"),
}


_FROM = "Your rows, with or without responses: math writes the configuration that reads them, and says why."


def init(
    kind: Annotated[Starter, typer.Argument(help="What judges.")],
    folder: Annotated[Path, typer.Argument(help="Where the files go; made when it is not there.")] = Path(),
    from_: Annotated[str | None, typer.Option("--from", help=_FROM, metavar="ROWS")] = None,
) -> None:
    """Write a configuration, rows to judge and a test; or, with --from, the configuration that reads your rows.

    The next commands are printed. No file is written over.
    """
    if from_ is not None:
        _init_from(kind, folder, from_)
        return
    sources = [files("agentscope_tuner").joinpath("cli", "starters", name) for name in _FILES[kind]]
    taken = [folder / source.name for source in sources if (folder / source.name).exists()]
    if taken:
        raise fail(f"{str(taken[0])!r} is there already: name another folder, as `astuner init {kind} my_judge` does")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources:
            (folder / source.name).write_bytes(source.read_bytes())
    except OSError as exc:
        raise fail(f"cannot write to {str(folder)!r}: {exc}") from exc
    say("wrote " + ", ".join(str(folder / source.name) for source in sources))
    say("\n  ".join(["\nNext:", *_next_commands(kind, folder)]))


def _init_from(kind: Starter, folder: Path, rows: str) -> None:
    if kind is not Starter.MATH:
        raise fail(f"--from looks at rows of math, got {kind}: `astuner init {kind}` writes a configuration to fill in")
    target = folder / "judge.yaml"
    if target.exists():
        raise fail(
            f"{str(target)!r} is there already: name another folder, as `astuner init math my_judge --from …` does"
        )
    with config_errors(), source_lines(rows) as (lines, name):
        found = look(lines)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        target.write_text(found.yaml(name), encoding="utf-8")
    except OSError as exc:
        raise fail(f"cannot write to {str(folder)!r}: {exc}") from exc
    say(f"wrote {target}")
    for why in found.whys:
        say(f"  {why}")
    conf, given = shlex.quote(str(target)), shlex.quote(rows)
    commands = [f"astuner check --conf {conf} --input {given}"]
    if found.responses:
        commands.append(f"astuner judge --conf {conf} --input {given} --output scored.jsonl")
    say("\n  ".join(["\nNext:", *commands]))


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
