"""One row of a batch that cannot be read is a failed verdict of its own, and costs the others none."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters import areal, ms_swift, rllm, slime, verl
from agentscope_tuner.adapters.trl import async_reward_func, combined, reward_func
from agentscope_tuner.errors import Cause
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, UnreadOutput, read_or_unread
from tests.core.adapters.test_adapters import config, pair
from tests.core.adapters.test_adapters_slime import Sample
from tests.core.adapters.test_adapters_verl import settings
from tests.core.adapters.test_trl_trainer import Trainer, brevity

BUILDS = pytest.mark.parametrize("build", [reward_func, async_reward_func, lambda config: combined([config])])
UNREAD = pytest.mark.parametrize(
    ("unread", "why"),
    [
        (None, "a completion is a text or a list of chat messages, got None"),
        (b"42", "got b'42'"),
        (42, "got 42"),
        ({"role": "assistant", "content": "42"}, "a completion is a text or a list of chat messages"),
        ([{"content": "42"}], "a completion is a text or a list of chat messages"),
        ([{"role": "gpt", "content": "42"}], "has the policy's role, assistant, but 'gpt'"),
        ([{"role": "assistant", "content": 42}], "a message's content is a text or a list of blocks, got 42"),
    ],
)


@UNREAD
@BUILDS
def test_trl_gets_none_for_the_row_and_the_others_rewards(build: Any, unread: Any, why: str) -> None:
    # such a row stopped the whole batch
    trainer = Trainer(build(config()))
    assert trainer.rewards(["42", unread, "41", "42"]) == [1.0, None, 0.0, 1.0]
    assert trainer.logged["Echo/failed"] == 0.25
    assert trainer.logged["Echo/success_rate"] == pytest.approx(2 / 3)


@UNREAD
def test_the_table_of_completions_says_what_could_not_be_read(unread: Any, why: str) -> None:
    extra: dict[str, list[Any]] = {}
    told = {"answer": ["42"] * 2, "log_extra": extra.__setitem__}
    assert reward_func(config())(["6*7?"] * 2, ["42", unread], **told) == [1.0, None]
    assert why in extra["Echo/reason"][1]


@pytest.mark.parametrize("completion", ["", [], [{"role": "assistant"}], [{"role": "tool", "content": "42"}]])
@BUILDS
def test_what_says_nothing_is_an_answer_all_the_same(build: Any, completion: Any) -> None:
    trainer = Trainer(build(config(rules=[])))
    assert trainer.rewards(["42", completion, "41", "42"]) == [1.0, 0.0, 0.0, 1.0]
    assert trainer.logged["Echo/failed"] == 0.0


@BUILDS
def test_a_batch_of_which_nothing_can_be_read_ends_the_run(build: Any) -> None:
    trainer = Trainer(build(config()))
    assert trainer.rewards(["42"] * 4) == [1.0] * 4
    with pytest.raises(
        JudgeError, match=r"no row of the batch can be read: 4 rows with cause input.*got None"
    ) as caught:
        trainer.rewards([None] * 4)  # type: ignore[list-item]
    assert caught.value.cause is Cause.INPUT
    # an evaluation stops nothing
    trainer.model.training = False
    assert trainer.rewards([None] * 4) == [None] * 4  # type: ignore[list-item]


def test_a_run_that_shall_go_on_goes_on() -> None:
    assert Trainer(reward_func(config(), stop_when_failing=False)).rewards([None] * 4) == [None] * 4  # type: ignore[list-item]


def test_beside_another_function_the_step_fails() -> None:
    with pytest.warns(UserWarning, match="stands beside brevity"), pytest.raises(JudgeError, match="TRL would count"):
        Trainer(reward_func(config()), brevity).rewards(["42", None, "41", "42"])  # type: ignore[list-item]


def test_a_prompt_that_cannot_be_read_costs_its_own_group_alone() -> None:
    prompts: list[Any] = ["q"] * 4 + [None] * 4
    assert Trainer(reward_func(config())).rewards(["42"] * 8, prompts) == [1.0] * 4 + [None] * 4


@BUILDS
def test_a_judge_that_ranks_places_the_rows_that_can_be_read(build: Any) -> None:
    trainer = Trainer(build(config("Longest", rules=[])))
    assert trainer.rewards(["xx", None, "xxx", "x"]) == [0.5, None, 1.0, 0.0]  # type: ignore[list-item]


def test_a_row_that_is_left_alone_has_no_rank() -> None:
    judge = ConfiguredJudge(config("Longest", rules=[]))
    task, output = pair("xx")
    unread = task, UnreadOutput(why="got None")
    for found in (
        judge.judge_group([unread, (task, output)]),
        asyncio.run(judge.ajudge_group([unread, (task, output)])),
    ):
        assert [judgement.cause for judgement in found] == [Cause.INPUT] * 2
        assert "the other 1 of its group could not be read, and Longest has none to rank it with" in str(found[1].error)
    assert [judgement.status for judgement in judge.judge_group([unread] * 2)] == ["failed"] * 2


def test_a_row_that_cannot_be_read_is_shared_by_ranks() -> None:
    task, output = read_or_unread(lambda completion: pair(completion) if completion == "" else _refuse(), b"42")
    again = pickle.loads(pickle.dumps(output))
    assert (type(again), again.why, task.task_id) == (UnreadOutput, "cannot be read", "t1")


def _refuse(cause: Cause = Cause.INPUT) -> Pair:
    raise JudgeError("cannot be read", cause=cause)


def test_a_fault_of_the_configuration_is_no_rows_own() -> None:
    with pytest.raises(JudgeError, match="cannot be read"):
        read_or_unread(lambda _: _refuse(Cause.CONFIG), "42")


@pytest.mark.parametrize("unread", [None, b"42", 42, ["42"]])
def test_slime_leaves_the_sample_and_judges_the_others(unread: Any, tmp_path: Path) -> None:
    samples = [Sample("42"), Sample(unread), Sample("41")]
    ask = slime.custom_rm(settings(tmp_path), on_failed="leave")
    assert asyncio.run(ask(SimpleNamespace(), samples)) == [1.0, None, 0.0]
    assert "a sample's response must be a str" in samples[1].metadata["judgement"]["error"]
    with pytest.raises(JudgeError, match="a sample's response must be a str"):
        asyncio.run(slime.custom_rm(settings(tmp_path))(SimpleNamespace(), samples))


def test_verl_hears_of_a_response_that_is_no_text(tmp_path: Path) -> None:
    _, output = verl.pair_of("math", b"42", "42", {"question": "6*7?"})  # type: ignore[arg-type]
    assert isinstance(output, UnreadOutput)
    with pytest.raises(JudgeError, match="a response must be a text, got b'42'"):
        verl.compute_score_sync("math", b"42", "42", config=settings(tmp_path))


def test_trainers_that_leave_nothing_out_fail_the_step(tmp_path: Path) -> None:
    judge = settings(tmp_path)
    talk = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": 42}]
    for ask in (
        lambda: ms_swift.orm(judge)()(["42", None], messages=[[], talk], answer=["42"] * 2),
        lambda: areal.reward_fn(judge)("6*7=", b"42", answer="42"),
        lambda: rllm.reward_fn(judge)({"question": "6*7=", "answer": "42"}, b"42"),
    ):
        with pytest.raises(
            JudgeError, match=r"a completion is a text|a message's content is a text|an answer must be a str"
        ):
            ask()
