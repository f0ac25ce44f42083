"""`log_dir`: every verdict of a training stands on disk once, whatever ends the process, and costs little."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy
import pytest
from typer.testing import CliRunner

from agentscope_tuner.adapters.trl import async_reward_func, combined
from agentscope_tuner.cli.app import app
from agentscope_tuner.errors import Cause, ConfigError
from agentscope_tuner.lab.growing_files import NewLines
from agentscope_tuner.lab.watch.second_opinion import SecondOpinionConfig, opinion_of
from agentscope_tuner.records.scored_rows import ScoredRow, scored_rows
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.run_log import RunLog, flush_logs
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.insight.replay import replay
from benchmarks.insight.traces import TRACES, trace_steps
from tests.scored_lines import rows, scored

RIGHT = Judgement("judged", 1.0, True, "exact: 1 = 1")


def pair(name: str = "t", **metadata: Any) -> tuple[WorkflowTask, WorkflowOutput]:
    return WorkflowTask(task=Task(main_query="q", task_id=name)), WorkflowOutput(
        metadata={"final_answer": "a", **metadata}
    )


def read(folder: Path) -> list[ScoredRow]:
    return list(scored_rows(NewLines(folder).read()))


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


def test_a_data_frames_cells_are_logged_as_numbers_and_lists(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    metadata = {"nums": numpy.array([1, 2]), "target": numpy.int64(3), "share": numpy.float32(0.5)}
    task = WorkflowTask(task=Task(main_query="q", metadata=metadata))
    log.add([(task, WorkflowOutput(metadata={"final_answer": "1+2"}))], [RIGHT], 1)
    log.close()
    (found,) = read(tmp_path)
    # a second opinion is asked about this row, and needs its numbers
    assert found.row["task"]["metadata"] == {"nums": [1, 2], "target": 3, "share": 0.5}


def test_every_part_of_trls_combined_logs_the_step(tmp_path: Path) -> None:
    folders = {"sync": tmp_path / "sync", "async": tmp_path / "async"}
    math_judge = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    sections = {
        name: {"astuner": {"task_judge": {"judge_protocol": math_judge, "log_dir": str(folder), "name": name}}}
        for name, folder in folders.items()
    }
    function = combined([sections["sync"], async_reward_func(sections["async"])])
    state = SimpleNamespace(global_step=6)
    rewards = function(prompts=["6*7"], completions=["\\boxed{42}"], answer=["42"], trainer_state=state)
    flush_logs()
    assert rewards == [2.0]
    assert {name: [row.step for row in read(folder)] for name, folder in folders.items()} == {
        "sync": [7.0],
        "async": [7.0],
    }


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


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_each_row_has_an_id_of_its_own_and_the_step_only_where_there_is_one(share: float, tmp_path: Path) -> None:
    log = RunLog(tmp_path, share=share)
    for step in (None, 0, numpy.int64(7)):
        # the second row takes the slow way, as half of a surrogate pair does
        for _ in range(3):
            log.add([pair(f"t{n}", odd="\ud800" * (n == 1)) for n in range(700)], [RIGHT] * 700, step)  # type: ignore[arg-type]
    log.close()
    found = [json.loads(line.raw) for line in NewLines(tmp_path).read()]
    count = 6300 if share == 1 else len(found)
    assert len({row["id"] for row in found}) == len(found) == count > 2000
    assert {row.get("step", "none") for row in found} == {"none", 0, 7}


def test_a_log_begins_another_file_when_one_is_full(tmp_path: Path) -> None:
    log = RunLog(tmp_path, file_bytes=300)
    pair = WorkflowTask(task=Task(main_query="q")), WorkflowOutput(metadata={"final_answer": "a"})
    for _ in range(5):
        log.add([pair], [Judgement("judged", 1.0, True)], None)
    log.close()
    files = sorted(tmp_path.iterdir())
    assert len(files) > 1
    assert sum(len(file.read_bytes().splitlines()) for file in files) == 5


def test_no_restart_and_no_second_log_writes_into_the_files_of_another(tmp_path: Path) -> None:
    # `judged-<pid>-<n>` was the same again in a container's next start, on another host, and in a second judge
    for _ in range(3):
        log = RunLog(tmp_path)
        log.add([pair()], [RIGHT], 1)
        log.close()
    assert len(list(tmp_path.iterdir())) == 3
    found = read(tmp_path)
    assert len(found) == len({row.id for row in found}) == 3


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_cuts_no_row_in_two_and_loses_none(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    with largest_file(700), pytest.raises(ConfigError, match="cannot write log_dir"):
        log.add([pair(str(n)) for n in range(8)], [RIGHT] * 8, 1)
    [file] = tmp_path.iterdir()
    assert file.stat().st_size == 700
    log.add([pair("last")], [RIGHT], 1)
    log.close()
    assert [row.task for row in read(tmp_path)] == [*map(str, range(8)), "last"]


def test_a_disk_that_stays_full_does_not_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = RunLog(tmp_path / "file" / "folder", file_bytes=2_000)
    for _ in range(50):
        with pytest.raises(ConfigError, match="cannot write log_dir"):
            log.add([pair()] * 2, [RIGHT] * 2, 1)
    assert log._waiting_bytes < 4_000


def test_rows_of_single_calls_wait_for_their_block_and_are_not_forgotten(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    for number in range(3):
        log.add([pair(str(number))], [RIGHT], 1)
    assert [row.task for row in read(tmp_path)] == ["0"]
    flush_logs()
    assert [row.task for row in read(tmp_path)] == ["0", "1", "2"]


def _child(log: RunLog) -> None:
    log.add([pair("first of the child")], [RIGHT], 1)
    # this one waits, and the child ends without atexit's functions
    log.add([pair("second of the child")], [RIGHT], 1)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_writes_its_own_rows_and_not_those_that_wait_in_its_parent(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    for name in ("first", "waits"):
        log.add([pair(name)], [RIGHT], 1)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(log,))
    child.start()
    child.join(30)
    log.close()
    assert Counter(row.task for row in read(tmp_path)) == Counter(
        ["first", "waits", "first of the child", "second of the child"]
    )
    assert len(list(tmp_path.iterdir())) == 2


def test_a_share_of_the_groups_is_logged_each_whole_and_the_same_in_every_process(tmp_path: Path) -> None:
    logs = [RunLog(tmp_path / str(rank), share=0.25) for rank in range(2)]
    for log in logs:
        for step in range(10):
            batch = [pair(str(n // 4)) for n in range(160)]
            log.add(batch, [RIGHT] * 160, step)
        log.close()
    groups = [Counter(row.group for row in read(tmp_path / str(rank))) for rank in range(2)]
    assert groups[0] == groups[1]
    assert set(groups[0].values()) == {4}
    assert 60 < len(groups[0]) < 140


def test_whatever_hangs_on_a_task_or_an_output_is_in_its_row(tmp_path: Path) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    task = WorkflowTask(task=Task.model_validate({"main_query": "q", "colour": "red"}), task_id="named late")
    verdict = Judgement("judged", 1.0, True, "r", metrics=MappingProxyType({"stage": 2.0}))
    outputs = [WorkflowOutput(metadata={"final_answer": "a", "odd": odd}) for odd in (float("nan"), 2**80, Odd())]
    log = RunLog(tmp_path)
    log.add([(task, output) for output in outputs], [verdict] * 3, 1)
    log.close()
    found = read(tmp_path)
    assert [(row.task, row.answer, row.metrics["stage"]) for row in found] == [("named late", "a", 2.0)] * 3
    assert found[0].row["task"]["colour"] == "red"
    assert [(row.row["task"]["main_query"], row.row["task"]["task_id"]) for row in found] == [("q", "named late")] * 3
    assert [(row.reward, row.reason, row.step) for row in found] == [(1.0, "r", 1)] * 3
    assert [row.row["output"]["metadata"]["odd"] for row in found] == [None, 2**80, "cannot be written"]


def test_what_cannot_be_written_of_a_task_leaves_the_rest_of_it_in_its_row(tmp_path: Path) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    task = Task(main_query="q", task_id="t", metadata={"odd": Odd(), "level": 3, "said": "\ud800"})
    log = RunLog(tmp_path)
    log.add([(WorkflowTask(task=task, task_id="t"), WorkflowOutput(metadata={"final_answer": "a"}))], [RIGHT], 7)
    log.close()
    row = read(tmp_path)[0].row
    metadata = {"odd": "cannot be written", "level": 3, "said": "\ud800"}
    assert row["task"] == {"main_query": "q", "task_id": "t", "metadata": metadata}
    assert row["output"] == {"metadata": {"final_answer": "a"}}
    assert (row["step"], row["judgement"]["reward"]) == (7, RIGHT.reward)


def test_an_audit_and_a_second_opinion_write_no_rows_into_the_run(tmp_path: Path) -> None:
    # the attacks of an audit stood in the run's log, as answers of its policy
    config, tasks = tmp_path / "judge.yaml", tmp_path / "tasks.jsonl"
    math = Path("configs/math.yaml").read_text(encoding="utf-8")
    config.write_text(f"{math}    log_dir: {tmp_path / 'judged'}\n", encoding="utf-8")
    tasks.write_text(json.dumps({"main_query": "6*7?", "metadata": {"answer": "42"}}) + "\n")
    result = CliRunner().invoke(app, ["audit", "--conf", str(config), "--input", str(tasks), "--limit", "1"])
    assert result.exit_code == 0, result.output
    opinion, _ = opinion_of(SecondOpinionConfig(conf=str(config), rate=1.0, most=1.0))
    opinion.step(rows([scored("1", 1.0, answer="\\boxed{42}", metadata={"answer": "42"})]), worried=False)
    assert opinion.test.rows == 1
    assert not (tmp_path / "judged").exists()


@pytest.mark.parametrize(
    "said",
    [
        RIGHT,
        Judgement("filtered", 0.0, False, "rules: short", ("short",), metrics=MappingProxyType({"part/a": 0.5})),
        Judgement.failed("no endpoint", cause=Cause.ENDPOINT, seconds=2.5),
        Judgement("judged", 1.0, True, turns=(0.5, None, 0.5), calls=({"text": "q"},)),
    ],
)
def test_a_logged_verdict_leaves_out_what_is_empty_and_is_read_back_whole(tmp_path: Path, said: Judgement) -> None:
    log = RunLog(tmp_path)
    log.add([pair()], [said], None)
    log.close()
    (row,) = (json.loads(line.raw) for line in NewLines(tmp_path).read())
    assert Judgement.from_dict(row["judgement"]) == said
    assert not {name for name, value in row["judgement"].items() if value in ("", [], {})}
