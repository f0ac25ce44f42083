"""The order in which a group is shown to a judge that ranks."""

from __future__ import annotations

from agentscope_tuner.graders.listwise import shown_order


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
