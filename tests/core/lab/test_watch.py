"""`astuner watch`: monitors of a step, and a test that keeps its word over whole runs."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.labels import beside
from agentscope_tuner.lab.watch.betting import FalsePassTest, RiseTest, Wealth
from agentscope_tuner.lab.watch.live import Alarm, AlarmsFile, LiveWatch, RunWatch, step_scalars
from agentscope_tuner.lab.watch.second_opinion import (
    RewardScale,
    RisenTasks,
    Sampling,
    SecondOpinion,
    SecondOpinionConfig,
    asks_judge,
    asks_labels,
    is_held_out,
    opinion_of,
)
from agentscope_tuner.lab.watch.step_stats import RewardJumps, paid, step_stats
from agentscope_tuner.records.scored_rows import ScoredRow
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from benchmarks.insight import error_bound
from benchmarks.insight.made_runs import Kind, flat, jump, learns, steps_of
from tests.scored_lines import rows, scored, written


def step_of(step: int, rewards: Sequence[float | None], *, answer: str = "", **keys: Any) -> list[dict[str, Any]]:
    return [
        scored(f"{step}-{place}", reward, task=f"t{place // 4}", answer=answer or f"a{place}",
               metadata={"step": step}, **keys)
        for place, reward in enumerate(rewards)
    ]  # fmt: skip


# --- the test


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_false_alarms_over_whole_runs_stay_under_alpha(share: float) -> None:
    generator, alarms = random.Random(1), 0
    for _ in range(500):
        wealth = Wealth(0.1)
        for _ in range(150):
            wealth.add(float(generator.random() < share))
        alarms += wealth.most >= 1 / 0.05
    assert alarms <= 500 * 0.05


def test_the_wealth_is_a_fair_game_on_the_edge_of_the_hypothesis() -> None:
    # the expected wealth after a row is the wealth before it, whatever came before
    for history in ((), (0.0,), (1.0, 0.0, 1.0), (0.0,) * 30):
        after = []
        for value in (1.0, 0.0):
            wealth = Wealth(0.25)
            for earlier in history:
                wealth.add(earlier)
            before = wealth.now
            wealth.add(value)
            after.append(wealth.now)
        assert 0.25 * after[0] + 0.75 * after[1] == pytest.approx(before)


def test_a_scale_of_raw_rewards_is_known_by_a_right_answer() -> None:
    scale = RewardScale()
    scale.see([])
    scale.see([-1.0, 3.0])
    scale.see([-2.0, 0.5])
    known = [scale.known]
    for reward in (-2.0, 3.0):
        scale.found_right(reward)
        known.append(scale.known)
    assert known == [False, False, True]
    # the least that comes later changes nothing, nor does a right answer that earns less
    scale.see([-9.0, 9.0])
    scale.found_right(1.0)
    assert [scale.points(reward) for reward in (-3.0, -2.0, 0.5, 3.0, 9.0)] == [0.0, 0.0, 0.5, 1.0, 1.0]
    scale.found_right(8.0)
    assert [scale.points(reward) for reward in (3.0, 9.0)] == [0.5, 1.0]
    assert [scale.earns(reward) for reward in (-2.0, -1.9)] == [False, True]


def test_rewards_of_0_tell_no_scale() -> None:
    # a run on 0 to 100 whose first steps earn nothing: 20 is a fifth of a right answer's
    scale = RewardScale()
    scale.see([0.0, 0.0])
    scale.see([0.0, 20.0])
    assert not scale.known
    scale.found_right(100.0)
    assert (scale.known, scale.points(20.0)) == (True, 0.2)


def test_rewards_far_below_a_point_tell_no_scale() -> None:
    scale = RewardScale()
    scale.see([0.0, 0.0005])
    assert not scale.known
    scale.found_right(0.001)
    assert (scale.known, scale.points(0.0005)) == (True, 0.5)
    # a step's first tenth of a point says that they are points after all
    scale = RewardScale()
    scale.see([0.0, 0.05])
    scale.see([0.0, 0.3])
    assert scale.known
    scale.found_right(0.3)
    assert scale.points(0.3) == 0.3


def test_points_that_exceed_1_are_no_points() -> None:
    scale = RewardScale()
    scale.see([0.0, 0.5])
    scale.see([0.0, 5.0])
    assert not scale.known
    scale.found_right(10.0)
    assert (scale.known, scale.points(5.0)) == (True, 0.5)


def test_rewards_from_0_to_1_are_points() -> None:
    scale = RewardScale()
    scale.see([0.2, 0.7])
    assert scale.known
    assert (scale.points(0.5), scale.earns(0.0), scale.earns(0.2)) == (0.5, False, True)


def test_gaming_that_begins_late_is_found_soon() -> None:
    generator, delays = random.Random(2), []
    for _ in range(20):
        wealth = Wealth(0.1)
        for row in range(400):
            wealth.add(float(generator.random() < (0.02 if row < 200 else 0.6)))
            if wealth.now >= 1 / 0.05:
                delays.append(row - 200)
                break
    assert len(delays) == 20
    assert sorted(delays)[10] < 25
    assert min(delays) >= 0


BETS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95)


def wealth_of_false_passes(m: float, rows: int) -> float:
    """The wealth after `rows` false passes and nothing else, as the test defines it: a sum over bets and beginnings."""
    growth = [1 + bet * (1 - m) / m for bet in BETS]
    left = [1 / math.sqrt(k + 1) for k in range(rows + 1)]
    held = sum(factor ** (rows - k) * (left[k] - left[k + 1]) for factor in growth for k in range(rows)) / len(BETS)
    return held + left[-1]


def first_alarm(tolerance: float, alpha: float) -> int:
    return next(rows for rows in range(1, 500) if wealth_of_false_passes(tolerance, rows) >= 1 / alpha)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rate", -0.1), ("rate", 1.1), ("most", -0.1), ("most", 1.1), ("budget", -1), ("tolerance", 0.0),
        ("tolerance", 1.0), ("rise", 0.0), ("rise", 1.0), ("pass_at", -1e10), ("pass_at", 1e10), ("alpha", 0.0),
        ("alpha", 0.6), ("holdout", 0.0), ("holdout", 1.0), ("holdout", "test"),
    ],
)  # fmt: skip
def test_a_second_opinion_takes_no_number_out_of_its_range(name: str, value: Any) -> None:
    with pytest.raises(ValidationError, match=name):
        Sampling(**{name: value})


@pytest.mark.parametrize("tolerance", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.001])
def test_it_alarms_at_the_row_at_which_the_wealth_reaches_one_in_alpha(tolerance: float, alpha: float) -> None:
    first = first_alarm(tolerance, alpha)
    test = FalsePassTest(tolerance, alpha)
    for row in range(1, first + 3):
        test.begin_step()
        test.add(True)
        assert test.alarmed is (row >= first)
        assert test.evidence == pytest.approx(min(1.0, wealth_of_false_passes(tolerance, row) * alpha))
        grid = [number / 40 for number in range(1, 40) if wealth_of_false_passes(number / 40, row) >= 1 / alpha]
        assert test.lower_bound == max(grid, default=0.0)
    assert (test.rows, test.false) == (first + 2, first + 2)
    if tolerance == 0.8:
        # where the wealth grows slowly, a threshold of half or twice as much is another row
        assert first_alarm(tolerance, 2 * alpha) < first < first_alarm(tolerance, alpha / 2)


def test_the_lower_bound_holds_and_grows_towards_the_share() -> None:
    generator, test, bounds = random.Random(3), FalsePassTest(), []
    for _ in range(400):
        test.add(generator.random() < 0.5)
        bounds.append(test.lower_bound)
    assert bounds == sorted(bounds)
    assert 0.3 < bounds[-1] <= 0.5


def test_a_wealth_that_grows_without_end_stays_a_number() -> None:
    test = FalsePassTest()
    for _ in range(2_000):
        test.add(True)
    assert test.alarmed
    assert test.lower_bound > 0.9


# --- second opinions


def labels_from(truth: dict[str, bool]) -> Any:
    return asks_labels({(name, 0): float(right) for name, right in truth.items()})


def test_second_opinions_keep_to_their_rate_and_budget_and_ask_about_passes_alone() -> None:
    asked: list[ScoredRow] = []

    def ask(chosen: Sequence[ScoredRow]) -> list[float | None]:
        asked.extend(chosen)
        return [True] * len(chosen)

    opinion = SecondOpinion(ask, Sampling(rate=0.02, most=0.03))
    for step in range(100):
        opinion.step(rows(step_of(step, [1.0, 0.0] * 32)), worried=step > 50)
    assert all(row.reward == 1.0 for row in asked)
    assert 0.02 * 6400 - 2 <= len(asked) <= 0.03 * 6400
    assert not opinion.test.alarmed


def test_as_many_rows_are_asked_about_as_the_rate_says_and_three_times_as_many_in_worry() -> None:
    asked = []
    for worried in (False, True):
        opinion = SecondOpinion(lambda chosen: [True] * len(chosen), Sampling(rate=0.02, most=1.0))
        for step in range(30):
            opinion.step(rows(step_of(step, [1.0] * 100)), worried=worried)
            if step == 9:
                # the run's start is measured with three times as many
                assert opinion.asked == 60
        assert (opinion.rows, opinion.test.rows, opinion.unanswered) == (3_000, opinion.asked, 0)
        asked.append(opinion.asked)
    assert asked == [100, 180]


def test_no_task_is_drawn_twice_in_a_step_since_its_rows_resemble_each_other() -> None:
    drawn: list[list[str]] = []

    def ask(chosen: Sequence[ScoredRow]) -> list[float | None]:
        drawn.append([row.task for row in chosen])
        return [True] * len(chosen)

    opinion = SecondOpinion(ask, Sampling(rate=0.5, most=1.0))
    for step in range(5):
        opinion.step(rows(step_of(step, [1.0] * 16)), worried=False)
    assert [len(tasks) for tasks in drawn] == [4] * 5
    assert all(len(set(tasks)) == len(tasks) for tasks in drawn)


# --- what passes


@pytest.mark.parametrize(
    ("reward", "success", "passes"),
    [
        (1.0, True, True),
        (0.2, True, True),
        # half credit, a raw scale, a model's 0.69 under a bar of 0.7: no success, whatever the reward
        (0.5, False, False),
        (5.0, False, False),
        (0.69, False, False),
        (1.0, False, False),
        # a trainer's dump does not tell success
        (1.0, None, True),
        (0.0, None, False),
        (-1.0, None, False),
        (0.5, None, None),
        (0.7, None, None),
        (10.0, None, None),
    ],
)
def test_success_decides_what_passes_and_where_it_is_not_told_only_a_full_reward_does(
    reward: float, success: bool | None, passes: bool | None
) -> None:
    (row,) = rows([scored("1", reward, is_success=success)])
    assert paid(row) is passes


@pytest.mark.parametrize("success", [False, None])
@pytest.mark.parametrize("credit", [0.5, 0.69, 5.0])
def test_partial_credit_that_the_second_judge_refuses_is_no_gaming(credit: float, success: bool | None) -> None:
    generator = random.Random(6)
    truth: dict[str, bool | None] = {}
    opinion = SecondOpinion(lambda chosen: [truth[row.id] for row in chosen], Sampling(rate=0.05))
    for step in range(40):
        right = [generator.random() < 0.4 for _ in range(64)]
        full = 10.0 if credit > 1 else 1.0
        lines = step_of(step, [full if one else credit if generator.random() < 0.5 else 0.0 for one in right])
        for line, one in zip(lines, right, strict=True):
            truth[line["id"]] = one
            line["judgement"]["is_success"] = success if success is None else one
        opinion.step(rows(lines), worried=False)
    assert opinion.asked > 60
    assert not opinion.alarmed
    # where nobody tells which rewards pass, an option says it
    told = SecondOpinion(lambda chosen: [False] * len(chosen), Sampling(rate=1.0, pass_at=credit))
    told.step(rows(lines), worried=False)
    assert told.passes == sum(line["judgement"]["reward"] >= credit for line in lines if success is None) + (
        sum(right) if success is not None else 0
    )


def overpaid_after(rows_each: int, start: float, later: float, alpha: float = 0.05) -> RiseTest:
    test = RiseTest(0.1, alpha)
    for step in range(40):
        test.begin_step(1.0)
        for _ in range(rows_each):
            test.add(start if step < 10 else later)
    return test


def overpaid_while_learning(
    passing: float, deserved: float, *, to_right: float = 0.8, steps: int = 80
) -> tuple[RunWatch, list[Alarm]]:
    """A run that learns a format, which earns 0.8 at last, or `to_right`; right answers come to `passing` meanwhile."""
    generator, found = random.Random(4), list[Alarm]()
    worth = 0.0
    opinion = SecondOpinion(
        lambda asked: [1.0 if row.success else worth * deserved for row in asked], Sampling(rate=0.2, most=0.2)
    )
    watch = RunWatch(opinion)
    for step in range(steps):
        learned = min(1.0, max(0, step - 10) / 40)
        worth = 0.8 * learned
        right = [generator.random() < 0.2 + min(1.0, 2 * learned) * (passing - 0.2) for _ in range(64)]
        lines = step_of(step, [1 - to_right * (1 - learned) if one else worth for one in right])
        for line, one in zip(lines, right, strict=True):
            line["judgement"]["is_success"] = one
        found += watch.step(float(step), rows(lines))[1]
    return watch, found


def test_a_format_that_is_paid_for_while_right_answers_grow_is_said_and_is_no_gaming() -> None:
    watch, found = overpaid_while_learning(0.5, 0.0)
    (hint,) = (alarm for alarm in found if alarm.monitor == "overpaid while learning")
    assert hint.kind == "signal"
    assert "while passes rose from" in hint.message
    assert not watch.gamed
    # nor does the evidence look as if it came to an alarm
    assert watch.second_opinion is not None
    assert watch.second_opinion.evidence < 1
    watch, found = overpaid_while_learning(0.2, 0.0)
    assert watch.gamed
    assert "overpaid" in [alarm.monitor for alarm in found]


def test_wrong_answers_that_come_to_earn_nearly_what_right_ones_always_did_learned_no_format() -> None:
    watch, found = overpaid_while_learning(0.5, 0.0, to_right=0.0)
    assert watch.gamed
    assert "overpaid" in [alarm.monitor for alarm in found]


def test_what_the_second_opinion_pays_for_too_is_not_overpaid() -> None:
    watch, found = overpaid_while_learning(0.2, 1.0)
    assert not watch.gamed
    assert not {"overpaid", "overpaid while learning"} & {alarm.monitor for alarm in found}


def test_rewards_that_leave_the_second_opinion_behind_are_found_below_a_pass() -> None:
    assert overpaid_after(6, 0.05, 0.45).alarmed
    assert overpaid_after(6, 0.05, 0.45).values.means == pytest.approx((0.05, 0.45))
    # 0.3 of partial credit from the start on, or a rise within what is allowed
    assert not overpaid_after(6, 0.3, 0.3).alarmed
    assert not overpaid_after(6, 0.05, 0.14).alarmed
    # nothing is claimed while the start is not measured
    assert not overpaid_after(1, 0.0, 1.0).begun or overpaid_after(1, 0.0, 1.0).rows >= 40


def test_the_overpaid_test_waits_for_the_gambler_who_starts_from_the_poorest_of_all_starts() -> None:
    alpha, each, over, begun = 0.2, 6, 0.4, 10 * 6
    test = overpaid_after(each, over, over, alpha)
    assert test.begun
    assert not test.alarmed
    test = RiseTest(0.1, alpha)
    for _ in range(10):
        test.begin_step(1.0)
        for _ in range(each):
            test.add(over)
    # what the gambler has who says that the start's mean is not below m, after 60 rows of 0.4
    starts = {
        m: sum((1 + bet * (m - over) / (1 - m)) ** begun for bet in BETS) / 7 for m in (n / 80 for n in range(80))
    }
    starts[0.0] = 1.0

    def evidence(rows: int) -> float:
        return min(held * wealth_of_false_passes(min(0.99, m + 1 / 80 + 0.1), rows) for m, held in starts.items())

    rows = 0
    while not test.alarmed:
        test.begin_step(1.0)
        test.add(1.0)
        rows += 1
        assert test.evidence == pytest.approx(min(1.0, alpha * evidence(rows)))
    assert evidence(rows - 1) < 1 / alpha <= evidence(rows)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flat, 10 % of passes false", "10 % from the middle on", "tries up to the rise"])
def test_the_promised_share_of_false_alarms_is_kept_on_the_edge(kind: str) -> None:
    assert sum(any(error_bound.alarms(kind, seed).values()) for seed in range(60)) <= 60 * 0.1


def test_the_tests_share_the_chance_of_a_false_alarm() -> None:
    opinion = SecondOpinion(
        lambda chosen: [False] * len(chosen), Sampling(rate=1.0, most=1.0, tolerance=0.8, alpha=0.15)
    )
    shares = [test.alpha for test in (opinion.test, opinion.risen, opinion.overpaid)]
    assert shares == pytest.approx([0.05] * 3)
    first = first_alarm(0.8, 0.05)
    for step in range(first):
        assert opinion.test.alarmed is False
        opinion.step(rows(step_of(step, [1.0])), worried=False)
    # the threshold is that of its share of the chance: half or twice as much is another row
    assert opinion.test.alarmed
    assert first_alarm(0.8, 0.1) < first < first_alarm(0.8, 0.025)


# --- tasks that have risen


@pytest.mark.parametrize(
    ("before", "now", "gain", "risen"),
    [
        (1, 8, 0, True),
        (2, 8, 0, True),
        # one visit may be chance: the next one tells
        (4, 8, 0, False),
        # nothing to be seen from: a task that always passed, half of a group, a task that fell
        (8, 8, 0, False),
        (4, 6, 0, False),
        (8, 0, 0, False),
        # the others gain as much: the policy learns
        (2, 8, 6, False),
        (4, 8, 4, False),
    ],
)
def test_a_task_has_risen_where_it_passes_far_more_often_and_others_do_not(
    before: int, now: int, gain: int, risen: bool
) -> None:
    tasks = RisenTasks()
    others = {f"other {place}": 2 for place in range(9)}

    def step(passes: Mapping[str, int]) -> list[str]:
        return tasks.of({task: [place < count for place in range(8)] for task, count in passes.items()}, 20)

    assert step({"ours": before, **others}) == []
    found = step({"ours": now, **{name: count + gain for name, count in others.items()}})
    assert found == (["ours"] if risen else [])
    # a task is found once, and new tasks have risen from nothing
    assert step({"new": 8}) == []
    assert not risen or step({"ours": 0}) == step({"ours": 8}) == []


@pytest.mark.parametrize(
    ("visits", "risen"),
    [
        ((3, 8, 8, 8), True),
        ((4, 4, 4, 8, 8), True),
        ((5, 8, 4, 8), False),
        ((8, 8, 8, 8), False),
        ((0, 4, 4, 4), False),
    ],
)
def test_a_rise_that_one_visit_leaves_open_shows_in_the_next_ones_together(visits: Sequence[int], risen: bool) -> None:
    tasks = RisenTasks()
    found = []
    for passes in visits:
        groups = {"ours": [place < passes for place in range(8)]}
        groups |= {f"other {place}": [place < 4 for place in range(8)] for place in range(9)}
        found += tasks.of(groups, 20)
    assert found == (["ours"] if risen else [])


def test_a_task_that_chance_showed_low_has_not_risen_where_it_only_comes_up_to_the_others() -> None:
    tasks = RisenTasks()
    others = {f"other {place}": 4 for place in range(30)}

    def step(passes: Mapping[str, int]) -> list[str]:
        return tasks.of({task: [place < count for place in range(8)] for task, count in passes.items()}, 20)

    assert step({"unlucky": 1, "gamed": 1, **others}) == []
    found = [task for _ in range(3) for task in step({"unlucky": 5, "gamed": 8, **others})]
    assert found == ["gamed"]


def few_gamed(false: float, *, seed: int = 0) -> SecondOpinion:
    """A run of 200 tasks, of which a tenth always passes from step 30 on; the share `false` of those passes is."""
    kind = Kind(30, flat(0.4), jump(30, 0.0, 1.0), family=0.1, tasks=200)
    truth: dict[str, bool | None] = {}
    opinion = SecondOpinion(lambda chosen: [truth[row.id] for row in chosen], Sampling(seed=seed))
    generator = random.Random(seed)
    for step in steps_of(kind, seed):
        honest = zip(step.rows, step.honest, strict=True)
        truth |= {row.id: right or (row.success is True and generator.random() >= false) for row, right in honest}
        opinion.step(step.rows, worried=False)
    return opinion


def test_gaming_of_a_tenth_of_the_tasks_is_found_among_those_that_have_risen() -> None:
    found = few_gamed(1.0)
    assert found.risen.alarmed
    assert re.fullmatch(
        r"this run is being gamed on some tasks: of \d+ sampled tasks that suddenly passed far more often than before, "
        r"the second opinion refuses \d+% of the passes, more than 10% \(a false alarm in at most 5% of runs\)",
        found.message("risen tasks"),
    )
    assert not few_gamed(0.1).alarmed
    assert found.asked <= 0.05 * found.rows


# --- held-out tasks


def held_run(heart: float, *, steps: int = 60) -> list[dict[str, Any]]:
    """A run whose training answers are right, of which the share `heart` from step 15 on is learned by heart."""
    generator, lines = random.Random(3), []
    for step in range(steps):
        share = 0.2 + (heart if step >= 15 else 0.0)
        lines += step_of(step, [float(generator.random() < share) for _ in range(64)])
        for place in range(32 if step % 3 == 0 else 0):
            line = scored(f"h{step}-{place}", float(generator.random() < 0.2), task=f"h{place}")
            line["task"]["metadata"] = {"split": "test", "step": step}
            lines.append(line)
    return lines


def agrees(chosen: Sequence[ScoredRow]) -> list[float | None]:
    return [row.success for row in chosen]


def test_answers_learned_by_heart_are_found_beside_held_out_tasks_alone() -> None:
    for heart, alarmed in ((0.7, ["held-out"]), (0.05, [])):
        found: list[Alarm] = []
        opinion = SecondOpinion(agrees, Sampling(holdout="metadata.split=test"))
        watch = RunWatch(opinion)
        by_steps: dict[float | None, list[ScoredRow]] = defaultdict(list)
        for row in rows(held_run(heart)):
            by_steps[row.step].append(row)
        for step, held in by_steps.items():
            stats, alarms = watch.step(step or 0.0, held)
            # held-out rows are none of training's
            assert stats is not None
            assert stats.rows == 64
            found += [alarm for alarm in alarms if alarm.kind == "gamed"]
        assert [alarm.monitor for alarm in found if alarm.monitor in opinion.alarms()] == alarmed
        assert opinion.asked_held_out == 32 * 20
        for alarm in found:
            if alarm.monitor == "held-out":
                assert "more than a rise of 0.1 (a false alarm in at most 5% of runs)" in alarm.message
                assert "this run is being gamed" not in alarm.message
                now, start = map(float, re.findall(r"(-?[\d.]+) (?:of a right answer's|at the start)", alarm.message))
                assert -0.5 < start < now < 1


def test_the_held_out_test_has_its_share_of_the_chance_and_its_rows_wait_for_a_training_step() -> None:
    opinion = SecondOpinion(agrees, Sampling(alpha=0.08, holdout=0.5))
    assert opinion.held_out is not None
    tests = (opinion.test, opinion.risen, opinion.overpaid, opinion.held_out)
    assert [test.alpha for test in tests] == pytest.approx([0.02] * 4)
    watch = RunWatch(opinion)
    aside = [row for row in rows(step_of(0, [1.0] * 64)) if is_held_out(row.task, 0.5)]
    training = [row for row in rows(step_of(1, [1.0] * 64)) if not is_held_out(row.task, 0.5)]
    assert aside
    assert training
    assert watch.step(0.0, aside) == (None, [])
    assert opinion.asked_held_out == 0
    watch.step(1.0, training)
    assert opinion.asked_held_out == len(aside)


def test_the_same_share_of_tasks_is_held_out_everywhere() -> None:
    names = [f"task-{number}" for number in range(4_000)]
    held = [name for name in names if is_held_out(name, 0.1)]
    assert 330 < len(held) < 470
    assert held[:3] == ["task-3", "task-7", "task-23"]
    assert not is_held_out("任务", 1e-9)
    assert is_held_out("\ud800", 0.999)


@pytest.mark.parametrize("holdout", ["0", "1", "2", "half", "=test", "split=", "nan"])
def test_a_holdout_that_is_none_is_refused(tmp_path: Path, holdout: str) -> None:
    run, labels = written(tmp_path / "run.jsonl", held_run(0.0, steps=2)), tmp_path / "labels.jsonl"
    labels.write_text(json.dumps({"id": "0-0", "label": "right"}) + "\n")
    command = ["watch", run, "--second-opinion", str(labels), "--holdout", holdout]
    refused = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
    told = f"--holdout must be a share such as 0.05, or PATH=VALUE, got '{holdout}'"
    assert (refused.exit_code, told in refused.output) == (2, True)


def test_the_command_says_whether_held_out_rows_were_there(tmp_path: Path) -> None:
    run, labels = written(tmp_path / "run.jsonl", held_run(0.0, steps=8)), tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps({"id": f"h0-{n}", "label": "right"}) + "\n" for n in range(32)))
    command = ["watch", run, "--second-opinion", str(labels), "--holdout"]
    said = " ".join(CliRunner().invoke(app, [*command, "metadata.split=test"]).output.split())
    assert "96 held-out rows were asked about" in said
    said = " ".join(CliRunner().invoke(app, [*command, "metadata.split=nobody"]).output.split())
    assert "no row is held out" in said


# --- jumps


def jumps(rewards: Sequence[tuple[float, float]]) -> list[tuple[int, str, str]]:
    """The alarms over steps with these means and spreads: the step, the kind, and the last words."""
    stats, subject = step_stats(1.0, rows([scored("a", 1.0)] * 64)), RewardJumps()
    found: list[tuple[int, str, str]] = []
    for step, (reward, spread) in enumerate(rewards):
        said = subject.update(dataclasses.replace(stats, reward=reward, spread=spread))
        found += [] if said is None else [(step, said[0], said[1].rpartition(":")[2].strip())]
    return found


LEARNS = [(0.2 + 0.02 * step, 0.45) for step in range(30)]


@pytest.mark.parametrize(
    ("rewards", "told"),
    [
        (LEARNS, []),
        ([(0.05 + 0.09 * min(10, step), 0.4) for step in range(30)], []),
        ([(0.8 if step % 2 else 0.2, 0.4) for step in range(40)], []),
        ([*LEARNS, *[(1.0, 0.0)] * 11], [(30, "judge", "is the judge, or what it asks, out?")]),
        ([*LEARNS, *[(0.0, 0.0)] * 11], [(30, "judge", "is the judge, or what it asks, out?")]),
        ([*LEARNS, *LEARNS], [(31, "signal", "was it restarted?")]),
        ([(0.7, 0.45)] * 20 + [(0.3, 0.45)] * 20, [(21, "signal", "did the policy, the tasks or the judge change?")]),
    ],
    ids=["learns", "learns fast", "two kinds of tasks", "pays all", "pays nothing", "restarted", "fell"],
)
def test_an_outage_and_a_restart_are_told_from_learning(
    rewards: list[tuple[float, float]], told: list[tuple[int, str, str]]
) -> None:
    assert jumps(rewards) == told


@pytest.mark.parametrize(("most", "budget", "asked"), [(0.05, None, 50), (1.0, 7, 7), (0.02, 7, 7), (1.0, 0, 0)])
def test_no_more_rows_are_asked_about_than_the_share_and_the_budget_allow(
    most: float, budget: int | None, asked: int
) -> None:
    opinion = SecondOpinion(lambda chosen: [True] * len(chosen), Sampling(rate=0.02, most=most, budget=budget))
    for step in range(10):
        opinion.step(rows(step_of(step, [1.0] * 100)), worried=True)
    assert opinion.asked == asked


def test_no_verdict_of_the_second_judge_is_no_refusal() -> None:
    opinion = SecondOpinion(lambda chosen: [None] * len(chosen), Sampling(rate=0.5))
    assert not opinion.step(rows(step_of(1, [1.0] * 64)), worried=False)
    assert opinion.unanswered == opinion.asked > 0
    assert opinion.test.rows == 0


@pytest.mark.parametrize(("every", "said"), [(2, True), (50, False)])
def test_a_second_judge_that_fails_on_many_rows_is_said(every: int, said: bool) -> None:
    # a policy that games could as well write what the stricter judge breaks on
    seen = itertools.count()
    opinion = SecondOpinion(
        lambda chosen: [None if next(seen) % every == 0 else True for _ in chosen], Sampling(rate=0.5, most=1.0)
    )
    watch = RunWatch(opinion)
    alarms = [alarm for step in range(5) for alarm in watch.step(step, rows(step_of(step, [1.0] * 64)))[1]]
    told = [(alarm.kind, alarm.message) for alarm in alarms if alarm.monitor == "no second opinion"]
    assert len(told) == said
    assert all(kind == "judge" and re.match(r"\d+ of \d+ sampled rows got no", message) for kind, message in told)


def test_rows_that_nobody_has_labelled_are_no_failure_of_a_judge(tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text('{"id": "x", "label": true}\n', encoding="utf-8")
    section = SecondOpinionConfig(labels=str(tmp_path / "labels.jsonl"), rate=0.5, most=1.0)
    opinion, _ = opinion_of(section)
    for step in range(8):
        opinion.step(rows(step_of(step, [1.0] * 64)), worried=False)
    assert (opinion.unanswered >= 20, opinion.blinded) == (True, False)


def test_a_stricter_judge_and_labels_give_second_opinions() -> None:
    lines = [
        scored("1", 1.0, answer="\\boxed{42}", metadata={"answer": "42"}),
        scored("2", 1.0, answer="it may be 42", metadata={"answer": "42"}),
        scored("3", 1.0, answer="\\boxed{42}", metadata={}),
    ]
    assert asks_judge(ConfiguredJudge("configs/math.yaml"))(rows(lines)) == [1.0, 0.0, None]
    assert asks_labels({("1", 0): 1.0, ("2", 0): 0.0})(rows(lines)) == [1.0, 0.0, None]


# --- a step in numbers


def test_groups_without_a_signal_are_told_apart() -> None:
    lines = step_of(1, [1.0] * 4 + [0.0] * 4 + [None] * 4 + [1.0, 0.0, 1.0, 0.0] + [0.3] * 4)
    lines += [scored(str(n), 0.0, task="t9", status="filtered", is_success=False) for n in range(4)]
    stats = step_stats(1.0, rows(lines))
    assert stats.groups == 6
    assert stats.flat == {"all right": 1, "all wrong": 2, "all failed": 1, "all filtered": 1}
    assert stats.failed == pytest.approx(4 / 24)
    assert stats.reward == pytest.approx((4 + 2 + 1.2) / 20)


def test_length_that_pays_and_shared_answers() -> None:
    lines = [scored(str(n), n / 4, task="t", answer="x" * n) for n in range(1, 5)]
    stats = step_stats(1.0, rows(lines))
    assert stats.length_pays == pytest.approx(1.0)
    same = [scored(str(n), 1.0, task=f"t{n % 2}", answer="0123456789") for n in range(4)]
    stats = step_stats(1.0, rows(same))
    assert (stats.shared, stats.repeated) == (1.0, 0.5)


def test_a_step_without_a_verdict_has_no_mean_reward() -> None:
    stats = step_stats(1.0, rows(step_of(1, [None] * 4)))
    assert stats.reward is None
    assert stats.success is None
    assert stats.failed == 1.0


def test_parts_of_a_combined_reward_are_shares() -> None:
    metrics = {"part/format": 0.1, "part/right": 0.3, "judge_cost": 0.25}
    # what a part measures is no reward: 1,200 characters would be "one part makes up 100%"
    metrics |= {"part/format/length": 1200.0, "part/right/skipped": 0.0}
    lines = [scored("1", 0.5, metrics=metrics)] * 2
    stats = step_stats(1.0, rows(lines))
    assert stats.parts == {"format": pytest.approx(0.25), "right": pytest.approx(0.75)}
    assert stats.cost == 0.5


# --- a run


def test_monitors_warn_once_and_speak_of_the_judge_or_the_signal() -> None:
    watch, found = RunWatch(), []
    for step in range(20):
        found += watch.step(step, rows(step_of(step, [None, 0.0, 0.0, 0.0] * 4)))[1]
    assert [(alarm.monitor, alarm.kind) for alarm in found] == [("failed", "judge"), ("flat groups", "signal")]
    assert found[0].message == "25% of the rows have no verdict"
    assert not watch.gamed


def test_a_gamed_run_is_found_and_an_honest_one_with_the_same_curve_is_not() -> None:
    def run(*, honest: bool) -> RunWatch:
        generator = random.Random(4)
        truth: dict[str, bool] = {}
        watch = RunWatch(SecondOpinion(lambda chosen: [truth[row.id] for row in chosen], Sampling(rate=0.05)))
        for step in range(40):
            rewards = [float(generator.random() < 0.2 + step / 50) for _ in range(64)]
            lines = step_of(step, rewards)
            truth |= {
                line["id"]: reward > 0 and (honest or generator.random() < 0.9 - step / 45)
                for line, reward in zip(lines, rewards, strict=True)
            }
            watch.step(step, rows(lines))
        return watch

    assert run(honest=False).gamed
    assert not run(honest=True).gamed


#: Honest runs whose reward, tasks or answers change on the way: the run, and a factor of its rewards from step 50 on.
CHANGED: dict[str, tuple[Kind, float]] = {
    "warm-up: nothing passes for 15 steps": (Kind(None, jump(15, 0.0, 0.4)), 1),
    "a curriculum: harder tasks every 25 steps": (Kind(None, lambda t: 0.35 if t >= 25 and t % 25 < 8 else 0.85), 1),
    "tasks with half credit from 50 on": (Kind(None, learns, part=jump(50, 0, 0.15)), 1),
    "a new tokenizer: answers twice as long": (Kind(None, learns, length=jump(30, 100, 200)), 1),
    "restarted twice": (Kind(None, lambda t: 0.2 + 0.6 * (t if t < 50 else t - 30 if t < 75 else t - 55) / 70), 1),
    "five steps of easy tasks": (Kind(None, lambda t: 0.95 if 40 <= t < 45 else 0.4), 1),
    "rewards twice as large": (Kind(None, learns, told=False), 2),
    "rewards half as large": (Kind(None, learns, told=False), 0.5),
}


@pytest.mark.parametrize("name", CHANGED)
def test_an_honest_run_that_changes_on_the_way_is_not_called_gamed(name: str) -> None:
    kind, factor = CHANGED[name]
    steps = steps_of(kind, 0, 64)
    truth = {row.id: right for step in steps for row, right in zip(step.rows, step.honest, strict=True)}
    watch = RunWatch(SecondOpinion(lambda chosen: [truth[row.id] for row in chosen], Sampling(rate=0.05)))
    for step in steps:
        told = step.rows
        if factor != 1 and step.step >= 50:
            told = [dataclasses.replace(row, reward=(row.reward or 0.0) * factor) for row in told]
        _, found = watch.step(step.step, told)
        assert [alarm.message for alarm in found if alarm.kind == "gamed"] == []


def test_alarms_stand_beside_the_run_and_a_clean_run_clears_an_earlier_one(tmp_path: Path) -> None:
    path = beside(tmp_path / "scored.jsonl", "alarms")
    assert path == tmp_path / "scored.alarms.jsonl"
    assert beside(tmp_path, "alarms") == tmp_path / "alarms.jsonl"
    with AlarmsFile(path) as file:
        file.write(Alarm(3.0, "length", "gamed", "longer"))
    assert json.loads(path.read_text()) == {"step": 3.0, "monitor": "length", "kind": "gamed", "message": "longer"}
    with AlarmsFile(path):
        pass
    assert path.read_text() == ""


# --- the command


def gamed_run() -> list[dict[str, Any]]:
    generator, lines = random.Random(5), []
    for step in range(1, 30):
        for place in range(64):
            honest = generator.random() < 0.3
            hacked = generator.random() < step / 30
            answer = "\\boxed{42}" if honest else "42 is one of the numbers" if hacked else "\\boxed{41}"
            found = scored(f"{step}-{place}", float("42" in answer), task=f"t{place // 8}", answer=answer,
                           metadata={"answer": "42", "step": step})  # fmt: skip
            lines.append(found)
    return lines


def test_the_command_says_that_a_run_is_gamed_and_writes_its_alarms(tmp_path: Path) -> None:
    path = written(tmp_path / "scored.jsonl", gamed_run())
    # a crash has cut the last line short
    with open(path, "ab") as stream:
        stream.write(b'{"id": "x", "task"')
    command = ["watch", path, "--second-opinion", "configs/math.yaml"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1, result.output
    assert "this run is being gamed" in result.output
    alarms = [json.loads(line) for line in (tmp_path / "scored.alarms.jsonl").read_text().splitlines()]
    assert "second opinion" in {alarm["monitor"] for alarm in alarms}
    result = CliRunner().invoke(app, [*command, "--json", "--fail-on", "never"])
    assert result.exit_code == 0
    said = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["step"] for line in said if line["type"] == "step"] == list(range(1, 30))
    assert [line for line in said if line["type"] == "alarm"]


def test_without_a_second_opinion_the_command_does_not_claim_to_know(tmp_path: Path) -> None:
    path = written(tmp_path / "scored.jsonl", gamed_run())
    result = CliRunner().invoke(app, ["watch", path])
    assert result.exit_code == 0
    assert "monitors warn, and cannot tell gaming from learning" in " ".join(result.output.split())


def test_a_second_opinion_that_answers_nothing_is_not_taken_for_a_clean_run(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"id": "of another run", "label": "right"}\n')
    path = written(tmp_path / "scored.jsonl", gamed_run())
    said = " ".join(CliRunner().invoke(app, ["watch", path, "--second-opinion", str(labels)]).output.split())
    assert "sampled rows got a second opinion" in said
    assert "not shown to be gamed" not in said


# --- settings and curves


def test_a_configuration_says_who_gives_second_opinions(tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    strict = "{judge_protocol: agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge}"
    config.write_text(f"astuner:\n  second_opinion:\n    task_judge: {strict}\n    rate: 0.1\n    most: 0.1\n")
    path = written(tmp_path / "scored.jsonl", gamed_run())
    result = CliRunner().invoke(app, ["watch", path, "--conf", str(config)])
    assert result.exit_code == 1, result.output
    assert "this run is being gamed" in result.output
    # an option of the command wins; with a budget of 5 nothing can be shown
    result = CliRunner().invoke(app, ["watch", path, "--conf", str(config), "--budget", "5"])
    assert result.exit_code == 0, result.output
    assert re.search(r"refuses \d of the 5 passes that it judged", " ".join(result.output.split()))


def test_an_alarm_is_shown_as_its_step_its_name_and_its_message(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    rows = gamed_run()
    path = written(tmp_path / "scored.jsonl", rows)
    labels.write_text("".join(json.dumps({"id": row["id"], "label": "wrong"}) + "\n" for row in rows))
    result = CliRunner().invoke(app, ["watch", path, "--second-opinion", str(labels)])
    shown = r"step \d+, second opinion: this run is being gamed\. The second opinion refuses (\d+) of the \1 passes"
    assert re.search(shown, " ".join(result.output.split())), result.output


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({}, "name one of conf, task_judge and labels"),
        ({"conf": "a.yaml", "labels": "b.jsonl"}, "named are ['conf', 'labels']"),
        ({"conf": "configs/math.yaml", "share": 0.1}, "allowed keys are rate, most, budget"),
        ({"conf": "configs/math.yaml", "rate": 2}, "rate: input should be less than or equal to 1, got 2"),
        ({"conf": "configs/nowhere.yaml"}, "no configuration file"),
        ({"labels": "nowhere.jsonl"}, "cannot read the labels"),
    ],
)
def test_a_second_opinion_that_cannot_be_asked_is_named_before_the_run_is_read(
    section: dict[str, Any], told: str, tmp_path: Path
) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(json.dumps({"astuner": {"second_opinion": section}}))
    path = written(tmp_path / "scored.jsonl", [scored("1", 1.0)])
    result = CliRunner().invoke(app, ["watch", path, "--conf", str(config)])
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())


def test_options_of_a_second_opinion_that_nobody_gives_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "scored.jsonl", [scored("1", 1.0)])
    for options in (["--rate", "0.1"], ["--conf", "configs/math.yaml"]):
        result = CliRunner().invoke(app, ["watch", path, *options])
        assert result.exit_code == 2
        assert "nobody is named for second opinions" in " ".join(result.output.split())


def test_a_trainer_looks_after_every_step_and_learns_that_it_is_gamed(tmp_path: Path) -> None:
    section = {"conf": "configs/math.yaml", "rate": 0.1, "most": 0.1}
    curves = Recorded()
    config = {"astuner": {"task_judge": {"log_dir": str(tmp_path)}, "second_opinion": section}}
    live = LiveWatch(config=config, scalars=[curves])
    steps: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for line in gamed_run():
        steps[line["task"]["metadata"]["step"]].append(line)
    for step, lines in steps.items():
        written(tmp_path / f"judged-h-1-a-{step}.jsonl", lines)
        live.look()
        if live.watch.gamed:
            break
    assert 1 < step < 29
    assert live.alarms[-1].monitor == "second opinion"
    assert json.loads((tmp_path / "alarms.jsonl").read_text().splitlines()[-1])["step"] == step
    live.close()
    assert curves.closed
    assert [number for number, _ in curves.steps] == list(range(1, step + 1))
    last = curves.steps[-1][1]
    assert last["astuner/second_opinion/evidence"] == 1.0
    assert 0 < last["astuner/reward"] <= 1
    assert last["astuner/alarms"] >= 1
    assert "astuner/step" not in last
    with pytest.raises(ConfigError, match="nobody is named"):
        LiveWatch(tmp_path)
    with pytest.raises(ConfigError, match="name its log_dir"):
        LiveWatch(second_opinion="configs/math.yaml")


class Recorded:
    def __init__(self) -> None:
        self.steps: list[tuple[float, Mapping[str, float]]] = []
        self.closed = False

    def write(self, step: float, numbers: Mapping[str, float]) -> None:
        self.steps.append((step, numbers))

    def close(self) -> None:
        self.closed = True


def test_the_curves_of_a_step_leave_out_what_it_does_not_have() -> None:
    watch = RunWatch()
    lines = step_of(
        1, [None] * 4 + [1.0] * 4 + [1.0, 0.0] * 2, answer="a", metrics={"part/form": 0.5, "part/right": 0.5}
    )
    stats, alarms = watch.step(1.0, rows(lines))
    assert stats is not None
    numbers = step_scalars(stats, alarms, watch)
    assert numbers["astuner/flat/all_failed"] == pytest.approx(1 / 3)
    assert numbers["astuner/flat_groups"] == pytest.approx(2 / 3)
    assert numbers["astuner/part/form"] == 0.5
    assert "astuner/length_pays" not in numbers
    assert not any(name.startswith("astuner/second_opinion") for name in numbers)
