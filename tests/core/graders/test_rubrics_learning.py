"""Rubrics are learned, measured on samples they have not seen, saved whole, and never made up."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli import cache as cache_cli
from agentscope_tuner.cli import rubrics as rubrics_cli
from agentscope_tuner.config import load_config
from agentscope_tuner.errors import ConfigError, GraderError
from agentscope_tuner.graders.rubrics.learn import journal_path, learn_and_save, learn_once, plan
from agentscope_tuner.graders.rubrics.saved import SavedGrader, Verdict, in_prompt, load, locked
from agentscope_tuner.graders.rubrics.settings import Sample, auto_grader_config, read_samples, split
from tests.judge_server import Body, Canned, JudgeServer, prompt_of
from tests.rubric_world import GOOD_RUBRIC, configuration, world, write_samples


def learned(server: JudgeServer, folder: Path, **options: Any) -> SavedGrader:
    write_samples(folder / "samples.jsonl", listwise=options.get("grader_mode") == "listwise")
    config, path = auto_grader_config(load_config(configuration(server.url, folder, **options)))
    return learn_and_save(config, path)


def test_rubrics_that_reproduce_labels_are_kept_and_measured(tmp_path: Path) -> None:
    with JudgeServer(world) as server:
        saved = learned(server, tmp_path)
    assert saved.rubrics
    assert all(rubric.text.startswith(GOOD_RUBRIC) or rubric.text == "Be kind." for rubric in saved.rubrics)
    assert (saved.evaluation["samples"], saved.evaluation["queries"], saved.data["learned_from"]) == (10, 10, 10)
    assert saved.evaluation["learned"]["mae"]["value"] == 0.0
    assert saved.evaluation["learned"]["quadratic_kappa"]["value"] == 1.0
    assert saved.evaluation["no_rubrics"]["mae"]["value"] > 1
    assert saved.verdict == Verdict(accepted=True)
    assert saved.learning["embeddings"] == "tfidf"


def test_learning_says_how_far_it_is(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    write_samples(tmp_path / "samples.jsonl")
    with JudgeServer(world) as server:
        config, path = auto_grader_config(load_config(configuration(server.url, tmp_path)))
        learn_and_save(config, path, lambda *progress: told.append(progress))
    verdicts = [(done, of) for part, done, of in told if part == "held-out verdicts"]
    assert verdicts == [(done, 20) for done in range(1, 21)]
    samples = [(done, of) for part, done, of in told if part == "samples"]
    assert samples == [(number, samples[0][1]) for number in range(1, len(samples) + 1)]


@pytest.mark.slow
def test_listwise_rubrics_are_learned_too(tmp_path: Path) -> None:
    with JudgeServer(world) as server:
        saved = learned(server, tmp_path, grader_mode="listwise", enable_categorization=True)
    assert saved.evaluation["learned"]["kendall"]["value"] == 1.0
    assert {rubric.theme for rubric in saved.rubrics} == {"quality"}
    assert in_prompt(saved.rubrics).startswith("## quality\n1. ")


@pytest.mark.slow
def test_learning_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    with JudgeServer(world) as server:
        for folder in folders:
            folder.mkdir()
        first, second = (learned(server, folder) for folder in folders)
    assert first.rubrics == second.rubrics
    assert first.evaluation == second.evaluation


@pytest.mark.slow
def test_embeddings_come_from_the_endpoint_when_it_has_them(tmp_path: Path) -> None:
    with JudgeServer(world, embed=lambda texts: [[float(len(text)), 1.0] for text in texts]) as server:
        assert learned(server, tmp_path, embedding_model="e").learning["embeddings"] == "e"
    other = tmp_path / "other"
    other.mkdir()
    with JudgeServer(world) as server:
        said = learned(server, other, embedding_model="e").learning["embeddings"]
    assert said.startswith("tfidf, because the endpoint gave no embeddings")
    broken = tmp_path / "broken"
    broken.mkdir()
    with JudgeServer(world, embed=lambda texts: [[math.nan, 1.0] for _ in texts]) as server:
        said = learned(server, broken, embedding_model="e").learning["embeddings"]
    assert said.startswith("tfidf, because")
    assert "or some of zeros or NaN" in said


def test_all_proposals_failing_is_an_error_and_nothing_is_saved(tmp_path: Path) -> None:
    broken = JudgeServer(lambda body, attempt: Canned(status=500))
    with broken as server, pytest.raises(GraderError, match="all of 10 proposals failed"):
        learned(server, tmp_path)
    assert not (tmp_path / "out" / "auto_grader.json").exists()


def test_no_rubric_that_reproduces_its_label_is_an_error(tmp_path: Path) -> None:
    def stubborn(body: Body, attempt: int) -> Canned:
        asks_for_rubrics = "rubrics" in json.dumps(body.get("response_format", {}))
        return Canned('{"rubrics": ["Be kind."]}') if asks_for_rubrics else Canned('{"reason": "", "score": 5}')

    rows = [{"main_query": f"q{n}", "metadata": {"answer": f"answer {n}", "score": 10}} for n in range(6)]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with JudgeServer(stubborn) as server:
        config, path = auto_grader_config(load_config(configuration(server.url, tmp_path, max_epochs=2)))
        with pytest.raises(GraderError, match="after 2 revisions"):
            learn_and_save(config, path)
        asked = [prompt_of(body) for body in server.bodies]
    # of the three samples learned from, each is proposed for once, revised twice, and judged after each of the three;
    # equal rubrics are judged once
    assert sum("Find out what the expert" in prompt for prompt in asked) == 3
    assert sum("reached another verdict" in prompt for prompt in asked) == 3
    assert sum("Score one response" in prompt for prompt in asked) == 3


@pytest.mark.slow
def test_a_resumed_run_asks_only_what_was_not_answered(tmp_path: Path) -> None:
    with JudgeServer(world) as server:
        first = learned(server, tmp_path)
        asked = len(server.bodies)
        again = learned(server, tmp_path)
        assert len(server.bodies) == asked
    assert again.rubrics == first.rubrics
    assert (again.learning["calls"], again.learning["from_journal"]) == (0, asked)
    assert first.learning["total_calls"] == again.learning["total_calls"] == asked


@pytest.mark.parametrize("rubrics", [["<rubric>"], [], ["one", "two"], [""], [3], "Be kind.", None])
def test_what_is_no_rubric_is_not_learned_by(tmp_path: Path, rubrics: Any) -> None:
    broken = JudgeServer(lambda body, attempt: Canned(json.dumps({"rubrics": rubrics})))
    with broken as server, pytest.raises(GraderError, match="all of 10 proposals failed"):
        learned(server, tmp_path)


_LEARN = """
import sys
from pathlib import Path
from agentscope_tuner.config import load_config
from agentscope_tuner.graders.rubrics.settings import auto_grader_config
from agentscope_tuner.graders.rubrics.learn import learn_and_save
from tests.rubric_world import configuration
whole = configuration(sys.argv[1], Path(sys.argv[2]), batch_size=2, patience=99)
learn_and_save(*auto_grader_config(load_config(whole)))
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_without_repeating_a_call(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples.jsonl", 10)
    out = tmp_path / "out" / "auto_grader.json"

    def slowly(body: Body, attempt: int) -> Canned:
        canned = world(body, attempt)
        return Canned(canned.text, delay=0.05)

    with JudgeServer(slowly) as server:
        command = [sys.executable, "-c", _LEARN, server.url, str(tmp_path)]
        process = subprocess.Popen(command, cwd=Path(__file__).parents[3])
        journal = journal_path(out)
        while not journal.exists() or journal.read_bytes().count(b"\n") < 8:
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not out.exists()
        with journal.open("ab") as torn:
            torn.write(b'["half a li')
        kept = journal.read_bytes().count(b"\n")
        before = len(server.bodies)
        subprocess.run(command, cwd=Path(__file__).parents[3], check=True)
        total = journal.read_bytes().count(b"\n")
        saved = SavedGrader.model_validate_json(out.read_bytes())
        assert kept >= 8
        assert len(server.bodies) - before == total - kept == saved.learning["calls"]
        assert saved.learning["from_journal"] == kept


def test_a_second_learner_says_who_holds_the_lock_and_gives_up(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples.jsonl")
    with JudgeServer(world) as server:
        hasty = configuration(server.url, tmp_path, client={"deadline_seconds": 0.1})
        config, path = auto_grader_config(load_config(hasty))
        with locked(path):
            for learner in (learn_and_save, learn_once):
                with pytest.raises(ConfigError, match=rf"being learned by process {os.getpid()} on .* since"):
                    learner(config, path)
        assert not server.bodies
        assert learned(server, tmp_path).rubrics


def test_copies_stay_on_one_side_and_count_once(tmp_path: Path) -> None:
    rows = [
        {"main_query": query, "metadata": {"answer": answer, "score": score}}
        for number in range(30)
        for query, answer, score in (
            (f"What about {number}?", "It is.", number % 11),
            (f"  what about {number} ", "it is", number % 11),
            (f"What about {number}?", "It is not so.", 3),
        )
    ]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config, _ = auto_grader_config(load_config(configuration("http://h/v1", tmp_path)))
    seen, held = split(read_samples(tmp_path / "samples.jsonl", config), 0.2, seed=0)
    assert (len(seen), len(held)) == (40, 20)
    assert not {sample.same_query for sample in seen} & {sample.same_query for sample in held}
    assert len({sample.same_query for sample in held}) == 10


def test_samples_of_one_query_prove_nothing(tmp_path: Path) -> None:
    rows = [{"main_query": "q?", "metadata": {"answer": f"a{number}", "score": number}} for number in range(8)]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with JudgeServer(world) as server:
        done = run("learn", "--conf", conf_file(tmp_path, server.url))
        assert (done.exit_code, server.bodies) == (2, [])
    assert "share one query" in done.output


def test_rubrics_of_an_older_version_are_shown_and_not_trusted(tmp_path: Path) -> None:
    with JudgeServer(world) as server:
        conf = conf_file(tmp_path, server.url)
        path = tmp_path / "out" / "auto_grader.json"
        saved = learned(server, tmp_path).model_dump(mode="json")
        old = {name: value for name, value in saved.items() if name != "verdict"} | {
            "schema_version": 1,
            "evaluation": {},
        }
        path.write_text(json.dumps(old))
        shown = run("show", "--conf", conf)
        assert shown.exit_code == 0, shown.output
        assert "no measurement was kept" in shown.output
        assert GOOD_RUBRIC in " ".join(shown.output.split())
        assert "an older version learned it" in shown.output


def test_another_judge_has_no_rubrics(tmp_path: Path) -> None:
    (tmp_path / "conf.yaml").write_text("astuner: {task_judge: {judge: math}}")
    shown = run("show", "--conf", str(tmp_path / "conf.yaml"))
    assert shown.exit_code == 2
    assert "astuner.task_judge.judge_type must be rubrics_auto_grader" in " ".join(shown.output.split())


def test_too_few_samples_are_said_to_prove_nothing_before_anything_is_asked(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples.jsonl", 12)
    with JudgeServer(world) as server:
        conf = conf_file(tmp_path, server.url)
        dry = run("learn", "--conf", conf, "--dry-run")
        assert (dry.exit_code, server.bodies) == (0, [])
        assert "6 queries are held out, and a proof needs 10" in dry.output
        done = run("learn", "--conf", conf)
        assert done.exit_code == 4
        assert "6 queries were held out, and a proof needs 10" in done.output


def test_auto_learning_happens_once(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples.jsonl")
    with JudgeServer(world) as server:
        config, path = auto_grader_config(load_config(configuration(server.url, tmp_path)))
        learn_once(config, path)
        asked = len(server.bodies)
        stamp = path.stat().st_mtime_ns
        learn_once(config, path)
        assert (len(server.bodies), path.stat().st_mtime_ns) == (asked, stamp)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("not json", "line 6"),
        ({"metadata": {"answer": "a", "score": 3}}, "missing 'main_query'"),
        ({"main_query": "q", "metadata": {"answer": "a"}}, "missing 'score'"),
        ({"main_query": "q", "metadata": {"answer": "a", "score": 11}}, "within 0 to 10, got 11"),
        ({"main_query": "q", "metadata": {"answer": "a", "score": True}}, "got True"),
        ({"main_query": "q", "metadata": {"answer": "", "score": 3}}, "must be texts"),
        ([1], "line 6"),
    ],
)
def test_a_row_that_is_not_as_documented_is_named(tmp_path: Path, row: Any, message: str) -> None:
    path = write_samples(tmp_path / "samples.jsonl", 5)
    with path.open("a") as file:
        file.write(row if isinstance(row, str) else json.dumps(row))
    config, _ = auto_grader_config(load_config(configuration("http://h/v1", tmp_path)))
    with pytest.raises(ConfigError, match=message):
        read_samples(path, config)


def test_a_sample_may_hold_any_sign_that_json_leaves_as_it_is(tmp_path: Path) -> None:
    """U+2028, U+0085 and others ended the line, so that its JSON was refused."""
    path, answer = write_samples(tmp_path / "samples.jsonl", 5), "It is so.\u2028\u0085And so."
    row = {"main_query": "q", "metadata": {"answer": answer, "score": 3}}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\r\n")
    config, _ = auto_grader_config(load_config(configuration("http://h/v1", tmp_path)))
    assert read_samples(path, config)[-1].answers == (answer,)


@pytest.mark.parametrize("ranks", [[1], [1, 1], [0, 1], [1.5, 2], None])
def test_listwise_rows_are_checked(tmp_path: Path, ranks: Any) -> None:
    path = tmp_path / "samples.jsonl"
    candidates = None if ranks is None else [{"answer": "a", "rank": rank} for rank in ranks]
    path.write_text(json.dumps({"main_query": "q", "metadata": {"candidates": candidates}}))
    config, _ = auto_grader_config(load_config(configuration("http://h/v1", tmp_path, grader_mode="listwise")))
    with pytest.raises(ConfigError, match="line 1"):
        read_samples(path, config)


def test_too_few_samples_or_none_are_refused(tmp_path: Path) -> None:
    config, _ = auto_grader_config(load_config(configuration("http://h/v1", tmp_path)))
    with pytest.raises(ConfigError, match="cannot read"):
        read_samples(tmp_path / "nothing.jsonl", config)
    with pytest.raises(ConfigError, match="5 at least"):
        read_samples(write_samples(tmp_path / "few.jsonl", 4), config)


@pytest.mark.parametrize("count", [5, 6, 20, 60])
def test_the_split_is_seeded_and_stratified(tmp_path: Path, count: int) -> None:
    config, _ = auto_grader_config(load_config(configuration("http://h/v1", tmp_path)))
    samples = read_samples(write_samples(tmp_path / "samples.jsonl", count), config)
    seen, held = split(samples, 0.2, seed=1)
    assert sorted([*seen, *held], key=lambda sample: sample.line) == samples
    assert len(held) == {5: 2, 6: 3, 20: 10, 60: 12}[count]
    assert split(samples, 0.2, seed=1) == (seen, held)
    if count == 60:
        labels = [sample.labels[0] for sample in held]
        assert min(labels) <= 1
        assert max(labels) >= 9


def test_a_query_stands_in_the_split_by_the_mean_of_its_labels_however_many_they_are() -> None:
    sizes = [(label, size) for label, most in ((2.0, (1, 3, 5)), (8.0, (1, 2, 3))) for size in most]
    samples = [
        Sample(line=len(sizes) * at + nth, query=f"q{nth}", answers=(f"a{at}",), labels=(label,))
        for nth, (label, size) in enumerate(sizes)
        for at in range(size)
    ]
    for seed in range(4):
        assert {sample.labels[0] for sample in split(samples, 0.5, seed=seed)[1]} == {2.0, 8.0}


def test_the_plan_bounds_what_learning_takes(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples.jsonl")
    with JudgeServer(world) as server:
        client = {"prices": {"prompt": 1.0, "completion": 2.0}}
        config, path = auto_grader_config(load_config(configuration(server.url, tmp_path, client=client)))
        expected = plan(config)
        assert not server.bodies
        calls = learn_and_save(config, path).learning["calls"]
    assert (expected.learn_from, expected.held_out, expected.held_out_queries) == (10, 10, 10)
    assert expected.calls[0] <= calls <= expected.calls[1]
    assert expected.cost is not None


def test_the_plan_counts_the_samples_that_learning_splits(tmp_path: Path) -> None:
    rows = [
        {"main_query": f"q{query}", "metadata": {"answer": f"a{nth}", "score": 5}}
        for query in range(10)
        for nth in range(1 + 2 * query)
    ]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for seed in range(6):
        config, _ = auto_grader_config(load_config(configuration("http://h/v1", tmp_path, seed=seed)))
        seen, held = split(read_samples(config.training_file(), config), config.holdout, seed)
        assert (plan(config).learn_from, plan(config).held_out) == (len(seen), len(held))


def conf_file(folder: Path, url: str, **options: Any) -> str:
    path = folder / "conf.yaml"
    path.write_text(json.dumps(configuration(url, folder, **options)))
    return str(path)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(rubrics_cli.app, list(arguments), env={"COLUMNS": "200"})


@pytest.mark.slow
def test_the_command_learns_shows_and_measures(tmp_path: Path) -> None:
    samples = write_samples(tmp_path / "samples.jsonl")
    with JudgeServer(world) as server:
        conf = conf_file(tmp_path, server.url)
        dry = run("learn", "--conf", conf, "--dry-run")
        assert (dry.exit_code, len(server.bodies)) == (0, 0)
        assert "10 samples to learn from, 10 held out" in dry.output
        assert run("show", "--conf", conf).exit_code == 2
        done = run("learn", "--conf", conf)
        assert done.exit_code == 0, done.output
        shown = run("show", "--conf", conf)
        assert "quality" in shown.output
        measured = run("eval", "--conf", conf, "--input", str(samples))
        assert measured.exit_code == 0, measured.output
        assert "agreement on 20 samples" in measured.output


def test_rubrics_that_are_not_proven_are_saved_and_exit_4(tmp_path: Path) -> None:
    def seer(body: Body, attempt: int) -> Canned:
        # judges well without rubrics, so that none can be better
        canned = world(body, attempt)
        marks = prompt_of(body).split("quality=")
        return (
            Canned(json.dumps({"reason": "", "score": int(marks[-1].split()[0])})) if "score" in canned.text else canned
        )

    write_samples(tmp_path / "samples.jsonl")
    with JudgeServer(seer) as server:
        conf = conf_file(tmp_path, server.url)
        done = run("learn", "--conf", conf)
        assert done.exit_code == 4, done.output
        assert "not proven" in done.output
        assert "gain over the model without rubrics" in done.output
        assert (tmp_path / "out" / "auto_grader.json").exists()
        assert run("learn", "--conf", conf, "--force").exit_code == 0


def test_failed_learning_exits_3(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples.jsonl")
    with JudgeServer(lambda body, attempt: Canned(status=401)) as server:
        done = run("learn", "--conf", conf_file(tmp_path, server.url))
    assert done.exit_code == 3
    assert "learning failed" in done.output


@pytest.mark.parametrize("content", ["", "{", "{}", '{"schema_version": 2}', "[]"])
def test_a_damaged_grader_is_a_config_error_with_the_command(tmp_path: Path, content: str) -> None:
    config, path = auto_grader_config(load_config(configuration("http://h/v1", tmp_path)))
    with pytest.raises(ConfigError, match=r"no learned grader .* run: astuner rubrics learn --conf"):
        load(path, config)
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(ConfigError, match=r"damaged .* run: astuner rubrics learn --conf"):
        load(path, config)


def test_a_grader_learned_for_something_else_is_refused(tmp_path: Path) -> None:
    with JudgeServer(world) as server:
        learned(server, tmp_path)
        for change in ({"language": "zh"}, {"max_score": 9}, {"grader_mode": "listwise"}):
            config, path = auto_grader_config(load_config(configuration(server.url, tmp_path, **change)))
            with pytest.raises(ConfigError, match="was learned with"):
                load(path, config)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"modle_name": "m"}, "did you mean 'model_name'"),
        ({"client": {"concurency": 3}}, "did you mean 'concurrency'"),
        ({"min_score": 10}, "must be below"),
        ({"grader_mode": "pairwise"}, "grader_mode"),
        ({"max_epochs": -1}, "max_epochs"),
        ({"holdout": 1.0}, "holdout"),
    ],
)
def test_the_section_is_strict(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        auto_grader_config(load_config(configuration("http://h/v1", tmp_path, **options)))


def test_the_cache_command_counts_and_clears(tmp_path: Path) -> None:
    from agentscope_tuner.graders.client.reply import Reply
    from agentscope_tuner.graders.client.usage import Usage
    from agentscope_tuner.graders.client.verdict_cache import VerdictCache

    def cache(*arguments: str) -> Any:
        return CliRunner().invoke(cache_cli.app, [*arguments, "--dir", str(tmp_path)], env={"COLUMNS": "200"})

    assert cache("stats").exit_code == 2
    VerdictCache(tmp_path).put("key", Reply("text"), Usage())
    assert cache("stats").output.startswith("1 verdicts")
    assert cache("clear", "--yes").output.startswith("forgot 1")
    assert VerdictCache(tmp_path).get("key") is None
