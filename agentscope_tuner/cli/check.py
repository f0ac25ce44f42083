"""`astuner check`: load the judge, and look at the data as it would, before a run costs GPU hours.

`check_tasks` reads tasks and rollouts without judging them, and lists the rows that could not be judged. `dry_run` puts
a row of a data set through a trainer's adapter with made completions; only those trainers are here whose adapter reads
rows without the trainer's package.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import islice
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import typer
from pydantic import ValidationError
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from agentscope_tuner.adapters import agentscope, areal, ms_swift, openrlhf, slime, verl
from agentscope_tuner.adapters.trl.functions import pairs_of
from agentscope_tuner.cli.console import Exit, cell, config_errors, counted, fail, out, printable, table
from agentscope_tuner.cli.options import Conf, Format, Json, Map, Overrides, conversion, mapped, source_lines
from agentscope_tuner.cli.rendering import judge_tree
from agentscope_tuner.config import SECTION, Settings, resolve
from agentscope_tuner.errors import ConfigError, JudgeError, input_error, reference_error
from agentscope_tuner.graders.rubrics.settings import auto_grader_config
from agentscope_tuner.records.formats.plain import plain_text
from agentscope_tuner.records.formats.sample import Prompt, first, is_chat, message_text, required
from agentscope_tuner.records.reader import Line, unread
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair
from agentscope_tuner.task_judge.contract.columns import QUESTIONS
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.task_judge.rm_auto_grader_judge import RubricTasks
from agentscope_tuner.workflow import Task, WorkflowOutput, first_problem

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
            report = check_tasks(conversion(settings, format_, map_, responses=False).all(lines), judge)
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
        print(json.dumps({"dataset": dataset, "trainer": trainer, "rows": [asdict(seen) for seen in found]}))
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
        raise ConfigError(f"{line.where}: {unread(f'no JSON: {exc}', line.raw)}") from None


def _judge(settings: Settings, *, rows_only: bool) -> tuple[ChecksTasks, str]:
    """The judge and its description. If only rows are checked and no rubrics are learned yet, the object that checks
    the rubrics' samples takes the judge's place.
    """
    section = settings.task_judge
    if rows_only and section.judge_type == "rubrics_auto_grader":
        grader, path = auto_grader_config(settings.whole)
        if not path.exists() and not grader.auto_learn:
            return RubricTasks(grader), f"no rubrics are learned yet ({path}): only the rows are checked"
    judge, notes = load_judge(settings), list[str]()
    read_by = type(judge.inner).__name__
    names = {each.__name__ for each in type(judge.inner).__mro__}
    for name in sorted(section.model_fields_set & _READ_BY.keys()):
        if names.isdisjoint(_READ_BY[name]):
            notes.append(f"note: {SECTION}.{name} is not read by {read_by}: it is for {_READ_BY[name][0]}")
    for kind in type(judge.inner).__mro__:
        for name, value in vars(kind).items():
            if isinstance(value, list | dict | set) and not value and not name.startswith("__"):
                what = f"{kind.__name__}.{name} is an empty {type(value).__name__} of the class, which all rows share"
                notes.append(f"note: {what}: no reward may hang on other rows, so make it in compute_reward")
    rules = counted(len(section.rules), "rule")
    loaded = f"loaded: {read_by}, {rules}, on_error: {section.on_error}"
    return judge, "\n".join([loaded, *notes, *map(printable, judge_tree(section)[1:])])


def _show(report: TaskReport, name: str, keys: Sequence[str]) -> None:
    failed = sum(report.counts.values())
    verdict = f"{failed:,} could not be judged" if failed else "every one can be judged"
    out.print(Text(f"{name}: {counted(report.rows, 'row')}, {counted(report.task_ids, 'task id')}, {verdict}"))
    if report.shown:
        out.print(_rows_shown(report, keys))
    if report.shown and all(output is None for _, _, output in report.shown):
        told = "note: the first rows have no response: training makes them, `astuner judge` needs a column `response`"
        out.print(Text(told, style="yellow"))
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
    found = table("as the judge reads them", "", *(_place(where) for where, _, _ in report.shown))
    tasks, outputs = [task for _, task, _ in report.shown], [output for _, _, output in report.shown]
    held = [key for key in keys if any(key in task.metadata for task in tasks)]
    # a judge that finds its reference under another name lacks nothing
    held = held or (list(keys[:1]) if report.counts else [])
    references = [(key, [plain_text(task.metadata.get(key, "–")) for task in tasks]) for key in held]
    given = ["–" if output is None else plain_text(output.metadata.get("final_answer", "–")) for output in outputs]
    questions = [task.main_query or plain_text(task.init_messages or "–") for task in tasks]
    for name, texts in (("question", questions), *references, ("response", given)):
        found.add_row(name, *(cell(_ends(text)) for text in texts))
    return found


def _place(where: str) -> str:
    """A row's position without the folders before it: `rows.jsonl:3` for `/a/b/rows.jsonl:3`, `rows/12` for
    `/a/rows/12`.
    """
    return "/".join(where.split("/")[-2 if where.rpartition("/")[2].isdecimal() else -1 :])


def _ends(text: str) -> str:
    """The text in one line, with `…` for its middle if it is long: references and answers state their result at the
    end.
    """
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS // 2]} … {line[-_SHOWN_CHARS // 2 :]}"


def _indented(text: str) -> Padding:
    return Padding(Text(text, overflow="fold"), (0, 0, 0, 2), expand=False)


_FIRST = 5
_SHOWN = 3
_MOST_KINDS = 50
_LONGEST_KIND, _LONGEST_PROBLEM = 40, 1_000
_LONGEST_KEPT = 200


#: Checks a judge's tasks: the judge itself, or, before rubrics are learned, the object that checks their samples.
ChecksTasks = TaskJudge | RubricTasks


class Finding(NamedTuple):
    """A row that could not be judged: `file:line`, the task's id, and the problem in words."""

    where: str
    task_id: str
    problem: str


