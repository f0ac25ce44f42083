"""Settings in places that no code reads: there a typo would silently become the default."""

from __future__ import annotations

import difflib

from omegaconf import DictConfig, OmegaConf

from agentscope_tuner.errors import ConfigError

# Keys of `task_judge` whose names no other program uses: `astuner` may hold other programs' sections, too
_OWN_KEYS = (
    "judge_type",
    "judge_protocol",
    "judge_kwargs",
    "rules",
    "rule_modules",
    "rule_reward",
    "on_error",
    "rubrics_auto_grader",
)


def check_override(key: str) -> None:
    """Check that an override of one of our settings has its full key, from `astuner` on: another key changes nothing.

    Raises:
        ConfigError: it has another key; the message has the right key.
    """
    first, _, rest = key.partition(".")
    if first == "task_judge" or first in _OWN_KEYS:
        place = "astuner" if first == "task_judge" else "astuner.task_judge"
        raise ConfigError(f"override {key!r}: nobody reads {first!r} at the top: write {place}.{key}")
    misspelt = first != "astuner" and difflib.get_close_matches(first, ["astuner"], cutoff=0.8)
    if misspelt and rest.startswith("task_judge"):
        raise ConfigError(f"override {key!r}: did you mean 'astuner.{rest}'?")


def check_places(config: DictConfig) -> None:
    """Check that `astuner` is a mapping with our section under `task_judge`; its other keys belong to other programs.

    Raises:
        ConfigError: `astuner` is no mapping, or a setting of ours stands in a wrong place; the message has the key and
            the right place.
    """
    ours = config.get("astuner") if not OmegaConf.is_missing(config, "astuner") else None
    if ours is None:
        _check_top(config)
        return
    if not isinstance(ours, DictConfig):
        raise ConfigError(f"astuner must be a mapping that holds task_judge, got {ours!r}")
    misspelt = difflib.get_close_matches("task_judge", [str(key) for key in ours], n=1, cutoff=0.8)
    if "task_judge" not in ours and misspelt:
        raise ConfigError(f"astuner.{misspelt[0]}: unknown key; did you mean 'task_judge'?")
    for key in _OWN_KEYS:
        if key in ours:
            raise ConfigError(f"astuner.{key} stands where nobody reads it: write astuner.task_judge.{key}")
    if "task_judge" not in ours:
        _check_top(config)


def _check_top(config: DictConfig) -> None:
    """Where our section is missing, refuse our keys at the top level, or under a misspelt `astuner`."""
    for key in ("task_judge", "judge_protocol"):
        if key in config:
            path = "astuner.task_judge" if key == "task_judge" else f"astuner.task_judge.{key}"
            raise ConfigError(f"{key} stands at the top, where nobody reads it: write {path}")
    for name in difflib.get_close_matches("astuner", [str(key) for key in config], cutoff=0.8):
        if name != "astuner":
            raise ConfigError(f"{name}: unknown key; did you mean 'astuner'?")
