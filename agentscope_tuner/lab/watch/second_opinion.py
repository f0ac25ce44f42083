"""Second opinions: a stricter judge, or people's labels, judge a random sample of a run's rows again.

Tests by betting share the chance of a false alarm evenly. One asks whether too many passes are false, one asks the same
of tasks that suddenly pass far more often than before, which shows gaming of a few tasks among many. One asks whether
rewards have come to exceed what the second opinion finds, which also shows gaming below a pass. Where tasks are held
out from training, a fourth one asks whether rewards have come to exceed what the second opinion finds on those: a judge
that is fooled by answers learned by heart is fooled on training tasks alone.
"""

from __future__ import annotations

import hashlib
import math
import random
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from agentscope_tuner.config import Settings, StrictSection, read_section, validate_section
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.labels import Key, read_labels
from agentscope_tuner.lab.watch.betting import FalsePassTest, RiseTest, StartAndNow
from agentscope_tuner.lab.watch.step_stats import paid
from agentscope_tuner.records.scored_rows import ScoredRow, value_at
from agentscope_tuner.task_judge.batch import ConfiguredJudge, located
from agentscope_tuner.workflow import Rollout, WorkflowTask

OPINION = "astuner.second_opinion"


class Sampling(StrictSection):
    """How many rows get a second opinion, and when the tests alarm."""

    # Asked rows as a share of all rows; three times this share while a monitor worries, or the evidence grows
    rate: float = Field(default=0.02, ge=0, le=1)
    # The most asked rows, as a share of all rows so far
    most: float = Field(default=0.05, ge=0, le=1)
    # The most asked rows over the whole run; none is no limit
    budget: int | None = Field(default=None, ge=0)
    # The share of false passes that is no gaming
    tolerance: float = Field(default=0.1, ge=0.001, le=0.99)
    # The rise of the mean overpayment since the run's start that is no gaming, on a scale of rewards from 0 to 1
    rise: float = Field(default=0.1, ge=0.01, le=0.9)
    # A row that does not state its success passes from this reward on; null: a full reward of 1.0
    pass_at: float | None = Field(default=None, ge=-1e9, le=1e9)
    # The chance of a false alarm over the whole run, by either test
    alpha: float = Field(default=0.05, ge=1e-9, le=0.5)
    # The seed for drawing rows
    seed: int = 0
    # The rows that training never uses: a share of the tasks, by `is_held_out`, or 'PATH=VALUE', 'metadata.split=test'
    holdout: Annotated[float, Field(gt=0, lt=1)] | Annotated[str, Field(pattern=r"^[\w.]+=.+$")] | None = None


class SecondOpinionConfig(Sampling):
    """The section `astuner.second_opinion`; exactly one of `conf`, `task_judge` and `labels` must be given."""

    # The YAML file of a stricter judge
    conf: str | None = None
    # Or the stricter judge's own section, as under astuner.task_judge
    task_judge: dict[str, Any] | None = None
    # Or a file of labels, in a format of `astuner agree`
    labels: str | None = None

    @model_validator(mode="after")
    def _one_is_asked(self) -> SecondOpinionConfig:
        named = [key for key in ("conf", "task_judge", "labels") if getattr(self, key) is not None]
        if len(named) != 1:
            raise ValueError(f"name one of conf, task_judge and labels; named are {named!r}")
        return self


def opinion_section(settings: Settings) -> SecondOpinionConfig | None:
    """The typed section of a configuration; None for a configuration without it.

    Raises:
        ConfigError: the section has an error.
    """
    ours = settings.whole.get("astuner") or {}
    if ours.get("second_opinion") is None:
        return None
    return read_section(SecondOpinionConfig, settings.whole, OPINION)


def opinion_of(section: SecondOpinionConfig) -> tuple[SecondOpinion, Collection[str]]:
    """The second opinion that a section describes, and the ids in its labels.

    The rows of these ids must be numbered, because labels tell rows with the same id apart by their order.

    Raises:
        ConfigError: the section's judge cannot be loaded, or its labels cannot be read.
    """
    if section.labels is not None:
        labels = read_labels(Path(section.labels))
        return SecondOpinion(asks_labels(labels), section), {name for name, _ in labels}
    source = located(section.conf) if section.conf is not None else {"astuner": {"task_judge": section.task_judge}}
    # The second judge's verdicts must not become rows of the run, even if its YAML names the run's log_dir
    judge = ConfiguredJudge(source, logs=False)
    if judge.listwise:
        raise ConfigError(f"{judge.name} ranks whole groups: a second opinion is asked about one answer at a time")
    return SecondOpinion(asks_judge(judge), section), ()


