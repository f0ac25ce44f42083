"""Regular expressions for hostile text: case folding is complete, and a search has a limit of CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex


def search_seconds(text: str) -> float:
    """The CPU time that one search in `text` may take, in seconds: 50 ms, and 1 µs more for each character.

    The limit never matters for an ordinary pattern, which needs a tenth of it on a long text and far less on a short
    text. A pattern that runs away would need years.
    """
    return 0.05 + 1e-6 * len(text)


def is_found(search: Callable[..., object], text: str) -> bool:
    """Whether a compiled pattern's `search` finds anything in `text`, within about `search_seconds`.

    The `regex` library counts the CPU time of the whole process. So in a busy trainer other threads may use up the time
    of a search. A search that ran out of time is therefore tried again, with this thread's own time measured. While
    that time is short of the limit, the next try may take longer.

    Raises:
        TimeoutError: this thread has searched for too long, or other threads used up the time of every try.
    """
    limit = search_seconds(text)
    # Reading the clock costs as much as a search, so this thread's time is measured only from the second try on
    started: float | None = None
    for share in (0.5, 0.5, 2, 8):
        try:
            return search(text, timeout=share * limit, concurrent=True) is not None
        except TimeoutError:
            if started is None:
                started = time.thread_time()
            elif time.thread_time() - started > 0.4 * limit:
                raise
    raise TimeoutError("regex timed out while other threads kept the process busy")


def compile_pattern(pattern: str, ignore_case: bool) -> regex.Pattern[str]:
    """The compiled pattern; `ignore_case` uses full case folding, in which ``ß`` matches ``SS``.

    Raises:
        regex.error: the pattern does not compile.
    """
    # Most configurations have no pattern and start faster without this import
    import regex

    return regex.compile(pattern, regex.IGNORECASE | regex.FULLCASE if ignore_case else 0)
