"""The first process inside a jail: it starts programs, each in a process tree of its own, and runs none of their code.

Inside the jail only the standard library and the folders that the jail names can be imported. For each request it
mounts a new `/tmp` and forks the program as process 1 of a new process tree, which gives up every right. When the
program ends, the kernel ends whatever else runs in that tree.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import ctypes
import fcntl
import gc
import importlib
import io
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from typing import Any, NoReturn

#: Descriptors of a program beside 0, 1 and 2: for its result, and for its line to the parent, if it has one.
RESULT, LINE = 3, 4
#: The files that each request brings: the entry's payload, the first content of the program's folder, its streams, and
#: its result.
FILES = ("payload", "folder", "stdin", "stdout", "stderr", "result")
HOME = "/tmp/home"
#: The target of the link `/dev/stdin`. Elsewhere that is in `/proc`, which a jail does not have.
STDIN = "/tmp/.stdin"
#: The targets of `/dev/stdout` and `/dev/stderr`. What a program writes to the first is appended to what it prints;
#: nobody reads the second.
STDOUT, STDERR = "/tmp/.stdout", "/tmp/.stderr"
#: The target of `/dev/zero`, a file of zeros: memory of the device can be shared, and then counts in no process's size.
ZERO = "/tmp/.zero"
_ZEROS = 2**40
#: The target of `/dev/shm`.
SHARED = "/tmp/.shm"
#: The folder in which the jail shows this package's modules; programs cannot open it.
MODULES = "/astuner"
_LENGTH = struct.Struct("<Q")
_NEW_PID = 0x20000000
_NOSUID, _NODEV, _DETACH = 2, 4, 2
_SECCOMP, _MODE_FILTER, _CAPBSET_DROP, _NO_NEW_PRIVS, _AMBIENT, _CLEAR_ALL = 22, 2, 24, 38, 47, 4
_LAST_CAPABILITY = 63
_CHILD_SUBREAPER, _DUMPABLE = 36, 4
# With less than it was promised, a program would fail for the machine's reasons
_PROMISED = {
    resource.RLIMIT_CPU: "of CPU seconds (ulimit -t)",
    resource.RLIMIT_AS: "of address space (ulimit -v)",
    resource.RLIMIT_FSIZE: "of a file's size (ulimit -f)",
    resource.RLIMIT_NOFILE: "of open files (ulimit -n)",
}

_libc = ctypes.PyDLL(None, use_errno=True)
# found before the fork, because each page of memory that a program's process writes to is copied
_prctl, _capset = _libc.prctl, _libc.capset
# version 3 of the call: two groups of effective, permitted and inheritable
_NO_RIGHTS = struct.pack("=Ii", 0x20080522, 0), bytes(24)


def start(settings: str) -> None:
    """Serve requests on the channel until the parent closes it.

    Args:
        settings: JSON, made by `JailProgram.command`.
    """
    _serve(json.loads(settings))


def _serve(settings: dict[str, Any]) -> None:
    """Prepare this process, say `ready`, and run one program for each request."""
    global MODULES
    channel, lifeline = socket.socket(fileno=settings["channel"]), settings["lifeline"]
    if "bare" in settings:
        MODULES = settings["modules"]
        _libc.prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
        # programs may have the same user as this process, and must not write into its memory
        _libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    lines = socket.socket(fileno=settings["lines"])
    # the parent may have been started with it ignored, and a program cannot change it
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path += settings["search"]
    for name in settings["preload"]:
        importlib.import_module(name)
    lines_of_filter = bytes.fromhex(settings["filter"])
    kept = ctypes.create_string_buffer(lines_of_filter)
    settings["filter"] = struct.pack("@HP", len(lines_of_filter) // 8, ctypes.addressof(kept))
    settings["self"] = os.pidfd_open(os.getpid())
    _bound_rights()
    gc.collect()
    gc.freeze()
    _send(channel, b"ready")
    while (request := _receive(channel, lifeline)) is not None:
        asked = json.loads(request)
        # a program's input and results never enter this process, because the next program inherits its memory
        files = socket.recv_fds(lines, 1, len(FILES) + 1)[1]
        try:
            if len(files) != len(FILES) + asked["line"]:
                raise OSError("descriptors were lost on their way")
            answer = _run(asked, settings, files, lifeline)
        # the parent decides what it means that a run could not be started
        except OSError as exc:
            answer = {"broken": str(exc)}
        finally:
            for descriptor in files:
                os.close(descriptor)
        _send(channel, json.dumps(answer).encode())
        del request, asked, answer


def _send(channel: socket.socket, message: bytes) -> None:
    """Send a message with its length before it."""
    channel.sendall(_LENGTH.pack(len(message)) + message)


def _receive(channel: socket.socket, lifeline: int) -> bytes | None:
    """The next request; None if the parent has closed the channel or ended."""
    data, need = bytearray(), _LENGTH.size
    while len(data) < need:
        _until_readable(channel.fileno(), lifeline)
        if not (piece := channel.recv(1 << 13)):
            return None
        data += piece
        if need == _LENGTH.size and len(data) >= need:
            need += _LENGTH.unpack_from(data)[0]
    return bytes(data[_LENGTH.size :])


def _until_readable(descriptor: int, lifeline: int) -> None:
    """Wait until a descriptor can be read; if the parent ends first, end this process and so the jail."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    poll.register(lifeline, select.POLLIN)
    if lifeline in dict(poll.poll()):
        # the whole jail ends with this process; without a jail, its descendants must be killed
        from agentscope_tuner._jail import process_tree

        process_tree.end_below(os.getpid())
        os._exit(0)


