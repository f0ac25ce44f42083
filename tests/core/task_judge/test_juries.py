"""Several judge models: a jury's verdict, a juror that fails, and dearer models where the first are unsure."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Mapping
from typing import Any

import pytest

from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.graders.cost import Reckoner
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.judge_server import Body, Canned, JudgeServer, prompt_of, verdict

PROMPT = "Score from 1 to 5 how well it answers {query}: {response}"
CLIENT = {"cache": False, "max_reasks": 0, "max_retries": 0}
TASK = WorkflowTask(task=Task(main_query="Why is the sky blue?", task_id="t1"))
OUTPUT = WorkflowOutput(metadata={"final_answer": "Because of scattering."})


def by_model(answers: Mapping[str, Any]) -> Any:
    """Each model gives its own score; `None` is a refused key, a text is a reply as it stands."""

    def answer(body: Body, attempt: int) -> Canned:
        given = answers[body["model"]]
        if given is None:
            return Canned(status=401)
        return Canned(given if isinstance(given, str) else verdict(given))

    return answer


def judge(server: JudgeServer, **llm: Any) -> TaskJudge:
    mine = {"base_url": server.url, "client": CLIENT, "prompt": PROMPT, **llm}
    return load_judge({"astuner": {"task_judge": {"judge_type": "llm", "llm": mine}}})


@pytest.mark.parametrize(
    ("rule", "scores", "score"),
    [
        ("median", (1, 5, 4), 4),
        ("median", (1, 1, 5), 1),
        ("median", (2, 5), 3.5),
        ("majority", (5, 5, 1), 5),
        ("majority", (1, 5, 5), 5),
        # of equally frequent ones the lower middle one
        ("majority", (1, 3, 5), 3),
        ("majority", (2, 5), 2),
    ],
)
def test_a_jurys_scores_become_one(rule: str, scores: tuple[float, ...], score: float) -> None:
    names = "abc"[: len(scores)]
    with JudgeServer(by_model(dict(zip(names, scores, strict=True)))) as server:
        got = judge(server, models=list(names), jury_rule=rule).compute_reward(TASK, OUTPUT)
        assert len(server.bodies) == len(scores)
    assert got[0] == pytest.approx((score - 1) / 4)
    assert got.metrics["score"] == score
    assert [got.metrics[f"score_{name}"] for name in names] == list(scores)
    assert got.metrics["jury_disagreement"] == pytest.approx((max(scores) - min(scores)) / 4)
    assert (got.metrics["jury_size"], got.metrics["jury_failed"]) == (len(scores), 0)
    assert got.metrics["judge_calls"] == len(scores)
    assert got.reason.startswith(f"{rule} of a {scores[0]}, b {scores[1]}")


def test_a_juror_that_fails_is_no_vote_of_0() -> None:
    with JudgeServer(by_model({"a": 4, "b": None, "c": 5})) as server:
        got = judge(server, models=["a", "b", "c"]).compute_reward(TASK, OUTPUT)
        strict = judge(server, models=["a", "b", "c"], failed_jurors="error").judge(TASK, OUTPUT)
    assert got.metrics["score"] == 4.5
    assert (got.metrics["jury_failed"], "score_b" in got.metrics) == (1.0, False)
    assert "b failed (" in got.reason
    assert (strict.status, strict.reward) == ("failed", None)
    assert "1 of 3 jurors failed; b: " in str(strict.error)


@pytest.mark.parametrize(
    "answers",
    [
        {"a": None, "b": None, "c": None},
        {"a": None, "b": None, "c": 5},
        {"a": None, "b": 5},
        {"a": "I would rate it highly.", "b": '{"score": 9}', "c": 5},
        {"a": verdict(0), "b": verdict(99), "c": verdict(5)},
    ],
)
def test_a_jury_of_which_half_or_more_fail_has_no_verdict(answers: dict[str, Any]) -> None:
    with JudgeServer(by_model(answers)) as server:
        judgement = judge(server, models=list(answers)).judge(TASK, OUTPUT)
    assert (judgement.status, judgement.reward, judgement.cause) == ("failed", None, "endpoint")
    assert "jurors failed" in str(judgement.error)


def test_a_verdict_that_failed_says_what_was_spent_on_it() -> None:
    with JudgeServer(by_model({"a": "no", "b": "no", "c": 5})) as server:
        judgement = judge(server, models=["a", "b", "c"]).judge(TASK, OUTPUT)
    assert judgement.status == "failed"
    assert judgement.metrics["judge_calls"] >= 3.0
    assert judgement.metrics["judge_prompt_tokens"] > 0


@pytest.mark.parametrize(
    ("first", "when", "asked", "score"),
    [
        (1, "0.3 < score < 0.7", ["cheap"], 1),
        (3, "0.3 < score < 0.7", ["cheap", "dear"], 5),
        (5, "0.3 < score < 0.7", ["cheap"], 5),
        (5, "score >= 0.7", ["cheap", "dear"], 5),
        (4, "not score < 0.7", ["cheap", "dear"], 5),
    ],
)
def test_dearer_models_are_asked_where_the_first_is_unsure(
    first: float, when: str, asked: list[str], score: float
) -> None:
    with JudgeServer(by_model({"cheap": first, "dear": 5})) as server:
        subject = judge(server, model_name="cheap", escalate={"when": when, "to": "dear"})
        got = subject.compute_reward(TASK, OUTPUT)
        assert [body["model"] for body in server.bodies] == asked
    assert got.metrics["score"] == score
    assert got.metrics["escalated"] == float(len(asked) > 1)
    assert got.metrics["judge_calls"] == len(asked)
    assert got.metrics["score_cheap"] == first
    assert set(got.metrics) <= set(subject.inner.metric_names)
    assert got.reason.startswith("asked again at") is (len(asked) > 1)


def test_a_jury_that_disagrees_is_taken_to_another() -> None:
    answers = {"a": 1, "b": 5, "d": 2, "e": 2, "f": 3}
    with JudgeServer(by_model(answers)) as server:
        escalate = {"when": "disagreement > 0.5", "to": ["d", "e", "f"]}
        got = judge(server, models=["a", "b"], escalate=escalate).compute_reward(TASK, OUTPUT)
    assert (got.metrics["score"], got.metrics["judge_calls"], got.metrics["jury_disagreement"]) == (2, 5, 0.25)


def test_a_dearer_model_that_fails_leaves_no_verdict() -> None:
    with JudgeServer(by_model({"cheap": 3, "dear": None})) as server:
        subject = judge(server, model_name="cheap", escalate={"when": "score < 1", "to": "dear"})
        judgement = subject.judge(TASK, OUTPUT)
    assert (judgement.status, judgement.reward) == ("failed", None)
    assert judgement.metrics["judge_calls"] == 1.0


def test_the_first_model_failing_is_not_unsure_but_failed() -> None:
    with JudgeServer(by_model({"cheap": None, "dear": 5})) as server:
        subject = judge(server, model_name="cheap", escalate={"when": "score < 1", "to": "dear"})
        assert subject.judge(TASK, OUTPUT).status == "failed"
        assert [body["model"] for body in server.bodies] == ["cheap"]


def test_an_answer_without_content_is_filtered_by_a_jury_uncalled() -> None:
    with JudgeServer(by_model({})) as server:
        subject = judge(server, models=["a", "b"], escalate={"when": "score < 1", "to": "c"})
        judgement = subject.judge(TASK, WorkflowOutput(metadata={"final_answer": "\u200b "}))
        assert (judgement.status, judgement.reward, server.bodies) == ("filtered", 0.0, [])


def test_a_jury_spends_one_budget() -> None:
    with JudgeServer(by_model({"a": 4, "b": 4, "c": 4})) as server:
        subject = judge(server, models=["a", "b", "c"], budget={"calls": 7})
        found = [
            subject.judge(TASK, WorkflowOutput(metadata={"final_answer": f"It scatters {number}."}))
            for number in range(4)
        ]
        assert len(server.bodies) == 7
    assert [one.status for one in found] == ["judged", "judged", "failed", "failed"]
    assert {one.cause for one in found[2:]} == {"interrupted"}
    assert "the budget is spent: 7 of 7 calls" in str(found[2].error)


def test_jurors_keep_their_keys_to_their_hosts() -> None:
    answers = {"a": 4, "b": 4, "c": 4}
    with JudgeServer(by_model(answers)) as mine, JudgeServer(by_model(answers)) as other:
        models = ["a", {"model_name": "b", "base_url": other.url}, {"model_name": "c", "api_key": "sk-of-c-alone"}]
        judge(mine, api_key="sk-of-the-section", models=models).compute_reward(TASK, OUTPUT)
        sent = {
            body["model"]: headers["authorization"] for body, headers in zip(mine.bodies, mine.headers, strict=True)
        }
        assert sent == {"a": "Bearer sk-of-the-section", "c": "Bearer sk-of-c-alone"}
        assert "sk-of" not in other.headers[0]["authorization"]


def test_a_jury_ranks_by_mean_places() -> None:
    ranks = {"a": [1, 2, 3], "b": [1, 3, 2], "c": [3, 2, 1]}

    def answer(body: Body, attempt: int) -> Canned:
        return Canned(json.dumps({"reason": "r", "rank": ranks[body["model"]]}))

    outputs = [WorkflowOutput(metadata={"final_answer": text}) for text in ("one is", "two is", "three is")]
    with JudgeServer(answer) as server:
        subject = judge(server, models=["a", "b", "c"], mode="listwise", shuffle_seed=None)
        rewards = subject.compute_rewards(TASK, outputs)
        # mean places of 5/3, 7/3 and 6/3
        assert [reward.metrics["place"] for reward in rewards] == [1.0, 3.0, 2.0]
    assert rewards[0][0] == 1.0
    assert rewards[0].metrics["jury_disagreement"] == 1.0
    assert sum(reward.metrics["judge_calls"] for reward in rewards) == pytest.approx(3.0)


@pytest.mark.parametrize(("second", "asked"), [([3, 2, 1], ["a", "b", "d"]), ([1, 3, 2], ["a", "b"])])
def test_a_ranking_that_two_jurors_dispute_is_taken_to_a_dearer_model(second: list[int], asked: list[str]) -> None:
    ranks = {"a": [1, 2, 3], "b": second, "d": [2, 1, 3]}

    def answer(body: Body, attempt: int) -> Canned:
        return Canned(json.dumps({"reason": "r", "rank": ranks[body["model"]]}))

    outputs = [WorkflowOutput(metadata={"final_answer": text}) for text in ("one is", "two is", "three is")]
    with JudgeServer(answer) as server:
        escalate = {"when": "disagreement > 0.5", "to": "d"}
        rewards = judge(
            server, models=["a", "b"], mode="listwise", shuffle_seed=None, escalate=escalate
        ).compute_rewards(TASK, outputs)
        assert sorted({body["model"] for body in server.bodies}) == asked
    again = len(asked) > 2
    assert [reward.metrics["escalated"] for reward in rewards] == [float(again)] * 3
    assert all(("asked again: " in reward.reason) is again for reward in rewards)
    if again:
        assert [reward.metrics["place"] for reward in rewards] == [2.0, 1.0, 3.0]


def test_a_listwise_judge_is_asked_about_two_or_more() -> None:
    with JudgeServer(by_model({})) as server:
        subject = judge(server, model_name="m", mode="listwise", shuffle_seed=None)
        with pytest.raises(JudgeError, match="one rollout alone has no rank"):
            subject.compute_reward(TASK, OUTPUT)
        with pytest.raises(JudgeError, match="one rollout alone has no rank"):
            subject.compute_rewards(TASK, [OUTPUT])
        with pytest.raises(JudgeError, match="two or more outputs of a task, and got one"):
            subject.inner.estimate(TASK, [OUTPUT], Reckoner())
        assert not server.bodies


def yes(met: Mapping[str, list[bool]]) -> Any:
    def answer(body: Body, attempt: int) -> Canned:
        numbers = re.findall(r"^\d+\. .*?(\d)$", prompt_of(body), re.MULTILINE)
        verdicts = [
            {"number": place, "quote": "scattering", "met": met[body["model"]][int(number)]}
            for place, number in enumerate(numbers, start=1)
        ]
        return Canned(json.dumps({"verdicts": verdicts}))

    return answer


def rubrics_judge(server: JudgeServer, **options: Any) -> TaskJudge:
    mine = {"base_url": server.url, "client": CLIENT, **options}
    return load_judge({"astuner": {"task_judge": {"judge_type": "task_rubrics", "task_rubrics": mine}}})


RUBRICS = WorkflowTask(
    task=Task(
        main_query="q",
        metadata={"rubrics": [{"criterion": f"It is {n}", "points": p} for n, p in enumerate((3, 1, -2))]},
    )
)


def test_a_jury_decides_each_criterion() -> None:
    met = {"a": [True, True, False], "b": [True, False, False], "c": [False, False, True]}
    with JudgeServer(yes(met)) as server:
        got = rubrics_judge(server, models=["a", "b", "c"]).compute_reward(RUBRICS, OUTPUT)
        assert [got.metrics[f"criterion_c{number}"] for number in (1, 2, 3)] == [1.0, 0.0, 0.0]
        assert (got[0], got.metrics["jury_disagreement"]) == (0.75, 1.0)
        tied = rubrics_judge(server, models=["a", "b"], jury_rule="majority").compute_reward(RUBRICS, OUTPUT)
        assert [tied[0], tied.metrics["jury_disagreement"]] == pytest.approx([(3 + 0.5) / 4, 1 / 3])
        with pytest.raises(JudgeError, match="2 of 3 jurors failed"):
            rubrics_judge(server, models=["a", "b2", "c2"]).compute_reward(RUBRICS, OUTPUT)


def test_an_answer_that_breaks_the_strict_juror_keeps_no_vote_away() -> None:
    """A text that one of three jurors could not read left the verdict to the other two."""
    met = {"a": [True, True, False], "b": [True, True, False]}

    def answer(body: Body, attempt: int) -> Canned:
        if body["model"] not in met:
            return Canned("prose") if "scattering" in prompt_of(body) else yes({"c": [False] * 3})(body, attempt)
        first: Canned = yes(met)(body, attempt)
        return first

    with JudgeServer(answer) as server:
        got = rubrics_judge(server, models=["a", "c"], jury_rule="majority").compute_reward(RUBRICS, OUTPUT)
    assert (got.metrics["jury_failed"], got.metrics["criterion_c1"], got.metrics["criterion_c3"]) == (0.0, 0.5, 0.5)


@pytest.mark.parametrize("models", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_an_answer_that_no_juror_can_judge_is_unjudgeable(models: list[str]) -> None:
    """A jury of several said of it what it missed, and called it a success where the threshold is 0."""
    long = WorkflowOutput(metadata={"final_answer": "scattering " * 200})
    with JudgeServer(yes({name: [True, True, False] for name in models})) as server:
        subject = rubrics_judge(server, models=models, max_chars=1000, success_threshold=0.0)
        got = subject.judge(RUBRICS, long)
        assert (got.status, got.reward, got.is_success, got.violations) == ("filtered", 0.0, False, ("unjudgeable",))
        assert got.reason.startswith("unjudgeable: what is to be judged has 2200 characters")
        assert subject.compute_reward(RUBRICS, OUTPUT)[0] == 1.0


@pytest.mark.parametrize("models", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_a_yes_without_a_quote_counts_against_the_answer_in_a_jury_too(models: list[str]) -> None:
    """Alone a model's yes to a pitfall counted without a quote, and in a jury it was a no."""

    def answer(body: Body, attempt: int) -> Canned:
        verdicts = [{"number": number, "quote": "", "met": True} for number in (1, 2, 3)]
        return Canned(json.dumps({"verdicts": verdicts}))

    with JudgeServer(answer) as server:
        got = rubrics_judge(server, models=models).compute_reward(RUBRICS, OUTPUT)
    assert [got.metrics[f"criterion_c{number}"] for number in (1, 2, 3)] == [0.0, 0.0, 1.0]


