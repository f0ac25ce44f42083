"""The commands of `astuner` with names, places and summaries: enough to list them without importing them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class ListedCommand(NamedTuple):
    """One command, or a group of commands.

    Attributes:
        name: as it is typed.
        home: `module:attribute` in this folder: a function, or a group's `typer.Typer`.
        summary: its line in the list of commands: the first paragraph of its own help.
    """

    name: str
    home: str
    summary: str

    def load(self) -> Any:
        """The function, or the group, from its module."""
        module, attribute = self.home.split(":")
        return getattr(import_module(f"agentscope_tuner.cli.{module}"), attribute)


#: In the order in which they are listed.
COMMANDS = (
    ListedCommand(
        "demo",
        "demo:demo",
        "Judge the rollouts that ship with the package: right, wrong, filtered and failed ones, each with its reason.",
    ),
    ListedCommand(
        "init",
        "init:init",
        "Write a commented configuration, rows to judge and a test, and say what to run next. No file is written over.",
    ),
    ListedCommand(
        "judge",
        "judge:judge",
        "Judge a file of rollouts. Exit code 3 when any row failed: it then has no reward, which is not a reward of 0.",
    ),
    ListedCommand(
        "rollout",
        "rollout:rollout",
        "Run the workflow on every task, some times each, and judge every rollout.",
    ),
    ListedCommand(
        "config",
        "config:show",
        "Print the resolved configuration, secrets masked; of a judge that asks others, first the tree as a comment.",
    ),
    ListedCommand(
        "check",
        "check:check",
        "Load the judge and judge nothing: exit code 0 when a training run could use it, 2 with every "
        "problem when not.",
    ),
    ListedCommand(
        "explain",
        "explain:explain",
        "Judge the row --id of --input by --conf and show how: rules, stages, each part, what was skipped, "
        "what it cost.",
    ),
    ListedCommand(
        "serve",
        "serve:serve",
        "Serve judges over HTTP: POST /reward, OpenRLHF's and NeMo-Gym's wires, /metrics, /docs.",
    ),
    ListedCommand(
        "audit",
        "audit:audit",
        "Attack the judge on your own tasks: what wrong answers pass, what right ones fail, what a policy would learn.",
    ),
    ListedCommand(
        "agree",
        "agree:agree",
        "How well verdicts agree with labels, with 95 % intervals. Rows without a verdict are counted apart, not as 0.",
    ),
    ListedCommand(
        "compare",
        "compare:compare",
        "Which verdicts changed from A to B, in which direction, and what it changes in a trainer's advantages.",
    ),
    ListedCommand(
        "judge-eval",
        "judge_eval:judge_eval",
        "Measure an LLM judge on labelled answers, the verdict cache off. Exit code 3 when half of the "
        "verdicts failed.",
    ),
    ListedCommand(
        "view",
        "view:view",
        "Look at rollouts and verdicts in the browser, live while a run writes them. Ends with Ctrl-C.",
    ),
    ListedCommand(
        "report",
        "view:report",
        "Write the page of `astuner view` as one file that opens from disk and can be mailed.",
    ),
    ListedCommand(
        "watch",
        "watch:watch",
        "Look at every step of a run: groups without a signal, drift, failures; and whether the run is being gamed.",
    ),
    ListedCommand(
        "rules",
        "rules:app",
        "Filter a result table by rules, and see what fires.",
    ),
    ListedCommand(
        "env",
        "env:app",
        "Serve environments that judge themselves.",
    ),
    ListedCommand(
        "rubrics",
        "rubrics:app",
        "Rubrics learned from labelled samples.",
    ),
    ListedCommand(
        "llm",
        "llm:app",
        "A small model on this machine, for trying graders without a key.",
    ),
    ListedCommand(
        "cache",
        "cache:app",
        "Replies of judge models, kept on disk and shared by processes.",
    ),
)
