"""`make bench-math`: the math judge beside Math-Verify 0.9.0: accuracy, speed and hostile answers, in one run."""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agentscope_tuner import JudgeError, Task, WorkflowOutput, WorkflowTask, load_config, load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge
from agentscope_tuner.verify.find import last_boxed
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.tokens import Unreadable
from agentscope_tuner.verify.math.unwrap import bare, read_reference
from agentscope_tuner.verify.math.unwrap import reference as reference_of
from agentscope_tuner.verify.math.verdict import WORKER_STAGES, _kept_verdict
from benchmarks.bars import at_least, at_most
from benchmarks.math import hostile
from benchmarks.math.workload import solutions

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("ASTUNER_SHARED", ROOT.parent / "shared"))
RIVAL = ROOT / ".venvs" / "math-verify" / "bin" / "python"
HANG_SECONDS = 5.0
# What both have judged before the clock. Cube roots are a worker's, which is started by it
OTHERS = [("\\boxed{2\\sqrt[3]{2}}", "\\sqrt[3]{16}"), *((s.output, s.reference) for s in solutions(200, seed=5))]


def forget() -> None:
    """Leave nothing of what was judged before: verdicts are kept, and a part of a run must not have another's."""
    for kept in (_kept_verdict, read_reference, reference_of):
        kept.cache_clear()


class Timed:
    """Verdicts (None: an abstention), the seconds each took, and the CPU time of all."""

    def __init__(
        self, verdicts: Sequence[bool | None], seconds: Sequence[float], wall: float, cpu: float, in_worker: int = 0
    ) -> None:
        self.verdicts, self.seconds, self.wall = verdicts, seconds, wall
        # of the judging process; what a worker of ours used is not in it, so these rows are counted
        self.cpu, self.in_worker = cpu, in_worker

    def right(self, expected: Sequence[bool]) -> int:
        return sum(v == e for v, e in zip(self.verdicts, expected, strict=True))

    def line(self, name: str, expected: Sequence[bool]) -> str:
        right = self.right(expected)
        false_passes = sum(v is True and not e for v, e in zip(self.verdicts, expected, strict=True))
        return f"  {name:18} {right}/{len(expected)} right ({right / len(expected):.2%}), {false_passes} false passes"

    def speed(self, name: str) -> str:
        ordered = sorted(self.seconds)
        p99 = ordered[int(len(ordered) * 0.99)]
        rate = len(ordered) / self.wall
        median = f"median {statistics.median(ordered) * 1e3:.3f} ms, p99 {p99 * 1e3:.2f} ms"
        return f"  {name:18} {rate:,.0f}/s, {median}; {self.cpu:.2f} s of CPU, {self.in_worker} rows in a worker"


def judge_pairs(
    pairs: Sequence[tuple[str, str]], workers: int = 1, threads: int = 1, questions: Sequence[str] | None = None
) -> Timed:
    """Through the config-loaded judge; `questions`: one a pair, empty where none is known.

    It has judged others before the clock, as it has in a run of days: patterns are compiled where one is first used.
    """
    config = load_config({"astuner": {"task_judge": {"math": {"workers": workers}}}})
    judge = MathAnswerAsJudge(config)
    items = [
        (
            WorkflowTask(task=Task(main_query=question, metadata={"answer": reference})),
            WorkflowOutput(metadata={"final_answer": output}),
        )
        for (output, reference), question in zip(pairs, questions or [""] * len(pairs), strict=True)
    ]
    for output, reference in OTHERS:
        others = WorkflowTask(task=Task(metadata={"answer": reference}))
        judge.compute_reward(others, WorkflowOutput(metadata={"final_answer": output}))
    forget()

    def one(item: tuple[WorkflowTask, WorkflowOutput]) -> tuple[bool | None, float, bool]:
        started = time.perf_counter()
        try:
            reward = judge.compute_reward(*item)
        except JudgeError:
            return None, time.perf_counter() - started, False
        return reward[1], time.perf_counter() - started, reward.reason.partition(":")[0] in WORKER_STAGES

    started, cpu = time.perf_counter(), time.process_time()
    if threads == 1:
        found = [one(item) for item in items]
    else:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(one, items, chunksize=16))
    wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    return Timed([v for v, *_ in found], [s for _, s, _ in found], wall, cpu, sum(w for *_, w in found))


def rival_pairs(pairs: Sequence[tuple[str, str]], *options: str) -> Timed:
    """Through Math-Verify (`--parse`: its parser alone) in one process of its own, started anew when it hangs. It, too,
    has judged others before the clock.
    """
    others = [] if options else OTHERS
    pairs = [*others, *pairs]
    verdicts: list[bool | None] = []
    seconds: list[float] = []
    cpus: list[float] = []
    while len(verdicts) < len(pairs):
        _rival_run(pairs[len(verdicts) :], verdicts, seconds, cpus, options)
    skipped = len(others)
    return Timed(verdicts[skipped:], seconds[skipped:], sum(seconds[skipped:]), sum(cpus[skipped:]))


