"""RepetitionJudge: the share of repeated n-grams by hand, and ways around it."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner import ConfigError
from agentscope_tuner.task_judge.repetition_judge import repetition
from tests.text_judges import ask, ask_hostile, built


@pytest.mark.parametrize(
    ("text", "n", "distinct", "total"),
    [
        # the n-grams written out: `a b`, `b a`, `a b`
        ("a b a b", 2, 2, 3),
        ("a b c d", 2, 3, 3),
        ("a a a a a", 2, 1, 4),
        ("a a a a a", 1, 1, 5),
        # the the-cat-sat, cat-sat-on, sat-on-the, on-the-cat
        ("the cat sat on the cat sat", 3, 4, 5),
        ("The cat. the cat.", 2, 2, 3),
        ("a b", 3, 0, 0),
        ("", 1, 0, 0),
        # characters in Chinese: 好的好的好 has 好的 and 的好
        ("好的好的好", 2, 2, 4),
        ("今天天气很好", 2, 5, 5),
        ("用 GPU 用 GPU", 2, 2, 3),
        # what cannot be seen makes no other word
        ("a b a\u200b b", 2, 2, 3),
    ],
)
def test_ngrams_by_hand(text: str, n: int, distinct: int, total: int) -> None:
    found = repetition(text, n)
    assert (found.distinct, found.total) == (distinct, total)
    assert found.share == (1 - distinct / total if total else 0.0)


@pytest.mark.parametrize(
    ("kwargs", "text", "reward", "success"),
    [
        ({}, "one two three four", 0.0, True),
        ({"n": 2}, "a b a b", -1 / 3, False),
        ({"n": 2, "most": 0.4}, "a b a b", -1 / 3, True),
        ({"n": 2, "penalty": 0.6}, "a b a b", -0.2, False),
        ({}, "", 0.0, True),
    ],
)
def test_the_penalty_is_scaled_by_the_share(kwargs: dict[str, Any], text: str, reward: float, success: bool) -> None:
    judgement = ask(built("repetition", **kwargs), text)
    assert judgement.reward == pytest.approx(reward)
    assert judgement.is_success is success
    assert judgement.metrics == {"repeated": pytest.approx(-reward / kwargs.get("penalty", 1.0))}


@pytest.mark.parametrize(
    "text",
    [
        "again " * 160_000,
        # a run without blanks is not one word
        "a" * 10**6,
        "ha" * 500_000,
        "!" * 10**6,
        "🙂" * 10**6,
        "哈" * 10**6,
        "哈哈。" * 300_000,
        # the loop comes last
        " ".join(map(str, range(100_000))) + " and again" * 250_000,
        "a \u200b" * 300_000,
    ],
    ids=lambda text: f"{text[:12]}…",
)
def test_a_megabyte_of_the_same_is_punished(text: str) -> None:
    judgement = ask_hostile(built("repetition"), text)
    assert judgement.reward is not None
    assert judgement.reward < -0.99


def test_an_honest_text_loses_little() -> None:
    text = (
        "The train leaves at noon and travels 60 kilometres an hour, so after two hours it has gone 120 kilometres. "
        "The second one leaves an hour later at 90 kilometres an hour. It has 30 kilometres for each hour to make up."
    )
    assert ask(built("repetition"), text).reward == pytest.approx(0.0, abs=0.1)
    assert ask_hostile(built("repetition"), " ".join(map(str, range(40_000)))).reward == 0.0


@pytest.mark.parametrize(
    "kwargs", [{"n": 0}, {"n": 2.0}, {"n": True}, {"penalty": 0}, {"penalty": -1.0}, {"most": 1.5}, {"ngram": 3}]
)
def test_impossible_settings_are_refused_at_load(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"judge_kwargs.{next(iter(kwargs))}"):
        built("repetition", **kwargs)
