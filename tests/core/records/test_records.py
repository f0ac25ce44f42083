"""Rollout files: no bad line stops a run, no row changes on its way through, no interruption loses what was scored."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tuner.errors import Cause, ConfigError
from agentscope_tuner.records.blocks import read_rows
from agentscope_tuner.records.output import ScoredFile, earlier_rows, scored_line
from agentscope_tuner.records.reader import MAX_LINE_BYTES, Line, Row
from agentscope_tuner.records.scored_rows import Summary, scored_row
from agentscope_tuner.task_judge.contract.judgement import Judgement

GOOD = b'{"id": "a", "task": {"task_id": "t"}, "output": {"metadata": {"final_answer": "x"}}}'
VERDICT = Judgement("judged", 1.0, True, reason="equal")


def rows(data: bytes) -> list[Row]:
    return list(read_rows(io.BytesIO(data), "f.jsonl"))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"not json", "Invalid JSON"),
        (b'{"id": "a", "task": {}', "Invalid JSON: EOF while parsing an object at column 22"),
        (b"[1, 2]", "Input should be an object"),
        (b'{"id": "a", "task": {}}', "output: Field required"),
        (b'{"id": [7], "task": {}, "output": {}}', "id: Input should be a valid string"),
        (b'{"id": "a", "task": {"metadata": "x"}, "output": {}}', "task.metadata: Input should be"),
        (b'{"task": {"task_id": [3]}}', "(and 2 more)"),
        (b'{"id": "\xff\xfe", "task": {}, "output": {}}', "Invalid JSON: invalid unicode"),
        (b"x" * (MAX_LINE_BYTES + 9), f"{MAX_LINE_BYTES + 9} bytes, more than {MAX_LINE_BYTES}"),
    ],
)
def test_a_bad_line_is_a_row_with_its_problem_and_the_next_is_read(line: bytes, words: str) -> None:
    before, bad, after = rows(GOOD + b"\n" + line + b"\n" + GOOD)
    assert before.problem is None
    assert after.problem is None
    assert (bad.where, bad.rollout) == ("f.jsonl:2", None)
    assert bad.problem is not None
    assert words in bad.problem


@pytest.mark.parametrize(
    ("written", "read"),
    [("7", "7"), ("-7", "-7"), ("12345678901234567890123", "12345678901234567890123"), ('"7"', "7")],
)
def test_data_sets_that_number_their_rows_are_read(written: str, read: str) -> None:
    """`{"id": 0, "task": {"task_id": 7}}`, as data sets have it, was a bad row."""
    (row,) = rows(f'{{"id": {written}, "task": {{"task_id": {written}}}, "output": {{}}}}'.encode())
    assert row.rollout is not None
    assert (row.rollout.id, row.rollout.task.task_id) == (read, read)
    scored = scored_line(row, Judgement("judged", 1.0, True))
    assert f'"id": {written}'.encode() in scored


@pytest.mark.parametrize("written", ["true", "null", "1.5", "NaN", "[7]", "{}"])
@pytest.mark.parametrize("key", ["id", "task_id"])
def test_what_is_no_name_and_no_number_names_nothing(written: str, key: str) -> None:
    name, task = (written, '"t"') if key == "id" else ('"r"', written)
    (row,) = rows(f'{{"id": {name}, "task": {{"task_id": {task}}}, "output": {{}}}}'.encode())
    assert row.rollout is None
    assert row.problem is not None
    assert key in row.problem


def test_byte_order_marks_windows_line_ends_and_blank_lines_are_no_problem() -> None:
    found = rows(b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n   \n" + GOOD)
    assert [(row.where, row.problem) for row in found] == [("f.jsonl:1", None), ("f.jsonl:4", None)]


@pytest.mark.parametrize(
    "line",
    [
        GOOD,
        GOOD[:-1]
        + b', "label": {"is_success": true}, "source": "x", "n": 1.10, "big": 123456789012345678901234567890}',
        GOOD[:-1] + b', "half": "\\ud83d", "name": "\xe4\xb8\xad"}',
    ],
)
def test_a_scored_line_keeps_the_rows_own_keys_as_they_were_written(line: bytes) -> None:
    (row,) = rows(line)
    scored = scored_line(row, VERDICT)
    assert scored.startswith(line[:-1])
    assert json.loads(scored) == {**json.loads(line), "judgement": VERDICT.to_dict()}


def test_a_row_that_was_judged_before_gets_the_new_judgement_once() -> None:
    (row,) = rows(GOOD[:-1] + b', "judgement": {"status": "failed"}}')
    scored = scored_line(row, VERDICT)
    assert scored.count(b'"judgement"') == 1
    assert json.loads(scored)["judgement"]["status"] == "judged"


@pytest.mark.parametrize(
    ("line", "kept"), [(b'{"id": "a", "n": 1}', {"id": "a", "n": 1}), (b"not json", {}), (b"[]", {})]
)
def test_a_bad_row_keeps_what_can_be_kept(line: bytes, kept: dict[str, object]) -> None:
    (row,) = rows(line)
    failure = Judgement("failed", None, None, reason="bad row", error="f.jsonl:1: bad row")
    assert json.loads(scored_line(row, failure)) == {**kept, "judgement": failure.to_dict()}


@pytest.mark.parametrize("words", ["right", "\ud800"])
def test_what_a_judge_model_was_asked_is_kept_beside_its_verdict(words: str) -> None:
    call = {"model": "m", "messages": [{"role": "user", "content": words}], "reply": '{"score": 1}'}
    (row,) = rows(GOOD)
    line = json.loads(scored_line(row, Judgement("judged", 1.0, True, calls=(call,)), "digest"))
    assert line["judgement"]["calls"] == [call]
    assert line["judgement"]["config"] == "digest"
    assert "calls" not in json.loads(scored_line(row, VERDICT))["judgement"]


VERDICT_FIELDS = '"judgement": {"status": "judged", "is_success": true, "reward": '


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": 1, "judgement": {"status": []}}', "no judgement"),
        ('{"id": 1, "judgement": {"status": {"a": 1}}}', "no judgement"),
        ('{"id": 1, "judgement": {"status": 1}}', "no judgement"),
        (f'{{"id": 1, {VERDICT_FIELDS}{"9" * 400}}}}}', "no numbers"),
        (f'{{"id": 1, {VERDICT_FIELDS}-1e101}}}}', "no numbers"),
        (f'{{"id": 1, {VERDICT_FIELDS}NaN}}}}', "no finite number"),
        (f'{{"id": 1, {VERDICT_FIELDS}-Infinity}}}}', "no finite number"),
        (f'{{"id": 1, {VERDICT_FIELDS}true}}}}', "no finite number"),
        (f'{{"id": 1, {VERDICT_FIELDS}"1"}}}}', "no finite number"),
        (f'{{"id": 1, {VERDICT_FIELDS}null}}}}', "no finite number"),
    ],
)
def test_a_verdict_that_is_none_is_refused_in_words(line: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        scored_row(Line("f:1", line.encode()), Counter())


@pytest.mark.parametrize(
    ("step", "read"), [("9" * 400, None), ("NaN", None), ("true", None), ('"3"', None), ("3", 3.0)]
)
def test_a_step_is_a_number_or_none(step: str, read: float | None) -> None:
    line = f'{{"id": 1, "step": {step}, "time": 1, {VERDICT_FIELDS}1}}}}'
    assert scored_row(Line("f:1", line.encode()), Counter()).step == read


def test_half_a_surrogate_pair_in_a_reason_can_be_written() -> None:
    (row,) = rows(GOOD)
    assert (
        json.loads(scored_line(row, Judgement("judged", 0.0, False, reason="\ud83d")))["judgement"]["reason"]
        == "\ud83d"
    )


def interrupt(path: Path, lines: list[bytes], *, resume: bool = False) -> None:
    with contextlib.suppress(KeyboardInterrupt), ScoredFile(path, resume=resume) as scored:
        for line in lines:
            scored.write(line)
        raise KeyboardInterrupt


def test_output_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "scored.jsonl"
    interrupt(path, [b'{"id": "a"}\n'])
    assert not path.exists()
    assert (tmp_path / "scored.jsonl.partial").read_bytes() == b'{"id": "a"}\n'
    with ScoredFile(path, resume=True) as scored:
        assert [row.line for row in scored.earlier()] == [b'{"id": "a"}\n']
        scored.write(b'{"id": "a"}\n')
        scored.write(b'{"id": "b"}\n')
    assert path.read_bytes() == b'{"id": "a"}\n{"id": "b"}\n'
    assert sorted(file.name for file in tmp_path.iterdir()) == ["scored.jsonl"]


@pytest.mark.parametrize(("first", "second"), [(False, False), (False, True), (True, True), (True, False)])
def test_two_runs_do_not_write_over_each_others_rows(tmp_path: Path, first: bool, second: bool) -> None:
    path = tmp_path / "scored.jsonl"
    path.write_bytes(b'{"id": "a"}\n')
    with ScoredFile(path, resume=first) as scored:
        with pytest.raises(ConfigError, match="another run is writing"), ScoredFile(path, resume=second):
            pass
        scored.write(b'{"id": "b"}\n')
    assert path.read_bytes() == b'{"id": "b"}\n'
    assert list(tmp_path.iterdir()) == [path], "the lock is gone"
    with ScoredFile(path, resume=True):
        pass


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    path = tmp_path / "loop" / "folder" / "scored.jsonl"
    with pytest.raises(ConfigError, match=rf"cannot write '{path}': .*symbolic links"), ScoredFile(path):
        pass


def test_a_resumed_run_that_is_interrupted_too_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "scored.jsonl"
    for line_count in (1, 3, 2):
        interrupt(path, [b'{"id": "%d"}\n' % number for number in range(line_count)], resume=True)
    with ScoredFile(path, resume=True) as scored:
        assert len(list(scored.earlier())) == 3


def test_rows_behind_the_interruption_of_a_resumed_run_stay_beside_its_own(tmp_path: Path) -> None:
    """The verdict on a failed row that was judged again was lost where the run did not come as far as the earlier."""
    path = tmp_path / "scored.jsonl"
    interrupt(path, [b'{"id": "a", "error": "a long one"}\n', b'{"id": "b"}\n', b'{"id": "c"}\n'])
    interrupt(path, [b'{"id": "a"}\n'], resume=True)
    with ScoredFile(path, resume=True) as scored:
        assert [row.line for row in scored.earlier()] == [b'{"id": "a"}\n', b'{"id": "b"}\n', b'{"id": "c"}\n']


def test_no_earlier_rows_stay_beside_a_whole_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ended between the renaming and their removal, a run left them, and the next one judged the rest again."""
    path = tmp_path / "scored.jsonl"
    interrupt(path, [b'{"id": "a"}\n'])
    left = []
    real = os.replace

    def replaced(whole: Path, target: Path) -> None:
        real(whole, target)
        left.append(sorted(file.name for file in tmp_path.iterdir()))

    monkeypatch.setattr(os, "replace", replaced)
    with ScoredFile(path, resume=True) as scored:
        scored.write(b'{"id": "a"}\n{"id": "b"}\n')
    assert left[-1] == ["scored.jsonl", "scored.jsonl.partial.lock"]


