"""Counts of rules on a terminal, and as a bar chart."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from agentscope_tuner.errors import ConfigError, install
from agentscope_tuner.rule_tables.tally import FlowTally, RuleTally

_MOST_PAIRS = 10


def tally_report(tally: RuleTally, title: str) -> RenderableType:
    """Verdicts (per flow where there are flows), each rule's count and share, and the rules that fire together."""
    verdicts = Table(title=escape(title), title_justify="left")
    for name in ("", "total", "passed", "failed", "unchecked", "pass rate"):
        verdicts.add_column(name, justify="right" if name else "left")
    _add_verdicts(verdicts, "all" if set(tally.flows) - {""} else "outputs", tally.overall)
    if set(tally.flows) - {""}:
        for flow, counts in tally.flows.items():
            _add_verdicts(verdicts, flow or "output", counts)
    parts: list[RenderableType] = [verdicts]
    if tally.overall.rules:
        parts.append(_rule_table(tally))
    if tally.overall.together:
        pairs = Table("rule", "together with", "count", title="fire together", title_justify="left")
        for (first, second), count in tally.overall.together.most_common(_MOST_PAIRS):
            pairs.add_row(escape(first), escape(second), str(count))
        parts.append(pairs)
    return Group(*parts)


def _add_verdicts(table: Table, name: str, counts: FlowTally) -> None:
    rate = _percent(counts.pass_rate)
    table.add_row(escape(name), str(counts.total), str(counts.passed), str(counts.failed), str(counts.unchecked), rate)


def _rule_table(tally: RuleTally) -> Table:
    flows = sorted(set(tally.flows) - {""}) and list(tally.flows)
    table = Table("rule", "count", "share", *(escape(flow or "output") for flow in flows), title_justify="left")
    for rule, count in tally.overall.rules.most_common():
        per_flow = (str(tally.flows[flow].rules[rule]) for flow in flows)
        table.add_row(escape(rule), str(count), _percent(tally.overall.share(count)), *per_flow)
    return table


def _percent(share: float | None) -> str:
    return "no verdicts" if share is None else f"{share:.1%}"


def plot_tally(tally: RuleTally, path: Path) -> None:
    """Write a bar chart of each rule's count, a bar a flow; PNG or SVG by the ending of `path`.

    Raises:
        ConfigError: another ending, matplotlib is not installed, or the file cannot be written.
    """
    if path.suffix.lower() not in (".png", ".svg"):
        raise ConfigError(f"--plot must end in .png or .svg, got {str(path)!r}")
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise ConfigError(f"--plot needs matplotlib: {install('report')}") from None
    rules = [rule for rule, _ in tally.overall.rules.most_common()]
    flows = list(tally.flows)
    figure = Figure(figsize=(8, 1.5 + 0.4 * max(len(rules), 1) * max(len(flows), 1)), layout="constrained")
    axes = figure.subplots()
    height = 0.8 / max(len(flows), 1)
    for place, flow in enumerate(flows):
        positions = [index + place * height for index in range(len(rules))]
        bars = axes.barh(positions, [tally.flows[flow].rules[rule] for rule in rules], height, label=flow or "output")
        axes.bar_label(bars, padding=3)
    axes.set_yticks([index + 0.4 - height / 2 for index in range(len(rules))], rules)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("outputs that break the rule")
    axes.set_title(f"{tally.overall.failed} of {tally.overall.passed + tally.overall.failed} outputs fail")
    if len(flows) > 1:
        axes.legend()
    try:
        figure.savefig(path)
    except OSError as exc:
        raise ConfigError(f"cannot write {str(path)!r}: {exc}") from exc
