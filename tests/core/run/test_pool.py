"""The pool of child processes: what is answered, what is tried again, what is given up, and what is ended."""

from __future__ import annotations

import asyncio
import errno
import math
import os
import pickle
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agentscope_tuner._run import loops
from agentscope_tuner._run import pool as pool_module
from agentscope_tuner._run.child import ChildProgram
from agentscope_tuner._run.pool import POLICY, PoolQuestion, QuestionPool, Toll, WallTimeUp, Worker, WorkerLost
from agentscope_tuner.env_service.episodes import EpisodeProcess
from agentscope_tuner.errors import Cause, JudgeError

ROOT = Path(__file__).parents[3]
SECONDS = 60.0
LIMIT = 100_000


class NoAnswer(Exception):
    """How the worker of a question was lost."""


class Obedient(QuestionPool[Worker[PoolQuestion], PoolQuestion]):
    """Workers that do what they are asked; `tests.child_programs` has the words."""

    program = "tests.child_programs"

    def start(self) -> Worker[PoolQuestion]:
        worker: Worker[PoolQuestion] = Worker(
            ChildProgram(self.program, path=[str(ROOT), *sys.path]), most_bytes=LIMIT, stderr=subprocess.DEVNULL
        )
        worker.send(b"up")
        return worker

    def started(self, worker: Worker[PoolQuestion], message: bytes) -> None:
        assert message == b"up"

    def given_up(self, question: PoolQuestion, loss: WorkerLost) -> NoAnswer:
        return NoAnswer("late" if isinstance(loss, WallTimeUp) else loss.how)


@pytest.fixture
def pool() -> Iterator[Obedient]:
    one = Obedient(1)
    yield one
    one.close()


def asked(pool: Obedient, text: bytes, *, limit: float | None = SECONDS) -> Future[Any]:
    return pool.ask(PoolQuestion(text, limit=limit))


def answers(pool: Obedient, *texts: bytes) -> list[bytes]:
    return [answer.result(SECONDS) for answer in [asked(pool, text) for text in texts]]


def test_questions_are_answered_in_threads_and_in_event_loops(pool: Obedient) -> None:
    texts = [b"one", b"", b"\x00\n \xc3\xa4", b"a" * (LIMIT - 1)]
    assert answers(pool, *texts) == texts

    async def all_at_once() -> list[bytes]:
        return list(await asyncio.gather(*(asyncio.wrap_future(asked(pool, text)) for text in texts)))

    assert asyncio.run(all_at_once()) == texts
    assert len(pool.workers) == 1


def test_messages_larger_than_any_buffer_reach_a_worker(pool: Obedient) -> None:
    assert answers(pool, b"size " + b"a" * 5_000_000) == [b"5000005"]


@pytest.mark.parametrize(
    ("order", "how"),
    [
        (b"exit 7", "ended with exit code 7"),
        (b"signal 11", "was killed by SIGSEGV"),
        (b"signal 40", "was killed by signal 40"),
        (b"long 100001", "answered what could not be read, and was killed"),
        (b"leave 30", "ended with exit code 0"),
    ],
)
def test_a_question_that_costs_two_workers_is_given_up_and_the_next_is_answered(
    pool: Obedient, order: bytes, how: str
) -> None:
    """The last one leaves a process behind that holds the channel open: the end is seen nevertheless."""
    question = PoolQuestion(order)
    fatal, following = pool.ask(question), asked(pool, b"next")
    with pytest.raises(NoAnswer, match=how):
        fatal.result(SECONDS)
    assert question.toll == Toll(deaths=POLICY.deaths)
    assert following.result(SECONDS) == b"next"


def test_a_question_that_may_not_be_repeated_is_given_up_at_the_first_death() -> None:
    pool = Obedient(1, repeats=False)
    with pytest.raises(NoAnswer, match="exit code 7"):
        asked(pool, b"exit 7").result(SECONDS)
    pool.close()


def test_a_worker_that_sends_without_end_is_replaced_and_its_flood_is_not_kept(pool: Obedient) -> None:
    assert answers(pool, b"flood") == [b"x"]
    # on a busy machine a part of the flood may arrive late, and be taken for an answer
    while answers(pool, b"next") != [b"next"]:
        time.sleep(0.001)


@pytest.mark.parametrize("order", [b"sleep", b"spin", b"compute"])
def test_a_late_worker_is_killed_and_those_behind_are_answered(pool: Obedient, order: bytes) -> None:
    assert answers(pool, b"up") == [b"up"]
    late, following = asked(pool, order, limit=0.2), asked(pool, b"next")
    with pytest.raises(NoAnswer, match="late"):
        late.result(SECONDS)
    assert following.result(SECONDS) == b"next"