def _run(asked: dict[str, Any], settings: dict[str, Any], files: list[int], lifeline: int) -> dict[str, Any]:
    """Run one program in a new process tree, with a new `/tmp`; return how it ended, as `_ended` does."""
    owner = asked["uid"] if os.geteuid() == 0 else os.geteuid()
    if "bare" in settings:
        above = os.path.join(settings["bare"], os.urandom(8).hex())
        os.mkdir(above, 0o700)
        try:
            os.chown(above, owner, -1)
            # the limit counts all processes of a user, so it fits only if nobody else has the program's user
            asked["limits"]["processes"] = asked["limits"]["processes"] if owner != os.geteuid() else -1
            return _ended(asked, settings, files, lifeline, owner, os.path.join(above, "home"))
        finally:
            _clear(above)
    _mount(asked["limits"], owner)
    try:
        _check(_libc.unshare(_NEW_PID), "no new process tree")
        try:
            return _ended(asked, settings, files, lifeline, owner, HOME)
        finally:
            # the next process must belong to this process's tree again, or no further tree can be made
            _check(_libc.setns(settings["self"], _NEW_PID), "setns")
    finally:
        _check(_libc.umount2(b"/tmp", _DETACH), "umount")


def _ended(
    asked: dict[str, Any], settings: dict[str, Any], files: list[int], lifeline: int, owner: int, home: str
) -> dict[str, Any]:
    """Fork the program and wait for its end: `{"status", "cpu"}`, or `{"broken"}` if it could not be started."""
    bare = "bare" in settings
    failed, fail = os.pipe()
    try:
        try:
            if (program := _fork(bare)) == 0:
                _become_program(asked, settings, files, owner, fail, home)
        finally:
            os.close(fail)
        its_end = os.pidfd_open(program)
        try:
            _until_readable(its_end, lifeline)
        finally:
            os.close(its_end)
        # the kernel ends the rest of the tree before its first process
        _, status, used = os.wait4(program, 0)
        if not bare:
            _add_named_output(files[FILES.index("stdout")], asked["limits"]["output"])
        # the program cannot write to it: it closes before the program's own code begins
        if why := os.read(failed, 1000):
            return {"broken": why.decode(errors="replace")}
    finally:
        os.close(failed)
    return {"status": os.waitstatus_to_exitcode(status), "cpu": used.ru_utime + used.ru_stime}


