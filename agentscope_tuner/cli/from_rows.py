"""`astuner init KIND --from ROWS`: the configuration for somebody's own rows, and why it reads them so.

A row is of a kind when the kind's own judge could read its reference: tests that parse, numbers and a target, a letter.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.graders.rubrics.criteria import read_rubrics
from agentscope_tuner.records.formats import AUTO, Conversion
from agentscope_tuner.records.formats.plain import CHATS, chat_of, is_own, plain_text
from agentscope_tuner.records.reader import Line, object_in, unread, way_out
from agentscope_tuner.records.scored_rows import is_number
from agentscope_tuner.task_judge.choice_judge import options_of
from agentscope_tuner.task_judge.contract.columns import (
    ANSWERS,
    IDS,
    QUESTIONS,
    RESPONSES,
    UNSURE,
    Reads,
    agree,
    answer_columns,
    at_path,
    doubt,
    leaves,
    likely_answers,
    likely_columns,
    packed_rows,
    sole_answer_column,
)
from agentscope_tuner.verify.code.formats import BadTestsError, read_tests
from agentscope_tuner.verify.find import Place, find_answer, stated_elsewhere
from agentscope_tuner.verify.math.tokens import is_missing
from agentscope_tuner.verify.math.verdict import check_reference

_MOST_ROWS = 200
_NAMES_SHOWN = 12
_UNREAD = "answer: {} of {} rows have none there that can be read"
_NO_QUESTION = "question: no column has a common name: name it, --map <column>=question"
# Words by which a prompt asks for a form of the answer
_ASKED: Mapping[Place, str] = {"hash": "####", "tag": "<answer>"}
_NAMES: Mapping[Place, str] = {
    "boxed": r"in \boxed{}",
    "hash": "after ####",
    "tag": "in <answer>",
    "label": "after a label",
}


@dataclass(slots=True)
class Looked:
    """The findings about the first rows, from which the configuration is written.

    Attributes:
        kind: the judge's short name.
        rows: how many were looked at.
        responses: how many have a response.
        reads: the column of each role, such as `{"answer": "solution"}`, as `reads` has it.
        whys: a reason for each decision, in words.
        has_answer: whether the rows have a column `answer`.
        settings: the judge's own settings, as lines of YAML.
    """

    kind: str
    rows: int = 0
    responses: int = 0
    reads: dict[str, str] = field(default_factory=dict)
    whys: list[str] = field(default_factory=list)
    has_answer: bool = True
    settings: str = ""

    def yaml(self, name: str) -> str:
        """The configuration, with the reasons as comments."""
        said = "".join(f"    # {' '.join(why.split())}\n" for why in self.whys)
        named = {role: _quoted(column) for role, column in self.reads.items()}
        if not self.has_answer and named.get("answer", "answer") != "answer":
            # where a trainer hands over the reference by itself, this column is not there
            said += "    # answer: else the reference that a trainer hands over by itself, which is called answer\n"
            named["answer"] = f"[{named['answer']}, answer]"
        mapping = ", ".join(f"{role}: {column}" for role, column in named.items())
        reads = f"    reads: {{{mapping}}}\n" if mapping else ""
        return (
            f"# For {' '.join(name.split())}, by its first {self.rows} rows; other sections may stand here, too.\n"
            f"astuner:\n  task_judge:\n    judge: {self.kind}\n{said}{reads}{self.settings}"
            "    rules:\n      # an empty answer is wrong, and no judge is asked\n"
            "      - {id: not_empty, kind: non_empty, target: output, action: mark_bad}\n"
        )


def _quoted(column: str) -> str:
    plain = column.replace("_", "").replace(".", "").isalnum() and not column[0].isdigit()
    # `no` would be read as false
    return column if plain and yaml.safe_load(column) == column else json.dumps(column)


def look(lines: Iterable[Line], kind: str = "math", named: Mapping[str, str] = MappingProxyType({})) -> Looked:
    """Look at the first rows.

    Args:
        kind: the judge's short name, of `KINDS`; `auto` for the first whose reference the rows hold.
        named: the columns that the user names, by `question`, `answer` and `response`.

    Raises:
        ConfigError: none of them can be read, or no column holds a reference that the judge reads.
    """
    seen = list(islice(lines, _MOST_ROWS))
    first = [line for line in seen if line.problem is None]
    if not (rows := [row for line in first if (row := object_in(line.raw))]):
        raise ConfigError(f"--from holds no row: {_no_row(*seen[:1])}")
    found = Looked(kind, rows=len(rows), reads=dict(named), has_answer=any("answer" in row for row in rows))
    for role, column in named.items():
        if not any(at_path(row, column) is not None for row in rows):
            raise ConfigError(f"--map {column}={role}: no row has {column!r}, only {', '.join(map(repr, rows[0]))}")
    whole = whole_row(rows)
    if (packed := packed_rows(rows[0])) is not None:
        raise ConfigError(f"--from holds no rows: {packed}")
    _name(found, rows, whole, "question", QUESTIONS)
    _name(found, rows, whole, "response", RESPONSES)
    tasks, texts = _converted(found, first)
    found.responses = len(texts)
    metadata: list[_Row] = [task.get("metadata", {}) for task in tasks]
    asked = [str(task.get("main_query", "")) for task in tasks]
    found.kind, told = _guess([{"question": text, **row} for text, row in zip(asked, metadata, strict=True)], kind)
    if kind == "auto":
        found.whys.insert(0, f"judge: {found.kind}, since {told.why}")
    elif kind == "math" and (choice := _most(metadata, _choice)) is not None:
        found.whys.insert(0, f"judge: math, as you say; {choice.why}, which init choice is for")
    elif found.kind != "math":
        found.whys.append(f"reference: {told.why}")
    found.reads |= told.reads
    if (answer := told.reads.get("answer")) and (bare := sum(not _given(row, answer) for row in metadata)):
        found.whys.append(_UNREAD.format(bare, len(rows)))
    found.settings = told.settings
    found.whys += told.more
    if found.kind == "choice":
        _numbered(found, metadata)
    if found.kind == "math":
        _of_math(found, first, metadata, texts, asked)
        if kind == "auto":
            # The column that is read, which of several was not known before
            found.whys[0] = f"judge: math, since {_HOLDS_FORMULA.format(found.reads['answer'])}"
    if not found.responses and found.kind != "llm":
        found.whys.append("response: no column holds one, and training needs none; --map <column>=response names one")
    return found


def _no_row(line: Line | None = None) -> str:
    """Why the first line is no row."""
    if line is None:
        return "rows are JSON objects, one a line, or CSV, Parquet …"
    if line.problem is not None:
        return f"{line.where}: {line.problem}"
    try:
        held = json.loads(line.raw)
    except (ValueError, RecursionError) as exc:
        return unread(f"no JSON: {exc}", line.raw)
    return "the first row has no column" if held == {} else f"the first line is no object{way_out(line.raw)}"


def _of_math(
    found: Looked, first: Sequence[Line], metadata: Sequence[_Row], texts: list[str], asked: list[str]
) -> None:
    """Find the columns of the reference, the response and the question, by values if no name helps, and the places of
    answers.
    """
    rows = [row for line in first if (row := object_in(line.raw))]
    # by the rows' own names, which are the same in every trainer
    _reference(found, rows if not is_own(rows[0]) and any(map(answer_columns, rows)) else metadata, texts)
    unread = not texts and not is_own(rows[0]) and "response" not in found.reads
    if unread and (response := states_its_own(rows, found.reads["answer"], found.reads.values())):
        found.reads["response"] = response
        _, texts = _converted(found, first)
        found.responses = len(texts)
        found.whys.append(f"response: {response} states an answer, often not the reference: is it the response?")
    if _NO_QUESTION in found.whys and (question := only_sentences(rows, found.reads.values())):
        found.whys.remove(_NO_QUESTION)
        found.reads["question"] = question
        found.whys.append(f"question: it stands in {question}, the only sentences: change it if that is wrong")
    _places(found, texts, asked)


def _converted(found: Looked, first: Sequence[Line]) -> tuple[list[dict[str, Any]], list[str]]:
    """The tasks of the rows, as the judge would read them, and the responses."""
    convert = Conversion(AUTO, reads=Reads(found.reads), responses=False)
    made = [json.loads(line.raw) for line in convert.all(first) if line.problem is None]
    if not made:
        problem = next(line.problem for line in convert.all(first))
        raise ConfigError(f"no row can be read: {problem}")
    texts = [str(row["output"]["metadata"].get("final_answer", "")) for row in made if row.get("output")]
    return [row.get("task", row) for row in made], texts


class Told(NamedTuple):
    """The evidence that rows are of a kind, and the configuration that follows from it.

    Attributes:
        why: the evidence, in words.
        reads: the column of each role, as in `Looked`.
        settings: the judge's own settings, as lines of YAML.
        more: the steps that are left to the user, in words.
    """

    why: str
    reads: Mapping[str, str] = MappingProxyType({})
    settings: str = ""
    more: tuple[str, ...] = ()


_Row = Mapping[str, Any]
# The columns in which trainers' rows keep what belongs to a reference
_WITHIN = ("", "ground_truth.", "reward_model.ground_truth.")
_LETTER = re.compile(r"\(?[A-Ja-j]\)?\.?")
_NUMBER = re.compile(r"\d{1,2}(?:\.0)?")
_LETTERS = (*ANSWERS, "answerKey", "correct_answer", "correct_option", "gold")
_NUMBERED = (*_LETTERS, "label", "answer_index", "answer_idx", "gold_index")
_LISTED = re.compile(r"(?:^|\s)\(?A[.):、]\s?\S[\s\S]*\s\(?B[.):、]")


def _code(row: _Row) -> Told | None:
    """Tests in one of the forms that the code judge reads: the row itself, or one of its columns."""
    for name in ("", *row, "reward_model.ground_truth"):
        value = at_path(row, name) if name else dict(row)
        # any list of texts could be one of asserts
        if isinstance(value, list) and any(isinstance(one, str) and "assert" not in one for one in value):
            continue
        try:
            tests = read_tests(value)
        except (BadTestsError, RecursionError):
            continue
        why = f"the tests of a program stand in {name or 'its columns'}: {len(tests.tests)} in the first row"
        return Told(why, {"tests": name} if name not in ("", "tests") else {})
    return None


def _instruction(row: _Row) -> Told | None:
    if not isinstance(row.get("instruction_id_list"), list):
        return None
    return Told("instruction_id_list names instructions that can be checked")


def _sql(row: _Row) -> Told | None:
    name = next((name for name in ("gold_sql", "SQL", "query", "sql") if isinstance(row.get(name), str)), None)
    if name is None or not isinstance(row.get("db_id"), str):
        return None
    settings = "    # the folder of the databases, <db_id>/<db_id>.sqlite: change it\n"
    why = f"db_id names a database, and {name} holds the reference query"
    left = "databases: name their folder in judge_kwargs.databases, <db_id>/<db_id>.sqlite"
    return Told(why, {}, f"{settings}    judge_kwargs: {{databases: databases}}\n", (left,))


def _countdown(row: _Row) -> Told | None:
    for within in _WITHIN:
        target = at_path(row, f"{within}target")
        for name in ("nums", "numbers"):
            numbers = at_path(row, within + name)
            if is_number(target) and isinstance(numbers, list) and len(numbers) > 1 and all(map(is_number, numbers)):
                reads = {"target": f"{within}target", "nums": within + name}
                named = {role: path for role, path in reads.items() if role != path}
                return Told(f"{within}target is to be reached with the numbers in {within}{name}", named)
    return None


def _task_rubrics(row: _Row) -> Told | None:
    for name in ("rubrics", "rubric", "criteria"):
        try:
            criteria = read_rubrics(at_path(row, name)).criteria
        except ValueError:
            continue
        reads = {} if name == "rubrics" else {"rubrics": name}
        return Told(f"{name} holds criteria, {len(criteria)} in the first row", reads, f"    task_rubrics:\n{_MODEL}")
    return None


def _choice(row: _Row) -> Told | None:
    """A letter, beside options or a question that lists them."""
    options, names = _options(row), (*_LETTERS, *likely_answers(row))
    name = next((name for name in names if _LETTER.fullmatch(str(at_path(row, name)).strip())), None)
    texts = _option_texts(row)
    counted = {name: cell for name in _NUMBERED if _NUMBER.fullmatch(cell := str(at_path(row, name)))}
    numbered = next((name for name, cell in counted.items() if float(cell) <= len(texts)), None) if texts else None
    if name is None and numbered is not None:
        return Told(f"{numbered} is the number of one of the {options}", {"answer": numbered})
    asked = any(_LISTED.search(plain_text(row[name])) for name in (*QUESTIONS, "messages") if row.get(name))
    if name is not None and (options or asked):
        return Told(f"{name} holds a letter, and {options or 'the question'} lists the options", {"answer": name})
    said = {name: str(at_path(row, name)) for name in _LETTERS}
    # a number is the math judge's
    worded = next((name for name, text in said.items() if text in texts and not is_formula(text)), None)
    return None if worded is None else Told(f"{worded} is the text of one of the {options}", {"answer": worded})


def _options(row: _Row) -> str | None:
    return next((name for name in ("options", "choices", "endings") if isinstance(row.get(name), list | Mapping)), None)


def _option_texts(row: _Row) -> list[str]:
    name = _options(row)
    try:
        return list(options_of(row[name], name).values()) if name else []
    except JudgeError:
        return []


def _numbered(found: Looked, rows: Sequence[_Row]) -> None:
    """Name the options' column and, where references are numbers, the number of the first option."""
    options = next((name for row in rows if (name := _options(row))), "options")
    kwargs = [f"options: {options}"] if options != "options" else []
    cells = [(str(at_path(row, found.reads["answer"])), len(_option_texts(row))) for row in rows]
    numbers = [(int(float(cell)), count) for cell, count in cells if _NUMBER.fullmatch(cell)]
    signs = {
        "0, since a row has the number 0": any(number == 0 for number, _ in numbers),
        "1, since a row has as many options as its number": any(number == count for number, count in numbers),
    }
    told = [sign for sign, holds in signs.items() if holds]
    if len(told) == 1:
        kwargs.append(f"count_from: {told[0][0]}")
        found.whys.append(f"count_from: {told[0]}")
    elif numbers:
        found.whys.append("count_from: no row tells if numbers count from 0 or from 1: write judge_kwargs.count_from")
    found.settings = f"    judge_kwargs: {{{', '.join(kwargs)}}}\n" if kwargs else ""


