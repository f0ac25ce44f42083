"""Trinity-RFT's registry, formatter and workflows with our reward function class, named by its dotted path."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf
from trinity.buffer.schema.formatter import TaskFormatter
from trinity.common.config import FormatConfig, StorageConfig
from trinity.common.experience import Experience
from trinity.common.rewards import REWARD_FUNCTIONS, RewardFn
from trinity.common.workflows import Task

from agentscope_tuner import ConfigError, JudgeError
from agentscope_tuner.errors import DeadlineError
from tests.hanging_judges import release
from tests.with_trainers.judges import HANGING, HOSTILE, config, hanging

NAME = "agentscope_tuner.adapters.trinity.AstunerReward"
OURS = "agentscope_tuner.adapters.trinity.JudgedWorkflow"
WORKFLOWS = ["simple_workflow", "async_simple_workflow", OURS]
MATH = {
    "astuner": {"task_judge": {"judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"}}
}
COUNTDOWN = {
    "astuner": {
        "task_judge": {
            "judge_protocol": "agentscope_tuner.task_judge.countdown_answer_as_judge->CountdownAnswerAsJudge"
        }
    }
}


def judge_file(tmp_path: Path, settings: dict[str, Any]) -> str:
    path = tmp_path / "judge.yaml"
    OmegaConf.save(OmegaConf.create(settings), path)
    return str(path)


class Model:
    """Says what it was told to, as Trinity's model wrapper would hand it over."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def _experiences(self) -> list[Experience]:
        return [Experience(tokens=[0, 1], prompt_length=1, response_text=text) for text in self.texts]

    def chat(self, messages: Any, **options: Any) -> list[Experience]:
        return self._experiences()

    async def chat_async(self, messages: Any, **options: Any) -> list[Experience]:
        return self._experiences()


def task(judge: str, workflow: str, truth: str = "42") -> Task:
    """A row, the way Trinity's buffer makes a task of it."""
    storage = StorageConfig(
        name="test",
        default_workflow_type=workflow,
        default_reward_fn_type=NAME,
        reward_fn_args={"config": judge},
        format=FormatConfig(prompt_key="question", response_key="answer"),
    )
    made: Task = TaskFormatter(storage).format({"question": "6*7?", "answer": truth})
    return made


def run(made: Task, *texts: str) -> list[Experience]:
    workflow = made.to_workflow(Model(*texts))
    workflow.set_repeat_times(len(texts), 0)
    return asyncio.run(workflow.run_async()) if workflow.is_async else workflow.run()


def test_the_registry_loads_our_class_by_its_path() -> None:
    found = REWARD_FUNCTIONS.get(NAME)
    assert issubclass(found, RewardFn)
    # a second look is the registry's own entry
    assert REWARD_FUNCTIONS.get(NAME) is found


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_workflows_reward_their_responses(workflow: str, tmp_path: Path) -> None:
    said = [r"\boxed{42.0}", r"\boxed{41}", "no box", *HOSTILE]
    experiences = run(task(judge_file(tmp_path, MATH), workflow), *said)
    assert [experience.reward for experience in experiences] == [1.0] + [0.0] * (len(said) - 1)
    # one key: Trinity adds the values up
    assert experiences[0].metrics == {"astuner": 1.0}


def test_a_record_as_truth_reaches_the_judge(tmp_path: Path) -> None:
    made = task(judge_file(tmp_path, COUNTDOWN), "simple_workflow", '{"target": 12, "nums": [3, 4]}')
    experiences = run(made, r"\boxed{3*4}", r"\boxed{3+4}", "none")
    assert [experience.reward for experience in experiences] == [1.0, 0.1, 0.0]


def test_a_failed_verdict_fails_the_run(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="the judge model did not answer"):
        run(task(judge_file(tmp_path, config("Fails")), "simple_workflow", "41"), r"\boxed{41}")


@pytest.mark.parametrize("judge", HANGING)
@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_judge_that_hangs_fails_the_run_in_time(workflow: str, judge: str, tmp_path: Path) -> None:
    made = task(judge_file(tmp_path, hanging(judge)), workflow)
    with release(), pytest.raises(DeadlineError, match=r"no verdict within 0\.3 s"):
        run(made, r"\boxed{42}")


def test_our_workflow_shows_the_judge_the_question_and_ranks_a_prompts_answers(tmp_path: Path) -> None:
    echo = judge_file(tmp_path, config("RepeatsTheQuestion"))
    assert [one.reward for one in run(task(echo, OURS), "6*7?", "another")] == [1.0, 0.0]
    (tmp_path / "ranks").mkdir()
    ranks = judge_file(tmp_path / "ranks", config("Shortest"))
    experiences = run(task(ranks, OURS), "ab", "a", "abcd", "abc")
    assert [(one.reward, one.eid.run) for one in experiences] == [(2 / 3, 0), (1.0, 1), (0.0, 2), (1 / 3, 3)]


def test_trinitys_own_workflow_gives_a_judge_model_no_question_and_is_told(tmp_path: Path) -> None:
    llm = {"grader": "relevance", "model_name": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": "k"}
    judge = judge_file(tmp_path, {"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}})
    with pytest.raises(JudgeError, match=r"No question came: .*default_workflow_type: agentscope_tuner\.adapters"):
        run(task(judge, "simple_workflow"), "42")


def test_our_workflow_takes_no_other_reward_function(tmp_path: Path) -> None:
    made = task(judge_file(tmp_path, MATH), OURS)
    made.reward_fn, made.reward_fn_args = REWARD_FUNCTIONS.get("math_reward"), {}
    with pytest.raises(ConfigError, match="MathRewardFn: name agentscope_tuner"):
        run(made, r"\boxed{42}")
