"""Parses the lines of rollout files: each gives a rollout, or a problem that says why it is none and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import ValidationError

from agentscope_tuner.bounds import json_or, readable
from agentscope_tuner.workflow import Rollout, first_problem

MAX_LINE_BYTES = 16 * 2**20
#: Half of a surrogate pair, perhaps: an answer may be cut inside of one.
HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
BOM = b"\xef\xbb\xbf"
_SHOWN_KEYS, _KEY_CHARS = 6, 24


class Line(NamedTuple):
    """One line of a rollout file, not yet parsed: another process may parse it.

    Attributes:
        where: its file and line number for messages, such as `rollouts.jsonl:3`.
        raw: the unchanged line, without its line break; empty if it was too long to keep.
        problem: why the line cannot be read, in words; None if nothing is known to be wrong with it.
        spent: what judge models cost in earlier runs that judged the row, as metrics; see `EarlierRow.spent`.
    """

    where: str
    raw: bytes
    problem: str | None = None
    spent: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a rollout file, parsed: it has either a rollout or a problem.

    Attributes:
        where: its file and line number for messages, such as `rollouts.jsonl:3`.
        raw: the unchanged line, without its line break; empty if it was too long to keep.
        rollout: the rollout in the line; None if it cannot be read.
        problem: why it cannot be read, in words; None if it can.
        spent: what judge models cost in earlier runs that judged the row; see `Line`.
    """

    where: str
    raw: bytes
    rollout: Rollout | None
    problem: str | None
    spent: Mapping[str, float] | None = None


def _rollout(raw: bytes) -> Rollout:
    try:
        return Rollout.model_validate_json(raw)
    except ValidationError:
        if (kept := readable(raw)) is raw and HALF_PAIR.search(raw) is None:
            raise
        # Models write half surrogate pairs: pydantic's JSON parser refuses them, the standard one reads them
        try:
            return Rollout.model_validate(json.loads(kept))
        except (ValueError, RecursionError):
            pass
        raise


def parse_line(line: Line) -> Row:
    """Parse a line: the Row has the `rollout` in it or, if it holds none, a `problem`."""
    where, raw, problem, spent = line
    if problem is not None:
        return Row(where, raw, None, problem)
    try:
        return Row(where, raw, _rollout(raw), None, spent)
    except ValidationError as exc:
        # `where` names the line of the file; pydantic counts lines inside the row, which is always line 1
        problem = first_problem(exc).replace(" at line 1 column ", " at column ")
        return Row(where, raw, None, unread(problem, raw))


def unread(problem: str, raw: bytes) -> str:
    """The message about a line that is no rollout: why, and what to do.

    Args:
        problem: the parser's message, which is dropped if it is better known what is wrong.
        raw: the line.
    """
    way = way_out(raw)
    # without a cure it ends in how the line begins
    cured = way.startswith(": the line") and not way.endswith(("'", '"'))
    return f"{'the row is no JSON' if cured else problem}{way}"


# The advice for a file of objects that span several lines, and for one that is an array of objects
_ONE_LINE = "; write each object on one line, as `jq -c 'arrays[], objects' FILE` does"
#: The commonest lines that are no JSON: a pattern for how they begin, and the end of the message about them.
_SPELLINGS = {
    rb"\[?\{'": ", and JSON takes double quotes: write `json.dumps(row)`, not `str(row)`",
    rb".*\},\s*$": " and ends in a comma: a line holds one object and nothing more",
    rb'\{.*,\s*$|"[^"]*"\s*:': _ONE_LINE,
    rb"[\w-]+:(\s|$)|- ": ": is it YAML? --conf takes that, and --input takes rows",
    rb".*,\s*[}\]]\s*$": ", and before its last bracket stands a comma: remove that comma",
    rb"//|#": ", a comment, which JSON lines do not have: remove it",
    rb"[^\[{].*[,\t].*[,\t]|[,\t].*[,\t]": ": is it a table? Then name the file .csv or .tsv",
}
_ROLLOUT = (
    ': a rollout is {"id", "task": {"main_query", "metadata": {"answer"}}, "output": {"metadata": {"final_answer"}}}'
)