def test_the_time_in_the_queue_counts_and_the_first_start_does_not(pool: Obedient) -> None:
    # a worker takes longer than this to start
    assert asked(pool, b"up", limit=0.05).result(SECONDS) == b"up"
    hanging, waiting = asked(pool, b"sleep", limit=1.0), asked(pool, b"next", limit=0.1)
    with pytest.raises(NoAnswer, match="late"):
        waiting.result(0.9)
    with pytest.raises(NoAnswer, match="late"):
        hanging.result(SECONDS)


def test_no_question_is_kept_once_it_has_its_answer(pool: Obedient) -> None:
    """Each was kept, with its message, until its limit was over: at a limit of minutes that was a data set."""
    assert answers(pool, b"one", b"two") == [b"one", b"two"]
    timers = list(loops.workers_loop()._scheduled)  # type: ignore[attr-defined]
    assert not [timer for timer in timers if timer._args and isinstance(timer._args[0], PoolQuestion)]
    unborn = NoSuchProgram(1)
    with pytest.raises(JudgeError, match="ended while they loaded"):
        answers(unborn, b"one")
    assert unborn._untimed == []


class SlowToStart(EpisodeProcess):
    """Starts its process when it is told to."""

    def __init__(self) -> None:
        super().__init__("no->Environment", max_answer_bytes=LIMIT, seconds=SECONDS)
        self.begun, self.told = threading.Event(), threading.Event()

    def start(self) -> Any:
        self.begun.set()
        self.told.wait(SECONDS)
        return super().start()


def test_an_episode_that_is_given_up_while_its_process_is_started_leaves_none_behind() -> None:
    async def scene(episode: SlowToStart) -> None:
        loading = asyncio.create_task(episode.load())
        while not episode.begun.is_set():
            await asyncio.sleep(0)
        loading.cancel()
        for _ in range(3):
            # it looks whether there is a process to end
            await asyncio.sleep(0)
        episode.told.set()
        with pytest.raises(asyncio.CancelledError):
            await loading
        # what the pools' loop was at has ended
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loops.workers_loop()))
        assert episode.workers == []

    asyncio.run(scene(SlowToStart()))


class HeldUp(Obedient):
    """Its loop looks at a worker's time only when the answer has come, and then the time is over."""

    def left(self, worker: Worker[PoolQuestion]) -> float:
        if not worker.jobs:
            return math.inf
        select.select([worker.child.channel], [], [], SECONDS)
        raise WallTimeUp(begun=True)


def test_an_answer_that_came_while_the_loop_was_held_up_counts() -> None:
    pool = HeldUp(1)
    assert answers(pool, b"one", b"two") == [b"one", b"two"]
    pool.close()


class Unreadable(Obedient):
    """Its answers cannot be read."""

    def result(self, worker: Worker[PoolQuestion], question: PoolQuestion, message: bytes) -> Any:
        return pickle.loads(message)


def test_whoever_waits_for_an_answer_that_cannot_be_read_is_told() -> None:
    pool = Unreadable(1)
    for _ in range(2):
        with pytest.raises(pickle.UnpicklingError):
            asked(pool, b"no pickle").result(SECONDS)
    pool.close()


def test_a_worker_that_dies_without_work_costs_no_question_anything(pool: Obedient) -> None:
    for _ in range(2 * POLICY.losses):
        assert answers(pool, b"up") == [b"up"]
        child = pool.workers[0].child
        os.kill(child.pid, signal.SIGKILL)
        while not child.is_dead():
            time.sleep(0.001)
    question = PoolQuestion(b"next")
    assert pool.ask(question).result(SECONDS) == b"next"
    assert question.toll == Toll()


def test_a_question_under_way_outlives_the_closing_of_its_pool(pool: Obedient, tmp_path: Path) -> None:
    text = f"once {tmp_path / 'begun'}".encode()
    waiting = pool.ask(question := PoolQuestion(text))
    while not (tmp_path / "begun").exists():
        time.sleep(0.001)
    pool.close()
    assert waiting.result(SECONDS) == text
    assert question.toll == Toll()


@pytest.mark.parametrize("thread", [False, True])
def test_a_pool_may_be_closed_from_anywhere_and_twice(pool: Obedient, thread: bool) -> None:
    assert answers(pool, b"up") == [b"up"]
    pids = [worker.child.pid for worker in pool.workers]
    if thread:
        closing = threading.Thread(target=pool.close)
        closing.start()
        closing.join(SECONDS)
    else:
        asyncio.run(pool.aclose())
    pool.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


class NoSuchProgram(Obedient):
    """Its workers end at once."""

    program = "tests.no_such_program"


def test_workers_that_never_start_are_not_started_for_ever() -> None:
    pool = NoSuchProgram(2)
    waiting = [asked(pool, b"up") for _ in range(3)]
    for answer in waiting:
        with pytest.raises(JudgeError, match=r"3 worker processes ended while they loaded .*exit code 1"):
            answer.result(SECONDS)
    assert len({id(answer.exception()) for answer in waiting}) == 3, "each names a task of its own"
    pool.close()


