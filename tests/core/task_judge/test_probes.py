"""Judge models that pay answers which say nothing are refused or named: at first, and again beside later verdicts."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agentscope_tuner._run import loops
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.llm.probes import EMPTY_ANSWERS, EVERY, Once, Probes
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.judge_server import Body, Canned, JudgeServer, all_met, always, judged_lines, prompt_of, verdict

PROMPT = "Score from 1 to 5 how well this answers {query}:\n{response}"
TASK = WorkflowTask(
    task=Task(main_query="Why rain?", task_id="t", metadata={"rubrics": ["It rains"], "answer": "rain"})
)
OUTPUT = WorkflowOutput(metadata={"final_answer": "Because of rain."})


def shown(body: Body) -> str:
    return judged_lines(prompt_of(body).split("[BEGIN response ")[1].split("]\n")[1].split("\n[END")[0])


def pays(*texts: str) -> Any:
    return lambda body, attempt: Canned(verdict(5 if shown(body) in texts or "rain" in shown(body) else 1))


def judge(server: JudgeServer, **options: Any) -> Any:
    mine = {"model_name": "m", "base_url": server.url, "client": {"cache": False}, "prompt": PROMPT, **options}
    return load_judge({"astuner": {"task_judge": {"judge_type": "llm", "llm": mine}}})


def test_by_default_nothing_is_asked_beside_the_rows() -> None:
    with JudgeServer(always(5)) as server:
        assert judge(server).judge(TASK, OUTPUT).reward == 1.0
        assert len(server.bodies) == 1


@pytest.mark.parametrize("paid", [EMPTY_ANSWERS[:1], EMPTY_ANSWERS[2:4], EMPTY_ANSWERS])
def test_a_model_that_pays_them_is_refused_by_name_with_the_figure(paid: tuple[str, ...]) -> None:
    with JudgeServer(pays(*(text.replace(":", "∶") for text in paid), *paid)) as server:
        got = judge(server, probes="refuse").judge(TASK, OUTPUT)
    assert (got.status, got.cause) == ("failed", Cause.CONFIG)
    assert f"m pays {len(paid)} of {len(EMPTY_ANSWERS)}" in str(got.error)
    assert f"{paid[0]!r} (1.00)" in str(got.error)


def test_a_warning_names_it_once_and_judges_on(caplog: pytest.LogCaptureFixture) -> None:
    with JudgeServer(always(5)) as server:
        subject = judge(server, probes="warn")
        assert [subject.judge(TASK, OUTPUT).reward for _ in range(3)] == [1.0] * 3
        assert len(server.bodies) == len(EMPTY_ANSWERS) + 3
    assert sum("m pays 6 of 6" in record.message for record in caplog.records) == 1


def test_rows_that_come_at_once_try_the_model_once_and_an_honest_one_judges() -> None:
    with JudgeServer(pays()) as server:
        subject = judge(server, probes="refuse")
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: subject.judge(TASK, OUTPUT).reward, range(8)))
        assert found == [1.0] * 8
        assert sum(shown(body) != "Because of rain." for body in server.bodies) == len(EMPTY_ANSWERS)


def test_an_empty_answer_that_is_right_is_not_tried() -> None:
    task = WorkflowTask(task=Task(main_query="Which sign?", metadata={"answer": "."}))
    with JudgeServer(pays(".")) as server:
        subject = judge(server, probes="refuse", prompt=PROMPT + "{ground_truth}")
        assert subject.judge(task, WorkflowOutput(metadata={"final_answer": "."})).reward == 1.0


def test_an_endpoint_that_fails_meanwhile_is_tried_again() -> None:
    failing = [True]

    def answer(body: Body, attempt: int) -> Canned:
        return Canned(status=401) if failing[0] else pays()(body, attempt)

    with JudgeServer(answer) as server:
        subject = judge(server, probes="refuse")
        assert subject.judge(TASK, OUTPUT).status == "failed"
        failing[0] = False
        # the first may still wait for a question that was asked before
        assert [subject.judge(TASK, OUTPUT).reward for _ in range(3)][-1] == 1.0


@pytest.mark.parametrize("failure", [JudgeError("no"), ValueError("a grader's own"), asyncio.CancelledError()])
def test_what_is_done_once_is_begun_again_after_a_failure_of_any_kind(failure: BaseException) -> None:
    """A failure that was no JudgeError was kept, and raised for every later row of the run."""
    once, begun = Once(), list[str]()

    async def work() -> None:
        begun.append("work")
        if len(begun) == 1:
            raise failure

    async def scene() -> None:
        with pytest.raises(type(failure)):
            await once.done(work)
        await once.done(work)
        await once.done(work)

    asyncio.run(scene())
    assert len(begun) == 2


def test_task_rubrics_are_tried_too() -> None:
    """A yes without a quote pays nothing, so that only a model which quotes the opener itself is found."""

    def quotes(body: Body, attempt: int) -> Canned:
        verdicts = [{"number": 1, "quote": shown(body), "absent": False, "met": True}]
        return Canned(json.dumps({"verdicts": verdicts}))

    for answer, status in ((quotes, "failed"), (lambda body, n: Canned(all_met(prompt_of(body))), "judged")):
        with JudgeServer(answer) as server:
            mine = {"model_name": "m", "base_url": server.url, "client": {"cache": False}, "probes": "refuse"}
            subject = load_judge({"astuner": {"task_judge": {"judge_type": "task_rubrics", "task_rubrics": mine}}})
            assert subject.judge(TASK, OUTPUT).status == status


def test_a_model_that_has_no_verdict_on_empty_answers_alone_may_judge_others() -> None:
    """A model that only says of "." that there is nothing to judge made every row fail."""

    def shy(body: Body, attempt: int) -> Canned:
        return Canned("There is nothing to judge." if shown(body) == "." else json.dumps({"verdicts": [NOT_MET]}))

    with JudgeServer(shy) as server:
        mine = {"model_name": "m", "base_url": server.url, "client": {"cache": False}, "probes": "refuse"}
        subject = load_judge({"astuner": {"task_judge": {"judge_type": "task_rubrics", "task_rubrics": mine}}})
        assert subject.judge(TASK, OUTPUT).status == "judged"


class Model:
    """Pays `share` for every answer, or fails; counts what it is asked."""

    def __init__(self, share: float = 0.0) -> None:
        self.share, self.fails, self.asked = share, False, 0

    async def pays(self) -> float:
        self.asked += 1
        if self.fails:
            raise JudgeError("away")
        return self.share


def checks(subject: Probes, times: int, **models: Model) -> list[str]:
    """What `times` verdicts are told, one after the other; each is given until the rounds begun before it are over."""

    async def all_of_them() -> list[str]:
        told = []
        for _ in range(times):
            try:
                await subject.check(lambda text: {name: model.pays() for name, model in models.items()})
                told.append("")
            except JudgeError as exc:
                told.append(exc.message)
            for _ in range(20):
                await asyncio.sleep(0)
        return told

    return loops.run(all_of_them())


def test_a_model_that_begins_to_pay_them_is_refused_at_the_next_verdicts_with_the_figure() -> None:
    model, subject = Model(), Probes("refuse", "here")
    assert checks(subject, EVERY - 1, m=model) == [""] * (EVERY - 1)
    assert model.asked == len(EMPTY_ANSWERS)
    model.share = 0.75
    # this one begins a round, the next row's confirms it, and the third is told
    first, second, *others = checks(subject, 12, m=model)
    assert (first, second, model.asked) == ("", "", 3 * len(EMPTY_ANSWERS))
    assert all("m pays 6 of 6: '.' (0.75)" in told for told in others)
    model.share = 0.0
    assert checks(subject, EVERY, m=model)[-1] == "", "a model that is mended judges on"


def test_what_one_row_alone_pays_stops_nothing() -> None:
    model, subject = Model(), Probes("refuse", "here")
    checks(subject, EVERY - 1, m=model)
    model.share = 1.0
    checks(subject, 1, m=model)
    model.share = 0.0
    assert checks(subject, 10, m=model) == [""] * 10


@pytest.mark.parametrize("how", ["warn", "refuse"])
def test_a_round_that_fails_later_fails_no_verdict(how: Any, caplog: pytest.LogCaptureFixture) -> None:
    model, subject = Model(), Probes(how, "here")
    checks(subject, EVERY - 1, m=model)
    model.fails = True
    assert checks(subject, 5, m=model) == [""] * 5
    assert "here.probes: no model could be asked: away" in caplog.text


def test_a_round_that_breaks_later_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Model):
        async def pays(self) -> float:
            if self.fails:
                raise ValueError("no number")
            return await super().pays()

    model, subject = Broken(), Probes("refuse", "here")
    checks(subject, EVERY - 1, m=model)
    model.fails = True
    assert checks(subject, 5, m=model) == [""] * 5
    assert "here.probes: a later round broke off" in caplog.text


def test_under_warn_a_first_round_that_fails_fails_no_verdict() -> None:
    model = Model()
    model.fails = True
    assert checks(Probes("warn", "here"), 3, m=model) == [""] * 3
    assert model.asked == len(EMPTY_ANSWERS)


def test_a_juror_that_is_away_stops_no_jury_and_one_that_pays_is_named() -> None:
    away, honest, paying = Model(), Model(), Model(1.0)
    away.fails = True
    assert checks(Probes("refuse", "here"), 1, away=away, honest=honest) == [""]
    (told,) = checks(Probes("refuse", "here"), 1, away=away, paying=paying)
    assert "paying pays 6 of 6" in told
    assert "away pays" not in told


def test_a_round_that_hangs_delays_no_verdict() -> None:
    model, subject = Model(), Probes("refuse", "here")
    checks(subject, EVERY - 1, m=model)

    async def hanging() -> float:
        await asyncio.get_running_loop().create_future()
        return 0.0

    async def verdict_beside_it() -> None:
        await asyncio.wait_for(subject.check(lambda text: {"m": hanging()}), 5)

    loops.run(verdict_beside_it())
    assert checks(subject, 5, m=model) == [""] * 5


def test_a_judge_that_ranks_has_nothing_to_probe() -> None:
    """`probes: refuse` was taken, and nothing was asked."""
    with JudgeServer(always(5)) as server, pytest.raises(ConfigError, match="probes: a judge that ranks"):
        judge(server, probes="refuse", mode="listwise", prompt="Rank what answers {query}:\n{response}")


NOT_MET = {"number": 1, "quote": "", "absent": False, "met": False}
