"""`astuner view` and `astuner report`: rollouts and their verdicts, as a page; and `astuner demo`, which judges the
rollouts that ship with the package.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console

from agentscope_tuner.cli.console import config_errors, fail, out, say
from agentscope_tuner.cli.judge import RowsAsked, judge_file
from agentscope_tuner.cli.options import Format, Json, Map, Port, listen, rollout_lines, source_lines
from agentscope_tuner.cli.rendering import row_tree
from agentscope_tuner.config import resolve
from agentscope_tuner.errors import importing, told
from agentscope_tuner.lab.growing_files import files_of
from agentscope_tuner.lab.labels import beside
from agentscope_tuner.records.reader import Line, object_in
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Rollout

Scored = Annotated[Path, typer.Argument(help="What `astuner judge --output` writes, or a folder of such files.")]
_OTHERS = "Other runs, shown beside the first."
_LIMIT = "The most rows in the report; if there are more, whole groups are taken at even distances."
_MORE = "Other runs, shown beside the first; and key=value, which overrides the YAML of --conf."
_LABELS = "The file of people's labels."
Labels = Annotated[Path | None, typer.Option("--labels", help=_LABELS, show_default="SCORED.labels.jsonl")]
_EARLIER = "An earlier output for the same rows; changed verdicts come first."
Earlier = Annotated[Path | None, typer.Option("--compare", help=_EARLIER)]


def view(
    scored: Scored,
    more: Annotated[list[str] | None, typer.Argument(metavar="[RUN|KEY=VALUE]...", help=_MORE)] = None,
    conf: Annotated[str | None, typer.Option(help="The YAML of the judge for `explain`.", metavar="FILE")] = None,
    labels: Labels = None,
    compare: Earlier = None,
    format_: Format = None,
    map_: Map = None,
    port: Port = 0,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = False,
) -> None:
    """Look at rollouts and verdicts in the browser, live while a run writes them. Ends with Ctrl-C.

    The page is served on 127.0.0.1 alone, to whoever has the token in the printed address, and loads nothing from any
    network. With --format or --map, rows that are written after the start are not shown.
    """
    others, overrides = _runs(more or [], conf)
    _check(scored, compare, *others, may_come=True)
    if not (format_ or map_):
        _check_rows(scored)
    with config_errors(), importing("astuner view needs the extra 'view'", "view"):
        import uvicorn  # noqa: F401 - the server imports it when it starts, which is too late to say so

        from agentscope_tuner.lab.view.server import ViewSession, serve_view
    with config_errors():
        explain = None if conf is None else _explainer(load_judge(resolve(conf, overrides)))

    def announce(address: str) -> None:
        # Plain and flushed: scripts read the address from this line
        print(f"view of {scored} at {address}", flush=True)
        if open_:
            typer.launch(address)

    with config_errors():
        known = labels or beside(scored, "labels")
        session = ViewSession(scored, known, earlier=compare, others=others, explain=explain, read=_read(format_, map_))
        serve_view(session, listen("127.0.0.1", port), announce=announce)


def _runs(more: list[str], conf: str | None) -> tuple[list[Path], list[str]]:
    """The arguments behind the first run, in two lists: paths of other runs, and overrides such as
    `astuner.task_judge.rule_reward=-0.5`.
    """
    overrides = [text for text in more if "=" in text and not Path(text).exists()]
    if overrides and conf is None:
        raise fail(f"{overrides[0]!r} overrides the YAML that --conf names, and none is named")
    return [Path(text) for text in more if text not in overrides], overrides


def _explainer(judge: TaskJudge) -> Callable[[list[Any], int], str]:
    """A function that gives the output of `astuner explain` for a row, as text."""

    def explain(rows: list[Any], place: int) -> str:
        try:
            group = [Rollout.model_validate(row) for row in (rows if judge.traits.ranks else rows[place : place + 1])]
        except ValidationError as exc:
            return f"this row is no rollout: {exc.errors(include_url=False)[0]['msg']}"
        text = io.StringIO()
        Console(file=text, width=110, color_system=None).print(row_tree(judge, group, place if len(group) > 1 else 0))
        return text.getvalue()

    return explain


def _read(format_: str | None, pairs: list[str] | None) -> Callable[[str], Iterator[Line]] | None:
    """A function that reads the rows of a path in the form that --format or --map describes; None if
    neither is given.
    """
    if not (format_ or pairs):
        return None

    def read(source: str) -> Iterator[Line]:
        with source_lines(source) as (lines, _):
            yield from rollout_lines(lines, format_, pairs)

    return read


def report(
    scored: Scored,
    others: Annotated[list[Path] | None, typer.Argument(metavar="[RUN]...", help=_OTHERS)] = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file for the report.")],
    labels: Labels = None,
    compare: Earlier = None,
    format_: Format = None,
    map_: Map = None,
    limit: Annotated[int, typer.Option(help=_LIMIT, min=1)] = 10_000,
    as_json: Json = False,
) -> None:
    """Write the page of `astuner view` as one file, which opens from disk and can be mailed."""
    from agentscope_tuner.lab.view.report import write_report

    _check(scored, compare, *(others or ()), may_come=False)
    for folder in (path for path in (scored, compare, *(others or ())) if path is not None and path.is_dir()):
        if not (format_ or map_ or files_of(folder)):
            raise fail(f"the folder {str(folder)!r} holds no .jsonl file: name a file of it, or judge into it")
    if output.is_dir():
        raise fail(f"--output {str(output)!r} is a folder: name a file, such as {str(output / 'report.html')!r}")
    if output.exists() and not output.is_file():
        # the page is renamed to its name, and would stand in the place of a device such as /dev/stdout
        raise fail(f"--output {str(output)!r} must be a regular file")
    with told("cannot write the report", OSError, to=fail), config_errors():
        known = labels or beside(scored, "labels")
        read, beside_it = _read(format_, map_), others or ()
        written = write_report(scored, output, labels=known, earlier=compare, others=beside_it, limit=limit, read=read)
    if as_json:
        print(json.dumps({"output": str(output), **written}))
        return
    of = "" if written["shown"] == written["rows"] else f" of {written['rows']}"
    say(f"{written['shown']} rows{of}, {written['bytes'] / 1e6:.1f} MB: {output}")


def _check_rows(scored: Path) -> None:
    if scored.is_file():
        with scored.open("rb") as file:
            start = file.read(1_000).removeprefix(b"\xef\xbb\xbf").lstrip()
        if start and not start.startswith(b"{"):
            raise fail(f"{str(scored)!r} holds no JSON lines: name what `astuner judge --output` wrote as .jsonl")


def _check(scored: Path, *beside_it: Path | None, may_come: bool) -> None:
    """Refuse pipes and missing files. Only `scored` may be missing, if `may_come` and its folder exists: its run may
    not have written a row yet.
    """
    for path in [path for path in (scored, *beside_it) if path is not None and path.is_fifo()]:
        raise fail(f"{str(path)!r} is a pipe, and the page reads its rows again: write them to a file first")
    for path in [path for path in (scored, *beside_it) if path is not None and not path.exists()]:
        partial = path.with_name(f"{path.name}.partial").exists()
        if not (partial or (may_come and path is scored and path.parent.is_dir())):
            raise fail(f"there is no file {str(path)!r}: name what `astuner judge --output` wrote")
        if not partial:
            # Not on stdout, whose first line scripts read
            typer.echo(f"note: there is no file {str(path)!r} yet: its rows are shown once it is written", err=True)


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
    folder: Annotated[Path, typer.Option("--output", help="The folder for the verdicts.")] = Path("out"),
) -> None:
    """Judge the rollouts that ship with the package: right, wrong, filtered and failed ones, each with its reason."""
    # Imported here: the report needs a database, whose import would slow other commands
    from agentscope_tuner.lab.labels import beside
    from agentscope_tuner.lab.view.report import write_report

    with config_errors(), told(f"cannot write to {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
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
    first, shipped = (object_in(lines.partition(b"\n")[0]) for lines in (_beginning(path), rows))
    return first is not None and shipped is not None and shipped.items() <= first.items()


def _beginning(path: Path) -> bytes:
    with config_errors(), told(f"cannot write to {str(path)!r}"), open(path, "rb") as stream:
        return stream.read(64 * 1024)
