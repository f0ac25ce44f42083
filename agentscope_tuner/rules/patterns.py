"""Regular expressions over hostile text: compiled with full case folding, searched within a limit of CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex


def search_seconds(text: str) -> float:
    """The CPU time that one search in `text` may take, in seconds: 50 ms, and 1 µs more for each character.

    An honest pattern needs a tenth of that on long texts and next to nothing on short ones; a runaway one would need
    years.
    """
    return 0.05 + 1e-6 * len(text)


def is_found(search: Callable[..., object], text: str) -> bool:
    """Whether a compiled pattern's `search` finds anything in `text`, within about `search_seconds`.

    The `regex` library counts the CPU time of the whole process. A search that ran out of half the limit is therefore
    tried again while this thread's own time is measured, and with more where other threads burnt most of it: a busy
    trainer does not turn honest patterns into failures.

    Raises:
        TimeoutError: this thread has searched for too long, or the process is too busy to tell.
    """
    limit = search_seconds(text)
    started: float | None = None  # measured from the second try on: asking the clock costs as much as a search
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
    # loaded by the first pattern: most configurations have none, and start the faster
    import regex

    return regex.compile(pattern, regex.IGNORECASE | regex.FULLCASE if ignore_case else 0)
