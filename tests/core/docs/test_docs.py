"""Every code block of the README runs, and prints what it says it prints."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agentscope_tuner import load_config, load_judge
from agentscope_tuner.cli.init import Starter, init
from tests.targets import TARGETS

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [(match[1], match[2]) for match in BLOCK.finditer(README)]
KNOWN = {"pycon", "python", "yaml", "console"}


def blocks(language: str) -> list[str]:
    return [body for found, body in BLOCKS if found == language]


def test_every_block_is_of_a_kind_that_is_run_here() -> None:
    assert README.count("```") == 2 * len(BLOCKS)
    assert {language for language, _ in BLOCKS} == KNOWN


@pytest.mark.parametrize("block", blocks("pycon"))
def test_a_session_prints_what_it_shows(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the session judges by what the commands above it wrote
    init(Starter.MATH, tmp_path / "out" / "my_judge")
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert test.examples
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert failed == 0, "".join(report)


def test_the_judge_written_in_the_readme_works_as_the_yaml_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source,) = blocks("python")
    first_line = source.splitlines()[0]
    path = tmp_path / first_line.removeprefix("# ")
    assert path.suffix == ".py", "the block names its file in its first line"
    path.write_text(source, encoding="utf-8")
    code = [line for line in source.splitlines() if line.strip() and not line.startswith("#")]
    assert len(code) == 9, "the README promises nine lines of code"
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    named = [block for block in blocks("yaml") if path.stem in block]
    assert len(named) == 1
    (tmp_path / "train.yaml").write_text(named[0], encoding="utf-8")
    load_judge(tmp_path / "train.yaml")


@pytest.mark.parametrize("block", blocks("yaml"))
def test_every_yaml_block_loads(block: str, tmp_path: Path) -> None:
    path = tmp_path / "readme.yaml"
    path.write_text(block, encoding="utf-8")
    assert load_config(path).astuner.task_judge


COMMANDS = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]
# these build environments of their own; CI runs them as they stand
BY_CI = ("make ", ". ")


@pytest.mark.slow
def test_its_commands_run_one_after_the_other(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = "from agentscope_tuner.cli import main; main()"
    ran = 0
    for command in COMMANDS:
        if command.startswith(BY_CI):
            continue
        words = shlex.split(command)
        assert words[0] == "astuner"
        done = subprocess.run(
            [sys.executable, "-c", script, *words[1:]], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, command + "\n" + done.stdout + done.stderr
        ran += 1
    assert ran >= 5


def test_both_languages_show_the_same_blocks() -> None:
    other = (ROOT / "README.zh.md").read_text(encoding="utf-8")
    assert [(match[1], match[2]) for match in BLOCK.finditer(other)] == BLOCKS
    for pattern in (r"(?m)^## ", r"(?m)^\|", r"\d+\.\d+"):
        assert len(re.findall(pattern, other)) == len(re.findall(pattern, README)), pattern


def test_every_make_target_the_readme_names_exists() -> None:
    assert {command.split()[1] for command in COMMANDS if command.startswith("make ")} <= TARGETS


# the trainers' own launch files name one of these and have no section of ours
JUDGES = [
    path for path in sorted((ROOT / "configs").glob("*.yaml")) if "\nastuner:" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", JUDGES, ids=lambda path: path.name)
def test_every_shipped_config_names_a_judge_that_loads(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert load_judge(path)
