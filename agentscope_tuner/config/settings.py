"""Makes one typed object of a file, a mapping and overrides: read once, merged once, validated once, then passed on."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from omegaconf import AnyNode, DictConfig, OmegaConf, flag_override
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel

from agentscope_tuner.config.misplaced import check_override, check_places
from agentscope_tuner.config.problems import SectionT, validate_section
from agentscope_tuner.config.sections import SECTION, TaskJudgeConfig
from agentscope_tuner.errors import ConfigError

# The key in a configuration's `__dict__` under which its validated section lies: judges receive the configuration alone
_VALIDATED = "_astuner_validated"


@dataclass(frozen=True, slots=True)
class Settings:
    """A configuration that has been read, merged and validated; pickles, and means the same in another process.

    Attributes:
        whole: the whole configuration, with our defaults filled in, as judges receive it.
        task_judge: the typed `astuner.task_judge`.
    """

    whole: DictConfig
    task_judge: TaskJudgeConfig


Source = str | Path | Mapping[str, Any] | DictConfig | Settings


def resolve(source: Source | None = None, overrides: Sequence[str] = ()) -> Settings:
    """Merge defaults, `source` and `overrides`, and validate; settings come back as they are. `source` is not changed.

    Args:
        source: a YAML file, or a configuration already read; None for the defaults alone.
        overrides: `key=value` pairs, values in YAML, such as `astuner.task_judge.rule_reward=-0.5`.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or its `astuner.task_judge` section is wrong.
    """
    if isinstance(source, Settings):
        if not overrides:
            return source
        source = source.whole
    for override in overrides:
        if not re.match(r"[^=\s]+=", override):
            raise ConfigError(f"an override must read key=value, got {override!r}")
        check_override(override.partition("=")[0])
    try:
        merged = OmegaConf.merge(OmegaConf.create({}), _read(source), OmegaConf.from_dotlist(list(overrides)))
        assert isinstance(merged, DictConfig)
        check_places(merged)
        return _completed(merged, read_section(TaskJudgeConfig, merged, SECTION))
    # OmegaConf raises a TypeError when a list is merged into a mapping, and YAML errors for an override's value
    except (OmegaConfBaseException, TypeError, yaml.YAMLError) as exc:
        raise ConfigError(f"cannot merge the configuration: {exc}") from exc


def with_section(config: Mapping[str, Any] | DictConfig, section: TaskJudgeConfig) -> Settings:
    """The settings of `config`, which is not changed, with `section` as its `astuner.task_judge`."""
    whole = config if isinstance(config, DictConfig) else OmegaConf.create(dict(config))
    room, name = SECTION.split(".")
    beside = OmegaConf.select(whole, room)
    known: dict[int, Any] = {}
    if isinstance(beside, DictConfig) and name in beside and not OmegaConf.is_interpolation(beside, name):
        # Make `deepcopy` treat this section as copied already: copying the parts of a combined judge costs time, and
        # the section is replaced below
        known[id(beside[name])] = AnyNode()
    return _completed(copy.deepcopy(whole, known), section)


def _completed(whole: DictConfig, section: TaskJudgeConfig) -> Settings:
    """The settings of `whole`, a copy of the caller's configuration, with `section` and its defaults put into it."""
    # The flag belongs to the caller's configuration
    OmegaConf.set_readonly(whole, False)
    # Judges read the whole configuration and expect our defaults in it
    with flag_override(whole, "no_deepcopy_set_nodes", True):
        OmegaConf.update(whole, SECTION, _nodes(section), merge=False, force_add=True)
    vars(whole)[_VALIDATED] = (repr(_plain(whole, SECTION)), section)
    return Settings(whole, section)


def _nodes(section: TaskJudgeConfig) -> DictConfig:
    """`section` with its defaults as OmegaConf nodes. A node is made anew only where the value is not the default."""
    defaults, pickled = _default_nodes(type(section))
    nodes: DictConfig = pickle.loads(pickled)
    with flag_override(nodes, "no_deepcopy_set_nodes", True):
        for key, value in section:
            if isinstance(value, dict) and any(isinstance(inner, TaskJudgeConfig) for inner in value.values()):
                nodes[key] = {name: _nodes(inner) for name, inner in value.items()}
            elif repr(value) != repr(getattr(defaults, key)):
                nodes[key] = value.model_dump() if isinstance(value, BaseModel) else value
    return nodes


@cache
def _default_nodes(kind: type[TaskJudgeConfig]) -> tuple[TaskJudgeConfig, bytes]:
    # Pickled: OmegaConf takes 5 ms to make these nodes, 0.3 ms to unpickle them, and a judge of parts has many
    defaults = kind()
    return defaults, pickle.dumps(OmegaConf.create(defaults.model_dump()))


def load_config(
    source: str | Path | Mapping[str, Any] | DictConfig | None = None, overrides: Sequence[str] = ()
) -> DictConfig:
    """The merged configuration, as judges receive it: `resolve` for callers who need only the configuration.

    Args:
        source: a YAML file, or a configuration already read; None for the defaults alone. It is not changed.
        overrides: `key=value` pairs, values in YAML, such as `astuner.task_judge.rule_reward=-0.5`.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or its `astuner.task_judge` section is wrong.
    """
    return resolve(source, overrides).whole


def task_judge_section(config: Mapping[str, Any] | DictConfig) -> TaskJudgeConfig:
    """The typed `astuner.task_judge` of `config`, with interpolations resolved; for judges, who receive the whole.

    What `resolve` validated is not validated again, unless it has been changed since.

    Raises:
        ConfigError: an unknown key, a wrong type or value, or an interpolation that cannot be resolved.
    """
    whole = config if isinstance(config, DictConfig) else OmegaConf.create(dict(config))
    validated = vars(whole).get(_VALIDATED)
    # repr, not ==: to Python `True` equals 1, which is no reward
    if validated is not None and validated[0] == repr(_plain(whole, SECTION)):
        section: TaskJudgeConfig = validated[1]
        return section
    check_places(whole)
    return read_section(TaskJudgeConfig, whole, SECTION)


def read_section(model: type[SectionT], config: DictConfig, where: str) -> SectionT:
    """The section `where`, such as `astuner.rollout`, as `model`, with interpolations resolved; absent, its defaults.

    Raises:
        ConfigError: an unknown key, a wrong type or value, a missing one, or an interpolation that cannot be resolved.
    """
    plain = _plain(config, where)
    return validate_section(model, {} if plain is None else plain, where)


def _plain(config: DictConfig, where: str) -> Any:
    try:
        section = OmegaConf.select(config, where)
        return OmegaConf.to_container(section, resolve=True) if isinstance(section, DictConfig) else section
    except OmegaConfBaseException as exc:
        raise ConfigError(f"cannot resolve {where}: {exc}") from exc


def _read(source: str | Path | Mapping[str, Any] | DictConfig | None) -> DictConfig:
    if source is None:
        return OmegaConf.create({})
    if isinstance(source, DictConfig):
        return source
    if isinstance(source, Mapping):
        return OmegaConf.create(dict(source))
    try:
        loaded = OmegaConf.load(source)
    except FileNotFoundError as exc:
        raise ConfigError(f"no configuration file {str(source)!r}") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"cannot read the configuration file {str(source)!r}: {exc}") from exc
    except yaml.YAMLError as exc:
        raise ConfigError(f"{str(source)!r} is not valid YAML: {exc}") from exc
    if not isinstance(loaded, DictConfig):
        raise ConfigError(f"{str(source)!r} must hold a mapping at its top, got {type(loaded).__name__}")
    return loaded
