"""SkyRL-gym 0.4: an environment whose last answer is judged.

    skyrl_gym.register(id="judged", entry_point=judged_env("configs/math.yaml"))

The reference is the row's `reward_spec.ground_truth`. A failed verdict raises out of `step`. SkyRL logs the judge's
metrics, which `get_metrics` returns.

SkyRL plays on until the environment ends the episode, and hands it the most turns (`generator.max_turns`) among the
row's fields: the last of these is judged. An episode that gets too long before is ended by SkyRL, without a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from agentscope_tuner.adapters.rollout import episode_metrics
from agentscope_tuner.records.formats.sample import as_rollout, last_turn, reference_of, truth_of
from agentscope_tuner.task_judge.batch import judge_for, loaded


def judged_env(config: str | Path) -> type[JudgedTextEnv]:
    """An environment class for `skyrl_gym.register`.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    return type("ConfiguredEnv", (JudgedTextEnv,), {"path": loaded(config)})


class JudgedTextEnv(BaseTextEnv):  # type: ignore[misc]  # skyrl_gym is absent where types are checked
    """An environment whose first answer is judged; override `feedback` to give it more turns, up to `max_turns`."""

    path = ""

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        row = dict(extras or {})
        truth = truth_of(row.get("reward_spec") or {}, "ground_truth")
        self._metadata = {**row, **(truth or reference_of(row))}
        # If no limit is named, as in a call by hand, `feedback` alone decides when the episode ends
        self._most = int(most) if (most := row.get("max_turns")) else math.inf
        self._prompt: list[dict[str, Any]] = []
        self._messages: list[dict[str, Any]] = []
        self._metrics: dict[str, float] = {}

    def init(self, prompt: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Begin the episode with its prompt."""
        self._prompt, self._messages, self._metrics, self.turns = list(prompt), [], {}, 0
        return prompt, {}

    def feedback(self, action: str) -> str | None:
        """The environment's answer to the policy's text; None to end the episode and judge it. It is not called for the
        last turn that SkyRL allows.
        """
        return None

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """One turn: reward 0.0 and the environment's text while the episode goes on, then the judge's reward.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        said = last_turn(action)
        self._messages.append({"role": "assistant", "content": said})
        self.turns += 1
        if self.turns < self._most and (answer := self.feedback(said)) is not None:
            told = {"role": "user", "content": answer}
            self._messages.append(told)
            return BaseTextEnvStepOutput(observations=[told], reward=0.0, done=False, metadata={})
        judge = judge_for(self.path)
        judgement = judge.judge(*as_rollout(self._prompt, self._messages, self._metadata))
        reward = judge.reward_or_raise(judgement)
        self._metrics = episode_metrics(judge, judgement)
        metadata = {"reason": judgement.reason, "status": judgement.status}
        return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata=metadata)

    def get_metrics(self) -> dict[str, float]:
        """The judge's metrics of the episode, and its success; none before it ended."""
        return self._metrics
