"""`astuner env`: the reference server of environments that judge themselves."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from agentscope_tuner.cli.console import config_errors, err, fail
from agentscope_tuner.cli.options import Host, Port, address, is_loopback, listen
from agentscope_tuner.env_service.environment import BUILT_IN, TOKEN_VARIABLE
from agentscope_tuner.errors import install

app = typer.Typer(help="Serve environments that judge themselves.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keeps `serve` a subcommand: typer would make a single command the group itself."""


@app.command(epilog="Example: astuner env serve --port 8000")
def serve(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    env: Annotated[
        list[str] | None, typer.Option(help="An environment of your own, as 'env_type=module->Class'; repeatable.")
    ] = None,
    max_instances: Annotated[int, typer.Option(help="Episodes under way at once.")] = 256,
    idle_seconds: Annotated[float, typer.Option(help="Release an episode that was asked nothing for so long.")] = 1800,
    call_seconds: Annotated[float, typer.Option(help="Kill an environment that takes longer over one call.")] = 60,
    max_body_bytes: Annotated[int, typer.Option(help="Refuse a longer request.")] = 1024 * 1024,
) -> None:
    """Serve countdown, frozenlake and environments of your own until Ctrl-C.

    Set ASTUNER_ENV_TOKEN to ask clients for that bearer token.
    """
    try:
        from agentscope_tuner.env_service.episodes import ServerLimits
        from agentscope_tuner.env_service.server import build_app
        from agentscope_tuner.env_service.server import serve as serve_app
    except ImportError as exc:
        raise fail(f"astuner env serve needs the extra 'serve': {install('serve')} ({exc})") from exc
    token = os.environ.get(TOKEN_VARIABLE) or None
    protocols = {**BUILT_IN, **_own(env or [])}
    with config_errors():
        limits = ServerLimits(max_instances, idle_seconds, call_seconds, max_body_bytes)
    listener = listen(host, port)
    if token is None and not is_loopback(host):
        err.print(f"warning: anyone who reaches {host} may play; set {TOKEN_VARIABLE}", style="yellow")
    # Plain and flushed: scripts that use port 0 read the address from this line
    print(f"serving {', '.join(sorted(protocols))} on {address(host, listener)}", flush=True)
    serve_app(build_app(protocols, limits, token), listener)


def _own(pairs: list[str]) -> dict[str, str]:
    own = {}
    for pair in pairs:
        env_type, equals, protocol = pair.partition("=")
        if not (env_type and equals and "->" in protocol):
            raise fail(f"--env must read 'env_type=module->Class', got {pair!r}")
        own[env_type] = protocol
    return own
