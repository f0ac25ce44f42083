"""The way of a judge model's reply through the code stays short: a reader walks it in minutes."""

from __future__ import annotations

from tests.trip import reply_to_judgement


def test_a_reply_becomes_a_judgement_in_few_calls() -> None:
    trip = reply_to_judgement()
    assert 10 < len(trip.calls) <= 120, trip.calls
    assert len(trip.modules) <= 20
