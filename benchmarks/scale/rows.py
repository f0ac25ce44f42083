"""The rows of the HTTP benchmarks, each with the verdict it must get, and the judges that judge them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agentscope_tuner import BaseJudge, Reward, WorkflowOutput, WorkflowTask
from benchmarks.math import hostile
from benchmarks.math.workload import solutions
from benchmarks.scale.load import Row

MATH_JUDGE = {"judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"}
STUB_JUDGE = {"judge_protocol": "benchmarks.scale.rows->WaitingJudge"}
_WAIT_SECONDS = 0.05
# what a service takes as one answer by default; longer ones it refuses unread
_MOST_CHARS = 200_000
# the end of a solution, where its answer stands: as long as those of grade-school problems are
_KEPT_CHARS = 700


class WaitingJudge(BaseJudge):
    """Waits as a call to a model would, then pays an answer of `right`."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        await asyncio.sleep(_WAIT_SECONDS)
        right = workflow_output.metadata["final_answer"] == "right"
        return Reward(float(right), right)


def exact_rows(count: int) -> list[Row]:
    """Right answers, written as the reference is."""
    found = [_row(made.output[-_KEPT_CHARS:], made.reference, True) for made in solutions() if made.kind == "exact"]
    return _as_many(found, count)


def mixed_rows(count: int) -> list[Row]:
    """60 % written as the reference is, 25 % right in another form, 15 % wrong."""
    return _as_many([_row(made.output[-_KEPT_CHARS:], made.reference, made.right) for made in solutions()], count)


def io_rows(count: int) -> list[Row]:
    """Right and wrong answers for WaitingJudge."""
    return [_row("right" if at % 2 else "wrong", "", bool(at % 2)) for at in range(count)]


def hostile_rows() -> list[Row]:
    """What a policy could write to hang a math judge, or to be paid for nothing; none of it must be paid."""
    return [_row(made.output, made.reference, False) for made in hostile.outputs() if len(made.output) <= _MOST_CHARS]


def _row(output: str, reference: str, is_success: bool) -> Row:
    rollout: dict[str, Any] = {
        "task": {"main_query": "", "metadata": {"answer": reference}},
        "output": {"metadata": {"final_answer": output}},
    }
    return Row(json.dumps(rollout).encode(), is_success)


def _as_many(rows: list[Row], count: int) -> list[Row]:
    return [rows[at % len(rows)] for at in range(count)]
