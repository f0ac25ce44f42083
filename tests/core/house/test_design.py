"""The types and the folders that docs/design.md lists; what it says is done in one place alone is in test_layers."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import msgspec
import pytest

from agentscope_tuner.errors import Cause
from agentscope_tuner.graders import GraderRank, GraderScore
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.contract.deadline import Traits
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.core.house.test_layers import ROOT

DESIGN = (ROOT.parent / "docs" / "design.md").read_text(encoding="utf-8")
# Each is told of by its fields
TYPES: dict[str, Any] = {
    "Task": Task,
    "WorkflowTask": WorkflowTask,
    "WorkflowOutput": WorkflowOutput,
    "Judgement": Judgement,
    "Traits": Traits,
    "GraderScore": GraderScore,
    "GraderRank": GraderRank,
}


def fields_of(kind: Any) -> list[str]:
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return [*(kind.__struct_fields__ if issubclass(kind, msgspec.Struct) else kind.model_fields)]


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_the_fields_that_the_design_lists(name: str) -> None:
    # `GraderRank` stands in the row of `GraderScore`
    told = re.search(rf"(?:^\| |; )`{name}`(?: \||:)[^`]*(?:`TaskJudge[^`]*`[^`]*)?`([\w, ]+)`", DESIGN, re.MULTILINE)
    assert told is not None
    assert sorted(told[1].split(", ")) == sorted(fields_of(TYPES[name]))


@pytest.mark.parametrize("name", ["reason", "metrics"])
def test_a_reward_is_a_tuple_of_two_that_carries_more(name: str) -> None:
    reward = Reward(0.5, False, reason="half", metrics={"passed": 1.0})
    assert (tuple(reward), len(reward)) == ((0.5, False), 2)
    assert getattr(reward, name) in ("half", {"passed": 1.0})


@pytest.mark.parametrize("word", ["reference", "input", "endpoint", "bug"])
def test_a_cause_is_a_word_that_the_design_names(word: str) -> None:
    assert Cause(word).value == word


@pytest.mark.parametrize("name", ["compute_reward", "acompute_reward", "compute_rewards", "aready", "check_task"])
def test_a_judge_has_the_methods_that_the_design_lists(name: str) -> None:
    assert f"`{name}" in DESIGN
    assert callable(getattr(BaseJudge, name))


@pytest.mark.parametrize("folder", ["cli/starters", "lab/demo_rollouts", "lab/texts", "lab/view/static"])
def test_the_folders_that_hold_no_module_are_there_and_hold_none(folder: str) -> None:
    assert f"`{folder}`" in DESIGN
    assert any((ROOT / folder).iterdir())
    assert [*(ROOT / folder).rglob("__init__.py")] == []
