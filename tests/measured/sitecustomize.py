"""For `make coverage` alone: every measured process, and each of its children, imports this first, from its path.

`coverage` measures a process that Python's `site` starts it in, and writes what it saw when the process exits by itself
or is asked to by SIGTERM. The package's isolated children have no `site`, and all are killed once they are not needed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

# seconds for a child to write its data; one that hangs in a computation that no signal interrupts is killed then
PATIENCE = 1.5
# a measured worker takes so much more CPU time for the same formula, at most
SLOWER = 4.0


def children(module: ModuleType) -> None:
    """Change `agentscope_tuner._run.child`: children have a `site`, and are asked to end before they are killed."""
    kind, start, kill = module.ChildProcess, module.ChildProcess.__init__, module.ChildProcess.kill
    command = module.ChildProgram.command
    measured: weakref.WeakSet[Any] = weakref.WeakSet()

    def with_site(program: Any, descriptors: Sequence[int]) -> list[str]:
        return [word for word in command(program, descriptors) if word != "-S"]

    def start_and_remember(child: Any, program: Any, **options: Any) -> None:
        start(child, program, **options)
        # the children of tests hang, and die, on purpose
        if program.module.startswith("agentscope_tuner."):
            measured.add(child)

    def kill_in_time(child: Any) -> None:
        if child in measured and not child.is_dead():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGTERM)
            until = time.monotonic() + PATIENCE
            while not child.is_dead() and time.monotonic() < until:
                time.sleep(0.005)
        kill(child)

    def end_all() -> None:
        # the kernel would kill them at the end of this process
        for child in list(module._LIVE):
            child.kill()

    kind.__init__, kind.kill, module.ChildProgram.command = start_and_remember, kill_in_time, with_site
    atexit.register(end_all)


def sandbox(module: ModuleType) -> None:
    """Change `agentscope_tuner.verify.sandbox`: a worker may use the CPU time that a measured one needs."""
    module.Sandbox.cpu_seconds = lambda pool: SLOWER * pool.deadline


CHANGES: dict[str, Callable[[ModuleType], None]] = {
    "agentscope_tuner._run.child": children,
    "agentscope_tuner.verify.sandbox": sandbox,
}


class Changer(MetaPathFinder):
    """Has a module changed as soon as it is imported. Nothing is imported earlier: its lines would not be measured."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The usual specification; behind it, the change."""
        change = CHANGES.get(name)
        spec = PathFinder.find_spec(name, path, target) if change is not None else None
        if change is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            change(module)

        setattr(spec.loader, "exec_module", execute_and_change)  # noqa: B010 - mypy would not let a method be assigned to
        return spec


def save_often() -> None:
    """For Ray's workers, which Ray kills at any time."""
    from coverage import Coverage

    while True:
        time.sleep(0.5)
        if (measuring := Coverage.current()) is not None:
            measuring.save()


sys.meta_path.insert(0, Changer())
if any(word.endswith("default_worker.py") for word in sys.orig_argv):
    threading.Thread(target=save_often, daemon=True).start()
