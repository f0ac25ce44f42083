"""Checks rules on result tables: adds verdict columns to every row, or counts the verdicts of a checked table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.rules import RuleSet, Violation
from agentscope_tuner.rules.tables import TableRow, ending, open_table, replacing

# A cell of another program's table may list any number of rules, and the number of pairs grows with its square
_MOST_PAIRED = 64


@dataclass
class FlowTally:
    """Counts over the outputs of one flow, or of all flows.

    `unchecked` outputs have no verdict, so they count neither as `passed` nor as `failed`, nor in any share.
    """

    passed: int = 0
    failed: int = 0
    unchecked: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    together: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, passed: bool | None, violations: Sequence[str]) -> None:
        """Count one output: its verdict (None for no verdict) and the ids of the rules it broke."""
        if passed is None:
            self.unchecked += 1
            return
        self.passed += passed
        self.failed += not passed
        self.rules.update(violations)
        if 2 <= len(violations) <= _MOST_PAIRED:
            self.together.update(combinations(violations, 2))

    @property
    def total(self) -> int:
        """The number of outputs, including those without a verdict."""
        return self.passed + self.failed + self.unchecked

    @property
    def pass_rate(self) -> float | None:
        """The share of outputs with a verdict that passed, 0 to 1; None when there is no verdict."""
        return self.share(self.passed)

    def share(self, count: int) -> float | None:
        """`count` as a share of the outputs with a verdict; None when no output has a verdict."""
        checked = self.passed + self.failed
        return count / checked if checked else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the rules and pairs with the highest counts come first."""
        return {
            "total": self.total,
            "passed": self.passed,
            "failed": self.failed,
            "unchecked": self.unchecked,
            "pass_rate": self.pass_rate,
            "rules": {rule: {"count": count, "share": self.share(count)} for rule, count in self.rules.most_common()},
            "together": [{"rules": list(pair), "count": count} for pair, count in self.together.most_common()],
        }


@dataclass
class RuleTally:
    """Counts over a table by flow, and of all flows; the flow with an empty name is the plain output column."""

    rows: int = 0
    flows: dict[str, FlowTally] = field(default_factory=dict)
    overall: FlowTally = field(default_factory=FlowTally)

    def add(self, flow: str, passed: bool | None, violations: Sequence[str]) -> None:
        """Count one output of `flow`."""
        for tally in (self.flows.setdefault(flow, FlowTally()), self.overall):
            tally.add(passed, violations)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON. `flows` is left out for a table with only the plain output column, called ``output``."""
        counts: dict[str, Any] = {"rows": self.rows, **self.overall.to_dict()}
        if set(self.flows) - {""}:
            counts["flows"] = {flow or "output": tally.to_dict() for flow, tally in self.flows.items()}
        return counts


PASS = "rule_pass"
VIOLATIONS = "rule_violations"

OnProblem = Callable[[int, str], None]
"""Called with the line and the reason when an output gets no verdict."""
OnRow = Callable[[int, Callable[[], float]], None]
"""Called after every row, with the number of rows done and a function that returns the share of the file read."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A column of outputs: the plain output column (with an empty `name`), or the column of a named flow."""

    name: str
    output: str

    @property
    def suffix(self) -> str:
        """The ending of the names of the flow's columns."""
        return f"__{self.name}" if self.name else ""


def find_flows(columns: Sequence[str], output_column: str) -> tuple[Flow, ...]:
    """The output columns among `columns`: `output_column` itself, and every ``<output_column>__<flow>``."""
    prefix = f"{output_column}__"
    flows = [Flow("", output_column)] if output_column in columns else []
    named = (column for column in columns if column.startswith(prefix) and column != prefix)
    flows += [Flow(column.removeprefix(prefix), column) for column in named]
    return tuple(flows)


def check_table(
    infile: Path,
    outfile: Path,
    rules: RuleSet,
    *,
    output_column: str = "output",
    encoding: str = "utf-8",
    on_problem: OnProblem,
    on_row: OnRow,
) -> RuleTally:
    """Copy a table, adding ``rule_pass`` (1 or 0) and ``rule_violations`` (ids joined by commas) for each flow.

    An output has no verdict when its row is malformed, it is not text, or a rule could not be decided. Its row is kept,
    with both columns empty. `outfile` appears only when it is complete; it may be `infile`.

    Raises:
        ConfigError: a file cannot be read or written, or the table lacks the output column or a column that a rule
            reads.
    """
    if ending(infile) != ending(outfile):
        raise ConfigError(f"{outfile} must be the same kind of table as {infile}: the ending says which")
    checker = _RowChecker(rules, output_column, on_problem)
    with open_table(infile, encoding) as table, replacing(outfile) as partial:
        flows = None if table.columns is None else _flows_of(table.columns, output_column, rules)
        new_columns: dict[str, type] = {}
        for flow in flows or ():
            new_columns |= {PASS + flow.suffix: int, VIOLATIONS + flow.suffix: str}
        with table.writer(partial, new_columns) as write:
            for row in table.rows():
                own = flows if flows is not None else find_flows(tuple(row.values), output_column)
                write(row, checker.check(row, own))
                on_row(checker.tally.rows, table.share_read)
    return checker.tally


