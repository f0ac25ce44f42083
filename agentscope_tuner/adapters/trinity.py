"""Trinity-RFT 0.6 or newer: a reward function class, named by its dotted path.

    default_reward_fn_type: agentscope_tuner.adapters.trinity.AstunerReward
    reward_fn_args: {config: configs/math.yaml}

A failed verdict raises: Trinity fails the run and tries the task again, `max_retry_times` times.
"""

from __future__ import annotations

import logging
from typing import Any

from trinity.common.rewards.reward_fn import RewardFn

from agentscope_tuner.adapters.rollout import as_rollout, ground_truth_metadata, named_metrics
from agentscope_tuner.task_judge.batch import judge_for

_log = logging.getLogger(__name__)


class AstunerReward(RewardFn):  # type: ignore[misc]  # trinity is absent where types are checked
    """Judges a response by the configured judge. Trinity builds an object for each task; all share the process's judge.

    Args:
        config: the judge's YAML, from `reward_fn_args`.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: str) -> None:
        self._judge = judge_for(config)

    def __call__(
        self, response: str, truth: object = None, prompt: str | None = None, **trinity_only: object
    ) -> dict[str, float]:
        """`{"astuner": reward}` and the judge's own metrics. Trinity logs all, and its sum of the values holds the
        reward alone.

        Args:
            response: what the policy wrote.
            truth: the ground truth, a text or a record (a JSON object); it becomes `task.metadata`.
            prompt: the query, where the workflow gives it.
            trinity_only: arguments that some workflows add (`with_think` …); not used.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        judgement = self._judge.judge(*as_rollout(prompt or "", response, ground_truth_metadata(truth)))
        _log.info("%s: %s %s", self._judge.name, judgement.status, judgement.error or judgement.reason)
        reward = self._judge.reward_or_raise(judgement)
        return _RewardAndLog(named_metrics(self._judge, judgement), astuner=reward)


class _RewardAndLog(dict[str, float]):
    """A dict whose `values()`, which Trinity's workflows add up, are the reward alone; they log the whole dict."""

    def values(self) -> Any:
        """The reward, alone."""
        return [self["astuner"]]
