"""A judge that ranks has no verdict on one rollout alone: whoever asks is refused, and nobody is paid a constant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, JudgeError, Task, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.adapters import areal, ms_swift, nemo_gym, open_instruct, openrlhf, rllm, slime, verl
from agentscope_tuner.adapters.trl import combined, reward_func
from agentscope_tuner.errors import Cause
from agentscope_tuner.task_judge.batch import ConfiguredJudge, judge_for

TASK = WorkflowTask(task=Task(task_id="t1", main_query="6*7?", metadata={"answer": "42", "kind": "rank"}))


def output(answer: str = "42") -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": answer})


class ShortestWins(BaseJudge):
    """As the guide once showed it: alone, every answer is paid 0.0."""

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[tuple[float, bool]]:
        lengths = [len(one.metadata["final_answer"]) for one in workflow_outputs]
        worse = [sum(other > length for other in lengths) for length in lengths]
        return [
            (n / max(len(lengths) - 1, 1), length == min(lengths)) for n, length in zip(worse, lengths, strict=True)
        ]

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return self.compute_rewards(workflow_task, [workflow_output])[0]


class BatchesOnly(ShortestWins):
    """An honest twin: it answers several at once for speed, and any one alone."""

    def ranks_groups(self) -> bool:
        return False


RANKS = {"judge_protocol": f"{__name__}->ShortestWins"}
MATH = {"judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"}
SECTIONS: dict[str, dict[str, Any]] = {
    "bare": RANKS,
    "a part": {"judge_type": "combined", "parts": {"math": MATH, "short": RANKS | {"weight": 0.1}}},
    "an optional part": {"judge_type": "combined", "parts": {"math": MATH, "short": RANKS | {"optional": True}}},
    "a route": {"judge_type": "routed", "by": "task.metadata.kind", "routes": {"rank": RANKS, "math": MATH}},
}


def config(section: dict[str, Any]) -> dict[str, Any]:
    return {"astuner": {"task_judge": section}}


Ask = Callable[[Any], Any]
ALONE: dict[str, Ask] = {
    "compute_reward": lambda judge: judge.compute_reward(TASK, output()),
    "acompute_reward": lambda judge: asyncio.run(judge.acompute_reward(TASK, output())),
    "compute_rewards": lambda judge: judge.compute_rewards(TASK, [output()]),
    "judge": lambda judge: raised(judge.judge(TASK, output())),
    "ajudge": lambda judge: raised(asyncio.run(judge.ajudge(TASK, output()))),
    "judge_group": lambda judge: raised(judge.judge_group(TASK, [output()])[0]),
    "ajudge_group": lambda judge: raised(asyncio.run(judge.ajudge_group(TASK, [output()]))[0]),
    "outcome": lambda judge: raised(judge.outcome(TASK, output())),
    "aoutcome": lambda judge: raised(asyncio.run(judge.aoutcome(TASK, output()))),
}


def raised(found: Any) -> None:
    if isinstance(found, JudgeError):
        raise found
    assert (found.status, found.reward, found.cause) == ("failed", None, Cause.CONFIG)
    raise JudgeError(found.error)


@pytest.mark.parametrize("asked", ALONE)
@pytest.mark.parametrize("section", SECTIONS)
def test_one_rollout_has_no_rank(section: str, asked: str) -> None:
    with pytest.raises(JudgeError, match="ranks whole advantage groups, and one rollout alone has no rank"):
        ALONE[asked](load_judge(config(SECTIONS[section])))


@pytest.mark.parametrize("section", ["bare", "a route"])
def test_a_group_has_one(section: str) -> None:
    verdicts = load_judge(config(SECTIONS[section])).judge_group(TASK, [output("4"), output("42")])
    assert [verdict.reward for verdict in verdicts] == [1.0, 0.0]


def test_a_judge_that_only_batches_answers_for_one() -> None:
    judge = load_judge(config({"judge_protocol": f"{__name__}->BatchesOnly"}))
    assert judge.judge(TASK, output()).status == "judged"


def test_a_rule_reaches_its_verdict_on_one() -> None:
    rule = {"id": "short", "kind": "max_chars", "max_chars": 1, "action": "mark_bad"}
    judge = load_judge(config(RANKS | {"rules": [rule]}))
    assert judge.judge(TASK, output()).status == "filtered"
    assert judge.judge_group(TASK, [output()])[0].status == "filtered"


def test_a_batch_pays_whole_groups_and_no_single_row() -> None:
    tasks = [WorkflowTask(task=Task(task_id=name)) for name in "aab"]
    verdicts = ConfiguredJudge(config(RANKS)).judge_batch([(task, output("4" * n)) for n, task in enumerate(tasks, 1)])
    assert [verdict.reward for verdict in verdicts] == [1.0, 0.0, None]


GROUPS: dict[str, Ask] = {
    "judge_group": lambda judge: judge.judge_group(several()),
    "ajudge_group": lambda judge: asyncio.run(judge.ajudge_group(several())),
    "judge_batch": lambda judge: judge.judge_batch(several()),
    "ajudge_batch": lambda judge: asyncio.run(judge.ajudge_batch(several())),
}


def several(*questions: str) -> list[tuple[WorkflowTask, WorkflowOutput]]:
    """Rollouts under one id, as the row numbers of two data sets are."""
    asked = questions or ("6*7?", "6*7?", "5*7?")
    tasks = [WorkflowTask(task=Task(task_id="0", main_query=each)) for each in asked]
    return [(task, output("4" * n)) for n, task in enumerate(tasks, 1)]


@pytest.mark.parametrize("asked", GROUPS)
def test_answers_to_several_questions_are_no_group(asked: str) -> None:
    # two prompts under one id, or without one, were ranked together: the shorter question's answers won
    verdicts = GROUPS[asked](ConfiguredJudge(config(RANKS)))
    assert [(verdict.reward, verdict.cause) for verdict in verdicts] == [(None, Cause.INPUT)] * 3
    assert "2 questions, as ['5*7?', '6*7?']" in verdicts[0].error


def test_a_group_whose_question_is_not_told_is_one() -> None:
    verdicts = ConfiguredJudge(config(RANKS)).judge_group(several("6*7?", " 6*7?\n", ""))
    assert [verdict.reward for verdict in verdicts] == [1.0, 0.5, 0.0]
    assert ConfiguredJudge(config(RANKS)).judge_group([]) == []
    assert asyncio.run(ConfiguredJudge(config(RANKS)).ajudge_group([])) == []


SAMPLE = SimpleNamespace(prompt="6*7=", response="42", label="42", metadata={}, group_index=0)
MESSAGES = [[{"role": "user", "content": "6*7="}, {"role": "assistant", "content": "42"}]]
GYM = {"responses_create_params": {"input": "6*7="}, "response": {"output": []}, "answer": "42"}
ADAPTERS: dict[str, Callable[[str], Any]] = {
    "verl": lambda path: verl.compute_score_sync("math", "42", "42", config=path),
    "verl, awaited": lambda path: asyncio.run(verl.compute_score("math", "42", "42", config=path)),
    "OpenRLHF": lambda path: openrlhf.reward_file(path)(["6*7=42"], ["6*7="], ["42"]),
    "slime": lambda path: asyncio.run(slime.custom_rm(path)(None, SAMPLE)),
    "slime, a group of one": lambda path: asyncio.run(slime.custom_rm(path)(None, [SAMPLE])),
    "ms-swift": lambda path: ms_swift.orm(path)()(["42"], messages=MESSAGES, answer=["42"]),
    "AReaL": lambda path: areal.reward_fn(path)("6*7=", "42", answer="42"),
    "AReaL, awaited": lambda path: asyncio.run(areal.async_reward_fn(path)("6*7=", "42", answer="42")),
    "rLLM": lambda path: rllm.reward_fn(path)({"question": "6*7=", "answer": "42"}, "42"),
    "open-instruct": lambda path: open_instruct.verifier("math", path)()([1], "42", "42", "6*7="),
    "NeMo-Gym": lambda path: refuse_mask(
        nemo_gym.encode_response(GYM, judge_for(path), judge_for(path).judge(*nemo_gym.decode_request(GYM)))
    ),
    "TRL": lambda path: refuse_none(reward_func(path)(prompts=["6*7="], completions=["42"], answer=["42"])),
    "TRL, combined": lambda path: refuse_none(combined([path])(prompts=["6*7="], completions=["42"], answer=["42"])),
}


def refuse_mask(reply: dict[str, Any]) -> None:
    assert (reply["mask_sample"], reply["failure_kind"]) == (True, "judge_failed")
    raise JudgeError(reply["failure_reason"])


def refuse_none(rewards: list[float | None]) -> None:
    # one row stops no run: TRL leaves it out
    assert rewards == [None]
    raise JudgeError("no rank")


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_no_trainer_is_paid_a_constant_for_it(adapter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "stand_ins"))
    path = tmp_path / "judge.yaml"
    path.write_text(f"astuner: {{task_judge: {{judge_protocol: {__name__}->ShortestWins}}}}", encoding="utf-8")
    with pytest.raises(JudgeError, match=r"no rank|ranks a group|ranks whole groups|a judge that ranks"):
        ADAPTERS[adapter](str(path))
