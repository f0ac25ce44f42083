"""Shared by the adapters: trainers' samples become tasks and outputs, judges' metrics become trainers' logs.

`FailingRun` stops a run that trains on nothing, for trainers which leave a failed verdict out and go on.

Whether an advantage group teaches anything is decided by success, never by a shaped reward: groups filtered by a score
that length or format moves are kept or dropped for the wrong reason.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from functools import cache
from typing import Any

from msgspec.structs import replace

from agentscope_tuner.config import SECTION
from agentscope_tuner.errors import Cause, JudgeError, input_error
from agentscope_tuner.records.formats.sample import Prompt, is_chat
from agentscope_tuner.records.formats.sample import as_rollout as as_rollout
from agentscope_tuner.records.formats.sample import ground_truth_metadata as ground_truth_metadata
from agentscope_tuner.records.scored_rows import MARKS
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, UnreadOutput, mean_metrics
from agentscope_tuner.task_judge.contract.columns import QUESTIONS, likely_answers
from agentscope_tuner.task_judge.contract.judgement import Judgement

#: The key under which an agent loop or a generate function gives the policy's last turn, for trainers that hand over
#: one text of all turns. No column of a data set has this name: one called `final_answer` often holds the reference.
LAST_TURN = "astuner_last_turn"


def rows_of(columns: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """A batch's columns as one row for each of its `count` completions.

    Raises:
        JudgeError: a column is no list, or holds more or fewer values than there are completions: which value belongs
            to which completion is then unknown, and the first ones need not be right.
    """
    values = {name: _column(name, column, count) for name, column in columns.items()}
    return [{name: column[place] for name, column in values.items()} for place in range(count)]


def _column(name: str, column: Any, count: int) -> list[Any]:
    # A text has a length and places, too: `answer="42"` would give the first completion the reference "4"
    if isinstance(column, str | bytes | Mapping | Set) or not hasattr(column, "__len__"):
        raise input_error(
            f"the column {name!r} must be a list with a value for each of {count} completions, got {column!r:.100}"
        )
    # not by place: a pandas series is asked by its labels
    values = list(column)
    if len(values) != count:
        raise input_error(
            f"the column {name!r} has {len(values)} value{'' if len(values) == 1 else 's'} for {count} completions: "
            "give one value per completion, in the same order"
        )
    return values


def asked_in(row: Mapping[str, Any]) -> Prompt:
    """The question in a data set's row, a text or chat messages, from a column with one of the usual names; empty if
    there is none.
    """
    for name in ("main_query", *QUESTIONS, "messages"):
        value: Any = row.get(name)
        # a list out of Parquet
        value = value.tolist() if type(value).__module__ == "numpy" else value
        if (isinstance(value, str) and value.strip()) or is_chat(value):
            return value  # type: ignore[no-any-return]
    return ""


def current_step(trainer_state: object) -> int | None:
    """The training step, from 1, of a trainer built on transformers; None if its state does not state one.

    The trainer's own `global_step` counts the finished steps.
    """
    step = getattr(trainer_state, "global_step", None)
    return step + 1 if isinstance(step, int) else None


def batch_metrics(judgements: Sequence[Judgement]) -> dict[str, float]:
    """The metrics of a batch of verdicts.

    They are `success_rate` of the rows that were judged or filtered (absent when there are none), `filtered`,
    `failed`, `undecided` and `unread` (the marks of `records.scored_rows`) as shares of the batch, the mean
    `judge_seconds`, and the mean of each of the judge's own metrics over the verdicts that have it.
    """
    total = max(len(judgements), 1)
    failed = sum(judgement.status == "failed" for judgement in judgements)
    metrics = {
        **mean_metrics(judgements),
        # set only where they hold: the mean over those that have one would be 1.0
        **{mark: sum(judgement.metrics.get(mark, 0.0) for judgement in judgements) / total for mark in MARKS},
        "filtered": sum(judgement.status == "filtered" for judgement in judgements) / total,
        "failed": failed / total,
        "judge_seconds": sum(judgement.seconds for judgement in judgements) / total,
    }
    if len(judgements) > failed:
        metrics["success_rate"] = sum(bool(judgement.is_success) for judgement in judgements) / (
            len(judgements) - failed
        )
    return metrics


def named_metrics(judge: ConfiguredJudge, judgement: Judgement) -> dict[str, float]:
    """The judge's own metrics of a verdict, each named `<judge>/<metric>`, so that no two judges of a run, and no judge
    and trainer, share a name.
    """
    return {f"{judge.name}/{metric}": value for metric, value in judgement.metrics.items()}


def episode_metrics(judge: ConfiguredJudge, judgement: Judgement) -> dict[str, float]:
    """`named_metrics`, and `<judge>/success`."""
    return {**named_metrics(judge, judgement), f"{judge.name}/success": float(bool(judgement.is_success))}


def verdict_flags(judgement: Judgement) -> dict[str, float]:
    """How a verdict came about, for trainers' logs: `filtered`, `failed`, and `judge_seconds`."""
    flags = {status: float(judgement.status == status) for status in ("filtered", "failed")}
    return {**flags, "judge_seconds": judgement.seconds}


