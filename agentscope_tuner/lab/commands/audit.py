"""`astuner audit`: a red team for the configured judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer
from rich.table import Table

from agentscope_tuner.cli.console import Exit, cell, config_errors, fail, number, out, span, table
from agentscope_tuner.cli.options import Conf, Format, Json, Map, Overrides, conversion, mapped, source_lines
from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.lab.audit.run import AttackResult, StrategyResult, attacked, scoreboard
from agentscope_tuner.lab.audit.subjects import subjects_of
from agentscope_tuner.records.reader import Row, parse_tasks
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.loading import load_judge

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
    map_: Map = None,
    as_json: Json = False,
) -> None:
    """Attack the judge on your own tasks: what wrong answers pass, what right ones fail, what a policy would learn."""
    with config_errors():
        settings = mapped(conf, overrides, map_)
        judge = ConfiguredJudge(settings, logs=False)
        if judge.listwise:
            raise ConfigError(f"{judge.name} ranks whole groups: an audit asks about one answer at a time")
        keys = load_judge(settings).inner.reference_keys
        with source_lines(input_) as (lines, name):
            rows = parse_tasks(conversion(settings, format_, map_, responses=False).all(lines))
            subjects = subjects_of((_read(row, judge) for row in rows), judge, keys, limit)
    results, played = attacked(judge, subjects, pass_at), scoreboard(judge, subjects)
    if as_json:
        found = {"attacks": [each.to_dict() for each in results], "strategies": [each.to_dict() for each in played]}
        print(json.dumps({"judge": judge.name, "tasks": len(subjects), "form": subjects[0].form, **found}))
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
        raise typer.Exit(Exit.FOUND)


def _read(row: Row, judge: ConfiguredJudge) -> Row:
    """The row with its task as the judge reads it."""
    if row.rollout is None:
        return row
    try:
        read = judge.read(row.rollout.task)
    except JudgeError as exc:
        return replace(row, rollout=None, problem=exc.message)
    return replace(row, rollout=row.rollout.model_copy(update={"task": read}))


def _attack_table(results: Sequence[AttackResult], title: str, must: str) -> Table:
    wrong = "passed" if must == "fail" else "refused"
    found = table(title, "attack", "answers", wrong, "rate", "95 %", "no verdict", "seconds")
    for result in results:
        style = "red" if result.false else ""
        counts = f"{result.answers:,}", f"{result.false:,}"
        rates = number(result.rate), span(result.interval)
        found.add_row(result.name, *counts, *rates, f"{result.no_verdict:,}", f"{result.seconds:.2f}", style=style)
    return found


def _print_worst(results: Sequence[AttackResult]) -> None:
    found = table("for example", "attack", "row", "reference", "answer", "reward", "reason")
    for result in results:
        for example in result.worst[:1]:
            texts = example["id"], example["reference"] or "", example["answer"]
            reward = number(example["reward"])
            found.add_row(result.name, *map(cell, texts), reward, cell(example["reason"]))
    if found.rows:
        out.print(found)


def _board(played: Sequence[StrategyResult]) -> Table:
    board = table("what a policy would learn", "strategy", "mean reward", "success", "of honest", "")
    for result in played:
        style = "red" if result.alarming else "green" if result.honest else ""
        note = "pays nearly as well as honest work" if result.alarming else ""
        numbers = number(result.reward), number(result.success), number(result.of_honest)
        board.add_row(result.name, *numbers, note, style=style)
    return board
