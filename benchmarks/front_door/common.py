"""Reward code as training scripts commonly have it, in Math-Verify's environment: one case, its outcome as JSON.

Runs with the interpreter of .venvs/math-verify and imports nothing of astuner. An exception becomes 0.0, which is the
habit that the table shows.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from math_verify import parse, verify

logging.disable(logging.CRITICAL)


def math_reward(answer: str, reference: Any) -> float:
    """1.0 where the answer equals the reference."""
    try:
        return float(verify(parse(f"${reference}$"), parse(answer)))
    except Exception:  # noqa: BLE001 - the habit
        return 0.0


def unlimited(answer: str, reference: Any) -> float:
    """The same without its time limits: they stand on signals, so that a thread has to switch them off."""
    try:
        gold = parse(f"${reference}$", parsing_timeout=None)
        return float(verify(gold, parse(answer, parsing_timeout=None), timeout_seconds=None))
    except Exception:  # noqa: BLE001 - the habit
        return 0.0


def llm_reward(answer: str, reference: Any, url: str) -> float:
    """What a judge model says."""
    try:
        body = json.dumps({"answer": answer, "reference": reference}).encode()
        with urllib.request.urlopen(url, body, timeout=5) as reply:
            return float(json.load(reply)["score"])
    except Exception:  # noqa: BLE001 - the habit
        return 0.0


def in_a_thread(judge: Callable[[], float]) -> float:
    """As a trainer that judges off its main thread calls it."""
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(judge()))
    thread.start()
    thread.join()
    return found[0]


def main() -> None:
    """The case on standard input: `kind`, `answer`, `reference`, `url`, or `rows` to time."""
    case = json.load(sys.stdin)
    math_reward("$1$", "1")
    started = time.perf_counter()
    if case["kind"] == "rows":
        rewards = [math_reward(answer, reference) for answer, reference in case["rows"]]
        outcome = {"reward": sum(rewards) / len(rewards)}
    elif case["kind"] == "llm":
        outcome = {"reward": llm_reward(case["answer"], case["reference"], case["url"])}
    elif case["kind"] == "unlimited":
        outcome = {"reward": in_a_thread(lambda: unlimited(case["answer"], case["reference"]))}
    elif case["kind"] == "thread":
        outcome = {"reward": in_a_thread(lambda: math_reward(case["answer"], case["reference"]))}
    else:
        outcome = {"reward": math_reward(case["answer"], case["reference"])}
    print(json.dumps({**outcome, "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main()
