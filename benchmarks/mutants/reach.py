"""Which tests reach which lines, and how long each test takes: one run of the core tests, under coverage."""

from __future__ import annotations

import difflib
import hashlib
import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from coverage import CoverageData

# The core's tests, and those that need a socket, a jail or agentscope and no other environment
TESTS = ("tests/core", "tests/with_code", "tests/with_servers/env", "tests/with_servers/serve", "tests/with_agentscope")
CASES = "tests/cases"
# Tests of the repository's own texts would notice a change for its letters; a thousand attacks take too long
NOT_RUN = ("tests/core/house", "tests/core/docs", "tests/with_code/test_red_team.py")
# The wing of a module is the folder of tests/core that is named as the module's own; these have others, too
WINGS = {
    "verify/text": ("tests/core/verify", "tests/core/task_judge"),
    "verify/code": ("tests/core/verify/code", "tests/with_code/test_code_judge.py"),
    "task_judge/sql_judge": ("tests/with_code/test_sql_judge.py",),
    "task_judge/reasoning_gym_judge": ("tests/with_code/test_reasoning_gym_judge.py",),
    "_jail": ("tests/with_code/test_jail.py", "tests/with_code/test_code_judge.py"),
    "storage": ("tests/core/records",),
    "env_service": ("tests/core/env_service", "tests/with_servers/env"),
    "service": ("tests/core/service", "tests/with_servers/serve"),
    "model_tuner": ("tests/with_agentscope",),
}
# Modules that run in child processes, where coverage does not see which test asks: the line at which the pool takes a
# question stands for all of them
IN_CHILDREN = ("agentscope_tuner/verify", "agentscope_tuner/task_judge")
POOL, TAKES_A_QUESTION = "agentscope_tuner/_run/pool.py", "self.soon(self._add, question)"
SETTINGS = """
[run]
source = agentscope_tuner
dynamic_context = test_function
data_file = {data}
"""


