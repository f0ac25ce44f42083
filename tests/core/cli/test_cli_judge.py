"""`astuner judge` end to end: rows in, scored rows out, a summary, and an exit code that tells."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agentscope_tuner import __version__
from agentscope_tuner.cli.app import app
from tests.tables import each_row

ROOT = Path(__file__).parents[3]
MAIN = "from agentscope_tuner.cli import main; main()"
MATH = """
astuner:
  task_judge:
    judge_protocol: agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge
    rules:
      - {id: not_empty, kind: non_empty, target: output, action: mark_bad}
      - {id: short, kind: max_chars, max_chars: 50, target: output, action: mark_bad}
"""


def row(name: str, answer: object, reference: str = "42", **more: Any) -> str:
    task = {"task_id": name, "metadata": {"answer": reference}}
    return json.dumps({"id": name, "task": task, "output": {"metadata": {"final_answer": answer}}, **more})


ROWS = [
    row("right", r"so \boxed{42}", label={"is_success": True}),
    row("wrong", r"so \boxed{41}", label={"is_success": True}),
    row("empty", "  "),
    row("long", "x" * 60),
]
BROKEN = [row("typed", 42), "{not json", row("no box", "42")]


@each_row
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "math.yaml"
    path.write_text(MATH, encoding="utf-8")
    return path


def run(*args: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)


def judge(conf: Path, lines: list[str], *options: object, jobs: int = 1) -> tuple[Result, list[dict[str, Any]]]:
    """What the command says and writes; `jobs` is 1 because a worker process costs more than all of its rows."""
    source, target = conf.with_name("rollouts.jsonl"), conf.with_name("scored.jsonl")
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    usual = {"--conf": conf, "--input": source, "--output": target, "--jobs": jobs}
    result = run("judge", *(word for pair in usual.items() if pair[0] not in options for word in pair), *options)
    return result, read(target) if target.exists() else []


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def statuses(scored: list[dict[str, Any]]) -> list[str]:
    return [line["judgement"]["status"] for line in scored]


@pytest.mark.parametrize("jobs", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_rows_are_judged_with_reasons_and_summed_up(conf: Path, jobs: int) -> None:
    result, scored = judge(conf, ROWS, jobs=jobs)
    assert result.exit_code == 0, result.output
    assert [line["id"] for line in scored] == ["right", "wrong", "empty", "long"]
    assert statuses(scored) == ["judged", "judged", "filtered", "filtered"]
    assert [line["judgement"]["reward"] for line in scored] == [1.0, 0.0, 0.0, 0.0]
    assert scored[2]["judgement"]["violations"] == ["not_empty"]
    assert all(line["judgement"]["reason"] for line in scored)
    for words in ("rows", "0.2500", "25.0%", "1 of 2", "rule not_empty", "rule short", "rows per second"):
        assert words in result.output


def test_failed_rows_are_kept_named_and_change_the_exit_code(conf: Path) -> None:
    result, scored = judge(conf, [*BROKEN, ROWS[0]])
    assert result.exit_code == 3
    assert statuses(scored) == ["failed", "failed", "judged", "judged"]
    assert [line["judgement"]["reward"] for line in scored] == [None, None, 0.0, 1.0]
    assert "task 'typed'" in scored[0]["judgement"]["error"]
    assert scored[1]["judgement"]["error"].startswith("rollouts.jsonl:2: Invalid JSON")
    assert "failed" in result.output
    assert "final_answer must be a str" in result.output


def test_strict_stops_at_the_first_failure_and_resume_goes_on(conf: Path) -> None:
    lines = [ROWS[0], BROKEN[0], ROWS[1]]
    result, scored = judge(conf, lines, "--strict")
    assert (result.exit_code, scored) == (3, [])
    assert "--resume" in result.output
    lines[1] = row("typed", r"\boxed{42}")
    result, scored = judge(conf, lines, "--resume")
    assert result.exit_code == 0
    assert statuses(scored) == ["judged"] * 3


def test_resume_keeps_scored_rows_and_judges_failed_ones_again(conf: Path) -> None:
    _, first = judge(conf, [ROWS[0], BROKEN[0], ROWS[1]])
    fixed = row("typed", r"\boxed{42}")
    result, second = judge(conf, [ROWS[0], fixed, ROWS[1], ROWS[2]], "--resume")
    assert result.exit_code == 0
    assert (second[0], second[2]) == (first[0], first[2]), "seconds would differ had they been judged again"
    assert [line["judgement"]["reward"] for line in second] == [1.0, 1.0, 0.0, 0.0]


def test_a_finished_run_that_is_resumed_says_that_nothing_was_judged(conf: Path) -> None:
    judge(conf, ROWS[:2])
    result, _ = judge(conf, ROWS[:2], "--resume")
    assert "2: 2 kept, 0 judged" in result.output
    assert "--resume kept the verdicts of 2 rows of" in result.output
    assert "dropped" not in result.output
    assert "rows per second" not in result.output


def test_a_resumed_run_over_fewer_rows_tells_how_many_it_drops(conf: Path) -> None:
    judge(conf, ROWS[:3])
    result, scored = judge(conf, ROWS[:1], "--resume")
    assert "and judged 0 now; 2 rows behind the last of this input dropped" in " ".join(result.output.split())
    assert len(scored) == 1


def test_resume_judges_a_row_again_whose_answer_has_changed(conf: Path) -> None:
    judge(conf, [row("a", r"\boxed{41}"), ROWS[1]])
    _, scored = judge(conf, [row("a", r"\boxed{42}"), ROWS[1]], "--resume")
    assert [line["judgement"]["reward"] for line in scored] == [1.0, 0.0]
    assert "42" in scored[0]["output"]["metadata"]["final_answer"]


def test_resume_refuses_verdicts_of_another_configuration(conf: Path) -> None:
    judge(conf, ROWS)
    result, _ = judge(conf, ROWS, "--resume", "astuner.task_judge.rule_reward=-1")
    assert result.exit_code == 2
    assert "another configuration" in result.output.replace("\n", " ")


def test_an_interrupted_runs_rows_are_not_thrown_away(conf: Path) -> None:
    judge(conf, [ROWS[0], BROKEN[0]], "--strict")
    result, _ = judge(conf, [ROWS[0], BROKEN[0]])
    assert result.exit_code == 2
    assert "add --resume" in result.output.replace("\n", " ")


def test_a_judge_that_exits_fails_its_row_and_not_the_run(conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (conf.parent / "quitting_judge.py").write_text(
        "import sys\n"
        "from agentscope_tuner import BaseJudge\n"
        "class Quits(BaseJudge):\n"
        "    def compute_reward(self, workflow_task, workflow_output):\n"
        "        sys.exit(0)\n"
        "class QuitsAsync(BaseJudge):\n"
        "    async def acompute_reward(self, workflow_task, workflow_output):\n"
        "        sys.exit(0)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(conf.parent))
    for name in ("Quits", "QuitsAsync"):
        result, scored = judge(conf, ROWS[:2], f"astuner.task_judge.judge_protocol=quitting_judge->{name}")
        assert result.exit_code == 3, result.output
        assert all("SystemExit" in line["judgement"]["error"] for line in scored)


def test_a_failed_row_is_named_by_its_place(conf: Path) -> None:
    _, scored = judge(conf, [ROWS[0], BROKEN[0]])
    assert scored[1]["judgement"]["error"].startswith("rollouts.jsonl:2: task 'typed': MathAnswerAsJudge: ")


def test_parent_folders_of_the_output_are_made_and_links_are_kept(conf: Path) -> None:
    source, link = conf.with_name("rollouts.jsonl"), conf.with_name("link.jsonl")
    source.write_text(ROWS[0] + "\n", encoding="utf-8")
    real = conf.with_name("deep") / "er" / "scored.jsonl"
    link.symlink_to(real)
    assert run("judge", "--conf", conf, "--input", source, "--output", link, "--jobs", 1).exit_code == 0
    assert link.is_symlink()
    assert statuses(read(real)) == ["judged"]


def test_resume_takes_up_rows_whose_ids_are_numbers(conf: Path) -> None:
    numbered = [json.dumps({**json.loads(line), "id": number}) for number, line in enumerate(ROWS)]
    judge(conf, numbered)
    result, again = judge(conf, numbered, "--resume")
    assert result.exit_code == 0, result.output
    assert [line["id"] for line in again] == list(range(len(ROWS)))


def test_resume_refuses_another_inputs_output(conf: Path) -> None:
    judge(conf, ROWS)
    result, _ = judge(conf, list(reversed(ROWS)), "--resume")
    assert result.exit_code == 2
    assert "made from another input" in result.output


def test_limit_and_standard_input(conf: Path) -> None:
    target = conf.with_name("scored.jsonl")
    text = "\n".join(ROWS)
    result = run("judge", "--conf", conf, "--input", "-", "--output", target, "--limit", 2, "--jobs", 1, stdin=text)
    assert result.exit_code == 0, result.output
    assert [line["id"] for line in read(target)] == ["right", "wrong"]


def test_a_limit_counts_rows_that_cannot_be_read_and_no_blank_lines(conf: Path) -> None:
    result, scored = judge(conf, ["", ROWS[0], "", "{not json", ROWS[1], ROWS[2]], "--limit", 3)
    assert result.exit_code == 3
    assert statuses(scored) == ["judged", "failed", "judged"]
    assert scored[1]["judgement"]["error"].startswith("rollouts.jsonl:4: Invalid JSON")
    result, scored = judge(conf, ["", ROWS[0], "", ROWS[3], ROWS[1], ROWS[2]], "--limit", 4, "--resume")
    assert "4: 2 kept, 2 judged" in result.output
    assert statuses(scored) == ["judged", "filtered", "judged", "filtered"]


def test_a_full_disk_ends_the_run_with_one_line_that_says_so(conf: Path) -> None:
    partial = conf.with_name("scored.jsonl.partial")
    # writing to the device fails as it does on a full disk
    partial.symlink_to("/dev/full")
    result, scored = judge(conf, ROWS)
    assert (result.exit_code, scored) == (2, [])
    said = " ".join(result.output.split())
    assert said.startswith("error: cannot write")
    assert "scored.jsonl.partial': No space left on device" in said
    assert said.endswith("then --resume goes on")
    assert not conf.with_name("scored.jsonl.partial.lock").exists()
    result, scored = judge(conf, ROWS, "--resume")
    assert (result.exit_code, len(scored)) == (0, 4)


def test_what_a_terminal_would_obey_is_shown_and_not_sent(conf: Path) -> None:
    result, _ = judge(conf, [row("\x1b[2J[bold]", "\\boxed{\x1b]0;title\x07[red]41}")])
    assert "\x1b" not in result.output
    assert "[red]41" in result.output.replace("\n", "")
    stopped, _ = judge(conf, [row("\x1b[2J", 7)], "--strict")
    assert stopped.exit_code == 3
    assert "\x1b" not in stopped.output


def test_a_name_between_colons_in_an_answer_is_no_emoji(conf: Path) -> None:
    result, _ = judge(conf, [row("right", r"so \boxed{:100:}", reference=":100:")])
    assert ":100:" in result.output


def test_overrides_reach_the_judge(conf: Path) -> None:
    _, scored = judge(conf, [ROWS[2]], "astuner.task_judge.rule_reward=-1")
    assert scored[0]["judgement"]["reward"] == -1.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--input", "nowhere.jsonl"], "there is no file 'nowhere.jsonl'"),
        (["--conf", "nowhere.yaml"], "nowhere.yaml"),
        (["astuner.task_judge.rule_rewrad=1"], "did you mean 'rule_reward'"),
        (["nonsense"], "key=value"),
        (["--output", "-"], "--output must be a file"),
        (["--output", "/dev/null/all.jsonl"], "cannot write"),
        (["--output", "/dev/null"], "must be a regular file, got '/dev/null'"),
        (["--output", "/"], "must be a regular file"),
        (["astuner.task_judge.math=[1"], "cannot merge the configuration"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_bad_usage_exits_with_2_and_says_why(conf: Path, options: list[str], words: str) -> None:
    result, scored = judge(conf, ROWS, *options)
    assert (result.exit_code, scored) == (2, [])
    assert words in result.output.replace("\n", " ")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('[{"id": "a"}]', "a list, where a line holds one object: `jq -c '.[]'`"),
        ("[\n  1\n]", "the line holds '[' alone; write each object on one line"),
        ('{"prompt": "1+1", "answer": "2"}', "the row has no response, only ['answer', 'prompt']: name its column"),
        ("{}", "the row has no response, only []"),
    ],
)
def test_a_file_that_holds_no_rollouts_says_what_it_holds(conf: Path, written: str, words: str) -> None:
    result, scored = judge(conf, [written])
    assert result.exit_code == 3
    assert words in scored[0]["judgement"]["error"]


def test_a_file_in_utf_16_is_named_so(conf: Path) -> None:
    source, target = conf.with_name("rollouts.jsonl"), conf.with_name("scored.jsonl")
    source.write_text(ROWS[0] + "\n", encoding="utf-16")
    done = run("judge", "--conf", conf, "--input", source, "--output", target, "--jobs", 1)
    assert (done.exit_code, "is UTF-16: save it as UTF-8" in done.output.replace("\n", " ")) == (2, True)
    assert not target.exists()


def test_the_input_and_what_no_run_has_scored_are_not_written_over(conf: Path) -> None:
    source = conf.with_name("rollouts.jsonl")
    source.write_text(ROWS[0] + "\n", encoding="utf-8")
    for target in (source, conf.parent / "." / ".." / conf.parent.name / "rollouts.jsonl"):
        done = run("judge", "--conf", conf, "--input", source, "--output", target)
        assert (done.exit_code, "--input and --output are one file" in done.output.replace("\n", " ")) == (2, True)
    folder = conf.parent
    outputs = (folder, "scored.jsonl"), (folder, "deep/x.jsonl"), (folder / "*.jsonl", "s.jsonl")
    anywhere = [(folder / "**/*.jsonl", name) for name in ("s.jsonl", "deep/s.jsonl")]
    for given, target in ((given, folder / name) for given, name in (*outputs, *anywhere)):
        done = run("judge", "--conf", conf, "--input", given, "--output", target)
        assert (done.exit_code, "lies within --input" in done.output.replace("\n", " ")) == (2, True)
    # an input's name may end another one
    other = run(
        "judge", "--conf", conf, "--input", folder / "**/rollouts.jsonl", "--output", folder / "my-rollouts.jsonl"
    )
    assert other.exit_code == 0
    notes = conf.with_name("notes.txt")
    notes.write_text("id,answer\n1,2\n", encoding="utf-8")
    done = run("judge", "--conf", conf, "--input", source, "--output", notes, "--resume")
    assert (done.exit_code, "holds no scored rows" in done.output.replace("\n", " ")) == (2, True)
    assert notes.read_text(encoding="utf-8").startswith("id,answer")


@pytest.mark.parametrize(
    ("name", "way_out"),
    [("rows.xlsx", "save the sheet as CSV"), ("rows.csv.zst", "of these .jsonl.zst is"), ("rows.csv.zip", "unpack it")],
)
def test_a_file_that_is_not_read_is_refused_with_the_way_out(conf: Path, name: str, way_out: str) -> None:
    conf.with_name(name).write_bytes(b"PK")
    done = run("judge", "--conf", conf, "--input", conf.with_name(name), "--output", conf.with_name("scored.jsonl"))
    assert (done.exit_code, way_out in done.output.replace("\n", " ")) == (2, True)


@pytest.mark.parametrize("name", ["scored.xlsx", "scored.XLS"])
def test_an_output_that_is_not_written_is_refused_with_the_way_out(conf: Path, name: str) -> None:
    target = conf.with_name(name)
    done = run("judge", "--conf", conf, "--input", conf, "--output", target)
    assert (done.exit_code, "name .csv, .jsonl" in done.output.replace("\n", " ")) == (2, True)
    assert not target.exists()


@pytest.mark.parametrize("name", ["scored.csv", "scored.TSV"])
def test_a_table_holds_each_part_of_the_verdict_in_a_column(conf: Path, name: str) -> None:
    # it wrote JSON lines into o.csv
    source, target = conf.with_name("rollouts.jsonl"), conf.with_name(name)
    source.write_text(ROWS[0] + "\n", encoding="utf-8")
    done = run("judge", "--conf", conf, "--input", source, "--output", target, "--json", "--jobs", 1)
    told = json.loads(done.output)
    assert (told["rows"], told["notes"]) == (1, [])
    with open(target, encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream, delimiter="\t" if name.endswith("TSV") else ",")
    assert (row["judgement.status"], row["judgement.reward"], row["judgement.error"]) == ("judged", "1.0", "")
    assert json.loads(row["task"])["metadata"]["answer"]


def test_an_output_is_a_path_however_it_is_spelled(conf: Path) -> None:
    source = conf.with_name("rollouts.jsonl")
    source.write_text(ROWS[0] + "\n", encoding="utf-8")
    spelled = f"{conf.parent}/.//a/../scored.jsonl"
    (conf.parent / "a").mkdir()
    done = run("judge", "--conf", conf, "--input", source, "--output", spelled, "--jobs", 1)
    assert done.exit_code == 0, done.output
    assert len(read(conf.with_name("scored.jsonl"))) == 1


def test_an_empty_file_and_a_judge_that_raises_are_noted(conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = conf.with_name("scored.jsonl")
    target.write_text(ROWS[0] + "\n", encoding="utf-8")
    conf.with_name("empty.jsonl").write_text("\n", encoding="utf-8")
    result = run("judge", "--conf", conf, "--input", conf.with_name("empty.jsonl"), "--output", target)
    assert (result.exit_code, len(read(target))) == (2, 1)
    assert "empty.jsonl' holds no rows: nothing was judged" in result.output.replace("\n", "")
    monkeypatch.chdir(conf.parent)
    monkeypatch.syspath_prepend(str(conf.parent))
    body = "def compute_reward(self, task, output):\n        return {}['x'], True\n"
    (conf.parent / "raising_here.py").write_text(
        f"from agentscope_tuner import BaseJudge\n\nclass Raises(BaseJudge):\n    {body}", encoding="utf-8"
    )
    result, _ = judge(conf, ROWS[:1], "astuner.task_judge.judge_protocol=raising_here->Raises")
    assert result.exit_code == 3
    assert "raising_here.py:5 in" in result.output
    assert "astuner -v judge … --jobs 1" in result.output


def test_config_prints_what_was_resolved_without_secrets(conf: Path) -> None:
    result = run("config", "--conf", conf, "astuner.task_judge.judge_kwargs.api_key=sk-123", "data.path=x")
    assert result.exit_code == 0
    assert "rule_reward: 0.0" in result.output
    assert "path: x" in result.output
    assert "sk-123" not in result.output


def test_check_loads_the_judge_and_judges_nothing(conf: Path) -> None:
    result = run("check", "--conf", conf)
    assert (result.exit_code, result.output) == (0, "loaded: MathAnswerAsJudge, 2 rules, on_error: raise\n")
    assert run("check", "--conf", conf, "astuner.task_judge.judge_protocol=a.b").exit_code == 2


def test_the_version_is_printed() -> None:
    assert run("--version").output.strip() == __version__


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    ("shell", "code", "said", "rows"),
    [
        ("judge --conf {0}/c.yaml --input {0}/r.jsonl -o {0}/s.jsonl --json > /dev/full", 1, "cannot be written", 1),
        ("judge --conf {0}/c.yaml --input {0}/r.jsonl -o {0}/s.jsonl >&-", 0, "", 1),
        ("judge --conf {0}/c.yaml --input - -o {0}/s.jsonl <&-", 2, "standard input is closed", None),
        ("judge --conf {0}/c.yaml --input {0}/r.jsonl -o {0}/s.jsonl --json", 0, "", 1),
    ],
)
def test_streams_that_are_full_or_closed_end_no_command_with_a_traceback(
    shell: str, code: int, said: str, rows: int | None, tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text(MATH)
    (tmp_path / "r.jsonl").write_text(ROWS[0] + "\n")
    left = tmp_path / "left"
    left.mkdir()
    # its working directory is removed before it begins, too, and as a command it does not look for modules there
    command = f"cd {left} && rmdir {left} && {sys.executable} -P -c '{MAIN}' {shell.format(tmp_path)}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, env=environment)
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False), ran.stderr
    assert said in ran.stderr
    scored = tmp_path / "s.jsonl"
    assert (len(scored.read_text().splitlines()) if scored.exists() else None) == rows
