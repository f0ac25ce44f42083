"""The four documented example agents against tables of outputs whose violations were written down by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.cli.rules import agent_rules

ROOT = Path(__file__).parents[3]
TABLES = sorted((ROOT / "tests" / "rule_tables").glob("*.jsonl"))
AGENTS = ("binary", "classifier", "dialogue_summary", "structured_output")


def rows_of(table: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]


def test_every_example_agent_has_a_table_with_verdicts_of_both_kinds() -> None:
    assert tuple(table.stem for table in TABLES) == AGENTS
    for table in TABLES:
        rows = rows_of(table)
        assert len({row["output"] for row in rows}) >= 30
        assert {bool(row["violations"]) for row in rows} == {True, False}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.stem)
def test_an_example_agents_rules_find_what_the_table_says(table: Path) -> None:
    rules = agent_rules(ROOT / "configs" / "agents", table.stem).compile()
    wrong = [
        (row["output"][:80], row["violations"], found)
        for row in rows_of(table)
        if (found := [broken.rule_id for broken in rules.check(row["output"])]) != row["violations"]
    ]
    assert wrong == []
