"""The last box of an output, whatever the output looks like."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentscope_tuner.verify.find import last_boxed, last_boxes

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
    (r"\boxed 7 or \boxed 8, no more", "8"),
    (r"\fbox{3}", "3"),
    (r"\fbox{3} \boxed{4}", "4"),
    (r"\boxed{\boxed{1} or 2}", r"\boxed{1} or 2"),
    (r"\boxed{ we get \boxed{42}", "42"),
    ("{ { a dict { \\boxed{5} and \\boxed{6}", "6"),
    ("} } \\boxed{5} } and \\boxed{6} }", "6"),
    (r"\boxed{}", ""),
    (r"\\boxed{1} and \\boxed{2}", "2"),
    (r"a \\\boxed{1}\\\boxed{2}", "2"),
    ("\\boxed{1\n2}", "1\n2"),
]
ABSENT = [
    "",
    "42",
    r"\boxed",
    r"\boxed{",
    r"\boxed{12",
    r"\boxedx{3}",
    r"\boxed{1} then \boxed{2",
    "boxed{4}",
    r"\boxed\boxed{2",
]


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


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (r"\boxed{1}", ["1"]),
        (r"\boxed{ 1 }, \boxed 2 or $\boxed{3}$", [" 1 ", "2", "3"]),
        (r"\boxed{1}, then something else: \boxed{2} and \boxed{3}", ["2", "3"]),
        ("\\boxed{1}" + " " * 60 + "\\boxed{2}", ["1", "2"]),
        ("\\boxed{1}" + " " * 61 + "\\boxed{2}", ["2"]),
        (r"\boxed 12345678901234567890 or \boxed 2", ["12345678901234567890", "2"]),
        (r"\boxed{1} \boxed{2", []),
        (r"\boxed{1", []),
        ("no box", []),
    ],
)
def test_boxes_side_by_side_are_read_together(text: str, inside: list[str]) -> None:
    assert last_boxes(text) == inside


CONTENTS = st.recursive(
    st.text("ab1 ,\n.$\u4f60", max_size=5) | st.sampled_from([r"\{", r"\}", r"\\ ", r"\frac", r"\boxed 3"]),
    lambda inner: st.lists(inner, max_size=3).map(lambda parts: "{" + "".join(parts) + "}"),
    max_leaves=8,
)
BEFORE = st.text(alphabet="{}ab \n$", max_size=8)


@settings(max_examples=60, deadline=None)
@given(BEFORE, st.lists(CONTENTS, max_size=4).map("".join), BEFORE, st.sampled_from(["boxed", "fbox"]))
def test_a_box_gives_back_what_was_put_in_whatever_stands_around_it(
    before: str, content: str, after: str, macro: str
) -> None:
    text = f"{before}\\{macro}{{{content}}}{after}"
    assert last_boxed(text) == content.strip()
    assert last_boxes(text) == [content]
    assert last_boxed(f"\\boxed{{0}} not {text}") == content.strip()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([r"\boxed", r"\fbox", "{", "}", "\\", "1", " ", "or", "x"]), max_size=12).map("".join))
@example(r"\boxed\boxed{2")
@example(r"\\boxed{2}")
def test_whatever_is_found_is_the_same_in_both_readings_and_stands_in_the_text(text: str) -> None:
    last = last_boxed(text)
    boxes = last_boxes(text)
    assert (boxes[-1].strip() if boxes else None) == last
    assert all(box in text for box in boxes)
    # one box is read without the stack that two need
    if last is not None:
        assert last_boxed(rf"\boxed{{0}} {text}") == last
