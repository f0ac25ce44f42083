"""The files beside a scored file: labels that people, or a second judge, give to its rows, and the alarms of a watch.

The viewer writes labels; they are read in its format and in common ones. Labelled answers measure a judge: rollouts
with a label, or samples from which rubrics are learned.
"""

from __future__ import annotations

import csv
import fcntl
import json
import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.records.reader import Line, object_in
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

#: Identifies a row of a scored file: its id, and the number of earlier rows with the same id.
Key = tuple[str, int]

_WORDS = {"right": 1.0, "wrong": 0.0, "true": 1.0, "false": 0.0, "pass": 1.0, "fail": 0.0}
_UNSURE = "unsure"
_KEYS = ("label", "is_success", "score", "rating")


def beside(run: Path, kind: str) -> Path:
    """The file of a run's `labels` or `alarms`: in the folder of the run, or beside the run's file."""
    if run.is_dir() or not run.suffix:
        return run / f"{kind}.jsonl"
    return run.with_name(f"{run.name.removesuffix('.jsonl')}.{kind}.jsonl")


def read_labels(path: Path) -> dict[Key, float | None]:
    """The labels of a file by row; None where the labeller was unsure.

    The file is a CSV or TSV table with the columns `id` and `label`, or has one label on each line of JSON:

    - `{"id", "label"}` as the viewer writes it. The label is `right`, `wrong`, `unsure`, a bool or a number, and null
      removes an earlier label. `nth` is the number of earlier rows with the id. The last line for a row counts;
    - a rollout with its own `label` (`is_success`, or a graded `score`);
    - a scored row, whose verdict is the label.

    Raises:
        ConfigError: the file, or one of its lines, cannot be read.
    """
    labels: dict[Key, float | None] = {}
    seen: Counter[str] = Counter()
    with told(f"cannot read the labels of {str(path)!r}"), open(path, encoding="utf-8-sig", newline="") as stream:
        rows: Iterable[tuple[int, Any]]
        if path.suffix in (".csv", ".tsv"):
            table = csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ",")
            rows = ((table.line_num, row) for row in table)
        else:
            rows = ((number, json.loads(line)) for number, line in enumerate(stream, 1) if line.strip())
        for number, row in rows:
            _add_label(labels, seen, row, f"{path.name}:{number}")
    if not labels:
        raise ConfigError(f"{str(path)!r} holds no label")
    return labels


def _add_label(labels: dict[Key, float | None], seen: Counter[str], row: Any, where: str) -> None:
    if not isinstance(row, Mapping) or row.get("id") is None:
        raise ConfigError(f"{where}: a label names its row by id, got {row!r:.100}")
    name = str(row["id"])
    if isinstance(row.get("task"), Mapping):
        # A rollout has no `nth`: its rows with the same id stand in the order of the scored file
        key = (name, seen[name])
        seen[name] += 1
        value = own_label(row)
        value = _verdict(row) if value is None else value
        if value is not None:
            labels[key] = value
        return
    key = (name, _nth(row.get("nth"), where))
    given = next((row[column] for column in _KEYS if column in row), None)
    if given is None or given == "":
        labels.pop(key, None)
    else:
        labels[key] = _number(given, where)


def own_label(row: Mapping[str, Any]) -> float | None:
    """The label that a rollout itself carries: its `score`, `rating` or `is_success`; None without a label."""
    return _first_number(row.get("label"), ("score", "rating", "is_success"))


def _verdict(row: Mapping[str, Any]) -> float | None:
    """The verdict of a scored row as a label; None without a verdict."""
    return _first_number(row.get("judgement"), ("is_success", "reward"))


def _first_number(mapping: object, keys: tuple[str, ...]) -> float | None:
    values = [mapping.get(key) for key in keys] if isinstance(mapping, Mapping) else []
    # A data set's missing cell is NaN, which is no label
    return next((float(value) for value in values if isinstance(value, bool | int | float) and value == value), None)


