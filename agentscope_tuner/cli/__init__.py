"""The `astuner` command."""

import errno
import gc
import io
import os
import sys

# The error numbers of printing to a full disk, to a broken device, or to a reader that has gone
_UNPRINTED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)


def main() -> None:
    """Entry point of the `astuner` command."""
    # Imported objects stay: to search them for garbage takes a sixth of the start. `app` enables collection again
    gc.disable()
    from agentscope_tuner.cli.app import app
    from agentscope_tuner.cli.console import signals_interrupt

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Reasons hold ≠, and answers any character: a terminal with another encoding shows ?, and the run goes on
            stream.reconfigure(errors="replace")
    with signals_interrupt():
        try:
            try:
                app()
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
        except OSError as exc:
            if exc.errno not in _UNPRINTED or exc.filename is not None:
                raise
            # the exit would try to print the rest once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            if exc.errno != errno.EPIPE and sys.stderr is not None:
                print(f"error: standard output cannot be written: {exc.strerror}", file=sys.stderr)
            sys.exit(1)
