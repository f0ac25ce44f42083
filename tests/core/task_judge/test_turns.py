"""Rewards turn by turn: what they must be, who gives them, that nothing on the way drops them, and who refuses them."""

from __future__ import annotations

import asyncio
import json
import pickle
from array import array
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, ConfigError, JudgeError, Reward, Rollout, Task, WorkflowOutput, WorkflowTask
from agentscope_tuner import load_judge as load
from agentscope_tuner.adapters import areal, ms_swift, nemo_gym, openrlhf, slime
from agentscope_tuner.adapters.trl import reward_func
from agentscope_tuner.adapters.verl import compute_score_sync
from agentscope_tuner.engines.local import score
from agentscope_tuner.errors import Cause
from agentscope_tuner.records.columnar import columnar_lines, write_columnar
from agentscope_tuner.records.output import judged_end
from agentscope_tuner.storage import StoredFile
from agentscope_tuner.task_judge.batch import ConfiguredJudge, judge_for
from agentscope_tuner.task_judge.contract.judgement import Judgement, checked
from agentscope_tuner.task_judge.env_service_as_judge import EnvServiceJudge
from agentscope_tuner.task_judge.workflow_reward_as_judge import WorkflowRewardJudge

HERE = __name__
TURNS = (0.25, None, 0.5)


class Turns(BaseJudge):
    """0.25 for the first turn, no verdict on the second, 0.5 for the last."""

    judge_kind = "cpu"
    bounds_itself = True
    gives_turns = True
    reference_keys = ()

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        return Reward(0.75, True, reason="three turns", turns=TURNS)


def config(judge: str, **section: Any) -> dict[str, Any]:
    protocol = judge if "->" in judge else f"{HERE}->{judge}"
    return {"astuner": {"task_judge": {"judge_protocol": protocol, **section}}}


def written(tmp_path: Path) -> str:
    path = tmp_path / "turns.yaml"
    path.write_text(f"astuner:\n  task_judge:\n    judge_protocol: {HERE}->Turns\n", encoding="utf-8")
    return str(path)


class Array:
    """What numpy's arrays do."""

    def __init__(self, held: list[Any]) -> None:
        self._held = held

    def __bool__(self) -> bool:
        raise ValueError("The truth value of an array with more than one element is ambiguous")

    def __iter__(self) -> Any:
        return iter(self._held)

    def tolist(self) -> list[Any]:
        return self._held


@pytest.mark.parametrize(
    ("reward", "turns"),
    [
        (0.75, [0.25, 0.5]),
        (0.75, (0.25, None, 0.5)),
        (1.0, [1]),
        (0.0, [0.0, 0.0]),
        (0.3, [0.1, 0.1, 0.1]),
        (-1.0, [-2.0, 1.0]),
        (1e9, [1e9, 1e-3]),
        (0.5, [None, 0.5, None]),
        # an array is neither true nor false: a ValueError
        (0.75, array("d", [0.25, 0.5])),
        (0.75, Array([0.25, 0.5])),
    ],
)
def test_turns_that_add_up_are_kept(reward: float, turns: Any) -> None:
    assert checked(Reward(reward, True, turns=turns), ()).turns == tuple(turns)


@pytest.mark.parametrize(
    ("reward", "turns", "told"),
    [
        # a trainer that takes one float would pay something else than one that takes turns
        (1.0, [0.25, 0.5], "must add up to it, 1.0, got"),
        (1.0, [1.0, 1.0], "must add up"),
        (0.5, [None, None], "must add up"),
        (0.0, [None], "must add up"),
        (0.0, [0.0, 1e-3], "must add up"),
        (1.0, [float("nan"), 1.0], "finite numbers or None"),
        (1.0, [float("inf")], "finite numbers or None"),
        (1.0, ["1.0"], "finite numbers or None"),
        (1.0, [True], "finite numbers or None"),
        (1.0, [[1.0]], "finite numbers or None"),
        (1.0, {0: 1.0}, "finite numbers or None"),
        (1.0, 1.0, "finite numbers or None"),
        (1.0, "1", "finite numbers or None"),
        # fsum's own OverflowError
        (1.0, [1e308, 1e308], "must add up"),
        (1.0, [10**400], "finite numbers or None"),
        (0.75, Array([[0.25, 0.5]]), "finite numbers or None"),
        (0.75, Array([0.25, 0.25]), "must add up"),
    ],
)
def test_turns_that_are_none_are_no_verdict(reward: float, turns: Any, told: str) -> None:
    with pytest.raises(JudgeError, match=told) as caught:
        checked(Reward(reward, True, turns=turns), ())
    assert caught.value.cause is Cause.BUG


