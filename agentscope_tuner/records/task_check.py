"""Reads tasks and rollouts as their judge would, without judging them, and lists the rows that could not be judged."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

from pydantic import ValidationError

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.records.reader import Line, way_out
from agentscope_tuner.workflow import Task, WorkflowOutput, first_problem

_FIRST = 5
_SHOWN = 3
_MOST_KINDS = 50
_LONGEST_KIND, _LONGEST_PROBLEM = 40, 1_000
_LONGEST_KEPT = 200


class ChecksTasks(Protocol):
    """The methods of a judge that are used here; see `BaseJudge`."""

    @property
    def reference_keys(self) -> tuple[str, ...]: ...

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None: ...

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool: ...

    def row_notes(self, task: Task, output: WorkflowOutput | None = None) -> list[str]: ...


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


def check_tasks(
    lines: Iterable[Line], judge: ChecksTasks, read: Callable[[Task], Task] = lambda task: task
) -> TaskReport:
    """Check every row: tasks, or rollouts with a `task` and perhaps an `output`.

    Args:
        lines: the rows.
        judge: the judge, or what knows its tasks.
        read: gives the task as the judge reads it.

    Memory stays flat over any number of rows: the first reference of each task id is kept in a temporary database on
    disk, about 60 bytes for each id and its reference.
    """
    report = TaskReport()
    with closing(_FirstReferences()) as references:
        for line in lines:
            report.rows += 1
            for finding in _findings(line, judge, references, read, report):
                report.add(finding)
        report.task_ids = references.count
    return report


def _findings(
    line: Line, judge: ChecksTasks, references: _FirstReferences, read: Callable[[Task], Task], report: TaskReport
) -> Iterator[Finding]:
    row = _read(line)
    if isinstance(row, str):
        yield Finding(line.where, "", f"unreadable row: {row}")
        return
    task, output = row
    try:
        task = read(task)
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
        return f"{exc}{way_out(line.raw)}"
    return task, output


class _FirstReferences:
    """The first reference of each task id, on disk."""

    _CACHE_KIB: ClassVar[int] = 8_192

    def __init__(self) -> None:
        # An empty name makes a temporary database: SQLite keeps it in a file when it outgrows its cache, and deletes it
        self._database = sqlite3.connect("", isolation_level=None)
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "temp_store=FILE", f"cache_size=-{self._CACHE_KIB}"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.execute("CREATE TABLE first (id INTEGER PRIMARY KEY, reference TEXT, place TEXT)")
        self._database.execute("BEGIN")
        self.count = 0

    def note(self, task_id: str, reference: str | None, place: str) -> tuple[str, str] | None:
        """Keep the first reference of a task id; returns an earlier reference and its place."""
        digest = hashlib.blake2b(task_id.encode("utf-8", "replace"), digest_size=8).digest()
        key = int.from_bytes(digest, "big", signed=True)
        if self._database.execute("INSERT OR IGNORE INTO first VALUES (?, ?, ?)", (key, reference, place)).rowcount:
            self.count += 1
            return None
        kept, first_place = self._database.execute("SELECT reference, place FROM first WHERE id = ?", (key,)).fetchone()
        if kept is None:
            self._database.execute("UPDATE first SET reference = ?, place = ? WHERE id = ?", (reference, place, key))
            return None
        return kept, first_place

    def close(self) -> None:
        """Delete the database."""
        self._database.close()


def _contradiction(
    references: _FirstReferences, task_id: str, reference: Mapping[str, Any] | None, where: str, judge: ChecksTasks
) -> str | None:
    """The problem of a row whose task id has another reference in an earlier row."""
    text = kept = None
    if reference is not None:
        text = kept = json.dumps(reference, default=str, sort_keys=True)
        if len(text) > _LONGEST_KEPT:
            kept = hashlib.blake2b(text.encode("utf-8", "replace")).hexdigest()
    earlier = references.note(task_id, kept, where.rpartition(":")[2])
    if earlier is None or reference is None or text is None or earlier[0] == kept:
        return None
    first, place = earlier
    whole = first.startswith("{")
    if whole and judge.same_reference(json.loads(first), reference):
        return None
    return f"contradiction: {_short(text)} here, {_short(first) if whole else 'another'} in line {place}"


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:80]}… ({len(text)} characters)"
