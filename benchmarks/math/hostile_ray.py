"""The hostile answers inside a Ray actor: `make test-hostile`."""

from __future__ import annotations

import json
import sys
from typing import Any

import ray

from benchmarks.math import hostile


class Judge:
    """What a trainer's reward actor does."""

    def judge(self) -> dict[str, Any]:
        return hostile.judge_all("Ray actor")


def main() -> int:
    """0 when nothing was paid, late or run."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    actor = ray.remote(Judge).remote()
    result = ray.get(actor.judge.remote())
    print(json.dumps(result, indent=1, ensure_ascii=False))
    ray.shutdown()
    return 1 if result["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
