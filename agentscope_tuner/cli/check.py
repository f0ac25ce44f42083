"""`astuner check`: load the judge, and look at the data as it would, before a run costs GPU hours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from agentscope_tuner.cli.console import cell, config_errors, counted, fail, out, printable, table
from agentscope_tuner.cli.exit_codes import Exit
from agentscope_tuner.cli.options import Conf, Format, Json, Map, Overrides, conversion, mapped, source_lines
from agentscope_tuner.cli.rendering import judge_tree
from agentscope_tuner.config import SECTION, Settings, resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.graders.rubrics.settings import auto_grader_config
from agentscope_tuner.records.formats.plain import plain_text
from agentscope_tuner.records.reader import Line, way_out
from agentscope_tuner.records.task_check import ChecksTasks, TaskReport, check_tasks
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.task_judge.rm_auto_grader_judge import RubricTasks

_SHOWN_CHARS = 80
# Sections for one kind of judge; a configuration may hold them beside another judge
_READ_BY = {"math": ("MathAnswerAsJudge", "VerifierJudge"), "code": ("CodeJudge",)}
# Rows that --trainer shows
_ROWS = 8
_TRAINER = "Put eight rows of --dataset through this trainer's adapter, with three made-up completions each."
_DATASET = "The trainer's data set, as JSON lines or Parquet."
_INPUT = "Tasks or rollouts to read in the same way as the judge, as a file of rows; - reads standard input."


def check(
    conf: Conf,
    overrides: Overrides = None,
    input_: Annotated[str | None, typer.Option("--input", help=_INPUT)] = None,
    format_: Format = None,
    map_: Map = None,
    trainer: Annotated[str | None, typer.Option("--trainer", help=_TRAINER)] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help=_DATASET)] = None,
    as_json: Json = False,
) -> None:
    """Load the judge and read the rows, without judging them. Exit code 0: training can use both.

    2: the configuration is wrong; every problem is listed. 3: some rows of --input could not be judged; the first of
    each kind are listed. With --trainer and --dataset, the judge also judges three made-up completions for each of
    eight rows.
    """
    if trainer is not None or dataset is not None:
        if input_ is not None or format_ or map_:
            raise fail("--trainer reads the rows of --dataset: leave out --input, --format and --map")
        _through_trainer(conf, overrides, trainer, dataset, as_json=as_json)
        return
    if input_ is None and (format_ or map_):
        raise fail("--format and --map are about the rows of --input: name a file there")
    with config_errors():
        settings = mapped(conf, overrides, map_)
        judge, loaded = _judge(settings, rows_only=input_ is not None)
        if not as_json:
            out.print(Text(loaded), soft_wrap=True)
        if input_ is None:
            if as_json:
                print(json.dumps({"judge": loaded}))
            return
        with source_lines(input_) as (lines, name):
            rows = conversion(settings, format_, map_, responses=False).all(lines)
            report = check_tasks(rows, judge, judge.read if isinstance(judge, TaskJudge) else lambda task: task)
        if not report.rows:
            raise ConfigError(f"{input_!r} holds no row")
    if as_json:
        print(json.dumps({"input": input_, **report.to_dict()}))
    else:
        _show(report, name, judge.reference_keys)
    if report.counts:
        raise typer.Exit(Exit.ROWS_FAILED)


def _through_trainer(
    conf: str, overrides: list[str] | None, trainer: str | None, dataset: str | None, *, as_json: bool
) -> None:
    from agentscope_tuner.adapters._dry_run import TRAINERS, RowSeen, dry_run
    from agentscope_tuner.task_judge.batch import ConfiguredJudge

    if trainer is None or dataset is None or trainer not in TRAINERS:
        raise fail(f"--trainer takes one of {', '.join(TRAINERS)}, beside --dataset ROWS; got {trainer!r}, {dataset!r}")
    with config_errors():
        judge = ConfiguredJudge(resolve(conf, overrides or ()), logs=False)
        with source_lines(dataset) as (lines, name):
            rows = [_json_of(line) for line in islice(lines, _ROWS)]
        if not rows or not all(isinstance(row, dict) for row in rows):
            raise ConfigError(f"{dataset!r} holds no rows of a data set: JSON objects, one a line, or Parquet")
    found: list[RowSeen] = [dry_run(judge, trainer, row) for row in rows]
    if as_json:
        print(json.dumps({"dataset": dataset, "trainer": trainer, "rows": [seen.to_dict() for seen in found]}))
    else:
        shown = table(f"{name} in {trainer}", "question", "reference", "completion", "the trainer gets")
        for seen in found:
            beside = [_ends(seen.question or "none"), _ends("none" if seen.reference is None else repr(seen.reference))]
            told = ""
            for said, got in seen.gets.items():
                what = f"{got}" if isinstance(got, float) else f"no verdict: {got}"
                shown.add_row(*map(cell, (*beside, said, "the same" if what == told else what)))
                beside, told = ["", ""], "" if isinstance(got, float) else what
        out.print(shown)
    if any(seen.failed for seen in found):
        raise typer.Exit(Exit.ROWS_FAILED)


def _json_of(line: Line) -> Any:
    if line.problem is not None:
        raise ConfigError(f"{line.where}: {line.problem}")
    try:
        return json.loads(line.raw)
    except (ValueError, RecursionError) as exc:
        raise ConfigError(f"{line.where}: no JSON: {exc}{way_out(line.raw)}") from None


def _judge(settings: Settings, *, rows_only: bool) -> tuple[ChecksTasks, str]:
    """The judge and its description; where no rubrics are learned yet, the object that knows their samples."""
    section = settings.task_judge
    if rows_only and section.judge_type == "rubrics_auto_grader":
        grader, path = auto_grader_config(settings.whole)
        if not path.exists() and not grader.auto_learn:
            return RubricTasks(grader), f"no rubrics are learned yet ({path}): only the rows are checked"
    judge, notes = load_judge(settings), list[str]()
    names = {each.__name__ for each in type(judge.inner).__mro__}
    for name in sorted(section.model_fields_set & _READ_BY.keys()):
        if names.isdisjoint(_READ_BY[name]):
            notes.append(
                f"note: {SECTION}.{name} is not read by {type(judge.inner).__name__}: it is for {_READ_BY[name][0]}"
            )
    rules = counted(len(section.rules), "rule")
    first = f"loaded: {type(judge.inner).__name__}, {rules}, on_error: {section.on_error}"
    return judge, "\n".join([first, *notes, *map(printable, judge_tree(section)[1:])])


def _show(report: TaskReport, name: str, keys: Sequence[str]) -> None:
    failed = sum(report.counts.values())
    verdict = f"{failed:,} could not be judged" if failed else "every one can be judged"
    out.print(Text(f"{name}: {counted(report.rows, 'row')}, {counted(report.task_ids, 'task id')}, {verdict}"))
    if report.shown:
        out.print(_rows_shown(report, keys))
    for note, count in report.notes.most_common():
        out.print(Text(f"note: {count:,} of {report.rows:,} rows: {printable(note)}", style="yellow"), soft_wrap=True)
    for kind, count in report.counts.items():
        out.print(Text.assemble((printable(kind), "bold red"), f": {count:,} row{'s' if count > 1 else ''}"))
        for finding in report.first[kind]:
            named = f" {finding.task_id!r}" if finding.task_id else ""
            said = finding.problem.partition(":")[2].strip() or finding.problem
            # Text: references are quoted, and their brackets are not markup
            out.print(_indented(printable(f"{finding.where}{named}: {said}")))
        if count > len(report.first[kind]):
            out.print(_indented(f"… and {count - len(report.first[kind]):,} more"))


def _rows_shown(report: TaskReport, keys: Sequence[str]) -> Table:
    """The first rows side by side, as the judge reads them."""
    found = table("as the judge reads them", "", *(where.rpartition("/")[2] for where, _, _ in report.shown))
    tasks, outputs = [task for _, task, _ in report.shown], [output for _, _, output in report.shown]
    held = [key for key in keys if any(key in task.metadata for task in tasks)] or keys[:1]
    references = [(key, [plain_text(task.metadata.get(key, "–")) for task in tasks]) for key in held]
    given = ["–" if output is None else plain_text(output.metadata.get("final_answer", "–")) for output in outputs]
    questions = [task.main_query or plain_text(task.init_messages or "–") for task in tasks]
    for name, texts in (("question", questions), *references, ("response", given)):
        found.add_row(name, *(cell(_ends(text)) for text in texts))
    return found


def _ends(text: str) -> str:
    """A text's beginning and end, in one line: what a reference or an answer says stands at its end."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS // 2]} … {line[-_SHOWN_CHARS // 2 :]}"


def _indented(text: str) -> Padding:
    return Padding(Text(text, overflow="fold"), (0, 0, 0, 2), expand=False)
