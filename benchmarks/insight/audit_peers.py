"""`make bench-audit`: `astuner audit` beside reward-doctor 0.2.0, rewardprobe 0.1.0 and falsepass 0.11.0.

First ten judges: five are reward-doctor's own reference verifiers, five have a known hole. reward-doctor and
rewardprobe bring their cases, ours are made of the tutorial's arithmetic tasks. Per judge: what each tool was paid for,
by its own names.

Then `planted_judges`, or with `--planted` these alone. Each tool is given the judge as a function, the tasks, the right
answers, and the form of an answer in the question. A hole is found where a wrong answer is paid 0.5 or more, under
whatever name. Each tool is asked about each judge in a process of its own, and given a time, here 120 s:

                holes found of 48  false claims of 24  could ask of 72
astuner                        47                   0               72
reward-doctor                  16                   0               48
rewardprobe                    17                   1               71
falsepass                      39                   1               63

The audit's attacks were written with most of these judges at hand, the peers' were not. falsepass cannot ask judges
that read JSON or calls of tools around the answer, for which it wants an adapter. Judges that run programs gave a
program 2 s then, too few on that busy machine: there the audit missed its hole, and three of the peers did not end.
reward-doctor has cases of mathematics alone. Runs in an environment of its own, which has all four.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from agentscope_tuner.lab.audit.plugin import audit_of
from agentscope_tuner.lab.audit.run import attacked, right_answers, scoreboard
from agentscope_tuner.lab.audit.subjects import FORMS, references_of, structured_answer, subjects_of
from agentscope_tuner.records.blocks import read_lines
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_least, at_most
from benchmarks.insight.planted_judges import PLANTED, planted_named, planted_reward, tasks_of

TASKS = "tutorial/example_math_agent/rollouts.jsonl"
OWN = ("SubstringJudge", "LengthJudge", "FormatJudge", "OverlapJudge", "FooledModelJudge")
PASS_AT = 0.5
# Seconds for a tool and a planted judge: usually it takes a few
DEADLINE = 300

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
    """reward-doctor's holes that none of our attacks and strategies of the same kind found."""
    return [hole for hole in paid if not set(SAME.get(hole, ())) & set(attacks)]


def _right_text(task: Mapping[str, Any]) -> str:
    """A right answer as text: what the peers write into the forms that they know."""
    meta = task["metadata"]
    kind, right = structured_answer(meta, ("answer",))
    return ", ".join(references_of(meta, ("answer",))) if kind == "text" else right or ""


def _peers_reward(kind: str, which: str | int, tasks: Sequence[Mapping[str, Any]]) -> Callable[[str, str], float]:
    """The judge as a function of a completion and a right text; texts of none of the tasks are references of sums.

    Where the judge breaks it pays nothing: an error is no claim that the judge can be fooled.
    """
    reward = planted_reward(kind, which)
    known = {_right_text(task): task["metadata"] for task in tasks}

    def asked(completion: str, answer: str) -> float:
        try:
            return reward(completion, known.get(answer, {"answer": answer}))
        except (KeyError, TypeError, ValueError):
            return 0.0

    return asked