_HOLDS_FORMULA = "{} holds a number or a formula"


def _math(row: _Row) -> Told | None:
    names = answer_columns(row) or list(likely_answers(row))
    name = next((name for name in names if is_formula(at_path(row, name))), None)
    return None if name is None else Told(_HOLDS_FORMULA.format(name))


_MODEL = (
    "      # `astuner llm serve` serves this small model; any OpenAI-compatible endpoint does\n"
    "      model_name: smollm2\n      base_url: http://127.0.0.1:8300/v1\n"
)
_PROMPT = """\
      prompt: |
        Question: {query}
%s        Answer to judge: {response}
        How %s, from 1 (not at all) to 5 (wholly)?
      reads: {query: task.main_query, %sresponse: output.metadata.final_answer}
      scale: {min: 1, max: 5}
      success_threshold: 0.7
"""


def _llm(row: _Row) -> Told:
    """A text to compare with, or nothing: a judge model reads it."""
    name = sole_answer_column(row) or next(likely_answers(row), None)
    if name is None:
        prompt = _PROMPT % ("", "well does it answer the question", "")
        return Told("no column holds a reference", {}, f"    llm:\n{_MODEL}{prompt}")
    reference = "        Reference answer: {ground_truth}\n"
    asked, reads = "well does the answer agree with the reference", "ground_truth: task.metadata.answer, "
    why = f"{name} holds a text, which a model compares best; judge: text_match compares words alone"
    return Told(why, {"answer": name}, f"    llm:\n{_MODEL}{_PROMPT % (reference, asked, reads)}")