def test_two_deaths_of_some_work_or_three_losses_beside_it_give_it_up() -> None:
    assert [Toll(deaths, losses).add(guilty=True) for deaths in (0, 1) for losses in (0, 2)] == [
        False,
        False,
        True,
        True,
    ]
    assert [Toll(0, losses).add(guilty=False) for losses in (0, 1, 2)] == [False, False, True]


def test_only_the_pool_and_the_jail_start_child_processes() -> None:
    """A jail is no worker of a pool: a command of its own makes it for one answer, and then it is thrown away."""
    package = ROOT / "agentscope_tuner"
    texts = {str(path.relative_to(package)): path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    users = {name for name, text in texts.items() if re.search(r"\bChildProcess\b", text)}
    assert users == {"_jail/bubblewrap.py", "_jail/jail.py", "_run/child.py", "_run/pool.py"}


FORKS = """
import os, sys, threading
from tests.core.run.test_pool import Obedient, answers
pool = Obedient(1)
answers(pool, b"up")
ended = threading.Event()
def ask_on():
    while not ended.is_set():
        answers(pool, b"again")
threading.Thread(target=ask_on).start()
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        ok = answers(pool, b"in the fork") == [b"in the fork"]
        pool.close()
        os._exit(0 if ok else 1)
    children.append(child)
statuses = [os.waitpid(child, 0)[1] for child in children]
ended.set()
assert statuses == [0] * 10, statuses
"""


@pytest.mark.slow
def test_a_fork_while_a_thread_asks_has_workers_of_its_own_and_does_not_hang() -> None:
    run = subprocess.run([sys.executable, "-c", FORKS], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EMFILE, "ulimit -n"), (errno.ENFILE, "fs.file-max"), (errno.EAGAIN, "pids.max"), (errno.ENOMEM, "memory")],
)
def test_a_worker_that_the_system_refuses_says_the_way_out(number: int, words: str) -> None:
    class Refused(Obedient):
        def start(self) -> Worker[PoolQuestion]:
            raise OSError(number, os.strerror(number))

    with pytest.raises(JudgeError, match=words) as raised:
        answers(Refused(1), b"never")
    assert raised.value.cause is Cause.WORKER


class Scarce(Obedient):
    """Has one worker; the others are refused by the system, or end while they start."""

    refused = False
    tried = 0

    def start(self) -> Worker[PoolQuestion]:
        self.tried += 1
        if self.tried > 1 and self.refused:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        self.program = Obedient.program if self.tried == 1 else NoSuchProgram.program
        return super().start()


@pytest.mark.parametrize("refused", [True, False])
def test_a_worker_that_cannot_be_had_costs_no_question_while_another_works(refused: bool, tmp_path: Path) -> None:
    """One start too many took the verdicts of all that waited, and ended an engine's run."""
    pool = Scarce(3)
    pool.refused = refused
    assert answers(pool, b"up") == [b"up"]
    texts = [f"wait {tmp_path / 'come'}".encode(), b"next", b"last"]
    waiting = [asked(pool, text) for text in texts]
    while pool.most > 1:
        time.sleep(0.001)
    (tmp_path / "come").touch()
    assert [answer.result(SECONDS) for answer in waiting] == texts
    # without the last one all are told
    pool.workers[0].child.kill()
    with pytest.raises(JudgeError, match=r"no worker process could be started|3 worker processes ended"):
        asked(pool, b"never").result(SECONDS)
    pool.close()


def test_workers_are_wanted_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_SCARCE_SECONDS", 0.001)
    pool = Scarce(2)
    pool.refused = True
    assert answers(pool, b"one", b"two", b"three") == [b"one", b"two", b"three"]
    while pool.most < 2:
        time.sleep(0.001)
    pool.close()


@pytest.mark.parametrize(
    ("jobs", "unread", "dead", "trusted"),
    [
        ([], [], False, True),
        # a second answer to its last question would be taken for that to the next
        ([], [b"more"], False, False),
        ([], [], True, False),
        # what a worker with work has sent answers that
        (["asked"], [b"answer"], False, True),
        (["asked"], [], True, True),
    ],
)
def test_a_worker_that_spoke_unasked_or_ended_is_given_nothing_more(
    jobs: list[str], unread: list[bytes], dead: bool, trusted: bool
) -> None:
    worker: Worker[str] = Worker.__new__(Worker)
    worker.child = cast("Any", SimpleNamespace(is_dead=lambda: dead, has_unsent=False))
    worker.jobs, worker._unread = deque(jobs), deque(unread)
    worker._lost = worker._news = None
    worker._reading = False
    assert worker.is_trusted() is trusted
    assert (worker._lost is None) is trusted
