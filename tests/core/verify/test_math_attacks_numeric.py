"""What an attacker found against the numbers of the judge: each row stays shut."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.math.exact import MAX_WORK, Exact, Unknown
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import shared

# reference, answer, what the judge may say: never "equal" for what differs
GRIDS_AND_SUMS = [
    ("5", "+".join(f"{k}^-1800" for k in range(901, 951))),
    ("x+1", "+".join(f"(x+{k})^-150" for k in range(200))),
    (",".join(map(str, range(100))), ",".join(f"7^{{5000}}+{k}" for k in range(100))),
    (",".join(f"x^{k}+z" for k in range(90)), ",".join(f"x^{k}+y" for k in range(90))),
]

# pieces that agree near zero, bumps that vanish on small whole numbers
PIECES = [
    (r"|x-5|", r"5-x"),
    (r"|x+4|", r"x+4"),
    (r"|x-100|", r"100-x"),
    (r"|x-20000|", r"20000-x"),
    (r"\sqrt{(x-5)^2}", r"5-x"),
    (r"\max(x,5)", r"5"),
    (r"\min(x,10)", r"x"),
    (r"\ln|x-4|", r"\ln(4-x)"),
    (r"y=|x-5|", r"y=5-x"),
    (r"x", r"2\arctan(\tan(x/2))"),
    (r"x+1", r"x+1+\lfloor|x|/10\rfloor"),
    (r"0", r"\lfloor|x|/4\rfloor"),
    (r"n^2", r"\sum_{k=1}^n(2k-1)+\prod_{k=1}^{13}(n-k)"),
    (r"n^2", r"\sum_{k=1}^n(2k-1)+\prod_{k=1}^{300}(n-k)"),
    (r"x>2", r"x>2 \land \ln x<20"),
    (r"\ln x>\ln 2", r"x>2 \land \ln x<60"),
]
# a solved reference is answered by a solved form
UNSOLVED = [(r"x>2", r"\ln x>\ln 2"), (r"x>2", r"e^x>e^2"), (r"x>e", r"\ln(\ln x)>0")]
LARGE_NUMBERS = [
    ("1000000000000000", "1000000000000001.0000000000"),
    ("18446744073709551616", "18446744073709551615.0000000000"),
]
HIDDEN = [
    (r"\sin x", r"\sin x+10^{-37}"),
    (r"\sin x", r"\sin(x)(1+10^{-38})"),
    (r"e^x", r"e^{x+10^{-38}}"),
    (r"\sqrt2", r"\sqrt2+10^{-987}"),
    (r"\sin x", r"\cosh(10^{-20})\sin x"),
    (r"\sqrt2", r"\sqrt2\cosh(10^{-500})"),
    (r"\sin x", r"\sin x+10^{-5000}"),
]
SAME = [
    ("26", "26.000000000000004"),
    (r"\frac{n(n+1)}{2}", r"\sum_{k=1}^{n} k"),
    (r"2^n", r"\sum_{k=0}^n \binom{n}{k}"),
    (r"\frac{n^2(n+1)^2}{4}", r"\sum_{i=1}^n\sum_{j=1}^n ij"),
    (r"|x-5|", r"|5-x|"),
    (r"\sqrt{(x-5)^2}", r"|x-5|"),
    (r"\max(x,y)", r"\frac{x+y+|x-y|}{2}"),
    (r"\cosh^2 x-1", r"\sinh^2 x"),
    (r"x^x", r"e^{x\ln x}"),
    (r"e^x>e^2", r"x>2"),
    (r"\ln(\ln x)>0", r"x>e"),
]


def outcome(reference: str, answer: str) -> str:
    return compare(answer, reference, symbolic=shared().compare).outcome


@pytest.mark.parametrize(("reference", "answer"), GRIDS_AND_SUMS, ids=range(len(GRIDS_AND_SUMS)))
def test_exact_numbers_stay_within_their_budget(reference: str, answer: str) -> None:
    assert outcome(reference, answer) != "equal"


def test_a_sum_of_coprime_denominators_stops_where_it_grows_over_the_bound() -> None:
    node = parse(GRIDS_AND_SUMS[0][1])
    point = Exact("seed")
    with pytest.raises(Unknown, match="over the bound"):
        point.value(node)
    assert point.work.left > MAX_WORK * 0.9


@pytest.mark.parametrize(("reference", "answer"), PIECES + UNSOLVED + LARGE_NUMBERS)
def test_what_differs_far_away_is_different(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "different"


@pytest.mark.parametrize(("reference", "answer"), SAME)
def test_what_is_equal_everywhere_stays_equal(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"


@pytest.mark.parametrize(("reference", "answer"), HIDDEN)
def test_what_hides_below_the_digits_never_passes(reference: str, answer: str) -> None:
    assert outcome(reference, answer) in ("different", "undecided")


@pytest.mark.parametrize(
    "reference", [pytest.param(r"\int_0^1 x^x\,dx", marks=pytest.mark.slow), r"\lim_{x \to 0} f(x)"]
)
def test_what_cannot_be_evaluated_is_undecided(reference: str) -> None:
    assert outcome(reference, r"\sqrt{2}") == "undecided"
