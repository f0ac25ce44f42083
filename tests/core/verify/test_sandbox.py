"""The pool of killable workers."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from agentscope_tuner import JudgeError, Task, WorkflowOutput, WorkflowTask, load_config
from agentscope_tuner._run.fair_queue import one_request
from agentscope_tuner.errors import Cause
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import _MOST_UNDECIDED, QueuedPair, Sandbox, _result_of, shared

RIGHT, WRONG = ("2\\sqrt{3}", "\\sqrt{12}"), ("2\\sqrt{3}", "\\sqrt{13}")
# within every bound, and more work than a hundredth of a second of CPU time
SLOW = ("+".join(f"\\sin({k}x)" for k in range(60)), "\\cos(x)\\sin(x)+" + "+".join(f"\\sin({k}x)" for k in range(60)))


def test_verdicts_come_back_from_the_worker() -> None:
    sandbox = Sandbox()
    assert sandbox.compare(*RIGHT)[0] == "equal"
    assert sandbox.compare(*WRONG)[0] == "different"
    assert len(sandbox.pids()) == 1
    sandbox.close()


def test_starts_nothing_before_it_is_asked() -> None:
    assert Sandbox(workers=4).pids() == []


def test_a_late_worker_is_killed_and_replaced() -> None:
    sandbox = Sandbox(deadline=0.0001)
    outcome, reason = sandbox.compare(*SLOW)
    assert outcome == "undecided"
    assert "CPU time" in reason
    sandbox.deadline = 5.0
    assert sandbox.compare(*RIGHT)[0] == "equal"
    sandbox.close()


@pytest.mark.slow
def test_a_worker_that_is_given_no_cpu_for_a_while_is_waited_for() -> None:
    # by the deadline alone it would have 0.8 s of wall time, and a busy machine may well keep it waiting for longer
    sandbox = Sandbox(deadline=0.02)
    assert sandbox.compare(*RIGHT)[0] == "equal"
    (worker,) = sandbox.pids()
    os.kill(worker, signal.SIGSTOP)
    goes_on = threading.Timer(1.2, os.kill, (worker, signal.SIGCONT))
    goes_on.start()
    assert sandbox.compare("3\\sqrt{3}", "\\sqrt{27}")[0] == "equal"
    assert sandbox.pids() == [worker]
    sandbox.close()


class Hasty(Sandbox):
    """Takes a worker for starved after a short time."""

    least_wall_seconds = 1.5


@pytest.mark.slow
def test_a_worker_that_is_given_no_cpu_is_replaced_and_its_comparison_is_not_to_blame() -> None:
    sandbox = Hasty(deadline=0.02)
    assert sandbox.compare(*RIGHT)[0] == "equal"
    (starved,) = sandbox.pids()
    os.kill(starved, signal.SIGSTOP)
    assert sandbox.compare("3\\sqrt{3}", "\\sqrt{27}")[0] == "equal"
    assert sandbox.pids() != [starved]
    sandbox.close()


async def compared(sandbox: Sandbox, name: str, count: int, done: list[str]) -> None:
    """`count` comparisons of some milliseconds, as one request; each notes its name when it is done."""

    async def one(a: int) -> None:
        assert (await sandbox.acompare(f"2^{{x+{a}}}", f"{2**a} \\cdot 2^x"))[0] == "equal"
        done.append(name)

    with one_request():
        await asyncio.gather(*(one(a) for a in range(2, 2 + count)))


@pytest.mark.slow
def test_a_request_with_few_comparisons_does_not_wait_for_one_with_many() -> None:
    sandbox, done = Sandbox(), list[str]()

    async def both() -> None:
        many = asyncio.create_task(compared(sandbox, "many", 24, done))
        await asyncio.sleep(0)
        await asyncio.gather(many, compared(sandbox, "few", 2, done))

    asyncio.run(both())
    assert len(done) == 26
    assert max(at for at, name in enumerate(done) if name == "few") < 20
    sandbox.close()


@pytest.mark.slow
def test_comparisons_under_way_in_a_worker_that_is_killed_are_made_by_another() -> None:
    sandbox, done = Sandbox(), list[str]()

    async def killed_on_the_way() -> None:
        all_of_them = asyncio.create_task(compared(sandbox, "x", 24, done))
        while not done:
            await asyncio.wait((all_of_them,), timeout=0.001)
        for pid in sandbox.pids():
            os.kill(pid, signal.SIGKILL)
        await all_of_them

    asyncio.run(killed_on_the_way())
    assert len(done) == 24
    sandbox.close()


@pytest.mark.slow
def test_each_of_several_comparisons_at_hand_has_its_own_time() -> None:
    # together they take more than the deadline of one
    sandbox, done = Sandbox(deadline=0.1), list[str]()
    asyncio.run(compared(sandbox, "x", 40, done))
    assert len(done) == 40
    sandbox.close()


def test_nobody_computes_what_nobody_waits_for() -> None:
    sandbox = Sandbox(deadline=60.0)

    async def given_up() -> None:
        # a minute's work
        waiting = [asyncio.create_task(sandbox.acompare(*SLOW)) for _ in range(200)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        # its turn has come, though 200 were before it
        assert (await sandbox.acompare(*WRONG))[0] == "different"

    asyncio.run(given_up())
    assert len(sandbox.queue) == 0
    sandbox.close()


@pytest.mark.slow
def test_a_killed_worker_costs_no_verdict() -> None:
    # kill -9 in the middle of a batch of 1,000: every verdict arrives and is right
    sandbox = Sandbox(workers=2)

    def ask(at: int) -> bool:
        answer, truth = RIGHT if at % 3 else WRONG
        return sandbox.compare(answer, truth)[0] == ("equal" if at % 3 else "different")

    with ThreadPoolExecutor(8) as threads:
        verdicts = [threads.submit(ask, at) for at in range(1_000)]
        for number in range(100, 1_000, 100):
            wait(verdicts[:number])
            under_way = [verdict for verdict in verdicts if verdict.running()]
            # Two workers that died of one comparison would be no verdict: the one that takes it over is let live
            os.kill(sandbox.pids()[-1], signal.SIGKILL)
            wait(under_way)
        assert all(verdict.result() for verdict in verdicts)
    sandbox.close()


NO_PYTHON = """
import sys
from agentscope_tuner import JudgeError
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import Sandbox
sys.executable = "/nowhere/python"
try:
    Sandbox().compare("1", "2")
