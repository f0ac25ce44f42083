"""The three wires over real sockets: verdicts and failures, and never a crash or a 0 for a broken judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import Judgement
from tests.with_servers.serve.running_service import JUDGES, RunningService, config_file, row
from tests.with_trainers.judges import HOSTILE

LONG = 1_100_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("configs")
    options = ["--conf", config_file(folder, rules=[{"id": "not_empty", "kind": "non_empty", "action": "mark_bad"}])]
    for name, judge in (
        ("breaks", "Breaks"),
        ("thread", "BreaksInAThread"),
        ("costs", "Costs"),
        ("shortest", "Shortest"),
    ):
        options += ["--conf", f"{name}={config_file(folder, JUDGES + judge)}"]
    options += ["--max-answer-chars", str(LONG), "--max-rows", "200"]
    with RunningService(*options) as running:
        yield running


@pytest.mark.parametrize(
    ("answer", "status", "reward"),
    [(r"\boxed{42.0}", "judged", 1.0), (r"\boxed{41}", "judged", 0.0), ("", "filtered", 0.0)],
)
def test_a_row_gets_its_judgement(service: RunningService, answer: str, status: str, reward: float) -> None:
    got = service.post("/reward", row(answer, id="r1"))
    assert got.status_code == 200
    payload = got.json()
    assert payload.pop("id") == "r1"
    judgement = Judgement.from_dict(payload)
    assert judgement is not None
    assert (judgement.status, judgement.reward, judgement.is_success) == (status, reward, reward == 1.0)


def test_a_row_without_an_id_gets_none(service: RunningService) -> None:
    assert "id" not in service.post("/reward", row("5")).json()


def test_a_batch_keeps_its_order_and_a_malformed_row_fails_alone(service: RunningService) -> None:
    rows = [
        row(r"\boxed{42}", id="a"),
        7,
        {"id": "c", "task": {"metadata": {}}},
        row("x" * (LONG + 1), id="d"),
        row(r"\boxed{41}", id="e"),
        {"id": 5, **row(r"\boxed{42}")},
        {"id": [5], **row(r"\boxed{42}")},
    ]
    got = service.post("/reward", {"rollouts": rows})
    assert got.status_code == 200
    judgements = got.json()["judgements"]
    assert [item["status"] for item in judgements] == [
        "judged",
        "failed",
        "failed",
        "failed",
        "judged",
        "judged",
        "failed",
    ]
    assert [item["reward"] for item in judgements] == [1.0, None, None, None, 0.0, 1.0, None]
    assert [item.get("id") for item in judgements] == ["a", None, "c", "d", "e", 5, None]
    assert "output: Field required" in judgements[2]["error"]
    assert f"more than {LONG}" in judgements[3]["error"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/reward", {"question": "6*7?", "answer": "42", "response": "42"}, 422, "got the keys ['answer', 'question'"),
        ("/reward", {"task": {}}, 422, "output: Field required"),
        ("/rewards", {}, 404, "POST /rewards is not served: rows are sent by POST to /reward"),
        ("/readyz", {}, 405, "POST /readyz is not served"),
    ],
)
def test_a_request_that_nobody_reads_says_what_to_send(
    service: RunningService, path: str, body: dict[str, Any], status: int, words: str
) -> None:
    got = service.post(path, body)
    assert (got.status_code, words in got.json()["detail"]) == (status, True), got.text


def test_an_empty_batch_is_one(service: RunningService) -> None:
    assert service.post("/reward", {"rollouts": []}).json() == {"judgements": []}


def test_neighbours_of_one_task_are_ranked_together(service: RunningService) -> None:
    def of(task: str, answer: str) -> dict[str, Any]:
        return {"task": {"task_id": task}, "output": {"metadata": {"final_answer": answer}}}

    rows = [of("a", "xx"), of("a", "x"), of("b", "xxx"), of("b", "xxxx")]
    judgements = service.post("/shortest/reward", {"rollouts": rows}).json()["judgements"]
    assert [item["reward"] for item in judgements] == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("way", ["nan", "none", "text", "exit", "judge", "memory", "anything"])
def test_a_broken_judge_is_never_a_reward_of_zero(service: RunningService, way: str) -> None:
    native = service.post("/breaks/reward", row(way))
    assert native.status_code == 200
    assert (native.json()["status"], native.json()["reward"], native.json()["is_success"]) == ("failed", None, None)
    for path in ("/breaks/get_reward", "/breaks/openrlhf", "/breaks"):
        refused = service.post(path, {"query": [way], "prompts": [""], "labels": ["42"]})
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        assert "rewards" not in refused.json()
    refused = service.post("/breaks/slime", {"prompt": "", "response": way, "label": "42"})
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    masked = service.post("/breaks/verify", verify(way))
    assert masked.status_code == 200
    assert (masked.json()["reward"], masked.json()["mask_sample"]) == (0.0, True)
    assert masked.json()["failure_kind"] == "judge_failed"


def test_a_judge_that_cancels_itself_gives_no_verdict(service: RunningService) -> None:
    assert service.post("/breaks/reward", row("cancels itself")).json()["status"] == "failed"
    batch = service.post("/breaks/reward", {"rollouts": [row("cancels itself"), row("judge")]})
    assert [item["status"] for item in batch.json()["judgements"]] == ["failed", "failed"]


@pytest.mark.parametrize(
    ("judge", "answer"), [("breaks", "interrupts"), ("thread", "interrupts"), ("thread", "next(iter(()))")]
)
def test_a_judge_can_neither_end_nor_hang_the_service(service: RunningService, judge: str, answer: str) -> None:
    rows = {"rollouts": [row(answer), row(answer)]}
    batch = service.post(f"/{judge}/reward", rows, **{"X-Deadline-Seconds": "20"}).json()
    assert [item["status"] for item in batch["judgements"]] == ["failed", "failed"]
    assert service.post(f"/{judge}/reward", row(answer), **{"X-Deadline-Seconds": "20"}).json()["status"] == "failed"
    assert service.post("/reward", row(r"\boxed{42}")).json()["reward"] == 1.0


def verify(text: str, truth: str = "42") -> dict[str, Any]:
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "6*7?"}]},
        "response": {"output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}]},
        "expected_answer": truth,
    }


@pytest.mark.parametrize("path", ["/get_reward", "/openrlhf", "/"])
def test_openrlhf_gets_its_scalars(service: RunningService, path: str) -> None:
    payload = {"query": [r"6*7? \boxed{42}</s>"], "prompts": ["6*7? "], "labels": ["42"]}
    answer = service.post(path, payload).json()
    assert (answer["rewards"], answer["scores"], answer["extra_logs"]["acc"]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("answer", "reward"), [(r"\boxed{42}<|im_end|>", 1.0), (r"\boxed{41}", 0.0), ("", 0.0)])
def test_slime_gets_the_reward_itself(service: RunningService, answer: str, reward: float) -> None:
    got = service.post("/slime", {"prompt": "6*7?", "response": answer, "label": "42"})
    assert (got.status_code, got.json()) == (200, reward)


def test_nemo_gym_gets_its_request_back_with_a_reward(service: RunningService) -> None:
    answer = service.post("/verify", verify(r"\boxed{42}")).json()
    assert (answer["reward"], answer["mask_sample"], answer["expected_answer"]) == (1.0, False, "42")


GOOD = json.dumps(row(r"\boxed{42}"))
MALFORMED: dict[str, tuple[bytes, int]] = {
    "nothing": (b"", 422),
    "no json": (b"{", 422),
    "not utf-8": (b'{"a": "\xff"}', 422),
    "a raw null byte": (GOOD.replace("42", "4\0002").encode(), 422),
    "brackets without end": (GOOD.replace('"42"', "[" * 50_000).encode(), 422),
    "a list": (b"[]", 422),
    "a number": (b"1", 422),
    "null": (b"null", 422),
    "no row": (b"{}", 422),
    "rollouts no list": (b'{"rollouts": {}}', 422),
    "a row of lists": (b'{"task": [], "output": []}', 422),
    "metadata no object": (b'{"task": {"metadata": 1}, "output": {}}', 422),
    "a task id no text": (b'{"task": {"task_id": {}}, "output": {}}', 422),
    "an answer too long": (GOOD.replace("42}", "4" * LONG).encode(), 413),
    "a batch too long": (b'{"rollouts": [' + b",".join([b"1"] * 201) + b"]}", 413),
}


@pytest.mark.parametrize("path", ["/reward", "/openrlhf", "/verify", "/slime"])
@pytest.mark.parametrize("body", MALFORMED)
def test_what_cannot_be_read_is_refused_in_words(service: RunningService, path: str, body: str) -> None:
    content, status = MALFORMED[body]
    got = service.client.post(path, content=content, headers={"Content-Type": "application/json"})
    # the row's limits are those of rows: to the other wires these are objects of another shape
    assert got.status_code == (status if path == "/reward" else 422)
    assert got.json()["detail"]


ODD: dict[str, bytes] = {
    "half a surrogate pair": GOOD.replace("42}", "42} \\ud800").encode(),
    "an escaped null": GOOD.replace("42}", "42} \\u0000").encode(),
    "equal keys, the last counts": GOOD.replace('"task":', '"task": 5, "task":').encode(),
    "a byte order mark of an answer": GOOD.replace("42}", "42}\\ufeff").encode(),
    "keys of its own": GOOD.replace('"task":', '"label": {"is_success": true}, "task":').encode(),
}


# What a policy's call of a tool may hold, beside its answer
CALLS = {
    "NaN": "NaN",
    "Infinity": "-Infinity",
    "an endless number": "9" * 5000,
    "lists": "[" * 50_000 + "]" * 50_000,
    "objects": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "half a pair": '"\\ud800",' + '"b":' + "[" * 900 + "]" * 900,
}
ODD |= {name: GOOD.replace('"final_answer":', f'"call": {CALLS[name]}, "final_answer":').encode() for name in CALLS}


@pytest.mark.parametrize("body", ODD)
def test_what_a_policy_may_write_is_judged(service: RunningService, body: str) -> None:
    got = service.client.post("/reward", content=ODD[body], headers={"Content-Type": "application/json"})
    assert (got.status_code, got.json()["reward"]) == (200, 1.0)
    batch = b'{"rollouts": [' + ODD[body] + b", " + GOOD.encode() + b"]}"
    got = service.client.post("/reward", content=batch, headers={"Content-Type": "application/json"})
    assert [verdict["reward"] for verdict in got.json()["judgements"]] == [1.0, 1.0]


def test_an_infinite_number_is_no_verdict_and_no_crash(service: RunningService) -> None:
    body = GOOD.replace('"42"', "1e999").encode()
    got = service.client.post("/reward", content=body, headers={"Content-Type": "application/json"})
    assert got.status_code == 200
    assert got.json()["reward"] in (None, 0.0)
    sent_back = json.dumps(verify("x")).replace('"42"', "1e999").encode()
    got = service.client.post("/verify", content=sent_back, headers={"Content-Type": "application/json"})
    assert got.status_code == 422


@pytest.mark.parametrize("answer", [text for text in HOSTILE if len(text) <= LONG])
def test_hostile_answers_are_wrong_answers(service: RunningService, answer: str) -> None:
    assert service.post("/reward", row(answer)).json()["reward"] == 0.0


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_browser_cannot_be_made_to_ask(service: RunningService, kind: str) -> None:
    assert service.client.post("/reward", content=GOOD, headers={"Content-Type": kind}).status_code == 415


def test_a_squeezed_body_is_refused(service: RunningService) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert service.client.post("/reward", content=GOOD, headers=headers).status_code == 415


def test_what_was_done_is_counted(service: RunningService) -> None:
    before = service.metric('astuner_verdicts_total{judge="costs",status="judged"}')
    service.post("/costs/reward", {"rollouts": [row("x"), row("y"), 3]})
    assert service.metric('astuner_verdicts_total{judge="costs",status="judged"}') == before + 2
    assert service.metric('astuner_verdicts_total{judge="costs",status="failed"}') == 1
    assert service.metric('astuner_requests_total{code="200",judge="costs",wire="native"}') == 1
    assert service.metric('astuner_llm_calls_total{judge="costs"}') == 4
    assert service.metric('astuner_llm_tokens_total{judge="costs",kind="prompt"}') == 60
    assert service.metric('astuner_llm_cost_total{judge="costs"}') == 1.0
    assert service.metric('astuner_verdict_seconds_count{judge="costs"}') == 3
    assert service.metric("astuner_queue") == service.metric("astuner_in_flight") == 0


def test_a_zero_for_an_answer_that_was_not_found_wrong_is_counted(service: RunningService) -> None:
    name = 'astuner_marked_total{judge="default",mark="undecided"}'
    before = service.metric(name)
    said = service.post("/reward", row(r"\boxed{" + "(x+" * 60 + "1" + ")^{9}" * 60 + "}")).json()
    assert (said["reward"], said["metrics"]) == (0.0, {"undecided": 1.0})
    assert said["reason"].startswith("undecided: ")
    assert service.metric(name) == before + 1


def test_answers_stay_out_of_the_log(tmp_path: Path) -> None:
    secret = "what the policy wrote"
    for asked, options in ((False, []), (True, ["--log-answers"])):
        with RunningService("--conf", config_file(tmp_path, JUDGES + "Breaks"), *options) as service:
            service.post("/reward", row(secret))
            service.post("/reward", {"rollouts": [row(secret)]})
            service.post("/openrlhf", {"query": [secret], "prompts": [""], "labels": ["42"]})
            service.post("/verify", verify(secret))
            service.post("/reward", {"task": secret})
            log = service.log()
        assert "gave no verdict on 1 of 1 rows" in log
        assert (secret in log.replace("\n", " ")) is asked


def test_a_path_that_is_almost_a_judges_is_not_found(service: RunningService) -> None:
    for path in ("/reward/", "/reward%00", "/costs/reward/"):
        assert service.post(path, row("x")).status_code == 404, path
