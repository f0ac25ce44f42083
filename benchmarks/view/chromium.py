"""Headless Chromium, and a server that prints its address."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

ASTUNER = (sys.executable, "-c", "from agentscope_tuner.cli import main; main()")
# without the network flags Chromium asks for hosts of its own at every start
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def serving(*words: object) -> Iterator[str]:
    """`astuner view`, and the address that it prints."""
    process: subprocess.Popen[Any] = subprocess.Popen(
        [*ASTUNER, "view", *map(str, words)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        yield found[0]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def cpu_seconds() -> float:
    """CPU time that this process and all below it have used: the servers, and every process of the browser.

    On a machine that others use too, wall time measures them as well.
    """
    parents: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            # the fourth, and the fourteenth to the seventeenth, of proc(5): children that have ended count too
            used = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
            parents[int(entry.parent.name)] = (int(fields[1]), used)
    return sum(used for pid, (_, used) in parents.items() if _is_below(pid, parents))


def _is_below(pid: int, parents: dict[int, tuple[int, float]]) -> bool:
    while pid in parents and pid != os.getpid():
        pid = parents[pid][0]
    return pid == os.getpid()
