"""What the model that learns rubrics is asked, which replies are taken, and which proposals count."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import Answer, ChatModel, Prompt
from agentscope_tuner.graders.client.reply import Reply, ReplyError
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.rubrics.propose import Proposer, numbered, reproduces, sort_into_themes
from agentscope_tuner.graders.rubrics.saved import Rubric, SavedGrader, load, save
from agentscope_tuner.graders.rubrics.settings import AutoGraderConfig, Sample

ONE = Sample(7, "How is the soup?", ("It is hot.",), (8.0,))
TWO = Sample(9, "Which soup?", ("It is hot.", "It is cold."), (2.0, 1.0))


class Scripted:
    """A judge model that replies as it is told, in turn."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, Any]] = []
        self.settings = settings().settings()

    async def ask(self, prompt: Prompt, parse: Callable[[Reply], Any], **_: Any) -> Answer[Any]:
        text = "\n".join(str(message.content) for message in prompt.messages())
        self.asked.append((text, prompt.schema))
        try:
            reply = Reply(json.dumps(self.replies.pop(0)))
            return Answer(parse(reply), Usage(), reply)
        except ReplyError as exc:
            raise GraderError(str(exc)) from exc


def settings(**options: Any) -> AutoGraderConfig:
    return AutoGraderConfig.model_validate(
        {"model_name": "m", "dataset_file": {"training": {"file_path": "x"}}, **options}
    )


def themes(model: Scripted, *texts: str, **options: Any) -> list[tuple[str, str | None]]:
    rubrics = [Rubric(text=text, samples=[1], gain=0.5) for text in texts]
    found = asyncio.run(sort_into_themes(settings(**options), cast("ChatModel", model), rubrics))
    return [(rubric.text, rubric.theme) for rubric in found]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_rubrics_are_sorted_by_their_numbers(language: str) -> None:
    reply = {"themes": [{"name": " warm \n things ", "rubrics": [3, 1]}, {"name": "t" * 90, "rubrics": [2]}]}
    model = Scripted(reply)
    found = themes(model, "be hot", "be brief", "be warm", categories_number=4, language=language)
    assert found == [("be warm", "warm things"), ("be hot", "warm things"), ("be brief", "t" * 80)]
    ((text, schema),) = model.asked
    assert all(part in text for part in ("1. be hot", "2. be brief", "3. be warm", " 4 ", '{"themes": [{"name": '))
    theme = schema["properties"]["themes"]["items"]
    assert theme["properties"] == {
        "name": {"type": "string"},
        "rubrics": {"type": "array", "items": {"type": "integer"}},
    }


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, "themes must be a list of names and numbers, got None"),
        ({"name": "a"}, "themes must be a list of names and numbers"),
        (["a"], "themes must be a list of names and numbers"),
        ([{"name": "a"}], "themes must be a list of names and numbers"),
        ([{"rubrics": [1, 2]}], "themes must be a list of names and numbers"),
        ([{"name": 3, "rubrics": [1, 2]}], "themes must be a list of names and numbers"),
        ([{"name": "a", "rubrics": 1}], "themes must be a list of names and numbers"),
        ([{"name": "a", "rubrics": [1]}], r"every number from 1 to 2 must stand in exactly one theme, got \[1\]"),
        ([{"name": "a", "rubrics": [0, 1]}], "every number from 1 to 2"),
        ([{"name": "a", "rubrics": [1, 2, 3]}], "every number from 1 to 2"),
        ([{"name": "a", "rubrics": [1, 1, 2]}], "every number from 1 to 2"),
        ([{"name": "a", "rubrics": [True, 2]}], "every number from 1 to 2"),
        ([{"name": "a", "rubrics": ["1", 2]}], "every number from 1 to 2"),
        ([{"name": " ", "rubrics": [1, 2]}], r"at most 1 themes with names were asked for, got \[''\]"),
        ([{"name": "a", "rubrics": [1]}, {"name": "b", "rubrics": [2]}], r"got \['a', 'b'\]"),
    ],
)
def test_themes_that_are_no_partition_are_refused(found: Any, message: str) -> None:
    with pytest.raises(GraderError, match=message):
        themes(Scripted({"themes": found}), "be hot", "be brief", categories_number=1)


@pytest.mark.parametrize(
    ("labels", "places", "options", "expected"),
    [
        ((8.0,), (8.0,), {}, True),
        # a tenth of the range is tolerated, unless a tolerance is set
        ((8.0,), (7.0,), {}, True),
        ((8.0,), (6.999,), {}, False),
        ((5.0,), (6.0,), {}, True),
        ((5.0,), (6.001,), {}, False),
        ((5.0,), (3.0,), {"min_score": -10.0}, True),
        ((5.0,), (2.999,), {"min_score": -10.0}, False),
        ((5.0,), (5.0,), {"label_tolerance": 0.0}, True),
        ((5.0,), (5.001,), {"label_tolerance": 0.0}, False),
        # in the last bit, which no tolerance should decide
        ((0.3,), (0.1,), {"label_tolerance": 0.2}, True),
        ((1.0, 2.0), (1, 2), {"grader_mode": "listwise"}, True),
        ((1.0, 2.0), (2, 1), {"grader_mode": "listwise"}, False),
        # a tie where the labels have none; the other way it says nothing
        ((1.0, 2.0), (1.5, 1.5), {"grader_mode": "listwise"}, False),
        ((1.5, 1.5), (2, 1), {"grader_mode": "listwise"}, True),
        ((1.0, 2.0, 3.0), (1, 3, 2), {"grader_mode": "listwise"}, False),
        ((3.0, 1.5, 1.5), (3, 2, 1), {"grader_mode": "listwise"}, True),
    ],
)
def test_a_score_within_the_tolerance_or_the_order_of_the_labels_is_reproduced(
    labels: tuple[float, ...], places: tuple[float, ...], options: dict[str, Any], expected: bool
) -> None:
    sample = Sample(1, "q", ("a",) * len(labels), labels)
    assert reproduces(settings(**options), sample, places) is expected


