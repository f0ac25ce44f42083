"""Turns rows of trainers' data sets and dumps into rollouts; `trainers` reads each trainer's own form.

A reward that a trainer wrote beside a rollout becomes the row's judgement. A row that cannot be read becomes a line
with its problem, as a broken line of a rollout file does.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from pydantic import ValidationError

from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.records.formats import trainers
from agentscope_tuner.records.formats.plain import PlainRow, is_own, read_plain
from agentscope_tuner.records.formats.sample import ColumnMap, Pair, as_rollout, id_of, is_chat, without_nan
from agentscope_tuner.records.reader import Line, object_in, unread
from agentscope_tuner.records.scored_rows import step_of
from agentscope_tuner.task_judge.contract.columns import NO_READS, RESPONSES, Reads, packed_rows

T = TypeVar("T")
_KEYS: Mapping[str, tuple[str, ...]] = {
    "verl": ("score", "reward"),
    "openrlhf": ("reward", "rewards", "score"),
    "nemo-gym": ("reward",),
    "slime": ("reward",),
    "trinity": ("reward",),
}
_SUCCESS = ("acc", "is_success", "success", "is_correct")
_NO_REWARDS = ("step", "advantage", "index", "idx", "id")

# Formats that are recognized by a pair of text columns alone, which other data sets have, too; and columns that such
# rows only have if they are of a different data set
_PAIRS = ("trl", "openrlhf")
_NOT_OF_PAIRS = frozenset({"instruction", "label"})


def dumped_judgement(name: str, row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The judgement from the reward that a trainer wrote beside a rollout; None if the row has no reward column.

    For the format `verl`, `{"score": 1.0, "acc": True}` gives a judgement of reward 1.0 and `is_success` True. A reward
    that is missing, not finite or masked by the trainer is a failed verdict, not 0. `is_success` is None if the trainer
    does not write it.

    Args:
        name: the format's name, a key of `FORMATS`.
        row: the trainer's row.
    """
    if name == "trl":
        if "reward" not in row and "advantage" not in row:
            return None
        reward = _trl_reward(row)
    else:
        key = next((key for key in _KEYS.get(name, ()) if key in row), None)
        if key is None:
            return None
        reward = _finite_number_in(row[key])
    if row.get("mask_sample"):
        return _failed(str(row.get("failure_reason") or "the trainer masked this sample"))
    if reward is None:
        return _failed("the dump holds no reward for this sample")
    success = next((bool(row[key]) for key in _SUCCESS if isinstance(row.get(key), bool | int | float)), None)
    return {"status": "judged", "reward": reward, "is_success": success, "reason": f"as {name} dumped it"}


def mapped_judgement(value: object) -> dict[str, Any]:
    """The judgement from the value in the column that the user has named as the reward: `0.5`, or the text `"0.5"`.

    Anything else gives a judgement of status `failed`.
    """
    if (reward := _finite_number_in(value)) is None:
        return _failed(f"the named column holds no number, but {value!r:.60}")
    return {"status": "judged", "reward": reward, "is_success": None, "reason": "as the named column says"}


def _trl_reward(row: Mapping[str, Any]) -> float | None:
    """The reward in a row that TRL dumped; None if there is none.

    TRL names each column of rewards after its reward function, and writes `advantage` beside them. The columns are
    added, without weights. Without `advantage`, numbers are a data set's own columns. Other numbers that a reward
    function logs look the same: `--map column=judgement.reward` names the reward.
    """
    if "reward" in row or "advantage" not in row:
        return _number(row.get("reward"))
    names = [name for name in row if name not in _NO_REWARDS and _number(row[name]) is not None]
    return sum(float(row[name]) for name in names) if names else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _finite_number_in(value: object) -> float | None:
    """A finite number, or one written as a text, as verl writes numpy's: 0.5 for `"0.5"`. None for anything else."""
    try:
        return _number(float(value) if isinstance(value, str) else value)
    except ValueError:
        return None


def _failed(why: str) -> dict[str, Any]:
    return {"status": "failed", "reward": None, "is_success": None, "reason": why, "error": why, "cause": "input"}


