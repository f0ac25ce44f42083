"""An evaluate through the client beside a bare pooled httpx call, against the reference server, in one run.

    make bench-env

The two take turns, call by call, so that what else the machine does meets both alike. Beside the wall time, which has a
bar, stands the processor time of this process for a call: on a busy machine it is the steadier of the two.

The bare call is `httpx.Client` as its documentation shows it, and it promises less: its time-out is for each read, so
an answer that comes drop by drop holds its caller for ever. Ours holds a deadline over the whole call. That takes an
event loop and so, for callers that do not await, the way to another thread and back; what pays for it is aiohttp
beneath httpx. Half a minute in all.
"""

from __future__ import annotations

import asyncio
import os
import platform
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from agentscope_tuner.env_service import AsyncEnvServiceClient, EnvServiceClient
from benchmarks.bars import at_most
from tests.with_servers.env.running_server import RunningServer

CALLS = 1_000
WARM_UP = 50
AIM = 1.3


def body_of(instance_id: str) -> dict[str, object]:
    """An evaluate as the client writes it."""
    return {"env_type": "default", "task_id": None, "instance_id": instance_id, "messages": {}, "params": {}}


@dataclass
class Timed:
    """Seconds of wall time of each call, and of processor time of all of them."""

    wall: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @contextmanager
    def call(self) -> Iterator[None]:
        """Around one call."""
        cpu, start = time.process_time(), time.perf_counter()
        yield
        self.wall.append(time.perf_counter() - start)
        self.cpu += time.process_time() - cpu


def sync_seconds(url: str, instance_id: str, *, calls: int, in_episode: bool) -> tuple[Timed, Timed]:
    """Of bare evaluates, and of those through `EnvServiceClient`."""
    body = body_of(instance_id)
    bare, ours = Timed(), Timed()
    with httpx.Client(trust_env=False) as http, EnvServiceClient(url) as client:
        for _ in range(calls):
            if in_episode:
                http.post(f"{url}/get_info", json=body)
                client.get_info(instance_id)
            with bare.call():
                response = http.post(f"{url}/evaluate", json=body)
                response.raise_for_status()
                float(response.json()["data"])
            with ours.call():
                client.evaluate(instance_id)
    return bare, ours


async def async_seconds(url: str, instance_id: str, *, calls: int, in_episode: bool) -> tuple[Timed, Timed]:
    """The same for `httpx.AsyncClient` and `AsyncEnvServiceClient`."""
    body = body_of(instance_id)
    bare, ours = Timed(), Timed()
    async with httpx.AsyncClient(trust_env=False) as http, AsyncEnvServiceClient(url) as client:
        for _ in range(calls):
            if in_episode:
                await http.post(f"{url}/get_info", json=body)
                await client.get_info(instance_id)
            with bare.call():
                response = await http.post(f"{url}/evaluate", json=body)
                response.raise_for_status()
                float(response.json()["data"])
            with ours.call():
                await client.evaluate(instance_id)
    return bare, ours


def _report(name: str, bare: Timed, ours: Timed) -> None:
    def row(label: str, timed: Timed) -> None:
        cuts = [1e3 * cut for cut in statistics.quantiles(timed.wall, n=100)]
        cpu = 1e3 * timed.cpu / len(timed.wall)
        print(
            f"  {label:<25} p50 {cuts[49]:6.2f} ms   p95 {cuts[94]:6.2f} ms   p99 {cuts[98]:6.2f} ms   CPU {cpu:.2f} ms"
        )

    print(f"{name}, {len(ours.wall)} evaluates each, in turns; CPU {ours.cpu / bare.cpu:.2f}x")
    row("bare pooled httpx", bare)
    row("through astuner's client", ours)
    at_most(f"evaluate, {name}", statistics.median(ours.wall) / statistics.median(bare.wall), AIM)
    print()


def main() -> None:
    """Prints both comparisons."""
    print(f"{os.cpu_count()} processors, Python {platform.python_version()}, httpx {httpx.__version__}\n")
    with RunningServer() as server:
        with EnvServiceClient(server.url) as client:
            made = client.create_instance("countdown", "train-0")
        for in_episode in (True, False):
            shape = "after another call, as in an episode" if in_episode else "back to back"
            # the first calls open connections
            sync_seconds(server.url, made.instance_id, calls=WARM_UP, in_episode=in_episode)
            timed = sync_seconds(server.url, made.instance_id, calls=CALLS, in_episode=in_episode)
            _report(f"sync, {shape}", *timed)
            timed = asyncio.run(async_seconds(server.url, made.instance_id, calls=CALLS, in_episode=in_episode))
            _report(f"async, {shape}", *timed)


if __name__ == "__main__":
    main()
