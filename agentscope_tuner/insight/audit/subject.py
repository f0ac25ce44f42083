"""One task under audit: its question, its reference, and an answer that is right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from agentscope_tuner.verify.boxed import last_boxed
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

#: Where an answer may stand, by name; the judge under audit tells which one it reads.
FORMS: Mapping[str, str] = {
    "boxed": "\\boxed{%s}",
    "tag": "<answer>%s</answer>",
    "hash": "#### %s",
    "label": "The answer is %s.",
    "bare": "%s",
}

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MOST_NUMBERS = 6


@dataclass(frozen=True, slots=True)
class Subject:
    """One task.

    Attributes:
        id: of its row.
        task: as the judge gets it.
        given: the output's metadata besides the answer: a judge may read its task there.
        reference: the right answer as text; None where the task has none.
        honest: a right answer, bare, without the form it is given in; None where none is known.
        written: what the row's own agent answered, where the label, or the judge, says that it is right.
        form: one of `FORMS`.
        others: right answers of other tasks, in other words than this one's.
    """

    id: str
    task: Task
    given: Mapping[str, Any]
    reference: str | None
    honest: str | None
    written: str | None
    form: str
    others: tuple[str, ...] = ()

    def said(self, answer: str) -> str:
        """`answer` in the form that the judge reads."""
        return FORMS[self.form].replace("%s", answer)

    @property
    def query(self) -> str:
        """The question's text."""
        return self.task.main_query

    @property
    def number(self) -> Fraction | None:
        """The reference, where it is a plain number."""
        if self.countdown is not None or self.reference is None or not _NUMBER.fullmatch(self.reference.strip()):
            return None
        return Fraction(self.reference.strip())

    @property
    def countdown(self) -> tuple[Fraction, tuple[int, ...]] | None:
        """Target and numbers, where the task is the countdown game."""
        return countdown_of({**self.given, **self.task.metadata})

    def pair(self, answer: str) -> tuple[WorkflowTask, WorkflowOutput]:
        """The task with `answer` for its output."""
        return WorkflowTask(task=self.task), WorkflowOutput(metadata={**self.given, "final_answer": answer})


def countdown_of(metadata: Mapping[str, Any]) -> tuple[Fraction, tuple[int, ...]] | None:
    """Target and numbers of a countdown task."""
    target = metadata.get("target")
    numbers = metadata.get("nums", metadata.get("numbers"))
    if not isinstance(target, int | float | str) or not isinstance(numbers, Sequence) or isinstance(numbers, str):
        return None
    try:
        return Fraction(str(target)), tuple(int(number) for number in numbers)
    except (ValueError, TypeError):
        return None


def reference_of(metadata: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """The reference as text: the first of the judge's own keys that the task has."""
    for key in (*keys, "answer", "ground_truth", "reference", "target"):
        value = metadata.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return _bare(str(value))
    return None


def _bare(text: str) -> str:
    """What a reference states, without GSM8K's solution before it, a box or dollars around it."""
    text = text.rpartition("####")[2].strip()
    boxed = last_boxed(text)
    text = text if boxed is None else boxed
    return text[1:-1].strip() if len(text) > 2 and text[0] == text[-1] == "$" else text


def solved(target: Fraction, numbers: Sequence[int]) -> str | None:
    """An equation of all the numbers that reaches the target; None where there is none, or too many numbers."""
    if not 0 < len(numbers) <= _MOST_NUMBERS:
        return None
    return _search([(Fraction(number), str(number)) for number in numbers], target)


def _search(left: list[tuple[Fraction, str]], target: Fraction) -> str | None:
    if len(left) == 1:
        return left[0][1] if left[0][0] == target else None
    for first, second in combinations(range(len(left)), 2):
        rest = [item for place, item in enumerate(left) if place not in (first, second)]
        for made in _made(left[first], left[second]):
            found = _search([*rest, made], target)
            if found is not None:
                return found
    return None


def _made(first: tuple[Fraction, str], second: tuple[Fraction, str]) -> Iterator[tuple[Fraction, str]]:
    (one, left), (other, right) = first, second
    yield one + other, f"({left}+{right})"
    yield one * other, f"({left}*{right})"
    yield one - other, f"({left}-{right})"
    yield other - one, f"({right}-{left})"
    if other:
        yield one / other, f"({left}/{right})"
    if one:
        yield other / one, f"({right}/{left})"
