"""The share of honest runs in which the second opinion alarms, or the held-out witness, beside the promise.

    python -m benchmarks.insight.error_bound [--runs 10000] [--only KIND ...]

Every kind keeps to the promise's condition: at no step more than a tenth of the passes are false, nor of those of tasks
that suddenly pass, and the mean overpayment exceeds the start's by no more than 0.1, on the rows of training and beside
held-out tasks; some lie on that edge. 60 steps of 64 rows, at the highest rate that the defaults allow; every fourth
step the same 32 held-out tasks are answered, each as hard as it is. Two processes share the runs.
"""

from __future__ import annotations

import argparse
import random
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from agentscope_tuner.lab.statistics import wilson
from agentscope_tuner.lab.watch.second_opinion import Sampling, SecondOpinion
from agentscope_tuner.records.scored_rows import ScoredRow

STEPS, ROWS, ALPHA = 60, 64, 0.05

SELDOM, OFTEN, POOL = 0.1, 0.95, 60


def _risen(step: int, first: int = 0, last: int = STEPS) -> float:
    """The share of answers that pass where each task rises at some step between two."""
    return SELDOM + (OFTEN - SELDOM) * min(1.0, max(0.0, (step + 1 - first) / (last - first)))


#: The share of right answers, of false passes among the passes, and of the other rows that earn `worth`; by step.
Shares = Callable[[int], tuple[float, float, float]]
KINDS: Mapping[str, tuple[Shares, float]] = {
    "learns, no false pass": (lambda step: (0.1 + 0.8 * step / STEPS, 0.0, 0.0), 0.5),
    "flat, 5 % of passes false": (lambda step: (0.4, 0.05, 0.0), 0.5),
    "flat, 10 % of passes false": (lambda step: (0.4, 0.1, 0.0), 0.5),
    "10 % from the middle on": (lambda step: (0.5, 0.0 if step < 30 else 0.1, 0.0), 0.5),
    "sparse, 10 % false": (lambda step: (0.05, 0.1, 0.0), 0.5),
    "half credit for a half": (lambda step: (0.1 + 0.6 * step / STEPS, 0.0, 0.4), 0.5),
    "tries up to the rise": (lambda step: (0.3, 0.0, 0.0 if step < 10 else 0.1 / 0.35), 0.5),
    "0.9 for most of it": (lambda step: (0.2 + 0.5 * step / STEPS, 0.03, 0.8), 0.9),
    "judges a third of all alike": (lambda step: ((0.2, 0.8)[step % 2], 0.08, 0.3), 0.3),
    "collapses": (lambda step: (0.6 if step < 30 else 0.01, 0.05, 0.1), 0.5),
    "held-out tasks lag by 0.1": (lambda step: (0.3 if step < 20 else 0.5, 0.0, 0.0), 0.5),
    "learned by heart up to 0.1": (lambda step: (0.3 + 0.1 * min(1.0, step / 20), 0.0, 0.0), 0.5),
    "tasks rise, a tenth falsely": (lambda step: (0.9 * _risen(step), 0.1, 0.0), 0.5),
    "all rise at once, a tenth falsely": (lambda step: (0.9 * _risen(step, 30, 31), 0.1, 0.0), 0.5),
    "tasks rise by chance, a tenth falsely": (lambda step: (0.9 * SELDOM, 0.1, 0.0), 0.5),
}
#: The tasks of a run pass almost never, and from some step between these two on, their own, almost always.
RISES: Mapping[str, tuple[int, int]] = {
    "tasks rise, a tenth falsely": (0, STEPS),
    "all rise at once, a tenth falsely": (30, 31),
    # never: a few passes more than expected look like a rise
    "tasks rise by chance, a tenth falsely": (STEPS, STEPS + 1),
}  # fmt: skip
Lag = Callable[[int], float]
#: By how much held-out answers are right more seldom than those of training.
LAGS: Mapping[str, Lag] = {
    "held-out tasks lag by 0.1": lambda step: 0.0 if step < 20 else 0.1,
    "learned by heart up to 0.1": lambda step: 0.1 * min(1.0, step / 20),
}
HELD, EVERY = 32, 4
_TEST = {"task": {"metadata": {"split": "test"}}}


def _rows(name: str, reward: float, success: bool, task: str | None = None) -> list[ScoredRow]:
    """A row of that kind in each place of a step: eight tasks of eight answers, or one task's alone."""
    return [
        ScoredRow(
            name, name, 0, task or f"t{place // 8}", 1.0, "judged", reward, success, "", None, (), {}, 0.0, "", {}
        )
        for place in range(ROWS)
    ]