def without_a_question(pair: Pair, judgement: Judgement, way_out: str) -> Judgement:
    """The judgement. If it failed because of its input, and the trainer gave no question, `way_out` is added to its
    error.
    """
    if pair[0].task.main_query.strip() or judgement.cause is not Cause.INPUT:
        return judgement
    return replace(judgement, error=f"{judgement.error}. No question came: {way_out}")


def components_of(judge: ConfiguredJudge, judgement: Judgement) -> dict[str, float]:
    """The rewards of the parts of a combined judge that count, by part: `{"correct": 1.0, "style": 0.5}`. Every verdict
    of a judge has the same parts.

    A part that its condition left out adds nothing and is 0.0; a rollout that a rule filtered has the rule's reward in
    each.

    Raises:
        JudgeError: a part has no verdict, though the whole has one (the part is optional), so that its reward cannot be
            named.
    """
    if judgement.status == "filtered" and judgement.reward is not None:
        return dict.fromkeys(judge.component_names, judgement.reward)
    found: dict[str, float] = {}
    for name in judge.component_names:
        value = judgement.metrics.get(f"part/{name}")
        if value is None and not judgement.metrics.get(f"part/{name}/skipped"):
            raise JudgeError(
                f"part {name!r} has no verdict, and a reward of its own would be no 0.0: a part whose reward the "
                "trainer takes by its name cannot be optional",
                judge=judge.name,
                cause=judgement.cause or Cause.CONFIG,
            )
        found[name] = 0.0 if value is None else value
    return found


def constant_metrics(judge: ConfiguredJudge, judgement: Judgement, unmeasured: float = math.nan) -> dict[str, float]:
    """`named_metrics` for trainers that want the same keys of every sample: all of the judge's `metric_names`, with
    `unmeasured` for a metric that this verdict lacks.

    A part of a combined judge that was not asked adds nothing to the reward, and is 0.0 here, because the mean over a
    NaN would be NaN. `part/<name>/skipped` counts when it was not asked. One that was asked without a verdict
    is `unmeasured`: a trainer may take a part's metric as a reward of its own. Of a rollout that a rule filtered each
    part that counts has the rule's reward.
    """
    found = {f"{judge.name}/{metric}": judgement.metrics.get(metric, unmeasured) for metric in judge.metric_names}
    if judgement.reward is None:
        return found
    filtered = judgement.status == "filtered"
    for metric in judge.metric_names:
        name = metric.removeprefix("part/")
        if name == metric or metric in judgement.metrics:
            continue
        counts = name in judge.component_names
        if counts and filtered:
            found[f"{judge.name}/{metric}"] = judgement.reward
        elif filtered or not counts or judgement.metrics.get(f"{metric}/skipped"):
            found[f"{judge.name}/{metric}"] = 0.0
    return found


def why_useless(judgements: Sequence[Judgement]) -> str | None:
    """The reason why a group teaches nothing; None if it teaches something.

    It is `no_verdict` if a sample has none, `all_right`, `all_wrong`, or `zero_spread` if all rewards are equal.
    """
    if not judgements or any(judgement.reward is None for judgement in judgements):
        return "no_verdict"
    successes = {bool(judgement.is_success) for judgement in judgements}
    if len({judgement.reward for judgement in judgements}) == 1:
        return "zero_spread" if len(successes) > 1 else ("all_right" if successes == {True} else "all_wrong")
    return None


