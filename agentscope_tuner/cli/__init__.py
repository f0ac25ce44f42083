"""The `astuner` command."""

import io
import sys


def main() -> None:
    """Entry point of the `astuner` command."""
    from agentscope_tuner.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # reasons hold ≠ and answers anything: a terminal of another encoding shows ? and the run goes on
            stream.reconfigure(errors="replace")
    app()
