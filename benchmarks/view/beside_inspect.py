"""The page beside `inspect view` on the same 20,000 rollouts: `make bench-view-inspect`.

The rollouts are converted to inspect_ai's log format by its own recorder, in an environment of its own. Both servers
listen on 127.0.0.1, and one headless Chromium opens both. Medians of five, in seconds: "first row" is from opening the
address of a running server to a row being drawn; "filter" from the filter being given to the count and the rows of what
is left being drawn.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import statistics
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page

from benchmarks.bars import at_least
from benchmarks.view.chromium import chromium, serving
from benchmarks.view.rows import write_rows

_ROWS = 20_000
_TIMES = 5
_WAIT = 300_000
_BIN = Path(".venvs/inspect/bin")
_QUESTION = "47 * 56"
# ours stand in the address; theirs are typed into the list's filter, and take a regular expression
_FILTERS = (
    ("filter by reward", "reward=1..", "reward >= 1"),
    ("filter by the question's text", "q=47+*+56", 'input_contains("47 [*] 56")'),
)
_OURS_DRAWN = """(count) => {
    const told = document.querySelector('.tab[aria-current]')?.textContent ?? '';
    const rows = [...document.querySelectorAll('.sheet-row:not(.head)')];
    return told.endsWith(' ' + count) && rows.length > 0 && rows.every((row) => !row.textContent.startsWith('…'));
}"""
_THEIRS_DRAWN = """(count) => document.querySelector('a[role=row]') !== null
    && [...document.querySelectorAll('span, div')].some((one) => one.textContent === count + ' rows')"""


def main() -> None:
    """Print the figures."""
    with TemporaryDirectory() as folder, chromium() as browser:
        scored = write_rows(Path(folder) / "run.jsonl", _ROWS)
        logs = Path(folder) / "logs"
        subprocess.run([_BIN / "python", "-m", "benchmarks.view.inspect_log", scored, logs], check=True)
        counts = _counts(scored)
        with serving(scored) as address:
            ours = _figures(browser, f"{address}#/rows", _OURS_DRAWN, f"{_ROWS:,}", _filter_ours, counts)
        name = next(logs.iterdir()).name
        with _inspect_view(logs) as address:
            place = f"{address}#/logs/{name}/samples/"
            theirs = _figures(browser, place, _THEIRS_DRAWN, f"{_ROWS}", _filter_theirs, counts)
        sizes = (scored.stat().st_size / 1e6, (logs / name).stat().st_size / 1e6)
    version = subprocess.check_output([_BIN / "inspect", "--version"], text=True).strip()
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(
        f"{_ROWS:,} rollouts; inspect_ai {version}, Python {platform.python_version()}, {cores} cores, load {load:.1f}"
    )
    print(f"{'':32}{'astuner view':>14}{'inspect view':>14}{'ratio':>8}")
    for title, one, other in zip(ours, ours.values(), theirs.values(), strict=True):
        print(f"{title + ', s':32}{one:14.3f}{other:14.3f}{other / one:8.1f}")
    print(f"{'on disk, MB (JSONL; .eval)':32}{sizes[0]:14.1f}{sizes[1]:14.1f}{sizes[1] / sizes[0]:8.1f}")
    for title, one in ours.items():
        at_least(f"20,000 rollouts beside inspect view, {title}", theirs[title] / one, 1)


def _counts(scored: Path) -> list[int]:
    """How many rows each filter leaves."""
    with open(scored, encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    rewards = sum((row["judgement"]["reward"] or 0) >= 1 for row in rows)
    return [rewards, sum(_QUESTION in row["task"]["main_query"] for row in rows)]


def _figures(
    browser: Browser, address: str, drawn: str, every: str, give: Callable[[Page, int], None], counts: list[int]
) -> dict[str, float]:
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.set_default_timeout(_WAIT)

    def load() -> None:
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_function(drawn, arg=every)

    # once before: both read what they read from disk
    load()
    found = {"first row": _median(load, lambda: None)}
    for number, (title, _, _) in enumerate(_FILTERS):

        def filtered(number: int = number) -> None:
            give(page, number)
            page.wait_for_function(drawn, arg=f"{counts[number]:,}" if "," in every else f"{counts[number]}")

        found[title] = _median(filtered, load)
    page.close()
    return found


def _median(act: Callable[[], object], before: Callable[[], object]) -> float:
    taken = []
    for _ in range(_TIMES):
        before()
        started = time.perf_counter()
        act()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def _filter_ours(page: Page, number: int) -> None:
    page.evaluate("(place) => { location.hash = place }", f"#/rows?{_FILTERS[number][1]}")


def _filter_theirs(page: Page, number: int) -> None:
    page.locator(".cm-content").click()
    page.keyboard.insert_text(_FILTERS[number][2])


@contextmanager
def _inspect_view(logs: Path) -> Iterator[str]:
    """`inspect view`, and its address once it answers there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["view", "start", "--host", "127.0.0.1", "--port", str(port), "--log-dir", str(logs)]
    process = subprocess.Popen([_BIN / "inspect", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}/"
        until = time.monotonic() + 120
        while not _answers(address):
            assert process.poll() is None, "inspect view has ended"
            assert time.monotonic() < until, "inspect view does not answer"
            time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except urllib.error.URLError:
        return False


if __name__ == "__main__":
    main()
