"""Busy endpoints, with real times: does every row get its verdict? `make test-busy`, some two minutes.

1. `astuner serve --concurrency 2 --queue 2`, 2 s a verdict, 64 rows at once from HttpJudge: in a batch, and each alone
   from 64 threads.
2. A judge model's endpoint that answers 100 requests a minute and 429 with Retry-After to the others, 200 rows.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import uvicorn

from agentscope_tuner import BaseJudge, Task, WorkflowOutput, WorkflowTask
from agentscope_tuner.graders import ChatMessage, ChatModel, ChatSettings
from agentscope_tuner.graders.client.chat_model import Prompt
from agentscope_tuner.graders.client.reply import final_json, score_of
from agentscope_tuner.service.admission import ServiceSettings
from agentscope_tuner.service.app import create_app
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from tests.judge_server import Canned, JudgeServer, verdict

ROWS, SECONDS = 64, 2.0
PER_MINUTE, ASKED = 100, 200
PAIR = (WorkflowTask(task=Task(task_id="t")), WorkflowOutput(metadata={"final_answer": "x"}))


class Slow(BaseJudge):
    """Awaits for two seconds."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.sleep(SECONDS)
        return 1.0, True


def section(protocol: str, **kwargs: Any) -> dict[str, Any]:
    return {"astuner": {"task_judge": {"judge_protocol": protocol, "judge_kwargs": kwargs}}}


def told(what: str, rewards: Sequence[float | None], started: float) -> bool:
    judged = sum(reward is not None for reward in rewards)
    print(f"{what}: {judged} of {len(rewards)} judged in {time.monotonic() - started:.0f} s")
    return judged == len(rewards)


def busy_service() -> bool:
    app = create_app({"": ConfiguredJudge(section(f"{__spec__.name}->Slow"))}, ServiceSettings(concurrency=2, queue=2))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}/reward"
    http = "agentscope_tuner.task_judge.http_judge->HttpJudge"
    together, apart = ConfiguredJudge(section(http, url=url)), ConfiguredJudge(section(http, url=url, max_batch=1))
    started = time.monotonic()
    good = told("64 rows in a batch", [row.reward for row in together.judge_batch([PAIR] * ROWS)], started)
    started = time.monotonic()
    with ThreadPoolExecutor(ROWS) as pool:
        rows = list(pool.map(lambda _: apart.judge(*PAIR), range(ROWS)))
    good &= told("64 rows, a request each", [row.reward for row in rows], started)
    server.should_exit = True
    return good


def limited_endpoint() -> bool:
    served: Counter[int] = Counter()

    def answer(body: dict[str, Any], attempt: int) -> Canned:
        minute, passed = divmod(time.monotonic(), 60)
        served[int(minute)] += 1
        if served[int(minute)] <= PER_MINUTE:
            return Canned(verdict(7))
        return Canned(status=429, headers={"retry-after": str(int(60 - passed) + 1)})

    async def ask_all(model: ChatModel) -> list[float | None]:
        async def one(number: int) -> float | None:
            prompt = Prompt(lambda: [ChatMessage(content=f"row {number}")])
            try:
                return (await model.ask(prompt, lambda reply: score_of(final_json(reply), 0, 10))).value
            except Exception as exc:  # noqa: BLE001 - counted: the run goes on
                print(exc)
                return None

        return await asyncio.gather(*(one(number) for number in range(ASKED)))

    with JudgeServer(answer) as server, tempfile.TemporaryDirectory() as folder:
        settings = ChatSettings(model_name="m", base_url=server.url, cache=False, cache_dir=str(Path(folder)))
        started = time.monotonic()
        good = told("200 rows at 100 a minute", asyncio.run(ask_all(ChatModel(settings))), started)
        print(f"    {len(server.bodies) - ASKED} requests were refused")
        return good


def main() -> None:
    """Exit code 1 when a row was lost."""
    scenes: list[Callable[[], bool]] = [busy_service, limited_endpoint]
    results = [scene() for scene in scenes]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
