"""The sandbox's worker: one JSON question a line on standard input, one JSON answer a line on standard output.

Run as a script, isolated (`python -I -S worker.py SETTINGS`), so that it starts fast and reads no environment.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import types
from pathlib import Path
from typing import Any


def _prepare(settings: dict[str, Any]) -> None:
    # a limit already in force may be lowered, never raised
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    memory = settings["memory"] if hard == resource.RLIM_INFINITY else min(settings["memory"], hard)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path[:] = [*settings["path"], *sys.path]
    # the package without its public names, whose import takes longer than all that is needed here
    package = types.ModuleType("agentscope_tuner")
    package.__path__ = [str(Path(__file__).parents[1])]
    sys.modules["agentscope_tuner"] = package


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from agentscope_tuner.errors import JudgeError
    from agentscope_tuner.verify.math.symbolic import decide

    # the parent kills in time; should it be gone, the kernel does
    used = int(time.process_time() + 2 * request["seconds"]) + 2
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (used if hard == resource.RLIM_INFINITY else min(used, hard), hard))
    try:
        outcome, reason = decide(request["answer"], request["truth"])
        return {"outcome": outcome, "reason": reason}
    except JudgeError as exc:
        return {"judge_error": exc.message, "cause": exc.cause}
    except RecursionError:
        return {"outcome": "undecided", "reason": "undecided: nested too deeply for the symbolic stage"}
    except MemoryError:
        return {"outcome": "undecided", "reason": "undecided: the symbolic stage took more memory than its limit"}
    # boundary: a fault in the stage itself is ours; the parent raises JudgeError, and no answer is called wrong
    except Exception as exc:  # noqa: BLE001
        return {"judge_error": f"the symbolic stage failed: {type(exc).__name__}: {exc}"}


def main() -> None:
    """Answer until standard input ends."""
    # whatever prints must not reach the channel
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(reply: dict[str, Any]) -> None:
        channel.write(json.dumps(reply) + "\n")
        channel.flush()

    try:
        _prepare(json.loads(sys.argv[1]))
        from agentscope_tuner.verify.math import symbolic

        symbolic.warm_up()
    # boundary: whatever keeps the worker from starting is told to the parent, which raises JudgeError
    except BaseException as exc:  # noqa: BLE001
        say({"error": f"{type(exc).__name__}: {exc}"})
        return
    say({"ready": True})
    for line in sys.stdin:
        say(_answer(json.loads(line)))


if __name__ == "__main__":
    main()
