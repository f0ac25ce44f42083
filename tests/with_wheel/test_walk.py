"""A new clone, walked as a reader does: every command and block of the README, as printed and in its order."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.readme import BLOCKS, COMMANDS, INLINE, README, ROOT, SESSION, written_files
from tests.targets import TARGETS

# seconds: an environment is installed in a fixture, on a machine that may be busy
pytestmark = pytest.mark.timeout(1800)
# each stands in a sentence, and is run as it stands by .ci/run or by one of its targets
ELSEWHERE = {
    "astuner judge --engine ray": "test-ray",
    "make demo": "among the commands of the blocks",
    "make bench-front-door": "prints the first table; a bar of `make bench-all`",
    "make tutorials": ".ci/run",
    "make train": "some minutes; its figures come from it",
    "make record": "needs a model server; records what `make demo` judges",
    "make test": ".ci/run",
    "pip install .": "test_wheel.py installs the wheel, which holds the same",
    "pip install '.[parquet]'": "what the core's tests are installed with has it",
    "pip wheel --no-deps .": "test_wheel.py",
    "astuner serve --conf train.yaml": "make test-serve",
    "astuner init": "test_wheel.py runs each kind",
    "astuner rules run": "tests/core/cli",
    "astuner demo": "test_wheel.py",
    "astuner migrate ajet.yaml": "tests/core/cli",
    **{f"astuner {name}": "tests/core/cli, tests/core/lab" for name in (
        "view", "report", "audit", "agree", "judge-eval", "compare", "watch", "doctor", "judge", "serve", "rollout",
        "config",
    )},
}  # fmt: skip


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the README's commands ran, one after the other in one shell."""
    work = tmp_path_factory.mktemp("walk")
    # what is walked is what is in this checkout, whether it is committed or not
    origin = work / "origin"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(origin)], check=True)
    changed = subprocess.run(["git", "diff", "HEAD", "--binary"], cwd=ROOT, check=True, capture_output=True).stdout
    if changed:
        subprocess.run(["git", "apply"], cwd=origin, input=changed, check=True)
        subprocess.run(["git", "add", "--all"], cwd=origin, check=True)
        who = ["-c", "user.name=walk", "-c", "user.email=walk@localhost"]
        subprocess.run(["git", *who, "commit", "--quiet", "-m", "walk"], cwd=origin, check=True)
    (work / "bin").mkdir()
    # `make` takes python3, which is to be the Python of this run and not one that a version manager picks
    (work / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
    lines = [f"echo '$ '{shlex.quote(line)} >&2\n{line}" for line in COMMANDS]
    script = "set -e\n" + "\n".join(lines) + "\npwd > ../walked\n"
    environment = {"PATH": f"{work / 'bin'}:/usr/bin:/bin", "HOME": str(work), "LANG": "C.UTF-8"}
    # the reader clones the repository from wherever it is
    checkout = work / "checkout"
    subprocess.run(["git", "clone", "--quiet", str(origin), str(checkout)], check=True)
    done = subprocess.run(
        ["bash", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rows per second" in done.stdout
    return Path((work / "walked").read_text(encoding="utf-8").strip())


def in_clone(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{clone / '.venv' / 'bin'}:/usr/bin:/bin", "HOME": str(clone.parent)}
    return subprocess.run(words, cwd=clone, env=environment, capture_output=True, text=True, timeout=300)


def test_every_command_ran_in_the_new_clone(clone: Path) -> None:
    assert {"make demo", ". .venv/bin/activate"} <= set(COMMANDS)
    assert {path.name for path in (clone / "out").iterdir()} >= {"math.html", "my_judge", "scored.jsonl"}


def test_the_session_prints_what_it_shows(clone: Path) -> None:
    (clone / "session.txt").write_text(SESSION, encoding="utf-8")
    done = in_clone(clone, "python", "-m", "doctest", "session.txt")
    assert done.returncode == 0, done.stdout


def test_the_files_that_a_reader_writes_load(clone: Path) -> None:
    written = written_files()
    for name, body in written.items():
        (clone / name).write_text(body, encoding="utf-8")
    for name in filter(lambda name: name.endswith(".yaml"), written):
        done = in_clone(clone, "astuner", "check", "--conf", name)
        assert done.returncode == 0, done.stderr


def test_no_block_and_no_command_is_passed_over() -> None:
    ran = {"console", "pycon", "python", "yaml"}
    assert README.count("\n```") == 2 * len(BLOCKS)
    assert {language for language, _ in BLOCKS} == ran
    assert sum(line.startswith("$ ") for _, body in BLOCKS for line in body.splitlines()) == len(COMMANDS)
    assert sorted(set(INLINE) - set(ELSEWHERE)) == []
    assert {name.split()[1] for name in INLINE if name.startswith("make ")} <= TARGETS