#: By the judge's short name, a function that gives the evidence that a row is for this judge, or None. The first kind
#: that most rows have counts.
KINDS: Mapping[str, Callable[[_Row], Told | None]] = {
    "instruction": _instruction,
    "code": _code,
    "sql": _sql,
    "countdown": _countdown,
    "task_rubrics": _task_rubrics,
    "choice": _choice,
    "math": _math,
    "llm": _llm,
}


def _guess(rows: Sequence[_Row], kind: str) -> tuple[str, Told]:
    """The kind of the rows, and the evidence for it. If `kind` is not `auto`, only this kind is tried.

    Raises:
        ConfigError: the rows are not of `kind`; the message names the kind that they seem to be of.
    """
    if kind != "auto" and kind not in KINDS:
        raise ConfigError(f"--from looks at rows of {', '.join(KINDS)} or auto, got {kind!r}")
    telling = _with_reference(rows)
    if kind == "math" and _most(telling, _math) is None:
        guessed, told = _guess(rows, "auto")
        if guessed == "llm":
            # it says by itself what it looked for
            return kind, Told("")
    for name, told_by in KINDS.items():
        if kind in ("auto", name) and (found := _most(telling, told_by)) is not None:
            return name, found
    guessed, told = _guess(rows, "auto")
    columns = ", ".join(map(repr, sorted(rows[0])))
    hint = f": they look like rows of {guessed}, since {told.why}: `astuner init {guessed} … --from …`"
    raise ConfigError(f"no column holds what the {kind} judge reads, among {columns}{hint}")


