"""`astuner serve`: judges over HTTP."""

from __future__ import annotations

import logging
import re
import signal
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentscope_tuner._run import interrupts
from agentscope_tuner.cli.console import config_errors, err, fail
from agentscope_tuner.cli.options import Host, Overrides, Port, address, is_loopback, listen
from agentscope_tuner.config import Settings, resolve
from agentscope_tuner.errors import ConfigError, install
from agentscope_tuner.service.admission import ServiceSettings

if TYPE_CHECKING:
    from starlette.applications import Starlette

_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)=(.+)")
_DEFAULTS = ServiceSettings()


Configurations = Annotated[
    list[str],
    typer.Option("--conf", help="A judge's YAML; name=FILE serves it under /name. Repeatable.", metavar="FILE"),
]
TokenFile = Annotated[str | None, typer.Option(help="Ask clients for the bearer token in this file.", metavar="FILE")]
Insecure = Annotated[bool, typer.Option("--insecure", help="Listen beyond this machine without a token.")]
MaxBodyBytes = Annotated[int, typer.Option(help="Refuse a longer request.")]
MaxRows = Annotated[int, typer.Option(help="Refuse a batch of more rows.")]
MaxAnswerChars = Annotated[int, typer.Option(help="Refuse a longer answer.")]
Concurrency = Annotated[int, typer.Option(help="Requests judged at once.")]
Queue = Annotated[int, typer.Option(help="Requests that may wait; more get 429.")]
Deadline = Annotated[float, typer.Option(help="Seconds that judging a request may take.")]
DrainSeconds = Annotated[float, typer.Option(help="Seconds that requests under way get to end on SIGTERM.", min=0)]
LogAnswers = Annotated[bool, typer.Option("--log-answers", help="Log every answer with its verdict.")]
Engine = Annotated[Literal["local", "ray"], typer.Option(help="This process, or replicas that Ray Serve runs.")]
Replicas = Annotated[int, typer.Option(help="With --engine ray: processes that judge.", min=1)]
Cluster = Annotated[str | None, typer.Option("--address", help="With --engine ray: the cluster; none starts Ray here.")]


def serve(
    conf: Configurations,
    overrides: Overrides = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token_file: TokenFile = None,
    insecure: Insecure = False,
    max_body_bytes: MaxBodyBytes = _DEFAULTS.max_body_bytes,
    max_rows: MaxRows = _DEFAULTS.max_rows,
    max_answer_chars: MaxAnswerChars = _DEFAULTS.max_answer_chars,
    concurrency: Concurrency = _DEFAULTS.concurrency,
    queue: Queue = _DEFAULTS.queue,
    deadline: Deadline = _DEFAULTS.deadline_seconds,
    drain_seconds: DrainSeconds = 30.0,
    log_answers: LogAnswers = False,
    engine: Engine = "local",
    replicas: Replicas = 1,
    cluster: Cluster = None,
) -> None:
    """Serve judges over HTTP: POST /reward, OpenRLHF's and NeMo-Gym's wires, /metrics, /docs.

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
        _by_ray(configs, settings, host, port, replicas, cluster, drain_seconds)
        return
    from agentscope_tuner.service.server import serve as serve_app

    listener = listen(host, port)
    # Plain and flushed: scripts that use port 0 read the address from this line
    print(f"serving {shown} on {address(host, listener)}", flush=True)
    serve_app(app, listener, drain_seconds=drain_seconds, threads=concurrency)


def _log_lines(*, answers: bool) -> None:
    """Log one line for each event, as log collectors need it."""
    logging.basicConfig(
        level=logging.getLogger().level, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    if answers:
        logging.getLogger("agentscope_tuner.service").setLevel(logging.INFO)


def _checked(configs: Mapping[str, Settings], settings: ServiceSettings, host: str) -> tuple[Starlette, str]:
    """The service, and its judges in words; also made where replicas judge, so that errors show before they start."""
    try:
        from agentscope_tuner.service.app import create_app
    except ImportError as exc:
        raise fail(f"astuner serve needs the extra 'serve': {install('serve')} ({exc})") from exc
    from agentscope_tuner.task_judge.batch import ConfiguredJudge

    with config_errors():
        judges = {name: ConfiguredJudge(config) for name, config in configs.items()}
        app = create_app(judges, settings)
    if settings.token_file is None and not is_loopback(host):
        err.print(f"warning: anyone who reaches {host} may use this service", style="yellow")
    return app, ", ".join(f"{judge.name} at /{name}" for name, judge in judges.items())


def _by_ray(
    configs: Mapping[str, Settings],
    settings: ServiceSettings,
    host: str,
    port: int,
    replicas: int,
    cluster: str | None,
    drain: float,
) -> None:
    from agentscope_tuner.service.on_ray import RayPlace, deployed

    stopped = threading.Event()
    with config_errors(), deployed(configs, settings, RayPlace(host, port, replicas, cluster, drain)) as url:
        # Only now: Ray has set signal handlers of its own, which end the process at once
        for number in interrupts.ending_signals():
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
