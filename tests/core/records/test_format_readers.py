"""What each trainer's reader makes of a row: the query, the metadata and the answer, whole; and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentscope_tuner.adapters.verl import pair_of
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.formats import FORMATS, dumped_judgement, mapped_judgement
from agentscope_tuner.records.formats.plain import plain_text
from agentscope_tuner.records.formats.sample import (
    final_text,
    ground_truth_metadata,
    id_of,
    message_text,
    without_end_markers,
    without_nan,
)
from agentscope_tuner.records.formats.trainers import read_verl

CHAT = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": "a"},
    {"role": "user", "content": "q"},
]
SAID = [{"role": "assistant", "content": "a"}]
TOOL = {"role": "tool", "content": "4"}


def read(name: str, row: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str]:
    """The query, the task's metadata, the final answer; the output has the metadata too."""
    pair, output = FORMATS[name](row)
    more = {key: value for key, value in output.metadata.items() if key not in ("final_answer", "messages")}
    assert more == pair.task.metadata
    return pair.task.main_query, pair.task.metadata, output.metadata["final_answer"]


@pytest.mark.parametrize(
    ("name", "row", "metadata"),
    [
        ("trl", {"prompt": "q", "completion": "a", "solution": "1"}, {"answer": "1", "solution": "1"}),
        ("trl", {"question": "q", "completion": "a"}, {"question": "q"}),
        ("trl", {"messages": [*CHAT, *SAID], "level": 2}, {"level": 2}),
        ("trl", {"prompt": "q", "completion": "a", "messages": "of another kind"}, {}),
        (
            "verl",
            {"data_source": "d", "prompt": CHAT, "reward_model": {"ground_truth": "1"}, "response": ["a"],
             "extra_info": {"index": 7, "answer": "worked", "data_source": "inner"}},
            {"data_source": "inner", "index": 7, "answer": "1", "task_id": "d/7",
             "reward_model": {"ground_truth": "1"}},
        ),
        ("verl", {"input": "q", "output": "a", "gts": "1", "score": 1.0}, {"gts": "1", "score": 1.0, "answer": "1"}),
        ("verl", {"input": "q", "output": "a", "ground_truth": 1, "extra_info": 3}, {"ground_truth": 1, "answer": 1}),
        ("verl", {"prompt": "q", "output": "a", "extra_info": {"index": 7}}, {"index": 7}),
        (
            "verl",
            {"data_source": "d", "prompt": "q", "output": "a", "extra_info": {"index": 0, "task_id": "mine"}},
            {"data_source": "d", "index": 0, "task_id": "mine"},
        ),
        ("openrlhf", {"prompt": "q", "response": "a</s>", "label": "1", "level": 2},
         {"label": "1", "level": 2, "answer": "1"}),
        ("openrlhf", {"question": "q", "completion": "a", "answer": "1"}, {"answer": "1"}),
        ("openrlhf", {"query": ["qa</s>"], "prompts": ["q"], "labels": ['{"target": 3}']},
         {"label": '{"target": 3}', "answer": '{"target": 3}', "target": 3}),
        ("nemo-gym", {"responses_create_params": {"input": "q"}, "response": {"output": SAID}, "expected_answer": "1",
                      "verifier_metadata": {"level": 2, "expected_answer": "0"}},
         {"level": 2, "expected_answer": "1", "answer": "1"}),
        ("nemo-gym", {"responses_create_params": {"input": [*CHAT, {"type": "function_call"}, 3]},
                      "response": {"output": [{"type": "reasoning"}, {"type": "message", "content": "a"}]}}, {}),
        ("slime", {"prompt": "q", "response": "a</s>", "label": None, "answer": "0", "metadata": {"answer": "1"}},
         {"answer": "1"}),
        ("slime", {"messages": CHAT, "response": "a", "answer": "1", "group_index": 0},
         {"label": "1", "task_id": "group/0", "answer": "1"}),
        ("slime", {"input": "q", "response": "a", "label": 1, "group_index": 3,
                   "metadata": {"task_id": "mine", "judgement": {}}}, {"label": 1, "task_id": "mine", "answer": 1}),
        ("trinity", {"eid": {"task": 2, "batch": 4}, "info": {"truth": "1"}, "prompt_text": "q",
                     "response_text": "a</s>"}, {"truth": "1", "task_id": "4/2", "step": 4, "answer": "1"}),
        ("trinity", {"eid": {"task": 0}, "info": {"answer": "1", "truth": "2"}, "prompt_text": "q",
                     "response_text": "a"}, {"answer": "1", "truth": "2", "task_id": "0"}),
        ("trinity", {"eid": {"task": "", "batch": ""}, "info": 3, "messages": [*CHAT, *SAID]}, {}),
        ("trinity", {"eid": {"task": 2, "batch": 4}, "info": {"task_id": "mine", "step": 1}, "prompt_text": "q",
                     "response_text": "a"}, {"task_id": "mine", "step": 1}),
    ],
)  # fmt: skip
def test_a_row_becomes_a_task_with_its_metadata(name: str, row: dict[str, Any], metadata: dict[str, Any]) -> None:
    assert read(name, row) == ("q", metadata, "a")


