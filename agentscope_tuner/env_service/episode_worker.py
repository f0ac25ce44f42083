"""The program of a child process of the reference server: it holds one environment, which plays one episode.

Requests and answers are JSON: `{"id": …, "method": …, "arguments": [...]}`, and `{"id": …, "data": …}` or
`{"id": …, "error": …, "broken": …}`. A true `broken` means that the environment's answer breaks the rules for
environments; a false one, that the environment refused the request. The first answer comes without a request, with id
0: that the environment is loaded, or why not.
"""

from __future__ import annotations

import importlib
import json
import os
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from agentscope_tuner._run.channel import ParentChannel
from agentscope_tuner.env_service.environment import Environment
from agentscope_tuner.env_service.wire import finite_score
from agentscope_tuner.errors import BadScore, ConfigError

# an error may quote the policy's whole text
_ERROR_CHARS = 10_000


def main(channel: ParentChannel, protocol: str) -> None:
    """Serve one episode of the environment `protocol` until the server closes the channel."""
    own_pid = os.getpid()
    try:
        episode = _Episode(load_environment(protocol))
    except ConfigError as exc:
        channel.send(_message({"id": 0, "error": str(exc), "broken": True}))
        return
    channel.send(_message({"id": 0, "data": "loaded"}))
    for request in channel:
        message = answer(episode, json.loads(request))
        if os.getpid() != own_pid:
            # An environment forked, and both processes returned: the child must not answer.
            os._exit(0)
        channel.send(message)


class _Episode:
    """The environment of this process, which `create` makes. The server's requests call its methods by name."""

    def __init__(self, environment: type[Environment]) -> None:
        self._class = environment
        self._env: Environment | None = None
        self._instance_id = ""

    def create(self, task_id: str, instance_id: str, params: dict[str, Any]) -> dict[str, Any]:
        self._instance_id = instance_id
        self._env = self._class(task_id, instance_id, params)
        return self._env.get_init_state(params)

    def step(self, action: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        return self._created().step(action, params)

    def evaluate(self, messages: dict[str, Any], params: dict[str, Any]) -> float:
        return finite_score(self._created().evaluate(messages, params), self._instance_id)

    def get_info(self, messages: dict[str, Any], params: dict[str, Any]) -> Any:
        return self._created().get_info(messages, params)

    def close(self) -> None:
        if self._env is not None:
            self._env.close()

    def get_env_profile(self, split: str, params: dict[str, Any]) -> list[str]:
        return self._class.get_query_list(split, params)

    def _created(self) -> Environment:
        if self._env is None:
            raise RuntimeError("the environment was not created")
        return self._env


def load_environment(protocol: str) -> type[Environment]:
    """Import the class that `protocol` names, such as `my_envs.maze->MazeEnv`.

    The module may be in the working directory.

    Raises:
        ConfigError: there is no such class, or its module cannot be imported.
    """
    module_name, arrow, class_name = (part.strip() for part in protocol.partition("->"))
    if not (module_name and arrow and class_name):
        raise ConfigError(f"an environment must read 'module->Class', got {protocol!r}")
    try:
        found: type[Environment] = getattr(importlib.import_module(module_name), class_name)
    # boundary: a module may fail in any way while it is imported; it becomes an error that names the environment
    except Exception as exc:
        raise ConfigError(f"environment {protocol!r} cannot be loaded: {type(exc).__name__}: {exc}") from exc
    return found


def answer(episode: _Episode, request: dict[str, Any]) -> bytes:
    """Call the method that `request` names, and return the answer as JSON, for the server.

    An exception, or a result that breaks the rules for environments, gives an answer with an `error`.
    """
    method: Callable[..., Any] = getattr(episode, request["method"])
    try:
        data = method(*request["arguments"])
    except BadScore as exc:
        return _refusal(request, str(exc), broken=True)
    except Exception as exc:  # noqa: BLE001  # the boundary to foreign code: its exceptions are sent to the caller
        traceback.print_exc()
        return _refusal(request, f"{type(exc).__name__}: {exc}"[:_ERROR_CHARS], broken=False)
    try:
        message = _message({"id": request["id"], "data": data})
    except (TypeError, ValueError, RecursionError) as exc:
        return _refusal(request, f"{request['method']} gave what JSON cannot carry: {exc}", broken=True)
    shape_problem = _SHAPE_PROBLEMS.get(request["method"])
    problem = shape_problem(json.loads(message)["data"]) if shape_problem else None
    return message if problem is None else _refusal(request, problem, broken=True)


def _refusal(request: dict[str, Any], error: str, *, broken: bool) -> bytes:
    return _message({"id": request["id"], "error": error, "broken": broken})


def _message(reply: dict[str, Any]) -> bytes:
    return json.dumps(reply, allow_nan=False, default=_plain).encode("ascii")


def _state_problem(method: str, data: object) -> str | None:
    if not isinstance(data, dict):
        return f"{method} must give a dictionary, got {data!r:.200}"
    state = data.get("state")
    messages = [state] if isinstance(state, dict) else state
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return f"{method} must give a list of chat messages as 'state', got {state!r:.200}"
    if not isinstance(data.get("info"), dict | None):
        return f"{method} must give a dictionary as 'info', got {data['info']!r:.200}"
    return None


def _step_problem(data: Any) -> str | None:
    if (problem := _state_problem("step", data)) is not None:
        return problem
    if not isinstance(data.get("is_terminated"), bool):
        return f"step must give True or False as 'is_terminated', got {data.get('is_terminated')!r:.200}"
    reward = data.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float | None):
        return f"step must give a number or None as 'reward', got {reward!r:.200}"
    return None


def _profile_problem(data: object) -> str | None:
    if isinstance(data, list) and all(isinstance(item, str | int) for item in data):
        return None
    return f"get_query_list must give a list of task ids, got {data!r:.200}"


# These are checked on the parsed JSON, in which a tuple has become a list, and numpy's True a plain True
_SHAPE_PROBLEMS: dict[str, Callable[[Any], str | None]] = {
    "create": partial(_state_problem, "get_init_state"),
    "step": _step_problem,
    "get_env_profile": _profile_problem,
}


def _plain(value: object) -> object:
    # numpy's numbers and arrays, without importing numpy
    if (tolist := getattr(value, "tolist", None)) is None:
        raise TypeError(f"a {type(value).__name__}")
    return tolist()
