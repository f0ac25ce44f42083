"""One judge as a reward function, sync and async."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner.adapters.rollout import Prompt, as_rollout, batch_metrics, current_step, truth_of
from agentscope_tuner.adapters.trl.listwise import ajudge_groups, judge_groups, process_group
from agentscope_tuner.adapters.trl.trainer import Caller, LogExtra, LogMetric, caller_of, warn_beside
from agentscope_tuner.config import Source
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, located
from agentscope_tuner.task_judge.judgement import Judgement

Rewards = list[float | None]


def reward_func(config: Source) -> RewardFunc:
    """A reward function for TRL; sync, so TRL calls it on the main thread of each rank.

    Args:
        config: a YAML file's path, or a configuration already read.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    return RewardFunc(config)


def async_reward_func(config: Source) -> AsyncRewardFunc:
    """The async form of `reward_func`: TRL runs it on a loop of its own, together with other async reward functions.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    return AsyncRewardFunc(config)


class Bare:
    """A picklable callable. TRL logs it under its `__name__`, which is the judge's name.

    Logged over a batch, each under `<name>/`: the metrics of `batch_metrics`. The completions table gets a column of
    reasons.
    """

    #: Marks a function whose failed verdict TRL counts as 0 beside other functions: see `check_reward_funcs`.
    may_fail = True

    def __init__(self, config: Source) -> None:
        # Absolute, because the other process may have another working directory
        self._config = located(config) if isinstance(config, str | Path) else config
        self._judge = ConfiguredJudge(self._config)
        self._warned = False
        self.__name__ = self._judge.name

    def __reduce__(self) -> tuple[Any, ...]:
        # A judge may hold pools and connections, so the other process loads its own judge
        return type(self), (self._config,), {"__name__": self.__name__}

    def _caller(self, trainer_state: object, log_metric: LogMetric | None) -> Caller:
        caller = caller_of(self, trainer_state, log_metric)
        self.at_step(trainer_state)
        if not self._warned:
            self._warned = True
            warn_beside(self.__name__, caller.beside)
        return caller

    def at_step(self, trainer_state: object) -> None:
        """The step that the next verdicts are logged with."""
        self._judge.step = current_step(trainer_state)

    def log(
        self, judgements: Sequence[Judgement], log_metric: LogMetric | None, log_extra: LogExtra | None
    ) -> tuple[Rewards, list[str]]:
        """The rewards, None without a verdict, and why verdicts are missing; metrics and reasons go to the loggers."""
        if log_metric is not None:
            for metric, value in batch_metrics(judgements).items():
                log_metric(f"{self.__name__}/{metric}", value)
        if log_extra is not None:
            log_extra(f"{self.__name__}/reason", [judgement.error or judgement.reason for judgement in judgements])
        rewards = [self._judge.reward(judgement) for judgement in judgements]
        return rewards, [judgement.error or "" for judgement in judgements]


class RewardFunc(Bare):
    """The reward function that `reward_func` returns."""

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
    ) -> Rewards:
        """One reward for each completion, in order; None for a failed verdict.

        Args:
            prompts: texts, or lists of chat messages.
            completions: likewise; the final answer is the text, or the last message when the assistant wrote it.
            completion_ids: the completions' tokens; not used.
            trainer_state: TRL's; tells which trainer calls.
            environments: one for each completion where TRL ran an `environment_factory`; the judge's `gym_env`.
            log_metric: TRL's; the metrics of this batch go there.
            log_extra: TRL's; the reasons go there.
            columns: the dataset's other columns, one value for each completion; they become `task.metadata`.

        Raises:
            JudgeError: a verdict failed, and the trainer would count a missing reward as 0.
        """
        caller = self._caller(trainer_state, log_metric)
        judgements = self.judgements(pairs_of(prompts, completions, columns, environments), caller.group_size)
        return caller.rewards_or_raise(self.__name__, *self.log(judgements, log_metric, log_extra))

    def judgements(self, pairs: list[Pair], group_size: int | None) -> list[Judgement]:
        """A verdict each, in order."""
        if self._judge.listwise:
            return judge_groups(self._judge, pairs, group_size)
        return self._judge.judge_batch(pairs)


class AsyncRewardFunc(Bare):
    """The reward function that `async_reward_func` returns."""

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
    ) -> Rewards:
        """As `RewardFunc.__call__`.

        Raises:
            JudgeError: a verdict failed, and the trainer would count a missing reward as 0.
            ConfigError: a listwise judge over several ranks, whose exchange of groups must not leave the main thread.
        """
        caller = self._caller(trainer_state, log_metric)
        judgements = await self.judgements(pairs_of(prompts, completions, columns, environments), caller.group_size)
        return caller.rewards_or_raise(self.__name__, *self.log(judgements, log_metric, log_extra))

    async def judgements(self, pairs: list[Pair], group_size: int | None) -> list[Judgement]:
        """A verdict each, in order."""
        if not self._judge.listwise:
            return await self._judge.ajudge_batch(pairs)
        if process_group() is not None:
            raise ConfigError(
                f"{self._judge.name} ranks whole groups, which ranks share: use reward_func, not its twin"
            )
        return await ajudge_groups(self._judge, pairs, group_size)


def pairs_of(
    prompts: Sequence[Prompt],
    completions: Sequence[Prompt],
    columns: Mapping[str, Sequence[Any]],
    environments: Sequence[object] | None = None,
) -> list[Pair]:
    """The batch as tasks and outputs."""
    envs = [None] * len(prompts) if environments is None else environments
    rows = [{column: values[index] for column, values in columns.items()} for index in range(len(prompts))]
    return [
        as_rollout(prompt, completion, {**row, **truth_of(row, "answer")}, gym_env=env)
        for prompt, completion, row, env in zip(prompts, completions, rows, envs, strict=True)
    ]
