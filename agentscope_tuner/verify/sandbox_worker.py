"""The sandbox's worker: a child process that compares pairs of answers, one after the other; messages are JSON.

Its first message says that it is ready, or why it could not start.
"""

from __future__ import annotations

import json
import resource
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentscope_tuner._run.channel import ParentChannel

if TYPE_CHECKING:
    from agentscope_tuner.verify.math.symbolic import SymbolicComparer

_IMPORT_SECONDS = 60.0


def main(channel: ParentChannel, memory_bytes: int) -> None:
    """Send `{"ready"}` or `{"error"}`, then answer each request of the parent until it closes the channel.

    Args:
        channel: brings requests `{"answer", "truth", "question", "stage", "seconds"}`. `seconds` is the parent's
            deadline in CPU time. A request with `copied` asks for the cheap stages only. Replies are
            `{"outcome", "reason"}`, with a `stage` if a cheap one decided; `{"for_sympy"}`, whether sympy may decide,
            if none did; or `{"judge_error"}`. Each has this process's CPU clock as `cpu`. `{"loading"}` and
            `{"loaded"}` frame the import of sympy, which does not count as time of a comparison.
        memory_bytes: the limit on this process's address space.
    """
    try:
        _limit(resource.RLIMIT_AS, memory_bytes)
        _limit(resource.RLIMIT_CORE, 0)
        from agentscope_tuner.verify.math.symbolic import warm_up

        warm_up()
    # boundary: any error that keeps the worker from starting goes to the parent, which raises JudgeError
    except BaseException as exc:  # noqa: BLE001
        channel.send(_message({"error": f"{type(exc).__name__}: {exc}"}))
        return
    channel.send(_message({"ready": True}))
    has_sympy = False
    for message in channel:
        question = json.loads(message.decode())
        if question["stage"] == "sympy" and not has_sympy:
            channel.send(_message({"loading": "sympy"}))
            _load_sympy()
            has_sympy = True
            channel.send(_message({"loaded": "sympy"}))
        channel.send(_message(_answer(question)))


def _load_sympy() -> None:
    """Import sympy before the first comparison that needs it."""
    _allow_cpu(_IMPORT_SECONDS)
    # An import that fails is tried again, and reported, by the comparison that needs it
    with suppress(Exception):
        from agentscope_tuner.verify.math import algebra

        algebra.warm_up()


def _allow_cpu(seconds: float) -> None:
    """Limit this process's CPU time to what it has used and at least twice `seconds` more."""
    # The parent kills a late worker. If the parent hangs, this limit makes the kernel kill the worker
    used = int(time.process_time() + 2 * seconds) + 2
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (used if hard == resource.RLIM_INFINITY else min(used, hard), hard))


def _comparer_for(stage: str) -> type[SymbolicComparer] | None:
    """The class that a stage compares with; None for the default one."""
    if stage != "sympy":
        return None
    from agentscope_tuner.verify.math.algebra import AlgebraComparer

    return AlgebraComparer


def _limit(what: int, value: int) -> None:
    """Set a resource limit of this process, or keep the lower one that it has."""
    # An unprivileged process may lower its hard limit, but may not raise it
    hard = resource.getrlimit(what)[1]
    lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (lower, lower))


def _message(reply: dict[str, Any]) -> bytes:
    """A reply as JSON, with this process's CPU clock."""
    # The next comparison may have arrived already, so its CPU time is counted from here
    return json.dumps({**reply, "cpu": time.process_time()}).encode()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """The reply to one request; see `main`."""
    from agentscope_tuner.errors import JudgeError
    from agentscope_tuner.verify.math.symbolic import decide
    from agentscope_tuner.verify.math.unwrap import Pair
    from agentscope_tuner.verify.math.verdict import read_pair

    _allow_cpu(request["seconds"])
    try:
        if "copied" in request:
            pair = Pair.of(request["answer"], request["truth"], request["question"])
            verdict, for_sympy = read_pair(pair, request["copied"])
            return verdict._asdict() if verdict is not None else {"for_sympy": for_sympy}
        outcome, reason = decide(
            Pair.of(request["answer"], request["truth"], request["question"]), _comparer_for(request["stage"])
        )
        return {"outcome": outcome, "reason": reason}
    except JudgeError as exc:
        return {"judge_error": exc.message, "cause": exc.cause}
    except RecursionError:
        return {"outcome": "undecided", "reason": "undecided: nested too deeply for the symbolic stage"}
    except MemoryError:
        return {"outcome": "undecided", "reason": "undecided: the symbolic stage took more memory than its limit"}
    # boundary: a bug in the stage is our fault, so the parent raises JudgeError, and the answer is not called wrong
    except Exception as exc:  # noqa: BLE001
        return {"judge_error": f"the symbolic stage failed: {type(exc).__name__}: {exc}"}
