"""`astuner judge --dry-run`: estimates the cost of judging, without sending any request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from agentscope_tuner.cli.console import printable
from agentscope_tuner.engines.judging import LineJudge
from agentscope_tuner.engines.scored_line import JudgedBefore
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.reckoning import Estimate, Reckoner
from agentscope_tuner.records import Line

_MOST_PROBLEMS = 5
_REASON_CHARS = 160


class DryRun:
    """Counts over the rows that would be judged.

    Attributes:
        rows: how many there are.
        kept: rows that an earlier run judged.
        uncalled: rows that rules decide, or that cannot be read.
        failed: rows that would fail before any model is asked.
        problems: why rows would fail, and how often.
        unknown: rows whose judge cannot estimate its calls.
        total: the estimated use of the other rows.
    """

    def __init__(self) -> None:
        self.rows = self.kept = self.uncalled = self.failed = self.unknown = 0
        self.problems: Counter[str] = Counter()
        self.total = Estimate()

    def add(self, judge: LineJudge, lines: Iterable[Line | JudgedBefore]) -> None:
        """Estimate what judging `lines` would use."""
        reckoner = Reckoner()
        for unit in judge.units(lines):
            self.rows += len(unit.items)
            if unit.results is not None:
                self.kept += len(unit.items)
                continue
            try:
                asked, estimate = judge.estimate(unit.items, reckoner)
            except JudgeError as exc:
                self.failed += len(unit.items)
                self.problems[exc.message[:_REASON_CHARS]] += len(unit.items)
                continue
            self.uncalled += len(unit.items) - asked
            self.total += estimate
            self.unknown += 0 if estimate.complete else asked

    def table(self, title: str) -> Table:
        """The counts as a table, to be printed."""
        table = Table(title=escape(title), show_header=False, title_justify="left")
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        least, most = self.total.least, self.total.most
        kept = f", {self.kept} judged before" if self.kept else ""
        table.add_row("rows", f"{self.rows}{kept}")
        table.add_row("settled uncalled", f"{self.uncalled} by rules, or unreadable")
        for problem, count in self.problems.most_common(_MOST_PROBLEMS):
            table.add_row(f"fail uncalled x{count}", escape(printable(problem)))
        if self.unknown:
            table.add_row(
                "not known", f"{self.unknown} rows: their judge does not say what it asks (BaseJudge.estimate)"
            )
        table.add_row("calls", _span(least.calls, most.calls))
        table.add_row("cache hits", _span(least.cache_hits, most.cache_hits))
        table.add_row("prompt tokens", "about " + _span(least.prompt_tokens, most.prompt_tokens))
        table.add_row("reply tokens", "about " + _span(least.completion_tokens, most.completion_tokens))
        table.add_row("cost", self._cost(least, most))
        if self.total.priced and most.cost:
            rows = max(1, self.rows - self.kept)
            table.add_row("cost a row", _money(least.cost / rows, most.cost / rows))
        return table

    def _cost(self, least: Usage, most: Usage) -> str:
        if not most.calls:
            return "0"
        if not self.total.priced:
            return "not known: client.prices has no {prompt, completion} per million tokens"
        return "about " + _money(least.cost, most.cost)


def _span(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _money(least: float, most: float) -> str:
    return f"{least:,.4g}" if least == most else f"{least:,.4g} to {most:,.4g}"
