"""A verdict has a deadline, whoever judges and whoever asks: past it there is a DeadlineError, and nothing hangs."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, ConfigError, Reward, Rollout, Task, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner._run import loops
from agentscope_tuner.adapters.openrlhf import reward_file
from agentscope_tuner.adapters.trl import async_reward_func, reward_func
from agentscope_tuner.adapters.verl import compute_score, compute_score_sync
from agentscope_tuner.engines.local import score
from agentscope_tuner.errors import Cause, DeadlineError, JudgeError
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract import deadline
from agentscope_tuner.task_judge.contract.judgement import Judgement
from tests import hanging_judges
from tests.tables import each_row_unasked

SECONDS = 0.1
# what hangs goes on for an hour: this much is what a busy machine may add
GRACE = 60.0
TASK = WorkflowTask(task=Task(task_id="t1"))
OUTPUT = WorkflowOutput(metadata={"final_answer": "hang"})
QUICK = WorkflowOutput(metadata={"final_answer": "quick"})
GROUP = [OUTPUT] * 4


@each_row_unasked
def nothing_hangs_on() -> Iterator[None]:
    with hanging_judges.release():
        yield


def config(judge: str, **section: Any) -> dict[str, Any]:
    protocol = judge if "->" in judge else f"tests.hanging_judges->{judge}"
    return {"astuner": {"task_judge": {"judge_protocol": protocol, "deadline": SECONDS, **section}}}


def file(judge: str, folder: Path) -> str:
    path = folder / "judge.yaml"
    path.write_text(
        f"astuner: {{task_judge: {{judge_protocol: tests.hanging_judges->{judge}, deadline: {SECONDS}}}}}",
        encoding="utf-8",
    )
    return str(path)


def test_a_loop_that_runs_says_so_at_once_and_one_that_does_not_is_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked(loop: asyncio.AbstractEventLoop) -> bool:
        async with asyncio.timeout(GRACE):
            return await deadline._is_blocked(loop)

    monkeypatch.setattr(deadline, "_GRACE_SECONDS", 2 * GRACE)
    assert asyncio.run(asked(loops.judges_loop())) is False
    monkeypatch.setattr(deadline, "_GRACE_SECONDS", SECONDS)
    still = asyncio.new_event_loop()
    assert asyncio.run(asked(still)) is True
    still.close()


def error_of(call: Callable[[], Any]) -> str:
    with pytest.raises(JudgeError) as caught:
        call()
    assert caught.value.cause == Cause.DEADLINE
    return str(caught.value)


def errors_of(judgements: list[Judgement]) -> list[str]:
    assert {judgement.reward for judgement in judgements} == {None}
    assert {judgement.cause for judgement in judgements} <= {Cause.DEADLINE, Cause.BREAKER}
    return [str(judgement.error) for judgement in judgements]


def batched(judge: str) -> list[str]:
    return errors_of(ConfiguredJudge(config(judge)).judge_batch([(TASK, OUTPUT)] * 4))


def abatched(judge: str) -> list[str]:
    return errors_of(asyncio.run(ConfiguredJudge(config(judge)).ajudge_batch([(TASK, OUTPUT)] * 4)))


def engine(judge: str, jobs: int) -> list[str]:
    rollouts = [Rollout(id=f"r{at}", task=TASK.task, output=OUTPUT) for at in range(jobs)]
    return errors_of([judgement for _, judgement in score(config(judge), rollouts, jobs=jobs)])


Ask = Callable[[str], list[str]]
ASKED: dict[str, Ask] = {
    "compute_reward": lambda judge: [error_of(lambda: load_judge(config(judge)).compute_reward(TASK, OUTPUT))],
    "acompute_reward": lambda judge: [
        error_of(lambda: asyncio.run(load_judge(config(judge)).acompute_reward(TASK, OUTPUT)))
    ],
    "compute_rewards": lambda judge: [error_of(lambda: load_judge(config(judge)).compute_rewards(TASK, GROUP))],
    "judge": lambda judge: errors_of([load_judge(config(judge)).judge(TASK, OUTPUT)]),
    "ajudge": lambda judge: errors_of([asyncio.run(load_judge(config(judge)).ajudge(TASK, OUTPUT))]),
    "ajudge on our own loop": lambda judge: errors_of([loops.run(load_judge(config(judge)).ajudge(TASK, OUTPUT))]),
    "judge_group": lambda judge: errors_of(load_judge(config(judge)).judge_group(TASK, GROUP)),
    "ajudge_group": lambda judge: errors_of(asyncio.run(load_judge(config(judge)).ajudge_group(TASK, GROUP))),
    "judge_batch": batched,
    "ajudge_batch": abatched,
    "an engine": lambda judge: engine(judge, 1),
    "an engine with jobs": lambda judge: engine(judge, 3),
}
FEW = ("judge", "ajudge", "judge_group", "ajudge_group", "an engine with jobs")
TABLE = [(judge, asked) for judge in ["Blocks", "Awaits"] for asked in ASKED] + [
    (judge, asked)
    for judge in ["Swallows", "BlocksItsLoop", "RanksForEver", "RanksLazily"]
    for asked in FEW
    # one rollout alone has no rank
    if not (judge.startswith("Ranks") and asked not in {"judge_group", "ajudge_group"})
]


@pytest.mark.parametrize(("judge", "asked"), TABLE)
def test_a_judge_that_hangs_is_a_deadline_error_in_time(judge: str, asked: str) -> None:
    started = time.monotonic()
    messages = ASKED[asked](judge)
    assert time.monotonic() - started < SECONDS + GRACE
    for message in messages:
        assert message.startswith(f"task 't1': {judge}: no verdict within {SECONDS:g} s")


ADAPTERS: dict[str, Callable[[str], Any]] = {
    "trl": lambda path: reward_func(path)(prompts=["p"] * 4, completions=["c"] * 4),
    "trl async": lambda path: asyncio.run(async_reward_func(path)(prompts=["p"] * 4, completions=["c"] * 4)),
    "verl": lambda path: asyncio.run(compute_score("data", "c", "1", config=path)),
    "verl sync": lambda path: compute_score_sync("data", "c", "1", config=path),
    "openrlhf": lambda path: reward_file(path)(["p c"], ["p "], ["1"]),
}


@pytest.mark.parametrize("judge", ["Blocks", "Awaits"])
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_no_adapter_waits_for_ever(judge: str, adapter: str, tmp_path: Path) -> None:
    path, started = file(judge, tmp_path), time.monotonic()
    if adapter.startswith("trl"):
        assert ADAPTERS[adapter](path) == [None] * 4
    else:
        assert f"no verdict within {SECONDS:g} s" in error_of(lambda: ADAPTERS[adapter](path))
    assert time.monotonic() - started < SECONDS + GRACE


@pytest.mark.slow
def test_a_worker_process_that_hangs_is_killed_and_the_other_rows_are_judged() -> None:
    # 7**(10**9) never returns to the interpreter: no thread of that process could end it, nor even tell
    answers = ["quick", "hang", *["quick"] * 6]
    rollouts = [
        Rollout(id=f"r{at}", task=Task(task_id=f"t{at}"), output=WorkflowOutput(metadata={"final_answer": answer}))
        for at, answer in enumerate(answers)
    ]
    started = time.monotonic()
    found = dict(score(config("Computes", deadline=0.5), rollouts, jobs=2))
    assert [found[at].reward for at in range(8)] == [1.0, None, *[1.0] * 6]
    assert found[1].cause == Cause.DEADLINE
    assert str(found[1].error).startswith("task 't1': Computes: no verdict within 0.5 s")
    assert time.monotonic() - started < GRACE


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["Computes", "RanksByComputing"])
def test_a_computation_that_never_ends_is_killed_outside_of_engines_too(judge: str) -> None:
    # in a thread of this process it would stop the thread that watches the time
    loaded = load_judge(config(judge, deadline=0.3))
    for _ in range(2):
        # the process's start is not the verdict's time
        assert loaded.judge_group(TASK, [QUICK] * 2)[0].reward == 1.0
    started = time.monotonic()
    # a judge that ranks is asked once about both, any other about each
    judgement = loaded.judge_group(TASK, [OUTPUT] * 2)[0]
    assert time.monotonic() - started < 2 * (0.3 + GRACE)
    assert (judgement.reward, judgement.cause) == (None, Cause.DEADLINE)
    assert str(judgement.error).startswith(f"task 't1': {judge}: no verdict within 0.3 s")
    assert asyncio.run(loaded.ajudge_group(TASK, [QUICK] * 2))[0].reward == 1.0


class Fragile(BaseJudge):
    """Computes, and tells of its process."""

    judge_kind = "cpu"

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        answer = workflow_output.metadata["final_answer"]
        if answer == "dies":
            os._exit(3)
        if answer == "fails":
            raise ValueError("not today")
        if answer == "refuses":
            raise JudgeError("no reference", cause=Cause.REFERENCE)
        if answer == "odd":
            return lambda: None
        return Reward(float(os.getpid()), True, reason="here", metrics={"calls": 2.0})


@pytest.mark.slow
def test_a_judge_in_a_process_of_its_own_answers_and_fails_as_one_in_this(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    judge = load_judge(config(f"{__name__}->Fragile", deadline=20.0))

    def ask(answer: str, **task: Any) -> Judgement:
        return judge.judge(WorkflowTask(task=TASK.task, **task), WorkflowOutput(metadata={"final_answer": answer}))

    first = ask("x")
    assert first.reward not in (None, float(os.getpid()))
    assert (first.reason, dict(first.metrics)) == ("here", {"calls": 2.0})
    assert ask("refuses").cause == Cause.REFERENCE
    raised = ask("fails")
    assert (raised.cause, raised.reward) == (Cause.BUG, None)
    assert re.search(r"task 't1': Fragile: ValueError: not today \(.*test_deadline\.py:\d+", str(raised.error))
    assert 'raise ValueError("not today")' in caplog.text
    assert "could not answer" in str(ask("odd").error)
    assert ask("y").reward == first.reward
    # what cannot leave this process is judged here: a live environment, or what does not pickle
    assert ask("y", gym_env=object()).reward == float(os.getpid())
    assert ask("y", lock=threading.Lock()).reward == float(os.getpid())
    assert (ask("dies").cause, ask("y").status) == (Cause.WORKER, "judged")
    assert pickle.loads(pickle.dumps(judge)).judge(TASK, QUICK).status == "judged"


@pytest.mark.parametrize("hanging", ["Blocks", "Awaits", "RanksForEver"])
@pytest.mark.parametrize("mode", ["combined", "routed"])
def test_a_judge_inside_another_has_its_deadline(mode: str, hanging: str) -> None:
    inner = {"judge_protocol": f"tests.hanging_judges->{hanging}", "deadline": SECONDS}
    quick = {"judge_protocol": "tests.hanging_judges->SomeHang"}
    section: dict[str, Any] = {
        "judge_type": mode,
        "parts": {"slow": {**inner, "weight": 1.0}, "quick": {**quick, "weight": 1.0}},
    }
    if mode == "routed":
        section = {"judge_type": mode, "by": "task.metadata.kind", "routes": {"slow": inner, "quick": quick}}
    judge = load_judge({"astuner": {"task_judge": section}})
    task = WorkflowTask(task=Task(task_id="t1", metadata={"kind": "slow"}))
    started = time.monotonic()
    with pytest.raises(DeadlineError, match=r"no verdict within 0\.1 s"):
        judge.compute_rewards(task, [QUICK] * 2)
    assert time.monotonic() - started < SECONDS + GRACE


def test_a_rule_reaches_its_verdict_without_the_judge() -> None:
    rule = {"id": "short", "kind": "max_chars", "max_chars": 1, "action": "mark_bad"}
    assert load_judge(config("Blocks", rules=[rule])).judge(TASK, OUTPUT).status == "filtered"


def test_too_many_abandoned_verdicts_are_refused_at_once(caplog: pytest.LogCaptureFixture) -> None:
    judge = ConfiguredJudge(config("SomeHang", max_abandoned=8, deadline=0.5))
    started = time.monotonic()
    judgements = judge.judge_batch([(TASK, OUTPUT)] * 100)
    # the first thirty-two hang together, and the others are refused when their time ends: not one deadline each
    assert time.monotonic() - started < 0.5 + GRACE
    refused = [judgement for judgement in judgements if "max_abandoned allows no more" in str(judgement.error)]
    assert len(refused) >= 60
    assert {judgement.cause for judgement in refused} == {Cause.BREAKER}
    assert set(errors_of(judgements)) == {str(judgement.error) for judgement in judgements}
    assert "SomeHang, task 't1': no verdict within 0.5 s: its thread cannot be ended" in caplog.text
    assert "of at most 8)" in caplog.text
    assert judge.judge(TASK, QUICK).status == "failed"


@pytest.mark.parametrize("name", ["SomeHang", "Swallows", "BlocksItsLoop"])
def test_a_judge_is_asked_again_once_what_hung_has_ended(name: str) -> None:
    judge = load_judge(config(name, max_abandoned=1))
    # the loop of the callers closes before what hangs ends, and a blocked loop has not begun most of these
    assert {each.status for each in asyncio.run(judge.ajudge_group(TASK, GROUP))} == {"failed"}
    assert judge.judge(TASK, QUICK).cause == Cause.BREAKER
    hanging_judges._released.set()
    ended = time.monotonic() + GRACE
    while judge.judge(TASK, QUICK).status == "failed":
        assert time.monotonic() < ended


def test_what_ends_as_it_is_left_behind_counts_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was counted for ever where the loop of its caller closed before it was told."""
    tell, ended = loops.call_soon, threading.Event()

    async def ends_meanwhile(loop: asyncio.AbstractEventLoop) -> bool:
        hanging_judges._released.set()
        assert ended.wait(GRACE)
        return False

    def closed(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *args: Any) -> None:
        # what hung in an earlier test may end in this moment, too, but its loop is closed
        if function is deadline._bring and not loop.is_closed():
            ended.set()
        else:
            tell(loop, function, *args)

    judge = load_judge(config("Swallows", max_abandoned=1))
    with monkeypatch.context() as patched:
        patched.setattr(deadline, "_is_blocked", ends_meanwhile)
        patched.setattr(loops, "call_soon", closed)
        assert asyncio.run(judge.ajudge(TASK, OUTPUT)).cause == Cause.DEADLINE
    # a busy machine may not judge it in time
    assert judge.judge(TASK, QUICK).cause in (None, Cause.DEADLINE)


