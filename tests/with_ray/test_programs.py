"""Programs that lie, judged in Ray's actors: a jail there holds as it does elsewhere."""

from __future__ import annotations

import time
from itertools import islice

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.engines.ray.pool import RayJudge
from benchmarks.code.cheats import cheats
from benchmarks.code.redteam import FORMS, SETTINGS, orphans

_SECTION = {"judge_protocol": "agentscope_tuner.task_judge.code_judge->CodeJudge", "code": SETTINGS}
_RIGHT = "def double(n):\n    return 2 * n\nif __name__ == '__main__':\n    print(double(int(input())))"


@pytest.mark.usefixtures("small_ray")
def test_no_lie_is_paid_in_an_actor_and_right_programs_are() -> None:
    judge = RayJudge({"astuner": {"task_judge": _SECTION}}, name="programs", workers=2, num_cpus=0.5)
    programs = [(tests, _RIGHT, 1.0) for tests in FORMS.values()]
    programs += [(tests, cheat.program, 0.0) for tests in FORMS.values() for cheat in islice(cheats(), 3, None, 23)]
    asked = [
        judge.compute_reward.remote(
            WorkflowTask(task=Task(metadata={"tests": tests})),
            WorkflowOutput(metadata={"final_answer": f"```python\n{program}\n```"}),
        )
        for tests, program, _ in programs
    ]
    try:
        rewards = judge.get(asked)
    finally:
        judge.shutdown()
    for (_, program, due), (reward, _) in zip(programs, rewards, strict=True):
        assert reward == due, program
    # the kernel ends a jail with the actor that started it
    until = time.monotonic() + 2
    while orphans():
        assert time.monotonic() < until
