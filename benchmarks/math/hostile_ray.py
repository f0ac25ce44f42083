"""The hostile answers inside a Ray actor: `make test-hostile`."""

from __future__ import annotations

import sys

import ray

from benchmarks.math import hostile


class Judge:
    """What a trainer's reward actor does."""

    def judge(self) -> hostile.Result:
        return hostile.judge_all("Ray actor")


def main() -> int:
    """0 when nothing was paid, late or run."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    actor = ray.remote(Judge).remote()
    code = hostile.show(ray.get(actor.judge.remote()))
    ray.shutdown()
    return code


if __name__ == "__main__":
    sys.exit(main())