def rollout() -> Rollout:
    return Rollout(id="1", task=Task(task_id="t"), output=WorkflowOutput(metadata={"final_answer": "x"}))


def test_they_survive_every_way_to_a_file(tmp_path: Path) -> None:
    (found,) = [judgement for _, judgement in score(config("Turns"), [rollout()])]
    assert found.turns == TURNS
    (in_process,) = [judgement for _, judgement in score(config("Turns", deadline=60), [rollout()], jobs=2)]
    assert in_process.turns == TURNS
    assert pickle.loads(pickle.dumps(Reward(0.75, True, turns=TURNS))).turns == TURNS
    assert Judgement.from_dict(json.loads(json.dumps(found.to_dict()))) == Judgement.from_dict(found.to_dict())
    assert Judgement.from_dict(found.to_dict()).turns == TURNS  # type: ignore[union-attr]
    assert "turns" not in Judgement("judged", 1.0, True).to_dict()
    raw = rollout().model_dump_json().encode()
    line = raw[:-1] + judged_end(found, found.seconds)
    assert json.loads(line)["judgement"]["turns"] == list(TURNS)
    lines, table = tmp_path / "rows.jsonl", tmp_path / "rows.parquet"
    plain = raw[:-1] + judged_end(Judgement("judged", 1.0, True), 0.0)
    lines.write_bytes(line + plain)
    write_columnar(lines, table)
    back = [json.loads(row.raw)["judgement"] for row in columnar_lines(StoredFile(str(table)), "r")]
    assert [Judgement.from_dict(row).turns for row in back] == [TURNS, ()]  # type: ignore[union-attr]


def test_a_route_passes_them_on_and_a_combined_judge_refuses_them() -> None:
    route = {
        "judge_type": "routed",
        "by": "task.env_type",
        "routes": {"no_env": config("Turns")["astuner"]["task_judge"]},
    }
    judge = load({"astuner": {"task_judge": route}})
    task = WorkflowTask(task=Task(task_id="t", env_type="no_env"))
    assert judge.judge(task, rollout().output).turns == TURNS
    assert judge.inner.gives_turns
    parts = {"judge_type": "combined", "parts": {"a": config("Turns")["astuner"]["task_judge"]}}
    with pytest.raises(ConfigError, match="a combined judge gives one reward for a rollout"):
        load({"astuner": {"task_judge": parts}})


OWN = "agentscope_tuner.task_judge.workflow_reward_as_judge->WorkflowRewardJudge"


@pytest.mark.parametrize(
    ("reward", "turns", "found"),
    [
        (0.75, [0.25, None, 0.5], TURNS),
        (1.0, [1.0], (1.0,)),
        (1.0, None, "turns: true reads"),
        (1.0, [], "turns: true reads"),
        (1.0, [0.5], "must add up"),
        (1.0, "1.0", "finite numbers or None"),
        (0.75, Array([0.25, None, 0.5]), TURNS),
        (1.0, Array([]), "turns: true reads"),
    ],
)
def test_a_workflow_says_what_each_turn_earned(reward: float, turns: Any, found: Any) -> None:
    judge = load(config(OWN, judge_kwargs={"turns": True}))
    # a plain dictionary lost the setting without a word
    assert WorkflowRewardJudge(config(OWN, judge_kwargs={"turns": True})).gives_turns
    assert EnvServiceJudge(config(ENV, judge_kwargs={"turns": True})).gives_turns
    given = WorkflowOutput(reward=reward, is_success=True, metadata={"final_answer": "x", "turn_rewards": turns})
    judgement = judge.judge(WorkflowTask(task=Task(task_id="t")), given)
    assert judgement.turns == found if judgement.reward is not None else found in str(judgement.error)
    # where the YAML does not ask for them, they are metadata like any other
    assert load(config(OWN)).judge(WorkflowTask(task=Task(task_id="t")), given).turns == ()


