"""EnvServiceJudge maps an environment's score to a reward, and never makes a reward of anything else."""

from __future__ import annotations

import asyncio
import math
import pickle
import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from agentscope_tuner.errors import BadScore, ConfigError, EnvServerError, EnvServiceError, InstanceNotFound, JudgeError
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.env_service_as_judge import EnvServiceJudge, reward_from_score
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

INSTANCE = "episode-7"


class Handle:
    """The documented handle: `evaluate()`."""

    def __init__(self, score: object) -> None:
        self.score = score
        self.calls: list[tuple[object, ...]] = []

    def evaluate(self) -> object:
        self.calls.append(())
        return self.score


class HandleWithArguments(Handle):
    def evaluate(self, instance_id: str, params: dict[str, Any]) -> object:  # type: ignore[override]
        self.calls.append((instance_id, params))
        return self.score


class HandleWithOptionalArguments(Handle):
    def evaluate(self, instance_id: str | None = None, params: dict[str, Any] | None = None) -> object:
        self.calls.append((instance_id, params))
        return self.score


class HandleOfAClient(Handle):
    def evaluate(  # type: ignore[override]
        self, instance_id: str, messages: dict[str, Any] | None = None, params: dict[str, Any] | None = None
    ) -> object:
        self.calls.append((instance_id, messages, params))
        return self.score


class HandleWithUnrelatedOption(Handle):
    def evaluate(self, verbose: bool = False) -> object:
        self.calls.append((verbose,))
        return self.score


class HandleThatForwards(Handle):
    def evaluate(self, *args: object, **kwargs: object) -> object:
        self.calls.append((*args, kwargs))
        return self.score


class AsyncHandle(Handle):
    async def evaluate(self) -> object:
        await asyncio.sleep(0)
        self.calls.append(())
        return self.score


class HandleOfAFuture(Handle):
    """Sync to look at, but what it returns must be awaited: a remote actor's handle does so."""

    def evaluate(self, instance_id: str) -> object:  # type: ignore[override]
        async def answer() -> object:
            self.calls.append((instance_id,))
            return self.score

        return answer()


class FailingHandle:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def evaluate(self) -> float:
        raise self.error


class Unplayable:
    def evaluate(self, instance_id: str, judge: object, seed: int) -> float:
        return 1.0


class NoEvaluate:
    pass


def workflow_task(gym_env: object, uuid: str = INSTANCE) -> WorkflowTask:
    return WorkflowTask(task=Task(task_id="t-1"), task_env_uuid=uuid, gym_env=gym_env)


def judge_both_ways(gym_env: object, uuid: str = INSTANCE) -> tuple[float, bool]:
    """The reward, which the sync and the async door must agree on."""
    judge = EnvServiceJudge(config=None)
    task = workflow_task(gym_env, uuid)
    reward = judge.compute_reward(task, WorkflowOutput())
    awaited = asyncio.run(judge.acompute_reward(task, WorkflowOutput()))
    assert tuple(reward) == tuple(awaited)
    raw_reward, is_success = reward
    return raw_reward, is_success


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (1.0, (1.5, True)),
        (1, (1.5, True)),
        (1.7, (1.85, True)),
        (0.999999, (0.4999995, False)),
        (0.8, (0.4, False)),
        (0, (0.0, False)),
        (-0.5, (-0.25, False)),
        (Fraction(1, 2), (0.25, False)),
    ],
)
def test_a_score_becomes_the_documented_reward(score: float, expected: tuple[float, bool]) -> None:
    raw_reward, is_success = judge_both_ways(Handle(score))
    assert raw_reward == pytest.approx(expected[0])
    assert is_success is expected[1]
    assert type(raw_reward) is float
    assert reward_from_score(float(score))[1] is is_success


def test_the_reward_says_what_the_environment_said() -> None:
    reward = EnvServiceJudge(config=None).compute_reward(workflow_task(Handle(0.25)), WorkflowOutput())
    assert reward.reason == "environment score 0.25: not solved"
    assert reward.metrics == {"env_score": 0.25}


NOT_SCORES: list[object] = [
    None,
    True,
    False,
    "0.8",
    "1",
    b"1",
    math.nan,
    math.inf,
    -math.inf,
    [],
    {},
    [1.0],
    1j,
    Decimal(1),
]
# too long for a float, and too long for Python to print
HUGE: list[object] = [10**400, 10**5000]


@pytest.mark.parametrize("score", NOT_SCORES + HUGE, ids=[*map(repr, NOT_SCORES), "10**400", "10**5000"])
def test_anything_but_a_finite_number_is_no_verdict(score: object) -> None:
    judge, task = EnvServiceJudge(config=None), workflow_task(Handle(score))
    with pytest.raises(BadScore, match=INSTANCE) as caught:
        judge.compute_reward(task, WorkflowOutput())
    with pytest.raises(BadScore, match=INSTANCE):
        asyncio.run(judge.acompute_reward(task, WorkflowOutput()))
    assert isinstance(caught.value, JudgeError)


