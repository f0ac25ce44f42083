"""`astuner rollout` with agentscope: the tutorials' own files, over real sockets, with a model that is scripted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.config import load_config
from agentscope_tuner.lab.rollouts.settings import load_settings, open_tasks
from tests.judge_server import Body, Canned, JudgeServer
from tests.with_agentscope.chat_replies import Say, each, last_text
from tests.with_servers.env.running_server import RunningServer

ROOT = Path(__file__).parents[2]
COUNTDOWN = ROOT / "tutorial" / "example_countdown" / "countdown.yaml"
CODE = ROOT / "tutorial" / "example_code" / "code.yaml"
FROZENLAKE = ROOT / "tutorial" / "example_frozenlake" / "frozenlake.yaml"


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def rolled_out(output: Path, conf: Path, *options: str, code: int = 0) -> dict[str, dict[str, Any]]:
    done = CliRunner().invoke(app, ["rollout", "--conf", str(conf), "--output", str(output), *options])
    assert done.exit_code == code, done.output
    return {row["id"]: row for row in map(json.loads, output.read_text(encoding="utf-8").splitlines())}


def equation(body: Body) -> Say:
    """Right about the first game, a wrong attempt with a given number at every other."""
    if "Make 12 from" in last_text(body):
        return Say(r"10 + 2 = 12. \boxed{10+2}")
    (given,) = re.findall(r"from the numbers (\d+)", last_text(body))
    return Say(rf"\boxed{{{given}+{given}}}")


@pytest.mark.parametrize("stream", ["false", "true"])
def test_countdown_is_played_recorded_and_judged(tmp_path: Path, stream: str) -> None:
    with JudgeServer(each(equation)) as server:
        where = f"astuner.rollout.model.base_url={server.url}"
        rows = rolled_out(tmp_path / "rows.jsonl", COUNTDOWN, where, f"astuner.rollout.model.stream={stream}")
    assert len(rows) == 24
    right = {name for name, row in rows.items() if row["judgement"]["reward"] == 1.0}
    assert right == {f"countdown-000-{n}" for n in range(4)}
    assert {row["judgement"]["reward"] for name, row in rows.items() if name not in right} == {0.1}
    (call,) = rows["countdown-000-0"]["trajectory"]
    assert call["response"]["content"] == r"10 + 2 = 12. \boxed{10+2}"
    assert [message["role"] for message in call["messages"]] == ["system", *["user", "assistant"] * 4, "user"]
    assert (call["prompt_tokens"], call["completion_tokens"], call["trainable"]) == (11, 7, True)
    assert all(body["temperature"] == 0.9 and body["max_tokens"] == 48 for body in server.bodies)


def test_programs_are_written_run_and_judged(tmp_path: Path) -> None:
    program = Say("```python\ndef multiply(a, b):\n    return a * b\n```")
    with JudgeServer(each(lambda body: program)) as server:
        where = f"astuner.rollout.model.base_url={server.url}"
        rows = rolled_out(tmp_path / "rows.jsonl", CODE, where, "astuner.rollout.num_repeat=1")
    assert {name for name, row in rows.items() if row["judgement"]["reward"]} == {"code-003-0"}
    assert {row["judgement"]["status"] for row in rows.values()} == {"judged"}
    (call,) = rows["code-003-0"]["trajectory"]
    assert [message["role"] for message in call["messages"]] == ["system", *["user", "assistant"] * 3, "user"]


def test_frozenlake_is_played_in_the_service_and_judged_by_it(tmp_path: Path) -> None:
    ways = {"P F F\nF H H": ["down", "down", "right", "right"], "P F H\nF F F": ["right"] * 12}

    def walk(body: Body) -> Say:
        texts = ["".join(part["text"] for part in message["content"]) for message in body["messages"]]
        # what precedes is the worked game
        start = max(at for at, text in enumerate(texts) if "You have 12 turns" in text)
        way = next(way for lake, way in ways.items() if lake in texts[start])
        return Say(way[(len(texts) - start - 1) // 2])

    with JudgeServer(each(walk)) as server, RunningServer() as lakes:
        where = [f"astuner.rollout.model.base_url={server.url}", f"astuner.task_reader.env_service.env_url={lakes.url}"]
        options = [*where, "astuner.rollout.max_env_worker=4", "astuner.rollout.num_repeat=2", "--limit", "2"]
        rows = rolled_out(tmp_path / "rows.jsonl", FROZENLAKE, *options)
        assert lakes.workers() == [], "every episode was released"
    rewards = {name: row["judgement"]["reward"] for name, row in rows.items()}
    assert rewards == {f"train-{lake}-{n}": [1.5, 0.0][lake] for lake in range(2) for n in range(2)}
    assert rows["train-0-0"]["output"]["metadata"]["turns"] == len(rows["train-0-0"]["trajectory"]) == 4


def test_a_model_that_cannot_be_reached_is_no_reward(tmp_path: Path) -> None:
    gone = Say(how=Canned(status=401))
    with JudgeServer(each(lambda body: gone)) as server:
        where = f"astuner.rollout.model.base_url={server.url}"
        rows = rolled_out(tmp_path / "rows.jsonl", COUNTDOWN, where, "--limit", "1", code=3)
    for row in rows.values():
        assert (row["status"], row["output"], row["judgement"]["reward"]) == ("failed", None, None)
        assert row["trajectory"][0]["error"]


@pytest.mark.parametrize("conf", [COUNTDOWN, CODE, FROZENLAKE], ids=["countdown", "code", "frozenlake"])
def test_the_tutorials_configurations_load(conf: Path) -> None:
    assert load_settings(load_config(conf)).workflow.__module__.startswith("tutorial.")


@pytest.mark.parametrize(
    ("dataset", "reference"),
    [("chain_sum", "answer"), ("countdown", "target"), ("countdown", "nums"), ("knights_knaves", "answer")],
)
def test_reasoning_gym_makes_tasks_from_a_seed(dataset: str, reference: str) -> None:
    named = ["astuner.task_reader.type=reasoning_gym", f"astuner.task_reader.reasoning_gym.dataset={dataset}"]
    settings = load_settings(load_config(COUNTDOWN, [*named, "astuner.task_reader.reasoning_gym.size=5"]))
    with open_tasks(settings, limit=3) as (made, place):
        assert (len(made), place) == (3, None)
    assert len({task.main_query for task in made}) == 3
    assert all(task.metadata[reference] for task in made)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"dataset": "no_such"}, "not registered"), ({"dataset": "chain_sum", "kwargs": {"min_terms": 0}}, "min_terms")],
)
def test_a_data_set_that_cannot_be_made_is_said_at_load(settings: dict[str, Any], words: str, tmp_path: Path) -> None:
    section = json.dumps({"type": "reasoning_gym", "reasoning_gym": settings})
    options = ["--output", str(tmp_path / "rows.jsonl"), f"astuner.task_reader={section}"]
    done = CliRunner().invoke(app, ["rollout", "--conf", str(COUNTDOWN), *options])
    assert done.exit_code == 2
    assert words in done.output.replace("\n", " ")


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["rollout.md", "rollout.zh.md"])
def test_the_guides_run_works_as_it_is_written(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,), (conf,) = blocks("rollout.md", "python"), blocks(page, "yaml")
    (tmp_path / "my_workflow.py").write_text(source, encoding="utf-8")
    (tmp_path / "my_run.yaml").write_text(conf, encoding="utf-8")
    (tmp_path / "tasks.jsonl").write_text('{"task_id": "a", "main_query": "2 + 2?", "metadata": {"answer": "4"}}\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with JudgeServer(each(lambda body: Say(r"\boxed{4}"))) as server:
        where = f"astuner.rollout.model.base_url={server.url}"
        rows = rolled_out(tmp_path / "rows.jsonl", Path("my_run.yaml"), where)
    assert [row["judgement"]["reward"] for row in rows.values()] == [1.0] * 4
