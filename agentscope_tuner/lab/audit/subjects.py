"""The tasks under audit: each with its question, its reference, a right answer, and the form that the judge reads."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations, islice
from operator import itemgetter
from typing import Any, Literal

from msgspec import structs

from agentscope_tuner._run import loops
from agentscope_tuner.bounds import json_or
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.records.reader import Line, Row, parse_tasks
from agentscope_tuner.records.scored_rows import REFERENCE_KEYS
from agentscope_tuner.task_judge.base_judge import as_list
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.verify.find import last_boxed
from agentscope_tuner.workflow import Rollout, Task, WorkflowOutput, WorkflowTask

#: The forms of an answer by name. The audit finds the form that the judge reads by asking the judge.
FORMS: Mapping[str, str] = {
    "boxed": "\\boxed{%s}",
    "tag": "<answer>%s</answer>",
    "hash": "#### %s",
    "label": "The answer is %s.",
    "bare": "%s",
    "think and tag": "<think>I work it out.</think><answer>%s</answer>",
    "think and tag, lines": "<think>\nI work it out.\n</think>\n<answer>\n%s\n</answer>",
    "think and box": "<think>\nI work it out.\n</think>\n\\boxed{%s}",
    "think and bare": "<think>\nI work it out.\n</think>\n\n%s",
    "tag and box": "<think>\nI work it out.\n</think>\n<answer>\n\\boxed{%s}\n</answer>",
    "reasoning and answer": "<reasoning>\nI work it out.\n</reasoning>\n<answer>\n%s\n</answer>\n",
    "final answer": "Final Answer: %s",
    "json": '{"answer": "%s"}',
    "json, reasoned": '{"reasoning": "I work it out.", "answer": "%s"}',
    "fenced json": '```json\n{"answer": "%s"}\n```',
    "fence": "```\n%s\n```",
    "tool call": '<tool_call>\n{"name": "submit", "arguments": {"answer": "%s"}}\n</tool_call>',
    "function call": '{"name": "submit", "arguments": {"answer": "%s"}}',
    "python fence": "```python\n%s\n```",
    "sql fence": "```sql\n%s\n```",
    "json fence": "```json\n%s\n```",
    "tool calls": "<tool_call>\n%s\n</tool_call>",
    "chinese": "答案是：%s",
    "chinese label": "答案：%s",
}
# The thought in the forms
_WORKED = "I work it out."
THOUGHT = "Let me think about this step by step, and check each step before I go on. "
#: Name of the form that a user gives.
OWN_FORM = "own"

#: What a right answer is: a text or a number, a program, a query, calls of tools, or an object of JSON.
Kind = Literal["text", "code", "sql", "calls", "json"]
BETWEEN_CALLS = "\n</tool_call>\n<tool_call>\n"
_QUERIES = ("gold_sql", "SQL", "query", "sql", "answer", "ground_truth")
_IS_QUERY = re.compile(
    r"\s*(?:select\b.*\bfrom\b|with\s+(?:recursive\s+)?\w+[^()]*\bas\s*\().*[^?.\s]\s*", re.IGNORECASE | re.DOTALL
)
_TESTS = ("tests", "test_cases", "input_output", "public_test_cases", "test", "test_list")
_SOLUTIONS = ("solution", "canonical_solution", "reference_solution", "solutions", "code")
#: The keys under which a call has its arguments.
CALLED_WITH = ("arguments", "parameters", "input")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MOST_NUMBERS = 6
# Tasks whose answers the judge is asked about to find the form that it reads
_PROBED = 8
_OTHERS = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """One task.

    Attributes:
        id: the id of the task's row.
        task: the task that the judge gets.
        given: the output's metadata except the answer, because a judge may read its task there.
        reference: the right answer as text; None for a task without a reference.
        honest: a right answer without its form; None when no right answer is known.
        written: the answer of the row's own agent, if its label calls it right; None otherwise.
        kind: what a right answer is.
        form: the name of one of `FORMS`, or `OWN_FORM`.
        others: right answers of other tasks, which are wrong here.
    """

    id: str
    task: Task
    given: Mapping[str, Any]
    reference: str | None
    honest: str | None
    written: str | None
    form: str
    others: tuple[str, ...] = ()
    template: str = FORMS["boxed"]
    kind: Kind = "text"

    def said(self, answer: str) -> str:
        r"""`answer` in the form that the judge reads, such as `\boxed{5}` for `5`. In a form of JSON it is escaped as a
        JSON string.
        """
        before, _, after = self.template.partition("%s")
        quoted = before.endswith('"') and after.startswith('"')
        return before + (json.dumps(answer, ensure_ascii=False)[1:-1] if quoted else answer) + after

    def behind(self, thought: str, answer: str) -> str:
        """`answer` in the judge's form, after `thought`. If the form has a place for a thought, such as `<think>`,
        `thought` is put there.
        """
        said, words = self.said(answer), " ".join(thought.split())
        if f'"{_WORKED}"' in self.template:
            words = json.dumps(words, ensure_ascii=False)[1:-1]
        thoughtful = said.replace(_WORKED, words, 1)
        return thoughtful if thoughtful != said else f"{thought}\n\n{said}"

    @property
    def query(self) -> str:
        """The question's text."""
        return self.task.main_query

    @property
    def number(self) -> Fraction | None:
        """The reference as a number; None when it is no plain number, or the task is the countdown game."""
        if self.kind != "text" or self.countdown is not None:
            return None
        digits = (self.reference or "").strip()
        return Fraction(digits) if _NUMBER.fullmatch(digits) else None

    @property
    def countdown(self) -> tuple[Fraction, tuple[int, ...]] | None:
        """The target and the numbers of the countdown game; None for another task."""
        return countdown_of({**self.given, **self.task.metadata})

    def rival(self, must: str) -> str | None:
        """The answer that a judge which ranks is shown beside another one: a right one if the other must fail, else a
        wrong one.
        """
        if must == "fail":
            return self.written if self.honest is None else self.said(self.honest)
        return self.said(wrong_values(self)[0]) if wrong_values(self) else "I don't know."

    def pair(self, answer: str) -> tuple[WorkflowTask, WorkflowOutput]:
        """The task, and an output with `answer`."""
        return WorkflowTask(task=self.task), WorkflowOutput(metadata={**self.given, "final_answer": answer})


