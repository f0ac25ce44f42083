"""A CSV of 1,000,000 rows through `rules run`: rows a second, and the most memory the command ever held.

Exit code 1 when that was 200 MB or more.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bars import at_most
from benchmarks.rules.speed import prose

LIMIT_MB = 200
AGENT = """\
evaluation:
  rules:
    - {id: tokens, kind: max_tokens, max_tokens: 60}
    - {id: filled, kind: non_empty}
    - {id: no_json, kind: regex_match, pattern: "^[^{]*$"}
    - {id: period, kind: ends_with, suffix: ".", action: record}
"""


def write_table(path: Path, rows: int) -> None:
    """`rows` rows of id, query and an output of 50 to 400 characters; some hold quotes and line breaks."""
    choose = random.Random(2)
    outputs = [prose(choose.choice(["English", "Chinese"]), choose.randrange(50, 400), choose) for _ in range(997)]
    outputs += ["", 'say "x",\nthen\nstop.', "{}"]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "query", "output"])
        writer.writerows((number, "how many apples?", outputs[number % len(outputs)]) for number in range(rows))


def main() -> None:
    """Print the size, the rate and the peak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        table, checked = Path(folder) / "table.csv", Path(folder) / "checked.csv"
        (Path(folder) / "bench.yaml").write_text(AGENT, encoding="utf-8")
        write_table(table, rows)
        started = time.perf_counter()
        command = [sys.executable, "-m", "agentscope_tuner.rules", "run", "--agents-dir", folder, "--agent", "bench"]
        done = subprocess.run(
            [*command, "--infile", str(table), "--outfile", str(checked)], capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - started
        if done.returncode:
            sys.exit(f"exit code {done.returncode}: {done.stderr}")
        size = table.stat().st_size / 1e6
    # the only child: its peak is the children's; Linux counts in KiB, macOS in bytes
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit / 1e6
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, one process")
    print(f"CSV, {rows:,} rows, {size:,.0f} MB: {rows / seconds:,.0f} rows/s, peak memory {peak:.0f} MB")
    if not at_most("rules over a million rows of CSV, peak memory", peak, LIMIT_MB, "MB"):
        sys.exit(f"more than {LIMIT_MB} MB")


if __name__ == "__main__":
    main()
