"""`astuner doctor`: why the reward is 0, or without spread: the likeliest cause first, with the line to write."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean, pstdev
from typing import Annotated

import typer

from agentscope_tuner.cli.console import Exit, config_errors, err, fail, say
from agentscope_tuner.cli.options import Format, Json, Map, rollout_lines
from agentscope_tuner.config import SECTION
from agentscope_tuner.lab.growing_files import RunRows, ended_rows
from agentscope_tuner.lab.right_answers import (
    LOOPS,
    PLACES,
    cut_off,
    given_answer,
    is_call,
    is_right,
    is_told,
    kind_of,
    known_of,
    named_otherwise,
    option_of,
    question_of,
    rights_of,
    stands_in,
    written_reference,
)
from agentscope_tuner.records.scored_rows import REFERENCE_KEYS, ScoredRow, mapping_in, shape_of
from agentscope_tuner.task_judge.contract.columns import likely_answers

_SAME = 1e-9
# What GRPO's trainers add to a group's spread before they divide by it
_EPSILON = 1e-4
_SHOWN = 3
# The most rows whose texts are searched for answers
_SEARCHED = 500
# How the reasons of judges that find no answer begin. `no exact match` is not among them: there an answer was found
_NO_ANSWER = re.compile(
    r"^no (?:\\boxed|<answer>|####|label|value|answer|box|fenced block|choice is stated)|\bno answer\b"
)
# The end of a judge's reason that says what to do
_WAY_OUT = re.compile(r": (write the reference as .*|ask for the box in the prompt|are the two columns swapped\?)$")
# From this number of rows on, an observation is no accident
_FEW = 4
_SHIFTS = (1, -1, 2, -2)
# An answer may contain a shorter question by chance
_MOST_QUOTED = 8


@dataclass(frozen=True, slots=True)
class RewardTrouble:
    """A cause of rewards that teach nothing.

    Attributes:
        name: the cause in a few words.
        rows: number of rows, or of groups, that show it, and `of` how many.
        message: what is seen.
        remedy: the line to write, or what to look at.
        examples: ids of some of the rows.
    """

    name: str
    rows: int
    of: int
    message: str
    remedy: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """The rows of a run, and its advantage groups of two or more rows."""

    rows: Sequence[ScoredRow]
    groups: Sequence[Sequence[ScoredRow]]

    @property
    def judged(self) -> list[ScoredRow]:
        """The rows with a verdict of the judge."""
        return [row for row in self.rows if row.status == "judged"]

    @property
    def unpaid(self) -> list[ScoredRow]:
        """The judged rows that earn nothing and are no success. Rows that the judge could not decide are left out."""
        found = (row for row in self.judged if (row.reward or 0.0) <= _SAME and not row.success)
        return [row for row in found if not row.reason.startswith("undecided")]

    def without_spread(self, rows: Sequence[ScoredRow]) -> list[ScoredRow]:
        """Those of `rows` whose group teaches a trainer nothing, because all its rewards are equal or it has only one
        row.
        """
        idle = {row.group for group in _flat(self) for row in group}
        known = {row.group for group in self.groups for row in group}
        return [row for row in rows if row.group in idle or row.group not in known]

    @property
    def unpaid_all(self) -> list[ScoredRow]:
        """The rows of `unpaid`, if nearly all judged rows earn one and the same reward, so that the judge is suspected.
        Else empty: penalties that differ teach the policy.
        """
        unpaid = self.unpaid
        same = Counter(row.reward for row in unpaid).most_common(1)
        return unpaid[:_SEARCHED] if same and same[0][1] >= 0.95 * len(self.judged) else []


Check = Callable[[Seen], "RewardTrouble | None"]


def diagnose(rows: Iterable[ScoredRow]) -> list[RewardTrouble]:
    """The causes, the likeliest first; none for rows from which a trainer learns."""
    kept = list(rows)
    groups: dict[tuple[str, float | None], list[ScoredRow]] = defaultdict(list)
    for row in kept:
        if row.task:
            groups[row.group].append(row)
    seen = Seen(kept, [group for group in groups.values() if len(group) > 1])
    found = [cause for check in _SPECIFIC if (cause := check(seen)) is not None]
    # General causes often follow from a specific one, and are reported only without it
    return found or [cause for check in _GENERAL if (cause := check(seen)) is not None]


def _cause(name: str, shown: Sequence[ScoredRow], of: int, message: str, remedy: str) -> RewardTrouble:
    return RewardTrouble(name, len(shown), of, message, remedy, tuple(row.id for row in shown[:_SHOWN]))


_MEND: Mapping[str, str] = {
    "deadline": f"raise {SECTION}.deadline, lower {SECTION}.concurrency, or see why the judge is slow",
    "undecided": f"raise {SECTION}.math.deadline, or leave out on_undecided: raise",
    "bug": "astuner explain --conf FILE --id ID shows where the judge's own code raises",
    "input": "--map YOUR_COLUMN=response, or set output.metadata.final_answer in the workflow",
}

# Words of a message on a row that lacks the policy's response
_UNANSWERED = ("no response", "no completion", "final_answer", "is null")


def _no_verdict(seen: Seen) -> RewardTrouble | None:
    failed = [row for row in seen.rows if row.status == "failed"]
    if len(failed) * 5 < len(seen.rows) or not failed:
        return None
    (cause, _), *_ = Counter(row.cause or "unknown" for row in failed).most_common(1)
    shown = [row for row in failed if (row.cause or "unknown") == cause]
    error = (shown[0].row.get("judgement") or {}).get("error") or shown[0].reason
    if cause == "reference":
        # If some rows have a verdict, or most have a text in the column, the column is named already
        named = seen.judged or 2 * sum(map(bool, map(rights_of, shown))) > len(shown)
        remedy = "what is said there; `astuner check --conf FILE --input ROWS` lists all such rows"
        message = f"tasks have no reference that can be read: {error}"
        return _cause("no reference", shown, len(seen.rows), message, remedy if named else _reads_line(shown[0]))
    remedy = _MEND.get(cause, "astuner check --conf FILE")
    if cause == "input" and not any(word in str(error) for word in _UNANSWERED):
        # The row is broken, or a dump lacks a reward: to name a column would not help
        remedy = "what is said there; then judge the rows again"
    return _cause("no verdict", shown, len(seen.rows), f"the judge fails ({cause}): {error}", remedy)


def _one_rule(seen: Seen) -> RewardTrouble | None:
    filtered = [row for row in seen.rows if row.status == "filtered"]
    broken = Counter(name for row in filtered for name in set(row.violations))
    if len(filtered) * 2 < len(seen.rows) or not broken:
        return None
    (rule, _), *_ = broken.most_common(1)
    shown = [row for row in filtered if rule in row.violations]
    if len(seen.without_spread(shown)) * 2 < len(shown):
        # The rewards differ within groups, so a trainer learns to keep the rule
        return None
    message = f"the rule {rule!r} filters {len(shown)} of {len(seen.rows)} rows before they are judged"
    remedy = f"look at the rule with `id: {rule}` in astuner.task_judge.rules"
    return _cause("one rule", shown, len(seen.rows), message, remedy)


def _empty(seen: Seen) -> RewardTrouble | None:
    # Rows without a verdict are left out: `_no_verdict` reports their cause
    rows = [row for row in seen.rows if row.status != "failed"]
    empty = [row for row in rows if row.answer.strip() in ("", question_of(row))]
    if len(empty) * 2 < len(seen.rows) or not empty or _judged_by_more(seen, empty):
        return None
    if sum(map(_earns, empty)) * 2 > len(empty):
        return None
    message = "output.metadata.final_answer is empty, no text, or the question"
    remedy = "--map YOUR_COLUMN=response, or set it in the workflow"
    return _cause("empty answers", empty, len(seen.rows), message, remedy)


def _beside(right: object, given: str) -> str:
    return f"beside the reference {right!r:.60} stands {given!r:.60}"


def _earns(row: ScoredRow) -> bool:
    return bool(row.success) or (row.reward or 0.0) > _SAME


def _judged_by_more(seen: Seen, rows: Sequence[ScoredRow]) -> bool:
    """Whether rows of one group, all among `rows`, earn different rewards although their texts are alike: then the
    judge rates an agent's acts, not its words.
    """
    chosen = {id(row) for row in rows}
    earned = (_rewards([row for row in group if id(row) in chosen]) for group in seen.groups)
    return any(rewards and max(rewards) - min(rewards) > _SAME for rewards in earned)


def _truncated(seen: Seen) -> RewardTrouble | None:
    unpaid = [row for row in seen.rows if not _earns(row)]
    cut = [row for row in unpaid if cut_off(row)]
    if len(cut) * 2 < len(unpaid) or len(cut) * 5 < len(seen.rows) or not cut:
        return None
    paid = [row for row in seen.judged if _earns(row)]
    if sum(bool(cut_off(row)) for row in paid) * 2 * len(unpaid) > len(cut) * len(paid):
        # Answers that are cut off are paid nearly as often
        return None
    (told, _), *_ = Counter(map(cut_off, cut)).most_common(1)
    if told == LOOPS:
        message = f"{len(cut)} of {len(unpaid)} rows that earn nothing repeat one text to their end"
        remedy = "a higher limit does not help: lower the learning rate, or see how the prompt ends"
        return _cause("looping outputs", cut, len(unpaid), message, remedy)
    message = f"{len(cut)} of {len(unpaid)} rows that earn nothing were cut off ({told!r})"
    remedy = "raise the trainer's max_completion_length, or max_tokens; or take away the stop string that ends it"
    if "length" not in told and ("turn" in told or "step" in told or "a call" in told):
        remedy = "raise the number of turns that the agent may take, or ask it to answer before they are used up"
    return _cause("truncated outputs", cut, len(unpaid), message, remedy)


def _with_prompt(seen: Seen) -> RewardTrouble | None:
    """Responses that begin with the prompt: the judge may read an example's answer in it."""
    unpaid = seen.unpaid_all
    asked = [(row, question_of(row)) for row in unpaid if not is_call(row.answer)]
    shown = [row for row, question in asked if len(question) > _MOST_QUOTED and question in row.answer]
    if len(shown) < 0.95 * len(unpaid) or not shown:
        return None
    message = f"{len(shown)} of {len(unpaid)} responses that earn nothing hold the question, word for word"
    remedy = "give the judge the completion alone: cut the prompt's tokens off before decoding"
    return _cause("prompt in the response", shown, len(unpaid), message, remedy)


