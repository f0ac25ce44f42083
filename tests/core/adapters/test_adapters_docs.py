"""The trainers' guide: its code compiles, its YAML reads, both languages show the same, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
GUIDES = ["docs/trainers.md", "docs/trainers.zh.md"]


def blocks(guide: str, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / guide).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize("guide", GUIDES)
def test_its_code_compiles_and_its_yaml_reads(guide: str) -> None:
    assert len(blocks(guide, "python")) >= 5
    for code in blocks(guide, "python"):
        compile(code, guide, "exec")
    for text in [*blocks(guide, "yaml"), (ROOT / "configs/verl_math.yaml").read_text(encoding="utf-8")]:
        assert isinstance(yaml.safe_load(text), dict)


def test_both_languages_show_the_same_code() -> None:
    for language in ("python", "yaml", "console"):
        assert blocks(GUIDES[0], language) == blocks(GUIDES[1], language)


@pytest.mark.parametrize("guide", GUIDES)
def test_the_files_and_targets_it_names_exist(guide: str) -> None:
    text = (ROOT / guide).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / "docs" / link).exists(), link
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make (test-[a-z0-9]+)", text):
        assert f"{target}:" in makefile or target == "test-trainers", target
