"""`astuner.task_judge.reads`: which columns of a row hold the question, the answer and the response.

One mapping for every command, adapter, service and engine: a task's metadata hold its row's columns, and `TaskJudge`
applies the mapping before its rules. Files of rows are read by the same mapping, which then names the response, too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from agentscope_tuner.bounds import json_or
from agentscope_tuner.config import SECTION, StrictSection, validate_section
from agentscope_tuner.errors import ConfigError, reference_error, told
from agentscope_tuner.rules.kinds import compile_pattern
from agentscope_tuner.verify.find import last_boxed
from agentscope_tuner.workflow import Task, WorkflowTask

WHERE = f"{SECTION}.reads"
#: Common names of the columns with the question, the answer and the response; the first that a row has counts.
QUESTIONS = ("question", "problem", "prompt", "query", "instruction", "input")
ANSWERS = (
    "answer",
    "solution",
    "ground_truth",
    "reward_model.ground_truth",
    "label",
    "target",
    "final_answer",
    "expected_answer",
)
#: Names of `ANSWERS` that often hold something else: a class, a difficulty, what was read from a policy's response.
#: Such a column may confirm another one, but is not read as the answer itself unless the configuration names it.
UNSURE = frozenset({"label", "target", "final_answer"})
RESPONSES = ("response", "completion", "output", "generation", "generated_text", "model_output", "prediction")

_COMMON = frozenset({*QUESTIONS, *ANSWERS, *RESPONSES})

IDS = ("id", "uid", "index", "idx", "request_id", "task_id")
_FORMS = ("hash", "last_box", "number")
# Digits with all that hangs on them, and which of these are surely one number: "1.000.000" and "3,4" are not
_DIGITS = re.compile(r"(?<![\w.,])[-−+]?\d(?:[\d.,]*\d)?(?:[eE][-+]?\d+)?(?:/\d+)?")
_NUMBER = re.compile(r"[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?:/\d+)?")
# A column is at most as long as a reference with its worked solution
_MOST_CHARS = 200_000
# The regex library counts the CPU time of the whole process, and a trainer's other threads use it, too
_PATTERN_SECONDS = 30.0
_KEYS_SHOWN = 12
_ANSWER_CHARS = 60
# The most dots in a path into the mappings of a row
_MOST_STEPS = 4


_Name = Annotated[str, Field(min_length=1)]


def _listed(value: object) -> object:
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


class ReadColumn(StrictSection):
    r"""The columns that may hold one value of a row, and which part of the column's text is the value.

    Attributes:
        names: paths such as `reward_model.ground_truth`; the first that the row has counts.
        take: the part: None for all of it, `hash` for what stands behind `####`, `last_box` for the content of the last
            `\boxed{}`, `number` for the last number, `json.<path>` for a field of a JSON object, and `regex:<pattern>`
            for its first match, or the match's first group.
    """

    names: Annotated[tuple[_Name, ...], BeforeValidator(_listed)] = Field(alias="from", min_length=1)
    take: str | None = None

    @field_validator("take")
    @classmethod
    def _known(cls, take: str | None) -> str | None:
        if take is None or take in _FORMS or re.fullmatch(r"json\.\S+", take):
            return take
        if not take.startswith("regex:"):
            raise ValueError(f"must be {', '.join(_FORMS)}, json.<path> or regex:<pattern>")
        with told("the pattern does not compile", to=ValueError):
            compile_pattern(take.removeprefix("regex:"), ignore_case=False)
        return take


class _ReadMetadata(dict[str, Any]):
    """A task's metadata, in which a mapping has put the values of columns in the places that judges read.

    Attributes:
        row: the metadata before any mapping. Every mapping looks up its columns here, because an outer one may have
            replaced some.
        by: the mapping that made it.
    """

    def __init__(self, values: Mapping[str, Any], row: Mapping[str, Any], by: Reads | None = None) -> None:
        super().__init__(values)
        self.row, self.by = row, by

    def __reduce__(self) -> tuple[Any, ...]:
        return _ReadMetadata, (dict(self), self.row)


class Reads:
    """The mapping of one configuration; pickles.

    Args:
        given: `astuner.task_judge.reads`: by `question`, `answer`, `response` or a key of the metadata that a judge
            reads, a column's name, a list of names, or a mapping of `from` and `take`; null for the names that data
            sets commonly use.

    Raises:
        ConfigError: an entry that is none of these.

    Attributes:
        names_any: whether the configuration names a column.
    """

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        self._columns = {
            str(role): _column(str(role), value) for role, value in (given or {}).items() if value is not None
        }
        self.names_any = bool(self._columns)
        for role in ("question", "response"):
            if (column := self._columns.get(role)) is not None and column.take is not None:
                way_out = ": math.answer_in says where a response's answer stands" if role == "response" else ""
                raise ConfigError(f"{WHERE}.{role}.take: a {role} is read whole, got {column.take!r}{way_out}")
        self._of_metadata = {
            role: column for role, column in self._columns.items() if role not in ("question", "response")
        }

    def column(self, role: str) -> ReadColumn | None:
        """The column that the configuration names for `role`, such as `question`; None if it names none."""
        return self._columns.get(role)

    def task(self, task: WorkflowTask, needed: Collection[str]) -> WorkflowTask:
        """`task` with the values of its columns where judges look for them, such as that of `solution` under `answer`.

        It is the same object if nothing changes.

        Args:
            task: the task.
            needed: what the judge needs, its `reference_keys`. If that includes `answer`, and neither the configuration
                nor the metadata has one, a column with a common name is used, unless two of them differ.

        Raises:
            JudgeError: a column that the configuration names for a needed key is missing, or the value of a named
                column does not fit its `take`.
        """
        found = self.read(task.task, needed)
        return task if found is task.task else task.model_copy(update={"task": found})

    def read(self, task: Task, needed: Collection[str]) -> Task:
        """`Reads.task` for the inner task.

        Raises:
            JudgeError: see `Reads.task`.
        """
        if isinstance(task.metadata, _ReadMetadata) and task.metadata.by is self:
            return task
        row = _row(task)
        values = {
            role: value_of(row, role, column)
            for role, column in self._of_metadata.items()
            if role in needed or _first(row, column.names) is not None
        }
        # an answer that is None is a missing cell, which no other column may fill
        if "answer" in needed and "answer" not in values and "answer" not in task.metadata:
            name = sole_answer_column(task.metadata)
            values |= {} if name is None else {"answer": at_path(task.metadata, name)}
        made = task
        if values:
            made = task.model_copy(update={"metadata": _ReadMetadata({**task.metadata, **values}, row, self)})
        question = self._columns.get("question")
        # a trainer hands over the prompt beside the columns: if they do not hold the question, the prompt stays
        asked = None if question is None else _first(row, question.names)
        return made if asked is None else made.model_copy(update=_asked(asked[1]))


#: The mapping of a configuration that names no column.
NO_READS = Reads()


def _row(task: Task) -> Mapping[str, Any]:
    return task.metadata.row if isinstance(task.metadata, _ReadMetadata) else task.metadata


def _column(role: str, value: object) -> ReadColumn:
    plain = {"from": value} if isinstance(value, str | list) else value
    return validate_section(ReadColumn, plain, f"{WHERE}.{role}")


def _asked(value: Any) -> dict[str, Any]:
    if not isinstance(value, list):
        return {"main_query": str(value)}
    said = [turn.get("content") for turn in value if isinstance(turn, Mapping) and turn.get("role") == "user"]
    return {"main_query": said[-1] if said and isinstance(said[-1], str) else "", "init_messages": value}


def at_path(row: Mapping[str, Any], path: str) -> Any:
    """The value at a path such as `reward_model.ground_truth` or `choices.0.text`; None if it is missing or empty.

    A column's own name may have dots. A step into a text reads it as a JSON object.
    """
    value = cell_at(row, path)
    return None if isinstance(value, str) and not value else value


def cell_at(row: Mapping[str, Any], path: str) -> Any:
    """`at_path`, but an empty text is returned as it is: a policy may have written nothing."""
    if path in row:
        return _cell(row[path])
    value: Any = row
    for step in path.split("."):
        value = record_of(value) if isinstance(value, str) else value
        # a list out of Parquet
        value = value.tolist() if type(value).__module__ == "numpy" else value
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, Sequence) and not isinstance(value, str | bytes) and step.isdecimal():
            value = value[int(step)] if int(step) < len(value) else None
        else:
            return None
    return _cell(value)


def _cell(value: Any) -> Any:
    """A cell's value: numpy's scalar as a plain value, and NaN, as data frames write a missing cell, as None."""
    value = value.item() if type(value).__module__ == "numpy" and value.shape == () else value
    return None if isinstance(value, float) and math.isnan(value) else value


def record_of(text: str) -> Any:
    """The object or the list that a text holds as JSON; None for any other text."""
    if not text.lstrip().startswith(("{", "[")) or len(text) > _MOST_CHARS:
        return None
    return json_or(text, None)


def _first(row: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Any] | None:
    return next(((name, value) for name in names if (value := at_path(row, name)) is not None), None)


def value_of(row: Mapping[str, Any], role: str, column: ReadColumn) -> Any:
    """The value that a row holds for `role`.

    Raises:
        JudgeError: it has none of the columns, or the value does not have the form to take.
    """
    if (found := _first(row, column.names)) is None:
        empty = next((name for name in column.names if name in row), None)
        named = " or ".join(map(repr, column.names))
        told = f"the row has no {named}, only {_keys(row)}: name one of these"
        if not row:
            told = f"the row has no {named} beside its response and its question: one column cannot be two of them"
        if role in row:
            told += f", or remove `reads: {{{role}: …}}` to read {role!r}"
        else:
            told += "; if none fits, `astuner init auto` finds the judge for such rows"
        head, *_ = re.findall(r"[^\s.\[\]{}'\"$/]+", column.names[0]) or [""]
        if paths := list(leaves({head: row.get(head)})):
            told = f"the row has no {named}, but {', '.join(map(repr, paths[:_KEYS_SHOWN]))}: write the path so"
        if empty is not None:
            told = f"the row's {empty!r} is empty, {row[empty]!r}: fill its cell, or drop the row"
        raise reference_error(f"{WHERE}.{role}: {told}")
    name, value = found
    if column.take is None:
        return value
    if (taken := _taken(value, column.take)) is None:
        raise reference_error(f"{WHERE}.{role}: {name} holds nothing to take by {column.take!r}, it is {value!r:.100}")
    return taken


def _taken(value: Any, take: str) -> Any:
    if take.startswith("json."):
        record = record_of(value) if isinstance(value, str) else value
        return at_path(record, take.removeprefix("json.")) if isinstance(record, Mapping) else None
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if len(text) > _MOST_CHARS:
        return None
    if take == "hash":
        _, mark, behind = text.rpartition("####")
        return (behind.strip().partition("\n")[0].strip() or None) if mark else None
    if take == "last_box":
        return last_boxed(text) or None
    if take == "number":
        numbers = _DIGITS.findall(text)
        return numbers[-1].replace(",", "") if numbers and _NUMBER.fullmatch(numbers[-1]) else None
    pattern = compile_pattern(take.removeprefix("regex:"), ignore_case=False)
    try:
        match = pattern.search(text, timeout=_PATTERN_SECONDS)
    except TimeoutError:
        return None
    return None if match is None else (match[1] if pattern.groups else match[0])


def answer_columns(row: Mapping[str, Any]) -> list[str]:
    """The columns with the common names of an answer that the row has, in the order of `ANSWERS`."""
    return [name for name in ANSWERS if at_path(row, name) is not None]


def sole_answer_column(row: Mapping[str, Any]) -> str | None:
    """The column that surely holds the answer; None if there is none, or if two that may hold it differ."""
    names = [name for name in answer_columns(row) if name != "solution" or _states(row[name])]
    sure = [name for name in names if name not in UNSURE]
    return sure[0] if sure and agree(row, names) else None


def _states(solution: Any) -> bool:
    """Whether a column `solution` states an answer: behind `####`, in a box, or as all of a short text."""
    if not isinstance(solution, str):
        return True
    signed = "####" in solution or last_boxed(solution) is not None
    return signed or (len(solution) <= _ANSWER_CHARS and "\n" not in solution.strip())


def agree(row: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Whether the columns state the same answer, whatever worked solution is around it."""
    return len(names) < 2 or len({_stated(at_path(row, name)) for name in names}) == 1


