"""Headless Chromium, and a server that prints its address."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