def test_a_loop_that_closed_before_it_was_told_hangs_no_more() -> None:
    limit, loop = deadline.TimeLimit("J", SECONDS, 1), asyncio.new_event_loop()
    limit._left[loop] = 0.0
    with pytest.raises(DeadlineError, match="hang beyond the deadline"):
        limit.call("t1", str)
    loop.close()
    assert limit.call("t1", str) == ""


def test_a_verdict_that_waits_for_a_thread_loses_none_of_its_time() -> None:
    """Of a thousand samples that a trainer asked about at once, the last had used up their time before their turn."""
    judge = load_judge(config("SomeHang", max_abandoned=9, deadline=1.0))

    async def scene() -> list[Judgement]:
        loops.limit_threads(1)
        return await asyncio.gather(*(judge.ajudge(TASK, output) for output in (OUTPUT, QUICK, QUICK)))

    assert [each.reward for each in asyncio.run(scene())] == [None, 1.0, 1.0]


class SomeBlockTheirLoop(BaseJudge):
    """Blocks its loop on `hang`, and judges everything else."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        if workflow_output.metadata["final_answer"] == "hang":
            hanging_judges._released.wait(3600)
        return 1.0, True


def test_a_blocked_loop_counts_once_however_many_verdicts_wait_for_it() -> None:
    judge = load_judge(config(f"{__name__}->SomeBlockTheirLoop", max_abandoned=2))
    found = asyncio.run(judge.ajudge_group(TASK, [OUTPUT, QUICK, QUICK, QUICK]))
    assert {each.cause for each in found} == {Cause.DEADLINE}
    ended = time.monotonic() + GRACE
    # a busy machine may be late once more
    while judge.judge(TASK, QUICK).status == "failed":
        assert time.monotonic() < ended


def test_a_blocked_loop_is_replaced_for_those_that_come_after() -> None:
    assert load_judge(config("BlocksItsLoop")).judge(TASK, OUTPUT).status == "failed"
    judge = load_judge(config(f"{__name__}->Naps", deadline=20.0))
    assert judge.judge(TASK, OUTPUT).reward == 1.0


class Naps(BaseJudge):
    """Awaits a little."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.sleep(0.001)
        return 1.0, True


