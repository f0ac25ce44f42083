"""A run spends what it may and no more; an endpoint that only fails is left alone; no reply fills the memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope_tuner.config import resolve
from agentscope_tuner.errors import ConfigError, GraderError
from agentscope_tuner.graders import CorrectnessGrader, LLMGrader
from agentscope_tuner.graders.client.usage import Breaker, Prices
from tests.judge_server import Answer, Body, Canned, JudgeServer, always, verdict


def grader(server: JudgeServer, **client: Any) -> LLMGrader:
    model = {"model_name": "m", "base_url": server.url, "cache": False, "max_reasks": 0, "max_retries": 0, **client}
    return CorrectnessGrader(model)


async def all_of(subject: LLMGrader, count: int) -> list[Any]:
    asked = (subject.aevaluate(query="q", response=f"answer {n}", ground_truth="4") for n in range(count))
    return await asyncio.gather(*asked)


@pytest.mark.parametrize("faults", [0, 3])
def test_a_budget_of_calls_is_spent_exactly_under_concurrency(faults: int) -> None:
    def answer(body: Body, attempt: int) -> Canned:
        return Canned(status=500) if attempt < faults % 2 else Canned(verdict(1), delay=0.002)

    with JudgeServer(answer) as server:
        subject = grader(server, budget={"calls": 100}, max_retries=3)
        results = asyncio.run(all_of(subject, 200))
        assert len(server.bodies) == 100
    honest = [result for result in results if result.error is None]
    spent = [result for result in results if result.error is not None]
    assert all(result.score == 1 for result in honest)
    assert spent
    assert all("the budget is spent: 100 of 100 calls" in result.error for result in spent)
    assert len(honest) <= 100


@pytest.mark.parametrize("budget", [{"tokens": 3000}, {"cost": 0.003}])
def test_tokens_and_cost_stop_before_the_budget(budget: dict[str, Any]) -> None:
    with JudgeServer(always(1)) as server:
        subject = grader(server, budget=budget, prices={"prompt": 1.0, "completion": 1.0}, concurrency=4)
        results = asyncio.run(all_of(subject, 40))
        usage = subject.model.usage
    assert 0 < sum(result.error is None for result in results) < 40
    assert usage.prompt_tokens + usage.completion_tokens <= 3000


@pytest.mark.parametrize("field", ["prompt", "completion", "cached_prompt"])
@pytest.mark.parametrize(("price", "allowed"), [(0.0, True), (0.5, True), (-1e-9, False), (-1.0, False)])
def test_no_price_is_below_zero(field: str, price: float, allowed: bool) -> None:
    prices = {"prompt": 1.0, "completion": 1.0, field: price}
    if allowed:
        assert getattr(Prices(**prices), field) == price
    else:
        with pytest.raises(ValidationError, match="greater than or equal to 0"):
            Prices(**prices)


def test_a_budget_of_cost_needs_prices_and_one_of_nothing_is_none() -> None:
    with pytest.raises(ConfigError, match="needs prices"):
        CorrectnessGrader({"model_name": "m", "budget": {"cost": 1.0}})
    with pytest.raises(ConfigError, match="give calls, tokens or cost"):
        CorrectnessGrader({"model_name": "m", "budget": {}})
    for limit in ("calls", "tokens", "cost"):
        with pytest.raises(ConfigError, match=rf"budget\.{limit}: .*greater than"):
            CorrectnessGrader({"model_name": "m", "budget": {limit: 0}})


def test_a_larger_budget_is_the_same_run() -> None:
    def digest(**more: Any) -> str:
        llm = {"model_name": "m", "prompt": "x", **more}
        return resolve({"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}}).task_judge.digest()

    assert digest() == digest(budget={"calls": 3})
    assert digest(client={}) == digest(client={"budget": {"calls": 9}})
    assert digest() == digest(api_key="sk-of-next-year")
    jury = [{"model_name": "a", "client": {"budget": {"calls": calls}}} for calls in (1, 2)]
    assert digest(models=[jury[0]]) == digest(models=[jury[1]]) != digest()
    assert digest() != digest(votes=3)


def test_an_endpoint_that_only_fails_is_left_alone() -> None:
    with JudgeServer(lambda body, attempt: Canned(status=401)) as server:
        subject = grader(server, most_failures_in_a_row=5, concurrency=1)
        results = asyncio.run(all_of(subject, 20))
        assert len(server.bodies) < 20
    assert all(result.error is not None for result in results)
    assert any("not asked: the last" in result.error for result in results)


def test_what_the_breaker_refuses_keeps_it_open_no_longer_and_is_no_failure() -> None:
    breaker = Breaker(most=2, pause_seconds=3600.0)
    for _ in range(2):
        breaker.failed(GraderError("HTTP 500"))
    for _ in range(100):
        with pytest.raises(GraderError) as refused:
            breaker.check(object())
        breaker.failed(refused.value)
    with pytest.raises(GraderError, match=r"the last 2 verdicts in a row failed, the last one of: HTTP 500$"):
        breaker.check(object())


def test_the_one_verdict_that_is_tried_after_the_pause_may_ask_again() -> None:
    """Its own first request closed the way to its second one, so that a verdict which took two never ended the rest."""
    script = [Canned(status=401), Canned(status=503), Canned(verdict(1))]
    with JudgeServer(lambda body, attempt: script.pop(0)) as server:
        subject = grader(server, most_failures_in_a_row=1, max_retries=1)
        assert asyncio.run(all_of(subject, 1))[0].error is not None
        assert "not asked" in asyncio.run(all_of(subject, 1))[0].error
        subject.model._state.breaker._open_until = 0.0
        assert [each.error for each in asyncio.run(all_of(subject, 1))] == [None]


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_without_end_is_an_error(announced: bool) -> None:
    huge = '{"choices": [{"message": {"content": "' + "x" * 20_000_000
    reply: Answer = lambda body, attempt: Canned(raw=huge, cut=not announced)  # noqa: E731
    with JudgeServer(reply) as server:
        result = asyncio.run(all_of(grader(server), 1))[0]
    assert "the answer is longer than 16777216 bytes" in result.error
