"""Jails that are none: what is to run in one runs in this process, and what it changes of the interpreter is restored.

For honest programs alone. The two sides of a line have one interpreter: one generator of random numbers, one order of
sets, and one of each function that a test may replace.
"""

from __future__ import annotations

import builtins
import decimal
import enum
import gc
import importlib
import io
import json
import math
import os
import random
import sys
import threading
import typing
import unittest
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner._jail import idle_jails
from agentscope_tuner._jail.bubblewrap import SHOWN
from agentscope_tuner._jail.jail import Ending, JailWork, RunLimits
from agentscope_tuner.task_judge import code_judge, reasoning_gym_judge, sql_judge
from agentscope_tuner.verify.code import grade
from agentscope_tuner.verify.code.inside import code_values, query_or_puzzle, run_program, run_tests, serve_program

# What a program, or its tests, may change where nothing lives after them
_CHANGED = (
    *(builtins, decimal, enum.EnumMeta, math, random, sys, threading.Thread, typing, unittest.TestCase),
    *(code_values, query_or_puzzle, run_program, run_tests, serve_program),
)


@pytest.fixture
def jails_here(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Judges that need jails get these."""
    monkeypatch.chdir(tmp_path_factory.getbasetemp())
    for judge in (code_judge, reasoning_gym_judge, sql_judge):
        monkeypatch.setattr(judge, "require_isolation", lambda *_, **__: None)
    jails = idle_jails.WarmJails()
    for module, name in ((grade, "warm_jails"), (sql_judge, "warm_jails"), (reasoning_gym_judge, "_jails")):
        monkeypatch.setattr(module, name, jails)
        monkeypatch.setattr(module, "Jail", JailHere)
    with _restored(), _uncollected():
        yield


@contextmanager
def _uncollected() -> Iterator[None]:
    """No collection of garbage amid `ast.parse`: there the other side may parse, too, a SystemError in CPython."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class JailHere:
    """See `Jail`."""

    alive = True

    def __init__(self, *, visible: Sequence[str] = (), **_: object) -> None:
        self._visible = visible

    def until_ready(self) -> None:
        pass

    def close(self) -> None:
        pass

    def begin(self, work: JailWork, limits: RunLimits) -> RunHere:
        return RunHere(work)

    def run(self, work: JailWork, limits: RunLimits) -> Ending:
        payload = work.payload
        for number, shown in enumerate(self._visible):
            payload = payload.replace(f"{SHOWN}/{number}".encode(), shown.encode())
        with _restored():
            for name, content in work.files.items():
                Path(name).write_bytes(content)
            # no hook is ever taken away again
            vars(sys)["addaudithook"] = lambda _: None
            return _ended(work.entry, payload, work.stdin)


class RunHere:
    """See `Run`. One that serves does so in a thread until it is stopped; any other runs at its first step."""

    waits_for: RunHere | None = None

    def __init__(self, work: JailWork) -> None:
        assert work.line is not None
        self.ending: Ending | None = None
        self._work, self._line = work, os.dup(work.line)
        self._threads, self._world = {*threading.enumerate()}, ExitStack()
        if work.entry.endswith(":serve"):
            self._world.enter_context(_restored())
            prepared, prepare = threading.Event(), run_program.prepare

            def forgotten(source: str, name: str) -> Any:
                # the tests import it by that name from the other side
                module = prepare(source, name)
                del sys.modules[name]
                prepared.set()
                return module

            _streams()
            run_program.prepare = forgotten
            vars(serve_program)["LINE"] = self._line
            self._thread = threading.Thread(target=serve_program.serve, args=(work.payload,), daemon=True)
            self._thread.start()
            assert prepared.wait(10)

    def step(self) -> float:
        if not self._work.entry.endswith(":serve"):
            vars(run_tests)["LINE"] = self._line
            self.ending = _ended(self._work.entry, self._work.payload)
            os.close(self._line)
        elif self.waits_for and self.waits_for.ending:
            for thread in {*threading.enumerate()} - self._threads:
                thread.join(10)
            self._world.close()
            os.close(self._line)
            self.ending = Ending("exit")
        return 0.0

    def stop(self) -> None:
        assert self.ending is not None


def _ended(entry: str, payload: bytes, stdin: bytes = b"") -> Ending:
    home, _, name = entry.partition(":")
    left: list[bytes] = []
    for module in (query_or_puzzle, run_program, run_tests):
        vars(module)["leave"] = left.append
    out, err = _streams(stdin)
    status = getattr(importlib.import_module(home), name)(payload)
    return Ending("exit", status, stdout=out.getvalue(), stderr=err.getvalue(), result=b"".join(left[-1:]))


def _streams(stdin: bytes = b"") -> tuple[io.BytesIO, io.BytesIO]:
    """What the program's streams write to."""
    written = io.BytesIO(), io.BytesIO()
    files = zip(("stdin", "stdout", "stderr"), (io.BytesIO(stdin), *written), strict=True)
    run_program._STREAMS = {
        name: io.TextIOWrapper(file, "utf-8", "surrogateescape", write_through=True) for name, file in files
    }
    return written


@contextmanager
def _restored() -> Iterator[None]:
    before = [dict(vars(place)) for place in _CHANGED]
    modules, finders, search, limit = {**sys.modules}, [*sys.meta_path], [*sys.path], sys.getrecursionlimit()
    folder, words, constants = os.getcwd(), [*sys.argv], {**vars(json.decoder)["_CONSTANTS"]}
    try:
        with warnings.catch_warnings():
            yield
    finally:
        for place, kept in zip(_CHANGED, before, strict=True):
            if vars(place) == kept:
                continue
            for name in vars(place).keys() - kept.keys():
                delattr(place, name)
            for name, one in kept.items():
                if vars(place).get(name) is not one:
                    setattr(place, name, one)
        sys.meta_path[:], sys.path[:], sys.argv[:] = finders, search, words
        sys.setrecursionlimit(limit)
        vars(json.decoder)["_CONSTANTS"].update(constants)
        os.chdir(folder)
        for name in ("__main__", "main", "tests", "solution", "clock"):
            sys.modules.pop(name, None)
            sys.modules.update({name: modules[name]} if name in modules else {})
