"""A configuration that is safe to show: its secrets are masked."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from agentscope_tuner.errors import ConfigError

_SECRET_KEY = re.compile(r"(^|_)(api_?)?(keys?|token|secrets?|passwords?|passwd|pwd|credentials?|authorization)$")
_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|-")
_MASK = "***"


def _is_secret(key: str) -> bool:
    return _SECRET_KEY.search(_CAMEL_HUMP.sub("_", key).lower()) is not None


def masked(config: DictConfig) -> dict[str, Any]:
    """`config` as plain data to show, with each likely secret replaced by `***`.

    Masked are all values under keys such as `api_key`, `*_token` or `password`. Where an environment variable has such
    a name, its value is masked in every string. `astuner` is resolved; other sections keep their interpolations, which
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