def test_a_line_cut_by_a_crash_is_judged_again(tmp_path: Path) -> None:
    path = tmp_path / "scored.jsonl"
    path.with_name("scored.jsonl.partial").write_bytes(b'{"id": "a"}\n{"id": "b", "ju')
    with ScoredFile(path, resume=True) as scored:
        assert [row.own for row in scored.earlier()] == [{"id": "a"}]


def test_a_row_that_is_whole_but_for_its_newline_is_judged_again(tmp_path: Path) -> None:
    """Taken over as it stands, it would have swallowed the next row into its line."""
    path = tmp_path / "scored.jsonl"
    path.with_name("scored.jsonl.partial").write_bytes(b'{"id": "a"}\n{"id": "b"}')
    with ScoredFile(path, resume=True) as scored:
        assert [row.own for row in scored.earlier()] == [{"id": "a"}]


def test_a_summary_leaves_failures_out_of_every_mean() -> None:
    summary = Summary()
    summary.add(Judgement("judged", 1.0, True, metrics={"judge_calls": 2.0, "n": 9.0}), name="first", label=True)
    summary.add(Judgement("filtered", 0.0, False, violations=("short", "clean")), label=True)
    assert summary.usage == {"judge_calls": 2.0}
    for _ in range(2):
        summary.add(Judgement("failed", None, None, reason="no answer", error="x"), label=False)
    assert (summary.rows, summary.verdicts, dict(summary.statuses)) == (4, 2, {"judged": 1, "filtered": 1, "failed": 2})
    assert (summary.mean_reward, summary.success_rate) == (0.5, 0.5)
    assert (summary.labelled, summary.agreed) == (2, 1)
    assert summary.violations == {"short": 1, "clean": 1}
    assert summary.failures == {"no answer": 2}
    assert [(*key, name) for key, (name, _) in summary.examples.items()] == [
        ("judged", 1.0, "", "first"),
        ("filtered", 0.0, "", ""),
        ("failed", None, "no answer", ""),
    ]
    assert Summary().mean_reward is None


