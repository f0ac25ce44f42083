"""NeMo RL: an environment that is used directly, without NeMo-Gym.

    from nemo_rl.environments.utils import register_env
    register_env("math_judge", "agentscope_tuner.adapters.nemo_rl.JudgeEnvironment")

    env: {math_judge: {config: configs/math.yaml}}

With `named_rewards: true` beside `config`, `rewards` is a dictionary of tensors, one for each part of a combined judge.

Read in NeMo RL's sources of October 2026 (`nemo_rl/environments/interfaces.py`): it is not on PyPI. An environment's
return has no mask, so a failed verdict raises out of `step`, which ends the run. NeMo-Gym's way masks the sample
instead, though its 0.0 still stands in the group's baseline there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ray
import torch
from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn

from agentscope_tuner.adapters.rollout import batch_metrics, components_of
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.formats.sample import as_rollout, last_turn, policys_turns, truth_of
from agentscope_tuner.task_judge.batch import Pair, judge_for
from agentscope_tuner.task_judge.contract.judgement import Judgement


class JudgeEnvironmentInPlace(EnvironmentInterface):  # type: ignore[misc]  # nemo_rl is absent where types are checked
    """One step: the answer is judged, and the episode ends.

    Args:
        cfg: `config`, the judge's YAML; and `named_rewards`, whether each part's reward is given by its name.

    Raises:
        ConfigError: the judge cannot be loaded, or has no parts to name.
    """

    def __init__(self, cfg: Mapping[str, Any]) -> None:
        self._judge = judge_for(cfg["config"])
        self._judged: list[Judgement] = []
        self._named = bool(cfg.get("named_rewards", False))
        if self._named and not self._judge.component_names:
            raise ConfigError(f"named_rewards: {self._judge.name} has no parts: it takes judge_type: combined")

    def step(self, message_log_batch: Sequence[Any], metadata: Sequence[Any]) -> Any:
        """Judge a batch of conversations.

        Args:
            message_log_batch: lists of chat messages; the last message of each is the policy's.
            metadata: the fields of each row that the data processor kept: `ground_truth` and whatever else the judge
                reads.

        Raises:
            JudgeError: no verdict on one conversation, unless `on_error: zero` was configured.
        """
        pairs = [_pair(log, row or {}) for log, row in zip(message_log_batch, metadata, strict=True)]
        judgements = [self._judge.settled(judgement) for judgement in self._judge.judge_batch(pairs)]
        rewards = self._rewards(judgements)
        self._judged += judgements
        return EnvironmentReturn(
            observations=[{"role": "environment", "content": judgement.reason} for judgement in judgements],
            metadata=list(metadata),
            next_stop_strings=[None] * len(pairs),
            rewards=rewards,
            terminateds=torch.ones(len(pairs)),
            answers=[output.metadata["final_answer"] for _, output in pairs],
        )

    def _rewards(self, judgements: Sequence[Judgement]) -> Any:
        whole = [self._judge.reward_or_raise(judgement) for judgement in judgements]
        if not self._named:
            return torch.tensor(whole, dtype=torch.float32)
        found = [components_of(self._judge, judgement) for judgement in judgements]
        names = self._judge.component_names
        return {name: torch.tensor([parts[name] for parts in found], dtype=torch.float32) for name in names}

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, float]]:
        """The unchanged batch, and the judge's metrics since the last call."""
        judged, self._judged = self._judged, []
        return batch, {f"{self._judge.name}/{name}": value for name, value in batch_metrics(judged).items()}


#: The class that `register_env` names: NeMo RL starts its environments as Ray actors.
JudgeEnvironment = ray.remote(max_restarts=-1, max_task_retries=-1)(JudgeEnvironmentInPlace)


def _pair(log: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> Pair:
    messages = [{"role": message["role"], "content": message.get("content")} for message in log]
    # A prompt may hold turns of an assistant, too
    asked = policys_turns(messages)
    if (said := messages[asked:]) and isinstance(said[-1]["content"], str):
        said[-1]["content"] = last_turn(said[-1]["content"])
    return as_rollout(messages[:asked], said, {**row, **truth_of(row, "ground_truth", "answer")})
