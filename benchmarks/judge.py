"""How many verdicts a second one process gives: `make bench`.

Rates are of this machine in this run; each is the best of three passes, and a pass runs for at least a second.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import platform
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agentscope_tuner import Rollout, Task, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.records.blocks import read_rows
from agentscope_tuner.records.output import ScoredFile, scored_line
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.rules import compile_rules
from agentscope_tuner.verify import countdown
from agentscope_tuner.verify.find import last_boxed

ROOT = Path(__file__).parent.parent
COUNTDOWN = "agentscope_tuner.task_judge.countdown_answer_as_judge->CountdownAnswerAsJudge"
MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
EIGHT_RULES: list[dict[str, Any]] = [
    {"id": "tokens", "kind": "max_tokens", "max_tokens": 400},
    {"id": "chars", "kind": "max_chars", "max_chars": 4000},
    {"id": "empty", "kind": "non_empty"},
    {"id": "values", "kind": "allowed_values", "allowed_values": ["yes", "no"], "not": True},
    {"id": "words", "kind": "contains_any", "keywords": ["therefore", "answer", "boxed"]},
    {"id": "pattern", "kind": "regex_match", "pattern": r"\\boxed\{\d+\}"},
    {"id": "start", "kind": "starts_with", "prefix": "To find"},
    {"id": "end", "kind": "ends_with", "suffix": "."},
]
PROSE = "To find the total, add 12 eggs and 30 eggs, which makes 42 eggs (the answer, in dozens, is 3.5). "


def per_second(step: Callable[[], int], *, passes: int = 3, seconds: float = 1.0) -> float:
    """The best rate of `passes`, each calling `step` (which answers how much it did) for at least `seconds`."""
    best = 0.0
    for _ in range(passes):
        done, started = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - started) < seconds:
            done += step()
        best = max(best, done / elapsed)
    return best


def default_rollouts() -> Path:
    shared = Path(os.environ.get("ASTUNER_SHARED", ROOT.parent / "shared")) / "rollouts" / "gsm8k_tora70b.jsonl"
    return shared if shared.exists() else ROOT / "tutorial" / "example_math_agent" / "rollouts.jsonl"


def exact(rollout: Rollout) -> bool:
    answer = last_boxed(rollout.output.metadata["final_answer"])
    return answer is not None and answer == rollout.task.metadata["answer"]


def bench_math(path: Path, repeats: int) -> None:
    judge = load_judge({"astuner": {"task_judge": {"judge_protocol": MATH}}})
    lines = path.read_bytes()
    with path.open("rb") as stream:
        rollouts = [row.rollout for row in read_rows(stream, path.name) if row.rollout is not None]
    everything = [(WorkflowTask(task=rollout.task), rollout.output) for rollout in rollouts]
    matching = [pair for pair, rollout in zip(everything, rollouts, strict=True) if exact(rollout)]

    def compute(pairs: list[tuple[WorkflowTask, WorkflowOutput]]) -> int:
        for task, output in pairs:
            judge.compute_reward(task, output)
        return len(pairs)

    print(f"rollouts: {path.name}, {len(rollouts)} rows, {len(matching)} of them exact matches")
    print(f"compute_reward, exact matches    {per_second(lambda: compute(matching)):>12,.0f} rows/s")
    print(f"compute_reward, all rows         {per_second(lambda: compute(everything)):>12,.0f} rows/s")

    def file_to_file() -> int:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "rollouts.jsonl"
            source.write_bytes((lines if lines.endswith(b"\n") else lines + b"\n") * repeats)
            summary, started = Summary(), time.perf_counter()
            with source.open("rb") as stream, ScoredFile(Path(folder) / "scored.jsonl") as scored:
                for row in read_rows(stream, source.name):
                    assert row.rollout is not None
                    verdict = judge.judge(WorkflowTask(task=row.rollout.task), row.rollout.output)
                    scored.write(scored_line(row, verdict))
                    summary.add(verdict)
            return round(summary.rows / (time.perf_counter() - started))

    rate = max(file_to_file() for _ in range(3))
    print(f"file to file, rows x {repeats:<11} {rate:>12,} rows/s")


def bench_rules() -> None:
    rules = compile_rules(EIGHT_RULES)
    text = (PROSE * 20)[:985] + r" is \boxed{42}."
    assert rules.check(text) == ()

    def check() -> int:
        for _ in range(1000):
            rules.check(text)
        return 1000

    print(f"8 rules, {len(text)} characters       {per_second(check):>12,.0f} outputs/s")


def bench_countdown() -> None:
    cases = [(r"(25 - 1) \times 1", 24, [25, 1, 1]), ("4 + 6", 24, [4, 6]), ("I give up", 24, [4, 6])]

    def score() -> int:
        for _ in range(100):
            for equation, target, numbers in cases:
                countdown.score(equation, target, numbers)
        return 100 * len(cases)

    print(f"countdown, right/wrong/unreadable{per_second(score):>12,.0f} verdicts/s")


HOSTILE_COUNTDOWN = (
    "95**36**32",
    "9**9**9**9",
    "9" * 1_000_000,
    "(" * 5_000 + "1" + ")" * 5_000,
    "__import__('os').system('true')",
    "1/0",
    "7//2",
    "1.2",
    "1+1+2",
    "１+２",
)


def slowest_hostile() -> float:
    """The longest that the countdown judge takes over one hostile answer, in milliseconds of wall-clock time."""
    judge = load_judge({"astuner": {"task_judge": {"judge_protocol": COUNTDOWN}}})
    task = WorkflowTask(task=Task(task_id="hostile", metadata={"target": 3, "nums": [1, 2]}))
    slowest = 0.0
    for answer in HOSTILE_COUNTDOWN:
        output = WorkflowOutput(metadata={"final_answer": f"\\boxed{{{answer}}}"})
        started = time.perf_counter()
        judge.compute_reward(task, output)
        slowest = max(slowest, time.perf_counter() - started)
    return 1000 * slowest


async def slowest_hostile_inside_a_loop() -> float:
    """The same, called where an event loop is running."""
    return slowest_hostile()


def bench_hostile_countdown() -> None:
    with ThreadPoolExecutor(1) as threads:
        in_thread = threads.submit(slowest_hostile).result()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
        in_process = processes.submit(slowest_hostile).result()
    in_loop = asyncio.run(slowest_hostile_inside_a_loop())
    print(
        f"countdown, slowest of {len(HOSTILE_COUNTDOWN)} hostile answers: main thread {slowest_hostile():.1f} ms, "
        f"thread {in_thread:.1f} ms, running loop {in_loop:.1f} ms, spawned process {in_process:.1f} ms"
    )


def main() -> None:
    """Print every rate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rollouts", type=Path, default=default_rollouts())
    parser.add_argument("--repeats", type=int, default=50)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, one process")
    bench_math(options.rollouts, options.repeats)
    bench_rules()
    bench_countdown()
    bench_hostile_countdown()


if __name__ == "__main__":
    main()
