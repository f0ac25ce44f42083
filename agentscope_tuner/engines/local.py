"""Many rows on this machine: in order, with bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")

# rows begun but not yet handed on, for each job: enough that a slow row does not idle the others at once
_AHEAD = 8


def ordered_map(function: Callable[[In], Out], items: Iterable[In], *, jobs: int) -> Iterator[tuple[In, Out]]:
    """`(item, function(item))` in the items' order, up to `jobs` at once in threads; `items` is read as needed.

    Threads serve judges that wait (an LLM, an environment, the math sandbox's workers). One job runs in the caller's.
    """
    if jobs == 1:
        for item in items:
            yield item, function(item)
        return
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="astuner-judge")
    pending: deque[tuple[In, Future[Out]]] = deque()
    try:
        for item in items:
            pending.append((item, pool.submit(function, item)))
            if len(pending) >= jobs * _AHEAD:
                first, future = pending.popleft()
                yield first, future.result()
        while pending:
            first, future = pending.popleft()
            yield first, future.result()
    finally:
        # an abandoned run (Ctrl-C, --strict) does not work off its queue
        pool.shutdown(wait=True, cancel_futures=True)
