"""Environments that judge themselves: the client of an environment service, its episode handle, a reference server.

with EnvServiceClient("http://127.0.0.1:8000") as client, GymEnv(client, "frozenlake", "train-0") as env:
    env.step({"role": "assistant", "content": "right"})
    env.evaluate()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentscope_tuner.env_service.client import AsyncEnvServiceClient, ClientOptions, EnvServiceClient, GymEnv
    from agentscope_tuner.env_service.wire import Created, StepResult

__all__ = ["AsyncEnvServiceClient", "ClientOptions", "Created", "EnvServiceClient", "GymEnv", "StepResult"]

_HOME = {
    "AsyncEnvServiceClient": "client",
    "ClientOptions": "client",
    "Created": "wire",
    "EnvServiceClient": "client",
    "GymEnv": "client",
    "StepResult": "wire",
}


def __getattr__(name: str) -> object:
    # Loaded on first use: the judge needs none of these, and a client imports httpx
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
