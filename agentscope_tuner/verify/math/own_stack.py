"""Recursion that does not depend on how deep the caller already is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from agentscope_tuner.verify.math.text import TooComplex

P = ParamSpec("P")
T = TypeVar("T")


def on_own_stack(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function`; where the caller's stack is too deep for it, again on a stack of its own.

    A new thread has more room than any caller, so what fits anywhere fits there: the outcome is the same at any depth.

    Raises:
        TooComplex: it does not fit even there.
    """
    try:
        return function(*args, **kwargs)
    except RecursionError:
        pass
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(function(*args, **kwargs))
        # boundary: whatever ends the call ends it in the caller's thread, which waits for it
        except BaseException as exc:  # noqa: BLE001
            failed.append(exc)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if failed and isinstance(failed[0], RecursionError):
        raise TooComplex("nested too deeply")
    if failed:
        raise failed[0]
    return found[0]
