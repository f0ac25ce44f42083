"""Several reward functions as one, which gives no reward for a completion where any of them gives none."""

from __future__ import annotations

import asyncio
import inspect
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from agentscope_tuner._run import loops
from agentscope_tuner.adapters.rollout import FailingRun
from agentscope_tuner.adapters.trl.functions import (
    AsyncRewardFunc,
    Caller,
    LogExtra,
    LogMetric,
    RewardFunc,
    caller_of,
    last_turns,
    name_of,
    pairs_of,
    reward_func,
    warn_beside,
)
from agentscope_tuner.config import Settings, Source
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.graders.schema import is_finite_number
from agentscope_tuner.task_judge.batch import Pair
from agentscope_tuner.task_judge.contract.judgement import Judgement

Part = Source | Callable[..., Any]

# Arguments that every trainer gives beside the columns
_GIVEN = frozenset({"prompts", "completions", "completion_ids", "trainer_state", "environments"})


class Combined:
    """One reward function that answers the weighted sum of `parts`, and None where a part has no verdict, or the sum is
    too large for a float. Sync, so that TRL calls it on the main thread, which ranking judges need.

    Logged for each part, as TRL does for the functions of a list: `rewards/<part>/mean` and `rewards/<part>/std`, and a
    judge's own metrics; `<name>/failed` is the share of completions without a reward. The completions table gets a
    column of rewards for each part.

    Args:
        parts: configurations of judges, `RewardFunc` or `AsyncRewardFunc`, or any reward function of TRL's kind, sync
            or async. None, NaN and infinity of such a function mean that it has no verdict.
        weights: one for each part; by default 1.0. A part of weight 0.0 only observes: it is logged, and its failed
            verdict leaves the completion's reward in place.
        name: what TRL logs the sum under.

    Raises:
        ConfigError: a judge cannot be loaded; weights that are not finite, or not one for each part; two parts of one
            name, whose logs could not be told apart.
    """

    may_fail = True

    def __init__(
        self, parts: Sequence[Part], weights: Sequence[float] | None = None, *, name: str = "combined"
    ) -> None:
        if isinstance(parts, str | Path):
            told = f"[{str(parts)!r}, …]; for one judge alone, call reward_func"
            raise ConfigError(f"combined takes a list of parts, {told}")
        if not parts:
            raise ConfigError("combined takes at least one reward function")
        self._parts = [_function(part) for part in parts]
        self._weights = [1.0] * len(parts) if weights is None else [float(weight) for weight in weights]
        if len(self._weights) != len(self._parts) or not all(math.isfinite(weight) for weight in self._weights):
            raise ConfigError(f"combined takes one finite weight for each of {len(parts)} parts, got {weights!r}")
        self._names = [name_of(part) for part in self._parts]
        twice = next((own for own in self._names if self._names.count(own) > 1), None)
        if twice is not None:
            raise ConfigError(
                f"two parts are named {twice!r}, and their logs could not be told apart: give each judge a "
                "`name:` in its astuner.task_judge, or each function a __name__"
            )
        for part, weight in zip(self._parts, self._weights, strict=True):
            if weight == 0.0 and isinstance(part, RewardFunc | AsyncRewardFunc):
                part.only_look_on()
        self._warned = False
        self.__name__ = name
        # A part that is no judge of ours, or parts that fail on different rows, may leave no row a sum
        self._run = FailingRun(name, stops=all(getattr(part, "stop_when_failing", True) for part in self._parts))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Combined, name=self.__name__), (self._parts, self._weights)

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        *,
        trainer_state: object = None,
        log_metric: LogMetric | None = None,
        log_extra: LogExtra | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """One reward for each completion, in order; None where a part has no verdict. Arguments as
        `RewardFunc.__call__`.

        Raises:
            JudgeError: a foreign function answers something other than one number or None for each completion; a
                verdict failed, and the trainer would count a missing reward as 0; or a run without rewards is stopped.
        """
        caller = caller_of(self, trainer_state, log_metric)
        if not self._warned:
            self._warned = True
            warn_beside(self.__name__, caller.beside)
        given = {"prompts": prompts, "completions": completions, "completion_ids": completion_ids, **columns}
        if trainer_state is not None:
            given["trainer_state"] = trainer_state
        columns = {key: value for key, value in given.items() if key not in _GIVEN}
        said = last_turns(completions, completion_ids, columns, log_metric)
        pairs = pairs_of(prompts, said, columns, given.get("environments"), caller.group_size)
        answers = self._answers(given, pairs, caller, log_metric, log_extra)
        rewards: list[float | None] = []
        errors: list[str] = []
        for place in range(len(prompts)):
            rewards.append(self._sum([answer[place] for answer, _ in answers]))
            nothing = "the weighted sum is no finite number" if rewards[-1] is None else ""
            errors.append("; ".join(why[place] for _, why in answers if why[place]) or nothing)
        self._log([answer for answer, _ in answers], rewards, log_metric, log_extra)
        self._run.add(pairs, [_summed(*each) for each in zip(rewards, errors, strict=True)], trains=caller.trains)
        return caller.rewards_or_raise(self.__name__, rewards, errors)

    def _sum(self, values: Sequence[float | None]) -> float | None:
        total = 0.0
        for value, weight in zip(values, self._weights, strict=True):
            if weight == 0.0:
                continue
            if value is None:
                return None
            total += weight * value
        return total if math.isfinite(total) else None

    def _answers(
        self,
        given: dict[str, Any],
        pairs: list[Pair],
        caller: Caller,
        log_metric: LogMetric | None,
        log_extra: LogExtra | None,
    ) -> list[tuple[list[float | None], list[str]]]:
        """Each part's rewards, and why some are missing. Sync parts run one after another, then all async parts
        together.
        """
        loggers = {"log_metric": log_metric, "log_extra": log_extra}
        known = {key: logger for key, logger in loggers.items() if logger is not None}
        answers: list[Any] = [None] * len(self._parts)
        waiting: dict[int, Any] = {}
        for place, part in enumerate(self._parts):
            if isinstance(part, RewardFunc | AsyncRewardFunc):
                part.at_step(given.get("trainer_state"))
            if isinstance(part, RewardFunc):
                answers[place] = part.log(part.judgements(pairs, caller), log_metric, log_extra, caller.group_size)
            elif isinstance(part, AsyncRewardFunc):
                waiting[place] = part.judgements(pairs, caller)
            else:
                answer = part(**given, **known)
                (waiting if inspect.isawaitable(answer) else answers)[place] = answer
        for place, answer in zip(waiting, loops.run(_all(list(waiting.values()))) if waiting else (), strict=True):
            part = self._parts[place]
            if isinstance(part, AsyncRewardFunc):
                answer = part.log(answer, log_metric, log_extra, caller.group_size)
            answers[place] = answer
        return [
            answer if isinstance(part, RewardFunc | AsyncRewardFunc) else _checked(answer, own, len(pairs))
            for part, own, answer in zip(self._parts, self._names, answers, strict=True)
        ]

    def _log(
        self,
        answers: Sequence[Sequence[float | None]],
        rewards: Sequence[float | None],
        log_metric: LogMetric | None,
        log_extra: LogExtra | None,
    ) -> None:
        for own, answer in zip(self._names, answers, strict=True):
            values = [value for value in answer if value is not None]
            if log_metric is not None and values:
                log_metric(f"rewards/{own}/mean", statistics.fmean(values))
                log_metric(f"rewards/{own}/std", statistics.stdev(values) if len(values) > 1 else 0.0)
            if log_extra is not None:
                log_extra(f"rewards/{own}", list(answer))
        if log_metric is not None and rewards:
            log_metric(f"{self.__name__}/failed", sum(reward is None for reward in rewards) / len(rewards))


