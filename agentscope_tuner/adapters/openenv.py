"""OpenEnv 0.3: a rubric whose reward is the configured judge's.

    def rollout(action, observation):
        return observation.question, action.message, {"answer": observation.answer}

    rubric = EpisodeRubric("configs/math.yaml", rollout)

Each environment has actions and observations of its own, so `rollout` says what was asked and answered. The judge is
asked when the episode is done. A failed verdict raises out of the environment's step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from openenv.core.rubrics import Rubric

from agentscope_tuner.adapters.rollout import episode_metrics
from agentscope_tuner.records.formats.sample import Prompt, as_rollout, reference_of
from agentscope_tuner.task_judge.batch import Pair, judge_for, loaded
from agentscope_tuner.task_judge.contract.judgement import Judgement

Told = tuple[Prompt, Prompt, Mapping[str, Any]]


class EpisodeRubric(Rubric):  # type: ignore[misc]  # openenv is absent where types are checked
    """The rubric of an environment with a `step`; one with a `step_async` takes AsyncEpisodeRubric.

    Args:
        config: the judge's YAML.
        rollout: takes the last action and observation, and returns the question, the policy's answer, and the columns
            that hold the reference. Question and answer are texts or chat messages.

    Attributes:
        metrics: the judge's metrics of the last episode, and its success.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: str | Path, rollout: Callable[[Any, Any], Told]) -> None:
        super().__init__()
        self._path = loaded(config)
        self._rollout = rollout
        self.metrics: dict[str, float] = {}

    def forward(self, action: Any, observation: Any) -> float:
        """0.0 while the episode goes on, then the judge's reward.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        if not observation.done:
            return 0.0
        return self._rewarded(judge_for(self._path).judge(*self._pair(action, observation)))

    def _pair(self, action: Any, observation: Any) -> Pair:
        question, answer, row = self._rollout(action, observation)
        # an observation's metadata may count the episode's steps: they are no part of the task's name
        reference = reference_of(row)
        return as_rollout(question, answer, {**row, **reference}, shared=reference)

    def _rewarded(self, judgement: Judgement) -> float:
        judge = judge_for(self._path)
        reward = judge.reward_or_raise(judgement)
        self.metrics = episode_metrics(judge, judgement)
        return reward


class AsyncEpisodeRubric(EpisodeRubric):
    """The async form of `EpisodeRubric`: OpenEnv's `_apply_rubric_async` recognises it by its coroutine."""

    async def forward(self, action: Any, observation: Any) -> float:  # type: ignore[override]
        """As `EpisodeRubric.forward`."""
        if not observation.done:
            return 0.0
        return self._rewarded(await judge_for(self._path).ajudge(*self._pair(action, observation)))
