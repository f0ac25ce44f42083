"""LLM grading under faults, against a bare client, and from the cache.

python -m benchmarks.llm.bench [--stub PATH]

The judge's endpoint runs in a process of its own: `tests/judge_server.py`, or, with --stub, another program that
takes the same --latency-ms, --rate-* and --seed flags, prints its address first and reads canned replies with
--replies. Ratios are between runs of this one process, taken in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import openai

from agentscope_tuner._run import loops
from agentscope_tuner.graders import ChatMessage, LanguageEnum, LLMGrader, PromptTemplate
from agentscope_tuner.graders.injection_defence import border_of
from agentscope_tuner.graders.prompt import closing, reply_form
from agentscope_tuner.graders.template import fill
from benchmarks.bars import at_least, at_most

CONCURRENCY = 64
TEMPLATE = PromptTemplate(
    messages={
        LanguageEnum.EN: [
            ChatMessage(role="system", content="You grade answers. {rubrics}"),
            ChatMessage(content="Question:\n{query}\n\nAnswer:\n{response}"),
        ]
    }
)
RUBRICS = "Score from 0 to 10 how well the answer explains its subject. " * 4


def answer(row: int) -> str:
    """An answer of about 150 words that tells an honest judge its label."""
    return f"Answer {row}. " + "It rains because warm air rises and cools. " * 16 + f"label={label(row)}"


def label(row: int) -> int:
    """The score an honest judge gives row `row`: 1 to 9, so that a 0 is always a lie."""
    return 1 + row % 9


@contextmanager
def server(stub: str | None, *flags: str) -> Iterator[str]:
    """The judge's endpoint, and its address."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as replies:
        command = [sys.executable, "-m", "tests.judge_server", *flags]
        if stub:
            json.dump([{"match": r"label=(\d+)", "reply": {"reason": "canned", "score": "@int:\\1"}}], replies)
            replies.flush()
            command = [sys.executable, stub, "--port", "0", "--quiet", "--replies", replies.name, *flags]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
            process.wait()


def grader(url: str, **settings: Any) -> LLMGrader:
    """The grader under test."""
    model = {"model_name": "judge", "base_url": url, "concurrency": CONCURRENCY, "cache": False, **settings}
    return LLMGrader(model, template=TEMPLATE, rubrics=RUBRICS, min_score=0, max_score=10)


async def all_rows(rows: Sequence[int], work: Callable[[int], Awaitable[Any]]) -> list[Any]:
    """`work` on every row, at most CONCURRENCY at once."""
    slots = asyncio.Semaphore(CONCURRENCY)

    async def one(row: int) -> Any:
        async with slots:
            return await work(row)

    return list(await asyncio.gather(*map(one, rows)))


def timed(rows: Sequence[int], work: Callable[[int], Awaitable[Any]]) -> tuple[float, float, list[Any]]:
    """Seconds, CPU seconds of this process, results."""
    wall, cpu = time.perf_counter(), time.process_time()
    results = loops.run(all_rows(rows, work))
    return time.perf_counter() - wall, time.process_time() - cpu, results


def faults(stub: str | None, seeds: Sequence[int]) -> bool:
    """500 evaluations for each seed, over a line of which half the replies are bad."""
    counts = [_over_a_bad_line(stub, seed) for seed in seeds]
    kept = [
        at_least(
            "LLM grading under faults, fewest honest verdicts of 500", min(honest for honest, _ in counts), 500, ""
        ),
        at_most("LLM grading under faults, wrong verdicts of all seeds", sum(wrong for _, wrong in counts), 0, ""),
    ]
    return all(kept)


def _over_a_bad_line(stub: str | None, seed: int) -> tuple[int, int]:
    """Verdicts that are the honest one, and those that are another."""
    flags = ["--latency-ms", "50", "--rate-429", ".15", "--rate-500", ".15", "--rate-hang", ".05"]
    flags += ["--rate-malformed", ".15", "--seed", str(seed)]
    if stub:
        flags += ["--malformed-kinds", "cut,prose,no_score,wrong_type,out_of_range"]
    with server(stub, *flags) as url:
        subject = grader(url, deadline_seconds=60, try_seconds=2)
        seconds, _, results = timed(range(500), lambda row: subject.aevaluate(query="Why?", response=answer(row)))
    honest = sum(result.error is None and result.score == label(row) for row, result in enumerate(results))
    errors = sum(result.error is not None for result in results)
    zeros = sum(result.error is None and result.score == 0 for result in results)
    wrong = len(results) - honest - errors
    usage = subject.model.usage
    print(f"faults (seed {seed}), of 500: {honest} honest, {errors} errors, {wrong} wrong, {zeros} silent zeros;")
    print(f"    {usage.calls} completions, {usage.retries} retries, {seconds:.1f} s", flush=True)
    return honest, wrong


