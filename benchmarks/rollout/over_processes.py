"""agentscope agents over one process and over two: `python -m benchmarks.rollout.over_processes`.

256 rollouts at once against an endpoint with 200 ms latency: with 64, one process comes so near to the ideal of 64
rollouts a second that two could not be 1.8 times as fast. Both are measured from the 256th group of rows to the last,
so that starting processes and importing agents is in neither. The endpoint and the parent take their processor time
from the same cores, which is printed. Under a minute.
"""

from __future__ import annotations

import time
from typing import Any

from agentscope_tuner.config import resolve
from agentscope_tuner.lab.rollouts.processes import RolloutProcesses
from agentscope_tuner.lab.rollouts.runner import model_tuners
from agentscope_tuner.lab.rollouts.settings import RolloutConfig, load_settings
from benchmarks.bars import at_least
from benchmarks.rollout.at_once import Endpoint, endpoint, tasks

AT_ONCE, CALLS, ROLLOUTS, WARM_UP, BAR = 256, 5, 1024, 256, 1.8


def rate(processes: int, served: Endpoint) -> float:
    """Rollouts a second, after the first `WARM_UP` of them; prints what they took."""
    rollout: dict[str, Any] = {
        "agentscope_workflow": "benchmarks.rollout.at_once->ByAgent",
        "max_env_worker": AT_ONCE,
        "model": {"base_url": f"http://127.0.0.1:{served.port}/v1", "name": "m"},
    }
    reader = {"type": "jsonl_dataset_file", "jsonl_dataset_file": {"training": {"file_path": "unread"}}}
    judge = {"judge_protocol": "benchmarks.rollout.at_once->AlwaysRight"}
    config = resolve({"astuner": {"rollout": rollout, "task_reader": reader, "task_judge": judge}})
    wanted: RolloutConfig = load_settings(config).rollout
    started = own = used = 0.0
    groups = RolloutProcesses(config, model_tuners, wanted, processes).run(tasks(ROLLOUTS, CALLS))
    for number, (row,) in enumerate(groups, 1):
        assert row.judgement.reward == 1.0, row.played.error
        if number == WARM_UP:
            started, own, used = time.perf_counter(), time.process_time(), served.cpu_seconds()
        elif number == ROLLOUTS:
            seconds = time.perf_counter() - started
            found = (ROLLOUTS - WARM_UP) / seconds
            own, used = (time.process_time() - own) / seconds, (served.cpu_seconds() - used) / seconds
            print(f"{processes} process(es): {found:.1f} rollouts/s", end="")
            print(f"; of a core, the parent took {own:.0%} and the endpoint {used:.0%}", flush=True)
            return found
    raise AssertionError(f"fewer than {ROLLOUTS} rows")


def main() -> None:
    """Prints both rates, and the ratio."""
    with endpoint() as served:
        one, two = rate(1, served), rate(2, served)
    at_least("agents over two processes, beside one", two / one, BAR)


if __name__ == "__main__":
    main()
