"""A child process dies when it should, with its parent, and is left alone by a fork of it."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.context import ForkContext, SpawnContext
from pathlib import Path

import pytest

from agentscope_tuner._run import channel
from agentscope_tuner._run.channel import Decoder, FrameTooLongError, encode
from agentscope_tuner._run.child import ChildProcess, ChildProgram

ROOT = Path(__file__).parents[3]
SECONDS = 60.0


def started() -> ChildProcess:
    return ChildProcess(ChildProgram("tests.child_programs", path=[str(ROOT), *sys.path]))


def ask(child: ChildProcess, text: bytes) -> bytes:
    """The child's next message after `text`."""
    child.send(text)
    while child.flush():
        select.select([], [child.channel], [], SECONDS)
    while not (found := child.receive()[0]):
        select.select([child.channel], [], [], SECONDS)
    return found[0]


@pytest.fixture
def child() -> Iterator[ChildProcess]:
    one = started()
    yield one
    one.end()
    one.close()


def has_ended(pid: int, seconds: float = 20.0) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([descriptor], [], [], seconds)
    os.close(descriptor)
    return bool(ended)


def test_what_a_child_prints_is_no_message(capfd: pytest.CaptureFixture[str]) -> None:
    one = started()
    assert ask(one, b"print hello") == b"print hello"
    one.end()
    one.close()
    assert capfd.readouterr().out == "hello\n"


PARENT = """
import os, signal, sys
# a shell's background job has Ctrl-C switched off, and its children inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.core.run.test_child_process import ask, started
children = [started() for _ in range(3)]
for child in children:
    ask(child, b"up")
for child, order in zip(children, (b"compute", b"spin", b"sleep")):
    child.send(order)
    child.flush()
fork = os.fork()
if fork == 0:
    # a fork that lives on does not keep the children
    sys.stdin.read()
    os._exit(0)
# only now: Python drops an interrupt that arrives while it forks
print(fork, *(child.pid for child in children), flush=True)
os.wait()
"""


@pytest.mark.parametrize(
    "end", [signal.SIGKILL, *(pytest.param(end, marks=pytest.mark.slow) for end in (signal.SIGTERM, signal.SIGINT))]
)
def test_children_end_with_their_parent_whatever_they_are_at(end: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdout is not None
        fork, *pids = map(int, parent.stdout.readline().split())
        parent.send_signal(end)
        parent.wait(SECONDS)
        assert all(has_ended(pid) for pid in pids)
        assert not has_ended(fork, 0)


def in_a_daemon(answers: multiprocessing.Queue[bytes]) -> None:
    one = started()
    answers.put(ask(one, b"up"))
    one.end()
    one.close()


@pytest.mark.parametrize("context", [multiprocessing.get_context("fork"), multiprocessing.get_context("spawn")])
def test_a_daemonic_process_may_have_children_of_this_kind(context: ForkContext | SpawnContext) -> None:
    """Multiprocessing refuses: daemonic processes are not allowed to have children."""
    answers = context.Queue()
    daemon = context.Process(target=in_a_daemon, args=(answers,), daemon=True)
    daemon.start()
    assert answers.get(timeout=SECONDS) == b"up"
    daemon.join(SECONDS)


def test_a_fork_leaves_the_child_to_its_parent(child: ChildProcess) -> None:
    assert ask(child, b"up") == b"up"
    fork = os.fork()
    if fork == 0:
        with suppress(BaseException):
            child.end()
            child.close()
        os._exit(0)
    os.waitpid(fork, 0)
    assert ask(child, b"still up") == b"still up"


class Forking(ChildProgram):
    """Another thread forks this process while the child is started; what the fork exits with says what it kept."""

    kept = -1

    def command(self, descriptors: Sequence[int]) -> list[str]:
        theirs = {os.fstat(descriptor).st_ino for descriptor in descriptors}
        has_forked = threading.Event()

        def fork() -> None:
            if (forked := os.fork()) == 0:
                own = [int(name) for name in os.listdir("/proc/self/fd")]
                inodes = {os.fstat(one).st_ino for one in own if os.path.exists(f"/proc/self/fd/{one}")}
                os._exit(len(theirs & inodes))
            has_forked.set()
            type(self).kept = os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])

        type(self).thread = threading.Thread(target=fork)
        self.thread.start()
        # it does not, before the child has been started
        has_forked.wait(0.2)
        return super().command(descriptors)

    thread = threading.Thread()


def test_a_fork_while_a_child_is_started_keeps_nothing_of_it() -> None:
    """The start waited for the end of the fork, which had the pipe that tells of it: twenty seconds, of one that slept
    so long.
    """
    child = ChildProcess(Forking("tests.child_programs", path=[str(ROOT), *sys.path]))
    child.end()
    Forking.thread.join(SECONDS)
    child.close()
    assert Forking.kept == 0


def test_what_cannot_start_leaves_no_descriptor_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="/nowhere/python"):
        ChildProcess(ChildProgram("tests.child_programs"), inherited=[channel.create_journal()])
    assert set(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("size", [1, 3, 8, 9, 1000])
def test_messages_come_whole_however_the_stream_is_cut(size: int) -> None:
    messages = [b"", b"a", b"b" * 300, b"", b"c" * 17]
    stream = b"".join(map(encode, messages))
    decoder = Decoder(most_bytes=300)
    found = [message for at in range(0, len(stream), size) for message in decoder.feed(stream[at : at + size])]
    assert found == messages


@pytest.mark.parametrize("head", [encode(b"d" * 301), encode(b"d" * 301)[:8], b'{"id": 1, "data": 1.0}\n'])
def test_a_message_that_is_announced_as_too_long_is_refused_at_once(head: bytes) -> None:
    with pytest.raises(FrameTooLongError, match="300 are allowed"):
        Decoder(most_bytes=300).feed(head)


@pytest.mark.parametrize(("most_bytes", "is_made"), [(2**19, False), (2**20, True)])
def test_a_limit_that_leaves_no_room_for_a_journal_is_met_before_a_child_is_started(
    most_bytes: int, is_made: bool
) -> None:
    program = (
        "import resource; from agentscope_tuner._run import channel;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most_bytes}, {most_bytes})); channel.create_journal()"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode == 0, "File too large" in ran.stderr) == (is_made, not is_made), ran.stderr


def test_a_journal_gives_the_whole_records_of_the_batch_in_hand() -> None:
    descriptor = channel.create_journal()
    notes = channel.ResultJournal(descriptor)
    assert channel.read_journal(descriptor, 1) is None
    notes.begin(1)
    notes.add(b"one")
    assert channel.read_journal(descriptor, 1) == [b"one"]
    notes.begin(2)
    for record in (b"", b"two", b"three"):
        notes.add(record)
    assert channel.read_journal(descriptor, 1) is None
    assert channel.read_journal(descriptor, 2) == [b"", b"two", b"three"]
    # killed in the middle of a record, which stands behind the last whole one
    end = 2 * 8 + (8 + 0) + (8 + 3) + (8 + 5)
    os.pwrite(descriptor, (99).to_bytes(8, sys.byteorder) + b"half", end)
    assert channel.read_journal(descriptor, 2) == [b"", b"two", b"three"]
    large = b"x" * 2**21
    notes.add(large)
    assert channel.read_journal(descriptor, 2) == [b"", b"two", b"three", large]
    notes.begin(3)
    notes.add(b"small again")
    assert channel.read_journal(descriptor, 3) == [b"small again"]
    assert os.fstat(descriptor).st_size < len(large)
    os.close(descriptor)
