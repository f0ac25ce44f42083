"""Scored rows for tests, as `astuner judge` writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agentscope_tuner.engines.judging import JudgedBefore, LineJudge, ScoredLine
from agentscope_tuner.engines.local import score
from agentscope_tuner.records.blocks import LineBlock
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import ScoredRow, scored_rows
from agentscope_tuner.task_judge.contract.judgement import Judgement


def scored(
    name: str,
    reward: float | None,
    *,
    task: str = "t",
    answer: str = "",
    label: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **judgement: Any,
) -> dict[str, Any]:
    """A row; a reward of None is a failed verdict."""
    failed = {"status": "failed", "is_success": None, "error": "down", "cause": "endpoint", "reason": "down"}
    verdict = {"status": "judged", "is_success": reward is not None and reward >= 0.5, "reason": "exact: 1 = 1"}
    return {
        "id": name,
        "task": {"main_query": "q", "task_id": task, "metadata": dict(metadata or {})},
        "output": {"metadata": {"final_answer": answer}},
        **({} if label is None else {"label": dict(label)}),
        "judgement": {"reward": reward, **(failed if reward is None else verdict), **judgement},
    }


def rows(lines: Iterable[Mapping[str, Any]]) -> list[ScoredRow]:
    return list(
        scored_rows(Line(f"rows.jsonl:{number}", json.dumps(line).encode()) for number, line in enumerate(lines))
    )


def written(path: Path, lines: Iterable[Mapping[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def score_lines(judge: LineJudge, lines: Iterable[Line | JudgedBefore], *, jobs: int) -> Iterator[ScoredLine]:
    """Each line in a block of its own, judged and read back."""
    for block in score(judge, (LineBlock((line,), len(line.raw)) for line in lines), jobs=jobs):
        for line in block.data.splitlines(keepends=True):
            row = json.loads(line)
            verdict = {name: value for name, value in row["judgement"].items() if name != "config"}
            judgement = Judgement.from_dict(verdict)
            assert judgement is not None
            yield ScoredLine(line, judgement, str(row.get("id")), (row.get("label") or {}).get("is_success"))