def test_a_summary_does_not_grow_with_the_reasons() -> None:
    summary = Summary()
    for number in range(5000):
        summary.add(Judgement("failed", None, None, reason=f"row {number}: " + "x" * 500))
    assert len(summary.failures) <= 1001
    assert len(summary.examples) == 8
    assert sum(summary.failures.values()) == 5000


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        (b', "n": 1e400, "judgement": {"status": "judged"}}', b', "n": 1e400, "judgement": {'),
        (b', "judgement": {"status": "judged"}, "n": 1.10}', b', "n": 1.1, "judgement": {'),
    ],
)
def test_a_new_judgement_takes_the_old_ones_place(tail: bytes, kept: bytes) -> None:
    (row,) = rows(GOOD[:-1] + tail)
    scored = scored_line(row, VERDICT)
    assert kept in scored
    assert scored.count(b'"judgement"') == 1


@pytest.mark.parametrize(
    ("tail", "found"),
    [
        (b'{"id": "b"', ["a"]),
        (b'{"id": "b"}', ["a"]),
        (b'[1]\n{"id": "b"}\n', ["a"]),
        (b"\x00\x00\n", ["a"]),
        (b'{"id": "b", "judgement": 3}\n', ["a", "b"]),
    ],
)
def test_an_earlier_file_is_read_up_to_the_first_line_that_is_cut_short(
    tmp_path: Path, tail: bytes, found: list[str]
) -> None:
    path = tmp_path / "scored.jsonl"
    (row,) = rows(GOOD)
    path.write_bytes(scored_line(row, VERDICT, "digest") + tail)
    earlier = list(earlier_rows(path))
    assert [before.own["id"] for before in earlier] == found
    assert (earlier[0].judgement, earlier[0].config, earlier[0].is_of(GOOD)) == (VERDICT, "digest", True)
    assert not earlier[0].is_of(GOOD.replace(b'"a"', b'"c"'))
    assert all(before.judgement is None for before in earlier[1:])


