"""The reward service for a long while near its peak, then the same under attack.

    make soak-serve MINUTES=10

First the peak rate is found. Then, at a share of it: ordinary answers, after which the service must not weigh more than
before; and ordinary answers with one in a hundred hostile, while one of the service's math workers is killed again and
again. Every verdict is compared with the known right one. Exit code 1 when a row got none or another, when memory grew,
or when the load was not what it should have been.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import platform
import random
import signal
import statistics
import time
from dataclasses import dataclass, field

from benchmarks.scale.load import Load, Row, Tally, shots
from benchmarks.scale.rows import MATH_JUDGE, hostile_rows, mixed_rows
from benchmarks.scale.served import Served

SHARE = 0.8
MOST_GROWTH = 0.05
KILL_EVERY_SECONDS = 5.0
HOSTILE_EVERY = 100
_SAMPLE_SECONDS = 2.0
_ROWS = 2_000
# of what was asked for: fewer sent, and the load was another than the report says
_KEPT_RATE = 0.98


@dataclass
class Watch:
    """What was seen of the service's processes during one stage."""

    resident: list[int] = field(default_factory=list)
    killed: int = 0

    def growth(self) -> float:
        """How much heavier the last tenth of the samples is than the first, as a share."""
        tenth = max(1, len(self.resident) // 10)
        return statistics.median(self.resident[-tenth:]) / statistics.median(self.resident[:tenth]) - 1


@dataclass(frozen=True, slots=True)
class Run:
    """One stage, done."""

    tally: Tally
    watch: Watch
    rate: float

    def show(self, name: str) -> None:
        tally, watch = self.tally, self.watch
        p50, p99 = (1e3 * seconds for seconds in tally.percentiles())
        print(f"{name}: {tally.seconds:,.0f} s, {len(tally.latencies):,} requests, {self.rate:,.0f} a second asked for")
        print(f"  sent, answered       {tally.sent_per_second:,.0f}, {tally.requests_per_second:,.0f} requests/s")
        print(f"  p50, p99             {p50:.1f} ms, {p99:.1f} ms, from the moment a request was due")
        print(f"  right, lost, wrong   {tally.rows:,}, {tally.lost.total():,}, {tally.wrong:,}")
        for what, count in tally.lost.most_common(5):
            print(f"    {count:,} x {what}")
        for example in tally.examples:
            print(f"    {example}")
        first, last = watch.resident[0] / 2**20, watch.resident[-1] / 2**20
        print(f"  memory               {first:,.1f} MiB, {last:,.1f} MiB at the end, {watch.growth():+.1%}")
        print(f"  math workers killed  {watch.killed}", flush=True)

    def failings(self) -> list[str]:
        """The bars that every stage must clear and this one did not."""
        found = []
        if self.tally.errors:
            found.append(f"{self.tally.lost.total()} rows lost, {self.tally.wrong} wrong")
        # an answer may come seconds after the last request was sent, where a killed worker had it
        if self.tally.sent_per_second < _KEPT_RATE * self.rate:
            found.append(f"{self.tally.sent_per_second:,.0f} requests/s sent of the {self.rate:,.0f} asked for")
        return found


async def stage(
    served: Served, requests: list[Row], rate: float, seconds: float, *, killing: bool, at_once: int
) -> Run:
    """A steady load, watched; with `killing`, a math worker is killed every few seconds."""
    watch = Watch()
    companions = [asyncio.create_task(_weigh(served, watch))]
    if killing:
        companions.append(asyncio.create_task(_kill(served, watch)))
    try:
        tally = await Load(served.port, shots(requests, 1), at_once).at_rate(rate, seconds)
    finally:
        for companion in companions:
            companion.cancel()
        await asyncio.gather(*companions, return_exceptions=True)
    return Run(tally, watch, rate)


async def _weigh(served: Served, watch: Watch) -> None:
    while True:
        watch.resident.append(await asyncio.to_thread(served.resident_bytes))
        await asyncio.sleep(_SAMPLE_SECONDS)


async def _kill(served: Served, watch: Watch) -> None:
    while True:
        await asyncio.sleep(KILL_EVERY_SECONDS)
        workers = await asyncio.to_thread(served.math_workers)
        if workers:
            # it may have been replaced meanwhile
            with contextlib.suppress(ProcessLookupError):
                os.kill(random.choice(workers), signal.SIGKILL)
                watch.killed += 1


def with_hostile(rows: list[Row]) -> list[Row]:
    """`rows` again and again with a hostile one after every 99, until each hostile one had its turn."""
    hostile = hostile_rows()
    count = len(hostile) * HOSTILE_EVERY
    return [hostile[at // HOSTILE_EVERY] if at % HOSTILE_EVERY == 0 else rows[at % len(rows)] for at in range(count)]


async def soak(served: Served, asked: argparse.Namespace) -> list[str]:
    """Both stages; the bars that were missed."""
    rows = mixed_rows(_ROWS)
    seconds = asked.minutes * 60
    rate = asked.rate
    if rate is None:
        at_peak = Load(served.port, shots(rows, 1), asked.connections)
        await at_peak.flat_out(3.0)
        peak = await at_peak.flat_out(asked.peak_seconds)
        rate = SHARE * peak.requests_per_second
        print(f"peak {peak.requests_per_second:,.0f} requests/s, {peak.errors} errors; {SHARE:.0%} of it follows")
    # caches fill and allocators find their size: what comes after is what must not grow
    await stage(served, rows, rate, min(60.0, seconds / 5), killing=False, at_once=asked.connections)
    calm = await stage(served, rows, rate, seconds, killing=False, at_once=asked.connections)
    calm.show("ordinary answers")
    missed = calm.failings()
    if calm.watch.growth() >= MOST_GROWTH:
        missed.append(f"memory grew by {calm.watch.growth():.1%}, the bar is {MOST_GROWTH:.0%}")
    attacked = await stage(served, with_hostile(rows), rate, seconds, killing=True, at_once=asked.connections)
    attacked.show(f"one hostile in {HOSTILE_EVERY}, a math worker killed every {KILL_EVERY_SECONDS:g} s")
    missed += attacked.failings()
    if attacked.watch.killed < seconds / KILL_EVERY_SECONDS * 0.8:
        missed.append(f"only {attacked.watch.killed} math workers were there to be killed")
    return missed


def main() -> None:
    """Soak, print, and exit with 1 when a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="that each of the two stages lasts")
    parser.add_argument("--rate", type=float, help="requests a second, in place of 80 %% of the peak found")
    parser.add_argument("--peak-seconds", type=float, default=15.0, help="that the search for the peak lasts")
    parser.add_argument("--connections", type=int, default=32, help="requests under way at once, at most")
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}; ", end="")
    print("client and service on one machine", flush=True)
    with Served(MATH_JUDGE) as served:
        missed = asyncio.run(soak(served, asked))
    for bar in missed:
        print(f"MISSED: {bar}")
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
