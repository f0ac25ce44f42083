"""What a run on 1,000 GPUs needs to judge 10^6, 10^8 and 10^9 verdicts a day: `make capacity`, quoted in docs/scale.md.

Service times are those measured by `benchmarks.scale.service_times`, verdict by verdict; the queue is simulated with a
fixed seed: groups arrive at random (a Poisson process), each member is taken by the first core that is free, in the
order of arrival (M/G/c with groups). What was not measured here stands in `ASSUMED`, and is printed.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The measurements, as `benchmarks.scale.service_times` writes them.
KEPT = Path(__file__).with_name("service_times.json")
VOLUMES = (10**6, 10**8, 10**9)
_DAY = 86_400
_SEED = 20
_GROUPS = 500
_MOST_WAIT = 1.0
# Beyond so many servers a queue at this load is never seen: only the load counts, and is not simulated
_SIMULATED = 2_000


@dataclass(frozen=True, slots=True)
class Assumed:
    """What no command here measures.

    Attributes:
        gpus: of the training run; `gpu_hour` in dollars, and `core_hour`.
        group: rollouts of a task that end together.
        peak: how many times the day's mean rate verdicts are asked for while a step ends.
        busy: how much of a core or of a judge model may be used at the peak.
        node: cores that die together; `away`: seconds until others stand in.
        llm_seconds: the median of a judge model's reply, `llm_spread` the sigma of its logarithm.
        llm_at_once: requests that a GPU with a judge model answers at once at that speed.
        in_doubt: the share of rows about which a combined judge asks its model.
        episode: seconds that an environment is held by a rollout; `env_gb`: the memory it takes.
        spare_cores, spare_gpus, spare_gb: what the run's own nodes have left for judging.
    """

    gpus: int = 1_000
    gpu_hour: float = 2.50
    core_hour: float = 0.04
    group: int = 16
    peak: float = 3.0
    busy: float = 0.8
    node: int = 64
    away: float = 60.0
    llm_seconds: float = 2.0
    llm_spread: float = 0.5
    llm_at_once: int = 64
    in_doubt: float = 0.05
    episode: float = 60.0
    env_gb: float = 0.05
    spare_cores: int = 2_000
    spare_gpus: int = 100
    spare_gb: int = 32_000

    @property
    def llm_mean(self) -> float:
        """Seconds of a reply on average: of the lognormal distribution."""
        return self.llm_seconds * math.exp(self.llm_spread**2 / 2)

    def env_share(self) -> float:
        """GB-seconds of memory that a verdict's environment takes."""
        return self.episode * self.env_gb


