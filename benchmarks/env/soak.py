"""Episodes against the reference server, many at a time, while the server is killed and restarted in the middle.

    make soak-env

Every episode's score is known beforehand. An episode that the restart took is no verdict and is played again, as a
trainer would; a wrong score, a move played twice or a worker left behind ends the run with exit code 1.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import os
import platform
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

from agentscope_tuner.env_service import ClientOptions, EnvServiceClient, GymEnv
from agentscope_tuner.env_service.countdown import make_puzzle
from agentscope_tuner.errors import EnvServiceError
from agentscope_tuner.task_judge.env_service_as_judge import EnvServiceJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.with_servers.env.running_server import RunningServer, alive

JUNK = "I would rather talk about \ud800 something else."
PUZZLES = 40
MAX_ATTEMPTS = 20


def solve(numbers: list[int], target: int) -> str | None:
    """An equation over all `numbers` that gives `target`, or None."""
    return _solve([(Fraction(number), str(number)) for number in numbers], target)


def _solve(terms: list[tuple[Fraction, str]], target: int) -> str | None:
    if len(terms) == 1:
        return terms[0][1] if terms[0][0] == target else None
    for i, j in itertools.permutations(range(len(terms)), 2):
        (left, a), (right, b) = terms[i], terms[j]
        rest = [term for k, term in enumerate(terms) if k not in (i, j)]
        results = [(left + right, f"({a}+{b})"), (left - right, f"({a}-{b})"), (left * right, f"({a}*{b})")]
        if right:
            results.append((left / right, f"({a}/{b})"))
        for result in results:
            found = _solve([*rest, result], target)
            if found:
                return found
    return None


class Soak:
    """The run: what to play, the server, and what happened."""

    def __init__(self, server: RunningServer, episodes: int, at_once: int) -> None:
        self.server = server
        self.episodes = episodes
        self.at_once = at_once
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.orphans: list[int] = []
        self.begun = 0
        self._lock = threading.Lock()
        self._half_way = threading.Event()
        self._solutions = {}
        for number in range(PUZZLES):
            numbers, target = make_puzzle(f"train-{number}")
            self._solutions[f"train-{number}"] = solve(numbers, target)

    def run(self) -> None:
        """Plays all episodes and replaces the server once half of them were played."""
        with (
            EnvServiceClient(self.server.url, ClientOptions(backoff=0.1, max_connections=self.at_once)) as client,
            ThreadPoolExecutor(self.at_once + 1) as pool,
        ):
            restart = pool.submit(self._restart)
            for done in [pool.submit(self._until_judged, client, number) for number in range(self.episodes)]:
                done.result()
            restart.result()

    def _restart(self) -> None:
        self._half_way.wait()
        self.orphans = self.server.workers()
        self.server.kill()
        self.server = RunningServer(port=self.server.port)

    def _until_judged(self, client: EnvServiceClient, number: int) -> None:
        with self._lock:
            self.begun += 1
            if self.begun == self.episodes // 2:
                self._half_way.set()
        for _ in range(MAX_ATTEMPTS):
            try:
                self._play(client, number)
            except EnvServiceError as exc:
                self._count(f"no verdict: {type(exc).__name__}")
                # the server takes a moment to come back
                threading.Event().wait(0.5)
            else:
                self._count("judged")
                return
        self.wrong.append(f"episode {number}: no verdict after {MAX_ATTEMPTS} attempts")

    def _play(self, client: EnvServiceClient, number: int) -> None:
        task_id = f"train-{number % PUZZLES}"
        given = make_puzzle(task_id)[0][0]
        attempt = f"\\boxed{{{given}+{given}}}"
        moves = [[JUNK], [JUNK, attempt], [JUNK, attempt, f"\\boxed{{{self._solutions[task_id]}}}"]]
        kind = number % len(moves)
        expected = [(0.0, False), (0.05, False), (1.5, True)][kind]
        with GymEnv(client, "countdown", task_id) as env:
            for count, move in enumerate(moves[kind], 1):
                turns = env.step({"role": "assistant", "content": move}).info["turns"]
                if turns != count:
                    self.wrong.append(f"episode {number}: {count} moves were sent and {turns} played")
            task = WorkflowTask(task=Task(task_id=task_id), task_env_uuid=env.instance_id, gym_env=env)
            reward = EnvServiceJudge(config=None).compute_reward(task, WorkflowOutput())
        if tuple(reward) != expected:
            self.wrong.append(f"episode {number}: {tuple(reward)}, not {expected}")

    def _count(self, what: str) -> None:
        with self._lock:
            self.seen[what] += 1


def main() -> None:
    """Prints what happened; exit code 1 when something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=2_000)
    parser.add_argument("--at-once", type=int, default=32)
    asked = parser.parse_args()
    # the client warns of each instance it could not release, of which a killed server leaves many
    logging.getLogger("agentscope_tuner").setLevel(logging.ERROR)
    print(f"{os.cpu_count()} processors, Python {platform.python_version()}")
    soak = Soak(RunningServer(), asked.episodes, asked.at_once)
    start = time.perf_counter()
    try:
        soak.run()
    finally:
        left = soak.server.workers()
        soak.server.terminate()
    seconds = time.perf_counter() - start
    rate = asked.episodes / seconds
    print(f"{asked.episodes} episodes, {asked.at_once} at a time, {seconds:.1f} s, {rate:.1f} a second")
    for what, count in sorted(soak.seen.items()):
        print(f"  {what:<32} {count}")
    orphans = [pid for pid in soak.orphans if alive(pid)]
    print(f"  workers when the server was killed {len(soak.orphans)}, alive now {len(orphans)}")
    print(f"  instances left at the end          {len(left)}")
    print(f"  wrong                              {len(soak.wrong)}")
    for line in soak.wrong[:10]:
        print(f"    {line}")
    sys.exit(1 if soak.wrong or left or orphans or soak.seen["judged"] != asked.episodes else 0)


if __name__ == "__main__":
    main()
