"""What the judge makes of a model's reply: `pytest test_judge.py` after every change of the configuration.

The model is a small server in this file, so that the test needs no key. Whether a real model judges well is another
question: judge the rows by it, and compare with their labels.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from agentscope_tuner import Rollout, WorkflowTask, load_config, load_judge

HERE = Path(__file__).parent
ROWS = [json.loads(line) for line in (HERE / "rows.jsonl").read_text(encoding="utf-8").split("\n") if line]


class Model(BaseHTTPRequestHandler):
    """Answers every chat request with the reply that stands in `server.reply`."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": self.server.reply}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        """Tests print nothing."""


@pytest.fixture
def model():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def judged(model, reply):
    model.reply = reply
    base_url = f"http://127.0.0.1:{model.server_address[1]}/v1"
    llm = "astuner.task_judge.llm"
    judge = load_judge(load_config(HERE / "judge.yaml", [f"{llm}.base_url={base_url}", f"{llm}.api_key=none"]))
    rollout = Rollout.model_validate(ROWS[0])
    return judge.judge(WorkflowTask(task=rollout.task), rollout.output)


@pytest.mark.parametrize(("score", "reward", "success"), [(5, 1.0, True), (4, 0.75, True), (1, 0.0, False)])
def test_a_verdict_becomes_a_reward(model, score, reward, success):
    judgement = judged(model, json.dumps({"reason": "because", "score": score}))
    assert (judgement.reward, judgement.is_success) == (reward, success), judgement.error


def test_a_reply_without_a_verdict_is_an_error_and_no_reward(model):
    assert judged(model, "I cannot say.").status == "failed"
