r"""`make fuzz`: 200,000 random answers through the whole comparison and through countdown.

No answer may raise, none may take longer than the deadline, and memory stays flat. Four answers of five are LaTeX:
mutations of real answers, and formulas of a grammar that is often broken on purpose; each is compared with a real
reference. The stages before the last run in this process; of the answers that they leave open, one of ten goes on to a
worker of the sandbox. Every fifth answer is a countdown equation.

The answers are judged in a child process, so that one that hangs is found and named: the parent kills the child. It
hangs when one answer has used much CPU time, or none at all for ten minutes; how busy the machine is does not count.
`--at N` prints and judges answer number N alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from agentscope_tuner.verify import countdown
from agentscope_tuner.verify.find import last_boxed
from agentscope_tuner.verify.math.verdict import Verdict, compare
from agentscope_tuner.verify.sandbox import DEADLINE, shared
from benchmarks.math.cpu import cpu_seconds
from benchmarks.math.latex import equation, latex, mutated, real_pairs, sound

SEED = 20261122
COUNT = 200_000
# of the answers that the cheap stages leave open, one in so many goes on to a worker
SANDBOX_SHARE = 10
# what one answer may use of the child's CPU before it hangs, and how long it may use none, as behind a lost wake-up
HANG_CPU_SECONDS = 20.0
IDLE_SECONDS = 600.0
SHOWN_EVERY = 20_000
GROWTH_MEGABYTES = 24.0
_PAGE = resource.getpagesize()


class Case(NamedTuple):
    """One answer; `reference` None: a countdown equation for 24 out of 4, 6, 3 and 2."""

    answer: str
    reference: str | None


@cache
def _real() -> list[tuple[str, str]]:
    return real_pairs()


def case(at: int, seed: int = SEED) -> Case:
    """Answer number `at` of the seed's series."""
    draw = random.Random(f"{seed}/{at}")
    if at % 5 == 4:
        return Case(equation(draw), None)
    answer, reference = draw.choice(_real())
    match at % 5:
        case 0:
            # against its own reference, so that the later stages see it too
            return Case(mutated(draw, [answer, reference]), reference)
        case 1:
            return Case(mutated(draw, [other for pair in draw.sample(_real(), 3) for other in pair]), reference)
        case 2:
            return Case(latex(draw, draw.randint(1, 5)), reference)
        case _:
            return Case(sound(draw, draw.randint(1, 5)), reference)


@dataclass
class Tally:
    """What a run showed; `violations` must be empty."""

    verdicts: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    slowest_cpu: tuple[float, int] = (0.0, -1)
    slowest_wall: tuple[float, int] = (0.0, -1)
    sandboxed: int = 0
    violations: list[str] = field(default_factory=list)


class _Stage:
    """The last stage for a share of the answers; the others stay undecided. Keeps its wall time apart."""

    def __init__(self, share: int) -> None:
        self.share, self.asked, self.seconds = share, 0, 0.0
        self.ran = 0

    def __call__(self, *asked: Any, **named: Any) -> tuple[Verdict, str]:
        self.asked += 1
        if self.asked % self.share:
            return "undecided", "left out of the share"
        self.ran += 1
        started = time.monotonic()
        verdict = shared(1, DEADLINE).compare(*asked, **named)
        self.seconds += time.monotonic() - started
        return verdict


def judge(found: Case, stage: _Stage) -> tuple[str, str]:
    """The verdict and the stage that gave it."""
    boxed = last_boxed(f"so it is \\boxed{{{found.answer}}}.")
    if found.reference is None:
        return f"countdown {countdown.score(boxed, 24, [Fraction(n) for n in (4, 6, 3, 2)]).reward}", "countdown"
    if boxed is None:
        # an answer that breaks out of its box is compared as it is
        boxed = found.answer
    verdict = compare(boxed, found.reference, symbolic=stage)
    return verdict.outcome, verdict.stage


