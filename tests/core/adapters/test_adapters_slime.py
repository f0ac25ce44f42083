"""slime's filters, masks and fanned-out samples, on samples of its shape."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner import ConfigError, JudgeError
from agentscope_tuner.adapters import slime
from agentscope_tuner.adapters.rollout import group_metrics, why_useless
from agentscope_tuner.task_judge.contract.judgement import Judgement
from tests.core.adapters.test_adapters_more import LONGEST
from tests.core.adapters.test_adapters_verl import settings

GRPO = SimpleNamespace(
    advantage_estimator="grpo", rewards_normalization=True, grpo_std_normalization=False, n_samples_per_prompt=4
)


@dataclass
class Sample:
    """What the adapter reads and writes of slime's `Sample`."""

    response: str = "42"
    label: Any = "42"
    group_index: int | None = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    loss_mask: list[int] | None = None
    reward: float | None = None
    remove_sample: bool = False
    prompt: Any = "6*7="
    response_length: int = 3

    def get_reward_value(self, args: Any) -> float | None:
        return self.reward


def judged(config: str, *answers: str, **settings: Any) -> list[Sample]:
    samples = [Sample(answer, group_index=None) for answer in answers]
    reward = slime.custom_rm(config, on_failed="leave", **settings)
    for sample, value in zip(samples, asyncio.run(reward(SimpleNamespace(), samples)), strict=True):
        sample.reward = value
    return samples


def test_a_failed_verdict_may_be_left_for_a_filter(tmp_path: Path) -> None:
    samples = judged(settings(tmp_path), "42", "boom", "41")
    assert [sample.reward for sample in samples] == [1.0, None, 0.0]
    assert samples[1].metadata["judgement"]["status"] == "failed"
    assert not slime.drop_unjudged(GRPO, samples)
    assert not slime.drop_unjudged(GRPO, [[samples[0]], [samples[1]]])
    assert slime.drop_unjudged(GRPO, [samples[0], samples[2]], evaluation=False)
    with pytest.raises(ConfigError, match="on_failed must be 'raise' or 'leave', got 'zero'"):
        slime.custom_rm(settings(tmp_path), on_failed="zero")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answers", "keeps"), [(["42", "41"], True), (["42", "42"], False), (["41", "41"], False), (["42", "boom"], False)]
)
def test_groups_that_teach_nothing_are_dropped(answers: list[str], keeps: bool, tmp_path: Path) -> None:
    assert slime.drop_useless(GRPO, judged(settings(tmp_path), *answers)) is keeps


def test_a_sample_that_another_judged_is_no_useless_one() -> None:
    with pytest.raises(JudgeError, match=r"no metadata\['judgement'\]"):
        slime.drop_useless(GRPO, [Sample(reward=1.0)])


def verdict(reward: float | None, success: bool | None = None) -> Judgement:
    if reward is None:
        return Judgement.failed("why")
    return Judgement("judged", reward, reward > 0 if success is None else success)


@pytest.mark.parametrize(
    ("group", "why"),
    [
        ([1.0, 0.0], None),
        ([1.0, 1.0], "all_right"),
        ([0.0, 0.0], "all_wrong"),
        ([1.0, None], "no_verdict"),
        ([None], "no_verdict"),
        ([], "no_verdict"),
        # shaped: right answers of different lengths still teach
        ([1.0, 0.9], None),
    ],
)
def test_why_a_group_teaches_nothing(group: list[float | None], why: str | None) -> None:
    assert why_useless([verdict(reward) for reward in group]) == why


def test_the_shares_of_such_groups() -> None:
    mixed = [verdict(0.5, True), verdict(0.5, False)]
    groups = [[verdict(1.0)] * 2, [verdict(0.0)] * 2, mixed, [verdict(1.0), verdict(0.0)]]
    shares = {"all_right": 0.25, "all_wrong": 0.25, "zero_spread": 0.25, "no_verdict": 0.0}
    assert group_metrics(groups) == {f"groups/{name}": share for name, share in shares.items()}
    assert group_metrics([]) == {}


