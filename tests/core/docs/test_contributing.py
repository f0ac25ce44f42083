"""CONTRIBUTING.md: its commands run, its recipes name files that are there, and their lists are whole."""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.env_service.environment import BUILT_IN
from agentscope_tuner.rules import RULE_HANDLERS
from agentscope_tuner.rules.kinds import KINDS, REQUIRED
from agentscope_tuner.task_judge import class_check
from agentscope_tuner.task_judge.llm_settings import READY

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [line[2:] for block in FENCE.findall(GUIDE) for line in block.splitlines() if line.startswith("$ ")]
# Serves until Ctrl-C; tests/with_servers/env serves classes by name
SERVES = "astuner env serve"
FOLDERS = ["", "agentscope_tuner", "docs", "tests/core/adapters", "tests/core/rules", "tests/with_trainers"]
# made up by the recipes
EXAMPLES = {"guess.py", "out/mine.jsonl"}


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.fixture
def kinds_put_back() -> Iterator[None]:
    """A command that imports a module of rules adds its kinds to this process."""
    kinds, modules = dict(RULE_HANDLERS), set(sys.modules)
    yield
    RULE_HANDLERS.clear()
    RULE_HANDLERS.update(kinds)
    for name in set(sys.modules) - modules:
        if name.startswith("tutorial."):
            del sys.modules[name]


@pytest.mark.usefixtures("kinds_put_back")
@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("astuner") and SERVES not in line])
def test_its_commands_run(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tutorial").symlink_to(ROOT / "tutorial")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    assert done.exit_code == 0, done.output


def test_the_targets_that_it_names_are_there() -> None:
    named = set(re.findall(r"\bmake ([a-z][\w-]*\w)(?=`|$)", GUIDE))
    assert len(named) > 5
    makefile = text_of("Makefile")
    assert [target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_the_files_that_it_names_are_there() -> None:
    named = {*re.findall(r"`(\w[\w/.]*\.(?:py|md|yaml|jsonl|txt|cfg))`", GUIDE), *re.findall(r"\]\(([\w/.]+)\)", GUIDE)}
    assert len(named) > 20
    beside = {path.name for folder in ("agentscope_tuner", "tests") for path in (ROOT / folder).rglob("*.*")}
    lost = [name for name in named - EXAMPLES if not any((ROOT / folder / name).is_file() for folder in FOLDERS)]
    assert [name for name in lost if "/" in name or name not in beside] == []


def test_a_misspelled_judge_is_compared_with_every_judge_that_a_protocol_names() -> None:
    """The others are asked for by `judge_type`, or are the base of some."""
    by_type = {"AutoGraderJudge", "CombinedJudge", "LLMJudge", "RoutedJudge", "TaskRubricsJudge"}
    bases = {"BaseJudge", "TextJudge", "ConfiguredJudge", "TaskJudge"}
    classes = {
        node.name: path.stem
        for path in (ROOT / "agentscope_tuner" / "task_judge").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name.endswith("Judge")
    }
    assert {name: file for name, file in classes.items() if name not in by_type | bases} == class_check._BUILT_IN


@pytest.mark.parametrize("page", ["README.md", "README.zh.md", "docs/design.md"])
def test_a_list_of_rule_kinds_names_them_all(page: str) -> None:
    assert [kind for kind in KINDS if f"`{kind}" not in text_of(page)] == []


def test_the_design_gives_each_rule_kind_its_parameters() -> None:
    (line,) = re.findall(
        r"^Rule kinds and their parameters: (.*?)\.$", text_of("docs/design.md"), re.MULTILINE | re.DOTALL
    )
    takes = {
        kind: ", ".join(
            parameter.name if parameter.default is REQUIRED else f"{parameter.name}={json.dumps(parameter.default)}"
            for parameter in KINDS[kind].parameters
        )
        for kind in KINDS
    }
    assert dict(re.findall(r"`(\w+)(?:\{([^`]*)\})?`", line)) == takes


@pytest.mark.parametrize("page", ["docs/graders.md", "docs/graders.zh.md"])
def test_the_guide_to_judge_models_names_every_ready_grader(page: str) -> None:
    assert [name for name in READY if f"`{name}`" not in text_of(page)] == []
    assert [kind.__name__ for kind in READY.values() if f"| `{kind.__name__}` |" not in text_of(page)] == []


@pytest.mark.parametrize("page", ["docs/env_service.md", "docs/env_service.zh.md"])
def test_the_guide_and_the_help_name_every_environment_that_ships(page: str) -> None:
    assert [name for name in BUILT_IN if f"\n| `{name}` |" not in text_of(page)] == []
    told = CliRunner().invoke(app, shlex.split("env serve --help")).stdout
    assert [name for name in BUILT_IN if name not in told] == []
