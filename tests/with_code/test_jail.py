"""The jail: what a program sees, what it may use, and that nothing of it is left."""

from __future__ import annotations

import errno
import json
import os
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner._jail import process_tree
from agentscope_tuner._jail.bubblewrap import interpreter
from agentscope_tuner._jail.jail import _START_SECONDS, Ending, Jail, JailBroken, JailWork, RunLimits, _Slots, wait
from agentscope_tuner._jail.system_calls import filter_program

_SHORT = RunLimits(seconds=1.0, wall_seconds=2.0, memory_mb=128, processes=16)


@pytest.fixture
def jail() -> Iterator[Jail]:
    with Jail() as jail:
        yield jail


def _shell(command: str, stdin: bytes = b"") -> JailWork:
    return JailWork(argv=("/bin/sh", "-c", command), stdin=stdin)


def test_a_program_reads_its_input_and_leaves_its_output(jail: Jail) -> None:
    ending = jail.run(_shell("cat; echo no >&2; exit 3", b"hello\n"), _SHORT)
    assert (ending.kind, ending.status, ending.stdout, ending.stderr) == ("exit", 3, b"hello\n", b"no\n")


def test_nothing_that_a_run_writes_is_seen_by_the_next(jail: Jail) -> None:
    for _ in range(2):
        ending = jail.run(
            _shell("find /tmp /dev/shm -type f ! -name .zero; touch /tmp/a /tmp/home/b /dev/shm/c"), _SHORT
        )
        assert (ending.status, ending.stdout) == (0, b"")


def test_the_files_of_this_machine_are_not_there(jail: Jail, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    ending = jail.run(
        _shell(f"cat {tmp_path}/secret /etc/shadow /proc/1/environ; ls /home /root/.ssh /srv; env"), _SHORT
    )
    assert b"secret" not in ending.stdout
    assert b"TMPDIR" not in ending.stdout
    assert b"root:" not in ending.stdout


@pytest.mark.parametrize("place", ["/x", "/usr/x", "/dev/x", "/etc/x"])
def test_nothing_but_its_own_folders_can_be_written(jail: Jail, place: str) -> None:
    assert jail.run(_shell(f"touch {place}"), _SHORT).status != 0


def test_it_is_nobody_here(jail: Jail) -> None:
    assert jail.run(_shell("test $(id -u) != 0 && ! unshare -r true && ! mount -t tmpfs x /tmp"), _SHORT).status == 0


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("while :; do :; done", "cpu"),
        ("sleep 100", "wall"),
        ("sh -c 'kill -STOP $$'", "wall"),
        ("setsid sleep 100 & setsid sleep 100 & wait", "wall"),
        ("trap '' 1 2 3 13 14 15; while :; do :; done", "cpu"),
    ],
)
def test_a_run_ends_at_its_bound_with_all_its_processes(jail: Jail, command: str, kind: str) -> None:
    ending = jail.run(_shell(command), _SHORT)
    assert ending.kind == kind
    assert not jail.alive


def test_memory_is_that_of_all_processes(jail: Jail) -> None:
    command = "x=$(head -c 30000000 /dev/zero | tr '\\0' x); for i in 1 2 3 4 5; do (y=$x$x; sleep 5) & done; wait"
    assert jail.run(JailWork(argv=("/bin/bash", "-c", command)), _SHORT).kind == "memory"


def test_files_are_bounded_too(jail: Jail) -> None:
    ending = jail.run(_shell("for i in $(seq 200); do head -c 1000000 /dev/zero > f$i || exit 7; done"), _SHORT)
    assert ending.status == 7


def test_long_output_is_cut_and_said(jail: Jail) -> None:
    ending = jail.run(_shell("yes"), RunLimits(seconds=1.0, wall_seconds=2.0, output_kb=64))
    assert (ending.cut, len(ending.stdout)) == (True, 64 * 1024)


