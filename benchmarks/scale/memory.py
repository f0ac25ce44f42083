"""The memory of the local engine over a million rows, generated and streamed: `python -m benchmarks.scale.memory`.

Peak resident memory of this process and of its workers, each since it started, when a tenth, a half and all of the rows
are judged. Fails when the sum grows by more than `--most-growth` between a tenth and the end.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.local import score
from agentscope_tuner.records.blocks import Block, TextBlock
from benchmarks.bars import at_most
from benchmarks.scale.workload import MATH, config, exact_lines

_BLOCK_ROWS = 300


def peak_mib(pid: int) -> float:
    """The most memory that a process has had resident, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024


def children() -> list[int]:
    """The processes that this one has started, threads' children included, the oldest first."""
    found = [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
    return sorted(found)


def blocks(count: int) -> Iterator[Block]:
    """Exact-match math, in blocks as they are read from a file."""
    made, number = exact_lines(count), 1
    while taken := list(islice(made, _BLOCK_ROWS)):
        yield TextBlock("made", number, b"".join(taken))
        number += len(taken)


def main() -> None:
    """Print the peaks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most-growth", type=float, default=0.05)
    options = parser.parse_args()
    looks = [(options.rows // 10, "10 %"), (options.rows // 2, "50 %"), (options.rows, "100 %")]
    started, sums, verdicts = time.perf_counter(), [], 0
    rows, looked = 0, 0
    for block in score(LineJudge(config(MATH)), blocks(options.rows), jobs=options.jobs):
        rows += block.summary.rows
        verdicts += block.summary.successes
        while looked < len(looks) and rows >= looks[looked][0]:
            # all but the last look find the workers at work
            peaks = [peak_mib(os.getpid()), *(peak_mib(pid) for pid in children())]
            sums.append(sum(peaks))
            shown = " + ".join(f"{peak:.1f}" for peak in peaks)
            print(f"{looks[looked][1]:>5}: {rows:>9,} rows, peak RSS {shown} = {sums[-1]:.1f} MiB", flush=True)
            looked += 1
    seconds = time.perf_counter() - started
    assert verdicts == options.rows, f"{options.rows - verdicts} rows were not judged right"
    growth = sums[-1] / sums[0] - 1
    print(f"{options.rows:,} rows in {seconds:.0f} s; growth from 10 % to 100 %: {growth:.1%}")
    if not at_most("memory's growth over a million rows", 100 * growth, 100 * options.most_growth, "%"):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