@dataclass(slots=True)
class TaskReport:
    """The findings.

    Attributes:
        rows: how many rows were read, valid or not.
        task_ids: how many different task ids they have.
        counts: how many rows have a problem of each kind; a row counts once.
        first: the first rows of each kind.
        shown: the first rows as the judge reads them: where, the task and the output.
        notes: what the judge says about rows that it can judge, each with its number of rows.
    """

    rows: int = 0
    task_ids: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, list[Finding]] = field(default_factory=dict)
    shown: list[tuple[str, Task, WorkflowOutput | None]] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    def look_at(self, line: Line, task: Task, output: WorkflowOutput | None, judge: ChecksTasks) -> None:
        """Keep one of the first rows to show, and count what the judge says about it."""
        if len(self.shown) < _SHOWN:
            self.shown.append((line.where, task, output))
        self.notes.update(judge.row_notes(task, output))

    def add(self, finding: Finding) -> None:
        """Count a row under the kind of its problem: the words before the first colon."""
        kind = finding.problem.partition(":")[0].strip()[:_LONGEST_KIND] or "problem"
        # A check that puts the row's values before the colon would make every row a kind of its own
        if kind not in self.counts and len(self.counts) >= _MOST_KINDS:
            kind = "other"
        self.counts[kind] = self.counts.get(kind, 0) + 1
        places = self.first.setdefault(kind, [])
        if len(places) < _FIRST:
            places.append(finding._replace(problem=finding.problem[:_LONGEST_PROBLEM]))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        problems = [
            {"kind": kind, "rows": count, "first": [finding._asdict() for finding in self.first[kind]]}
            for kind, count in self.counts.items()
        ]
        return {"rows": self.rows, "task_ids": self.task_ids, "problems": problems, "notes": dict(self.notes)}


def check_tasks(lines: Iterable[Line], judge: ChecksTasks) -> TaskReport:
    """Check every row: tasks, or rollouts with a `task` and perhaps an `output`.

    Args:
        lines: the rows.
        judge: the judge, or an object that checks its tasks.

    Memory stays flat over any number of rows: the first reference of each task id is kept in a temporary database on
    disk, about 60 bytes for each id and its reference.
    """
    report = TaskReport()
    with closing(_FirstReferences()) as references:
        for line in lines:
            report.rows += 1
            for finding in _findings(line, judge, references, report):
                report.add(finding)
        report.task_ids = references.count
    return report


