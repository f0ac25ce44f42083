"""Which trainer calls, how large its groups are, and where a missing reward would count as 0."""

from __future__ import annotations

import asyncio
import inspect
import re
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters.trl import async_reward_func, check_reward_funcs, combined, functions, reward_func
from agentscope_tuner.adapters.trl.functions import groups_of, own_groups
from tests.core.adapters.test_adapters import config, pair


class Trainer:
    """What a call sees of TRL's GRPOTrainer: its `_log_metric` is a method of the trainer."""

    def __init__(
        self, *functions: Any, group: int = 4, group_eval: int = 2, weights: list[float] | None = None
    ) -> None:
        self.reward_funcs = list(functions)
        self.reward_func_names = [function.__name__ for function in functions]
        self.reward_weights = weights or [1.0] * len(functions)
        self.num_generations, self.num_generations_eval = group, group_eval
        self.model = SimpleNamespace(training=True)
        self.logged: dict[str, float] = {}

    def _log_metric(self, name: str, value: float) -> None:
        self.logged[name] = value

    def rewards(self, completions: list[str], prompts: list[str] | None = None, **columns: list[Any]) -> Any:
        """What the first function answers."""
        count = len(completions)
        named = {"answer": ["42"] * count, **columns, "trainer_state": TrainerState(), "log_metric": self._log_metric}
        answer = self.reward_funcs[0](prompts=prompts or ["q"] * count, completions=completions, **named)
        return asyncio.run(answer) if inspect.iscoroutine(answer) else answer


class Marks:
    """A tokenizer of characters, whose marks of a chat template are left out of texts unless asked for."""

    def batch_decode(self, tokens: list[list[int]], *, skip_special_tokens: bool) -> list[str]:
        texts = ["".join(map(chr, ids)) for ids in tokens]
        return [re.sub(r"<[|]im_\w+[|]>", "", text) for text in texts] if skip_special_tokens else texts


TOOL = "I ask.<|im_end|>\n<|im_start|>tool\n{}<|im_end|>\n<|im_start|>assistant\n{}<|im_end|>"


def played(build: Any, said: list[str], counted: int = 999, **more: Any) -> Any:
    """What a function answers to completions of a `rollout_func`."""
    trainer: Any = Trainer(build(config()), group=len(said))
    trainer.rollout_func, trainer.processing_class = print, Marks()
    trainer._metrics = {"train": {f"completions/{most}_length": [counted] for most in ("mean", "max")}}
    ids = [[*map(ord, text)] for text in said]
    return trainer.rewards(Marks().batch_decode(ids, skip_special_tokens=True), completion_ids=ids, **more)


class TrainerState:
    """Named as transformers names it."""


def brevity(completions: list[str], **named: Any) -> list[float]:
    return [0.5 for _ in completions]


BUILDS = pytest.mark.parametrize("build", [reward_func, async_reward_func, lambda config: combined([config])])


@BUILDS
def test_what_a_tool_says_in_a_rollout_funcs_text_is_not_paid(build: Any) -> None:
    # TRL leaves out the template's marks: the last of these ended with what the tool said, and was paid
    cut = TOOL.format("42", "").partition("42")[0] + "42"
    said = [TOOL.format("42", "no idea"), TOOL.format("0", "42"), "42<|im_end|>", cut]
    assert played(build, said) == [0.0, 1.0, 1.0, 0.0]


@BUILDS
def test_a_rollout_func_may_name_the_last_turns(build: Any) -> None:
    said = ["I ask. 42 no idea", "I ask. 0 42", "42"]
    assert played(build, said, astuner_last_turn=["no idea", "42", None]) == [0.0, 1.0, 1.0]


@BUILDS
def test_a_rollout_that_failed_is_no_empty_answer(build: Any) -> None:
    # AsyncGRPO's harness makes such a completion of it, to be left out: 0.0 stood in its group's mean
    given = {"prompts": ["q"] * 3, "answer": ["42"] * 3}
    function = build(config())
    for completions, expected in (([[], ["x"], []], [None, 0.0, 0.0]), ([[]] * 3, [None] * 3)):
        said = [[{"role": "assistant", "content": text} for text in texts] for texts in completions]
        tokens = [[] if place == 0 or expected[2] is None else [7] for place in range(3)]
        answer = function(completions=said, completion_ids=tokens, **given)
        assert (asyncio.run(answer) if inspect.iscoroutine(answer) else answer) == expected