def test_a_proposal_is_judged_by_revised_with_what_went_wrong_and_kept_once_it_reproduces_the_label() -> None:
    first, verdict = {"rubrics": [" be\n hot ", "be soup"]}, {"reason": "I see no soup", "score": 1}
    model = Scripted(first, verdict, {"rubrics": ["be warm", "be soup"]}, {"reason": "yes", "score": 8})
    config = settings(query_specific_generate_number=2, max_epochs=3)
    found = asyncio.run(Proposer(config, cast("ChatModel", model)).attempt(ONE))
    assert (found.revisions, found.error, found.sample) == (1, None, ONE)
    assert [(one.text, one.samples) for one in found.candidates] == [("be warm", (7,)), ("be soup", (7,))]
    proposed, judged, revised, _ = model.asked
    for part in ("score of 8 on a scale from 0 to 10", "Write 2 rubric(s)", "How is the soup?", "It is hot."):
        assert part in proposed[0]
    items = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
    assert proposed[1]["properties"] == {"rubrics": items}
    assert "exactly 2" in proposed[0]
    assert "1. be hot\n2. be soup" in judged[0]
    for part in ("1. be hot", "2. be soup", "another verdict: 1.", "I see no soup", "How is the soup?", "It is hot."):
        assert part in revised[0]
    assert "I see no soup" not in proposed[0]


def test_candidates_are_shown_with_their_ranks() -> None:
    model = Scripted({"rubrics": ["be hot"]}, {"reason": "r", "rank": [2, 1]})
    found = asyncio.run(Proposer(settings(grader_mode="listwise"), cast("ChatModel", model)).attempt(TWO))
    assert [one.text for one in found.candidates] == ["be hot"]
    assert "(1 is best), are 2, 1" in model.asked[0][0]
    assert "It is hot." in model.asked[0][0]
    assert "It is cold." in model.asked[0][0]


@pytest.mark.parametrize("epochs", [0, 1])
def test_what_never_reproduces_its_label_is_revised_as_often_as_allowed(epochs: int) -> None:
    replies = [{"rubrics": ["be hot"]}, {"reason": "r", "score": 1}] * (epochs + 1)
    model = Scripted(*replies)
    found = asyncio.run(Proposer(settings(max_epochs=epochs), cast("ChatModel", model)).attempt(ONE))
    assert (found.candidates, found.revisions, found.error) == ((), epochs, None)
    assert len(model.asked) == len(replies)


@pytest.mark.parametrize(
    ("rubrics", "message"),
    [
        ("be hot", "rubrics must be a list of texts, got 'be hot'"),
        (["be hot", 3], "rubrics must be a list of texts, got"),
        ([" "], "rubrics must be a list of texts, got"),
        ([" <rubric> "], "the form's placeholder came back in place of a rubric"),
        (["be hot", "be brief"], r"1 rubric\(s\) were asked for, got 2"),
        ([], r"1 rubric\(s\) were asked for, got 0"),
    ],
)
def test_a_reply_that_is_no_proposal_says_what_it_was(rubrics: Any, message: str) -> None:
    found = asyncio.run(Proposer(settings(), cast("ChatModel", Scripted({"rubrics": rubrics}))).attempt(ONE))
    assert found.candidates == ()
    assert re.search(message, str(found.error))


def test_a_rubric_with_a_bracket_at_one_end_is_none_of_the_forms() -> None:
    for text in ("<b> is bold", "what is <b>"):
        model = Scripted({"rubrics": [text]}, {"reason": "r", "score": 8})
        assert len(asyncio.run(Proposer(settings(), cast("ChatModel", model)).attempt(ONE)).candidates) == 1


def test_rubrics_are_numbered_from_one() -> None:
    assert numbered(["be hot", "be brief"]) == "1. be hot\n2. be brief"


def test_a_path_that_is_no_text_does_not_lose_what_was_learned(tmp_path: Path) -> None:
    rubric, path = Rubric(text="be hot", samples=[7], gain=0.5), tmp_path / "new" / "grader.json"
    saved = SavedGrader(
        model_name="m",
        grader_mode="pointwise",
        language="en",
        min_score=0.0,
        max_score=10.0,
        rubrics=[rubric],
        data={"file": "samples\udc80.jsonl", "süß": 1},
    )
    save(saved, path)
    assert load(path, settings()).rubrics == [rubric]
    text = path.read_text(encoding="utf-8")
    assert '\n  "data": {\n    "file": "samples?.jsonl",\n    "süß": 1\n  },' in text
    assert text.endswith("}\n")
    assert [file.name for file in path.parent.iterdir()] == ["grader.json"]
