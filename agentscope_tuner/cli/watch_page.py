"""What `astuner watch` shows: the last steps, the alarms, and what is known at the end."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from agentscope_tuner.cli.agree import number
from agentscope_tuner.cli.console import out, printable
from agentscope_tuner.insight.watch.run_watch import Alarm, RunWatch
from agentscope_tuner.insight.watch.second_opinion import SecondOpinion
from agentscope_tuner.insight.watch.step_stats import StepStats

SHOWN_STEPS = 12


def page(shown: list[tuple[StepStats, list[Alarm]]], found: RunWatch) -> Group:
    """The table of the last steps, with alarms below it."""
    names = ("step", "rows", "reward", "success", "flat groups", "failed", "filtered", "length", "repeated", "novelty")
    table = Table(*names)
    for stats, alarms in shown:
        flat = ", ".join(f"{count} {why}" for why, count in stats.flat.items())
        shares = number(stats.failed), number(stats.filtered), f"{stats.length:.0f}", number(stats.repeated)
        rewards = number(stats.reward), number(stats.success), f"{flat or 0} of {stats.groups}"
        style = "red" if alarms else ""
        table.add_row(f"{stats.step:g}", str(stats.rows), *rewards, *shares, number(stats.novelty), style=style)
    said = [printable(f"step {alarm.step:g}: {alarm.monitor}: {alarm.message}") for alarm in found.alarms]
    return Group(table, *(Text(line, style="red") for line in said[-SHOWN_STEPS:]))


def conclude(found: RunWatch) -> None:
    """Print what is known of the whole run."""
    opinion = found.second_opinion
    if found.last is None:
        out.print("there are no rows")
    elif opinion is None:
        out.print("no second opinion was asked for: monitors warn, and cannot tell gaming from learning")
    elif found.gamed:
        out.print(Text(opinion.message(), style="bold red"))
    else:
        _not_gamed(opinion)


def _not_gamed(opinion: SecondOpinion) -> None:
    test = opinion.test
    unanswered = f"; {opinion.unanswered} more got no second opinion" if opinion.unanswered else ""
    if opinion.unanswered and not test.rows:
        out.print(f"not known: none of {opinion.unanswered} sampled passes got a second opinion")
        return
    out.print(
        f"not shown to be gamed: the second opinion refuses {test.false} of {test.rows} sampled passes"
        f"{unanswered}; the evidence is {test.evidence:.0%} of what an alarm takes"
    )
