"""Asks one of reasoning-gym's scorers, which may hang, raise, or run what it is given."""

from __future__ import annotations

import json
from typing import Any

from agentscope_tuner._jail.inside import begin, leave
from agentscope_tuner.verify.code.inside.code_values import load


def run(payload: bytes) -> int:
    """Score the answer that `payload` holds: leaves `{"score": …}`, or `{"error": …}`."""
    # heavy, and preloaded where the jail is for this
    import reasoning_gym

    asked: Any = load(payload)
    begin()
    found: dict[str, object]
    try:
        score = reasoning_gym.get_score_answer_fn(asked["dataset"])(answer=asked["answer"], entry=asked["entry"])
        found = {"score": float(score)}
    except Exception as exc:  # noqa: BLE001 - a hundred scorers raise anything
        found = {"error": f"{type(exc).__name__}: {exc}"[:300]}
    leave(json.dumps(found).encode())
    return 0
