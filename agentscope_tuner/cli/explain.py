"""`astuner explain`: one verdict part by part, or how the math judge reads and compares one answer, stage by stage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from agentscope_tuner.cli.console import Exit, config_errors, fail, out, say
from agentscope_tuner.cli.options import Format, Json, Map, Overrides, conversion, mapped, source_lines
from agentscope_tuner.cli.rendering import readings, row_tree, stages_table, verdict_on
from agentscope_tuner.config import SECTION
from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.records.reader import Line, parse_line
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.verify.find import stated_elsewhere
from agentscope_tuner.verify.math.unwrap import Pair
from agentscope_tuner.verify.math.verdict import prepared
from agentscope_tuner.verify.sandbox import DEADLINE, shared
from agentscope_tuner.workflow import Rollout, WorkflowTask

# A command of TeX whose backslash a shell took away
_NO_BACKSLASH = re.compile(r"(?<![\\A-Za-z])(?:[dt]?frac|sqrt|boxed|text)(?=\{)")
# Where no row has the id that was asked for
_IDS_NAMED = 3

_REFERENCE = "The reference answer: bare, in dollar signs, in a box, or a GSM8K solution."
_QUESTION = "The task's question: a copy of it is no answer, and its words may be units."


def explain(
    overrides: Overrides = None,
    conf: Annotated[str | None, typer.Option("--conf", help="The YAML whose judge judges a row of --input.")] = None,
    input_: Annotated[str | None, typer.Option("--input", help="Rollouts as JSON lines; - for standard input.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="The row to judge; by default the first.")] = None,
    format_: Format = None,
    map_: Map = None,
    reference_text: Annotated[str | None, typer.Option("--reference", help=_REFERENCE)] = None,
    answer: Annotated[str | None, typer.Option("--answer", help="The answer, or an output with a box or ####.")] = None,
    deadline: Annotated[float, typer.Option("--deadline", min=0.001, help="CPU seconds of symbolic math.")] = DEADLINE,
    question: Annotated[str | None, typer.Option("--question", help=_QUESTION)] = None,
    as_json: Json = False,
) -> None:
    """Explain one verdict: the rules, each stage, each part, skipped parts, and the cost.

    Give --conf and --input (and --id) for a row; or --reference and --answer, to see what the math judge reads in both,
    and every stage of their comparison. Exit code 0 whatever the verdict.
    """
    if conf is not None and input_ is not None:
        if reference_text is not None or answer is not None:
            raise fail("--reference and --answer name a pair, --conf and --input a row: give one of the two")
        with config_errors():
            settings = mapped(conf, overrides, map_)
            judge = load_judge(settings)
            with source_lines(input_) as (lines, _):
                rows = conversion(settings, format_, map_).all(lines)
                group, place = _rows(rows, id_, ranks=judge.traits.ranks)
        try:
            _explain(judge, group, place, as_json=as_json)
        except JudgeError as exc:
            raise fail(str(exc), code=Exit.ROWS_FAILED) from exc
    elif reference_text is not None and answer is not None and conf is None and input_ is None:
        _compare(reference_text, answer, deadline, question, as_json=as_json)
    else:
        raise fail("give --conf and --input, or --reference and --answer")


def _explain(judge: TaskJudge, group: Sequence[Rollout], place: int, *, as_json: bool) -> None:
    """Judge a row of its group and print what was found.

    Raises:
        JudgeError: the row lacks what the judge reads.
    """
    if as_json:
        outputs, task = [each.output for each in group], WorkflowTask(task=judge.read(group[0].task))
        judged = judge.judge_group(task, outputs) if judge.traits.ranks else [judge.judge(task, outputs[place])]
        print(json.dumps({"id": group[place].id, **judged[place if judge.traits.ranks else 0].to_dict()}))
    else:
        out.print(row_tree(judge, group, place))


def _rows(lines: Iterable[Line], id_: str | None, *, ranks: bool) -> tuple[list[Rollout], int]:
    """The row to explain, with the other rows of its group if the judge ranks, and its position among them.

    The row is the one with the id `id_`, or the first if that is None. A group is consecutive rows of one task.

    Raises:
        ConfigError: there is no such row, or the first cannot be read.
    """
    group: list[Rollout] = []
    place: int | None = None
    first: list[str] = []
    for line in lines:
        row = parse_line(line)
        if row.rollout is None:
            if id_ is None and place is None:
                raise ConfigError(f"{row.where}: {row.problem}")
            continue
        if not (ranks and group and row.rollout.task.task_id == group[-1].task.task_id != ""):
            if place is not None:
                break
            group = []
        group.append(row.rollout)
        if len(first) < _IDS_NAMED:
            first.append(repr(row.rollout.id))
        if place is None and id_ in (None, row.rollout.id):
            place = len(group) - 1
            if not ranks:
                break
    if place is None:
        named = f" with the id {id_!r}: the first are {', '.join(first) or 'none'}" if id_ is not None else ""
        raise ConfigError(f"--input holds no row{named}")
    return group, place


def _compare(reference_text: str, answer: str, deadline: float, question: str | None, *, as_json: bool) -> None:
    sandbox = shared(1, deadline)
    try:
        verdict, text = verdict_on(answer, reference_text, question, sandbox)
        if as_json:
            print(json.dumps({"outcome": verdict.outcome, "stage": verdict.stage, "reason": verdict.reason}))
            return
        pair = Pair.of(*prepared(text, reference_text, question))
        shown = [*readings(pair), stages_table(pair, sandbox)] if verdict.stage != "place" else []
    except JudgeError as exc:
        raise fail(str(exc)) from exc
    out.print(*shown, sep="\n", soft_wrap=True)
    if "\\boxed" not in answer:
        place = stated_elsewhere(answer, ["boxed"])
        read = {"hash": "after ####", "tag": "between its <answer> tags"}.get(place or "", "as if it stood in a box")
        setting = f"write math: {{answer_in: [boxed, {place}]}} under {SECTION}, or " if place else ""
        unread = "by default a judge gives 0 to a response without \\boxed{}"
        say(f"note: the answer is read {read}; {unread}: {setting}ask for the box in the prompt")
    out.print(f"{verdict.outcome}: {verdict.reason}", markup=False, soft_wrap=True)
    for option, given in (("--reference", reference_text), ("--answer", answer)):
        if bare_command := _NO_BACKSLASH.search(given):
            command = bare_command.group()
            say(f"note: {option} has {command} without a backslash, as a shell removes it: quote it, '\\{command}…'")
