"""A small world to learn rubrics in: answers carry `quality=N`, and a judge model sees it once a rubric tells it to
look.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.judge_server import Body, Canned, prompt_of

GOOD_RUBRIC = "Look at the quality mark of the answer"


def world(body: Body, attempt: int) -> Canned:
    """Proposes a useless rubric, revises it to a good one, and judges by the rubrics it is given."""
    prompt = prompt_of(body)
    if "Sort the numbered rubrics" in prompt:
        # each line of data begins with its mark
        count = len(re.findall(r"^(?:\S+ )?\d+\. ", prompt, re.MULTILINE))
        return Canned(json.dumps({"themes": [{"name": "quality", "rubrics": list(range(1, count + 1))}]}))
    if "reached another verdict" in prompt:
        topic = re.findall(r"about (\w+)\?", prompt)[0]
        return Canned(json.dumps({"rubrics": [f"{GOOD_RUBRIC}, above all about {topic}."]}))
    if "Find out what the expert looks for" in prompt:
        return Canned(json.dumps({"rubrics": ["Be kind."]}))
    qualities = [int(mark) for mark in re.findall(r"quality=(\d+)", prompt)]
    sees = GOOD_RUBRIC in prompt
    if "Rank several responses" in prompt:
        order = sorted(range(len(qualities)), key=lambda index: -qualities[index] if sees else index)
        return Canned(json.dumps({"reason": "r", "rank": [order.index(i) + 1 for i in range(len(qualities))]}))
    return Canned(json.dumps({"reason": "r", "score": qualities[-1] if sees else 5}))


def write_samples(path: Path, count: int = 20, listwise: bool = False) -> Path:
    """Labelled samples of the world."""
    rows = []
    for number in range(count):
        query = f"What about topic{number}?"
        if listwise:
            marks = [(number + step * 3) % 10 for step in range(3)]
            ranks = {mark: place for place, mark in enumerate(sorted(marks, reverse=True), start=1)}
            candidates = [{"answer": f"It is so. quality={mark}", "rank": ranks[mark]} for mark in marks]
            rows.append({"main_query": query, "metadata": {"candidates": candidates}})
        else:
            mark = number % 11
            rows.append({"main_query": query, "metadata": {"answer": f"It is so. quality={mark}", "score": mark}})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def configuration(url: str, folder: Path, **options: Any) -> dict[str, Any]:
    """A whole configuration that learns in `folder`."""
    section = {
        "model_name": "m",
        "base_url": url,
        "client": {"cache": False, "max_reasks": 0, "max_retries": 0, **options.pop("client", {})},
        "dataset_file": {"training": {"file_path": str(folder / "samples.jsonl")}},
        "experiment_dir": str(folder / "out"),
        **options,
    }
    return {"astuner": {"task_judge": {"judge_type": "rubrics_auto_grader", "rubrics_auto_grader": section}}}
