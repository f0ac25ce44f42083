"""`astuner explain`: how the math judge reads and compares one answer, stage by stage."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from agentscope_tuner.cli.console import fail, out
from agentscope_tuner.errors import JudgeError
from agentscope_tuner.verify.boxed import last_boxed
from agentscope_tuner.verify.math.answer import STAGES, WORKER_STAGES, run_stage
from agentscope_tuner.verify.math.pair import Pair
from agentscope_tuner.verify.math.read import bare, reference
from agentscope_tuner.verify.sandbox import DEADLINE, Sandbox, shared

Reference = Annotated[str, typer.Option("--reference", help="The ground truth: bare, in dollars, boxed, or GSM8K's.")]
Answer = Annotated[str, typer.Option("--answer", help="The answer, or an output with a box.")]
Question = Annotated[
    str | None, typer.Option("--question", help="The task's text: its formulas are no answers, its words are units.")
]
Deadline = Annotated[float, typer.Option("--deadline", min=0.001, help="CPU seconds of the symbolic stage.")]

_STYLES = {"equal": "green", "different": "red", "undecided": "yellow", "passed on": "dim", "not reached": "dim"}


def explain(
    reference_text: Reference, answer: Answer, deadline: Deadline = DEADLINE, question: Question = None
) -> None:
    """Print every stage of the comparison with its outcome and time. Exit code 0 whatever the verdict."""
    boxed = last_boxed(answer)
    table = Table("stage", "outcome", "time", "reason")
    try:
        pair = Pair.of(bare(answer if boxed is None else boxed), reference(reference_text), question)
        _fill(table, pair, shared(1, deadline))
    except JudgeError as exc:
        raise fail(str(exc)) from exc
    out.print(table)


def _fill(table: Table, pair: Pair, sandbox: Sandbox) -> None:
    decided = False
    for stage in STAGES:
        if decided:
            _row(table, stage, "not reached", None, "")
            continue
        started = time.perf_counter()
        verdict = run_stage(stage, pair, symbolic=sandbox.compare)
        took = time.perf_counter() - started
        if verdict is None:
            _row(table, stage, "passed on", took, "")
            continue
        _row(table, stage, verdict.outcome, took, verdict.reason)
        # sympy looks again at what the symbolic stage left undecided
        decided = verdict.outcome != "undecided" or stage not in WORKER_STAGES


def _row(table: Table, stage: str, outcome: str, seconds: float | None, reason: str) -> None:
    took = "" if seconds is None else f"{seconds * 1e3:.3f} ms"
    # Text: an answer's brackets are not markup
    table.add_row(stage, Text(outcome, style=_STYLES[outcome]), took, Text(reason))
