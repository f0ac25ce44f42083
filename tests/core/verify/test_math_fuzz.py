"""A seeded thousand of `make fuzz`, and some of its pairs beside sympy."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify import countdown
from agentscope_tuner.verify.math.verdict import compare
from benchmarks.math import fuzz

# each raised once
BROKEN = [
    "...",
    "\\begin{cases}\\end{cases}",
    "\\begin{aligned}\\\\\\\\\\end{aligned}",
    "y, \\begin{gathered}\\end{gathered}",
    "9" * 5_000 + "\\frac{1}{2}",
    "0.\\overline{" + "9" * 5_000 + "}",
    "\\lim_{0.\\overline1" + "1" * 5_000 + "}",
]


@pytest.mark.slow
def test_a_thousand_random_answers_neither_raise_nor_take_long() -> None:
    tally = fuzz.run(1_000, seed=1)
    assert tally.violations == []
    assert tally.verdicts.total() == 1_000
    # the series reaches every part that it is to reach
    assert {"equal", "different", "undecided", "countdown 0.0", "countdown 0.1"} <= tally.verdicts.keys()
    assert tally.sandboxed > 0


@pytest.mark.parametrize("answer", BROKEN, ids=lambda text: text[:30])
def test_answers_that_raised_once_are_judged(answer: str) -> None:
    assert compare(answer, "42", symbolic=lambda *_, **__: ("undecided", "")).outcome != "equal"
    assert countdown.score(answer, 24, [4, 6]).reward == 0.0


@pytest.mark.slow
def test_verdicts_are_sympys_on_generated_pairs() -> None:
    # sympy is imported by this test alone
    from benchmarks.math import oracle

    said, found = oracle.disagreements(150, seed=1)
    assert found == []
    assert min(said.values()) > 50
