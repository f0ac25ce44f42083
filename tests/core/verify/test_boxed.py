"""The last box of an output, whatever the output looks like."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.boxed import last_boxed

FOUND = [
    (r"so \boxed{42}.", "42"),
    (r"\boxed{ 42 }", "42"),
    (r"\boxed {42}", "42"),
    (r"first \boxed{1}, then \boxed{2}", "2"),
    (r"\boxed{\frac{1}{\sqrt{2}}}", r"\frac{1}{\sqrt{2}}"),
    (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
    (r"\boxed{[0, \}}", r"[0, \}"),
    (r"\boxed{a \\}", r"a \\"),
    (r"\boxed{\text{if } x}", r"\text{if } x"),
    (r"\boxed 7 and no more", "7"),
    (r"$\boxed7$", "7"),
    (r"\fbox{3}", "3"),
    (r"\fbox{3} \boxed{4}", "4"),
    (r"\boxed{\boxed{1} or 2}", r"\boxed{1} or 2"),
    (r"\boxed{ we get \boxed{42}", "42"),
    ("{ { a dict { \\boxed{5} and \\boxed{6}", "6"),
    ("} } \\boxed{5} } and \\boxed{6} }", "6"),
    (r"\boxed{}", ""),
    ("\\boxed{1\n2}", "1\n2"),
]
ABSENT = ["", "42", r"\boxed", r"\boxed{", r"\boxed{12", r"\boxedx{3}", r"\boxed{1} then \boxed{2", "boxed{4}"]


@pytest.mark.parametrize(("text", "inside"), FOUND)
def test_last_box_is_found_with_its_braces(text: str, inside: str) -> None:
    assert last_boxed(text) == inside


@pytest.mark.parametrize("text", ABSENT)
def test_no_closed_box_is_no_answer(text: str) -> None:
    assert last_boxed(text) is None


@pytest.mark.slow
def test_huge_outputs_are_read_in_one_pass() -> None:
    # quadratic reading of these would take minutes
    assert last_boxed("\\boxed{1}" * 20_000) == "1"
    assert last_boxed("\\boxed{" * 20_000 + "7" + "}" * 20_000) is not None
    assert last_boxed("\\boxed{" * 20_000) is None
    assert last_boxed("\\boxed{" + "{" * 5_000 + "1" + "}" * 5_000 + "}") == "{" * 5_000 + "1" + "}" * 5_000
    assert last_boxed("x" * 1_000_000 + "\\boxed{1}") == "1"
    assert last_boxed("\\boxed" * 100_000) == "\\boxed"
    assert last_boxed("\\boxed" * 100_000 + " 7") == "7"
    assert last_boxed("\\boxed1" * 100_000) == "1"
    assert last_boxed("\\boxed{1}" + "\\boxed -x" * 100_000 + " and more") == "-x"