def test_there_is_nothing_earlier_where_there_is_no_file() -> None:
    assert list(earlier_rows(None)) == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
REWARDS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=5), st.dictionaries(st.text(max_size=9), VALUES, max_size=3), REWARDS, st.text(max_size=9))
def test_a_row_comes_back_as_it_was_with_its_judgement(
    own: str, extra: dict[str, object], reward: float, reason: str
) -> None:
    given_row = {**extra, "id": own, "task": {"metadata": extra}, "output": {"metadata": {"final_answer": reason}}}
    (row,) = rows(json.dumps(given_row).encode())
    verdict = Judgement("judged", reward, reward > 0, reason=reason, metrics={"part/a": reward})
    line = scored_line(row, verdict, "digest")
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    written = json.loads(line)
    judged = written.pop("judgement")
    assert judged.pop("config") == "digest"
    back = Judgement.from_dict(judged)
    assert back is not None
    assert (back.reward, back.is_success, back.reason, back.metrics) == (reward, reward > 0, reason, {"part/a": reward})
    assert written == given_row


WHOLE = Judgement("judged", 1.0, True, "exact: 2 = 2", ("short",), metrics={"judge_calls": 1.0}).to_dict()
NO_VERDICT = Judgement.failed("down", cause=Cause.ENDPOINT).to_dict()


