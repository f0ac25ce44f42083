"""`astuner watch`: monitors of a step, and a test that keeps its word over whole runs."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.insight.watch.false_passes import FalsePassTest, Wealth
from agentscope_tuner.insight.watch.follow import NewLines, followed
from agentscope_tuner.insight.watch.run_watch import Alarm, AlarmsFile, RunWatch, by_step
from agentscope_tuner.insight.watch.second_opinion import SecondOpinion, asks_judge, asks_labels
from agentscope_tuner.insight.watch.step_stats import Novelty, step_stats
from agentscope_tuner.records.reader import MAX_LINE_BYTES
from agentscope_tuner.records.scored_rows import ScoredRow, scored_rows
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.task_judge.run_log import RunLog
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.insight.replay import replay
from benchmarks.insight.traces import TRACES, trace_steps
from tests.scored_lines import rows, scored, written


def step_of(step: int, rewards: Sequence[float | None], *, answer: str = "", **keys: Any) -> list[dict[str, Any]]:
    return [
        scored(f"{step}-{place}", reward, task=f"t{place // 4}", answer=answer or f"a{place}",
               metadata={"step": step}, **keys)
        for place, reward in enumerate(rewards)
    ]  # fmt: skip


# --- the test


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_false_alarms_over_whole_runs_stay_under_alpha(share: float) -> None:
    generator, alarms = random.Random(1), 0
    for _ in range(500):
        wealth = Wealth(0.1)
        for _ in range(150):
            wealth.add(float(generator.random() < share))
        alarms += wealth.most >= 1 / 0.05
    assert alarms <= 500 * 0.05


def test_the_wealth_is_a_fair_game_on_the_edge_of_the_hypothesis() -> None:
    # the expected wealth after a row is the wealth before it, whatever came before
    for history in ((), (0.0,), (1.0, 0.0, 1.0), (0.0,) * 30):
        after = []
        for value in (1.0, 0.0):
            wealth = Wealth(0.25)
            before = 1.0
            for earlier in history:
                before = wealth.add(earlier)
            after.append(wealth.add(value))
        assert 0.25 * after[0] + 0.75 * after[1] == pytest.approx(before)


def test_gaming_that_begins_late_is_found_soon() -> None:
    generator, delays = random.Random(2), []
    for _ in range(50):
        test = FalsePassTest()
        for row in range(400):
            test.add(generator.random() < (0.02 if row < 200 else 0.6))
            if test.alarmed:
                delays.append(row - 200)
                break
    assert len(delays) == 50
    assert sorted(delays)[25] < 25
    assert min(delays) >= 0


def test_the_lower_bound_holds_and_grows_towards_the_share() -> None:
    generator, test, bounds = random.Random(3), FalsePassTest(), []
    for _ in range(400):
        test.add(generator.random() < 0.5)
        bounds.append(test.lower_bound)
    assert bounds == sorted(bounds)
    assert 0.3 < bounds[-1] <= 0.5


def test_a_wealth_that_grows_without_end_stays_a_number() -> None:
    test = FalsePassTest()
    for _ in range(2_000):
        test.add(True)
    assert test.alarmed
    assert test.lower_bound > 0.9


# --- second opinions


def labels_from(truth: dict[str, bool]) -> Any:
    return asks_labels({(name, 0): float(right) for name, right in truth.items()})


def test_second_opinions_keep_to_their_rate_and_budget_and_ask_about_passes_alone() -> None:
    asked: list[ScoredRow] = []

    def ask(chosen: Sequence[ScoredRow]) -> list[bool | None]:
        asked.extend(chosen)
        return [True] * len(chosen)

    opinion = SecondOpinion(ask, rate=0.02, most=0.03)
    for step in range(100):
        opinion.step(rows(step_of(step, [1.0, 0.0] * 32)), worried=step > 50)
    assert all(row.reward == 1.0 for row in asked)
    assert 0.02 * 6400 - 2 <= len(asked) <= 0.03 * 6400
    assert not opinion.test.alarmed


def test_no_verdict_of_the_second_judge_is_no_refusal() -> None:
    opinion = SecondOpinion(lambda chosen: [None] * len(chosen), rate=0.5)
    assert not opinion.step(rows(step_of(1, [1.0] * 64)), worried=False)
    assert opinion.unanswered == opinion.asked > 0
    assert opinion.test.rows == 0


def test_a_stricter_judge_and_labels_give_second_opinions() -> None:
    lines = [
        scored("1", 1.0, answer="\\boxed{42}", metadata={"answer": "42"}),
        scored("2", 1.0, answer="it may be 42", metadata={"answer": "42"}),
        scored("3", 1.0, answer="\\boxed{42}", metadata={}),
    ]
    assert asks_judge(ConfiguredJudge("configs/math.yaml"))(rows(lines)) == [True, False, None]
    assert asks_labels({("1", 0): 1.0, ("2", 0): 0.0})(rows(lines)) == [True, False, None]


# --- a step in numbers


def test_groups_without_a_signal_are_told_apart() -> None:
    lines = step_of(1, [1.0] * 4 + [0.0] * 4 + [None] * 4 + [1.0, 0.0, 1.0, 0.0] + [0.3] * 4)
    lines += [scored(str(n), 0.0, task="t9", status="filtered", is_success=False) for n in range(4)]
    stats = step_stats(1.0, rows(lines), Novelty())
    assert stats.groups == 6
    assert stats.flat == {"all right": 1, "all wrong": 2, "all failed": 1, "all filtered": 1}
    assert stats.failed == pytest.approx(4 / 24)
    assert stats.reward == pytest.approx((4 + 2 + 1.2) / 20)


def test_length_that_pays_shared_answers_and_novelty() -> None:
    lines = [scored(str(n), n / 4, task="t", answer="x" * n) for n in range(1, 5)]
    stats = step_stats(1.0, rows(lines), Novelty())
    assert stats.length_pays == pytest.approx(1.0)
    same = [scored(str(n), 1.0, task=f"t{n % 2}", answer="0123456789") for n in range(4)]
    novelty = Novelty()
    first, second = (step_stats(step, rows(same), novelty) for step in (1.0, 2.0))
    assert (first.shared, first.repeated, first.novelty, second.novelty) == (1.0, 0.5, 1.0, 0.0)


def test_a_step_without_a_verdict_has_no_mean_reward() -> None:
    stats = step_stats(1.0, rows(step_of(1, [None] * 4)), Novelty())
    assert stats.reward is None
    assert stats.success is None
    assert stats.failed == 1.0


def test_parts_of_a_combined_reward_are_shares() -> None:
    metrics = {"part/format": 0.1, "part/right": 0.3, "judge_cost": 0.25}
    # what a part measures is no reward: 1,200 characters would be "one part makes up 100%"
    metrics |= {"part/format/length": 1200.0, "part/right/skipped": 0.0}
    lines = [scored("1", 0.5, metrics=metrics)] * 2
    stats = step_stats(1.0, rows(lines), Novelty())
    assert stats.parts == {"format": pytest.approx(0.25), "right": pytest.approx(0.75)}
    assert stats.cost == 0.5


# --- a run


def test_monitors_warn_once_and_speak_of_the_judge_or_the_signal() -> None:
    watch, found = RunWatch(), []
    for step in range(20):
        found += watch.step(step, rows(step_of(step, [None, 0.0, 0.0, 0.0] * 4)))[1]
    assert [(alarm.monitor, alarm.kind) for alarm in found] == [("failed", "judge"), ("flat groups", "signal")]
    assert found[0].message == "25% of the rows have no verdict"
    assert not watch.gamed


def test_a_gamed_run_is_found_and_an_honest_one_with_the_same_curve_is_not() -> None:
    def run(*, honest: bool) -> RunWatch:
        generator = random.Random(4)
        truth: dict[str, bool] = {}
        watch = RunWatch(SecondOpinion(lambda chosen: [truth[row.id] for row in chosen], rate=0.05))
        for step in range(40):
            rewards = [float(generator.random() < 0.2 + step / 50) for _ in range(64)]
            lines = step_of(step, rewards)
            truth |= {
                line["id"]: reward > 0 and (honest or generator.random() < 0.9 - step / 45)
                for line, reward in zip(lines, rewards, strict=True)
            }
            watch.step(step, rows(lines))
        return watch

    assert run(honest=False).gamed
    assert not run(honest=True).gamed


def test_rows_are_parted_by_step_and_in_blocks_where_they_name_none() -> None:
    named = rows([*step_of(1, [1.0] * 4), *step_of(2, [0.0] * 2), *step_of(3, [1.0])])
    assert [(step, len(held)) for step, held in by_step(named)] == [(1.0, 4), (2.0, 2), (3.0, 1)]
    nameless = rows([scored(str(number), 1.0) for number in range(600)])
    assert [(step, len(held)) for step, held in by_step(nameless)] == [(1.0, 256), (2.0, 256), (3.0, 88)]


def test_alarms_stand_beside_the_run_and_a_clean_run_clears_an_earlier_one(tmp_path: Path) -> None:
    path = AlarmsFile.beside(tmp_path / "scored.jsonl")
    assert path == tmp_path / "scored.alarms.jsonl"
    assert AlarmsFile.beside(tmp_path) == tmp_path / "alarms.jsonl"
    with AlarmsFile(path) as file:
        file.write(Alarm(3.0, "length", "gamed", "longer"))
    assert json.loads(path.read_text()) == {"step": 3.0, "monitor": "length", "kind": "gamed", "message": "longer"}
    with AlarmsFile(path):
        pass
    assert path.read_text() == ""


def test_a_run_is_followed_over_files_and_half_a_line_waits(tmp_path: Path) -> None:
    lines = NewLines(tmp_path)
    assert list(lines.read()) == []
    (tmp_path / "judged-1-1.jsonl").write_bytes(b'{"a": 1}\n{"a"')
    (tmp_path / "alarms.jsonl").write_bytes(b"{}\n")
    assert [line.raw for line in lines.read()] == [b'{"a": 1}']
    with open(tmp_path / "judged-1-1.jsonl", "ab") as stream:
        stream.write(b": 2}\n")
    (tmp_path / "judged-1-10.jsonl").write_bytes(b'{"a": 4}\n')
    (tmp_path / "judged-1-2.jsonl").write_bytes(b'{"a": 3}\n')
    assert [line.raw for line in lines.read()] == [b'{"a": 2}', b'{"a": 3}', b'{"a": 4}']


def test_a_line_over_the_bound_does_not_end_the_watch_of_its_file(tmp_path: Path) -> None:
    path, lines = tmp_path / "run.jsonl", NewLines(tmp_path)
    path.write_bytes(b'{"a": 1}\n{"a": "' + b"x" * (MAX_LINE_BYTES + 10))
    assert [line.raw for line in lines.read()] == [b'{"a": 1}']
    with open(path, "ab") as stream:
        stream.write(b'"}\n{"a": 2}\n')
    assert [(line.where, line.raw) for line in lines.read()] == [("run.jsonl:3", b'{"a": 2}')]


def test_following_ends_when_the_run_writes_no_more(tmp_path: Path) -> None:
    now = [0.0]

    def wait(seconds: float) -> None:
        now[0] += seconds
        if now[0] == 2.0:
            (tmp_path / "late.jsonl").write_bytes(b"{}\n")

    found = list(followed(tmp_path, 5.0, clock=lambda: now[0], wait=wait))
    assert len(found) == 1
    assert now[0] == pytest.approx(7.0)


# --- the log that a training writes


def test_a_judge_logs_what_it_says_in_files_that_are_read_again(tmp_path: Path) -> None:
    config = {"astuner": {"task_judge": {
        "judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge",
        "log_dir": str(tmp_path / "judged"),
    }}}  # fmt: skip
    judge = ConfiguredJudge(config)
    task = WorkflowTask(task=Task(main_query="6*7?", task_id="t", metadata={"answer": "42"}))
    answers = ("\\boxed{42}", "no \ud800")
    outputs = [WorkflowOutput(metadata={"final_answer": answer, "odd": {1, 2}}) for answer in answers]
    judge.step = 3
    judge.judge_batch([(task, output) for output in outputs])
    judge.judge(task, WorkflowOutput(metadata={}))
    judge.close_log()
    found = rows(json.loads(line.raw) for line in NewLines(tmp_path / "judged").read())
    assert [(row.reward, row.step, row.status) for row in found] == [
        (1.0, 3.0, "judged"), (0.0, 3.0, "judged"), (None, 3.0, "failed"),
    ]  # fmt: skip
    assert len({row.id for row in found}) == 3


@pytest.mark.parametrize("levels", [200, 300, 5_000])
def test_a_row_nested_however_deep_is_logged_and_read_again(levels: int, tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(levels):
        deep = [deep]
    log, task = RunLog(tmp_path), WorkflowTask(task=Task(main_query="6*7?", task_id="t"))
    output = WorkflowOutput(metadata={"final_answer": "42 \ud800", "arguments": deep})
    log.add([(task, output)], [Judgement("judged", 1.0, True, "r")], 3)
    log.close()
    [found] = scored_rows(NewLines(tmp_path).read())
    assert (found.task, found.answer, found.reward, found.step) == ("t", "42 \ud800", 1.0, 3.0)


def test_a_replayed_run_logs_the_rewards_that_its_training_paid(tmp_path: Path) -> None:
    short = tmp_path / "short.jsonl.gz"
    with gzip.open(TRACES / "gamed-substring-20.jsonl.gz", "rb") as whole:
        short.write_bytes(gzip.compress(whole.readline() + whole.readline()))
    config = tmp_path / "judge.yaml"
    lenient = Path("configs/math_lenient.yaml").read_text(encoding="utf-8")
    config.write_text(f"{lenient}    log_dir: {tmp_path / 'judged'}\n", encoding="utf-8")
    assert replay(short, config) == 256
    found = rows(json.loads(line.raw) for line in NewLines(tmp_path / "judged").read())
    paid = [(step.step, row.reward, row.status) for step in trace_steps(short) for row in step.rows]
    assert [(row.step, row.reward, row.status) for row in found] == paid


def test_a_log_begins_another_file_when_one_is_full(tmp_path: Path) -> None:
    log = RunLog(tmp_path, file_bytes=300)
    pair = WorkflowTask(task=Task(main_query="q")), WorkflowOutput(metadata={"final_answer": "a"})
    for _ in range(5):
        log.add([pair], [Judgement("judged", 1.0, True)], None)
    log.close()
    files = sorted(tmp_path.iterdir())
    assert len(files) > 1
    assert sum(len(file.read_bytes().splitlines()) for file in files) == 5


# --- the command


def gamed_run() -> list[dict[str, Any]]:
    generator, lines = random.Random(5), []
    for step in range(1, 30):
        for place in range(64):
            honest = generator.random() < 0.3
            hacked = generator.random() < step / 30
            answer = "\\boxed{42}" if honest else "42 is one of the numbers" if hacked else "\\boxed{41}"
            found = scored(f"{step}-{place}", float("42" in answer), task=f"t{place // 8}", answer=answer,
                           metadata={"answer": "42", "step": step})  # fmt: skip
            lines.append(found)
    return lines


def test_the_command_says_that_a_run_is_gamed_and_writes_its_alarms(tmp_path: Path) -> None:
    path = written(tmp_path / "scored.jsonl", gamed_run())
    # a crash has cut the last line short
    with open(path, "ab") as stream:
        stream.write(b'{"id": "x", "task"')
    command = ["watch", path, "--second-opinion", "configs/math.yaml"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1, result.output
    assert "this run is being gamed" in result.output
    alarms = [json.loads(line) for line in (tmp_path / "scored.alarms.jsonl").read_text().splitlines()]
    assert "second opinion" in {alarm["monitor"] for alarm in alarms}
    assert CliRunner().invoke(app, [*command, "--fail-on", "never"]).exit_code == 0
    said = [json.loads(line) for line in CliRunner().invoke(app, [*command, "--json"]).output.splitlines()]
    assert [line["step"] for line in said if line["type"] == "step"] == list(range(1, 30))
    assert [line for line in said if line["type"] == "alarm"]


def test_without_a_second_opinion_the_command_does_not_claim_to_know(tmp_path: Path) -> None:
    path = written(tmp_path / "scored.jsonl", gamed_run())
    result = CliRunner().invoke(app, ["watch", path])
    assert result.exit_code == 0
    assert "monitors warn, and cannot tell gaming from learning" in " ".join(result.output.split())


def test_a_second_opinion_that_answers_nothing_is_not_taken_for_a_clean_run(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"id": "of another run", "label": "right"}\n')
    path = written(tmp_path / "scored.jsonl", gamed_run())
    said = " ".join(CliRunner().invoke(app, ["watch", path, "--second-opinion", str(labels)]).output.split())
    assert "sampled passes got a second opinion" in said
    assert "not shown to be gamed" not in said
