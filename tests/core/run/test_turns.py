"""Whose work is next: requests in turns, the shortest first, nobody passed by for ever."""

from __future__ import annotations

import pytest

from agentscope_tuner._run.pool import FairQueue, Request, current_request, one_request


class Line:
    """A queue whose items are their own names, of named requests."""

    def __init__(self) -> None:
        self.queue: FairQueue[str] = FairQueue()
        self.requests: dict[str, Request] = {}

    def add(self, *items: tuple[str, float]) -> None:
        for name, seconds in items:
            self.queue.add(name, self.request(name), seconds)

    def request(self, name: str) -> Request:
        return self.requests.setdefault(name[0], Request())

    def take(self, most: int = 100) -> list[str]:
        found = [self.queue.take() for _ in range(min(most, len(self.queue)))]
        return [name for name in found if name is not None]


ORDERS = [
    # requests take turns, so one with few items does not wait for one with many
    ([("a1", 1), ("a2", 1), ("a3", 1), ("b1", 1)], ["a1", "b1", "a2", "a3"]),
    # a request's shortest first
    ([("a1", 9), ("a2", 1), ("a3", 5)], ["a2", "a3", "a1"]),
    # by seconds, not by number: ten short ones for a long one
    ([("a1", 10), *((f"b{n}", 1) for n in range(9))], [*(f"b{n}" for n in range(9)), "a1"]),
    # one at a time of those that are equally short, in the order of coming
    ([("a1", 1), ("b1", 1), ("c1", 1)], ["a1", "b1", "c1"]),
    ([], []),
]


@pytest.mark.parametrize(("items", "order"), ORDERS)
def test_the_order_of_what_waits(items: list[tuple[str, float]], order: list[str]) -> None:
    line = Line()
    line.add(*items)
    assert line.take() == order
    assert line.queue.take() is None


def test_a_request_that_comes_later_starts_level_with_those_that_wait() -> None:
    line = Line()
    line.add(*((f"a{n}", 1.0) for n in range(10)))
    line.take(6)
    line.add(*((f"b{n}", 1.0) for n in range(4)))
    # it has no six turns to make up for
    assert line.take(4) in (["a6", "b0", "a7", "b1"], ["b0", "a6", "b1", "a7"])


@pytest.mark.parametrize("request_of_the_short", ["a", "b"])
def test_a_long_one_is_not_passed_for_ever(request_of_the_short: str) -> None:
    line = Line()
    line.add(("a_long", 5.0))
    taken = []
    for n in range(20):
        line.add((f"{request_of_the_short}{n}", 1.0))
        taken += line.take(1)
    assert taken.index("a_long") <= 6


def test_what_took_longer_than_expected_is_charged_to_its_own_request() -> None:
    line = Line()
    line.add(("a1", 1.0), ("a2", 1.0), ("b1", 1.0), ("b2", 1.0), ("b3", 1.0))
    assert line.take(1) == ["a1"]
    line.queue.charge(line.request("a"), 2.5)
    assert line.take() == ["b1", "b2", "b3", "a2"]


def test_what_was_not_used_after_all_is_given_back() -> None:
    line = Line()
    line.add(("a1", 3.0), ("a2", 3.0), ("b1", 4.0))
    assert line.take(1) == ["a1"]
    line.queue.charge(line.request("a"), -3.0)
    assert line.take() == ["a2", "b1"]


def test_a_request_named_within_another_is_that_other_one() -> None:
    assert current_request() is not current_request()
    with one_request():
        outer = current_request()
        with one_request():
            assert current_request() is outer
        assert current_request() is outer
    assert current_request() is not outer