@pytest.mark.parametrize(
    ("handle", "call"),
    [
        (Handle(1.0), ()),
        (HandleWithArguments(1.0), (INSTANCE, {})),
        (HandleWithOptionalArguments(1.0), (INSTANCE, {})),
        (HandleOfAClient(1.0), (INSTANCE, None, {})),
        (HandleWithUnrelatedOption(1.0), (False,)),
        (HandleThatForwards(1.0), (INSTANCE, {"params": {}})),
        (AsyncHandle(1.0), ()),
        (HandleOfAFuture(1.0), (INSTANCE,)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_evaluate_is_called_with_the_arguments_it_takes(handle: Handle, call: tuple[object, ...]) -> None:
    assert judge_both_ways(handle) == (1.5, True)
    assert handle.calls == [call, call]


def test_a_handle_that_knows_its_instance_needs_no_id() -> None:
    handle = HandleWithOptionalArguments(1.0)
    assert judge_both_ways(handle, uuid="") == (1.5, True)
    assert handle.calls == [(None, {}), (None, {})]


@pytest.mark.parametrize(
    ("gym_env", "uuid", "message"),
    [
        (
            None,
            INSTANCE,
            "gym_env is None. This judge asks the environment that ran the episode; rows of a file are for",
        ),
        (NoEvaluate(), INSTANCE, "must have evaluate\\(\\), got 'NoEvaluate'"),
        (Unplayable(), INSTANCE, "must take \\(\\) or \\(instance_id, params=...\\)"),
        (HandleWithArguments(1.0), "", "set workflow_task.task_env_uuid"),
        (FailingHandle(RuntimeError("simulator died")), INSTANCE, "RuntimeError: simulator died"),
        (FailingHandle(TypeError("bug inside the handle")), INSTANCE, "TypeError: bug inside"),
    ],
    ids=["none", "no-evaluate", "unplayable", "no-id", "raises", "raises-type-error"],
)
def test_a_broken_handle_is_an_error_that_names_the_instance(gym_env: object, uuid: str, message: str) -> None:
    with pytest.raises(EnvServiceError, match=message) as caught:
        judge_both_ways(gym_env, uuid)
    assert repr(uuid) in str(caught.value)


def test_the_clients_own_error_passes_through_with_its_type() -> None:
    error = InstanceNotFound(f"instance {INSTANCE!r}: released")
    with pytest.raises(InstanceNotFound) as caught:
        judge_both_ways(FailingHandle(error))
    assert caught.value is error


def test_a_blocking_handle_does_not_block_the_loop() -> None:
    class Blocking:
        def __init__(self) -> None:
            self.release = threading.Event()

        def evaluate(self) -> float:
            assert self.release.wait(10)
            return 1.0

    async def judge_while_the_loop_works() -> tuple[float, bool]:
        handle = Blocking()
        pending = asyncio.create_task(
            EnvServiceJudge(config=None).acompute_reward(workflow_task(handle), WorkflowOutput())
        )
        await asyncio.sleep(0)
        handle.release.set()
        return await pending

    assert asyncio.run(judge_while_the_loop_works()) == (1.5, True)


@pytest.mark.parametrize(
    "error",
    [
        BadScore("instance 'x': bad", task_id="t-1"),
        InstanceNotFound("instance 'x': gone", judge="EnvServiceJudge"),
        EnvServerError(500, "Traceback" + "x" * 10_000 + "KeyError: 'apple'", where="step 'x'"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_cross_processes_whole(error: JudgeError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))


def test_a_server_error_keeps_both_ends_of_a_long_detail() -> None:
    error = EnvServerError(500, "Traceback" + "x" * 10_000 + "KeyError: 'apple'")
    assert len(str(error)) < 2_100
    assert error.detail.startswith("Traceback")
    assert error.detail.endswith("KeyError: 'apple'")


def told(**kwargs: Any) -> EnvServiceJudge:
    protocol = "agentscope_tuner.task_judge.env_service_as_judge->EnvServiceJudge"
    loaded = load_judge({"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": kwargs}}}).inner
    assert isinstance(loaded, EnvServiceJudge)
    return loaded


def test_what_an_environment_wants_to_be_told_goes_along() -> None:
    # without `sparse`, AgentEvolver's BFCL answers a report instead of a score
    judge = told(evaluate_params={"sparse": True}, messages={"last": "done"})
    handle = HandleOfAClient(1.0)
    assert judge.compute_reward(workflow_task(handle), WorkflowOutput()) == (1.5, True)
    assert asyncio.run(judge.acompute_reward(workflow_task(handle), WorkflowOutput())) == (1.5, True)
    assert handle.calls == [(INSTANCE, {"last": "done"}, {"sparse": True})] * 2


@pytest.mark.parametrize(
    ("handle", "lost"), [(Handle(1.0), "params and no messages"), (HandleWithArguments(1.0), "messages")]
)
def test_a_handle_that_cannot_be_told_is_an_error(handle: Handle, lost: str) -> None:
    judge = told(evaluate_params={"sparse": True}, messages={"last": "done"})
    with pytest.raises(EnvServiceError, match=f"takes no {lost}"):
        judge.compute_reward(workflow_task(handle), WorkflowOutput())


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"evaluate_parms": {}}, "did you mean 'evaluate_params'"),
        ({"evaluate_params": [1]}, "judge_kwargs.evaluate_params"),
    ],
)
def test_a_wrong_setting_is_found_at_load(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        told(**kwargs)
