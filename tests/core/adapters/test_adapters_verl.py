"""verl's contract without verl: one dictionary a response, always with the same keys."""

from __future__ import annotations

import asyncio
import importlib
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, ConfigError, JudgeError, Reward, WorkflowOutput, WorkflowTask
from agentscope_tuner.adapters.verl import check_version, compute_score, compute_score_sync, pair_of, score_of
from agentscope_tuner.errors import Cause
from agentscope_tuner.task_judge.batch import judge_for

KEYS = ["score", "acc", "filtered", "failed", "unread", "undecided", "judge_seconds"]


class Recall(BaseJudge):
    """Right when the answer is what the task's metadata tell of it."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        task = workflow_task.task
        said = workflow_output.metadata["final_answer"]
        return 1.0, said == f"{task.task_id} {task.main_query} {task.metadata['answer']} {task.metadata.get('target')}"


def settings(tmp_path: Path, judge: str = "tests.core.adapters.test_adapters->Echo", extra: str = "") -> str:
    path = tmp_path / "judge.yaml"
    path.write_text(
        f"astuner:\n  task_judge:\n    judge_protocol: {judge}\n"
        f"    rules: [{{id: not_empty, kind: non_empty, target: output, action: mark_bad}}]\n{extra}",
        encoding="utf-8",
    )
    return str(path)


def both_ways(answer: str, truth: object, config: str, **more: Any) -> dict[str, float]:
    plain = compute_score_sync("gsm8k", answer, truth, config=config, **more)
    twin = asyncio.run(compute_score("gsm8k", answer, truth, config=config, **more))
    assert repr(plain | {"judge_seconds": 0}) == repr(twin | {"judge_seconds": 0})
    return plain


@pytest.mark.parametrize(("answer", "values"), [("42", [1, 1, 0, 0]), ("41", [0, 0, 0, 0]), ("", [0, 0, 1, 0])])
def test_every_sample_has_the_same_keys(answer: str, values: list[float], tmp_path: Path) -> None:
    score = both_ways(answer, "42", settings(tmp_path), reward_router_address=None)
    assert list(score) == KEYS
    assert list(score.values())[:4] == values
    assert all(type(value) is float for value in score.values())


class Measures(BaseJudge):
    """Counts what a verdict took, except on answers that it settles at once."""

    metric_names = ("tokens",)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        metrics = {} if workflow_output.metadata["final_answer"] == "free" else {"tokens": 7.0, "score": 9.0}
        return Reward(1.0, True, metrics=metrics)


MEASURES = "tests.core.adapters.test_adapters_verl->Measures"


def test_the_judges_metrics_are_extras_of_every_sample(tmp_path: Path) -> None:
    config = settings(tmp_path, MEASURES, extra="    name: strict\n")
    scores = [both_ways(answer, "42", config) for answer in ("42", "free", "")]
    assert [list(score) for score in scores] == [[*KEYS, "strict/tokens"]] * 3
    assert scores[0]["strict/tokens"] == 7.0
    assert math.isnan(scores[1]["strict/tokens"])


def test_a_configuration_names_the_metrics_of_a_judge_that_does_not(tmp_path: Path) -> None:
    config = settings(tmp_path, MEASURES, extra="    metric_names: [score, tokens]\n")
    score = both_ways("42", "42", config)
    assert (score["score"], score["Measures/score"], score["Measures/tokens"]) == (1.0, 9.0, 7.0)


def test_a_relative_path_is_found_from_another_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(tmp_path)
    monkeypatch.chdir("/")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert compute_score_sync("gsm8k", "42", "42", config="judge.yaml")["score"] == 1.0


def test_a_failed_verdict_raises(tmp_path: Path) -> None:
    config = settings(tmp_path)
    with pytest.raises(JudgeError, match=r"task 'gsm8k/7': Echo: the judge model did not answer"):
        compute_score_sync("gsm8k", "boom", "42", {"index": 7}, config=config)
    with pytest.raises(JudgeError, match="the judge model did not answer"):
        asyncio.run(compute_score("gsm8k", "boom", "42", config=config))


def test_on_error_zero_is_marked_as_failed(tmp_path: Path) -> None:
    score = both_ways("boom", "42", settings(tmp_path, extra="    on_error: zero\n"))
    assert [score[key] for key in KEYS[:4]] == [0.0, 0.0, 0.0, 1.0]


def test_the_ground_truth_beats_extra_infos_worked_solution(tmp_path: Path) -> None:
    config = settings(tmp_path, "tests.core.adapters.test_adapters_verl->Recall")
    info = {"index": 3, "question": "6*7?", "answer": "6*7 is #### 42", "split": "train"}
    assert both_ways("gsm8k/3 6*7? 42 None", "42", config, extra_info=info)["acc"] == 1.0
    record = {"target": 24, "answer": "x"}
    assert both_ways("gsm8k/3 6*7? x 24", record, config, extra_info=info)["acc"] == 1.0


def test_an_unknown_way_to_fail_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"on_failed must be one of raise, mask, got 'zero'"):
        compute_score_sync("gsm8k", "42", "42", config=settings(tmp_path), on_failed="zero")


def test_a_masked_run_without_verdicts_is_stopped(tmp_path: Path) -> None:
    # each score was NaN, to the end of the training
    judge = judge_for(settings(tmp_path))
    pairs = [pair_of("gsm8k", "boom", "42", {"index": place}) for place in range(64 * 3)]
    *before, last = [(judge, pair, judge.judge(*pair), "mask") for pair in pairs]
    assert all(math.isnan(score_of(*each)["score"]) for each in before)
    with pytest.raises(JudgeError, match="no verdict in 3 batches in a row"):
        score_of(*last)


@pytest.mark.parametrize("index", [None, math.nan])
def test_an_empty_index_names_no_task(tmp_path: Path, index: object) -> None:
    # as "gsm8k/nan" all such rows were one advantage group in the log
    with pytest.raises(JudgeError) as raised:
        compute_score_sync("gsm8k", "boom", "42", {"index": index}, config=settings(tmp_path))
    assert "gsm8k/" not in str(raised.value)


class Sees(BaseJudge):
    """Right when the question and the answer are what the task's metadata say that they are."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        task, seen = workflow_task.task, workflow_output.metadata["final_answer"]
        wanted = task.metadata["wants"]
        return Reward(1.0, [task.main_query, seen] == list(wanted), reason=f"{task.main_query!r} {seen!r}")


ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "6*7?"}]


