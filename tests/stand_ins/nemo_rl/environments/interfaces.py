"""NeMo RL's environments, as `nemo_rl/environments/interfaces.py` of October 2026 declares them."""

from __future__ import annotations

from typing import Any, NamedTuple


class EnvironmentReturn(NamedTuple):
    """A batch's step."""

    observations: list[dict[str, str]]
    metadata: list[Any]
    next_stop_strings: list[Any]
    rewards: Any
    terminateds: Any
    answers: list[str | None] | None = None


class EnvironmentInterface:
    """What an environment subclasses."""
