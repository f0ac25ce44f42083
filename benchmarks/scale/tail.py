"""What slow rows cost the requests beside them: p99 over p50 of the service, `python -m benchmarks.scale.tail`.

64 rows a request over 32 connections, mixed math, of which every request has some formulas that need a worker; then
the same with a row in one request of eight that takes the worker all of its deadline.
"""

from __future__ import annotations

import asyncio
import json

from agentscope_tuner.config import SECTION
from benchmarks.scale.load import Load, Row, Tally, shots
from benchmarks.scale.rows import MATH_JUDGE, mixed_rows
from benchmarks.scale.served import Served

ROWS, BATCH, CONNECTIONS, BAR = 2048, 64, 32, 3.0
# rows between two slow ones
_EVERY = 8 * BATCH


def with_slow_rows(rows: list[Row]) -> list[Row]:
    """One row in `_EVERY` replaced by an answer that no worker decides in its time."""
    sines = "+".join(rf"\sin({k}x)^{k}" for k in range(2, 90))
    output = {"metadata": {"final_answer": rf"\boxed{{{sines}}}"}}
    slow = {"task": {"task_id": "slow", "metadata": {"answer": r"\cos(x)"}}, "output": output}
    body = json.dumps(slow).encode()
    return [Row(body, False) if number % _EVERY == 0 else row for number, row in enumerate(rows)]


def loaded(rows: list[Row], seconds: float, workers: int) -> Tally:
    """The service's answers to a load; none of them is wrong."""
    with Served(MATH_JUDGE, f"{SECTION}.math.workers={workers}") as served:
        load = Load(served.port, shots(rows, BATCH), CONNECTIONS)
        asyncio.run(load.flat_out(2.0))
        tally = asyncio.run(load.flat_out(seconds))
    if tally.errors:
        raise SystemExit(f"{tally.errors} errors: {tally.examples}")
    return tally


def main(seconds: float = 30.0) -> None:
    """Prints a line for each workload: the ratio, and whether it is met."""
    rows = mixed_rows(ROWS)
    for name, those in (("mixed math", rows), ("mixed math, slow rows", with_slow_rows(rows))):
        for workers in (1, 2):
            tally = loaded(those, seconds, workers)
            p50, p99 = tally.percentiles()
            ratio = p99 / p50
            verdict = "met" if ratio <= BAR else f"missed by {ratio - BAR:.1f}"
            rate = f"{tally.rows_per_second:,.0f} rows/s, p50 {p50:.2f} s, p99 {p99:.2f} s"
            print(
                f"service, {name}, {workers} worker(s), {rate}: p99/p50 {ratio:.1f} (<= {BAR:g}) {verdict}", flush=True
            )


if __name__ == "__main__":
    main()
