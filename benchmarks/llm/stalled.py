"""A reward model's server that takes the connection and never answers: verl's own client, and ours beside it.

python -m benchmarks.llm.stalled, in an environment with verl

verl's `RewardLoopWorker._post_request` is called as it is, on an object that knows the server's address alone. It has
no time limit, so the watch of this script ends it.
"""

from __future__ import annotations

import asyncio
import sys
import time

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.reward_model_judge import RewardModelJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

WATCHED, DEADLINE = 20.0, 2.0


async def verls(address: str) -> str:
    """What verl's client has after `WATCHED` seconds."""
    from verl.experimental.reward_loop.reward_loop import RewardLoopWorker

    inner = getattr(RewardLoopWorker, "__ray_metadata__", None)
    worker = object.__new__(inner.modified_class if inner else RewardLoopWorker)
    worker.reward_router_address = address
    try:
        return repr(await asyncio.wait_for(worker._post_request({"input": "x"}, "classify"), WATCHED))
    except TimeoutError:
        return "no answer and no error"


async def ours(address: str) -> str:
    """What our judge has at its deadline."""
    section = {
        "judge": "reward_model",
        "deadline": DEADLINE,
        "reward_model": {"url": f"http://{address}", "wire": "slime"},
    }
    judge = RewardModelJudge({"astuner": {"task_judge": section}})
    task = WorkflowTask(task=Task(task_id="t", main_query="q"))
    try:
        return repr(await judge.acompute_reward(task, WorkflowOutput(metadata={"final_answer": "a"})))
    except JudgeError as error:
        return f"{type(error).__name__}, cause {error.cause}"


async def main() -> int:
    """Prints what each client has, and after how many seconds."""
    # the first import takes long on a busy machine
    import verl.experimental.reward_loop.reward_loop  # noqa: F401

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    server = await asyncio.start_server(stall, "127.0.0.1", 0)
    address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for name, client in (("verl", verls), ("astuner", ours)):
        started = time.monotonic()
        said = await client(address)
        print(f"{name}: {said} after {time.monotonic() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
