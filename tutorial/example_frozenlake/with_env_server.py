"""An environment server beside a command: `python -m tutorial.example_frozenlake.with_env_server -- COMMAND…`.

`astuner env serve` listens on a free port of 127.0.0.1; COMMAND finds its address in ASTUNER_ENV_URL, and the server
ends with it. The exit code is COMMAND's.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "ASTUNER_ENV_URL"


@contextmanager
def env_server() -> Iterator[str]:
    """The URL of a fresh `astuner env serve` on a free port, which is ended with the block.

    Raises:
        RuntimeError: it did not start; its own words are on standard error.
    """
    command = [sys.executable, "-c", "from agentscope_tuner.cli import main; main()", "env", "serve", "--port", "0"]
    # a session of its own: Ctrl-C must end the command first, which releases its episodes in the end
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            found = re.search(r"http://\S+", line)
            if found is None:
                raise RuntimeError(f"the env server did not start: {line!r}")
            yield found.group()
        finally:
            server.terminate()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tutorial.example_frozenlake.with_env_server", description=__doc__)
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="what to run, after --")
    command: list[str] = parser.parse_args().command
    with env_server() as url, subprocess.Popen(command, env={**os.environ, VARIABLE: url}) as running:
        while True:
            try:
                code = running.wait()
                break
            except KeyboardInterrupt:
                # the command was told, too: it keeps what is done, and the server must outlive it
                continue
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