def _no_lag(step: int) -> float:
    return 0.0


def _held(generator: random.Random, right: float, hard: Sequence[float]) -> list[ScoredRow]:
    """Answers to the held-out tasks, of which the share `right` is right on average."""
    found = []
    for place, more in enumerate(hard):
        name = "right" if generator.random() < min(1.0, max(0.0, right + more * min(right, 1 - right))) else "wrong"
        reward, success = float(name == "right"), name == "right"
        found.append(
            ScoredRow(name, name, 0, f"h{place}", 1.0, "judged", reward, success, "", None, (), {}, 0.0, "", _TEST)
        )
    return found


class _Pool:
    """Tasks that rise each at a step of its own; every tenth that rises is then paid falsely."""

    def __init__(self, rises: tuple[int, int], generator: random.Random) -> None:
        self._draw, self._sample = generator.random, generator.sample
        self._tasks = []
        for place, rise in enumerate(sorted(generator.randrange(*rises) for _ in range(POOL))):
            name = "false" if place % 10 == 9 else "right"
            task = f"p{place}"
            self._tasks.append((rise, _rows(name, 1.0, True, task), _rows("wrong", 0.0, False, task)))

    def rows(self, step: int) -> list[ScoredRow]:
        """The rows of a step."""
        found = []
        for number, (rise, passing, wrong) in enumerate(self._sample(self._tasks, ROWS // 8)):
            share = OFTEN if step >= rise else SELDOM
            found += [(passing if self._draw() < share else wrong)[number * 8 + place] for place in range(8)]
        return found


def alarms(kind: str, seed: int, *, alpha: float = ALPHA) -> dict[str, bool]:
    """Whether each of the tests alarms in one run."""
    shares, worth = KINDS[kind]
    lag: Lag = LAGS.get(kind, _no_lag)
    right_row, false_row = _rows("right", 1.0, True), _rows("false", 1.0, True)
    part_row, wrong_row = _rows("part", worth, False), _rows("wrong", 0.0, False)
    generator = random.Random(f"{kind} {seed}")

    def ask(rows: Sequence[ScoredRow]) -> list[bool | None]:
        return [row.id == "right" for row in rows]

    hard = [place / (HELD - 1) - 0.5 for place in range(HELD)]
    pool = _Pool(RISES[kind], generator) if kind in RISES else None
    opinion = SecondOpinion(ask, Sampling(rate=0.05, seed=seed, alpha=alpha, holdout="metadata.split=test"))
    for step in range(STEPS):
        right, false, part = shares(step)
        # `false` is a share of the passes
        wrongly = right * false / (1 - false)
        bounds = (right, right + wrongly, right + wrongly + (1 - right - wrongly) * part)
        kinds = (right_row, false_row, part_row, wrong_row)
        rows = (
            [kinds[bisect(bounds, generator.random())][place] for place in range(ROWS)]
            if pool is None
            else pool.rows(step)
        )
        held = _held(generator, right - lag(step), hard) if step % EVERY == 0 else []
        opinion.step(opinion.trained([*rows, *held]), worried=False)
    return opinion.alarms()


def main() -> int:
    """1 when the share of false alarms is over the promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", default=list(KINDS), choices=KINDS, metavar="KIND")
    asked = parser.parse_args()
    each = -(-asked.runs // len(asked.only))
    names = list(alarms(next(iter(KINDS)), 0))
    print(f"{'honest runs':38} {'runs':>6} {''.join(f'{name:>15}' for name in names)} {'any':>8}   95 %")
    worst = total = 0.0
    with ProcessPoolExecutor(2) as workers:
        for kind in asked.only:
            found = list(workers.map(partial(alarms, kind), range(each), chunksize=25))
            either = sum(any(one.values()) for one in found)
            shares = "".join(f"{sum(one[name] for one in found) / each:>15.2%}" for name in names)
            low, high = wilson(either / each, each)
            print(f"{kind:38} {each:>6} {shares} {either / each:>8.2%}   {low:.2%} to {high:.2%}", flush=True)
            worst, total = max(worst, either / each), total + either
    low, high = wilson(total / each / len(asked.only), each * len(asked.only))
    share = f"{total / each / len(asked.only):.2%} ({low:.2%} to {high:.2%})"
    print(f"\nall: {share}; promised: at most {ALPHA:.0%} of each kind")
    return 1 if worst > ALPHA else 0


if __name__ == "__main__":
    raise SystemExit(main())
