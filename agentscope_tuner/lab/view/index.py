"""The index of a scored file, extended as the file grows: a SQLite database of its rows' fields and texts.

The texts are kept in lower case, and are searched without an index of words.
"""

from __future__ import annotations

import json
import re
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pydantic_core

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.growing_files import FileReplaced, TailedFile, TailLine, chosen, files_of
from agentscope_tuner.records.files import dump_lines, is_dump
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import (
    LARGEST,
    REFERENCE_KEYS,
    is_number,
    is_status,
    mapping_in,
    parsed,
    shape_of,
    step_of,
)

_PREVIEW = 200
# An answer states its result at its end
_ENDING = 90
_REASON = 400
_MOST_NAMES = 64
# A reason such as `exact: 25 = 25` starts with the name of the stage that decided
_STAGE = re.compile(r"[^\d:]{1,40}")
_PART = "part/"
_KNOWN_KEYS = frozenset(("id", "task", "output", "judgement"))
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class RowFields(NamedTuple):
    """The fields of one row that the index keeps: as columns of the table `rows`, from `prompt` on of others.

    Attributes:
        id: the row's own id, as text; empty if it has none.
        task: the task's id. Rows of one task and step are one group.
        step: the training step; None if the row names none.
        status: `judged`, `filtered` or `failed`; `unreadable` if the line holds no verdict.
        reward: a finite number, or None.
        stage: the stage that decided: the first words of the reason, up to its colon.
        shape: the reason of a row that is no success, without the values that differ from row to row.
        cost: the cost of judging, in the currency of the configured prices.
        chars: the number of characters of the answer.
        problem: why the line holds no verdict, in words; None if it holds one.
        text: all of the row's texts, for searching.
    """

    id: str = ""
    task: str = ""
    step: float | None = None
    status: str = "unreadable"
    reward: float | None = None
    success: bool | None = None
    stage: str = ""
    shape: str = ""
    cause: str | None = None
    seconds: float | None = None
    cost: float | None = None
    chars: int = 0
    prompt: str = ""
    answer: str = ""
    reference: str = ""
    reason: str = ""
    problem: str | None = None
    violations: tuple[str, ...] = ()
    parts: Mapping[str, float] = _NOTHING
    text: str = ""


def fields_of(raw: bytes) -> RowFields:
    """The fields of a line, as text that UTF-8 can hold. The fields of an unreadable line are its `problem` alone."""
    try:
        row = pydantic_core.from_json(raw, cache_strings="keys")
        if type(row) is not dict:
            row = parsed(raw)
    except ValueError:
        try:
            row = _encodable(parsed(raw))
        except ValueError as exc:
            told = f"not a row: {_encodable(str(exc))}"[:_REASON]
            return RowFields(problem=told, text=raw[:_PREVIEW].decode("utf-8", "replace"))
    task, output, verdict = _mapping(row, "task"), _mapping(row, "output"), _mapping(row, "judgement")
    metadata, given, metrics = _mapping(output, "metadata"), _mapping(task, "metadata"), _mapping(verdict, "metrics")
    answer, id_, task_id = as_text(metadata.get("final_answer")), as_text(row.get("id")), as_text(task.get("task_id"))
    question, reference = _question(task), _reference(given, metadata)
    reason, success, reward = as_text(verdict.get("reason")), verdict.get("is_success"), _number(verdict.get("reward"))
    status, problem = _status(verdict, reward)
    texts = [id_, task_id, question, answer, reference, reason, *_further_texts(row, task, metadata, verdict)]
    return RowFields(
        id_,
        task_id,
        step_of(row, metadata, given),
        status,
        reward,
        success if isinstance(success, bool) else None,
        _stage(status, reason),
        "" if success is True else shape_of(reason),
        (as_text(verdict.get("cause")) or "unknown") if status == "failed" else None,
        _number(verdict.get("seconds")),
        _number(metrics.get("judge_cost")),
        len(answer),
        question[:_PREVIEW],
        answer if len(answer) <= _ENDING else f"…{answer[-_ENDING:]}",
        reference[:_PREVIEW],
        reason[:_REASON],
        problem,
        _names(verdict.get("violations")) if verdict.get("violations") else (),
        dict(_parts(metrics)) if metrics else _NOTHING,
        "\n".join(texts),
    )


