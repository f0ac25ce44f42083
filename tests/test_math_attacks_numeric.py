"""What an attacker found against the numbers of the judge: each row stays shut."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.math_answer import compare, read
from agentscope_tuner.verify.math_exact import MAX_WORK, Exact, Unknown
from agentscope_tuner.verify.sandbox import shared

# reference, answer, what the judge may say: never "equal" for what differs
GRIDS_AND_SUMS = [
    ("5", "+".join(f"{k}^-1800" for k in range(901, 951))),
    ("x+1", "+".join(f"(x+{k})^-150" for k in range(200))),
    (",".join(map(str, range(100))), ",".join(f"7^{{5000}}+{k}" for k in range(100))),
    (",".join(f"x^{k}+z" for k in range(90)), ",".join(f"x^{k}+y" for k in range(90))),
]


def outcome(reference: str, answer: str) -> str:
    return compare(answer, reference, symbolic=shared().compare).outcome


@pytest.mark.parametrize(("reference", "answer"), GRIDS_AND_SUMS, ids=range(len(GRIDS_AND_SUMS)))
def test_exact_numbers_stay_within_their_budget(reference: str, answer: str) -> None:
    assert outcome(reference, answer) != "equal"


def test_a_sum_of_coprime_denominators_stops_where_it_grows_over_the_bound() -> None:
    node = read(GRIDS_AND_SUMS[0][1]).node
    assert node is not None
    point = Exact("seed")
    with pytest.raises(Unknown, match="over the bound"):
        point.value(node)
    assert point.work.left > MAX_WORK * 0.9
