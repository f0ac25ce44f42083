"""The `astuner` command."""

import gc
import io
import sys


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
        app()