@pytest.mark.parametrize(
    ("verdict", "damage"),
    [
        *[(WHOLE, {"reward": value}) for value in (float("nan"), float("inf"), None, "1.0", True, [1.0])],
        *[(WHOLE, {"is_success": value}) for value in (None, "no", 1)],
        *[(WHOLE, {"metrics": value}) for value in ([1], {"judge_calls": "x"}, {"judge_calls": float("nan")}, None)],
        *[(WHOLE, {"violations": value}) for value in ("abc", [1], None)],
        (WHOLE, {"seconds": "x"}),
        (WHOLE, {"reason": 5}),
        (WHOLE, {"turns": ["x"]}),
        (WHOLE, {"status": ["judged"]}),
        (NO_VERDICT, {"reward": 0.0}),
        (NO_VERDICT, {"is_success": False}),
    ],
    ids=repr,
)
def test_a_damaged_verdict_is_none_and_its_row_is_judged_again(
    verdict: dict[str, Any], damage: dict[str, Any], tmp_path: Path
) -> None:
    """`--resume` kept a reward of NaN, null, true or 1e999, and a metric that was a text ended it with a traceback."""
    assert Judgement.from_dict(verdict) is not None
    assert Judgement.from_dict(verdict | damage) is None
    path = tmp_path / "o.jsonl"
    path.write_text(json.dumps({"id": "a", "judgement": verdict | damage}) + "\n")
    (earlier,) = earlier_rows(path)
    assert earlier.judgement is None
    assert earlier.spent == {}


