"""The stages of one comparison of the math judge, as a table."""

from __future__ import annotations

import time

from rich.table import Table
from rich.text import Text

from agentscope_tuner.verify.math.answer import STAGES, WORKER_STAGES, run_stage
from agentscope_tuner.verify.math.pair import Pair
from agentscope_tuner.verify.sandbox import Sandbox

_STYLES = {"equal": "green", "different": "red", "undecided": "yellow", "passed on": "dim", "not reached": "dim"}


def stages_table(pair: Pair, sandbox: Sandbox) -> Table:
    """Each stage with its outcome and time.

    Raises:
        JudgeError: the sandbox failed.
    """
    table = Table("stage", "outcome", "time", "reason")
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
        # the sympy stage decides pairs that the symbolic stage left undecided
        decided = verdict.outcome != "undecided" or stage not in WORKER_STAGES
    return table


def _row(table: Table, stage: str, outcome: str, seconds: float | None, reason: str) -> None:
    took = "" if seconds is None else f"{seconds * 1e3:.3f} ms"
    # Text: an answer's brackets are not markup
    table.add_row(stage, Text(outcome, style=_STYLES[outcome]), took, Text(reason))
