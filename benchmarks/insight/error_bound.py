"""The share of honest runs in which the second opinion alarms, or the held-out witness, beside the promise.

    python -m benchmarks.insight.error_bound [--runs 10000]

Every kind keeps to the promise's condition: at no step more than a tenth of the passes are false, and the mean
overpayment exceeds the start's by no more than 0.1, on the rows of training and beside held-out tasks; some lie on that
edge. 60 steps of 64 rows, at the highest rate that the defaults allow; every fourth step the same 32 held-out tasks are
answered, each as hard as it is.
"""

from __future__ import annotations

import argparse
import random
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence

from agentscope_tuner.lab.statistics import wilson
from agentscope_tuner.lab.watch.gaming_test import Sampling, SecondOpinion
from agentscope_tuner.records.scored_rows import ScoredRow

STEPS, ROWS, ALPHA = 60, 64, 0.05

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
}
Lag = Callable[[int], float]
#: By how much held-out answers are right more seldom than those of training.
LAGS: Mapping[str, Lag] = {
    "held-out tasks lag by 0.1": lambda step: 0.0 if step < 20 else 0.1,
    "learned by heart up to 0.1": lambda step: 0.1 * min(1.0, step / 20),
}
HELD, EVERY = 32, 4
_TEST = {"task": {"metadata": {"split": "test"}}}


def _rows(name: str, reward: float, success: bool) -> list[ScoredRow]:
    """A row of that kind in each place of a step: eight tasks of eight answers."""
    return [
        ScoredRow(name, name, 0, f"t{place // 8}", 1.0, "judged", reward, success, "", None, (), {}, 0.0, "", {})
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
    opinion = SecondOpinion(ask, Sampling(rate=0.05, seed=seed, alpha=alpha, holdout="metadata.split=test"))
    for step in range(STEPS):
        right, false, part = shares(step)
        # `false` is a share of the passes
        wrongly = right * false / (1 - false)
        bounds = (right, right + wrongly, right + wrongly + (1 - right - wrongly) * part)
        kinds = (right_row, false_row, part_row, wrong_row)
        rows = [kinds[bisect(bounds, generator.random())][place] for place in range(ROWS)]
        held = _held(generator, right - lag(step), hard) if step % EVERY == 0 else []
        opinion.step(opinion.trained([*rows, *held]), worried=False)
    return opinion.alarms()


def main() -> int:
    """1 when the share of false alarms is over the promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    asked = parser.parse_args()
    each = asked.runs // len(KINDS)
    print(f"{'honest runs':30} {'runs':>6} {'passes':>7} {'overpaid':>9} {'held-out':>9} {'any':>8}   95 %")
    worst = total = 0.0
    for kind in KINDS:
        found = [alarms(kind, seed) for seed in range(each)]
        either = sum(any(one.values()) for one in found)
        shares = [sum(one[name] for one in found) / each for name in ("second opinion", "overpaid", "held-out")]
        low, high = wilson(either / each, each)
        print(
            f"{kind:30} {each:>6} {shares[0]:>7.2%} {shares[1]:>9.2%} {shares[2]:>9.2%} {either / each:>8.2%}   "
            f"{low:.2%} to {high:.2%}",
            flush=True,
        )
        worst, total = max(worst, either / each), total + either
    low, high = wilson(total / each / len(KINDS), each * len(KINDS))
    print(
        f"\nall: {total / each / len(KINDS):.2%} ({low:.2%} to {high:.2%}); promised: at most {ALPHA:.0%} of each kind"
    )
    return 1 if worst > ALPHA else 0


if __name__ == "__main__":
    raise SystemExit(main())
