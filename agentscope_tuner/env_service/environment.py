"""The interface of the reference server's environments, and the built-in ones."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

#: The environment variable that holds the server's bearer token.
TOKEN_VARIABLE = "ASTUNER_ENV_TOKEN"


class Environment(Protocol):
    """One episode. Its process serves no other episode, so it may use globals, print, and crash.

    An exception in a method becomes status 400 for the caller and does not change the episode.
    """

    def __init__(self, task_id: str, instance_id: str, params: dict[str, Any]) -> None: ...

    def get_init_state(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{"state": [messages], "info": {…}}`: the chat messages that open the episode."""

    def step(self, action: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """`{"state": [messages], "reward": number, "is_terminated": bool, "info": {…}}` for the policy's message."""

    def evaluate(self, messages: dict[str, Any], params: dict[str, Any]) -> float:
        """The episode's score, a finite number: 1 or more when the task is solved. Asking must change nothing."""

    def get_info(self, messages: dict[str, Any], params: dict[str, Any]) -> Any:
        """Any JSON value about the episode."""

    def close(self) -> None:
        """Frees resources that outlive the process."""

    @staticmethod
    def get_query_list(split: str, params: dict[str, Any]) -> list[str]:
        """The ids of the tasks in `split`."""


#: The environments that come with the server, by `env_type`.
BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "countdown": "agentscope_tuner.env_service.environments.countdown->CountdownEnv",
        "frozenlake": "agentscope_tuner.env_service.environments.frozenlake->FrozenLakeEnv",
    }
)
