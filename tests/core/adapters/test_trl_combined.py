"""Several reward functions as one: a missing part is a missing reward, and each part is logged."""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
import pickle
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy
import pytest

from agentscope_tuner import ConfigError, JudgeError
from agentscope_tuner.adapters.trl import async_reward_func, combined, reward_func
from tests.core.adapters.test_adapters import config

BATCH: dict[str, Any] = {"prompts": ["6*7="] * 4, "completions": ["42", "41", "boom", "x"], "answer": ["42"] * 4}


def brevity(completions: list[str], **named: Any) -> list[float]:
    return [1.0 / max(len(completion), 1) for completion in completions]


async def slow(prompts: list[str], completions: list[str], **named: Any) -> list[float | None]:
    await asyncio.sleep(0)
    return [None if completion == "x" else 10.0 for completion in completions]


def test_a_missing_part_is_a_missing_reward() -> None:
    assert combined([config(), brevity], weights=[1.0, 0.5])(**BATCH) == [1.25, 0.25, None, 0.5]
    assert combined([config(), brevity, slow])(**BATCH) == [11.5, 10.5, None, None]


@pytest.mark.parametrize("build", [reward_func, async_reward_func])
@pytest.mark.parametrize("judge", ["Echo", "AsyncEcho"])
def test_judges_of_either_kind_are_parts(build: Any, judge: str) -> None:
    assert combined([build(config(judge)), slow], weights=[1.0, 0.0])(**BATCH) == [1.0, 0.0, None, 0.0]


def test_judges_that_rank_see_whole_groups_beside_others() -> None:
    function = combined([config("Longest"), brevity], weights=[1.0, 0.0])
    assert function(**{**BATCH, "completions": ["x", "xx", "xxx", "xxxx"]}) == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_a_part_that_only_looks_on_takes_no_reward_away() -> None:
    assert combined([brevity, config()], weights=[1.0, 0.0])(**BATCH) == [0.5, 0.5, 0.25, 1.0]


def test_each_part_is_logged() -> None:
    metrics: dict[str, float] = {}
    columns: defaultdict[str, list[Any]] = defaultdict(list)
    combined([config(), brevity])(
        **BATCH, log_metric=metrics.__setitem__, log_extra=lambda column, values: columns[column].extend(values)
    )
    assert metrics["rewards/Echo/mean"] == pytest.approx(1 / 3)
    assert metrics["rewards/brevity/mean"] == pytest.approx((0.5 + 0.5 + 0.25 + 1.0) / 4)
    assert metrics["rewards/brevity/std"] > 0
    assert metrics["Echo/failed"] == metrics["combined/failed"] == 0.25
    assert columns["rewards/Echo"] == [1.0, 0.0, None, 0.0]
    assert "did not answer" in columns["Echo/reason"][2]


def test_a_foreign_function_gets_what_trl_gives() -> None:
    seen: dict[str, Any] = {}

    def curious(**named: Any) -> list[float]:
        seen.update(named)
        return [0.0] * 4

    state = object()
    ids = [[1], [2], [3], [4]]
    combined([curious])(**BATCH, completion_ids=ids, trainer_state=state, log_metric=print, log_extra=print)
    assert seen == {**BATCH, "completion_ids": ids, "trainer_state": state, "log_metric": print, "log_extra": print}


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, 10**400, Fraction(10**400)])
def test_what_is_no_number_is_no_verdict(value: Any) -> None:
    # one infinity would spoil every advantage of its group
    assert combined([config(), lambda **named: [value, 1, True, Fraction(1, 2)]])(**BATCH) == [None, 1.0, None, 0.5]


@pytest.mark.parametrize(("weights", "sums"), [((10.0, 0.0), [None, 10.0]), ((10.0, -10.0), [None, 0.0])])
def test_a_sum_beyond_every_float_is_no_reward(weights: tuple[float, float], sums: list[float | None]) -> None:
    """The trainer got inf, or NaN for the difference of two."""

    def first(**named: Any) -> list[float]:
        return [1e308, 1.0]

    def second(**named: Any) -> list[float]:
        return [1e308, 1.0]

    both = combined([first, second], weights=weights)
    assert both(["q"] * 2, ["a", "b"]) == sums
    with pytest.raises(JudgeError, match="the weighted sum is no finite number"):
        both(["q"] * 2, ["a", "b"], trainer_state=TrainerState())


class TrainerState:
    """Under this name OnlineDPO, which counts a missing reward as 0, tells its state."""


@pytest.mark.parametrize("value", [numpy.array([0.5] * 4), [numpy.float32(0.5)] * 4, (0.5, 0.5, 0.5, 0.5)], ids=repr)
def test_an_array_is_a_list_of_rewards_as_it_is_for_trl(value: Any) -> None:
    assert combined([config(), lambda **named: value])(**BATCH) == [1.5, 0.5, None, 0.5]


@pytest.mark.parametrize(
    "answer", [[1.0], [1.0] * 5, 1.0, None, "1111", ["1.0"] * 4, [(1.0, True)] * 4, [[1.0]] * 4], ids=repr
)
def test_another_answer_than_a_number_each_fails_the_step(answer: Any) -> None:
    def odd(**named: Any) -> Any:
        return answer

    with pytest.raises(JudgeError, match=r"odd must answer"):
        combined([config(), odd])(**BATCH)


def test_an_exception_of_a_part_is_its_own() -> None:
    async def broken(**named: Any) -> list[float]:
        raise ValueError("no weights found")

    with pytest.raises(ValueError, match="no weights found"):
        combined([config(), broken])(**BATCH)


@pytest.mark.parametrize(
    ("parts", "weights", "why"),
    [
        ([], None, "at least one"),
        ([brevity], [1.0, 2.0], "one finite weight for each of 1 parts"),
        ([brevity], [math.nan], "one finite weight"),
        ([brevity, 3], None, "or a reward function, got 3"),
        ([config(), config()], None, "two parts are named 'Echo'.*name:"),
        ([config(rule=1)], None, "unknown key"),
        (["absent.yaml"], None, "no configuration file"),
    ],
)
def test_what_cannot_be_combined_is_refused_before_training(parts: Any, weights: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        combined(parts, weights)


def test_two_judges_of_one_class_have_names_of_their_own() -> None:
    metrics: dict[str, float] = {}
    function = combined([config(name="strict"), config(name="lenient", on_error="zero"), functools.partial(brevity)])
    function(**BATCH, log_metric=metrics.__setitem__)
    assert (metrics["strict/failed"], metrics["rewards/lenient/mean"]) == (0.25, 0.25)
    assert "rewards/brevity/mean" in metrics


def test_it_survives_pickling_and_trl_takes_it_for_a_sync_function() -> None:
    function = pickle.loads(pickle.dumps(combined([config(), brevity], weights=[1.0, 0.5], name="total")))
    assert function.__name__ == "total"
    assert function(**BATCH) == [1.25, 0.25, None, 0.5]
    assert not inspect.iscoroutinefunction(function.__call__)


def test_it_runs_inside_a_running_loop_too() -> None:
    async def inside() -> list[float | None]:
        return combined([config("AsyncEcho"), slow])(**BATCH)

    assert asyncio.run(inside()) == [11.0, 10.0, None, None]