def _nth(value: object, where: str) -> int:
    """The number of earlier rows with the labelled row's id; a table holds it as text, and an empty cell means 0."""
    if value is None or value == "":
        return 0
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).isdecimal():
        raise ConfigError(f"{where}: nth counts the earlier rows of one id, 0, 1, 2 …, got {value!r:.60}")
    return int(value)


def _number(value: object, where: str) -> float | None:
    if (text := str(value).strip().lower()) == _UNSURE:
        return None
    try:
        number = _WORDS[text] if text in _WORDS else float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"{where}: a label is right, wrong, unsure, true, false or a number, got {value!r}")
    return number


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled answer.

    Attributes:
        task: the task of the rollout.
        output: the rollout's output, with the answer.
        label: the value that people give the answer; a higher label is better.
        group: the name that all answers to one task share.
    """

    task: WorkflowTask
    output: WorkflowOutput
    label: float
    group: str


def read_labelled(lines: Iterable[Line], name: str, response_path: str, limit: int | None = None) -> list[Labelled]:
    """The labelled answers of a file.

    A row is a rollout with `label: {score}` or `label: {is_success}`, or a sample. A sample is
    `{main_query, metadata: {answer, score}}` or `{main_query, metadata: {candidates: [{answer, rank}]}}`. A lower
    rank is better, so the label of a rank is its negative.

    Args:
        lines: its rows.
        name: its name in messages.
        response_path: the path at which the judge reads an answer, such as `output.metadata.final_answer`.
        limit: the most rows to read.

    Raises:
        ConfigError: a row cannot be read, or is neither a rollout nor a sample, or all labels are equal.
    """
    found: list[Labelled] = []
    try:
        for line in islice(lines, limit):
            number = int(line.where.rpartition(":")[2])
            if line.problem is not None:
                raise ValueError(f"line {number}: {line.problem}")
            found += _answers(json.loads(line.raw), number, response_path)
    except KeyError as exc:
        way_out = "a sample keeps its label in metadata.score; of other rows name it"
        way_out += ", --format plain --map COLUMN=label.score"
        raise ConfigError(f"{name!r}: line {number}: the row has no {exc}: {way_out}") from exc
    except (ValueError, TypeError, RecursionError) as exc:
        raise ConfigError(f"cannot read the labelled answers of {name!r}: {type(exc).__name__}: {exc}") from exc
    if len({one.label for one in found}) < 2:
        raise ConfigError(f"{name!r} holds {len(found)} labelled answers with one label: nothing tells them apart")
    return found


def _answers(row: Any, number: int, response_path: str) -> Iterator[Labelled]:
    if not isinstance(row, Mapping):
        raise ValueError(f"line {number}: a row must be an object, got {type(row).__name__}")
    if "output" in row:
        if (label := own_label(row)) is None:
            raise ValueError(f"line {number}: a rollout needs a label: {{score: …}} or {{is_success: …}}")
        task = Task.model_validate(row["task"])
        yield _labelled(task, WorkflowOutput.model_validate(row["output"]), label)
        return
    metadata = dict(row["metadata"])
    answers = metadata.pop("candidates", None) or [{"answer": metadata.pop("answer"), "score": metadata.pop("score")}]
    task = Task.model_validate({**row, "metadata": metadata})
    for answer in answers:
        label = float(answer["score"]) if "score" in answer else -float(answer["rank"])
        if not math.isfinite(label):
            raise ValueError(f"line {number}: a label must be a finite number, got {label!r}")
        yield _labelled(task, with_response(WorkflowOutput(), response_path, answer["answer"]), label)


def _labelled(task: Task, output: WorkflowOutput, label: float) -> Labelled:
    return Labelled(WorkflowTask(task=task), output, label, task.task_id or task.main_query)


def response_of(output: WorkflowOutput, response_path: str) -> str:
    """The answer at `response_path`; for chat messages the text of the last message.

    Raises:
        KeyError: `output` has no answer there.
    """
    value: Any = output.metadata
    for part in _keys(response_path):
        value = value[part]
    return str(value[-1]["content"] if isinstance(value, list) else value)


def with_response(output: WorkflowOutput, response_path: str, text: str) -> WorkflowOutput:
    """`output` with another answer at `response_path`."""
    *outer, last = _keys(response_path)
    metadata: dict[str, Any] = dict(output.metadata)
    inner = metadata
    for part in outer:
        inner[part] = dict(inner.get(part, {}))
        inner = inner[part]
    before = inner.get(last)
    if isinstance(before, list):
        inner[last] = [*before[:-1], {**before[-1], "content": text}]
    else:
        inner[last] = text
    return output.model_copy(update={"metadata": metadata})


def _keys(response_path: str) -> list[str]:
    root, field, *keys = response_path.split(".")
    if (root, field) != ("output", "metadata") or not keys:
        raise ConfigError(f"the judge reads answers at {response_path!r}, which must be in output.metadata")
    return keys


MOST_ALARMS = 500
_MOST_CHARS = 500
_MOST_BYTES = 4 * 2**20


def read_alarms(path: Path) -> list[dict[str, Any]]:
    """The last `MOST_ALARMS` alarms, in their order; none if there is no file. Lines that hold no alarm are ignored."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, stream.seek(0, 2) - _MOST_BYTES))
            lines = stream.read().splitlines()
    except OSError:
        return []
    return [alarm for line in lines if (alarm := _alarm(line)) is not None][-MOST_ALARMS:]