def test_summaries_of_parts_add_up_to_the_summary_of_the_whole() -> None:
    """Whatever a verdict adds to a summary, a merge adds too: usage of new names, means, causes, examples."""
    verdicts = [
        Judgement("judged", 1.0, True, metrics={"judge_calls": 2.0, "part/a": 0.5, "route/x": 1.0}),
        Judgement("judged", 0.25, False, violations=("short",), metrics={"judge_calls": 1.0, "judge_tokens": 7.0}),
        Judgement("filtered", 0.0, False, violations=("short", "clean"), reason="short: 3"),
        Judgement("failed", None, None, reason="no answer", error="x", cause=Cause.INPUT),
    ]
    whole, parts = Summary(), [Summary(), Summary(), Summary()]
    for number, verdict in enumerate(verdicts * 3):
        label = (True, False, None)[number % 3]
        whole.add(verdict, name=str(number), label=label)
        parts[number * 3 // 12].add(verdict, name=str(number), label=label)
    merged = Summary()
    for part in parts:
        merged.merge(part)
    assert merged == whole
    kept = json.loads(json.dumps(merged.to_dict()))
    assert json.loads(json.dumps(Summary.from_dict(kept).to_dict())) == kept
    assert math.isclose(merged.usage["judge_calls"], 9.0)


def test_a_merged_summary_keeps_to_its_bounds() -> None:
    merged = Summary()
    for number in range(120):
        part = Summary()
        metrics = {f"judge_{number}": 1.0, "judge_calls": 1.0, f"part/{number}": 1.0, "part/same": 0.5}
        part.add(Judgement("judged", 1.0, True, reason=str(number), metrics=metrics))
        merged.merge(part)
    assert (len(merged.usage), len(merged.means), len(merged.examples)) == (50, 100, 8)
    assert (merged.usage["judge_calls"], merged.means["part/same"]) == (120.0, (120.0, 60.0))


def test_rows_with_one_verdict_are_counted_at_once() -> None:
    one_by_one, at_once = Summary(), Summary()
    verdicts = [
        Judgement("judged", 0.5, True, violations=("short",), metrics={"judge_calls": 2.0, "part/a": 0.5}),
        Judgement("failed", None, None, reason="none: x", error="x", cause=Cause.CONFIG),
    ]
    for verdict in verdicts:
        for _ in range(3):
            one_by_one.add(verdict, name="n", label=False)
        at_once.add(verdict, name="n", label=False, count=3)
    assert at_once == one_by_one
    assert (at_once.reward_sum, at_once.successes, at_once.labelled, at_once.agreed) == (1.5, 3, 3, 0)
    assert (at_once.causes, at_once.violations) == ({"config": 3}, {"short": 3})
    assert (at_once.usage, at_once.means) == ({"judge_calls": 6.0}, {"part/a": (3, 1.5)})


def test_metrics_whose_sum_means_nothing_are_not_added_up() -> None:
    summary = Summary()
    votes = {"judge_votes": 3.0, "judge_disagreement": 1.0, "part/a/n": 1.0, "other": 1.0, "route/x": 1.0}
    summary.add(Judgement("judged", 1.0, True, metrics=votes))
    assert (summary.usage, summary.means) == ({}, {"route/x": (1, 1.0)})


def test_a_summary_bounds_the_names_of_one_verdict_and_counts_known_ones_on() -> None:
    summary = Summary()
    metrics = {f"judge_{number}": 1.0 for number in range(60)} | {f"part/{number}": 1.0 for number in range(110)}
    for _ in range(2):
        summary.add(Judgement("judged", 1.0, True, metrics=metrics))
    assert (len(summary.usage), len(summary.means)) == (50, 100)
    assert (summary.usage["judge_49"], summary.means["part/99"]) == (2.0, (2, 2.0))


def test_reasons_beyond_the_thousandth_are_counted_together() -> None:
    summary = Summary()
    for number in [*range(1_002), 3, 1_001]:
        summary.add(Judgement("failed", None, None, reason=f"{number:0300}."))
    assert len(summary.failures) == 1_001
    assert (summary.failures[f"{3:0300}"], summary.failures["(others)"]) == (2, 3)


def test_an_example_is_the_first_of_its_kind() -> None:
    summary = Summary(most_examples=3)
    for name, reward, reason in [
        ("a", 1.0, "x: 1"),
        ("b", 1.0, "x: 2"),
        ("c", 0.0, "x: 3"),
        ("d", 1.0, "y"),
        ("e", 1.0, "z"),
    ]:
        summary.add(Judgement("judged", reward, True, reason=reason), name=name)
    assert [name for name, _ in summary.examples.values()] == ["a", "c", "d"]
    assert summary.to_dict()["examples"][1][0] == "c"


def test_a_record_of_an_earlier_version_is_read() -> None:
    summary = Summary()
    summary.add(Judgement("judged", 1.0, True), label=True)
    record = json.loads(json.dumps(summary.to_dict()))
    del record["causes"]
    back = Summary.from_dict(record)
    assert (back.rows, back.success_rate, back.labelled, dict(back.causes)) == (1, 1.0, 1, {})
    assert Summary().success_rate is None


def test_a_summary_counts_the_zeros_of_answers_that_were_not_found_wrong() -> None:
    summary, more = Summary(), Summary()
    summary.add(Judgement("judged", 0.0, False, "undecided: a power out of range", metrics={"undecided": 1.0}), count=3)
    more.add(Judgement("judged", 0.0, False, "unread: 'abc'", metrics={"unread": 1.0}))
    more.add(Judgement("judged", 0.0, False, "numeric: 3 ≠ 4"))
    summary.merge(Summary.from_dict(json.loads(json.dumps(more.to_dict()))))
    assert summary.marks == {"undecided": 3, "unread": 1}
    assert (summary.rows, summary.mean_reward) == (5, 0.0)