def _findings(line: Line, judge: ChecksTasks, references: _FirstReferences, report: TaskReport) -> Iterator[Finding]:
    row = _read(line)
    if isinstance(row, str):
        yield Finding(line.where, "", f"unreadable row: {row}")
        return
    task, output = row
    try:
        task = judge.read(task) if isinstance(judge, TaskJudge) else task
        problem = judge.check_task(task, output)
        report.look_at(line, task, output, judge)
    except JudgeError as exc:
        problem = f"missing: {exc.message}"
    except Exception as exc:  # noqa: BLE001 - a user's check may fail in any way: its row is listed, the others are read
        problem = f"check_task raised: {type(exc).__name__}: {exc}"
    if task.task_id:
        given = task.metadata if output is None else {**output.metadata, **task.metadata}
        # A row that cannot be judged cannot contradict another row
        reference = None if problem else {key: given.get(key) for key in judge.reference_keys}
        contradiction = _contradiction(references, task.task_id, reference, line.where, judge)
        problem = problem or contradiction
    if problem is not None:
        yield Finding(line.where, task.task_id, problem)


def _read(line: Line) -> tuple[Task, WorkflowOutput | None] | str:
    """The task of a row and its output, or why it cannot be read."""
    if line.problem is not None:
        return line.problem
    try:
        row = json.loads(line.raw)
        if not isinstance(row, dict):
            return f"a row must be an object, got {type(row).__name__}"
        task = Task.model_validate(row["task"] if isinstance(row.get("task"), dict) else row)
        output = WorkflowOutput.model_validate(row["output"]) if row.get("output") is not None else None
    except ValidationError as exc:
        return first_problem(exc)
    except (ValueError, RecursionError) as exc:
        return unread(str(exc), line.raw)
    return task, output


_TEMPORARY = """
PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA temp_store=FILE; PRAGMA cache_size=-8192;
CREATE TABLE first (id INTEGER PRIMARY KEY, reference TEXT, place TEXT);
BEGIN;
"""
_NOTE = """INSERT INTO first VALUES (?, ?, ?) ON CONFLICT (id)
DO UPDATE SET reference = excluded.reference, place = excluded.place WHERE reference IS NULL"""
_NOTED = "SELECT reference, place FROM first WHERE id = ?"


class _FirstReferences:
    """The first reference of each task id, on disk."""

    def __init__(self) -> None:
        # An empty name makes a temporary database: SQLite keeps it in a file when it outgrows its cache, and deletes it
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_TEMPORARY)

    @property
    def count(self) -> int:
        """The number of task ids."""
        return int(self._database.execute("SELECT count(*) FROM first").fetchone()[0])

    def noted(self, task_id: str, reference: str | None, place: str) -> tuple[str | None, str]:
        """The first reference that was noted for a task id, and its place; the given reference is noted if it is the
        first one.
        """
        digest = hashlib.blake2b(task_id.encode("utf-8", "replace"), digest_size=8).digest()
        key = int.from_bytes(digest, "big", signed=True)
        self._database.execute(_NOTE, (key, reference, place))
        found: tuple[str | None, str] = self._database.execute(_NOTED, (key,)).fetchone()
        return found

    def close(self) -> None:
        """Delete the database."""
        self._database.close()


def _contradiction(
    references: _FirstReferences, task_id: str, reference: Mapping[str, Any] | None, where: str, judge: ChecksTasks
) -> str | None:
    """The problem of a row whose task id has another reference in an earlier row."""
    text = json.dumps(reference, default=str, sort_keys=True)
    kept = text if len(text) <= _LONGEST_KEPT else hashlib.blake2b(text.encode("utf-8", "replace")).hexdigest()
    first, place = references.noted(task_id, None if reference is None else kept, where.rpartition(":")[2])
    if reference is None or first is None or first == kept:
        return None
    whole = first.startswith("{")
    if whole and judge.same_reference(json.loads(first), reference):
        return None
    return f"contradiction: {_short(text)} here, {_short(first) if whole else 'another'} in line {place}"


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:80]}… ({len(text)} characters)"


Row = Mapping[str, Any]


@dataclass(frozen=True)
class RowSeen:
    """A row after a trainer's adapter: the judge's question and reference, and the rewards that the trainer would get.

    Attributes:
        question: the judge's question; empty where the adapter finds none.
        reference: the judge's reference as it is given; None where there is none.
        gets: for each completion, such as `boxed`, the reward that the trainer would get, or why it would get none.
        failed: whether some completion has no verdict.
    """

    question: str
    reference: Any
    gets: Mapping[str, float | str]
    failed: bool


