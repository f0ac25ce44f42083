"""agentscope agents over one process and over two: `python -m benchmarks.rollout.over_processes`.

64 rollouts at once against an endpoint with 200 ms latency. Both are measured from the first group of rows to the last,
so that starting processes and importing agents is in neither.
"""

from __future__ import annotations

import time
from typing import Any

from agentscope_tuner.config import resolve
from agentscope_tuner.rollouts import RolloutProcesses, load_settings, model_tuners
from agentscope_tuner.rollouts.settings import RolloutConfig
from benchmarks.rollout.at_once import AT_ONCE, endpoint, tasks

CALLS, ROLLOUTS, WARM_UP, BAR = 5, 384, 128, 1.8


def rate(processes: int, port: int) -> float:
    """Rollouts a second, after the first `WARM_UP` of them."""
    rollout: dict[str, Any] = {
        "agentscope_workflow": "benchmarks.rollout.at_once->ByAgent",
        "max_env_worker": AT_ONCE,
        "model": {"base_url": f"http://127.0.0.1:{port}/v1", "name": "m"},
    }
    reader = {"type": "jsonl_dataset_file", "jsonl_dataset_file": {"training": {"file_path": "unread"}}}
    judge = {"judge_protocol": "benchmarks.rollout.at_once->AlwaysRight"}
    config = resolve({"astuner": {"rollout": rollout, "task_reader": reader, "task_judge": judge}})
    wanted: RolloutConfig = load_settings(config).rollout
    started = 0.0
    groups = RolloutProcesses(config, model_tuners, wanted, processes).run(tasks(ROLLOUTS, CALLS))
    for number, (row,) in enumerate(groups, 1):
        assert row.judgement.reward == 1.0, row.played.error
        if number == WARM_UP:
            started = time.perf_counter()
        elif number == ROLLOUTS:
            return (ROLLOUTS - WARM_UP) / (time.perf_counter() - started)
    raise AssertionError(f"fewer than {ROLLOUTS} rows")


def main() -> None:
    """Prints one line: the ratio, and whether it is met."""
    with endpoint() as port:
        one, two = rate(1, port), rate(2, port)
    ratio = two / one
    verdict = "met" if ratio >= BAR else f"missed by {BAR - ratio:.2f}"
    rates = f"{one:.1f} and {two:.1f} rollouts/s"
    print(f"agents over two processes, beside one, {rates}: {ratio:.2f}x (>= {BAR}x) {verdict}")


if __name__ == "__main__":
    main()