def measure(tree: Path, out: Path, *, anew: bool) -> None:
    """Run tests once in a copy of the tree, under coverage: a few minutes for all of them.

    Args:
        tree: the copy.
        out: keeps what was measured, so that later only tests that are new or changed run.
        anew: measure all, as is right after larger changes of the package.
    """
    known = {} if anew else _measured(out)
    cases = b"".join(path.read_bytes() for path in sorted((tree / CASES).iterdir()))
    tests = {str(path.relative_to(tree)): _digest(path, cases) for path in _test_files(tree)}
    stale = {test: digest for test, digest in tests.items() if known.get(test, ("", 0))[0] != digest}
    if not stale:
        return
    out.mkdir(parents=True, exist_ok=True)
    piece = (out / str(len(list(out.glob("*.json"))))).absolute()
    settings = piece.with_suffix(".cfg")
    settings.write_text(SETTINGS.format(data=piece.with_suffix(".coverage")))
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-n0", "-q"]
    junit = f"--junitxml={piece.with_suffix('.xml')}"
    done = subprocess.run([*command, "-p", "no:cacheprovider", junit, *sorted(stale)], cwd=tree, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit("pytest could not run")
    if done.returncode:
        print("tests that fail before any change tell nothing, and are left out", flush=True)
    shutil.copytree(tree / "agentscope_tuner", piece.with_suffix(".sources"), ignore=shutil.ignore_patterns("*.pyc"))
    piece.with_suffix(".json").write_text(json.dumps(stale))


def _test_files(tree: Path) -> list[Path]:
    left_out = [tree / place for place in NOT_RUN]
    files = [file for tests in TESTS for file in (tree / tests).rglob("test_*.py")]
    return sorted(file for file in files if not any(map(file.is_relative_to, left_out)))


def _digest(path: Path, cases: bytes) -> str:
    """Of a test file, with the tables of cases where it reads them: new rows may reach more lines."""
    text = path.read_bytes()
    return hashlib.sha256(text + cases if b'"cases"' in text else text).hexdigest()


def _measured(out: Path) -> dict[str, tuple[str, int]]:
    """For each test file the digest that it had when it was measured last, and the number of that piece."""
    found: dict[str, tuple[str, int]] = {}
    for number in range(len(list(out.glob("*.json")))):
        for test, digest in json.loads((out / f"{number}.json").read_text()).items():
            found[test] = (digest, number)
    return found


@dataclass(frozen=True)
class Reach:
    """Tests, as pytest names them, by the lines that they run; the seconds and cases of each, and those that fail."""

    by_line: dict[str, dict[int, set[str]]]
    seconds: dict[str, float]
    cases: Counter[str]
    failed: set[str]

    def of(self, path: str, lines: range) -> list[str]:
        """The tests that a change of these lines could fail: the wing's first, and of those of the quickest cases."""
        wing, here = wing_of(path), self.by_line.get(path, {})
        seen = {test for line in lines for test in here.get(line, ())}
        near = {test for tests in here.values() for test in tests}
        # A table is built by the first test that needs it, and serves all others of the module
        reached = seen | {test for test in near if test.startswith(wing)}
        if unseen := not seen:
            # Run by another thread or process, which has no test of its own: whatever reaches the module, or its
            # wing, may have asked it to
            reached = near | {test for test in self.cases if test.startswith(wing)}
        asked = next((folder for folder in IN_CHILDREN if path.startswith(folder)), None)
        if asked and (unseen or wing != wing_of(asked) or "/math/" in path):
            reached |= self._through_the_pool()
        reached -= self.failed
        return sorted(reached, key=partial(self._turn, wing, seen))

    def _turn(self, wing: tuple[str, ...], seen: set[str], test: str) -> tuple[bool, bool, float, str]:
        seconds = self.seconds.get(test, 0.0) / max(1, self.cases[test])
        return test not in seen, not test.startswith(wing), seconds, test

    def _through_the_pool(self) -> set[str]:
        lines = Path(POOL).read_text(encoding="utf-8").splitlines()
        found = [number for number, line in enumerate(lines, 1) if line.strip() == TAKES_A_QUESTION]
        if not found:
            raise SystemExit(f"{POOL} has no line {TAKES_A_QUESTION!r}: name the one at which it takes a question")
        return self.by_line.get(POOL, {}).get(found[0], set())


def wing_of(path: str) -> tuple[str, ...]:
    """The folders of tests that cover a module, from its path."""
    module = path.removeprefix("agentscope_tuner/").removesuffix(".py")
    named = next((wing for place, wing in WINGS.items() if module.startswith(place)), None)
    return named or (f"tests/core/{module.partition('/')[0].lstrip('_')}",)


def load(tree: Path, out: Path) -> Reach:
    """What `measure` found."""
    by_line: dict[str, dict[int, set[str]]] = {}
    seconds: defaultdict[str, float] = defaultdict(float)
    cases: Counter[str] = Counter()
    failed: set[str] = set()
    latest = {test: number for test, (_, number) in _measured(out).items()}
    for number in sorted(set(latest.values())):
        data = CoverageData(str(out / f"{number}.coverage"))
        data.read()
        for file in data.measured_files():
            name = Path(file).relative_to(tree.absolute())
            if not name.exists():
                continue
            lines, measured = by_line.setdefault(str(name), {}), data.contexts_by_lineno(file)
            before = (out / f"{number}.sources" / name.relative_to("agentscope_tuner")).read_text(encoding="utf-8")
            for line, earlier in _lines_before(before, name.read_text(encoding="utf-8")):
                if any(old in measured for old in earlier):
                    contexts = {context for old in earlier for context in measured.get(old, ()) if context}
                    tests = {_node(tree, context) for context in contexts}
                    lines.setdefault(line, set()).update(
                        test for test in tests if latest.get(test.partition("::")[0]) == number
                    )
        for case in ET.parse(out / f"{number}.xml").iter("testcase"):
            test = _node(tree, f"{case.attrib['classname']}.{case.attrib['name'].partition('[')[0]}")
            if latest.get(test.partition("::")[0]) == number:
                seconds[test] += float(case.attrib["time"])
                cases[test] += 1
                if case.find("failure") is not None or case.find("error") is not None:
                    failed.add(test)
    return Reach(by_line, dict(seconds), cases, failed)


def _lines_before(before: str, now: str) -> Iterator[tuple[int, range]]:
    """For each line of a file's text now, the lines (from 1) that it had before: for a changed one those around it."""
    old, new = before.splitlines(), now.splitlines()
    for kind, first, end, start, stop in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        for line in range(start, stop):
            same = first + line - start + 1
            yield line + 1, range(same, same + 1) if kind == "equal" else range(max(first, 1), end + 2)


@cache
def _node(tree: Path, context: str) -> str:
    """`tests.core.verify.test_boxed.test_last` as pytest names it."""
    parts = context.split(".")
    for length in range(len(parts) - 1, 0, -1):
        path = Path(*parts[:length]).with_suffix(".py")
        if (tree / path).is_file():
            return "::".join([str(path), *parts[length:]])
    return json.dumps(context)
