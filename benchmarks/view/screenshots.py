"""Photographs of the page, light and dark, into docs/images: `make screenshots`."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import ViewportSize

from benchmarks.view.chromium import chromium, serving
from benchmarks.view.rows import write_rows

_TARGET = Path("docs/images")
_ALARMS = [{"step": 61, "monitor": "length drift", "message": "answers are 1.9 times as long as at the start"}]
# what, where, and what is there once it is drawn
_PLACES = (
    ("overview", "overview", ".lines canvas"),
    ("table", "rows?group=mixed&reward=0..1", ".sheet-row .reward"),
    ("rollout", "row/5201", ".story .katex"),
)


def main() -> None:
    """Make them all."""
    _TARGET.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder, chromium() as browser:
        scored = write_rows(Path(folder) / "run.jsonl", 8000)
        alarms = scored.with_name("run.alarms.jsonl")
        alarms.write_text("".join(json.dumps(alarm) + "\n" for alarm in _ALARMS), encoding="utf-8")
        with serving(scored) as address:
            for theme in ("light", "dark"):
                size: ViewportSize = {"width": 1200, "height": 780}
                context = browser.new_context(viewport=size, color_scheme=theme, locale="en-GB")
                page = context.new_page()
                page.goto(f"{address}#/overview")
                page.locator(".total b", has_text="8,000").wait_for(timeout=120_000)
                for name, place, ready in _PLACES:
                    page.goto(f"{address}#/{place}")
                    page.locator(ready).first.wait_for(timeout=120_000)
                    page.wait_for_timeout(700)
                    path = _TARGET / f"view-{name}-{theme}.png"
                    page.screenshot(path=path)
                    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
                context.close()


if __name__ == "__main__":
    main()
