"""The wheel in an empty environment, on every Python that is found: the README's commands, and what it ships."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pythons import pythons

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(found[1], found[2]) for found in BLOCK.finditer((ROOT / "README.md").read_text(encoding="utf-8"))]
# what needs the checkout
CHECKOUT = ("git clone", "cd ", "make ")
COMMANDS = [
    line[2:]
    for language, body in BLOCKS
    for line in body.splitlines()
    if language == "console" and line.startswith("$ ") and not line[2:].startswith(CHECKOUT)
]


class Installed:
    """An environment that holds the wheel and what it asks for, and an empty folder to work in."""

    def __init__(self, python: str, wheel: Path, folder: Path) -> None:
        subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
        self.bin, self.work = folder / "env" / "bin", folder / "work"
        self.work.mkdir()
        pip = [str(self.bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
        subprocess.run(pip, check=True)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        program = str(self.bin / words[0])
        # a path of this checkout would hide what the wheel lacks
        environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.work), "OPENAI_API_KEY": "none"}
        return subprocess.run([program, *words[1:]], cwd=self.work, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, *build, str(ROOT)], check=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module", params=pythons(), ids=lambda path: Path(path).name)
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(request.param, wheel, tmp_path_factory.mktemp("empty"))


def test_the_readmes_commands_run_in_its_order(installed: Installed) -> None:
    assert len(COMMANDS) >= 5
    for command in COMMANDS:
        done = installed.run(*shlex.split(command))
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    session = "".join(body for language, body in BLOCKS if language == "pycon")
    (installed.work / "session.txt").write_text(session, encoding="utf-8")
    done = installed.run("python", "-m", "doctest", "-o", "ELLIPSIS", "session.txt")
    assert done.returncode == 0, done.stdout


def test_the_demonstration_shows_a_row_of_each_kind(installed: Installed) -> None:
    done = installed.run("python", "-m", "agentscope_tuner", "demo", "--output", "shown")
    assert done.returncode == 0, done.stderr
    rows = [
        json.loads(line)
        for path in (installed.work / "shown").glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert {row["judgement"]["status"] for row in rows} == {"judged", "filtered", "failed"}
    assert (installed.work / "shown" / "math.html").exists()


@pytest.mark.parametrize("kind", ["math", "countdown", "llm", "env", "custom"])
def test_every_configuration_to_begin_with_loads(installed: Installed, kind: str) -> None:
    assert installed.run("astuner", "init", kind, kind).returncode == 0
    script = "import sys; sys.path.insert(0, '.'); from agentscope_tuner import load_judge; load_judge('judge.yaml')"
    done = installed.run("python", "-c", f"import os; os.chdir({kind!r}); {script}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["astuner", "serve", "--conf", "out/my_judge/judge.yaml"], "serve"),
        (["astuner", "env", "serve"], "serve"),
        (["astuner", "llm", "serve"], "local-llm"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    installed: Installed, words: list[str], extra: str
) -> None:
    installed.run("astuner", "init", "math", "out/my_judge")
    done = installed.run(*words)
    assert done.returncode == 2
    assert f"pip install '.[{extra}]'" in done.stderr.replace("\n", " ")


def test_a_judge_of_the_tutorials_is_named_by_its_packaged_twin(installed: Installed) -> None:
    protocol = "tutorial.example_math_agent.math_answer_as_judge->MathAnswerAsJudge"
    (installed.work / "old.yaml").write_text(
        f"astuner:\n  task_judge:\n    judge_protocol: {protocol}\n", encoding="utf-8"
    )
    check = installed.run("astuner", "check", "--conf", "old.yaml")
    assert check.returncode == 2
    assert "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge" in check.stderr.replace("\n", "")


def test_the_environment_is_empty_but_for_the_core(installed: Installed) -> None:
    done = installed.run("python", "-c", "import ray")
    assert "ModuleNotFoundError" in done.stderr