def dry_run(judge: ConfiguredJudge, trainer: str, row: Row) -> RowSeen:
    """Put a row through the adapter of `trainer`, with three completions: its reference in a box, its reference alone,
    and an empty text.
    """
    try:
        task, _ = TRAINERS[trainer](row, "")
        seen = judge.read(task.task)
    except JudgeError as error:
        return RowSeen("", None, {"any": f"{error.message}{_renamed(row, error, trainer)}"}, True)
    reference = seen.metadata.get("answer")
    said = {"boxed": f"\\boxed{{{reference}}}", "alone": f"{reference}", "empty": ""}
    pairs = [TRAINERS[trainer](row, text) for text in said.values()]
    if judge.listwise and trainer in _GROUPS:
        found = judge.judge_group(pairs)
    else:
        found = [judge.judge(*pair) for pair in pairs]
    gets = {name: _gets(judge, judgement) for name, judgement in zip(said, found, strict=True)}
    return RowSeen(seen.main_query, reference, gets, any(isinstance(got, str) for got in gets.values()))


def _renamed(row: Row, error: JudgeError, trainer: str) -> str:
    """The end of the message: how to rename the question's column to `prompt` if the trainer reads this name alone,
    else that the trainer needs what is missing, too. Empty if the row lacks no column.
    """
    if not error.message.startswith("the row"):
        return ""
    held = next((name for name in QUESTIONS if row.get(name) is not None), None)
    if held is None or "no prompt" not in error.message:
        return f"; {trainer} needs it, too"
    return f", which {trainer} asks for by this name: rename the column, `dataset.rename_column({held!r}, 'prompt')`"


def _gets(judge: ConfiguredJudge, judgement: Judgement) -> float | str:
    try:
        return judge.reward_or_raise(judgement)
    except JudgeError as error:
        return judgement.reason if judgement.status == "failed" else error.message


def _asked(row: Row, *names: str) -> Prompt:
    name, value = first(row, *names)
    if not isinstance(value, str) and not is_chat(value):
        raise input_error(f"{name} must be a text or chat messages, got {value!r:.100}")
    return value  # type: ignore[no-any-return]


def _trl(row: Row, said: str) -> Pair:
    prompt = _asked(row, "prompt")
    columns = {name: [value] for name, value in row.items() if name not in ("prompt", "completion")}
    completion: Prompt = said if isinstance(prompt, str) else [{"role": "assistant", "content": said}]
    return pairs_of([prompt], [completion], columns)[0]


def _verl(row: Row, said: str) -> Pair:
    model = required(row, "reward_model")
    if not isinstance(model, Mapping) or "ground_truth" not in model:
        raise reference_error(f"verl reads reward_model.ground_truth, got {model!r:.100}")
    extra = row.get("extra_info") or {}
    if not isinstance(extra, Mapping):
        raise input_error(f"extra_info must be a mapping, got {extra!r:.100}")
    info = {**extra, "raw_prompt": required(row, "prompt"), "num_turns": 2}
    return verl.pair_of(str(required(row, "data_source")), said, model["ground_truth"], info)


def _openrlhf(row: Row, said: str) -> Pair:
    prompt = _asked(row, "input", "prompt", "question")
    text = prompt if isinstance(prompt, str) else message_text(prompt[-1].get("content"))
    label = first(row, "label", "answer", "ground_truth")[1]
    return openrlhf.decode_request({"query": [text + said], "prompts": [text], "labels": [label]})


def _slime(row: Row, said: str) -> Pair:
    sample = {"prompt": _asked(row, "prompt", "input", "text"), "label": row.get("label")}
    return slime.as_pair(SimpleNamespace(**sample, response=said, metadata=row.get("metadata") or {}))


def _ms_swift(row: Row, said: str) -> Pair:
    messages = _asked(row, "messages")
    if isinstance(messages, str):
        raise input_error(f"messages must be chat messages, got {messages!r:.100}")
    return ms_swift.pair_of(said, {**row, "messages": [*messages, {"role": "assistant", "content": said}]})


def _areal(row: Row, said: str) -> Pair:
    asked = _asked(row, "messages", "prompt", "question")
    if not isinstance(asked, str) and row.get("messages") is None:
        raise input_error("AReaL reads chat messages from the column 'messages': rename it")
    return areal.pair_of(asked if isinstance(asked, str) else "", said, dict(row))


#: By trainer: a row of its data set and a completion, as its adapter hands them to the judge.
TRAINERS: Mapping[str, Callable[[Row, str], Pair]] = {
    "trl": _trl,
    "verl": _verl,
    "openrlhf": _openrlhf,
    "slime": _slime,
    "ms-swift": _ms_swift,
    "areal": _areal,
    "agentscope": agentscope.as_pair,
}
# Those that hand over whole groups; in verl the reward manager does
_GROUPS = frozenset({"trl", "verl", "slime", "ms-swift"})