@pytest.mark.parametrize(
    ("said", "info", "wants"),
    [
        ("42", {"raw_prompt": ASKED}, ("6*7?", "42")),
        ("42", {"raw_prompt": ASKED, "question": ""}, ("6*7?", "42")),
        ("42", {"raw_prompt": ASKED, "question": "How much is 6*7?"}, ("How much is 6*7?", "42")),
        ("42", {"raw_prompt": ASKED, "num_turns": 2}, ("6*7?", "42")),
        ("42", {"raw_prompt": "no chat", "num_turns": None}, ("", "42")),
        ("42", {"num_turns": math.nan}, ("", "42")),
        # several turns: the response holds what the tool said
        (
            "5 tool 42",
            {"raw_prompt": ASKED, "num_turns": 4, "astuner_last_turn": "I do not know."},
            ("6*7?", "I do not know."),
        ),
        ("5 tool 42", {"num_turns": 5, "astuner_last_turn": ""}, ("", "")),
        # a text with a template's own tokens tells the turns by itself
        ("5<|im_end|>\n<|im_start|>tool\n42<|im_end|>\n<|im_start|>assistant\nno<|im_end|>", {}, ("", "no")),
        ("5<|im_end|>\n<|im_start|>tool\n42<|im_end|>\n", {}, ("", "")),
    ],
)
def test_the_question_and_the_last_turn_are_judged(said: str, info: Any, wants: Any, tmp_path: Path) -> None:
    config = settings(tmp_path, "tests.core.adapters.test_adapters_verl->Sees")
    Path(config).write_text(
        Path(config).read_text(encoding="utf-8").replace("rules:", "name: seen #"), encoding="utf-8"
    )
    assert both_ways(said, {"wants": wants}, config, extra_info=info)["acc"] == 1.0


def test_a_tools_words_are_never_the_answer(tmp_path: Path) -> None:
    # verl decodes all turns into one text: the tool's 42 earned 1.0
    said = "user\n<tool_response>\n42\n</tool_response>\nassistant\nI do not know."
    with pytest.raises(JudgeError, match=r"4 turns as one text.*LastTurnToolAgentLoop.*agent_loop_config_path"):
        compute_score_sync("gsm8k", said, "42", {"num_turns": 4}, config=settings(tmp_path))
    # a column of the data set that holds the reference names no turn
    with pytest.raises(JudgeError, match="4 turns as one text"):
        compute_score_sync("gsm8k", said, "42", {"num_turns": 4, "final_answer": "42"}, config=settings(tmp_path))
    info = {"num_turns": 4, "astuner_last_turn": "I do not know."}
    assert both_ways(said, "42", settings(tmp_path), extra_info=info)["score"] == 0.0


class NamesTask(BaseJudge):
    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        raise JudgeError("no verdict")


