"""What every adapter rests on: samples become tasks and outputs, and one judge serves a process."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, ConfigError, JudgeError, Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.records.formats.sample import as_rollout, final_text, ground_truth_metadata
from agentscope_tuner.task_judge.batch import ConfiguredJudge, groups, judge_for

HERE = "tests.core.adapters.test_adapters"
NOT_EMPTY = {"id": "not_empty", "kind": "non_empty", "target": "output", "action": "mark_bad"}


class Echo(BaseJudge):
    """1.0 for the reference itself; fails on `boom`."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        answer = workflow_output.metadata["final_answer"]
        if answer == "boom":
            raise JudgeError("the judge model did not answer")
        right = answer == workflow_task.task.metadata["answer"]
        return float(right), right


class AsyncEcho(Echo):
    """Echo that awaits something, as a judge with a model behind it does."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.sleep(0)
        return self.compute_reward(workflow_task, workflow_output)


class Longest(BaseJudge):
    """Listwise: the group's longest answer is worth 1.0, the others the share of the group that they beat."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        raise JudgeError("an answer alone has no rank")

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[tuple[float, bool]]:
        lengths = [len(output.metadata["final_answer"]) for output in workflow_outputs]
        beaten = [sum(other < length for other in lengths) / max(len(lengths) - 1, 1) for length in lengths]
        return [(share, share == 1.0) for share in beaten]


def config(judge: str = "Echo", **section: Any) -> dict[str, Any]:
    return {"astuner": {"task_judge": {"judge_protocol": f"{HERE}->{judge}", "rules": [NOT_EMPTY], **section}}}


def pair(answer: str, truth: str = "42", task_id: str = "t1") -> tuple[WorkflowTask, WorkflowOutput]:
    task = WorkflowTask(task=Task(task_id=task_id, metadata={"answer": truth}))
    return task, WorkflowOutput(metadata={"final_answer": answer})


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ([{"role": "assistant", "content": "said"}], "said"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}], "ab"),
        ([{"role": "assistant", "content": [{"type": "reasoning", "text": "7?"}, {"text": "8"}]}], "8"),
        ([{"role": "assistant", "content": "calls", "tool_calls": []}, {"role": "tool", "content": "7"}], ""),
        ([{"role": "tool", "content": "7"}, {"role": "assistant", "content": r"\boxed{7}"}], r"\boxed{7}"),
        ([{"role": "assistant", "content": None}], ""),
        ([{"role": "assistant"}], ""),
        ([], ""),
    ],
)
def test_the_final_answer_is_the_assistants_last_word(completion: Any, text: str) -> None:
    assert final_text(completion) == text


def test_a_chat_prompt_gives_the_query_and_the_opening_messages() -> None:
    prompt: list[dict[str, Any]] = [
        {"role": "system", "content": "Box it."},
        {"role": "user", "content": [{"type": "image", "image": object()}, {"type": "text", "text": "1+1?"}]},
    ]
    completion = [{"role": "assistant", "content": "2"}]
    task, output = as_rollout(prompt, completion, {"answer": "2", "target": 24})
    assert task.task.main_query == "1+1?"
    assert [message["role"] for message in task.task.init_messages] == ["system", "user"]
    assert task.task.metadata == {"answer": "2", "target": 24}
    assert output.metadata == {"answer": "2", "target": 24, "final_answer": "2", "messages": completion}


def test_a_column_cannot_pose_as_the_policys_answer() -> None:
    _, output = as_rollout("1+1?", "3", {"final_answer": "2"})
    assert output.metadata["final_answer"] == "3"


def test_tasks_are_named_by_their_column_or_by_what_they_ask() -> None:
    def name(prompt: str, **columns: Any) -> str:
        return as_rollout(prompt, "x", columns)[0].task_id

    assert name("q", task_id=7) == "7"
    # a data frame's column of integers with an empty cell
    assert name("q", task_id=7.0) == "7"
    assert name("q", task_id=7.5) == "7.5"
    nameless = {name("q", task_id=empty) for empty in (None, "", math.nan)}
    assert not {"nan", "None", ""} & nameless
    assert name("p", task_id=math.nan) != name("q", task_id=math.nan)
    assert name("q", answer="1") == name("q", answer="1")
    assert len({name("q", answer="1"), name("q", answer="2"), name("p", answer="1")}) == 3
    assert name("lone surrogate \ud800") != ""


class FakeArray:
    """Looks like numpy, which the core does not depend on."""

    def tolist(self) -> list[int]:
        return [1, 2]


FakeArray.__module__ = "numpy"


@pytest.mark.parametrize(
    ("ground_truth", "metadata"),
    [
        ("42", {"answer": "42"}),
        (42, {"answer": 42}),
        (r"\{1,2\}", {"answer": r"\{1,2\}"}),
        ("{1, 2}", {"answer": "{1, 2}"}),
        ('{"target": 3, "nums": [1, 2]}', {"answer": '{"target": 3, "nums": [1, 2]}', "target": 3, "nums": [1, 2]}),
        ('{"answer": "7"}', {"answer": "7"}),
        ({"target": 3, "nums": FakeArray()}, {"answer": {"target": 3, "nums": [1, 2]}, "target": 3, "nums": [1, 2]}),
        ("{" * 5_000, {"answer": "{" * 5_000}),
        ('{"a":' * 1_500, {"answer": '{"a":' * 1_500}),
        (None, {"answer": None}),
    ],
)
def test_ground_truths_become_metadata(ground_truth: object, metadata: dict[str, Any]) -> None:
    assert ground_truth_metadata(ground_truth) == metadata


