"""A small Ray on this machine: two workers, little memory, nothing shown anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import ray


@pytest.fixture(scope="module")
def small_ray() -> Iterator[Any]:
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100 * 2**20,
        log_to_driver=False,
        logging_level="error",
    )
    yield ray
    ray.shutdown()
