"""`astuner compare`: which verdicts changed, and what a trainer makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.compare import compare
from tests.scored_lines import rows, scored, written

FIRST = [
    scored("1", 1.0, reason="loose: contains 4"),
    scored("2", 1.0),
    scored("3", 0.0),
    scored("4", 0.2),
    scored("5", 1.0),
    scored("6", 0.0),
]
SECOND = [
    scored("1", 0.0, reason="exact: 5 is not 4"),
    scored("2", 1.0),
    scored("3", 1.0),
    scored("4", 0.3),
    scored("5", None),
    scored("7", 0.0),
]


def test_changes_by_direction_stage_and_task() -> None:
    found = compare(rows(FIRST), rows(SECOND)).to_dict()
    assert (found["rows"], found["only_first"], found["only_second"]) == (5, 1, 1)
    assert found["changes"] == {
        "right to wrong": 1, "same": 1, "wrong to right": 1, "reward only": 1, "right to no verdict": 1,
    }  # fmt: skip
    assert found["changed"] == 3
    assert found["stages"] == {"loose to exact": 1, "exact to exact": 1, "exact to failed": 1}
    assert found["tasks"] == {"t": 3}
    assert found["mcnemar"]["p_value"] == 1.0


def test_rows_that_do_not_tell_their_success_are_counted() -> None:
    first = [scored("1", 0.6, is_success=None), scored("2", 1.0), scored("3", None)]
    second = [scored("1", 0.7), scored("2", 0.2, is_success=None), scored("3", None)]
    assert compare(rows(first), rows(second)).to_dict()["untold"] == 2


def test_changes_of_one_task_are_one_change() -> None:
    first, second = ([scored(str(n), reward) for n in range(8)] for reward in (1.0, 0.0))
    assert compare(rows(first), rows(second)).to_dict()["mcnemar"]["p_value"] == 1.0


def test_rules_and_parts_of_a_combined_reward() -> None:
    one = {"part/format": 0.1, "part/old": 1.0, "part/format/length": 12.0}
    first = [scored("1", 0.5, metrics=one), scored("2", 1.0)]
    second = [
        scored("1", 0.8, metrics={"part/format": 0.4, "part/format/length": 900.0}),
        scored("2", 0.0, status="filtered", violations=["too_long"]),
    ]
    found = compare(rows(first), rows(second)).to_dict()
    assert found["parts"] == {"part/format": {"mean_change": pytest.approx(0.3), "rows": 1}}
    assert found["rules"] == {"too_long": 1}
    assert found["stages"] == {"exact to filtered": 1}


def test_what_a_trainer_would_make_of_it(tmp_path: Path) -> None:
    def groups(*rewards: tuple[float, ...]) -> list[dict[str, object]]:
        return [
            scored(f"{task}.{place}", reward, task=str(task))
            for task, group in enumerate(rewards)
            for place, reward in enumerate(group)
        ]

    first = groups((1.0, 0.0, 0.0), (1.0, 0.0), (0.5, 0.5), (1.0, 0.0), (1.0,))
    second = groups((0.0, 1.0, 0.0), (1.0, 1.0), (0.5, 0.6), (0.9, 0.1), (0.0,))
    found = compare(rows(first), rows(second)).to_dict()["advantages"]
    # a group of one row has no advantage
    assert found == {"groups": 4, "rows": 9, "turned": 1, "rows_turned": 2, "lost_signal": 1, "gained_signal": 1}
    paths = [written(tmp_path / f"{name}.jsonl", one) for name, one in (("a", first), ("b", second))]
    said = " ".join(CliRunner().invoke(app, ["compare", *paths]).output.split())
    for told in ("advantage groups │ 4", "with a sign turned │ 1, 2 of 9 rows", "signal lost, gained │ 1, 1"):
        assert told in said


def test_labels_tell_a_mended_hole_from_a_regression() -> None:
    labels = {("1", 0): 0.0, ("3", 0): 0.0}
    found = compare(rows(FIRST), rows(SECOND), labels)
    assert (found.labelled, found.improvements) == (2, 1)
    # row 3 is paid wrongly now, and row 5, without a label, has lost its verdict
    assert found.regressions == 2


@pytest.mark.parametrize(
    ("fail_on", "second", "code"),
    [
        ("regression", FIRST, 0),
        ("regression", SECOND, 1),
        ("change", SECOND, 1),
        ("regression", [{**FIRST[2], "judgement": FIRST[1]["judgement"]}], 0),
        ("change", [{**FIRST[2], "judgement": FIRST[1]["judgement"]}], 1),
    ],
)
def test_exit_codes(tmp_path: Path, fail_on: str, second: list[dict[str, object]], code: int) -> None:
    first, other = written(tmp_path / "a.jsonl", FIRST), written(tmp_path / "b.jsonl", second)
    result = CliRunner().invoke(app, ["compare", first, other, "--fail-on", fail_on])
    assert result.exit_code == code, result.output


def test_the_command_prints_json(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a.jsonl", FIRST), written(tmp_path / "b.jsonl", SECOND)
    said = json.loads(CliRunner().invoke(app, ["compare", first, second, "--json"]).output)
    assert said["examples"][0]["first"] == {"reward": 1.0, "reason": "loose: contains 4"}


def test_rows_are_read_in_the_form_that_is_named(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a.jsonl", FIRST), written(tmp_path / "b.jsonl", SECOND)
    result = CliRunner().invoke(app, ["compare", first, second, "--format", "trl"])
    assert result.exit_code == 2
    assert "no prompt" in result.output


def test_files_without_a_row_in_common_are_refused() -> None:
    with pytest.raises(ConfigError, match="no row in common"):
        compare(rows(FIRST[:1]), rows(SECOND[-1:]))
