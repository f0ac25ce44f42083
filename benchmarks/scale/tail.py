"""What slow rows cost the requests beside them: p99 over p50 of the service, `make bench-tail`.

64 rows a request over 32 connections, mixed math, of which every request has some formulas that need a worker; then
the same with a row in one request of eight that takes the worker all of its deadline. Beside the ratio stand the rows a
second and the processor time of a row, over all processes of the service. Three to four minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json

from agentscope_tuner.config import SECTION
from benchmarks.bars import at_most
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


def loaded(rows: list[Row], seconds: float, workers: int) -> tuple[Tally, float]:
    """The service's answers to a load, of which none is wrong, and the CPU seconds that a row took."""
    with Served(MATH_JUDGE, f"{SECTION}.math.workers={workers}") as served:
        load = Load(served.port, shots(rows, BATCH), CONNECTIONS)
        asyncio.run(load.flat_out(2.0))
        used = served.cpu_seconds()
        tally = asyncio.run(load.flat_out(seconds))
        used = served.cpu_seconds() - used
    if tally.errors:
        raise SystemExit(f"{tally.errors} errors: {tally.examples}")
    return tally, used / max(1, tally.rows)


def main() -> None:
    """Prints a line for each workload: the ratio, and whether it is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="that each of the four loads lasts")
    asked = parser.parse_args()
    rows = mixed_rows(ROWS)
    for name, those in (("mixed math", rows), ("mixed math with slow rows", with_slow_rows(rows))):
        for workers in ("1 worker", "2 workers"):
            tally, cpu = loaded(those, asked.seconds, int(workers[0]))
            p50, p99 = tally.percentiles()
            print(f"{name}, {workers}: {tally.rows_per_second:,.0f} rows/s, p50 {p50:.2f} s, p99 {p99:.2f} s", end="")
            print(f", {1e6 * cpu:,.0f} us of CPU a row, {len(tally.latencies)} requests", flush=True)
            at_most(f"service, {name}, {workers}, p99 beside p50", p99 / p50, BAR)


if __name__ == "__main__":
    main()
