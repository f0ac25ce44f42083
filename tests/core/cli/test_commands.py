"""The table that lists the commands says what each command says of itself, and listing them imports none."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import COMMANDS, ListedCommand, _loaded, app
from agentscope_tuner.cli.console import Exit

# what only commands need; the help page itself is rich's
HEAVY = ("agentscope_tuner.config", "agentscope_tuner.engines", "agentscope_tuner.graders", "omegaconf", "pydantic")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_commands_summary_is_the_first_paragraph_of_its_own_help(command: ListedCommand) -> None:
    loaded = _loaded(command)
    assert " ".join(loaded.help.split("\n\n")[0].split()) == command.summary
    assert loaded.name == command.name


def test_the_list_of_commands_imports_none_of_them() -> None:
    script = (
        "import sys; from agentscope_tuner.cli import main\n"
        "try: main()\n"
        f"except SystemExit: print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert all(command.name in done.stdout for command in COMMANDS)


def test_an_unknown_command_is_answered_with_the_nearest() -> None:
    done = CliRunner().invoke(app, ["jugde"])
    assert done.exit_code == 2
    assert "judge" in done.output


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_ends_with_an_example_whose_options_exist(command: ListedCommand) -> None:
    loaded = _loaded(command)
    said = loaded.epilog.removeprefix("Example: astuner ").split()
    assert said[0] == command.name
    for word in said[1:2]:
        loaded = getattr(loaded, "commands", {}).get(word, loaded)
    known = {option for parameter in loaded.params for option in parameter.opts}
    required = {option for parameter in loaded.params if parameter.required for option in parameter.opts}
    assert {word for word in said if word.startswith("--")} <= known
    assert {option for option in required if option.startswith("--")} <= set(said)


def test_a_narrow_window_shows_the_whole_summaries() -> None:
    script = "from agentscope_tuner.cli import main; main()"
    environment = {**os.environ, "COLUMNS": "60", "TERM": "dumb"}
    command = [sys.executable, "-c", script, "--help"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert all(command.summary.split()[-1] in shown for command in COMMANDS)
    assert "…" not in shown
    assert "..." not in shown.replace("ARGS]...", "")


def test_an_error_of_a_command_with_json_is_json() -> None:
    done = CliRunner().invoke(app, ["check", "--conf", "no.yaml", "--input", "x", "--json"])
    assert (done.exit_code, json.loads(done.stdout)) == (
        2,
        {"error": "no configuration file 'no.yaml': `astuner init math FOLDER` writes one", "exit_code": 2},
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("!!binary aGVsbG8=", "b'hello'"),
        (".nan", "NaN"),
        ("-.inf", "-Infinity"),
        ("[1, .inf]", [1, "Infinity"]),
        ("[2, 'NaN?']", [2, "NaN?"]),
        ("1.5", 1.5),
    ],
)
def test_config_prints_json_for_whatever_yaml_holds(tmp_path: Path, value: str, shown: object) -> None:
    conf = tmp_path / "judge.yaml"
    conf.write_text(f"astuner: {{task_judge: {{judge: math}}}}\nd: {value}\n")
    done = CliRunner().invoke(app, ["config", "--conf", str(conf), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout, parse_constant=pytest.fail)["d"] == shown


def test_a_file_in_a_folder_that_cannot_be_listed_is_not_there(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o111)
    done = CliRunner().invoke(app, ["check", "--conf", "configs/math.yaml", "--input", str(folder / "a.jsonl")])
    folder.chmod(0o755)
    assert done.exit_code == 2
    assert "there is no file" in done.output


def test_a_group_lists_its_own_commands() -> None:
    done = CliRunner().invoke(app, ["rules", "--help"])
    assert done.exit_code == 0
    assert "stats" in done.output
    assert "--install-completion" not in done.output


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 120])
def test_help_cuts_no_word_at_any_width(columns: int) -> None:
    script = (
        "from typer.testing import CliRunner\n"
        "from agentscope_tuner.cli.app import _loaded, app\n"
        "from agentscope_tuner.cli.app import COMMANDS\n"
        "for command in COMMANDS:\n"
        "    below = list(getattr(_loaded(command), 'commands', {}))\n"
        "    for words in [[command.name], *([command.name, name] for name in below)]:\n"
        "        print(CliRunner().invoke(app, [*words, '--help']).output)\n"
    )
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.count("Usage: astuner") >= 30
    assert "…" not in done.stdout


@pytest.mark.parametrize("page", ["judge_reference.md", "judge_reference.zh.md"])
def test_the_guide_lists_the_exit_codes(page: str) -> None:
    guide = (Path(__file__).parents[3] / "docs" / page).read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \|", guide, re.MULTILINE) == ["0", *(str(int(code)) for code in Exit)]


def test_a_command_ends_with_no_code_outside_the_table() -> None:
    commands = Path(__file__).parents[3] / "agentscope_tuner"
    source = "".join(
        path.read_text(encoding="utf-8") for room in ("cli", "lab") for path in commands.glob(f"{room}/**/*.py")
    )
    raised = re.findall(r"typer\.Exit\((.*?)\)", source)
    assert [code for code in raised if not re.match(r"Exit\.[A-Z_]+|code$", code)] == []