class TimesOut(BaseJudge):
    """Raises a TimeoutError of its own at once."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        raise TimeoutError("the model's")


class ATimesOut(TimesOut):
    """The same, awaited."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        raise TimeoutError("the model's")


@pytest.mark.parametrize("judge", ["TimesOut", "ATimesOut"])
def test_a_judges_own_timeout_is_not_the_deadline(judge: str) -> None:
    loaded = load_judge(config(f"{__name__}->{judge}", deadline=20.0))
    for judgement in (loaded.judge(TASK, OUTPUT), asyncio.run(loaded.ajudge(TASK, OUTPUT))):
        assert judgement.cause == Cause.BUG
        assert "TimeoutError: the model's" in str(judgement.error)


class Bounded(BaseJudge):
    """Bounds itself, and tells where it is asked."""

    bounds_itself = True

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return float(threading.get_ident()), True


def test_a_judge_that_bounds_itself_is_asked_in_the_callers_thread() -> None:
    here = float(threading.get_ident())
    assert load_judge(config(f"{__name__}->Bounded")).compute_reward(TASK, OUTPUT)[0] == here
    unlimited = config(f"{__name__}->Unbounded", deadline=None)
    assert load_judge(unlimited).compute_reward(TASK, OUTPUT)[0] == here
    assert load_judge(config(f"{__name__}->Unbounded")).compute_reward(TASK, OUTPUT)[0] != here


