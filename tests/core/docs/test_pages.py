"""Every page of docs/: what it links to and names is there, languages name each other, the design's house stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import agentscope_tuner
from agentscope_tuner import graders
from tests.core.house.test_layers import FLOORS

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
CHINESE = sorted(DOCS.rglob("*.zh.md"))
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(?:#[^)]*)?\)")
NAMED = re.compile(r"(?<![\w/.-])(?:configs|tutorial|benchmarks)/[\w./-]+\.\w+")
# a table of rules that docs/rules.md breaks on purpose, to show what is said of it
MADE_UP = {"configs/agents/broken.yaml"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_that_a_page_links_to_or_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [link for link in LINK.findall(text) if not (page.parent / link).exists()] == []
    assert [name for name in NAMED.findall(text) if name not in MADE_UP and not (ROOT / name).exists()] == []


@pytest.mark.parametrize("chinese", CHINESE, ids=lambda page: page.name)
def test_the_two_languages_of_a_guide_name_each_other(chinese: Path) -> None:
    english = chinese.with_name(chinese.name.replace(".zh.md", ".md"))
    assert f"[English]({english.name})" in chinese.read_text(encoding="utf-8")
    assert f"[中文]({chinese.name})" in english.read_text(encoding="utf-8")


BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# comments, and texts that a page shows in its reader's language
TOLD = re.compile(r"#.*|\"[^\"\n]*\"|[^\x00-\x7f]+|\blanguage[:=] ?\"?\w+\"?|\s+|[,)}]")


@pytest.mark.parametrize("chinese", sorted({*CHINESE} - {DOCS / "reference.zh.md"}), ids=lambda page: page.name)
def test_the_two_languages_have_the_same_sections_paragraphs_tables_and_blocks(chinese: Path) -> None:
    def shape(text: str) -> list[object]:
        sections: list[object] = []
        for part in re.split(r"(?m)^(?=#+ )", BLOCK.sub("a block", text))[1:]:
            rows = sum(line.startswith("|") for line in part.splitlines())
            # a table without a blank line before it is shown as text
            paragraphs = len(re.split(r"\n\s*\n", part.strip()))
            sections.append((part.index(" "), rows, paragraphs))
        blocks = [(language, TOLD.sub("", body)) for language, body in BLOCK.findall(text)]
        return [*sections, *blocks]

    english = chinese.with_name(chinese.name.replace(".zh.md", ".md"))
    assert shape(chinese.read_text(encoding="utf-8")) == shape(english.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [*ROOT.glob("README*.md"), *PAGES], ids=lambda page: page.name)
def test_the_head_of_a_table_stands_between_a_blank_line_and_its_rows(page: Path) -> None:
    lines = ["", *BLOCK.sub("a block", page.read_text(encoding="utf-8")).splitlines(), ""]
    heads = [place for place, line in enumerate(lines) if re.fullmatch(r"\|(?: *:?-+:? *\|)+", line)]
    # with a line between them, the rows are shown as text
    torn = [lines[at - 1] for at in heads if not lines[at - 1].startswith("|") or not lines[at + 1].startswith("|")]
    assert torn == []
    assert [lines[at - 1] for at in heads if lines[at - 2].strip()] == []


def test_the_gallery_shows_every_configuration_that_ships() -> None:
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shipped = {f"configs/{path.name}" for path in (ROOT / "configs").glob("*.yaml")}
    assert set(re.findall(r"\]\(\.\./(configs/[^)]+)\)", text)) == shipped


def test_the_reference_lists_every_public_name_once() -> None:
    rows = re.findall(
        r"^\| `(agentscope_tuner[\w.]*)` \| \d+\.\d+\.\d+ \| (?:stable|provisional) \|",
        (DOCS / "reference.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    public = [f"agentscope_tuner.{name}" for name in (*agentscope_tuner.__all__, "ModelTuner")]
    public += [f"agentscope_tuner.graders.{name}" for name in graders.__all__]
    folder = ROOT / "agentscope_tuner" / "adapters"
    public += [f"agentscope_tuner.adapters.{path.stem}" for path in folder.iterdir() if path.stem[0] != "_"]
    # what several adapters share, and none of them hands on
    public.remove("agentscope_tuner.adapters.rollout")
    assert sorted(rows) == sorted([*public, "agentscope_tuner.errors"])


@pytest.mark.parametrize("name", ["python", "license", "types"])
def test_a_badge_says_what_setup_cfg_says(name: str) -> None:
    said = re.findall(r"<text[^>]*>([^<]*)<", (DOCS / "images" / f"badge-{name}.svg").read_text(encoding="utf-8"))
    setup = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    pythons = re.findall(r"Programming Language :: Python :: (3\.\d+)", setup)
    told = {"python": " | ".join(pythons), "license": "Apache-2.0", "types": "mypy strict"}[name]
    assert said[1] == told
    assert {"python": "python_requires", "license": "license = Apache-2.0", "types": "strict = true"}[name] in setup
    for page in ("README.md", "README.zh.md"):
        assert f"![{said[0]} {told}](docs/images/badge-{name}.svg)" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["insight.md", "insight.zh.md"])
def test_the_story_of_a_hole_shows_the_configuration_that_it_names(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    shown, *_ = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    logged, plain = (
        yaml.safe_load((ROOT / "configs" / file).read_text(encoding="utf-8"))
        for file in ("math_lenient_logged.yaml", "math_lenient.yaml")
    )
    assert yaml.safe_load(shown) == logged
    # the same judge and the same rules: the story replays a run that the plain one has paid for
    assert logged["astuner"]["task_judge"].pop("log_dir") == "out/judged"
    assert logged["astuner"].pop("second_opinion") == {"conf": "configs/math.yaml"}
    assert logged == plain


def test_the_design_gives_each_module_the_floor_that_is_enforced() -> None:
    house = (DOCS / "design.md").read_text(encoding="utf-8").split("## The house")[1].split("```")[1]
    told = {name: int(floor) for name, floor in re.findall(r"(?m)^  (\w+)(?:/|\.py) .* (-?\d+)$", house)}
    # written by the build
    assert told == {name: floor for name, floor in FLOORS.items() if name != "_version"}


def test_the_modules_that_the_design_names_are_there() -> None:
    there = {path.name for folder in ("agentscope_tuner", "tutorial") for path in (ROOT / folder).rglob("*.py")}
    named = re.findall(r"\w+\.py", (DOCS / "design.md").read_text(encoding="utf-8"))
    assert len(named) > 3
    assert [name for name in named if name not in there] == []
