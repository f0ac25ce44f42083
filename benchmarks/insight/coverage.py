"""How often the intervals of `astuner agree` and `judge-eval` cover the true value; rows of a task are alike.

    python -m benchmarks.insight.coverage [--runs 10000]

A task's share of right answers is drawn from a beta distribution. A judge scores every row, with an error of which a
part is the task's, and passes what scores over a half. The measures of so many tasks are simulated again and again; the
true values are those of 200,000 tasks. The statistics are computed from counts by task, the intervals by the functions
that `agree` calls. A dash stands where fewer than half of the simulated sets have an interval.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentscope_tuner.graders.rubrics.evaluate import LEAST_ROWS, jackknifed, metrics
from agentscope_tuner.graders.rubrics.evaluate import RANGES as PEOPLES
from agentscope_tuner.graders.rubrics.evaluate import interval as interval_of
from agentscope_tuner.lab.judge_eval import mean_of, share_of
from agentscope_tuner.lab.statistics import RANGES, Interval, clustered_share

TASKS = (10, 30, 100)


@dataclass(frozen=True)
class Setting:
    """Rows of tasks, and a judge.

    Attributes:
        right: the two parameters of the beta distribution of a task's share of right answers.
        noise: the spread of the score's error, where a right answer is worth 1.
        rows: the rows of a task.
    """

    right: tuple[float, float] = (3, 3)
    noise: float = 1.0
    rows: int = 8


SETTINGS: Mapping[str, Setting] = {
    "a fair judge": Setting(),
    "a good judge": Setting(noise=0.4),
    "a poor judge": Setting(noise=2.5),
    "tasks nearly all right or all wrong": Setting((0.3, 0.3), 0.6),
    "one answer in ten right": Setting((1, 9), 0.5),
    "nine answers in ten right": Setting((9, 1), 0.6),
    "three rows a task": Setting(noise=0.6, rows=3),
    "a row a task": Setting(noise=0.6, rows=1),
}


def drawn(setting: Setting, tasks: int, generator: np.random.Generator) -> tuple[Any, Any]:
    """Whether each row is right, and its score, by task and row."""
    shape = (tasks, setting.rows)
    right = generator.random(shape) < generator.beta(*setting.right, (tasks, 1))
    error = 0.5 * generator.normal(size=(tasks, 1)) + generator.normal(size=shape)
    return right, right + setting.noise * error


def _counts(right: Any, scores: Any) -> Any:
    """By task: right and passed, wrong and passed, wrong and refused, right and refused."""
    passed = scores > 0.5
    cells = (right & passed, ~right & passed, ~right & ~passed, right & ~passed)
    return np.stack([cell.sum(axis=1) for cell in cells], axis=-1).astype(float)


def kappa(counts: Any) -> Any:
    """Cohen's kappa of counts in the last axis."""
    tp, fp, tn, fn = np.moveaxis(counts, -1, 0)
    total = tp + fp + tn + fn
    by_chance = ((tp + fp) * (tp + fn) + (tn + fn) * (tn + fp)) / total**2
    with np.errstate(all="ignore"):
        return ((tp + tn) / total - by_chance) / (1 - by_chance)


def f1(counts: Any) -> Any:
    """F1 of counts in the last axis."""
    tp, fp, _, fn = np.moveaxis(counts, -1, 0)
    with np.errstate(all="ignore"):
        return 2 * tp / (2 * tp + fp + fn)


def _auc(right: Any, scores: Any) -> tuple[float, Any]:
    """The area under the ROC curve, and that without each task."""
    tasks, rows = right.shape
    wins = (scores.reshape(-1, 1) > scores.reshape(1, -1)) & right.reshape(-1, 1) & ~right.reshape(1, -1)
    won = wins.reshape(tasks, rows, tasks, rows).sum(axis=(1, 3)).astype(float)
    pairs = np.outer(right.sum(axis=1), (~right).sum(axis=1)).astype(float)

    def without(matrix: Any) -> Any:
        return matrix.sum() - matrix.sum(axis=0) - matrix.sum(axis=1) + np.diag(matrix)

    with np.errstate(all="ignore"):
        return float(won.sum() / pairs.sum()), without(won) / without(pairs)


