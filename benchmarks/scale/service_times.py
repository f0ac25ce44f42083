"""Seconds of CPU that one verdict takes, for each kind of judge: `make service-times`, which `capacity` reads.

CPU time, not the clock's, so that a busy machine measures the same. Of kinds whose verdicts differ, the file keeps 100
quantiles of the single verdicts; of the others the mean. "service" is what the reward service adds to a row: what all
its processes use for a row of exact math, without the judge's own part.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner._run import loops
from agentscope_tuner._version import __version__
from agentscope_tuner.config import resolve
from agentscope_tuner.env_service import EnvServiceClient
from agentscope_tuner.records.reader import Line, parse_line
from agentscope_tuner.rules import compile_rules
from agentscope_tuner.verify.math import symbolic as decide
from agentscope_tuner.verify.math.unwrap import Pair, bare, reference
from benchmarks.judge import COUNTDOWN, EIGHT_RULES, MATH, PROSE
from benchmarks.llm.bench import CONCURRENCY, answer, server
from benchmarks.scale.capacity import KEPT
from benchmarks.scale.load import Load, shots
from benchmarks.scale.rows import MATH_JUDGE, exact_rows
from benchmarks.scale.served import Served
from benchmarks.scale.workload import exact_lines

ROOT = Path(__file__).parents[2]
CRITERIA = [f"It names cause number {number} of rain, and says how it works" for number in range(10)]
_WARM_UP = 200

PairOf = tuple[WorkflowTask, WorkflowOutput]


def judge_of(protocol: str) -> TaskJudge:
    return load_judge({"astuner": {"task_judge": {"judge_protocol": protocol}}})


def pairs(lines: Iterator[bytes]) -> list[PairOf]:
    rollouts = [parse_line(Line("", line.rstrip())).rollout for line in lines]
    return [(WorkflowTask(task=row.task), row.output) for row in rollouts if row is not None]


def each(step: Callable[[Any], object], items: Sequence[Any], count: int) -> list[float]:
    """The CPU seconds of this process for each of `count` steps, after a warm-up."""
    for item in islice(cycle(items), _WARM_UP):
        step(item)
    taken = []
    for item in islice(cycle(items), count):
        before = time.process_time()
        step(item)
        taken.append(time.process_time() - before)
    return taken


def judged(judge: TaskJudge, items: Sequence[PairOf], count: int) -> list[float]:
    return each(lambda pair: judge.compute_reward(*pair), items, count)


def symbolic(count: int) -> list[float]:
    """What the worker computes, verdict by verdict, and the mean of what its parent does around it."""
    made = [(rf"\sqrt{{x^4+{2 * a}x^2+{a * a}}}", f"x^2+{a}") for a in range(1, 400)]
    made += [(rf"\sqrt[3]{{{k**3 * n}}}", rf"{k}\sqrt[3]{{{n}}}") for k in range(2, 22) for n in range(2, 22)]
    decide.warm_up()
    in_worker = each(lambda pair: decide.decide(Pair.of(bare(pair[0]), reference(pair[1]), None)), made, count)
    items = [
        (
            WorkflowTask(task=Task(metadata={"answer": right})),
            WorkflowOutput(metadata={"final_answer": f"\\boxed{{{said}}}"}),
        )
        for said, right in made
    ]
    around = statistics.fmean(judged(judge_of(MATH), items, count // 4))
    return [seconds + around for seconds in in_worker]


def countdown(count: int) -> list[float]:
    games = [(r"(25 - 1) \times 1", 24, [25, 1, 1]), ("4 + 6", 24, [4, 6]), ("(8 - 2) * 4", 24, [8, 2, 4])]
    items = [
        (
            WorkflowTask(task=Task(metadata={"target": target, "nums": nums})),
            WorkflowOutput(metadata={"final_answer": f"so \\boxed{{{said}}}"}),
        )
        for said, target, nums in games
    ]
    return judged(judge_of(COUNTDOWN), items, count)


def combined(count: int) -> list[float]:
    path = ROOT / "tutorial/example_math_agent/rollouts.jsonl"
    return judged(load_judge(resolve(ROOT / "configs/combined.yaml")), pairs(iter(path.open("rb"))), count)


def rules(count: int) -> list[float]:
    checked = compile_rules(EIGHT_RULES)
    return each(checked.check, [(PROSE * 20)[:985] + r" is \boxed{42}."], count)


def env_service(count: int) -> list[float]:
    """The client's part of an evaluate; the environment's own is its server's."""
    from tests.with_servers.env.running_server import RunningServer

    with RunningServer() as served, EnvServiceClient(served.url) as client:
        made = client.create_instance("countdown", "train-0")
        return each(lambda _: client.evaluate(made.instance_id), [None], count)


