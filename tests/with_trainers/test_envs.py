"""The guide's snippets for SkyRL-gym, verifiers and OpenEnv, run as they stand in docs/trainers/."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import skyrl_gym
import verifiers.v1 as vf
from omegaconf import OmegaConf
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation
from verifiers.v1.errors import TaskError

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters import openenv
from agentscope_tuner.adapters.skyrl_gym import judged_env
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
    # the matrix may have registered it
    skyrl_gym.envs.registration.registry.pop("judged", None)
    snippet("SkyRL-gym", "configs/math.yaml")
    for action, reward in [(RIGHT, 1.0), (r"\boxed{41}", 0.0), *((text, 0.0) for text in HOSTILE)]:
        env = skyrl_gym.make("judged", extras={"reward_spec": {"ground_truth": "42"}})
        env.init([{"role": "user", "content": "6*7?"}])
        step = env.step(action)
        assert (step["reward"], step["done"]) == (reward, True)
        assert step["metadata"]["reason"]


@pytest.mark.parametrize(
    ("row", "reward"),
    [
        ({"answer": "42"}, 1.0),
        ({"answer": "41"}, 0.0),
        ({"reward_spec": {}, "solution": RIGHT}, 1.0),
        ({"reward_spec": {"ground_truth": "41"}, "answer": "42"}, 0.0),
    ],
)
def test_skyrl_gym_finds_the_reference_among_the_rows_columns(row: dict[str, Any], reward: float) -> None:
    # a row without a reward_spec lost the answer that it had
    env = judged_env(ROOT / "configs/math.yaml")(extras=row)
    env.init([{"role": "user", "content": "6*7?"}])
    assert env.step(RIGHT)["reward"] == reward


def test_skyrl_gym_hears_of_a_failure(failing: str) -> None:
    # a second registration under one id is refused
    skyrl_gym.envs.registration.registry.pop("judged", None)
    env = snippet("SkyRL-gym", failing)["JudgedEnv"](extras={"reward_spec": {"ground_truth": "41"}})
    env.init([])
    with pytest.raises(JudgeError, match="the judge model did not answer"):
        env.step("41")


def test_skyrl_gym_plays_on_until_nothing_is_answered_and_logs_the_judges_metrics() -> None:
    class Asks(judged_env(ROOT / "configs/math.yaml")):  # type: ignore[misc]
        def feedback(self, action: str) -> str | None:
            return RIGHT if action == "I ask." else None

    env = Asks(extras={"reward_spec": {"ground_truth": "42"}})
    env.init([{"role": "user", "content": "6*7?"}])
    told = env.step("I ask.")
    assert (told["observations"], told["reward"], told["done"]) == ([{"role": "user", "content": RIGHT}], 0.0, False)
    assert env.get_metrics() == {}
    # the environment's own words earn nothing
    assert env.step("I do not know.")["reward"] == 0.0
    assert env.get_metrics()["MathAnswerAsJudge/success"] == 0.0


def test_skyrl_gym_judges_the_last_turn_that_skyrl_allows() -> None:
    class AsksForEver(judged_env(ROOT / "configs/math.yaml")):  # type: ignore[misc]
        def feedback(self, action: str) -> str | None:
            return "Are you sure?"

    # SkyRL plays until the environment ends the episode: it got too long, and 0.0 without a verdict
    env = AsksForEver(extras={"reward_spec": {"ground_truth": "42"}, "max_turns": 3})
    for _ in range(2):
        env.init([{"role": "user", "content": "6*7?"}])
        steps = [env.step(said) for said in ("I ask.", "I see.", RIGHT)]
        assert [(step["reward"], step["done"]) for step in steps] == [(0.0, False), (0.0, False), (1.0, True)]
        assert env.get_metrics()["MathAnswerAsJudge/success"] == 1.0


# ------------------------------------------------------------------------------------------------------------ OpenEnv


class Plays(Environment):  # type: ignore[misc]
    """Two steps an episode."""

    def __init__(self, rubric: Any, truth: str) -> None:
        super().__init__(rubric=rubric)
        self.truth, self.steps = truth, 0

    def reset(self, *arguments: Any, **named: Any) -> Observation:
        return Observation()

    def seen(self) -> Observation:
        self.steps += 1
        return Observation(done=self.steps == 2, metadata={"question": "6*7?", "answer": self.truth})

    def step(self, action: Any, *arguments: Any, **named: Any) -> Observation:
        seen = self.seen()
        seen.reward = self._apply_rubric(action, seen)
        return seen

    async def step_async(self, action: Any, *arguments: Any, **named: Any) -> Observation:
        seen = self.seen()
        seen.reward = await self._apply_rubric_async(action, seen)
        return seen

    @property
    def state(self) -> Any:
        return None


@pytest.mark.parametrize("name", ["EpisodeRubric", "AsyncEpisodeRubric"])
def test_openenv_pays_the_last_step_and_hears_of_a_failure(name: str, failing: str) -> None:
    def play(config: str, said: str, truth: str = "42") -> list[Any]:
        rubric = getattr(openenv, name)(config, snippet("OpenEnv", config)["rollout"])
        env = Plays(rubric, truth)
        actions = [Action(metadata={"answer": text}) for text in (RIGHT, said)]
        if name == "EpisodeRubric":
            steps = [env.step(action) for action in actions]
        else:
            steps = [asyncio.run(env.step_async(action)) for action in actions]
        return [*(step.reward for step in steps), rubric.metrics]

    assert play("configs/math.yaml", RIGHT)[:2] == [0.0, 1.0]
    assert play("configs/math.yaml", "I do not know.")[1] == 0.0
    assert play("configs/math.yaml", RIGHT)[2]["MathAnswerAsJudge/success"] == 1.0
    with pytest.raises(JudgeError, match="the judge model did not answer"):
        play(failing, RIGHT, "41")


class Trace(SimpleNamespace):
    """What scoring touches of a trace: the reply, and the ledger of rewards."""

    def __init__(self, reply: str) -> None:
        super().__init__(last_reply=reply, rewards={}, metrics={})

    def record_reward(self, name: str, score: float, weight: float) -> None:
        self.rewards[name] = vf.trace.Reward(score=score, weight=weight)

    def record_metrics(self, found: dict[str, float]) -> None:
        self.metrics.update(found)


def scored(names: dict[str, Any], reply: str, answer: str) -> float:
    task = names["MathTask"](names["MathData"](prompt="6*7?", answer=answer))
    trace = Trace(reply)
    asyncio.run(task.score(trace))
    value: float = trace.rewards["judged"].value
    assert trace.metrics["MathAnswerAsJudge/success"] == value
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
