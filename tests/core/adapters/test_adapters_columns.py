"""Columns that do not match the batch are refused by name: the first values need not be the completions' own."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters import areal, ms_swift, openrlhf, slime, verl
from agentscope_tuner.adapters.trl import async_reward_func, combined, reward_func
from tests.core.adapters.test_adapters_more import said

CONFIG = "configs/math.yaml"
RIGHT = r"\boxed{42}"


def trl_plain(completions: Any, **columns: Any) -> Any:
    return reward_func(CONFIG)(columns.pop("prompts", ["6*7?"] * 2), completions, **columns)


def trl_async(completions: Any, **columns: Any) -> Any:
    return asyncio.run(async_reward_func(CONFIG)(columns.pop("prompts", ["6*7?"] * 2), completions, **columns))


def trl_combined(completions: Any, **columns: Any) -> Any:
    return combined([CONFIG])(columns.pop("prompts", ["6*7?"] * 2), completions, **columns)


TRL = [trl_plain, trl_async, trl_combined]


class Labelled:
    """As a pandas Series after a filter: its places are labels, which need not be 0 and 1."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Any:
        return iter(self.values)

    def __getitem__(self, label: int) -> Any:
        return {7: self.values[0], 8: self.values[1]}[label]


@pytest.mark.parametrize(
    ("name", "column", "told"),
    [
        # a longer column gave each completion the value at its place, whosever it was
        ("answer", ["42", "42", "43"], "'answer' has 3 values for 2 completions"),
        ("answer", ["42"] * 4, "'answer' has 4 values for 2 completions"),
        ("answer", ["42"], "'answer' has 1 value for 2 completions"),
        ("answer", [], "'answer' has 0 values for 2 completions"),
        ("answer", (), "'answer' has 0 values for 2 completions"),
        ("answer", numpy.array([42, 42, 42]), "'answer' has 3 values for 2 completions"),
        ("level", [1, 2, 3], "'level' has 3 values for 2 completions"),
        ("task_id", ["a"], "'task_id' has 1 value for 2 completions"),
        # a text of two letters gave each completion a letter
        ("answer", "42", "'answer' must be a list .* got '42'"),
        ("answer", b"42", "'answer' must be a list .* got b'42'"),
        ("answer", {0: "42", 1: "42"}, "'answer' must be a list .* got {0: '42', 1: '42'}"),
        ("answer", {"42", "43"}, "'answer' must be a list"),
        ("answer", 42, "'answer' must be a list .* got 42"),
        ("answer", None, "'answer' must be a list .* got None"),
        ("answer", iter(["42", "42"]), "'answer' must be a list"),
        ("prompts", ["6*7?"], "'prompts' has 1 value for 2 completions"),
        ("prompts", ["6*7?"] * 3, "'prompts' has 3 values for 2 completions"),
        ("prompts", "6*", "'prompts' must be a list"),
        ("environments", [None], "'environments' has 1 value for 2 completions"),
        ("environments", [], "'environments' has 0 values for 2 completions"),
    ],
)
@pytest.mark.parametrize("ask", TRL)
def test_trl_columns_that_do_not_match_the_batch_are_refused_by_name(
    ask: Any, name: str, column: Any, told: str
) -> None:
    with pytest.raises(JudgeError, match=told):
        ask([RIGHT] * 2, **{"answer": ["42"] * 2, name: column})


def test_completions_that_are_one_text_are_refused() -> None:
    with pytest.raises(JudgeError, match="'completions' must be a list"):
        trl_plain("42", answer=["42"] * 2)


@pytest.mark.parametrize(
    "column",
    [["42", 42], ("42", "42"), numpy.array([42, 42]), [numpy.int64(42), 42.0], Labelled(["42", "42"])],
    ids=["list", "tuple", "array", "mixed", "series"],
)
@pytest.mark.parametrize("ask", TRL)
def test_whatever_holds_a_value_for_each_completion_is_a_column(ask: Any, column: Any) -> None:
    assert ask([RIGHT, RIGHT], answer=column) == [1.0, 1.0]


