"""`astuner audit`: a red team for the configured judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from agentscope_tuner.cli.agree import Format, cell, number, span
from agentscope_tuner.cli.config import Conf, Overrides
from agentscope_tuner.cli.console import EXIT_FOUND, config_errors, fail, folded, out
from agentscope_tuner.cli.sources import rollout_lines, source_lines
from agentscope_tuner.config import resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.insight.audit.run import AttackResult, attacked
from agentscope_tuner.insight.audit.scoreboard import StrategyResult, scoreboard
from agentscope_tuner.insight.audit.subjects import subjects_of
from agentscope_tuner.records.task_rows import parse_tasks
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.protocol import load_judge

_INPUT = "Tasks or rollouts to attack the judge with: the more like the training data, the better."
_FAIL_OVER = "Exit code 1 when any attack passes more often than this share of its answers; 0.0 for none at all."
_PASS_AT = "An answer counts as passed from this reward on, or where the judge calls it a success."


def audit(
    conf: Conf,
    input_: Annotated[str, typer.Option("--input", help=_INPUT)],
    overrides: Overrides = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Tasks to use, the first ones.")] = 50,
    pass_at: Annotated[float, typer.Option("--pass-at", help=_PASS_AT)] = 0.5,
    fail_over: Annotated[float | None, typer.Option("--fail-over", min=0.0, max=1.0, help=_FAIL_OVER)] = None,
    format_: Format = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Attack the judge on your own tasks: what wrong answers pass, what right ones fail, what a policy would learn."""
    with config_errors():
        settings = resolve(conf, overrides or ())
        judge = ConfiguredJudge(settings, logs=False)
        if judge.listwise:
            raise ConfigError(f"{judge.name} ranks whole groups: an audit asks about one answer at a time")
        keys = load_judge(settings).inner.reference_keys
        with source_lines(input_) as (lines, name):
            rows = parse_tasks(rollout_lines(lines, format_, None))
            subjects = subjects_of(rows, judge, keys, limit)
    results, played = attacked(judge, subjects, pass_at), scoreboard(judge, subjects)
    if as_json:
        print(json.dumps(_report(judge.name, subjects[0].form, len(subjects), results, played)))
    else:
        out.print(
            f"{cell(judge.name)} on {len(subjects)} tasks of {cell(name)}; answers are given as {subjects[0].form}"
        )
        for must, title in (("fail", "answers that must fail"), ("pass", "right answers that must pass")):
            out.print(_attack_table([result for result in results if result.must == must], title, must))
        _print_worst(results)
        out.print(_board(played))
    if fail_over is None:
        return
    rates = [result.rate for result in results if result.must == "fail" and result.rate is not None]
    if not rates:
        raise fail("the judge has no verdict on any of the answers that must fail: nobody knows what it passes")
    if any(rate > fail_over for rate in rates):
        raise typer.Exit(EXIT_FOUND)


def _report(
    judge: str, form: str, tasks: int, results: Sequence[AttackResult], played: Sequence[StrategyResult]
) -> dict[str, Any]:
    return {
        "judge": judge,
        "tasks": tasks,
        "form": form,
        "attacks": [result.to_dict() for result in results],
        "strategies": [result.to_dict() for result in played],
    }


def _attack_table(results: Sequence[AttackResult], title: str, must: str) -> Table:
    wrong = "passed" if must == "fail" else "refused"
    table = Table(
        "attack", "answers", wrong, "rate", "95 %", "no verdict", "seconds", title=title, title_justify="left"
    )
    for result in results:
        style = "red" if result.false else ""
        counts = f"{result.answers:,}", f"{result.false:,}"
        rates = number(result.rate), span(result.interval)
        table.add_row(result.name, *counts, *rates, f"{result.no_verdict:,}", f"{result.seconds:.2f}", style=style)
    return folded(table)


def _print_worst(results: Sequence[AttackResult]) -> None:
    table = Table("attack", "row", "reference", "answer", "reward", "reason", title="for example", title_justify="left")
    for result in results:
        for example in result.worst[:1]:
            texts = example["id"], example["reference"] or "", example["answer"]
            reward = number(example["reward"])
            table.add_row(result.name, *map(cell, texts), reward, cell(example["reason"]))
    if table.rows:
        out.print(folded(table))


def _board(played: Sequence[StrategyResult]) -> Table:
    table = Table("strategy", "mean reward", "success", "of honest", "", title="what a policy would learn")
    table.title_justify = "left"
    for result in played:
        style = "red" if result.alarming else "green" if result.honest else ""
        note = "pays nearly as well as honest work" if result.alarming else ""
        numbers = number(result.reward), number(result.success), number(result.of_honest)
        table.add_row(result.name, *numbers, note, style=style)
    return folded(table)
