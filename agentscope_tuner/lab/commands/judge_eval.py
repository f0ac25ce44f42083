"""`astuner judge-eval`: measures an LLM judge against people, itself, length, position and attacks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import MofNCompleteColumn

from agentscope_tuner._run import loops
from agentscope_tuner.cli.console import (
    Exit,
    config_errors,
    err,
    measure,
    number,
    out,
    printable,
    progress,
    say,
    span,
    table,
)
from agentscope_tuner.cli.options import Conf, Format, Json, Map, Overrides, conversion, mapped, source_lines
from agentscope_tuner.config import SECTION, Settings
from agentscope_tuner.lab.judge_eval import AsksModels, JudgeEval, asked_anew
from agentscope_tuner.lab.labels import Labelled, read_labelled
from agentscope_tuner.task_judge.contract.loading import load_judge

_LABELS = (
    "Labelled answers: rollouts with label: {score} or {is_success}, or the samples that rubrics are learned from; of "
    "other rows --map score=label.score names the label's column."
)
_ATTACKED = "Try the whole injection set on so many of the answers with the lowest labels."
_DRY_RUN = "Say how many verdicts it takes, and ask for none."
_TEXT_CHARS = 80


def judge_eval(
    conf: Conf,
    labels: Annotated[str, typer.Option("--labels", help=_LABELS)],
    overrides: Overrides = None,
    format_: Format = None,
    map_: Map = None,
    attacked: Annotated[int, typer.Option("--attacked", min=0, help=_ATTACKED)] = 1,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Read only the first N rows.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)] = False,
    as_json: Json = False,
) -> None:
    """Measure an LLM judge on labelled answers, without the cache. Exit code 3: half of the verdicts failed."""
    with config_errors():
        settings = _in_the_order_given(conf, overrides or (), map_)
        judge = load_judge(settings)
        inner = asked_anew(judge)
        answers = _labelled(labels, settings, format_, map_, inner.response_path, limit)
        with progress(MofNCompleteColumn()) as shown:
            bar = shown.add_task("verdicts")
            subject = JudgeEval(
                judge,
                answers,
                inner.response_path,
                top=inner.top_score,
                concurrency=settings.task_judge.concurrency,
                done=lambda: shown.advance(bar),
            )
            expected = subject.verdicts(attacked)
            shown.update(bar, total=expected)
            if dry_run:
                out.print(f"{len(answers)} labelled answers, about {expected:,} verdicts; nothing was sent")
                return
            report = loops.run(subject.run(attacked))
        report |= _spent(inner)
    if as_json:
        print(json.dumps({"labels": labels, **report}))
    else:
        _show(report, Path(labels).name)
    if 2 * report["failed"] >= report["answers"]:
        err.print("half of the verdicts failed: the figures mean nothing", style="bold red")
        raise typer.Exit(Exit.ROWS_FAILED)


def _labelled(
    source: str,
    settings: Settings,
    format_: str | None,
    pairs: Sequence[str] | None,
    response_path: str,
    limit: int | None,
) -> list[Labelled]:
    with source_lines(source) as (lines, _):
        rows = conversion(settings, format_, pairs).all(lines) if format_ or pairs else lines
        return read_labelled(rows, source, response_path, limit)


def _spent(judge: AsksModels) -> dict[str, float]:
    usage = [model.usage for model in judge.judge_models]
    return {"calls": sum(one.calls for one in usage), "cost": sum(one.cost for one in usage)}


def _show(report: dict[str, Any], name: str) -> None:
    title = f"{name}: {report['answers']} answers to {report['groups']} tasks, {report['failed']} without a verdict"
    found = table(title, "measure", "value", "95 % interval")
    position = report["position"] or {}
    measures = {
        **{f"agrees with people: {metric.replace('_', ' ')}": value for metric, value in report["agreement"].items()},
        "asked twice: the same reward": report["self_consistency"]["same"],
        "asked twice: mean difference": report["self_consistency"]["difference"],
        "length: rank correlation with the reward": report["length"]["reward_follows"],
        "length: rank correlation with the label": report["length"]["label_follows"],
        "length: the answer said twice moves the reward by": report["length"]["said_twice"],
        "position: pairs in another order when swapped": position.get("reordered"),
        "position: standing first earns": position.get("first_place_earns"),
    }
    for words, value in measures.items():
        if value is not None:
            found.add_row(words, number(value["value"]), span(value["interval"]))
    if not position:
        found.add_row("position", "none", "one answer is shown at a time")
    out.print(found)
    if report["attacks"]["on"]:
        _show_attacks(report["attacks"])
    cost = f", cost {report['cost']:.4g}" if report["cost"] else ""
    out.print(f"{report['calls']:,} calls{cost}")


def _show_attacks(found: dict[str, Any]) -> None:
    title = f"the injection set on the {found['on']} worst answers; {found['failed']} without a verdict"
    attacks = table(title, "attack", "texts", "raised the reward", "moved it by")
    for kind, moved in (*found["kinds"].items(), ("all", found["all"])):
        attacks.add_row(kind, str(moved["texts"]), measure(moved["raised"]), measure(moved["shift"]))
    out.print(attacks)
    for one in found["worst"]:
        text = " ".join(printable(one["text"]).split())[-_TEXT_CHARS:]
        say(f"{one['shift']:+.3f} {one['kind']}: …{text}")


def _in_the_order_given(conf: str, overrides: Sequence[str], pairs: Sequence[str] | None) -> Settings:
    """Settings that show groups as they come, for what a place is worth is measured by changing the order."""
    settings = mapped(conf, overrides, pairs)
    if settings.task_judge.judge_type in ("llm", "pairwise"):
        settings = mapped(conf, [f"{SECTION}.llm.shuffle_seed=null", *overrides], pairs)
    return settings
