"""The `astuner` command."""

import gc
import io
import sys


def main() -> None:
    """Entry point of the `astuner` command."""
    # Imports make objects that stay: looking for garbage among them takes a sixth of the start. `app` enables it again
    gc.disable()
    from agentscope_tuner.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # reasons hold ≠ and answers anything: a terminal of another encoding shows ? and the run goes on
            stream.reconfigure(errors="replace")
    app()
