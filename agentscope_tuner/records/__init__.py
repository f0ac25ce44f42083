"""Rollout files: one JSON object on each line, `{"id", "task": {…}, "output": {…}, "label"?: {…}}`."""

from agentscope_tuner.records.earlier import EarlierRow, earlier_rows
from agentscope_tuner.records.reader import Line, Row, parse_line, read_lines, read_rows
from agentscope_tuner.records.scored_file import ScoredFile
from agentscope_tuner.records.summary import Summary
from agentscope_tuner.records.writer import judged_end, read_end, scored_line

__all__ = [
    "EarlierRow",
    "Line",
    "Row",
    "ScoredFile",
    "Summary",
    "earlier_rows",
    "judged_end",
    "parse_line",
    "read_end",
    "read_lines",
    "read_rows",
    "scored_line",
]
