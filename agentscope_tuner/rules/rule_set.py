"""Rules compiled once and checked on every output: `compile_rules`, `RuleSet`, `Violation`.

All mistakes of a `rules` section are found before, each with its place. The parameters of a custom kind are checked by
its handler.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal

from agentscope_tuner.errors import Cause, ConfigError, JudgeError, input_error
from agentscope_tuner.rules.kinds import KINDS, REQUIRED, RULE_HANDLERS, Check, Kind, RunawaySearch, is_built_in

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
            written = f": write - {{id: {rule}, kind: {rule}}}" if isinstance(rule, str) and rule.isidentifier() else ""
            problems.append(Problem(f"must be a mapping with an id and a kind, got {rule!r}{written}", index))
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
        yield None, f"kind is missing: one of {', '.join(RULE_HANDLERS)}"
    elif not isinstance(name, str) or name not in RULE_HANDLERS:
        yield "kind", f"unknown kind {name!r}{_nearest(name, RULE_HANDLERS)}: one of {', '.join(RULE_HANDLERS)}"
    elif not callable(RULE_HANDLERS[name]):
        yield "kind", f"RULE_HANDLERS[{name!r}] must be a function of a rule and a text, got {RULE_HANDLERS[name]!r}"
    elif is_built_in(name):
        yield from _parameter_problems(rule, KINDS[name])


def _common_problems(rule: dict[Any, Any]) -> Iterator[tuple[str | None, str]]:
    if "id" not in rule:
        yield None, "id is missing: every rule needs one, unique in its section"
    elif problem := _id_problem(rule["id"]):
        yield "id", f"id {problem}"
    target = rule.get("target", "output")
    if not is_target(target):
        hint = _nearest(target, ("output", "query")) or _as_column(target)
        yield "target", f"target must be output (the final answer), query or metadata.<key>, got {target!r}{hint}"
    if (action := rule.get("action", "mark_bad")) not in ACTIONS:
        yield "action", f"action must be one of {', '.join(ACTIONS)}, got {action!r}{_nearest(action, ACTIONS)}"
    if not isinstance(rule.get("not", False), bool):
        yield "not", f"not must be true or false, got {rule['not']!r}"


def _as_column(target: Any) -> str:
    """A hint for a wrong target that may be the name of a column: for `topic`, to write `metadata.topic`; empty for
    others.
    """
    named = isinstance(target, str) and target.isidentifier()
    if target in ("response", "completion", "final_answer"):
        return ": the policy's text is `output`"
    return f": for the column {target!r} write metadata.{target}" if named else ""


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
            if (problem := parameter.problem(rule[parameter.name])) is not None:
                sound = False
                yield parameter.name, f"{parameter.name} {problem}"
        elif parameter.default is REQUIRED:
            sound = False
            yield None, f"{parameter.name} is missing: {kind.name} needs it ({parameter.shape})"
    for key in rule:
        if key not in known:
            yield str(key), f"unknown key {key!r}{_nearest(key, known)}: {kind.name} takes {', '.join(known)}"
    if sound and (problem := kind.cross_check(rule)):
        yield None, problem


def _nearest(value: Any, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(value, list(known), n=1) if isinstance(value, str) else []
    return f" (did you mean {close[0]!r}?)" if close else ""


Action = Literal["mark_bad", "record"]


# The arguments of `compile_rules` as plain values: rules, rule_modules, where
_Source = tuple[list[dict[str, Any]], list[str], str]


@dataclass(frozen=True)
class Violation:
    """A rule that an output broke.

    Args:
        rule_id: the rule's `id`.
        action: ``mark_bad`` decides the verdict without asking the judge, ``record`` only notes the violation.
        unfinished: empty for a rule that was checked. Otherwise how the output kept its check from ending: an output
            must not be able to take its low verdict away, so it counts as breaking the rule.
    """

    rule_id: str
    action: Action
    unfinished: str = ""


@dataclass(frozen=True, slots=True)
class _CompiledRule:
    rule: dict[str, Any]
    target: str
    on_output: bool
    negated: bool
    check: Check
    violation: Violation


class RuleSet:
    """The compiled rules of one configuration; `compile_rules` makes it.

    A pickle holds the rules as plain data, and unpickling compiles them again. So the kinds that they name must be
    registered in the other process, too.

    Attributes:
        targets: the texts that the rules read: ``output``, ``query``, ``metadata.<key>``; empty without rules.
    """

    def __init__(self, rules: Sequence[_CompiledRule], source: _Source) -> None:
        self._rules = tuple(rules)
        self._source = source
        self.targets = frozenset(map(attrgetter("target"), rules))

    def __len__(self) -> int:
        return len(self._rules)

    def __reduce__(self) -> tuple[Any, ...]:
        return _compile, self._source

    @property
    def ids(self) -> tuple[str, ...]:
        """The rules' ids, in order."""
        return tuple(rule.violation.rule_id for rule in self._rules)

    def check(self, output: str, *, query: str = "", metadata: Mapping[str, Any] = {}) -> tuple[Violation, ...]:
        """The violations of all rules, in the order of the configuration; empty when the texts keep every rule.

        Args:
            output: the final answer, which rules with ``target: output`` read.
            query: the text that rules with ``target: query`` read.
            metadata: the values that rules with ``target: metadata.<key>`` read; such a value must be a string.

        Raises:
            JudgeError: a rule could not be decided, and the output is not to blame. Its metadata key is missing or no
                string, its handler raised or did not return True or False, its pattern never ends on the query, or the
                process is too busy.
        """
        violations = []
        for rule in self._rules:
            text = output if rule.on_output else _text_of(rule, query, metadata)
            try:
                if rule.check(text) is not rule.negated:
                    violations.append(rule.violation)
            except RunawaySearch as exc:
                problem = f"did not finish: pattern {rule.rule.get('pattern')!r} {exc}"
                if rule.target == "query":
                    raise JudgeError(f"rule {rule.violation.rule_id!r} {problem}", cause=Cause.DEADLINE) from exc
                violations.append(replace(rule.violation, unfinished=problem))
            # boundary: a custom handler is the user's code and may raise anything; a search may run out of time
            except Exception as exc:
                cause, problem = _failure(rule, text, exc)
                raise JudgeError(f"rule {rule.violation.rule_id!r} {problem}", cause=cause) from exc
        return tuple(violations)


