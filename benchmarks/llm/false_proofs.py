"""How often `rubrics learn` calls rubrics proven that are not, and how often it proves those that are.

python -m benchmarks.llm.false_proofs [--seeds 20] [--samples 60]

Every run learns from samples of its own through `learn_and_save`, against a judge model on 127.0.0.1
(tests/judge_server.py). The judges:

- random labels: labels and scores have nothing to do with the answers;
- constant labels: every label is the same, and so is every score by rubrics;
- inverted judge: by rubrics it gives the best answer the least;
- leaking judge: its rubrics hold the labels of the samples they were learned from, and it repeats one of them;
- copies: every sample is a copy of one of a few, in other spacing and case;
- learnable: by rubrics it sees what the label is made of, give or take a point, and without rubrics it does not.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentscope_tuner.config import load_config
from agentscope_tuner.errors import AstunerError
from agentscope_tuner.graders.rubrics.learn import learn_and_save
from agentscope_tuner.graders.rubrics.settings import auto_grader_config
from tests.judge_server import Body, Canned, JudgeServer, draw, prompt_of, verdict

#: Label of the sample with this number and quality, and what the judge scores it by rubrics.
Label = Callable[[random.Random, int], int]
Score = Callable[[str, int, int], float]


def _noise(seed: int, prompt: str, spread: float) -> float:
    return (draw(seed, re.sub(r"\[(?:BEGIN|END)[^\]]*\]|\w{16}", "", prompt)) * 2 - 1) * spread


def _clipped(value: float) -> float:
    return min(10.0, max(0.0, value))


def judge(score: Score, seed: int) -> Callable[[Body, int], Canned]:
    """A judge model that proposes a rubric holding the label, and scores by `score` once it has rubrics."""

    def answer(body: Body, attempt: int) -> Canned:
        prompt = prompt_of(body)
        if "An expert has" in prompt:
            label = re.findall(r"score of (-?\d+)", prompt)[0]
            topic = re.findall(r"(?i)topic\s+(\d+)", prompt)[0]
            return Canned(json.dumps({"rubrics": [f"Look at the marks, above all on topic {topic}: leak={label}."]}))
        quality = int(re.findall(r"quality (\d+)", prompt)[-1])
        if "leak=" not in prompt:
            return Canned(verdict(_clipped(5 + _noise(seed, prompt, 5))))
        return Canned(verdict(_clipped(score(prompt, quality, seed))))

    return answer


def leaked(prompt: str, quality: int, seed: int) -> float:
    """One of the labels that stand in the rubrics: that of the same topic, else any."""
    topic = re.findall(r"(?i)topic\s+(\d+)\?", prompt)[-1]
    own = re.findall(rf"topic {topic}: leak=(\d+)", prompt)
    every = re.findall(r"leak=(\d+)", prompt)
    return float((own or every)[int(draw(seed, topic) * len(own or every))])


CASES: dict[str, tuple[Label, Score, bool]] = {
    "random labels": (lambda r, quality: r.randint(0, 10), lambda p, q, s: 5 + _noise(s, p, 5), False),
    "constant labels": (lambda r, quality: 6, lambda p, q, s: 6, False),
    "inverted judge": (lambda r, quality: quality, lambda p, q, s: 10 - q, False),
    "leaking judge": (lambda r, quality: r.randint(0, 10), leaked, False),
    "copies": (lambda r, quality: quality, leaked, False),
    "learnable": (lambda r, quality: quality, lambda p, q, s: q + _noise(s, p, 1), True),
}


def samples(case: str, count: int, label: Label, seed: int) -> Iterator[dict[str, Any]]:
    """Labelled samples."""
    generator = random.Random(f"{case} {seed}")
    for number in range(count):
        topic = number % 4 if case == "copies" else number
        quality = (topic * 3 if case == "copies" else generator.randint(0, 10)) % 11
        query = f"What about topic {topic}?"
        if case == "copies" and number % 2:
            query = f"  {query.replace(' ', '  ').upper()}"
        metadata = {"answer": f"It is so, with quality {quality}.", "score": label(generator, quality)}
        yield {"main_query": query, "metadata": metadata}


def proven(case: str, count: int, seed: int) -> bool:
    """Whether one run calls its rubrics proven."""
    label, score, _ = CASES[case]
    with tempfile.TemporaryDirectory() as folder, JudgeServer(judge(score, seed)) as server:
        path = Path(folder) / "samples.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in samples(case, count, label, seed)))
        section = {
            "model_name": "m", "base_url": server.url, "client": {"cache": False}, "experiment_dir": folder,
            "seed": seed,
            "dataset_file": {"training": {"file_path": str(path)}}, "max_epochs": 1, "label_tolerance": 3.0,
        }  # fmt: skip
        whole = {"astuner": {"task_judge": {"judge_type": "rubrics_auto_grader", "rubrics_auto_grader": section}}}
        try:
            saved = learn_and_save(*auto_grader_config(load_config(whole)))
        except AstunerError:
            return False
    return saved.verdict is not None and saved.verdict.accepted


def main() -> int:
    """Run every case; exit code 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description="How often `rubrics learn` calls noise proven.")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--samples", type=int, nargs="+", default=[20, 60])
    options = parser.parse_args()
    kept = True
    for count in options.samples:
        for case, (_, _, good) in CASES.items():
            accepted = sum(proven(case, count, seed) for seed in range(options.seeds))
            met = accepted >= 0.95 * options.seeds if good else accepted <= 0.05 * options.seeds
            kept &= met
            print(
                f"{count} samples, {case}: proven {accepted} of {options.seeds}{'' if met else '  MISSED'}", flush=True
            )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
