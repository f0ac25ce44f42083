"""The guide on scale: its programs run, its commands too, and both languages show the same."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.targets import TARGETS
from tests.with_ray.rollouts import ROOT

GUIDES = ["docs/scale.md", "docs/scale.zh.md"]


def blocks(guide: str, language: str) -> list[str]:
    text = (ROOT / guide).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guide")
    for shipped in ("tutorial", "configs"):
        (path / shipped).symlink_to(ROOT / shipped)
    (path / "out").mkdir()
    return path


# what each program prints, in the order of the guide
PRINTED = [
    "0 judged 0.0\n1 judged 0.0\n2 judged 1.0\n3 judged 0.0\n",
    "part-00000.jsonl",
    "[0.0, 1.0]\n[(0.0, False), (0.0, False), (1.0, True), (0.0, False)]\ntask 't1': MathAnswerAsJudge: ",
]


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_its_programs_run(folder: Path, number: int) -> None:
    script = folder / f"program{number}.py"
    script.write_text(blocks(GUIDES[0], "python")[number], encoding="utf-8")
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert PRINTED[number] in done.stdout


def test_its_commands_run_in_their_order(folder: Path) -> None:
    commands = [line[2:] for block in blocks(GUIDES[0], "console") for line in block.splitlines()]
    assert len(commands) == 4
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "astuner"
        done = subprocess.run(
            [Path(sys.executable).parent / "astuner", *words[1:]], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert (folder / "out/scored/manifest.json").exists()


def test_every_program_is_run_and_both_languages_show_the_same() -> None:
    assert len(blocks(GUIDES[0], "python")) == len(PRINTED)
    for language in ("python", "console", "yaml"):
        assert blocks(GUIDES[0], language) == blocks(GUIDES[1], language)


@pytest.mark.parametrize("guide", GUIDES)
def test_the_files_and_targets_it_names_exist(guide: str) -> None:
    text = (ROOT / guide).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / "docs" / link).exists(), link
    assert set(re.findall(r"make ([a-z0-9-]+)", text)) <= TARGETS
