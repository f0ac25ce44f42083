"""Rollout files: one JSON object on each line, `{"id", "task": {…}, "output": {…}, "label"?: {…}}`."""

from agentscope_tuner.records.blocks import read_lines, read_rows
from agentscope_tuner.records.output import EarlierRow, ScoredFile, earlier_row, earlier_rows, judged_end, scored_line
from agentscope_tuner.records.reader import Line, Row, parse_line
from agentscope_tuner.records.scored_rows import Summary

__all__ = [
    "EarlierRow",
    "Line",
    "Row",
    "ScoredFile",
    "Summary",
    "earlier_row",
    "earlier_rows",
    "judged_end",
    "parse_line",
    "read_lines",
    "read_rows",
    "scored_line",
]
