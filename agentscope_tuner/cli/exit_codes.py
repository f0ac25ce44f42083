"""The exit codes of commands, and how a command ends when a signal tells it to.

The signal may be Ctrl-C, or that of a batch system, a pod or a lost terminal.
All signals of `interrupts.ENDING` are Ctrl-C to every command: what is paid for is finished, or given up when the grace
is over, and it is written. A second signal gives it up at once, a third one ends the process. The exit code is 128 and
the signal's number.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType

from agentscope_tuner._run import interrupts

#: Seconds that a command may take to finish what is under way. Kubernetes kills after 30, Slurm by default after 30.
GRACE_SECONDS = 25.0
_UNCAUGHT = 1


class Exit(IntEnum):
    """The exit codes of every command; 0 is the end of a command that did its work and found nothing to report."""

    #: What `--fail-on` or `--fail-over` asked about was found; `watch`: the run is being gamed; `doctor`: a cause.
    FOUND = 1
    #: Wrong options, configuration or input: nothing was done. `audit`: no right answer passes.
    BAD_USAGE = 2
    #: Some rows have no reward, or could not be checked; they are kept. `rubrics`, `judge-eval`: too few verdicts.
    ROWS_FAILED = 3
    #: `rubrics learn`: the rubrics are not proven on held-out samples.
    NOT_PROVEN = 4
    #: Ctrl-C; what was done is kept. After another signal it is 128 and the signal's number: see `ToldToEnd`.
    INTERRUPTED = 130


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

    def code(self, code: object) -> object:
        """The exit code in place of `code`, where a signal is why the command ended."""
        if self.number is not None and code in (Exit.INTERRUPTED, _UNCAUGHT):
            return 128 + self.number
        return code


ending = ToldToEnd()


def _interrupt(number: int, frame: FrameType | None) -> None:
    ending.told(number)
    interrupts.come()


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Have these signals raise KeyboardInterrupt in the block, which runs a command; its exit code is the signal's.

    Where interrupts are held, it is raised later.
    """
    before = {number: signal.signal(number, _interrupt) for number in interrupts.ending_signals()}
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