#: The formats by the names that `--format` takes.
FORMATS: Mapping[str, Callable[[Mapping[str, Any]], Pair]] = {
    "trl": trainers.read_trl,
    "verl": trainers.read_verl,
    "openrlhf": trainers.read_openrlhf,
    "nemo-gym": trainers.read_nemo_gym,
    "slime": trainers.read_slime,
    "trinity": trainers.read_trinity,
}

#: `--format auto`: the first row of a file decides the format.
AUTO = "auto"
# The most lines to look at for a row that shows the format: the first ones may be broken
_MOST_HELD = 64
#: Rows of no trainer's form; see `formats.plain`.
PLAIN = "plain"

# The columns in which each format has the response, and the form of an empty response. Rows of a data set before
# training have no response
_NO_RESPONSE: Mapping[str, tuple[tuple[str, ...], Any]] = {
    "trl": (("completion",), ""),
    "verl": (("response", "solution_str", "output", "responses"), ""),
    "openrlhf": (("response", "output", "completion", "query"), ""),
    "nemo-gym": (("response",), {"output": []}),
    "slime": (("response",), ""),
    "trinity": (("response_text", "messages"), ""),
}

# In order: the first format whose columns are all present is taken
_TELLING: tuple[tuple[str, frozenset[str]], ...] = (
    ("nemo-gym", frozenset({"responses_create_params", "response"})),
    ("trinity", frozenset({"eid", "info"})),
    ("openrlhf", frozenset({"query", "prompts", "labels"})),
    ("verl", frozenset({"input", "output", "gts"})),
    ("verl", frozenset({"input", "output", "score"})),
    ("verl", frozenset({"reward_model"})),
    ("slime", frozenset({"response", "group_index"})),
    ("slime", frozenset({"prompt", "response", "label", "metadata"})),
    ("trl", frozenset({"prompt", "completion"})),
    ("trl", frozenset({"messages", "answer"})),
    ("openrlhf", frozenset({"prompt", "response"})),
    ("openrlhf", frozenset({"input", "output"})),
)