@pytest.mark.waits
@pytest.mark.parametrize(
    "canned",
    [
        Canned("prose"),
        Canned(hang=True),
        Canned(status=413),
        pytest.param(Canned(status=500), marks=pytest.mark.slow),
    ],
)
def test_one_answer_that_breaks_the_judge_takes_no_group_of_three_away(canned: Canned) -> None:
    """A text over which the judge thinks for ever left its whole group without places, and opened the breaker."""

    def answer(body: Body, attempt: int) -> Canned:
        shown = re.findall(r"\[BEGIN response (\d+) .*\n\S+ (.*)$", prompt_of(body), re.MULTILINE)
        if "break it" in [text for _, text in shown]:
            return canned
        return Canned(json.dumps({"reason": "r", "rank": list(range(1, len(shown) + 1))}))

    outputs = [WorkflowOutput(metadata={"final_answer": text}) for text in ("one is", "break it", "three is")]
    client = {**CLIENT, "deadline_seconds": 6.0, "try_seconds": 0.5, "most_failures_in_a_row": 1}
    with JudgeServer(answer) as server:
        subject = judge(server, model_name="m", mode="listwise", shuffle_seed=None, client=client)
        for _ in range(2):
            rewards = subject.compute_rewards(TASK, outputs)
            assert [reward.metrics["place"] for reward in rewards] == [1.0, 3.0, 2.0]


