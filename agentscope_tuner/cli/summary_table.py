"""The summary table at the end of a run."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from agentscope_tuner.cli.console import printable
from agentscope_tuner.errors import Cause
from agentscope_tuner.records import Summary

_MOST_FAILURES = 5
_REASON_CHARS = 300
# 0 means that the endpoint's prices are not configured, not that calls are free
_WITHOUT_PRICES = ("judge_cost",)


def summary_table(
    summary: Summary, seconds: float, *, title: str, more: Iterable[tuple[str, str]] = (), kept: int = 0
) -> Table:
    """Rows by status, mean reward, success rate, violations by rule, commonest failures, `more`, rows per second.

    `kept` of the rows are an earlier run's. This run did not judge them, so its rate leaves them out.
    """
    table = Table(title=escape(title), show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    judged = summary.rows - kept
    table.add_row("rows", f"{summary.rows}: {kept} kept, {judged} judged" if kept else str(summary.rows))
    for status, style in (("judged", "green"), ("filtered", "yellow"), ("failed", "red")):
        count = summary.statuses[status]
        table.add_row(status, f"[{style}]{count}[/]" if count else "0")
    table.add_row("mean reward", _number(summary.mean_reward))
    table.add_row("success rate", _share(summary.success_rate))
    if summary.labelled:
        table.add_row("agrees with label", f"{summary.agreed} of {summary.labelled}")
    for rule, count in summary.violations.most_common():
        table.add_row(f"rule {_cell(rule)}", str(count))
    for cause, count in summary.causes.most_common():
        table.add_row(f"failed: {cause}", str(count))
    for reason, count in summary.failures.most_common(_MOST_FAILURES):
        table.add_row(f"failed x{count}", _cell(reason))
    for metric, (rows, rewards) in sorted(summary.means.items()):
        table.add_row(_cell(metric.replace("/", " ", 1)), f"{rows:,.0f} rows, mean {rewards / rows:.4f}")
    for metric, total in summary.usage.items():
        if metric not in _WITHOUT_PRICES or total:
            table.add_row(_cell(metric.replace("_", " ")), f"{total:,.6g}" if total % 1 else f"{total:,.0f}")
    if cost := summary.usage.get("judge_cost"):
        table.add_row("judge cost a row", f"{cost / summary.rows:,.4g}")
    for heading, value in more:
        table.add_row(_cell(heading), _cell(value))
    rate = judged / seconds
    if judged or not kept:
        table.add_row("rows per second", f"{rate:,.0f}" if rate >= 10 else f"{rate:.2f}")
    return table


def example_table(summary: Summary) -> Table:
    """One row of each status, reward and kind of reason."""
    table = Table(title="for example", title_justify="left")
    for heading in ("row", "status", "reward", "reason"):
        table.add_column(heading, overflow="fold")
    for name, judgement in summary.examples.values():
        reward = "none" if judgement.reward is None else f"{judgement.reward:g}"
        # The error of a judge that raised names the file and the line
        why = judgement.error if judgement.cause is Cause.BUG else None
        table.add_row(_cell(name), judgement.status, reward, _cell(why or judgement.reason))
    return table


def _cell(text: str) -> str:
    # Escape twice: rich reads brackets as markup, and a terminal obeys control characters
    shown = text if len(text) <= _REASON_CHARS else f"{text[:_REASON_CHARS]}…"
    return escape(printable(shown))


def _number(value: float | None) -> str:
    return "no verdicts" if value is None else f"{value:.4f}"


def _share(value: float | None) -> str:
    return "no verdicts" if value is None else f"{value:.1%}"
