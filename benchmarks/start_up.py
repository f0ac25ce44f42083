"""How long `astuner` takes before its first row: `python -m benchmarks.start_up`.

Seconds of CPU of a whole command, its children included, the best of some: what a user waits for on a machine with
nothing else to do. Modules are compiled beforehand, as pip leaves them: a first pass, which is not counted, does it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bars import at_most

ROOT = Path(__file__).parent.parent
ROWS = ROOT / "tutorial" / "example_math_agent" / "rollouts.jsonl"
CONF = ROOT / "configs" / "math.yaml"
_MAIN = "from agentscope_tuner.cli import main; main()"


def seconds(arguments: list[str], passes: int, compiled: Path) -> float:
    """CPU time of `astuner` with these arguments, the least of `passes`; modules are compiled into `compiled`."""
    best = float("inf")
    unset = "PYTHONDONTWRITEBYTECODE"
    environment = {name: value for name, value in os.environ.items() if name != unset}
    environment["PYTHONPYCACHEPREFIX"] = str(compiled)
    for number in range(passes + 1):
        before = os.times()
        command = [sys.executable, "-c", _MAIN, *arguments]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        used = after.children_user - before.children_user + after.children_system - before.children_system
        best = min(best, used) if number else best
    return best


def main() -> None:
    """Print the seconds beside their bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compiled, row, target = (Path(folder) / name for name in ("compiled", "row.jsonl", "scored.jsonl"))
        at_most("astuner --help", seconds(["--help"], options.passes, compiled), 0.3, "s")
        row.write_bytes(ROWS.read_bytes().splitlines(keepends=True)[0])
        arguments = ["judge", "--conf", str(CONF), "--input", str(row), "--output", str(target)]
        at_most("astuner judge on one row", seconds(arguments, options.passes, compiled), 0.6, "s")


if __name__ == "__main__":
    main()
