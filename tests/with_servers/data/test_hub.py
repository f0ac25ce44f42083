"""Rows at hf://, from a server that answers as the Hugging Face hub does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

FILES = {
    "README.md": b"# sums",
    "data/train-00000-of-00001.jsonl": b'{"question": "1+1?", "answer": "#### 2", "response": "\\\\boxed{2}"}\n',
    "data/test-00000-of-00001.jsonl": b'{"question": "3+1?", "answer": "#### 4", "response": "\\\\boxed{5}"}\n',
}
COMMIT = "0" * 40


class Hub(BaseHTTPRequestHandler):
    """The repository own/sums, of data sets."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if "/resolve/main/" in path:
            self._answer(FILES[path.partition("/resolve/main/")[2]])
        elif "/tree/main" in path:
            self._answer(json.dumps(self._tree(path.partition("/tree/main")[2].strip("/"))).encode())
        elif path.startswith("/api/datasets/own/sums"):
            about = {"id": "own/sums", "sha": COMMIT, "private": False, "gated": False, "tags": [], "siblings": []}
            self._answer(json.dumps(about | {"disabled": False, "downloads": 0, "likes": 0}).encode())
        else:
            self.send_error(404)

    def _tree(self, folder: str) -> list[dict[str, object]]:
        below = [name for name in FILES if name.startswith(folder)]
        deep = "recursive=true" in self.path
        files = [name for name in below if deep or "/" not in name.removeprefix(folder).strip("/")]
        found = [{"type": "file", "path": name, "size": len(FILES[name]), "oid": COMMIT} for name in files]
        return found if folder else [*found, {"type": "directory", "path": "data", "size": 0, "oid": COMMIT}]

    def _answer(self, body: bytes) -> None:
        start, _, end = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        part = body[int(start) : int(end) + 1 if end else None]
        self.send_response(200)
        for name, value in {"ETag": '"one"', "X-Repo-Commit": COMMIT, "Content-Length": str(len(part))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def astuner(hub: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # huggingface_hub reads its address when it is imported
    environment = {**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(folder), "HF_HUB_OFFLINE": "0", "NO_PROXY": "*"}
    main = [sys.executable, "-c", "from agentscope_tuner.cli import main; main()"]
    return subprocess.run([*main, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_rows_of_the_hub_are_read_by_file_and_by_pattern(hub: str, tmp_path: Path) -> None:
    for split, reward in (("test-00000-of-00001", 0.0), ("train-*", 1.0)):
        rows, conf = f"hf://datasets/own/sums/data/{split}.jsonl", f"{split[:4]}/judge.yaml"
        made = astuner(hub, tmp_path, "init", "math", split[:4], "--from", rows)
        assert made.returncode == 0, made.stderr
        done = astuner(hub, tmp_path, "judge", "--conf", conf, "--input", rows, "--output", "scored.jsonl")
        assert done.returncode == 0, done.stderr
        assert json.loads((tmp_path / "scored.jsonl").read_text())["judgement"]["reward"] == reward


@pytest.mark.parametrize(
    ("rows", "way_out"),
    [
        ("hf://datasets/own/sums", "such as 'hf://datasets/own/sums/data/test-*.jsonl'"),
        ("hf://own/sums", "write 'hf://datasets/own/sums'"),
    ],
)
def test_a_repository_without_a_split_says_what_to_name(hub: str, tmp_path: Path, rows: str, way_out: str) -> None:
    done = astuner(hub, tmp_path, "init", "math", ".", "--from", rows)
    assert (done.returncode, way_out in done.stderr) == (2, True), done.stderr