@pytest.mark.parametrize("judge", ["Echo", "AsyncEcho"])
def test_a_batch_is_judged_in_order_and_a_failure_stays_its_own(judge: str) -> None:
    answers = ["42", "41", "boom", " "] * 25
    judgements = ConfiguredJudge(config(judge)).judge_batch([pair(answer) for answer in answers])
    assert [judgement.status for judgement in judgements] == ["judged", "judged", "failed", "filtered"] * 25
    assert [judgement.reward for judgement in judgements] == [1.0, 0.0, None, 0.0] * 25


def test_rollouts_without_a_task_id_are_not_ranked_together() -> None:
    pairs = [pair("x", task_id=""), pair("xxx", task_id=""), pair("xx", task_id="a"), pair("x", task_id="a")]
    assert [len(group) for group in groups(pairs)] == [1, 1, 2]


def test_listwise_judges_see_whole_groups() -> None:
    pairs = [pair(answer, task_id=task_id) for task_id, answer in zip("aaab", ["x", "xxx", "xx", "x"], strict=True)]
    assert [len(group) for group in groups(pairs)] == [3, 1]
    judge = ConfiguredJudge(config("Longest"))
    assert [judgement.reward for judgement in judge.judge_batch(pairs)] == [0.0, 1.0, 0.5, None]
    assert [judgement.reward for judgement in asyncio.run(judge.ajudge_batch(pairs))] == [0.0, 1.0, 0.5, None]


def test_a_rollout_that_the_rules_leave_alone_has_no_rank_and_ends_no_training() -> None:
    # "an answer alone has no rank" failed the filtered rows as well, and a judge that takes one was paid a constant 0.0
    judge = ConfiguredJudge(config("Longest", rule_reward=-0.5))
    found = judge.judge_group([pair(text) for text in ("xxx", "", "")])
    assert [judgement.status for judgement in found] == ["failed", "filtered", "filtered"]
    assert [judgement.cause for judgement in asyncio.run(judge.ajudge_group([pair("xxx"), pair("")]))] == [
        "alone",
        None,
    ]
    assert [judge.reward(judgement) for judgement in found] == [None, -0.5, -0.5]
    # where a trainer takes no missing reward, the group is paid the same
    assert [judge.reward_or_raise(judgement) for judgement in found] == [-0.5, -0.5, -0.5]
    assert judge.settled(found[0]).status == "filtered"
    # two are a group, and one that nobody stood beside is still refused
    assert [each.reward for each in judge.judge_group([pair("xxx"), pair("x"), pair("")])] == [1.0, 0.0, -0.5]
    assert judge.judge_group([pair("xxx")])[0].cause == "config"


def test_a_part_that_the_rules_leave_alone_gives_no_verdict_and_where_none_can_be_masked_no_difference() -> None:
    # it was paid the part's rule_reward as a verdict, also under trainers that mask a missing one
    part = {"judge_protocol": f"{HERE}->Longest", "rules": [NOT_EMPTY], "rule_reward": 0.25}
    echo = {"judge_protocol": f"{HERE}->Echo"}
    group = [pair("42"), pair(""), pair("")]

    def combined(**long: Any) -> ConfiguredJudge:
        section = {"judge": "combined", "parts": {"long": {**part, **long}, "echo": echo}}
        return ConfiguredJudge({"astuner": {"task_judge": section}})

    judge = combined()
    found = judge.judge_group(group)
    assert [(each.status, each.cause) for each in found] == [("failed", "alone"), ("judged", None), ("judged", None)]
    assert "part 'long' (Longest): the rules left one of 3 rollouts" in found[0].reason
    assert "part/long" not in found[0].metrics
    assert found[0].metrics["part/echo"] == found[1].metrics["part/echo"] + 1.0
    assert [judge.reward(each) for each in found] == [None, 0.25, 0.25]
    # the other part's verdict still counts where a trainer takes no missing reward
    assert [judge.reward_or_raise(each) for each in found] == [1.25, 0.25, 0.25]
    assert judge.settled(found[0]).metrics == {"part/echo": 1.0}
    assert [each.reward for each in combined(on_error="zero").judge_group(group)] == [1.0, 0.25, 0.25]


def test_a_route_that_the_rules_leave_alone_pays_what_its_own_rules_pay() -> None:
    route = {"judge_protocol": f"{HERE}->Longest", "rules": [NOT_EMPTY], "rule_reward": 0.25}
    section = {"judge": "routed", "by": "task.task_id", "routes": {"default": route}, "rule_reward": -1.0}
    judge = ConfiguredJudge({"astuner": {"task_judge": section}})
    found = judge.judge_group([pair("42"), pair("")])
    assert [judge.reward(each) for each in found] == [None, 0.25]
    assert [judge.reward_or_raise(each) for each in found] == [0.25, 0.25]


def test_no_verdict_is_no_number_unless_asked_for_by_name() -> None:
    judge = ConfiguredJudge(config())
    failed = judge.judge(*pair("boom"))
    assert judge.reward(failed) is None
    with pytest.raises(JudgeError, match=r"task 't1': Echo: the judge model did not answer"):
        judge.reward_or_raise(failed)
    lenient = ConfiguredJudge(config(on_error="zero"))
    assert lenient.reward_or_raise(lenient.judge(*pair("boom"))) == 0.0


def test_a_process_loads_a_file_once(tmp_path: Path) -> None:
    path = tmp_path / "judge.yaml"
    path.write_text(f"astuner: {{task_judge: {{judge_protocol: '{HERE}->Echo'}}}}\n", encoding="utf-8")
    assert judge_for(str(path)) is judge_for(path)
    with pytest.raises(ConfigError, match="no configuration file"):
        judge_for(tmp_path / "absent.yaml")