def _add_named_output(stdout: int, most: int) -> None:
    """Append what the program wrote to the file `/dev/stdout` to its standard output.

    The kernel copies it, so that this process does not read it.

    Args:
        stdout: the file of its standard output.
        most: the most bytes to append.
    """
    # most programs leave none, and each exception makes the fork of the next one dearer
    if not os.access(STDOUT, os.F_OK):
        return
    with contextlib.suppress(OSError):
        # the program may have made anything of that name, such as a link
        named = os.open(STDOUT, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.lseek(stdout, 0, os.SEEK_END)
            os.sendfile(stdout, named, 0, most)
        finally:
            os.close(named)


def _mount(limits: dict[str, int], owner: int) -> None:
    """Mount a new `/tmp` that belongs to the program's user."""
    options = f"size={limits['scratch']},nr_inodes={limits['inodes']},mode=0711,uid={owner},gid={owner}".encode()
    _check(_libc.mount(b"tmpfs", b"/tmp", b"tmpfs", _NOSUID | _NODEV, options), "mount")


def _fork(bare: bool) -> int:
    """A new process for the program; 0 in the program itself, as from `os.fork`.

    Without a jail one more process is between this one and the program. So a program that kills its parent ends that
    one, and this one still gives a verdict.
    """
    if (between := os.fork()) == 0 and bare and (program := os.fork()):
        if (status := os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])) < 0:
            with contextlib.suppress(OSError):
                signal.signal(-status, signal.SIG_DFL)
            os.kill(os.getpid(), -status)
        os._exit(status)
    return between


def _clear(folder: str) -> None:
    """End the processes that a program without a jail has left, and remove the files in its folder."""
    # each module makes the fork of every program dearer
    import shutil

    from agentscope_tuner._jail import process_tree

    process_tree.end_below(os.getpid())
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    shutil.rmtree(folder, ignore_errors=True)


_failing = -1


def begin() -> None:
    """Say that everything is ready for the program's own code: whatever fails afterwards is its own failure.

    An entry calls it before it runs or reads what may be hostile.
    """
    global _failing
    if _failing >= 0:
        os.close(_failing)
        _failing = -1


def leave(data: bytes) -> None:
    """Write the program's result, for `Ending.result`."""
    write_all(RESULT, data)