def llm_rubrics(rows: int) -> float:
    """The client's part of a verdict of ten criteria, a request each, 64 rows at once."""
    with server(None, "--latency-ms", "50") as url:
        section = {"model_name": "m", "base_url": url, "calls": "each", "client": {"cache": False}}
        judge = load_judge({"astuner": {"task_judge": {"judge_type": "task_rubrics", "task_rubrics": section}}})
        task = WorkflowTask(task=Task(main_query="Why?", metadata={"rubrics": CRITERIA}))

        async def all_of(count: int) -> None:
            slots = asyncio.Semaphore(CONCURRENCY)

            async def one(row: int) -> None:
                async with slots:
                    judgement = await judge.ajudge(task, WorkflowOutput(metadata={"final_answer": answer(row)}))
                    assert judgement.reward == 1.0, judgement.error

            await asyncio.gather(*map(one, range(count)))

        loops.run(all_of(20))
        before = time.process_time()
        loops.run(all_of(rows))
        return (time.process_time() - before) / rows


def service(exact: float) -> float:
    """What the service's processes use for a row in requests of 64, without `exact`, the judge's own part."""
    with Served(MATH_JUDGE) as served:
        load = Load(served.port, shots(exact_rows(2_048), 64), 8)
        asyncio.run(load.flat_out(2.0))
        before = served.cpu_seconds()
        tally = asyncio.run(load.flat_out(5.0))
        return max((served.cpu_seconds() - before) / max(tally.rows, 1) - exact, 0.0)


def kept(taken: Sequence[float]) -> dict[str, Any]:
    """Mean and quantiles, in microseconds."""
    cuts = statistics.quantiles(taken, n=101)
    return {"mean_us": round(1e6 * statistics.fmean(taken), 2), "quantiles_us": [round(1e6 * cut, 1) for cut in cuts]}


def main() -> None:
    """Measure, and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verdicts", type=int, default=4_000, help="of each kind")
    parser.add_argument("--output", type=Path, default=KEPT)
    asked = parser.parse_args()
    many = asked.verdicts
    exact = judged(judge_of(MATH), pairs(exact_lines(1_000)), many)
    found = {
        "exact math": kept(exact),
        "symbolic math": kept(symbolic(many)),
        "countdown": kept(countdown(many)),
        "rules": kept(rules(many)),
        "combined": kept(combined(many)),
        "env service": kept(env_service(many // 2)),
        "LLM, 10 rubrics": {"mean_us": round(1e6 * llm_rubrics(many // 16), 2)},
        "service": {"mean_us": round(1e6 * service(statistics.fmean(exact)), 2)},
    }
    processor = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    about: dict[str, Any] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "version": __version__,
        "python": platform.python_version(),
    }
    about |= {"processor": processor, "cores": os.cpu_count(), "verdicts": many}
    asked.output.write_text(json.dumps({"about": about, "kinds": found}, indent=1) + "\n", encoding="utf-8")
    for name, numbers in found.items():
        print(f"{name:<18}{numbers['mean_us']:>12,.1f} us of CPU a verdict")


if __name__ == "__main__":
    main()