@pytest.mark.parametrize("known", [{"raw_prompt": ASKED}, {"question": "6*7?"}, {"split": "train"}])
def test_samples_of_a_prompt_share_a_task_id(known: dict[str, Any], tmp_path: Path) -> None:
    config = settings(tmp_path, "tests.core.adapters.test_adapters_verl->NamesTask")

    def task_id(**info: Any) -> str | None:
        with pytest.raises(JudgeError) as caught:
            compute_score_sync("gsm8k", "42", info.pop("truth", "42"), known | info, config=config)
        return str(caught.value).split("'")[1]

    first = task_id(num_turns=2, turn_scores=[], tool_rewards=[], rollout_reward_scores={})
    second = task_id(
        num_turns=4, turn_scores=[0.5], tool_rewards=[1.0], rollout_reward_scores={"a": 1}, astuner_last_turn="x"
    )
    assert first == second
    assert task_id(truth="43") != first
    assert task_id(question="another") != first


@pytest.mark.parametrize("version", ["0.8.2", "0.8.0.dev0", "0.5", "0.1.1"])
def test_an_older_verl_is_refused_with_the_line_to_write(version: str) -> None:
    with pytest.raises(ConfigError, match=rf"verl {version} is older than 0\.9.*Write: pip install 'verl>=0\.9'"):
        check_version(version)


@pytest.mark.parametrize("version", ["0.9.0", "0.9.1", "0.10.0.dev", "1.0", "", "unknown"])
def test_a_newer_verl_and_one_without_a_version_are_taken(version: str) -> None:
    check_version(version)


def test_a_manager_that_would_make_0_of_a_failure_gets_no_number_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    limited = ModuleType("limited")
    limited.RateLimitedRewardManager = SimpleNamespace(_class_initialized=False)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "verl.experimental.reward_loop.reward_manager.limited", limited)
    config = settings(tmp_path)
    # verl imports all its managers, and makes one
    assert both_ways("42", "42", config)["score"] == 1.0
    limited.RateLimitedRewardManager._class_initialized = True
    for answer in ("42", "41", "boom"):
        found: Any = both_ways(answer, "42", config)
        assert "write name: naive" in found["score"]
    assert "turns exceptions and timeouts into a reward of 0.0" in caplog.text


class ManagerBase:
    """What verl's base class of reward managers does."""

    def __init__(self, config: Any, tokenizer: Any, compute_score: object) -> None:
        self.config, self.tokenizer = config, tokenizer


