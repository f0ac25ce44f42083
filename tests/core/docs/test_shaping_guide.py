"""The guide to the judges of length, form and short answers: its blocks run, and its tables say what is so."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest
import yaml

from agentscope_tuner import load_judge
from agentscope_tuner.config import StrictSection
from agentscope_tuner.task_judge.base_judge import TextJudge
from agentscope_tuner.task_judge.choice_judge import read_choice
from agentscope_tuner.task_judge.contract.loading import JUDGES, resolve_protocol

ROOT = Path(__file__).parents[3]
GUIDES = ["docs/shaping.md", "docs/shaping.zh.md"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLASSES = {name: resolve_protocol(f"agentscope_tuner.task_judge.{module}->{name}") for name, module in JUDGES.items()}
TEXT_JUDGES = [name for name, found in CLASSES.items() if issubclass(found, TextJudge)]


def text_of(guide: str) -> str:
    return (ROOT / guide).read_text(encoding="utf-8")


def test_both_languages_show_the_same() -> None:
    plain = [FENCE.findall(text_of(guide)) for guide in GUIDES]
    assert plain[0] == plain[1]
    outside = [FENCE.sub("", text_of(guide)) for guide in GUIDES]
    for pattern in (r"^#+ ", r"^\|.*\|$"):
        first, second = (re.findall(pattern, text, re.MULTILINE) for text in outside)
        assert [line.count("|") for line in first] == [line.count("|") for line in second]
    codes = [sorted(re.findall(r"`[^`\n]+`", text)) for text in outside]
    assert codes[0] == codes[1]


@pytest.mark.parametrize("guide", GUIDES)
def test_the_session_prints_what_it_shows(guide: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (block,) = (body for language, body in FENCE.findall(text_of(guide)) if language == "pycon")
    report: list[str] = []
    test = doctest.DocTestParser().get_doctest(block, {}, guide, guide, 0)
    assert doctest.DocTestRunner().run(test, out=report.append).failed == 0, "".join(report)


def test_every_yaml_block_loads(tmp_path: Path) -> None:
    blocks = [body for language, body in FENCE.findall(text_of(GUIDES[0])) if language == "yaml"]
    assert len(blocks) == 3
    for block in blocks:
        (tmp_path / "guide.yaml").write_text(block, encoding="utf-8")
        load_judge(tmp_path / "guide.yaml")


@pytest.mark.parametrize("name", TEXT_JUDGES)
def test_each_judge_has_a_row_with_its_keys_and_a_section(name: str) -> None:
    settings = vars(CLASSES[name])["settings_class"]
    assert issubclass(settings, StrictSection)
    for guide in GUIDES:
        (row,) = re.findall(rf"^\| `{name}` \|.*$", text_of(guide), re.MULTILINE)
        assert re.findall(r"`([a-z_]+)`", row.split("|")[3]) == list(settings.model_fields)
        assert f"\n## {name}\n" in text_of(guide)


@pytest.mark.parametrize("guide", GUIDES)
def test_the_table_and_the_sections_name_judges_that_are_there(guide: str) -> None:
    assert re.findall(r"^\| `(\w+Judge)` \|", text_of(guide), re.MULTILINE) == [
        name for name in re.findall(r"^## (\w+)$", text_of(guide), re.MULTILINE) if name in TEXT_JUDGES
    ]


def test_the_table_of_formats_gives_the_defaults() -> None:
    settings = importlib.import_module("agentscope_tuner.task_judge.format_judge").FormatConfig
    rows = re.findall(r"^\| `(\w+)` \| `(null|false)` \|", text_of(GUIDES[0]), re.MULTILINE)
    assert [key for key, _ in rows] == list(settings.model_fields)
    assert all(yaml.safe_load(default) == settings.model_fields[key].default for key, default in rows)


def test_the_table_of_choices_says_what_is_chosen() -> None:
    section = text_of(GUIDES[0]).partition("## ChoiceJudge")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*`) \| (\w+)", section, re.MULTILINE)
    assert len(rows) == 5
    for outputs, verdict in rows:
        for said in re.findall(r"`([^`]+)`", outputs):
            letters = read_choice(said, "AB", {"A": "London", "B": "Paris"}).letters
            assert letters == ("B" if verdict == "B" else ""), said