def _status(verdict: Mapping[str, Any], reward: float | None) -> tuple[str, str | None]:
    """The verdict's status and None; or `unreadable`, and why the row holds no verdict."""
    status = verdict.get("status")
    if not is_status(status):
        return "unreadable", "the row has no judgement: judge the file first"
    if reward is None and status != "failed":
        return "unreadable", f"the reward is {verdict.get('reward')!r:.60}, which is no finite number up to {LARGEST:g}"
    return status, None


def _further_texts(
    row: Mapping[str, Any], task: Mapping[str, Any], metadata: Mapping[str, Any], verdict: Mapping[str, Any]
) -> list[str]:
    """The texts that only some rows have: opening messages, further metadata and further keys."""
    found: list[str] = []
    if messages := task.get("init_messages"):
        _add_texts(found, messages)
    for key, value in metadata.items():
        if key != "final_answer":
            _add_texts(found, value)
    for key, value in row.items():
        if key not in _KNOWN_KEYS:
            _add_texts(found, value)
    if calls := verdict.get("calls"):
        _add_texts(found, calls)
    if error := verdict.get("error"):
        found.append(as_text(error))
    return found


def _encodable(value: Any) -> Any:
    """`value` with half surrogate pairs escaped, because neither SQLite nor a file can hold them."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list) else value


def as_text(value: object) -> str:
    """`value` as the page shows it: a text as it is, None as an empty text, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _mapping(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return mapping_in(row.get(key))


def _number(value: object) -> float | None:
    return float(value) if is_number(value) else None


def _stage(status: str, reason: str) -> str:
    if status == "filtered":
        return "rules"
    head = reason.partition(":")[0].strip()
    return head if status == "judged" and _STAGE.fullmatch(head) else ("other" if status == "judged" else "")


def _question(task: Mapping[str, Any]) -> str:
    if question := as_text(task.get("main_query")):
        return question
    messages = task.get("init_messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            return as_text(message.get("content"))
    return ""


def _reference(given: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    held = (place.get(key) for place in (given, metadata) for key in REFERENCE_KEYS)
    return next((as_text(value) for value in held if value is not None), "")


def _names(value: object) -> tuple[str, ...]:
    named = value if isinstance(value, list) else []
    return tuple(dict.fromkeys(as_text(name)[:_PREVIEW] for name in named[:_MOST_NAMES]))


def _parts(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        part = name.removeprefix(_PART)
        # `part/length` is a part's reward, and `part/length/chars` a metric of the part
        if part != name and "/" not in part and (number := _number(value)) is not None:
            yield part[:_PREVIEW], number


def _add_texts(found: list[str], value: Any) -> None:
    """Add every text in `value`, at any depth; the keys of mappings are not added."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if (kind := type(item)) is str:
            found.append(item)
        elif kind is dict:
            waiting.extend(reversed(item.values()))
        elif kind is list:
            waiting.extend(reversed(item))
        elif kind is int or kind is float:
            found.append(str(item))


# The first batch is small, so that the page can show rows while the others are still read
_FIRST_BATCH, _BATCH = 200, 2000
_SCHEMA = """
CREATE TABLE rows (
    n INTEGER PRIMARY KEY, file INTEGER, place INTEGER, length INTEGER, nth INTEGER, grp INTEGER, id TEXT, task TEXT,
    step REAL, status TEXT, reward REAL, success INTEGER, stage TEXT, shape TEXT, cause TEXT, seconds REAL, cost REAL,
    chars INTEGER
);
CREATE TABLE texts (n INTEGER PRIMARY KEY, prompt TEXT, answer TEXT, reference TEXT, reason TEXT, problem TEXT,
                    violations TEXT, parts TEXT);
CREATE TABLE words (n INTEGER PRIMARY KEY, text TEXT);
CREATE TABLE violations (rule TEXT, n INTEGER, PRIMARY KEY (rule, n)) WITHOUT ROWID;
CREATE TABLE parts (name TEXT, n INTEGER, value REAL, PRIMARY KEY (name, n)) WITHOUT ROWID;
CREATE TABLE groups (
    grp INTEGER PRIMARY KEY, task TEXT, step REAL, size INTEGER, failed INTEGER, filtered INTEGER, successes INTEGER,
    wrong INTEGER, lowest REAL, highest REAL, total REAL, squares REAL
);
"""
_TABLES = ("rows", "texts", "words", "violations", "parts", "groups")
# Adds the rows behind row `?` to their groups. If a row does not state its success, reward 1 is right, and 0 wrong
_ADD_GROUPS = """
INSERT INTO groups
    SELECT grp, task, step, count(*), sum(status IN ('failed', 'unreadable')), sum(status = 'filtered'),
        total(success IS 1 OR (success IS NULL AND abs(reward - 1) <= 1e-9)),
        total(success IS 0 OR (success IS NULL AND reward <= 1e-9)),
        min(reward), max(reward), total(reward), total(reward * reward)
    FROM rows WHERE n > ? AND grp IS NOT NULL GROUP BY grp
ON CONFLICT (grp) DO UPDATE SET
    size = size + excluded.size, failed = failed + excluded.failed, filtered = filtered + excluded.filtered,
    successes = successes + excluded.successes, wrong = wrong + excluded.wrong,
    lowest = min(coalesce(lowest, excluded.lowest), coalesce(excluded.lowest, lowest)),
    highest = max(coalesce(highest, excluded.highest), coalesce(excluded.highest, highest)),
    total = total + excluded.total, squares = squares + excluded.squares
"""


#: Gives the rows of a path, each as a line with a scored row or its problem.
Reader = Callable[[str], Iterable[Line]]


class RowIndex:
    """The index of one scored file, or of a folder of scored files, in a temporary folder until `close`.

    Args:
        source: the file or folder.
        read: reads its rows as scored ones, for rows in another form. They are then read once, and not followed.

    Raises:
        ConfigError: a table or a packed file cannot be read, or the rows are not in the form that `read` takes.

    `update` is for one thread; other threads read through connections of their own (`connect`).

    Attributes:
        version: grows whenever rows are added.
        epoch: grows when a file was replaced, so that all rows are new.
        source: the file or folder.
        share_read: the share of the bytes that `update` has read; None once it has read all of them.
    """

    def __init__(self, source: Path, read: Reader | None = None) -> None:
        self.source, self._read = source, read
        self._folder = tempfile.TemporaryDirectory(prefix="astuner-view-")
        self._lines = self._unpacked()
        self.path = Path(self._folder.name) / "index.db"
        self._database = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        # Speed instead of safety: the index can always be rebuilt from the rows
        for pragma in ("journal_mode=WAL", "synchronous=OFF", "temp_store=MEMORY", "cache_size=-65536"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.executescript(_SCHEMA)
        self.version = self.epoch = 0
        self.share_read: float | None = None
        self._stop = threading.Event()
        self._forget()

    def _unpacked(self) -> Path:
        """The path of the rows as lines: the source itself, or a copy of the rows of a Parquet file, a table or a
        packed file.
        """
        if self._read is None and (self.source.is_dir() or not is_dump(str(self.source))):
            return self.source
        read = self._read or dump_lines
        lines = Path(self._folder.name) / "rows.jsonl"
        try:
            with open(lines, "wb") as file:
                for line in read(str(self.source)):
                    # The problem takes the row's place. It is no JSON, so the page shows it as an unreadable row
                    problem = f"({line.problem})".replace("\n", " ").encode("utf-8", "replace")
                    file.write((line.raw if line.problem is None else problem) + b"\n")
        except (ConfigError, OSError):
            self._folder.cleanup()
            raise
        return lines

    def _forget(self) -> None:
        self.files: list[Path] = []
        self._tails: dict[Path, TailedFile] = {}
        self._groups: dict[tuple[str, float | None], int] = {}
        self._ids: dict[str, int] = {}
        self.rows = 0
        self._database.execute("BEGIN")
        for table in _TABLES:
            self._database.execute(f"DELETE FROM {table}")
        self._database.execute("COMMIT")

    def connect(self) -> sqlite3.Connection:
        """Another connection for reading; the caller ensures that one thread at a time uses it."""
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA cache_size=-65536")
        return connection

    def update(self) -> bool:
        """Index the rows written since the last call, and return whether there were any."""
        before = self.version
        try:
            for path in files_of(self._lines):
                if path not in self._tails:
                    self._tails[path] = TailedFile(path, len(self.files))
                    self.files.append(path)
                for lines in self._tails[path].batches(_BATCH if self.rows else _FIRST_BATCH, _BATCH):
                    self._add(lines)
                    self.share_read = self._share()
                    if self._stop.is_set():
                        return True
        except FileReplaced:
            self._forget()
            self.epoch += 1
            self.version += 1
        finally:
            self.share_read = None
        return self.version != before

    def _share(self) -> float:
        sizes = sum(path.stat().st_size for path in map(chosen, files_of(self._lines)) if path is not None)
        return min(1.0, sum(tail.offset for tail in self._tails.values()) / max(1, sizes))

    def follow(self, seconds: float) -> None:
        """Call `update` every `seconds`, until another thread calls `stop`."""
        while not self._stop.is_set():
            self.update()
            self._stop.wait(seconds)

    def stop(self) -> None:
        """End `follow`; an `update` under way ends after its next batch of rows."""
        self._stop.set()

    def _add(self, lines: list[TailLine]) -> None:
        rows = [fields_of(line.raw) if line.problem is None else RowFields(problem=line.problem) for line in lines]
        numbered = list(enumerate(rows, self.rows + 1))
        narrow = [self._narrow(n, line, row) for (n, row), line in zip(numbered, lines, strict=True)]
        insert = self._database.executemany
        self._database.execute("BEGIN")
        insert(f"INSERT INTO rows VALUES ({', '.join('?' * 18)})", narrow)
        # The texts are searched as they are: an index of words would find neither Chinese nor LaTeX
        insert("INSERT INTO words VALUES (?, ?)", [(n, row.text.lower()) for n, row in numbered])
        insert("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [_preview(n, row) for n, row in numbered])
        broken = [(rule, n) for n, row in numbered for rule in row.violations]
        insert("INSERT OR IGNORE INTO violations VALUES (?, ?)", broken)
        # In the order of the table, by name: inserts beside each other are faster
        parts = sorted((name, n, value) for n, row in numbered for name, value in row.parts.items())
        insert("INSERT INTO parts VALUES (?, ?, ?)", parts)
        self._database.execute(_ADD_GROUPS, (self.rows,))
        self._database.execute("COMMIT")
        self.rows += len(rows)
        self.version += 1

    def _narrow(self, n: int, line: TailLine, row: RowFields) -> tuple[object, ...]:
        nth = self._ids.get(row.id, 0)
        self._ids[row.id] = nth + 1
        group = self._groups.setdefault((row.task, row.step), len(self._groups)) if row.task else None
        return n, line.file, line.offset, line.length, nth, group, *row[: row._fields.index("prompt")]

    def close(self) -> None:
        """Remove the index; `follow` must have ended."""
        self._database.close()
        self._folder.cleanup()


def _preview(n: int, row: RowFields) -> tuple[object, ...]:
    texts = (row.prompt, row.answer, row.reference, row.reason, row.problem or "")
    return n, *texts, "\n".join(row.violations), json.dumps(dict(row.parts))
