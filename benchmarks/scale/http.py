"""The reward service under load: requests and rows a second, p50, p99 and errors; every verdict is compared.

    make bench-http

Client and service share this machine. What the client alone can do is measured first: where a rate comes near that, it
is the client's. The CPU time of the service's processes says what a row costs where other programs take their share.
Two to three minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from typing import Any

from agentscope_tuner.config import SECTION
from benchmarks.bars import at_least
from benchmarks.scale.load import Load, Row, Tally, against_nothing, shots
from benchmarks.scale.rows import MATH_JUDGE, exact_rows, mixed_rows
from benchmarks.scale.served import Served
from benchmarks.scale.workload import STUB, StubServer

BATCH = 64
_WARM_UP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Case:
    """One judge and the rows that it gets.

    Attributes:
        options: further words of the service's command line.
        aims: requests a second one by one, and rows a second in batches; None: there is none.
    """

    name: str
    task_judge: dict[str, Any]
    rows: Sequence[Row]
    options: tuple[str, ...] = ()
    aims: tuple[float, float] | None = None


def cases(count: int, stub_port: int) -> list[Case]:
    """Exact-match math, math of all kinds, and a judge that waits 50 ms for a server."""
    waiting = {"judge_protocol": STUB, "judge_kwargs": {"port": stub_port}}
    # the stub server pays every answer
    paid = [Row(row.body, True) for row in mixed_rows(count)]
    return [
        Case("exact-match math", MATH_JUDGE, exact_rows(count), aims=(1_500, 15_000)),
        Case("mixed math, 1 math worker", MATH_JUDGE, mixed_rows(count)),
        Case("mixed math, 2 math workers", MATH_JUDGE, mixed_rows(count), (f"{SECTION}.math.workers=2",)),
        Case("50 ms of I/O", waiting, paid),
    ]


def measure(served: Served, rows: Sequence[Row], batch: int, connections: int, seconds: float) -> tuple[Tally, float]:
    """The service's rate with `connections` requests under way, after a warm-up, and the CPU seconds it took."""
    load = Load(served.port, shots(rows, batch), connections)
    asyncio.run(load.flat_out(_WARM_UP_SECONDS))
    used = served.cpu_seconds()
    tally = asyncio.run(load.flat_out(seconds))
    return tally, served.cpu_seconds() - used


def _line(name: str, tally: Tally, cpu_seconds: float | None = None) -> str:
    p50, p99 = (1e3 * seconds for seconds in tally.percentiles())
    cpu = "" if cpu_seconds is None else f"{1e6 * cpu_seconds / max(1, tally.rows):,.0f}"
    return (
        f"{name:<34} {tally.requests_per_second:>8,.0f} {tally.rows_per_second:>9,.0f} "
        f"{p50:>8.1f} {p99:>8.1f} {tally.errors:>7,} {cpu:>11}"
    ).rstrip()


def main() -> None:
    """Print every rate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="that each load lasts")
    parser.add_argument("--connections", type=int, default=32, help="requests under way at once, at most")
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {asked.connections} connections; ", end="")
    print(f"client and service on one machine, {asked.seconds:g} s a line")
    print(f"{'':<34} {'req/s':>8} {'rows/s':>9} {'p50 ms':>8} {'p99 ms':>8} {'errors':>7} {'CPU us/row':>11}")
    with _stub_port() as stub_port:
        # as many rows as a batch for each connection, at least
        every = cases(max(2_048, BATCH * asked.connections), stub_port)
        _alone(every[0].rows, asked)
        errors = sum(_case(case, asked) for case in every)
    raise SystemExit(1 if errors else 0)


@contextmanager
def _stub_port() -> Iterator[int]:
    """The server that the waiting judge asks, in a process of its own: here it would slow the client down."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve_stub, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()
        process.join(10)


def _serve_stub(pipe: Pipe) -> None:
    with StubServer() as stub:
        pipe.send(stub.port)
        # the other side closes its end when it is done
        pipe.poll(None)


def _alone(rows: Sequence[Row], asked: argparse.Namespace) -> None:
    right = [Row(row.body, True) for row in rows]
    for batch in (1, BATCH):
        tally = against_nothing(shots(right, batch), asked.connections, asked.seconds)
        print(_line(f"client alone, {_shape(batch)}", tally))


def _case(case: Case, asked: argparse.Namespace) -> int:
    """Measures and prints one case; how many rows went wrong."""
    errors = 0
    with Served(case.task_judge, *case.options) as served:
        for batch in (1, BATCH):
            tally, cpu = measure(served, case.rows, batch, asked.connections, asked.seconds)
            print(_line(f"{case.name}, {_shape(batch)}", tally, cpu))
            _aimed(case, batch, tally)
            print("".join(f"    {example}\n" for example in tally.examples), end="", flush=True)
            errors += tally.errors
    return errors


def _shape(batch: int) -> str:
    return "single" if batch == 1 else f"x {batch}"


def _aimed(case: Case, batch: int, tally: Tally) -> None:
    """Prints the aim of a case that has one, and whether it is met."""
    if case.aims is not None and batch == 1:
        at_least(f"service, {case.name}, one by one", tally.requests_per_second, case.aims[0], "requests/s")
    elif case.aims is not None:
        at_least(f"service, {case.name}, {batch} rows a request", tally.rows_per_second, case.aims[1], "rows/s")


if __name__ == "__main__":
    main()
