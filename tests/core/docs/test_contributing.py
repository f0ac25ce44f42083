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

from agentscope_tuner import ConfigError, Task, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.cli.app import app
from agentscope_tuner.env_service.environment import BUILT_IN
from agentscope_tuner.rules import RULE_HANDLERS
from agentscope_tuner.rules.kinds import KINDS, REQUIRED
from agentscope_tuner.task_judge.contract.loading import JUDGES, JUDGES_BY_TYPE
from agentscope_tuner.task_judge.llm.settings import READY
from tests.targets import TARGETS

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [line[2:] for block in FENCE.findall(GUIDE) for line in block.splitlines() if line.startswith("$ ")]
# Serves until Ctrl-C; tests/with_servers/env serves classes by name
SERVES = "astuner env serve"
FOLDERS = ["", "agentscope_tuner", "docs", "tests/core/adapters", "tests/core/rules", "tests/with_trainers"]
TESTED_ELSEWHERE = {
    "CountdownAnswerAsJudge": "core/verify/test_countdown.py",
    # their sandbox needs an environment of its own
    "CodeJudge": "with_code/test_code_judge.py",
    "ReasoningGymJudge": "with_code/test_reasoning_gym_judge.py",
    "SqlJudge": "with_code/test_sql_judge.py",
}
# judges with a page of their own
PAGES = {"CodeJudge": "code", "HttpJudge": "service", "ReasoningGymJudge": "code", "SqlJudge": "code"}
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
    assert named <= TARGETS


def test_the_files_that_it_names_are_there() -> None:
    named = {*re.findall(r"`(\w[\w/.]*\.(?:py|md|yaml|jsonl|txt|cfg))`", GUIDE), *re.findall(r"\]\(([\w/.]+)\)", GUIDE)}
    assert len(named) > 20
    beside = {path.name for folder in ("agentscope_tuner", "tests") for path in (ROOT / folder).rglob("*.*")}
    lost = [name for name in named - EXAMPLES if not any((ROOT / folder / name).is_file() for folder in FOLDERS)]
    assert [name for name in lost if "/" in name or name not in beside] == []


def test_a_misspelled_judge_is_compared_with_every_judge_that_a_protocol_names() -> None:
    """The others are asked for by `judge_type`, or are the base of some."""
    by_type = {protocol.partition("->")[2] for protocol in JUDGES_BY_TYPE.values()}
    bases = {"BaseJudge", "TextJudge", "ConfiguredJudge", "TaskJudge"}
    classes = {
        node.name: path.stem
        for path in (ROOT / "agentscope_tuner" / "task_judge").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name.endswith("Judge")
    }
    assert {name: file for name, file in classes.items() if name not in by_type | bases} == JUDGES


@pytest.mark.parametrize(("name", "module"), JUDGES.items())
def test_each_judge_stands_in_the_five_files_of_the_recipe(name: str, module: str) -> None:
    (recipe,) = re.findall(r"^A judge of the package takes five files:\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^\d\. ", recipe, re.MULTILINE)) == 5
    assert f"class {name}(" in text_of(f"agentscope_tuner/task_judge/{module}.py")
    assert (ROOT / "tests" / TESTED_ELSEWHERE.get(name, f"core/task_judge/test_{module}.py")).is_file()
    for language in (".md", ".zh.md"):
        if name in PAGES:
            assert name in text_of(f"docs/{PAGES[name]}{language}")
            continue
        heading = f"\n## {name}\n"
        assert [page for page in ("shaping", "built_in_judges") if heading in text_of(f"docs/{page}{language}")] != []


def test_the_judge_of_the_recipe_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    (tmp_path / "ending_judge.py").write_text(shown, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    section = {"judge_protocol": "ending_judge->EndingJudge", "judge_kwargs": {"ending": "."}}
    judge = load_judge({"astuner": {"task_judge": section}})
    for said, reward in (("Yes. ", 1.0), ("Yes", 0.0), ("", 0.0)):
        judgement = judge.judge(WorkflowTask(task=Task()), WorkflowOutput(metadata={"final_answer": said}))
        assert (judgement.reward, judgement.is_success) == (reward, bool(reward))
    assert judge.traits.kind == "cpu"
    assert judge.traits.bounded
    with pytest.raises(ConfigError, match=r"judge_kwargs.endin: unknown key; did you mean 'ending'\?"):
        load_judge({"astuner": {"task_judge": {**section, "judge_kwargs": {"endin": "."}}}})


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
