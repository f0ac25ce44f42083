r"""References that are sentences, what stands around a value, quantities in several units, times: by the words."""

from __future__ import annotations

import pytest

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.verify.math.units import added_up
from agentscope_tuner.verify.math.verdict import check_reference, compare
from agentscope_tuner.verify.sandbox import shared

# reference | right answers, parted by ; | wrong answers
SENTENCES = r"""
There are exactly two solutions: $x=1$ and $x=3$. | 1,3; x=1 \text{ or } x=3; \{1,3\} | 3; 1; 2; 1,2
The maximum value is $\frac{1}{4}$, attained at $x=\frac12$. | 1/4; 0.25 | \frac12; x=\frac12
$x = 5$ is the only solution. | 5; x=5 | 6
It is impossible. | \text{It is impossible}; it is impossible | possible
Therefore, $f(x)=2x+1$ for all real $x$. | 2x+1; f(x)=2x+1 | x; 2x
$\triangle ABC$ has area $6$. | 6 | 3
She needs 3 hours and 20 minutes. | 3\text{ hours and }20\text{ minutes}; 200 minutes | 3; 20
There are 24 such numbers. | 24; 24\text{ numbers} | 42
All primes $p\equiv 1\pmod 4$. | \text{All primes } p\equiv 1\pmod 4 | 4; 1
The answer is at least 5. | \text{The answer is at least } 5 | 5
When $x$ is 3, the value is 7. | 7 | 3
The minimum is $2$ when $x=1$. | 2 | 1
We get $a=2$ and $b=3$, so the answer is $5$. | 5 | 2; 3
The roots are $2$ and $-3$. | \{2,-3\}; -3, 2 | 2; -3
The roots are 2 and 5. | 2,5 | 2; 5
There are no solutions. | \text{There are no solutions} | 0; \text{There are solutions}
The answer is 5 if n is even and 6 if n is odd. | | 6; 5
The pairs are $(1,2)$ and $(2,1)$. | (1,2),(2,1) | (1,2)
The answer is $3$, since $3^2=9$. | 3 | 9
Let $x=3$. Then the answer is $7$. | 7 | 3
The train arrives at 8:30 p.m. | 8:30 p.m.; 20:30 | 8:30 a.m.; 8:31 p.m.
"""
AROUND = r"""
12 | \text{Total: }12; Total: 12; \therefore 12; 12\ \blacksquare; 12\,\checkmark; = 12 | \text{not: }12
12 | \text{Number of ways: }12; 12 \quad\square; \text{Sum}: 12 | \text{Half: }12; \text{Twice the answer is }12
12 | \text{The required number is }12 | \text{The required number is not }12
42 | \text{Area}=42 | \text{wrong}=42; wrong = 42; 42^{*}; ~42; \approx 42; 41 \therefore 42
x=2 | \text{The only solution is } x=2; \therefore x=2 | \text{The only solution is not } x=2
P(x)=x | P(x)=x\text{ for all }x | P(x)=x\text{ for some }x; P(x)=x \text{ for } x>0; P(x)=x \text{ for all } x \ne 1
f(x)=1/x | f(x)=\frac1x \text{ for } x\neq 0 | f(x)=\frac1x \text{ for } x\neq 0\text{ only}
f(x)=ax+b | f(x)=ax+b,\ a,b\in\mathbb{R} | f(x)=ax+b,\ a=b
x=2k+1, k\in\mathbb{Z} | x=2k+1\ (k\in\mathbb{Z}) | x=2k+1\ (k\in\mathbb{R})
y=x^2+C | y = x^2 + C \text{ (}C\text{ constant)}; y = x^2 + C\ (C \in \mathbb{R}) | y=x^2 (C)
2 h 30 min | 2.5 hours; 150 min; 2 hours and 30 minutes | 2 h 31 min; 30 min; 2; 2\text{ kg }30\text{ g}
5\text{ ft }3\text{ in} | 63\text{ inches} | 5\text{ in }3\text{ ft}; 53\text{ inches}
"""


def rows(table: str) -> list[tuple[str, str, bool]]:
    found = []
    for line in table.strip().splitlines():
        reference, right, wrong = (cell.strip() for cell in line.split(" |"))
        found += [(reference, a.strip(), True) for a in right.split(";") if a.strip()]
        found += [(reference, a.strip(), False) for a in wrong.split(";") if a.strip()]
    return found


@pytest.mark.parametrize(("reference", "answer", "equal"), rows(SENTENCES) + rows(AROUND))
def test_the_value_counts_and_not_what_stands_around_it(reference: str, answer: str, equal: bool) -> None:
    verdict = compare(answer, reference, symbolic=shared().compare)
    assert (verdict.outcome == "equal") is equal, verdict.reason


@pytest.mark.parametrize("reference", ["The area is $12$ and the perimeter is $14$.", "$x$ is $1$ and $y$ is $2$."])
def test_a_sentence_that_states_two_things_is_no_reference(reference: str) -> None:
    with pytest.raises(JudgeError, match="several things"):
        check_reference(reference)


@pytest.mark.parametrize("reference", ["None", "null", "NULL", "$None$"])
def test_what_a_missing_value_is_written_as_is_no_reference(reference: str) -> None:
    with pytest.raises(JudgeError, match="missing"):
        check_reference(reference)


def test_a_backslash_lost_right_behind_the_brace_of_a_box_is_named() -> None:
    with pytest.raises(JudgeError, match="lost its backslash"):
        check_reference("\\boxed{" + "\frac{1}{2}}")


EVENING = "The train leaves at 6:15 p.m. and takes 2 hours 15 minutes. When does it arrive?"


@pytest.mark.parametrize(
    ("reference", "answer", "question", "equal"),
    [
        ("8:30", "8:30 p.m.", EVENING, True),
        ("8:30", "4:15", EVENING, False),
        ("8:30", "9:30 p.m.", EVENING, False),
        ("20:30", "8:30", EVENING, False),
        ("8:30", "8:30 p.m.", None, False),
        (
            r"f(x)=\frac1x",
            r"f(x)=\frac1x \text{ for all } x>0",
            r"Find all $f:\mathbb{R}^+\to\mathbb{R}^+$ with …",
            True,
        ),
    ],
)
def test_the_question_says_what_may_be_left_out(reference: str, answer: str, question: str | None, equal: bool) -> None:
    assert (compare(answer, reference, question=question).outcome == "equal") is equal


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("2h30m", r"150\text{ min}"),
        ("1 day, 2 hours and 5 minutes", r"1565\text{ minute}"),
        ("3 dollars and 50 cents", r"350\text{ cent}"),
        ("5 minutes 2 hours", None),
        ("2 apples and 3 pears", None),
        ("2 hours or 3 hours", None),
        ("x=2 and y=3", None),
        ("3a2b", None),
    ],
)
def test_quantities_in_several_units_are_added_up(text: str, quantity: str | None) -> None:
    assert added_up(text) == quantity


@pytest.mark.parametrize("word", ["minus", "excluding", "halves", "doubled", "tens", "less", "the negative", "third"])
def test_a_word_that_operates_is_no_unit_even_where_the_question_says_it(word: str) -> None:
    question = f"What is the number, {word} and all, excluding the smallest?"
    assert compare(f"5\\text{{ {word}}}", "5", question=question).outcome != "equal"