def step(at: int, seed: int, stage: _Stage, tally: Tally) -> None:
    """Judge one answer and write down what it broke."""
    found = case(at, seed)
    stage.seconds = 0.0
    cpu, before = time.process_time(), stage.ran
    try:
        outcome, by = judge(found, stage)
    # boundary: whatever an answer raises is what this looks for
    except Exception:  # noqa: BLE001
        tally.violations.append(f"answer {at} raised: {found!r:.300}\n{traceback.format_exc(limit=-3)}")
        return
    used = time.process_time() - cpu
    tally.verdicts[outcome] += 1
    tally.stages[by] += 1
    tally.sandboxed += stage.ran - before
    tally.slowest_cpu = max(tally.slowest_cpu, (used, at))
    tally.slowest_wall = max(tally.slowest_wall, (stage.seconds, at))
    if used > DEADLINE:
        tally.violations.append(f"answer {at} took {used:.2f} s of this process's CPU: {found!r:.300}")


def megabytes() -> float:
    """What this process holds now."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * _PAGE / 2**20


def run(count: int, seed: int, start: int = 0, progress: Any = None, share: int = SANDBOX_SHARE) -> Tally:
    """Judge `count` answers from number `start` on."""
    tally, stage = Tally(), _Stage(share)
    settled = 0.0
    for at in range(start, start + count):
        if progress is not None:
            progress.value = at
        step(at, seed, stage, tally)
        if at - start == count // 5:
            # the caches are full by now
            settled = megabytes()
    growth = megabytes() - settled
    if count >= COUNT // 10 and growth > GROWTH_MEGABYTES:
        tally.violations.append(f"memory grew by {growth:.0f} MB from a fifth of the run to its end")
    return tally


def _child(count: int, seed: int, progress: Any, sender: Connection) -> None:
    started = time.monotonic()
    tally = run(count, seed, progress=progress)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sender.send((tally, peak, megabytes(), time.monotonic() - started))


def _stuck(cpu: float, wall: float) -> str:
    """How an answer hangs that has used so much CPU time in so many seconds; empty where it does not."""
    if cpu > HANG_CPU_SECONDS:
        return f"used {cpu:.0f} s of CPU time"
    return f"used no CPU time for {wall:.0f} s" if wall > IDLE_SECONDS and cpu < 1 else ""


def fuzz(count: int, seed: int) -> int:
    """Run in a child, print what it showed; 1 on any violation."""
    context = multiprocessing.get_context("spawn")
    progress = context.Value("q", -1)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(count, seed, progress, sender))
    child.start()
    assert child.pid is not None
    at, shown, since, used = -1, 0, time.monotonic(), 0.0
    while not receiver.poll(1):
        if progress.value != at:
            at, since, used = progress.value, time.monotonic(), cpu_seconds(child.pid)
        if at - shown >= SHOWN_EVERY:
            shown = at
            print(f"  {at:,} answers", flush=True)
        stuck = _stuck(cpu_seconds(child.pid) - used, time.monotonic() - since)
        if stuck or not child.is_alive():
            died = stuck if child.is_alive() else f"ended the process ({child.exitcode})"
            child.kill()
            print(f"answer {at} {died}: {case(max(at, 0), seed)!r:.500}")
            return 1
    tally, peak, held, seconds = receiver.recv()
    child.join()
    print(f"{count:,} answers of seed {seed} in {seconds:.0f} s: {dict(tally.verdicts)}")
    print(f"  decided by {dict(tally.stages)}; {tally.sandboxed:,} in the sandbox")
    print(f"  slowest: {tally.slowest_cpu[0]:.3f} s of this process's CPU (answer {tally.slowest_cpu[1]}),", end=" ")
    print(f"{tally.slowest_wall[0]:.3f} s of wall time in the sandbox (answer {tally.slowest_wall[1]})")
    print(f"  memory: peak {peak:.0f} MB, {held:.0f} MB at the end")
    kinds = Counter(violation.splitlines()[-1] for violation in tally.violations)
    for kind, times in kinds.most_common():
        first = next(v for v in tally.violations if v.splitlines()[-1] == kind)
        print(f"  {times} times: {first}")
    print(f"  {len(tally.violations)} violations")
    return 1 if tally.violations else 0


def main() -> int:
    """0 when nothing was violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--at", type=int, help="judge this answer alone")
    asked = parser.parse_args()
    if asked.at is not None:
        print(case(asked.at, asked.seed))
        print(judge(case(asked.at, asked.seed), _Stage(1)))
        return 0
    return fuzz(asked.count, asked.seed)


if __name__ == "__main__":
    sys.exit(main())
