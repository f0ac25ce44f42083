"""Every published format of rubrics, replies, reward models and verifiers, from a YAML file alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

QUESTION = "Why does it rain?"
ANSWER = "Rain falls because warm air rises and cools. Ask a doctor."


@contextmanager
def served(reply: Any) -> Iterator[tuple[str, list[str]]]:
    """The address of a server whose chat model says `reply`, a message or its text, and whose reward models give each
    chat a hundredth of its length; and the paths that were asked for.
    """
    paths: list[str] = []

    class Peer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            paths.append(self.path)
            if "messages" in body:
                message = reply if isinstance(reply, dict) else {"role": "assistant", "content": reply}
                found: Any = {"choices": [{"message": message, "finish_reason": "stop"}]}
            else:
                found = scored(self.path, body)
            blob = json.dumps(found).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(blob)))
            self.end_headers()
            self.wfile.write(blob)

        def log_message(self, *_: Any) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Peer)
    thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", paths
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def scored(path: str, body: dict[str, Any]) -> Any:
    """What a server of reward models answers, in the form of each wire."""
    if path == "/rm":
        return len(body["response"]) / 100
    number = enumerate(body["input"])
    match path:
        case "/classify" | "/v1/classify":
            data = [
                {"index": n, "label": "LABEL_0", "probs": [len(text) / 100], "num_classes": 1} for n, text in number
            ]
        case "/v1/embeddings":
            data = [{"object": "embedding", "index": n, "embedding": [len(text) / 100]} for n, text in number]
        case _:
            data = [{"object": "pooling", "index": n, "data": [len(text) / 100]} for n, text in number]
    return {"object": "list", "data": data, "usage": {"prompt_tokens": 9}}


def verdicts(*met: Any) -> str:
    """A judge's reply on criteria, each yes with a quote."""
    each = [{"number": n, "quote": "Rain falls", "absent": False, "met": one} for n, one in enumerate(met, start=1)]
    return json.dumps({"verdicts": each})


RUBRICS = """
astuner:
  task_judge:
    judge: task_rubrics
    task_rubrics: {model_name: m, base_url: '{url}/v1', shuffle_seed: null, client: {cache: false}}
"""
GIVEN = """
astuner:
  task_judge:
    judge: llm
    llm:
      model_name: m
      base_url: '{url}/v1'
      client: {cache: false}
      reward_scale: raw
      MORE
"""
PLAIN = GIVEN.replace("MORE", "prompt: 'Score from 0 to 10. {query} {response}'")
REWARD = """
astuner:
  task_judge:
    judge: reward_model
    reward_model: {url: '{url}', wire: WIRE, MORE}
"""
VERIFIER = """
astuner:
  task_judge:
    judge: verifier
    verifier: {preset: PRESET, model_name: v, base_url: '{url}/v1', probes: off, client: {cache: false}}
"""


def by_pattern(prompt: str, pattern: str, more: str) -> str:
    return GIVEN.replace("MORE", f"prompt: '{prompt} {{response}}'\n      score_pattern: '{pattern}'\n      {more}")


def rewards(wire: str, more: str = "text: 'Q {query} A {response}', model_name: rm") -> str:
    return REWARD.replace("WIRE", wire).replace("MORE", more)


HEALTHBENCH = {
    "prompt": [{"role": "user", "content": QUESTION}],
    "prompt_id": "4f",
    "rubrics": [
        {"criterion": "Names the cooling of air", "points": 7, "tags": ["level:example", "axis:accuracy"]},
        {"criterion": "Sends the user to a doctor", "points": -4, "tags": ["level:cluster", "axis:context_awareness"]},
        {"criterion": "Names vapour", "points": 3, "tags": []},
    ],
    "example_tags": ["theme:hedging"],
    "canary": "healthbench:…",
}
RAR = [
    {"title": "Cause", "description": "Essential Criteria: Names the cause.", "weight": 5},
    {"title": "Detail", "description": "Important Criteria: Names the air.", "weight": 3},
    {"title": "Style", "description": "Optional Criteria: Is brief.", "weight": 1},
    {"title": "Off topic", "description": "Pitfall Criteria: Speaks of doctors.", "weight": -1},
]
REWARDKIT = """
[judge]
judge = "provider/model"
files = ["/app/answer.md"]
[[criterion]]
name = "cause"
description = "Is the cause named?"
type = "binary"
[[criterion]]
description = "How clear is it?"
type = "likert"
points = 5
weight = 2.0
[[criterion]]
description = "How much of it is needless?"
type = "numeric"
min = 0
max = 10
polarity = "negative"
[scoring]
aggregation = "weighted-mean"
"""
FILES = {"files": {"/app/answer.md": "Rain falls."}}
OMNI = "## Student Final Answer\n{}\n\n## Equivalence Judgement\n{}\n\n## Justification\nThey say so."
THREE = '{"reason": "brief", "score": 3}'
EXPECTED = len(f"Q {QUESTION} A {ANSWER}") / 100
PEACE = {"answer": "Peace of Westphalia"}
BOXED = "\\boxed{the Westphalian peace}"

