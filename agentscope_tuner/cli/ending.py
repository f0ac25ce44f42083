"""How a command ends when it is told to: by Ctrl-C, or by the signal of a batch system, a pod or a lost terminal.

SIGTERM and SIGHUP are Ctrl-C to every command: what is paid for is finished, or given up when the grace is over, and it
is written. A second signal gives it up at once, a third one ends the process. The exit code is 128 and the signal's
number.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from agentscope_tuner.cli.console import Exit

T = TypeVar("T")

#: Seconds that a command may take to finish what is under way. Kubernetes kills after 30, Slurm by default after 30.
GRACE_SECONDS = 25.0
_TOLD_BY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_UNCAUGHT = 1


class ToldToEnd:
    """What this process was told.

    Attributes:
        grace: seconds from the first signal to the end of waiting.
        number: the first signal's number; None before it.
    """

    def __init__(self) -> None:
        self.grace = GRACE_SECONDS
        self.number: int | None = None
        self._times = 0
        self._shielded = self._pending = False

    def told(self, number: int) -> None:
        """Note a signal; the third one ends the process."""
        self._times += 1
        if self._times > 2:
            os._exit(128 + number)
        if self.number is None:
            self.number = number
            timer = threading.Timer(self.grace, self._give_up)
            timer.daemon = True
            timer.start()

    def _give_up(self) -> None:
        if self._times < 2:
            # As if it came again: a signal, unlike a flag, ends the main thread's wait for a lock
            signal.pthread_kill(threading.main_thread().ident or 0, self.number or signal.SIGINT)

    def interrupt(self, number: int) -> None:
        """A signal has come: raises KeyboardInterrupt, unless the block of `kept_whole` runs."""
        self.told(number)
        if self._shielded:
            self._pending = True
            return
        raise KeyboardInterrupt

    @contextmanager
    def kept_whole(self) -> Iterator[None]:
        """No signal interrupts this block, such as the writing of a row. See `was_interrupted`."""
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False

    def was_interrupted(self) -> bool:
        """Whether a signal came in a block that is kept whole, since the last call."""
        pending, self._pending = self._pending, False
        return pending

    def code(self, code: object) -> object:
        """The exit code in place of `code`, where a signal is why the command ended."""
        if self.number is not None and code in (Exit.INTERRUPTED, _UNCAUGHT):
            return 128 + self.number
        return code


ending = ToldToEnd()


def each(results: Generator[T, None, None], take: Callable[[T], None]) -> None:
    """`take` each result whole: a signal interrupts `results` alone, which hand on what they still have."""
    interrupted = False
    while True:
        try:
            found = results.throw(KeyboardInterrupt()) if interrupted else next(results)
            interrupted = False
        except StopIteration:
            return
        except KeyboardInterrupt:
            # Not its own: the signal came between two of them
            if interrupted or results.gi_frame is None:  # type: ignore[attr-defined]
                raise
            interrupted = True
            continue
        with ending.kept_whole():
            take(found)
        interrupted = ending.was_interrupted()


def _interrupt(number: int, frame: FrameType | None) -> None:
    ending.interrupt(number)


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Have these signals raise KeyboardInterrupt in the block, which runs a command; its exit code is the signal's.

    A signal that is ignored, as nohup does, stays so.
    """
    before = {number: signal.getsignal(number) for number in _TOLD_BY}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    except SystemExit as exc:
        exc.code = ending.code(exc.code)  # type: ignore[assignment]
        raise
    except KeyboardInterrupt:
        # It came before the command began, or after it ended
        raise SystemExit(ending.code(Exit.INTERRUPTED)) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
