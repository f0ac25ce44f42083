"""The tutorials that `make tutorials` runs with a real model, here against a scripted one: what is right is paid."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.judge_server import Body, Canned, JudgeServer, prompt_of
from tests.with_agentscope.chat_replies import Say, last_text
from tutorial.with_local_model import VARIABLE

ROOT = Path(__file__).parents[2]
TASKS = (ROOT / "tutorial/my_task/tasks.jsonl").read_text(encoding="utf-8").splitlines()
REFERENCES = {row["main_query"]: row["metadata"]["answer"] for row in map(json.loads, TASKS)}


def knows_it_all(body: Body, attempt: int) -> Canned:
    return Say(REFERENCES[last_text(body)]).canned(body)


def explains_and_judges(body: Body, attempt: int) -> Canned:
    """As the policy it explains some stars; as the judge it says yes to that explanation."""
    if not body.get("logprobs"):
        good = "stars" in last_text(body)
        return Say("Moving air bends the light." if good else "It just does.").canned(body)
    share = 0.9 if "Moving air bends the light." in prompt_of(body) else 0.2
    return Canned("yes", top_logprobs={"yes": share, "no": 1 - share}, finish="length")


@pytest.mark.parametrize(
    ("config", "answer", "rewards"),
    [
        ("tutorial/my_task/my_task.yaml", knows_it_all, [1.0] * 16),
        ("tutorial/example_rm_auto_grader/local.yaml", explains_and_judges, [0.2, 0.2, 0.9, 0.9]),
    ],
    ids=["my_task", "example_rm_auto_grader"],
)
def test_the_agent_answers_and_is_judged(
    config: str, answer: Callable[[Body, int], Canned], rewards: list[float], tmp_path: Path
) -> None:
    output = tmp_path / "rollouts.jsonl"
    command = ["rollout", "--conf", config, "--output", str(output)]
    if "rm_auto" in config:
        command.append("astuner.task_judge.rubrics_auto_grader.client.cache=false")
    with JudgeServer(answer) as server:
        done = subprocess.run(
            [sys.executable, "-c", "from agentscope_tuner.cli import main; main()", *command],
            cwd=ROOT,
            env={**os.environ, VARIABLE: server.url},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    rows: list[dict[str, Any]] = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert sorted(row["judgement"]["reward"] for row in rows) == pytest.approx(rewards)
    for row in rows:
        (call,) = row["trajectory"]
        assert call["response"]["content"] == row["output"]["metadata"]["final_answer"]
        said = [message["content"] for message in call["messages"]]
        assert row["task"]["main_query"] in str(said[-1])
        assert "UTC" not in str(said)
