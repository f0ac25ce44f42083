"""A task's own rubrics: the formats of the field, and their scores worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_tuner.graders.client.reply import Reply
from agentscope_tuner.graders.criteria_grader import verdicts_on
from agentscope_tuner.graders.prompt import Trajectory
from agentscope_tuner.graders.rubrics.criteria import aggregated, read_rubrics

HEALTHBENCH = [
    {"criterion": "Advises to call emergency services", "points": 10, "tags": ["axis:accuracy"]},
    {"criterion": "Asks about allergies", "points": 5, "tags": []},
    {"criterion": "Recommends aspirin without asking", "points": -8, "tags": []},
]
REWARDS = [
    {"title": "Mechanism", "description": "Essential Criteria: names scattering", "weight": 5},
    {"title": "Law", "description": "Important Criteria: gives the fourth power", "weight": 3},
    {"title": "Sunset", "description": "Optional Criteria: explains red sunsets", "weight": 1},
    {"title": "Ocean", "description": "Pitfall Criteria: says the sea is mirrored", "weight": -1},
]
HARBOR = [
    {"id": "works", "description": "The program runs", "type": "binary", "weight": 3, "polarity": "positive",
     "importance": "must_have"},
    {"id": "tests", "description": "It has tests", "type": "binary", "weight": 1, "polarity": "positive",
     "importance": "nice_to_have"},
    {"id": "secrets", "description": "It prints the key", "type": "binary", "weight": 2, "polarity": "negative",
     "importance": "must_have"},
]  # fmt: skip
OPEN_INSTRUCT = [{"criterion": "Is polite", "weight": 1}, {"criterion": "Is right", "weight": 3}]


@pytest.mark.parametrize(
    ("rubrics", "met", "how", "gate", "score"),
    [
        # HealthBench: points met over positive points, clipped
        (HEALTHBENCH, (1, 1, 0), "auto", False, 1.0),
        (HEALTHBENCH, (1, 0, 0), "auto", False, 10 / 15),
        (HEALTHBENCH, (1, 0, 1), "auto", False, 2 / 15),
        (HEALTHBENCH, (0, 1, 1), "auto", False, 0.0),
        (HEALTHBENCH, (0, 0, 0), "auto", False, 0.0),
        # Rubrics as Rewards, explicit: the weighted share
        (REWARDS, (1, 1, 1, 0), "auto", False, 1.0),
        (REWARDS, (1, 0, 1, 1), "auto", False, 5 / 9),
        (REWARDS, (0, 1, 0, 0), "auto", False, 3 / 9),
        # Harbor: the mean weighted by the weights; a negative criterion passes when it is not met
        (HARBOR, (1, 1, 0), "auto", False, 1.0),
        (HARBOR, (1, 0, 0), "auto", False, 5 / 6),
        (HARBOR, (0, 1, 0), "auto", False, 3 / 6),
        (HARBOR, (1, 1, 1), "auto", False, 4 / 6),
        (HARBOR, (1, 0, 0), "required_pass", False, 1.0),
        (HARBOR, (1, 1, 1), "required_pass", False, 0.0),
        (HARBOR, (1, 0, 0), "weighted_mean", True, 5 / 6),
        (HARBOR, (0, 1, 0), "weighted_mean", True, 0.0),
        (HARBOR, (1, 1, 0), "all_pass", False, 1.0),
        (HARBOR, (1, 0, 0), "all_pass", False, 0.0),
        (HARBOR, (0, 0, 1), "any_pass", False, 0.0),
        (HARBOR, (0, 0, 0), "any_pass", False, 1.0),
        (OPEN_INSTRUCT, (1, 0), "auto", False, 0.25),
        (OPEN_INSTRUCT, (0.5, 0.5), "auto", False, 0.5),
        (["Is short", "Is kind", "Is true"], (1, 1, 0), "auto", False, 2 / 3),
    ],
)
def test_scores_are_those_that_the_formats_publish(rubrics: Any, met: Any, how: Any, gate: bool, score: float) -> None:
    assert aggregated(read_rubrics(rubrics), met, how, gate) == pytest.approx(score)


@pytest.mark.parametrize(
    ("item", "weight"),
    [
        ({"description": "Essential Criteria: names it"}, 5),
        ({"description": "x", "category": "Important"}, 3),
        ({"description": "x", "importance": "Optional"}, 1),
        ({"title": "x", "level": "pitfall"}, -1),
        ({"description": "x", "weight": 2, "polarity": "negative"}, -2),
        ({"description": "x", "importance": "nice_to_have"}, 1),
        ("x", 1),
    ],
)
def test_weights_are_read_from_numbers_categories_and_polarity(item: Any, weight: float) -> None:
    rubrics = read_rubrics([item, {"criterion": "y", "weight": 1}])
    assert rubrics.criteria[0].weight == weight


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "list of 1 to"),
        ([], "list of 1 to"),
        ("be good", "JSON or TOML"),
        ("[1", "must be JSON"),
        ("{}", "list of 1 to"),
        ([{"points": 3}], "criterion 1 has no text"),
        ([{"criterion": "x", "points": "3"}], "points must be a number"),
        ([{"criterion": "x", "points": 0}], "other than 0"),
        ([{"criterion": "x", "points": True}], "points must be a number"),
        ([{"criterion": "x", "points": float("nan")}], "points must be a number"),
        ([{"criterion": float("nan"), "points": 1}], "criterion 1 has no text"),
        ([{"criterion": "x", "points": 1e308}, {"criterion": "y", "points": 1e308}], "at most 1e"),
        ([{"criterion": "x", "points": 10**400}], "at most 1e"),
        ([{"criterion": "x", "points": 1, "weight": 2}], "give one"),
        ([{"criterion": "x", "ponits": 1}], "no key 'ponits'; did you mean 'points'"),
        ([{"criterion": "x", "points": -1}], "no criterion has a positive weight"),
        ([{"criterion": "x", "type": "essay"}], "of type 'essay'"),
        ([{"criterion": "x", "type": "likert", "points": 1}], "from a number to a larger, got 1 to 1"),
        ([{"criterion": "x", "type": "likert", "points": "5"}], "got 1 to '5'"),
        ([{"criterion": "x", "type": "numeric", "min": 3, "max": True}], "got 3 to True"),
        ([{"criterion": "x", "type": "numeric", "max": float("nan")}], "got 0 to nan"),
        ('[[criterion]]\ndescription = "x"\n[scoring]\naggregation = "best"', "scoring.aggregation must be one of"),
        ('[judge]\nfiles = "a"\n[[criterion]]\ndescription = "x"', "judge.files must be a list"),
        ([{"criterion": "x", "polarity": "up"}], "polarity must be"),
        ([{"criterion": "x", "id": "a"}, {"criterion": "y", "id": "a"}], "two criteria have the id 'a'"),
        ([3], "must be a mapping or a text"),
    ],
)
def test_what_is_no_rubric_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_rubrics(value)


@pytest.mark.parametrize("rubrics", [HEALTHBENCH, REWARDS, HARBOR, OPEN_INSTRUCT, ["Is short"]])
def test_the_nulls_of_a_table_and_the_mark_of_a_text_change_nothing(rubrics: list[Any]) -> None:
    """Tables give all rows the same keys. A criterion then had `points and a weight`, or a polarity of null."""
    nulls = dict.fromkeys(
        ["points", "weight", "type", "polarity", "importance", "category", "id", "min", "max", "tags"]
    )
    filled = [{**nulls, **({"criterion": one} if isinstance(one, str) else one)} for one in rubrics]
    assert read_rubrics(filled) == read_rubrics(rubrics)
    # a data frame's nulls, where no number stands: two criteria without an id had the id `nan`
    texts = dict.fromkeys(["type", "polarity", "importance", "category", "id", "title", "tags"], float("nan"))
    assert read_rubrics([{**texts, **one} if isinstance(one, dict) else one for one in rubrics]) == read_rubrics(
        rubrics
    )
    assert read_rubrics("\ufeff" + json.dumps(rubrics)) == read_rubrics(rubrics)


def test_a_criterion_that_stands_there_twice_counts_once() -> None:
    rubrics = read_rubrics(
        [
            {"criterion": "Is polite", "points": 2},
            {"criterion": "Is right", "points": 4, "id": "right"},
            {"criterion": " Is  polite. ", "points": 2},
            {"criterion": "Ｉｓ right", "points": 4, "id": "right"},
            {"criterion": "Says x < 3", "points": 1},
            {"criterion": "Says x > 3", "points": 1},
            {"criterion": "Says X > 3", "points": 1},
        ]
    )
    assert [(one.name, one.weight) for one in rubrics.criteria] == [
        ("c1", 2.0), ("right", 4.0), ("c5", 1.0), ("c6", 1.0), ("c7", 1.0),
    ]  # fmt: skip
    assert aggregated(rubrics, (1, 0, 0, 0, 0), "auto") == pytest.approx(2 / 9)


@pytest.mark.parametrize(
    "second",
    [
        {"criterion": "Is polite.", "points": 3},
        {"criterion": "Is polite", "points": -2},
        {"criterion": "Is polite", "weight": 2, "importance": "must_have"},
    ],
)
def test_a_criterion_of_two_weights_is_refused(second: Any) -> None:
    with pytest.raises(ValueError, match=r"'Is polite.*' stands there twice, 'c1' of weight 2 and 'c2' of weight"):
        read_rubrics([{"criterion": "Is polite", "points": 2}, second])


def test_must_haves_that_nobody_named_cannot_decide() -> None:
    for how, gate in (("required_pass", False), ("points", True)):
        with pytest.raises(ValueError, match="no criterion has importance: must_have"):
            aggregated(read_rubrics(HEALTHBENCH), (1, 1, 1), how, gate)  # type: ignore[arg-type]


REWARDKIT = """
[judge]
judge = "some/model"
files = ["/app/main.py", "/app/notes.md"]