def _with_reference(rows: Sequence[_Row]) -> Sequence[_Row]:
    """The rows whose reference is not empty, because an empty one shows no kind; all rows if no column is named like a
    reference.
    """
    whole = whole_row(rows)
    names = [*answer_columns(whole), *likely_answers(whole)]
    return [row for row in rows if any(_given(row, name) for name in names)] or rows


def _given(row: _Row, name: str) -> bool:
    value = at_path(row, name)
    return value is not None and not is_missing(str(value))


def _most(rows: Sequence[_Row], told_by: Callable[[_Row], Told | None]) -> Told | None:
    """The evidence from the first row of the kind that `told_by` detects; None if fewer than most of the rows are of
    it.
    """
    found = [told for row in rows if (told := told_by(row)) is not None]
    return found[0] if found and len(found) >= SHARE * len(rows) else None


def _name(found: Looked, rows: list[dict[str, Any]], row: dict[str, Any], role: str, names: tuple[str, ...]) -> None:
    """Choose the column of a role, such as `question`: one with a common name, else one whose name resembles the role.

    Args:
        row: a row with every column.
    """
    if is_own(rows[0]) or role in found.reads:
        return
    present = [name for name in names if at_path(row, name) is not None]
    if present and _is_text(at_path(row, present[0])):
        column, sure = present[0], ""
    elif any(chat_of(row.get(name)) for name in CHATS):
        # The first turns of the chat are the question, and its last ones the response
        return
    elif (guess := _column_by_name(rows, row, role)) is not None:
        column, sure = guess, ", by its name: change it if that is wrong"
    elif present:
        column, sure = present[0], ""
    else:
        if role == "question":
            found.whys.append(_NO_QUESTION)
        return
    said = plain_text(at_path(row, column))
    others = [name for name in present if plain_text(at_path(row, name)) not in said]
    more = f", not in {' or '.join(others)}: change it if that is wrong" if others else ""
    found.reads[role] = column
    found.whys.append(f"{role}: it stands in {column}{sure or more}")


