"""The journal of learning keeps every reply, so that a run that was killed continues where it stopped."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import IO

from agentscope_tuner.graders.client.reply import Reply
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.client.verdict_cache import decode_reply, encode_reply


class Journal:
    """A ReplyStore in a JSONL file that only grows.

    Learning is seeded, so the same replies lead to the same questions. A resumed run therefore asks only the questions
    that the journal does not answer. Learning holds a lock, so that one process at a time writes the journal.

    Attributes:
        resumed: the number of replies that earlier runs left.
        spent_before: the usage of these replies.
    """

    def __init__(self, path: Path) -> None:
        self._replies: dict[str, Reply] = {}
        self.resumed = 0
        self.spent_before = Usage()
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = path.open("a+b")
        self._read()

    def _read(self) -> None:
        self._file.seek(0)
        whole = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                break  # a run was killed while it wrote this line
            whole += len(line)
            try:
                key, reply, *usage = json.loads(line)
                self._replies[key] = decode_reply(json.dumps(reply))
                self.spent_before += Usage(**usage[0]) if usage else Usage(calls=1)
            except (ValueError, KeyError, TypeError):
                continue  # a damaged line costs one call
        self._file.truncate(whole)
        self._file.seek(0, 2)
        self.resumed = len(self._replies)

    def get(self, key: str) -> Reply | None:
        """See ReplyStore."""
        return self._replies.get(key)

    def put(self, key: str, reply: Reply, usage: Usage) -> None:
        """See ReplyStore. The operating system has the reply when this returns, so that a kill cannot lose it."""
        self._replies[key] = reply
        line = json.dumps([key, json.loads(encode_reply(reply)), asdict(usage)])
        self._file.write(line.encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