def test_an_answer_that_breaks_the_rankings_in_which_it_is_not_first_is_last() -> None:
    """It took away the verdicts of its whole group, unless it was the best."""
    worth = ("a", "sly", "a good answer", "the best answer")

    def answer(body: Body, attempt: int) -> Canned:
        shown = re.findall(r"\[BEGIN response \d+ .*\n\S+ (.*)$", prompt_of(body), re.MULTILINE)
        order = sorted(shown, key=lambda text: worth.index(text) if text in worth else -1, reverse=True)
        if "sly" in order[1:]:
            return Canned("I weigh and weigh", finish="length")
        return Canned(json.dumps({"reason": "r", "rank": [order.index(text) + 1 for text in shown]}))

    outputs = [WorkflowOutput(metadata={"final_answer": text}) for text in worth]
    with JudgeServer(answer) as server:
        subject = judge(server, model_name="m", mode="listwise", shuffle_seed=None, client=CLIENT)
        rewards = subject.compute_rewards(TASK, outputs)
    assert [reward.metrics["place"] for reward in rewards] == [3.0, 4.0, 2.0, 1.0]


def test_two_answers_that_break_the_judge_only_together_have_no_verdict() -> None:
    def answer(body: Body, attempt: int) -> Canned:
        shown = re.findall(r"\[BEGIN response (\d+) .*\n\S+ (.*)$", prompt_of(body), re.MULTILINE)
        if {"one is", "two is"} <= {text for _, text in shown}:
            return Canned(status=413)
        return Canned(json.dumps({"reason": "r", "rank": list(range(1, len(shown) + 1))}))

    outputs = [WorkflowOutput(metadata={"final_answer": text}) for text in ("one is", "two is")]
    with JudgeServer(answer) as server:
        subject = judge(server, model_name="m", mode="listwise", shuffle_seed=None, client=CLIENT)
        assert [found.status for found in subject.judge_group(TASK, outputs)] == ["failed", "failed"]