def _is_text(value: Any) -> bool:
    """Whether a cell is a text or chat messages, or a list of one of them."""
    if isinstance(value, list) and len(value) == 1 and not chat_of(value):
        value = value[0]
    return bool(chat_of(value)) or isinstance(value, str | int | float)


def _column_by_name(rows: Sequence[_Row], whole: _Row, role: str) -> str | None:
    """The column with the longest texts among those whose names resemble a role; None if there is none. Columns that
    repeat a few texts, such as a class, do not count.
    """
    sizes: dict[str, float] = {}
    for name in likely_columns(whole, role):
        cells = [at_path(row, name) for row in rows]
        texts = [plain_text(cell) for cell in cells if chat_of(cell) or isinstance(cell, str)]
        if len(set(texts)) * 2 > len(rows):
            sizes[name] = sum(map(len, texts)) / len(texts)
    return max(sizes, key=lambda name: sizes[name], default=None)


def _reference(found: Looked, rows: Sequence[_Row], texts: Sequence[str]) -> None:
    soles = {sole for row in rows if (sole := sole_answer_column(row))}
    present = soles if len(soles) == 1 else [name for row in rows for name in answer_columns(row)]
    named = found.reads.get("answer")
    first = [named] if named else list(dict.fromkeys(present))
    whole = whole_row(rows)
    names = [path for name in first for path in _within(rows, name)] or list(likely_answers(whole))
    likely: Sequence[str] = ()
    if not names:
        likely, names = answers_by_value(found.reads.values(), rows, whole, texts)
    counts = {name: sum(is_reference(at_path(row, name)) for row in rows) for name in names}
    signs = {name: sum(is_formula(at_path(row, name)) for row in rows) for name in names}
    # a column that always has a class stands behind one that often has an answer
    best = max(counts, key=lambda name: (counts[name] > 0, -doubt(name), signs[name] > 0, counts[name]), default=None)
    if best is None or not counts[best] or (likely and len(names) > 1):
        raise ConfigError(_unanswered(found, whole, first, (names or likely) if likely else ()))
    if counts[best] < len(rows):
        found.whys.append(_UNREAD.format(len(rows) - counts[best], len(rows)))
    others = [name for name in first if name != best and not best.startswith(f"{name}.")]
    others += [name for name in likely_answers(whole) if name not in (*names, *first) and _differs(rows, best, name)]
    beside = f", not in {' or '.join(others)}: change it if that is wrong" if others else ""
    text = str(at_path(next(row for row in rows if is_reference(at_path(row, best))), best))
    form = ", after its ####" if "####" in text else r", in its last \boxed{}" if "\\boxed" in text else ""
    values = len({str(at_path(row, best)) for row in rows})
    doubted = f"; columns named {best} often hold something else, look: {values} different values in {len(rows)} rows"
    sure = doubted if best in UNSURE and not named else ""
    if likely:
        sure = ", since responses state what it holds: change it if that is wrong"
    found.whys.append(f"answer: it stands in {best}{form}{beside}{sure}")
    found.reads["answer"] = best