FORMATS: dict[str, tuple[str, dict[str, Any], Any, float]] = {
    # a name: the YAML, the task's columns, what the model says, and the reward
    "HealthBench": (RUBRICS, HEALTHBENCH, verdicts(True, True, False), (7 - 4) / 10),
    "Rubrics as Rewards": (RUBRICS, {"rubrics": RAR}, verdicts(True, True, False, True), (5 + 3 - 1) / 9),
    "Rubrics as Rewards without weights": (
        RUBRICS,
        {"rubrics": [{"title": one["title"], "description": one["description"]} for one in RAR]},
        verdicts(True, False, False, False),
        5 / 9,
    ),
    "rewardkit's criteria": (
        RUBRICS,
        {
            "rubrics": [
                {"id": "a", "description": "It is right", "type": "binary", "importance": "must_have"},
                {"id": "b", "description": "It is vague", "weight": 3, "polarity": "negative"},
            ]
        },
        verdicts(True, True),
        1 / 4,
    ),
    "rewardkit's file": (RUBRICS, {"rubrics": REWARDKIT}, verdicts(True, 4, 2.5), (1 + 2 * 0.75 + 0.75) / 4),
    "open-instruct": (
        RUBRICS,
        {"rubrics": {"query": QUESTION, "rubrics": [{"criterion": "x", "weight": 2}, {"criterion": "y", "weight": 1}]}},
        verdicts(True, False),
        2 / 3,
    ),
    "JSON in a column of text": (RUBRICS, {"rubrics": json.dumps(RAR)}, verdicts(True, True, True, False), 1.0),
    "a list of texts": (RUBRICS, {"rubrics": ["It names air", "It names vapour"]}, verdicts(True, False), 0.5),
    # replies
    "JSON": (PLAIN, {}, THREE, 3),
    "JSON in a block of code": (PLAIN, {}, f"Here it is:\n```json\n{THREE}\n```", 3),
    "<think>": (PLAIN, {}, f'<think>{{"score": 9}}</think>\n{THREE}', 3),
    "[THINK]": (PLAIN, {}, f'[THINK]{{"score": 9}}[/THINK]{THREE}', 3),
    "◁think▷": (PLAIN, {}, f'◁think▷{{"score": 9}}◁/think▷{THREE}', 3),
    "reasoning_content": (PLAIN, {}, {"reasoning_content": '{"score": 9}', "content": THREE}, 3),
    "parts of a message": (PLAIN, {}, {"content": [{"type": "text", "text": THREE}]}, 3),
    "labels": (
        GIVEN.replace("MORE", "prompt: 'Is it good? {response}'\n      labels: {good: 2, bad: 0}"),
        {},
        '{"reason": "x", "label": "Good"}',
        2,
    ),
    "C or I": (by_pattern("C or I?", "GRADE: ([CI])", "labels: {C: 1, I: 0}"), {}, "It agrees.\nGRADE: C", 1),
    "[[4]]": (by_pattern("From 1 to 10.", r"\[\[(\d+)\]\]", "scale: {min: 1, max: 10}"), {}, "Rating: [[4]]", 4),
    "[RESULT] 4": (
        by_pattern("From 1 to 5.", r"\[RESULT\]\s*(\d)", "scale: {min: 1, max: 5}"),
        {},
        "Feedback: fine. [RESULT] 4",
        4,
    ),
    "Score: 4": (
        by_pattern("From 1 to 5.", r"Score:\s*(\d)", "scale: {min: 1, max: 5}"),
        {},
        "It is fine.\nScore: 4",
        4,
    ),
    "1到5分": (GIVEN.replace("MORE", "prompt: '请打1到5分。{response}'\n      language: zh"), {}, '{"score": 5}', 5),
    "满分10分": (
        GIVEN.replace("MORE", "prompt: '请打分，满分10分。{response}'\n      language: zh"),
        {},
        '{"score": 8}',
        8,
    ),
    "0～10分": (
        GIVEN.replace("MORE", "prompt: '评分：0～10分。{response}'\n      language: zh"),
        {},
        '{"score": 7}',
        7,
    ),
    # reward models
    "vLLM /classify": (rewards("vllm_classify"), {}, None, EXPECTED),
    "vLLM /pooling": (rewards("vllm_pooling"), {}, None, EXPECTED),
    "SGLang /v1/classify": (rewards("sglang_classify"), {}, None, EXPECTED),
    "SGLang /v1/embeddings": (rewards("sglang_embeddings"), {}, None, EXPECTED),
    "slime's remote model": (
        REWARD.replace("{url}", "{url}/rm").replace("WIRE, MORE", "slime"),
        {},
        None,
        len(ANSWER) / 100,
    ),
    "a reward model centered": (
        rewards("vllm_classify", "text: '{response}', center: 0.5, scale: 0.1, clip: [-1, 0.7]"),
        {},
        None,
        0.7,
    ),
    # verifiers, about an answer that the rules cannot read
    **{
        f"{preset} says {said}": (VERIFIER.replace("PRESET", preset), PEACE, said, reward)
        for preset, said, reward in [
            ("general_verifier", "They agree.\n\nFinal Decision: Yes", 1.0),
            ("general_verifier", "Final Decision: No", 0.0),
            ("xverify", "[Correct]", 1.0),
            ("xverify", "Incorrect", 0.0),
            ("compass_verifier", "A", 1.0),
            ("compass_verifier", "\\boxed{C}", 0.0),
            ("omni_judge", OMNI.format("peace", "TRUE"), 1.0),
            ("omni_judge", OMNI.format("peace", "FALSE"), 0.0),
            ("tinyv", "True", 1.0),
            ("tinyv", "False", 0.0),
        ]
    },
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_published_format_is_judged_from_yaml_alone(tmp_path: Path, name: str) -> None:
    yaml, columns, reply, reward = FORMATS[name]
    file = tmp_path / "judge.yaml"
    with served(reply) as (url, paths):
        file.write_text(yaml.replace("{url}", url), encoding="utf-8")
        task = WorkflowTask(task=Task(main_query=QUESTION, task_id="t", metadata=columns))
        output = {"final_answer": BOXED if columns is PEACE else ANSWER, **FILES}
        found = load_judge(str(file)).judge(task, WorkflowOutput(metadata=output))
    assert found.status == "judged", found.error
    assert found.reward == pytest.approx(reward)
    assert paths
