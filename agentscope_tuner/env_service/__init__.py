"""Environments that score episodes themselves: the client of an environment service, the handle of an episode
(`GymEnv`), and a reference server.

with EnvServiceClient("http://127.0.0.1:8000") as client, GymEnv(client, "frozenlake", "train-0") as env:
    env.step({"role": "assistant", "content": "right"})
    env.evaluate()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentscope_tuner._moved import on_first_use

if TYPE_CHECKING:
    from agentscope_tuner.env_service.client import AsyncEnvServiceClient, ClientOptions, EnvServiceClient, GymEnv
    from agentscope_tuner.env_service.wire import Created, StepResult

__all__ = ["AsyncEnvServiceClient", "ClientOptions", "Created", "EnvServiceClient", "GymEnv", "StepResult"]

# The judge needs none of these, and a client imports httpx
_NAMES = {"client": "AsyncEnvServiceClient ClientOptions EnvServiceClient GymEnv", "wire": "Created StepResult"}
__getattr__ = on_first_use(__name__, _NAMES)