def _by_jackknife(name: str, rows: int, whole: float, left: Any) -> Interval | None:
    known = [None if math.isnan(value) else value for value in left.tolist()]
    return None if math.isnan(whole) or rows < LEAST_ROWS else jackknifed(whole, known, RANGES[name])


def intervals(setting: Setting, tasks: int, generator: np.random.Generator) -> dict[str, Interval | None]:
    """The intervals of one draw."""
    right, scores = drawn(setting, tasks, generator)
    counts = _counts(right, scores)
    total = counts.sum(axis=0)
    tp, fp, tn, fn = counts.T
    return {
        "accuracy": clustered_share((tp + tn).tolist(), (tp + fp + tn + fn).tolist()),
        "precision": clustered_share(tp.tolist(), (tp + fp).tolist()),
        "recall": clustered_share(tp.tolist(), (tp + fn).tolist()),
        "f1": clustered_share((2 * tp).tolist(), (2 * tp + fp + fn).tolist(), (tp + fp + fn).tolist()),
        "kappa": _by_jackknife("kappa", right.size, float(kappa(total)), kappa(total - counts)),
        "auc": _by_jackknife("auc", right.size, *_auc(right, scores)),
    }


def true_values(setting: Setting, generator: np.random.Generator) -> dict[str, float]:
    """The measures of very many tasks."""
    right, scores = drawn(setting, 200_000, generator)
    total = _counts(right, scores).sum(axis=0)
    tp, fp, _, fn = total
    places = scores.ravel().argsort().argsort() + 1.0
    ones = float(right.sum())
    area = (places[right.ravel()].sum() - ones * (ones + 1) / 2) / (ones * (right.size - ones))
    return {
        "accuracy": 1 - (fp + fn) / total.sum(), "precision": tp / (tp + fp), "recall": tp / (tp + fn),
        "kappa": float(kappa(total)), "f1": float(f1(total)), "auc": float(area),
    }  # fmt: skip


def coverage(setting: Setting, tasks: int, runs: int, seed: int = 0) -> dict[str, float]:
    """The share of the intervals, of each measure, that hold its true value."""
    generator = np.random.default_rng(seed)
    true, held = true_values(setting, generator), dict[str, list[bool]]()
    for _ in range(runs):
        for name, interval in intervals(setting, tasks, generator).items():
            if interval is not None:
                held.setdefault(name, []).append(interval[0] <= true[name] <= interval[1])
    return {name: sum(found) / len(found) for name, found in held.items() if 2 * len(found) > runs}


def _alike(mean: float, rows: int) -> Callable[[int, np.random.Generator], list[list[float]]]:
    """Draws rows of tasks, each 1 or 0, whose shares of 1 differ from task to task."""

    def drawn_by_task(tasks: int, generator: np.random.Generator) -> list[list[float]]:
        shares = generator.beta(4 * mean, 4 * (1 - mean), (tasks, 1))
        found: list[list[float]] = (generator.random((tasks, rows)) < shares).astype(float).tolist()
        return found

    return drawn_by_task


def _rare_shifts(tasks: int, generator: np.random.Generator) -> list[list[float]]:
    found: list[list[float]] = np.where(generator.random((tasks, 1)) < 0.15, generator.random((tasks, 1)), 0.0).tolist()
    return found


def _common_shifts(tasks: int, generator: np.random.Generator) -> list[list[float]]:
    found: list[list[float]] = generator.normal(0.1, 0.3, (tasks, 4)).tolist()
    return found


