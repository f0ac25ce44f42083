"""Serve FrozenLake, play some episodes and judge them: `make demo-frozenlake`."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agentscope_tuner import Judgement, Task, TaskJudge, WorkflowTask, load_judge
from agentscope_tuner.env_service import EnvServiceClient, GymEnv
from tutorial.example_frozenlake.frozenlake_workflow import FrozenLakeWorkflow
from tutorial.example_frozenlake.policies import ModelPolicy, Policy, ScriptedPolicy

CONFIG = Path(__file__).parents[2] / "configs" / "env_service.yaml"


@contextmanager
def env_server() -> Iterator[str]:
    """The URL of a fresh `astuner env serve` on a free port, which is ended with the block."""
    command = [sys.executable, "-c", "from agentscope_tuner.cli import main; main()", "env", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            found = re.search(r"http://\S+", line)
            if found is None:
                raise RuntimeError(f"the env server did not start: {line!r}")
            yield found.group()
        finally:
            server.terminate()


@contextmanager
def policy_of(asked: argparse.Namespace) -> Iterator[Policy]:
    """The policy that the options name; a model without a URL is the small one of `make record`, served meanwhile."""
    if asked.policy == "scripted":
        yield ScriptedPolicy(asked.stumble, seed=0)
    elif asked.base_url:
        yield ModelPolicy(asked.base_url, asked.model, os.environ.get("OPENAI_API_KEY", "none"))
    else:
        from tutorial.record_rollouts import served_model, weights_file

        weights = weights_file()
        with served_model(weights) as endpoint:
            yield ModelPolicy(f"{str(endpoint.base_url).rstrip('/')}/v1", weights.stem)


async def play_and_judge(client: EnvServiceClient, judge: TaskJudge, policy: Policy, task_id: str) -> Judgement:
    """One rollout as a trainer makes it: create, execute, judge, release."""
    with GymEnv(client, "frozenlake", task_id) as env:
        task = WorkflowTask(
            task=Task(task_id=task_id, env_type="frozenlake"), task_env_uuid=env.instance_id, gym_env=env
        )
        output = await FrozenLakeWorkflow().execute(task, policy)
        return judge.judge(task, output)


def main() -> None:
    """Plays and prints one row an episode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", choices=["scripted", "model"], default="scripted")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--stumble", type=float, default=0.3, help="how often the scripted policy goes astray, 0 to 1")
    parser.add_argument("--base-url", help="an OpenAI-compatible endpoint, with its /v1, for --policy model")
    parser.add_argument("--model", default="default", help="the model's name at --base-url")
    asked = parser.parse_args()
    judge = load_judge(CONFIG)
    table = Table("task", "status", "reward", "solved", "reason", title=f"FrozenLake, {asked.policy} policy")
    judged: list[Judgement] = []
    with env_server() as url, EnvServiceClient(url) as client, policy_of(asked) as policy:
        for task_id in client.get_env_profile("frozenlake")[: asked.episodes]:
            one = asyncio.run(play_and_judge(client, judge, policy, task_id))
            judged.append(one)
            table.add_row(task_id, one.status, str(one.reward), str(one.is_success), one.error or one.reason)
    Console().print(table)
    solved = sum(one.is_success is True for one in judged)
    print(f"{len(judged)} episodes, {solved} solved, {sum(one.status == 'failed' for one in judged)} failed")


if __name__ == "__main__":
    main()
