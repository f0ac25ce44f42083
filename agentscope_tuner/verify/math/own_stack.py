"""Recursion whose limit does not depend on how deep the caller's stack already is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from agentscope_tuner.verify.math.text import TooComplex

P = ParamSpec("P")
T = TypeVar("T")


def on_own_stack(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function`; if the caller's stack is too deep, call it again in a new thread, which has an empty stack.

    A verdict must not depend on the depth of the caller. The new thread has more room than any caller, so a call that
    succeeds at one depth succeeds at all.

    Raises:
        TooComplex: the recursion is too deep for an empty stack, too.
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
        # boundary: the waiting caller must see every exception, so it is carried over and raised there
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