def _alarm(line: bytes) -> dict[str, Any] | None:
    if (row := object_in(line)) is None:
        return None
    step = row.get("step")
    known = isinstance(step, int | float) and not isinstance(step, bool) and abs(step) < 1e15
    message = row.get("message") or row.get("reason") or ""
    return {
        "step": step if known else None,
        "monitor": str(row.get("monitor") or row.get("name") or "alarm")[:_MOST_CHARS],
        "message": str(message)[:_MOST_CHARS],
    }


PersonsVerdict = Literal["right", "wrong", "unsure"]
MOST_REMARK_CHARS = 10_000


class PersonsLabel(NamedTuple):
    """One person's label of one row."""

    label: PersonsVerdict
    remark: str


class LabelsFile:
    """The labels of one scored file. Each is appended as a line, so that earlier ones are kept; the last one counts.

    Args:
        path: the labels file. It need not exist: the first label creates it.

    Attributes:
        version: grows whenever the file is read again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version = 0
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._labels: dict[tuple[str, int], PersonsLabel] = {}

    def read(self) -> Mapping[tuple[str, int], PersonsLabel]:
        """The labels by row, `(id, nth)`. A changed file is read again; lines that hold no label are ignored."""
        with self._lock:
            stamp: tuple[int, int] | None = None
            with suppress(OSError):
                status = self.path.stat()
                stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                labels: dict[tuple[str, int], PersonsLabel] = {}
                for line in self.path.read_bytes().splitlines() if stamp else ():
                    _apply_line(labels, line)
                self._labels, self._stamp = labels, stamp
                self.version += 1
            return self._labels

    def add(self, id_: str, nth: int, label: PersonsVerdict | None, remark: str = "") -> None:
        """Append a label; None withdraws the earlier label.

        Raises:
            OSError: the file cannot be written.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row: dict[str, Any] = {"id": id_, "label": label, "remark": remark[:MOST_REMARK_CHARS], "at": now}
        if nth:
            row["nth"] = nth
        line = json.dumps(row).encode() + b"\n"
        with self._lock, open(self.path, "a+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if stream.seek(0, 2):
                # An earlier writer may have left the last line without its line break
                stream.seek(-1, 2)
                line = line if stream.read(1) == b"\n" else b"\n" + line
            stream.write(line)


def _apply_line(labels: dict[tuple[str, int], PersonsLabel], line: bytes) -> None:
    if (row := object_in(line)) is None or "id" not in row:
        return
    nth = row.get("nth", 0)
    key = (str(row["id"]), nth if isinstance(nth, int) else 0)
    if (label := row.get("label")) is None:
        labels.pop(key, None)
    elif label in get_args(PersonsVerdict):
        labels[key] = PersonsLabel(label, str(row.get("remark") or ""))
