"""Rules compiled once and checked on every output: `compile_rules`, `RuleSet`, `Violation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.rules.checks import CHECKS, Check
from agentscope_tuner.rules.handlers import RULE_HANDLERS, is_built_in
from agentscope_tuner.rules.patterns import search_seconds
from agentscope_tuner.rules.problems import find_problems, plain

Action = Literal["mark_bad", "record"]


# The arguments of `compile_rules` as plain values: rules, rule_modules, where
_Source = tuple[list[dict[str, Any]], list[str], str]


@dataclass(frozen=True)
class Violation:
    """A rule that an output broke.

    Args:
        rule_id: the rule's `id`.
        action: ``mark_bad`` decides the verdict without asking the judge, ``record`` only notes the violation.
    """

    rule_id: str
    action: Action


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
    """

    def __init__(self, rules: Sequence[_CompiledRule], source: _Source) -> None:
        self._rules = tuple(rules)
        self._source = source

    def __len__(self) -> int:
        return len(self._rules)

    def __reduce__(self) -> tuple[Any, ...]:
        return _compile, self._source

    @property
    def ids(self) -> tuple[str, ...]:
        """The rules' ids, in order."""
        return tuple(rule.violation.rule_id for rule in self._rules)

    @property
    def targets(self) -> frozenset[str]:
        """The texts that the rules read: ``output``, ``query``, ``metadata.<key>``."""
        return frozenset(rule.target for rule in self._rules)

    def check(self, output: str, *, query: str = "", metadata: Mapping[str, Any] = {}) -> tuple[Violation, ...]:
        """The violations of all rules, in the order of the configuration; empty when the texts keep every rule.

        Args:
            output: the final answer, which rules with ``target: output`` read.
            query: the text that rules with ``target: query`` read.
            metadata: the values that rules with ``target: metadata.<key>`` read; such a value must be a string.

        Raises:
            JudgeError: a rule could not be decided, which never counts as a violation. Its pattern ran out of time, its
                metadata key is missing or not a string, or its handler raised or did not return True or False.
        """
        violations = []
        for rule in self._rules:
            text = output if rule.on_output else _text_of(rule, query, metadata)
            try:
                if rule.check(text) is not rule.negated:
                    violations.append(rule.violation)
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
    return _compile(plain(rules), plain(rule_modules), where)


def _compile(rules: list[dict[str, Any]], rule_modules: list[str], where: str) -> RuleSet:
    problems = find_problems(rules, rule_modules)
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = "".join(f"\n- {problem.describe(where)}" for problem in problems)
        raise ConfigError(f"{where} has {count}:{lines}")
    return RuleSet([_compile_rule(rule) for rule in rules], (rules, rule_modules, where))


def _compile_rule(rule: dict[str, Any]) -> _CompiledRule:
    kind: str = rule["kind"]
    target: str = rule.get("target", "output")
    return _CompiledRule(
        rule=rule,
        target=target,
        on_output=target == "output",
        negated=rule.get("not", False),
        check=CHECKS[kind](rule) if is_built_in(kind) else _custom_check(kind, rule),
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
        return Cause.DEADLINE, (
            f"did not finish: pattern {rule.rule.get('pattern')!r} took more than {search_seconds(text):.3f} s of CPU "
            f"time on a text of {len(text)} characters"
        )
    return Cause.BUG, f"(kind {rule.rule['kind']!r}) raised {type(exc).__name__}: {exc}"


def _text_of(rule: _CompiledRule, query: str, metadata: Mapping[str, Any]) -> str:
    if rule.target == "query":
        return query
    key = rule.target.removeprefix("metadata.")
    if key not in metadata:
        raise JudgeError(
            f"rule {rule.violation.rule_id!r} looks at {rule.target}, which is missing: metadata has "
            f"{', '.join(map(repr, metadata)) or 'no keys'}",
            cause=Cause.INPUT,
        )
    value = metadata[key]
    if not isinstance(value, str):
        raise JudgeError(
            f"rule {rule.violation.rule_id!r} reads {rule.target} as text, got {value!r}", cause=Cause.INPUT
        )
    return value