class Unbounded(Bounded):
    """What its parent says of its own verdicts says nothing of these."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return super().compute_reward(workflow_task, workflow_output)


def test_a_caller_that_gives_up_leaves_no_thread_counted_once_it_ends() -> None:
    judge = load_judge(config("SomeHang", deadline=20.0, max_abandoned=1))

    async def give_up() -> Judgement:
        task = asyncio.create_task(judge.ajudge(TASK, OUTPUT))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await judge.ajudge(TASK, QUICK)

    assert asyncio.run(give_up()).reward == 1.0


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"deadline": 0}, "deadline: input should be greater than 0"),
        ({"deadline": "5 s"}, "deadline: input should be a valid number"),
        ({"deadline": float("inf")}, "deadline: input should be a finite number"),
        ({"max_abandoned": 0}, "max_abandoned: input should be greater than or equal to 1"),
    ],
)
def test_a_deadline_that_is_none_is_found_at_load(section: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_judge(config("Blocks", **section))


def test_the_error_crosses_processes() -> None:
    error = pickle.loads(pickle.dumps(DeadlineError("no verdict", task_id="t1", judge="J")))
    assert (str(error), error.cause) == ("task 't1': J: no verdict", Cause.DEADLINE)


def test_a_judge_crosses_processes_without_its_threads() -> None:
    judge = load_judge(config("SomeHang", max_abandoned=1))
    judge.judge(TASK, OUTPUT)
    assert pickle.loads(pickle.dumps(judge)).judge(TASK, QUICK).reward == 1.0


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_none_of_its_parents_hanging_threads() -> None:
    judge = load_judge(config("SomeHang", max_abandoned=1))
    assert judge.judge(TASK, OUTPUT).status == "failed"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, judge.judge(TASK, QUICK).status.encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read() == "judged"
    os.waitpid(child, 0)


SCRIPT = """
import asyncio, sys
from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_judge
task, output = WorkflowTask(task=Task(task_id="t1")), WorkflowOutput(metadata={"final_answer": "hang"})
for name in ["Blocks", "Swallows", "BlocksItsLoop"]:
    section = {"judge_protocol": f"tests.hanging_judges->{name}", "deadline": 0.1}
    judge = load_judge({"astuner": {"task_judge": section}})
    print(judge.judge(task, output).cause, *[verdict.cause for verdict in judge.judge_group(task, [output])])
    print(asyncio.run(judge.ajudge(task, output)).cause)
"""


@pytest.mark.slow
def test_the_program_ends_while_abandoned_verdicts_hang() -> None:
    # a ThreadPoolExecutor's threads, asyncio's default ones too, keep the interpreter from ending
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[3]
    )
    assert (done.returncode, done.stdout.split()) == (0, ["deadline"] * 9), done.stderr


def test_no_thread_is_left_that_can_be_ended() -> None:
    before = set(threading.enumerate())
    judge = load_judge(config("Awaits"))
    judge.judge_group(TASK, GROUP)
    left = set(threading.enumerate()) - before
    assert {thread.name for thread in left} <= {"astuner-loop", "astuner-judges"}
    remaining: list[str] = []

    async def pending() -> None:
        remaining.extend(task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task())

    asyncio.run_coroutine_threadsafe(pending(), loops.judges_loop()).result(5)
    assert remaining == []