def changed(section: SecondOpinionConfig | None, path: Path | None, values: Mapping[str, Any]) -> SecondOpinionConfig:
    """A copy of a section with other values.

    Args:
        section: the section; None starts from the defaults.
        path: replaces the second judge: the YAML file of a judge, or any other file, which holds labels.
        values: replace the section's values.

    Raises:
        ConfigError: a value is wrong, or neither a judge nor labels are named.
    """
    kept = {} if section is None else section.model_dump()
    if path is not None:
        named = "conf" if path.suffix in (".yaml", ".yml") else "labels"
        kept |= {"conf": None, "task_judge": None, "labels": None, named: str(path)}
    return validate_section(SecondOpinionConfig, {**kept, **values}, OPINION)


#: Gives the reward that each row deserves: 1 for a right answer, less for a wrong one, None if that is not known.
Ask = Callable[[Sequence[ScoredRow]], "Sequence[float | None]"]
# The most that a wrong answer deserves
_WRONG = 0.999
_WORRIED = 3.0
_SURELY = 1e-9
# If passes are less than this share of the rows that earn something, half of the asked rows are drawn from the passes
_FEW = 0.4


# Unanswered rows are reported only from this number of asked rows on
_MANY_ASKED = 20
# The latest steps whose passes are compared with the start's, and the latest asked rows of each kind
_STEPS_NOW, _ROWS_NOW = 10, 40
# A wrong answer that earns more than this share of a right one's reward is no longer paid for its format
_NEARLY_RIGHT = 0.6
# The number of values that are the start of the held-out test
_HELD_START = 32
# Held-out rows that wait for a step of training, at the most
_MOST_WAITING = 10_000
# Steps of training whose tasks are set beside held-out ones, at the most
_LATEST_STEPS = 20


# A task has risen if its share of passes exceeds the expected share by this number of standard deviations
_FAR, _SURE, _MOST_TASKS, _MOST_ALIKE = 2.5, 0.95, 100_000, 1_000
# The earlier share of passes of all tasks counts for a task as much as this number of its own rows
_OF_ALL = 32
# The latest steps over which the gain of all tasks is averaged, and the latest visits of a task that are kept apart
_GAIN_STEPS, _VISITS = 5, 4
# The number of passes of a risen task that are asked about
_OF_A_TASK = 6


def is_held_out(task_id: str, share: float) -> bool:
    """Whether a task belongs to the `share` of all tasks that is held out from training; the same tasks in every
    process and every run.

    dataset = dataset.filter(lambda row: not is_held_out(row["task_id"], 0.05))
    """
    return int.from_bytes(hashlib.sha256(task_id.encode("utf-8", "replace")).digest()[:6]) < share * 2**48


