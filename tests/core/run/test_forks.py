"""A child that is forked while other threads judge finds no lock held by a thread that it does not have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_tuner._run.forks import Kept, unforked

ROOT = Path(__file__).parents[3]
_SECONDS = 20.0


def child_says(what: Callable[[], bool]) -> bool:
    """What a forked child finds."""
    child = os.fork()
    if child == 0:
        ok = False
        try:
            ok = what()
        finally:
            os._exit(0 if ok else 1)
    return os.waitpid(child, 0)[1] == 0


@pytest.fixture
def beside(request: pytest.FixtureRequest) -> Callable[[Callable[[], object]], None]:
    """Runs something again and again in another thread, until the test has ended."""

    def start(work: Callable[[], object]) -> None:
        ended, begun = threading.Event(), threading.Event()

        def work_on() -> None:
            while not ended.is_set():
                work()
                begun.set()

        thread = threading.Thread(target=work_on)
        thread.start()
        request.addfinalizer(thread.join)
        request.addfinalizer(ended.set)
        assert begun.wait(_SECONDS)

    return start


# A lock held at the fork hung one child in three: then all of so many end in one run of 130
CHILDREN = 12


def test_no_fork_happens_while_another_thread_is_in_a_library_that_locks(
    beside: Callable[[Callable[[], object]], None],
) -> None:
    of_a_library = threading.Lock()

    def call() -> None:
        with unforked(), of_a_library:
            sum(range(2000))

    beside(call)
    assert all(child_says(lambda: of_a_library.acquire(timeout=_SECONDS)) for _ in range(CHILDREN))


def test_no_module_has_a_lock_that_a_fork_could_copy_while_it_is_held() -> None:
    package = ROOT / "agentscope_tuner"
    copied = {
        path.name
        for path in package.rglob("*.py")
        if re.search(r"^\w+ = threading\.R?Lock\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    # this one's own is made anew in the child
    assert copied == {"forks.py"}


IMPORTS = """
import os, sys, threading
from pathlib import Path
import agentscope_tuner._run.forks
folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
for number in range(40):
    (folder / f"slow{number}.py").write_text("total = 0\\nfor one in range(100000): total += one")
threading.Thread(target=lambda: [__import__(f"slow{number}") for number in range(40)]).start()
children = []
for number in range(40):
    child = os.fork()
    if child == 0:
        __import__(f"slow{number}")
        os._exit(0)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 40
"""


def test_a_child_can_import_what_another_thread_was_importing_at_the_fork(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORTS, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (run.returncode, run.stderr) == (0, "")


# What the body of a module does while another thread imports: each of these made a fork wait for a minute
CIRCLES = {
    "an import needs a library that locks, while a fork waits for it": """
def run():
    (folder / "locks.py").write_text(
        "import threading, time\\nfrom agentscope_tuner._run.forks import unforked\\nimport __main__\\n"
        "__main__.begun.set()\\ntime.sleep(0.3)\\nwith unforked(): pass"
    )
    threading.Thread(target=__import__, args=["locks"]).start()
    begun.wait()
    fork()
""",
    "a module forks that another thread waits for, in the middle of an import": """
def run():
    (folder / "outer.py").write_text(
        "import __main__\\n__main__.begun.set()\\n__main__.inside.wait()\\nimport forks_here"
    )
    (folder / "forks_here.py").write_text(
        "import __main__, time\\n__main__.inside.set()\\n__main__.begun.wait()\\ntime.sleep(0.3)\\n__main__.fork()"
    )
    threading.Thread(target=__import__, args=["outer"]).start()
    __import__("forks_here")
""",
    "a thread forks that imports": """
def run():
    (folder / "alone.py").write_text("import __main__\\n__main__.fork()")
    __import__("alone")
""",
    "a child forks": """
def run():
    fork(fork)
""",
}
CIRCLE = """
import os, sys, threading, time
from pathlib import Path
import agentscope_tuner._run.forks
folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
begun, inside = threading.Event(), threading.Event()
def fork(then=lambda: None):
    child = os.fork()
    if child == 0:
        try:
            then()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("what", CIRCLES)
def test_a_fork_waits_for_nobody_who_waits_for_it(tmp_path: Path, what: str) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"{CIRCLE}{CIRCLES[what]}\nrun()", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_a_fork_inside_of_unforked_and_of_an_import_waits_for_nobody() -> None:
    with unforked():
        assert child_says(lambda: True)


def test_a_kept_property_is_computed_once_and_holds_no_lock(beside: Callable[[Callable[[], object]], None]) -> None:
    computed: list[int] = []

    class Owner:
        @Kept
        def total(self) -> int:
            """A sum."""
            computed.append(1)
            return sum(range(5000))

    owner = Owner()
    assert (owner.total, owner.total, len(computed)) == (12497500, 12497500, 1)
    beside(lambda: Owner().total)
    assert all(child_says(lambda: Owner().total == 12497500) for _ in range(CHILDREN))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["fork", "pool", "spawn"])
@pytest.mark.parametrize("load", ["number", "formula", "llm", "first"])
def test_no_child_hangs_beside_threads_that_judge(way: str, load: str) -> None:
    command = [sys.executable, "-m", "benchmarks.scale.forks", "--children", "8", "--patience", "60"]
    run = subprocess.run([*command, "--ways", way, "--loads", load], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
