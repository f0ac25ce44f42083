"""TRL's contract without TRL: one float or None a completion, picklable, named, and the metrics beside it."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, ConfigError, JudgeError, Reward, Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.adapters.trl import async_reward_func, functions, reward_func
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from tests.core.adapters.test_adapters import HERE, NOT_EMPTY, config


class EnvReader(BaseJudge):
    """Reads the environment that TRL ran the episode in."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        return float(workflow_task.gym_env), True


BATCH: dict[str, Any] = {
    "prompts": ["6*7="] * 4,
    "completions": ["42", "41", "boom", ""],
    "completion_ids": [[1], [2], [3], []],
    "answer": ["42"] * 4,
    "trainer_state": object(),
}


def both_ways(settings: dict[str, Any], **batch: Any) -> list[float | None]:
    plain = reward_func(settings)(**batch)
    twin = asyncio.run(async_reward_func(settings)(**batch))
    assert plain == twin
    return plain


def test_a_failed_verdict_is_none_and_a_filtered_one_is_the_rules_reward() -> None:
    assert both_ways(config(rule_reward=-0.5), **BATCH) == [1.0, 0.0, None, -0.5]


def test_a_call_that_does_not_fit_says_how_the_trainer_calls() -> None:
    loose: Any = reward_func
    with pytest.raises(TypeError, match=r"write reward_func\('judge.yaml'\), and give the trainer what it returns"):
        loose(["1+1?"], ["2"])
    with pytest.raises(TypeError, match=r"'prompts': write it as TRL does, by names: f\(prompts="):
        loose({"astuner": {"task_judge": {"judge": "math"}}})(completions=["2"])


def test_a_column_in_the_place_of_the_tokens_is_refused() -> None:
    with pytest.raises(TypeError, match=r"got \['42'\]: write it as TRL does, by names: "):
        reward_func(config())(["6*7="], ["42"], ["42"])
    with pytest.raises(TypeError, match=r"write it as TRL does, by names"):
        asyncio.run(async_reward_func(config())(["6*7="], ["42"], ["42"]))


def test_two_lists_without_names_are_said_to_be_prompts_and_completions(caplog: pytest.LogCaptureFixture) -> None:
    math = {"astuner": {"task_judge": {"judge": "math"}}}
    assert reward_func(math)(["\\boxed{42}"], ["42"]) == [None]
    assert "The rows have no column (prompts and completions are the first two arguments): write it as" in caplog.text
    with pytest.raises(
        JudgeError, match="no column \\(prompts and completions are the first two arguments\\): write it"
    ):
        reward_func(math)(["\\boxed{42}", "\\boxed{43}"], ["42", "43"])


def test_on_error_zero_is_obeyed() -> None:
    assert both_ways(config(on_error="zero"), **BATCH) == [1.0, 0.0, 0.0, 0.0]


def test_chat_completions_are_judged_by_their_last_message() -> None:
    prompts = [[{"role": "user", "content": "6*7="}]] * 2
    completions = [
        [{"role": "assistant", "content": "42"}],
        [{"role": "assistant", "content": "42"}, {"role": "tool", "content": "cut off"}],
    ]
    assert both_ways(config(rules=[]), prompts=prompts, completions=completions, answer=["42", "42"]) == [1.0, 0.0]


def test_metrics_and_reasons_go_to_trls_loggers() -> None:
    metrics: dict[str, float] = {}
    columns: defaultdict[str, list[Any]] = defaultdict(list)
    reward_func(config())(
        **BATCH, log_metric=metrics.__setitem__, log_extra=lambda column, values: columns[column].extend(values)
    )
    assert metrics.pop("Echo/judge_seconds") > 0
    assert (metrics.pop("Echo/undecided"), metrics.pop("Echo/unread")) == (0.0, 0.0)
    assert metrics == {"Echo/success_rate": 1 / 3, "Echo/filtered": 0.25, "Echo/failed": 0.25}
    reasons = columns["Echo/reason"]
    assert len(reasons) == 4
    assert "the judge model did not answer" in reasons[2]
    assert reasons[3] == "rules: not_empty"


def test_a_batch_without_any_verdict_has_no_success_rate() -> None:
    metrics: dict[str, float] = {}
    reward_func(config())(prompts=["q"], completions=["boom"], answer=["42"], log_metric=metrics.__setitem__)
    assert "Echo/success_rate" not in metrics
    assert metrics["Echo/failed"] == 1.0


