"""What combining costs: a judge of three cheap parts beside the three one after the other: `make bench-combined`.

Both are measured in turn, in CPU time, so that other work on the machine meets both alike. The ratio is the parts'
times added up over the combined judge's: 1.0 would be a combined judge that costs nothing itself. Exit code 1 below 0.8
for the judges of `configs/combined.yaml`.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.config import resolve
from agentscope_tuner.records.blocks import read_rows
from benchmarks.bars import at_least

ROOT = Path(__file__).parent.parent
LEAST = 0.8
_ROUNDS, _WARM_UPS = 15, 3

Pair = tuple[WorkflowTask, WorkflowOutput]


def seconds_of(judges: Sequence[TaskJudge], pairs: Sequence[Pair]) -> float:
    """Each row by each judge, as a sum written by hand would ask them."""
    started = time.process_time()
    for task, output in pairs:
        for judge in judges:
            judge.compute_reward(task, output)
    return time.process_time() - started


def ratio_of(parts: dict[str, Any], pairs: Sequence[Pair], settings: dict[str, Any]) -> tuple[float, float]:
    """The median ratio, and the rows a second of the combined judge."""
    combined = load_judge({"astuner": {"task_judge": {"judge_type": "combined", "parts": parts, **settings}}})
    alone = [
        load_judge({"astuner": {"task_judge": {key: value for key, value in part.items() if key not in _OF_PARTS}}})
        for part in parts.values()
    ]
    ratios, rates = [], []
    for number in range(_ROUNDS + _WARM_UPS):
        added, together = seconds_of(alone, pairs), seconds_of([combined], pairs)
        if number >= _WARM_UPS:
            ratios.append(added / together)
            rates.append(len(pairs) / together)
    return statistics.median(ratios), statistics.median(rates)


_OF_PARTS = ("weight", "when", "optional")


def tutorial_pairs(times: int) -> list[Pair]:
    path = ROOT / "tutorial/example_math_agent/rollouts.jsonl"
    with path.open("rb") as stream:
        rows = [row.rollout for row in read_rows(stream, path.name) if row.rollout is not None]
    return [(WorkflowTask(task=row.task), row.output) for row in rows if row.output.metadata["final_answer"]] * times


def report(name: str, ratio: Callable[[], tuple[float, float]]) -> float:
    before = threading.active_count()
    found, rate = ratio()
    print(
        f"{name:<46}{found:6.2f} of the parts' rate {rate:>10,.0f} rows/s, {threading.active_count() - before} threads"
    )
    return found


def main() -> int:
    section = resolve(ROOT / "configs/combined.yaml").task_judge
    parts = {name: {**part.model_dump(exclude_defaults=True), "when": None} for name, part in section.parts.items()}
    pairs = tutorial_pairs(2)
    found = report("configs/combined.yaml, every part asked", lambda: ratio_of(parts, pairs, {"success": "correct"}))
    length = {
        "judge_protocol": "agentscope_tuner.task_judge.length_judge->LengthJudge",
        "judge_kwargs": {"unit": "chars", "soft": 100, "hard": 200},
    }
    short = [(WorkflowTask(task=Task(task_id="t")), WorkflowOutput(metadata={"final_answer": "x" * 120}))] * 500
    report("three judges that only count characters", lambda: ratio_of(dict.fromkeys("abc", length), short, {}))
    return 0 if at_least("a combined judge, beside its parts one after the other", found, LEAST) else 1


if __name__ == "__main__":
    sys.exit(main())
