"""`astuner demo`: the rollouts that ship with the package, judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from agentscope_tuner.cli.console import fail, out, say
from agentscope_tuner.cli.judge import RowsAsked, judge_file

_ABOUT = """\
What a language model of 135 million parameters wrote, unedited: 264 answers to math problems and 240 to the countdown
game; then two rows made by hand, one that a rule refuses and one that cannot be judged."""
_NEXT = """
Next:
  astuner explain --reference '\\frac{{1}}{{2}}' --answer '0.5'    # how two answers are compared, stage by stage
  astuner init math my_judge                                # a configuration, rows and a test to begin with
  astuner judge --conf my_judge/judge.yaml --input my_judge/rows.jsonl --output scored.jsonl

Every verdict with its reason:   {folder}/math.jsonl, {folder}/countdown.jsonl
The same, to open in a browser:  {folder}/math.html"""

# The shipped files, each with the starter of its judge
_JUDGES = {"math": "math", "countdown": "countdown", "made": "math"}
_REPORT = "math.html"
_REPORT_MARK = b'content="astuner report"'


def demo(
    folder: Annotated[Path, typer.Option("--output", help="The folder that the verdicts are written to.")] = Path(
        "out"
    ),
) -> None:
    """Judge the rollouts that ship with the package: right, wrong, filtered and failed ones, each with its reason."""
    # Imported here: the report needs a database, whose import would slow other commands
    from agentscope_tuner.lab.labels import beside
    from agentscope_tuner.lab.view.report import write_report

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise fail(f"cannot write to {str(folder)!r}: {exc}") from exc
    shipped = files("agentscope_tuner")
    rollouts = {name: shipped.joinpath("lab", "demo_rollouts", f"{name}.jsonl").read_bytes() for name in _JUDGES}
    _keep_what_is_not_ours(folder, rollouts)
    out.print(_ABOUT, soft_wrap=True, markup=False)
    out.print(f"Writing {', '.join(f'{name}.jsonl' for name in _JUDGES)} and {_REPORT} to {folder}/", markup=False)
    for name, judge in _JUDGES.items():
        starter = shipped.joinpath("cli", "starters", judge, "judge.yaml")
        rows = shipped.joinpath("lab", "demo_rollouts", f"{name}.jsonl")
        with as_file(starter) as conf, as_file(rows) as input_:
            asked = RowsAsked(str(conf), (), str(input_))
            out.print()
            judge_file(asked, str(folder / f"{name}.jsonl"), resume=False, jobs=1, strict=False)
    scored, page = folder / "math.jsonl", folder / _REPORT
    write_report(scored, page, labels=beside(scored, "labels"), limit=1_000)
    say(_NEXT.format(folder=folder))


def _keep_what_is_not_ours(folder: Path, rollouts: Mapping[str, bytes]) -> None:
    """Refuse a folder in which the demo would overwrite a file that no demo wrote."""
    theirs = [folder / f"{name}.jsonl" for name, rows in rollouts.items() if not _is_ours(folder, name, rows)]
    report = folder / _REPORT
    if report.exists() and _REPORT_MARK not in _beginning(report):
        theirs.append(report)
    if theirs:
        named = ", ".join(repr(str(path)) for path in theirs)
        raise fail(f"not written by a demo: {named}; name another folder with --output, or move it away")


def _is_ours(folder: Path, name: str, rows: bytes) -> bool:
    """Whether `<name>.jsonl` is missing, or was made by a demo: its first row is the first of the shipped `rows`."""
    path = folder / f"{name}.jsonl"
    if not path.exists():
        return True
    try:
        first, shipped = json.loads(_beginning(path).partition(b"\n")[0]), json.loads(rows.partition(b"\n")[0])
    except ValueError:
        return False
    return isinstance(first, dict) and {**first, **shipped} == first


def _beginning(path: Path) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(64 * 1024)
    except OSError as exc:
        raise fail(f"cannot write to {str(path)!r}: {exc}") from exc
