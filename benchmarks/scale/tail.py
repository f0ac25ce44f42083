"""What slow rows cost the requests beside them: p99 over p50 of the service, `make bench-tail`.

64 rows a request over 32 connections, mixed math, of which every request has some formulas that need a worker; then
the same with a row in one request of eight that takes the worker all of its deadline. Beside the ratio stand the rows a
second and the processor time of a row, over all processes of the service.

Then cheap requests, a row each over 8 connections, beside clients that send nothing but rows no worker decides (8, 80
and 300 of them, each row another one), beside 80 whose rows take long to read, beside 330 that send half a body, and,
without a bar, beside 60 that send answers of a megabyte or batches of 512:
their p99 beside that of the same service before such clients came, and how many of them are refused. The same ratio in
CPU time of the service's process, between a request and its answer, says what the service lets go first, also where
other programs take the machine. Five minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

from agentscope_tuner.config import SECTION
from benchmarks.bars import at_most
from benchmarks.scale.load import Load, Row, Tally, shots
from benchmarks.scale.rows import MATH_JUDGE, mixed_rows
from benchmarks.scale.served import Served

ROWS, BATCH, CONNECTIONS, BAR = 2048, 64, 32, 3.0
STARVED_BAR = 5.0
# rows between two slow ones
_EVERY = 8 * BATCH


_SUM = r"\sum_{k=1}^{100000}\sin(k^2)"


def slow_row(number: int) -> Row:
    """An answer that no worker decides in its time, and no other row has: every other one takes long to read, too."""
    long = "+".join(rf"\sin({k}x)^{k}" for k in range(2, 90)) + "+" if number % 2 else ""
    return _row(rf"{long}{number}+{_SUM}", f"x+{_SUM}")


def long_row(number: int) -> Row:
    """An answer that takes longer to read than to compare, and no other row has."""
    return _row("+".join(rf"\sin({k}x+{number})^{k}" for k in range(2, 90)), r"\cos(x)")


def cheap_rows() -> list[Row]:
    """Numbers, which need no worker."""
    return [_row(f"{number}.0", str(number), right=True) for number in range(2, 500)]


def _row(answer: str, truth: str, *, right: bool = False) -> Row:
    output = {"metadata": {"final_answer": rf"\boxed{{{answer}}}"}}
    return Row(json.dumps({"task": {"metadata": {"answer": truth}}, "output": output}).encode(), right)


def with_slow_rows(rows: list[Row]) -> list[Row]:
    """One row in `_EVERY` replaced by one that takes a worker all of its time."""
    return [slow_row(number) if number % _EVERY == 0 else row for number, row in enumerate(rows)]


async def half_sent(port: int) -> None:
    """A client that sends a half of each body, until the service has enough of it; then it comes again."""
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            b"POST /reward HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{"
        )
        try:
            await reader.read()
        except OSError:
            pass
        finally:
            writer.close()


def large_row(number: int) -> Row:
    """A wrong answer behind a megabyte of other boxes, which takes a tenth of a second to read."""
    text = rf"\boxed{{{number}}} and " * 50_000
    output = {"metadata": {"final_answer": rf"{text[:900_000]} \boxed{{{number}}}"}}
    return Row(json.dumps({"task": {"metadata": {"answer": "-1"}}, "output": output}).encode(), False)


@dataclass(frozen=True)
class Crowd:
    """Clients beside the cheap ones: so many whose rows `row` makes, and so many that send half a body.

    Attributes:
        batch: rows a request.
        different: how many requests differ; more are the same again.
        has_bar: whether a bar is set: no request can wait for less than the one step that has the loop.
    """

    name: str
    clients: int = 0
    row: Callable[[int], Row] = slow_row
    half: int = 0
    batch: int = 1
    different: int = 20
    has_bar: bool = True


CROWDS = (
    *(Crowd(f"{count} slow clients", count) for count in (8, 80, 300)),
    Crowd("80 clients with long rows", 80, long_row),
    Crowd("60 clients with answers of a megabyte", 60, large_row, different=1, has_bar=False),
    Crowd("60 clients with batches of 512", 60, lambda number: cheap_rows()[number % 400], batch=512, has_bar=False),
    Crowd("330 half-sent bodies", half=330),
)


async def beside(served: Served, crowd: Crowd, seconds: float) -> tuple[Tally, Tally]:
    """Cheap requests over 8 connections, before the crowd comes and beside it."""
    port = served.port
    cheap = Load(port, shots(cheap_rows(), 1), 8, served.own_cpu_clock)
    before = await cheap.flat_out(seconds / 2)
    # as many requests as they can send in this time, each with another answer
    requests = shots([crowd.row(number) for number in range(crowd.different * crowd.clients)], crowd.batch)
    others = [Load(port, requests, crowd.clients).flat_out(3600.0)] if crowd.clients else []
    tasks = [asyncio.create_task(work) for work in (*others, *(half_sent(port) for _ in range(crowd.half)))]
    await asyncio.sleep(2.0)
    try:
        return before, await cheap.flat_out(seconds)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def starved(seconds: float) -> None:
    """Prints what slow clients and half-sent bodies cost cheap requests."""
    for crowd in CROWDS:
        with Served(MATH_JUDGE, "--drain-seconds", "0") as served:
            tallies = asyncio.run(beside(served, crowd, seconds))
        (_, alone), (p50, p99) = (tally.percentiles() for tally in tallies)
        name = f"cheap requests beside {crowd.name}"
        print(
            f"{name}: {len(tallies[1].latencies)}, p50 {1e3 * p50:.1f} ms, p99 {1e3 * p99:.1f} ms, "
            f"before them {1e3 * alone:.1f} ms",
            flush=True,
        )
        own = [tally.clocked_percentiles()[1] for tally in tallies]
        print(f"    p99 in CPU time of the service: {1e3 * own[1]:.1f} ms, before them {1e3 * own[0]:.1f} ms")
        if crowd.has_bar:
            at_most(f"service, {name}, p99 beside that before them", p99 / alone, STARVED_BAR)
            at_most(f"service, {name}, the same in its CPU time", own[1] / own[0], STARVED_BAR)
        at_most(f"service, {name}, refused or wrong", sum(tally.errors for tally in tallies), 0, "")


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
    parser.add_argument("--only", choices=("mixed", "starved"), help="one half of it")
    asked = parser.parse_args()
    if asked.only != "mixed":
        starved(asked.seconds / 3)
    if asked.only == "starved":
        return
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