@pytest.mark.parametrize("build", [reward_func, async_reward_func])
def test_the_function_has_a_name_and_survives_pickling(build: Any) -> None:
    function = pickle.loads(pickle.dumps(build(config())))
    assert function.__name__ == "Echo"
    answer = function(**BATCH)
    assert (asyncio.run(answer) if inspect.iscoroutine(answer) else answer) == [1.0, 0.0, None, 0.0]


def test_only_the_twin_is_a_coroutine_function() -> None:
    # TRL looks at __call__ to tell which of its two ways to take
    assert not inspect.iscoroutinefunction(reward_func(config()).__call__)
    assert inspect.iscoroutinefunction(async_reward_func(config()).__call__)


def test_listwise_judges_rank_each_prompts_completions() -> None:
    batch: dict[str, Any] = {"prompts": ["a", "a", "a", "b", "b"], "completions": ["x", "xxx", "xx", "xxxx", "x"]}
    assert both_ways(config("Longest"), **batch) == [0.0, 1.0, 0.5, 1.0, 0.0]


class Ranks:
    """Two processes that train together, of which this one is the second."""

    def __init__(self, first: list[Any]) -> None:
        self._first, self._said = first, list[Any]()

    def get_rank(self) -> int:
        return 1

    def get_world_size(self) -> int:
        return 2

    def all_gather_object(self, found: list[Any], mine: Any) -> None:
        self._said.append(mine)
        found[:] = [self._first if len(self._said) == 1 else {}, mine]


def test_a_rank_gets_the_verdicts_on_its_own_completions(monkeypatch: pytest.MonkeyPatch) -> None:
    def pairs(said: str) -> list[Any]:
        return [
            (WorkflowTask(task=Task(main_query="q")), WorkflowOutput(metadata={"final_answer": x}))
            for x in said.split()
        ]

    # the group of this rank's four completions is its own; the first rank's is judged there
    monkeypatch.setattr(functions, "process_group", lambda: Ranks(pairs("x xx x x")))
    found = functions.judge_groups(ConfiguredJudge(config("Longest")), pairs("x xxxx xx xxx"), 4)
    assert [verdict.reward for verdict in found] == pytest.approx([0.0, 1.0, 1 / 3, 2 / 3])


def test_the_environment_of_an_episode_is_the_judges_gym_env() -> None:
    settings = {"astuner": {"task_judge": {"judge_protocol": "tests.core.adapters.test_adapters_trl->EnvReader"}}}
    assert both_ways(settings, prompts=["q", "q"], completions=["", ""], environments=[0.25, 0.5]) == [0.25, 0.5]


def test_a_wrong_configuration_stops_before_training() -> None:
    with pytest.raises(ConfigError, match="unknown key; did you mean 'rules'"):
        reward_func({"astuner": {"task_judge": {"rule": [NOT_EMPTY]}}})


def test_a_function_finds_its_configuration_from_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "judge.yaml").write_text(f"astuner: {{task_judge: {{judge_protocol: '{HERE}->Echo'}}}}\n")
    monkeypatch.chdir(tmp_path)
    sent = pickle.dumps(reward_func("judge.yaml"))
    monkeypatch.chdir("/")
    assert pickle.loads(sent)(prompts=["q"], completions=["42"], answer=["42"]) == [1.0]


def test_a_configured_name_is_logged_and_kept_through_pickling() -> None:
    names = [pickle.loads(pickle.dumps(reward_func(config(name=name)))).__name__ for name in ("strict", "lenient")]
    assert names == ["strict", "lenient"]
    metrics: dict[str, float] = {}
    reward_func(config(name="strict"))(**BATCH, log_metric=metrics.__setitem__)
    assert metrics["strict/failed"] == 0.25
    renamed = reward_func(config())
    renamed.__name__ = "mine"
    assert pickle.loads(pickle.dumps(renamed)).__name__ == "mine"


class Costs(BaseJudge):
    """Says what each verdict cost, and of long answers how long they were."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        answer = workflow_output.metadata["final_answer"]
        metrics = {"tokens": float(len(answer))}
        return Reward(1.0, True, metrics=metrics if len(answer) < 3 else {**metrics, "long": 1.0})


def test_the_judges_own_metrics_reach_the_log() -> None:
    metrics: dict[str, float] = {}
    settings = {"astuner": {"task_judge": {"judge_protocol": "tests.core.adapters.test_adapters_trl->Costs"}}}
    reward_func(settings)(prompts=["q"] * 3, completions=["1", "22", "333"], log_metric=metrics.__setitem__)
    assert metrics["Costs/tokens"] == 2.0
    assert metrics["Costs/long"] == 1.0
