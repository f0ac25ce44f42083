"""Scored rollouts as a log of inspect_ai, written by its own API: `python -m benchmarks.view.inspect_log IN OUT`.

Runs in an environment that has `inspect_ai`, and needs nothing of this package.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalMetric,
    EvalPlan,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
)
from inspect_ai.log._recorders.eval import EvalRecorder
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ModelOutput
from inspect_ai.scorer import Score

_FLUSHED = 500
_NAME = "2026-01-31T09-30-00-00-00_rollouts_made.eval"


def main() -> None:
    """Convert."""
    asyncio.run(_convert(Path(sys.argv[1]), Path(sys.argv[2])))


async def _convert(source: Path, folder: Path) -> None:
    with open(source, encoding="utf-8") as stream:
        samples = [_sample(json.loads(line)) for line in stream]
    rewards = [sample.scores["reward"].as_float() for sample in samples if sample.metadata["status"] != "failed"]
    mean = EvalMetric(name="mean", value=sum(rewards) / max(1, len(rewards)))
    spec = EvalSpec(
        created="2026-01-31T09:30:00+00:00",
        task="rollouts",
        dataset=EvalDataset(name="rollouts", samples=len(samples)),
        model="made/policy",
        config=EvalConfig(),
    )
    score = EvalScore(name="reward", scorer="reward", metrics={"mean": mean})
    results = EvalResults(total_samples=len(samples), completed_samples=len(samples), scores=[score])
    folder.mkdir(parents=True, exist_ok=True)
    # As an evaluation records its samples. `write_eval_log` looks through all samples for each: minutes for 20,000
    recorder = EvalRecorder(str(folder))
    await recorder.log_init(spec, str(folder / _NAME), clean=True)
    await recorder.log_start(spec, EvalPlan())
    for number, sample in enumerate(samples, 1):
        await recorder.log_sample(spec, sample)
        if number % _FLUSHED == 0:
            await recorder.flush(spec)
    await recorder.log_finish(spec, "success", EvalStats(), results, None, None)


def _sample(row: dict[str, Any]) -> EvalSample:
    """One rollout with what `astuner view` shows of it: texts, reward, reason, rules, parts, step."""
    task, verdict = row["task"], row["judgement"]
    answer = row["output"]["metadata"]["final_answer"]
    opening = [ChatMessageSystem(content=message["content"]) for message in task["init_messages"]]
    told = {name: verdict[name] for name in ("status", "cause", "violations", "metrics", "seconds")}
    score = Score(
        # no verdict is no number there either
        value=float("nan") if verdict["reward"] is None else verdict["reward"],
        answer=answer[-90:],
        explanation=verdict["reason"],
        metadata=told,
    )
    return EvalSample(
        id=row["id"],
        epoch=1,
        input=task["main_query"],
        target=task["metadata"]["answer"],
        messages=[*opening, ChatMessageUser(content=task["main_query"]), ChatMessageAssistant(content=answer)],
        output=ModelOutput.from_content("made/policy", answer),
        scores={"reward": score},
        metadata={"step": row["step"], "task_id": task["task_id"], "status": verdict["status"]},
    )


if __name__ == "__main__":
    main()
