"""How commands print verdicts: the summary of a run, one comparison of the math judge, trees of judges.

A tree shows a configured judge with its parts and routes, or one verdict with its rules, stages, parts and costs.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from agentscope_tuner.cli.console import cell, counted, out, printable, say, table
from agentscope_tuner.config import PartConfig, TaskJudgeConfig, task_judge_section
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.combined.settings import Part, PartVerdicts
from agentscope_tuner.task_judge.combined_judge import CombinedJudge
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import JUDGES_BY_TYPE
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.task_judge.math_answer_as_judge import ELSEWHERE, MathAnswerAsJudge
from agentscope_tuner.task_judge.routed_judge import RoutedJudge
from agentscope_tuner.verify.find import Place, PlacedAnswer, find_answer
from agentscope_tuner.verify.math.node import Number, Quotient, Symbol
from agentscope_tuner.verify.math.place import judge_place
from agentscope_tuner.verify.math.readings import Side, Value
from agentscope_tuner.verify.math.tokens import TooComplex
from agentscope_tuner.verify.math.unwrap import Pair
from agentscope_tuner.verify.math.verdict import STAGES, WORKER_STAGES, MathVerdict, compare, run_stage
from agentscope_tuner.verify.sandbox import Sandbox, shared
from agentscope_tuner.workflow import Rollout, WorkflowOutput, WorkflowTask

_MOST_FAILURES = 5
_STATUS_STYLES = {"judged": "green", "filtered": "yellow", "failed": "red"}
# 0 means that the endpoint's prices are not configured, not that calls are free
_WITHOUT_PRICES = ("judge_cost",)
_READING_CHARS = 400


def print_summary(
    summary: Summary,
    seconds: float,
    *,
    title: str,
    more: Iterable[tuple[str, str]] = (),
    kept: int = 0,
    notes: Iterable[str] = (),
    as_json: bool = False,
) -> None:
    """Print what a run found: one row of each status, reward and kind of reason, the totals, and what to set.

    Args:
        summary: the counts.
        seconds: what the run took, in wall-clock time.
        title: what was read and written.
        more: further names and values.
        kept: how many of the rows are an earlier run's. This run did not judge them, so its rate leaves them out.
        notes: what the user should know, or set.
        as_json: all of it as one JSON object.
    """
    if as_json:
        told = {**summary.to_dict(), **dict(more), "mean_reward": summary.mean_reward, "notes": list(notes)}
        print(json.dumps({"run": title, "seconds": round(seconds, 3), "kept": kept, **told}))
        return
    if summary.rows:
        out.print(_example_table(summary))
    # a line of its own: a title is as narrow as its table
    say(title)
    found = table("")
    judged = summary.rows - kept
    found.add_row("rows", f"{summary.rows}: {kept} kept, {judged} judged" if kept else str(summary.rows))
    for status, style in _STATUS_STYLES.items():
        count = summary.statuses[status]
        found.add_row(status, f"[{style}]{count}[/]" if count else "0")
    rate = judged / seconds
    shown = "" if kept and not judged else f"{rate:,.0f}" if rate >= 10 else f"{rate:.2f}"
    for heading, value in (*_totals(summary), *more, *([("rows per second", shown)] if shown else [])):
        found.add_row(cell(heading), cell(value))
    out.print(found)
    for note in notes:
        say(f"note: {note}")


def _totals(summary: Summary) -> Iterator[tuple[str, str]]:
    """Mean reward, success rate, violations by rule, causes, commonest failures, parts and usage."""
    means = ("mean reward", summary.mean_reward, ".4f"), ("success rate", summary.success_rate, ".1%")
    for heading, mean, form in means:
        yield heading, "no verdicts" if mean is None else format(mean, form)
    if summary.labelled:
        yield "agrees with label", f"{summary.agreed} of {summary.labelled}"
    yield from ((f"0.0, but {mark}", str(count)) for mark, count in summary.marks.most_common() if count)
    yield from ((f"rule {rule}", str(count)) for rule, count in summary.violations.most_common())
    yield from ((f"failed: {cause}", str(count)) for cause, count in summary.causes.most_common())
    for why, count in summary.failures.most_common(_MOST_FAILURES):
        place = summary.first_places.get(why)
        yield f"failed x{count}", f"{why} ({'first ' if count > 1 else ''}{place})" if place else why
    for metric, (rows, rewards) in sorted(summary.means.items()):
        # `judge` says of these answers what to set
        if not metric.startswith(ELSEWHERE):
            yield metric.replace("/", " ", 1), f"{rows:,.0f} rows, mean {rewards / rows:.4f}"
    for metric, total in summary.usage.items():
        if metric not in _WITHOUT_PRICES or total:
            yield metric.replace("_", " "), f"{total:,.6g}" if total % 1 else f"{total:,.0f}"
    if cost := summary.usage.get("judge_cost"):
        yield "judge cost a row", f"{cost / summary.rows:,.4g}"


def _example_table(summary: Summary) -> Table:
    found = table("for example", "row", "status", "reward", "reason")
    for name, judgement in summary.examples.values():
        reward = "none" if judgement.reward is None else f"{judgement.reward:g}"
        # The error of a judge that raised names the file and the line
        why = judgement.error if judgement.cause is Cause.BUG else None
        found.add_row(cell(name), judgement.status, reward, cell(why or judgement.reason))
    return found


_OUTCOME_STYLES = {"equal": "green", "different": "red", "undecided": "yellow"}


def verdict_on(text: str, reference_text: str, question: str | None, sandbox: Sandbox) -> tuple[MathVerdict, str]:
    """The verdict that a reward is made of, and the answer's text, for an output with a box, with GSM8K's #### or with
    `<answer>` tags, or an answer without any.

    Raises:
        JudgeError: the reference is unusable, or the sandbox failed.
    """
    signs: dict[str, Place] = {"\\boxed": "boxed", "\\fbox": "boxed", "####": "hash", "<answer>": "tag"}
    place = next((place for sign, place in signs.items() if sign in text), None)
    found = find_answer(text, [place], by_value=True) if place else PlacedAnswer(text, "the answer", text)
    if found.text is None:
        return MathVerdict("different", "place", found.where), ""
    compared = partial(compare, ground_truth=reference_text, symbolic=sandbox.compare, question=question)
    return judge_place(found, reference_text, question, compared), found.text


def readings(pair: Pair) -> Iterator[Text]:
    """The reference and the answer of a comparison as the math judge reads them, a line each.

    Raises:
        JudgeError: the reference cannot be read.
    """
    yield _reading("reference", pair.ref)
    try:
        answer = pair.ans
    except TooComplex as exc:
        answer = Side(pair.answer, (), None, None, str(exc))
    yield _reading("answer", answer)


def _reading(name: str, side: Side) -> Text:
    words = f"words, no mathematics{side.problem and f': {side.problem}'}"
    read = words if side.reading is None else outline(side.reading)
    return Text.assemble((f"{name} ", "bold"), _cut(side.text), (" is read as ", "dim"), _cut(read))


def _cut(text: str) -> str:
    return printable(text if len(text) <= _READING_CHARS else f"{text[:_READING_CHARS]}…")


def outline(value: object) -> str:
    """A reading as nested names: `Power(x, 2)`. Fields that are empty or false are left out."""
    if isinstance(value, Number):
        return str(value.value)
    if isinstance(value, tuple | list | frozenset):
        return f"[{', '.join(map(outline, value))}]"
    if isinstance(value, Quotient) and isinstance(value.above, Number) and isinstance(value.below, Number):
        return f"{outline(value.above)}/{outline(value.below)}"
    if not dataclasses.is_dataclass(value):
        return str(value)
    held = [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]
    told = [name if field is True else outline(field) for name, field in held if field]
    return told[0] if isinstance(value, Symbol | Value) else f"{type(value).__name__}({', '.join(told)})"


def stages_table(pair: Pair, sandbox: Sandbox) -> Table:
    """Each stage with its outcome and time.

    Raises:
        JudgeError: the sandbox failed.
    """
    found = Table("stage", "outcome", "time", "reason")
    decided = False
    for stage in STAGES:
        outcome, reason, took = "not reached", "", ""
        if not decided:
            started = time.perf_counter()
            verdict = run_stage(stage, pair, symbolic=sandbox.compare)
            took = f"{(time.perf_counter() - started) * 1e3:.3f} ms"
            outcome, reason = ("passed on", "") if verdict is None else (verdict.outcome, verdict.reason)
            # the sympy stage decides pairs that the symbolic stage left undecided
            decided = verdict is not None and (verdict.outcome != "undecided" or stage not in WORKER_STAGES)
        # Text: an answer's brackets are not markup
        found.add_row(stage, Text(outcome, style=_OUTCOME_STYLES.get(outcome, "dim")), took, Text(reason))
    return found


def judge_tree(section: TaskJudgeConfig) -> list[str]:
    """The lines of the tree; a single line where the judge asks no other judge."""
    return [_told(section), *_below(section)]


def _below(section: TaskJudgeConfig) -> Iterator[str]:
    inner = {**section.parts, **section.routes}
    for number, (name, each) in enumerate(inner.items(), 1):
        last = number == len(inner)
        yield f"{'└──' if last else '├──'} {name}{_worth(each)}: {_told(each)}"
        for line in _below(each):
            yield f"{'    ' if last else '│   '}{line}"


def _worth(section: TaskJudgeConfig) -> str:
    return f" × {section.weight:g}" if isinstance(section, PartConfig) else ""


def _told(section: TaskJudgeConfig) -> str:
    protocol = JUDGES_BY_TYPE.get(section.judge_type) or section.judge_protocol or "no judge_protocol"
    told = [protocol.rpartition("->")[2]]
    if section.judge_type == "combined":
        told += [section.reward, f"success: {section.success}"]
        told += [f"clip {section.clip[0]:g} to {section.clip[1]:g}"] if section.clip else []
    if section.judge_type == "routed":
        told.append(f"by {section.by}")
    if isinstance(section, PartConfig):
        told += [f"when {section.when}"] if section.when else []
        told += ["optional"] if section.optional else []
    told += [counted(len(section.rules), "rule")] if section.rules else []
    return ", ".join([*told, *(["on_error: zero"] if section.on_error == "zero" else [])])


def row_tree(judge: TaskJudge, group: Sequence[Rollout], place: int) -> Tree:
    """Judge one rollout and show the steps; every judge is asked once.

    Args:
        judge: the configured judge.
        group: the rollout alone; for a judge that ranks, its whole advantage group.
        place: its place there, from 0.
    """
    row, task = group[place], WorkflowTask(task=judge.read(group[0].task))
    title, judgement = f"{row.id}, {judge.traits.name}", None
    if judge.traits.ranks:
        # A rank needs its whole group, so the parts cannot be asked about one row alone
        title = f"{title}, in a group of {len(group)}"
        judgement = judge.judge_group(task, [each.output for each in group])[place]
    return _explained(judge, task, row.output, title, judgement)[1]


class _Watched(BaseJudge):
    """Replaces a judge that asks other judges: it asks them itself, and keeps the tree of each."""

    def __init__(self, judge: CombinedJudge | RoutedJudge) -> None:
        super().__init__(judge.config)
        self._judge = judge
        self.trees: list[Tree] = []

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        if isinstance(self._judge, RoutedJudge):
            name = self._judge.route(workflow_task.task, workflow_output)
            title = f"route {name}: {self._judge.asks[name].traits.name}"
            judgement, tree = _explained(self._judge.asks[name], workflow_task, workflow_output, title)
            self.trees.append(tree)
            return self._judge.pass_on(name, judgement)
        found, asked = PartVerdicts(self._judge.paid), dict[str, Tree]()

        def ask(part: Part) -> Judgement:
            judgement, asked[part.name] = _explained(part.judge, workflow_task, workflow_output, _title(part))
            return judgement

        try:
            return self._judge.ask(found, ask)
        finally:
            self.trees = [asked.get(part.name) or _not_asked(part, found) for part in self._judge.parts]


def _explained(
    judge: TaskJudge, task: WorkflowTask, output: WorkflowOutput, title: str, judgement: Judgement | None = None
) -> tuple[Judgement, Tree]:
    trees: Sequence[Tree] = ()
    if judgement is None and isinstance(judge.inner, CombinedJudge | RoutedJudge):
        watched = _Watched(judge.inner)
        judgement = judge.around(watched).judge(task, output)
        trees = watched.trees
    judgement = judgement or judge.judge(task, output)
    tree = Tree(_headline(title, judgement))
    for rule in task_judge_section(judge.inner.config).rules:
        name = str(rule.get("id"))
        broken = name in judgement.violations
        style = "yellow" if broken else "dim"
        tree.add(Text(f"rule {name}: {'broken, ' + str(rule.get('action')) if broken else 'kept'}", style=style))
    if judgement.status == "judged" and isinstance(judge.inner, MathAnswerAsJudge):
        _add_stages(tree, judge.inner, task, output)
    tree.children += trees
    tree.add(Text(printable(judgement.error or judgement.reason or "no reason given")))
    if costs := _costs(judgement, leaf=not trees):
        tree.add(Text(costs, style="dim"))
    return judgement, tree


def _add_stages(tree: Tree, judge: MathAnswerAsJudge, task: WorkflowTask, output: WorkflowOutput) -> None:
    settings = task_judge_section(judge.config).math
    if settings.equivalence == "exact":
        return
    try:
        if (pair := judge.pair(task.task, output)) is not None:
            for line in readings(pair):
                tree.add(line)
            tree.add(stages_table(pair, shared(settings.workers, settings.deadline)))
    except JudgeError as exc:
        tree.add(Text(printable(str(exc)), style="red"))


def _headline(title: str, judgement: Judgement) -> Text:
    told: str = judgement.status
    if judgement.reward is not None:
        told = f"{told}, reward {judgement.reward:.6g}, {'success' if judgement.is_success else 'no success'}"
    elif judgement.cause is not None:
        told = f"{told}, cause {judgement.cause.value}"
    took = f" in {judgement.seconds * 1e3:.3f} ms"
    styled = (told, _STATUS_STYLES[judgement.status]), (took, "dim")
    return Text.assemble((printable(title), "bold"), ": ", *styled)


def _title(part: Part) -> str:
    told = f"part {part.name} × {part.weight:g}: {part.judge.traits.name}"
    told += f", when {part.settings.when}" if part.settings.when else ""
    return told + (", optional" if part.settings.optional else "")


def _not_asked(part: Part, found: PartVerdicts) -> Tree:
    why = found.skipped.get(part.name)
    told = f"skipped: {why}" if why else "not reached: an earlier part has no verdict"
    return Tree(Text.assemble((printable(_title(part)), "bold"), ": ", (told, "dim")))


def _costs(judgement: Judgement, *, leaf: bool) -> str:
    """The metrics of a verdict in one line. For a judge that asks other judges, the metrics of its parts and routes are
    left out.
    """
    shown = [name for name in judgement.metrics if leaf or not name.startswith(("part/", "route/"))]
    return ", ".join(f"{printable(name)} {judgement.metrics[name]:g}" for name in shown)
