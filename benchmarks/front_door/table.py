"""`make bench-front-door`: six situations, common reward code beside astuner, as a table for the README.

Common reward code is Math-Verify or a judge model called in a `try` whose `except` returns 0.0, in a process of its own
that is ended after `LIMIT` seconds.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.task_judge.contract.judgement import Judgement
from benchmarks.bars import at_least

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venvs" / "math-verify" / "bin" / "python"
LIMIT = 60
MATH = ROOT / "configs" / "math.yaml"
TOWER = r"\boxed{9^{9^{9^{9^{9}}}}}"
COPIED = (r"Evaluate $\sqrt{16}+\sqrt{81}$.", r"\boxed{\sqrt{16}+\sqrt{81}}", "13")


def closed_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def llm(port: int) -> TaskJudge:
    """A judge model at an endpoint that is down, asked for five seconds."""
    section = {"model_name": "m", "base_url": f"http://127.0.0.1:{port}/v1", "api_key": "none"}
    prompt = "Rate {response} from 1 to 5."
    reads = {"response": "output.metadata.final_answer"}
    model = {**section, "prompt": prompt, "reads": reads, "scale": {"min": 1, "max": 5}}
    return load_judge({"astuner": {"task_judge": {"judge_type": "llm", "deadline": 5, "llm": model}}})


def ours(judge: TaskJudge, answer: str, reference: Any, question: str = "") -> tuple[Judgement, float]:
    task = WorkflowTask(task=Task(task_id="t", main_query=question, metadata={"answer": reference}))
    started = time.perf_counter()
    judgement = judge.judge(task, WorkflowOutput(metadata={"final_answer": answer}))
    return judgement, time.perf_counter() - started


def ours_in_a_thread(judge: TaskJudge, answer: str, reference: Any) -> tuple[Judgement, float]:
    return asyncio.run(asyncio.to_thread(ours, judge, answer, reference))


def common(kind: str, **case: Any) -> str:
    """What the other code says, or that it had to be ended."""
    asked = json.dumps({"kind": kind, **case})
    try:
        done = subprocess.run([str(PYTHON), str(ROOT / "benchmarks/front_door/common.py")], input=asked, text=True,
                              capture_output=True, timeout=LIMIT, check=True)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"hung: killed after {LIMIT} s"
    found = json.loads(done.stdout)
    if kind == "rows":
        return f"{len(case['rows']) / found['seconds']:,.0f}"
    return f"{found['reward']} after {found['seconds']:.1f} s"


def said(verdict: tuple[Judgement, float]) -> str:
    judgement, seconds = verdict
    reward = f"no verdict: {judgement.cause}" if judgement.reward is None else str(judgement.reward)
    return f"{reward} after {seconds:.1f} s"


def rows() -> list[tuple[str, Any]]:
    path = ROOT / "agentscope_tuner" / "lab" / "demo_rollouts" / "math.jsonl"
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(row["output"]["metadata"]["final_answer"], row["task"]["metadata"]["answer"]) for row in found]


def rate(judge: TaskJudge) -> str:
    answers = rows()
    started = time.perf_counter()
    for answer, reference in answers:
        ours(judge, answer, reference)
    return f"{len(answers) / (time.perf_counter() - started):,.0f}"


def table(judge: TaskJudge) -> list[tuple[str, Callable[[], str], Callable[[], str]]]:
    """Each situation, what common code makes of it, what astuner does."""
    port = closed_port()
    question, copy, value = COPIED
    nan = float("nan")
    return [
        ("a power tower as the answer, `9^9^9^9^9`, judged off the main thread",
         lambda: common("unlimited", answer=TOWER, reference="42"),
         lambda: said(ours_in_a_thread(judge, TOWER, "42"))),
        ("a right answer, judged off the main thread", lambda: common("thread", answer=r"\boxed{1.5}", reference="3/2"),
         lambda: said(ours_in_a_thread(judge, r"\boxed{1.5}", "3/2"))),
        ("the judge model's endpoint is down",
         lambda: common("llm", answer="Paris", reference="Paris", url=f"http://127.0.0.1:{port}/v1"),
         lambda: said(ours(llm(port), "Paris", "Paris"))),
        ("a cheat: the question's own formula, copied into the box without calculating it",
         lambda: common("math", answer=copy, reference=value),
         lambda: said(ours(judge, copy, value, question))),
        ("the reference is NaN, a missing cell", lambda: common("math", answer=r"\boxed{42}", reference="nan"),
         lambda: said(ours(judge, r"\boxed{42}", nan))),
        ("verdicts a second, one process, the recorded answers of the demo", lambda: common("rows", rows=rows()),
         lambda: rate(judge)),
    ]  # fmt: skip


def main() -> None:
    if not PYTHON.exists():
        raise SystemExit("run `make bench-front-door`: it installs what astuner is compared with")
    judge = load_judge(MATH)
    # the worker process starts with the first formula: that is no part of any row
    ours(judge, r"\boxed{x+1}", "x+2")
    print("| | typical reward code | astuner |\n| --- | --- | --- |")
    for situation, theirs, own in table(judge):
        cells = theirs(), own()
        print(f"| {situation} | {cells[0]} | {cells[1]} |", flush=True)
    # the last row has rates
    common_rate, own_rate = (float(cell.replace(",", "")) for cell in cells)
    at_least("the demo's answers, beside common reward code with Math-Verify", own_rate / common_rate, 5)


if __name__ == "__main__":
    main()
