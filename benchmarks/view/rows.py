"""Scored rollouts of a made-up run, the same ones each time: groups of eight, a reward that rises, hostile answers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

_STAGES = ("exact", "normalised", "numeric", "structure", "symbolic")
_CAUSES = ("endpoint", "deadline", "reference")
_RULES = ("not_empty", "no_code", "max_length")
_STEPS = 80
#: In every answer: what a page that trusts its rows would run, and a sign that turns the text behind it round.
HOSTILE = "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'>\u202e\u202c "


def write_rows(path: Path, count: int) -> Path:
    """Write `count` rows, about 800 bytes each."""
    chance = random.Random(7)
    groups = max(1, count // 8)
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(_row(chance, n, groups), ensure_ascii=False) + "\n" for n in range(count))
    return path


def _row(chance: random.Random, n: int, groups: int) -> dict[str, Any]:
    group = n // 8
    step = min(_STEPS - 1, group * _STEPS // groups)
    first, second = 10 + group * 37 % 89, 3 + group * 53 % 83
    # each task has its own difficulty, so that some groups are flat
    right = chance.random() < min(0.97, max(0.03, 0.15 + 0.7 * step / _STEPS + (group * 7919 % 100 - 50) / 90))
    stated = first * second if right else first * second + chance.choice((-10, 1, 7, 10))
    tens = second // 10 * 10
    work = "".join(
        f"We take ${first} \\times {second}$ apart: ${first} \\times {tens} = {first * tens}$. "
        for _ in range(chance.randint(1, 5))
    )
    return {
        "id": f"task-{group:05d}-{n % 8}",
        "task": {
            "main_query": f"What is {first} * {second}?",
            "init_messages": [{"role": "system", "content": "Solve the problem. End with the answer in \\boxed{}."}],
            "task_id": f"task-{group:05d}",
            "metadata": {"answer": str(first * second)},
        },
        "output": {"metadata": {"final_answer": f"{work}{HOSTILE}So the product is $\\boxed{{{stated}}}$."}},
        "step": step,
        "judgement": _judgement(chance, right, stated, first * second, step),
    }


def _judgement(chance: random.Random, right: bool, stated: int, truth: int, step: int) -> dict[str, Any]:
    drawn = chance.random()
    verdict: dict[str, Any] = {"violations": [], "error": None, "cause": None, "metrics": {}}
    if drawn < 0.015:
        told: dict[str, Any] = {
            "status": "failed",
            "reward": None,
            "is_success": None,
            "reason": "the judge model gave no reply",
        }
        error = "task: the judge model gave no reply in 30 s"
        return {**verdict, **told, "error": error, "cause": chance.choice(_CAUSES), "seconds": 30.0}
    if drawn < 0.06:
        rule = chance.choice(_RULES)
        told = {"status": "filtered", "reward": 0.0, "is_success": False, "reason": f"rules: {rule}"}
        return {**verdict, **told, "violations": [rule], "seconds": 1.1e-05}
    form = round(min(0.2, 0.05 + 0.15 * step / _STEPS + 0.05 * chance.random()), 3)
    metrics = {"part/correct": float(right), "part/form": form, "judge_cost": 0.0002}
    reason = f"{chance.choice(_STAGES)}: {stated} {'=' if right else '≠'} {truth}"
    told = {"status": "judged", "reward": round(float(right) + form, 3), "is_success": right, "reason": reason}
    return {**verdict, **told, "metrics": metrics, "seconds": round(chance.expovariate(200), 6)}
