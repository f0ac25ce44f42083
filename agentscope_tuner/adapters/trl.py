"""TRL: a reward function for `GRPOTrainer(reward_funcs=…)` and its kin, TRL 1.16 or newer.

    trainer = GRPOTrainer(model, reward_funcs=reward_func("configs/math_answer.yaml"), train_dataset=dataset, ...)

TRL reads None as "not scored": the completion gets advantage 0 and stays out of its group's baseline. That is what a
failed verdict becomes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from agentscope_tuner.adapters.rollout import Prompt, as_rollout
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.batch import Config, ConfiguredJudge, Pair
from agentscope_tuner.task_judge.judgement import Judgement

LogMetric = Callable[[str, float], None]
LogExtra = Callable[[str, list[Any]], None]


def reward_func(config: Config) -> RewardFunc:
    """A reward function for TRL; sync, so TRL calls it on the main thread of each rank.

    Args:
        config: a YAML file's path, or a configuration already read.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    return RewardFunc(config)


def async_reward_func(config: Config) -> AsyncRewardFunc:
    """The async twin: TRL runs it on a loop of its own, beside other async reward functions.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    return AsyncRewardFunc(config)


class _Base:
    """A picklable callable. Its `__name__`, the judge's, is what TRL logs it under.

    Logged over a batch, each under `<name>/`: `success_rate` of the completions that were judged, the shares `filtered`
    by a rule and `failed`, and the mean `judge_seconds` of a verdict. The completions table gets a column of reasons.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._judge = ConfiguredJudge(config)
        self.__name__ = self._judge.name

    def __reduce__(self) -> tuple[Any, ...]:
        # a judge may hold pools and connections: the other process loads its own
        return type(self), (self._config,)

    def _rewards(
        self, judgements: Sequence[Judgement], log_metric: LogMetric | None, log_extra: LogExtra | None
    ) -> list[float | None]:
        if log_metric is not None:
            for metric, value in batch_metrics(judgements).items():
                log_metric(f"{self.__name__}/{metric}", value)
        if log_extra is not None:
            log_extra(f"{self.__name__}/reason", [judgement.error or judgement.reason for judgement in judgements])
        return [self._judge.reward(judgement) for judgement in judgements]


class RewardFunc(_Base):
    """What `reward_func` returns."""

    def __call__(
        self,
        prompts: Sequence[Prompt],
        completions: Sequence[Prompt],
        completion_ids: Sequence[Sequence[int]] | None = None,
        *,
        trainer_state: object = None,
        environments: Sequence[object] | None = None,
        log_metric: LogMetric | None = None,
        log_extra: LogExtra | None = None,
        **columns: Sequence[Any],
    ) -> list[float | None]:
        """One reward a completion, in order; None for a failed verdict.

        Args:
            prompts: texts, or lists of chat messages.
            completions: likewise; the final answer is the text, or the last message when the assistant wrote it.
            completion_ids: the completions' tokens, of no use here.
            trainer_state: TRL's, of no use here.
            environments: one for each completion where TRL ran an `environment_factory`; the judge's `gym_env`.
            log_metric: TRL's; the metrics of this batch go there.
            log_extra: TRL's; the reasons go there.
            columns: the dataset's other columns, one value a completion; they become `task.metadata`.
        """
        pairs = _pairs(prompts, completions, columns, environments)
        judgements = _judge_across_ranks(self._judge, pairs) if self._judge.listwise else self._judge.judge_batch(pairs)
        return self._rewards(judgements, log_metric, log_extra)


class AsyncRewardFunc(_Base):
    """What `async_reward_func` returns."""

    async def __call__(
        self,
        prompts: Sequence[Prompt],
        completions: Sequence[Prompt],
        completion_ids: Sequence[Sequence[int]] | None = None,
        *,
        trainer_state: object = None,
        environments: Sequence[object] | None = None,
        log_metric: LogMetric | None = None,
        log_extra: LogExtra | None = None,
        **columns: Sequence[Any],
    ) -> list[float | None]:
        """As `RewardFunc.__call__`.

        Raises:
            ConfigError: a listwise judge over several ranks, whose exchange of groups must not leave the main thread.
        """
        if self._judge.listwise and _process_group() is not None:
            raise ConfigError(
                f"{self._judge.name} ranks whole groups, which ranks share: use reward_func, not its twin"
            )
        judgements = await self._judge.ajudge_batch(_pairs(prompts, completions, columns, environments))
        return self._rewards(judgements, log_metric, log_extra)


def batch_metrics(judgements: Sequence[Judgement]) -> dict[str, float]:
    """`success_rate` of those judged or filtered (absent when there are none), `filtered` and `failed` as shares of the
    batch, and the mean `judge_seconds`."""
    total = max(len(judgements), 1)
    failed = sum(judgement.status == "failed" for judgement in judgements)
    metrics = {
        "filtered": sum(judgement.status == "filtered" for judgement in judgements) / total,
        "failed": failed / total,
        "judge_seconds": sum(judgement.seconds for judgement in judgements) / total,
    }
    if len(judgements) > failed:
        metrics["success_rate"] = sum(bool(judgement.is_success) for judgement in judgements) / (
            len(judgements) - failed
        )
    return metrics


def _pairs(
    prompts: Sequence[Prompt],
    completions: Sequence[Prompt],
    columns: dict[str, Sequence[Any]],
    environments: Sequence[object] | None,
) -> list[Pair]:
    envs = [None] * len(prompts) if environments is None else environments
    return [
        as_rollout(
            prompt, completion, {column: values[index] for column, values in columns.items()}, gym_env=envs[index]
        )
        for index, (prompt, completion) in enumerate(zip(prompts, completions, strict=True))
    ]


def _process_group() -> Any:
    """`torch.distributed` where several ranks train together, else None."""
    # looked up, not imported: without torch loaded there is no group, and importing it takes seconds
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return None
    return torch.distributed if torch.distributed.get_world_size() > 1 else None


def _judge_across_ranks(judge: ConfiguredJudge, pairs: list[Pair]) -> list[Judgement]:
    """Judge whole groups, though a rank may hold a part of one: TRL deals the batch out rank by rank, in order.

    The rank that holds a group's first completion judges all of it, and hands the others their share.
    """
    ranks = _process_group()
    if ranks is None:
        return judge.judge_batch(pairs)
    size, rank = ranks.get_world_size(), ranks.get_rank()
    everyones: list[list[Pair]] = [[] for _ in range(size)]
    ranks.all_gather_object(everyones, pairs)
    whole = [pair for theirs in everyones for pair in theirs]
    first = sum(len(theirs) for theirs in everyones[:rank])
    mine = _groups_starting_within(whole, first, first + len(pairs))
    verdicts: list[dict[int, Judgement]] = [{} for _ in range(size)]
    judged = judge.judge_batch([whole[index] for index in mine])
    ranks.all_gather_object(verdicts, dict(zip(mine, judged, strict=True)))
    merged = {index: judgement for theirs in verdicts for index, judgement in theirs.items()}
    return [merged[index] for index in range(first, first + len(pairs))]


def _groups_starting_within(pairs: Sequence[Pair], first: int, end: int) -> list[int]:
    """Indices of the pairs whose group starts at `first` or later and before `end`."""
    indices: list[int] = []
    start = 0
    for index, (task, _) in enumerate(pairs):
        if index > 0 and task.task_id != pairs[index - 1][0].task_id:
            start = index
        if first <= start < end:
            indices.append(index)
    return indices