def _within(rows: Sequence[_Row], name: str) -> list[str]:
    """The paths to the values of a column: `["a"]` if column `a` holds answers, `["a.value", "a.unit"]`
    for a mapping.
    """
    cell = next((cell for row in rows if (cell := at_path(row, name)) is not None), None)
    return [name] if is_reference(cell) else list(leaves(cell, name))


def _differs(rows: Sequence[_Row], best: str, name: str) -> bool:
    """Whether column `name` holds various answers in most rows, and in some row a different answer than
    column `best`.
    """
    values = {str(value) for row in rows if is_reference(value := at_path(row, name))}
    # a class has the same value in many rows
    return len(values) * 2 > len(rows) and not all(agree(row, [best, name]) for row in rows)


def _unanswered(found: Looked, row: _Row, first: Sequence[str], likely: Sequence[str]) -> str:
    """The message if no column holds an answer: the columns, and how to name one.

    Args:
        row: a row with every column.
        first: the columns with the common names of an answer.
        likely: the columns that could hold an answer by their values.
    """
    response = found.reads.get("response")
    instead = f"; if {response} holds the reference solution, --map {response}=answer" if response else ""
    names = [path for name, value in row.items() for path in [*leaves(value, name)] or [name]]
    held = ", ".join(map(repr, names[:_NAMES_SHOWN])) + (" …" if len(names) > _NAMES_SHOWN else "")
    guess = likely[0] if likely else "<column>"
    among = "".join(f"; {name!r} holds {at_path(row, name)!r:.60}" for name in first[:1])
    among += f"; by its values it could be {' or '.join(map(repr, likely))}" if likely else ""
    named = f"name it, --map {guess}=answer, where a column may be a path such as a.b.0{instead}"
    return f"no column holds an answer that the math judge reads, among {held}{among}: {named}"


def _places(found: Looked, texts: list[str], questions: list[str]) -> None:
    """Find the place of answers, such as a box, in the responses; if there are none, in what the prompts ask for."""
    counts: Counter[Place] = Counter()
    for text in texts:
        boxed = find_answer(text, ["boxed"], by_value=True).text is not None
        place: Place | None = "boxed" if boxed else stated_elsewhere(text, ["boxed"])
        counts.update([place] if place else [])
    many = [place for place, count in counts.most_common() if count * 10 >= len(texts)]
    for place in many:
        found.whys.append(f"answer_in: {counts[place]} of {len(texts)} responses state their answer {_NAMES[place]}")
    if texts and not many:
        found.whys.append(f"answer_in: no sign of it in {len(texts)} responses: ask for \\boxed{{}} in the prompt")
    if not texts:
        asks: Callable[[str], bool] = lambda sign: sum(sign in text for text in questions) * 2 > len(questions)  # noqa: E731
        many = [place for place, sign in _ASKED.items() if asks(sign)]
        found.whys += [f"answer_in: the prompts ask for {_ASKED[place]}" for place in many]
    answer_in = ["boxed", *(place for place in many if place != "boxed")]
    found.settings = f"    math: {{answer_in: [{', '.join(answer_in)}]}}\n"


