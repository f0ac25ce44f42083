"""The tutorials' own pages: their commands run, their tables are what comes out, and both languages show the same."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from agentscope_tuner import Rollout, WorkflowTask, load_config, load_judge
from agentscope_tuner.cli.app import app
from agentscope_tuner.config import task_judge_section
from tests.needs_jail import NEEDS_JAIL
from tests.targets import TARGETS

ROOT = Path(__file__).parents[3]
MY_TASK, AUTO_GRADER, CODE = "tutorial/my_task", "tutorial/example_rm_auto_grader", "tutorial/example_code"
PAGES = [f"{folder}/{name}" for folder in (MY_TASK, AUTO_GRADER, CODE) for name in ("README.md", "README.zh.md")]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def commands(page: str) -> list[tuple[str, str]]:
    """Commands with what the page says they print; nothing when it says nothing."""
    found: list[tuple[str, str]] = []
    for language, body in FENCE.findall(text_of(page)):
        if language != "console":
            continue
        for part in body.split("$ ")[1:]:
            command, _, printed = part.partition("\n")
            found.append((command, printed))
    return found


@pytest.mark.parametrize("page", PAGES[::2])
def test_both_languages_show_the_same(page: str) -> None:
    other = page.replace(".md", ".zh.md")
    assert FENCE.findall(text_of(page)) == FENCE.findall(text_of(other))
    # headings, table rows, and the same figures, however the words around them stand
    for pattern in (r"(?m)^#+ ", r"(?m)^\|", r"(?<![\d.])\d+\.\d+(?!\.?\d)"):
        assert sorted(re.findall(pattern, text_of(page))) == sorted(re.findall(pattern, text_of(other)))


@pytest.mark.parametrize("page", PAGES)
def test_what_it_links_to_and_makes_is_there(page: str) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", text_of(page)):
        assert (ROOT / page).parent.joinpath(link).exists(), link
    targets = set(re.findall(r"make ([\w-]+)", text_of(page)))
    assert targets
    assert targets <= TARGETS


# the blocks of the Chinese pages are the same, as the test above says: each command is run once
ASTUNER = [
    pytest.param(page, *run, marks=NEEDS_JAIL if CODE in page else ())
    for page in PAGES[::2]
    for run in dict.fromkeys(commands(page))
    if run[0].startswith("astuner")
]


@pytest.mark.parametrize(("page", "command", "printed"), ASTUNER, ids=lambda value: value[:40])
def test_its_commands_run_and_print_what_it_shows(
    page: str, command: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tutorial").symlink_to(ROOT / "tutorial")
    monkeypatch.chdir(tmp_path)
    # the key that a hosted model's configuration asks for; nobody is called with it
    done = CliRunner(env={"DASHSCOPE_API_KEY": "a key of nobody"}).invoke(app, shlex.split(command)[1:])
    assert done.exit_code == 0, done.output
    assert printed in done.stdout


@pytest.mark.parametrize("page", PAGES[:2])
def test_the_answers_that_fool_the_judge_earn_what_the_page_says(page: str) -> None:
    judge = load_judge(ROOT / MY_TASK / "my_task.yaml")
    lines = (ROOT / MY_TASK / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    rows = []
    for rollout in map(Rollout.model_validate_json, lines):
        judged = judge.judge(WorkflowTask(task=rollout.task), rollout.output)
        rows.append((rollout.output.metadata["final_answer"], f"{judged.reward:.2f}", str(judged.is_success)))
    shown = re.findall(r"^\| (.*) \| (\d\.\d\d) \| (True|False) \|$", text_of(page), re.MULTILINE)
    assert [("" if "not_empty" in answer else answer, *rest) for answer, *rest in shown] == rows


@NEEDS_JAIL
@pytest.mark.parametrize("page", PAGES[4:])
def test_the_programs_that_cheat_earn_what_the_page_says(page: str) -> None:
    judge = load_judge(ROOT / CODE / "code.yaml")
    rows = []
    for rollout in map(Rollout.model_validate_json, text_of(f"{CODE}/cheats.jsonl").splitlines()):
        judged = judge.judge(WorkflowTask(task=rollout.task), rollout.output)
        assert rollout.label == {"is_success": judged.is_success}
        rows.append((rollout.id, str(judged.reward), judged.reason))
    assert re.findall(r"^\| ([a-z ]+) \| (\d\.\d) \| `(.*)` \|$", text_of(page), re.MULTILINE) == rows


@pytest.mark.parametrize("page", PAGES[:2])
def test_the_page_names_the_judge_as_its_configuration_does(page: str) -> None:
    (block,) = (body for language, body in FENCE.findall(text_of(page)) if language == "yaml")
    sections = [
        task_judge_section(load_config(part)) for part in (yaml.safe_load(block), ROOT / MY_TASK / "my_task.yaml")
    ]
    assert sections[0] == sections[1]


def test_the_controls_answer_the_tasks_with_answers_of_three_qualities() -> None:
    """By the rule by which the samples are labelled; and no question is one that the rubrics were learned from."""
    tasks = [json.loads(line) for line in text_of(f"{AUTO_GRADER}/tasks.jsonl").splitlines()]
    controls = [Rollout.model_validate_json(line) for line in text_of(f"{AUTO_GRADER}/controls.jsonl").splitlines()]
    learned = {json.loads(line)["main_query"] for line in text_of(f"{AUTO_GRADER}/rubrics_train.jsonl").splitlines()}
    assert [one.id for one in controls] == [
        f"{task['task_id']}, {kind}" for task in tasks for kind in ("full", "bare", "wrong")
    ]
    assert [one.label for one in controls] == [{"is_success": kind} for _ in tasks for kind in (True, False, False)]
    assert {one.task.main_query for one in controls} == {task["main_query"] for task in tasks}
    assert learned.isdisjoint(task["main_query"] for task in tasks)
