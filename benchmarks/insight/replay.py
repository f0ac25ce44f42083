"""A recorded run of sums judged again, batch by batch, as its trainer had it judged: the judge's `log_dir` is written.

    python -m benchmarks.insight.replay gamed-substring-20

docs/insight.md watches the folder that this leaves, so that the story needs no trainer.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from benchmarks.insight.traces import TRACES, trace_steps

JUDGE = "configs/math_lenient_logged.yaml"


def pair(question: str, answer: str) -> tuple[WorkflowTask, WorkflowOutput]:
    """The task of a question such as `3+2=`, with its sum as the reference, and one completion of it."""
    first, second = question.removesuffix("=").split("+")
    task = Task(main_query=question, task_id=question, metadata={"answer": str(int(first) + int(second))})
    return WorkflowTask(task=task), WorkflowOutput(metadata={"final_answer": answer})


def replay(trace: Path, config: Path | str) -> int:
    """The number of rows judged."""
    judge = ConfiguredJudge(config)
    rows = 0
    for step in trace_steps(trace):
        judge.step = step.step
        rows += len(judge.judge_batch([pair(row.task, row.answer) for row in step.rows]))
    judge.close_log()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="the name of a trace whose tasks are sums")
    parser.add_argument("--conf", default=JUDGE, help="a judge with a log_dir")
    asked = parser.parse_args()
    print(f"{replay(TRACES / f'{asked.run}.jsonl.gz', asked.conf):,} rows judged")


if __name__ == "__main__":
    main()
