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
from agentscope_tuner.verify.math.answer import STAGES, bare, reference, run_stage, symbolic_verdict
from agentscope_tuner.verify.sandbox import DEADLINE, shared

Reference = Annotated[str, typer.Option("--reference", help="The ground truth: bare, in dollars, boxed, or GSM8K's.")]
Answer = Annotated[str, typer.Option("--answer", help="The answer, or an output with a box.")]
Deadline = Annotated[float, typer.Option("--deadline", min=0.001, help="CPU seconds of the symbolic stage.")]

_STYLES = {"equal": "green", "different": "red", "undecided": "yellow", "passed on": "dim", "not reached": "dim"}


def explain(reference_text: Reference, answer: Answer, deadline: Deadline = DEADLINE) -> None:
    """Print every stage of the comparison with its outcome and time. Exit code 0 whatever the verdict."""
    boxed = last_boxed(answer)
    table = Table("stage", "outcome", "time", "reason")
    try:
        truth = reference(reference_text)
        _fill(table, bare(answer if boxed is None else boxed), truth, deadline)
    except JudgeError as exc:
        raise fail(str(exc)) from exc
    out.print(table)


def _fill(table: Table, answer: str, truth: str, deadline: float) -> None:
    decided = False
    for stage in STAGES:
        if decided:
            _row(table, stage, "not reached", None, "")
            continue
        started = time.perf_counter()
        if stage == "symbolic":
            verdict = symbolic_verdict(answer, truth, shared(1, deadline).compare)
            outcome, reason = verdict.outcome, verdict.reason
        else:
            found, reason = run_stage(stage, answer, truth)
            if found is None:
                _row(table, stage, "passed on", time.perf_counter() - started, reason)
                continue
            outcome = found
        decided = True
        _row(table, stage, outcome, time.perf_counter() - started, reason)


def _row(table: Table, stage: str, outcome: str, seconds: float | None, reason: str) -> None:
    took = "" if seconds is None else f"{seconds * 1e3:.3f} ms"
    # Text: an answer's brackets are not markup
    table.add_row(stage, Text(outcome, style=_STYLES[outcome]), took, Text(reason))
