"""What the tutorials run under: the model server ends whatever happens, and the exit code says what happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tutorial.with_local_model import NOT_FOUND, VARIABLE

# each starts three interpreters
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]

# answers everything; writes where it listens, and when it was ended, to the file it is given
SERVER = """
import http.server, signal, sys, threading

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.encode())
    def log_message(self, *args): pass

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"\\x1b[94mmodel at http://127.0.0.1:{server.server_port}/v1\\x1b[0m", flush=True)
signal.sigwait([signal.SIGINT, signal.SIGTERM])
open(sys.argv[1], "a").write("ended\\n")
"""
ASKS = f"""
import os, urllib.request
print(urllib.request.urlopen(os.environ[{VARIABLE!r}] + "/asked").read().decode())
raise SystemExit(7)
"""
# says that it runs, then by which signals it was ended; blocked ones wait for it
WAITS = """
import signal
ends = [signal.SIGINT, signal.SIGTERM]
signal.pthread_sigmask(signal.SIG_BLOCK, ends)
print("running", flush=True)
print(signal.Signals(signal.sigwait(ends)).name)
again = signal.sigtimedwait(ends, 0.3)
print("again" if again else "once")
raise SystemExit(5)
"""


def wrapped(server: str, command: str, trace: Path) -> subprocess.Popen[str]:
    """The wrapper in a process of its own, with a server that is a Python program."""
    program = (
        "import sys; from tutorial.with_local_model import run; "
        "sys.exit(run([sys.executable, '-c', sys.argv[2]], [sys.executable, '-c', sys.argv[1], sys.argv[3]]))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, server, command, str(trace)],
        cwd=ROOT,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def as_typed(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tutorial.with_local_model", "--", *command],
        cwd=ROOT,
        env=_environment() | variables,
        capture_output=True,
        text=True,
    )


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != VARIABLE}


def test_the_command_runs_against_the_server_which_then_ends(tmp_path: Path) -> None:
    process = wrapped(SERVER, ASKS, tmp_path / "trace")
    out, err = process.communicate()
    assert (process.returncode, out.strip(), err) == (7, "/v1/asked", "")
    assert (tmp_path / "trace").read_text() == "ended\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("to_group", [True, False], ids=["from the terminal", "to the wrapper"])
def test_a_signal_reaches_the_command_once_and_ends_the_server(
    number: signal.Signals, to_group: bool, tmp_path: Path
) -> None:
    process = wrapped(SERVER, WAITS, tmp_path / "trace")
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    (os.killpg if to_group else os.kill)(process.pid, number)
    out, err = process.communicate()
    assert (process.returncode, out.split(), err) == (5, [number.name, "once"], "")
    assert (tmp_path / "trace").read_text() == "ended\n"


def test_a_command_that_a_signal_ends_gives_the_code_of_a_shell(tmp_path: Path) -> None:
    process = wrapped(SERVER, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", tmp_path / "trace")
    process.communicate()
    assert process.returncode == 128 + signal.SIGKILL
    assert (tmp_path / "trace").read_text() == "ended\n"


def test_a_signal_while_the_server_starts_ends_both(tmp_path: Path) -> None:
    # no address is ever printed: only the signal can end the wait
    silent = "import signal, sys; print('up', file=sys.stderr, flush=True); signal.pause()"
    process = wrapped(silent, "print('ran')", tmp_path / "trace")
    assert process.stderr is not None
    assert process.stderr.readline() == "up\n"
    process.terminate()
    out, err = process.communicate()
    assert (process.returncode, out) == (128 + signal.SIGTERM, "")
    assert "stopped by SIGTERM" in err


def test_a_server_that_dies_at_start_is_told_with_its_words(tmp_path: Path) -> None:
    dies = "import sys; print('loading'); print('no memory', file=sys.stderr); sys.exit(9)"
    process = wrapped(dies, "print('ran')", tmp_path / "trace")
    out, err = process.communicate()
    assert (process.returncode, out) == (1, "")
    assert "no memory" in err
    assert "ended with exit code 9 before it answered. loading" in err


def test_a_server_that_dies_later_is_told(tmp_path: Path) -> None:
    ends_it = f"""
import os, signal, urllib.request
url = os.environ[{VARIABLE!r}]
ask = lambda: int(urllib.request.urlopen(url + "/pid").read())
os.kill(ask(), signal.SIGKILL)
try:
    while True:
        ask()
except OSError:
    pass
"""
    server = SERVER.replace("self.path.encode()", "str(__import__('os').getpid()).encode()")
    process = wrapped(server, ends_it, tmp_path / "trace")
    _, err = process.communicate()
    assert process.returncode == 0
    assert "the model server ended meanwhile with exit code -9" in err


def test_an_endpoint_that_is_set_is_used_as_it_is() -> None:
    done = as_typed(
        sys.executable, "-c", f"import os; print(os.environ[{VARIABLE!r}])", **{VARIABLE: "http://elsewhere/v1"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "http://elsewhere/v1\n", "")
    assert as_typed("no-such-command", **{VARIABLE: "http://elsewhere/v1"}).returncode == NOT_FOUND


def test_without_the_extra_its_name_is_told() -> None:
    if find_spec("xllamacpp") is not None:
        pytest.skip("the extra is installed here")
    done = as_typed(sys.executable, "-c", "print('ran')")
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install '.[local-llm]'" in done.stderr
