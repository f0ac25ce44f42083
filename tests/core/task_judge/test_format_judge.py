"""FormatJudge: each shape, its honest relatives, and what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner import ConfigError
from tests.text_judges import ask, ask_hostile, built

R1 = {"tags": ["think", "answer"]}
GOOD = "<think>2 + 2 is 4</think><answer>4</answer>"


@pytest.mark.parametrize("text", [GOOD, "\n <think>\na\n</think>\n\n<answer>\n4\n</answer>\n", f"{GOOD}\n"])
def test_the_shape_of_deepseek_r1_is_paid(text: str) -> None:
    judgement = ask(built("format", **R1), text)
    assert (judgement.reward, judgement.is_success) == (1.0, True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no <think>"),
        ("4", "no <think>"),
        ("<answer>4</answer>", "'<answer>' where <think> is due"),
        ("<think>a</think>", "no <answer>"),
        ("<think>a</think><answer>4", "no </answer>"),
        ("<answer>4</answer><think>a</think>", "'<answer>' where <think>"),
        # tags inside tags
        ("<think>a<answer>4</answer></think>", "'<answer>' where </think>"),
        ("<think><think>a</think></think><answer>4</answer>", "'<think>' where </think>"),
        ("<think>a</think><answer>4<think>b</think></answer>", "'<think>' where </answer>"),
        # twice: whoever reads the answer could take either
        (f"{GOOD}<answer>5</answer>", "after the last"),
        ("<think>a</think><answer>4</answer><answer>4</answer>", "after the last"),
        ("<think>a <answer>5</answer> b</think><answer>4</answer>", "where </think>"),
        # other spellings, which readers of answers take for tags
        ("<think>a</think><answer>41<Answer >42</Answer></answer>", "'<Answer >' where"),
        ("<THINK>a</THINK><answer>4</answer>", "'<THINK>' where"),
        ("<think >a</think><answer>4</answer>", "where <think>"),
        ('<think>a</think><answer class="x">4</answer>', "where <answer>"),
        # words outside of the tags
        (f"Sure! {GOOD}", "'Sure!' stands outside"),
        (f"{GOOD} Done.", "'Done.' stands outside"),
        ("<think>a</think> so <answer>4</answer>", "'so' stands outside"),
        (f"```\n{GOOD}\n```", "code block"),
        # nothing inside of them
        ("<think></think><answer>4</answer>", "nothing before </think>"),
        ("<think>a</think><answer> \n</answer>", "nothing before </answer>"),
        ("<think>\u200b</think><answer>4</answer>", "nothing before </think>"),
    ],
)
def test_what_only_looks_like_the_shape_is_not_paid(text: str, reason: str) -> None:
    judgement = ask(built("format", **R1), text)
    assert (judgement.reward, judgement.is_success) == (0.0, False)
    assert reason in judgement.reason


@pytest.mark.parametrize(
    ("kwargs", "text", "reward"),
    [
        (R1 | {"allow_empty": True}, "<think>\n\n</think><answer>4</answer>", 1.0),
        (R1 | {"allow_around": True}, f"Sure! {GOOD} Done.", 1.0),
        (R1 | {"allow_around": True}, f"{GOOD}{GOOD}", 0.0),
        # an example of the shape is not the shape
        (R1 | {"allow_around": True}, f"Like this:\n```\n{GOOD}\n```\n", 0.0),
        (R1 | {"allow_around": True}, f"```\ncode\n```\n{GOOD}", 1.0),
        (R1 | {"opened_in_prompt": True}, "2 + 2 is 4</think><answer>4</answer>", 1.0),
        (R1 | {"opened_in_prompt": True}, GOOD, 0.0),
        (R1 | {"opened_in_prompt": True}, "</think><answer>4</answer>", 0.0),
        ({"tags": ["think"], "allow_around": True}, "<think>a</think>4", 1.0),
        # a tag of another name is text
        (R1, "<think>a <b>bold</b> <thinking-cap></think><answer>4</answer>", 1.0),
        ({"boxed": True}, r"So \boxed{4}.", 1.0),
        ({"boxed": True}, r"So \boxed{\frac{1}{2}}.", 1.0),
        ({"boxed": True}, r"So \boxed{4} or \boxed{5}.", 0.0),
        ({"boxed": True}, r"So \boxed{4}, that is \boxed{4}.", 0.0),
        ({"boxed": True}, r"So \boxed{4}, \fbox{5}.", 0.0),
        ({"boxed": True}, r"So \boxed{\boxed{4}}.", 0.0),
        ({"boxed": True}, r"So \boxed{}.", 0.0),
        ({"boxed": True}, "So \\boxed{\u200b}.", 0.0),
        ({"boxed": True}, r"So \boxed{4", 0.0),
        ({"boxed": True}, "So 4.", 0.0),
        # a box in the reasoning is a guess, and no second box
        ({"boxed": True}, r"<think>\boxed{3}?</think>\boxed{4}", 1.0),
        ({"boxed": True}, r"<think>\boxed{3}</think>4", 0.0),
        (R1 | {"boxed": True}, r"<think>\boxed{3}</think><answer>\boxed{4}</answer>", 1.0),
        (R1 | {"boxed": True}, r"<think>\boxed{4}</think><answer>4</answer>", 0.0),
    ],
)
def test_tags_and_boxes_as_configured(kwargs: dict[str, Any], text: str, reward: float) -> None:
    assert ask(built("format", **kwargs), text).reward == reward


PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"name": "Ada", "age": 36}', ""),
        (' {"age": 36.0, "name": "艾达"}\n', ""),
        ("", "not JSON"),
        ("Ada is 36.", "not JSON"),
        ('{"name": "Ada", "age": 36', "not JSON"),
        ('{"name": "Ada", "age": 36} {"name": "Ada", "age": 36}', "not JSON"),
        ('{"name": "Ada", "age": 36, "age": 37}', "'age' stands twice"),
        ('{"name": "Ada", "age": true}', "not of type 'integer'"),
        ('{"name": "Ada", "age": NaN}', "NaN"),
        ('{"name": "Ada", "age": 1e999}', "over the bounds"),
        ('{"name": "Ada", "age": -1}', "minimum"),
        ('{"name": "Ada", "age": "36"}', "not of type 'integer'"),
        ('{"name": "Ada", "age": 36, "x": 1}', "additional property 'x'"),
        ('{"name": "Ada"}', "required property"),
        ('```json\n{"name": "Ada", "age": 36}\n```', "not JSON"),
    ],
)
def test_json_is_valid_against_the_schema(text: str, reason: str) -> None:
    judgement = ask(built("format", json_schema=PERSON), text)
    assert judgement.reward == (0.0 if reason else 1.0)
    assert reason in judgement.reason


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ('```json\n{"name": "Ada", "age": 36}\n```', 1.0),
        ('Here you are:\n```\n{"name": "Ada", "age": 36}\n```\nAnything else?', 1.0),
        ('{"name": "Ada", "age": 36}', 1.0),
        ('```json\n{"name": "Ada", "age": 36}\n```\n```json\n{"name": "Bob", "age": 36}\n```', 0.0),
        ('```json\n{"name": "Ada", "age": 36}', 0.0),
        ('<think>{"name": 1}</think>{"name": "Ada", "age": 36}', 1.0),
    ],
)
def test_a_code_block_where_it_is_allowed(text: str, reward: float) -> None:
    assert ask(built("format", json_schema=PERSON, allow_fence=True), text).reward == reward


def test_json_inside_of_the_last_tag() -> None:
    judge = built("format", **R1, json_schema=PERSON)
    assert ask(judge, '<think>a</think><answer>{"name": "Ada", "age": 36}</answer>').reward == 1.0
    assert ask(judge, "<think>a</think><answer>Ada</answer>").reward == 0.0


@pytest.mark.parametrize(
    ("schema", "text", "reward"),
    [
        ({}, "[1, {}]", 1.0),
        ({"uniqueItems": True}, "[1, 2, true]", 1.0),
        ({"uniqueItems": True}, "[1, 2, 1.0]", 0.0),
        ({"uniqueItems": True}, '[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', 0.0),
        ({"patternProperties": {"^x_": {"type": "integer"}}, "additionalProperties": False}, '{"x_a": 1}', 1.0),
        ({"patternProperties": {"^x_": {"type": "integer"}}, "additionalProperties": False}, '{"x_a": "1"}', 0.0),
        ({"patternProperties": {"^x_": {"type": "integer"}}, "additionalProperties": False}, '{"y_a": 1}', 0.0),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, '{"a": 1, "b": "x"}', 1.0),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, '{"a": 1, "b": 2}', 0.0),
        ({"pattern": "^[a-z]+$"}, '"abc"', 1.0),
        ({"pattern": "^[a-z]+$"}, '"ABC"', 0.0),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]}, "[null, 1]", 1.0),
        ({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}, "[1, 2]", 1.0),
        ({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}, "[1, null]", 0.0),
        ({"multipleOf": 0.1}, "1" + "0" * 3000, 0.0),
    ],
)
def test_keywords_that_are_bounded_here_say_what_the_standard_says(
    schema: dict[str, Any], text: str, reward: float
) -> None:
    assert ask(built("format", json_schema=schema), text).reward == reward


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 140_000,
        "< " * 500_000,
        "<think" * 160_000,
        "<think>a</think><answer>" + r"\boxed{" * 140_000,
        "<think>a</think><answer>" + "[" * 10**6 + "</answer>",
        "<think>a</think><answer>" + '"\\' * 500_000 + "</answer>",
        "<think>a</think><answer>" + '{"a":' * 15_000 + "</answer>",
        "<think>a</think><answer>[" + "[1,1]," * 15_000 + "0]</answer>",
        "<think>a</think><answer>[" + "[0,[1,[2]]]," * 8_000 + "0]</answer>",
        "```\n" * 250_000,
    ],
    ids=lambda text: f"{text[:30]}…",
)
@pytest.mark.slow
def test_a_hostile_megabyte_is_refused_in_time(text: str) -> None:
    judge = built("format", **R1, json_schema={"items": {"anyOf": [{"type": "integer"}, {"uniqueItems": True}]}})
    assert ask_hostile(judge, text).reward == 0.0


def test_a_schema_whose_branches_multiply_is_cut_short() -> None:
    node = {"properties": {"l": {"anyOf": [{"$ref": "#/$defs/n"}] * 2}}, "required": ["v"]}
    judge = built("format", json_schema={"$defs": {"n": node}, "$ref": "#/$defs/n"})
    judgement = ask(judge, '{"l":' * 31 + "{}" + "}" * 31)
    assert (judgement.reward, judgement.reason) == (
        0.0,
        "over the bounds: more than 10,000 checks against the JSON Schema",
    )


def test_an_answer_on_which_a_pattern_never_ends_is_badly_formed() -> None:
    judge = built("format", json_schema={"pattern": "^(a+)+$"})
    assert ask(judge, '"aaaa"').reward == 1.0
    runaway = ask(judge, '"' + "a" * 50_000 + '!"')
    assert (runaway.status, runaway.reward, runaway.is_success) == ("judged", 0.0, False)
    assert "a pattern of the schema did not finish" in runaway.reason


@pytest.mark.parametrize(
    ("kwargs", "way_out"),
    [
        ({}, "name what is required"),
        ({"tags": []}, "tags"),
        ({"tags": ["<think>"]}, "tags"),
        ({"tags": ["a", "A"]}, "names each once"),
        ({"boxed": True, "allow_around": True}, "`allow_around` belongs to `tags`"),
        ({"boxed": True, "allow_fence": True}, "`allow_fence` belongs to `json_schema`"),
        ({"boxed": "yes"}, "boxed"),
        ({"json_schema": {"type": "integr"}}, "'integr'"),
        ({"json_schema": {"$ref": "https://example.com/schema"}}, "nothing is fetched"),
        ({"json_schema": {"$ref": "#/$defs/none"}}, "points to nothing"),
        ({"json_schema": {"$ref": "#"}}, "refers to itself"),
        ({"json_schema": {"pattern": "("}}, "("),
        ({"json_schema": {"unevaluatedProperties": False}}, "write additionalProperties"),
        ({"json_schema": {"$schema": "https://example.com/mine"}}, "https://example.com/mine"),
        ({"json_schema": {"items": {"$id": "x"}}}, "$defs"),
        ({"tag": ["think"]}, "did you mean 'tags'"),
    ],
)
def test_impossible_settings_are_refused_at_load(kwargs: dict[str, Any], way_out: str) -> None:
    with pytest.raises(ConfigError, match="judge_kwargs") as caught:
        built("format", **kwargs)
    assert way_out in str(caught.value)