def our_finds(kind: str, which: str | int, tasks: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """The attacks of ours that are paid; None where none is, and no right answer either."""
    found = audit_of(planted_named(kind, which), tasks)
    return list(found.holes) if found.holes or right_answers(found.results)[0] else None


def _questions(kind: str, which: str | int, tasks: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tasks' questions with the form in which the judge reads answers: the peers find it there, if anywhere."""
    form = FORMS[audit_of(planted_named(kind, which), tasks).form].replace("%s", "...")
    return [f"{task['main_query']} Answer in this form:\n{form}" for task in tasks]


def doctor_finds(kind: str, which: str | int, tasks: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """reward-doctor's cases that are paid; None for answers other than text, of which it has no cases."""
    from reward_doctor import audit

    if structured_answer(tasks[0]["metadata"], ("answer",))[0] != "text":
        return None
    asked = _peers_reward(kind, which, tasks)

    def reward(completion: str, reference: str) -> float:
        return asked(completion, reference)

    found = audit(reward, name=f"{kind} {which}", threshold=PASS_AT - 1e-9)
    return sorted({str(outcome.case.attack or outcome.case.category) for outcome in found.false_positives})


def probe_finds(kind: str, which: str | int, tasks: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """What rewardprobe calls critical."""
    from rewardprobe import Probe

    asked = _peers_reward(kind, which, tasks)

    def reward(completion: str, answer: str) -> float:
        return asked(completion, answer)

    questions = _questions(kind, which, tasks)
    given = [{"question": said, "answer": _right_text(task)} for said, task in zip(questions, tasks, strict=True)]
    report = Probe(num_tasks=len(given)).test_fn(reward, given, name=f"{kind} {which}")
    return sorted({str(finding.attack) for finding in report.findings if finding.severity.value == "critical"})


_FALSEPASS_REWARD = """from benchmarks.insight.audit_peers import _peers_reward
from benchmarks.insight.planted_judges import tasks_of

_asked = _peers_reward({kind!r}, {which!r}, tasks_of({kind!r}))


def planted(completions, answer, **columns):
    return [_asked(completion, right) for completion, right in zip(completions, answer)]
"""


def falsepass_finds(kind: str, which: str | int, tasks: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """falsepass's probes that are paid PASS_AT or more; None where it finds no form in which a right answer is paid."""
    from falsepass import runner

    here = Path.cwd()
    with TemporaryDirectory() as folder, redirect_stderr(StringIO()):
        (audit := Path(folder, "audit")).mkdir()
        Path(folder, "rewards.py").write_text(_FALSEPASS_REWARD.format(kind=kind, which=which), encoding="utf-8")
        asked = zip(_questions(kind, which, tasks), tasks, strict=True)
        rows = [json.dumps({"prompt": said, "answer": _right_text(task)}) for said, task in asked]
        Path(folder, "rows.jsonl").write_text("\n".join(rows), encoding="utf-8")
        named = {"id": "local/planted", "framework": "reward", "task": f"{folder}/rewards.py"}
        named |= {"dataset": f"{folder}/rows.jsonl", "answer_column": "answer"}
        lines = [f"{key} = {json.dumps(value)}" for key, value in named.items()]
        (audit / "env.toml").write_text("\n".join(["[env]", *lines, 'functions = ["planted"]']), encoding="utf-8")
        try:
            results = runner.run(audit, n=len(tasks))["results"]
        # It says so by whatever its reader raises
        except RuntimeError:
            return None
        finally:
            os.chdir(here)
    paid = (row for row in results if row["expected"] in ("zero", "below_reference") and not row["passed"])
    return sorted({row["name"] for row in paid if (row["score"] or 0.0) >= PASS_AT and not row["same_as_good"]})


AUDITORS = {
    "astuner": our_finds, "reward-doctor": doctor_finds, "rewardprobe": probe_finds, "falsepass": falsepass_finds,
}  # fmt: skip


def _asked_apart(name: str, kind: str, which: str | int) -> list[str] | str:
    """What a tool finds in a planted judge, or why it cannot be asked; in a process of its own, within DEADLINE."""
    program = [sys.executable, "-m", __spec__.name, "--ask", name, kind, json.dumps(which)]
    # A file, because a process that the tool leaves behind would hold a pipe open
    with TemporaryFile("w+") as said:
        process = subprocess.Popen(program, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            return f"no end in {DEADLINE} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        lines = said.read().splitlines() or ["nothing is said"]
    if process.returncode:
        return f"cannot ask it: {lines[-1]}"
    found: list[str] | None = json.loads(lines[-1])
    return "cannot ask it" if found is None else found


def planted() -> int:
    """1 when the audit misses a planted hole, or claims one of a sound judge."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in AUDITORS}
    for kind, which, holed in PLANTED:
        print(f"\n{kind}: {which}" + ("" if holed else " (sound)"))
        for name in AUDITORS:
            found = _asked_apart(name, kind, which)
            counts[name]["asked"] += isinstance(found, list)
            counts[name]["found" if holed else "claimed"] += bool(found) and isinstance(found, list)
            print(f"  {name:14}", ", ".join(found) or "nothing" if isinstance(found, list) else found, flush=True)
    holes = sum(holed for _, _, holed in PLANTED)
    sound = len(PLANTED) - holes
    print(f"\n{'':14}  holes found of {holes}  false claims of {sound}  could ask of {len(PLANTED)}")
    for name, count in counts.items():
        print(f"{name:14}  {count['found']:17}  {count['claimed']:18}  {count['asked']:15}")
    ours = counts["astuner"]
    complete = at_least("astuner audit, planted holes found", ours["found"] / holes * 100, 100, "%")
    return int(not at_most("astuner audit, sound judges accused", ours["claimed"], 0, "judges") or not complete)


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
        gone = missed(list(paid), [*attacks, *near])
        if gone:
            lost += len(gone)
            print(f"  not found by the audit: {', '.join(gone)}")
    print(f"\nholes of reward-doctor that the audit does not find: {lost}")
    return max(planted(), int(lost > 0))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        tool, judge_kind, judge_which = sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
        print(json.dumps(AUDITORS[tool](judge_kind, judge_which, tasks_of(judge_kind))))
    else:
        raise SystemExit(planted() if sys.argv[1:] == ["--planted"] else main())
