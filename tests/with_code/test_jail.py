"""The jail: what a program sees, what it may use, and that nothing of it is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from agentscope_tuner._jail import process_tree
from agentscope_tuner._jail.bubblewrap import interpreter
from agentscope_tuner._jail.jail import Jail, JailBroken, JailWork, RunLimits, _Slots, wait

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
        ending = jail.run(_shell("find /tmp /dev/shm -type f; touch /tmp/a /tmp/home/b /dev/shm/c"), _SHORT)
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


@pytest.mark.parametrize("step_back", ["nice(19)", "sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))"])
def test_no_program_steps_behind_others_to_be_starved(jail: Jail, step_back: str) -> None:
    work = JailWork(argv=(interpreter(), "-S", "-c", f"import os; os.{step_back}"))
    assert b"PermissionError" in jail.run(work, _SHORT).stderr


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


@pytest.mark.parametrize("of_tree", [0, 1, 2])
def test_a_jail_that_is_killed_from_outside_is_no_ending(jail: Jail, of_tree: int) -> None:
    run = jail.begin(_shell("sleep 100"), _SHORT)
    run.step()
    os.kill(process_tree.descendants(run.child.pid)[of_tree], signal.SIGKILL)
    with pytest.raises(JailBroken):
        wait([run])


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