#: The share of the rows that must be of a kind.
SHARE = 0.8
_WHOLE_CHARS = 60
# One row in this number must agree
_SELDOM = 5
_FEW_WORDS = 2
# A single letter is a variable
_FORMULA = re.compile(r"[\d\\+*^=<>π∞%$]|(?<!\w)-\w|\b\w/\w\b|^\s*\w\s*$")


def whole_row(rows: Sequence[_Row]) -> dict[str, Any]:
    """A row that has every column of the others: cells of the first row may be missing."""
    whole: dict[str, Any] = {}
    for row in rows:
        for name in row:
            value, held = at_path(row, name), whole.get(name)
            if isinstance(value, Mapping) and isinstance(held, Mapping):
                whole[name] = whole_row([held, value])
            elif held is None:
                whole[name] = value
    return whole


def is_reference(value: Any) -> bool:
    """Whether the math judge can read a value as an answer, such as `12`. It reads sentences, too, though few are
    answers.
    """
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return False
    text = str(value)
    try:
        check_reference(text)
    except JudgeError:
        return False
    return len(text) <= _WHOLE_CHARS or "####" in text or "\\boxed" in text


def is_formula(value: Any) -> bool:
    """Whether a value can be read as an answer, and has a digit, an operator or a backslash: `x+1`, but not `yes`."""
    return is_reference(value) and bool(_FORMULA.search(str(value)))


def answers_by_value(
    taken: Collection[str], rows: Sequence[_Row], whole: _Row, texts: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The columns that could hold the answer by their values, for rows in which no name helps; and those of them that
    also agree with an answer in a response or another column.

    Such a column holds a number or a formula in most rows, and various ones.
    """
    likely, stated = [], []
    for name in leaves(whole):
        if name in IDS or name in taken:
            continue
        cells = [at_path(row, name) for row in rows]
        bare = [cell for cell in cells if is_formula(cell) and stated_elsewhere(str(cell), []) is None]
        if len(bare) < SHARE * len(rows) or len(set(map(str, bare))) * 2 <= len(rows):
            continue
        likely.append(name)
        said = [{"response": text} for text in texts] if len(texts) == len(rows) else [{} for _ in rows]
        agreeing = sum(
            any(agree({"": cell, **row, **held}, ["", other]) for other in _stating_columns({**row, **held}))
            for row, held, cell in zip(rows, said, cells, strict=True)
        )
        if agreeing * _SELDOM >= len(rows):
            stated.append(name)
    return likely, stated


def _stating_columns(row: _Row) -> list[str]:
    r"""The columns whose texts state an answer, such as `the answer is 5`, `#### 5` or `\boxed{5}`."""
    held = ((name, at_path(row, name)) for name in leaves(row))
    return [name for name, text in held if isinstance(text, str) and stated_elsewhere(text, [])]


def states_its_own(rows: Sequence[_Row], answer: str, taken: Collection[str]) -> str | None:
    """The column whose texts state an answer, in some row a different one than the reference: it is what a policy
    wrote, because a second reference would always agree. None if there is no such column.

    Args:
        answer: the column of the reference.
        taken: the columns that are known already.
    """
    for name in leaves(whole_row(rows)):
        cells = {place: text for place, row in enumerate(rows) if isinstance(text := at_path(row, name), str)}
        signed = [place for place, text in cells.items() if stated_elsewhere(text, [])]
        often = name not in taken and len(signed) * 2 > len(rows)
        if often and not all(agree(rows[place], [answer, name]) for place in signed):
            return name
    return None


def only_sentences(rows: Sequence[_Row], taken: Collection[str]) -> str | None:
    """The one column besides `taken` that holds sentences which differ from row to row; None if there is none, or more
    than one.
    """
    found = []
    for name in leaves(whole_row(rows)):
        texts = [text for row in rows if isinstance(text := at_path(row, name), str)]
        worded = sum(len(text.split()) > _FEW_WORDS for text in texts) * 2 > len(rows)
        if name not in taken and worded and len(set(texts)) * 2 > len(rows):
            found.append(name)
    return found[0] if len(found) == 1 else None
