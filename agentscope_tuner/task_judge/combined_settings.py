"""Checks, at load, the settings that belong to a combined judge as a whole."""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Callable, Mapping

from agentscope_tuner.config import SECTION, TaskJudgeConfig
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.combinations import COMBINATIONS
from agentscope_tuner.task_judge.parts import WHERE, PartVerdict
from agentscope_tuner.task_judge.protocol import resolve_function

_log = logging.getLogger(__name__)

#: `module->function` of a combined judge: from the parts, by name, to the reward.
PartsFunction = Callable[[Mapping[str, PartVerdict]], object]


def function_of(reward: str) -> PartsFunction | None:
    """The function that `reward` names, or None where `reward` is a built-in combination.

    Raises:
        ConfigError: `reward` names neither, or the function cannot be called with the parts.
    """
    if reward in COMBINATIONS:
        return None
    if "->" not in reward:
        raise ConfigError(
            f"{SECTION}.reward: must be one of {', '.join(COMBINATIONS)}, or 'module->function' of the parts, "
            f"got {reward!r}"
        )
    function = resolve_function(reward)
    if inspect.iscoroutinefunction(function):
        raise ConfigError(f"{SECTION}.reward: {reward!r} is `async def`: it must return a number")
    try:
        inspect.signature(function).bind({})
    except TypeError as exc:
        raise ConfigError(f"{SECTION}.reward: {reward!r} must take one argument, the parts: {exc}") from exc
    return function


def clip_of(section: TaskJudgeConfig) -> tuple[float, float] | None:
    """The bounds of the reward, which `rule_reward` and an error's reward must keep, too.

    Raises:
        ConfigError: they do not.
    """
    if section.clip is None:
        return None
    low, high = section.clip
    if not low < high:
        raise ConfigError(f"{SECTION}.clip: must be [least, largest], got {section.clip!r}")
    paid = {"rule_reward": section.rule_reward} if section.rules else {}
    paid |= {"on_error: zero": 0.0} if section.on_error == "zero" else {}
    for key, value in paid.items():
        if not low <= value <= high:
            raise ConfigError(f"{SECTION}.clip: {key} pays {value:g}, which lies outside of {section.clip!r}")
    return low, high


def check_success(section: TaskJudgeConfig) -> None:
    """Check that `success` names a part that always tells whether the task was solved.

    Raises:
        ConfigError: it does not.
    """
    if section.success in ("all", "any"):
        return
    part = section.parts.get(section.success)
    if part is None:
        known = (*section.parts, "all", "any")
        nearest = difflib.get_close_matches(section.success, known, n=1)
        hint = f"did you mean {nearest[0]!r}? " if nearest else ""
        raise ConfigError(f"{SECTION}.success: {hint}must be one of {', '.join(known)}, got {section.success!r}")
    if part.optional:
        raise ConfigError(
            f"{SECTION}.success: the part {section.success!r} is optional, so it may have no verdict, and then nobody "
            "knows whether the task was solved: name another part, or remove its `optional`"
        )


def check_weights(section: TaskJudgeConfig) -> None:
    """Check that the parts' weights have a meaning in the combination.

    Raises:
        ConfigError: they do not.
    """
    combination, parts = section.reward, section.parts
    if all(part.weight == 0 for part in parts.values()):
        raise ConfigError(f"{WHERE}: every weight is 0, so no part makes the reward")
    if combination == "weighted_sum":
        return
    negative = next((name for name, part in parts.items() if part.weight < 0), None)
    if negative is not None:
        raise ConfigError(
            f"{WHERE}.{negative}.weight: a {combination} takes no negative weight, got {parts[negative].weight!r}: "
            "reward: weighted_sum does"
        )
    if all(part.when is not None for part in parts.values() if part.weight):
        raise ConfigError(
            f"{SECTION}.reward: a {combination} of no part has no value, and every part that counts has a condition: "
            "give one of weight above 0 no `when`"
        )
    unread = {name: part.weight for name, part in parts.items() if part.weight not in (0, 1)}
    if unread and combination != "weighted_mean":
        _log.warning("%s.reward: a %s multiplies with no weight, so these count as 1: %s", SECTION, combination, unread)