def _opened_in_prompt(seen: Seen) -> RewardTrouble | None:
    """Right answers that earn nothing behind a `</think>` whose `<think>` the chat template writes into the prompt: the
    judge's pattern expects both in the completion.
    """
    unpaid = seen.unpaid_all
    shown = [row for row in unpaid if "</think>" in row.answer and "<think>" not in row.answer]
    right = sum(given_answer(row).strip() in rights_of(row) for row in shown)
    if len(shown) < 0.95 * len(unpaid) or right * 2 < len(unpaid) or not shown:
        return None
    message = f"{len(shown)} of {len(unpaid)} texts that earn nothing end a thought that they do not begin"
    remedy = "the chat template opens <think> in the prompt: let the judge's pattern begin behind it"
    return _cause("thought opened in the prompt", shown, len(unpaid), message, remedy)


def _swapped(seen: Seen) -> RewardTrouble | None:
    """Columns that are swapped: the judge reads answers as references, and references as responses."""
    unpaid = seen.unpaid_all
    if any("\\boxed" in row.answer for row in unpaid):
        return None
    held = [(row, [text for text in _written_references(row) if "\\boxed" in text]) for row in unpaid]
    shown = [row for row, texts in held if any(len(text) > len(row.answer) for text in texts)]
    if not shown or len(shown) * 2 < len(seen.judged):
        return None
    message = f"in {len(shown)} of {len(seen.judged)} rows the reference has a \\boxed{{}}, the shorter response none"
    swap = f"`reads: {{answer: COLUMN, response: COLUMN}}` under {SECTION}"
    remedy = f"are the two columns swapped? Then write {swap}; if not, ask the policy in its prompt for \\boxed{{}}"
    return _cause("columns swapped", shown, len(seen.judged), message, remedy)


