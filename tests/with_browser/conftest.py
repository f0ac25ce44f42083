"""Headless Chromium, and `astuner view` as a user starts it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
# milliseconds: a machine of CI may be busy
expect.set_options(timeout=30_000)
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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        yield browser
        browser.close()


class Watched:
    """A page, with everything that must not happen on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.wrong: list[str] = []
        self.asked: list[str] = []
        page.set_default_timeout(60_000)
        page.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("console", lambda told: self.wrong.append(told.text) if told.type in ("error", "warning") else None)
        page.on("popup", lambda _: self.wrong.append("a window was opened"))
        page.on("request", lambda request: self.asked.append(request.url))


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 860}, color_scheme="light", locale="en-GB")
    yield context
    context.close()


@pytest.fixture
def watched(context: BrowserContext) -> Iterator[Watched]:
    watched = Watched(context.new_page())
    yield watched
    assert watched.wrong == []


Start = Callable[..., str]


@pytest.fixture
def view() -> Iterator[Start]:
    """Starts `astuner view`, and gives the address that it prints."""
    running: list[subprocess.Popen[str]] = []

    def start(*words: object) -> str:
        command = [sys.executable, "-c", "from agentscope_tuner.cli import main; main()", "view", *map(str, words)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        running.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        assert found, line
        return found[0]

    def stop() -> None:
        while running:
            process = running.pop()
            process.terminate()
            assert process.wait(30) == 143
            assert process.stdout is not None
            process.stdout.close()

    start.stop = stop  # type: ignore[attr-defined]
    yield start
    stop()


def row(n: int, *, task: str | None = None, reward: float | None = 1.0, **more: Any) -> dict[str, Any]:
    answer = more.pop("answer", f"We add: $18 + {n} = {18 + n}$. \\boxed{{{18 + n}}}")
    judgement = {
        "status": "judged" if reward is not None else "failed",
        "reward": reward,
        "is_success": None if reward is None else reward >= 1,
        "reason": more.pop("reason", f"exact: {18 + n} = {18 + n}"),
        "violations": more.pop("violations", []),
        "error": None,
        "cause": None if reward is not None else "endpoint",
        "metrics": more.pop("metrics", {}),
        "seconds": 0.002,
    }
    return {
        "id": more.pop("id", f"r{n}"),
        "task": {
            "main_query": f"What is 18 + {n}?",
            "task_id": task or f"t{n // 4}",
            "metadata": {"answer": f"{18 + n}"},
        },
        "output": {"metadata": {"final_answer": answer}},
        **more,
        "judgement": judgement,
    }


def several(count: int) -> list[dict[str, Any]]:
    rewards = [1.0, 0.0, 1.1, None, 0.0, 1.0, 0.2]
    found = []
    for n in range(count):
        metrics = {"part/correct": float(n % 2), "part/form": 0.1}
        broken = ["too_long"] if n % 9 == 0 else []
        found.append(row(n, reward=rewards[n % 7], step=n // 10, metrics=metrics, violations=broken))
    return found


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path
