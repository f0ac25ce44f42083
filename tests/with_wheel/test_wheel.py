"""The wheel in an empty environment, on every Python that is found: the README's commands, and what it ships."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from noxfile import PYTHONS
from tests.readme import COMMANDS as EVERY_COMMAND
from tests.readme import ROOT, SESSION, written_files

# seconds: an environment is installed in a fixture, on a machine that may be busy
pytestmark = pytest.mark.timeout(1800)
# what needs the checkout: test_walk.py runs these, too
CHECKOUT = ("make ", ". ")
COMMANDS = [command for command in EVERY_COMMAND if not command.startswith(CHECKOUT)]


JUDGE = ["astuner", "judge", "--conf", "out/my_judge/judge.yaml"]
ROWS = ["--input", "out/my_judge/rows.jsonl"]
MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
CONFIGURATIONS = {
    # no more of it is read where the extra is missing
    "rows.parquet": "PAR1 PAR1",
    "workflow.py": """
from agentscope_tuner import Workflow, WorkflowOutput

class Mine(Workflow):
    async def execute(self, task, model_tuner):
        return WorkflowOutput(metadata={"final_answer": "42"})
""",
    "rollout.yaml": f"""
astuner:
  task_judge: {{judge_protocol: {MATH}}}
  task_reader: {{type: dataset_file, dataset_file: {{training: {{file_path: out/my_judge/rows.jsonl}}}}}}
  rollout: {{agentscope_workflow: workflow->Mine, model: {{base_url: "http://127.0.0.1:1/v1", name: m}}}}
""",
    "schema.yaml": """
astuner:
  task_judge:
    judge_protocol: agentscope_tuner.task_judge.format_judge->FormatJudge
    judge_kwargs: {json_schema: {type: object}}
""",
    "tokens.yaml": f"""
astuner:
  task_judge:
    judge_protocol: {MATH}
    rules: [{{id: short, kind: max_tokens, max_tokens: 9, tokenizer: o200k_base, target: output, action: mark_bad}}]
""",
}


class Installed:
    """An environment that holds the wheel and what it asks for, and an empty folder to work in."""

    def __init__(self, python: str, wheel: Path, folder: Path) -> None:
        subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
        self.bin, self.work = folder / "env" / "bin", folder / "work"
        self.work.mkdir()
        pip = [str(self.bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
        subprocess.run(pip, check=True)

    def run(self, *words: str, within: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        program = str(self.bin / words[0])
        # a path of this checkout would hide what the wheel lacks
        environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.work), "OPENAI_API_KEY": "none", **more}
        return subprocess.run(
            [program, *words[1:]], cwd=self.work / within, env=environment, capture_output=True, text=True
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, *build, str(ROOT)], check=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module", params=PYTHONS.values(), ids=PYTHONS)
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(request.param, wheel, tmp_path_factory.mktemp("empty"))


def test_the_readmes_commands_run_in_its_order(installed: Installed) -> None:
    assert len(COMMANDS) >= 5
    for command in COMMANDS:
        done = installed.run(*shlex.split(command))
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert set(EVERY_COMMAND) - set(COMMANDS) == {"make demo", ". .venv/bin/activate"}
    (installed.work / "session.txt").write_text(SESSION, encoding="utf-8")
    done = installed.run("python", "-m", "doctest", "session.txt")
    assert done.returncode == 0, done.stdout


def test_the_files_that_the_readmes_reader_writes_load(installed: Installed) -> None:
    for name, body in written_files().items():
        (installed.work / name).write_text(body, encoding="utf-8")
        if name.endswith(".yaml"):
            done = installed.run("astuner", "check", "--conf", name)
            assert done.returncode == 0, done.stderr


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


@pytest.fixture(scope="module")
def tests_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pytest in a folder of its own, so that the environment keeps to what the wheel asks for."""
    folder = tmp_path_factory.mktemp("pytest")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(folder)]
    subprocess.run([*pip, "pytest"], check=True)
    return folder


@pytest.mark.parametrize("kind", ["math", "countdown", "llm", "env", "custom"])
def test_every_starter_is_written_tested_and_judges(installed: Installed, tests_packages: Path, kind: str) -> None:
    written = installed.run("astuner", "init", kind, kind)
    assert "pip install pytest" in written.stdout
    tested = installed.run("python", "-m", "pytest", "-q", "test_judge.py", within=kind, PYTHONPATH=str(tests_packages))
    assert tested.returncode == 0, tested.stdout
    assert installed.run("astuner", "check", "--conf", "judge.yaml", within=kind).returncode == 0
    if kind in ("math", "countdown", "custom"):
        words = "judge --conf judge.yaml --input rows.jsonl --output scored.jsonl"
        judged = installed.run("astuner", *words.split(), within=kind)
        assert judged.returncode == 0, judged.stdout + judged.stderr
        rows = [json.loads(line) for line in (installed.work / kind / "rows.jsonl").read_text("utf-8").splitlines()]
        assert f"{len(rows)} of {len(rows)}" in judged.stdout


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["astuner", "serve", "--conf", "out/my_judge/judge.yaml"], "serve"),
        (["astuner", "env", "serve"], "serve"),
        (["astuner", "llm", "serve"], "local-llm"),
        (["astuner", "view", "out/my_judge/rows.jsonl"], "view"),
        ([*JUDGE, "--engine", "ray", *ROWS, "--output", "scored"], "ray"),
        ([*JUDGE, "--input", "rows.parquet", "--output", "scored.jsonl"], "parquet"),
        ([*JUDGE, *ROWS, "--output", "scored.arrow"], "parquet"),
        ([*JUDGE, "--input", "https://127.0.0.1/rows.jsonl", "--output", "scored.jsonl"], "remote"),
        ([*JUDGE, "--input", "s3://bucket/rows.jsonl", "--output", "scored.jsonl"], "s3"),
        ([*JUDGE, *ROWS, "--output", "gs://bucket/scored.jsonl"], "gs"),
        (["astuner", "compare", *2 * ["out/my_judge/rows.jsonl"]], "insight"),
        (["astuner", "check", "--conf", "rollout.yaml"], ""),
        (["astuner", "rollout", "--conf", "rollout.yaml", "--output", "scored.jsonl"], "agentscope"),
        (["astuner", "check", "--conf", "schema.yaml"], "json-schema"),
        (["astuner", "check", "--conf", "tokens.yaml"], "tokenizer"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    installed: Installed, words: list[str], extra: str
) -> None:
    installed.run("astuner", "init", "math", "out/my_judge")
    for name, text in CONFIGURATIONS.items():
        (installed.work / name).write_text(text, encoding="utf-8")
    done = installed.run(*words)
    assert "Traceback" not in done.stderr
    if not extra:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 2, done.stdout + done.stderr
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
