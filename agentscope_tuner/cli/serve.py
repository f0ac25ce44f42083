"""`astuner serve`: judges over HTTP."""

from __future__ import annotations

import logging
import re
import signal
import threading
from collections.abc import Mapping
from typing import Annotated, Literal

import typer

from agentscope_tuner.cli.config import Overrides
from agentscope_tuner.cli.console import config_errors, err, fail
from agentscope_tuner.cli.listen import address, is_loopback, listen
from agentscope_tuner.config import Settings, resolve
from agentscope_tuner.errors import ConfigError, install
from agentscope_tuner.service.settings import ServiceSettings

_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)=(.+)")
_DEFAULTS = ServiceSettings()


def serve(
    conf: Annotated[
        list[str],
        typer.Option("--conf", help="A judge's YAML; name=FILE serves it under /name. Repeatable.", metavar="FILE"),
    ],
    overrides: Overrides = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)] = 8000,
    token_file: Annotated[
        str | None, typer.Option(help="Ask clients for the bearer token in this file.", metavar="FILE")
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Listen beyond this machine without a token.")] = False,
    max_body_bytes: Annotated[int, typer.Option(help="Refuse a longer request.")] = _DEFAULTS.max_body_bytes,
    max_rows: Annotated[int, typer.Option(help="Refuse a batch of more rows.")] = _DEFAULTS.max_rows,
    max_answer_chars: Annotated[int, typer.Option(help="Refuse a longer answer.")] = _DEFAULTS.max_answer_chars,
    concurrency: Annotated[int, typer.Option(help="Requests judged at once.")] = _DEFAULTS.concurrency,
    queue: Annotated[int, typer.Option(help="Requests that may wait; more get 429.")] = _DEFAULTS.queue,
    deadline: Annotated[float, typer.Option(help="Seconds that judging a request may take.")] = (
        _DEFAULTS.deadline_seconds
    ),
    drain_seconds: Annotated[
        float, typer.Option(help="Seconds that requests under way get to end on SIGTERM.", min=0)
    ] = 30.0,
    log_answers: Annotated[bool, typer.Option("--log-answers", help="Log every answer with its verdict.")] = False,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="This process, or replicas that Ray Serve runs.")
    ] = "local",
    replicas: Annotated[int, typer.Option(help="With --engine ray: processes that judge.", min=1)] = 1,
    cluster: Annotated[
        str | None,
        typer.Option("--address", help="With --engine ray: the cluster; none starts Ray here."),
    ] = None,
) -> None:
    """Serve judges over HTTP: POST /reward, OpenRLHF's and NeMo-Gym's wires, /metrics, /docs.

    Answers on 127.0.0.1 unless told otherwise. SIGTERM and Ctrl-C let the requests under way end first.
    """
    if token_file is None and not insecure and not is_loopback(host):
        raise fail(f"anyone who reaches {host} could use this service: give --token-file FILE, or --insecure")
    try:
        from agentscope_tuner.service.app import create_app
        from agentscope_tuner.service.server import serve as serve_app
    except ImportError as exc:
        raise fail(f"astuner serve needs the extra 'serve': {install('serve')} ({exc})") from exc
    from agentscope_tuner.task_judge.batch import ConfiguredJudge

    # a line each, as programs that collect logs want them
    logging.basicConfig(
        level=logging.getLogger().level, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    with config_errors():
        settings = ServiceSettings(
            token_file, max_body_bytes, max_rows, max_answer_chars, concurrency, queue, deadline, log_answers
        )
        named = _named(conf, overrides or [])
        configs = {name: resolve(path, overrides or ()) for name, path in named.items()}
        # before anything listens, and here also where replicas judge: what is wrong is said now
        judges = {name: ConfiguredJudge(config) for name, config in configs.items()}
        app = create_app(judges, settings)
    if log_answers:
        logging.getLogger("agentscope_tuner.service").setLevel(logging.INFO)
    if token_file is None and not is_loopback(host):
        err.print(f"warning: anyone who reaches {host} may use this service", style="yellow")
    if engine == "ray":
        _by_ray(configs, settings, host=host, port=port, replicas=replicas, cluster=cluster, drain=drain_seconds)
        return
    listener = listen(host, port)
    shown = ", ".join(f"{judge.name} at /{name}" for name, judge in judges.items())
    # plain and flushed: scripts that took port 0 read the address off this line
    print(f"serving {shown} on {address(host, listener)}", flush=True)
    serve_app(app, listener, drain_seconds=drain_seconds, threads=concurrency)


def _by_ray(
    configs: Mapping[str, Settings],
    settings: ServiceSettings,
    *,
    host: str,
    port: int,
    replicas: int,
    cluster: str | None,
    drain: float,
) -> None:
    from agentscope_tuner.on_ray.serve import deployed

    stopped = threading.Event()
    with (
        config_errors(),
        deployed(
            configs, settings, host=host, port=port, replicas=replicas, address=cluster, drain_seconds=drain
        ) as url,
    ):
        # now: Ray has put handlers of its own in place, which end the process at once
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        print(f"serving {', '.join(f'/{name}' for name in configs)} by Ray Serve on {url}", flush=True)
        while not stopped.wait(0.5):
            pass


def _named(conf: list[str], overrides: list[str]) -> dict[str, str]:
    """The configurations by route prefix."""
    named: dict[str, str] = {}
    for given in conf:
        match = _NAMED.fullmatch(given)
        name, path = (match[1], match[2]) if match else ("", given)
        if name in named:
            raise ConfigError(
                f"--conf {given!r}: there is a judge {f'named {name!r}' if name else 'without a name'} already; "
                "write --conf name=FILE"
            )
        named[name] = path
    if overrides and len(named) > 1:
        raise ConfigError(f"overrides {overrides!r} with several judges: write them into their files")
    return named
