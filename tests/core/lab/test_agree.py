"""`astuner agree`: verdicts beside labels, failed ones apart."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.agree import agreement
from agentscope_tuner.lab.labels import read_labels
from agentscope_tuner.lab.statistics import clustered_share
from tests.scored_lines import rows, scored, written

ROWS = [
    scored("1", 1.0, label={"is_success": True}, metadata={"source": "a"}),
    scored("2", 1.0, label={"is_success": False}, metadata={"source": "a"}, reason="loose: contains 4"),
    scored("3", 0.0, label={"is_success": False}, metadata={"source": "b"}),
    scored("4", 0.0, label={"is_success": True}, metadata={"source": "b"}),
    scored("5", 0.0, label={"is_success": False}, metadata={"source": "b"}),
    scored("6", None, label={"is_success": True}),
    scored("7", 1.0),
]


def test_measures_failed_rows_and_disagreements() -> None:
    report = agreement(rows(ROWS), None, by="metadata.source")
    assert (report["rows"], report["labelled"], report["unlabelled"]) == (7, 5, 1)
    # five rows of one task were `0.600 to 0.600`
    assert report["measures"]["accuracy"]["interval"] is None
    assert report["failed"] == {"rows": 1, "causes": {"endpoint": 1}}
    assert report["confusion"] == {"true_positive": 1, "false_positive": 1, "true_negative": 2, "false_negative": 1}
    assert report["measures"]["accuracy"]["value"] == pytest.approx(0.6)
    assert {(one["id"], one["kind"]) for one in report["differences"]} == {("2", "false pass"), ("4", "false fail")}
    assert next(one for one in report["differences"] if one["id"] == "2")["reason"] == "loose: contains 4"
    assert report["slices"]["a"]["accuracy"] == pytest.approx(0.5)
    assert report["slices"]["b"]["rows"] == 3


def test_rows_without_a_label_are_counted_each_wherever_the_labels_are() -> None:
    unlabelled = [scored("7", 1.0), scored("8", 0.0)]
    report = agreement(rows([unlabelled[0], *ROWS[:2], unlabelled[1]]), None)
    assert (report["labelled"], report["unlabelled"], report["unsure"]) == (2, 2, 0)
    report = agreement(rows([*unlabelled, *ROWS[:3]]), {("1", 0): 1.0, ("2", 0): None, ("3", 0): None})
    assert (report["labelled"], report["unlabelled"], report["unsure"]) == (1, 2, 2)


def test_a_missing_label_is_none_and_not_wrong() -> None:
    nan = float("nan")
    own = [scored("8", 1.0, label={"score": nan}), scored("9", 1.0, label={"score": nan, "is_success": True})]
    report = agreement(rows([*ROWS, *own]), None)
    assert (report["rows"], report["labelled"]) == (9, 6)
    assert report["confusion"]["true_positive"] == 2
    assert report["confusion"]["false_positive"] == 1


def test_labels_of_the_viewer_the_last_line_counts_and_unsure_is_no_verdict(tmp_path: Path) -> None:
    said = [
        ("1", "wrong"),
        ("1", "right"),
        ("2", "wrong"),
        ("3", "unsure"),
        ("4", "right"),
        ("5", "right"),
        ("9", "right"),
    ]
    path = tmp_path / "rows.labels.jsonl"
    lines = [{"id": name, "label": label, "remark": "", "at": "2026-01-01"} for name, label in said]
    written(path, [*lines, {"id": "5", "label": None}])
    labels = read_labels(path)
    assert labels == {("1", 0): 1.0, ("2", 0): 0.0, ("3", 0): None, ("4", 0): 1.0, ("9", 0): 1.0}
    report = agreement(rows(ROWS), labels)
    assert (report["labelled"], report["unsure"], report["missing"]) == (3, 1, 1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "id,label\n1,right\n2,0\n"),
        ("l.tsv", "id\tlabel\n1\ttrue\n2\tfalse\n"),
        ("l.jsonl", '{"id": 1, "label": true}\n{"id": 2, "score": 0}\n'),
        ("l.jsonl", '{"id": "1", "task": {}, "label": {"is_success": true}}\n'
                    '{"id": "2", "task": {}, "label": {"score": 0}}\n'),
        ("l.jsonl", '{"id": "1", "task": {}, "judgement": {"status": "judged", "is_success": true, "reward": 0.9}}\n'
                    '{"id": "2", "task": {}, "judgement": {"status": "judged", "is_success": false, "reward": 0.1}}\n'),
    ],
)  # fmt: skip
def test_labels_are_read_as_people_write_them(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert read_labels(path) == {("1", 0): 1.0, ("2", 0): 0.0}


@pytest.mark.parametrize(
    "text",
    [
        '{"id": 1, "label": "maybe"}',
        '{"label": true}',
        "[1]",
        "{",
        '{"id": 1, "label": NaN}',
        "",
        '{"id": 1}',
        '{"id": 1, "nth": [1], "label": "right"}',
        '{"id": 1, "nth": -1, "label": "right"}',
        '{"id": 1, "nth": true, "label": "right"}',
        '{"id": 1, "nth": "two", "label": "right"}',
    ],
)
def test_labels_that_are_none_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"l.jsonl"):
        read_labels(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "id,label\n1,right\n2,x\n"),
        ("l.tsv", "id\tlabel\n1\tright\n2\tx\n"),
        ("l.jsonl", '{"id": "1", "label": "right"}\n\n{"id": "2", "label": "x"}\n'),
    ],
)
def test_a_wrong_label_is_named_with_its_line(tmp_path: Path, name: str, text: str) -> None:
    # a header and empty lines are lines, too
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ConfigError, match=rf"{name}:3: a label is right, wrong, .* got 'x'"):
        read_labels(path)


def test_a_table_of_labels_with_a_cell_without_end_is_named(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    # the bound is one of the process, which the reader of other tables raises
    before = csv.field_size_limit(131_072)
    request.addfinalizer(lambda: csv.field_size_limit(before))
    path = tmp_path / "l.csv"
    path.write_text(f'id,label\n1,"{"x" * 200_000}')
    with pytest.raises(ConfigError, match=r"cannot read the labels of .*l\.csv.*field larger"):
        read_labels(path)


def test_a_failed_verdict_is_in_no_measure() -> None:
    labelled = [scored("1", 1.0, label={"is_success": True}), scored("2", None, label={"is_success": False})]
    report = agreement(rows(labelled), None)
    assert report["measures"]["accuracy"]["value"] == 1.0
    assert report["confusion"]["true_negative"] == 0
    assert report["measures"]["auc"]["value"] is None


def test_rows_of_one_id_are_told_apart_by_their_order() -> None:
    report = agreement(rows([scored("1", 1.0), scored("1", 0.0)]), {("1", 0): 1.0, ("1", 1): 0.0})
    assert report["measures"]["accuracy"]["value"] == 1.0


def test_a_scale_of_ratings_needs_a_threshold() -> None:
    rated = [scored(str(number), number / 5, label={"score": number}) for number in range(1, 6)]
    with pytest.raises(ConfigError, match="reach from 1 to 5: say by --threshold"):
        agreement(rows(rated), None)
    report = agreement(rows(rated), None, threshold=3)
    assert report["measures"]["spearman"]["value"] == pytest.approx(1.0)
    assert report["measures"]["accuracy"]["value"] == 1.0


def test_nothing_in_common_is_an_error_and_not_a_perfect_score() -> None:
    with pytest.raises(ConfigError, match="none of 1 rows has a verdict and a label"):
        agreement(rows([scored("1", 1.0)]), {("2", 0): 1.0})


def test_the_command_prints_measures_and_json(tmp_path: Path) -> None:
    path = written(tmp_path / "scored.jsonl", ROWS)
    shown = CliRunner().invoke(app, ["agree", "--input", path, "--by", "metadata.source"])
    assert shown.exit_code == 0, shown.output
    assert "kappa" in shown.output
    said = CliRunner().invoke(app, ["agree", "--input", path, "--json"])
    assert json.loads(said.output)["confusion"]["false_positive"] == 1


def test_an_unscored_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.jsonl", [{"id": "1", "task": {}, "output": {}}])
    result = CliRunner().invoke(app, ["agree", "--input", path])
    assert result.exit_code == 2
    assert "rows.jsonl:1: the row has no judgement" in result.output


def test_rows_without_a_label_in_the_file_are_counted_and_said(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"id": "1", "label": "right"}\n{"id": "2", "label": "wrong"}\n{"id": "3", "label": "unsure"}\n')
    report = agreement(rows(ROWS), read_labels(labels))
    assert (report["rows"], report["labelled"], report["unsure"], report["unlabelled"]) == (7, 2, 1, 4)
    path = written(tmp_path / "scored.jsonl", ROWS)
    result = CliRunner().invoke(app, ["agree", "--input", path, "--labels", str(labels)])
    said = " ".join(result.output.split())
    assert "unlabelled │ 4" in said
    assert "they take 10 tasks or more" in said


def test_intervals_over_tasks_stay_within_the_range_of_their_measure() -> None:
    lines = [
        scored(f"{task}-{sample}", float((task + sample) % 5 > 0), task=f"t{task}", label={"score": sample % 4 > 0})
        for task in range(16) for sample in range(6)
    ]  # fmt: skip
    report = agreement(rows(lines), None)
    assert report["missing"] == 0
    # Of each task's four or five passes, as many as its labels say are right
    kept = [[sample % 4 > 0 for sample in range(6) if (task + sample) % 5 > 0] for task in range(16)]
    precision = clustered_share([sum(one) for one in kept], [len(one) for one in kept])
    assert report["measures"]["precision"]["interval"] == pytest.approx(precision)
    for name, measure in report["measures"].items():
        low, high = measure["interval"]
        assert low < measure["value"] < high, name
        assert (0 if name in ("accuracy", "precision", "recall", "f1", "auc") else -1) <= low <= high <= 1