def wrong_values(subject: Subject) -> list[str]:
    """Two wrong values: numbers if the reference is a number, else right answers of other tasks."""
    number = subject.number
    if number is not None:
        return [plain(number + 1), plain(number + 7)]
    return list(subject.others[:2])


def plain(number: Fraction) -> str:
    """A number in digits: `5`, or `0.5` for one half."""
    return str(number.numerator) if number.denominator == 1 else str(float(number))


def verdicts_on(judge: ConfiguredJudge, asked: Sequence[tuple[Subject, str]], must: str) -> list[Judgement]:
    """A verdict on each answer. A judge that ranks is shown the answer beside its rival, in either place by turns.

    Args:
        judge: the judge under audit.
        asked: the tasks, each with an answer.
        must: the right verdict, `fail` or `pass`. Beside its rival an answer earns 1.0 or 0.0: one that must fail earns
            1.0 if it ranks no lower than the right answer; one that must pass, if it ranks above the wrong one.
    """
    if not asked:
        return []
    if not judge.listwise:
        return judge.judge_batch([subject.pair(answer) for subject, answer in asked])
    turns: dict[str, int] = {}
    places: list[int] = []
    for subject, _ in asked:
        # The texts of one task take turns, and so does one text over the tasks
        turns[subject.id] = turns.get(subject.id, len(turns)) + 1
        places.append(turns[subject.id] % 2)
    return ranked(judge, asked, must, places)


