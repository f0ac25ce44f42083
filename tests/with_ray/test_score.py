"""Rollouts judged by a pool of actors: the signature and the promises of the local engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentscope_tuner import ConfigError, Rollout
from agentscope_tuner.on_ray.engine import score
from tests.with_ray.rollouts import config, rollout, rollouts

pytestmark = pytest.mark.usefixtures("small_ray")
ANSWERS = ["x" * (index % 11) for index in range(2000)]


@pytest.mark.parametrize("judge", ["Mortal", "AwaitingMortal"])
@pytest.mark.parametrize("ordered", [True, False])
def test_every_rollout_gets_its_own_judgement(judge: str, ordered: bool) -> None:
    scored = list(score(config(judge), rollouts(ANSWERS), jobs=2, ordered=ordered))
    indices = [index for index, _ in scored]
    assert indices == list(range(len(ANSWERS))) if ordered else sorted(indices) == list(range(len(ANSWERS)))
    assert all(judgement.reward == len(ANSWERS[index]) / 10 for index, judgement in scored)


def test_rollouts_that_kill_their_worker_fail_and_the_rest_goes_on() -> None:
    answers = ["fine" for _ in range(600)]
    answers[0] = answers[301] = "die"
    scored = dict(score(config(), rollouts(answers), jobs=2))
    failed = {index: judgement for index, judgement in scored.items() if judgement.status == "failed"}
    assert len(scored) == len(answers)
    assert sorted(failed) == [0, 301]
    assert failed[0].error == "task 't0': its worker died twice while it was judged"


def test_groups_are_ranked_whole() -> None:
    answers = ["x" * (index % 4) for index in range(40)]
    rewards = [judgement.reward for _, judgement in score(config("Ranks"), rollouts(answers), jobs=2)]
    assert rewards == [0.0, 1.0, 2.0, 3.0] * 10


def test_the_input_is_read_as_the_pool_can_take_it() -> None:
    read = 0

    def endless() -> Iterator[Rollout]:
        nonlocal read
        while True:
            read += 1
            yield rollout(read, "fine")

    verdicts = score(config(), endless(), jobs=1)
    for _ in range(1000):
        next(verdicts)
    assert read < 20_000
    verdicts.close()  # type: ignore[attr-defined]


def test_a_judge_that_cannot_be_loaded_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="Nobody"):
        next(score(config("Nobody"), rollouts(["a"])))


def test_no_rollouts_are_no_judgements() -> None:
    nothing: list[Any] = []
    assert list(score(config(), nothing, jobs=1)) == []
