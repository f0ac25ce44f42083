"""`astuner rollout` end to end, with a lender that has no model behind it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from omegaconf import OmegaConf
from typer.testing import CliRunner, Result

from agentscope_tuner.cli.app import app
from agentscope_tuner.config import load_config
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.rollouts.command import whole_run
from agentscope_tuner.lab.rollouts.settings import load_settings, open_tasks
from tests.rollout_world import FakeLender, Gate
from tests.tables import each_row, each_row_unasked

ROOT = Path(__file__).parents[3]
WORLD = "tests.rollout_world"


@each_row_unasked
def gate() -> Iterator[None]:
    Gate.opened.clear()
    yield
    Gate.opened.set()


class Folder:
    """A configuration, its tasks and its output in one place."""

    def __init__(self, path: Path) -> None:
        self.conf, self.tasks, self.output = path / "run.yaml", path / "tasks.jsonl", path / "rollouts.jsonl"
        self.ask("a", "bb", "ccc")
        section = {
            "task_reader": {
                "type": "jsonl_dataset_file",
                "jsonl_dataset_file": {"training": {"file_path": str(self.tasks)}},
            },
            "rollout": {
                "agentscope_workflow": f"{WORLD}->Act",
                "num_repeat": 2,
                "model": {"base_url": "http://127.0.0.1:1/v1", "name": "none"},
            },
            "task_judge": {"judge_protocol": f"{WORLD}->LengthJudge"},
        }
        OmegaConf.save(OmegaConf.create({"astuner": section, "trainer": {"lr": 1}}), self.conf)

    def ask(self, *queries: str) -> None:
        rows = [json.dumps({"task_id": f"t{n}", "main_query": query}) for n, query in enumerate(queries)]
        self.tasks.write_text("\n".join(rows) + "\n", encoding="utf-8")

    def run(self, *overrides: str, resume: bool = False, limit: int | None = None) -> int:
        """The exit code."""
        config = load_config(self.conf, overrides)
        try:
            whole_run(config, self.output, lambda settings: FakeLender, resume=resume, limit=limit)
        except typer.Exit as exc:
            return int(exc.exit_code)
        return 0

    def rows(self) -> dict[str, dict[str, Any]]:
        lines = self.output.read_text(encoding="utf-8").splitlines()
        return {row["id"]: row for row in map(json.loads, lines)}

    def aged(self) -> dict[str, dict[str, Any]]:
        """The rows, in the file too, as if each had taken so long as none of a test's does."""
        rows = self.rows()
        for row in rows.values():
            row["seconds"] = row["judgement"]["seconds"] = 1000.0
        self.output.write_text("".join(f"{json.dumps(row)}\n" for row in rows.values()), encoding="utf-8")
        return rows

    def rewards(self) -> dict[str, float | None]:
        return {name: row["judgement"]["reward"] for name, row in self.rows().items()}