def _written_references(row: ScoredRow) -> list[str]:
    """The texts in the usual columns of a reference, unchanged."""
    known = known_of(row)
    return [text for key in REFERENCE_KEYS if isinstance(text := known.get(key), str)]


def _elsewhere(seen: Seen) -> RewardTrouble | None:
    silent = [row for row in seen.unpaid if _NO_ANSWER.search(row.reason)]
    # A judge that does not say that it finds no answer is suspected only where it pays nothing
    tried = silent[:_SEARCHED] if len(silent) * 2 >= len(seen.judged) else [] if silent else seen.unpaid_all
    if not tried or (not silent and any(row.parts for row in tried)):
        return None
    if len(seen.without_spread(tried)) * 2 < len(tried):
        # A trainer learns the form
        return None
    told = [row for row in tried if _WAY_OUT.search(row.reason)]
    if len(told) * 2 >= len(tried):
        message, remedy = _WAY_OUT.split(told[0].reason)[:2]
        found = _cause("answers stand elsewhere", told, len(tried), f"the judge says {message!r:.200}", remedy)
        return None if _swapped(seen) else found
    where = {place: [row for row in tried if stands_in(row, place, sure=not silent)] for place in PLACES}
    place = max(where, key=lambda name: len(where[name]))
    if len(where[place]) * 2 >= len(tried):
        seen_by_it = "finds no answer" if silent else "pays nothing"
        message = f"the judge {seen_by_it}, and {len(where[place])} of {len(tried)} {PLACES[place]}"
        setting = f"astuner.task_judge.math.answer_in: [{place}]"
        remedy = f"{setting} where the judge is math; else ask in the prompt for the place that it reads"
        return _cause("answers stand elsewhere", where[place], len(tried), message, remedy)
    if not silent or 2 * sum(map(is_right, tried)) >= len(tried):
        return None
    message = f"the judge finds no answer ({silent[0].reason!r:.100}), and none stands in a usual place"
    remedy = "tell the policy in its prompt how to give its answer"
    remedy += ", or set code.answer_in: whole for bare programs" if "fenced" in silent[0].reason else ""
    return _cause("no answer found", silent, len(seen.judged), message, remedy)