def way_out(raw: bytes) -> str:
    """The end of the message about a line that is no rollout: what the line or file seems to be, and what to do.

    For the first line of a packed file: `: the file is packed by gzip: let its name end in .gz`.
    """
    if (told := what_else(raw[:SIGNATURE_BYTES])) is not None:
        return f": the file {told}"
    if raw in (b"[", b"{"):
        whole = "; it refuses an array that is cut short, without its `]`: complete that first" if raw == b"[" else ""
        return f": the line holds {raw.decode()!r} alone{_ONE_LINE}{whole}"
    try:
        row = json.loads(raw)
    except UnicodeDecodeError:
        return ": rows are read as UTF-8: save the file so, or name another if it holds no text"
    except (ValueError, RecursionError) as exc:
        cut = ", and it is cut short: complete it, or remove it" if "Unterminated" in str(exc) else ""
        began = f": the line begins {raw[:_KEY_CHARS].decode('utf-8', 'replace')!r}"
        return f"{began}{_several(exc) or _spelling(raw) or cut}"
    if isinstance(row, list):
        return ": a list, where a line holds one object: `jq -c '.[]'` writes its entries line by line"
    if isinstance(row, str) and row.lstrip().startswith("{"):
        return ": a text that holds JSON: the row was encoded twice, so write `json.dumps(row)` once"
    if not isinstance(row, dict):
        return ', such as {"question": …, "answer": …, "response": …}'
    if not {"task", "output"}.isdisjoint(row):
        return _ROLLOUT
    keys = ", ".join(repr(key)[:_KEY_CHARS] for key in list(row)[:_SHOWN_KEYS])
    return f"{_ROLLOUT}; this row has {keys or 'no keys'}; --format or --map reads other rows"


def _several(exc: Exception) -> str:
    """The end of the message about a line that holds a second object behind the first; empty for other errors.

    Such lines occur in files whose line ends are a CR alone.
    """
    if not isinstance(exc, json.JSONDecodeError) or exc.doc[exc.pos : exc.pos + 1] != "{":
        return ""
    return f", and another object follows{_ONE_LINE}"


def _spelling(raw: bytes) -> str:
    """How to mend one of the commonest lines that are no JSON, such as `{'a': 1}`; empty for other lines."""
    return next((way for form, way in _SPELLINGS.items() if re.match(form, raw, re.DOTALL)), "")


_SAVE_SO = "save it as UTF-8, as rows are read"
#: Files that are no text in UTF-8, by their first bytes, with what to do.
_SIGNATURES = {
    b"\xff\xfe": f"is UTF-16: {_SAVE_SO}",
    b"\xfe\xff": f"is UTF-16: {_SAVE_SO}",
    b"PK\x03\x04": "is a zip archive or a spreadsheet: unpack it, or save the sheet as CSV",
    b"\x1f\x8b": "is packed by gzip: let its name end in .gz",
    b"PAR1": "is Parquet: let its name end in .parquet",
    b"ARROW1": "is Arrow: let its name end in .arrow",
    b"SQLite format 3": "is an SQLite database: export the table as CSV",
    b"\x80\x04": "is a pickle, which may run code as it is loaded: write its rows as JSON lines",
    b"\x80\x05": "is a pickle, which may run code as it is loaded: write its rows as JSON lines",
}
#: How many bytes `what_else` looks at.
SIGNATURE_BYTES = 256


def what_else(start: bytes) -> str | None:
    """For a file that is no text in UTF-8: what it is, by its first bytes `start`, and what to do. None for text.

    `PAR1` gives `is Parquet: let its name end in .parquet`.
    """
    found = next((told for signature, told in _SIGNATURES.items() if start.startswith(signature)), None)
    return found or (f"holds bytes that are no text, as UTF-16 does: {_SAVE_SO}" if b"\0" in start else None)


def parse_tasks(lines: Iterable[Line]) -> Iterator[Row]:
    """Parse lines that may be rollouts or tasks. A task becomes a rollout without an answer, named by the task's id."""
    for line in lines:
        row = parse_line(line)
        task = _task(line) if row.rollout is None and line.problem is None else None
        if task is None:
            yield row
            continue
        name = str(task.get("task_id") or line.where.rpartition(":")[2])
        yield parse_line(line._replace(raw=json.dumps({"id": name, "task": task, "output": {}}).encode()))


def _task(line: Line) -> dict[str, object] | None:
    task = object_in(line.raw) or {}
    if isinstance(task.get("task"), dict) and "output" not in task:
        return dict(task["task"])
    return task if "main_query" in task and "task" not in task else None


def object_in(raw: bytes | str) -> dict[str, Any] | None:
    """The JSON object in a line or a cell, `{"a": 1}`; None if it holds anything else, such as `[1]` or no JSON."""
    found = json_or(raw, None)
    return found if isinstance(found, dict) else None


# Made once, because `json.dumps` would make one for each call
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def encoded(value: object) -> bytes:
    """`value` as JSON in UTF-8. A model can write half a surrogate pair: UTF-8 cannot encode it, a JSON escape can."""
    return _ENCODER.encode(value).encode(errors="backslashreplace")