ENV = "agentscope_tuner.task_judge.env_service_as_judge->EnvServiceJudge"


@pytest.mark.parametrize(
    ("steps", "score_", "expected"),
    [
        ([0.0, 0.5, 0.5], 1.0, (1.0, True, (0.0, 0.5, 0.5))),
        ([0.1, None, -0.3], 0.0, (-0.2, False, (0.1, None, -0.3))),
        ([None, None], 1.0, "fill with"),
        ([], 1.0, "instance 'e': turns: true reads gym_env.turn_rewards, which the episode's steps fill with"),
        (None, 1.0, "fill with"),
        (Array([0.1, None, -0.3]), 0.0, (-0.2, False, (0.1, None, -0.3))),
        ([1e308, 1e308], 1.0, "have no sum"),
        (["1"], 1.0, "have no sum"),
    ],
)
def test_an_environments_steps_are_turns(steps: Any, score_: float, expected: Any) -> None:
    handle = SimpleNamespace(evaluate=lambda: score_, turn_rewards=steps)
    task = WorkflowTask(task=Task(task_id="t"), gym_env=handle, task_env_uuid="e")
    judgement = load(config(ENV, judge_kwargs={"turns": True})).judge(task, rollout().output)
    if isinstance(expected, str):
        assert expected in str(judgement.error)
        return
    assert judgement.reward == pytest.approx(expected[0])
    assert (judgement.is_success, judgement.turns) == expected[1:]
    plain = load(config(ENV)).judge(task, rollout().output)
    assert (plain.reward, plain.turns) == (1.5 if score_ else 0.0, ())


def trl_(path: str) -> Any:
    return reward_func(path)(["?"], ["x"])


def verl_(path: str) -> Any:
    return compute_score_sync("d", "x", "42", {"question": "?"}, config=path)


def openrlhf_(path: str) -> Any:
    return openrlhf.reward_file(path)(["?x"], ["?"], ["42"])


def slime_(path: str) -> Any:
    sample = SimpleNamespace(prompt="?", response="x", label="42", metadata={}, group_index=0)
    return asyncio.run(slime.custom_rm(path)(None, sample))


def slime_left(path: str) -> Any:
    sample = SimpleNamespace(prompt="?", response="x", label="42", metadata={}, group_index=0)
    return asyncio.run(slime.custom_rm(path, on_failed="leave")(None, sample))


def ms_swift_(path: str) -> Any:
    return ms_swift.orm(path)()(["x"], messages=[[{"role": "assistant", "content": "x"}]])


def areal_(path: str) -> Any:
    return areal.reward_fn(path)("?", "x")


def test_nemo_gym_gets_a_masked_sample_in_place_of_turns(tmp_path: Path) -> None:
    judge = judge_for(written(tmp_path))
    task, output = WorkflowTask(task=Task(task_id="t")), rollout().output
    sent = nemo_gym.encode_response({}, judge, judge.judge(task, output))
    assert (sent["mask_sample"], sent["failure_kind"]) == (True, "judge_failed")
    assert "would drop them" in sent["failure_reason"]


@pytest.mark.parametrize("ask", [trl_, verl_, openrlhf_, slime_, slime_left, ms_swift_, areal_])
def test_a_trainer_that_takes_one_float_refuses_them(ask: Any, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"gives a reward for each turn .* would drop them") as caught:
        ask(written(tmp_path))
    assert caught.value.cause is Cause.CONFIG


def test_whoever_hands_them_on_gets_the_reward(tmp_path: Path) -> None:
    judge = ConfiguredJudge(config("Turns"))
    found = judge.judge(WorkflowTask(task=Task(task_id="t")), rollout().output)
    assert judge.reward(found, turns=True) == 0.75
    assert judge.gives_turns