def compile_rules(
    rules: Sequence[Mapping[str, Any]], *, rule_modules: Sequence[str] = (), where: str = "rules"
) -> RuleSet:
    """Compile a `rules` section.

    Args:
        rules: the rules, each a mapping with `id`, `kind`, the kind's parameters, and optionally `target` (``output``
            unless given), `action` (``mark_bad`` unless given) and `not` (false unless given).
        rule_modules: modules to import first, because they register custom kinds in `RULE_HANDLERS`.
        where: the section's place in the configuration, for messages.

    Raises:
        ConfigError: the section has errors; the message lists all of them.
    """
    if not rules and not rule_modules:
        return RuleSet((), ([], [], where))
    return _compile(plain(rules), plain(rule_modules), where)


def all_of(where: str, told: Sequence[str]) -> ConfigError:
    """One error that lists all problems of the section at `where`; `told` are the problems, a line each."""
    count = "1 problem" if len(told) == 1 else f"{len(told)} problems"
    return ConfigError("\n- ".join([f"{where} has {count}:", *told]))


def _compile(rules: list[dict[str, Any]], rule_modules: list[str], where: str) -> RuleSet:
    if problems := find_problems(rules, rule_modules):
        raise all_of(where, [problem.describe(where) for problem in problems])
    return RuleSet([_compile_rule(rule) for rule in rules], (rules, rule_modules, where))


def _compile_rule(rule: dict[str, Any]) -> _CompiledRule:
    kind: str = rule["kind"]
    target: str = rule.get("target", "output")
    return _CompiledRule(
        rule=rule,
        target=target,
        on_output=target == "output",
        negated=rule.get("not", False),
        check=KINDS[kind].compile(rule) if is_built_in(kind) else _custom_check(kind, rule),
        violation=Violation(rule["id"], rule.get("action", "mark_bad")),
    )


def _custom_check(kind: str, rule: dict[str, Any]) -> Check:
    handler = RULE_HANDLERS[kind]
    own = plain(rule)  # A handler may change its rule, so it gets a copy

    def check(text: str) -> bool:
        violated: object = handler(own, text)
        if not isinstance(violated, bool):
            # A handler without a `return` gives None, which must not count as "no violation"
            raise TypeError(f"a handler must return True (a violation) or False, got {violated!r}")
        return violated

    return check


def _failure(rule: _CompiledRule, text: str, exc: Exception) -> tuple[Cause, str]:
    if rule.rule["kind"] == "regex_match" and isinstance(exc, TimeoutError):
        return Cause.DEADLINE, f"did not finish on a text of {len(text)} characters: {exc}"
    return Cause.BUG, f"(kind {rule.rule['kind']!r}) raised {type(exc).__name__}: {exc}"


def _text_of(rule: _CompiledRule, query: str, metadata: Mapping[str, Any]) -> str:
    if rule.target == "query":
        return query
    if (key := rule.target.removeprefix("metadata.")) not in metadata:
        raise input_error(
            f"rule {rule.violation.rule_id!r} looks at {rule.target}, which is missing: metadata has "
            f"{', '.join(map(repr, metadata)) or 'no keys'}"
        )
    value = metadata[key]
    if not isinstance(value, str):
        raise input_error(f"rule {rule.violation.rule_id!r} reads {rule.target} as text, got {value!r}")
    return value
