"""Text judges for tests: built as a configuration names them, and asked about one output."""

from __future__ import annotations

import time
from typing import Any

from agentscope_tuner import Judgement, Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge

MISSING = object()


def built(name: str, **kwargs: Any) -> TaskJudge:
    """The judge `agentscope_tuner.task_judge.<name>_judge-><Name>Judge` with these `judge_kwargs`."""
    class_name = "".join(part.title() for part in name.split("_")) + "Judge"
    protocol = f"agentscope_tuner.task_judge.{name}_judge->{class_name}"
    return load_judge({"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": kwargs}}})


def ask(judge: TaskJudge, text: str, answer: Any = MISSING, /, **metadata: Any) -> Judgement:
    """The verdict on `text`; `answer` and `metadata` are the task's, `output` among them the output's own."""
    of_output = {"final_answer": text, **metadata.pop("output", {})}
    of_task = metadata if answer is MISSING else {"answer": answer, **metadata}
    return judge.judge(WorkflowTask(task=Task(task_id="t1", metadata=of_task)), WorkflowOutput(metadata=of_output))


def ask_hostile(judge: TaskJudge, text: str, answer: Any = MISSING, /, **metadata: Any) -> Judgement:
    """`ask`, which has to reach a verdict in 3 seconds of CPU time; a quadratic reader takes hours over a megabyte."""
    started = time.thread_time()
    judgement = ask(judge, text, answer, **metadata)
    assert time.thread_time() - started < 3
    assert judgement.status == "judged", judgement
    return judgement
