"""A judge written the way the documentation shows works unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_judge

TASK = WorkflowTask(task=Task(task_id="t1", metadata={"answer": "the cat sat"}))

# no types, .get with a default, a plain tuple: as people write them
AS_DOCUMENTED = """
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

class OverlapJudge(BaseJudge):
    def __init__(self, config):
        super().__init__(config)
        self.threshold = 0.8

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple:
        ours = workflow_output.metadata.get("final_answer", "")
        theirs = workflow_task.task.metadata.get("answer", "")
        similarity = self._overlap(ours, theirs)
        return similarity, similarity >= self.threshold

    def _overlap(self, text1, text2):
        return len(set(text1.split()) & set(text2.split())) / max(len(text1.split()), len(text2.split()), 1)
"""


def test_a_judge_as_documented_works_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "documented_task"
    package.mkdir()
    (package / "my_judge.py").write_text(AS_DOCUMENTED, encoding="utf-8")
    config = tmp_path / "train.yaml"
    config.write_text(
        "astuner:\n"
        "  task_judge:\n"
        "    judge_type: customized_protocol\n"
        "    judge_protocol: documented_task.my_judge->OverlapJudge\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    judge = load_judge(config)
    assert judge.compute_reward(TASK, WorkflowOutput(metadata={"final_answer": "the cat sat"})) == (1.0, True)
    assert judge.compute_reward(TASK, WorkflowOutput(metadata={"final_answer": "the dog sat"})) == (2 / 3, False)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, (0.5, False)), ({"judge_kwargs": {"threshold": 0.5}}, (0.5, True))],
)
def test_the_tutorials_judge_reads_its_own_settings(settings: dict[str, object], expected: tuple[float, bool]) -> None:
    section = {"judge_protocol": "tutorial.my_task.my_judge->MyCustomJudge", **settings}
    judge = load_judge({"astuner": {"task_judge": section}})
    assert judge.compute_reward(TASK, WorkflowOutput(metadata={"final_answer": "the dog sat"})) == expected
