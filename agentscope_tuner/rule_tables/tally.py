"""Counts the verdicts and violations of a table, one row at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

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
        if passed:
            self.passed += 1
        else:
            self.failed += 1
        if not violations:
            return
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
    """Counts over a table by flow; the flow with an empty name is the plain output column."""

    rows: int = 0
    flows: dict[str, FlowTally] = field(default_factory=dict)

    def add(self, flow: str, passed: bool | None, violations: Sequence[str]) -> None:
        """Count one output of `flow`."""
        if flow not in self.flows:
            self.flows[flow] = FlowTally()
        self.flows[flow].add(passed, violations)

    @property
    def overall(self) -> FlowTally:
        """The counts of all flows together."""
        whole = FlowTally()
        for flow in self.flows.values():
            whole.passed += flow.passed
            whole.failed += flow.failed
            whole.unchecked += flow.unchecked
            whole.rules.update(flow.rules)
            whole.together.update(flow.together)
        return whole

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON. `flows` is left out for a table with only the plain output column, called ``output``."""
        counts: dict[str, Any] = {"rows": self.rows, **self.overall.to_dict()}
        if set(self.flows) - {""}:
            counts["flows"] = {flow or "output": tally.to_dict() for flow, tally in self.flows.items()}
        return counts
