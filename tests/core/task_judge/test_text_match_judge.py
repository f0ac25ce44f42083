"""TextMatchJudge: SQuAD's two metrics by hand, and what they would pay for without being right."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner import ConfigError, Task
from agentscope_tuner.verify.text import best_match, normalised
from tests.text_judges import MISSING, ask, ask_hostile, built


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("The Eiffel Tower!", "eiffel tower"),
        ("  an   apple, a day ", "apple day"),
        ("well-known", "wellknown"),
        ("O'Brien", "obrien"),
        ("1,000", "1000"),
        ("theatre", "theatre"),
        ("北京。", "北 京"),
        ("“北京”市", "北 京 市"),
        ("用Python写", "用 python 写"),
        # articles and punctuation that are all there is
        ("A", "a"),
        ("The The", "the the"),
        ("+", "+"),
        ("", ""),
        ("cafe\u0301", "café"),
        ("Par\u200bis", "paris"),
    ],
)
def test_the_normal_form_by_hand(text: str, form: str) -> None:
    assert normalised(text) == form.split()


@pytest.mark.parametrize(
    ("answer", "reference", "exact", "shared"),
    [
        ("The Eiffel Tower", "Eiffel tower.", True, 1.0),
        # precision 1/2, recall 1: 2 * 1/2 * 1 / (3/2)
        ("Paris London", "Paris", False, 2 / 3),
        # precision 2/3, recall 2/2
        ("in Paris, France", "Paris France", False, 0.8),
        # precision 1/1, recall 1/2
        ("Tower", "Eiffel Tower", False, 2 / 3),
        # a word counts as often as it stands in both: precision 1/3, recall 1/1
        ("Paris Paris Paris", "Paris", False, 0.5),
        ("London", "Paris", False, 0.0),
        ("", "Paris", False, 0.0),
        # the order counts for nothing in F1
        ("man bites dog", "dog bites man", False, 1.0),
        # characters: 北京市 and 北京 share two, precision 2/3, recall 2/2
        ("北京市", "北京", False, 0.8),
        ("北京", "北京。", True, 1.0),
        # SQuAD takes these for the same
        ("1.5", "15", False, 0.0),
        ("-5", "5", False, 0.0),
        ("−5", "-5", True, 1.0),
        (".5", "5", False, 0.0),
        ("1,000", "1000", True, 1.0),
        ("12/5", "125", False, 0.0),
        ("1/5", "1.5", False, 0.0),
        ("1 5", "1.5", False, 0.0),
        ("1.50", "1.5", False, 0.0),
        ("1:30", "130", False, 0.0),
        ("3^2", "32", False, 0.0),
        ("10²", "102", False, 0.0),
        ("12/5", "12 / 5", True, 1.0),
        # as SQuAD has it, other signs count for nothing
        ("5%", "5", True, 1.0),
        ("$5.", "5", True, 1.0),
        ("1990-1995", "1990–1995", True, 1.0),
        # nothing left is not the same as nothing
        ("the", "a", False, 0.0),
        ("a", "A", True, 1.0),
        ("!!", "the", False, 0.0),
        ("+", "-", False, 0.0),
    ],
)
def test_exact_match_and_f1_by_hand(answer: str, reference: str, exact: bool, shared: float) -> None:
    found = best_match(answer, [reference])
    assert found.exact is exact
    assert found.f1 == pytest.approx(shared)


CITIES = "London Paris Rome Berlin"


@pytest.mark.parametrize(
    ("kwargs", "text", "answer", "reward", "success"),
    [
        ({}, "Paris.", "Paris", 1.0, True),
        ({}, "Paris", ["Lutetia", "paris"], 1.0, True),
        ({}, "It is Paris", "Paris", 0.0, False),
        ({}, "Paris or London", "Paris", 0.0, False),
        ({}, "<think>London?</think> Paris", "Paris", 1.0, True),
        ({}, "<think>Paris", "Paris", 0.0, False),
        ({"metric": "f1"}, "It is Paris", "Paris", 0.5, False),
        ({"metric": "f1"}, "Paris", ["Lutetia", "Paris, France"], 2 / 3, False),
        # stuffing: 2r / (n + r) with r = 1 and n = 4
        ({"metric": "f1"}, CITIES, "Paris", 0.4, False),
        ({"metric": "f1", "least": 0.5}, CITIES, "Paris", 0.0, False),
        ({"metric": "f1", "least": 0.5}, "It is Paris", "Paris", 0.5, False),
        ({"metric": "f1"}, "man bites dog", "dog bites man", 1.0, False),
        ({"answer_in": ["boxed", "tag"]}, r"So \boxed{Paris}", "Paris", 1.0, True),
        ({"answer_in": ["boxed", "tag"]}, "So <answer>Paris</answer>.", "Paris", 1.0, True),
        ({"answer_in": ["boxed", "tag"]}, "Paris", "Paris", 0.0, False),
        ({"answer_in": ["boxed"]}, r"\boxed{London} or \boxed{Paris}", "Paris", 0.0, False),
        ({"answer_in": ["label"]}, "The answer is Paris.", "Paris", 1.0, True),
    ],
)
def test_what_is_paid(kwargs: dict[str, Any], text: str, answer: Any, reward: float, success: bool) -> None:
    judgement = ask(built("text_match", **kwargs), text, answer)
    assert judgement.reward == pytest.approx(reward)
    assert judgement.is_success is success
    assert set(judgement.metrics) == {"exact", "f1"}


class Array:
    """A column's cell as numpy gives it."""

    def __init__(self, *items: object) -> None:
        self._items = items

    def tolist(self) -> list[object]:
        return list(self._items)


