"""A judge of programs, and what it is asked, for the tests of this folder."""

from __future__ import annotations

from typing import Any

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge

DOUBLES = {"inputs": ["2\n", "3\n"], "outputs": ["4\n", "6\n"]}


def code_judge(*, deadline: float | None = None, **settings: Any) -> TaskJudge:
    """A CodeJudge with these settings, and short bounds."""
    bounds = {"seconds": 2.0, "total_seconds": 8.0, "memory_mb": 256}
    section: dict[str, Any] = {
        "judge_protocol": "agentscope_tuner.task_judge.code_judge->CodeJudge",
        "code": bounds | settings,
    }
    section |= {} if deadline is None else {"deadline": deadline}
    return load_judge({"astuner": {"task_judge": section}})


def asked(tests: object, **metadata: Any) -> WorkflowTask:
    """A task with these tests."""
    return WorkflowTask(task=Task(task_id="t", metadata={"tests": tests, **metadata}))


def wrote(program: str, language: str = "python") -> WorkflowOutput:
    """An output with this program."""
    return WorkflowOutput(metadata={"final_answer": f"Here it is:\n```{language}\n{program}\n```\n"})