@pytest.fixture
def managers(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module of our reward manager, over a stand-in for verl."""
    name = "verl"
    for part in ("", ".experimental", ".reward_loop", ".reward_manager", ".base"):
        name += part
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules[name].RewardManagerBase = ManagerBase  # type: ignore[attr-defined]
    module = "agentscope_tuner.adapters.verl_manager"
    monkeypatch.delitem(sys.modules, module, raising=False)
    yield importlib.import_module(module)
    sys.modules.pop(module, None)


class Longest(BaseJudge):
    """Ranks by length."""

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[tuple[float, bool]]:
        lengths = [len(output.metadata["final_answer"]) for output in workflow_outputs]
        return [(float(sorted(lengths).index(length)), True) for length in lengths]


def managed(n: int = 2, validated: int = 2, batch: int = 4, workers: int = 1, **reward_kwargs: Any) -> Any:
    rollout = SimpleNamespace(n=n, val_kwargs=SimpleNamespace(n=validated))
    custom = {"reward_kwargs": reward_kwargs}
    return SimpleNamespace(
        actor_rollout_ref=SimpleNamespace(rollout=rollout),
        reward=SimpleNamespace(num_workers=workers, custom_reward_function=custom),
        data=SimpleNamespace(train_batch_size=batch),
    )


class Words:
    """A tokenizer whose tokens are characters."""

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        return "".join(map(chr, ids))


class Ids(list[int]):
    """A tensor of one dimension."""

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    def __getitem__(self, at: Any) -> Any:
        return Ids(super().__getitem__(at)) if isinstance(at, slice) else super().__getitem__(at)

    def sum(self) -> int:
        return sum(self)


def samples(*said: str, uid: str | None = "g1", step: object = 7) -> list[Any]:
    """verl's items, each padded by two tokens."""
    columns = {"uid": uid, "global_steps": step, "data_source": "gsm8k", "reward_model": {"ground_truth": "42"}}
    return [
        SimpleNamespace(
            non_tensor_batch={**columns, "extra_info": {"index": 3}},
            batch={
                "responses": Ids([*map(ord, text), 0, 0]),
                "attention_mask": Ids([1, 1, 1, *[1] * len(text), 0, 0]),
            },
        )
        for text in said
    ]


def ran(manager: Any, items: Sequence[Any]) -> list[Any]:
    async def all_of_them() -> list[Any]:
        manager.loop = asyncio.get_running_loop()
        return await asyncio.gather(*(manager.run_single([item]) for item in items), return_exceptions=True)

    return asyncio.run(all_of_them())


ECHO, LONGEST = "tests.core.adapters.test_adapters->Echo", f"{__name__}->Longest"
NONE_OF_A_KIND = {"all_right": 0.0, "all_wrong": 0.0, "zero_spread": 0.0, "no_verdict": 0.0}


def test_a_manager_answers_the_score_and_its_account(managers: ModuleType, tmp_path: Path) -> None:
    manager = managers.JudgeRewardManager(managed(config=settings(tmp_path)), Words())
    right, wrong = ran(manager, samples("42", "41"))
    assert list(right) == list(wrong) == ["reward_score", "reward_extra_info"]
    assert (right["reward_score"], wrong["reward_score"]) == (1.0, 0.0)
    assert [list(each["reward_extra_info"]) for each in (right, wrong)] == [KEYS] * 2
    assert (manager._judge.step, manager._seconds) == (7, 1800.0)


def test_a_manager_tells_each_sample_of_its_group(managers: ModuleType, tmp_path: Path) -> None:
    manager = managers.JudgeRewardManager(managed(config=settings(tmp_path), group_facts=True), Words())
    found = ran(manager, [*samples("42", "41"), *samples("42", "42", uid="g2")])
    facts = [
        {key.rpartition("/")[2]: share for key, share in each["reward_extra_info"].items() if "/groups/" in key}
        for each in found
    ]
    assert facts[:2] == [NONE_OF_A_KIND] * 2
    assert facts[2:] == [NONE_OF_A_KIND | {"all_right": 1.0}] * 2
    assert manager._groups == {}
    # of a group that does not come whole, those that came
    manager._seconds = 0.01
    (alone,) = ran(manager, samples("41"))
    assert alone["reward_extra_info"]["Echo/groups/all_wrong"] == 1.0
    assert manager._groups == {}


def test_a_manager_ranks_a_group_when_its_last_sample_comes(managers: ModuleType, tmp_path: Path) -> None:
    config = settings(tmp_path, LONGEST)
    manager = managers.JudgeRewardManager(managed(3, 3, config=config, group_seconds=0.05), Words())
    found = ran(manager, samples("aaa", "a", "aa"))
    assert [each["reward_score"] for each in found] == [2.0, 0.0, 1.0]
    late = ran(manager, samples("aaa", "a"))
    told = "Longest: 2 of the 3 samples of group 'g1' came within 0.05 s, and Longest ranks whole groups"
    assert [str(error) for error in late] == [told] * 2
    # a sample that comes later begins a group of its own
    assert manager._groups == {}
    (lost,) = ran(manager, samples("a", uid=None))
    assert str(lost) == "Longest: the sample has no uid, which tells its group"
    assert lost.cause == Cause.INPUT


WHOLE = "a judge that ranks, and group_facts, need whole groups: "


@pytest.mark.parametrize(
    ("judge", "given", "told"),
    [
        (ECHO, {"config": None}, "reward.custom_reward_function.reward_kwargs: no config, the judge's YAML; known are "
         "config, on_failed, group_seconds, group_facts"),
        (ECHO, {"b": 1, "a": 2}, "reward.custom_reward_function.reward_kwargs: unknown keys ['a', 'b']; known are "
         "config, on_failed, group_seconds, group_facts"),
        (ECHO, {"on_failed": "zero"}, "reward_kwargs.on_failed must be one of raise, mask, got 'zero'"),
        (ECHO, {"workers": 2, "group_facts": True}, f"{WHOLE}reward.num_workers: 2 share a group: write 1"),
        (LONGEST, {"n": 1, "validated": 1}, f"{WHOLE}rollout.n is 1 and rollout.val_kwargs.n 1: write the same, 2 or "
         "more, for both"),
        (LONGEST, {"n": 3}, f"{WHOLE}rollout.n is 3 and rollout.val_kwargs.n 2: write the same, 2 or more, for both"),
        (LONGEST, {"batch": 501}, f"{WHOLE}1002 samples of a step may wait for their groups at once, and a reward "
         "worker answers 1000: data.train_batch_size times rollout.n must be no more"),
        (LONGEST, {"batch": 500}, None),
        (ECHO, {"n": 1, "workers": 9, "batch": 9999}, None),
    ],
)  # fmt: skip
def test_a_manager_is_refused_where_it_would_not_see_whole_groups(
    judge: str, given: dict[str, Any], told: str | None, managers: ModuleType, tmp_path: Path
) -> None:
    given = {"config": settings(tmp_path, judge), **given}
    if given["config"] is None:
        del given["config"]
    if told is None:
        managers.JudgeRewardManager(managed(**given), Words())
        return
    with pytest.raises(ConfigError) as caught:
        managers.JudgeRewardManager(managed(**given), Words())
    assert str(caught.value) == told
