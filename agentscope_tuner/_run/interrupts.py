"""Delays Ctrl-C until it loses no verdict: it is raised as KeyboardInterrupt only at safe points.

A signal comes between any two steps of the main thread, even while a verdict that was paid for is handed from one
function to the next. While interrupts are `held`, the signal's handler only counts them. Each is raised at a point at
which nothing is lost: while waiting and reading (`welcome`), and the second one also while the caller's own thread
judges (`patience`). Code that does not wait asks by `came` whether an interrupt is pending.

If nobody holds interrupts, as in a user's program that runs an engine, all of this does nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")

_LOOK_SECONDS = 1.0

#: The signals that ask a process to end and leave it time to: Ctrl-C, a scheduler that preempts a job (SIGUSR1 and
#: SIGUSR2 by Slurm's --signal and Grid Engine's -notify), a lost terminal, a limit of CPU time.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)


def ending_signals() -> list[signal.Signals]:
    """The signals of `ENDING` that this package may handle in this process.

    Left out are signals that are ignored, as under nohup, and signals that a library written in C handles.
    """
    return [number for number in ENDING if signal.getsignal(number) not in (signal.SIG_IGN, None)]


@contextmanager
def handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[list[signal.Signals]]:
    """A context in which `handler` handles the signals of `ending_signals`; it gives the list of these signals.

    The list is empty in threads other than the main thread, which cannot handle signals.
    """
    heard = ending_signals() if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield heard
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


class Server(Protocol):
    """The attributes of uvicorn's server by which it is ended: after its requests (`should_exit`), or at once."""

    should_exit: bool
    force_exit: bool


@contextmanager
def ending(server: Server) -> Iterator[None]:
    """A context in which a signal of `ENDING` ends `server` after its requests, and a second signal at once.

    After the block the first signal is raised again, for the handler that was set before.
    """
    heard: list[int] = []

    def told(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        server.force_exit, server.should_exit = server.should_exit, True

    with handled(told):
        yield
    if heard:
        signal.raise_signal(heard[0])


class _Interrupts:
    """Counts the interrupts of the main thread that are not raised yet.

    The signals' handler runs in the same thread, so no lock is needed.

    Attributes:
        holder: the thread that holds them.
        pending: how many have come and are not raised yet.
        least: how many must be pending for one to be raised at this point; 0 if none may be raised.
    """

    def __init__(self) -> None:
        self.holder: int | None = None
        self.pending = self.least = 0

    def come(self) -> None:
        """Count an interrupt, and raise it if that is allowed now; the signal's handler calls this.

        Raises:
            KeyboardInterrupt: nobody holds interrupts, or one may be raised at this point.
        """
        self.pending += 1
        if self.holder is None or 0 < self.least <= self.pending:
            self.throw()

    def throw(self) -> None:
        """Raise one pending interrupt; the others stay pending."""
        self.least = 0
        self.pending -= 1
        raise KeyboardInterrupt


_interrupts = _Interrupts()
#: Called by a signal's handler.
come = _interrupts.come


@contextmanager
def held() -> Iterator[None]:
    """A context in which this thread's interrupts are only counted, and raised at safe points (`welcome`, `patience`).

    An interrupt that is still pending at the end came too late, and is dropped.
    """
    _interrupts.holder = threading.get_ident()
    try:
        yield
    finally:
        _interrupts.pending = 0
        _interrupts.holder = None


def came() -> bool:
    """Whether Ctrl-C has come in this thread and is not raised yet; False unless this thread has interrupts `held`."""
    return _interrupts.pending > 0 and _interrupts.holder == threading.get_ident()


class _Raised:
    """A context in which an interrupt is raised once `least` of them are pending, even if they came before the block.

    What the block is working on at that moment may be lost.
    """

    def __init__(self, least: int) -> None:
        self._least = least

    def __enter__(self) -> None:
        if _interrupts.holder == threading.get_ident():
            _interrupts.least = self._least
            if _interrupts.pending >= self._least:
                _interrupts.throw()

    def __exit__(self, *_: object) -> None:
        if _interrupts.holder == threading.get_ident():
            _interrupts.least = 0


welcome, patience = _Raised(1), _Raised(2)


class Interruptible(Generic[T]):
    """Iterates over `items`; Ctrl-C is raised while it waits for the next item, and not while that is worked on."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items

    def __iter__(self) -> Interruptible[T]:
        return self

    def __next__(self) -> T:
        with welcome:
            return next(self._items)


class News:
    """Wakes one waiting thread when something has changed, as `threading.Event` does, but safe with interrupts.

    It is a bare lock, which is locked as long as there is no news. In an Event an interrupt may leave the inner lock
    held, and a thread that has news would then wait for ever.
    """

    def __init__(self) -> None:
        self._none = threading.Lock()
        self._none.acquire()

    def tell(self) -> None:
        """Wake the waiting thread because something has changed; any thread may call it."""
        with suppress(RuntimeError):
            self._none.release()

    def forget(self) -> None:
        """Drop news that has come before: the next `wait` returns only for later news."""
        self._none.acquire(blocking=False)

    def wait(self) -> None:
        """Wait until there is news. Ctrl-C is raised while it waits."""
        with welcome:
            # a signal that comes just before the thread sleeps is heard when it looks again
            while not self._none.acquire(timeout=_LOOK_SECONDS):
                pass
