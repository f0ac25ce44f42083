"""`astuner cache`: the verdict cache of LLM graders."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from agentscope_tuner.cli.console import fail, say
from agentscope_tuner.cli.options import Json
from agentscope_tuner.errors import told
from agentscope_tuner.graders.client.verdict_cache import default_cache_dir, open_cache

app = typer.Typer(help="Show or delete the kept replies of judge models.", no_args_is_help=True)

Folder = Annotated[Path | None, typer.Option("--dir", help="The cache's folder, in place of $ASTUNER_CACHE_DIR.")]


@app.command(epilog="Example: astuner cache stats")
def stats(folder: Folder = None, as_json: Json = False) -> None:
    """Print how many verdicts are kept, and how much room they take."""
    with _cache(folder) as (cache, where):
        if as_json:
            print(json.dumps({"verdicts": len(cache), "bytes": cache.volume(), "folder": str(where)}))
            return
        say(f"{len(cache):,} verdicts, {cache.volume():,} bytes in {where}")


@app.command(epilog="Example: astuner cache clear --yes")
def clear(
    folder: Folder = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget all verdicts: each will cost its call again."""
    with _cache(folder) as (cache, where):
        if (count := len(cache)) and not yes:
            typer.confirm(f"forget {count:,} verdicts in {where}?", abort=True)
        cache.clear()
        say(f"forgot {count:,} verdicts")


@contextmanager
def _cache(folder: Path | None) -> Iterator[tuple[Any, Path]]:
    where = folder or default_cache_dir()
    if not (where / "cache.db").exists():
        raise fail(f"there is no verdict cache in {where}")
    unreadable = told(f"the verdict cache in {where} cannot be read", OSError, sqlite3.Error, to=fail)
    with unreadable, open_cache(where) as cache:
        yield cache, where