def clean(stub: str | None, rounds: int, rows: int) -> bool:
    """The same prompts through a bare AsyncOpenAI on aiohttp and through the grader, in turns."""
    with server(stub, "--latency-ms", "50") as url:
        subject = grader(url)
        client = openai.AsyncOpenAI(base_url=url, api_key="none", http_client=openai.DefaultAioHttpClient())
        wanted = reply_form(LanguageEnum.EN, 0.0, 10.0, (), 0, False)
        ending = closing(LanguageEnum.EN, border_of({}), wanted.words)
        schema = {"name": "verdict", "strict": True, "schema": wanted.schema}

        async def bare(row: int) -> Any:
            filled = {"rubrics": RUBRICS, "query": "Why?", "response": answer(row)}
            messages: Any = [message.model_dump() for message in TEMPLATE.in_language(LanguageEnum.EN)]
            for message in messages:
                message["content"] = fill(message["content"], filled)
            messages[-1]["content"] += ending
            form: Any = {"type": "json_schema", "json_schema": schema}
            got = await client.chat.completions.create(
                model="judge", messages=messages, response_format=form, temperature=0, max_tokens=2048
            )
            return json.loads(got.choices[0].message.content or "")["score"]

        def ours(row: int) -> Any:
            return subject.aevaluate(query="Why?", response=answer(row))

        timed(range(CONCURRENCY), bare), timed(range(CONCURRENCY), ours)
        pairs = [(timed(range(rows), bare), timed(range(rows), ours)) for _ in range(rounds)]
        loops.run(client.close())
    speed = median(mine[0] and theirs[0] / mine[0] for theirs, mine in pairs)
    cpu = median(mine[1] / theirs[1] for theirs, mine in pairs)
    theirs, mine = median(rows / pair[0][0] for pair in pairs), median(rows / pair[1][0] for pair in pairs)
    print(f"clean, {rows} calls, {rounds} rounds: bare AsyncOpenAI {theirs:.0f} calls/s, LLMGrader {mine:.0f} calls/s;")
    print(f"    median ratios: speed {speed:.2f}, client CPU {cpu:.2f}")
    kept = [
        at_least("LLM calls a second, beside a bare AsyncOpenAI", speed, 0.95),
        at_most("CPU of an LLM call, beside a bare AsyncOpenAI", cpu, 1.3),
    ]
    return all(kept)


def cached(stub: str | None) -> bool:
    """500 evaluations, and the same 500 again by another process."""
    with server(stub, "--latency-ms", "5") as url, tempfile.TemporaryDirectory() as folder:
        _cached_run(url, folder)
        command = [sys.executable, "-m", "benchmarks.llm.bench", "--cached-run", url, folder]
        again = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # by CPU time: on a machine with other work the wall clock measures the others
    rate = 500 / again["cpu"]
    print(f"cached re-run in a new process: {rate:.0f} rows per CPU second, {500 / again['seconds']:.0f} by the clock,")
    print(f"    {again['calls']} calls, {again['honest']} honest of 500")
    fast = at_least("LLM verdicts from the cache in a new process", rate, 5000, "rows per CPU second")
    return fast and bool(again["calls"] == 0 and again["honest"] == 500)


def _cached_run(url: str, folder: str) -> dict[str, float]:
    subject = grader(url, cache=True, cache_dir=folder)
    seconds, cpu, results = timed(range(500), lambda row: subject.aevaluate(query="Why?", response=answer(row)))
    honest = sum(result.error is None and result.score == label(row) for row, result in enumerate(results))
    return {"seconds": seconds, "cpu": cpu, "calls": subject.model.usage.calls, "honest": honest}


def main() -> int:
    """Run everything; exit code 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description="LLM grading under faults, against a bare client, and from the cache.")
    parser.add_argument("--stub", help="an OpenAI-compatible stub program to run in place of tests/judge_server.py")
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 8, 9, 10, 11])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--cached-run", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cached_run:
        print(json.dumps(_cached_run(*options.cached_run)))
        return 0
    name = Path(options.stub).name if options.stub else "tests/judge_server.py"
    print(f"{os.cpu_count()} cores, openai {openai.__version__}, {name}")
    kept = [
        faults(options.stub, options.seeds),
        clean(options.stub, options.rounds, options.rows),
        cached(options.stub),
    ]
    print("bars: " + ("all met" if all(kept) else f"missed (faults, clean, cached: {kept})"))
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