#: What `judge-eval` measures of a judge beside itself: rows by task, the true mean, and what has the interval.
BESIDE_ITSELF: Mapping[str, tuple[Callable[[int, np.random.Generator], list[list[float]]], float, Any]] = {
    "judge-eval: half the same, a row a task": (_alike(0.5, 1), 0.5, share_of),
    "judge-eval: nine in ten the same": (_alike(0.9, 4), 0.9, share_of),
    "judge-eval: one text in ten raises it": (_alike(0.1, 1), 0.1, share_of),
    "judge-eval: shifts by chance": (_common_shifts, 0.1, mean_of),
    "judge-eval: a few rewards shift": (_rare_shifts, 0.075, mean_of),
}


def covered(name: str, tasks: int, runs: int, seed: int = 0) -> float | None:
    """The share of the intervals that hold the true mean; None where fewer than half of the draws have one."""
    draw, true, measured = BESIDE_ITSELF[name]
    generator = np.random.default_rng(seed)
    found = (measured(draw(tasks, generator))["interval"] for _ in range(runs))
    held = [interval[0] <= true <= interval[1] for interval in found if interval is not None]
    return sum(held) / len(held) if 2 * len(held) > runs else None


def _labelled(tasks: int, generator: np.random.Generator) -> list[list[tuple[float, float]]]:
    """Labels and rewards of two answers to each task, in tenths: a task's labels, and a judge's errors, are alike."""
    labels = generator.beta(2, 2, (tasks, 1)) + 0.2 * generator.normal(size=(tasks, 2))
    rewards = labels + 0.1 * generator.normal(size=(tasks, 1)) + 0.15 * generator.normal(size=(tasks, 2))
    tenths = (np.clip(values, 0, 1).round(1).tolist() for values in (labels, rewards))
    return [list(zip(*pair, strict=True)) for pair in zip(*tenths, strict=True)]


def covered_with_people(tasks: int, runs: int, seed: int = 0) -> dict[str, float]:
    """How often `judge-eval`'s intervals of its agreement with people hold the true value, by metric."""
    generator, measured = np.random.default_rng(seed), metrics(0.1)
    # Kendall's tau takes the square of the rows
    size = {name: 1_000 if name == "kendall" else 50_000 for name in measured}
    many = {name: [pair for task in _labelled(size[name], generator) for pair in task] for name in measured}
    true, held = {name: metric(many[name]) or 0.0 for name, metric in measured.items()}, dict[str, list[bool]]()
    for run in range(runs):
        groups = _labelled(tasks, generator)
        for name, metric in measured.items():
            if name == "kendall" and run % 10:
                continue
            found = interval_of(metric, groups, 0, PEOPLES.get(name))
            if found is not None:
                held.setdefault(name, []).append(found[0] <= true[name] <= found[1])
    return {name: sum(found) / len(found) for name, found in held.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    asked = parser.parse_args()
    names = ("accuracy", "precision", "recall", "kappa", "f1", "auc")
    print(f"{'setting':36} {'tasks':>5} {''.join(f'{name:>11}' for name in names)}")
    shares: list[float] = []
    for title, setting in SETTINGS.items():
        for tasks in TASKS:
            found = coverage(setting, tasks, asked.runs)
            shares += found.values()
            cells = "".join(f"{found[name]:>11.1%}" if name in found else f"{'-':>11}" for name in names)
            print(f"{title:36} {tasks:>5} {cells}", flush=True)
    for title in BESIDE_ITSELF:
        for tasks in TASKS:
            share = covered(title, tasks, max(1, asked.runs // 4))
            shares += [] if share is None else [share]
            print(f"{title:40} {tasks:>3} {'-' if share is None else f'{share:.1%}'}", flush=True)
    for tasks in TASKS:
        found = covered_with_people(tasks, max(10, asked.runs // 10))
        shares += found.values()
        told = ", ".join(f"{name.replace('_', ' ')} {share:.1%}" for name, share in found.items())
        print(f"judge-eval: agrees with people, {tasks:>3} tasks: {told}", flush=True)
    error = 1.96 * math.sqrt(0.05 * 0.95 / asked.runs)
    print(f"\nfrom {min(shares):.1%} to {max(shares):.1%}; chance moves a share of 95 % by {error:.1%}")


if __name__ == "__main__":
    main()
