"""Typed sections of a configuration: what is refused in them, and what to write instead.

Every problem of a section is told at once, by its full key, with the nearest key that is known.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from agentscope_tuner.errors import ConfigError

#: By key: its effect here, and the key to write instead.
UPSTREAM_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "alien_llm_model": "upstream it names the model that a judge of your own may ask; write "
        "rubrics_auto_grader.model_name for AutoGraderJudge, or judge_kwargs.model_name and read it in your judge",
        "alien_llm_response_length": "upstream it limits that model's reply in tokens; write "
        "rubrics_auto_grader.client.max_tokens, or a key of your own under judge_kwargs",
        "sampling_mode": "upstream it says which samples rubrics are learned from; here all that are not held out are "
        "tried, `batch_size` at a time, until `patience` ends it: remove it",
        "generate_number": "upstream it is how many rubrics are proposed for a sample; write "
        "query_specific_generate_number",
        "max_retries": "upstream it is how often a call is tried again; write client.max_retries, or leave it out: "
        "calls are tried again until client.deadline_seconds",
        "aggregation_mode": "upstream it says what becomes of the proposals; write enable_categorization: true to "
        "merge them into categories, false to keep all",
    }
)
# Settings of ours that stand in another place, by their names
_ELSEWHERE = {
    "second_opinion": "it stands beside task_judge: write astuner.second_opinion",
    "stop_when_failing": "it is an argument of the trainer's adapter, as in reward_func(CONF, stop_when_failing=False)",
    "grace": "it is an option of `astuner judge`: write --grace",
    "combined": "the judges that a combined judge asks stand under astuner.task_judge.parts, each by a name of yours",
    "routed": "the judges that a routed judge asks stand under astuner.task_judge.routes, beside `by`",
    **{
        key: f"a judge model's settings stand in the judge's section, such as astuner.task_judge.llm.{key}"
        for key in ("model_name", "base_url", "api_key", "prompt")
    },
    **{key: f"it is the judge model's: write client: {{{key}: …}}" for key in ("temperature", "max_tokens")},
}


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


def unshelled(path: str | None) -> str | None:
    """The path, if it does not begin with `~` and names no variable such as `$HOME`: no shell replaces them in a
    configuration.

    Raises:
        ValueError: it begins with `~`, or names a variable.
    """
    if path is not None and re.match(r"~|.*\$[A-Za-z_]", path, re.DOTALL):
        raise ValueError("no shell replaces ~ or $NAME here: write the whole path, or ${oc.env:NAME}")
    return path


def _problem(model: type[BaseModel], loc: tuple[int | str, ...], kind: str, message: str, value: object) -> str:
    path = ".".join(str(part) for part in loc)
    if kind == "missing":
        return f"{path} is missing{_choices(_model_at(model, loc[:-1]), str(loc[-1]))}"
    if kind != "extra_forbidden":
        # pydantic's own messages for these errors name a Python class, or pydantic
        words = message.removeprefix("Value error, ")
        if kind in _MAPPING:
            inner = _model_at(model, loc)
            named = "" if inner is _model_at(model, loc[:-1]) else f", of {', '.join(inner.model_fields)}"
            words = f"must be a mapping of keys to values{named}{_MAPPINGS.get(re.sub('[.][0-9]+$', '.0', path), '')}"
        elif kind == "string_pattern_mismatch" and (field := _field_at(model, loc)) is not None and field.description:
            words = f"must be {field.description}"
        elif kind == "list_type":
            words = _a_list(path, value)
        glued = re.fullmatch(r"(\w+)(:|：\s*)(\S.*)", value) if isinstance(value, str) and kind in _MAPPING else None
        behind = f": write '{glued[1]}: {glued[3]}', with a space and a plain colon" if glued else ""
        if kind in _MAPPING and loc[:1] in (("parts",), ("routes",)):
            words, behind = "must be a mapping", f": write {path}: {json.dumps(_part(loc, value))}"
        number = re.match(r"\d+(\.\d+)?", value) if isinstance(value, str) else None
        if number is not None and kind.startswith(("float_", "int_")):
            behind = f": write {number[0]}, without a unit"
        # what is said of a whole section names the keys that it is about
        got = f", got {_short(value)}" if loc or kind != "value_error" else ""
        return f"{path}: {words[0].lower()}{words[1:]}{got}{behind}"
    if told := UPSTREAM_KEYS.get(str(loc[-1])) or _ELSEWHERE.get(str(loc[-1])):
        return f"{path}: unknown key; {told}"
    allowed = [field.alias or name for name, field in _model_at(model, loc[:-1]).model_fields.items()]
    key = str(loc[-1])
    nearest = _near_keys(model, loc, allowed)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    if "parts" in allowed and isinstance(value, Mapping) and {"judge", "judge_protocol", "weight"} & value.keys():
        hint = f"of several judges each stands under parts: write parts: {{{key}: …}}; "
    elif "judge_kwargs" in allowed and not nearest:
        hint = "most judges have their settings in judge_kwargs; "
    return f"{path}: unknown key; {hint}allowed keys are {', '.join(allowed)}"


def _near_keys(model: type[BaseModel], loc: tuple[int | str, ...], allowed: list[str]) -> list[str]:
    """The known keys that may be meant by the unknown key at `loc`, the likeliest first: `model_name` for `model`."""
    key = str(loc[-1])
    # `model` is `model_name`, not `models`
    nearest = [name for name in allowed if name == f"{key}_name"] or difflib.get_close_matches(key, allowed, n=1)
    # what most programs call a timeout
    nearest += [name for name in allowed if key.startswith("timeout") and name.startswith("deadline")]
    nearest += [f"{name}.{key}" for name in allowed if key in _model_at(model, (*loc[:-1], name)).model_fields]
    return nearest


def _part(loc: tuple[int | str, ...], value: object) -> dict[str, Any]:
    """An example to write for the parts of a combined judge, or for one part: `{"judge": "math", "weight": 0.8}` for
    `math: 0.8`.
    """
    if len(loc) == 1:
        return {"a_name": {"judge": "math"}}
    # `math: 0.8` gives the judge by its part's name, and its weight
    is_weight = isinstance(value, int | float) and not isinstance(value, bool)
    return {"judge": str(loc[-1]), "weight": value} if is_weight else {"judge": value}


#: By key: an example of its mapping.
_MAPPINGS = {
    "": ", such as judge: math",
    "math": ", such as math: {answer_in: [boxed, hash]}",
    "reads": ", such as reads: {answer: COLUMN}",
    "rules.0": ", such as {id: filled, kind: non_empty}",
    "llm": ", such as llm: {model_name: MODEL, base_url: URL}",
}


def _a_list(path: str, value: object) -> str:
    """The message that the value at `path` must be a list. If `rules` is a mapping by id, it shows the
    list to write.
    """
    if path != "rules" or not isinstance(value, Mapping) or not all(isinstance(one, Mapping) for one in value.values()):
        return "must be a list, in YAML a line `- …` for each entry"
    entries = [{"id": name, **entry} for name, entry in value.items()]
    return f"must be a list: write {path}: {json.dumps(entries, ensure_ascii=False, default=str)}"


def _choices(model: type[BaseModel], name: str) -> str:
    """The end of a message on a key: its allowed values if there are few, else its description if it has one."""
    field = model.model_fields.get(name)
    if field is None or get_origin(field.annotation) is not Literal:
        return f": {field.description}" if field is not None and field.description else ""
    return f": one of {', '.join(map(repr, get_args(field.annotation)))}"


def _field_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> FieldInfo | None:
    return _model_at(model, loc[:-1]).model_fields.get(str(loc[-1]))


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
