"""The reward service on Ray Serve: replicas on the nodes of a cluster, behind Ray's proxies; extra `ray`."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agentscope_tuner.config import Source
from agentscope_tuner.engines.ray import portable, ray_module, session
from agentscope_tuner.errors import told
from agentscope_tuner.service.admission import ServiceSettings

#: The application's name in Ray Serve.
APP = "astuner"
# How many more requests are admitted for readiness, metrics and the description, which are not judged
_OPERATORS = 16


@dataclass(frozen=True, slots=True)
class RayPlace:
    """The address and the size of a service on Ray.

    Attributes:
        host: the host that Ray's proxy listens on.
        port: its port; 0 takes a free port.
        replicas: processes that judge.
        address: the address of a Ray cluster, such as `auto`; None starts Ray on this machine.
        drain_seconds: how many seconds begun requests may go on when the service ends; then their replica is killed.
    """

    host: str
    port: int
    replicas: int
    address: str | None
    drain_seconds: float


@contextmanager
def deployed(configs: Mapping[str, Source], settings: ServiceSettings, place: RayPlace) -> Iterator[str]:
    """A context in which the reward service runs on Ray; it gives the service's URL.

    At the end of the block, begun requests are finished, then the service ends. Every replica loads the judges, keeps
    the limits and counts its metrics by itself: `/metrics` shows the counts of the replica that was asked.

    Args:
        configs: judges' configurations by route prefix, as `create_app` takes judges.
        settings: the settings of each replica. A token file must exist on every node.
        place: the address and the number of replicas.

    Raises:
        ConfigError: Ray Serve is not installed, or it could not start the service.
    """
    ray_serve = ray_module("ray.serve")
    port = place.port or _free_port(place.host)
    # Replicas on other nodes cannot read the files that are named here: send them the content
    plain = {name: portable(config) for name, config in configs.items()}
    with session(place.address, workers=None):
        try:
            _start(ray_serve, place.host, port, _application(ray_serve, plain, settings, place))
            yield f"http://{place.host}:{port}"
            ray_serve.delete(APP)
        finally:
            ray_serve.shutdown()


def _start(ray_serve: Any, host: str, port: int, application: Any) -> None:
    with told("Ray Serve could not start the service", RuntimeError):
        ray_serve.start(http_options={"host": host, "port": port})
        ray_serve.run(application, name=APP, route_prefix="/")


def _application(
    ray_serve: Any, configs: Mapping[str, dict[str, Any]], settings: ServiceSettings, place: RayPlace
) -> Any:
    def build() -> Any:
        # Sockets, threads and worker processes cannot be sent: make the judges inside the replica
        from agentscope_tuner.service.app import create_app
        from agentscope_tuner.task_judge.batch import ConfiguredJudge

        return create_app({name: ConfiguredJudge(config) for name, config in configs.items()}, settings)

    deployment = ray_serve.deployment(
        name=APP,
        num_replicas=place.replicas,
        # Ray would let requests wait without end. Admit more than the gate does, so that the gate answers 429
        max_ongoing_requests=settings.concurrency + settings.queue + _OPERATORS,
        graceful_shutdown_timeout_s=place.drain_seconds,
    )
    return deployment(ray_serve.ingress(build)()).bind()


def _free_port(host: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
    return port
