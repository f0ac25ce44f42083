"""How many changes of the package the tests notice: a seeded sample of mutmut's mutants, each run alone.

Each mutant is one change of one function or class, written into a copy of the tree. Only tests that reach the changed
lines run, those of the module's own wing first and of them tables of quick cases, in a process forked from one that has
imported the libraries: a few seconds of CPU for a mutant, and more for one that survives. (mutmut's own run makes every
call of the package slower.) Printed are the mutants drawn, run, killed, timed out and survived; survivors stand with
their differences in `out/mutants/survivors-<seed>.md`, and survivors.md beside this file says which kinds are left.

What `--minutes` cut short is continued by the next call with the same seed. `--again` runs its survivors once more.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.mutants import changes, forked, reach
from benchmarks.mutants.changes import Change, Mutant

OUT = Path("out/mutants")
COPIED = ("agentscope_tuner", "tests", "benchmarks", "configs", "docs", "tutorial", "deploy", ".github")
COPIED_FILES = ("README.md", "README.zh.md", "CHANGELOG.md", "setup.cfg", "pyproject.toml", "Makefile", "noxfile.py")
# Of tests that take more seconds together the quickest are run: the rest might notice a survivor, too
BUDGET = 120.0
SURVIVED, UNREACHED, TIMED_OUT, KILLED = "survived", "unreached", "timed out", "killed"


@dataclass(frozen=True)
class Result:
    """What came of a mutant, by which test, in how many seconds of wall time."""

    path: str
    index: int
    outcome: str
    by: str
    seconds: float
    difference: str


def copies(jobs: int, *, anew: bool) -> list[Path]:
    """A copy of the tree for each job, and in the first the tests' reach, measured."""
    trees = [(OUT / f"tree{number}").absolute() for number in range(jobs)]
    for tree in trees:
        for name in COPIED:
            shutil.copytree(name, tree / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for name in COPIED_FILES:
            shutil.copy2(name, tree / name)
    reach.measure(trees[0], OUT / "reach", anew=anew)
    return trees


def chosen(reached: reach.Reach, mutant: Mutant, changed: Change) -> tuple[list[str], float]:
    """The tests to run, and the seconds that they usually take."""
    tests: list[str] = []
    total = 0.0
    for test in reached.of(mutant.path, changed.lines):
        total += reached.seconds.get(test, 0.1)
        if tests and total > BUDGET:
            break
        tests.append(test)
    return tests, min(total, BUDGET)


def run(mutants: list[Mutant], trees: list[Path], reached: reach.Reach, until: float) -> Iterator[Result]:
    """Each mutant's result, as they come, until a time."""
    waiting, free = list(reversed(mutants)), list(trees)
    under_way: list[tuple[forked.Fork, Mutant, Change]] = []
    while under_way or (waiting and time.monotonic() < until):
        while free and waiting and time.monotonic() < until:
            mutant = waiting.pop()
            changed = changes.change(mutant)
            tests, usual = chosen(reached, mutant, changed)
            if not tests:
                yield Result(mutant.path, mutant.index, UNREACHED, "", 0.0, changed.difference)
                continue
            # imports, and room for a slower machine
            fork = forked.start(free.pop(), mutant.path, changed.source, tests, 20 + 4 * usual)
            under_way.append((fork, mutant, changed))
        time.sleep(0.02)
        for item in list(under_way):
            fork, mutant, changed = item
            if (code := fork.ended()) is not None:
                fork.restore()
                under_way.remove(item)
                free.append(fork.tree)
                yield _result(fork, mutant, changed, code)


def _result(fork: forked.Fork, mutant: Mutant, changed: Change, code: int) -> Result:
    log = (fork.tree / "mutant.log").read_text(encoding="utf-8", errors="replace").splitlines()
    # A table that a module builds as it is imported may fail there: then no test of the file is found. Pytest itself
    # ends on what a mutant leaves open, since warnings are errors
    noticed = any(line.startswith("ERROR tests/") or "PytestUnraisableExceptionWarning" in line for line in log)
    if code in (3, 4, 5, 70) and not noticed:
        raise SystemExit(f"pytest could not run for {mutant}: {log[-5:]}")
    late = code in (-signal.SIGXCPU, -signal.SIGKILL)
    outcome = SURVIVED if code == 0 else TIMED_OUT if late else KILLED
    by = next((line for line in log if line.startswith(("FAILED", "ERROR"))), f"exit code {code}")
    seconds = time.monotonic() - fork.started
    return Result(mutant.path, mutant.index, outcome, by, round(seconds, 2), changed.difference)


def report(name: str, drawn: int, results: list[Result]) -> None:
    """Print the numbers; write the survivors down."""
    count = Counter(result.outcome for result in results)
    killed = count[KILLED] + count[TIMED_OUT]
    print(
        f"seed {name}: {drawn} drawn, {len(results)} run, {count[KILLED]} killed, {count[TIMED_OUT]} timed out, "
        f"{count[SURVIVED]} survived, {count[UNREACHED]} reached by no test; "
        f"{killed / max(1, len(results)):.1%} of those run are killed or timed out"
    )
    lived = [result for result in results if result.outcome in (SURVIVED, UNREACHED)]
    parts = Counter(result.path.rpartition("/")[0] for result in results)
    for part, total in sorted(parts.items()):
        alive = sum(result.path.rpartition("/")[0] == part for result in lived)
        print(f"  {part}: {total - alive} of {total}")
    text = "\n".join(f"{one.path} {one.index} {one.outcome}\n```diff\n{one.difference}\n```\n" for one in lived)
    (OUT / f"survivors-{name}.md").write_text(text, encoding="utf-8")
    print(f"survivors: {OUT}/survivors-{name}.md")


def main() -> None:
    """Run a sample and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=150, help="mutants that are drawn, each as likely as any other")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=1e6, help="no mutant is begun later")
    parser.add_argument("--within", nargs="*", default=[], metavar="PATH", help="modules and folders to draw from")
    parser.add_argument("--again", action="store_true", help="run the survivors of this seed once more")
    parser.add_argument("--reach", action="store_true", help="measure anew which tests reach which lines")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    OUT.mkdir(parents=True, exist_ok=True)
    every = changes.population(OUT / "population.json", given.within)
    sample = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    print(f"{len(sample)} of {len(every)} mutants", flush=True)
    name = "-".join([str(given.seed), *(place.strip("/").replace("/", ".") for place in given.within)])
    kept = OUT / f"results-{name}.jsonl"
    known = [Result(**json.loads(line)) for line in kept.read_text().splitlines()] if kept.exists() else []
    if given.again:
        known = [result for result in known if result.outcome in (KILLED, TIMED_OUT)]
    results = {Mutant(result.path, result.index): result for result in known}
    trees = copies(given.jobs, anew=given.reach)
    reached = reach.load(trees[0], OUT / "reach")
    forked.import_libraries()
    with kept.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(result)) + "\n" for result in results.values())
        for result in run([one for one in sample if one not in results], trees, reached, until):
            results[Mutant(result.path, result.index)] = result
            file.write(json.dumps(asdict(result)) + "\n")
            file.flush()
            print(f"{len(results)} {result.outcome} {result.path} {result.index} {result.seconds} s", flush=True)
    report(name, len(sample), list(results.values()))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
