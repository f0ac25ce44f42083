"""`astuner init math --from ROWS`: the configuration for somebody's own rows, and why it reads them so."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.records.formats import AUTO, Conversion
from agentscope_tuner.records.formats.plain import is_own, plain_text
from agentscope_tuner.records.reader import Line
from agentscope_tuner.task_judge.contract.reads import (
    QUESTIONS,
    RESPONSES,
    UNSURE,
    Reads,
    answer_columns,
    at_path,
    doubt,
    likely_answers,
    sole_answer_column,
)
from agentscope_tuner.verify.find import Place, find_answer, stated_elsewhere
from agentscope_tuner.verify.math.verdict import check_reference

_MOST_ROWS = 200
_WHOLE_CHARS = 60
# How a prompt asks for a form
_ASKED: Mapping[Place, str] = {"hash": "####", "tag": "<answer>"}
_NAMES: Mapping[Place, str] = {
    "boxed": r"in \boxed{}",
    "hash": "behind ####",
    "tag": "in <answer>",
    "label": "behind a label",
}


@dataclass(slots=True)
class Looked:
    """What was found in the first rows.

    Attributes:
        rows: how many were looked at.
        responses: how many have a response.
        reads: the columns to name.
        whys: why, one line of words for each decision.
        answer_in: the places of an answer.
    """

    rows: int = 0
    responses: int = 0
    reads: dict[str, str] = field(default_factory=dict)
    whys: list[str] = field(default_factory=list)
    answer_in: list[str] = field(default_factory=lambda: ["boxed"])

    def yaml(self, name: str) -> str:
        """The configuration, with the reasons as comments."""
        said = "".join(f"    # {' '.join(why.split())}\n" for why in self.whys)
        mapping = ", ".join(f"{role}: {_quoted(column)}" for role, column in self.reads.items())
        reads = f"    reads: {{{mapping}}}\n" if mapping else ""
        return (
            f"# For {' '.join(name.split())}, by its first {self.rows} rows; other sections may stand here, too.\n"
            f"astuner:\n  task_judge:\n    judge: math\n{said}{reads}"
            f"    math: {{answer_in: [{', '.join(self.answer_in)}]}}\n"
            "    rules:\n      # an empty answer is wrong, and no judge is asked\n"
            "      - {id: not_empty, kind: non_empty, target: output, action: mark_bad}\n"
        )


def _quoted(column: str) -> str:
    return column if column.replace("_", "").replace(".", "").isalnum() else json.dumps(column)


def look(lines: Iterable[Line]) -> Looked:
    """Look at the first rows.

    Raises:
        ConfigError: none of them can be read, or no column holds a reference that the math judge reads.
    """
    first = [line for line in islice(lines, _MOST_ROWS) if line.problem is None]
    rows = [row for row in map(_object, first) if row]
    if not rows:
        raise ConfigError("no row to look at: each must be an object with columns")
    found = Looked(rows=len(rows))
    _name(found, rows, "question", QUESTIONS)
    _name(found, rows, "response", RESPONSES)
    convert = Conversion(AUTO, reads=Reads(found.reads), responses=False)
    made = [json.loads(line.raw) for line in convert.all(first) if line.problem is None]
    tasks = [row.get("task", row) for row in made]
    if not tasks:
        problem = next(line.problem for line in convert.all(first))
        raise ConfigError(f"no row can be read: {problem}")
    metadata: Sequence[Mapping[str, Any]] = [task.get("metadata", {}) for task in tasks]
    # by the rows' own names, which are the same in every trainer
    _reference(found, rows if not is_own(rows[0]) and any(map(answer_columns, rows)) else metadata)
    texts = [str(row["output"]["metadata"].get("final_answer", "")) for row in made if row.get("output")]
    found.responses = len(texts)
    _places(found, texts, [str(task.get("main_query", "")) for task in tasks])
    return found


def _object(line: Line) -> dict[str, Any] | None:
    try:
        row = json.loads(line.raw)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _name(found: Looked, rows: list[dict[str, Any]], role: str, names: tuple[str, ...]) -> None:
    """Name a column whose name is a common one; of two that differ the first."""
    row = rows[0]
    present = [name for name in names if at_path(row, name) is not None]
    if is_own(row):
        return
    if not present:
        if role == "question":
            found.whys.append("question: no column has a common name: name it, reads: {question: <column>}")
        return
    others = [
        name for name in present[1:] if plain_text(at_path(row, name)) not in plain_text(at_path(row, present[0]))
    ]
    found.reads[role] = present[0]
    more = f", not in {' or '.join(others)}: change it if that is wrong" if others else ""
    found.whys.append(f"{role}: it stands in {present[0]}{more}")


def _reference(found: Looked, rows: Sequence[Mapping[str, Any]]) -> None:
    soles = {sole for row in rows if (sole := sole_answer_column(row))}
    present = soles if len(soles) == 1 else [name for row in rows for name in answer_columns(row)]
    names = list(dict.fromkeys(present)) or list(likely_answers(rows[0]))
    counts = {name: sum(_is_reference(at_path(row, name)) for row in rows) for name in names}
    # a column that always has a class stands behind one that often has an answer
    best = max(counts, key=lambda name: (counts[name] > 0, -doubt(name), counts[name]), default=None)
    if best is None or not counts[best]:
        raise ConfigError(
            f"no column holds an answer that the math judge reads, among {', '.join(map(repr, sorted(rows[0])))}: "
            "name it in the YAML of `astuner init math`, `reads: {answer: <column>}`"
        )
    if counts[best] < len(rows):
        found.whys.append(
            f"answer: {len(rows) - counts[best]} of {len(rows)} rows have no answer that can be read there"
        )
    others = [name for name in names if name != best]
    beside = f"; {' and '.join(others)} differ from it" if others else ""
    text = str(at_path(next(row for row in rows if _is_reference(at_path(row, best))), best))
    form = ", behind its ####" if "####" in text else r", in its last \boxed{}" if "\\boxed" in text else ""
    values = len({str(at_path(row, best)) for row in rows})
    doubted = f"; columns named {best} often hold something else, look: {values} different values in {len(rows)} rows"
    sure = doubted if best in UNSURE else ""
    found.whys.append(f"answer: it stands in {best}{form}{beside}{sure}")
    found.reads["answer"] = best


def _is_reference(value: Any) -> bool:
    """Whether the math judge reads a value as an answer. A sentence is read too, but seldom is one."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return False
    text = str(value)
    try:
        check_reference(text)
    except JudgeError:
        return False
    return len(text) <= _WHOLE_CHARS or "####" in text or "\\boxed" in text


def _places(found: Looked, texts: list[str], questions: list[str]) -> None:
    """Where answers stand: in the responses, else as the prompts ask for it."""
    counts: Counter[Place] = Counter()
    for text in texts:
        boxed = find_answer(text, ["boxed"], by_value=True).text is not None
        place: Place | None = "boxed" if boxed else stated_elsewhere(text, ["boxed"])
        counts.update([place] if place else [])
    many = [place for place, count in counts.most_common() if count * 10 >= len(texts)]
    for place in many:
        found.whys.append(f"answer_in: {counts[place]} of {len(texts)} responses state their answer {_NAMES[place]}")
    if not texts:
        asks: Callable[[str], bool] = lambda sign: sum(sign in text for text in questions) * 2 > len(questions)  # noqa: E731
        many = [place for place, sign in _ASKED.items() if asks(sign)]
        found.whys += [f"answer_in: the prompts ask for {_ASKED[place]}" for place in many]
    found.answer_in = ["boxed", *(place for place in many if place != "boxed")]