def _no_reference(seen: Seen) -> RewardTrouble | None:
    if not (unpaid := seen.unpaid) or len(unpaid) < len(seen.judged) or not seen.unpaid_all:
        return None
    bare = [row for row in unpaid if not rights_of(row) and not is_told(known_of(row))]
    # A judge that needs no reference pays some rows
    if len(bare) < len(unpaid):
        return None
    message = f"no row has one of {', '.join(REFERENCE_KEYS)} in task.metadata, and `reads` names no other column"
    return _cause("no reference", bare, len(unpaid), message, _reads_line(bare[0]))


def _reads_line(row: ScoredRow) -> str:
    """The line to write that names the column of the reference, such as `reads: {answer: COLUMN}`; the column is
    guessed from the task's columns.
    """
    metadata = mapping_in(mapping_in(row.row.get("task")).get("metadata"))
    column = next(likely_answers(metadata), None) or "YOUR_COLUMN"
    return f"`reads: {{answer: {column}}}` under {SECTION}, or --map {column}=answer"


def _undecided(seen: Seen) -> RewardTrouble | None:
    open_ = [row for row in seen.judged if row.reason.startswith("undecided")]
    if len(open_) * 2 < len(seen.judged) or not open_:
        return None
    message = f"{len(open_)} of {len(seen.judged)} answers could not be decided: {open_[0].reason!r:.100}"
    remedy = f"raise {SECTION}.math.deadline, or set math.on_undecided: raise, so that they are no 0"
    return _cause("undecided", open_, len(seen.judged), message, remedy)


def _refused(seen: Seen) -> RewardTrouble | None:
    unpaid = seen.unpaid_all
    alike = [row for row in unpaid if is_right(row) and not _WAY_OUT.search(row.reason)]
    if len(alike) * 2 < len(unpaid) or not alike:
        return None
    row = alike[0]
    message = f"{len(alike)} of {len(unpaid)} answers are the reference in other signs, capitals, spaces or units"
    remedy = "cut off what is no part of it (skip_special_tokens), ask for it alone, or let the judge pass over it"
    if _NO_ANSWER.search(row.reason):
        remedy = "ask in the prompt for the form in which the judge looks for answers, such as \\boxed{}"
    remedy = f"{_beside(written_reference(row), row.answer)}: {remedy}"
    return _cause("right answers refused", alike, len(unpaid), message, remedy)


def _refused_tasks(seen: Seen) -> RewardTrouble | None:
    """Tasks of which all right answers are refused, beside tasks of which all are paid: the rows come
    from two sources.
    """
    right: dict[str, list[ScoredRow]] = defaultdict(list)
    for row in seen.judged[:_SEARCHED]:
        # Of several references all may be asked for
        rights = rights_of(row)
        if row.task and len(rights) == 1 and (given_answer(row).strip() in rights or is_right(row)):
            right[row.task].append(row)
    paid = {task: sum(_earns(row) for row in rows) for task, rows in right.items()}
    refused = [task for task, rows in right.items() if not paid[task] and len(rows) > 1]
    whole = sum(paid[task] == len(rows) for task, rows in right.items())
    mixed = sum(0 < paid[task] < len(rows) for task, rows in right.items())
    if len(refused) < _FEW - 1 or whole * 2 < len(refused) or mixed * 20 > len(right) or len(refused) * 10 < len(right):
        return None
    shown = [row for task in refused for row in right[task]]
    row = shown[0]
    told = f"earn nothing, such as for {row.reason!r:.60}, in {whole} others all of them are paid"
    message = f"in {len(refused)} of {len(right)} tasks all answers that are the reference {told}"
    remedy = f"{_beside(written_reference(row), row.answer)}: give tasks of this source a judge that reads their form"
    return _cause("right answers refused", shown, sum(map(len, right.values())), message, remedy)


