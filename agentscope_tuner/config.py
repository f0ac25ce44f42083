"""Configuration: OmegaConf over YAML, with one typed and strict section, `astuner.task_judge`.

Layers, later ones win: defaults < file < `key=value` overrides. Every other section (`rollout`, `data`, `trinity`,
`verl`, `hydra`, `defaults` …) passes through untouched: real training YAMLs carry them, and judges receive the whole.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from agentscope_tuner.errors import ConfigError

SECTION = "astuner.task_judge"


class StrictSection(BaseModel):
    """Base of typed configuration sections: no unknown keys, no silent conversion of types, no change after load."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


SectionT = TypeVar("SectionT", bound=StrictSection)


def _empty_list_for_null(value: object) -> object:
    # `rules:` with every rule commented out reads as null and means no rules
    return [] if value is None else value


class MathConfig(StrictSection):
    """`astuner.task_judge.math`: how MathAnswerAsJudge compares."""

    equivalence: Literal["symbolic", "exact"] = "symbolic"
    # worker processes of the symbolic stage, shared by the process's judges
    workers: int = Field(default=1, ge=1, le=256)
    # CPU seconds that the symbolic stage may take over one answer
    deadline: float = Field(default=0.5, gt=0, le=3600)
    # an answer that nobody can check within the bounds: 0.0 with its reason, or a JudgeError
    on_undecided: Literal["zero", "error"] = "zero"


class TaskJudgeConfig(StrictSection):
    """`astuner.task_judge`: which judge, and the rules that run before it."""

    # what logs and trainers' metrics call the judge; by default its class
    name: str | None = Field(default=None, pattern=r"^[\w.-]{1,64}$")
    # its metrics, for trainers that take the same ones of every sample; by default those its class names
    metric_names: list[str] | None = None
    judge_type: Literal["customized_protocol", "rubrics_auto_grader"] = "customized_protocol"
    judge_protocol: str | None = None
    judge_kwargs: dict[str, Any] = Field(default_factory=dict)
    rules: Annotated[list[dict[str, Any]], BeforeValidator(_empty_list_for_null)] = Field(default_factory=list)
    rule_modules: list[str] = Field(default_factory=list)
    rule_reward: float = 0.0
    on_error: Literal["raise", "zero"] = "raise"
    math: MathConfig = Field(default_factory=MathConfig)
    rubrics_auto_grader: dict[str, Any] = Field(default_factory=dict)


def load_config(
    source: str | Path | Mapping[str, Any] | DictConfig | None = None, overrides: Sequence[str] = ()
) -> DictConfig:
    """Merge defaults, `source` and `overrides` into a new config; `source` itself is never changed.

    Args:
        source: a YAML file, or a configuration already read; None for the defaults alone.
        overrides: `key=value` pairs, values in YAML, such as `astuner.task_judge.rule_reward=-0.5`.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or its `astuner.task_judge` section is wrong.
    """
    for override in overrides:
        if not re.match(r"[^=\s]+=", override):
            raise ConfigError(f"an override must read key=value, got {override!r}")
    try:
        merged = OmegaConf.merge(OmegaConf.create({}), _read(source), OmegaConf.from_dotlist(list(overrides)))
        assert isinstance(merged, DictConfig)
        section = task_judge_section(merged)
        # judges read the whole config: they find our defaults in it too
        OmegaConf.set_readonly(merged, False)  # a copy by now: the caller's flag is for the caller's config
        OmegaConf.update(merged, SECTION, section.model_dump(), merge=False, force_add=True)
    # OmegaConf says TypeError of a list merged into a mapping, and lets the YAML of an override fail as YAML
    except (OmegaConfBaseException, TypeError, yaml.YAMLError) as exc:
        raise ConfigError(f"cannot merge the configuration: {exc}") from exc
    return merged


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


def task_judge_section(config: Mapping[str, Any] | DictConfig) -> TaskJudgeConfig:
    """The typed `astuner.task_judge` of `config`, with interpolations resolved.

    Raises:
        ConfigError: an unknown key, a wrong type or value, or an interpolation that cannot be resolved.
    """
    whole = config if isinstance(config, DictConfig) else OmegaConf.create(dict(config))
    _check_neighbours(whole)
    return read_section(TaskJudgeConfig, whole, SECTION)