except JudgeError as exc:
    assert "/nowhere/python" in str(exc)
else:
    sys.exit("a verdict without a worker")
"""


def test_a_worker_that_cannot_start_is_our_failure() -> None:
    run = subprocess.run([sys.executable, "-c", NO_PYTHON], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr


def test_many_event_loop_tasks_share_the_pool() -> None:
    judge = MathAnswerAsJudge(load_config())

    async def judge_all() -> list[tuple[float, bool]]:
        task = WorkflowTask(task=Task(metadata={"answer": "\\sqrt{12}"}))
        boxes = ["\\boxed{2\\sqrt{3}}", "\\boxed{3\\sqrt{2}}"] * 20
        outputs = [WorkflowOutput(metadata={"final_answer": box}) for box in boxes]
        return list(await asyncio.gather(*(judge.acompute_reward(task, output) for output in outputs)))

    assert asyncio.run(judge_all()) == [(1.0, True), (0.0, False)] * 20


def test_undecided_is_zero_or_an_error_as_configured() -> None:
    task = WorkflowTask(task=Task(metadata={"answer": "42"}))
    output = WorkflowOutput(metadata={"final_answer": "\\boxed{9^{9^{9^{9}}}}"})
    zero = MathAnswerAsJudge(load_config()).compute_reward(task, output)
    assert zero == (0.0, False)
    assert zero.reason.startswith("undecided")
    strict = load_config({"astuner": {"task_judge": {"math": {"on_undecided": "raise"}}}})
    with pytest.raises(JudgeError, match="undecided"):
        MathAnswerAsJudge(strict).compute_reward(task, output)


def test_an_undecided_pair_is_computed_once_and_what_is_remembered_is_bounded() -> None:
    sandbox, asked = Sandbox(1, 0.5), ("9^{9^{9^{9}}}+x", "42")
    first = sandbox.compare(*asked)
    assert first[0] == "undecided"
    sandbox.close()
    assert [sandbox.compare(*asked) for _ in range(50)] == [first] * 50
    assert sandbox.pids() == []
    # what was decided is asked again, and so is another question about the same pair
    assert sandbox.compare("x+x", "2x")[0] == "equal"
    assert sandbox.compare(*asked, stage="sympy")[0] == "undecided"
    for number in range(_MOST_UNDECIDED + 10):
        sandbox._remember(QueuedPair(b"%d" % number), "undecided")
    assert len(sandbox._undecided) == _MOST_UNDECIDED
    sandbox.close()


def test_judges_with_the_same_settings_share_a_pool() -> None:
    assert shared(1, 0.5) is shared(1, 0.5)
    assert shared(1, 0.5) is not shared(2, 0.5)


CHILD = """
import os, sys
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import shared
sandbox = shared()
assert sandbox.compare("2\\\\sqrt{3}", "\\\\sqrt{12}")[0] == "equal"
before = sandbox.pids()
child = os.fork()
if child == 0:
    ok = sandbox.compare("2\\\\sqrt{3}", "\\\\sqrt{12}")[0] == "equal" and not set(before) & set(sandbox.pids())
    sandbox.close()
    os._exit(0 if ok else 1)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert sandbox.pids() == before and sandbox.compare("1/\\\\sqrt{2}", "\\\\sqrt{2}/2")[0] == "equal"