@pytest.mark.parametrize(
    ("name", "row", "answer"),
    [
        ("trl", {"prompt": "q", "completion": [*SAID, TOOL]}, ""),
        ("trl", {"messages": [*CHAT, *SAID, TOOL, {"role": "assistant", "content": "b"}]}, "b"),
        ("trinity", {"messages": [*CHAT, *SAID, TOOL]}, ""),
        (
            "nemo-gym",
            {"responses_create_params": {"input": "q"}, "response": {"output": [*SAID, {"type": "call"}]}},
            "",
        ),
        ("nemo-gym", {"responses_create_params": {"input": "q"}, "response": {"output": []}}, ""),
    ],
)
def test_an_episode_that_ends_in_a_call_has_no_answer(name: str, row: dict[str, Any], answer: str) -> None:
    assert read(name, row) == ("q", {}, answer)


@pytest.mark.parametrize(
    ("name", "row", "words"),
    [
        ("trl", {"prompt": 3, "completion": "a"}, "prompt must be a text or chat messages, got 3"),
        ("trl", {"prompt": "q", "completion": None}, "the row's 'completion' is null"),
        ("verl", {"prompt": "q", "response": ["a", "b"]}, "response must be a text, got ['a', 'b']"),
        (
            "openrlhf",
            {"query": ["qa"], "prompts": ["q", "q"], "labels": 3},
            "OpenRLHF sends lists of one query, one prompt and one label, got "
            "{'query': '1 values', 'prompts': '2 values', 'labels': 'int'}",
        ),
        (
            "openrlhf",
            {"query": [3], "prompts": ["q"], "labels": ["1"]},
            "query and prompt must be str, got int and str",
        ),
        (
            "nemo-gym",
            {"responses_create_params": {}, "response": 3},
            "/verify takes responses_create_params and response, two objects, got "
            "['response', 'responses_create_params']",
        ),
        (
            "nemo-gym",
            {"responses_create_params": {}, "response": {"output": [3]}},
            "response.output must be a list of objects, got [3]",
        ),
        (
            "nemo-gym",
            {"responses_create_params": {"input": 3}, "response": {"output": []}},
            "responses_create_params.input must be a str or a list, got int",
        ),
        ("slime", {"prompt": [3], "response": "a"}, "a sample's prompt must be a str or chat messages, got [3]"),
        ("slime", {"prompt": "q", "response": 3}, "a sample's response must be a str, got 3"),
        (
            "trinity",
            {"eid": {}, "prompt_text": "q"},
            "an experience needs prompt_text and response_text, or messages, got ['eid', 'prompt_text']",
        ),
    ],
)
def test_a_row_of_another_shape_is_refused_in_words(name: str, row: dict[str, Any], words: str) -> None:
    with pytest.raises(JudgeError) as caught:
        FORMATS[name](row)
    assert str(caught.value) == words
    assert caught.value.cause is Cause.INPUT or name in ("openrlhf", "nemo-gym")


JUDGED = {"status": "judged", "is_success": None}


@pytest.mark.parametrize(
    ("name", "row", "verdict"),
    [
        ("trl", {"a": 1, "b": 0.5, "c": True, "step": 9, "index": 9, "idx": 9, "id": 9, "advantage": 9, "t": "1"}, 1.5),
        ("trl", {"reward": 2, "a": 1}, 2.0),
        ("trl", {"prompt": "q"}, None),
        # a data set's own numbers, of which the reward was the sum
        ("trl", {"prompt": "q", "completion": "a", "answer": 4, "level": 3}, None),
        ("trl", {"reward": float("nan"), "level": 3}, "the dump holds no reward for this sample"),
        ("trl", {"advantage": 1.0}, "the dump holds no reward for this sample"),
        ("trl", {"reward": "2", "advantage": 1.0}, "the dump holds no reward for this sample"),
        ("verl", {"score": "0.5", "reward": 1}, 0.5),
        ("verl", {"reward": 1}, 1.0),
        ("verl", {"rewards": 1}, None),
        ("verl", {"score": "high"}, "the dump holds no reward for this sample"),
        ("openrlhf", {"rewards": 1, "score": 2}, 1.0),
        ("openrlhf", {"score": 2}, 2.0),
        ("nemo-gym", {"reward": 1.0, "mask_sample": True, "failure_reason": "down"}, "down"),
        ("nemo-gym", {"reward": 1.0, "mask_sample": True}, "the trainer masked this sample"),
        ("nemo-gym", {"reward": 1.0, "mask_sample": False}, 1.0),
        ("slime", {"reward": float("inf")}, "the dump holds no reward for this sample"),
        ("trinity", {"reward": True}, "the dump holds no reward for this sample"),
    ],
)
def test_a_dumped_reward_is_a_verdict_and_its_absence_a_failed_one(
    name: str, row: dict[str, Any], verdict: float | str | None
) -> None:
    if verdict is None:
        assert dumped_judgement(name, row) is None
    elif isinstance(verdict, float):
        assert dumped_judgement(name, row) == {**JUDGED, "reward": verdict, "reason": f"as {name} dumped it"}
    else:
        failed = {"status": "failed", "reward": None, "is_success": None, "cause": "input"}
        assert dumped_judgement(name, row) == {**failed, "reason": verdict, "error": verdict}


