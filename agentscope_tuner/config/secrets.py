"""A configuration as plain data, to show: keys, tokens and passwords in it are masked."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from agentscope_tuner.errors import told

_SECRET_KEY = re.compile(r"(^|_)(api_?)?(keys?|token|secrets?|passwords?|passwd|pwd|credentials?|authorization)$")
_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|-")
_MASK = "***"
# A shorter value that the configuration reads is no secret, and stands in many words
_LEAST_MASKED = 4


def _is_secret(key: str) -> bool:
    return _SECRET_KEY.search(_CAMEL_HUMP.sub("_", key).lower()) is not None


def masked(config: DictConfig, environment: Collection[str] = ()) -> dict[str, Any]:
    """`config` as plain data to show, with each likely secret replaced by `***`.

    Masked are all values under keys such as `api_key`, `*_token` or `password`. Where an environment variable has such
    a name, or is one of `environment` (see `Settings`), its value is masked in every string. See `plain_data`.

    Raises:
        ConfigError: an interpolation under `astuner` cannot be resolved.
    """
    secrets = [
        value
        for key, value in os.environ.items()
        if (_is_secret(key) and len(value) >= 8) or (key in environment and len(value) >= _LEAST_MASKED)
    ]
    return {key: _mask(key, value, secrets) for key, value in plain_data(config).items()}


def plain_data(config: DictConfig) -> dict[str, Any]:
    """`config` as plain data: `astuner` is resolved, other sections keep their interpolations, which only their own
    programs can resolve.

    Raises:
        ConfigError: an interpolation under `astuner` cannot be resolved.
    """
    plain = OmegaConf.to_container(config, resolve=False)
    assert isinstance(plain, dict)
    if isinstance(config.get("astuner"), DictConfig):
        with told("cannot resolve astuner", OmegaConfBaseException):
            plain["astuner"] = OmegaConf.to_container(config.astuner, resolve=True)
    return {str(key): value for key, value in plain.items()}


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