def _other_kind(seen: Seen) -> RewardTrouble | None:
    """Answers of another kind than the references, such as letters beside numbers."""
    rows = [row for row in seen.unpaid_all if rights_of(row)]
    texts = [row for row in rows if option_of(row)] if kind_of(rights_of(row)[0] for row in rows) == "a letter" else []
    if texts and len(texts) * 2 >= len(rows):
        message = f"{len(texts)} of {len(rows)} answers are the text of an option, and every reference is a letter"
        remedy = "ask the policy for the letter, or take `judge: choice`, which reads the texts of the task's options"
        return _cause("answers of another kind", texts, len(seen.judged), message, remedy)
    if (named := named_otherwise(rows)) is not None:
        return _cause("answers of another kind", rows, len(seen.judged), *named)
    given, right = kind_of(given_answer(row).strip() for row in rows), kind_of(rights_of(row)[0] for row in rows)
    if not given or not right or given == right or given == "a text":
        return None
    message = f"every answer is {given}, and every reference is {right}"
    told = f"ask the policy for {right}, or name the column that holds {given} under {SECTION}.reads"
    remedy = f"{_beside(rights_of(rows[0])[0], given_answer(rows[0]))}: {told}"
    return _cause("answers of another kind", rows, len(seen.judged), message, remedy)


def _misplaced(seen: Seen) -> RewardTrouble | None:
    rights = {row.task: next(iter(rights_of(row)), None) for row in seen.rows if row.task}
    tasks, rows = list(rights), [row for row in seen.unpaid_all if row.task]
    if len(set(rights.values())) < 4 or not rows:
        return None
    place, given = {task: at for at, task in enumerate(tasks)}, [given_answer(row).strip() for row in rows]

    def shifted(by: int) -> list[ScoredRow]:
        there = [rights[tasks[(place[row.task] + by) % len(tasks)]] for row in rows]
        return [row for row, said, right in zip(rows, given, there, strict=True) if said == right]

    found = max(map(shifted, _SHIFTS), key=len)
    if len(found) < 0.75 * len(rows):
        # In any other order: nearly all tasks have a reference and an answer of their own, and these are the references
        others = set(rights.values())
        found = [row for row, said in zip(rows, given, strict=True) if said in others - {rights[row.task]}]
        said_by = {row.task: said for row, said in zip(rows, given, strict=True)}
        if len(found) < 0.75 * len(rows) or len(others & set(said_by.values())) < 0.75 * len(tasks):
            return None
    message = f"{len(found)} of {len(rows)} answers are the reference of another task"
    remedy = "join answers and tasks by their id, not by their order in two files"
    return _cause("another task's answer", found, len(rows), message, remedy)


def _one_reference(seen: Seen) -> RewardTrouble | None:
    unpaid = seen.unpaid_all
    rights = {row.task: next(iter(rights_of(row)), None) for row in unpaid}
    if len(rights) < 4 or len(set(rights.values())) > 1 or None in rights.values():
        return None
    right = next(iter(rights.values()))
    message = f"all {len(rights)} tasks have the reference {right!r:.60}, and no answer earns anything"
    return _cause("one reference", unpaid, len(unpaid), message, f"name its column: {_reads_line(unpaid[0])}")


def _one_question(seen: Seen) -> RewardTrouble | None:
    """One question for all tasks: a prompt was cut, or the system's message was taken for the question."""
    unpaid = seen.unpaid_all
    asked, rights = {question_of(row) for row in unpaid}, {right for row in unpaid for right in rights_of(row)[:1]}
    if len(rights) < _FEW or len(asked) > 1 or not all(asked):
        return None
    message = f"{len(rights)} references stand beside one question, {next(iter(asked))!r:.60}, and no answer earns"
    remedy = "name the question's column by --map YOUR_COLUMN=question, or do not cut the prompts"
    return _cause("one question", unpaid, len(unpaid), message, remedy)


def _turned(seen: Seen) -> RewardTrouble | None:
    """Groups in which right answers earn no more than wrong ones, such as for a loss that is taken as a reward."""
    mixed, better = [], []
    told = any(row.success is not None for row in seen.judged)
    for group in seen.groups if told else seen.groups[:_SEARCHED]:
        earned: dict[bool, list[float]] = {True: [], False: []}
        for row in group:
            right = row.success if told else given_answer(row).strip() in rights if (rights := rights_of(row)) else None
            if right is not None and row.reward is not None and row.status == "judged":
                earned[right].append(row.reward)
        if earned[True] and earned[False]:
            mixed.append(group)
            better.append(fmean(earned[True]) - fmean(earned[False]))
    # If rows do not state their success, a reward for something else may fall on wrong answers by chance
    sure = len(better) >= 3 if told else len(better) >= _FEW and max(better) < -_SAME
    if not sure or fmean(better) > _SAME:
        return None
    shown = [row for group in mixed for row in group]
    than = "less" if fmean(better) < 0 else "more"
    message = f"in {len(mixed)} groups right answers earn {abs(fmean(better)):.3g} {than} than wrong ones, on average"
    remedy = "turn the sign of the reward if it is a loss, or raise the weight of what decides success"
    return _cause("right earns no more", shown, len(seen.rows), message, remedy)