print(*before)
"""


@pytest.mark.slow
def test_a_forked_child_starts_workers_of_its_own_and_exit_leaves_none() -> None:
    run = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    for pid in run.stdout.split():
        assert not Path(f"/proc/{pid}").exists()


@pytest.mark.slow
def test_a_pool_closed_under_a_comparison_still_gives_verdicts() -> None:
    sandbox = Sandbox(workers=2)
    with ThreadPoolExecutor(4) as threads:
        verdicts = [threads.submit(sandbox.compare, *RIGHT) for _ in range(60)]
        for at in range(3):
            verdicts[at * 15].result()
            sandbox.close()
        assert [v.result()[0] for v in verdicts] == ["equal"] * 60
    sandbox.close()


def test_a_low_memory_limit_of_the_caller_stays_in_force() -> None:
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (400 * 1024**2, 400 * 1024**2));"
        "from agentscope_tuner.verify.sandbox import Sandbox; s = Sandbox();"
        f"print(s.compare(*{RIGHT!r})[0]); s.close()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "equal", done.stderr


def deep(frames: int, answer: str) -> str:
    return deep(frames - 1, answer) if frames else compare(answer, "\\frac{1}{2}").outcome


@pytest.mark.parametrize("answer", ["\\frac{1}{1+" * 18 + "1" + "}" * 18, "-" * 100 + "5", "3/6"])
def test_verdicts_do_not_depend_on_the_depth_of_the_call(answer: str) -> None:
    room = sys.getrecursionlimit() - len(inspect.stack(0)) - 60
    assert len({deep(frames, answer) for frames in (0, room - 200, room)}) == 1


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        ({}, Cause.BUG),
        ({"outcome": "maybe"}, Cause.BUG),
        ({"judge_error": "why"}, Cause.BUG),
        ({"judge_error": "why", "cause": "reference"}, Cause.REFERENCE),
    ],
)
def test_a_worker_that_answers_no_verdict_is_no_verdict_and_to_be_mended(reply: dict[str, str], cause: Cause) -> None:
    with pytest.raises(JudgeError) as raised:
        _result_of(reply, "symbolic")
    assert raised.value.cause == cause
