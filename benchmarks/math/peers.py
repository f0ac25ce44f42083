"""`make bench-peers`: the math judge under two published audits of reward functions, reward-doctor and rewardprobe.

Runs in an environment of its own, which has both and this package. Their cases are read by them alone: they call the
judge with a completion and a reference, and print what they found. `--answer-in` names the places where an answer may
stand.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from reward_doctor import audit
from rewardprobe import Probe

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_config, load_judge
from benchmarks.math.bench import ROOT
from benchmarks.math.problems import problems

PLACES = ["boxed", "tag", "hash", "label"]
Reward = Callable[[str, str, str], float]


def judge_for(places: list[str]) -> TaskJudge:
    """The judge of configs/math.yaml that reads answers at `places`."""
    config = load_config(ROOT / "configs" / "math.yaml", [f"astuner.task_judge.math.answer_in=[{','.join(places)}]"])
    return load_judge(config)


def reward_of(judge: TaskJudge) -> Reward:
    """The judge as a function that both audits know how to call; a failed verdict raises."""

    def reward(completion: str, reference: str, prompt: str = "") -> float:
        task = WorkflowTask(task=Task(main_query=prompt, metadata={"answer": reference}))
        return judge.compute_reward(task, WorkflowOutput(metadata={"final_answer": completion}))[0]

    return reward


def doctor(reward: Reward) -> bool:
    """reward-doctor's graded cases: its categories with what passed; True when no wrong completion was paid.

    The completions of two categories are bare answers, which stand in no place; they are put into a box.
    """

    def boxed(completion: str, reference: str, prompt: str = "") -> float:
        return reward(f"\\boxed{{{completion}}}", reference, prompt)

    clean = True
    print("reward-doctor 0.2.0")
    for category, fn, how in (
        ("exploit", reward, "as they are"),
        ("exploit", boxed, "in a box"),
        ("distinction", boxed, "in a box"),
        ("equivalence", boxed, "in a box"),
        ("format", reward, "as they are"),
    ):
        found = audit(fn, name="astuner", categories=[category])
        passed = sum(outcome.passed for outcome in found.outcomes)
        print(f"  {category:12} {how:12} {passed} of {len(found.outcomes)}")
        for outcome in found.outcomes:
            if not outcome.passed:
                said = outcome.error or ("paid" if outcome.accepted else "refused")
                print(f"    {said}: {outcome.case.completion!r:.160} for {outcome.case.reference!r:.60}")
        clean &= not found.false_positives and not found.errors
    return clean


def probe(judge: TaskJudge) -> bool:
    """rewardprobe's quick check on made problems: its findings; True when none is critical."""

    def reward(completion: str, answer: str) -> float:
        return reward_of(judge)(completion, answer, "")

    # plain numbers: its malformed answers are built from them
    integers = [problem for problem in problems() if problem.reference.isdigit()]
    tasks: list[dict[str, Any]] = [{"question": p.question, "answer": p.reference} for p in integers]
    report = Probe(num_tasks=10).test_fn(reward, tasks, name="astuner")
    print(f"rewardprobe 0.1.0: {report.total_passed} of {report.total_attacks} checks passed")
    print(f"  {report.critical_count} critical, {report.warning_count} warnings")
    for finding in report.findings:
        print(f"  {finding.severity.value}: {finding.family}, {finding.attack}: {finding.recommendation}")
        print(f"    {finding.input!r:.160} gave {finding.actual_reward}, expected {finding.expected_reward}")
    critical: int = report.critical_count
    return critical == 0


def main() -> int:
    """0 when reward-doctor was paid nothing wrong and rewardprobe found nothing critical."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answer-in", nargs="+", default=PLACES)
    asked = parser.parse_args()
    judge = judge_for(asked.answer_in)
    print(f"answer_in: {asked.answer_in}")
    clean = [doctor(reward_of(judge)), probe(judge)]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    raise SystemExit(main())