def _contradicted(seen: Seen) -> RewardTrouble | None:
    """Verdicts that belong to other rows: answers that equal the reference fail, and answers that
    differ from it pass.
    """
    known = [(row, given_answer(row).strip() in own) for row in seen.judged[:_SEARCHED] if (own := rights_of(row))]
    failed = [row for row, right in known if right and row.success is False]
    passed = [row for row, right in known if not right and row.success]
    if len(failed) < _FEW or len(failed) * 2 < sum(right for _, right in known):
        return None
    if len(passed) < _FEW or len(passed) * 2 < sum(bool(row.success) for row, _ in known):
        return None
    message = f"{len(failed)} answers that are the reference are no success, and {len(passed)} others are"
    remedy = "do verdicts come back in the order of their rows? Judge one again: astuner explain --conf FILE --id ID"
    return _cause("verdicts of other rows", [*failed, *passed], len(seen.judged), message, remedy)


def _tiny(seen: Seen) -> RewardTrouble | None:
    spreads = [(group, pstdev(_rewards(group) or [0.0])) for group in seen.groups]
    # A spread below this share of the largest reward is a rounding error
    largest = max((abs(row.reward or 0.0) for row in seen.rows), default=0.0)
    some = [(group, spread) for group, spread in spreads if spread > _SAME * largest]
    tiny = [group for group, spread in some if spread < _EPSILON]
    if len(tiny) * 5 < 4 * len(some) or not tiny:
        return None
    message = f"the rewards of {len(tiny)} of {len(spreads)} groups spread by less than {_EPSILON:g}"
    remedy = f"raise the weight of what differs: trainers add about {_EPSILON:g} to the spread that they divide by"
    return _cause("tiny spread", [row for group in tiny for row in group], len(seen.rows), message, remedy)


def _single(seen: Seen) -> RewardTrouble | None:
    steps: dict[str, set[float]] = defaultdict(set)
    for row in seen.rows:
        if row.task and row.step is not None:
            steps[row.task].add(row.step)
    again = [task for task, named in steps.items() if len(named) > 1]
    if seen.groups or len(again) * 2 < len(steps) or not again:
        return None
    shown = [row for row in seen.rows if row.task in again]
    message = f"no task has two rows in one step, though {len(again)} of {len(steps)} tasks come again in others"
    remedy = "write the same step for all samples of a task: a trainer that compares them has none"
    return _cause("groups of one", shown, len(seen.rows), message, remedy)


def _split_groups(seen: Seen) -> RewardTrouble | None:
    """One question under several task ids: then no group has two rows, or the rows of each group earn the same."""
    questions: dict[object, list[ScoredRow]] = defaultdict(list)
    for row in seen.rows:
        if question := question_of(row):
            questions[(question, row.step, *rights_of(row)) if seen.groups else question].append(row)
    split = [rows for rows in questions.values() if len({row.task for row in rows}) > 1]
    if not seen.rows or len(split) * 2 < len(questions) or not split:
        return None
    shown = [row for rows in split for row in rows]
    alone = "no group has two rows"
    if seen.groups:
        apart = [rows for rows in split if len({row.reward for row in rows if row.reward is not None}) > 1]
        if len(_flat(seen)) * 5 < 4 * len(seen.groups) or len(apart) * 2 < len(split):
            return None
        alone = "the rows of a group earn the same"
    message = f"{len(shown)} rows ask {len(split)} questions, each under several task_ids, and {alone}"
    return _cause("ids split groups", shown, len(seen.rows), message, "give all samples of a question one task_id")


def _merged_groups(seen: Seen) -> RewardTrouble | None:
    merged = [group for group in seen.groups if len(set(map(question_of, group))) > 1]
    if len(merged) * 2 < len(seen.groups) or not merged:
        return None
    shown = [row for group in merged for row in group]
    message = f"{len(merged)} of {len(seen.groups)} groups hold several questions, whose answers a trainer compares"
    return _cause("ids merge groups", shown, len(seen.rows), message, "give each question a task_id of its own")


def _flat(seen: Seen) -> list[Sequence[ScoredRow]]:
    """The groups in which all rewards are equal."""
    paid = ((group, _rewards(group)) for group in seen.groups)
    return [group for group, rewards in paid if rewards and max(rewards) - min(rewards) <= _SAME]


def _rewards(rows: Sequence[ScoredRow]) -> list[float]:
    return [row.reward for row in rows if row.reward is not None]


