"""The guide on scale quotes what `make capacity` prints from the measurements that are kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.scale import capacity

ROOT = Path(__file__).parents[3]
GUIDES = [ROOT / "docs" / "scale.md", ROOT / "docs" / "scale.zh.md"]


@pytest.mark.slow
def test_the_quoted_tables_are_those_that_it_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["capacity"])
    capacity.main()
    printed = capsys.readouterr().out
    for guide in GUIDES:
        assert f"```text\n{printed}```" in guide.read_text(encoding="utf-8"), guide.name


def test_the_queue_is_that_of_theory() -> None:
    # M/M/1 at 80 %: P(wait > t) = 0.8 exp(-t (1 - 0.8) / service), so that 1 % wait longer than 21.9 service times
    found = capacity.wait_p99(0.8, 1, lambda chance: chance.expovariate(1.0), group=1)
    assert found == pytest.approx(21.9, rel=0.5)
    # a free core for each member of a group: nobody waits
    assert capacity.wait_p99(1.0, 200, lambda chance: 0.001, group=16) == 0.0


def test_a_node_that_goes_makes_a_queue_that_flows_off() -> None:
    # 128 cores, half of them gone: 100 a second come, 80 go; 1,200 wait, and flow off at 60 a second
    wait, drained = capacity.node_lost(rate=100.0, capacity=160.0, cores=128)
    assert wait == pytest.approx(1200 / 160)
    assert drained == pytest.approx(1200 / 60)
    assert capacity.node_lost(rate=10.0, capacity=160.0, cores=128) == (0.0, 0.0)
    assert capacity.node_lost(rate=10.0, capacity=20.0, cores=8)[0] == capacity.ASSUMED.away


def test_the_measurements_name_their_machine_and_every_kind() -> None:
    kept = json.loads(capacity.KEPT.read_text(encoding="utf-8"))
    assert {"date", "processor", "python", "version", "cores"} <= kept["about"].keys()
    assert all(kind.mean > 0 for kind in capacity.kinds(kept["kinds"]))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", kept["about"]["date"])
