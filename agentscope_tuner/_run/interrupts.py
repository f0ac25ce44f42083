"""Where an interrupt is raised.

A signal comes between any two steps of the main thread, also where a verdict that was paid for has left one hand and is
not in the other yet. While interrupts are `held`, the signal's handler only counts them. Each is raised where it loses
nothing: in a wait and in reading (`welcome`), the second one also in judging in the caller's own thread (`patience`).
Code that does not wait asks by `came` whether there is one.

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

#: The signals that tell a process to end and leave it time to: Ctrl-C, a scheduler that preempts a job (SIGUSR1 and
#: SIGUSR2 by Slurm's --signal and Grid Engine's -notify), a lost terminal, a limit of CPU time.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)


def ending_signals() -> list[signal.Signals]:
    """The signals of `ENDING` that this process reacts to.

    A signal that is ignored, as under nohup, stays ignored, and one that a library written in C handles is left to it.
    """
    return [number for number in ENDING if signal.getsignal(number) not in (signal.SIG_IGN, None)]


@contextmanager
def handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[list[signal.Signals]]:
    """Have `handler` handle the signals of `ending_signals` in this block, which is given the list of them.

    The list is empty outside of the main thread, where no signal can be handled.
    """
    heard = ending_signals() if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield heard
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


class Server(Protocol):
    """The attributes of uvicorn's server that end it: gracefully, or without waiting for anybody."""

    should_exit: bool
    force_exit: bool


@contextmanager
def ending(server: Server) -> Iterator[None]:
    """Have a signal of `ENDING` end `server` in this block, and a second one end it at once.

    After the block the first signal is raised again, for whoever handled it before.
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
    """The interrupts of the main thread. The signals' handler runs in it, too, so there is nothing to lock.

    Attributes:
        holder: the thread that holds them.
        pending: how many have come and are not raised yet.
        least: how many must be pending for one to be raised at this point; 0 if none may be raised.
    """

    def __init__(self) -> None:
        self.holder: int | None = None
        self.pending = self.least = 0

    def come(self) -> None:
        """Count an interrupt that has come.

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
    """Hold interrupts in this block. One that is still pending at its end came too late, and is dropped."""
    _interrupts.holder = threading.get_ident()
    try:
        yield
    finally:
        _interrupts.pending = 0
        _interrupts.holder = None


def came() -> bool:
    """Whether an interrupt is pending that this thread holds."""
    return _interrupts.pending > 0 and _interrupts.holder == threading.get_ident()


class _Raised:
    """A block in which an interrupt is raised once `least` are pending, even if they came before the block.

    Whatever the block has in hand may be lost by it.
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
    """Iterates `items`, and welcomes interrupts while the next one is awaited."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items

    def __iter__(self) -> Interruptible[T]:
        return self

    def __next__(self) -> T:
        with welcome:
            return next(self._items)


class News:
    """Wakes one waiting thread, by a bare lock that is locked as long as there is no news.

    In an Event an interrupt may leave the inner lock held, and whoever has news would then wait for ever.
    """

    def __init__(self) -> None:
        self._none = threading.Lock()
        self._none.acquire()

    def tell(self) -> None:
        """Wake the waiting thread: something has changed. For any thread."""
        with suppress(RuntimeError):
            self._none.release()

    def forget(self) -> None:
        """Wait for later news only."""
        self._none.acquire(blocking=False)

    def wait(self) -> None:
        """Return once there is news. Interrupts are welcome."""
        with welcome:
            # a signal that comes just before the thread sleeps is heard when it looks again
            while not self._none.acquire(timeout=_LOOK_SECONDS):
                pass
