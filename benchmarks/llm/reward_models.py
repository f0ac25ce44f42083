"""A reward model's server of which a third of the answers are bad: what becomes of 500 verdicts.

python -m benchmarks.llm.reward_models

The server is simulated behind httpx's own seam. Its faults are those that served models have shown: 429, 500, 502,
dropped connections, answers that never come, HTML, cut JSON, a missing or a repeated row, NaN, hidden states, several
outputs. A verdict is honest if it is the model's score, and silent if it is any other number.

Exit code 1 when a bar is missed.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from typing import Any

import httpx

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.reward_model_judge import RewardModelJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_least, at_most

ROWS, SEEDS, BAD = 500, (1, 2, 3, 4, 5), 1 / 3


def worth(text: str) -> float:
    """The score that the simulated model gives a chat."""
    return len(text) / 100


def good(texts: list[str]) -> list[dict[str, Any]]:
    """The rows of an honest answer."""
    return [{"index": number, "probs": [worth(text)]} for number, text in enumerate(texts)]


def broken(kind: str, texts: list[str]) -> httpx.Response:
    """An answer that is none."""
    rows = good(texts)
    if kind.isdigit():
        return httpx.Response(int(kind))
    if kind in ("html", "cut"):
        return httpx.Response(200, text="<html>502</html>" if kind == "html" else json.dumps({"data": rows})[:-4])
    if kind == "missing":
        rows.pop()
    elif kind == "repeated":
        rows[-1] = {**rows[0]} if len(rows) > 1 else {"index": 7, "probs": [0.5]}
    else:
        shapes = {"nan": [float("nan")], "hidden": [0.1] * 4096, "several": [0.1, 0.9], "empty": []}
        rows[0]["probs"] = shapes[kind]
    return httpx.Response(200, text=json.dumps({"data": rows}))


KINDS = ("429", "500", "502", "drop", "hang", "html", "cut", "missing", "repeated", "nan", "hidden", "several", "empty")


def counted(seed: int) -> Counter[str]:
    """How many of the verdicts are honest, failed, blamed on the answer, or silent."""
    drawn = random.Random(seed)

    async def handle(request: httpx.Request) -> httpx.Response:
        texts = json.loads(request.content)["input"]
        if drawn.random() >= BAD:
            return httpx.Response(200, json={"data": good(texts)})
        kind = drawn.choice(KINDS)
        if kind == "drop":
            raise httpx.RemoteProtocolError("the peer closed the connection")
        if kind == "hang":
            await asyncio.sleep(60)
        return broken(kind, texts)

    mine = {"url": "http://127.0.0.1:9", "text": "Q: {query}\nA: {response}", "timeout": 0.3, "max_batch": 4}
    section = {"judge_type": "reward_model", "reward_model": mine, "deadline": 10.0}
    judge = RewardModelJudge({"astuner": {"task_judge": section}}, transport=httpx.MockTransport(handle))

    async def one(number: int) -> str:
        text = f"answer {number} " + "word " * (number % 50)
        try:
            task = WorkflowTask(task=Task(main_query="Why?"))
            found = await judge.acompute_reward(task, WorkflowOutput(metadata={"final_answer": text}))
        except JudgeError:
            return "failed"
        if found.filtered_by:
            return "blamed"
        return "honest" if found[0] == worth(f"Q: Why?\nA: {text}") else "silent"

    async def every() -> list[str]:
        return await asyncio.gather(*map(one, range(ROWS)))

    return Counter(asyncio.run(every()))


def main() -> int:
    """Print every figure beside its bar."""
    total: Counter[str] = Counter()
    for seed in SEEDS:
        found = counted(seed)
        print(
            f"seed {seed}, of {ROWS}: "
            + ", ".join(f"{found[kind]} {kind}" for kind in ("honest", "failed", "blamed", "silent"))
        )
        total += found
    kept = [
        at_most("rewards that are not the model's score", total["silent"], 0, ""),
        at_most("answers blamed for the server's faults", total["blamed"], 0, ""),
        at_least("honest verdicts", 100 * total["honest"] / (ROWS * len(SEEDS)), 90, "%"),
    ]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