@pytest.mark.parametrize("std", [False, True])
def test_a_masked_sample_is_in_no_baseline_and_no_loss(std: bool) -> None:
    rewards = [1.0, None, 0.0, 0.0, 1.0, 1.0, None, 0.0]
    samples = [Sample(reward=reward, group_index=place // 4) for place, reward in enumerate(rewards)]
    args = SimpleNamespace(**{**vars(GRPO), "grpo_std_normalization": std})
    raw, advantages = slime.mask_unjudged(args, samples)
    assert [sample.remove_sample for sample in samples] == [reward is None for reward in rewards]
    # in the logs, the mean of its group: never a 0.0 for no verdict
    assert [raw[1], raw[6]] == pytest.approx([1 / 3, 2 / 3])
    assert (advantages[1], advantages[6]) == (0.0, 0.0)
    assert math.isclose(sum(advantages[:4]), 0.0, abs_tol=1e-9)
    alone = slime.mask_unjudged(args, [samples[place] for place in (0, 2, 3)])
    assert alone[1] == pytest.approx([advantages[place] for place in (0, 2, 3)])


def test_a_group_is_what_its_index_says_wherever_its_samples_stand() -> None:
    rewards = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    mixed = [Sample(reward=reward, group_index=place % 2) for place, reward in enumerate(rewards)]
    _, advantages = slime.mask_unjudged(GRPO, mixed)
    assert advantages == [0.25, -0.25, -0.75, -0.25, 0.25, -0.25, 0.25, 0.75]
    # without an index they stand together
    apart = [Sample(reward=reward, group_index=None) for reward in rewards]
    assert slime.mask_unjudged(GRPO, apart)[1] == [0.75, -0.25, -0.25, -0.25, 0.25, -0.75, 0.25, 0.25]


def test_without_normalisation_the_judged_keep_their_rewards() -> None:
    args = SimpleNamespace(**{**vars(GRPO), "advantage_estimator": "ppo"})
    samples = [Sample(reward=1.0), Sample(reward=None), Sample(reward=0.0)]
    assert slime.mask_unjudged(args, samples) == ([1.0, 0.5, 0.0], [1.0, 0.5, 0.0])
    assert samples[1].remove_sample


def test_a_rollout_without_any_verdict_is_refused() -> None:
    with pytest.raises(JudgeError, match="would train on nothing"):
        slime.mask_unjudged(GRPO, [Sample(), Sample()])


def test_a_rollout_whose_judged_samples_were_all_removed_is_refused() -> None:
    # a generate function removes what was cut off
    with pytest.raises(JudgeError, match="or those that have one are removed: it would train on nothing"):
        slime.mask_unjudged(GRPO, [Sample(reward=1.0, remove_sample=True), Sample()])


def test_an_older_slime_reads_the_loss_mask_alone() -> None:
    samples = [Sample(reward=1.0), Sample(loss_mask=[1, 0, 1])]
    slime.mask_unjudged(GRPO, samples)
    assert [sample.loss_mask for sample in samples] == [None, [0, 0, 0]]


@pytest.mark.parametrize(
    ("rewards", "settings", "told"),
    [
        ([1.0, 0.0, None, None], {"global_batch_size": 2}, "1 of the 2 training steps of this rollout have no verdict"),
        ([1.0, None, None, 0.0], {"global_batch_size": 2}, ""),
        ([1.0, 0.0, None, None], {"global_batch_size": 2, "balance_data": True}, ""),
        ([1.0, 0.0, None, None], {}, ""),
    ],
)
def test_a_training_step_without_any_verdict_is_told(
    rewards: list[float | None], settings: dict[str, Any], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    args = SimpleNamespace(**vars(GRPO), **settings)
    slime.mask_unjudged(args, [Sample(reward=reward) for reward in rewards])
    assert caplog.text.count("training steps") == bool(told)
    assert told in caplog.text


def test_dropping_group_after_group_ends(tmp_path: Path) -> None:
    # slime samples until it has its groups: with a judge that only fails it never would
    reward = slime.custom_rm(settings(tmp_path), on_failed="leave")
    for _ in range(3 * 64 - 1):
        assert asyncio.run(reward(SimpleNamespace(), Sample("boom"))) is None
    with pytest.raises(JudgeError, match="no verdict in 3 batches in a row: 192 rows with cause judge"):
        asyncio.run(reward(SimpleNamespace(), Sample("boom")))


def test_samples_that_were_fanned_out_keep_their_shape(tmp_path: Path) -> None:
    config = settings(tmp_path)
    fanned = [[Sample("42"), Sample("41")], [Sample("42")], []]
    assert asyncio.run(slime.custom_rm(config)(SimpleNamespace(), fanned)) == [[1.0, 0.0], [1.0], []]
    (tmp_path / "ranks").mkdir()
    with pytest.raises(JudgeError, match="fanned out into several each"):
        asyncio.run(slime.custom_rm(settings(tmp_path / "ranks", LONGEST))(SimpleNamespace(), fanned))


SEVERAL = [1, 1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("sample", "reward"),
    [
        (Sample("5 tool: 42 no", metadata={"astuner_last_turn": "no"}, loss_mask=SEVERAL), 0.0),
        (Sample("5 tool: 41 yes", metadata={"astuner_last_turn": "42"}, loss_mask=SEVERAL), 1.0),
        # a data set's own column of that name may hold the reference
        (Sample("7", metadata={"final_answer": "42"}), 0.0),
        (Sample("42", loss_mask=[1, 1]), 1.0),
        (Sample("42", loss_mask=[0, 0]), 1.0),
        (Sample("42", loss_mask=[]), 1.0),
        (Sample("6<|im_end|>\n<|im_start|>user\n42<|im_end|>\n<|im_start|>assistant\n7<|im_end|>"), 0.0),
        (Sample("6<|im_end|>\n<|im_start|>user\n6<|im_end|>\n<|im_start|>assistant\n42<|im_end|>"), 1.0),
        (Sample("6<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n42<|eot_id|>"), 0.0),
        (Sample("6<|user|>42<|assistant|>7"), 0.0),
        (Sample("6<end_of_turn>\n<start_of_turn>user\n42<end_of_turn>\n<start_of_turn>model\n7<end_of_turn>"), 0.0),
        # the policy's own header takes nothing away
        (Sample("<|im_start|>assistant\n42"), 0.0),
    ],
)
def test_only_the_policys_last_turn_is_its_answer(sample: Sample, reward: float, tmp_path: Path) -> None:
    config = Path(settings(tmp_path))
    config.write_text("astuner: {task_judge: {judge_protocol: tests.core.adapters.test_adapters->Echo}}")
    assert asyncio.run(slime.custom_rm(str(config))(SimpleNamespace(), sample)) == reward


def test_a_mask_that_hides_more_than_tools_is_refused(tmp_path: Path) -> None:
    args = SimpleNamespace(partial_rollout=True, mask_offpolicy_in_partial_rollout=True)
    with pytest.raises(JudgeError, match=r"sample\.metadata\['astuner_last_turn'\]"):
        asyncio.run(slime.custom_rm(settings(tmp_path))(args, Sample(loss_mask=SEVERAL)))


def test_samples_of_a_group_share_a_task_id() -> None:
    ids = {slime.as_pair(Sample(group_index=7, metadata={"turn": turn}))[0].task_id for turn in range(3)}
    assert ids == {"group/7"}
