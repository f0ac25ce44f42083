"""`astuner serve` as a user runs it, and what its processes weigh."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_COMMAND = [sys.executable, "-c", "from agentscope_tuner.cli import main; main()", "serve"]
_START_SECONDS = 120.0
_END_SECONDS = 60.0
_MATH_WORKER = "agentscope_tuner.verify.sandbox_worker"


class Served:
    """A reward service of one judge, in processes of its own, from its start until it is ready to its polite end.

    Args:
        task_judge: the `astuner.task_judge` section.
        options: further words of the command line.
        token: that `--token-file` among them holds.
    """

    def __init__(self, task_judge: dict[str, Any], *options: str, token: str | None = None) -> None:
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._folder = tempfile.TemporaryDirectory()
        conf = Path(self._folder.name) / "judge.yaml"
        # JSON is YAML
        conf.write_text(json.dumps({"astuner": {"task_judge": task_judge}}), encoding="utf-8")
        self.process = subprocess.Popen(
            [*_COMMAND, "--conf", str(conf), "--port", "0", *options], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found is None:
            self.process.kill()
            self._end()
            raise RuntimeError(f"the service did not start: {line!r}")
        self.port = int(found.group(1))
        self._wait_until_ready()

    def pids(self) -> list[int]:
        """The service's processes: itself and all it started."""
        return [self.process.pid, *_descendants(self.process.pid)]

    def math_workers(self) -> list[int]:
        """Those of them in which the symbolic stage runs."""
        return [pid for pid in self.pids() if _MATH_WORKER in _command_line(pid)]

    def resident_bytes(self) -> int:
        """Memory of all of them; pages that they share count once for each."""
        return sum(_resident(pid) for pid in self.pids())

    def cpu_seconds(self) -> float:
        """CPU time that those which run now have used."""
        return sum(_cpu_seconds(pid) for pid in self.pids())

    def own_cpu_clock(self) -> float:
        """CPU seconds of the service's own process so far; costs no look into /proc."""
        # Linux's clock of another process: its id, inverted, and the kind of clock
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self._end()

    def _end(self) -> None:
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            assert self.process.stdout is not None
            self.process.stdout.close()
            self._folder.cleanup()

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + _START_SECONDS
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}/readyz", headers=self._headers)
        while True:
            try:
                with urllib.request.urlopen(asked, timeout=10):
                    return
            except (urllib.error.URLError, OSError) as exc:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise RuntimeError(f"the service is not ready: {exc}") from exc
            time.sleep(0.1)


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            children.setdefault(int(fields[1]), []).append(int(entry))
    found, heads = [], [pid]
    while heads:
        below = children.get(heads.pop(), [])
        found += below
        heads += below
    return found


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def all_cpu_seconds(pid: int) -> float:
    """CPU time of a process and of all that it started, directly or not, whether they run or have ended."""
    return sum(_cpu_seconds(each, ended=True) for each in (pid, *_descendants(pid)))


def _cpu_seconds(pid: int, *, ended: bool = False) -> float:
    """Of a process; with `ended` also of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11 : 15 if ended else 13])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