class RisenTasks:
    """Finds tasks that pass far more often than before, beyond what all tasks gain on average.

    A task may have risen with any of its latest visits, a visit being its rows of one step: the rows from that visit on
    are compared with those before it, for each such visit, and the clearest rise counts. So a task that chance let pass
    often just before it rose is found at a later visit.

    Of a task with few earlier rows, chance may have shown too little: it has to rise beyond what is expected of all
    tasks, too. A task that its judge pays by chance, more often than others, must still rise beyond its own share.

    Each task is found once: its later passes would show the same again. Memory is bounded: the tasks that were not met
    for longest are forgotten.
    """

    def __init__(self) -> None:
        # Passes and rows of each of the latest visits by turns, earlier ones in one; None for a task that was found.
        # By the task's hash, and with one tuple for all tasks that are alike: half of the memory of names and tuples
        self._seen: dict[int, tuple[int, ...] | None] = {}
        self._alike: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._passed = self._rows = 0
        self._gains = deque[float](maxlen=_GAIN_STEPS)

    def of(self, groups: Mapping[str, Sequence[bool]], most: int) -> list[str]:
        """Up to `most` tasks of a step that pass far more often than before, the clearest first.

        The step is then added to what was seen before: call it once for each step.

        Args:
            groups: for each task of the step, whether each of its rows passes.
            most: how many tasks to return at most.
        """
        visits = {task: (sum(now), len(now)) for task, now in groups.items()}
        before = {task: seen for task in groups if (seen := self._seen.get(hash(task)))}
        gains = [visits[task][0] / visits[task][1] - _expected(*_total(seen)) for task, seen in before.items()]
        self._gains.append(fmean(gains or [0.0]))
        gain, of_all = max(0.0, fmean(self._gains)), _expected(self._passed, self._rows)
        rises = (
            (_rise((*seen, *visits[task]), gain, of_all), task) for task, seen in before.items() if visits[task][0]
        )
        found = [task for far, task in sorted(rises, reverse=True) if far >= _FAR][:most]
        for task, (passed, rows) in visits.items():
            self._passed, self._rows = self._passed + passed, self._rows + rows
            seen = self._seen.pop(hash(task), ())
            self._seen[hash(task)] = None if task in found or seen is None else self._one((*seen, passed, rows))
        while len(self._seen) > _MOST_TASKS:
            del self._seen[next(iter(self._seen))]
        return found

    def _one(self, visits: tuple[int, ...]) -> tuple[int, ...]:
        """The visits that are kept of a task. Equal visits are one object for all tasks, which saves memory."""
        if len(self._alike) >= _MOST_ALIKE:
            self._alike.clear()
        return self._alike.setdefault(kept := _kept(visits), kept)


def _total(visits: Sequence[int]) -> tuple[int, int]:
    return sum(visits[::2]), sum(visits[1::2])


def _kept(visits: tuple[int, ...]) -> tuple[int, ...]:
    """The visits that are kept: the latest ones as they are, and all earlier ones added up to one. Each is two numbers,
    passes and rows.
    """
    latest = 2 * (_VISITS - 1)
    return visits if len(visits) <= latest + 2 else (*_total(visits[:-latest]), *visits[-latest:])


def _expected(passed: int, rows: int) -> float:
    """The share of later rows that is expected to pass, after `passed` of `rows` passed (Laplace's rule): 2/3 for 3 of
    4.
    """
    return (passed + 1) / (rows + 2)


def _rise(visits: Sequence[int], gain: float, of_all: float) -> float:
    """The rise of a task's share of passes, in standard deviations, from the visit from which on it is the clearest."""
    highest = -math.inf
    for first in range(2, len(visits), 2):
        (earlier, before), (passed, rows) = _total(visits[:first]), _total(visits[first:])
        share = max(_expected(earlier, before), (earlier + _OF_ALL * of_all) / (before + _OF_ALL))
        expected = min(_SURE, share + gain)
        noise = math.sqrt(expected * (1 - expected) * (1 / rows + 1 / (before + 3)))
        highest = max(highest, (passed / rows - expected) / noise)
    return highest


# If no reward has reached this, the rewards may be on a smaller scale than points
_LEAST_POINTS = 0.1


class RewardScale:
    """Rewards as points: 0 for the least, 1 for what a right answer earns.

    Rewards from 0 to 1 are taken as points. The scale is not known yet if none of these has reached a tenth, if the
    first rewards that are not 0 lie outside 0 to 1, or if later ones exceed 1; then it is known once a second opinion
    has called an answer right. Rewards beyond the scale count as its ends. The scale grows with the rewards of right
    answers. It never shrinks: on a smaller scale the next rewards would look overpaid.
    """

    def __init__(self) -> None:
        self._low, self._high, self._top = 0.0, 1.0, 0.0
        self._seen = self._are_points = self._right = False

    def see(self, rewards: Sequence[float]) -> None:
        """Note the rewards of a step, which show the scale's lower end and whether rewards are points."""
        if self._right or not any(rewards):
            return
        low, high = min(rewards), max(rewards)
        self._top = max(self._top, high)
        if not self._seen:
            self._seen, self._are_points = True, low >= 0 and high <= 1
            self._low = 0.0 if self._are_points else low
            self._high = 1.0 if self._are_points else low
        elif self._are_points:
            self._are_points = high <= 1
        else:
            self._low = min(self._low, low)

    @property
    def known(self) -> bool:
        """Whether the scale is known."""
        return self._right or (self._are_points and self._top >= _LEAST_POINTS)

    def found_right(self, reward: float) -> None:
        """Take note of the highest reward of the answers of a step that the second opinion calls right."""
        if reward > self._low:
            # Where no reward came near a point, a point is what a right answer earns
            self._high = max(self._high if self.known or not self._are_points else 0.0, reward)
            self._right = True

    def points(self, reward: float) -> float:
        """A reward as points, from 0 to 1."""
        return min(1.0, max(0.0, (reward - self._low) / (self._high - self._low)))

    def earns(self, reward: float) -> bool:
        """Whether a reward exceeds the least."""
        return reward > self._low + _SURELY


