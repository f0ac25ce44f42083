"""The guide to combined and routed judges: its configurations load, and both languages show the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from agentscope_tuner import load_judge

ROOT = Path(__file__).parents[3]
GUIDES = ["docs/combined.md", "docs/combined.zh.md"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(guide: str) -> str:
    return (ROOT / guide).read_text(encoding="utf-8")


@pytest.mark.parametrize("guide", GUIDES)
def test_its_configurations_and_the_shipped_ones_load(guide: str) -> None:
    sources = [body for language, body in FENCE.findall(text_of(guide)) if language == "yaml"]
    assert len(sources) == 2
    for source in sources:
        load_judge(yaml.safe_load(source))
    for name in ("configs/combined.yaml", "configs/routed.yaml"):
        load_judge(ROOT / name)
    for name in ("parts.yaml", "parts_heavy_form.yaml"):
        load_judge(ROOT / "tutorial/example_math_agent" / name)


def test_both_languages_show_the_same_blocks_headings_and_tables() -> None:
    first, second = map(text_of, GUIDES)
    assert FENCE.findall(first) == FENCE.findall(second)
    for pattern in (r"^#+ ", r"^\|.*\|$"):
        lines = [re.findall(pattern, FENCE.sub("", text), re.MULTILINE) for text in (first, second)]
        assert [line.count("|") for line in lines[0]] == [line.count("|") for line in lines[1]]
    numbers = [re.findall(r"-?\d+\.\d+ → -?\d+\.\d+", text) for text in (first, second)]
    assert numbers[0] == numbers[1] != []


@pytest.mark.parametrize("guide", GUIDES)
def test_what_it_links_to_is_there(guide: str) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", text_of(guide)):
        assert (ROOT / "docs" / link).exists(), link
