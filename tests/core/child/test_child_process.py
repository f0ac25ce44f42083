"""A child process is asked in time, dies when it should, and with its parent."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.context import ForkContext, SpawnContext
from pathlib import Path

import pytest

from agentscope_tuner._child import journal
from agentscope_tuner._child.ask import ChildLost, CpuTimeUp, WallTimeUp, aask, ask
from agentscope_tuner._child.frames import Decoder, FrameTooLongError, encode
from agentscope_tuner._child.process import ChildProcess, ChildProgram

ROOT = Path(__file__).parents[3]
SECONDS = 60.0
LIMIT = 100_000


def started(*, most_bytes: int | None = None) -> ChildProcess:
    return ChildProcess(ChildProgram("tests.child_programs", path=[str(ROOT), *sys.path]), most_bytes=most_bytes)


Question = Callable[..., bytes]


def in_thread(child: ChildProcess, *texts: bytes, wall_seconds: float = SECONDS) -> bytes:
    """The answer to the last of the questions."""
    return [ask(child, text, wall_seconds=wall_seconds) for text in texts][-1]


def in_loop(child: ChildProcess, *texts: bytes, wall_seconds: float = SECONDS) -> bytes:
    """`in_thread` with `aask`."""

    async def ask_all() -> list[bytes]:
        return [await aask(child, text, wall_seconds=wall_seconds) for text in texts]

    return asyncio.run(ask_all())[-1]


@pytest.fixture(params=[in_thread, in_loop], ids=["thread", "event loop"])
def question(request: pytest.FixtureRequest) -> Question:
    found: Question = request.param
    return found


@pytest.fixture
def child() -> Iterator[ChildProcess]:
    one = started(most_bytes=LIMIT)
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


def test_questions_are_answered_one_after_the_other(child: ChildProcess, question: Question) -> None:
    assert [question(child, text) for text in (b"one", b"", b"\x00\n \xc3\xa4")] == [b"one", b"", b"\x00\n \xc3\xa4"]


def test_messages_larger_than_any_buffer_go_both_ways(question: Question) -> None:
    one, text = started(), b"a" * 5_000_000
    assert question(one, text) == text
    one.end()
    one.close()


@pytest.mark.parametrize(
    ("order", "how"),
    [
        (b"exit 7", "ended with exit code 7"),
        (b"segfault", "was killed by SIGSEGV"),
        (b"long 100001", "was killed by SIGKILL"),
        (b"flood", "was killed by SIGKILL"),
        (b"leave 30", "ended with exit code 0"),
    ],
)
def test_a_child_that_cannot_answer_is_lost(child: ChildProcess, question: Question, order: bytes, how: str) -> None:
    """The last one leaves a process behind that holds the channel open: the end is seen nevertheless."""
    with pytest.raises(ChildLost) as lost:
        # many times: on a busy machine the messages of a flood may arrive one by one for a while
        question(child, order, *[b"more"] * 20_000)
    assert not isinstance(lost.value, WallTimeUp)
    assert child.end() == how


def test_a_child_that_sleeps_is_late_by_the_wall(child: ChildProcess, question: Question) -> None:
    with pytest.raises(WallTimeUp) as late:
        question(child, b"sleep", wall_seconds=0.2)
    assert late.value.begun


def test_a_stopped_child_is_late_even_where_cpu_time_is_what_counts(child: ChildProcess) -> None:
    assert ask(child, b"up", wall_seconds=SECONDS) == b"up"
    os.kill(child.pid, signal.SIGSTOP)
    with pytest.raises(WallTimeUp):
        ask(child, b"stopped", wall_seconds=0.2, cpu_seconds=SECONDS)
    with pytest.raises(WallTimeUp) as late:
        # more than the socket takes: the question cannot even be handed over
        ask(child, b"x" * 5_000_000, wall_seconds=0.2)
    assert not late.value.begun


@pytest.mark.parametrize("order", [b"spin", b"compute"])
def test_cpu_time_is_counted_for_the_child_alone(child: ChildProcess, order: bytes) -> None:
    assert ask(child, b"up", wall_seconds=SECONDS) == b"up"
    with pytest.raises(CpuTimeUp):
        ask(child, order, wall_seconds=SECONDS, cpu_seconds=0.05)
    assert child.cpu_seconds() >= 0.05


def test_a_child_that_is_gone_before_the_question_says_nothing_about_it(
    child: ChildProcess, question: Question
) -> None:
    assert question(child, b"up") == b"up"
    os.kill(child.pid, signal.SIGKILL)
    assert has_ended(child.pid)
    with pytest.raises(ChildLost) as lost:
        question(child, b"too late")
    assert not lost.value.begun


def test_a_thread_that_waits_is_woken_when_another_ends_the_child() -> None:
    one, errors = started(), []

    def wait() -> None:
        try:
            ask(one, b"sleep", wall_seconds=SECONDS)
        except ChildLost as exc:
            errors.append(exc)

    assert ask(one, b"up", wall_seconds=SECONDS) == b"up"
    waiting = threading.Thread(target=wait)
    waiting.start()
    one.end()
    one.close()
    waiting.join(SECONDS)
    assert [type(error) for error in errors] == [ChildLost]
    # and again, in any order
    one.close()
    assert one.end() == "was killed by SIGKILL"


def test_what_a_child_prints_is_no_message(capfd: pytest.CaptureFixture[str]) -> None:
    one = started()
    assert ask(one, b"print hello", wall_seconds=SECONDS) == b"print hello"
    one.end()
    one.close()
    assert capfd.readouterr().out == "hello\n"


PARENT = """
import os, signal, sys
# a shell's background job has Ctrl-C switched off, and its children inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)
from agentscope_tuner._child.ask import ask
from tests.core.child.test_child_process import started
children = [started() for _ in range(3)]
for child in children:
    ask(child, b"up", wall_seconds=60)
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
    answers.put(ask(one, b"up", wall_seconds=SECONDS))
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
    assert ask(child, b"up", wall_seconds=SECONDS) == b"up"
    fork = os.fork()
    if fork == 0:
        with suppress(BaseException):
            child.end()
            child.close()
        os._exit(0)
    os.waitpid(fork, 0)
    assert ask(child, b"still up", wall_seconds=SECONDS) == b"still up"


def test_what_cannot_start_leaves_no_descriptor_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="/nowhere/python"):
        ChildProcess(ChildProgram("tests.child_programs"), inherited=[journal.create()])
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


def test_a_journal_gives_the_whole_records_of_the_batch_in_hand() -> None:
    descriptor = journal.create()
    notes = journal.ResultJournal(descriptor)
    assert journal.read(descriptor, 1) is None
    notes.begin(1)
    notes.add(b"one")
    assert journal.read(descriptor, 1) == [b"one"]
    notes.begin(2)
    for record in (b"", b"two", b"three"):
        notes.add(record)
    assert journal.read(descriptor, 1) is None
    assert journal.read(descriptor, 2) == [b"", b"two", b"three"]
    # killed in the middle of a record, which stands behind the last whole one
    end = 2 * 8 + (8 + 0) + (8 + 3) + (8 + 5)
    os.pwrite(descriptor, (99).to_bytes(8, sys.byteorder) + b"half", end)
    assert journal.read(descriptor, 2) == [b"", b"two", b"three"]
    large = b"x" * 2**21
    notes.add(large)
    assert journal.read(descriptor, 2) == [b"", b"two", b"three", large]
    notes.begin(3)
    notes.add(b"small again")
    assert journal.read(descriptor, 3) == [b"small again"]
    assert os.fstat(descriptor).st_size < len(large)
    os.close(descriptor)
