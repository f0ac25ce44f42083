"""The index of a scored file: every row that can be read, whatever the file holds, however it grows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.lab.growing_files import TailedFile, TailLine
from agentscope_tuner.lab.labels import LabelsFile, beside
from agentscope_tuner.lab.view.index import RowIndex, fields_of
from agentscope_tuner.lab.view.overview import overview
from agentscope_tuner.lab.view.queries import (
    BadFilter,
    IndexReader,
    condition_of,
)
from tests.tables import each_row


def row(id_: object = "a-0", reward: float | None = 1.0, **more: Any) -> dict[str, Any]:
    status = more.pop("status", "judged" if reward is not None else "failed")
    judgement = {
        "status": status,
        "reward": reward,
        "is_success": more.pop("is_success", None if reward is None else reward > 0.5),
        "reason": more.pop("reason", "exact: 25 = 25"),
        "violations": more.pop("violations", []),
        "error": None,
        "cause": more.pop("cause", "endpoint" if status == "failed" else None),
        "metrics": more.pop("metrics", {}),
        "seconds": 0.001,
    }
    answer = more.pop("answer", "18 + 7 = 25. \\boxed{25}")
    task = {"main_query": "What is 18 + 7?", "task_id": more.pop("task", "a"), "metadata": {"answer": "25"}}
    return {"id": id_, "task": task, "output": {"metadata": {"final_answer": answer}}, **more, "judgement": judgement}


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


class Looked:
    """A scored file under view, with its questions."""

    def __init__(self, path: Path, earlier: Path | None = None) -> None:
        self.index = RowIndex(path)
        self.labels = LabelsFile(beside(path, "labels"))
        self.earlier = RowIndex(earlier) if earlier else None
        if self.earlier:
            self.earlier.update()
        self.reader = IndexReader(self.index, self.labels, self.earlier)
        self.index.update()

    def page(self, sort: str = "row", **filters: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.reader.page(filters, sort, 0, 100)["rows"]
        return found

    def ids(self, sort: str = "row", **filters: str) -> list[str]:
        return [found["id"] for found in self.page(sort, **filters)]

    def close(self) -> None:
        self.reader.close()
        self.index.close()
        if self.earlier:
            self.earlier.close()


@each_row
def file(tmp_path: Path) -> Path:
    return tmp_path / "scored.jsonl"


@each_row
def look() -> Iterator[Any]:
    opened: list[Looked] = []

    def open_(path: Path, earlier: Path | None = None) -> Looked:
        opened.append(Looked(path, earlier))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


@pytest.mark.parametrize(
    ("raw", "status", "problem"),
    [
        (b'{"id": 7}', "unreadable", "no judgement"),
        (b'{"id": "a", "judgement": null}', "unreadable", "no judgement"),
        (b'{"id": "a", "judgement": {"status": "great"}}', "unreadable", "no judgement"),
        (b"[1, 2]", "unreadable", "must be an object, got list"),
        (b"3", "unreadable", "must be an object, got int"),
        (b'{"judgement": {"status": ["judged"], "reward": 1.0}}', "unreadable", "no judgement"),
        (b'{"x": ' + b"[" * 600 + b"]" * 600 + b', "judgement": {"status": "failed"}}', "failed", None),
        (b'{"x": ' + b"[" * 600 + b"]" * 600 + b"}", "unreadable", "no judgement"),
        (b'{"id": "a", "jud', "unreadable", "not a row"),
        (b"\xff\xfe\x00", "unreadable", "not a row"),
        (b'{"a":' * 100_000, "unreadable", "not a row"),
        (b'{"judgement": {"status": "judged", "reward": NaN}}', "unreadable", "the reward is nan"),
        (b'{"judgement": {"status": "judged", "reward": 1e999}}', "unreadable", "the reward is inf"),
        (b'{"judgement": {"status": "judged", "reward": "1"}}', "unreadable", "the reward is '1'"),
        (b'{"judgement": {"status": "judged", "reward": true}}', "unreadable", "the reward is True"),
        # Two such rewards are further apart than any number: no bin of a chart could hold them
        (b'{"judgement": {"status": "judged", "reward": -1e308}}', "unreadable", "no finite number up to 1e+100"),
        (b'{"judgement": {"status": "failed", "reward": null}}', "failed", None),
        (b'{"task": 3, "output": [], "judgement": {"status": "filtered", "reward": 0}}', "filtered", None),
    ],
)
def test_a_line_without_a_verdict_says_why(raw: bytes, status: str, problem: str | None) -> None:
    fields = fields_of(raw)
    assert fields.status == status
    assert (problem in (fields.problem or "")) if problem else fields.problem is None


@pytest.mark.parametrize(
    ("reason", "stage"),
    [
        ("exact: 25 = 25", "exact"),
        ("no \\boxed{} in the answer", "no \\boxed{} in the answer"),
        ("1.0 for correct + 0.1 for style", "other"),
        ("x" * 80, "other"),
        ("", "other"),
    ],
)
def test_the_stage_is_how_the_reason_begins(reason: str, stage: str) -> None:
    assert fields_of(json.dumps(row(reason=reason)).encode()).stage == stage


@pytest.mark.parametrize(
    ("status", "told", "cause"),
    [
        ("failed", "endpoint", "endpoint"),
        ("failed", None, "unknown"),
        ("judged", None, None),
        ("filtered", "bug", None),
    ],
)
def test_a_row_has_a_cause_where_it_failed(status: str, told: str | None, cause: str | None) -> None:
    one = row(reward=None if status == "failed" else 0.0, status=status, cause=told)
    assert fields_of(json.dumps(one).encode()).cause == cause


def test_numbers_are_ids_too_and_rows_of_one_id_are_told_apart(file: Path, look: Any) -> None:
    file.write_bytes(lines(row(7), row("7"), row(8)))
    assert [(found["id"], found["nth"]) for found in look(file).page()] == [("7", 0), ("7", 1), ("8", 0)]


_PLACES = (
    *("id", "step", "trajectory", "task", "task.main_query", "task.init_messages", "task.task_id", "task.metadata"),
    *("task.metadata.answer", "output", "output.metadata", "output.metadata.final_answer", "judgement"),
    *("judgement.status", "judgement.reward", "judgement.is_success", "judgement.reason", "judgement.violations"),
    *("judgement.error", "judgement.cause", "judgement.metrics", "judgement.seconds"),
)
_ODD: tuple[object, ...] = (
    None, [], {}, "", "\ud800", True, -1, 10**400, [{}], {"": [1]}, [[["x"]]], {"a": {"b": None}}, float("inf"),
)  # fmt: skip


def test_no_row_whatever_stands_in_it_stops_the_reading(file: Path, look: Any) -> None:
    rows = []
    for place in _PLACES:
        for odd in _ODD:
            one = row("a", metrics={"part/style": 0.2}, violations=["short"])
            *path, last = place.split(".")
            inside: Any = one
            for name in path:
                inside = inside[name]
            inside[last] = odd
            rows.append(one)
    deep = b'{"id": "deep", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b', "judgement": {"status": "failed"}}\n'
    file.write_bytes(lines(*rows) + deep)
    looked = look(file)
    assert looked.index.rows == len(rows) + 1
    assert overview(looked.reader, {})["totals"]["rows"] == len(rows) + 1
    for n in range(1, len(rows) + 2):
        whole = looked.reader.whole_row(n)
        assert whole is not None
        assert isinstance(whole["row"], dict)
        json.dumps(whole, allow_nan=False)


def test_half_a_surrogate_pair_is_shown_as_its_escape_in_the_table(file: Path, look: Any) -> None:
    file.write_bytes(b'{"id": "\\ud800", "task": {"task_id": "\\udfff"}, "judgement": {"status": "failed"}}\n')
    looked = look(file)
    assert looked.ids() == ["\\ud800"]
    whole = looked.reader.whole_row(1)
    assert whole is not None
    assert whole["row"]["id"] == "\ud800"


def test_what_json_in_a_browser_has_no_form_for_is_text(file: Path, look: Any) -> None:
    file.write_bytes(b'{"id": "a", "x": NaN, "big": 9007199254740993, "judgement": {"status": "failed"}}\n')
    looked = look(file)
    whole = looked.reader.whole_row(1)
    assert whole is not None
    assert (whole["row"]["x"], whole["row"]["big"]) == ("nan", "9007199254740993")


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["r", "w", "f", "e", "p"]),
        ({"status": "failed"}, ["e"]),
        ({"cause": "endpoint"}, ["e"]),
        ({"success": "no"}, ["w", "f"]),
        ({"rule": "not_empty"}, ["f"]),
        ({"reward": "0.5..1"}, ["r"]),
        ({"reward": "0.5..1)"}, []),
        ({"reward": "1.1.."}, ["p"]),
        ({"step": "2..2"}, ["p"]),
        ({"stage": "numeric"}, ["w"]),
        ({"part": "style"}, ["p"]),
        ({"part": "style:0.5.."}, []),
        ({"part": "style:..0.3"}, ["p"]),
        ({"group": "mixed"}, ["r", "w", "f"]),
        ({"group": "all failed"}, []),
        ({"group": "single"}, ["e", "p"]),
        ({"q": "SIEBEN"}, ["p"]),
        ({"q": "答案"}, ["w"]),
        ({"q": "\\boxed{25}", "success": "yes"}, ["r", "p"]),
        ({"q": "final_answer"}, []),
        ({"label": "none"}, ["r", "w", "f", "e", "p"]),
    ],
)
def test_filters(filters: dict[str, str], found: list[str], file: Path, look: Any) -> None:
    file.write_bytes(
        lines(
            row("r"),
            row("w", 0.0, reason="numeric: 1 ≠ 25", answer="答案是 1"),
            row("f", 0.0, status="filtered", violations=["not_empty"], answer=""),
            row("e", None, task="b"),
            row("p", 1.2, task="c", step=2, metrics={"part/style": 0.2}, answer="Sieben \\boxed{25}"),
        )
    )
    assert look(file).ids(**filters) == found


@pytest.mark.parametrize("broken", [[], ["not_empty"], ["too_long", "not_empty"]])
def test_a_row_names_each_rule_that_it_broke(broken: list[str], file: Path, look: Any) -> None:
    file.write_bytes(lines(row(violations=broken)))
    assert look(file).page()[0]["violations"] == broken


@pytest.mark.parametrize(
    "filters",
    [{"color": "red"}, {"reward": "high"}, {"reward": ".."}, {"success": "1"}, {"q": "x" * 3000}, {"spread": "a..b"}],
)
def test_a_filter_that_is_none_is_refused(filters: dict[str, str]) -> None:
    with pytest.raises(BadFilter):
        condition_of(filters)


def test_a_filter_is_no_sql(file: Path, look: Any) -> None:
    file.write_bytes(lines(row()))
    looked = look(file)
    assert looked.ids(status="'; DROP TABLE rows; --") == []
    assert looked.ids() == ["a-0"]
    with pytest.raises(BadFilter, match="unknown sort"):
        looked.page("n; DROP TABLE rows")


def test_a_growing_file_is_read_as_it_grows_and_half_a_line_waits(file: Path, look: Any) -> None:
    looked = look(file)
    assert looked.ids() == []
    whole = lines(row("a"), row("b"))
    file.write_bytes(whole[:-30])
    assert looked.index.update()
    assert looked.ids() == ["a"]
    assert not looked.index.update()
    file.write_bytes(whole)
    looked.index.update()
    assert looked.ids() == ["a", "b"]
    with open(file, "ab") as stream:
        stream.write(lines(row("c"))[:-1])
    looked.index.update()
    assert looked.ids() == ["a", "b", "c"], "a last line without its end is whole all the same"


def test_the_rest_of_a_line_that_comes_while_the_file_is_read_belongs_to_its_beginning(file: Path) -> None:
    whole = lines(row("a"), row("b"))
    file.write_bytes(whole[:-30])
    batches = TailedFile(file, 0).batches(1, 1)
    first = next(batches)
    file.write_bytes(whole)
    second = next(batches)
    assert [json.loads(line.raw)["id"] for line in (*first, *second)] == ["a", "b"]
    assert list(batches) == []


def test_the_share_that_was_read_is_told_while_there_is_more(file: Path, look: Any) -> None:
    file.write_bytes(lines(*(row(n) for n in range(300))))
    told: list[float | None] = []

    class Watched(RowIndex):
        def _add(self, lines: list[TailLine]) -> None:
            told.append(self.share_read)
            super()._add(lines)

    index = Watched(file)
    index.update()
    assert told == [None, pytest.approx(2 / 3, abs=0.02)]
    assert index.share_read is None
    index.close()


def test_a_run_writes_aside_and_renames(file: Path, look: Any) -> None:
    partial = file.with_name("scored.jsonl.partial")
    partial.write_bytes(lines(row("a")))
    looked = look(file)
    assert looked.ids() == ["a"]
    with open(partial, "ab") as stream:
        stream.write(lines(row("b")))
    partial.rename(file)
    looked.index.update()
    assert looked.ids() == ["a", "b"]
    assert looked.index.epoch == 0, "the file is the same: what was indexed stays"


@pytest.mark.parametrize("now", [lines(row("c")), lines(row("x"), row("y"), row("z")), b""])
def test_a_file_that_shrinks_or_is_another_is_read_anew(now: bytes, file: Path, look: Any) -> None:
    file.write_bytes(lines(row("a"), row("b")))
    looked = look(file)
    file.write_bytes(now)
    looked.index.update()
    looked.index.update()
    assert looked.ids() == [json.loads(line)["id"] for line in now.splitlines()]
    assert looked.index.epoch == 1


def test_a_folder_is_one_run(tmp_path: Path, look: Any) -> None:
    (tmp_path / "part-0.jsonl").write_bytes(lines(row("a")))
    (tmp_path / "part-1.jsonl.partial").write_bytes(lines(row("b")))
    (tmp_path / "labels.jsonl").write_bytes(b'{"id": "a", "label": "right"}\n')
    (tmp_path / "notes.txt").write_text("no rows")
    looked = look(tmp_path)
    assert looked.ids() == ["a", "b"]
    assert looked.ids(label="right") == ["a"]
    second = looked.reader.whole_row(2)
    assert second is not None
    assert second["row"]["id"] == "b"


def test_a_line_beyond_the_bound_is_a_row_with_its_problem(file: Path, look: Any) -> None:
    file.write_bytes(lines(row("a")) + b'{"id": "' + b"x" * (16 * 2**20) + b'"}\n' + lines(row("b")))
    found = look(file).page()
    assert [(one["id"], one["status"]) for one in found] == [("a", "judged"), ("", "unreadable"), ("b", "judged")]
    assert "more than" in found[1]["problem"]


def test_a_group_is_shown_whole(file: Path, look: Any) -> None:
    file.write_bytes(
        lines(row("a-0", step=1), row("b-0", task="b", step=1), row("a-1", 0.0, step=1), row("a-2", step=2))
    )
    looked = look(file)
    members = looked.reader.group(1)["rows"]
    assert [(one["id"], one["boxed"]) for one in members] == [("a-0", "25"), ("a-1", "25")]


def test_of_a_large_group_the_rows_around_one_are_shown_and_its_judge_is_given_all(file: Path, look: Any) -> None:
    file.write_bytes(lines(*(row(f"a-{n}") for n in range(100))))
    looked = look(file)
    found = looked.reader.group(90)
    assert found["size"] == 100
    assert [one["n"] for one in found["rows"]] == list(range(37, 101))
    assert [n for n, _ in looked.reader.group_in_file(90)] == list(range(1, 101))


def test_labels_are_appended_and_the_last_counts(file: Path, look: Any) -> None:
    file.write_bytes(lines(row("a"), row("a"), row("b")))
    labels = LabelsFile(beside(file, "labels"))
    labels.add("a", 0, "wrong", "paid for the question")
    labels.add("a", 1, "right")
    labels.add("a", 0, "unsure", "again")
    labels.add("b", 0, "right")
    labels.add("b", 0, None)
    found = look(file).page()
    assert [(one["label"], one["remark"]) for one in found] == [("unsure", "again"), ("right", ""), (None, "")]
    written = [json.loads(line) for line in labels.path.read_bytes().splitlines()]
    assert labels.path == file.with_name("scored.labels.jsonl")
    assert [set(line) - {"at", "nth"} for line in written] == [{"id", "label", "remark"}] * 5


def test_a_labels_file_of_other_hands_is_read_and_kept(file: Path) -> None:
    path = beside(file, "labels")
    path.write_bytes(
        b'{"id": 3, "label": "right"}\nnot json\n{"id": "4", "label": "superb"}\n{"id": "5", "label": "wrong"}'
    )
    labels = LabelsFile(path)
    labels.add("6", 0, "right")
    assert {id_: label.label for (id_, _), label in labels.read().items()} == {"3": "right", "5": "wrong", "6": "right"}


def test_changed_verdicts_come_first(tmp_path: Path, file: Path, look: Any) -> None:
    before = tmp_path / "before.jsonl"
    before.write_bytes(lines(row("s"), row("g", 0.0), row("l"), row("m", None), row("f"), row("p", 0.7)))
    file.write_bytes(lines(row("s"), row("g"), row("l", 0.0), row("m"), row("f", None), row("p", 0.8), row("n")))
    looked = look(file, before)
    changes = {found["id"]: found["change"] for found in looked.page("change")}
    assert changes == {
        "l": "lost", "g": "gained", "f": "failed", "m": "mended", "p": "reward", "n": "new", "s": "same",
    }  # fmt: skip
    assert list(changes)[:3] == ["l", "g", "f"]
    assert looked.ids(change="any") == ["g", "l", "m", "f", "p", "n"]


def test_every_mark_of_the_overview_counts_the_rows_that_its_filter_shows(file: Path, look: Any) -> None:
    rows = []
    for n in range(120):
        reward = None if n % 11 == 0 else (n % 37) / 36
        broken = ["too_long"] if n % 7 == 0 else []
        # the last one is a metric of the part, and no part
        parts = {"part/form": (n % 5) / 10, "judge_cost": 0.5, "part/form/length": 900.0}
        rows.append(
            row(
                f"t{n // 4}-{n % 4}",
                reward,
                task=f"t{n // 4}",
                step=n // 40,
                violations=broken,
                metrics=parts,
                answer="x" * n,
            )
        )
    file.write_bytes(lines(*rows))
    looked = look(file)
    found = overview(looked.reader, {})
    assert found["totals"]["rows"] == 120
    assert found["totals"]["cost"] == pytest.approx(60.0)
    marks = [("status", bar["name"], bar["rows"]) for bar in found["statuses"]]
    marks += [("cause", bar["name"], bar["rows"]) for bar in found["causes"]]
    marks += [("rule", bar["name"], bar["rows"]) for bar in found["rules"]]
    assert found["shapes"]
    marks += [("shape", bar["name"], bar["rows"]) for bar in found["shapes"]]
    assert sum(bar["rows"] for bar in found["prompts"]) == 30
    for bar in found["prompts"]:
        of_kind = looked.reader.page({"prompts": bar["name"]}, "row", 0, 500)["rows"]
        assert len({one["task"] for one in of_kind}) == bar["rows"]
    assert [bar["name"] for bar in found["parts"]] == ["form"]
    marks += [("part", bar["name"], bar["rows"]) for bar in found["parts"]]
    marks += [("reward", bar["filter"], bar["rows"]) for bar in found["rewards"]]
    marks += [("step", point["filter"], point["rows"]) for point in found["points"]]
    assert len(marks) > 20
    for key, value, count in marks:
        assert looked.reader.page({key: value}, "row", 0, 1)["total"] == count, (key, value)
    cells = sum(cell["rows"] for cell in found["lengths"]["cells"])
    assert cells == sum(bar["rows"] for bar in found["rewards"]) == 120 - found["totals"]["failed"]
    for kind in found["groups"]:
        shown = {one["task"] for one in looked.page(group=kind["name"])}
        assert len(shown) <= kind["rows"]


@pytest.mark.parametrize(
    ("rewards", "kind"),
    [
        ([1.0, 1.0], "all right"),
        ([0.0, 0.0], "all wrong"),
        ([1.0, 0.0], "mixed"),
        ([None, None], "all failed"),
        ([None, 1.0], "all right"),
        ([0.3, 0.3], "all wrong"),
        ([1.0], "single"),
    ],
)
def test_a_flat_group_says_why(rewards: list[float | None], kind: str, file: Path, look: Any) -> None:
    file.write_bytes(lines(*(row(f"a-{n}", reward) for n, reward in enumerate(rewards))))
    assert [bar["name"] for bar in overview(look(file).reader, {})["groups"]] == [kind]


@pytest.mark.parametrize(
    ("reward", "kind", "prompt"),
    [(1.0, "all right", "always right"), (0.0, "all wrong", "never right"), (0.3, "same reward", "same reward")],
)
def test_a_flat_group_that_does_not_tell_its_success_is_called_wrong_by_a_reward_of_0_alone(
    reward: float, kind: str, prompt: str, file: Path, look: Any
) -> None:
    file.write_bytes(lines(*(row(f"a-{n}", reward, is_success=None) for n in range(2))))
    found = overview(look(file).reader, {})
    assert [bar["name"] for bar in (*found["groups"], *found["prompts"])] == [kind, prompt]


def test_an_empty_file_has_an_overview(file: Path, look: Any) -> None:
    file.write_bytes(b"")
    found = overview(look(file).reader, {})
    assert found["totals"]["rows"] == 0
    assert found["points"] == []


@pytest.mark.parametrize(
    ("far", "ends"),
    [([], [None, None]), ([1e6], [None, "≥"]), ([-1e6], ["<", None]), ([-1e6, 1e9, 5.0], ["<", "≥"])],
)
def test_outliers_are_counted_at_the_end_and_said(
    file: Path, look: Any, far: list[float], ends: list[str | None]
) -> None:
    rewards = [n / 400 for n in range(400)] + far
    file.write_bytes(lines(*(row(f"r{n}", reward) for n, reward in enumerate(rewards))))
    looked = look(file)
    bars = overview(looked.reader, {})["rewards"]
    assert [bars[0].get("end"), bars[-1].get("end")] == ends
    assert not [bar for bar in bars[1:-1] if "end" in bar]
    assert sum(bar["rows"] for bar in bars) == len(rewards)
    assert min(bar["rows"] for bar in bars) > 10
    for bar in bars:
        assert looked.reader.page({"reward": bar["filter"]}, "row", 0, 1)["total"] == bar["rows"]