def _stated(value: Any) -> str:
    """The answer that a reference states, to compare two columns: `3 + 4 = 7 #### 7` gives `7`."""
    text = value if isinstance(value, str) else json.dumps(value, default=str, sort_keys=True)
    behind = text.rpartition("####")[2]
    boxed = last_boxed(behind)
    return (behind if boxed is None else boxed).strip(" $\n\t.")


def hint(row: Mapping[str, Any]) -> str:
    """Advice, mostly a line of YAML, on how to name the answer's column if no common name shows it.

    It names columns and no values, so that all rows of one data set have the same hint.
    """
    if not row:
        return "put the reference there, in a row as its column `answer`"
    if (packed := packed_rows(row)) is not None:
        return packed
    if (names := answer_columns(row)) == ["solution"] and not _states(row["solution"]):
        told = "the solution states its answer neither by #### nor in a box"
        return f"{told}: to compare with all of it, write `reads: {{answer: solution}}` under {SECTION}"
    if len(names) > 1:
        told = f"{' and '.join(names[:3])} differ: name one"
        return f"{told}, `reads: {{answer: {min(names, key=doubt)}}}` under {SECTION}"
    if names:
        told = f"if {names[0]!r} holds the reference answer, write `reads: {{answer: {names[0]}}}` under {SECTION}"
        return f"{told}; if not, add a column `answer`"
    guess = next(likely_answers(row), None)
    if guess is None and (empty := next((name for name in ANSWERS if name in row), None)) is not None:
        return f"the row's reference {empty!r} is empty: fill its cell, or drop the row"
    named = guess is not None
    guess = guess or sole_other(row, QUESTIONS + RESPONSES)
    if guess is None:
        return f"name the reference's column, `reads: {{answer: <column>}}` under {SECTION}"
    beside = (
        "" if named or len(row) > 1 else "; the policy's response stands in another column, which the file needs, too"
    )
    return f"is it {guess!r}? Then write `reads: {{answer: {guess}}}` under {SECTION}{beside}"


