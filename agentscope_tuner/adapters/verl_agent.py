"""verl 0.9 or newer, episodes with tools: an agent loop that names the policy's last turn.

verl's reward workers get an episode's tokens without the mask that tells the policy's from a tool's. The agent loop
has it. A file `agents.yaml`, and in verl's configuration the key that names it:

    - {name: tool_agent, _target_: agentscope_tuner.adapters.verl_agent.LastTurnToolAgentLoop}

    actor_rollout_ref.rollout.agent.agent_loop_config_path: agents.yaml
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verl.experimental.agent_loop.tool_agent_loop import ToolAgentLoop

from agentscope_tuner.adapters.rollout import LAST_TURN


class LastTurnToolAgentLoop(ToolAgentLoop):  # type: ignore[misc]  # verl is absent where types are checked
    """verl's ToolAgentLoop, whose output also carries the last turn, for `compute_score`."""

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> Any:
        """See ToolAgentLoop."""
        output = await super().run(sampling_params, **row)
        ids = last_turn_ids(output.response_ids, output.response_mask)
        output.extra_fields[LAST_TURN] = self.tokenizer.decode(ids, skip_special_tokens=True)
        return output


def last_turn_ids(ids: Sequence[int], mask: Sequence[int]) -> list[int]:
    """The tokens of the policy's last turn: `[7, 8]` for tokens `[5, 6, 7, 8]` and mask `[1, 0, 1, 1]`. Empty if the
    episode ends with a text of a tool or a user.

    Args:
        ids: the response's tokens, without padding.
        mask: for each of them, 1 where the policy wrote it.
    """
    end = start = min(len(ids), len(mask))
    while start and mask[start - 1]:
        start -= 1
    return list(ids[start:end])