@pytest.mark.parametrize("cell", [None, float("nan"), numpy.float64("nan"), "", []])
@pytest.mark.parametrize("ask", TRL)
def test_an_empty_cell_costs_its_own_row_alone(ask: Any, cell: Any) -> None:
    assert ask([RIGHT] * 2, answer=["42", cell]) == [1.0, None]
    assert ask([RIGHT] * 2, answer=[cell, "42"]) == [None, 1.0]


@pytest.mark.parametrize("build", [ms_swift.orm, ms_swift.async_orm])
def test_ms_swift_columns_of_another_length_are_refused_not_dropped(build: Any) -> None:
    def ask(**columns: Any) -> Any:
        answer = build(CONFIG)()([RIGHT] * 2, messages=[said(RIGHT)] * 2, **columns)
        return asyncio.run(answer) if asyncio.iscoroutine(answer) else answer

    state = SimpleNamespace(global_step=3)
    assert ask(solution=["42", "42"], trainer_state=state, trajectory_inputs={"r1": []}) == [1.0, 1.0]
    # these were left out, and `messages` with them: then what a tool said last was the answer
    assert ask(solution=numpy.array([42, 41])) == ask(solution=("42", "41")) == [1.0, 0.0]
    for values in (["42"], ["42"] * 3, []):
        with pytest.raises(JudgeError, match=f"'solution' has {len(values)} values? for 2 completions"):
            ask(solution=values, trainer_state=state)


@pytest.mark.parametrize("lists", [(["6*7?42"] * 2, ["6*7?"], ["42"]), (["6*7?42"], ["6*7?"], []), ("6", "6", "4")])
def test_openrlhf_hands_over_one_of_each(lists: Any) -> None:
    with pytest.raises(JudgeError, match="one query, one prompt and one label"):
        openrlhf.reward_file(CONFIG)(*lists)