def _rival_run(
    pairs: Sequence[tuple[str, str]],
    verdicts: list[bool | None],
    seconds: list[float],
    cpus: list[float],
    options: Sequence[str],
) -> None:
    process = subprocess.Popen(
        [str(RIVAL), str(Path(__file__).with_name("rival.py")), *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    with ThreadPoolExecutor(1) as reader:
        for output, reference in pairs:
            process.stdin.write(json.dumps({"answer": output, "reference": reference}) + "\n")
            process.stdin.flush()
            try:
                line = reader.submit(process.stdout.readline).result(HANG_SECONDS * 4 if not verdicts else HANG_SECONDS)
                reply: dict[str, Any] = json.loads(line)
            except (TimeoutError, json.JSONDecodeError):
                # it hung, or died
                verdicts.append(None)
                seconds.append(HANG_SECONDS)
                process.kill()
                break
            verdicts.append(reply["verdict"])
            seconds.append(reply["seconds"])
            cpus.append(reply["cpu"])
    process.stdin.close()
    process.wait()
    process.stdout.close()


def labelled() -> None:
    path = SHARED / "cases" / "math_dev.jsonl"
    own = sorted((ROOT / "tests" / "cases").glob("math_*.jsonl"))
    rows = [json.loads(line) for p in own for line in p.read_text(encoding="utf-8").splitlines()]
    own_cases = [(f"\\boxed{{{r['answer']}}}", r["reference"], r.get("question") or "", r["equal"]) for r in rows]
    sets = [("our own cases", own_cases)]
    if path.exists():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        pairs = [
            (r["pred"] if r["form"] == "response" else f"\\boxed{{{r['pred']}}}", r["gold"], "", r["expected"])
            for r in rows
        ]
        sets.append(("math_dev.jsonl", pairs))
    for name, cases in sets:
        print(f"{name}: {len(cases)} labelled pairs")
        expected = [right for *_, right in cases]
        asked = [(output, reference) for output, reference, *_ in cases]
        # what copies its question is wrong, so that some of our cases are labelled with the question in mind
        ours = judge_pairs(asked, questions=[question for _, _, question, _ in cases])
        print(ours.line("astuner", expected))
        if RIVAL.exists():
            print(rival_pairs(asked).line("math-verify", expected))


def parsers() -> None:
    """Our parser beside latex2sympy2-extended on every reference and answer that is labelled here."""
    path = SHARED / "cases" / "math_dev.jsonl"
    if not path.exists():
        return
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = sorted({bare(text) for r in rows if r["form"] == "answer" for text in (r["gold"], r["pred"])} - {""})
    print(f"parsers: {len(texts)} texts of math_dev.jsonl")
    seconds, parsed = [], 0
    for text in texts:
        started = time.perf_counter()
        try:
            parse(text)
            parsed += 1
        except Unreadable:
            pass
        seconds.append(time.perf_counter() - started)
    print(f"  astuner            {parsed}/{len(texts)} read, median {statistics.median(seconds) * 1e3:.3f} ms")
    if RIVAL.exists():
        theirs = rival_pairs([("", text) for text in texts], "--parse")
        read = sum(v is True for v in theirs.verdicts)
        median = statistics.median(theirs.seconds)
        print(f"  latex2sympy2       {read}/{len(texts)} read, median {median * 1e3:.3f} ms")


def groups() -> None:
    path = SHARED / "rollouts" / "math_groups.jsonl"
    if not path.exists():
        return
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [(r["output"]["metadata"]["final_answer"], r["task"]["metadata"]["answer"]) for r in rows]
    print(f"math_groups.jsonl: {len(rows)} real outputs")
    print(judge_pairs(pairs).line("astuner", [r["label"]["is_success"] for r in rows]))


_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_PASSES = 15


def numbers() -> None:
    """CPU time of the commonest verdicts: a plain number in the box of a real solution, right, and wrong by one."""
    recorded = SHARED / "rollouts"
    folder = recorded if recorded.exists() else ROOT / "tutorial" / "example_math_agent"
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for line in lines if "output" in (row := json.loads(line))]
    given = [
        (r["task"]["main_query"], r["task"]["metadata"]["answer"], r["output"]["metadata"]["final_answer"])
        for r in rows
    ]
    exact = [row for row in given if _NUMBER.fullmatch(row[1]) and last_boxed(row[2]) == row[1]]
    off = [(question, str(int(float(number)) + 1), output) for question, number, output in exact]
    print(
        f"plain numbers: {len(exact)} real solutions of {folder.name}, judged with their questions, best of {_PASSES}"
    )
    judge = load_judge(load_config({"astuner": {"task_judge": {"judge": "math"}}}))
    for name, chosen in (("right", exact), ("wrong", off)):
        items = [
            (
                WorkflowTask(task=Task(main_query=question, metadata={"answer": reference})),
                WorkflowOutput(metadata={"final_answer": output}),
            )
            for question, reference, output in chosen
        ]
        at_most(
            f"a plain number that is {name}, in process", 1e6 * _least_cpu(judge, items) / len(items), 12, "µs of CPU"
        )


def _least_cpu(judge: TaskJudge, items: Sequence[tuple[WorkflowTask, WorkflowOutput]]) -> float:
    """The CPU seconds of rows, each in the fastest of some passes, because other processes slow some of them down."""
    least = [float("inf")] * len(items)
    for _ in range(_PASSES):
        _kept_verdict.cache_clear()
        for at, item in enumerate(items):
            started = time.thread_time()
            judge.compute_reward(*item)
            least[at] = min(least[at], time.thread_time() - started)
    return sum(least)


def long_solutions() -> None:
    """Made solutions with 1,100 to 6,200 characters before the box, beside Math-Verify."""
    pairs = [(s.output, s.reference) for s in solutions() if 1_100 <= s.output.rindex("\\boxed") <= 6_200]
    ours = judge_pairs(pairs)
    print(f"long solutions: {len(pairs)} made ones, with 1,100 to 6,200 characters before the box")
    print(ours.speed("astuner"))
    if RIVAL.exists():
        theirs = rival_pairs(pairs)
        print(theirs.speed("math-verify"))
        at_least("long solutions, beside Math-Verify, by CPU", theirs.cpu / ours.cpu, 45)


def throughput() -> None:
    made = solutions()
    pairs = [(s.output, s.reference) for s in made]
    expected = [s.right for s in made]
    counts = dict(Counter(s.kind for s in made))
    repeated = len(pairs) - len({(last_boxed(output), reference) for output, reference in pairs})
    print(
        f"workload: {len(made)} made solutions, {counts}, {repeated} with the box and the reference of an earlier one"
    )
    ours = judge_pairs(pairs)
    print(ours.line("astuner", expected))
    print(ours.speed("astuner"))
    if RIVAL.exists():
        theirs = rival_pairs(pairs)
        print(theirs.line("math-verify", expected))
        print(theirs.speed("math-verify"))
        print(f"  ratio              {theirs.wall / ours.wall:.0f}x; by CPU {theirs.cpu / ours.cpu:.0f}x")
        at_least("2,000 made solutions, beside Math-Verify, by CPU", theirs.cpu / ours.cpu, 70)
        at_least(
            "2,000 made solutions, right of them beside Math-Verify", ours.right(expected) / theirs.right(expected), 1
        )
    roots = [(k, n) for k in range(2, 42) for n in range(2, 27)]
    hard = [(f"\\boxed{{\\sqrt[3]{{{k**3 * n}}}}}", f"{k}\\sqrt[3]{{{n}}}") for k, n in roots]
    for workers in (1, 2, 4):
        timed = judge_pairs(hard, workers=workers, threads=workers * 2)
        rate = len(hard) / timed.wall
        print(f"  {workers} workers, {workers * 2} threads, cube roots, which a worker compares: {rate:,.0f}/s")


def hostile_answers() -> None:
    cases = hostile.outputs()
    print(f"hostile: {len(cases)} outputs, none of them right")
    result = hostile.judge_all("main thread")
    counts = (
        f"{len(result.wrong)} wrong, {len(result.late)} over 1 s of CPU, slowest {result.slowest_cpu_seconds:.3f} s"
    )
    print(f"  astuner            {counts}")
    for problem in result.wrong + result.late:
        print(f"    {problem}")
    if RIVAL.exists():
        theirs = rival_pairs([(case.output, case.reference) for case in cases])
        hung = sum(s >= HANG_SECONDS for s in theirs.seconds)
        slow = sum(1 <= s < HANG_SECONDS for s in theirs.seconds)
        print(f"  math-verify        {sum(v is True for v in theirs.verdicts)} paid, {hung} over 5 s, {slow} over 1 s")


PARTS = {
    "labelled": labelled,
    "parsers": parsers,
    "groups": groups,
    "numbers": numbers,
    "long": long_solutions,
    "throughput": throughput,
    "hostile": hostile_answers,
}


def main(names: Sequence[str]) -> None:
    """Every part, or those named."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    if not RIVAL.exists():
        print(f"math-verify is not installed in {RIVAL.parents[1]}: its lines are left out")
    for name in names or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