def read_section(model: type[SectionT], config: DictConfig, where: str) -> SectionT:
    """The section `where`, such as `astuner.rollout`, as `model`, with interpolations resolved; absent, its defaults.

    Raises:
        ConfigError: an unknown key, a wrong type or value, a missing one, or an interpolation that cannot be resolved.
    """
    try:
        section = OmegaConf.select(config, where)
        plain = OmegaConf.to_container(section, resolve=True) if isinstance(section, DictConfig) else section
    except OmegaConfBaseException as exc:
        raise ConfigError(f"cannot resolve {where}: {exc}") from exc
    return validate_section(model, {} if plain is None else plain, where)


def _check_neighbours(config: DictConfig) -> None:
    """`astuner` is a mapping, and none of its keys is a misspelt `task_judge`; other keys belong to other programs."""
    ours = config.get("astuner") if not OmegaConf.is_missing(config, "astuner") else None
    if ours is None:
        return
    if not isinstance(ours, DictConfig):
        raise ConfigError(f"astuner must be a mapping that holds task_judge, got {ours!r}")
    misspelt = difflib.get_close_matches("task_judge", [str(key) for key in ours], n=1, cutoff=0.8)
    if "task_judge" not in ours and misspelt:
        raise ConfigError(f"astuner.{misspelt[0]}: unknown key; did you mean 'task_judge'?")


def validate_section(model: type[SectionT], data: Any, where: str) -> SectionT:
    """Read `data` as `model`; every problem is reported at once, by its full key under `where`.

    Raises:
        ConfigError: naming each key, its value, and the allowed keys or values.
    """
    try:
        return model.model_validate(data)
    except ValidationError as exc:
        problems = [
            _problem(model, error["loc"], error["type"], error["msg"], error["input"]) for error in exc.errors()
        ]
        lines = [f"{where}.{problem}" if problem[0] != ":" else f"{where}{problem}" for problem in problems]
        raise ConfigError("\n".join(lines)) from exc


def _problem(model: type[BaseModel], loc: tuple[int | str, ...], kind: str, message: str, value: object) -> str:
    path = ".".join(str(part) for part in loc)
    if kind != "extra_forbidden":
        return f"{path}: {message[0].lower()}{message[1:]}, got {_short(value)}"
    allowed = list(_model_at(model, loc[:-1]).model_fields)
    nearest = difflib.get_close_matches(str(loc[-1]), allowed, n=1)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return f"{path}: unknown key; {hint}allowed keys are {', '.join(allowed)}"


def _model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    for part in loc:
        field = model.model_fields.get(str(part))
        if field is None:
            continue  # an index, or a union's branch: the model stays
        for candidate in (field.annotation, *get_args(field.annotation)):
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                model = candidate
    return model


def _short(value: object, limit: int = 200) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


_SECRET_KEY = re.compile(r"(^|_)(api_?)?(keys?|token|secrets?|passwords?|passwd|pwd|credentials?|authorization)$")
_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|-")
_MASK = "***"


def _is_secret(key: str) -> bool:
    return _SECRET_KEY.search(_CAMEL_HUMP.sub("_", key).lower()) is not None


def masked(config: DictConfig) -> dict[str, Any]:
    """`config` as plain data to show to people, with what looks like a secret replaced by `***`.

    Masked are values under keys such as `api_key`, `*_token` or `password`, whatever they hold, and in every string the
    value of an environment variable so named. `astuner` is resolved; other sections keep their interpolations, which
    only their own programs can resolve.

    Raises:
        ConfigError: an interpolation under `astuner` cannot be resolved.
    """
    plain = OmegaConf.to_container(config, resolve=False)
    assert isinstance(plain, dict)
    if isinstance(config.get("astuner"), DictConfig):
        try:
            plain["astuner"] = OmegaConf.to_container(config.astuner, resolve=True)
        except OmegaConfBaseException as exc:
            raise ConfigError(f"cannot resolve astuner: {exc}") from exc
    secrets = [value for key, value in os.environ.items() if _is_secret(key) and len(value) >= 8]
    return {str(key): _mask(str(key), value, secrets) for key, value in plain.items()}


def _mask(key: str, value: Any, secrets: Sequence[str]) -> Any:
    if value is None or value == "":
        return value
    if _is_secret(key):
        return _MASK
    if isinstance(value, dict):
        return {str(name): _mask(str(name), inner, secrets) for name, inner in value.items()}
    if isinstance(value, list):
        return [_mask(key, inner, secrets) for inner in value]
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, _MASK)
        return re.sub(r"(?<=://)[^/@\s]+@", f"{_MASK}@", value)
    return value
