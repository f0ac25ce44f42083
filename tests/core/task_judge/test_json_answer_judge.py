"""JsonAnswerJudge: fields by hand, values that only look equal, and JSON that is not one value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_tuner import ConfigError, Task
from tests.text_judges import MISSING, ask, ask_hostile, built

ADA = {"name": "Ada", "year": 1815, "alive": False}


@pytest.mark.parametrize(
    ("kwargs", "text", "reward", "success"),
    [
        ({}, json.dumps(ADA), 1.0, True),
        ({}, '{"alive": false, "year": 1815.0, "name": "Ada"}', 1.0, True),
        ({}, '{"name": "Ada", "year": 1816, "alive": false}', 2 / 3, False),
        ({}, '{"name": "Ada"}', 1 / 3, False),
        ({}, "{}", 0.0, False),
        # a field that is not asked for is one wrong field more: 3 of 4
        ({}, '{"name": "Ada", "year": 1815, "alive": false, "born": 1815}', 0.75, False),
        ({}, '{"Name": "Ada", "name": "Ada", "year": 1815, "alive": false}', 0.75, False),
        ({"partial": False}, '{"name": "Ada", "year": 1816, "alive": false}', 0.0, False),
        ({"partial": False}, json.dumps(ADA), 1.0, True),
        # weights: 2 of 3, and fields that are not named count for nothing
        ({"fields": {"name": 2.0, "year": 1.0}}, '{"name": "Ada", "year": 1}', 2 / 3, False),
        ({"fields": {"name": 2.0, "year": 1.0}}, '{"name": "Ada", "year": 1815}', 1.0, True),
        ({"fields": {"name": 2.0, "year": 1.0}}, '{"name": "Ada", "year": 1815, "alive": true}', 1.0, True),
        # one added field of the mean weight, 1.5: 3 of 4.5
        ({"fields": {"name": 2.0, "year": 1.0}}, '{"name": "Ada", "year": 1815, "x": 1}', 2 / 3, False),
        ({}, f"```json\n{json.dumps(ADA)}\n```", 1.0, True),
        ({}, f"Here:\n```\n{json.dumps(ADA)}\n```\nDone.", 1.0, True),
        ({"allow_fence": False}, f"```json\n{json.dumps(ADA)}\n```", 0.0, False),
        ({}, f"<think>{{}}</think>\n{json.dumps(ADA)}", 1.0, True),
        ({}, f"<answer>{json.dumps(ADA)}</answer>", 1.0, True),
        ({}, f"So:\n<answer>\n```json\n{json.dumps(ADA)}\n```\n</answer>", 1.0, True),
    ],
)
def test_fields_by_hand(kwargs: dict[str, Any], text: str, reward: float, success: bool) -> None:
    judgement = ask(built("json_answer", **kwargs), text, ADA)
    assert judgement.reward == pytest.approx(reward)
    assert judgement.is_success is success


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"answer": 4}', ', an object that holds it: write the reference as {"answer": 4}'),
        ('{"answer": 5}', "the answer's is {'answer': 5}"),
        ('{"answer": 4, "or": 5}', "the answer's is {'answer': 4, 'or': 5}"),
        ("5", "the answer's is 5"),
    ],
)
def test_an_object_around_the_reference_is_told_how_the_reference_is_written(text: str, told: str) -> None:
    judgement = ask(built("json_answer"), text, 4)
    assert (judgement.reward, judgement.reason.endswith(told)) == (0.0, True), judgement.reason


@pytest.mark.parametrize(
    ("reference", "text", "reward"),
    [
        ({"n": 1}, '{"n": true}', 0.0),
        ({"n": True}, '{"n": 1}', 0.0),
        ({"n": 0}, '{"n": false}', 0.0),
        ({"n": None}, '{"n": null}', 1.0),
        ({"n": None}, "{}", 0.0),
        ({"n": 1}, '{"n": "1"}', 0.0),
        ({"n": 0.1}, '{"n": 0.1}', 1.0),
        ({"n": 0.1}, '{"n": 0.10}', 1.0),
        ({"n": 0.1}, '{"n": 0.1000000000000000055511151231257827}', 0.0),
        ({"n": 2**53 + 1}, '{"n": 9007199254740993}', 1.0),
        ({"n": 2**53 + 1}, '{"n": 9007199254740992}', 0.0),
        ({"n": 100}, '{"n": 1e2}', 1.0),
        ({"s": "Ada"}, '{"s": "ada"}', 0.0),
        # a label within a value announces no other answer
        ({"s": "The answer is 4"}, '<answer>{"s": "The answer is 4"}</answer>', 1.0),
        ({"s": "é"}, '{"s": "\\u00e9"}', 1.0),
        ({"l": [1, 2]}, '{"l": [2, 1]}', 0.0),
        ({"l": [1, 2]}, '{"l": [1, 2]}', 1.0),
        ({"o": {"a": 1, "b": [True]}}, '{"o": {"b": [true], "a": 1}}', 1.0),
        ({"o": {"a": 1, "b": [True]}}, '{"o": {"b": [1], "a": 1}}', 0.0),
        ('{"n": 0.1}', '{"n": 0.1}', 1.0),
        ([1, 2], "[1, 2]", 1.0),
        ([1, 2], "[1]", 0.0),
        (42, "42", 1.0),
        (42, "true", 0.0),
        ('"Paris"', '"Paris"', 1.0),
        ({"n": 1}, "[1]", 0.0),
    ],
)
def test_values_are_equal_only_where_they_are(reference: Any, text: str, reward: float) -> None:
    judgement = ask(built("json_answer"), text, reference)
    assert (judgement.reward, judgement.is_success) == (reward, reward == 1.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ada, 1815",
        '{"name": "Bob", "name": "Ada", "year": 1815, "alive": false}',
        f"{json.dumps(ADA)}{json.dumps(ADA)}",
        f"{json.dumps(ADA)} {{}}",
        f"[{json.dumps(ADA)}]",
        f"```\n{json.dumps(ADA)}\n```\n```\n{json.dumps(ADA)}\n```",
        f"```\n{json.dumps(ADA)}",
        f"<answer>{json.dumps(ADA)}</answer><answer>{{}}</answer>",
        f"<think>{json.dumps(ADA)}</think>",
        json.dumps(ADA)[:-1],
        "{'name': 'Ada', 'year': 1815, 'alive': false}",
        '{"name": "Ada", "year": NaN, "alive": Infinity',
        '{"name": "Ada", "year": 1815, "alive": false,}',
        json.dumps(json.dumps(ADA)),
    ],
)
def test_what_is_not_one_object_is_not_paid(text: str) -> None:
    judgement = ask(built("json_answer"), text, ADA)
    assert (judgement.reward, judgement.is_success) == (0.0, False)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (MISSING, "missing"),
        (None, "missing"),
        ("", "unreadable"),
        ("Ada", "unreadable"),
        (float("nan"), "unreadable"),
        ({"n": float("inf")}, "unreadable"),
        ({1: 2}, "unreadable"),
        ({"n": {1, 2}}, "unreadable"),
        ('{"a": 1, "a": 2}', "unreadable"),
        ({}, "unreadable"),
    ],
)
def test_a_reference_that_is_no_json_is_no_verdict(answer: Any, kind: str) -> None:
    judge = built("json_answer")
    failed = ask(judge, "{}", answer)
    assert (failed.status, failed.reward, failed.cause) == ("failed", None, "reference")
    task = Task(metadata={} if answer is MISSING else {"answer": answer})
    assert str(judge.inner.check_task(task)).startswith(f"{kind}: ")


def test_a_reference_without_a_named_field_is_no_verdict() -> None:
    failed = ask(built("json_answer", fields={"town": 1.0}), "{}", ADA)
    assert (failed.status, failed.cause) == ("failed", "reference")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10**6,
        '{"a":' * 200_000,
        '{"name": "Ada"' + ', "x": 1' * 110_000 + "}",
        "{" + ", ".join(f'"k{n}": {n}' for n in range(60_000)) + "}",
        '{"name": ' + "9" * 990_000 + "}",
        '{"name": 1e' + "9" * 990_000 + "}",
        '{"name": 1e999999999, "year": 1e-999999999}',
        '"\\' * 500_000,
        "```\n" * 250_000,
        '{"name": [' + "[]," * 300_000 + "[]]}",
    ],
    ids=lambda text: f"{text[:10]}…",
)
@pytest.mark.slow
def test_a_hostile_megabyte_is_read_in_time(text: str) -> None:
    judgement = ask_hostile(built("json_answer"), text, ADA)
    assert judgement.reward is not None
    assert judgement.reward < 0.1


@pytest.mark.parametrize(
    "kwargs", [{"fields": {}}, {"fields": {"a": 0.0}}, {"fields": {"a": -1.0}}, {"fields": ["a"]}, {"fence": True}]
)
def test_impossible_settings_are_refused_at_load(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="judge_kwargs"):
        built("json_answer", **kwargs)
