"""OpenRLHF 0.11's agents: the file that `--train.agent_func_path` names, for episodes of several turns.

    from openrlhf.utils.agent import MultiTurnAgentExecutor
    from agentscope_tuner.adapters.openrlhf_agent import judged_agent

    class AgentExecutor(MultiTurnAgentExecutor):
        def __init__(self):
            super().__init__(judged_agent("configs/math.yaml"))

A failed verdict raises out of `step`, and that ends the run. An episode that runs out of tokens before its last turn is
not judged: OpenRLHF ends it with the rewards of its turns, which are 0.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from openrlhf.utils.agent import AgentInstanceBase

from agentscope_tuner.adapters.openrlhf import encode_response
from agentscope_tuner.records.formats.sample import as_rollout, ground_truth_metadata, last_turn
from agentscope_tuner.task_judge.batch import judge_for, loaded


def judged_agent(config: str | Path) -> type[JudgedAgent]:
    """An agent class for `MultiTurnAgentExecutor`, which judges the policy's last message.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    return type("ConfiguredAgent", (JudgedAgent,), {"path": loaded(config)})


class JudgedAgent(AgentInstanceBase):  # type: ignore[misc]  # openrlhf is absent where types are checked
    """An agent whose first answer is judged; override `feedback` to give it more turns."""

    path = ""

    def __init__(self) -> None:
        self._prompt = ""
        self._messages: list[dict[str, Any]] = []

    async def reset(self, states: dict[str, Any], **openrlhf_only: object) -> dict[str, Any]:
        """Begin the episode with its prompt."""
        self._prompt = str(states["observation"])
        self._messages = []
        return {"observation": states["observation"]}

    async def feedback(self, states: dict[str, Any]) -> str | None:
        """The environment's answer to `states["action_text"]`; None to end the episode and judge it."""
        return None

    async def step(self, states: dict[str, Any], **openrlhf_only: object) -> dict[str, Any]:
        """One turn: reward 0.0 and the environment's text while the episode goes on, then the judge's reward.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        self._messages.append({"role": "assistant", "content": last_turn(str(states["action_text"]))})
        answer = await self.feedback(states)
        if answer is not None:
            self._messages.append({"role": "user", "content": answer})
            return {"rewards": torch.tensor(0.0), "scores": 0.0, "environment_feedback": answer, "done": False}
        judge = judge_for(self.path)
        pair = as_rollout(self._prompt, self._messages, ground_truth_metadata(states["label"]))
        scored = encode_response(judge, await judge.ajudge(*pair))
        return {
            "rewards": torch.tensor(scored["rewards"]),
            "scores": scored["scores"],
            "environment_feedback": "",
            "done": True,
            "extra_logs": scored["extra_logs"],
        }
