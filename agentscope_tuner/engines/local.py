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
                yield _finish_first(pending)
        while pending:
            yield _finish_first(pending)
    except KeyboardInterrupt:
        # what is under way may have been paid for: it is finished and handed on; what is queued is not begun
        pool.shutdown(wait=False, cancel_futures=True)
        while pending and not pending[0][1].cancelled():
            yield _finish_first(pending)
        raise
    finally:
        # an abandoned run (--strict, a second Ctrl-C) does not work off its queue
        pool.shutdown(wait=False, cancel_futures=True)


def _finish_first(pending: deque[tuple[In, Future[Out]]]) -> tuple[In, Out]:
    item, future = pending[0]
    result = future.result()
    # only now: an interrupt while waiting leaves the row in the queue
    pending.popleft()
    return item, result