@pytest.mark.parametrize(
    ("row", "success"),
    [
        ({"acc": 0.0, "success": True}, False),
        ({"acc": "1", "is_success": True}, True),
        ({"success": 1}, True),
        ({"is_correct": 0}, False),
        ({}, None),
    ],
)
def test_success_is_the_first_column_that_tells_it(row: dict[str, Any], success: bool | None) -> None:
    judgement = dumped_judgement("verl", {"score": 1, **row})
    assert judgement is not None
    assert judgement["is_success"] is success


def test_the_reward_of_a_named_column_is_a_number_or_a_failed_verdict() -> None:
    assert mapped_judgement("0.5") == {**JUDGED, "reward": 0.5, "reason": "as the named column says"}
    assert mapped_judgement([1])["reason"] == "the named column holds no number, but [1]"


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"id": "a", "uid": "b"}, "a"),
        ({"uid": "b", "request_id": "c"}, "b"),
        ({"request_id": "c", "index": 1}, "c"),
        ({"index": 1, "idx": 2}, "1"),
        ({"idx": 2.0}, "2"),
        ({"id": "", "idx": 2}, "2"),
        ({"id": True, "idx": 2.5}, "otherwise"),
    ],
)
def test_the_first_column_that_names_a_row_is_its_id(row: dict[str, Any], name: str) -> None:
    assert id_of(row, "otherwise") == name


@pytest.mark.parametrize(
    ("truth", "metadata"),
    [
        ('{"target": 24, "answer": 3}', {"target": 24, "answer": 3}),
        (' {"target": 24}', {"target": 24, "answer": ' {"target": 24}'}),
        ({"target": (1, 2)}, {"target": [1, 2], "answer": {"target": [1, 2]}}),
        ("{broken", {"answer": "{broken"}),
        ("[1]", {"answer": "[1]"}),
        ('{"a": "' + "x" * 9_991 + '"}', {"a": "x" * 9_991, "answer": '{"a": "' + "x" * 9_991 + '"}'}),
        ('{"a": "' + "x" * 9_992 + '"}', {"answer": '{"a": "' + "x" * 9_992 + '"}'}),
        (None, {"answer": None}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_ground_truth_is_an_answer_and_the_fields_of_a_record(truth: object, metadata: dict[str, Any]) -> None:
    assert ground_truth_metadata(truth) == metadata


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        ([{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}, {"text": "c"}], "abc"),
        (
            [{"type": "input_text", "text": "a"}, {"type": "thinking", "text": "b"}, "c", {"type": "text", "text": 4}],
            "ac",
        ),
        (None, ""),
    ],
)
def test_only_a_messages_text_is_its_text(content: object, text: str) -> None:
    assert message_text(content) == text


def test_a_cell_that_holds_no_text_is_shown_as_it_is() -> None:
    turns = [{"role": "assistant", "content": 3}]
    assert plain_text(turns) == str(turns)


def test_what_the_policy_said_last_is_its_answer() -> None:
    assert (final_text("a"), final_text([]), final_text(SAID), final_text([*SAID, TOOL])) == ("a", "", "a", "")
    assert without_end_markers("a</s><|im_end|><eos>") == "a"
    assert without_end_markers("</s>a ") == "</s>a "


def test_empty_cells_are_left_out_and_leave_gaps_in_lists() -> None:
    nan = float("nan")
    assert without_nan({1: nan, "a": [nan, {"b": nan, "c": 0.5}], "d": "nan"}) == {"a": [None, {"c": 0.5}], "d": "nan"}


@pytest.mark.parametrize(
    ("index", "task_id"),
    # a data frame with a missing cell makes 3 of it 3.0; all rows without an index were one group, `d/nan`
    [(3, "d/3"), (3.0, "d/3"), ("a", "d/a"), (float("nan"), None), (None, None), ("", None)],
)
def test_an_index_is_one_id_in_verls_dumps_and_in_its_adapter(index: object, task_id: str | None) -> None:
    row = {"data_source": "d", "prompt": "q", "output": "a", "extra_info": {"index": index}, "ground_truth": "1"}
    dumped, _ = read_verl(row)
    trained, _ = pair_of("d", "a", "1", {"index": index, "question": "q"})
    for task in (dumped.task.task_id, trained.task.task_id):
        assert task == task_id if task_id else not task.startswith("d/")
