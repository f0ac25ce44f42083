"""Two nodes on this machine; one of them is lost in the middle of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from agentscope_tuner.engines.ray.files import score_files
from tests.with_ray.rollouts import config, scored, write

ANSWERS = ["x" * (index % 11) for index in range(1200)]
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
# a lost node is noticed in seconds, not in half a minute
QUICK = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}


class TwoNodes:
    """The driver's node, and one that can be lost."""

    def __init__(self) -> None:
        head = {**NODE, "include_dashboard": False, "_system_config": QUICK}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self._node = self._cluster.add_node(**NODE)
        ray.init(address=self._cluster.address, log_to_driver=False, logging_level="error")
        self._cluster.wait_for_nodes()

    def lose_one(self) -> None:
        self._cluster.remove_node(self._node, allow_graceful=False)

    def close(self) -> None:
        ray.shutdown()
        self._cluster.shutdown()


@pytest.fixture
def nodes() -> Iterator[TwoNodes]:
    two = TwoNodes()
    yield two
    two.close()


def used_nodes(folder: Path) -> set[str]:
    return {path.read_text() for path in folder.iterdir()}


def test_files_are_judged_whole_although_a_node_is_lost(tmp_path: Path, nodes: TwoNodes) -> None:
    source, pids = write(tmp_path / "r.jsonl", ANSWERS), tmp_path / "pids"
    pids.mkdir()
    conf: dict[str, Any] = config(pids=str(pids), seconds=0.004)
    options: dict[str, Any] = {"digest": "d", "jobs": 2, "size": 8_000}
    for _ in score_files(conf, [source], tmp_path / "undisturbed", **options):
        pass
    for number, _ in enumerate(score_files(conf, [source], tmp_path / "out", **options)):
        if number == 4:
            assert len({ray.get_runtime_context().get_node_id(), *used_nodes(pids)} - {""}) == 2
            nodes.lose_one()
    assert len(scored(tmp_path / "out")) == len(ANSWERS)
    assert scored(tmp_path / "out") == scored(tmp_path / "undisturbed")
