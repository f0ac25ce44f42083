"""How many changes of the deciding modules the tests notice: mutmut on a seeded sample of mutants.

`make mutants` calls it in a copy of the tree, with mutmut's environment. setup.cfg's `[mutmut]` names the modules and
the tests. It prints the share that was killed, and each survivor with its difference.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

SEED = 0
# of mutmut's exit codes, those that say that a mutant lives: tests passed, no test reaches it
SURVIVED, UNREACHED = 0, (5, 33)


def mutmut(*arguments: str) -> str:
    """What mutmut prints; its own exit code says nothing of mutants."""
    done = subprocess.run([sys.executable, "-m", "mutmut", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout


def results() -> dict[str, int | None]:
    """The exit code of each mutant, None where it was not run."""
    found: dict[str, int | None] = {}
    for path in sorted(Path("mutants").rglob("*.meta")):
        found |= json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return found


def main() -> None:
    """Run a sample and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=500, help="mutants that are run")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    jobs = ("--max-children", str(arguments.jobs))
    if not Path("mutants").exists():
        # writes every mutant, learns which tests reach which function, and runs one
        mutmut("run", *jobs, "agentscope_tuner.verify.boxed.x_last_boxed__mutmut_1")
    every = sorted(results())
    sample = random.Random(SEED).sample(every, min(arguments.sample, len(every)))
    print(f"{len(sample)} of {len(every)} mutants, seed {SEED}", flush=True)
    mutmut("run", *jobs, *sample)
    codes = {name: code for name, code in results().items() if name in set(sample)}
    lived = [name for name in sample if codes[name] == SURVIVED or codes[name] in UNREACHED]
    print(f"exit codes: {Counter(codes.values())}")
    killed = len(sample) - len(lived) - sum(code is None for code in codes.values())
    print(f"killed {killed} of {len(sample)}: {killed / len(sample):.1%}")
    for name in lived:
        print("unreached" if codes[name] in UNREACHED else "survived", name)
        print(mutmut("show", name))


if __name__ == "__main__":
    main()