def ranked(
    judge: ConfiguredJudge, asked: Sequence[tuple[Subject, str]], must: str, places: Sequence[int]
) -> list[Judgement]:
    """`verdicts_on` of a judge that ranks, with the place of each answer in its pair: 0 or 1."""

    async def all_verdicts() -> list[Judgement]:
        at_once = asyncio.Semaphore(judge.at_once)

        async def one(subject: Subject, answer: str, place: int) -> Judgement:
            shown = [subject.pair(answer), subject.pair(subject.rival(must) or "")]
            async with at_once:
                found = await judge.ajudge_group(shown[::-1] if place else shown)
            return _beside(found[place], found[1 - place], must)

        return await asyncio.gather(*(one(*item, place) for item, place in zip(asked, places, strict=True)))

    return loops.run(all_verdicts())


def _beside(own: Judgement, rival: Judgement, must: str) -> Judgement:
    if own.reward is None or rival.reward is None:
        return own if own.reward is None else rival
    paid = own.reward >= rival.reward if must == "fail" else own.reward > rival.reward
    beside = "a right answer" if must == "fail" else "a wrong one"
    reason = f"{own.reward:g} beside {rival.reward:g} for {beside}. {own.reason}"
    return structs.replace(own, reward=float(paid), is_success=paid, reason=reason)


def countdown_of(metadata: Mapping[str, Any]) -> tuple[Fraction, tuple[int, ...]] | None:
    """The target and the numbers of a countdown task; None for the metadata of another task."""
    target = metadata.get("target")
    numbers = metadata.get("nums", metadata.get("numbers"))
    if not isinstance(target, int | float | str) or not isinstance(numbers, Sequence) or isinstance(numbers, str):
        return None
    try:
        return Fraction(str(target)), tuple(int(number) for number in numbers)
    except (ValueError, TypeError):
        return None


