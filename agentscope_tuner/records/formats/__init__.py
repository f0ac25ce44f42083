"""Rows as trainers' data sets and dumps have them, made rollouts: one file a format.

A row that cannot be read becomes a line with its problem, as a broken line of a rollout file does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.records.formats import nemo_gym, openrlhf, slime, trl, verl
from agentscope_tuner.records.formats.columns import id_of, without_nan
from agentscope_tuner.records.formats.mapping import ColumnMap
from agentscope_tuner.records.formats.sample import Pair
from agentscope_tuner.records.reader import Line

#: By the name that `--format` takes.
FORMATS: Mapping[str, Callable[[Mapping[str, Any]], Pair]] = {
    "trl": trl.read,
    "verl": verl.read,
    "openrlhf": openrlhf.read,
    "nemo-gym": nemo_gym.read,
    "slime": slime.read,
}


def as_rollouts(lines: Iterable[Line], name: str | None, pairs: Sequence[str] = ()) -> Iterator[Line]:
    """The lines with a rollout in each, made of a row in the format `name` and of the columns that `--map` names.

    Cells that hold NaN are missing; integer ids become texts; a row without an id is named by its line.

    Raises:
        ConfigError: an unknown format, or a pair that cannot be read; before the first line is.
    """
    if name is not None and name not in FORMATS:
        raise ConfigError(f"--format must be one of {', '.join(FORMATS)}, got {name!r}")
    columns = ColumnMap(pairs)
    return (_as_rollout(line, FORMATS[name] if name else None, columns) for line in lines)


def _as_rollout(line: Line, read: Callable[[Mapping[str, Any]], Pair] | None, columns: ColumnMap) -> Line:
    if line.problem is not None:
        return line
    try:
        row = json.loads(line.raw)
    except (ValueError, RecursionError) as exc:
        return line._replace(problem=f"the row is no JSON: {exc}")
    if not isinstance(row, dict):
        return line._replace(problem=f"a row must be an object, got {type(row).__name__}")
    row = without_nan(row)
    try:
        rollout = _rollout(row, read) if read is not None else {"task": {}, "output": {}}
        columns.apply(row, rollout)
    except (JudgeError, ValidationError) as exc:
        return line._replace(problem=getattr(exc, "message", None) or str(exc).splitlines()[0])
    rollout.setdefault("id", id_of(row, line.where.rpartition(":")[2]))
    return line._replace(raw=json.dumps(rollout).encode())


def _rollout(row: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Pair]) -> dict[str, Any]:
    task, output = read(row)
    named = task.task.metadata.get("task_id")
    if named in (None, ""):
        # a column that differs from one completion to the next, such as its score, must not split a group
        asked = repr((task.task.init_messages or task.task.main_query, task.task.metadata.get("answer")))
        task.task.task_id = hashlib.blake2b(asked.encode("utf-8", "replace"), digest_size=6).hexdigest()
    return {"task": task.task.model_dump(), "output": {"metadata": output.metadata}}