class Conversion:
    """Turns a line with a trainer's row into a line with a rollout: call it with each line, in any process.

    Cells that hold NaN are missing; integer ids become texts; a row without an id is named by its line number. A reward
    that the trainer dumped becomes the row's `judgement`.

    Args:
        name: the format's name, a key of `FORMATS`. `auto` decides by the first row, and leaves rollouts in this
            package's own form unchanged. None only places the columns of `pairs`.
        pairs: the pairs `column=path` of `--map`; see `ColumnMap`.
        references: metadata of tasks by their query, for dumps that do not hold the data set's columns.
        reads: the configuration's names of the columns; with it, rows of no trainer's form are read as `formats.plain`
            reads them.
        responses: whether a row must have a response. If not, a row without one becomes a task without an output.

    Attributes:
        name: the format's name; `auto` until it is known.
    """

    def __init__(
        self,
        name: str | None,
        pairs: Sequence[str] = (),
        references: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        reads: Reads | None = None,
        responses: bool = True,
    ) -> None:
        if name not in (None, AUTO, PLAIN, *FORMATS):
            raise ConfigError(f"--format must be one of {', '.join([AUTO, PLAIN, *FORMATS])}, got {name!r}")
        self.name = name
        self._pairs, self._columns, self._references = pairs, ColumnMap(pairs), references or {}
        self._reads, self._responses = reads, responses
        # whether the file's first row decided the format, and not `--format`
        self._of_first = False

    def of(self, name: str) -> Conversion:
        """A copy of this conversion, but for rows in the format `name`."""
        return Conversion(name, self._pairs, self._references, reads=self._reads, responses=self._responses)

    def all(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Convert every line; each then holds a rollout or a problem. For `auto`, the first row decides the format."""
        return self._detected(lines) if self.name == AUTO else map(self, lines)

    def _detected(self, lines: Iterable[Line]) -> Iterator[Line]:
        held: list[Line] = []
        left = iter(lines)
        found = self.found_among(noted(left, held))
        lines = chain(held, left)
        yield from lines if found is None else map(found, lines)

    def found_among(self, lines: Iterator[Line]) -> Conversion | None:
        """The conversion for the format of the first line that is a row; None if such rows are rollouts already.

        Some lines before it may be broken. No more lines are read than needed.

        Raises:
            ConfigError: the first row has no known format.
        """
        telling: Line | None = None
        for line in islice(lines, _MOST_HELD):
            if line.problem is None and object_in(line.raw) is not None:
                return self.found(line)
            # if no line is a row, the first line decides, and the same problem is reported for each
            telling = telling or (line if line.problem is None else None)
        return None if telling is None else self.found(telling)

    def found(self, first: Line) -> Conversion | None:
        """The conversion for the format of the row `first`; None if it is a rollout in this package's own form.

        Raises:
            ConfigError: the row has no known format.
        """
        if self._reads is None:
            name = format_of(first)
        else:
            row = object_in(first.raw)
            own = row is None or is_own(row)
            name = (PLAIN if self._pairs else None) if own else _format_or_plain(row or {}, self._reads)
        made = None if name is None else self.of(name)
        if made is not None:
            made._of_first = True
        return made

    def __call__(self, line: Line) -> Line:
        """Convert one line: the result holds the rollout, or the problem that keeps the row from being one."""
        if line.problem is not None:
            return line
        try:
            row = json.loads(line.raw)
        except (ValueError, RecursionError) as exc:
            # name the column alone: the row is one line, and messages begin with its position in the file
            said = f"{exc.msg}: column {exc.colno}" if isinstance(exc, json.JSONDecodeError) else str(exc)
            return line._replace(problem=unread(f"the row is no JSON: {said}", line.raw))
        if not isinstance(row, dict):
            return line._replace(problem=f"a row must be an object, got {type(row).__name__}")
        own = self.name == PLAIN and is_own(row)
        if own and not self._pairs:
            return line
        # look before empty cells are dropped: a NaN reward is a missing reward in an existing column
        judgement = dumped_judgement(self.name, row) if self.name is not None and not own else None
        # the column of an empty cell is there: a message that it is missing would be false
        row = dict.fromkeys(map(str, row)) | without_nan(row)
        try:
            rollout = _as_own_rollout(row) if own else self._rollout(row)
            self._columns.apply(row, rollout)
        except (JudgeError, ValidationError) as exc:
            problem = packed_rows(row) or getattr(exc, "message", None) or str(exc).splitlines()[0]
            return line._replace(problem=f"{problem}{self._other_format(row)}")
        if (step := step_of(row)) is not None:
            rollout.setdefault("step", int(step) if step.is_integer() else step)
        rollout.setdefault("id", id_of(row, line.where.rpartition(":")[2]))
        if "reward" in rollout.get("judgement", {}):
            judgement = mapped_judgement(rollout["judgement"].get("reward"))
        if judgement is not None:
            rollout["judgement"] = judgement
        return line._replace(raw=json.dumps(rollout).encode())

    def _other_format(self, row: Mapping[str, Any]) -> str:
        """The end of a message about a row that looks like a different trainer's than the one it is read as; or empty.

        It says that the file is mixed, or that `--format` names the wrong trainer.
        """
        found = _format_by_columns(row)
        if self.name not in FORMATS or found == self.name:
            return ""
        if self._of_first:
            return f"; the first row is one of {self.name}, and this is not: part the file, or use --format plain"
        return f"; these do not look like rows of {self.name}: leave --format out" + (f" for {found}" if found else "")

    def _rollout(self, row: Mapping[str, Any]) -> dict[str, Any]:
        if self.name is None:
            return {"task": {}, "output": {}}
        reads, given = self._reads or NO_READS, self._columns.roles
        bare = not self._responses and "response" not in given and _lacks_response(self.name, row, reads)
        if self.name == PLAIN:
            task, output = read_plain(row, reads, given=given | {"response"} if bare else given)
        else:
            task, output = FORMATS[self.name](_with_response(self.name, row) if bare else row)
        if (known := self._references.get(task.task.main_query)) is not None:
            task.task.metadata = {**task.task.metadata, **known}
            output.metadata = {**output.metadata, **known}
        named = task.task.metadata.get("task_id")
        if named in (None, "") and (task.task.main_query or task.task.init_messages):
            # A column that differs between completions, such as the score, must not split a group
            asked = repr((task.task.init_messages or task.task.main_query, task.task.metadata.get("answer")))
            task.task.task_id = hashlib.blake2b(asked.encode("utf-8", "replace"), digest_size=6).hexdigest()
        made: dict[str, Any] = {"task": task.task.model_dump()}
        return made if bare else {**made, "output": {"metadata": output.metadata}}


def _as_own_rollout(row: Mapping[str, Any]) -> dict[str, Any]:
    return dict(row) if isinstance(row.get("task"), Mapping) else {"task": dict(row)}


def _lacks_response(name: str, row: Mapping[str, Any], reads: Reads) -> bool:
    if name == PLAIN:
        return PlainRow(row, reads).response() is None
    return all(row.get(column) is None for column in _NO_RESPONSE[name][0])


def _with_response(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with an empty response, so that the format's reader accepts it; `Conversion` drops the output then."""
    columns, empty = _NO_RESPONSE[name]
    if name == "trl" and "prompt" not in row and is_chat(row.get("messages")):
        row = {**row, "prompt": row["messages"]}
    return {**row, columns[0]: empty}


def noted(items: Iterator[T], held: list[T]) -> Iterator[T]:
    """Hand the items on unchanged, and append each to `held`, so that they can be iterated again."""
    for item in items:
        held.append(item)
        yield item


def _format_by_columns(row: Mapping[str, Any]) -> str | None:
    return next((name for name, columns in _TELLING if columns <= row.keys()), None)


def _format_or_plain(row: Mapping[str, Any], reads: Reads) -> str:
    """The name of the row's format; `plain` if its columns fit no trainer's, or if `reads` names a column of the row
    for the response that is not the format's.
    """
    name = _format_by_columns(row)
    named = reads.column("response")
    if name is None or (name in _PAIRS and "labels" not in row and not _NOT_OF_PAIRS.isdisjoint(row)):
        return PLAIN
    if name == "slime" and {"label", "answer"} <= row.keys():
        return PLAIN
    # a data set's own completion beside the policy's response: only the user knows which is which
    if (
        name in _PAIRS
        and named is None
        and any(other in row for other in RESPONSES if other not in _NO_RESPONSE[name][0])
    ):
        return PLAIN
    if named is None or any(column in _NO_RESPONSE[name][0] for column in named.names):
        return name
    return PLAIN if any(column in row for column in named.names) else name


def format_of(line: Line) -> str | None:
    """The name of the trainer's format that a row has, by its columns; None for a rollout in this package's own form.

    `{"prompt": …, "completion": …}` is `trl`.

    Raises:
        ConfigError: the row has no known format.
    """
    row = object_in(line.raw)
    if row is None or (isinstance(row.get("task"), dict) and isinstance(row.get("output"), dict)):
        return None
    if (found := _format_by_columns(row)) is None:
        named = f"name one by --format ({', '.join(FORMATS)}), or the columns by --map"
        raise ConfigError(f"{line.where}: no trainer's format has the columns {sorted(row)!r}: {named}")
    return found


def references_of(lines: Iterable[Line]) -> dict[str, Mapping[str, Any]]:
    """The metadata of tasks by their query, to join them to dumps that hold no reference: `{"What is 2+2?": {…}}`.

    Args:
        lines: tasks, rollouts, or rows of a data set with a `prompt` and other columns.

    Raises:
        ConfigError: a row has none of these forms.
    """
    references: dict[str, Mapping[str, Any]] = {}
    for line in lines:
        try:
            row = json.loads(line.raw)
            task = row["task"] if isinstance(row.get("task"), dict) else row
            if "main_query" in task:
                references[task["main_query"]] = task.get("metadata", {})
            else:
                query = as_rollout(task["prompt"], "", {})[0].task.main_query
                references[query] = {key: value for key, value in task.items() if key != "prompt"}
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as exc:
            told = line.problem or repr(exc)
            raise ConfigError(f"{line.where}: a task has main_query and metadata, or prompt, columns: {told}") from exc
    return references
