"""Words that turn nothing are passed over at once, and the patterns that they are spared would have found nothing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.around import asked_of
from agentscope_tuner.verify.math.question import NO_QUESTION, about
from agentscope_tuner.verify.words import LINKS, lead_of, leads_plainly, strange_lead, turns_nothing

ROWS = Path(__file__).parents[3] / "benchmarks" / "math" / "redteam"


def rows() -> Iterator[dict[str, str]]:
    """The red team's whole texts with a value in their box."""
    for path in sorted(ROWS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "\\boxed" in row.get("output", ""):
                yield row


def test_a_lead_of_plain_words_is_turned_by_no_pattern() -> None:
    """Over all texts that were written to be turned unseen."""
    plain = 0
    for row in rows():
        found = find_answer(row["output"], ("boxed",), by_value=True)
        asked = asked_of(about(row.get("question")) or NO_QUESTION)
        lead = lead_of(found.before)
        if leads_plainly(lead, asked):
            plain += 1
            assert strange_lead(found.text or "", found.before, lead, asked, is_value=True) == "", row
    assert plain > 200


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
