"""Every benchmark that has a bar, in one run: `make bench-all`, or `make bench-all ONLY="bench-llm bench-combined"`.

Each is a make target, which builds the environment that it needs. What it prints is shown as it comes, and each line
with a bar (see `benchmarks.bars`) goes into `benchmarks/RESULTS.md`. A benchmark that fails, or that prints no such
line, is missed. Exit code 1 when any line is. A run of some of them prints the page, and leaves the file as it is.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.bars import BarLine, read_bar_line

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "RESULTS.md"

#: By make target: what it measures. In the order in which they run.
BENCHES: Mapping[str, str] = {
    "bench-engine": "rows a second of the local engine, with one and two workers",
    "bench-memory": "memory over a million rows: the local engine's, and that of reading Parquet",
    "bench-files": "file to file with one and two jobs, beside compute_reward on the same rows",
    "bench-start": "seconds until `astuner --help` and `astuner judge` on one row are done",
    "bench-http": "the reward service under load: requests and rows a second",
    "bench-tail": "the reward service with slow rows among others: p99 beside p50",
    "bench-forks": "children that are started while threads judge: how many hang",
    "bench-math": "the 2,000 made solutions, beside Math-Verify in one process of its own",
    "bench-env": "an evaluate through the env service's client, beside a bare pooled httpx call",
    "bench-rollout": "64 rollouts at once against an endpoint with 200 ms latency, and agents over two processes",
    "bench-ray": "rows a second through Ray, beside the local engine with as many workers",
    "bench-llm": "LLM grading under faults, beside a bare client, from the cache",
    "bench-combined": "a combined judge of three cheap parts, beside the three alone",
    "bench-insight": "agree and compare on 100,000 rows",
    "bench-audit": "`astuner audit` beside three peers, on 184 judges, most with a known hole",
    "bench-watch": "what log_dir adds to a judge, and the watch over a million rows",
    "bench-rules": "eight rules, beside a reference that compiles nothing ahead",
    "bench-view": "the page of `astuner view` on 100,000 rows",
    "bench-view-inspect": "the page beside `inspect view` on the same 20,000 rollouts",
    "bench-front-door": "what common reward code does with eight answers, beside astuner",
}
_PACKAGES = ("pydantic", "sympy", "mpmath", "openai", "httpx", "pyarrow", "numpy")


@dataclass(slots=True)
class Ran:
    """What one benchmark said.

    Attributes:
        code: its exit code.
        seconds: it took, the building of its environment included.
        lines: its figures.
    """

    code: int
    seconds: float
    lines: list[BarLine] = field(default_factory=list)

    @property
    def met(self) -> bool:
        """Whether it ended well, with every figure at its bar."""
        return self.code == 0 and bool(self.lines) and all(line.met for line in self.lines)


def ran(command: Sequence[str]) -> Ran:
    """Run one benchmark, and show what it prints as it comes."""
    started, lines = time.perf_counter(), []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stdout is not None
        for text in process.stdout:
            print(text, end="", flush=True)
            if found := read_bar_line(text):
                lines.append(found)
    return Ran(process.returncode, time.perf_counter() - started, lines)


def report(results: Mapping[str, Ran]) -> str:
    """The page: the machine, a line for each figure, and what each benchmark is."""
    figures = [line for result in results.values() for line in result.lines]
    met = sum(line.met for line in figures)
    parts = [
        "# What `make bench-all` printed last",
        "",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC. {_machine()}.",
        f"{_versions()}.",
        "",
        f"{met} of {len(figures)} figures reach their bar.{_not_run(results)}",
        "",
        "| measured | figure | bar | |",
        "| --- | --- | --- | --- |",
    ]
    for target, result in results.items():
        parts += [f"| {_cell(line.name)} | {line.figure} | {line.bar} | {line.said} |" for line in result.lines]
        if problem := _problem(result):
            parts.append(f"| `make {target}` | | | missed: {problem} |")
    parts += ["", "| command | what it measures | seconds |", "| --- | --- | --- |"]
    parts += [f"| `make {target}` | {BENCHES[target]} | {result.seconds:,.0f} |" for target, result in results.items()]
    return "\n".join([*parts, ""])


def _not_run(results: Mapping[str, Ran]) -> str:
    left = [f"`make {target}`" for target in BENCHES if target not in results]
    return f" Not run: {', '.join(left)}." if left else ""


def _problem(result: Ran) -> str:
    if not result.lines:
        return f"no figure, exit code {result.code}"
    # a benchmark that misses a bar may end with a code of its own
    return f"exit code {result.code}" if result.code and all(line.met for line in result.lines) else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}; load at the end {load}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for name in ("agentscope_tuner", *_PACKAGES):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def main() -> int:
    """Run them, and write the page after each: an interrupted run keeps what it has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=BENCHES, default=list(BENCHES), help="these alone")
    parser.add_argument("--output", type=Path, help="where the page goes; benchmarks/RESULTS.md when all of them run")
    asked = parser.parse_args()
    target_file = asked.output or (RESULTS if set(asked.only) == set(BENCHES) else None)
    results: dict[str, Ran] = {}
    for target in asked.only:
        print(f"\n== make {target}: {BENCHES[target]}", flush=True)
        results[target] = ran(["make", "--no-print-directory", target])
        if target_file is not None:
            target_file.write_text(report(results), encoding="utf-8")
    print(f"\n{report(results)}\n{'' if target_file is None else f'written to {target_file}'}")
    return 0 if all(result.met for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
