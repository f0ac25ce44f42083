"""Second opinions: a stricter judge, or people's labels, judge a random sample of a judge's passes again.

Whether the share of false passes exceeds a tolerance is decided by a statistical test that stays valid if it is read
after every row. It is a test by betting (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by
betting", arXiv 2010.09686). The hypothesis is that no row's chance of being a false pass exceeds m. A gambler bets
against it. Under the hypothesis the gambler's wealth is a supermartingale, so the chance that it ever reaches 1/alpha
is at most alpha (Ville 1939). This bound holds over the whole run, for any number of readings, and if the share changes
between steps.

Neither the best size of a bet nor the start of gaming is known. So the gambler spreads the stake over six sizes, and
over all rows at which gaming may begin, as e-detectors do (Shin, Ramdas and Rinaldo, arXiv 2203.03532). The part of the
stake that starts at row k is 1 / ((k + 1)(k + 2)); all parts add up to 1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from agentscope_tuner.config import Settings, StrictSection, read_section, validate_section
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.labels import Key, read_labels
from agentscope_tuner.lab.watch.step_stats import paid
from agentscope_tuner.records.scored_rows import ScoredRow
from agentscope_tuner.task_judge.batch import ConfiguredJudge, located
from agentscope_tuner.workflow import Rollout, WorkflowTask

OPINION = "astuner.second_opinion"


class Sampling(StrictSection):
    """How many rows get a second opinion, and when the test alarms."""

    # Asked rows as a share of all rows; three times this share while a monitor worries
    rate: float = Field(default=0.02, ge=0, le=1)
    # The most asked rows, as a share of all rows so far
    most: float = Field(default=0.05, ge=0, le=1)
    # The most asked rows over the whole run; none is no limit
    budget: int | None = Field(default=None, ge=0)
    # The share of false passes that is no gaming
    tolerance: float = Field(default=0.1, ge=0.001, le=0.99)
    # The chance of a false alarm over the whole run
    alpha: float = Field(default=0.05, ge=1e-9, le=0.5)
    # The seed for drawing rows
    seed: int = 0


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
    ask, ids = _asked(section)
    return SecondOpinion(ask, section), ids


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


def _asked(section: SecondOpinionConfig) -> tuple[Ask, Collection[str]]:
    if section.labels is not None:
        labels = read_labels(Path(section.labels))
        return asks_labels(labels), {name for name, _ in labels}
    source = located(section.conf) if section.conf is not None else {"astuner": {"task_judge": section.task_judge}}
    # The second judge's verdicts must not become rows of the run, even if its YAML names the run's log_dir
    judge = ConfiguredJudge(source, logs=False)
    if judge.listwise:
        raise ConfigError(f"{judge.name} ranks whole groups: a second opinion is asked about one answer at a time")
    return asks_judge(judge), ()


# Sizes of bets, as shares of the largest bet that cannot lose more than its stake
_BETS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
# The values of m that are tested for the lower bound
_GRID = tuple(number / 40 for number in range(1, 40))


@dataclass(slots=True)
class Wealth:
    """The gambler's wealth against one hypothesis: the chance of a false pass is at most `m`.

    Attributes:
        m: the chance.
        rows: number of rows so far.
        stakes: the wealth in the bets of each size.
        most: the highest wealth so far.
    """

    m: float
    rows: int = 0
    stakes: list[float] = field(default_factory=lambda: [0.0] * len(_BETS))
    most: float = 1.0

    def add(self, value: float) -> float:
        """Add a row with a value from 0 (deserved pass) to 1 (false pass), and return the wealth after it."""
        joins = 1 / ((self.rows + 1) * (self.rows + 2))
        self.rows += 1
        for place, bet in enumerate(_BETS):
            # The bet is bet/m, so the factor is at least 1 - bet and the stake stays positive
            self.stakes[place] = min(1e200, (self.stakes[place] + joins) * (1 + bet * (value - self.m) / self.m))
        wealth = sum(self.stakes) / len(_BETS) + 1 / (self.rows + 1)
        self.most = max(self.most, wealth)
        return wealth


class FalsePassTest:
    """Tests whether the share of false passes among a judge's passes has come to exceed `tolerance`.

    Args:
        tolerance: the share of false passes that the judge's own errors explain without gaming, 0 to 1.
        alpha: the chance of a false alarm over a whole run.
    """

    def __init__(self, tolerance: float = 0.1, alpha: float = 0.05) -> None:
        self.tolerance, self.alpha = tolerance, alpha
        self._test = Wealth(tolerance)
        self._grid = [Wealth(m) for m in _GRID]
        self.rows = self.false = 0

    def add(self, false_pass: bool) -> None:
        """Add a pass that got a second opinion."""
        self.rows += 1
        self.false += false_pass
        for wealth in (self._test, *self._grid):
            wealth.add(float(false_pass))

    @property
    def alarmed(self) -> bool:
        """Whether the hypothesis is rejected; this happens in at most `alpha` of the runs without gaming."""
        return self._test.most >= 1 / self.alpha

    @property
    def lower_bound(self) -> float:
        """A share of false passes that some step of the run has reached; wrong in at most `alpha` of all runs.

        It is the bound of a confidence sequence, so it holds at all times at once: the wealth against a larger m is
        never larger.
        """
        return max((wealth.m for wealth in self._grid if wealth.most >= 1 / self.alpha), default=0.0)

    @property
    def evidence(self) -> float:
        """The highest wealth so far, as a share of the wealth that raises the alarm."""
        return min(1.0, self._test.most * self.alpha)


#: Decides whether rows deserve to pass; None for a row that cannot be decided.
Ask = Callable[[Sequence[ScoredRow]], "Sequence[bool | None]"]
_WORRIED = 3.0


class SecondOpinion:
    """Asks for second opinions on a share of the rows, and tests statistically whether passes are false.

    The test's error bound needs a fair sample. So the asked rows are drawn at random, with replacement, from a step's
    passes. Their number depends only on earlier steps and on the numbers of rows and passes, not on answers.

    Args:
        ask: the second judge.
        sampling: how many rows it is asked about, and when the test alarms.
    """

    def __init__(self, ask: Ask, sampling: Sampling) -> None:
        self._ask, self._rate, self._most = ask, sampling.rate, max(sampling.rate, sampling.most)
        self._budget = sys.maxsize if sampling.budget is None else sampling.budget
        self._random = random.Random(sampling.seed)
        self.test = FalsePassTest(sampling.tolerance, sampling.alpha)
        self.rows = self.asked = self.unanswered = 0
        self._owed = 0.0

    def step(self, rows: Sequence[ScoredRow], *, worried: bool) -> bool:
        """Add the rows of one step, and return whether it raises the alarm; only one step of a run does.

        Args:
            rows: all rows of the step.
            worried: whether a monitor of gaming worries since an earlier step.
        """
        self.rows += len(rows)
        self._owed += len(rows) * self._rate * (_WORRIED if worried else 1.0)
        passes = [row for row in rows if paid(row)]
        budget = min(int(self.rows * self._most), self._budget) - self.asked
        count = max(0, min(int(self._owed), budget, len(passes)))
        # After many steps without passes, the rows not asked about must not all be asked about in one step
        self._owed = min(self._owed - count, 4.0 + len(rows) * self._rate)
        if not count:
            return False
        self.asked += count
        before = self.test.alarmed
        for deserved in self._ask(self._random.choices(passes, k=count)):
            if deserved is None:
                self.unanswered += 1
            else:
                self.test.add(not deserved)
        return self.test.alarmed and not before

    def message(self) -> str:
        """The text of the alarm."""
        test = self.test
        return (
            f"this run is being gamed: the second opinion refuses {test.false} of {test.rows} sampled passes; at some "
            f"step at least {test.lower_bound:.0%} of the passes were false (error at most {test.alpha:.0%} over the "
            "whole run)"
        )


def asks_judge(judge: ConfiguredJudge) -> Ask:
    """Asks a configured judge; a row without a verdict stays unanswered."""

    def ask(rows: Sequence[ScoredRow]) -> list[bool | None]:
        answers: list[bool | None] = [None] * len(rows)
        readable = []
        for place, row in enumerate(rows):
            try:
                rollout = Rollout.model_validate({**row.row, "id": row.id})
            except ValidationError:
                continue
            readable.append((place, (WorkflowTask(task=rollout.task), rollout.output)))
        verdicts = judge.judge_batch([pair for _, pair in readable])
        for (place, _), verdict in zip(readable, verdicts, strict=True):
            answers[place] = None if verdict.reward is None else bool(verdict.is_success)
        return answers

    return ask


def asks_labels(labels: Mapping[Key, float | None]) -> Ask:
    """Looks rows up in labels; a row without a label stays unanswered."""

    def ask(rows: Sequence[ScoredRow]) -> list[bool | None]:
        found = [labels.get((row.id, row.nth)) for row in rows]
        return [None if label is None else label >= 0.5 for label in found]

    return ask