ASSUMED = Assumed()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of judge.

    Attributes:
        name: as it is printed.
        seconds: CPU seconds of a verdict, drawn at random.
        mean: of them.
        requests: of a judge model, a verdict.
        in_env: whether an environment is held for the verdict.
    """

    name: str
    seconds: Callable[[random.Random], float]
    mean: float
    requests: float = 0.0
    in_env: bool = False


def kinds(measured: Mapping[str, Mapping[str, Any]]) -> list[Kind]:
    """The judges of the table."""

    def of(name: str, more: float = 0.0) -> tuple[Callable[[random.Random], float], float]:
        cuts = [cut / 1e6 for cut in measured[name].get("quantiles_us", [measured[name]["mean_us"]])]
        return lambda chance: chance.choice(cuts) + more, sum(cuts) / len(cuts) + more

    mean = {name: numbers["mean_us"] / 1e6 for name, numbers in measured.items()}
    llm = "LLM, 10 rubrics"
    found = [Kind(name, *of(name)) for name in ("rules", "countdown", "exact math")]
    found += [
        Kind("exact math, over HTTP", *of("exact math", mean["service"])),
        Kind("symbolic math", *of("symbolic math")),
        Kind("combined", *of("combined")),
        Kind("env service", *of("env service"), in_env=True),
        Kind(llm, *of(llm), requests=10),
        Kind("combined, LLM in doubt", *of("combined", ASSUMED.in_doubt * mean[llm]), requests=10 * ASSUMED.in_doubt),
    ]
    return found


def wait_p99(rate: float, servers: int, seconds: Callable[[random.Random], float], group: int) -> float:
    """Seconds in the queue that 1 % of the verdicts exceed, with `rate` of them a second."""
    chance = random.Random(_SEED)
    free = [0.0] * servers
    waits = []
    now = 0.0
    for _ in range(_GROUPS):
        now += chance.expovariate(rate / group)
        for _ in range(group):
            start = max(now, free[0])
            heapq.heapreplace(free, start + seconds(chance))
            waits.append(start - now)
    return sorted(waits)[int(0.99 * len(waits))]


def fewest(rate: float, seconds: Callable[[random.Random], float], mean: float, group: int = ASSUMED.group) -> int:
    """The fewest servers that are at most so busy as is allowed, and let 99 % wait for less than a second."""
    servers = max(1, math.ceil(rate * mean / ASSUMED.busy))
    while servers <= _SIMULATED and wait_p99(rate, servers, seconds, group) > _MOST_WAIT:
        servers += max(1, servers // 20)
    return servers


@dataclass(frozen=True, slots=True)
class Need:
    """What one kind of judge needs at one volume."""

    cores: int
    gpus: int
    requests: float
    memory_gb: float
    wait: float
    drained: float

    @property
    def dollars(self) -> float:
        """A day's cost: memory is not counted, it comes with cores or is the environments' own."""
        return 24 * (self.cores * ASSUMED.core_hour + self.gpus * ASSUMED.gpu_hour)


def need(kind: Kind, volume: int) -> Need:
    """Cores, GPUs with a judge model, memory of environments, and what the loss of a node does."""
    rate = ASSUMED.peak * volume / _DAY
    cores = fewest(rate, kind.seconds, kind.mean)
    slots = 0
    if kind.requests:
        slots = fewest(
            rate * kind.requests,
            lambda chance: chance.lognormvariate(math.log(ASSUMED.llm_seconds), ASSUMED.llm_spread),
            ASSUMED.llm_mean,
            max(1, round(ASSUMED.group * kind.requests)),
        )
    memory = rate * ASSUMED.env_share() if kind.in_env else 0.0
    gpus = math.ceil(slots / ASSUMED.llm_at_once)
    return Need(cores, gpus, rate * kind.requests, memory, *node_lost(rate, cores / kind.mean, cores))


def node_lost(rate: float, capacity: float, cores: int) -> tuple[float, float]:
    """The longest wait, and the seconds until the queue is empty again, when a node goes for `away` seconds.

    As a fluid: what comes in more than what goes out piles up while the node is away, and flows off afterwards.
    """
    left = capacity * max(0, cores - ASSUMED.node) / cores
    pile = max(0.0, rate - left) * ASSUMED.away
    # Where nothing else judges, what comes in first waits as long as the node is away
    wait = pile / capacity if left else ASSUMED.away
    return wait, pile / (capacity - rate)


def most_a_day(kind: Kind) -> tuple[float, str]:
    """Verdicts a day within what the run's nodes have to spare, and what is used up first."""
    per_verdict = {
        "cores": kind.mean / (ASSUMED.busy * ASSUMED.spare_cores),
        "judge models' GPUs": kind.requests
        * ASSUMED.llm_mean
        / (ASSUMED.busy * ASSUMED.llm_at_once * ASSUMED.spare_gpus),
        "environments' memory": ASSUMED.env_share() / ASSUMED.spare_gb if kind.in_env else 0.0,
    }
    first = max(per_verdict, key=lambda name: per_verdict[name])
    return _DAY / (ASSUMED.peak * per_verdict[first]), first


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measured", type=Path, default=KEPT)
    kept = json.loads(parser.parse_args().measured.read_text(encoding="utf-8"))
    about, every = kept["about"], kinds(kept["kinds"])
    needs = {kind.name: [need(kind, volume) for volume in VOLUMES] for kind in every}
    print(f"measured {about['date']}: {about['processor']}, Python {about['python']}, astuner {about['version']}")
    print(
        f"assumed: groups of {ASSUMED.group}, peak {ASSUMED.peak:g} x the day's mean, at most {ASSUMED.busy:.0%} busy,"
    )
    print(f"  a judge model's reply {ASSUMED.llm_seconds:g} s (median), {ASSUMED.llm_at_once} at once a GPU, asked "
          f"about {ASSUMED.in_doubt:.0%} of rows in doubt,")  # fmt: skip
    print(f"  an episode {ASSUMED.episode:g} s in {ASSUMED.env_gb * 1000:g} MB, ${ASSUMED.core_hour:.2f} a core-hour, "
          f"${ASSUMED.gpu_hour:.2f} a GPU-hour")  # fmt: skip
    _table("cores", needs, lambda one: f"{one.cores:,}", {kind.name: f"{1e6 * kind.mean:,.0f} us" for kind in every})
    models = {name: found for name, found in needs.items() if found[0].gpus}
    _table("LLM requests a second", models, lambda one: f"{one.requests:,.0f}")
    _table("GPUs of judge models", models, lambda one: f"{one.gpus:,}")
    in_env = {kind.name: needs[kind.name] for kind in every if kind.in_env}
    _table("GB of environments", in_env, lambda one: f"{one.memory_gb:,.0f}")
    lost = f"a node of {ASSUMED.node} cores lost for {ASSUMED.away:g} s: the longest wait, until it is made up for"
    _table(lost, needs, lambda one: f"{one.wait:,.0f} s, {one.drained:,.0f} s")
    bill = 24 * ASSUMED.gpus * ASSUMED.gpu_hour
    _table(
        f"dollars a day, beside ${bill:,.0f} for the {ASSUMED.gpus:,} GPUs", needs, lambda one: f"{one.dollars:,.0f}"
    )
    print(f"\nthe first bottleneck, with {ASSUMED.spare_cores:,} cores, {ASSUMED.spare_gpus} GPUs and "
          f"{ASSUMED.spare_gb // 1000} TB to spare")  # fmt: skip
    for kind in every:
        most, first = most_a_day(kind)
        print(f"{kind.name:<24}{most:>10.1e} verdicts a day: {first}")


def _table(
    title: str, needs: Mapping[str, list[Need]], cell: Callable[[Need], str], second: Mapping[str, str] | None = None
) -> None:
    heads = "".join(f"{f'10^{round(math.log10(volume))} a day':>16}" for volume in VOLUMES)
    print(f"\n{title}\n{'':<24}{'' if second is None else '   a verdict'}{heads}")
    for name, found in needs.items():
        middle = "" if second is None else f"{second[name]:>12}"
        print(f"{name:<24}{middle}{''.join(f'{cell(one):>16}' for one in found)}")


if __name__ == "__main__":
    main()
