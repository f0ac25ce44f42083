"""The recorded runs, as scored rows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from agentscope_tuner.records.scored_rows import ScoredRow

TRACES = Path(__file__).parent / "traces"


@dataclass(frozen=True)
class TraceStep:
    """One step: its rows under the judge that trained, and whether each is honestly right."""

    step: int
    rows: list[ScoredRow]
    honest: list[bool]

    @property
    def gap(self) -> float:
        """Mean reward less mean honest score."""
        return fmean((row.reward or 0.0) - right for row, right in zip(self.rows, self.honest, strict=True))


def trace_steps(path: Path) -> Iterator[TraceStep]:
    """The steps of one trace."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            data = json.loads(line)
            size = len(data["completions"]) // len(data["prompts"])
            rows = [_row(data, place, data["prompts"][place // size]) for place in range(len(data["completions"]))]
            yield TraceStep(data["step"], rows, [bool(right) for right in data["honest"]])


def _row(data: dict[str, list[float]], place: int, prompt: object) -> ScoredRow:
    reward = float(data["rewards"][place])
    return ScoredRow(
        where=f"{data['step']}:{place}",
        id=f"{data['step']}-{place}",
        nth=0,
        task=str(prompt),
        step=float(data["step"]),  # type: ignore[arg-type]
        status="filtered" if data["filtered"][place] else "judged",
        reward=reward,
        success=bool(data["passed"][place]) if "passed" in data else None,
        reason="",
        cause=None,
        violations=(),
        metrics={},
        seconds=0.0,
        answer=str(data["completions"][place]),
        row={},
    )