def packed_rows(row: Mapping[str, Any]) -> str | None:
    """Advice on how to write the rows line by line, if `row` is an object that holds all of them; else None."""
    if (several := _file_of_columns(row)) is not None:
        return several
    # `{"0": {…}, "1": {…}}`, rows by their ids
    if len(row) > 1 and all(_is_row(value) for value in row.values()):
        return "each value is a row of its own: `jq -c '.[]' FILE > rows.jsonl` writes them line by line"
    name, rows = next(iter(row.items()), ("", None))
    if len(row) != 1 or not isinstance(rows, list) or not rows or not isinstance(rows[0], Mapping):
        return None
    return f"{name!r} holds a list of rows: `jq -c '.{name}[]' FILE > rows.jsonl` writes them line by line"


def _file_of_columns(row: Mapping[str, Any]) -> str | None:
    """Advice, if `row` is a table by its columns, such as `{"question": [...], "answer": [...]}`; else None.

    A column is a list or, as pandas writes it, a mapping from the rows' numbers.
    """
    held = {name: _column_cells(value) for name, value in row.items() if name in _COMMON}
    several = [name for name, count in held.items() if count > 1 and count == max(held.values())]
    if len(several) < 2:
        return None
    write = "`pandas.DataFrame(json.load(open(FILE))).to_json(OUT, orient='records', lines=True)`"
    told = f"{' and '.join(several[:2])} hold {held[several[0]]} values each, as a file of columns does"
    return f"{told}: write one row for each, as {write}"