@each_row
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def command(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_rows_hold_task_output_trajectory_and_verdict_and_groups_stay_together(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert folder.run() == 0
    rows = folder.rows()
    assert folder.rewards() == {"t0-0": 1, "t0-1": 1, "t1-0": 2, "t1-1": 2, "t2-0": 3, "t2-1": 3}
    names = list(rows)
    assert all(names[n].partition("-")[0] == names[n + 1].partition("-")[0] for n in (0, 2, 4))
    row = rows["t2-1"]
    assert row["task"] == {"task_id": "t2", "main_query": "ccc"}
    assert row["output"] == {"metadata": {"final_answer": "ccc"}}
    assert (row["status"], row["error"], len(row["trajectory"])) == ("finished", None, 1)
    printed = capsys.readouterr().out
    for words in (
        "rollouts finished",
        "2.0000",
        "groups with a spread of rewards",
        "6 (1.0 a rollout)",
        "18 in, 12 out",
    ):
        assert words in printed


def test_astuner_judge_reads_the_file_again_and_gives_the_same_rewards(folder: Folder) -> None:
    folder.ask("a", "raise", "unjudgeable", "end exceed_max_iters", "end awaiting_tool_calls", "ccc")
    assert folder.run() == 3
    again = folder.output.with_name("again.jsonl")
    result = command("judge", "--conf", folder.conf, "--input", folder.output, "--output", again)
    assert result.exit_code == 3, result.output
    scored = [json.loads(line) for line in again.read_text(encoding="utf-8").splitlines()]
    assert {row["id"]: row["judgement"]["reward"] for row in scored} == folder.rewards()
    statuses = {row["id"]: row["judgement"]["status"] for row in scored}
    assert statuses == {name: row["judgement"]["status"] for name, row in folder.rows().items()}
    assert all(row["trajectory"] for row in scored), "the row's own keys stay"


def test_a_failed_rollout_is_kept_and_exits_with_3(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    folder.ask("raise", "fine")
    assert folder.run() == 3
    assert folder.rewards() == {"t0-0": None, "t0-1": None, "t1-0": 4, "t1-1": 4}
    assert "Traceback" in folder.rows()["t0-0"]["error"]
    assert "rollout failed: ValueError" in capsys.readouterr().out.replace("\n", " ")


def test_resume_runs_again_only_what_failed(folder: Folder) -> None:
    folder.ask("a", "raise", "ccc")
    assert folder.run() == 3
    before = folder.aged()
    folder.run(resume=True)
    after = folder.rows()
    assert sorted(after) == sorted(before)
    again = {name for name, row in after.items() if row != before[name]}
    assert again == {"t1-0", "t1-1"}, "had the others been run again, their seconds would differ"


def test_resume_adds_repeats_and_judges_again_what_had_no_verdict(folder: Folder) -> None:
    folder.ask("a", "unjudgeable")
    assert folder.run() == 3
    before = folder.aged()
    assert folder.run("astuner.rollout.num_repeat=3", resume=True) == 3
    after = folder.rows()
    assert sorted(after) == ["t0-0", "t0-1", "t0-2", "t1-0", "t1-1", "t1-2"]
    assert after["t0-0"] == before["t0-0"]
    assert after["t1-0"]["seconds"] == before["t1-0"]["seconds"], "judged again, not run again"
    assert after["t1-0"]["judgement"]["seconds"] != before["t1-0"]["judgement"]["seconds"]


def test_resume_ranks_the_whole_group_again(folder: Folder) -> None:
    ranking = f"astuner.task_judge.judge_protocol={WORLD}->RankJudge"
    assert folder.run(ranking) == 0
    assert set(folder.rewards().values()) == {2}
    assert folder.run(ranking, "astuner.rollout.num_repeat=4", resume=True) == 0
    assert set(folder.rewards().values()) == {4}
    assert len(folder.rows()) == 12


def test_resume_runs_a_task_again_that_has_changed_and_drops_one_that_is_gone(folder: Folder) -> None:
    folder.run()
    folder.ask("a", "changed")
    assert folder.run(resume=True) == 0
    assert folder.rewards() == {"t0-0": 1, "t0-1": 1, "t1-0": 7, "t1-1": 7}


def test_resume_refuses_rows_of_another_configuration(folder: Folder) -> None:
    folder.run()
    with pytest.raises(ConfigError, match="another configuration"):
        folder.run("astuner.rollout.model.temperature=0.5", resume=True)
    elsewhere = ("astuner.rollout.model.base_url=http://127.0.0.1:2/v1", "astuner.rollout.max_env_worker=3")
    assert folder.run(*elsewhere, resume=True) == 0


def test_a_role_to_be_trained_that_nobody_plays_is_told(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert folder.run("astuner.rollout.trainable_targets=[default,solvr]") == 0
    assert "trainable_targets without a call │ solvr" in capsys.readouterr().out
    folder.output.unlink()
    assert folder.run("astuner.rollout.trainable_targets=[default]") == 0
    assert "without a call" not in capsys.readouterr().out


def test_limit_takes_the_first_tasks(folder: Folder) -> None:
    assert folder.run(limit=1) == 0
    assert sorted(folder.rows()) == ["t0-0", "t0-1"]


# a background job of a shell ignores Ctrl-C, and so would what it starts
INTERRUPTED = """
import pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from agentscope_tuner.lab.rollouts.command import whole_run
from agentscope_tuner.config import load_config
from tests.rollout_world import FakeLender
config = load_config(sys.argv[1], ["astuner.rollout.max_env_worker=1"])
whole_run(config, pathlib.Path(sys.argv[2]), lambda settings: FakeLender)
"""


@pytest.mark.parametrize("signalled", ["interrupt", "terminate", "hangup"])
@pytest.mark.slow
def test_ctrl_c_sigterm_and_sighup_keep_what_is_done_and_resume_goes_on(folder: Folder, signalled: str) -> None:
    folder.ask("aaaa", "bb", signalled)
    # a process of its own: the signal would reach the tests' too
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(folder.conf), str(folder.output)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "4 rows are kept; --resume goes on" in done.stderr
    assert not folder.output.exists()
    folder.tasks.write_text(folder.tasks.read_text().replace(signalled, "ccc"), encoding="utf-8")
    partial = folder.output.with_name("rollouts.jsonl.partial")
    kept = {row["id"]: row for row in map(json.loads, partial.read_text(encoding="utf-8").splitlines())}
    assert folder.run(resume=True) == 0
    assert folder.rewards() == {"t0-0": 4, "t0-1": 4, "t1-0": 2, "t1-1": 2, "t2-0": 3, "t2-1": 3}
    assert {name: folder.rows()[name] for name in kept} == kept
    assert not partial.exists()


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("astuner.rollout.num_repeet=2", "did you mean 'num_repeat'"),
        ("astuner.rollout.num_repeat=0", "astuner.rollout.num_repeat"),
        ("astuner.rollout.timeout=-1", "astuner.rollout.timeout"),
        ("astuner.rollout.model.temprature=1", "did you mean 'temperature'"),
        ("astuner.rollout.model.base_url=127.0.0.1:8300/v1", "must read like http://127.0.0.1:8000/v1, got '127.0"),
        ("astuner.rollout.model.base_url=''", "must read like http://127.0.0.1:8000/v1, got ''"),
        ("astuner.rollout.agentscope_workflow=tests.rollout_world->Nobody", "has no class 'Nobody'"),
        ("astuner.rollout.agentscope_workflow=tests.rollout_world->FakeCall", "must define `async def execute"),
        ("astuner.rollout.agentscope_workflow=nonsense", "module->Class"),
        ("astuner.task_reader.type=csv", "astuner.task_reader.type"),
        ("astuner.task_reader.type=env_service", "astuner.task_reader.env_service is missing"),
        ("astuner.task_reader.jsonl_dataset_file.training.file_path=nowhere.jsonl", "cannot read 'nowhere.jsonl'"),
        ("astuner.task_judge.rule_rewrad=1", "did you mean 'rule_reward'"),
    ],
)
def test_a_wrong_configuration_ends_before_anything_is_run(folder: Folder, override: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        folder.run(override)
    assert words in str(caught.value)
    assert not folder.output.exists()


def test_a_missing_section_is_named_with_the_nearest(folder: Folder) -> None:
    config = load_config(folder.conf)
    OmegaConf.update(config, "astuner.rollouts", config.astuner.pop("rollout"), force_add=True)
    with pytest.raises(ConfigError, match="did you mean 'rollouts'"):
        load_settings(config)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no task"),
        ("{not json\n", "tasks.jsonl:1: Invalid JSON"),
        ('{"task_id": "a"}\n\n{"task_id": "a"}\n', "tasks.jsonl:3: task_id 'a' is line 1's too"),
        ('{"task_id": [7]}\n', "tasks.jsonl:1: task_id"),
    ],
)
def test_a_bad_task_file_ends_before_anything_is_run(folder: Folder, text: str, words: str) -> None:
    folder.tasks.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        folder.run()
    assert words in str(caught.value)


def test_a_task_without_an_id_gets_one_and_dataset_file_is_an_alias(folder: Folder) -> None:
    folder.tasks.write_text('{"main_query": "a"}\n{"main_query": "bb"}\n', encoding="utf-8")
    alias = f"astuner.task_reader.dataset_file.training.file_path={folder.tasks}"
    assert folder.run("astuner.task_reader.type=dataset_file", alias) == 0
    assert sorted(folder.rows()) == ["tasks-1-0", "tasks-1-1", "tasks-2-0", "tasks-2-1"]


def test_without_reasoning_gym_the_error_names_the_extra(folder: Folder) -> None:
    config = load_config(
        folder.conf, ["astuner.task_reader.type=reasoning_gym", "astuner.task_reader.reasoning_gym.dataset=chain_sum"]
    )
    with pytest.raises(ConfigError, match=r"pip install \'\.\[reasoning-gym\]\'"), open_tasks(load_settings(config)):
        pass


def test_without_agentscope_the_command_names_the_extra(folder: Folder) -> None:
    result = command("rollout", "--conf", folder.conf, "--output", folder.output)
    assert result.exit_code == 2
    assert "pip install '.[agentscope]'" in result.output.replace("\n", "")
