"""`make tour`: it walks every trip, and the short ones stay short."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_it_prints_the_rooms_and_a_key_reaches_its_judge_in_few_calls() -> None:
    command = [sys.executable, "-m", "benchmarks.tour", "key", "number", "advantage", "reply"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^ +3  task_judge/base_judge\.py +The base classes of judges", told, re.MULTILINE)
    rows = re.findall(r"^\| (.+) \| (\d+) \| (\d+) \| (\d+) \|$", told, re.MULTILINE)
    calls = {trip: int(count) for trip, count, _, _ in rows}
    assert len(calls) == 4
    assert calls["`judge_kwargs.n` of a YAML file to its judge"] <= 25
    assert calls["a judge model's reply to a judgement, one juror"] <= 120
    # Callers and called: no trip is one room
    assert all(int(modules) > 5 < int(moves) for _, _, modules, moves in rows)
