"""Rollout files: one JSON object a line, `{"id", "task": {…}, "output": {…}, "label"?: {…}}`."""

from agentscope_tuner.records.reader import Line, Row, parse_line, read_lines, read_rows
from agentscope_tuner.records.summary import Summary
from agentscope_tuner.records.writer import ScoredFile, own_keys, scored_line

__all__ = [
    "Line",
    "Row",
    "ScoredFile",
    "Summary",
    "own_keys",
    "parse_line",
    "read_lines",
    "read_rows",
    "scored_line",
]
