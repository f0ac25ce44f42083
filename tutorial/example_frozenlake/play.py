"""Play FrozenLake without a model and judge the episodes: `make demo-frozenlake`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from agentscope_tuner import Judgement, Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.env_service import EnvServiceClient, GymEnv
from tutorial.example_frozenlake.scripted_policy import ScriptedPolicy
from tutorial.example_frozenlake.with_env_server import env_server

CONFIG = Path(__file__).parents[2] / "configs" / "env_service.yaml"


def play(env: GymEnv, policy: ScriptedPolicy) -> WorkflowOutput:
    """One episode; what was said is kept for whoever reads the rollout."""
    messages: list[dict[str, Any]] = list(env.state)
    terminated = False
    while not terminated:
        action = {"role": "assistant", "content": policy.reply(messages)}
        step = env.step(action)
        messages += [action, *step.state]
        terminated = step.is_terminated
    return WorkflowOutput(metadata={"final_answer": messages[-2]["content"], "messages": messages})


def play_and_judge(client: EnvServiceClient, judge: TaskJudge, policy: ScriptedPolicy, task_id: str) -> Judgement:
    """One rollout by hand: create, play, judge, release."""
    with GymEnv(client, "frozenlake", task_id) as env:
        task = WorkflowTask(
            task=Task(task_id=task_id, env_type="frozenlake"), task_env_uuid=env.instance_id, gym_env=env
        )
        return judge.judge(task, play(env, policy))


def main() -> None:
    """Plays and prints one row an episode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--stumble", type=float, default=0.3, help="how often the policy goes astray, 0 to 1")
    asked = parser.parse_args()
    judge, policy = load_judge(CONFIG), ScriptedPolicy(asked.stumble, seed=0)
    table = Table("task", "status", "reward", "solved", "reason", title="FrozenLake, scripted policy")
    judged: list[Judgement] = []
    with env_server() as url, EnvServiceClient(url) as client:
        for task_id in client.get_env_profile("frozenlake")[: asked.episodes]:
            one = play_and_judge(client, judge, policy, task_id)
            judged.append(one)
            table.add_row(task_id, one.status, str(one.reward), str(one.is_success), one.error or one.reason)
    Console().print(table)
    solved = sum(one.is_success is True for one in judged)
    print(f"{len(judged)} episodes, {solved} solved, {sum(one.status == 'failed' for one in judged)} failed")


if __name__ == "__main__":
    main()
