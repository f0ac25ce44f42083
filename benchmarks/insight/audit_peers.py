"""`make bench-audit`: `astuner audit` beside reward-doctor 0.2.0 and rewardprobe 0.1.0, on ten judges.

Five are reward-doctor's own reference verifiers, five are judges with a known hole. The two packages bring their cases,
ours are made of the tutorial's arithmetic tasks. Per judge: what each tool was paid for, by its own names. Runs in an
environment of its own, which has all three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentscope_tuner.lab.audit.run import attacked, scoreboard
from agentscope_tuner.lab.audit.subjects import subjects_of
from agentscope_tuner.records import read_lines
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

TASKS = "tutorial/example_math_agent/rollouts.jsonl"
OWN = ("SubstringJudge", "LengthJudge", "FormatJudge", "OverlapJudge", "FooledModelJudge")
PASS_AT = 0.5

#: reward-doctor's strategies of exploitation, and what the audit calls the same.
SAME: Mapping[str, tuple[str, ...]] = {
    "shotgun": ("hedge",),
    "negation": ("reference denied", "reference in prose"),
    "contradiction": ("reference denied", "reference in prose"),
    "empty": ("empty", "punctuation", "opener", "reference in prose"),
    "echo": ("question copied", "question's formula"),
    "padding": ("over-long", "near miss", "reference denied"),
    "judge_injection": ("injection",),
    "judge_bias": ("injection", "opener", "garbage", "over-long"),
    "format_farming": ("garbage", "near miss", "wrong type", "empty"),
    "distinction": ("near miss", "wrong type", "another row's answer"),
}


class DoctorsVerifier(BaseJudge):
    """One of reward-doctor's reference verifiers, named in `judge_kwargs`, as a judge."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        from reward_doctor import REFERENCE_VERIFIERS

        self._verify = REFERENCE_VERIFIERS[config["astuner"]["task_judge"]["judge_kwargs"]["verifier"]]

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        reference = str(workflow_task.task.metadata["answer"]).rpartition("####")[2].strip()
        reward = float(self._verify(workflow_output.metadata["final_answer"], reference))
        return reward, reward > 0


def judges() -> dict[str, ConfiguredJudge]:
    """The ten, by name."""
    from reward_doctor import REFERENCE_VERIFIERS

    def configured(protocol: str, **kwargs: str) -> ConfiguredJudge:
        return ConfiguredJudge({"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": kwargs}}})

    doctors = {
        name: configured("benchmarks.insight.audit_peers->DoctorsVerifier", verifier=name)
        for name in REFERENCE_VERIFIERS
    }
    modules = {"SubstringJudge": "tutorial.example_math_agent.lenient_judge"}
    own = {name: configured(f"{modules.get(name, 'benchmarks.insight.holed_judges')}->{name}") for name in OWN}
    return doctors | own


def reward_of(judge: ConfiguredJudge) -> Callable[[str, str, str], float]:
    """The judge as a function that both packages know how to call."""

    def reward(completion: str, reference: str, prompt: str = "") -> float:
        task = WorkflowTask(task=Task(main_query=prompt, metadata={"answer": reference}))
        return judge.reward_or_raise(judge.judge(task, WorkflowOutput(metadata={"final_answer": completion})))

    return reward


def ours(judge: ConfiguredJudge) -> tuple[list[str], list[str], list[str]]:
    """The attacks that were paid, the right variants refused, and the strategies that come near honest work."""
    with open(TASKS, "rb") as stream:
        subjects = subjects_of(read_lines(stream, TASKS), judge, ("answer",), 50)
    results = attacked(judge, subjects, PASS_AT)
    named = [[result.name for result in results if result.must == must and result.false] for must in ("fail", "pass")]
    return named[0], named[1], [result.name for result in scoreboard(judge, subjects) if result.alarming]


def doctors(judge: ConfiguredJudge) -> tuple[Counter[str], int]:
    """The strategies that reward-doctor was paid for with their cases, and how many right completions were refused."""
    from reward_doctor import audit

    found = audit(reward_of(judge), name=judge.name, threshold=PASS_AT - 1e-9)
    paid = Counter(str(outcome.case.attack or outcome.case.category) for outcome in found.false_positives)
    return paid, len(found.false_negatives)


def probes(judge: ConfiguredJudge) -> list[str]:
    """What rewardprobe calls critical."""
    from rewardprobe import Probe

    def reward(completion: str, answer: str) -> float:
        return reward_of(judge)(completion, answer, "")

    tasks = [{"question": f"What is {number} + {number}?", "answer": str(2 * number)} for number in range(11, 21)]
    report = Probe(num_tasks=10).test_fn(reward, tasks, name=judge.name)
    return sorted({str(finding.attack) for finding in report.findings if finding.severity.value == "critical"})


def missed(paid: Sequence[str], attacks: Sequence[str]) -> list[str]:
    """reward-doctor's holes that none of our attacks of the same kind found."""
    return [hole for hole in paid if not set(SAME.get(hole, ())) & set(attacks)]


def main() -> int:
    """1 when reward-doctor finds a kind of hole that the audit does not."""
    lost = 0
    for name, judge in judges().items():
        attacks, refused, near = ours(judge)
        paid, negatives = doctors(judge)
        print(f"\n{name}")
        print(f"  astuner audit   paid for {len(attacks)}: {', '.join(attacks) or 'nothing'}")
        print(f"                  refuses right answers: {', '.join(refused) or 'none'}")
        print(f"                  strategies near honest work: {', '.join(near) or 'none'}")
        cases = ", ".join(f"{hole} x{count}" for hole, count in paid.most_common())
        print(f"  reward-doctor   paid for {len(paid)}: {cases or 'nothing'}; refuses {negatives} right ones")
        found = probes(judge)
        print(f"  rewardprobe     critical {len(found)}: {', '.join(found) or 'nothing'}")
        gone = missed(list(paid), attacks)
        if gone:
            lost += len(gone)
            print(f"  not found by the audit: {', '.join(gone)}")
    print(f"\nholes of reward-doctor that the audit does not find: {lost}")
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
