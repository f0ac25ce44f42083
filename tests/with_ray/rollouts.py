"""Rollouts for the judges here, as rows and as objects, and what came of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentscope_tuner import Rollout, Task, WorkflowOutput

ROOT = Path(__file__).parents[2]


def config(judge: str = "Mortal", **judge_kwargs: Any) -> dict[str, Any]:
    protocol = f"tests.with_ray.judges->{judge}"
    return {"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": judge_kwargs}}}


def rollout(index: int, answer: str) -> Rollout:
    task = Task(task_id=f"t{index // 4}")
    return Rollout(id=f"r{index}", task=task, output=WorkflowOutput(metadata={"final_answer": answer}))


def rollouts(answers: list[str]) -> list[Rollout]:
    return [rollout(index, answer) for index, answer in enumerate(answers)]


def write(path: Path, answers: list[str]) -> Path:
    path.write_text("".join(row.model_dump_json() + "\n" for row in rollouts(answers)))
    return path


def scored(folder: Path) -> list[dict[str, Any]]:
    """Every row of a finished output, in order, without what no two runs share: its seconds."""
    rows = [json.loads(line) for path in sorted(folder.glob("part-*.jsonl")) for line in path.read_bytes().splitlines()]
    for row in rows:
        del row["judgement"]["seconds"]
    return rows