def write(name: str, content: bytes, mode: int = 0o755) -> None:
    """Write a file of the program. A file object would make many memory pages its process's own."""
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        write_all(descriptor, content)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, however little one system call takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _place_descriptors(line: int, files: list[int], fail: int) -> None:
    """Give the program its standard streams, its result and its line, and close all other descriptors but `_failing`.

    Args:
        line: the descriptor of its line; -1 if it has none.
        files: its standard streams and its result.
        fail: the descriptor for the reason if the program cannot be started.
    """
    global _failing
    # above all descriptors that a program may have open
    _failing = fcntl.fcntl(fail, fcntl.F_DUPFD_CLOEXEC, 100)
    if line >= 0:
        line = fcntl.fcntl(line, fcntl.F_DUPFD, 64)
    for descriptor, file in enumerate([fcntl.fcntl(file, fcntl.F_DUPFD, 64) for file in files]):
        os.dup2(file, descriptor)
    if line >= 0:
        os.dup2(line, LINE)
    os.closerange(LINE + 1 if line >= 0 else LINE, _failing)
    os.closerange(_failing + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _become_program(
    asked: dict[str, Any], settings: dict[str, Any], files: list[int], owner: int, fail: int, home: str
) -> NoReturn:
    """Turn this forked process into the program: give up all rights, set its limits, and run its entry or command."""
    code = 125
    try:
        given, line = files[: len(FILES)], files[len(FILES)] if asked["line"] else -1
        payload, folder = (os.pread(file, os.fstat(file).st_size, 0) for file in given[:2])
        _place_descriptors(line, given[2:], fail)
        os.setsid()
        # it may read its own entries in /proc again
        _prctl(_DUMPABLE, 1, 0, 0, 0)
        _give_up_rights(owner, settings["filter"])
        _make_places(home, bare="bare" in settings)
        if len(folder) > asked["limits"]["scratch"] // 2:
            # a program that is too large for its folder has itself to blame
            begin()
        if folder:
            for name, content in json.loads(folder).items():
                write(name, base64.b64decode(content))
        if "bare" not in settings and 0 < (size := os.fstat(0).st_size) <= asked["limits"]["scratch"] // 4:
            write(STDIN, os.pread(0, size, 0))
        # set only now, because its input may be larger than a file that it may write
        _set_limits(asked["limits"])
        if "argv" in asked:
            _replace_by(asked["argv"])
        module, _, function = asked["entry"].partition(":")
        entry = getattr(sys.modules.get(module) or importlib.import_module(module), function)
        asked.clear()
        code = entry(payload)
    except BaseException as exc:  # noqa: BLE001 - this is the end of the process, whatever it was
        with contextlib.suppress(BaseException):
            # if the jail could not be prepared, that is no wrong answer
            os.write(_failing if _failing >= 0 else 2, f"{type(exc).__name__}: {exc}\n".encode(errors="replace")[:1000])
    finish(code)


def _make_places(home: str, *, bare: bool) -> None:
    """Make the program's home and, in a jail, the files that its devices lead to."""
    os.mkdir(home)
    os.chdir(home)
    if bare:
        os.environ["HOME"] = home
    else:
        os.mkdir(SHARED, 0o700)
        write(ZERO, b"")
        os.truncate(ZERO, _ZEROS)


def _replace_by(argv: list[str]) -> NoReturn:
    """Replace this process by a command."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if not os.path.isabs(argv[0]):
        # the program's own file, which the kernel may not be able to start
        begin()
    os.execv(argv[0], argv)


def finish(code: int) -> NoReturn:
    """End the process as the interpreter would, with its exit functions and flushes.

    It does not free every object first, which takes long.
    """
    try:
        if (threading := sys.modules.get("threading")) is not None:
            threading._shutdown()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
    except BaseException:  # noqa: BLE001 - a full stream: the program has failed
        code = code or 120
    # what else the interpreter would end and flush as it takes the program apart, whatever that raises
    with contextlib.suppress(BaseException):
        names = vars(sys.modules["__main__"])
        kept: list[Any] = [one for one in names.values() if isinstance(one, io.IOBase)]
        kept += [sys.stdout, sys.__stdout__, sys.__stderr__]
        names |= dict.fromkeys([name for name, one in names.items() if hasattr(type(one), "__del__")])
        for one in kept:
            with contextlib.suppress(BaseException):
                one.flush()
    os._exit(code)


def _set_limits(limits: dict[str, int]) -> None:
    """Set the program's resource limits; -1 sets none.

    Raises:
        OSError: this machine allows less than a program is promised.
    """
    for name, most in (
        (resource.RLIMIT_CPU, limits["cpu"]),
        (resource.RLIMIT_AS, limits["address_space"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_FSIZE, limits["output"]),
        (resource.RLIMIT_STACK, limits["stack"]),
        # if dumps go to a program, 0 does not stop them, but 1 does
        (resource.RLIMIT_CORE, 1),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        if most >= 0:
            hard = resource.getrlimit(name)[1]
            if hard != resource.RLIM_INFINITY and hard < most:
                if name in _PROMISED:
                    raise OSError(
                        f"this machine's limit {_PROMISED[name]} is {hard:,}, below the {most:,} of a program"
                    )
                most = hard
            resource.setrlimit(name, (most, most))


def _bound_rights() -> None:
    """Ensure that no program that is started from here can gain a right."""
    for capability in range(_LAST_CAPABILITY + 1):
        if _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    _check(_libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0), "prctl")
    _check(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def _give_up_rights(owner: int, program: bytes) -> None:
    """Become the program's user, without any capability and under the seccomp filter."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(owner, owner, owner)
        os.setresuid(owner, owner, owner)
    _check(_capset(*_NO_RIGHTS), "capset")
    _check(_prctl(_SECCOMP, _MODE_FILTER, program, 0, 0), "seccomp")


def _check(result: int, what: str) -> None:
    """Raise OSError if a call to libc failed."""
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