TOOL_CALL = "configs/tool_call.yaml"
ADD = {"type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
CALLS = '[{"name": "add", "arguments": {"a": 1}}]'
#: What a data set keeps for fine-tuning: the question with the model answer, which is the reference.
GOLD = [{"role": "user", "content": "1+?"}, {"role": "assistant", "content": "", "tool_calls": [ADD]}]


def trl_with(answer: Any) -> Any:
    return reward_func(TOOL_CALL)(["1+?"], [answer], answer=[CALLS], messages=[GOLD])[0]


def slime_with(answer: Any) -> Any:
    sample = SimpleNamespace(response=answer, prompt="1+?", label=CALLS, group_index=0, metadata={"messages": GOLD})
    return asyncio.run(slime.custom_rm(TOOL_CALL)(None, sample))


def verl_with(answer: Any) -> Any:
    found = verl.compute_score("d", answer, CALLS, {"question": "1+?", "messages": GOLD}, config=TOOL_CALL)
    return asyncio.run(found)["score"]


def areal_with(answer: Any) -> Any:
    return areal.reward_fn(TOOL_CALL)("1+?", answer, answer=CALLS, messages=GOLD)


@pytest.mark.parametrize("ask", [trl_with, slime_with, verl_with, areal_with])
def test_a_column_of_messages_is_the_data_sets_and_no_turn_of_the_policys(ask: Any) -> None:
    # the reference's own calls were paid, whatever the policy wrote
    assert ask("I do not know.") == 0.0
    assert ask('<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>') == 1.0


def test_the_policys_own_messages_are_judged_beside_such_a_column() -> None:
    assert trl_with([{"role": "assistant", "content": "", "tool_calls": [ADD]}]) == 1.0
    assert trl_with([{"role": "assistant", "content": "", "tool_calls": []}]) == 0.0


@pytest.mark.parametrize(
    "answer", [b"42", [RIGHT], [{"content": RIGHT}], [{"from": "gpt", "value": RIGHT}], {"role": "assistant"}, None, 42]
)
@pytest.mark.parametrize("ask", TRL)
def test_what_does_not_say_who_wrote_it_is_no_completion(ask: Any, answer: Any) -> None:
    # messages of another format were judged as an empty answer, 0.0 whatever stood in them
    with pytest.raises(JudgeError, match="a completion is a text or a list of chat messages"):
        ask([answer] * 2, answer=["42"] * 2)


@pytest.mark.parametrize(
    ("role", "reward"), [("assistant", 1.0), ("model", 1.0), ("ai", 1.0), ("user", 0.0), ("tool", 0.0), ("system", 0.0)]
)
@pytest.mark.parametrize("ask", TRL)
def test_the_policy_is_known_by_each_of_its_roles(ask: Any, role: str, reward: float) -> None:
    assert ask([[{"role": role, "content": RIGHT}]] * 2, answer=["42"] * 2) == [reward] * 2


@pytest.mark.parametrize("role", ["Assistant", "gpt", "bot", "judge", ""])
@pytest.mark.parametrize("ask", TRL)
def test_a_completion_by_an_unknown_role_is_no_empty_answer(ask: Any, role: str) -> None:
    # each right answer of such a data set earned 0.0
    with pytest.raises(JudgeError, match=f"has the policy's role, assistant, but '{role}'"):
        ask([[{"role": role, "content": RIGHT}]] * 2, answer=["42"] * 2)


@pytest.mark.parametrize("role", [None, ["assistant"], 3])
def test_a_role_that_is_no_text_says_not_who_wrote_a_message(role: Any) -> None:
    with pytest.raises(JudgeError, match="a completion is a text or a list of chat messages"):
        trl_plain([[{"role": role, "content": RIGHT}]] * 2, answer=["42"] * 2)


def test_a_tool_of_any_name_behind_the_policy_answers_nothing_for_it() -> None:
    turns = [{"role": "assistant", "content": "calls"}, {"role": "calculator", "content": RIGHT}]
    assert trl_plain([turns] * 2, answer=["42"] * 2) == [0.0, 0.0]


BLOCK = {"type": "text", "text": RIGHT}


@pytest.mark.parametrize(
    ("content", "reward"),
    [
        ([BLOCK], 1.0),
        ((BLOCK,), 1.0),
        # out of Parquet, whose columns give all blocks the same keys
        (numpy.array([BLOCK], dtype=object), 1.0),
        ([{"type": None, "text": RIGHT, "image": None}], 1.0),
        (BLOCK, 1.0),
        ([RIGHT], 1.0),
        ([{"type": "thinking", "thinking": RIGHT}, {"type": "text", "text": "no"}], 0.0),
        ([{"type": "tool_result", "text": RIGHT}], 0.0),
        ([{"type": "text", "text": None}], 0.0),
        ([], 0.0),
        (None, 0.0),
        (float("nan"), 0.0),
    ],
)
def test_the_text_of_a_message_in_each_of_its_forms(content: Any, reward: float) -> None:
    turns = [{"role": "assistant", "content": content}]
    assert trl_plain([turns] * 2, answer=["42"] * 2) == [reward] * 2


@pytest.mark.parametrize("content", [42, b"42", [RIGHT.encode()], [None], {RIGHT}, object()])
def test_a_content_that_is_no_text_is_refused_and_no_empty_answer(content: Any) -> None:
    with pytest.raises(JudgeError, match="a message's content is a text or a list of blocks"):
        trl_plain([[{"role": "assistant", "content": content}]] * 2, answer=["42"] * 2)


@pytest.mark.parametrize("cell", [float("nan"), None, "", numpy.float32("nan")])
@pytest.mark.parametrize("name", ["solution", "ground_truth"])
def test_an_empty_cell_is_told_beside_rows_that_have_one(name: str, cell: Any) -> None:
    # it was asked whether that column holds the answer
    with pytest.raises(JudgeError, match=f"'{name}' is empty: fill its cell, or drop the row"):
        ms_swift.orm(CONFIG)()([RIGHT] * 2, **{name: ["42", cell]})
