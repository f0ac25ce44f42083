"""Reading a typed section: every problem at once, each with its key, its value and what is allowed."""

from __future__ import annotations

import difflib
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from agentscope_tuner.config.upstream_keys import UPSTREAM_KEYS
from agentscope_tuner.errors import ConfigError


class StrictSection(BaseModel):
    """Base of typed configuration sections: no unknown keys, no silent conversion of types, no change after load."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


_MAPPING = ("model_type", "dict_type")

SectionT = TypeVar("SectionT", bound=StrictSection)


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
        # pydantic's own messages for these errors name a Python class, or pydantic
        words = "must be a mapping of keys to values" if kind in _MAPPING else message.removeprefix("Value error, ")
        return f"{path}: {words[0].lower()}{words[1:]}, got {_short(value)}"
    if told := UPSTREAM_KEYS.get(str(loc[-1])):
        return f"{path}: unknown key; {told}"
    allowed = list(_model_at(model, loc[:-1]).model_fields)
    nearest = difflib.get_close_matches(str(loc[-1]), allowed, n=1)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return f"{path}: unknown key; {hint}allowed keys are {', '.join(allowed)}"


def _model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    names_entry = False
    for part in loc:
        field = None if names_entry else model.model_fields.get(str(part))
        names_entry = False
        if field is None:
            continue  # An index, the name of an entry, or a union's branch leads to no other model
        names_entry = get_origin(field.annotation) is dict
        for candidate in (field.annotation, *get_args(field.annotation)):
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                model = candidate
    return model


def _short(value: object, limit: int = 200) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
