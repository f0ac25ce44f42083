"""rLLM's reward types, as `rllm/rewards/reward_types.py` of August 2026 declares them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class RewardOutput:
    """What a reward function answers."""

    reward: float
    metadata: dict[str, Any] = field(default_factory=dict)
    is_correct: bool | None = None
