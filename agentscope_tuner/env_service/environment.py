"""The interface of the reference server's environments, and the built-in ones.

Task ids of generated tasks: `train-0`, `train-1`, …; the id is the seed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
BUILT_IN: Mapping[str, str] = {
    "countdown": "agentscope_tuner.env_service.countdown->CountdownEnv",
    "frozenlake": "agentscope_tuner.env_service.frozenlake->FrozenLakeEnv",
}


SPLITS = {"train": 1_000, "test": 200}


def check_task_id(task_id: str) -> str:
    """`task_id`; raises a ValueError if it is no task id."""
    split, _, number = task_id.rpartition("-")
    if split not in SPLITS or not re.fullmatch(r"0|[1-9][0-9]{0,5}", number) or int(number) >= SPLITS[split]:
        allowed = ", ".join(f"{name}-0 to {name}-{count - 1}" for name, count in SPLITS.items())
        raise ValueError(f"task_id must be one of {allowed}, got {task_id!r}")
    return task_id


class GeneratedGame:
    """What the built-in environments share: tasks that are made from their ids, and nothing to free."""

    def close(self) -> None:
        """Nothing to free."""

    @staticmethod
    def get_query_list(split: str, params: dict[str, Any]) -> list[str]:
        """`train-0` to `train-999`, `test-0` to `test-199`."""
        if split not in SPLITS:
            raise ValueError(f"split must be one of {sorted(SPLITS)}, got {split!r}")
        return [f"{split}-{number}" for number in range(SPLITS[split])]


def text_of(action: dict[str, object]) -> str:
    """The policy's text: the content of its chat message."""
    content = action.get("content")
    if not isinstance(content, str):
        raise ValueError(f"the action must be a message with a text as its content, got {content!r:.200}")
    return content
