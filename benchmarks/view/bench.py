"""How long the page takes on 100,000 rows: `make bench-view`.

Medians of five, in seconds, as headless Chromium sees them, beside the CPU time that server and browser used. "Load" is
from opening the address of a server that has read the file to the rows being drawn; "filter" from the address having
changed to the filtered rows being drawn.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page

from benchmarks.bars import at_most
from benchmarks.view.chromium import chromium, cpu_seconds, serving
from benchmarks.view.rows import write_rows

_TIMES = 5
_WAIT = 300_000
# resolves when the tab counts so many rows and those in sight are drawn
_DRAWN = """(count) => new Promise((done) => {
    const look = () => {
        const told = document.querySelector('.tab[aria-current]')?.textContent ?? '';
        const rows = [...document.querySelectorAll('.sheet-row:not(.head)')];
        if (told.endsWith(' ' + count) && rows.length && rows.every((row) => !row.textContent.startsWith('…'))) done();
        else requestAnimationFrame(look);
    };
    look();
})"""


def main() -> None:
    """Print the figures."""
    with TemporaryDirectory() as folder, chromium() as browser:
        scored = write_rows(Path(folder) / "run.jsonl", 100_000)
        _two_runs(browser, scored, write_rows(Path(folder) / "other.jsonl", 100_000))
        _hundred_thousand(browser, scored)


def _hundred_thousand(browser: Browser, scored: Path) -> None:
    size = scored.stat().st_size / 1e6
    print(f"100,000 rows, {size:.0f} MB; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    started, used = time.perf_counter(), cpu_seconds()
    with serving(scored) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(_WAIT)
        page.goto(f"{address}#/rows")
        page.locator(".sheet-row .reward").first.wait_for()
        print(f"from the command to the first rows: {_since(started, used)}", flush=True)
        _drawn(page, "100,000")
        print(f"from the command to the last row in the index: {_since(started, used)}", flush=True)
        _report("load", 3, [_timed(lambda: _load(page, address)) for _ in range(_TIMES)])
        for name, filters, count in _counts(page):
            taken = []
            for _ in range(_TIMES):
                _go(page, "")
                _drawn(page, "100,000")
                taken.append(_timed(partial(_filter, page, filters, count)))
            _report(f"filter {name} ({count} rows)", 0.3, taken)
        _report("a row that is appended", 2, [_grown(page, scored, n) for n in range(_TIMES)])
        page.goto(f"{address}#/row/1")
        page.get_by_text("window.ran = 1").first.wait_for()
        at_most("100,000 rows on the page, scripts of theirs that ran", page.evaluate("window.ran ?? 0"), 0, "scripts")
        page.close()


def _two_runs(browser: Browser, first: Path, second: Path) -> None:
    """The overview of two runs, from its address to both curves being drawn, once the server has read both files."""
    with serving(first, second) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(_WAIT)
        _overlaid(page, address)
        _report("two runs of as many, overlaid", 3, [_timed(lambda: _overlaid(page, address)) for _ in range(_TIMES)])
        page.close()


def _overlaid(page: Page, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{address}#/overview")
    rows = page.locator(".card.wide table.small tbody tr")
    rows.nth(1).wait_for()
    while not all("100,000" in text for text in rows.all_inner_texts()):
        # a file is still being read
        page.wait_for_timeout(50)


def _counts(page: Page) -> list[tuple[str, str, str]]:
    """The filters, and how many rows each leaves, as the page itself says once it has settled."""
    found = []
    for filters in ("status=failed", "rule=no_code", "group=mixed", "q=24+%3D", "part=form%3A0..0.1", "sort=-reward"):
        _go(page, filters)
        page.wait_for_timeout(3000)
        told = page.locator(".tab[aria-current]").text_content() or ""
        found.append((filters, filters, told.rpartition(" ")[2]))
    return found


def _go(page: Page, filters: str) -> None:
    page.evaluate("(place) => { location.hash = place }", f"#/rows?{filters}")


def _filter(page: Page, filters: str, count: str) -> None:
    _go(page, filters)
    _drawn(page, count)


def _drawn(page: Page, count: str) -> None:
    page.evaluate(_DRAWN, count)


def _load(page: Page, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{address}#/rows")
    _drawn(page, "100,000")


def _grown(page: Page, scored: Path, n: int) -> tuple[float, float]:
    """Seconds, and CPU seconds, until a row that was appended is counted."""
    _go(page, f"q=grown-{n}-")
    page.get_by_text("No rollout passes").wait_for()
    last = json.loads(scored.read_bytes().rsplit(b"\n", 2)[-2])
    with open(scored, "a", encoding="utf-8") as stream:
        stream.write(json.dumps({**last, "id": f"grown-{n}-"}) + "\n")
    return _timed(lambda: _drawn(page, "1"))


def _timed(act: Callable[[], object]) -> tuple[float, float]:
    started, used = time.perf_counter(), cpu_seconds()
    act()
    return time.perf_counter() - started, cpu_seconds() - used


def _since(started: float, used: float) -> str:
    return f"{time.perf_counter() - started:.2f} s (CPU {cpu_seconds() - used:.2f} s)"


def _report(name: str, bar: float, taken: list[tuple[float, float]]) -> None:
    wall, cpu = (statistics.median(one) for one in zip(*taken, strict=True))
    each = ", ".join(f"{one:.3f}" for one, _ in taken)
    print(f"{name}: {wall:.3f} s (CPU {cpu:.2f} s; {each})", flush=True)
    at_most(f"100,000 rows on the page, {name}", wall, bar, "s")


if __name__ == "__main__":
    main()
