"""What the judge is shown of a rollout: the question as the user asked it, and one task id for a prompt's samples."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, JudgeError, WorkflowOutput, WorkflowTask
from agentscope_tuner.adapters import agentscope, areal, ms_swift, open_instruct, openrlhf, rllm, slime, verl
from agentscope_tuner.adapters.agentjet import AstunerJudge
from agentscope_tuner.adapters.art import judged_by
from agentscope_tuner.adapters.rollout import asked_in, without_a_question
from agentscope_tuner.adapters.trl.functions import pairs_of
from agentscope_tuner.errors import Cause
from agentscope_tuner.records.formats.sample import as_rollout
from agentscope_tuner.task_judge.batch import Pair
from agentscope_tuner.task_judge.contract.judgement import Judgement
from tests.core.adapters.test_adapters_more import Sample, trainers_types
from tests.core.adapters.test_adapters_verl import settings

__all__ = ["trainers_types"]

MADE = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n6*7?<|im_end|>\n<|im_start|>assistant\n"
SEEN = "tests.core.adapters.test_adapters_question->Seen"


class Seen(BaseJudge):
    """Keeps what it was shown."""

    tasks: list[WorkflowTask] = []  # noqa: RUF012

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        self.tasks.append(workflow_task)
        return 1.0, True


def last() -> WorkflowTask:
    return Seen.tasks[-1]


PAIRS: dict[str, Pair] = {
    "OpenRLHF": openrlhf.decode_request({"query": [MADE + "42"], "prompts": [MADE], "labels": ["42"]}),
    "slime": slime.as_pair(Sample("42", MADE)),
    "slime, over HTTP": slime.decode_request({"prompt": MADE, "response": "42", "label": "42"}),
    "AReaL, ids of its user's own": areal.pair_of(MADE, "42", {"answer": "42"}),
    "verl": verl.pair_of("math", "42", "42", {"raw_prompt": [{"role": "user", "content": "6*7?"}]}),
    "verl, a blank column": verl.pair_of(
        "math", "42", "42", {"question": " ", "raw_prompt": [{"role": "user", "content": "6*7?"}]}
    ),
    "agentscope, a blank column": agentscope.as_pair({"question": "", "problem": "6*7?", "answer": "42"}, "42"),
}


@pytest.mark.parametrize("trainer", PAIRS)
def test_the_judge_sees_what_the_user_asked(trainer: str) -> None:
    task, output = PAIRS[trainer]
    assert (task.task.main_query, task.task.metadata["answer"], output.metadata["final_answer"]) == ("6*7?", "42", "42")


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("user: 6*7?", "6*7?"),
        ("system: Be brief.\nuser: 6*7?", "6*7?"),
        ("user: Hello\nassistant: Hello!\nuser: 6*7?", "6*7?"),
        # a user's own lines
        ("user: Read:\nuser: a\n6*7?", "Read:\nuser: a\n6*7?"),
        ("6*7?", "6*7?"),
        ("What does `user: x` mean?\nuser: x", "What does `user: x` mean?\nuser: x"),
        ("system: Be brief.", "system: Be brief."),
    ],
)
@pytest.mark.usefixtures("trainers_types")
def test_open_instructs_roles_are_no_part_of_the_question(query: str, asked: str, tmp_path: Path) -> None:
    open_instruct.verifier("seen", settings(tmp_path, SEEN))()([1], "42", "42", query)
    assert last().task.main_query == asked


@pytest.mark.parametrize(
    ("task", "asked"),
    [
        ({"question": "6*7?", "answer": "42"}, "6*7?"),
        ({"messages": [{"role": "user", "content": "6*7?"}], "answer": "42"}, "6*7?"),
        (SimpleNamespace(instruction="6*7?", metadata={"answer": "42"}), "6*7?"),
        (SimpleNamespace(instruction=[{"type": "text", "text": "6*7?"}], metadata={"answer": "42"}), "6*7?"),
        (SimpleNamespace(instruction="", metadata={"question": "6*7?", "answer": "42"}), "6*7?"),
        (SimpleNamespace(data={"problem": "6*7?", "answer": "42"}), "6*7?"),
    ],
)
@pytest.mark.usefixtures("trainers_types")
def test_rllms_instruction_is_the_question(task: Any, asked: str, tmp_path: Path) -> None:
    rllm.JudgeEvaluator(settings(tmp_path, SEEN)).evaluate(task, SimpleNamespace(artifacts={"answer": "42"}))
    assert last().task.main_query == asked


@pytest.mark.parametrize(
    ("query", "messages", "asked"),
    [
        ("6*7?", [], "6*7?"),
        # an environment asks in the messages that it begins with
        ("[not defined]", [{"role": "system", "content": "x"}, {"role": "user", "content": "6*7?"}], "6*7?"),
        # a row without a column `question`
        ("Empty", [], ""),
        ("[not defined]", [], ""),
    ],
)
def test_agentjets_placeholder_is_no_question(query: str, messages: list[Any], asked: str) -> None:
    inner = SimpleNamespace(main_query=query, init_messages=messages, task_id="7", env_type="", metadata={})
    outer = SimpleNamespace(task=inner, task_id="7", env_type="", episode_uuid="e", gym_env=None)
    judge = AstunerJudge({"astuner": {"task_judge": {"judge_protocol": SEEN}}})  # type: ignore[arg-type]
    judge.compute_reward(outer, SimpleNamespace(reward=None, is_success=None, metadata={"final_answer": "42"}))
    assert (last().task.main_query, last().task_id) == (asked, "7")


EPISODE = [
    {"role": "user", "content": "6*7?"},
    {"role": "assistant", "content": "40"},
    {"role": "user", "content": "Try again."},
    {"role": "assistant", "content": "42"},
]


def test_an_environments_words_are_not_the_question_of_a_trajectory(tmp_path: Path) -> None:
    def played(first: str, **kept: Any) -> WorkflowTask:
        turns = [EPISODE[0], {"role": "assistant", "content": first}, *EPISODE[2:]]
        trajectory = SimpleNamespace(messages=lambda: turns, reward=0.0, metrics={}, **kept)
        asyncio.run(judged_by(settings(tmp_path, SEEN))(trajectory, {"answer": "42"}))
        return last()

    # ART keeps what it sampled as choices
    choices = [EPISODE[0], SimpleNamespace(), EPISODE[2], SimpleNamespace()]
    first, second = played("40", messages_and_choices=choices), played("41", messages_and_choices=choices)
    assert (first.task.main_query, first.task_id) == ("6*7?", second.task_id)


def test_an_environments_words_are_not_the_question_of_ms_swifts_rollout(tmp_path: Path) -> None:
    reward = ms_swift.orm(settings(tmp_path, SEEN))()
    told = [{"num_turns": 2}]
    assert reward(["42"], messages=[EPISODE], rollout_infos=told, solution=["42"]) == [1.0]
    assert last().task.main_query == "6*7?"
    # a prompt of several turns, answered once
    assert reward(["42"], messages=[EPISODE], rollout_infos=[{"num_turns": 1}], solution=["42"]) == [1.0]
    assert last().task.main_query == "Try again."


def test_a_column_that_differs_within_trls_group_names_no_task() -> None:
    prompts = [*["6*7?"] * 2, *["6*7?"] * 2]
    columns: dict[str, list[Any]] = {"answer": ["42"] * 4, "seed": [1, 1, 2, 2], "steps": [3, 4, 5, 6]}
    ids = [task.task_id for task, _ in pairs_of(prompts, ["a"] * 4, columns, group_size=2)]
    assert (ids[0] == ids[1], ids[1] == ids[2], ids[2] == ids[3]) == (True, False, True)
    # the judge sees all columns
    assert [task.task.metadata["steps"] for task, _ in pairs_of(prompts, ["a"] * 4, columns, group_size=2)] == [
        3,
        4,
        5,
        6,
    ]


def test_a_failure_without_a_question_names_the_trainers_way_out() -> None:
    blank, asked = as_rollout("", "42", {}), as_rollout("6*7?", "42", {})
    failed = Judgement.failed(JudgeError("task.main_query is empty", cause=Cause.INPUT))
    told = without_a_question(blank, failed, "write it")
    assert str(told.error).endswith("task.main_query is empty. No question came: write it")
    assert without_a_question(asked, failed, "write it") is failed
    other = Judgement.failed(JudgeError("the model did not answer", cause=Cause.ENDPOINT))
    assert without_a_question(blank, other, "write it") is other


def test_verl_names_the_managers_that_give_no_question(tmp_path: Path) -> None:
    path = tmp_path / "llm.yaml"
    llm = "{grader: relevance, model_name: m, base_url: 'http://127.0.0.1:9/v1', api_key: k}"
    path.write_text(f"astuner:\n  task_judge:\n    judge_type: llm\n    llm: {llm}\n", encoding="utf-8")
    with pytest.raises(JudgeError, match=re.escape("Put the question into extra_info.question")):
        verl.compute_score_sync("math", "42", "42", {"index": 1}, config=str(path))


@pytest.mark.parametrize(
    ("row", "asked"),
    [
        ({"prompt": "6*7?"}, "6*7?"),
        ({"question": None, "query": "6*7?"}, "6*7?"),
        ({"prompt": [{"role": "user", "content": "6*7?"}]}, [{"role": "user", "content": "6*7?"}]),
        ({"text": "6*7?"}, ""),
    ],
)
def test_a_rows_question_by_its_usual_names(row: dict[str, Any], asked: object) -> None:
    assert asked_in(row) == asked
