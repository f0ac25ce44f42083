"""A judge model's endpoint of the project's own, with faults, over real sockets on 127.0.0.1.

In tests it runs in a thread: `with JudgeServer(reply) as server: … server.url …`, where `reply` decides what each
    request gets.
As a program it serves the benchmark from a process of its own: `python -m tests.judge_server --latency-ms 50`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import math
import re
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Canned:
    """What one request gets. `hang` sends nothing; `drop` closes the connection, and `cut` does in the middle of the
    body; `raw` replaces the whole JSON body.
    """

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    finish: str = "stop"
    refusal: str | None = None
    top_logprobs: Mapping[str, float] | None = None
    usage: Mapping[str, Any] | None = None
    hang: bool = False
    drop: bool = False
    cut: bool = False
    raw: str | None = None
    error_code: str | None = None


Answer = Callable[[Body, int], Canned]


def prompt_of(body: Body) -> str:
    """All messages of a request, as one text."""
    return "\n".join(str(message["content"]) for message in body.get("messages", []))


def without_delimiters(prompt: str) -> str:
    """`prompt` without the delimiters around judged texts, the marks of their lines, and a reply shown once more."""
    prompt = re.sub(r"\n\nYour reply to this could not be read.*\[END reply \w{16}\]", "", prompt, flags=re.DOTALL)
    return re.sub(r"[0-9a-f]{16}|^[0-9a-f]{4}\|(?: |$)|(?<=with )[0-9a-f]{4}\|", "", prompt, flags=re.MULTILINE)


def judged_lines(block: str) -> str:
    """The text between two markers, without the marks of its lines."""
    return re.sub(r"^[0-9a-f]{4}\| ", "", block, flags=re.MULTILINE)


def verdict(score: float, reason: str = "because") -> str:
    """A pointwise reply."""
    return json.dumps({"reason": reason, "score": score})


def always(score: float) -> Answer:
    """An honest judge of one opinion."""
    return lambda body, attempt: Canned(verdict(score))


class _Connection(asyncio.StreamReaderProtocol):
    """A connection that the server knows of before the task that serves it has begun, so that it can be closed."""

    def __init__(
        self,
        known: list[asyncio.BaseTransport],
        serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    ) -> None:
        super().__init__(asyncio.StreamReader(limit=2**22), serve)
        self._known = known

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._known.append(transport)
        super().connection_made(transport)


_PORTS: set[int] = set()


class JudgeServer:
    """Serves `/v1/chat/completions` and `/v1/embeddings`; `answer(body, attempt)` is asked with how often this prompt,
    apart from delimiters, was seen before.
    """

    def __init__(self, answer: Answer, embed: Callable[[Sequence[str]], list[list[float]]] | None = None) -> None:
        self._answer, self._embed = answer, embed
        self._seen: Counter[str] = Counter()
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.inflight = self.most_inflight = 0
        self._transports: list[asyncio.BaseTransport] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.url = ""

    def __enter__(self) -> JudgeServer:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen_anew(), self._loop).result(5)
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    async def listen(self, port: int) -> int:
        """Start serving; the port."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: _Connection(self._transports, self._serve), "127.0.0.1", port, backlog=1024
        )
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def _listen_anew(self) -> int:
        """Start serving on a port that no earlier server of this process had: what a model has learnt of an endpoint,
        such as the reply formats that it takes, is kept by its address.
        """
        while (port := await self.listen(0)) in _PORTS:
            self._server.close()
        _PORTS.add(port)
        return port

    async def _close(self) -> None:
        # Accept no more, and close later: a connection that was accepted a moment ago is made some turns of the loop
        # later, and asyncio drops it unclosed where its server is closed by then. Turns and not seconds: on a busy
        # core 10 ms may hold one turn
        for listening in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        for _ in range(10):
            await asyncio.sleep(0)
        self._server.close()
        while mine := [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]:
            for task in mine:
                task.cancel()
            await asyncio.gather(*mine, return_exceptions=True)
            await asyncio.sleep(0)
        for transport in self._transports:
            # a client that reads no more leaves bytes behind, and close() would wait for them
            assert isinstance(transport, asyncio.Transport)
            transport.abort()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._one(reader, writer):
                pass
        writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body: Body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        self.bodies.append(body)
        self.headers.append(headers)
        self.inflight += 1
        self.most_inflight = max(self.most_inflight, self.inflight)
        try:
            canned = self._embeddings(body) if "/embeddings" in head[0] else self._next(body)
            await asyncio.sleep(canned.delay)
            if canned.hang:
                await asyncio.sleep(3600)
        finally:
            self.inflight -= 1
        if canned.drop:
            return False
        blob = (canned.raw if canned.raw is not None else json.dumps(_payload(canned, body))).encode()
        lines = [f"HTTP/1.1 {canned.status} x", "content-type: application/json", f"content-length: {len(blob)}"]
        lines += [f"{name}: {value}" for name, value in canned.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + (blob[: len(blob) // 2] if canned.cut else blob))
        await writer.drain()
        return not canned.cut

    def _next(self, body: Body) -> Canned:
        key = without_delimiters(prompt_of(body))
        self._seen[key] += 1
        return self._answer(body, self._seen[key] - 1)

    def _embeddings(self, body: Body) -> Canned:
        if self._embed is None:
            return Canned(status=404, text="no embeddings here")
        rows = [{"index": index, "embedding": row} for index, row in enumerate(self._embed(body["input"]))]
        return Canned(raw=json.dumps({"object": "list", "data": rows}))


def _payload(canned: Canned, body: Body) -> dict[str, Any]:
    if canned.status != 200:
        return {"error": {"message": canned.text or "canned", "type": "canned", "code": canned.error_code}}
    logprobs = None
    if canned.top_logprobs is not None:
        tops = [{"token": token, "logprob": math.log(share)} for token, share in canned.top_logprobs.items()]
        logprobs = {"content": [{**tops[0], "top_logprobs": tops}]}
    message = {"role": "assistant", "content": canned.text, "refusal": canned.refusal}
    choice = {"index": 0, "message": message, "finish_reason": canned.finish, "logprobs": logprobs}
    usage = canned.usage or {"prompt_tokens": len(prompt_of(body)) // 4, "completion_tokens": len(canned.text) // 4 + 1}
    return {"id": "x", "object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}


def by_label(prompt: str) -> float:
    """The score that benchmark prompts name as `label=<score>`: an honest judge knows the label. An answer without one,
    such as the harmless one of `graders.whose_fault`, is worth nothing.
    """
    return float((re.findall(r"label=(\d+)", prompt) or ["0"])[-1])


def all_met(prompt: str) -> str:
    """A reply that says yes to every criterion of the prompt."""
    numbers = re.findall(r"^(\d+)\. ", prompt.rpartition("<criteria>")[2], re.MULTILINE)
    return json.dumps(
        {"verdicts": [{"number": int(number), "quote": "air", "absent": False, "met": True} for number in numbers]}
    )


def draw(*parts: object) -> float:
    """A number in [0, 1) fixed by `parts`."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "big") / 2**64


def _faulty(rates: Mapping[str, float], latency: float, seed: int) -> Answer:
    """An honest judge behind a bad line: which fault a request meets is drawn from the prompt and its attempt."""

    def answer(body: Body, attempt: int) -> Canned:
        prompt = without_delimiters(prompt_of(body))
        good = all_met(prompt) if "<criteria>" in prompt else verdict(by_label(prompt))
        point = draw(seed, prompt, attempt)
        for fault, rate in rates.items():
            point -= rate
            if point < 0:
                return {
                    "429": Canned(status=429, headers={"retry-after-ms": "50"}, delay=latency),
                    "500": Canned(status=500, delay=latency),
                    "hang": Canned(hang=True),
                    "malformed": Canned(_spoilt(good, draw(seed, "kind", prompt, attempt)), delay=latency),
                }[fault]
        return Canned(good, delay=latency)

    return answer


def _spoilt(good: str, point: float) -> str:
    kinds = (
        good[: len(good) * 2 // 3],
        "I would rate it highly.",
        '{"reason": "fine"}',
        '{"score": "high"}',
        '{"score": 9999}',
    )
    return kinds[int(point * len(kinds))]


def main() -> None:
    """Serve until killed; the first line printed is the address."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--seed", type=int, default=0)
    for fault in ("429", "500", "hang", "malformed"):
        parser.add_argument(f"--rate-{fault}", type=float, default=0)
    options = parser.parse_args()
    rates = {fault: getattr(options, f"rate_{fault}") for fault in ("429", "500", "hang", "malformed")}

    async def serve() -> None:
        server = JudgeServer(_faulty(rates, options.latency_ms / 1000, options.seed))
        port = await server.listen(0)
        sys.stdout.write(f"listening on http://127.0.0.1:{port}/v1\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
