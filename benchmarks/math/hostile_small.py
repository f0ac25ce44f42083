"""Ten thousand hostile answers in a row, in a control group of one CPU and 256 MB: part of `make test-hostile`.

A judge that leaks, or lets an answer take what memory it wants, is killed there by the kernel. Each round judges the
set of `hostile` against another reference, so that no verdict is remembered. Needs a memory controller that this user
may write; where there is none, it says so and measures nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.math import hostile

_ROOT = Path("/sys/fs/cgroup")
_BYTES = 256 * 2**20


@contextmanager
def small_group() -> Iterator[Path | None]:
    """A control group with that much memory, of either version; None where none can be made."""
    for parent, limit in ((_ROOT / "memory", "memory.limit_in_bytes"), (_ROOT, "memory.max")):
        group = parent / f"astuner-hostile-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / limit).exists():
                (group / limit).write_text(str(_BYTES))
                yield group
                return
        finally:
            group.rmdir()
    yield None


def main() -> int:
    """0 when nothing was paid, late or run, and the kernel killed nobody."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    rounds = -(-asked.answers // len(hostile.outputs()))
    if asked.inside:
        return hostile.show(hostile.judge_all("control group of 1 CPU and 256 MB", rounds))
    with small_group() as group:
        if group is None:
            print("skipped: no control group with a memory limit can be made here")
            return 0
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        inside = [sys.executable, "-m", "benchmarks.math.hostile_small", "--inside", "--answers", str(asked.answers)]
        enter = f'echo $$ > {group}/cgroup.procs && exec "$@"'
        code = subprocess.run(["sh", "-c", enter, "sh", *inside]).returncode
        peak = next((file.read_text() for file in group.glob("memory.max_usage_in_bytes")), "unknown").strip()
        print(f"exit code {code}, peak memory of the group {peak} bytes, file cache counted")
        return code


if __name__ == "__main__":
    sys.exit(main())