def _equal_texts(seen: Seen) -> RewardTrouble | None:
    alike = [group for group in _flat(seen) if len({" ".join(row.answer.split()) for row in group}) == 1]
    if len(alike) * 2 < len(seen.groups) or not alike:
        return None
    shown = [row for group in alike for row in group]
    message = f"{len(alike)} of {len(seen.groups)} groups hold one text again and again"
    remedy = "raise the sampling temperature, or vary the seed of the samples"
    return _cause("equal texts", shown, len(seen.rows), message, remedy)


def _cancelling(seen: Seen) -> RewardTrouble | None:
    rows = [row for row in seen.judged if len(row.parts) > 1]
    if len(rows) < 2:
        return None
    names = sorted({name for row in rows for name in row.parts})
    spreads = {name: pstdev([row.parts.get(name, 0.0) for row in rows]) for name in names}
    total = pstdev([row.reward or 0.0 for row in rows])
    widest = sorted(names, key=lambda name: -spreads[name])[:2]
    if spreads[widest[-1]] <= _SAME or total > 0.1 * spreads[widest[0]]:
        return None
    sums = pstdev([math.fsum(row.parts.values()) for row in rows])
    if sums > 0.1 * spreads[widest[0]]:
        return None
    told = " and ".join(f"{name.removeprefix('part/')} ({spreads[name]:.3g})" for name in widest)
    message = f"the parts cancel: {told} spread, their sum spreads by {total:.3g}"
    return _cause("parts cancel", rows, len(seen.judged), message, "change the weight of one of them, or drop one")


def _clipped(seen: Seen) -> RewardTrouble | None:
    rows = [row for row in seen.judged if row.parts and row.reward is not None]
    if not rows:
        return None
    ends = {min(row.reward or 0.0 for row in rows), max(row.reward or 0.0 for row in rows)}
    sums = [math.fsum(row.parts.values()) for row in rows]
    cut = [row for row, total in zip(rows, sums, strict=True) if row.reward in ends and abs(total - row.reward) > 0.01]
    if len(cut) * 2 < len(rows) or pstdev(sums) <= _SAME:
        return None
    mean = fmean(math.fsum(row.parts.values()) for row in cut)
    message = f"{len(cut)} of {len(rows)} rewards are clipped to {cut[0].reward:g}: their parts sum to {mean:.3g}"
    return _cause("clipped", cut, len(rows), message, "lower the weights, or widen the clip")


def _all_equal(seen: Seen) -> RewardTrouble | None:
    judged = [row for row in seen.judged if row.reward is not None]
    flat = _flat(seen)
    if not judged or (seen.groups and len(flat) * 5 < 4 * len(seen.groups)):
        return None
    within = ""
    if len(flat) < len(seen.groups):
        # The other groups do teach: the cause is sought in those without spread
        judged, within = [row for group in flat for row in group if row.reward is not None], " in groups without spread"
    rewards = [row.reward or 0.0 for row in judged]
    if not seen.groups and max(rewards) - min(rewards) > _SAME:
        return None
    right, wrong = (sum(bool(row.success) is passed for row in judged) for passed in (True, False))
    told = f"{len(flat)} of {len(seen.groups)} groups have no spread" if seen.groups else "all rewards are equal"
    if right >= 0.9 * len(judged):
        message = f"{right} of {len(judged)} rows{within} are right: {told}"
        if others := _paid_for_others(judged):
            message = f"{len(others)} of {len(judged)} rows{within} are paid for other answers than the right: {told}"
            remedy = "does the judge read the answer? `astuner audit --conf FILE` tells; if so, take harder tasks"
            return _cause("wrong answers paid", others, len(judged), message, remedy)
        return _cause("all right", judged, len(judged), message, "take harder tasks")
    if wrong >= 0.9 * len(judged) and fmean(rewards) <= _SAME:
        (shape, count), *_ = Counter(shape_of(row.reason) for row in judged if not row.success).most_common(1)
        message = f"{wrong} of {len(judged)} rows{within} are wrong, {count} of them with the reason {shape!r}; {told}"
        remedy = "astuner explain --conf FILE --id ID; take easier tasks"
        return _cause("all wrong", judged, len(judged), message, remedy)
    if max(rewards) - min(rewards) > _SAME:
        remedy = "the reward differs between tasks alone: see that the judge reads the answer, or pay partial credit"
        return _cause("equal rewards", judged, len(judged), told, remedy)
    return _cause("equal rewards", judged, len(judged), told, "sample more rows a task, or pay partial credit")


def _paid_for_others(rows: Sequence[ScoredRow]) -> list[ScoredRow]:
    """The rows whose answer is a different number, or a different letter, than the reference; empty if they are less
    than half of the rows, or if answers and references are texts.
    """
    known = [row for row in rows[:_SEARCHED] if rights_of(row)]
    given, right = kind_of(given_answer(row).strip() for row in known), kind_of(rights_of(row)[0] for row in known)
    if given != right or given == "a text":
        return []
    others = [row for row in known if given_answer(row).strip() not in rights_of(row) and not is_right(row)]
    return others if len(others) * 2 >= len(rows[:_SEARCHED]) else []