@BUILDS
@pytest.mark.parametrize("ranks", [1, 2])
def test_masked_text_that_nothing_marks_is_no_verdict(build: Any, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "process_group", lambda: None if ranks == 1 else object())
    said = ["I ask. 42", "42"]
    with pytest.raises(JudgeError, match="let the function return it as 'astuner_last_turn'"):
        played(build, said, counted=5)
    # all of it is the policy's
    assert played(build, said[1:] * 2, counted=2) == [1.0, 1.0]


@BUILDS
def test_alone_under_grpo_a_failed_verdict_is_none(build: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Trainer(build(config())).rewards(["42", "boom", "41", "x"]) == [1.0, None, 0.0, 0.0]


@BUILDS
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (["42"] * 4, "all_right"),
        (["41", "40", "3", "x"], "all_wrong"),
        (["42", "41", "42", "42"], None),
        (["42", "42", "boom", "42"], "no_verdict"),
        (["boom"] * 4, "no_verdict"),
    ],
)
def test_grpo_logs_how_many_groups_teach_nothing(build: Any, said: list[str], reason: str | None) -> None:
    trainer = Trainer(build(config()))
    trainer.rewards([*said, "42", "41", "42", "41"])
    shares = {
        name.rpartition("/")[2]: value for name, value in trainer.logged.items() if name.startswith("Echo/groups/")
    }
    expected = dict.fromkeys(("all_right", "all_wrong", "zero_spread", "no_verdict"), 0.0)
    assert shares == {**expected, **({reason: 0.5} if reason else {})}


@BUILDS
def test_a_batch_that_is_not_whole_groups_tells_nothing_of_them(build: Any) -> None:
    trainer = Trainer(build(config()))
    trainer.rewards(["42", "41", "42"])
    assert "Echo/success_rate" in trainer.logged
    assert not any("groups/" in name for name in trainer.logged)


@BUILDS
def test_beside_another_function_it_warns_and_a_failed_verdict_ends_the_step(build: Any) -> None:
    trainer = Trainer(build(config()), brevity)
    with pytest.warns(UserWarning, match=r"stands beside brevity.*combined"):
        assert trainer.rewards(["42", "41"] * 2) == [1.0, 0.0] * 2
    # once is enough
    trainer.rewards(["42", "41"] * 2)
    with pytest.raises(JudgeError, match=r"no verdict on 1 of 4 completions, and beside brevity TRL would count"):
        trainer.rewards(["42", "boom", "41", "x"])


@BUILDS
def test_a_function_of_the_users_own_around_it_makes_no_failed_verdict_a_0(build: Any) -> None:
    def around(function: Any) -> Any:
        def own(**given: Any) -> Any:
            return function(**given)

        return own

    said = ["42", "boom", "41", "x"]
    assert Trainer(around(build(config()))).rewards(said) == [1.0, None, 0.0, 0.0]
    beside = Trainer(around(build(config())), brevity)
    with (
        pytest.warns(UserWarning, match="stands beside own, brevity"),
        pytest.raises(JudgeError, match=r"1 of 4 completions, and beside own, brevity TRL would count"),
    ):
        beside.rewards(said)


@BUILDS
def test_a_function_that_only_looks_on_may_stand_beside_others(build: Any) -> None:
    assert Trainer(build(config()), brevity, weights=[0.0, 1.0]).rewards(["42", "boom"] * 2) == [1.0, None] * 2


@BUILDS
def test_online_dpo_and_sdpo_which_count_none_as_0_fail_the_step(build: Any) -> None:
    function = build(config())
    batch = {"prompts": ["q"] * 2, "answer": ["42"] * 2, "trainer_state": TrainerState()}

    def ask(*completions: str) -> Any:
        answer = function(completions=list(completions), **batch)
        return asyncio.run(answer) if inspect.iscoroutine(answer) else answer

    assert ask("42", "41") == [1.0, 0.0]
    with pytest.raises(JudgeError, match=r"no verdict on 1 of 2 .*OnlineDPO and SDPO do.*the judge model did not"):
        ask("42", "boom")


