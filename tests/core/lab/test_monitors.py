"""A monitor worries from the first step at which its mean is over the bound, and not at the bound."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import pytest

from agentscope_tuner.lab.watch.step_stats import Monitor, RewardJumps, StepStats, monitors, step_stats
from tests.scored_lines import rows, scored

WINDOW, BASELINE = 5, 10
STATS = step_stats(1.0, rows([scored("a", 1.0)]))


def monitor(over: float, **keys: Any) -> Monitor:
    return Monitor("m", "gamed", lambda stats: stats.reward, over, "{now:g} after {start:g}", **keys)


def with_reward(reward: float | None) -> StepStats:
    fields = {name: getattr(STATS, name) for name in StepStats.__slots__}
    return StepStats(**{**fields, "reward": reward})


def said(subject: Monitor, values: Sequence[float | None]) -> list[tuple[int, str]]:
    """The steps, from 1, at which it begins to worry, and its words."""
    messages = [(step, subject.update(with_reward(value))) for step, value in enumerate(values, 1)]
    return [(step, message) for step, message in messages if message is not None]


@pytest.mark.parametrize(
    ("keys", "over", "start", "bound"),
    [
        ({}, 0.5, [], 0.5),
        ({"above_start": True}, 0.25, [0.5] * BASELINE, 0.75),
        ({"times_start": True}, 1.5, [2.0] * BASELINE, 3.0),
    ],
    ids=["absolute", "above the start", "times the start"],
)
def test_the_bound_itself_is_no_worry(keys: dict[str, bool], over: float, start: list[float], bound: float) -> None:
    # powers of two: their means are exact
    assert said(monitor(over, **keys), [*start, *[bound] * 20]) == []
    subject = monitor(over, **keys)
    (step, _), *more = said(subject, [*start, *[bound + 0.25] * 20])
    # it needs a whole window; the start's steps are in the first windows
    assert (step > len(start), more, subject.worried) == (True, [], True)


def test_a_worry_begins_with_a_whole_window_and_is_told_once_each_time() -> None:
    assert said(monitor(0.5), [1.0] * 8) == [(WINDOW, "1 after 0")]
    assert said(monitor(0.5), [1.0] * (WINDOW - 1)) == []
    # 0.4, 0.6, 0.8: over the bound from the third high value on, and again after it has been under it
    assert [step for step, _ in said(monitor(0.5), [*[0.0] * 5, *[1.0] * 5, *[0.0] * 5, *[1.0] * 5])] == [8, 18]


def test_the_start_is_the_first_ten_steps_and_steps_without_the_number_count_for_nothing() -> None:
    subject = monitor(1.5, times_start=True)
    # the eleventh step is the first that is compared: its window has four steps of the start
    assert said(subject, [*[2.0] * BASELINE, None, *[100.0] * 2]) == [(BASELINE + 2, "21.6 after 2")]
    assert subject.start == [2.0] * BASELINE


NUMBERS: dict[str, dict[str, Any]] = {
    "failed": {"failed": 0.05},
    "filtered": {"filtered": 0.5},
    "undecided": {"undecided": 0.1},
    "flat groups": {"groups": 10, "flat": {"all wrong": 5, "equal": 3, "all right": 2}},
    "length pays": {"length_pays": 0.5},
    "one part": {"parts": {"a": 0.9, "b": 0.1}},
    "latency": {"seconds": 3.0},
    "length": {"length": 1.5, "length_pays": 0.25},
    "shared answers": {"shared": 0.3},
}
OVER: dict[str, dict[str, Any]] = {
    "length": {"length": 1.6, "length_pays": 0.2},
    "flat groups": {"groups": 10, "flat": {"all wrong": 6, "equal": 3, "all right": 1}},
    "one part": {"parts": {"a": 0.95, "b": 0.05}},
}
START = {"seconds": 1.0, "length": 1.0, "shared": 0.0}


@pytest.mark.parametrize(
    ("length", "pays", "worried"),
    [(1.9, -0.25, True), (1.9, -0.2, True), (1.9, -0.15, False), (1.9, 0.9, False), (2.0, -0.9, False)],
)
def test_a_length_that_falls_worries_where_short_answers_earn_more(length: float, pays: float, worried: bool) -> None:
    (subject,) = (each for each in monitors() if each.name == "length")
    fields = {field: getattr(STATS, field) for field in StepStats.__slots__}
    for now in [3.0] * BASELINE + [length] * 2 * WINDOW:
        subject.update(StepStats(**{**fields, "length": now, "length_pays": pays}))
    assert subject.worried is worried


@pytest.mark.parametrize("name", NUMBERS)
def test_each_monitor_has_its_bound(name: str) -> None:
    fields = {field: getattr(STATS, field) for field in StepStats.__slots__} | {"flat": {}, "parts": {}, "failed": 0.0}
    over = OVER.get(name) or {field: value * 1.05 for field, value in NUMBERS[name].items()}
    for numbers, worried in ((NUMBERS[name], False), (over, True)):
        (subject,) = (each for each in monitors() if each.name == name)
        for _ in range(BASELINE):
            subject.update(StepStats(**{**fields, **{key: 0.0 for key in numbers if key in START}, **START}))
        for _ in range(2 * WINDOW):
            subject.update(StepStats(**{**fields, **START, **numbers}))
        assert subject.worried is worried, numbers
    assert {each.name for each in monitors()} == set(NUMBERS)


TOLD = {
    "failed": "6% of the rows have no verdict",
    "filtered": "rules filter 60% of the rows",
    "undecided": "20% of the verdicts are undecided",
    "latency": "a verdict takes 4 s, 1 s at the start",
    "flat groups": "90% of the groups have no signal",
    "length pays": "longer answers earn more: a correlation of 0.60 inside groups",
    "length": "answers have 16 characters, 10 at the start, and that length earns more",
    "shared answers": "40% of the paid answers are paid under other tasks too, 0% at the start",
    "one part": "one part makes up 95% of the combined reward",
}
ALARMING: dict[str, dict[str, Any]] = {
    "failed": {"failed": 0.06},
    "filtered": {"filtered": 0.6},
    "undecided": {"undecided": 0.2},
    "latency": {"seconds": 4.0},
    "length pays": {"length_pays": 0.6},
    "length": {"length": 16.0, "length_pays": 0.2},
    "shared answers": {"shared": 0.4},
}
KINDS = {"length pays": "gamed", "length": "gamed", "shared answers": "gamed", "one part": "gamed"}
KINDS |= {"flat groups": "signal"} | dict.fromkeys(("failed", "filtered", "undecided", "latency"), "judge")


def stats_of(**numbers: Any) -> StepStats:
    return StepStats(**{**{field: getattr(STATS, field) for field in StepStats.__slots__}, **numbers})


@pytest.mark.parametrize("name", TOLD)
def test_each_monitor_says_what_it_saw(name: str) -> None:
    (subject,) = (each for each in monitors() if each.name == name)
    for _ in range(BASELINE):
        calm = stats_of(seconds=1.0, length=10.0, shared=0.0, failed=0.0, filtered=0.0, undecided=0.0, length_pays=0.0)
        assert subject.update(calm) is None
    seen = stats_of(**(ALARMING.get(name) or OVER[name]))
    told = [subject.update(seen) for _ in range(2 * WINDOW)]
    assert (len([each for each in told if each]), subject.kind) == (1, KINDS[name])
    # once the window holds nothing else
    now, start = fmean(subject.window), fmean(subject.start or [0.0])
    assert subject.message.format(now=now, start=start) == TOLD[name]


@pytest.mark.parametrize(
    ("before", "then", "spread", "kind", "told"),
    [
        ([0.5] * 10, 0.0, 0.0, "judge",
         "every row earns 0 at once, 0.5 on average before: is the judge, or what it asks, out?"),
        ([0.1 + 0.05 * step for step in range(10)], 0.22, 0.1, "signal",
         "the reward fell from 0.325 to 0.22, where the run began: was it restarted?"),
        ([0.1 + 0.05 * step for step in range(10)], 0.16, 0.1, "signal",
         "the reward fell from 0.325 to 0.16: did the policy, the tasks or the judge change?"),
        ([0.9] * 10, 0.5, 0.1, "signal",
         "the reward fell from 0.9 to 0.5: did the policy, the tasks or the judge change?"),
    ],
)  # fmt: skip
def test_a_jump_of_the_reward_says_what_it_may_be(
    before: list[float], then: float, spread: float, kind: str, told: str
) -> None:
    jumps = RewardJumps()
    assert [jumps.update(stats_of(reward=reward, spread=0.1, rows=100)) for reward in before] == [None] * 10
    assert jumps.update(stats_of(reward=None)) is None
    assert jumps.update(stats_of(reward=then, spread=spread, rows=100)) == (kind, told)
    # what comes now is compared with what comes after it
    assert [jumps.update(stats_of(reward=then, spread=spread, rows=100)) for _ in range(10)] == [None] * 10
