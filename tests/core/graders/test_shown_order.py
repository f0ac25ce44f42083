"""The order in which a group is shown to a judge that ranks."""

from __future__ import annotations

import pytest

from agentscope_tuner.graders.listwise import _anchors, shown_order


def test_no_text_chooses_its_place_in_a_group() -> None:
    texts = [f"answer {number}" for number in range(8)]
    order = shown_order(texts, 0)
    assert sorted(order) == list(range(8))
    turned = texts[::-1]
    assert [turned[index] for index in shown_order(turned, 0)] == [texts[index] for index in order]
    assert shown_order(texts, None) == list(range(8))
    # the place of a text depends on the others
    places = {shown_order(["mine", *(f"{other} {number}" for number in range(7))], 0).index(0) for other in "abcdefgh"}
    assert len(places) > 2


@pytest.mark.parametrize(
    ("room", "shown"), [(100, ["best", "middle", "worst"]), (15, ["best", "middle", "worst"]), (14, ["middle"])]
)
def test_a_prompt_without_room_for_three_shown_before_repeats_the_middle_one(room: int, shown: list[str]) -> None:
    places = {"worst": 4.0, "second": 2.0, "best": 1.0, "middle": 3.0}
    assert _anchors(places, room) == shown