def group_metrics(groups: Sequence[Sequence[Judgement]]) -> dict[str, float]:
    """The shares of groups that teach nothing, by reason: `groups/all_right`, `groups/all_wrong`, `groups/zero_spread`
    and `groups/no_verdict`; none without groups.
    """
    found = [why_useless(group) for group in groups]
    reasons = ("all_right", "all_wrong", "zero_spread", "no_verdict")
    return {f"groups/{reason}": found.count(reason) / len(found) for reason in reasons} if found else {}


def places_by(keys: Iterable[Hashable]) -> list[list[int]]:
    """The positions of equal keys, one list for each key, in the order of first occurrence: `[[0, 3], [1], [2]]` for
    `abca`.
    """
    found: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return list(found.values())


_log = logging.getLogger(__name__)

#: Batches in a row without any verdict of the judge, after which a run is stopped.
MOST_BATCHES = 3
#: The causes that no later batch mends: the data set, the columns or the configuration
STANDING = frozenset({Cause.REFERENCE, Cause.INPUT, Cause.CONFIG})
# A batch is often the completions of one prompt, whose cell may be empty in a sound data set. So these numbers of
# failed tasks stand for all tasks, before the first verdict and after it; or this number of rows
_TASKS_AT_FIRST, _TASKS, _ROWS = 2, 8, 64
_MOST_SHOWN = 20
# Rows that count as a batch, where a trainer asks about a few at a time
_BATCH_ROWS = 64


