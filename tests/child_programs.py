"""The program of the children of `tests/core/run`: a module of its own, which they import."""

from __future__ import annotations

import os
import threading
import time

from agentscope_tuner._run.channel import ParentChannel


def main(channel: ParentChannel) -> None:
    """Obeys each message; answers with its own text, or as it says."""
    for message in channel:
        word, _, rest = message.decode().partition(" ")
        if word == "spin":
            while True:
                pass
        if word == "sleep":
            threading.Event().wait()
        if word == "once" and not os.path.exists(rest):
            open(rest, "x").close()
            threading.Event().wait()
        while word == "wait" and not os.path.exists(rest):
            time.sleep(0.001)
        if word == "compute":
            # never returns to the interpreter
            pow(7, 10**9)
        if word == "exit":
            os._exit(int(rest))
        if word == "signal":
            os.kill(os.getpid(), int(rest))
        if word == "leave" and os.fork() == 0:
            # it holds the channel, and is no member of the group
            os.setsid()
            time.sleep(float(rest))
            os._exit(0)
        if word == "leave":
            os._exit(0)
        if word == "size":
            channel.send(str(len(message)).encode())
            continue
        if word == "long":
            channel.send(b"x" * int(rest))
            continue
        if word == "flood":
            while True:
                channel.send(b"x")
        if word == "print":
            print(rest, flush=True)  # noqa: T201
        channel.send(message)
