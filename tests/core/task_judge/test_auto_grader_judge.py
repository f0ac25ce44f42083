"""AutoGraderJudge through load_judge: rewards, groups, guards, and what is refused at load."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy
import pytest

from agentscope_tuner.config import load_config
from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.graders.cost import Reckoner
from agentscope_tuner.graders.rubrics.learn import learn_and_save
from agentscope_tuner.graders.rubrics.saved import Rubric, SavedGrader, Verdict, save
from agentscope_tuner.graders.rubrics.settings import auto_grader_config
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.task_judge.rm_auto_grader_judge import AutoGraderJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.judge_server import Body, Canned, JudgeServer, always, prompt_of, verdict
from tests.rubric_world import configuration, world, write_samples

TASK = WorkflowTask(task=Task(main_query="Why is the sky blue?", task_id="t1", metadata={"answer": "Rayleigh"}))


def judge(server: JudgeServer, folder: Path, **options: Any) -> TaskJudge:
    saved = SavedGrader(
        model_name="m",
        grader_mode=options.get("grader_mode", "pointwise"),
        language=options.get("language", "en"),
        min_score=options.get("min_score", 0.0),
        max_score=options.get("max_score", 10.0),
        rubrics=[Rubric(text="Names the mechanism.", samples=[1], gain=0.5)],
        verdict=Verdict(accepted=True),
    )
    save(saved, folder / "out" / "auto_grader.json")
    return load_judge(configuration(server.url, folder, **options))


def output(answer: Any) -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": answer})


def by_length(body: Body, attempt: int) -> Canned:
    """Ranks longer answers better."""
    shown = re.findall(r"\[BEGIN response \d+ \w+\]\n(.*?)\n\[END", prompt_of(body), re.DOTALL)
    order = sorted(range(len(shown)), key=lambda index: -len(shown[index]))
    return Canned(json.dumps({"reason": "longer", "rank": [order.index(i) + 1 for i in range(len(shown))]}))


@pytest.mark.parametrize(
    ("score", "options", "reward"),
    [
        (7, {}, (0.7, True)),
        (6.9, {}, (0.69, False)),
        (0, {}, (0.0, False)),
        (10, {}, (1.0, True)),
        (7, {"reward_scale": "raw", "success_threshold": 0.8}, (7.0, False)),
    ],
)
def test_scores_become_rewards(tmp_path: Path, score: float, options: Any, reward: tuple[float, bool]) -> None:
    with JudgeServer(always(score)) as server:
        got = judge(server, tmp_path, **options).compute_reward(TASK, output("Because of scattering."))
        prompt = prompt_of(server.bodies[0])
    assert got[0] == pytest.approx(reward[0])
    assert got[1] is reward[1]
    assert got.reason == "because"
    assert got.metrics["judge_calls"] == 1.0
    assert "1. Names the mechanism." in prompt
    assert all(text in prompt for text in ("Why is the sky blue?", "Because of scattering."))
    # in the samples this key holds the answer that a person labelled, so it is no reference
    assert "Rayleigh" not in prompt


@pytest.mark.slow
def test_learning_and_judging_send_the_same_prompt(tmp_path: Path) -> None:
    def without_delimiters(body: Body) -> str:
        return re.sub(r"[0-9a-f]{16}", "", prompt_of(body))

    for options in ({}, {"ground_truth_field": "truth"}, {"enable_categorization": True}, {"grader_mode": "listwise"}):
        folder = tmp_path / "-".join([*options, "x"])
        folder.mkdir()
        write_samples(folder / "samples.jsonl", listwise="grader_mode" in options)
        rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
        for row in rows:
            row["metadata"]["truth"] = "It is 9."
        (folder / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        with JudgeServer(world) as server:
            whole = configuration(server.url, folder, **options)
            config, path = auto_grader_config(load_config(whole))
            held = learn_and_save(config, path).evaluation["held_out"]
            measured = {without_delimiters(body) for body in server.bodies}
            row, server.bodies[:] = rows[held[0] - 1], []
            task = WorkflowTask(task=Task(main_query=row["main_query"], metadata=row["metadata"]))
            subject = load_judge(whole)
            if "grader_mode" in options:
                subject.compute_rewards(task, [output(one["answer"]) for one in row["metadata"]["candidates"]])
            else:
                subject.compute_reward(task, output(row["metadata"]["answer"]))
            assert {without_delimiters(body) for body in server.bodies} <= measured
            assert ("It is 9." in prompt_of(server.bodies[0])) is ("ground_truth_field" in options)


@pytest.mark.parametrize("metadata", [{}, {"truth": None}, {"truth": " "}, {"truth": float("nan")}])
def test_a_missing_right_answer_is_a_judge_error(tmp_path: Path, metadata: dict[str, Any]) -> None:
    task = TASK.model_copy(update={"task": TASK.task.model_copy(update={"metadata": metadata})})
    with JudgeServer(always(7)) as server:
        subject = judge(server, tmp_path, ground_truth_field="truth")
        with pytest.raises(JudgeError, match="ground_truth_field"):
            subject.compute_reward(task, output("nan"))
        assert not server.bodies


def test_a_score_on_the_threshold_succeeds_whatever_a_float_makes_of_it(tmp_path: Path) -> None:
    # (4.6 - 1) / 4 is 0.8999999999999999
    for score, passes in ((4.6, True), (4.59, False)):
        with JudgeServer(always(score)) as server:
            options = {"min_score": 1, "max_score": 5, "success_threshold": 0.9}
            assert judge(server, tmp_path, **options).compute_reward(TASK, output("Scattering."))[1] is passes


@pytest.mark.parametrize("verdict", [None, Verdict(accepted=False, reasons=["chance explains its order"])])
def test_unproven_rubrics_judge_nothing_unless_asked_for(tmp_path: Path, verdict: Verdict | None) -> None:
    with JudgeServer(always(7)) as server:
        judge(server, tmp_path)
        path = tmp_path / "out" / "auto_grader.json"
        save(SavedGrader.model_validate_json(path.read_bytes()).model_copy(update={"verdict": verdict}), path)
        for options in ({}, {"auto_learn": True}):
            with pytest.raises(ConfigError, match=r"not proven: .*accept_unproven: true"):
                load_judge(configuration(server.url, tmp_path, **options))
        subject = load_judge(configuration(server.url, tmp_path, accept_unproven=True))
        assert subject.compute_reward(TASK, output("x"))[0] == 0.7


@pytest.mark.parametrize("canned", [Canned("prose"), Canned(status=500), Canned(status=401), Canned('{"score": 99}')])
def test_no_verdict_is_a_judge_error_and_never_a_reward(tmp_path: Path, canned: Canned) -> None:
    with JudgeServer(lambda body, attempt: canned) as server:
        subject = judge(server, tmp_path)
        with pytest.raises(JudgeError) as caught:
            subject.compute_reward(TASK, output("an answer"))
        judgement = subject.judge(TASK, output("an answer"))
    assert (caught.value.task_id, caught.value.judge) == ("t1", "AutoGraderJudge")
    assert (judgement.status, judgement.reward) == ("failed", None)
    assert pickle.loads(pickle.dumps(caught.value)).message == caught.value.message


@pytest.mark.parametrize("answer", ["", " \n", "\u200b", "\u3164"])
def test_no_content_earns_the_least_without_a_call(tmp_path: Path, answer: str) -> None:
    with JudgeServer(always(10)) as server:
        got = judge(server, tmp_path).judge(TASK, output(answer))
        assert not server.bodies
        assert (got.status, got.reward, got.is_success, got.violations) == ("filtered", 0.0, False, ("no_content",))
        assert got.reason.startswith("no_content: ")


def test_a_group_is_judged_at_once_and_fails_one_by_one(tmp_path: Path) -> None:
    def answer(body: Body, attempt: int) -> Canned:
        busy = Canned(status=429, headers={"Retry-After": "9999"})
        return busy if "| bad\n" in prompt_of(body) else Canned(verdict(8), delay=0.1)

    with JudgeServer(answer) as server:
        outputs = [output(text) for text in ("one", "two", "bad", "three")]
        judgements = judge(server, tmp_path).judge_group(TASK, outputs)
        assert server.most_inflight >= 2
    assert [judgement.status for judgement in judgements] == ["judged", "judged", "failed", "judged"]


def test_missing_fields_are_judge_errors(tmp_path: Path) -> None:
    with JudgeServer(always(7)) as server:
        subject = judge(server, tmp_path, answer_field="story")
        for broken in (output("x"), WorkflowOutput(metadata={"story": 3})):
            with pytest.raises(JudgeError, match="story"):
                subject.compute_reward(TASK, broken)
        asks_other = judge(server, tmp_path, query_field="prompt")
        with pytest.raises(JudgeError, match="query_field"):
            asks_other.compute_reward(TASK, output("x"))
        task = WorkflowTask(task=Task(metadata={"prompt": "from the metadata"}))
        assert asks_other.compute_reward(task, output("x"))[0] == 0.7
        assert not [body for body in server.bodies if "from the metadata" not in prompt_of(body)]


def test_a_group_is_ranked_in_one_call(tmp_path: Path) -> None:
    with JudgeServer(by_length) as server:
        subject = judge(server, tmp_path, grader_mode="listwise")
        rewards = subject.compute_rewards(TASK, [output(text) for text in ("aa", "aaaa", "a", "aaa")])
        assert len(server.bodies) == 1
    assert rewards == [pytest.approx((1 / 3, False)), (1.0, True), (0.0, False), pytest.approx((2 / 3, False))]
    assert sum(reward.metrics["judge_calls"] for reward in rewards) == 1.0
    assert set(rewards[1].metrics) <= set(subject.inner.metric_names)
    assert [rewards[1].metrics[name] for name in ("place", "judge_disagreements", "group_size")] == [1.0, 0.0, 4.0]


def test_equal_answers_get_equal_rewards_and_empty_ones_none(tmp_path: Path) -> None:
    with JudgeServer(by_length) as server:
        subject = judge(server, tmp_path, grader_mode="listwise")
        rewards = subject.compute_rewards(TASK, [output(text) for text in ("aa", "aa", "", "a")])
        assert [reward[0] for reward in rewards] == pytest.approx([5 / 6, 5 / 6, 0.0, 1 / 3])
        assert [reward[1] for reward in rewards] == [True, True, False, False]
        asked = len(server.bodies)
        assert [r[0] for r in subject.compute_rewards(TASK, [output("a")] * 3)] == [0.5] * 3
        assert [tuple(r) for r in subject.compute_rewards(TASK, [output("")] * 3)] == [(0.0, False)] * 3
        assert [tuple(r) for r in subject.compute_rewards(TASK, [output(""), output("a")])] == [
            (0.0, False),
            (1.0, True),
        ]
        assert len(server.bodies) == asked


@pytest.mark.parametrize("size", [3, 4, 7, 12])
def test_a_long_group_is_ranked_in_overlapping_chunks(tmp_path: Path, size: int) -> None:
    with JudgeServer(by_length) as server:
        subject = judge(server, tmp_path, grader_mode="listwise", max_group_chars=2000)
        lengths = [900 + 5 * ((5 * number) % size) for number in range(size)]
        rewards = [reward[0] for reward in subject.compute_rewards(TASK, [output("a" * length) for length in lengths])]
        # the answers shown again leave room for one new answer
        assert len(server.bodies) == size - 1
    # answers that were never shown together may tie or swap; the ends of the order are exact
    assert lengths[rewards.index(1.0)] == max(lengths)
    assert lengths[rewards.index(0.0)] == min(lengths)
    assert sum(rewards) == pytest.approx(size / 2)
    wrong = sum((rewards[a] - rewards[b]) * (lengths[a] - lengths[b]) < 0 for a in range(size) for b in range(a))
    assert wrong <= size * (size - 1) / 2 * 0.15


def test_a_failed_ranking_fails_the_whole_group(tmp_path: Path) -> None:
    with JudgeServer(lambda body, attempt: Canned('{"rank": [1, 1]}')) as server:
        subject = judge(server, tmp_path, grader_mode="listwise")
        assert [j.status for j in subject.judge_group(TASK, [output("a"), output("b")])] == ["failed", "failed"]


def test_a_single_output_is_ranked_among_the_tasks_candidates(tmp_path: Path) -> None:
    candidates = [{"answer": "aaa", "rank": 1}, "a"]
    task = WorkflowTask(task=Task(main_query="q", metadata={"candidates": candidates}))
    with JudgeServer(by_length) as server:
        subject = judge(server, tmp_path, grader_mode="listwise")
        assert subject.compute_reward(task, output("aa")) == (0.5, False)
        assert subject.compute_reward(task, output("aaaa")) == (1.0, True)
        assert subject.compute_rewards(task, [output("aaaa")])[0] == (1.0, True)
        read = WorkflowTask(task=Task(main_query="q", metadata={"candidates": numpy.array(candidates, dtype=object)}))
        assert subject.compute_reward(read, output("aa")) == (0.5, False)
        with pytest.raises(JudgeError, match="candidates"):
            subject.compute_reward(TASK, output("aa"))


@pytest.mark.parametrize(
    ("mode", "answers", "prompts"),
    [
        ("pointwise", ["It is so.", "It is not."], 2),
        ("pointwise", ["It is so.", ""], 1),
        ("listwise", ["It is so.", "It is not.", "Who knows?"], 1),
    ],
)
def test_an_estimate_counts_what_would_be_asked(tmp_path: Path, mode: str, answers: list[str], prompts: int) -> None:
    with JudgeServer(by_length if mode == "listwise" else always(5)) as server:
        subject = judge(server, tmp_path, grader_mode=mode)
        outputs = [output(answer) for answer in answers]
        inner = subject.inner
        assert isinstance(inner, AutoGraderJudge)
        estimate = inner.estimate(TASK, outputs, Reckoner())
        assert (estimate.least.calls, estimate.most.calls, len(server.bodies)) == (prompts, prompts, 0)
        assert [one.reward is None for one in subject.judge_group(TASK, outputs)] == [False] * len(answers)
        assert len(server.bodies) == prompts


def test_a_missing_grader_stops_the_load_and_nothing_is_regenerated(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples.jsonl")
    with JudgeServer(always(7)) as server:
        with pytest.raises(ConfigError, match="astuner rubrics learn"):
            load_judge(configuration(server.url, tmp_path))
        assert not server.bodies


def test_auto_learn_learns_at_start_up(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples.jsonl")
    with JudgeServer(world) as server:
        subject = load_judge(configuration(server.url, tmp_path, auto_learn=True))
        assert subject.compute_reward(TASK, output("It is so. quality=9"))[0] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"custom_evaluation_prompt": "{query} {response}"}, r"must use \{rubrics\}"),
        ({"custom_evaluation_prompt": "{query} {response} {rubrics} {persona}"}, "persona"),
        ({"votes": 3}, "temperature"),
        ({"grader_mode": "listwise", "score_from": "logprobs"}, "logprobs"),
    ],
)
def test_what_contradicts_itself_is_refused_at_load(tmp_path: Path, options: Any, message: str) -> None:
    with JudgeServer(always(7)) as server, pytest.raises(ConfigError, match=message):
        judge(server, tmp_path, **options)


def test_a_missing_key_is_refused_at_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DASHSCOPE_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with JudgeServer(always(7)) as server:
        judge(server, tmp_path)
    whole = configuration("", tmp_path, model_name="qwen-plus")
    whole["astuner"]["task_judge"]["rubrics_auto_grader"]["base_url"] = None
    with pytest.raises(ConfigError, match="DASHSCOPE_API_KEY"):
        load_judge(whole)


def test_a_custom_prompt_is_used(tmp_path: Path) -> None:
    with JudgeServer(always(7)) as server:
        subject = judge(server, tmp_path, custom_evaluation_prompt="Mark: {query} {response} by {rubrics}")
        subject.compute_reward(TASK, output("x"))
        assert prompt_of(server.bodies[0]).startswith("Mark: [BEGIN query ")


def test_judges_cross_processes(tmp_path: Path) -> None:
    with JudgeServer(by_length) as server:
        for mode in ("pointwise", "listwise"):
            inner = judge(server, tmp_path, grader_mode=mode).inner
            assert isinstance(inner, AutoGraderJudge)
            again = pickle.loads(pickle.dumps(inner))
            assert type(again) is type(inner)
            assert again.grader.rubrics == inner.grader.rubrics


@pytest.mark.parametrize("truth", ["It is 9.", 9])
def test_the_right_answer_of_the_task_is_shown(tmp_path: Path, truth: object) -> None:
    task = TASK.model_copy(update={"task": TASK.task.model_copy(update={"metadata": {"truth": truth}})})
    with JudgeServer(always(7)) as server:
        judge(server, tmp_path, ground_truth_field="truth").compute_reward(task, output("nine"))
        assert str(truth) in prompt_of(server.bodies[0])
