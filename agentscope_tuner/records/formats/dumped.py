"""The reward that a trainer wrote beside a rollout, as a judgement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_KEYS: Mapping[str, tuple[str, ...]] = {
    "verl": ("score", "reward"),
    "openrlhf": ("reward", "rewards", "score"),
    "nemo-gym": ("reward",),
    "slime": ("reward",),
    "trinity": ("reward",),
}
_SUCCESS = ("acc", "is_success", "success", "is_correct")
_NO_REWARDS = ("step", "advantage", "index", "idx", "id")


def dumped_judgement(name: str, row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The judgement from the reward in a row of the format `name`; None where the format dumps no reward.

    A reward that is missing, not finite or masked by the trainer is a failed verdict, not 0. `is_success` is None where
    the trainer does not tell it.
    """
    if name == "trl":
        reward = _trl_reward(row)
        if reward is None and "advantage" not in row:
            return None
    else:
        key = next((key for key in _KEYS[name] if key in row), None)
        if key is None:
            return None
        reward = _written(row[key])
    if row.get("mask_sample"):
        return _failed(str(row.get("failure_reason") or "the trainer masked this sample"))
    if reward is None:
        return _failed("the dump holds no reward for this sample")
    success = next((bool(row[key]) for key in _SUCCESS if isinstance(row.get(key), bool | int | float)), None)
    return {"status": "judged", "reward": reward, "is_success": success, "reason": f"as {name} dumped it"}


def mapped_judgement(value: object) -> dict[str, Any]:
    """The judgement from a reward whose column the user has named."""
    reward = _written(value)
    if reward is None:
        return _failed(f"the named column holds no number, but {value!r:.60}")
    return {"status": "judged", "reward": reward, "is_success": None, "reason": "as the named column says"}


def _trl_reward(row: Mapping[str, Any]) -> float | None:
    """TRL names each column of rewards after its function. A single column is the reward; several are added, without
    weights.

    Other numbers that a reward function logs look the same: `--map column=judgement.reward` names the reward.
    """
    if "reward" in row:
        return _number(row["reward"])
    names = [name for name in row if name not in _NO_REWARDS and _number(row[name]) is not None]
    return sum(float(row[name]) for name in names) if names else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _written(value: object) -> float | None:
    """A number, also where it was written as a text, as verl writes numpy's numbers."""
    try:
        return _number(float(value) if isinstance(value, str) else value)
    except ValueError:
        return None


def _failed(why: str) -> dict[str, Any]:
    return {"status": "failed", "reward": None, "is_success": None, "reason": why, "error": why, "cause": "input"}
