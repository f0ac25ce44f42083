"""What the commands' tables show of numbers, intervals and texts."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner.cli.console import cell, counted, measure, number, span


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (counted(0, "rule"), "0 rules"),
        (counted(1, "rule"), "1 rule"),
        (counted(2, "rule"), "2 rules"),
        (counted(1234, "row"), "1,234 rows"),
        (number(None), "–"),
        (number(0.0), "0.000"),
        (number(0.12349), "0.123"),
        (span(None), "–"),
        (span([0.0, 1.23449]), "0.000 to 1.234"),
    ],
)
def test_a_number_is_shown_with_three_decimals_and_a_dash_where_there_is_none(shown: str, expected: str) -> None:
    assert shown == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"value": 0.5, "interval": [0.25, 0.75]}, "0.500 (0.250 to 0.750)"),
        ({"value": 0.5, "interval": None}, "0.500"),
        ({"value": None, "interval": None}, "–"),
    ],
)
def test_a_measure_has_its_interval_only_where_one_is_known(found: dict[str, Any], expected: str) -> None:
    assert measure(found) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a" * 300, "a" * 300), ("a" * 301, "a" * 300 + "…"), ("[bold]", "\\[bold]"), ("a\x1b[2Jb", "a\\x1b[2Jb")],
)
def test_a_cell_shows_text_as_it_is_written_and_of_a_long_one_its_beginning(text: str, expected: str) -> None:
    assert cell(text) == expected