def test_a_daemon_ends_with_its_program(jail: Jail) -> None:
    ending = jail.run(_shell("setsid sleep 100 > /dev/null 2>&1 & echo done"), _SHORT)
    assert (ending.kind, ending.stdout) == ("exit", b"done\n")
    assert jail.run(_shell("echo again"), _SHORT).stdout == b"again\n"


_X86, _ARM = ("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)


def _filtered(machine: str, arch: int, number: int, *arguments: int) -> tuple[int, int]:
    """What a filter says of a call, and after how many steps: classic BPF, with the four jumps that it is made of."""
    program, at, loaded, steps = filter_program(machine), 0, 0, 0
    call = struct.pack("=IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    while True:
        code, if_true, if_false, value = struct.unpack_from("=HBBI", program, 8 * at)
        at, steps = at + 1, steps + 1
        if code == 0x06:
            return value, steps
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", call, value)
        else:
            jumps = {0x15: loaded == value, 0x25: loaded > value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
            at += if_true if jumps[code] else if_false


@pytest.mark.parametrize(
    ("machine", "call", "refused"),
    [
        (_X86, (0,), None),
        (_X86, (101,), errno.EPERM),
        (_X86, (165,), errno.EPERM),
        (_X86, (166,), errno.EPERM),
        (_X86, (167,), errno.EPERM),
        (_X86, (168,), errno.EPERM),
        (_X86, (164,), errno.EPERM),
        (_X86, (435,), errno.ENOSYS),
        (_X86, (451,), errno.ENOSYS),
        (_X86, (450,), None),
        (_X86, (56, 0x10000000), errno.EPERM),
        (_X86, (56, 0x11), None),
        (_X86, (53, 1), None),
        (_X86, (53, 2), errno.EAFNOSUPPORT),
        (_X86, (302, 0), None),
        (_X86, (302, 7), errno.EPERM),
        (_X86, (9, 0, 0, 3, 0x22), None),
        (_X86, (9, 0, 0, 3, 0x21), errno.EPERM),
        (_X86, (13, 17), 0),
        (_X86, (13, 2), None),
        (_X86, (141,), 0),
        (_ARM, (0,), errno.EPERM),
        (_ARM, (1,), None),
        (_ARM, (117,), errno.EPERM),
        (_ARM, (140,), 0),
        (_ARM, (220, 0x10000000), errno.EPERM),
    ],
)
def test_the_filter_finds_each_call_by_few_steps(
    machine: tuple[str, int], call: tuple[int, ...], refused: int | None
) -> None:
    said, steps = _filtered(*machine, *call)
    assert said == (0x7FFF0000 if refused is None else 0x00050000 | refused)
    assert steps <= 20
    assert _filtered(machine[0], 0x40000003, *call)[0] == 0x80000000


def test_the_limits_of_other_processes_are_not_its_to_set(jail: Jail) -> None:
    """Without root inside, the process that keeps it is the same user's."""
    code = "import resource; resource.prlimit({pid}, resource.RLIMIT_NOFILE, (8, 8))"
    assert jail.run(JailWork(argv=(interpreter(), "-S", "-c", code.format(pid=0))), _SHORT).status == 0
    refused = jail.run(
        _shell(f"sleep 5 & exec {interpreter()} -S -c '{code.format(pid='$!')}'".replace("'", '"')), _SHORT
    )
    assert b"PermissionError" in refused.stderr


def _usage(cpu: float, lives: dict[int, float]) -> process_tree.TreeUsage:
    return process_tree.TreeUsage(cpu_seconds=cpu, lives=lives)


@pytest.mark.parametrize(
    ("base", "used", "waited"),
    [
        # one process that had a core a third of its time
        (_usage(0, {1: 0}), _usage(1, {1: 0, 2: 3}), 2),
        # the same, in a jail that has served others for five seconds, and waited for two
        (_usage(5, {1: 2}), _usage(6, {1: 2, 2: 3}), 2),
        # a program that sleeps while its thread computes
        (_usage(0, {1: 0}), _usage(1, {1: 0, 2: 0.1, 3: 2.5}), 1.5),
        # eight that take each other's two cores wait for nobody else
        (_usage(0, {1: 0}), _usage(6, {1: 0, **dict.fromkeys(range(2, 10), 3.0)}), 0),
        (_usage(0, {}), _usage(0, {}), 0),
    ],
)
def test_waiting_is_what_nobody_in_the_tree_ran_meanwhile(
    base: process_tree.TreeUsage, used: process_tree.TreeUsage, waited: float
) -> None:
    assert used.waited_since(base) == waited


def test_a_jail_that_has_served_others_sees_its_programs_wait(jail: Jail) -> None:
    """The wait of a later program was hidden behind what earlier ones had used, and it was found to be too slow."""
    spin = _shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
    for _ in range(4):
        ending = jail.run(spin, replace(_SHORT, seconds=4.0, wall_seconds=4.0))
        assert ending.kind == "exit"
        assert ending.wall_seconds - ending.cpu_seconds - ending.waited_seconds < 0.5, ending


_UNCOUNTED = """
import ctypes, os, signal, time
libc = ctypes.CDLL(None)
{ignore}
if os.fork():
    time.sleep(1000)
while True:
    until = time.process_time() + 0.02
    while time.process_time() < until: pass
    try:
        if os.fork(): os._exit(0)
    except OSError: pass
"""
_NO_WAIT = "a = (ctypes.c_ulong * 19)(*[0] * 19); a[{word}] = {flags}; libc.sigaction(17, a, None)"

_BY_NUMBER = "a = (ctypes.c_ulong * 4)({handler}, {flags}, 0, 0)\n"
_BY_NUMBER += "libc.syscall(13 if os.uname().machine == 'x86_64' else 134, 17, a, None, 8)"


@pytest.mark.parametrize(
    "ignore",
    [
        "",
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "libc.signal(17, 1)",
        "libc.bsd_signal(17, 1) if hasattr(libc, 'bsd_signal') else libc.sysv_signal(17, 1)",
        "a = (ctypes.c_ulong * 19)(1); libc.sigaction(17, a, None)",
        # behind the handler and the mask of 1,024 signals stand the flags, of which 2 is SA_NOCLDWAIT
        _NO_WAIT.format(word=17, flags=2),
        _NO_WAIT.format(word=17, flags=3),
        _BY_NUMBER.format(handler=1, flags=0x4000000),
        _BY_NUMBER.format(handler=0, flags=0x4000002),
    ],
)
def test_what_children_compute_counts_though_nobody_waits_for_them(jail: Jail, ignore: str) -> None:
    """A program whose children took all cores, and left no trace, seemed to be starved by the machine."""
    work = JailWork(argv=(interpreter(), "-S", "-c", _UNCOUNTED.format(ignore=ignore)))
    assert jail.run(work, replace(_SHORT, wall_seconds=60.0)).kind == "cpu"


@pytest.mark.parametrize(
    "command",
    [
        "/bin/true & /bin/true & wait $!; echo $(echo fine)",
        "coproc cat; echo fine >&${COPROC[1]}; read -r line <&${COPROC[0]}; echo $line",
        "sleep 0.1 & wait -n; for i in 1 2 3; do (exit $i) & done; wait; echo fine",
        "printf 'fine' | tr -d x | sort",
        "trap 'n=1' CHLD; (exit 3); test $? = 3 && echo fine",
    ],
)
def test_children_are_waited_for_as_ever(jail: Jail, command: str) -> None:
    ending = jail.run(JailWork(argv=("/bin/bash", "-c", command)), replace(_SHORT, wall_seconds=60.0))
    assert (ending.kind, ending.stdout) == ("exit", b"fine\n")


_MAPPED = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
place = libc.mmap(None, ctypes.c_size_t({size}), 3, {flags}, {file}, ctypes.c_long(0))
sys.exit(ctypes.get_errno() if place == 2**64 - 1 else 0)
"""
_PRIVATE, _SHARED, _VALIDATED, _ANONYMOUS, _RESERVED, _FILLED = 2, 1, 3, 0x20, 0x4000, 0x8000


@pytest.mark.parametrize("more", [0, _RESERVED, _FILLED, _RESERVED | _FILLED, 0x20000])
@pytest.mark.parametrize("size", [4096, 2**20])
@pytest.mark.parametrize(("kind", "refused"), [(_SHARED, True), (_VALIDATED, True), (_PRIVATE, False)])
def test_memory_that_processes_share_is_a_file_of_their_own(
    jail: Jail, kind: int, refused: bool, size: int, more: int
) -> None:
    """Its pages can be dropped from a process's size, and stay."""
    mapped = _MAPPED.format(size=size, flags=kind | _ANONYMOUS | more, file=-1)
    assert (jail.run(JailWork(argv=(interpreter(), "-S", "-c", mapped)), _SHORT).status != 0) == refused


def test_memory_of_files_is_shared_and_bounded_as_files_are(jail: Jail) -> None:
    mapped = _MAPPED.format(size=4096, flags=_SHARED, file="os.open('/tmp/a', os.O_RDWR)")
    made = f"import os; open('/tmp/a', 'wb').write(bytes(4096))\n{mapped}"
    assert jail.run(JailWork(argv=(interpreter(), "-S", "-c", made)), _SHORT).status == 0
    fill = "import mmap\nfile = open('/dev/zero', 'r+b')\nmemory = mmap.mmap(file.fileno(), 2**25)\n"
    fill += "for at in range(0, 2**25, 4096): memory[at] = 1"
    ending = jail.run(JailWork(argv=(interpreter(), "-S", "-c", fill)), _SHORT)
    assert (ending.kind, ending.status) == ("exit", -signal.SIGBUS)


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("head -c 3 /dev/zero | tr '\\0' x", b"xxx"),
        ("echo a; echo b > /dev/stdout", b"a\nb\n"),
        ("echo a > /dev/stdout; echo b >> /dev/stdout", b"a\nb\n"),
        ("echo a > /dev/stderr; echo b >> /dev/stderr; echo c", b"c\n"),
        ("echo a | tee /dev/stderr", b"a\n"),
        ("cat /dev/stdin", b"given"),
        # what a program makes of the name is no output
        ("mkfifo /tmp/.stdout; echo a", b"a\n"),
        ("mkdir /tmp/.stdout; echo a", b"a\n"),
        ("ln -s /tmp/.zero /tmp/.stdout; echo a", b"a\n"),
        ("ln -s /etc/passwd /tmp/.stdout; echo a", b"a\n"),
        ("echo b > /tmp/.stdout; chmod 000 /tmp/.stdout; echo a", b"a\n"),
    ],
)
def test_the_streams_have_names(jail: Jail, command: str, printed: bytes) -> None:
    assert jail.run(_shell(command, b"given"), _SHORT).stdout == printed


@pytest.mark.parametrize("fill", ["yes > /dev/stdout", "truncate -s 1T /tmp/.stdout", "ln /tmp/.zero /tmp/.stdout"])
def test_what_is_written_by_name_is_bounded_too(jail: Jail, fill: str) -> None:
    ending = jail.run(_shell(fill), replace(_SHORT, output_kb=64))
    assert len(ending.stdout) <= 64 * 1024
    assert jail.run(_shell("echo again"), _SHORT).stdout == b"again\n"


@pytest.mark.parametrize(
    ("step_back", "said"),
    [
        # few need it, and all go on where they are
        *(("nice(19)", ""), ("nice(0)", ""), ("nice(-5)", ""), ("setpriority(os.PRIO_PROCESS, 0, 19)", "")),
        ("setpriority(os.PRIO_USER, 0, 19)", ""),
        ("sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))", "PermissionError"),
        ("sched_setaffinity(0, {0})", "PermissionError"),
    ],
)
def test_no_program_steps_behind_others_to_be_starved(jail: Jail, step_back: str, said: str) -> None:
    source = f"import os; was = os.nice(0); os.{step_back}; print(os.getpriority(os.PRIO_PROCESS, 0) - was)"
    ending = jail.run(JailWork(argv=(interpreter(), "-S", "-c", source)), _SHORT)
    assert (ending.stdout, said in ending.stderr.decode()) == (b"" if said else b"0\n", True)


@pytest.mark.parametrize("limits", [{"inodes": 1}, {"inodes": 2}])
def test_a_world_that_cannot_be_made_is_no_ending(jail: Jail, limits: dict[str, int]) -> None:
    class Full(RunLimits):
        def inside(self) -> dict[str, int]:
            return {**super().inside(), **limits}

    with pytest.raises(JailBroken, match="No space left"):
        jail.run(JailWork(argv=("/bin/true",), files={"a": b"a"}), Full())


def test_what_the_program_itself_fills_is_its_ending(jail: Jail) -> None:
    ending = jail.run(JailWork(argv=("/bin/true",), files={"a": bytes(2**23)}), replace(_SHORT, memory_mb=64))
    assert (ending.kind, ending.status) == ("exit", 125)


@pytest.mark.parametrize(
    "own",
    [
        *(b"", b"\0", b"text", b"#!", b"#!/no/such\n", b"#!/" + b"a" * 5000, b"#!/tmp/home/own\n", b"#!/tmp\n"),
        *(b"\x7fELF", b"\x7fELF" + bytes(60), b"\x7fELF" + b"\xff" * 5000, b"MZ" + bytes(500), bytes(10**6)),
    ],
)
def test_a_program_that_the_kernel_cannot_start_is_its_ending(jail: Jail, own: bytes) -> None:
    ending = jail.run(JailWork(argv=("./own",), files={"own": own}), _SHORT)
    assert ending.kind == "exit"
    assert ending.status != 0


def test_an_interpreter_that_cannot_be_started_is_no_ending(jail: Jail) -> None:
    with pytest.raises(JailBroken, match="No such file"):
        jail.run(JailWork(argv=("/usr/bin/no-such-node", "main.js"), files={"main.js": b""}), _SHORT)


@pytest.mark.parametrize("of_tree", [0, 1, 2])
def test_a_jail_that_is_killed_from_outside_is_no_ending(jail: Jail, of_tree: int) -> None:
    run = jail.begin(_shell("sleep 100"), _SHORT)
    run.step()
    os.kill(process_tree.descendants(run.child.pid)[of_tree], signal.SIGKILL)
    with pytest.raises(JailBroken):
        wait([run])


def test_a_jail_that_does_not_become_ready_is_broken_and_not_waited_for(jail: Jail) -> None:
    jail._started -= _START_SECONDS + 1
    with pytest.raises(JailBroken, match="was not ready within"):
        jail.until_ready()


def test_closing_a_jail_ends_what_runs_in_it(jail: Jail) -> None:
    run = jail.begin(_shell("sleep 100"), _SHORT)
    run.step()
    pids = process_tree.descendants(run.child.pid)
    jail.close()
    until = time.monotonic() + 5
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < until


def test_a_place_on_a_core_goes_to_who_waits_longest() -> None:
    """One that came again at once was let pass the others, which waited for eight minutes."""
    slots, order = _Slots(), list[int]()
    held = slots._free
    for _ in range(held):
        slots.__enter__()

    def work(number: int) -> None:
        for _ in range(2):
            with slots:
                order.append(number)

    with ThreadPoolExecutor(3) as pool:
        for number in range(3):
            pool.submit(work, number)
            while len(slots._waiting) <= number:
                os.sched_yield()
        slots.__exit__()
    for _ in range(held - 1):
        slots.__exit__()
    assert order[:3] == [0, 1, 2]
    assert sorted(order) == [0, 0, 1, 1, 2, 2]
    assert slots._free == held


_LIMITS = RunLimits(seconds=1.5, wall_seconds=3.25, memory_mb=160, processes=7, output_kb=2000, open_files=9)


def test_the_limits_that_the_kernel_keeps() -> None:
    most = {
        "cpu": 3,
        "address_space": 2 * 160 * 2**20,
        "processes": 7,
        "open_files": 9,
        "output": 2_048_000,
        "stack": 64 * 2**20,
        "scratch": 10 * 2**20,
        "inodes": 4096,
    }
    assert _LIMITS.inside() == most
    # a program's own source must fit, however little it may print
    small = replace(_LIMITS, output_kb=10, address_space=False)
    assert small.inside() == most | {"output": 2**20, "address_space": -1}


@pytest.mark.parametrize(
    ("kind", "over"),
    [
        ("cpu", "over 1.5 s of CPU"),
        ("wall", "over 3.25 s, though it hardly computed"),
        ("memory", "over 160 MB of memory"),
        ("processes", "over 7 processes"),
        *((kind, None) for kind in ("exit", "starved", "killed")),
    ],
)
def test_the_bound_that_a_run_passed(kind: Any, over: str | None) -> None:
    assert Ending(kind).over(_LIMITS) == over


def test_what_the_first_process_is_asked() -> None:
    asked = json.loads(JailWork(entry="a:b", payload=b"p").request(_LIMITS, 1234))
    assert asked == {"limits": _LIMITS.inside(), "uid": 1234, "line": False, "entry": "a:b"}
    asked = json.loads(JailWork(entry="a:b", argv=("x", "y"), line=3).request(_LIMITS, 0))
    assert asked == {"limits": _LIMITS.inside(), "uid": 0, "line": True, "argv": ["x", "y"]}


def test_the_files_of_a_run_hold_what_it_is_given_and_keep_it() -> None:
    work = JailWork(payload=b"given", stdin=b"in" * 100_000, files={"a": b"\xff"})
    files = work.open_files()
    try:
        held = [os.pread(file, 10**6, 0) for file in files]
        assert held == [b"given", json.dumps({"a": "/w=="}).encode(), b"in" * 100_000, b"", b"", b""]
        assert [os.lseek(file, 0, os.SEEK_CUR) for file in files] == [0] * 6
        for file in files[:3]:
            with pytest.raises(PermissionError):
                os.write(file, b"x")
        assert os.write(files[3], b"out") == 3
    finally:
        for file in files:
            os.close(file)
    empty = JailWork().open_files()
    assert [os.fstat(file).st_size for file in empty] == [0] * 6
    for file in empty:
        os.close(file)


def test_a_tree_of_processes_is_counted_and_ended() -> None:
    before = process_tree.usage(os.getpid())
    shell = subprocess.Popen(["/bin/sh", "-c", "sleep 100 & sleep 100 & echo $! ready; wait"], stdout=subprocess.PIPE)
    with shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        pids = process_tree.descendants(shell.pid)
        assert (pids[0], len(pids), {*process_tree.descendants(os.getpid())} >= {*pids}) == (shell.pid, 3, True)
        used = process_tree.usage(shell.pid)
        assert (used.processes, used.lives.keys(), used.cpu_seconds < 1) == (3, {*pids}, True)
        assert 3 * 2**16 < used.resident < 2**26
        assert process_tree.usage(os.getpid()).processes == before.processes + 3
        assert 0 < process_tree.shared_once(shell.pid) < 2**26
        process_tree.end_below(shell.pid)
        # only what is below it: it goes on, and has nothing left to wait for
        assert shell.wait(10) == 0
    assert process_tree.descendants(shell.pid) == [shell.pid]
    gone = process_tree.usage(shell.pid)
    assert (gone.processes, gone.resident, gone.cpu_seconds) == (0, 0, 0.0)