def test_criteria_are_taken_to_a_dearer_model_where_the_score_is_in_doubt() -> None:
    met = {"cheap": [True, False, True], "dear": [True, True, False]}
    with JudgeServer(yes(met)) as server:
        subject = rubrics_judge(server, model_name="cheap", escalate={"when": "0.1 < score < 0.9", "to": "dear"})
        got = subject.compute_reward(RUBRICS, OUTPUT)
    assert (got[0], got.metrics["escalated"], got.metrics["judge_calls"]) == (1.0, 1.0, 2.0)
    assert set(got.metrics) - {"criterion_c1", "criterion_c2", "criterion_c3"} == set(subject.inner.metric_names)


def test_a_jury_crosses_processes() -> None:
    with JudgeServer(by_model({"a": 3, "b": 3, "dear": 5})) as server:
        subject = judge(server, models=["a", "b"], escalate={"when": "score < 0.9", "to": "dear"}, budget={"calls": 9})
        again = pickle.loads(pickle.dumps(subject))
        assert again.compute_reward(TASK, OUTPUT)[0] == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "model_name is missing: write llm: {model_name: MODEL, base_url: URL, grader: relevance}; for a jury"),
        ({"model_name": "a", "models": ["b"]}, "leave one of the two"),
        ({"models": []}, "models"),
        ({"models": ["a", "a"]}, "two models are called 'a'"),
        ({"models": ["a", 3]}, "models"),
        ({"models": ["a", {"model_name": "b", "clinet": {}}]}, "did you mean 'client'"),
        (
            {"models": ["a", {"model_name": "b", "client": {"budget": {"calls": 1}}}], "budget": {"calls": 5}},
            "together",
        ),
        ({"model_name": "a", "escalate": {"when": "0.3 < scoer < 0.7", "to": "b"}}, "did you mean 'score'"),
        ({"model_name": "a", "escalate": {"when": "score", "to": "b"}}, "compare it"),
        ({"model_name": "a", "escalate": {"when": "score < 1", "to": "a"}}, "asked first already"),
        ({"model_name": "a", "escalate": {"when": "score < 1"}}, "to"),
        ({"model_name": "a", "mode": "listwise", "escalate": {"when": "score < 1", "to": "b"}}, "unknown name 'score'"),
        ({"models": ["a", "b"], "failed_jurors": "zero"}, "failed_jurors"),
        ({"models": ["a", "b"], "jury_rule": "max"}, "jury_rule"),
    ],
)
def test_the_section_is_strict(options: dict[str, Any], message: str) -> None:
    llm = {"base_url": "http://127.0.0.1:9/v1", "prompt": PROMPT, **options}
    with pytest.raises(ConfigError, match=message):
        load_judge({"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}})
