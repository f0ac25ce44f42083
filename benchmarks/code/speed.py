"""Answers a second on this machine's cores, for ten tests that compute 10 ms each, beside verl's `prime_code`.

Both judge the same answers in turns, so that a busy machine slows both: the ratio is what counts. The tests alone take
100 ms of CPU an answer, which bounds every grader; the CPU of each says how near it is. verl's function is taken from
its package where that is installed (`pip install --no-deps verl`; it needs numpy and nothing else of verl).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agentscope_tuner import load_judge
from agentscope_tuner._jail.process_tree import usage
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_least

_TESTS = 10
# Under a limit on CPU time the clock of the process moves by ticks of 4 ms: with it, our tests would compute 12 ms
_WORK = "    end = time.thread_time() + 0.01\n    while time.thread_time() < end: pass\n"
_PROGRAM = f"import time\ndef double(n):\n{_WORK}    return 2 * n\n"
_SCRIPT = f"{_PROGRAM}print(double(int(input())))\n"
_FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "stdin": (
        _SCRIPT,
        {"inputs": [f"{n}\n" for n in range(_TESTS)], "outputs": [f"{2 * n}\n" for n in range(_TESTS)]},
    ),
    "call": (
        _PROGRAM,
        {
            "fn_name": "double",
            "inputs": [f"{n}" for n in range(_TESTS)],
            "outputs": [f"{2 * n}" for n in range(_TESTS)],
        },
    ),
}


def prime_code() -> Callable[..., Any] | None:
    """verl's function, without the rest of verl, which imports a trainer; None where verl is not installed."""
    found = importlib.util.find_spec("verl")
    if found is None or not found.submodule_search_locations:
        return None
    if "prime_code" in sys.modules:
        score: Callable[..., Any] = sys.modules["prime_code"].compute_score
        return score
    file = Path(found.submodule_search_locations[0], "utils", "reward_score", "prime_code", "__init__.py")
    spec = importlib.util.spec_from_file_location("prime_code", file, submodule_search_locations=[str(file.parent)])
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["prime_code"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return prime_code()


def _by_verl(program: str, tests: dict[str, Any]) -> bool:
    score = prime_code()
    assert score is not None
    return bool(score(f"```python\n{program}\n```", tests)[0])


def _seconds(pool: Executor, judge: Callable[[str, dict[str, Any]], bool], form: str, answers: int) -> float:
    """Seconds for so many answers."""
    begun = time.monotonic()
    passed = [one.result() for one in [pool.submit(judge, *_FORMS[form]) for _ in range(answers)]]
    assert all(passed), f"{passed.count(False)} of {answers} right answers are refused"
    return time.monotonic() - begun


def main() -> None:
    """Judge in turns, and print answers a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=40)
    parser.add_argument("--turns", type=int, default=5)
    asked = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    ours = load_judge({"astuner": {"task_judge": {"judge": "code"}}})

    def by_us(program: str, tests: dict[str, Any]) -> bool:
        task = WorkflowTask(task=Task(metadata={"tests": tests}))
        return bool(ours.judge(task, WorkflowOutput(metadata={"final_answer": f"```python\n{program}\n```"})).reward)

    if prime_code() is None:
        print("verl is not installed: pip install --no-deps verl")
    for form in _FORMS:
        with ThreadPoolExecutor(cores) as threads, ProcessPoolExecutor(cores) as processes:
            ways = {"astuner": (threads, by_us)} | (
                {"verl": (processes, _by_verl)} if "prime_code" in sys.modules else {}
            )
            for pool, judge in ways.values():
                _seconds(pool, judge, form, 2 * cores)
            took: dict[str, list[float]] = {name: [] for name in ways}
            cpu = dict.fromkeys(ways, 0.0)
            for _ in range(asked.turns):
                for name, (pool, judge) in ways.items():
                    # until idle jails have ended, whose CPU would be taken from the next one's
                    time.sleep(2)
                    before = usage(os.getpid()).cpu_seconds
                    took[name].append(_seconds(pool, judge, form, asked.answers))
                    cpu[name] += usage(os.getpid()).cpu_seconds - before
        for name, seconds in took.items():
            rate, each = asked.answers / statistics.median(seconds), 1000 * cpu[name] / asked.turns / asked.answers
            print(f"{form}: {name} {rate:.1f} answers a second at {cores} cores, {each:.0f} ms of CPU an answer")
        if "verl" in took:
            ratios = [theirs / own for own, theirs in zip(took["astuner"], took["verl"], strict=True)]
            at_least(f"code: answers a second beside verl, {form}", statistics.median(ratios), 2.0)


if __name__ == "__main__":
    main()