def _column_cells(value: Any) -> int:
    """How many cells a column holds, where `value` is one; 0 for chat messages, and for anything else."""
    if isinstance(value, Mapping):
        return len(value) if all(str(key).isdecimal() for key in value) else 0
    return len(value) if isinstance(value, list) and not any(isinstance(cell, Mapping) for cell in value) else 0


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping) and not {*RESPONSES}.isdisjoint(value) and not _is_turn(value)


def doubt(name: str) -> int:
    """How seldom a column of this name holds the answer: 2 for `label` and `target`, 1 for `solution`, else 0."""
    column = name.partition(".")[0].lower()
    return 2 if column in ("label", "target") else 1 if column == "solution" else 0


def sole_other(row: Mapping[str, Any], known: Sequence[str]) -> str | None:
    """The only column with a text or a number that is no id and not among `known`; None if there is none, or more."""
    kinds = (str, int, float)
    others = [key for key, value in row.items() if key not in known and key not in IDS and isinstance(value, kinds)]
    return str(others[0]) if len(others) == 1 else None


# What a column holds, by words in its path; the first pattern that matches decides
_WORDS = tuple(
    (role, re.compile(words, re.IGNORECASE))
    for role, words in (
        ("answer", r"gold|truth|expected|reference|correct|target|label|(?<![a-z])(gt|ans)(?![a-z])|标准|参考|正确"),
        ("response", "response|completion|output|generat(ion|ed)|predict|reply|model.?(answer|text)|student|模型|"
         "回答|回复|输出|生成|预测"),
        ("answer", "answer|solution|答案|解答"),
        ("question", "question|problem|prompt|query|instruction|input|message|问题|题目|题干|提问"),
    )
)  # fmt: skip
_WRITERS = {"assistant": "response", "user": "question"}