class SecondOpinion:
    """Asks for second opinions on a share of the rows, and tests statistically whether the run is being gamed.

    The tests' error bound needs a fair sample. So the asked rows are drawn at random from a step's rows that earn
    something; where few of those are passes, half are drawn from the passes. Rows of one task resemble each other, so
    no task is drawn twice in a step. The number of rows depends only on earlier steps and on the step's rewards, not on
    its answers.

    Args:
        ask: the second judge.
        sampling: how many rows it is asked about, and when the tests alarm.

    Attributes:
        test: whether too many passes are false.
        risen: whether too many passes are false on tasks that suddenly pass far more often than before.
        overpaid: whether rewards exceed the second opinion more than at the run's start.
        held_out: whether training rewards exceed the second opinion on held-out tasks more than at the start; None if
            no tasks are held out.
        rows, asked, unanswered: numbers of all training rows, of asked rows, and of asked rows without an answer.
        asked_held_out: number of held-out rows; all of them are asked about.
        passes: number of rows that pass.
    """

    def __init__(self, ask: Ask, sampling: Sampling) -> None:
        self._ask, self._rate, self._most = ask, sampling.rate, max(sampling.rate, sampling.most)
        self._budget = sys.maxsize if sampling.budget is None else sampling.budget
        self._random = random.Random(sampling.seed)
        self._pass_at, self._holdout = sampling.pass_at, sampling.holdout
        # People label a part of the rows, whatever these say
        self._labels = isinstance(sampling, SecondOpinionConfig) and sampling.labels is not None
        each = sampling.alpha / (3 if sampling.holdout is None else 4)
        self.test = FalsePassTest(sampling.tolerance, each)
        self.risen = FalsePassTest(sampling.tolerance, each)
        self._tasks = RisenTasks()
        self.overpaid = RiseTest(sampling.rise, each)
        # Its values are halves of (points - right + 1), so that they lie between 0 and 1
        self.held_out: RiseTest | None = None
        if sampling.holdout is not None:
            self.held_out = RiseTest(sampling.rise / 2, each, start_steps=1, start_rows=_HELD_START)
        self._waiting: list[ScoredRow] = []
        # Task and reward of the rows of the latest steps of training
        self._latest: deque[list[tuple[str, float]]] = deque(maxlen=_LATEST_STEPS)
        self.alpha = sampling.alpha
        self.rows = self.asked = self.asked_held_out = self.unanswered = self.passes = 0
        self._owed = self._owed_risen = self._rewarded = 0.0
        self._scale = RewardScale()
        self._raw = False
        # The share of passes by step
        self._passing = StartAndNow(_STEPS_NOW)
        # Points of right answers, and those that wrong ones have too many though they do not pass
        self._right_pay, self._wrong_pay = StartAndNow(_ROWS_NOW), deque[float](maxlen=_ROWS_NOW)
        self._by_pay = False

    @property
    def alarmed(self) -> bool:
        """Whether one of the tests alarms; without gaming this happens in at most `alpha` of all runs."""
        return any(self.alarms().values())

    @property
    def blinded(self) -> bool:
        """Whether the second judge has no verdict on so many asked rows that these alone could hide too many false
        passes.
        """
        asked = self.asked + self.asked_held_out
        return not self._labels and asked >= _MANY_ASKED and self.unanswered > self.test.tolerance * asked

    @property
    def evidence(self) -> float:
        """The strongest evidence of the tests, as a share of what an alarm takes."""
        held = 0.0 if self.held_out is None else self.held_out.evidence
        overpaid = 0.0 if self.overpaid_while_learning else self.overpaid.evidence
        return max(self.test.evidence, self.risen.evidence, overpaid, held)

    @property
    def overpaid_while_learning(self) -> bool:
        """Whether rewards have come to exceed the second opinion while passes have become more frequent, too.

        A policy that learns a format, or to pass more of a task's tests, is paid so, as is one that games its judge. If
        the passes were false, `test` would alarm; and if wrong answers earn nearly what right ones do, beyond what
        those gained as well, it is no format.
        """
        return self.overpaid.alarmed and not self._by_pay

    @property
    def _gain(self) -> float:
        """The points that right answers have gained since the start, 0.0 if they have not clearly risen. A new format
        raises them as it raises those of wrong answers, so this gain is no gaming.
        """
        start, now = self._right_pay.means
        return now - start if self._right_pay.risen else 0.0

    def trained(self, rows: Sequence[ScoredRow]) -> list[ScoredRow]:
        """The rows of training; the held-out ones among `rows` wait for the next step."""
        if self._holdout is None:
            return list(rows)
        held = [row for row in rows if self._is_held_out(row, self._holdout)]
        self._waiting = [*self._waiting, *held][-_MOST_WAITING:]
        aside = set(map(id, held))
        return [row for row in rows if id(row) not in aside]

    @staticmethod
    def _is_held_out(row: ScoredRow, holdout: float | str) -> bool:
        if isinstance(holdout, float):
            return bool(row.task) and is_held_out(row.task, holdout)
        path, _, value = holdout.partition("=")
        return value_at(row.row, path) == value

    def step(self, rows: Sequence[ScoredRow], *, worried: bool) -> list[tuple[str, str]]:
        """Add the rows of one step.

        Args:
            rows: all rows of the step, as `trained` gives them.
            worried: whether a monitor of gaming worries since an earlier step.

        Returns:
            The name and the text of each alarm that the step raises; a test alarms once in a run.
        """
        rewards = [row.reward for row in rows if row.reward is not None]
        self._raw = self._raw or any(row.success is None and (row.reward or 0.0) > 1 + _SURELY for row in rows)
        self._scale.see(rewards)
        passes = [row for row in rows if self._passes(row)]
        earning = [row for row in rows if row.reward is not None and self._scale.earns(row.reward)]
        self.passes += len(passes)
        before = self.alarms()
        if self._scale.known and rewards:
            # Overpayment is 0 where nothing is earned, so its mean over all rows cannot exceed the share that earns
            self._rewarded = len(earning) / len(rewards)
            self.overpaid.begin_step(self._rewarded)
        count = self._count(len(rows), len(passes) + len(earning), worried=worried)
        if count:
            self._asked_about(passes, earning, count)
        self._asked_about_risen(rows, passes)
        if self.held_out is not None:
            self._latest.append([(row.task or row.where, row.reward) for row in rows if row.reward is not None])
            if self._scale.known and self._waiting and rewards:
                self._beside_held_out(self.held_out)
        if rewards:
            self._passing.add(len(passes) / len(rewards), at_start=not self.overpaid.begun)
        nearly_right = len(self._wrong_pay) == _ROWS_NOW and median(self._wrong_pay) - self._gain > _NEARLY_RIGHT
        self._by_pay = self._by_pay or (self.overpaid.alarmed and (nearly_right or not self._passing.risen))
        return [(name, self.message(name)) for name, now in self.alarms().items() if now and not before[name]]

    def alarms(self) -> dict[str, bool]:
        """Each test by the name of its alarm, and whether it alarms."""
        held = {} if self.held_out is None else {"held-out": self.held_out.alarmed}
        return {
            "second opinion": self.test.alarmed, "risen tasks": self.risen.alarmed, "overpaid": self._by_pay, **held,
        }  # fmt: skip

    def _beside_held_out(self, test: RiseTest) -> None:
        """Add the step's training tasks, each beside as many held-out tasks, drawn at random.

        Once the start is measured, the tasks of the latest steps count, too, where these earned no more: they can only
        understate what training earns now. At the start they would understate it, and later gains would look like
        gaming.

        A task is one value, however many rows it has, because the rows of a task resemble each other.
        """
        asked, self._waiting = self._waiting, []
        opinions = self._ask(asked)
        self.asked_held_out += len(asked)
        self.unanswered += sum(right is None for right in opinions)
        known = zip(asked, opinions, strict=True)
        right = _by_task((row.task or row.where, float(right)) for row, right in known if right is not None)
        *before, now = ([(task, self._scale.points(reward)) for task, reward in step] for step in self._latest if step)
        earned = fmean(points for _, points in now)
        if test.begun:
            now += chain.from_iterable(step for step in before if fmean(points for _, points in step) <= earned)
            # Their tasks are used once: else values of one task would come again and again
            self._latest.clear()
        points = _by_task(now)
        pairs = min(len(points), len(right))
        if not pairs:
            return
        # Taken off after the start alone, so that it can only lower the evidence
        gain = self._gain if test.begun else 0.0
        test.begin_step()
        self._random.shuffle(points)
        self._random.shuffle(right)
        for place in range(pairs):
            test.add(max(0.0, (fmean(points[place::pairs]) - gain - fmean(right[place::pairs]) + 1) / 2))

    def _passes(self, row: ScoredRow) -> bool:
        if row.success is None and row.reward is not None and self._pass_at is not None:
            return row.reward >= self._pass_at
        # On a scale beyond 1 nobody knows which rewards pass
        return bool(paid(row)) and not (self._raw and row.success is None)

    def _count(self, rows: int, most: int, *, worried: bool) -> int:
        """The number of rows of the step that are asked about: at most `most`, and within the rate and the budget."""
        self.rows += rows
        worried = worried or self.test.growing or (self._scale.known and self.overpaid.growing)
        self._owed += rows * self._rate * (_WORRIED if worried else 1.0)
        budget = min(int(self.rows * self._most), self._budget) - self.asked
        count = max(0, min(int(self._owed), budget, most))
        # After many steps without passes, the rows not asked about must not all be asked about in one step
        self._owed = min(self._owed, count + 4.0 + rows * self._rate) - count
        return count

    def _asked_about(self, passes: list[ScoredRow], earning: list[ScoredRow], count: int) -> None:
        few = not earning or (self.overpaid.begun and len(passes) < _FEW * len(earning))
        tasks: set[str] = set()
        drawn = self._drawn(passes, (count + 1) // 2, tasks) if few else []
        apart = len(drawn)
        drawn += self._drawn(earning, count - apart, tasks)
        self._owed += count - len(drawn)
        self.asked += len(drawn)
        opinions = list(zip(drawn, self._ask(drawn), strict=True))
        self.unanswered += sum(right is None for _, right in opinions)
        best = max((row.reward for row, right in opinions if right == 1 and row.reward is not None), default=None)
        known = self._scale.known
        self.test.begin_step()
        for place, (row, right) in enumerate(opinions):
            if right is None or row.reward is None:
                continue
            if self._passes(row):
                self.test.add(right < 1)
            # Rows drawn among the passes alone do not stand for all that earn
            if known and place >= apart:
                points = self._scale.points(row.reward)
                self.overpaid.add(self._rewarded * max(0.0, points - right))
                if right == 1:
                    self._right_pay.add(points, at_start=not self.overpaid.begun)
                elif not self._passes(row):
                    self._wrong_pay.append(points - right)
        if best is not None:
            self._scale.found_right(best)

    def _asked_about_risen(self, rows: Sequence[ScoredRow], passes: Sequence[ScoredRow]) -> None:
        """Ask about passes of risen tasks: at most the share `rate` of a step's rows, saved up for a few steps.

        A task is one value, the share of its passes that are refused, because they resemble each other.
        """
        passed, groups = set(map(id, passes)), defaultdict[str, list[bool]](list)
        for row in rows:
            if row.reward is not None:
                groups[row.task or row.where].append(id(row) in passed)
        share = len(rows) * self._rate
        self._owed_risen = min(self._owed_risen + share, 4.0 * (_OF_A_TASK + share))
        budget = min(int(self.rows * self._most), self._budget) - self.asked
        count = max(0, min(int(self._owed_risen), budget))
        self.risen.begin_step()
        for task in self._tasks.of(groups, count // _OF_A_TASK):
            own = [row for row in passes if (row.task or row.where) == task]
            drawn = self._random.sample(own, min(_OF_A_TASK, len(own)))
            self._owed_risen -= len(drawn)
            self.asked += len(drawn)
            known = [right for right in self._ask(drawn) if right is not None]
            self.unanswered += len(drawn) - len(known)
            if known:
                self.risen.add(fmean(right < 1 for right in known))

    def _drawn(self, rows: Sequence[ScoredRow], count: int, tasks: set[str]) -> list[ScoredRow]:
        """Up to `count` random rows of different tasks. Rows of the tasks in `tasks` are left out; the tasks of the
        drawn rows are added to it.
        """
        drawn: list[ScoredRow] = []
        for row in self._random.sample(rows, len(rows)):
            if len(drawn) >= count:
                break
            if (row.task or row.where) not in tasks:
                tasks.add(row.task or row.where)
                drawn.append(row)
        return drawn

    def message(self, name: str) -> str:
        """The text of the alarm of a test, by its name in `alarms`."""
        bound = f"(a false alarm in at most {self.alpha:.0%} of runs)"
        if name == "held-out" and self.held_out is not None:
            start, now = (2 * mean - 1 for mean in self.held_out.values.means)
            exceed = _exceeding(now, start, 2 * self.held_out.rise, "the second opinion on those")
            held = f"what training earns does not come to held-out tasks: {exceed}"
            return f"{held} {bound}: gamed, told the references, or learned by heart"
        if name in ("overpaid", "overpaid while learning"):
            start, now = self.overpaid.values.means
            exceed = f"{_exceeding(now, start, self.overpaid.rise, 'the second opinion')} {bound}"
            if name == "overpaid":
                return f"this run is being gamed: {exceed}"
            before, passing = self._passing.means
            return (
                f"{exceed}, while passes rose from {before:.0%} to {passing:.0%}: does the judge pay for a format, or "
                "for tries? If it is meant to, let the second opinion pay for the same"
            )
        if name == "risen tasks":
            return (
                f"this run is being gamed on some tasks: of {self.risen.rows} sampled tasks that suddenly passed far "
                f"more often than before, the second opinion refuses {self.risen.false / self.risen.rows:.0%} of the "
                f"passes, more than {self.risen.tolerance:.0%} {bound}"
            )
        test = self.test
        return (
            f"this run is being gamed. The second opinion refuses {test.false:g} of the {test.rows} passes that it "
            f"judged, so at one step or more at least {test.lower_bound:.0%} of all passes were false {bound}"
        )


def _exceeding(now: float, start: float, rise: float, what: str) -> str:
    more = f"{now:.2f} of a right answer's, {start:.2f} at the start, more than a rise of {rise:g}"
    return f"rewards exceed {what} by {more}"


def _by_task(values: Iterable[tuple[str, float]]) -> list[float]:
    """The mean of the values of each task: `[0.5, 1.0]` for `[("a", 1.0), ("a", 0.0), ("b", 1.0)]`."""
    tasks: dict[str, list[float]] = defaultdict(list)
    for task, value in values:
        tasks[task].append(value)
    return [fmean(found) for found in tasks.values()]


def asks_judge(judge: ConfiguredJudge) -> Ask:
    """A function that gives a configured judge's opinion on each of some rows; None for a row without a verdict."""

    def ask(rows: Sequence[ScoredRow]) -> list[float | None]:
        answers: list[float | None] = [None] * len(rows)
        readable = []
        for place, row in enumerate(rows):
            try:
                rollout = Rollout.model_validate({**row.row, "id": row.id})
            except ValidationError:
                continue
            readable.append((place, (WorkflowTask(task=rollout.task), rollout.output)))
        verdicts = judge.judge_batch([pair for _, pair in readable])
        for (place, _), verdict in zip(readable, verdicts, strict=True):
            if verdict.reward is not None:
                answers[place] = 1.0 if verdict.is_success else min(_WRONG, max(0.0, verdict.reward))
        return answers

    return ask


def asks_labels(labels: Mapping[Key, float | None]) -> Ask:
    """A function that looks up each of some rows in `labels`: 1.0 for right, 0.0 for wrong, None without a label."""

    def ask(rows: Sequence[ScoredRow]) -> list[float | None]:
        found = [labels.get((row.id, row.nth)) for row in rows]
        return [None if label is None else float(label >= 0.5) for label in found]

    return ask
