"""`Environment`: the interface of the reference server's environments; and what the built-in environments share.

The built-in environments generate their tasks from the task ids `train-0`, `train-1`, …: the id is the seed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

#: The environment variable that holds the server's bearer token.
TOKEN_VARIABLE = "ASTUNER_ENV_TOKEN"


class Environment(Protocol):
    """The interface of an environment: an object is one episode of one task.

    Its process serves no other episode, so it may use globals, print, and crash. An exception in a method becomes
    status 400 for the caller, and the episode goes on.
    """

    def __init__(self, task_id: str, instance_id: str, params: dict[str, Any]) -> None: ...

    def get_init_state(self, params: dict[str, Any]) -> dict[str, Any]:
        """The chat messages that open the episode, as `{"state": [messages], "info": {…}}`."""

    def step(self, action: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """Play the policy's message `action`, and return the answer.

        It is `{"state": [messages], "reward": number or None, "is_terminated": bool, "info": {…}}`.
        """

    def evaluate(self, messages: dict[str, Any], params: dict[str, Any]) -> float:
        """The episode's score, a finite number: 1 or more if the task is solved. This call must change nothing."""

    def get_info(self, messages: dict[str, Any], params: dict[str, Any]) -> Any:
        """Information about the episode: any JSON value."""

    def close(self) -> None:
        """Free resources that would outlive the process."""

    @staticmethod
    def get_query_list(split: str, params: dict[str, Any]) -> list[str]:
        """The ids of the environment's tasks in `split`, such as `train`."""


#: The environments that come with the server, by `env_type`.
BUILT_IN: Mapping[str, str] = {
    "countdown": "agentscope_tuner.env_service.countdown->CountdownEnv",
    "frozenlake": "agentscope_tuner.env_service.frozenlake->FrozenLakeEnv",
}


SPLITS = {"train": 1_000, "test": 200}


def check_task_id(task_id: str) -> str:
    """Return `task_id` if it is the id of a generated task, such as `train-0`.

    Raises:
        ValueError: it is not.
    """
    split, _, number = task_id.rpartition("-")
    if split not in SPLITS or not re.fullmatch(r"0|[1-9][0-9]{0,5}", number) or int(number) >= SPLITS[split]:
        allowed = ", ".join(f"{name}-0 to {name}-{count - 1}" for name, count in SPLITS.items())
        raise ValueError(f"task_id must be one of {allowed}, got {task_id!r}")
    return task_id


class GeneratedGame:
    """The base of the built-in environments: their tasks are generated from the ids, and they have nothing to free."""

    def close(self) -> None:
        """Do nothing: there are no resources to free."""

    @staticmethod
    def get_query_list(split: str, params: dict[str, Any]) -> list[str]:
        """The task ids of `split`: `train-0` to `train-999` for `train`, `test-0` to `test-199` for `test`.

        Raises:
            ValueError: there is no such split.
        """
        if split not in SPLITS:
            raise ValueError(f"split must be one of {sorted(SPLITS)}, got {split!r}")
        return [f"{split}-{number}" for number in range(SPLITS[split])]


def text_of(action: dict[str, object]) -> str:
    """The text of the policy's chat message: `left` for `{"role": "assistant", "content": "left"}`.

    Raises:
        ValueError: the message has no text as its content.
    """
    content = action.get("content")
    if not isinstance(content, str):
        raise ValueError(f"the action must be a message with a text as its content, got {content!r:.200}")
    return content
