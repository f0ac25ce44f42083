"""Every verdict over the labelled cases and the recorded rollouts, one JSON line each, to compare before and after.

    python -m benchmarks.verdicts > before.jsonl
    python -m benchmarks.verdicts > after.jsonl
    diff before.jsonl after.jsonl

Only public names are used, so that the same file runs on both sides of a move. `--cases` adds a file of pairs with
the keys `gold` and `pred`, `--rollouts` a file of rollouts that the math judge reads.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_config, load_judge

ROOT = Path(__file__).parent.parent
Pair = tuple[str, WorkflowTask, WorkflowOutput]


def lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line of a JSONL file, with a name that finds it again."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            yield f"{path.name}:{number}", json.loads(line)


def pair(name: str, task: dict[str, Any], final_answer: str) -> Pair:
    """The task of one row and its answer, as a trainer would hand them on."""
    row = Task(main_query=task.get("main_query", ""), task_id=name, metadata=task["metadata"])
    return name, WorkflowTask(task=row, task_id=name), WorkflowOutput(metadata={"final_answer": final_answer})


def labelled(path: Path) -> Iterator[Pair]:
    """Pairs of a reference and a boxed answer."""
    for name, case in lines(path):
        reference, answer = case.get("reference", case.get("gold")), case.get("answer", case.get("pred"))
        yield pair(name, {"metadata": {"answer": reference}}, f"\\boxed{{{answer}}}")


def recorded(path: Path) -> Iterator[Pair]:
    """Rollouts with the whole text that a model wrote."""
    for name, row in lines(path):
        yield pair(name, row["task"], row["output"]["metadata"]["final_answer"])


def print_verdicts(judge: TaskJudge, pairs: Iterator[Pair]) -> None:
    """One line a verdict; seconds are left out: they differ from run to run."""
    for name, task, output in pairs:
        verdict = judge.judge(task, output)
        print(json.dumps([name, verdict.status, verdict.reward, verdict.is_success, verdict.violations]))


def main() -> None:
    """Judge the repository's files, and those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=Path, nargs="*", default=[])
    parser.add_argument("--rollouts", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    math = load_judge(load_config(ROOT / "configs" / "math.yaml"))
    for path in [*sorted(ROOT.glob("tests/**/math_*.jsonl")), *options.cases]:
        print_verdicts(math, labelled(path))
    for path in [ROOT / "tutorial" / "example_math_agent" / "rollouts.jsonl", *options.rollouts]:
        print_verdicts(math, recorded(path))
    countdown = load_judge(load_config(ROOT / "configs" / "countdown.yaml"))
    print_verdicts(countdown, recorded(ROOT / "tutorial" / "example_countdown" / "rollouts.jsonl"))


if __name__ == "__main__":
    main()
