"""The guide's snippets for SkyRL-gym and verifiers, run as they stand in docs/trainers/."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import skyrl_gym
import verifiers.v1 as vf
from omegaconf import OmegaConf
from verifiers.v1.errors import TaskError

from agentscope_tuner import JudgeError
from tests.with_trainers.judges import HOSTILE, config
from tests.with_trainers.runners import of_agentjet, snippet

ROOT = Path(__file__).parents[2]
RIGHT = r"\boxed{42.0}"


@pytest.fixture
def failing(tmp_path: Path) -> str:
    path = tmp_path / "failing.yaml"
    OmegaConf.save(OmegaConf.create(config("Fails")), path)
    return str(path)


def test_skyrl_gym_steps_through_the_judge() -> None:
    snippet("SkyRL-gym", "configs/math.yaml")
    for action, reward in [(RIGHT, 1.0), (r"\boxed{41}", 0.0), *((text, 0.0) for text in HOSTILE)]:
        env = skyrl_gym.make("judged", extras={"reward_spec": {"ground_truth": "42"}})
        env.init([{"role": "user", "content": "6*7?"}])
        step = env.step(action)
        assert (step["reward"], step["done"]) == (reward, True)
        assert step["metadata"]["reason"]


def test_skyrl_gym_hears_of_a_failure(failing: str) -> None:
    # a second registration under one id is refused
    skyrl_gym.envs.registration.registry.pop("judged", None)
    env = snippet("SkyRL-gym", failing)["JudgedEnv"](extras={"reward_spec": {"ground_truth": "41"}})
    env.init([])
    with pytest.raises(JudgeError, match="the judge model did not answer"):
        env.step("41")


class Trace(SimpleNamespace):
    """What scoring touches of a trace: the reply, and the ledger of rewards."""

    def __init__(self, reply: str) -> None:
        super().__init__(last_reply=reply, rewards={}, metrics={})

    def record_reward(self, name: str, score: float, weight: float) -> None:
        self.rewards[name] = vf.trace.Reward(score=score, weight=weight)


def scored(names: dict[str, Any], reply: str, answer: str) -> float:
    task = names["MathTask"](names["MathData"](prompt="6*7?", answer=answer))
    trace = Trace(reply)
    asyncio.run(task.score(trace))
    value: float = trace.rewards["correct"].value
    return value


def test_verifiers_scores_by_the_judge(failing: str) -> None:
    names = snippet("verifiers", "configs/math.yaml")
    assert scored(names, RIGHT, "42") == 1.0
    assert [scored(names, text, "42") for text in [r"\boxed{41}", *HOSTILE]] == [0.0] * (1 + len(HOSTILE))
    with pytest.raises(TaskError, match="the judge model did not answer"):
        scored(snippet("verifiers", failing), RIGHT, "41")


# ----------------------------------------------------------------------------------------------------------- AgentJet


def test_agentjet_imports_our_judge_and_gives_it_its_own_objects() -> None:
    schema = of_agentjet("schema/task")
    name = "agentscope_tuner.adapters.agentjet->AstunerJudge"
    judge = of_agentjet("utils/dynamic_import").dynamic_import(name)(OmegaConf.load(config_of_math()))
    inner = schema.Task(main_query="6*7?", task_id="t", metadata={"answer": "42"})
    task = schema.WorkflowTask(task_id="t", episode_uuid="e", task=inner)
    for answer, expected in (
        (RIGHT, (1.0, True)),
        (r"\boxed{41}", (0.0, False)),
        *((text, (0.0, False)) for text in HOSTILE),
    ):
        assert judge.compute_reward(task, schema.WorkflowOutput(metadata={"final_answer": answer})) == expected
    inner.metadata = {}
    with pytest.raises(JudgeError, match="answer"):
        judge.compute_reward(task, schema.WorkflowOutput(metadata={"final_answer": RIGHT}))


def config_of_math() -> Path:
    return ROOT / "configs" / "math.yaml"
