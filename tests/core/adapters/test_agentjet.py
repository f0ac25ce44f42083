"""AgentJet's judge protocol: its objects in, its pair out, and no verdict is an error."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from omegaconf import OmegaConf

from agentscope_tuner import ConfigError, JudgeError
from agentscope_tuner.adapters.agentjet import AstunerJudge
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.workflow import WorkflowTask

MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
WRAPPED = "agentscope_tuner.adapters.agentjet->AgentJetJudge"
HERE = "tests.core.adapters.test_agentjet"


def task(answer: object = "42", **more: Any) -> Any:
    """As AgentJet's WorkflowTask has it."""
    inner = SimpleNamespace(main_query="6*7?", init_messages=[], task_id="t", env_type="", metadata={"answer": answer})
    given = {"task_id": "t", "env_type": "", "episode_uuid": "e1", "gym_env": None, "task": inner, **more}
    return SimpleNamespace(**given)


def output(answer: object = r"\boxed{42}") -> Any:
    return SimpleNamespace(reward=None, is_success=None, metadata={"final_answer": answer})


def judge(protocol: str = MATH, **section: Any) -> AstunerJudge:
    whole = {"ajet": {"x": "${now:%Y}"}, "astuner": {"task_judge": {"judge_protocol": protocol, **section}}}
    return AstunerJudge(OmegaConf.create(whole))


@pytest.mark.parametrize(
    ("answer", "expected"), [(r"\boxed{42}", (1.0, True)), (r"\boxed{41}", (0.0, False)), ("42", (0.0, False))]
)
def test_a_verdict_is_agentjets_pair(answer: str, expected: tuple[float, bool]) -> None:
    assert judge().compute_reward(task(), output(answer)) == expected


def test_rules_run_before_the_judge() -> None:
    rule = {"id": "short", "kind": "max_chars", "target": "output", "max_chars": 3, "action": "mark_bad"}
    assert judge(rules=[rule], rule_reward=-1.0).compute_reward(task(), output()) == (-1.0, False)


def test_no_verdict_is_an_error() -> None:
    with pytest.raises(JudgeError, match="answer"):
        judge().compute_reward(task(answer=None), output())


def test_all_objects_of_a_process_share_one_judge() -> None:
    assert judge()._judge is judge()._judge
    assert judge()._judge is not judge(deadline=7.0)._judge


class Ranks(BaseJudge):
    def compute_rewards(self, workflow_task: Any, workflow_outputs: Any) -> list[tuple[float, bool]]:
        return [(1.0, True) for _ in workflow_outputs]


def test_a_judge_that_ranks_is_refused() -> None:
    with pytest.raises(ConfigError, match="Ranks ranks groups, and AgentJet asks about one rollout at a time"):
        judge(f"{HERE}->Ranks")


def test_an_episode_is_evaluated_by_its_handle() -> None:
    class Handle:
        def evaluate(self, instance_id: str, params: dict[str, Any]) -> float:
            assert instance_id == "e1"
            return 1.0

    handled = judge("agentscope_tuner.task_judge.env_service_as_judge->EnvServiceJudge")
    assert handled.compute_reward(task(gym_env=Handle()), output()) == (1.5, True)


class OwnJudge:
    """A judge as AgentJet's users write them: of no class of ours."""

    answer: Any = (0.5, True)

    def __init__(self, config: Any) -> None:
        self.config = config

    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> Any:
        self.seen = workflow_task
        return self.answer


class Broken(OwnJudge):
    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> Any:
        raise ValueError("no network")


class NotANumber(OwnJudge):
    answer = (float("nan"), False)


class Alone(OwnJudge):
    answer = 1.0


def wrapped(name: str) -> AstunerJudge:
    return judge(WRAPPED, judge_kwargs={"protocol": f"{HERE}->{name}"})


def test_a_users_judge_gets_agentjets_own_objects() -> None:
    asked = wrapped("OwnJudge")
    given = task(task_tag="only AgentJet has this")
    assert asked.compute_reward(given, output()) == (0.5, True)
    assert asked._judge._judge.inner._judge.seen is given  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "said"),
    [("Broken", "no network"), ("NotANumber", "nan"), ("Alone", r"must return \(raw_reward, is_success\), got 1.0")],
)  # fmt: skip
def test_a_users_judge_that_fails_is_no_verdict(name: str, said: str) -> None:
    with pytest.raises(JudgeError, match=said):
        wrapped(name).compute_reward(task(), output())


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({}, "protocol"),
        ({"protocol": "no.such.module->X"}, "'no.such.module->X' cannot be imported here: ModuleNotFoundError"),
        ({"protocol": f"{HERE}->Missing"}, "cannot be imported here: AttributeError"),
        ({"protocol": f"{HERE}->task"}, r"has no compute_reward\(workflow_task, workflow_output\)"),
        ({"protocol": f"{HERE}->OwnJudge", "more": 1}, "more: unknown key"),
    ],
)
def test_a_users_judge_that_cannot_be_asked_is_refused_at_load(kwargs: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        judge(WRAPPED, judge_kwargs=kwargs)


def test_outside_agentjet_a_users_judge_gets_our_objects(tmp_path: Path) -> None:
    from agentscope_tuner.task_judge.contract.loading import load_judge
    from agentscope_tuner.workflow import Task, WorkflowOutput

    conf = {"judge_protocol": WRAPPED, "judge_kwargs": {"protocol": f"{HERE}->OwnJudge"}}
    loaded = load_judge({"astuner": {"task_judge": conf}})
    ours = WorkflowTask(task=Task(task_id="t"))
    assert loaded.compute_reward(ours, WorkflowOutput()) == (0.5, True)


def test_a_column_that_agentjets_own_judge_would_not_see_is_refused() -> None:
    # ours were read by `reads` everywhere, AgentJet's own judge saw `answer` as the row had it
    kwargs = {"protocol": f"{HERE}->Ranks"}
    with pytest.raises(ConfigError, match=r"reads\.answer: .* is asked about AgentJet's own task"):
        judge(WRAPPED, judge_kwargs=kwargs, reads={"answer": "gold"})
    assert judge(reads={"answer": "gold"}).compute_reward(
        task(task=SimpleNamespace(**{**vars(task().task), "metadata": {"answer": "41", "gold": "42"}})), output()
    ) == (1.0, True)