def test_aliases_in_an_array_of_a_data_set() -> None:
    judge = built("text_match")
    assert ask(judge, "Paris", Array("Lutetia", "Paris")).reward == 1.0
    assert ask(judge, "Paris", Array()).status == "failed"
    assert ask(judge, "Paris", Array("Paris", None)).status == "failed"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (MISSING, "missing"),
        (None, "missing"),
        ("", "missing"),
        (" \n", "missing"),
        # nothing that can be seen: the empty answer would match it
        ("\u200b", "missing"),
        ("nan", "missing"),
        ([], "missing"),
        (float("nan"), "wrong type"),
        (1945, "wrong type"),
        (True, "wrong type"),
        (["Paris", None], "wrong type"),
        ({"text": "Paris"}, "wrong type"),
    ],
)
def test_a_reference_that_is_no_text_is_no_verdict(answer: Any, kind: str) -> None:
    judge = built("text_match")
    failed = ask(judge, "Paris", answer)
    assert (failed.status, failed.reward, failed.cause) == ("failed", None, "reference")
    task = Task(metadata={} if answer is MISSING else {"answer": answer})
    assert str(judge.inner.check_task(task)).startswith(f"{kind}: ")


@pytest.mark.parametrize("text", ["Paris " * 160_000, "a" * 10**6, "京" * 10**6, "!" * 10**6, "-1.5" * 250_000])
@pytest.mark.slow
def test_a_hostile_megabyte_is_compared_in_time(text: str) -> None:
    judgement = ask_hostile(built("text_match", metric="f1"), text, ["Paris", "北京", "1.5"])
    assert judgement.reward is not None
    assert judgement.reward < 1e-4


@pytest.mark.parametrize(
    "kwargs", [{"metric": "em"}, {"least": 2.0}, {"answer_in": []}, {"answer_in": ["box"]}, {"f1": 1}]
)
def test_impossible_settings_are_refused_at_load(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="judge_kwargs"):
        built("text_match", **kwargs)


@pytest.mark.parametrize("reference", ["['Paris', 'paris']", '["Paris"]'])
def test_a_list_as_text_is_no_reference(reference: Any) -> None:
    failed = ask(built("text_match"), "Paris", reference)
    assert (failed.status, failed.cause) == ("failed", "reference")
    assert "is a list as text: write JSON lines, where `answer` is a list" in str(failed.error)
    told = built("text_match").inner.check_task(Task(metadata={"answer": reference}))
    assert str(told).startswith("wrong type: the reference answer ")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (["Paris", "paris"], "Paris"),
        (["['a', 'b']"], "['a', 'b']"),
        ("[1]", "[1]"),
        ("['tis", "['tis"),
        ("[sic]", "[sic]"),
    ],
)
def test_lists_and_texts_in_brackets_are_references(reference: Any, said: str) -> None:
    assert ask(built("text_match"), said, reference).reward == 1.0
