r"""Whether the work is done that a question asks for; the pairs themselves stand in tests/cases/math_worked.jsonl."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from agentscope_tuner.verify.math.canonical import key
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.question import numbers_said, said_in_words
from agentscope_tuner.verify.math.unfinished import operations
from agentscope_tuner.verify.math.verdict import compare


@pytest.mark.parametrize(
    ("formula", "left"),
    [
        ("42", set()),
        ("-3.5", set()),
        (r"\frac34", set()),
        (r"2\frac13", set()),
        (r"5\cdot 10^3", set()),
        (r"3+4i", set()),
        (r"\frac{1+\sqrt5}{2}", set()),
        (r"7\sqrt2", set()),
        ("x^2+6x+9", set()),
        ("(x-3)(x+3)", set()),
        (r"\sqrt{x^2+1}", set()),
        ("12+9", {"sum"}),
        ("1-2+x", {"sum"}),
        ("2x+3x", {"sum"}),
        (r"6\cdot 7", {"product"}),
        (r"x\cdot x", {"product"}),
        (r"\sqrt2\sqrt3", {"product"}),
        ("2^{10}", {"power"}),
        ("i^2", {"complex"}),
        (r"\frac{12}{4}", {"unreduced"}),
        (r"\frac{x(x+1)}{x}", {"division"}),
        (r"\frac68", {"unreduced"}),
        (r"\sqrt{49}", {"whole-root"}),
        (r"\sqrt[3]{16}", {"root"}),
        (r"\binom73", {"binom"}),
        (r"\frac{7!}{3!4!}", {"factorial"}),
        (r"\ln 81", {"ln"}),
    ],
)
def test_what_can_still_be_worked_out(formula: str, left: set[str]) -> None:
    assert operations(parse(formula)) == left


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("There are 18 apples and 2.5 pears.", {18, Fraction(5, 2)}),
        ("fourteen plus twenty-three", {14, 23}),
        ("Three hundred and five of two thousand four hundred", {305, 2400}),
        ("add three and five, then six seven times", {3, 5, 6, 7}),
        ("She has 1,250 stamps", {1250}),
        (r"$\frac12$ of a dozen", {12, 1, 2}),
        ("twice as many, half of it", {2}),
    ],
)
def test_numbers_of_a_question_in_digits_and_words(text: str, numbers: set[Fraction]) -> None:
    found = set(numbers_said(text))
    assert numbers <= found
    assert max(found) == max(numbers)


def test_a_question_of_long_numbers_is_read_in_linear_time() -> None:
    started = time.process_time()
    assert list(said_in_words("4" * 5_000)) == []
    assert time.process_time() - started < 1
    assert list(said_in_words("What is 12 squared plus 3 times 5?")) == ["(12)^2", r"(3)\cdot (5)"]


def test_a_repeated_factor_is_a_power_however_deep_it_stands() -> None:
    assert key(parse("(x+3)(x+3)")) == key(parse("(x+3)^2")) == key(parse("(-x-3)^2"))
    # written out, its factors would be as many as the product of the exponents
    deep = "(" * 12 + "x" + "^{12})" * 12
    assert len(repr(key(parse(deep)))) < 2_000


def test_the_reason_says_what_is_missing_and_the_setting_turns_it_off() -> None:
    question = "What is fourteen plus twenty-three?"
    refused = compare("14+23", "37", question=question)
    assert (refused.outcome, refused.reason) == ("different", "unworked: 14+23 is still to be worked out")
    assert compare("14+23", "37", question=question, copied="accept").outcome == "equal"
    assert compare("14+23", "37").outcome == "equal"


@pytest.mark.parametrize(
    ("question", "answer", "truth", "outcome"),
    [
        # worked out, and not reduced: recorded answers of a small model
        ("What is 1/4 + 3/4?", r"\frac{4}{4}", "1", "equal"),
        ("What is 1/3 + 5/3?", r"\frac{6}{3}", "2", "equal"),
        ("What is 3/4 + 3/4?", r"\frac{12}{8}", r"\frac{3}{2}", "equal"),
        ("Simplify 1/3 + 5/3.", r"\frac{6}{3}", "2", "different"),
        # the question's own numbers, divided
        ("A rope of 24 cm is cut into 3 equal pieces. How long is each?", r"\frac{24}{3}", "8", "different"),
        ("Bob shares 12 apples among 4 friends. How many has each?", "12/4", "3", "different"),
        ("Bob shares 12 apples among 4 friends. How many has each?", r"12\div4", "3", "different"),
    ],
)
def test_a_fraction_that_is_not_reduced_is_a_value_unless_it_only_repeats_the_question(
    question: str, answer: str, truth: str, outcome: str
) -> None:
    assert compare(answer, truth, question=question).outcome == outcome
