"""Reads rollout files line by line, with bounded memory; a bad line becomes a row with its problem."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from pydantic import ValidationError

from agentscope_tuner.workflow import Rollout

MAX_LINE_BYTES = 16 * 2**20
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
BOM = b"\xef\xbb\xbf"
_SHOWN_KEYS, _KEY_CHARS = 6, 24


class Line(NamedTuple):
    """One line of a rollout file, not yet parsed: another process may parse it.

    Attributes:
        where: `file:line`, for messages.
        raw: the unchanged line, without its line break; empty when it was too long to keep.
        problem: why the line cannot be read, in words; None when it can.
        spent: metrics of what earlier runs spent on the row without a final verdict.
    """

    where: str
    raw: bytes
    problem: str | None = None
    spent: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a rollout file, read.

    Attributes:
        where: `file:line`, for messages.
        raw: the unchanged line, without its line break; empty when it was too long to keep.
        rollout: the rollout in the line, or None when it cannot be read.
        problem: why it cannot be read, in words; None when it can.
        spent: see `Line`.
    """

    where: str
    raw: bytes
    rollout: Rollout | None
    problem: str | None
    spent: Mapping[str, float] | None = None


def read_rows(stream: BinaryIO, name: str, *, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[Row]:
    """The rows of a JSONL stream, one at a time; blank lines are skipped.

    A line that is not a rollout becomes a Row with a `problem`: bad JSON, invalid UTF-8, a missing key, a wrong type,
    or more than `max_line_bytes`, of which no more than that is ever held in memory.
    """
    return map(parse_line, read_lines(stream, name, max_line_bytes=max_line_bytes))


def read_lines(stream: BinaryIO, name: str, *, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """The unparsed lines of the stream; `parse_line` parses them, possibly in another process."""
    number = 0
    while line := stream.readline(max_line_bytes + 1):
        number += 1
        where = f"{name}:{number}"
        if len(line) > max_line_bytes and not line.endswith(b"\n"):
            length = len(line) + _skip_rest(stream, max_line_bytes)
            yield Line(where, b"", f"the line has {length} bytes, more than {max_line_bytes}")
            continue
        raw = line.strip()
        if number == 1:
            raw = raw.removeprefix(BOM)
        if raw:
            yield Line(where, raw)


def _skip_rest(stream: BinaryIO, chunk: int) -> int:
    skipped = 0
    while rest := stream.readline(chunk):
        skipped += len(rest.rstrip(b"\r\n"))
        if rest.endswith(b"\n"):
            break
    return skipped


def _rollout(raw: bytes) -> Rollout:
    try:
        return Rollout.model_validate_json(raw)
    except ValidationError:
        if _HALF_PAIR.search(raw) is None:
            raise
        # Models write half surrogate pairs: pydantic's JSON parser refuses them, the standard one reads them
        try:
            return Rollout.model_validate(json.loads(raw))
        except (ValueError, RecursionError):
            pass
        raise


def parse_line(line: Line) -> Row:
    """The rollout of a line; a line that holds none gives a Row with a `problem`."""
    where, raw, problem, spent = line
    if problem is not None:
        return Row(where, raw, None, problem)
    try:
        return Row(where, raw, _rollout(raw), None, spent)
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        more = f" (and {exc.error_count() - 1} more)" if exc.error_count() > 1 else ""
        # `where` names the line of the file; pydantic counts lines inside the row, which is always line 1
        message = first["msg"].replace(" at line 1 column ", " at column ")
        problem = f"{path}: {message}{more}" if path else f"{message}{more}"
        return Row(where, raw, None, f"{problem}{_way_out(raw)}")


def _way_out(raw: bytes) -> str:
    """The way out, for a row that is no rollout but shows what kind of file this is."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ": the file is UTF-16, and rows are read as UTF-8: save it so"
    if raw in (b"[", b"{"):
        return f": the line holds {raw.decode()!r} alone; write each object on one line, as `jq -c` does"
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    if isinstance(row, list):
        return ": a list, where a line holds one object: `jq -c '.[]'` writes its entries line by line"
    if not isinstance(row, dict) or not {"task", "output"}.isdisjoint(row):
        return ""
    keys = ", ".join(repr(key)[:_KEY_CHARS] for key in list(row)[:_SHOWN_KEYS])
    return f": a rollout has id, task and output, this row has {keys or 'no keys'}; --format or --map reads other rows"


def is_deeper(value: object, levels: int) -> bool:
    """Whether parsed JSON is nested deeper than `levels`. Without recursion: a policy's text could exceed Python's
    recursion limit.
    """
    level = [value]
    for _ in range(levels):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True
