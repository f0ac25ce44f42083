"""What each judge of form and short answers says: its reward with its reason, and what it asks of a task."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask
from tests.text_judges import built

# each row: a judge and its settings, a task's metadata, an answer, then the reward, whether it is a success, and why
VERDICTS: list[tuple[str, dict[str, Any], dict[str, Any], str, float, bool, str]] = [
    ("choice", {}, {"answer": "B"}, "The answer is B.", 1.0, True, "chosen 'B', right is 'B'"),
    ("choice", {}, {"answer": "B"}, "The answer is C.", 0.0, False, "chosen 'C', right is 'B'"),
    ("choice", {}, {"answer": "B"}, "I do not know.", 0.0, False, "no choice is stated"),
    (
        "instruction",
        {},
        {"instruction_id_list": ["punctuation:no_comma", "change_case:english_lowercase"], "kwargs": [{}, {}]},
        "all lower, one comma",
        0.0,
        False,
        "1 of 2 instructions followed, not punctuation:no_comma",
    ),
    (
        "instruction",
        {},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
        "none",
        1.0,
        True,
        "1 of 1 instructions followed",
    ),
    (
        "instruction",
        {"reward": "fraction"},
        {"instruction_id_list": ["punctuation:no_comma", "change_case:english_lowercase"], "kwargs": [{}, {}]},
        "all lower, one comma",
        0.5,
        False,
        "1 of 2 instructions followed, not punctuation:no_comma",
    ),
    ("json_answer", {}, {"answer": {"a": 1, "b": 2}}, '{"a":1,"b":3}', 0.5, False, "wrong or missing: 'b'"),
    ("json_answer", {}, {"answer": {"a": 1, "b": 2}}, '{"a":1,"b":2}', 1.0, True, "all of 2 fields are right"),
    (
        "json_answer",
        {},
        {"answer": {"a": 1, "b": 2}},
        "no json",
        0.0,
        False,
        "not JSON: Expecting value at character 0",
    ),
    ("language", {"language": "zh"}, {}, "答案是 four", 0.75, False, "3 of 4 words are written as 'zh' is"),
    ("language", {"language": "en"}, {}, "42", 0.0, False, "no words, only code or signs"),
    (
        "length",
        {"soft": 5, "hard": 9, "unit": "chars"},
        {},
        "1234567",
        -0.5,
        False,
        "7 chars, soft limit 5, hard limit 9",
    ),
    ("length", {"soft": 5, "hard": 9, "unit": "chars"}, {}, "12345", 0.0, True, "5 chars, soft limit 5, hard limit 9"),
    (
        "length",
        {"soft": 5, "hard": 9, "unit": "chars"},
        {},
        "1234567890",
        -1.0,
        False,
        "10 chars, soft limit 5, hard limit 9",
    ),
    ("repetition", {}, {}, "a b c a b c a b c", -4 / 7, False, "4 of 7 3-grams stood before"),
    ("repetition", {}, {}, "one two three four five", 0.0, True, "0 of 3 3-grams stood before"),
    ("text_match", {}, {"answer": "Paris"}, "paris.", 1.0, True, "an exact match"),
    ("text_match", {}, {"answer": "Paris"}, "London", 0.0, False, "no exact match, F1 0.000"),
    ("text_match", {"metric": "f1"}, {"answer": "the big city"}, "a big town", 0.5, False, "no exact match, F1 0.500"),
    (
        "tool_call",
        {},
        {"answer": [{"name": "f", "arguments": {"x": 1}}]},
        '<tool_call>{"name":"f","arguments":{"x":1}}</tool_call>',
        1.0,
        True,
        "1 of 1 expected calls, 1 made",
    ),
    (
        "tool_call",
        {},
        {"answer": [{"name": "f", "arguments": {"x": 1}}]},
        '<tool_call>{"name":"g","arguments":{"x":1}}</tool_call>',
        0.0,
        False,
        "0 of 1 expected calls, 1 made",
    ),
    (
        "tool_call",
        {},
        {"answer": [{"name": "f", "arguments": {"x": 1}}]},
        "none",
        0.0,
        False,
        "0 of 1 expected calls, 0 made",
    ),
    ("format", {"boxed": True}, {}, "so \\boxed{3}", 1.0, True, "the required shape"),
    ("format", {"boxed": True}, {}, "so 3", 0.0, False, "no \\boxed{}"),
    (
        "format",
        {"tags": ["think", "answer"]},
        {},
        "<think>a</think><answer>b</answer>",
        1.0,
        True,
        "the required shape",
    ),
    ("format", {"tags": ["think", "answer"]}, {}, "<think>a</think>", 0.0, False, "no <answer>"),
    ("format", {"json_schema": {"type": "object"}}, {}, "[1]", 0.0, False, "[1] is not of type 'object'"),
]
# each row: a judge and its settings, a task's metadata, and how the problem begins that the judge has with the task
TASKS: list[tuple[str, dict[str, Any], dict[str, Any], str | None]] = [
    ("choice", {}, {}, "missing: the reference answer must be a letter, or several, as text, got None"),
    (
        "choice",
        {},
        {"answer": None},
        "missing: the reference answer must be a letter, or several, as text, got None",
    ),
    ("choice", {}, {"answer": "Z"}, "unreadable: the reference answer 'Z' is none of 'ABCDEFGH'"),
    ("choice", {}, {"answer": "B"}, None),
    ("instruction", {}, {}, "missing: the task's instruction_id_list must list 1 to 32 instructions, got None"),
    (
        "instruction",
        {},
        {"instruction_id_list": []},
        "missing: the task's instruction_id_list must list 1 to 32 instructions, got []",
    ),
    (
        "instruction",
        {},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": []},
        "unreadable: the task's kwargs must list one mapping for each of 1 instructions, got []",
    ),
    ("json_answer", {}, {}, "missing: the reference answer is missing, the task's metadata has []"),
    (
        "json_answer",
        {},
        {"answer": None},
        "missing: the reference answer is missing, the task's metadata has ['answer']",
    ),
    (
        "json_answer",
        {},
        {"answer": "{"},
        "unreadable: the reference answer '{' cannot be read: not JSON: Expecting property name",
    ),
    ("json_answer", {}, {"answer": {"a": 1}}, None),
    (
        "language",
        {"language": "task.metadata.lang"},
        {},
        "missing: task.metadata.lang is missing: task.metadata has no 'lang', only []",
    ),
    (
        "language",
        {"language": "task.metadata.lang"},
        {"lang": None},
        "unreadable: task.metadata.lang: None is none of ar, be, bg, bn, cs, da, de, el, en, es,",
    ),
    (
        "language",
        {"language": "task.metadata.lang"},
        {"lang": "xx"},
        "unreadable: task.metadata.lang: 'xx' is none of ar, be, bg, bn, cs, da, de, el, en, es,",
    ),
    ("language", {"language": "task.metadata.lang"}, {"lang": "zh"}, None),
    ("text_match", {}, {}, "missing: the reference answer must be text, or a list of texts, got None: a missing"),
    (
        "text_match",
        {},
        {"answer": None},
        "missing: the reference answer must be text, or a list of texts, got None: a missing",
    ),
    (
        "text_match",
        {},
        {"answer": ""},
        "missing: the reference answer must be text, or a list of texts, got '': a missing cell",
    ),
    ("text_match", {}, {"answer": "a"}, None),
    ("tool_call", {}, {}, "missing: the reference answer None: a list of calls is needed, [] where none is expected"),
    (
        "tool_call",
        {},
        {"answer": None},
        "missing: the reference answer None: a list of calls is needed, [] where none is expected",
    ),
    (
        "tool_call",
        {},
        {"answer": "x"},
        "unreadable: the reference answer 'x': Expecting value: line 1 column 1 (char 0)",
    ),
    ("tool_call", {}, {"answer": []}, None),
    ("tool_call", {}, {"answer": [{"name": "f"}]}, None),
]


@pytest.mark.parametrize(("name", "settings", "metadata", "answer", "reward", "success", "reason"), VERDICTS)
def test_a_verdict_says_why(
    name: str,
    settings: dict[str, Any],
    metadata: dict[str, Any],
    answer: str,
    reward: float,
    success: bool,
    reason: str,
) -> None:
    task, output = WorkflowTask(task=Task(metadata=metadata)), WorkflowOutput(metadata={"final_answer": answer})
    verdict = built(name, **settings).judge(task, output)
    assert verdict.reward == pytest.approx(reward)
    assert (verdict.is_success, verdict.reason) == (success, reason)


@pytest.mark.parametrize(("name", "settings", "metadata", "problem"), TASKS)
def test_a_task_that_cannot_be_judged_is_told_by_its_kind(
    name: str, settings: dict[str, Any], metadata: dict[str, Any], problem: str | None
) -> None:
    found = built(name, **settings).inner.check_task(Task(metadata=metadata))
    assert (found is None) is (problem is None)
    assert str(found).startswith(str(problem))