def _ended(seen: Seen) -> RewardTrouble | None:
    """Steps at the end of the run in which all rows earn the same, after steps in which rewards differed."""
    spread: dict[float, list[bool]] = defaultdict(list)
    flat = {id(group) for group in _flat(seen)}
    for group in seen.groups:
        if group[0].step is not None:
            spread[group[0].step].append(id(group) not in flat)
    last = max((step for step, some in spread.items() if any(some)), default=math.inf)
    shown = [row for row in seen.judged if row.step is not None and row.step > last and row.reward is not None]
    after = {row.step for row in shown if row.step is not None}
    rewards = [row.reward or 0.0 for row in shown]
    before = [some for step, found in spread.items() if step <= last for some in found]
    if len(after) < 2 or max(rewards) - min(rewards) > _SAME or sum(before) * 2 < len(before):
        return None
    if all(row.success for row in shown):
        return None
    told = f"before it {sum(before)} of {len(before)} groups had a spread"
    message = f"since step {min(after):g} all rewards are {rewards[0]:.3g} ({shown[0].reason!r:.60}); {told}"
    remedy = "see what changed there: the judge, what it asks, or the outputs; astuner explain --conf FILE --id ID"
    return _cause("reward ended", shown, len(seen.judged), message, remedy)


#: In the order of the report: what comes first explains what comes later.
_SPECIFIC: tuple[Check, ...] = (
    _no_verdict, _one_rule, _empty, _swapped, _with_prompt, _undecided, _truncated, _opened_in_prompt, _elsewhere,
    _no_reference, _one_reference, _refused, _other_kind, _misplaced, _one_question,
    _split_groups, _merged_groups, _single, _equal_texts, _cancelling, _clipped,
    _turned, _contradicted, _refused_tasks, _tiny,
)  # fmt: skip
_GENERAL: tuple[Check, ...] = (_ended, _all_equal)


# Groups are compared in memory
_MOST_ROWS = 200_000
_RUN = "Scored rows, as `astuner judge` writes them, or the folder that `log_dir` or a trainer writes."


def doctor(
    run: Annotated[str, typer.Argument(help=_RUN)],
    format_: Format = None,
    map_: Map = None,
    as_json: Json = False,
) -> None:
    """Why is my reward 0, or the same for all answers? The likeliest cause first, with rows and the fix.

    The exit code is 1 if a cause is found, else 0. Gaming is no cause: `astuner watch` looks for it.
    """
    with config_errors(), ExitStack() as stack:
        source = RunRows(Path(run), partial(rollout_lines, format_=format_, pairs=map_))
        rows = list(islice(ended_rows(source, run, stack), _MOST_ROWS))
    if len(rows) == _MOST_ROWS:
        err.print(f"the first {_MOST_ROWS:,} rows are looked at")
    if source.unread:
        err.print(f"lines that could not be read: {source.unread:,}", style="yellow")
    if not rows:
        raise fail(f"{run!r} holds no row: `doctor` reads what `astuner judge --output` wrote, or a log_dir")
    found = [cause for cause in (_unread(source), *diagnose(rows)) if cause is not None]
    if as_json:
        print(json.dumps({"rows": len(rows), "causes": list(map(asdict, found))}))
    for place, trouble in enumerate(() if as_json else found, 1):
        say(f"{place}. {trouble.name}: {trouble.message}")
        shown = ", ".join(f"{name:.60}".replace("\n", "\\n") for name in trouble.examples)
        say(f"   {trouble.rows:,} of {trouble.of:,} rows" + (f", for example {shown}" if shown else ""))
        say(f"   to mend it: {trouble.remedy}")
    if found:
        raise typer.Exit(Exit.FOUND)
    if not as_json:
        alone = len({row.group for row in rows if row.task}) == sum(bool(row.task) for row in rows)
        told = "no task has two rows in a step, so a trainer that compares them learns nothing"
        learns = "a trainer can learn from them; `astuner watch` says whether it learns to fool the judge"
        err.print(f"no cause found in {len(rows):,} rows: {told if alone else learns}")


def _unread(source: RunRows) -> RewardTrouble | None:
    lines = source.rows + source.unread
    if not source.unread or source.unread * 5 < lines:
        return None
    message = f"{source.unread} of {lines} lines cannot be read: {source.first_unread}; the others follow"
    remedy = "a reward has to be a finite number, and not huge: raise where there is none, and the row is failed"
    return RewardTrouble("unreadable rows", source.unread, lines, message, remedy, ())
