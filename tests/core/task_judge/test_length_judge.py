"""LengthJudge: its two formulas by hand, and what it does not take for a length."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from agentscope_tuner import ConfigError, Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.task_judge.length_judge import cosine, soft_overlong
from tests.text_judges import ask, ask_hostile, built


@pytest.mark.parametrize(
    ("length", "soft", "hard", "reward"),
    [
        # DAPO, equation 13, with L_max = 20480 and L_cache = 4096, as in the paper's own run
        (0, 16384, 20480, 0.0),
        (16384, 16384, 20480, 0.0),
        (16385, 16384, 20480, -1 / 4096),
        (17408, 16384, 20480, -0.25),
        (18432, 16384, 20480, -0.5),
        (20480, 16384, 20480, -1.0),
        (20481, 16384, 20480, -1.0),
        # L_cache = 0: nothing lies between
        (10, 10, 10, 0.0),
        (11, 10, 10, -1.0),
        (0, 0, 4, 0.0),
        (1, 0, 4, -0.25),
    ],
)
def test_the_soft_overlong_punishment_by_hand(length: int, soft: int, hard: int, reward: float) -> None:
    assert soft_overlong(length, soft, hard) == reward


@pytest.mark.parametrize(
    ("length", "pair", "reward"),
    [
        # eta_min + (eta_max - eta_min) (1 + cos(pi t / T)) / 2 with T = 1000
        (0, (2.0, 1.0), 2.0),
        (500, (2.0, 1.0), 1.5),
        # cos 60 degrees is 1/2
        (333, (2.0, 1.0), 1.5 + math.cos(math.pi * 0.333) / 2),
        (999, (2.0, 1.0), 1.5 + math.cos(math.pi * 0.999) / 2),
        (0, (-10.0, 0.0), -10.0),
        (500, (-10.0, 0.0), -5.0),
        # from L_max on
        (1000, (2.0, 1.0), -7.0),
        (5000, (-10.0, 0.0), -7.0),
    ],
)
def test_the_cosine_by_hand(length: int, pair: tuple[float, float], reward: float) -> None:
    assert cosine(length, 1000, *pair, -7.0) == pytest.approx(reward, abs=1e-12)


def test_the_cosine_orders_answers_as_its_paper_does() -> None:
    """Right before wrong; of right answers the shorter, of wrong ones the longer; one that is cut off is no better."""
    judges = {right: built("length", method="cosine", hard=100, correct=right) for right in (True, False)}
    falling = [(True, 1), (True, 90), (False, 90), (False, 1), (True, 100)]
    rewards = [ask(judges[right], "word " * words).reward or 0.0 for right, words in falling]
    assert rewards == sorted(rewards, reverse=True)
    assert len(set(rewards)) == len(falling)


@pytest.mark.parametrize(
    ("kwargs", "text", "reward", "success"),
    [
        ({"soft": 2000, "hard": 4000}, "word " * 2000, 0.0, True),
        ({"soft": 2000, "hard": 4000}, "word " * 3000, -0.5, False),
        ({"soft": 2000, "hard": 4000}, "word " * 9000, -1.0, False),
        # Chinese is counted by characters, as by the max_tokens rule
        ({"soft": 2000, "hard": 4000}, "字" * 3000, -0.5, False),
        ({"soft": 4, "hard": 8, "unit": "chars"}, "123456", -0.5, False),
        ({"soft": 4, "hard": 8}, "", 0.0, True),
        ({"method": "cosine", "hard": 10, "correct": True}, "word " * 5, 0.75, True),
        ({"method": "cosine", "hard": 10, "correct": False}, "word " * 5, -0.25, False),
        ({"method": "cosine", "hard": 10, "correct": True}, "word " * 10, -0.5, False),
        ({"method": "cosine", "hard": 10, "correct": True, "right": [2.0, 1.0]}, "", 2.0, True),
    ],
)
def test_a_length_has_its_reward(kwargs: dict[str, Any], text: str, reward: float, success: bool) -> None:
    judge = built("length", **kwargs)
    judgement = ask(judge, text)
    assert judgement.reward == pytest.approx(reward)
    assert judgement.is_success is success
    assert set(judgement.metrics) == {"length"}
    task, output = WorkflowTask(task=Task()), WorkflowOutput(metadata={"final_answer": text})
    assert asyncio.run(judge.acompute_reward(task, output)) == judge.compute_reward(task, output)


@pytest.mark.slow
def test_a_hostile_megabyte_without_a_blank_is_no_single_word() -> None:
    judge = built("length", soft=2000, hard=4000)
    for text in ("a" * 10**6, "字" * 10**6, "!" * 10**6):
        assert ask_hostile(judge, text).reward == -1.0


def test_a_count_and_a_verdict_are_read_where_the_workflow_left_them() -> None:
    counting = built("length", soft=4, hard=8, unit="output.metadata.completion_tokens")
    assert ask(counting, "x", output={"completion_tokens": 6}).reward == -0.5
    assert ask(counting, "x", output={"completion_tokens": 6}).reason == "6 long, soft limit 4, hard limit 8"
    for broken in (True, 6.0, -1, "6", None):
        failed = ask(counting, "x", output={"completion_tokens": broken})
        assert (failed.status, failed.cause) == ("failed", "input")
    assert ask(counting, "x").status == "failed"

    settled = built("length", method="cosine", hard=10, correct="output.metadata.right")
    assert ask(settled, "", output={"right": True}).reward == 1.0
    assert ask(settled, "", output={"right": False}).reward == -0.5
    for unsettled in (1, None, "true"):
        assert ask(settled, "", output={"right": unsettled}).status == "failed"
    # no workflow said whether it succeeded
    assert ask(built("length", method="cosine", hard=10, correct="output.is_success"), "").status == "failed"


@pytest.mark.parametrize(
    ("kwargs", "way_out"),
    [
        ({}, "hard is missing"),
        ({"hard": 4}, "needs `soft`"),
        ({"soft": 5, "hard": 4}, "soft 5 and hard 4"),
        ({"soft": -1, "hard": 4}, "soft"),
        ({"soft": 0, "hard": 0}, "hard"),
        ({"soft": 1.5, "hard": 4}, "soft"),
        ({"soft": 1, "hard": 4, "correct": True}, "`correct` belongs to method cosine"),
        ({"method": "cosine", "hard": 4}, "needs `correct`"),
        ({"method": "cosine", "hard": 4, "soft": 1, "correct": True}, "`soft` belongs to method soft_overlong"),
        ({"method": "cosine", "hard": 4, "correct": True, "right": [1.0]}, "right"),
        ({"method": "cosine", "hard": 4, "correct": True, "exceed": float("nan")}, "exceed"),
        ({"method": "cosine", "hard": 4, "correct": "is_success"}, "must begin with task. or output."),
        ({"soft": 1, "hard": 4, "unit": "words"}, "tokens, chars or a path"),
        ({"sofft": 1, "hard": 4}, "did you mean 'soft'"),
    ],
)
def test_impossible_settings_are_refused_at_load(kwargs: dict[str, Any], way_out: str) -> None:
    with pytest.raises(ConfigError, match="judge_kwargs") as caught:
        built("length", **kwargs)
    assert way_out in str(caught.value)