def count_table(infile: Path, *, encoding: str = "utf-8", on_problem: OnProblem, on_row: OnRow) -> RuleTally:
    """Count the verdicts of a table that `check_table` wrote.

    Raises:
        ConfigError: the file cannot be read, or has no ``rule_pass`` column.
    """
    tally = RuleTally()
    with open_table(infile, encoding) as table:
        flows = None if table.columns is None else find_flows(table.columns, PASS)
        for row in table.rows():
            tally.rows += 1
            own = flows if flows is not None else find_flows(tuple(row.values), PASS)
            if row.problem is not None:
                on_problem(row.line, row.problem)
            for flow in own or (Flow("", PASS),):
                tally.add(flow.name, *_verdict(row, flow, on_problem))
            on_row(tally.rows, table.share_read)
        if flows == () or (flows is None and tally.rows == tally.overall.unchecked):
            raise ConfigError(f"{infile} has no verdict in a column {PASS!r}: run `astuner rules run` over it first")
    return tally


def _verdict(row: TableRow, flow: Flow, on_problem: OnProblem) -> tuple[bool | None, list[str]]:
    try:
        value = row.values.get(flow.output)
        ids = row.values.get(VIOLATIONS + flow.suffix) or ""
    except JudgeError as exc:
        on_problem(row.line, str(exc))
        return None, []
    if value in (None, "") or not isinstance(ids, str):
        return None, []
    # pandas writes 1 as 1.0 in a column with empty cells
    passed = {"1": True, "0": False, "1.0": True, "0.0": False}.get(str(value))
    if passed is None:
        on_problem(row.line, f"{flow.output} must be 1 or 0, got {value!r}")
    return passed, ids.split(",") if ids else []


class _RowChecker:
    def __init__(self, rules: RuleSet, output_column: str, on_problem: OnProblem) -> None:
        self.tally = RuleTally()
        self._rules = rules
        self._output_column = output_column
        self._on_problem = on_problem
        self._other_targets = sorted(rules.targets - {"output"})

    def check(self, row: TableRow, flows: Sequence[Flow]) -> dict[str, Any]:
        """The new cells of one row; they are None without a verdict."""
        self.tally.rows += 1
        if (problem := row.problem) is None and not flows:
            problem = f"has no {self._output_column!r}"
        if problem is not None:
            self._on_problem(row.line, problem)
        added: dict[str, Any] = {}
        for flow in flows or (Flow("", self._output_column),):
            violations = None if problem else self._violations(row, flow)
            passed = None if violations is None else all(broken.action != "mark_bad" for broken in violations)
            ids = [broken.rule_id for broken in violations or ()]
            self.tally.add(flow.name, passed, ids)
            added[PASS + flow.suffix] = None if passed is None else int(passed)
            added[VIOLATIONS + flow.suffix] = None if passed is None else ",".join(ids)
        return added

    def _violations(self, row: TableRow, flow: Flow) -> tuple[Violation, ...] | None:
        try:
            output = _text(row.values, flow.output)
            others = {target: _text(row.values, target) for target in self._other_targets}
            metadata = {target.removeprefix("metadata."): text for target, text in others.items()}
            violations = self._rules.check(output, query=others.get("query", ""), metadata=metadata)
            for broken in violations:
                if broken.unfinished:
                    # A table measures the rules: what one of them could not decide is shown, and not counted
                    raise JudgeError(f"rule {broken.rule_id!r} {broken.unfinished}", cause=Cause.DEADLINE)
            return violations
        except JudgeError as exc:
            self._on_problem(row.line, f"{flow.output}: {exc}" if flow.name else str(exc))
            return None


def _text(values: Mapping[str, Any], name: str) -> str:
    """The text of a row under a column's name or a rule's target, such as `metadata.topic`.

    That target is looked for as the column `metadata.topic`, then `topic`, then as the field `topic` of the object
    `metadata`.

    Raises:
        JudgeError: the row has no such text.
    """
    key = name.removeprefix("metadata.")
    nested = values.get("metadata")
    if name in values:
        found = values[name]
    elif key in values:
        found = values[key]
    elif isinstance(nested, Mapping) and key in nested and key != name:
        found = nested[key]
    else:
        raise JudgeError(f"has no {name!r}")
    if not isinstance(found, str):
        raise JudgeError(f"{name!r} must be text, got {found!r}")
    return found


def _flows_of(columns: Sequence[str], output_column: str, rules: RuleSet) -> tuple[Flow, ...]:
    if not (flows := find_flows(columns, output_column)):
        raise ConfigError(
            f"the table has no column {output_column!r} or {output_column + '__<flow>'!r}; its columns are "
            f"{', '.join(map(repr, columns))}: name another with --output-column"
        )
    looked_at = [flow.output for flow in flows]
    for target in sorted(rules.targets - {"output"}):
        names = dict.fromkeys((target, target.removeprefix("metadata.")))
        if not (present := [name for name in names if name in columns]):
            raise ConfigError(
                f"a rule has target {target!r}, but the table has no column {' or '.join(map(repr, names))}"
            )
        looked_at += present[:1]
    for column in looked_at:
        if list(columns).count(column) > 1:
            raise ConfigError(f"column {column!r} stands in the header more than once")
    return flows
