"""What the judge makes of an environment's score: `pytest test_judge.py` after every change of the configuration."""

from pathlib import Path

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_judge

JUDGE = load_judge(Path(__file__).parent / "judge.yaml")


class Episode:
    """Stands for the handle of an environment: `evaluate` gives the score of the episode."""

    def __init__(self, score):
        self.score = score

    def evaluate(self, instance_id, params=None):
        return self.score


def judged(score):
    task = WorkflowTask(task=Task(task_id="t1"), task_env_uuid="episode-1", gym_env=Episode(score))
    return JUDGE.judge(task, WorkflowOutput(metadata={}))


@pytest.mark.parametrize(("score", "reward", "success"), [(1.0, 1.5, True), (0.5, 0.25, False), (0.0, 0.0, False)])
def test_a_score_becomes_a_reward(score, reward, success):
    judgement = judged(score)
    assert (judgement.reward, judgement.is_success) == (reward, success), judgement.error


def test_no_score_is_an_error_and_no_reward():
    assert judged(float("nan")).status == "failed"
