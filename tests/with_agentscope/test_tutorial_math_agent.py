"""The tutorial's workflows against a scripted model: the calculator is used, and the checker is not trained."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from agentscope_tuner import ModelTuner, Task, Workflow, WorkflowOutput, WorkflowTask, load_judge
from tests.judge_server import Body, JudgeServer
from tests.targets import TARGETS
from tests.with_agentscope.chat_replies import Say, each, in_turn, last_text
from tutorial.example_math_agent.workflow import SHOTS, CheckedMathWorkflow, MathAgentWorkflow

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tutorial/example_math_agent"
CONFIG = FOLDER / "math_agent.yaml"
TASK = WorkflowTask(task=Task(task_id="t", main_query="What is 17 * 24?", metadata={"answer": "408"}))
BOX = Say(r"17 * 24 = 408. \boxed{408}")
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def rollout(
    workflow: Workflow, server: JudgeServer, stream: bool, targets: Collection[str] | None = None
) -> tuple[WorkflowOutput, ModelTuner]:
    async def run() -> tuple[WorkflowOutput, ModelTuner]:
        tuner = ModelTuner.for_endpoint(server.url, "policy", stream=stream, trainable_targets=targets)
        try:
            return await workflow.execute(TASK, tuner), tuner
        finally:
            await tuner.aclose()

    return asyncio.run(run())


@BOTH
@pytest.mark.parametrize(
    "call",
    [Say("<<17 * 24>>"), Say(tools=[("calculator", '{"expression": "17 * 24"}')])],
    ids=["a note in the text", "a call of the model's own"],
)
def test_the_agent_calculates_and_is_judged_right(call: Say, stream: bool) -> None:
    with JudgeServer(in_turn(call, BOX)) as server:
        output, tuner = rollout(MathAgentWorkflow(), server, stream)
    first, second = tuner.trajectory
    assert second.messages[-1]["role"] == "tool"
    assert second.messages[-1]["content"] == "408"
    assert first.response is not None
    assert ("tool_calls" in first.response) is bool(call.tools), "the model is recorded with what it wrote"
    questions = [message["content"][0]["text"] for message in first.messages if message["role"] == "user"]
    assert questions == [*(shot[0] for shot in SHOTS), "What is 17 * 24?"]
    verdict = load_judge(CONFIG).judge(TASK, output)
    assert (verdict.reward, output.metadata["finished_reason"]) == (1.0, "completed")


@BOTH
def test_a_policy_that_only_ever_calculates_is_stopped_and_said_to_be(stream: bool) -> None:
    with JudgeServer(in_turn(Say("<<95**36**32>>"))) as server:
        output, tuner = rollout(MathAgentWorkflow(), server, stream)
    # three rounds, and one in which the agent was to write a text; what it then wrote stands
    assert len(tuner.calls) == 4
    assert output.metadata == {"final_answer": "<<95**36**32>>", "finished_reason": "exceed_max_iters"}
    assert "error" in tuner.calls[1].messages[-1]["content"]
    assert load_judge(CONFIG).judge(TASK, output).reward == 0.0


@BOTH
def test_the_checker_is_asked_but_not_trained(stream: bool) -> None:
    def answer(body: Body) -> Say:
        if "check" in body["messages"][0]["content"][0]["text"]:
            return Say("wrong" if "407" in last_text(body) else "right")
        return BOX if last_text(body).startswith("That is wrong.") else Say(r"\boxed{407}")

    with JudgeServer(each(answer)) as server:
        output, tuner = rollout(CheckedMathWorkflow(), server, stream, ["solver"])
    assert [call.role for call in tuner.calls] == ["solver", "checker", "solver"]
    assert [call.role for call in tuner.trajectory] == ["solver", "solver"]
    assert output.metadata == {
        "final_answer": r"17 * 24 = 408. \boxed{408}",
        "finished_reason": "completed",
        "checker": "wrong",
    }
    assert json.dumps([call.to_dict() for call in tuner.calls])


FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE, CHINESE = (FENCE.findall((FOLDER / name).read_text(encoding="utf-8")) for name in ("README.md", "README.zh.md"))


def test_both_pages_show_the_same_and_the_workflow_as_it_is() -> None:
    assert PAGE == CHINESE
    ((shown),) = [body for language, body in PAGE if language == "python"]
    source = (FOLDER / "workflow.py").read_text(encoding="utf-8")
    assert [line for line in shown.splitlines() if line not in source] == []
    assert "tutorial-math-agent" in TARGETS


def test_the_pages_commands_run_one_after_the_other(tmp_path: Path) -> None:
    lines = [line for language, body in PAGE if language == "console" for line in body.splitlines()]
    commands = [line.removeprefix("$ ") for line in lines]
    for shipped in ("tutorial", "configs"):
        (tmp_path / shipped).symlink_to(ROOT / shipped)
    script = "from agentscope_tuner.cli import main; main()"
    rows = {}
    with JudgeServer(each(lambda body: Say(r"\boxed{25}"))) as server:
        # the first sets up the environment in which this runs
        make = "astuner rollout --conf tutorial/example_math_agent/math_agent.yaml --output out/math_agent.jsonl"
        assert commands[0] == "make tutorial-math-agent"
        for command in [make, *commands[1:]]:
            words = shlex.split(command.removeprefix("ASTUNER_BASE_URL=http://127.0.0.1:8000/v1 "))
            assert words[0] == "astuner"
            done = subprocess.run(
                [sys.executable, "-c", script, *words[1:]],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": str(ROOT), "ASTUNER_BASE_URL": server.url},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            written = tmp_path / words[words.index("--output") + 1]
            rows[written.stem] = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    assert {name: len(found) for name, found in rows.items()} == {
        "math_agent": 22,
        "again": 22,
        "other": 88,
        "checked": 22,
    }
    for name, found in rows.items():
        # 25 is what two of the eleven ask for: 18 + 7, and 25 %
        assert sum(row["judgement"]["reward"] for row in found) == len(found) * 2 / 11, name
    assert {call["model"] for row in rows["other"] for call in row["trajectory"]} == {"Qwen3-8B"}
    assert {call["role"] for row in rows["checked"] for call in row["trajectory"]} == {"solver"}
