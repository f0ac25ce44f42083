"""Tests run in forks of this process, each in a tree of its own: the libraries are imported once, the package never."""

from __future__ import annotations

import importlib
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# imported by the tests or the package
LIBRARIES = [
    "diskcache",
    "httpx",
    "hypothesis",
    "jsonschema",
    "mpmath",
    "msgspec",
    "omegaconf",
    "openai",
    "pyarrow.parquet",
    "pydantic",
    "pytest",
    "regex",
    "rich.console",
    "sympy",
    "typer",
    "xdist",
    "yaml",
]
OPTIONS = [
    "-x",
    "-q",
    "-n0",
    "--no-header",
    "--tb=line",
    "-p",
    "no:cacheprovider",
    "--timeout=100",
    "-Wignore::pytest.PytestAssertRewriteWarning",
]


def import_libraries() -> None:
    """Before the first fork."""
    for name in LIBRARIES:
        importlib.import_module(name)


@dataclass
class Fork:
    """Tests under way in a tree of which one file is changed."""

    tree: Path
    path: str
    pid: int
    started: float
    limit: float

    def ended(self) -> int | None:
        """pytest's exit code, or minus the signal's number; None while the tests run."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid and time.monotonic() - self.started < 10 * self.limit:
            return None
        # with whatever processes a test had started
        with_children(self.pid)
        if not pid:
            os.waitpid(self.pid, 0)
            return -signal.SIGKILL
        return os.waitstatus_to_exitcode(status)

    def restore(self) -> None:
        """The changed file as it was, compiled file and all."""
        original, compiled = Path(self.path), _compiled(self.tree / self.path)
        shutil.copy2(original, self.tree / self.path)
        kept = compiled.with_suffix(".kept")
        if kept.exists():
            kept.replace(compiled)


def with_children(group: int) -> None:
    """Kill a group of processes."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def start(tree: Path, path: str, source: str, tests: Sequence[str], limit: float) -> Fork:
    """Run tests with one file changed.

    Args:
        tree: a copy of the repository.
        path: the file, from the repository's root.
        source: its text.
        tests: as pytest names them.
        limit: CPU seconds.
    """
    compiled = _compiled(tree / path)
    if compiled.exists():
        # Python takes a compiled file for fresh by its second and its size, and a change may keep both
        compiled.replace(compiled.with_suffix(".kept"))
    (tree / path).write_text(source, encoding="utf-8")
    pid = os.fork()
    if not pid:
        try:
            _run(tree, tests, limit)
        # boundary: a fork must never go on as its parent does
        except BaseException:  # noqa: BLE001
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(70)
    return Fork(tree, path, pid, time.monotonic(), limit)


def _run(tree: Path, tests: Sequence[str], limit: float) -> None:
    os.setsid()
    os.chdir(tree)
    log = os.open("mutant.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.path[:] = [str(Path.cwd()), *sys.path[1:]]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("benchmarks", "agentscope_tuner")]:
        del sys.modules[name]
    import pytest

    os._exit(pytest.main([*OPTIONS, *tests]))


def _compiled(path: Path) -> Path:
    return Path(importlib.util.cache_from_source(str(path)))
