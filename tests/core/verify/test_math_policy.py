"""The conventions of docs/math_equivalence.md: every example in their tables is judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import shared
from tests.tables import first, together

PAGE = Path(__file__).parents[3] / "docs" / "math_equivalence.md"
CHINESE = PAGE.with_suffix(".zh.md")
CODE = re.compile(r"`[^`]+`")
EXAMPLE = re.compile(r"`([^`]*)` for `([^`]*)`(?: to `([^`]*)`)?")
Example = tuple[str, str, str | None, bool]


def table(path: Path = PAGE, heading: str = "The conventions") -> list[list[str]]:
    """The cells of each row of the tables below the heading."""
    page = path.read_text(encoding="utf-8")
    section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    tables = [[line for line in part.splitlines() if line.startswith("|")] for part in section.split("\n### ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for lines in tables for line in lines[2:]]


def examples() -> list[Example]:
    return [
        (match[1], match[2], match[3], equal)
        for row in table()
        for cell, equal in ((row[2], True), (row[3], False))
        for match in EXAMPLE.finditer(cell)
    ]


def test_a_cell_holds_examples_and_nothing_else() -> None:
    for row in table():
        assert len(row) == 4, row
        assert row[2] or row[3], row
        assert [EXAMPLE.sub("", cell).strip("; ") for cell in row[2:]] == ["", ""], row


@pytest.mark.parametrize("rows", together(examples()), ids=first)
def test_every_example_holds(rows: list[tuple[str, str, str | None, bool]]) -> None:
    wrong = []
    for answer, reference, question, equal in rows:
        verdict = compare(answer, reference, symbolic=shared().compare, question=question)
        if (verdict.outcome == "equal") is not equal:
            wrong.append((answer, reference, question, verdict.reason))
    assert not wrong


def test_the_chinese_table_has_the_same_rows_and_examples() -> None:
    chinese = table(CHINESE, "约定")
    assert [row[2:] for row in chinese] == [row[2:] for row in table()]
    for theirs, ours in zip(chinese, table(), strict=True):
        assert CODE.findall(" ".join(theirs[:2])) == CODE.findall(" ".join(ours[:2])), ours[0]


def test_the_chinese_page_says_the_same_figures_commands_and_formulas() -> None:
    told = [
        [sorted(found) for found in (CODE.findall(text), re.findall(r"\d[\d,.]*\d|\d", CODE.sub("", text)))]
        for text in (re.sub(r"\]\([^)]*\)", "]", path.read_text(encoding="utf-8")) for path in (PAGE, CHINESE))
    ]
    assert told[0] == told[1]


def test_the_table_is_read() -> None:
    assert len(table()) >= 40
    assert len(examples()) >= 120