def references_of(metadata: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    """The reference of a task as a list of texts: `["5"]`, or several for a list such as `["1", "2"]`; empty if the
    metadata has no reference.

    It is read from the first of `keys` and of the common keys that holds one.
    """
    for key in (*keys, *REFERENCE_KEYS):
        listed = as_list(value := metadata.get(key))
        items = [value] if listed is None else listed
        texts = [_bare(str(item)) for item in items if isinstance(item, str | int | float) and type(item) is not bool]
        if len(texts) == len(items) and any(map(str.strip, texts)):
            return texts
    return []


def _bare(text: str) -> str:
    r"""The answer in a reference: `5` in `2+3=5 #### 5`, `7` in `The answer is \boxed{7}`, `7` in `$7$`."""
    text = text.rpartition("####")[2].strip()
    boxed = last_boxed(text)
    text = text if boxed is None else boxed
    return text[1:-1].strip() if len(text) > 2 and text[0] == text[-1] == "$" else text


def structured_answer(metadata: Mapping[str, Any], keys: Sequence[str]) -> tuple[Kind, str | None]:
    """The kind of a task's right answers, such as `sql` or `code`, and a right answer of that kind as text, or None if
    the metadata has none. Plain answers give `("text", None)`.
    """
    for key in _QUERIES:
        # `query` is the question, too: "Select the largest number from 3, 5, 9"
        named = key != "query" or isinstance(metadata.get("db_id"), str)
        if named and isinstance(value := metadata.get(key), str) and _IS_QUERY.fullmatch(value):
            return "sql", value.strip().rstrip(";")
    if any(_are_tests(metadata.get(key)) for key in _TESTS) or (metadata.get("inputs") and metadata.get("outputs")):
        found = (as_object(metadata.get(key)) for key in _SOLUTIONS)
        programs = (value[0] if isinstance(value, list) and value else value for value in found)
        return "code", next((value for value in programs if isinstance(value, str) and value.strip()), None)
    for key in (*keys, *REFERENCE_KEYS):
        value = as_object(metadata.get(key))
        calls = [value] if isinstance(value, dict) else value
        if not isinstance(calls, list) or not calls or not all(isinstance(call, dict) for call in calls):
            continue
        made = [call["function"] if isinstance(call.get("function"), dict) else call for call in calls]
        if all(isinstance(call.get("name"), str) and any(name in call for name in CALLED_WITH) for call in made):
            return "calls", BETWEEN_CALLS.join(json.dumps(call, ensure_ascii=False) for call in made)
        return "json", json.dumps(value, ensure_ascii=False)
    return "text", None


def _are_tests(value: object) -> bool:
    """Whether a value holds tests of programs, and not, say, the name of a part of the data set."""
    return bool(value) and (isinstance(as_object(value), list | dict) or (isinstance(value, str) and "assert" in value))


def as_object(value: object) -> Any:
    """The object or list that a text holds as JSON; any other value as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    return json_or(value, value)


def solved(target: Fraction, numbers: Sequence[int]) -> str | None:
    """An equation of all the numbers that reaches the target; None without such an equation, or for over 6 numbers."""
    if not 0 < len(numbers) <= _MOST_NUMBERS:
        return None
    return _search([(Fraction(number), str(number)) for number in numbers], target)


def _search(left: list[tuple[Fraction, str]], target: Fraction) -> str | None:
    if len(left) == 1:
        return left[0][1] if left[0][0] == target else None
    for first, second in combinations(range(len(left)), 2):
        rest = [item for place, item in enumerate(left) if place not in (first, second)]
        for made in _combined(left[first], left[second]):
            found = _search([*rest, made], target)
            if found is not None:
                return found
    return None


def _combined(first: tuple[Fraction, str], second: tuple[Fraction, str]) -> Iterator[tuple[Fraction, str]]:
    (one, left), (other, right) = first, second
    yield one + other, f"({left}+{right})"
    yield one * other, f"({left}*{right})"
    yield one - other, f"({left}-{right})"
    yield other - one, f"({right}-{left})"
    if other:
        yield one / other, f"({left}/{right})"
    if one:
        yield other / one, f"({right}/{left})"


def subjects_of(
    lines: Iterable[Line], judge: ConfiguredJudge, keys: Sequence[str], limit: int, form: str | None = None
) -> list[Subject]:
    """One subject for each task, up to `limit` tasks.

    Args:
        lines: rollouts, or tasks.
        judge: the judge under audit.
        keys: the judge's `reference_keys`.
        limit: the most tasks.
        form: the form in which answers are given, with `%s` in the answer's place; None finds one of `FORMS`.

    Raises:
        ConfigError: no row can be read, or the judge hangs on right answers.
    """
    found: dict[str, Rollout] = {}
    problem = "the file is empty"
    for row in (_read(row, judge) for row in parse_tasks(lines)):
        if row.rollout is None:
            problem = f"{row.where}: {row.problem}"
            continue
        name = row.rollout.task.task_id or row.rollout.id
        if name not in found and len(found) < limit:
            found[name] = row.rollout
    if not found:
        raise ConfigError(f"there is no task to audit with: {problem}")
    forms = FORMS if form is None else {OWN_FORM: form}
    # A list holds several right answers, or the parts of one. The judge's verdicts show which of the two
    readings = [_others([_subject(rollout, keys, read) for rollout in found.values()]) for read in _READINGS]
    subjects, name = readings[0], OWN_FORM
    if readings[0] != readings[1]:
        (of_first, first), (of_whole, whole), (_, last) = (_form(one[:_PROBED], judge, forms) for one in readings)
        # A judge that takes any of the texts takes the last one, too. One that refuses it wants all parts
        parts = whole > first or (whole == first and last < first)
        subjects, name = (readings[1], of_whole) if parts else (subjects, of_first)
    elif len(forms) > 1:
        name, _ = _form(subjects[:_PROBED], judge, forms)
    return [replace(subject, form=name, template=forms[name]) for subject in subjects]


def _read(row: Row, judge: ConfiguredJudge) -> Row:
    """The row with its task changed to what the judge reads; with the problem in place of the rollout if the judge
    cannot read it.
    """
    if row.rollout is None:
        return row
    try:
        read = judge.read(row.rollout.task)
    except JudgeError as exc:
        return replace(row, rollout=None, problem=exc.message)
    return replace(row, rollout=row.rollout.model_copy(update={"task": read}))


_PLAIN: tuple[Kind, str | None] = ("text", None)
#: How a list of references is read: its first text, all of them, or its last.
_READINGS: tuple[Callable[[Sequence[str]], str], ...] = (itemgetter(0), ", ".join, itemgetter(-1))


def _subject(rollout: Rollout, keys: Sequence[str], read: Callable[[Sequence[str]], str]) -> Subject:
    """The rollout's task as a subject. `read` makes one reference of a list of them: the first, the last, or all of
    them.
    """
    metadata = rollout.output.metadata
    given = {key: value for key, value in metadata.items() if key not in ("final_answer", "messages")}
    known = {**given, **rollout.task.metadata}
    game, references = countdown_of(known), references_of(known, keys)
    reference = read(references) if references else None
    kind, right = structured_answer(known, keys) if game is None else _PLAIN
    if kind != "text":
        reference = None if kind == "code" else right
    honest = solved(*game) if game is not None else reference if kind == "text" else right
    answer, label = metadata.get("final_answer"), rollout.label or {}
    written = answer if isinstance(answer, str) and label.get("is_success") is True else None
    return Subject(rollout.id, rollout.task, given, reference, honest, written, "boxed", kind=kind)


def _others(subjects: list[Subject]) -> list[Subject]:
    """The subjects, each with `others`: right answers of the tasks after it that are wrong for the subject itself."""
    count, made = len(subjects), []
    for place, subject in enumerate(subjects):
        behind = [subjects[(place + step) % count] for step in range(1, min(count, 20))]
        answers = dict.fromkeys(other.honest for other in behind if other.honest is not None)
        own = (subject.honest, subject.reference)
        others = [answer for answer in answers if answer not in own and _value(answer) != _value(subject.reference)]
        made.append(replace(subject, others=tuple(others[:_OTHERS])))
    return made


def _value(text: str | None) -> object:
    """The value of an answer for comparisons: 5 and 5.0 are the same answer."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return "".join((text or "").split()).lower()


def _form(subjects: Sequence[Subject], judge: ConfiguredJudge, forms: Mapping[str, str]) -> tuple[str, float]:
    """The form in which right answers earn the most, the first of equal ones; and the points that they earn there in
    all.

    If they earn less than half a point each, they are also tried after a long thought, for which a judge may pay.
    """
    asked = [(subject, subject.honest) for subject in subjects if subject.honest is not None]
    found = _paid(judge, forms, asked, lambda subject, honest: subject.said(honest))
    if asked and found[1] < len(asked) / 2:
        behind = _paid(judge, forms, asked, lambda subject, honest: subject.behind(THOUGHT * 20, honest))
        found = max(found, behind, key=itemgetter(1))
    return found


def _paid(
    judge: ConfiguredJudge,
    forms: Mapping[str, str],
    honest: Sequence[tuple[Subject, str]],
    given: Callable[[Subject, str], str],
) -> tuple[str, float]:
    """The form in which right answers earn the most, and the sum of their rewards, with one more point for each
    success.
    """
    passed = {}
    asked = [
        [(subject, given(replace(subject, template=template), right)) for subject, right in honest]
        for template in forms.values()
    ]
    for form, verdicts in zip(forms, _on_each(judge, asked), strict=True):
        if verdicts and all(verdict.cause in (Cause.DEADLINE, Cause.ENDPOINT) for verdict in verdicts):
            # Thousands of answers are to come: a judge that hangs, or asks nobody, would hang on each
            told = f"in time on any of {len(verdicts)} right answers: {verdicts[0].error}"
            raise ConfigError(f"{judge.name} has no verdict {told}")
        passed[form] = sum((verdict.reward or 0.0) + bool(verdict.is_success) for verdict in verdicts)
    return max(passed.items(), key=itemgetter(1))


def _on_each(judge: ConfiguredJudge, forms: Sequence[Sequence[tuple[Subject, str]]]) -> Iterator[list[Judgement]]:
    """The verdicts on right answers in each form. The first form is judged alone, which finds a judge that hangs; the
    others together, unless the judge ranks: places in a pair are given out for each form.
    """
    together = 1 if not judge.listwise else len(forms)
    for form in forms[:together]:
        yield verdicts_on(judge, form, "pass")
    others = forms[together:]
    verdicts = iter(verdicts_on(judge, [*chain.from_iterable(others)], "pass"))
    for form in others:
        yield list(islice(verdicts, len(form)))
