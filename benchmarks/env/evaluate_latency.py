"""An evaluate through the client beside a bare pooled httpx call, against the reference server, in one run.

    make bench-env

The two take turns, call by call, so that what else the machine does meets both alike.
"""

from __future__ import annotations

import asyncio
import os
import platform
import statistics
import time

import httpx

from agentscope_tuner.env_service import AsyncEnvServiceClient, EnvServiceClient
from tests.with_servers.env.running_server import RunningServer

CALLS = 1_000
WARM_UP = 50
AIM = 1.3


def body_of(instance_id: str) -> dict[str, object]:
    """An evaluate as the client writes it."""
    return {"env_type": "default", "task_id": None, "instance_id": instance_id, "messages": {}, "params": {}}


Timed = tuple[list[float], list[float]]


def sync_seconds(url: str, instance_id: str, *, in_episode: bool) -> Timed:
    """Seconds of each bare evaluate and of each through `EnvServiceClient`."""
    body = body_of(instance_id)
    taken: Timed = ([], [])
    with httpx.Client(trust_env=False) as http, EnvServiceClient(url) as client:
        for _ in range(WARM_UP + CALLS):
            if in_episode:
                http.post(f"{url}/get_info", json=body)
                client.get_info(instance_id)
            start = time.perf_counter()
            response = http.post(f"{url}/evaluate", json=body)
            response.raise_for_status()
            float(response.json()["data"])
            middle = time.perf_counter()
            client.evaluate(instance_id)
            taken[0].append(middle - start)
            taken[1].append(time.perf_counter() - middle)
    return taken[0][WARM_UP:], taken[1][WARM_UP:]


async def async_seconds(url: str, instance_id: str, *, in_episode: bool) -> Timed:
    """The same for `httpx.AsyncClient` and `AsyncEnvServiceClient`."""
    body = body_of(instance_id)
    taken: Timed = ([], [])
    async with httpx.AsyncClient(trust_env=False) as http, AsyncEnvServiceClient(url) as client:
        for _ in range(WARM_UP + CALLS):
            if in_episode:
                await http.post(f"{url}/get_info", json=body)
                await client.get_info(instance_id)
            start = time.perf_counter()
            response = await http.post(f"{url}/evaluate", json=body)
            response.raise_for_status()
            float(response.json()["data"])
            middle = time.perf_counter()
            await client.evaluate(instance_id)
            taken[0].append(middle - start)
            taken[1].append(time.perf_counter() - middle)
    return taken[0][WARM_UP:], taken[1][WARM_UP:]


def _report(name: str, bare: list[float], ours: list[float]) -> None:
    def row(label: str, seconds: list[float]) -> None:
        cuts = statistics.quantiles(seconds, n=100)
        print(
            f"  {label:<28} p50 {1e3 * cuts[49]:6.2f} ms   p95 {1e3 * cuts[94]:6.2f} ms   p99 {1e3 * cuts[98]:6.2f} ms"
        )

    ratio = statistics.median(ours) / statistics.median(bare)
    print(f"{name}, {CALLS} evaluates each, in turns")
    row("bare pooled httpx", bare)
    row("through astuner's client", ours)
    verdict = "met" if ratio <= AIM else f"missed by {ratio - AIM:.2f}"
    print(f"evaluate, {name}: {ratio:.2f}x (<= {AIM}x) {verdict}\n")


def main() -> None:
    """Prints both comparisons."""
    print(f"{os.cpu_count()} processors, Python {platform.python_version()}, httpx {httpx.__version__}\n")
    with RunningServer() as server:
        with EnvServiceClient(server.url) as client:
            made = client.create_instance("countdown", "train-0")
        for in_episode in (True, False):
            shape = "after another call, as in an episode" if in_episode else "back to back"
            _report(f"sync, {shape}", *sync_seconds(server.url, made.instance_id, in_episode=in_episode))
            timed = asyncio.run(async_seconds(server.url, made.instance_id, in_episode=in_episode))
            _report(f"async, {shape}", *timed)


if __name__ == "__main__":
    main()