def test_on_error_zero_is_a_number_that_the_user_asked_for() -> None:
    trainer = Trainer(reward_func(config(on_error="zero")), brevity)
    with pytest.warns(UserWarning, match="stands beside"):
        assert trainer.rewards(["boom", "42"] * 2) == [0.0, 1.0] * 2


def test_the_check_warns_when_the_trainer_is_built() -> None:
    bare = reward_func(config())
    with pytest.warns(UserWarning, match="Echo stands beside brevity"):
        check_reward_funcs(Trainer(bare, brevity))
    with pytest.warns(UserWarning, match="Echo stands beside brevity"):
        check_reward_funcs(SimpleNamespace(rollout_worker=Trainer(bare, brevity)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for functions in ([bare], [brevity, brevity], [combined([bare, brevity])]):
            check_reward_funcs(Trainer(*functions))


LISTWISE = pytest.mark.parametrize("build", [reward_func, async_reward_func, lambda config: combined([config])])


@LISTWISE
def test_a_column_made_per_completion_splits_no_group(build: Any) -> None:
    trainer = Trainer(build(config("Longest")), group=2)
    # rollout_func's extras: a digest of prompt and columns would make four groups of one, which all win
    rewards = trainer.rewards(["x", "xxx", "xx", "x"], ["a", "a", "b", "b"], turns=[1, 2, 3, 4])
    assert rewards == [0.0, 1.0, 1.0, 0.0]


@LISTWISE
def test_neighbouring_groups_of_one_prompt_stay_apart(build: Any) -> None:
    assert Trainer(build(config("Longest")), group=2).rewards(["x", "xxx", "xx", "x"]) == [0.0, 1.0, 1.0, 0.0]


@LISTWISE
def test_evaluation_has_groups_of_its_own_size(build: Any) -> None:
    trainer = Trainer(build(config("Longest")), group=4, group_eval=2)
    trainer.model.training = False
    assert trainer.rewards(["x", "xxx", "xx", "x"]) == [0.0, 1.0, 1.0, 0.0]
    # one that shows no model trains
    del trainer.model
    assert trainer.rewards(["x", "xxx", "xx", "x"]) == [0.0, 1.0, 2 / 3, 0.0]


@LISTWISE
@pytest.mark.parametrize(
    ("trainer", "prompts", "ids", "why"),
    [
        ({"group": 1}, ["a", "b"], None, "one completion: set num_generations"),
        ({"group": 2}, ["a", "b"], None, "holds several prompts"),
        ({"group": 2}, ["a", "a", "b", "b"], ["t", "t", "t", "t"], "two prompts share the task_id 't'"),
    ],
)
def test_what_is_no_group_has_no_verdict(build: Any, trainer: Any, prompts: Any, ids: Any, why: str) -> None:
    columns = {} if ids is None else {"task_id": ids}
    # no batch of such a data set will be a group, so the run is stopped
    with pytest.raises(JudgeError, match=f"no verdict on any row so far.*{why}"):
        Trainer(build(config("Longest")), **trainer).rewards(["x"] * len(prompts), prompts, **columns)


def test_without_a_trainer_the_completions_of_a_prompt_are_a_group_wherever_they_stand() -> None:
    # OnlineDPO lays them out so
    pairs = [pair("x"), pair("x"), pair("x"), pair("x")]
    for place, query in enumerate(["a", "b", "a", "b"]):
        pairs[place][0].task.main_query = query
    assert groups_of(pairs, None) == [[0, 2], [1, 3]]
    assert groups_of(pairs, 2) == [[0, 1], [2, 3]]
    assert groups_of(pairs, 3) == [[0, 2], [1, 3]]


@pytest.mark.parametrize(
    ("first", "end", "mine"),
    [(0, 2, [0]), (2, 4, [1]), (4, 6, [2]), (1, 3, []), (0, 6, [0, 1, 2])],
)
def test_a_group_belongs_to_the_rank_that_holds_its_first_completion(first: int, end: int, mine: list[int]) -> None:
    assert own_groups([[0, 1, 2], [3, 4], [5]], first, end) == mine
