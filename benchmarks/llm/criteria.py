"""`task_rubrics` beside a bare client that makes as many calls: 100 rows of 10 criteria, 64 at once.

python -m benchmarks.llm.criteria [--rows 100] [--rounds 11]

Both ask tests/judge_server.py, which runs in a process of its own, about each criterion by itself, with prompts of the
same length. The ratio is between runs of this one process, taken in many short turns, so that a machine's other
work meets both; the verdict cache is off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any

import openai

from agentscope_tuner._run import loops
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.settings import ChatSettings
from agentscope_tuner.graders.criteria_grader import CriteriaGrader
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_least
from benchmarks.llm.bench import CONCURRENCY, answer, server

CRITERIA = [f"It names cause number {number} of rain, and says how it works" for number in range(10)]
LEAST_RATIO = 0.95


def timed(work: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """Seconds, and CPU seconds of this process."""

    async def run() -> None:
        await work()

    wall, cpu = time.perf_counter(), time.process_time()
    loops.run(run())
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> int:
    """Run both in turns; exit code 1 when ours is slower than the bar."""
    parser = argparse.ArgumentParser(description="task_rubrics beside a bare client that makes as many calls.")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    with server(None, "--latency-ms", "50") as url:
        section = {"model_name": "m", "base_url": url, "calls": "each", "client": {"cache": False}}
        judge = load_judge({"astuner": {"task_judge": {"judge_type": "task_rubrics", "task_rubrics": section}}})
        task = WorkflowTask(task=Task(main_query="Why?", metadata={"rubrics": CRITERIA}))
        client = openai.AsyncOpenAI(base_url=url, api_key="none", http_client=openai.DefaultAioHttpClient())
        grader = CriteriaGrader(ChatModel(ChatSettings(model_name="m", base_url=url)), calls="each")

        async def ours(rows: int) -> None:
            slots = asyncio.Semaphore(CONCURRENCY)

            async def one(row: int) -> None:
                async with slots:
                    judgement = await judge.ajudge(task, WorkflowOutput(metadata={"final_answer": answer(row)}))
                    assert judgement.reward == 1.0, judgement.error

            await asyncio.gather(*map(one, range(rows)))

        async def bare(rows: int) -> None:
            slots = asyncio.Semaphore(CONCURRENCY)

            async def one(row: int, criterion: int) -> None:
                async with slots:
                    messages, form = prompts[criterion]
                    text = messages[0]["content"].replace("ANSWER", answer(row))
                    got = await client.chat.completions.create(
                        model="m",
                        messages=[{"role": "user", "content": text}],
                        response_format=form,
                        temperature=0,
                        max_tokens=2048,
                    )
                    assert json.loads(got.choices[0].message.content or "")["verdicts"][0]["met"]

            await asyncio.gather(*(one(row, criterion) for row in range(rows) for criterion in range(len(CRITERIA))))

        prompts: list[tuple[Any, Any]] = [
            (
                [message.model_dump() for message in prompt.messages()],
                {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": prompt.schema}},
            )
            for prompt in grader.prompts("Why?", "ANSWER", CRITERIA)
        ]
        timed(lambda: bare(20)), timed(lambda: ours(20))
        pairs = [(timed(lambda: bare(options.rows)), timed(lambda: ours(options.rows))) for _ in range(options.rounds)]
        loops.run(client.close())
    calls = options.rows * len(CRITERIA)
    ratio = median(theirs[0] / mine[0] for theirs, mine in pairs)
    cpu = median(mine[1] / theirs[1] for theirs, mine in pairs)
    print(f"criteria, {options.rows} rows x {len(CRITERIA)}, {options.rounds} rounds: bare AsyncOpenAI "
          f"{median(calls / theirs[0] for theirs, _ in pairs):.0f} calls/s, task_rubrics "
          f"{median(calls / mine[0] for _, mine in pairs):.0f} calls/s;")  # fmt: skip
    print(f"    median ratios: speed {ratio:.2f}, client CPU {cpu:.2f}")
    return 0 if at_least("task_rubrics' calls a second, beside a bare AsyncOpenAI", ratio, LEAST_RATIO) else 1


if __name__ == "__main__":
    sys.exit(main())
