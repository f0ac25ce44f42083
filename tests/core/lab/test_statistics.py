"""The statistics beside scikit-learn, scipy and tables worked by hand.

Both are imported in the tests that ask them: every worker of pytest imports every file, and these take seconds.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tuner.graders.rubrics import evaluate as learned
from agentscope_tuner.lab.statistics import (
    Confusion,
    auc,
    best_threshold,
    calibration,
    clustered_share,
    jackknife,
    mcnemar,
    quadratic_kappa,
    rank_measures,
    wilson,
)
from benchmarks.insight.coverage import BESIDE_ITSELF, SETTINGS, TASKS, coverage, covered

ROWS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60)
GRADES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=60)


def booleans(values: Sequence[object]) -> Any:
    return np.array(values, dtype=bool)


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        # (p + z²/2n ∓ z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n), z = 1.96
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (1, 1000, 0.000177, 0.00564),
    ],
)
def test_wilson_by_hand(hits: int, total: int, low: float, high: float) -> None:
    assert wilson(hits / total, total) == pytest.approx((low, high), abs=1e-4)
    from scipy import stats

    theirs = stats.binomtest(hits, total).proportion_ci(method="wilson")
    assert wilson(hits / total, total) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_a_table_by_hand() -> None:
    # 20 both right, 5 paid wrongly, 15 both wrong, 10 refused wrongly: kappa = (0.7 - 0.5) / (1 - 0.5)
    measures = Confusion(20, 5, 15, 10).measures()
    assert measures["accuracy"] == pytest.approx(0.7)
    assert measures["precision"] == pytest.approx(0.8)
    assert measures["recall"] == pytest.approx(2 / 3)
    assert measures["f1"] == pytest.approx(40 / 55)
    assert measures["kappa"] == pytest.approx(0.4)


@given(ROWS)
@settings(max_examples=20, deadline=None)
def test_verdicts_beside_labels_are_measured_as_scikit_learn_does(rows: list[tuple[bool, bool]]) -> None:
    from sklearn import metrics

    labels, verdicts = (booleans(side) for side in zip(*rows, strict=True))
    ours = Confusion.of(labels, verdicts).measures()
    assert ours["accuracy"] == pytest.approx(metrics.accuracy_score(labels, verdicts))
    for name, theirs in (
        ("precision", metrics.precision_score(labels, verdicts, zero_division=np.nan)),
        ("recall", metrics.recall_score(labels, verdicts, zero_division=np.nan)),
        ("f1", metrics.f1_score(labels, verdicts, zero_division=np.nan)),
    ):
        assert ours[name] == pytest.approx(theirs, nan_ok=True), name
    if len(set(labels)) > 1 or len(set(verdicts)) > 1:
        assert ours["kappa"] == pytest.approx(metrics.cohen_kappa_score(labels, verdicts), nan_ok=True)


@given(GRADES)
@settings(max_examples=20, deadline=None)
def test_ranks_are_measured_as_scipy_scikit_learn_and_rubrics_learn_do(rows: list[tuple[int, int]]) -> None:
    from sklearn import metrics

    labels, scores = (np.array(side, dtype=float) for side in zip(*rows, strict=True))
    ours, pairs = rank_measures(labels, scores), [(float(label), float(score)) for label, score in rows]
    if len(set(labels)) == 1 or len(set(scores)) == 1:
        assert all(math.isnan(value) for value in ours.values())
        return
    assert ours["spearman"] == pytest.approx(learned.spearman(pairs))
    assert ours["kendall"] == pytest.approx(learned.kendall(pairs))
    theirs = metrics.cohen_kappa_score(
        labels.astype(int), scores.astype(int), weights="quadratic", labels=list(range(5))
    )
    assert quadratic_kappa(labels, scores) == pytest.approx(theirs) == pytest.approx(learned.quadratic_kappa(pairs))


def test_auc_and_threshold_by_hand() -> None:
    labels, scores = booleans([1, 1, 0, 0]), np.array([0.9, 0.4, 0.4, 0.1])
    # of four pairs three are in order and one is tied
    assert auc(labels, scores) == pytest.approx(3.5 / 4)
    assert best_threshold(labels, scores) == pytest.approx({"reward": 0.9, "balanced_accuracy": 0.75})
    assert math.isnan(auc(booleans([1, 1]), np.array([0.1, 0.2])))
    assert best_threshold(booleans([0, 0]), np.array([0.1, 0.2])) is None


def test_calibration_by_hand() -> None:
    # two rows at 0.8 of which one is right, two at 0.1 of which none is: (0.3 + 0.1) / 2
    fit = calibration(booleans([1, 0, 0, 0]), np.array([0.8, 0.8, 0.1, 0.1]))
    assert fit is not None
    assert fit["ece"] == pytest.approx(0.2)
    assert [rows for rows, _, _ in fit["bins"]] == [2, 2]
    assert calibration(booleans([1, 0]), np.array([0.0, 1.5])) is None


def test_a_reward_of_1_is_in_the_last_bin() -> None:
    fit = calibration(booleans([1, 1]), np.array([1.0, 0.95]))
    assert fit is not None
    assert [rows for rows, _, _ in fit["bins"]] == [2]


@pytest.mark.parametrize(
    ("by_task", "p_value"),
    [
        ([], 1.0),
        ([5, -5], 1.0),
        ([1] * 5, 2 / 32),
        ([1, *[-1] * 9], 22 / 1024),
        # eight rows of one task are one change
        ([8], 1.0),
        ([8, 8, 8, -8], 10 / 16),
        ([3, 1, 0], 0.5),
        ([400_000, 400_000, 1], 0.25),
        # more tasks than are summed up
        ([1] * 5049 + [-1] * 4951, 0.327),
    ],
)
def test_mcnemar_by_hand(by_task: list[int], p_value: float) -> None:
    assert mcnemar(by_task) == pytest.approx(p_value, abs=1e-3)


def test_mcnemar_alarms_as_seldom_as_it_says_where_rows_of_a_task_change_together() -> None:
    generator, alarms, runs = random.Random(1), 0, 400
    for _ in range(runs):
        tasks = []
        for _ in range(40):
            lost, gained = (generator.betavariate(0.3, 2) / 2 for _ in "ab")
            drawn = [generator.random() for _ in range(8)]
            tasks.append(sum(one < lost for one in drawn) - sum(one > 1 - gained for one in drawn))
        alarms += mcnemar(tasks) < 0.05
    # each row for itself: 13 %
    assert 0.02 < alarms / runs < 0.075


def test_under_ten_tasks_there_is_no_interval() -> None:
    # five rows of five tasks, three of them right, were `0.600 to 0.600`
    assert clustered_share([3] * 5, [5] * 5) is None
    assert jackknife(lambda rows: {"mean": 1.0}, range(9)) == {}
    # ten tasks of copies say no more than ten rows: n / (n + u^2) with u = 2.262
    assert clustered_share([8.0] * 10, [8.0] * 10) == pytest.approx((0.6615, 1.0), abs=1e-3)
    # a statistic that nothing changes has no spread to make an interval of
    assert jackknife(lambda rows: {"mean": 0.6}, range(50)) == {}


@pytest.mark.parametrize(
    ("tasks", "rows", "has"),
    [(10, 1, False), (49, 1, False), (50, 1, True), (10, 4, False), (16, 3, False), (10, 5, True)],
)
def test_under_fifty_rows_a_share_has_no_interval(tasks: int, rows: int, has: bool) -> None:
    hits = [float(task % (rows + 1)) for task in range(tasks)]
    assert (clustered_share(hits, [float(rows)] * tasks) is not None) == has


@pytest.mark.parametrize("rows", [50, 51, 60, 75, 100, 150])
def test_fifty_rows_are_enough_for_shares_between_a_tenth_and_nine_tenths(rows: int) -> None:
    from scipy import stats

    bounds = np.array([clustered_share([1.0] * hits + [0.0] * (rows - hits), [1.0] * rows) for hits in range(rows + 1)])
    true = np.linspace(0.1, 0.9, 161)[:, None]
    covers = (bounds[:, 0] <= true) & (true <= bounds[:, 1])
    shares = (stats.binom.pmf(np.arange(rows + 1), rows, true) * covers).sum(axis=1)
    # With ten rows 98.5 %, with thirty 97.4 %
    assert shares.min() > 0.92
    assert shares.max() < 0.9705


@pytest.mark.parametrize("tasks", TASKS)
@pytest.mark.parametrize("measure", BESIDE_ITSELF)
def test_what_judge_eval_prints_of_a_judge_beside_itself_covers_it(measure: str, tasks: int) -> None:
    share = covered(measure, tasks, 400, seed=1)
    # 92 to 97 %, and what chance adds in so many runs; None where most draws have no interval
    chance = 2.6 * math.sqrt(0.95 * 0.05 / 400)
    assert share is None or 0.92 - chance <= share <= 0.97 + chance


def test_a_row_a_task_gives_wilsons_interval() -> None:
    assert clustered_share([1.0] * 500 + [0.0] * 500, [1.0] * 1000) == wilson(0.5, 1000)
    # tasks that are more alike than chance makes them do not count as more rows than there are
    assert clustered_share([4.0, 4.0] * 9 + [3.0, 5.0], [8.0] * 20) == pytest.approx(wilson(0.5, 160), abs=2e-3)


def test_students_quantile_is_scipys() -> None:
    from scipy import stats

    assert max(abs(learned.t_quantile(n) - stats.t.ppf(0.975, n)) for n in range(9, 300)) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("tasks", TASKS)
@pytest.mark.parametrize("setting", ["a fair judge", "a good judge", "tasks nearly all right or all wrong"])
def test_the_intervals_of_all_measures_cover_them(setting: str, tasks: int) -> None:
    runs = 2_000 if tasks < 100 else 800
    shares = coverage(SETTINGS[setting], tasks, runs, seed=1)
    # 92 to 97 %, and what chance adds in so many runs
    chance = 2.6 * math.sqrt(0.95 * 0.05 / runs)
    assert all(0.92 - chance <= share <= 0.97 + chance for share in shares.values()), shares
    assert {"kappa", "auc", "accuracy"} <= set(shares)
    # of ten tasks of eight rows fewer than fifty are often positive
    assert "f1" in shares or tasks == TASKS[0]


@pytest.mark.parametrize(
    ("rows", "clusters", "asked"), [(50, 50, 51), (5_000, 5_000, 201), (5_001, 5_001, 41), (5_001, 20, 21)]
)
def test_many_rows_are_left_out_in_few_groups(rows: int, clusters: int, asked: int) -> None:
    found: list[int] = []

    def counted(left: Any) -> dict[str, float]:
        found.append(len(left))
        return {}

    jackknife(counted, [row % clusters for row in range(rows)])
    assert (len(found), found[0]) == (asked, rows)
    assert sum(found[1:]) == rows * (asked - 2)


def test_large_sets_are_left_out_in_groups_and_copies_widen_the_interval() -> None:
    values = np.random.default_rng(2).normal(size=20_000)
    (low, high) = jackknife(lambda rows: {"mean": float(values[rows].mean())}, range(20_000))["mean"]
    assert (high - low) / 2 == pytest.approx(1.96 * values.std() / math.sqrt(20_000), rel=0.35)
    copies = np.repeat(values[:100], 4)

    def copied(rows: Any) -> dict[str, float]:
        return {"mean": float(copies[rows].mean())}

    apart, together = (
        jackknife(copied, clusters)["mean"] for clusters in (range(400), np.arange(100).repeat(4).tolist())
    )
    assert together[1] - together[0] > 1.6 * (apart[1] - apart[0])