class FailingRun:
    """Counts the verdicts of one judge in a trainer's process, logs those that fail, and stops a run without any.

    It stops:

    - when no row of a batch can be read;
    - when, from the first row on, every row of two tasks or more fails for a cause that no later batch mends
      (`reference`, `input`; `config` at once);
    - when the judge is asked no more because its breaker is open;
    - after `MOST_BATCHES` batches in a row without a verdict, of eight tasks or 64 rows;
    - after as many batches, of 64 tasks, in which at most one sample of each task has a reward: there is no other
      reward to compare it with.

    Rows that a rule filters are no verdict of the judge, and no failure.

    Args:
        name: the judge's.
        keys: what the judge calls its reference.
        stops: whether to stop; the failures are logged in any case.
        rows: how many rows make a batch, where a trainer asks about a few at a time.
        call: how the trainer hands over columns, for a call without any.
    """

    def __init__(
        self, name: str, keys: Sequence[str] = (), *, stops: bool = True, rows: int = 1, call: str = ""
    ) -> None:
        self._name, self._keys, self._stops, self._rows, self._call = name, keys, stops, rows, call
        self._waiting: tuple[list[Pair], list[Judgement]] = [], []
        self._reached = False
        # Of the batches in a row without a verdict
        self._empty_batches = self._empty_rows = 0
        self._empty_tasks: set[tuple[str, str]] = set()
        self._empty_causes: set[Cause | None] = set()
        # Of the batches in a row without two rewards to compare
        self._alone_batches = self._alone_tasks = 0
        self._causes: Counter[str] = Counter()
        self._told = 0

    def add(self, pairs: Sequence[Pair], judgements: Sequence[Judgement], *, trains: bool = True) -> None:
        """Count a batch, or a part of one.

        Args:
            trains: whether the run trains on these verdicts; those of an evaluation are logged, and stop nothing.

        Raises:
            JudgeError: the run must stop; the message names the columns that the rows have.
        """
        if self._rows > 1:
            self._waiting[0].extend(pairs)
            self._waiting[1].extend(judgements)
            at_once = any(judgement.cause is Cause.BREAKER for judgement in judgements)
            if len(self._waiting[1]) < self._rows and not at_once:
                return
            (pairs, judgements), self._waiting = self._waiting, ([], [])
        # The rules decided the group of a rollout that they left alone: nothing is broken
        failed = [each for each in judgements if each.status == "failed" and each.cause is not Cause.ALONE]
        self._causes.update(str(judgement.cause) for judgement in failed)
        if not trains:
            if failed:
                self._tell(pairs, failed, len(judgements))
            return
        if any(judgement.status == "judged" for judgement in judgements):
            self._reached, self._empty_batches, self._empty_rows = True, 0, 0
            self._empty_tasks, self._empty_causes = set(), set()
        elif failed:
            self._empty_batches += 1
            self._empty_rows += len(failed)
            self._empty_tasks |= {
                _task_of(pair) for pair, found in zip(pairs, judgements, strict=True) if found.status == "failed"
            }
            self._empty_causes |= {judgement.cause for judgement in failed}
        self._count_alone(pairs, judgements)
        if not failed:
            return
        problem = self._problem(pairs, failed) if self._empty_batches else self._alone()
        if problem is not None and self._stops:
            raise JudgeError(
                f"{problem}: {self._shown(told=True)}. {self._columns(pairs, failed[0])}The first: {failed[0].error}. "
                "A run without verdicts trains on nothing, so it is stopped; stop_when_failing=False lets it go on",
                judge=self._name,
                cause=failed[0].cause,
            )
        self._tell(pairs, failed, len(judgements))

    def _count_alone(self, pairs: Sequence[Pair], judgements: Sequence[Judgement]) -> None:
        groups = places_by(map(_task_of, pairs))
        if any(_compares(judgements, group) for group in groups):
            self._alone_batches = self._alone_tasks = 0
        else:
            self._alone_batches += 1
            self._alone_tasks += len(groups)

    def _problem(self, pairs: Sequence[Pair], failed: Sequence[Judgement]) -> str | None:
        if all(isinstance(output, UnreadOutput) and output.cause is Cause.INPUT for _, output in pairs):
            return "no row of the batch can be read"
        causes, tasks, rows = self._empty_causes, len(self._empty_tasks), self._empty_rows
        sure = tasks >= _TASKS_AT_FIRST or rows >= _ROWS or causes == {Cause.CONFIG}
        if not self._reached and causes <= STANDING and sure:
            return "no verdict on any row so far"
        if any(judgement.cause is Cause.BREAKER for judgement in failed):
            return "the judge is asked no more"
        if self._empty_batches >= MOST_BATCHES and (tasks >= _TASKS or rows >= _ROWS):
            return f"no verdict in {self._empty_batches} batches in a row"
        return self._alone()

    def _alone(self) -> str | None:
        told = f"no two verdicts on one of the last {self._alone_tasks} tasks, so that none is better than another"
        return told if self._alone_batches >= MOST_BATCHES and self._alone_tasks >= _ROWS else None

    def _tell(self, pairs: Sequence[Pair], failed: Sequence[Judgement], rows: int) -> None:
        total = sum(self._causes.values())
        # Until the first verdict, which a run that may be stopped waits for not long; then whenever their number has
        # doubled: one line a step would be read by nobody
        if total >= 2 * self._told or (self._stops and not self._reached):
            self._told = total
            why = f"{failed[0].error}. {self._columns(pairs, failed[0])}".rstrip(". ")
            _log.warning(
                "%s gave no verdict on %d of %d rows (%s so far): %s",
                self._name, len(failed), rows, self._shown(), why,
            )  # fmt: skip

    def _shown(self, *, told: bool = False) -> str:
        words = (" row with cause", " rows with cause") if told else ("", "")
        return ", ".join(f"{count}{words[count != 1]} {cause}" for cause, count in self._causes.most_common())

    def _columns(self, pairs: Sequence[Pair], first: Judgement) -> str:
        """A sentence that names the columns of the rows, and the column that may hold the missing reference; empty if
        the verdict failed for another cause than its reference.
        """
        if first.cause is not Cause.REFERENCE or not pairs:
            return ""
        metadata = pairs[0][0].task.metadata
        columns = ", ".join(map(repr, sorted(metadata)[:_MOST_SHOWN]))
        told = f"The rows have {f'the columns {columns}' if metadata else f'no column{self._call}'}. "
        guess = next(likely_answers({key: value for key, value in metadata.items() if key not in self._keys}), None)
        # a judge that found no column at all has said so already
        if guess is None or "reads:" in (first.error or ""):
            return told
        return f"{told}Is it {guess!r}? Then write `reads: {{answer: {guess}}}` under {SECTION}. "


def _task_of(pair: Pair) -> tuple[str, str]:
    return pair[0].task_id, pair[0].task.main_query


def _compares(judgements: Sequence[Judgement], group: Sequence[int]) -> bool:
    """Whether at least two samples of a task have a reward, or the sample that is the only one."""
    return sum(judgements[place].reward is not None for place in group) >= min(2, len(group))


def failing_run(judge: ConfiguredJudge, *, stops: bool = True) -> FailingRun:
    """A count for a trainer that asks about one sample, or one group, at a time."""
    return FailingRun(judge.name, judge.reference_keys, stops=stops, rows=_BATCH_ROWS)


#: `failing_run` for trainers that call a bare function: each call with the same judge gives the same count.
the_failing_run = cache(failing_run)
