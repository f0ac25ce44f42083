"""Words that turn nothing are passed over at once, and the patterns that they are spared would have found nothing."""

from __future__ import annotations

import itertools
import json
from functools import cache, partial
from pathlib import Path

import pytest

from agentscope_tuner.verify.find import PlacedAnswer, find_answer
from agentscope_tuner.verify.math.around import asked_of
from agentscope_tuner.verify.math.place import judge_place, numbers_first
from agentscope_tuner.verify.math.question import NO_QUESTION, about
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.words import LINKS, Known, lead_of, leads_plainly, strange_lead, turns_nothing

ROWS = Path(__file__).parents[3] / "benchmarks" / "math" / "redteam"


@cache
def rows() -> list[tuple[dict[str, str], PlacedAnswer]]:
    """The red team's whole texts with a value in their box, and the answer that is found there."""
    lines = (line for path in sorted(ROWS.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines())
    boxed = (row for row in map(json.loads, lines) if "\\boxed" in row.get("output", ""))
    return [(row, find_answer(row["output"], ("boxed",), by_value=True)) for row in boxed]


def test_a_lead_of_plain_words_is_turned_by_no_pattern() -> None:
    """Over all texts that were written to be turned unseen."""
    plain = 0
    for row, found in rows():
        asked = asked_of(about(row.get("question")) or NO_QUESTION)
        lead = lead_of(found.before)
        if leads_plainly(lead, asked):
            plain += 1
            assert strange_lead(found.text or "", found.before, lead, asked, is_value=True) == "", row
    assert plain > 200


def test_plain_numbers_get_the_verdict_that_the_rules_of_wording_would_give() -> None:
    """Over the same texts: for the number in the box, and for one more."""
    decided = 0
    for row, found in rows():
        number, question = found.text or "", row.get("question") or None
        for truth in (number, str(int(number) + 1)) if number.isdecimal() and number.isascii() else ():
            if (known := numbers_first(found, truth, question)) is None:
                continue
            decided += 1
            compared = partial(compare, ground_truth=truth, question=question)
            assert known.outcome == judge_place(found, truth, question, compared).outcome, (row, truth)
    assert decided > 200


@pytest.mark.parametrize(
    ("output", "question"),
    [
        (
            "Therefore, the mean of these six test scores is \\(\\boxed{80}\\).",
            "What is the mean of the six test scores?",
        ),
        ("So, the value of \\(x\\) is:\n\\[\n\\boxed{14}\n\\]", "Find the value of $x$ if $2x = 28$."),
        (
            "The number of integers less than 103 that are relatively prime to 28 is \\(\\boxed{6}\\).",
            "How many integers?",
        ),
        ("Thus, the radius of the smallest circle is \\(\\boxed{5}\\).", "What is the radius of the smallest circle?"),
        ("The farmer picks $\\boxed{40}$ apples in 4 weeks.", "A farmer picks 10 apples a week. How many in 4 weeks?"),
        ("So, the value of \\(x\\) is:\n\\[\n\\boxed{14}\n\\].", "Find the value of $x$ if $2x = 28$."),
        ("So, the value of \\(x\\) is \\(\\boxed{14} \\).", "Find the value of $x$ if $2x = 28$."),
        ("The total is \\boxed{14} apples.", "How many apples?"),
    ],
)
def test_ordinary_ends_need_no_rule_of_wording(output: str, question: str) -> None:
    found = find_answer(output, ("boxed",), by_value=True)
    known = numbers_first(found, found.text or "", question)
    assert known is not None
    assert known.outcome == "equal"


@pytest.mark.parametrize(
    ("output", "question"),
    [
        ("It is 41 or $\\boxed{42}$.", "How many are there?"),
        ("The value of $x$ is \\neq $\\boxed{42}$.", "What is $x$?"),
        ("The value of \\(\\text{half of it}\\) is \\(\\boxed{42}\\).", "What is $x$?"),
        ("The number of integers is at least \\(\\boxed{42}\\).", "How many integers are there?"),
        ("The smallest of them is \\(\\boxed{42}\\).", "What is the largest of them?"),
        ("Le plus petit nombre est $\\boxed{42}$.", "Quel est le plus grand nombre ?"),
        ("The total is $\\boxed{42}$ or 43 apples.", "How many apples?"),
        ("The total is $\\boxed{42}$ apples, 43.", "How many apples?"),
        ("There are $\\boxed{42}$ apples in a total of 43 apples.", "How many apples?"),
        ("The length in metres is \\(\\boxed{42}\\).", "How many centimetres long is it?"),
        ("There are $\\boxed{42}$ dozens of eggs.", "How many eggs are there?"),
        # what opens the formula does not close it, or words follow a display
        ("The total is \\(\\boxed{42} apples.", "How many apples?"),
        ("The total is \\(\\boxed{42}$ apples.", "How many apples?"),
        ("The total is $\\boxed{42}\\) apples.", "How many apples?"),
        ("The total is \\boxed{42}$ apples.", "How many apples?"),
        ("The total is\n\\[\n\\boxed{42}\n\\] apples.", "How many apples?"),
    ],
)
def test_what_may_change_a_number_is_left_to_the_rules_of_wording(output: str, question: str) -> None:
    found = find_answer(output, ("boxed",), by_value=True)
    assert found.text == "42"
    assert numbers_first(found, "42", question) is None


def test_words_that_passed_a_test_are_kept_in_bounds() -> None:
    tested: list[str] = []

    def passes(word: str) -> bool:
        tested.append(word)
        return word != "not"

    known = Known(passes, most=2)
    assert known.has_all(["a", "b", "c"])
    assert known.has_all(["c", "a"])
    assert tested == ["a", "b", "c"]
    assert not known.has_all(["a", "not"])
    assert known.has_all(["d"])
    assert known.has_all(["a"])
    assert tested[-1] == "a"


def test_linking_words_alone_turn_nothing() -> None:
    asked = asked_of(NO_QUESTION)
    for size in (1, 2):
        for words in itertools.product(sorted(LINKS), repeat=size):
            lead = f"{' '.join(words)} "
            if leads_plainly(lead, asked):
                assert strange_lead("7", lead, lead, asked, is_value=True) == "", lead


@pytest.mark.slow
def test_three_linking_words_alone_turn_nothing() -> None:
    asked = asked_of(NO_QUESTION)
    for words in itertools.product(sorted(LINKS), repeat=3):
        lead = f"{' '.join(words)} "
        if leads_plainly(lead, asked):
            assert strange_lead("7", lead, lead, asked, is_value=True) == "", lead


@pytest.mark.parametrize(
    "word", ["not", "if", "half", "twice", "wrong", "ruled", "least", "let", "however", "maybe", "exceeds", "thousand"]
)
def test_a_word_that_may_turn_an_answer_is_read(word: str) -> None:
    assert not turns_nothing(word)
    assert not leads_plainly(f"janet makes {word} ", asked_of(NO_QUESTION))


@pytest.mark.parametrize(
    "lead", ["janet makes", "the farmer's profit is", "the number of miles that they walk is", "in $x$ years there are"]
)
def test_ordinary_leads_are_passed_over(lead: str) -> None:
    assert leads_plainly(lead, asked_of(NO_QUESTION))