def likely_columns(row: Mapping[str, Any], role: str) -> list[str]:
    """Paths to texts, numbers and lists of messages whose names suggest `role`: question, answer or response."""
    return [path for path in leaves(row) if _role_of(row, path) == role]


def _role_of(row: Mapping[str, Any], path: str) -> str | None:
    """The role that a path suggests, or None: `answer` for `gold_label`, `question` for a user message's content."""
    turn = at_path(row, path.rpartition(".")[0]) if "." in path else None
    if isinstance(turn, Mapping) and (wrote := _WRITERS.get(str(turn.get("role")))) is not None:
        return wrote if path.endswith(".content") else None
    return next((role for role, words in _WORDS if words.search(path)), None)


def likely_answers(row: Mapping[str, Any]) -> Iterator[str]:
    """Paths to texts and numbers whose names suggest an answer, such as `gold.text`."""
    return (path for path in likely_columns(row, "answer") if not isinstance(at_path(row, path), list))


def leaves(value: Any, path: str = "") -> Iterator[str]:
    """The paths to the single values in `value`: `{"a": {"b": 1, "c": ["x"]}}` gives `a.b` and `a.c.0`.

    Mappings, lists of one item and both as JSON text are opened; a list of chat messages counts as one value.

    Args:
        value: any value of a row.
        path: the path of `value` itself.
    """
    packed = isinstance(value, str) and value.lstrip().startswith(("{", '["'))
    inner = record_of(value) if packed else value
    if isinstance(inner, Mapping) and path.count(".") < _MOST_STEPS:
        for key, held in inner.items():
            yield from leaves(held, f"{path}.{key}" if path else str(key))
    elif isinstance(inner, list) and len(inner) == 1 and not _is_turn(inner[0]):
        yield from leaves(inner[0], f"{path}.0")
    elif isinstance(inner, list):
        yield from [path] if inner and isinstance(inner[0], Mapping) else []
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and _cell(value) not in (None, ""):
        yield path


def _is_turn(value: Any) -> bool:
    return isinstance(value, Mapping) and not {"role", "from"}.isdisjoint(value)


def _keys(row: Mapping[str, Any]) -> str:
    keys = sorted(map(str, row))
    more = f" and {len(keys) - _KEYS_SHOWN} more" if len(keys) > _KEYS_SHOWN else ""
    return ", ".join(repr(key) for key in keys[:_KEYS_SHOWN]) + more