#: Under the name of what it makes, as TRL names reward functions.
combined = Combined


def _function(part: Part) -> Callable[..., Any]:
    if isinstance(part, str | Path | Mapping | DictConfig | Settings):
        return reward_func(part)
    if not callable(part):
        raise ConfigError(f"a part must be a judge's configuration or a reward function, got {part!r:.200}")
    return part


def _summed(reward: float | None, why: str) -> Judgement:
    if reward is None:
        return Judgement.failed(JudgeError(why, cause=Cause.JUDGE))
    return Judgement("judged", reward, False, "")


async def _all(awaitables: Sequence[Any]) -> list[Any]:
    return list(await asyncio.gather(*awaitables))


def _checked(answer: object, name: str, count: int) -> tuple[list[float | None], list[str]]:
    """The rewards that a foreign function gave, None for one that is no finite number, and the reasons of the Nones."""
    # numpy's and torch's arrays are no Sequence
    plain: Any = answer.tolist() if hasattr(answer, "tolist") else answer
    values = list(plain) if isinstance(plain, Sequence) and not isinstance(plain, str) else None
    if values is None or len(values) != count:
        shown = f"{len(values)} rewards" if values is not None else type(answer).__name__
        raise JudgeError(f"{name} must answer a list of {count} rewards, one a completion, got {shown}")
    rewards: list[float | None] = []
    for value in values:
        number = value.item() if type(value).__module__ in ("numpy", "torch") and hasattr(value, "item") else value
        if number is not None and not isinstance(number, Real):
            raise JudgeError(f"{name} must answer numbers or None, got {number!r:.200}")
        rewards.append(float(number) if isinstance(number, bool) or is_finite_number(number) else None)
    whys = [
        "" if reward is not None else f"{name} answered {value!r:.50}"
        for reward, value in zip(rewards, values, strict=True)
    ]
    return rewards, whys
