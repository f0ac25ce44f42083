"""Settings that stand where nobody reads them: a typo there would pass for a default."""

from __future__ import annotations

import difflib

from omegaconf import DictConfig, OmegaConf

from agentscope_tuner.errors import ConfigError


def check_places(config: DictConfig) -> None:
    """`astuner` is a mapping, and none of its keys is a misspelt `task_judge`; other keys belong to other programs.

    Raises:
        ConfigError: it is not, with the key and its right place.
    """
    ours = config.get("astuner") if not OmegaConf.is_missing(config, "astuner") else None
    if ours is None:
        return
    if not isinstance(ours, DictConfig):
        raise ConfigError(f"astuner must be a mapping that holds task_judge, got {ours!r}")
    misspelt = difflib.get_close_matches("task_judge", [str(key) for key in ours], n=1, cutoff=0.8)
    if "task_judge" not in ours and misspelt:
        raise ConfigError(f"astuner.{misspelt[0]}: unknown key; did you mean 'task_judge'?")