[[criterion]]
description = "Is the code correct?"
type = "binary"

[[criterion]]
description = "How readable is the code?"
type = "likert"
points = 5
weight = 2.0

[[criterion]]
description = "Rate the test coverage from 0 to 100"
type = "numeric"
min = 0
max = 100

[scoring]
aggregation = "weighted-mean"
"""


@pytest.mark.parametrize(
    ("value", "names", "published"),
    [
        (
            REWARDKIT,
            ["Is the code correct?", "How readable is the code?", "Rate the test coverage from 0 to 100"],
            "weighted_mean",
        ),
        (REWARDKIT.replace("weighted-mean", "all-pass"), None, "all_pass"),
        (json.dumps(HEALTHBENCH), None, "points"),
        (json.dumps({"rubrics": REWARDS}), None, "points"),
        ({"rubrics": HEALTHBENCH, "prompt_id": "p", "canary": "x"}, None, "points"),
        ([{"criterion": "x", "weight": 2, "author": "someone", "rubric_id": 3}], ["x"], "weighted_mean"),
        ([{"description": "x", "type": "likert", "min": 1, "max": 7}], ["x"], "weighted_mean"),
        ('[[criterion]]\ndescription = "x"', ["x"], "weighted_mean"),
        ('[[criteria]]\ndescription = "x"', ["x"], "weighted_mean"),
        (json.dumps(json.dumps(["x"])), ["x"], "weighted_mean"),
        ([{"description": "x", "type": "likert", "points": 7}], ["x"], "weighted_mean"),
    ],
)
def test_rubrics_are_read_from_whole_rows_files_and_columns_of_text(
    value: Any, names: list[str] | None, published: str
) -> None:
    rubrics = read_rubrics(value)
    assert rubrics.published == published
    assert names is None or [criterion.text for criterion in rubrics.criteria] == names


def test_rewardkits_file_states_ranges_weights_and_files() -> None:
    rubrics = read_rubrics(REWARDKIT)
    assert [criterion.span for criterion in rubrics.criteria] == [None, (1.0, 5.0), (0.0, 100.0)]
    assert [criterion.weight for criterion in rubrics.criteria] == [1.0, 2.0, 1.0]
    assert rubrics.files == ("/app/main.py", "/app/notes.md")
    assert aggregated(rubrics, [1.0, 0.75, 0.5], "auto") == pytest.approx((1 + 2 * 0.75 + 0.5) / 4)


@pytest.mark.parametrize(
    ("answer", "quote", "stands"),
    [
        ("A train of thought.", "rain … of", False),
        ("A train of thought.", "A train … thought", True),
        ("A train of thought.", "thought … train", False),
        ("abc def ghi", "a…b…c def", False),
        ("It rains, says Ann.", '"it  RAINS says', True),
        ("水汽凝结成雨滴。", "凝结成雨…滴", True),
        (
            Trajectory(["Rain is wet.", "ok", "Vapour is a gas."], ["assistant", "tool", "assistant"]),
            "wet … gas",
            False,
        ),
        (Trajectory(["Rain is wet.", "ok", "Vapour is a gas."], ["assistant", "tool", "assistant"]), "is … gas", True),
    ],
)
def test_a_quote_stands_in_one_turn_in_its_order_and_in_whole_words(answer: Any, quote: str, stands: bool) -> None:
    """`rain … of` stood in `A train of thought`, and so met a criterion about rain."""
    said = {"verdicts": [{"number": 1, "quote": quote, "absent": False, "met": True}]}
    (found,) = verdicts_on(Reply(json.dumps(said)), {"response": answer}, [None])
    assert (found.value, found.unproven) == (float(stands), not stands)
