"""An environment that misbehaves as its task id says, for the server's tests."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

from agentscope_tuner._run.channel import encode


def leave_child(seconds: float) -> None:
    """A process outside the worker's group that holds all its pipes."""
    if os.fork() == 0:
        os.setsid()
        threading.Event().wait(seconds)
        os._exit(0)


#: What `get_init_state` and `step` give in other shapes than an environment may.
OPENINGS: dict[str, Any] = {
    "opens with None": None,
    "opens with text": "go",
    "opens without messages": {"state": "go"},
    "opens with a list as info": {"state": [], "info": ["a"]},
}
STEPS: dict[str, Any] = {
    "steps to a list": [[], 0.0, False],
    "steps without messages": {"state": None, "is_terminated": False},
    "steps without an end": {"state": [], "reward": 0.0},
    "steps to True": {"state": [], "reward": True, "is_terminated": False},
}


def answer_again() -> None:
    """A forged answer on every descriptor that can be written, as a stray child of an earlier call would write it."""
    for number in range(3, 64):
        try:
            os.write(number, encode(b'{"id": 1, "data": 1.0}'))
        except OSError:
            continue


class HostileEnv:
    def __init__(self, task_id: str, instance_id: str, params: dict[str, Any]) -> None:
        self.trouble = task_id
        if task_id == "leaves a child behind":
            leave_child(params["seconds"])
        if task_id == "raises at creation":
            raise ValueError("no such level")
        if task_id == "dies at creation":
            os._exit(3)

    def get_init_state(self, params: dict[str, Any]) -> dict[str, Any]:
        sys.stdout.write("this must not reach the pipe")
        if self.trouble in OPENINGS:
            return OPENINGS[self.trouble]  # type: ignore[no-any-return]
        return {"state": [{"role": "user", "content": "go"}]}

    def step(self, action: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        content = action["content"]
        if self.trouble == "hangs":
            threading.Event().wait()
        if self.trouble == "spins":
            while True:
                pass
        if self.trouble == "dies":
            os.kill(os.getpid(), 11)
        if self.trouble == "exits":
            sys.exit(7)
        if self.trouble == "writes too much":
            content = "x" * 5_000_000
        if self.trouble == "scribbles on the pipe":
            os.write(1, b"not the protocol\n")
            subprocess.run(["echo", "nor this"], check=True)
        if self.trouble == "shows its environment":
            content = repr(dict(os.environ))
        if self.trouble == "forks":
            os.fork()
        if self.trouble == "answers twice":
            answer_again()
        if self.trouble == "is slow":
            threading.Event().wait(1.5)
        if self.trouble in STEPS:
            return STEPS[self.trouble]  # type: ignore[no-any-return]
        if self.trouble == "starts a child":
            content = str(subprocess.Popen(["sleep", "60"]).pid)
        if self.trouble == "reads input":
            content = repr(sys.stdin.read())
        if self.trouble == "raises":
            raise KeyError(content)
        reward = float("nan") if self.trouble == "nan reward" else 0.0
        return {"state": [{"role": "user", "content": content}], "reward": reward, "is_terminated": False, "info": {}}

    def evaluate(self, messages: dict[str, Any], params: dict[str, Any]) -> Any:
        scores = {"nan": float("nan"), "none": None, "text": "0.8", "infinite": float("inf"), "bool": True}
        return scores.get(self.trouble, 0.5)

    def get_info(self, messages: dict[str, Any], params: dict[str, Any]) -> Any:
        return {"pid": os.getpid()} if self.trouble != "not json" else object()

    def close(self) -> None:
        if self.trouble == "hangs at the end":
            threading.Event().wait()

    @staticmethod
    def get_query_list(split: str, params: dict[str, Any]) -> Any:
        if split == "no list":
            return {"train": ["a"]}
        return [f"{split}-{params.get('level', 0)}"]
