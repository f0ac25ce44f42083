"""Finds all errors of a `rules` section, each with its place."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tuner.rules.custom import parameters_read
from agentscope_tuner.rules.handlers import RULE_HANDLERS, is_built_in
from agentscope_tuner.rules.kinds import KINDS, REQUIRED, Kind

COMMON_KEYS = ("id", "kind", "target", "action", "not")
ACTIONS = ("mark_bad", "record")


@dataclass(frozen=True)
class Problem:
    """One error of a `rules` section.

    Args:
        message: the error, with the wrong value and the allowed values.
        index: the rule's place in the section, from 0; None when the error belongs to no single rule.
        key: the key with the error; None when the error is in the whole rule, or a key is missing.
        rule_id: the rule's `id`, if it is a string.
    """

    message: str
    index: int | None = None
    key: str | None = None
    rule_id: str | None = None

    def describe(self, where: str) -> str:
        """The error in one line; `where` is the section's place in the configuration."""
        place = where if self.index is None else f"{where}[{self.index}]"
        name = f" ({self.rule_id!r})" if self.rule_id else ""
        return f"{place}{name}: {self.message}"


def plain(value: Any) -> Any:
    """A copy of `value` with dicts and lists as YAML has them, because OmegaConf's nodes are neither."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


def find_problems(rules: object, rule_modules: object = ()) -> list[Problem]:
    """All errors of a `rules` section (plain values), in order; a section without errors compiles.

    The modules are imported first, because they register custom kinds in `RULE_HANDLERS`.
    """
    problems = import_rule_modules(rule_modules)
    if not isinstance(rules, list):
        return [*problems, Problem(f"must be a list of rules, got {rules!r}")]
    first_use: dict[str, int] = {}
    for index, rule in enumerate(rules):
        if not isinstance(rule, dict):
            problems.append(Problem(f"must be a mapping with an id and a kind, got {rule!r}", index))
            continue
        rule_id = rule.get("id")
        name = rule_id if isinstance(rule_id, str) else None
        found = list(_rule_problems(rule))
        if name is not None and first_use.setdefault(name, index) != index:
            found.insert(0, ("id", f"id {name!r} is already the id of rule [{first_use[name]}]: ids must be unique"))
        problems += [Problem(message, index, key, name) for key, message in found]
    return problems


def import_rule_modules(names: object) -> list[Problem]:
    """Import the modules that register custom kinds; they may lie in the working directory, too."""
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        return [Problem(f"rule_modules must be a list of module names, got {names!r}", key="rule_modules")]
    problems = []
    if names and not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    for name in names:
        try:
            importlib.import_module(name)
        # boundary: the module is the user's code, and its import may raise anything
        except Exception as exc:  # noqa: BLE001
            message = f"rule_modules: {name!r} could not be imported: {type(exc).__name__}: {exc}"
            problems.append(Problem(message, key="rule_modules"))
    return problems


def _rule_problems(rule: dict[Any, Any]) -> Iterator[tuple[str | None, str]]:
    yield from _common_problems(rule)
    name = rule.get("kind")
    if "kind" not in rule:
        yield None, f"kind is missing: one of {_listed(RULE_HANDLERS)}"
    elif not isinstance(name, str) or name not in RULE_HANDLERS:
        yield "kind", f"unknown kind {name!r}{_nearest(name, RULE_HANDLERS)}: one of {_listed(RULE_HANDLERS)}"
    elif not callable(RULE_HANDLERS[name]):
        yield "kind", f"RULE_HANDLERS[{name!r}] must be a function of a rule and a text, got {RULE_HANDLERS[name]!r}"
    elif is_built_in(name):
        yield from _parameter_problems(rule, KINDS[name])
    elif (read := parameters_read(RULE_HANDLERS[name])) is not None:
        yield from _unknown_keys(rule, (*COMMON_KEYS, *sorted(read - {*COMMON_KEYS})), name)


def _common_problems(rule: dict[Any, Any]) -> Iterator[tuple[str | None, str]]:
    if "id" not in rule:
        yield None, "id is missing: every rule needs one, unique in its section"
    elif problem := _id_problem(rule["id"]):
        yield "id", f"id {problem}"
    target = rule.get("target", "output")
    if not is_target(target):
        hint = _nearest(target, ("output", "query"))
        yield "target", f"target must be output, query or metadata.<key>, got {target!r}{hint}"
    action = rule.get("action", "mark_bad")
    if action not in ACTIONS:
        yield "action", f"action must be one of {_listed(ACTIONS)}, got {action!r}{_nearest(action, ACTIONS)}"
    if not isinstance(rule.get("not", False), bool):
        yield "not", f"not must be true or false, got {rule['not']!r}"


def _id_problem(value: Any) -> str | None:
    if not isinstance(value, str) or not value:
        hint = ": put it in quotes" if isinstance(value, int | float) else ""
        return f"must be a string that is not empty, got {value!r}{hint}"
    if "," in value or value != value.strip() or not value.isprintable():
        # Result tables join ids with commas
        return f"must not hold commas, line breaks or white space at its ends, got {value!r}"
    return None


def is_target(target: Any) -> bool:
    if not isinstance(target, str):
        return False
    return target in ("output", "query") or (target.startswith("metadata.") and target != "metadata.")


def _parameter_problems(rule: dict[Any, Any], kind: Kind) -> Iterator[tuple[str | None, str]]:
    known = (*COMMON_KEYS, *(parameter.name for parameter in kind.parameters))
    sound = True
    for parameter in kind.parameters:
        if parameter.name in rule:
            problem = parameter.problem(rule[parameter.name])
            if problem is not None:
                sound = False
                yield parameter.name, f"{parameter.name} {problem}"
        elif parameter.default is REQUIRED:
            sound = False
            yield None, f"{parameter.name} is missing: {kind.name} needs it ({parameter.shape})"
    yield from _unknown_keys(rule, known, kind.name)
    if sound and (problem := kind.cross_check(rule)):
        yield None, problem


def _unknown_keys(rule: dict[Any, Any], known: Sequence[str], kind: str) -> Iterator[tuple[str | None, str]]:
    for key in rule:
        if key not in known:
            yield str(key), f"unknown key {key!r}{_nearest(key, known)}: {kind} takes {_listed(known)}"


def _nearest(value: Any, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(value, list(known), n=1) if isinstance(value, str) else []
    return f" (did you mean {close[0]!r}?)" if close else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
