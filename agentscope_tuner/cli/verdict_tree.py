"""Shows one verdict as a tree: its rules, stages and parts, which parts were skipped and why, and the cost."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from rich.tree import Tree

from agentscope_tuner.cli.console import printable
from agentscope_tuner.cli.stages_table import stages_table
from agentscope_tuner.config import task_judge_section
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.combined_judge import CombinedJudge
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge
from agentscope_tuner.task_judge.part_verdicts import PartVerdicts
from agentscope_tuner.task_judge.parts import Part
from agentscope_tuner.task_judge.routed_judge import RoutedJudge
from agentscope_tuner.task_judge.task_judge import TaskJudge
from agentscope_tuner.verify.sandbox import shared
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

_STYLES = {"judged": "green", "filtered": "yellow", "failed": "red"}


def verdict_tree(
    judge: TaskJudge, task: WorkflowTask, output: WorkflowOutput, title: str, judgement: Judgement | None = None
) -> Tree:
    """Judge one rollout and show the steps; every judge is asked once.

    Args:
        judge: the configured judge.
        task: the task that the output answers.
        output: the output to judge.
        title: names the row and the judge.
        judgement: the verdict, where it was reached beforehand.
    """
    return _explained(judge, task, output, title, judgement)[1]


class _Watched(BaseJudge):
    """Replaces a judge that asks other judges: it asks them itself, and keeps the tree of each."""

    def __init__(self, judge: CombinedJudge | RoutedJudge) -> None:
        super().__init__(judge.config)
        self._judge = judge
        self.trees: list[Tree] = []

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        if isinstance(self._judge, RoutedJudge):
            name = self._judge.route(workflow_task.task, workflow_output)
            title = f"route {name}: {self._judge.routes[name].traits.name}"
            judgement, tree = _explained(self._judge.routes[name], workflow_task, workflow_output, title)
            self.trees.append(tree)
            return self._judge.pass_on(name, judgement)
        found, asked = PartVerdicts(), dict[str, Tree]()

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
    section = task_judge_section(judge.inner.config)
    for rule in section.rules:
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
        pair = judge.pair(task.task, output)
        if pair is not None:
            tree.add(stages_table(pair, shared(settings.workers, settings.deadline)))
    except JudgeError as exc:
        tree.add(Text(printable(str(exc)), style="red"))


def _headline(title: str, judgement: Judgement) -> Text:
    told: str = judgement.status
    if judgement.reward is not None:
        told = f"{told}, reward {judgement.reward:.6g}, {'success' if judgement.is_success else 'no success'}"
    elif judgement.cause is not None:
        told = f"{told}, cause {judgement.cause.value}"
    return Text.assemble(
        (printable(title), "bold"),
        ": ",
        (told, _STYLES[judgement.status]),
        (f" in {judgement.seconds * 1e3:.3f} ms", "dim"),
    )


def _title(part: Part) -> str:
    told = f"part {part.name} × {part.weight:g}: {part.judge.traits.name}"
    told += f", when {part.settings.when}" if part.settings.when else ""
    return told + (", optional" if part.settings.optional else "")


def _not_asked(part: Part, found: PartVerdicts) -> Tree:
    why = found.skipped.get(part.name)
    told = f"skipped: {why}" if why else "not reached: an earlier part has no verdict"
    return Tree(Text.assemble((printable(_title(part)), "bold"), ": ", (told, "dim")))


def _costs(judgement: Judgement, *, leaf: bool) -> str:
    """The metrics to show: all, if the judge asks no other; else the usage, and the metrics that belong to no part."""
    shown = {
        name: value for name, value in judgement.metrics.items() if leaf or not name.startswith(("part/", "route/"))
    }
    return ", ".join(f"{printable(name)} {value:g}" for name, value in shown.items())
