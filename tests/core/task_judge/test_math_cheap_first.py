"""The commonest verdicts stay cheap: they enter few functions, on any machine."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_config, load_judge

DUCKS = "How many dollars does Janet make every day at the market?"


@pytest.mark.parametrize(
    ("output", "reference", "question", "right", "most"),
    [
        (r"\boxed{1.5}", "3/2", "", True, 90),
        (r"\boxed{42}", "42", "", True, 50),
        (r"Janet makes $\boxed{18}$ dollars every day.", "18", DUCKS, True, 65),
        (r"Therefore, the amount is \(\boxed{18}\).", "18", DUCKS, True, 65),
        (r"Therefore, the amount is \(\boxed{19}\).", "18", DUCKS, False, 65),
    ],
)
def test_a_plain_number_enters_few_functions(
    output: str, reference: str, question: str, right: bool, most: int
) -> None:
    """The second time: what is read of a question and its reference is kept, as in an advantage group."""
    judge = load_judge(load_config({"astuner": {"task_judge": {"judge": "math"}}}))
    task = WorkflowTask(task=Task(main_query=question, metadata={"answer": reference}))
    answer = WorkflowOutput(metadata={"final_answer": output})
    judge.compute_reward(task, answer)
    entered = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal entered
        entered += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        verdict = judge.compute_reward(task, answer)
    finally:
        sys.setprofile(before)
    assert verdict[1] is right
    assert entered <= most, entered
