"""Ten criteria of an answer on a small local model: a delimiter of the answer, beside one drawn for each call.

python -m tutorial.with_local_model -- python -m benchmarks.llm.prefix [--answers 2]

Servers keep what a prompt shares with the last one. All questions about one answer share their delimiter, and so their
beginning; with a delimiter of its own, each question is read from the start. Both ask the same model in turns, and read
the probability of yes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import sys
import time
from dataclasses import replace

from agentscope_tuner.graders import ChatMessage
from agentscope_tuner.graders.client.chat_model import ChatModel, Prompt
from agentscope_tuner.graders.client.settings import ChatSettings
from agentscope_tuner.graders.criteria_grader import CriteriaGrader
from agentscope_tuner.graders.injection_defence import border_of
from benchmarks.bars import at_least
from benchmarks.llm.bench import answer
from benchmarks.llm.criteria import CRITERIA


def drawn(prompt: Prompt, delimiter: str) -> Prompt:
    """`prompt` with a delimiter and a mark of its own."""
    own = secrets.token_hex(8)
    messages = [
        ChatMessage(
            role=message.role,
            content=message.content.replace(delimiter, own).replace(f"{delimiter[:4]}|", f"{own[:4]}|"),
        )
        for message in prompt.messages()
    ]
    return replace(prompt, messages=lambda: messages, identity="")


async def seconds_of(model: ChatModel, prompts: list[Prompt]) -> float:
    """How long the questions take, one after the other."""
    started = time.perf_counter()
    for prompt in prompts:
        await model.ask(prompt, lambda reply: reply.top_logprobs)
    return time.perf_counter() - started


def main() -> int:
    """Ask in turns; exit code 1 where the shared beginning does not save a third of the time."""
    parser = argparse.ArgumentParser(description="Ten criteria of an answer on a small model of this machine.")
    parser.add_argument("--answers", type=int, default=2)
    options = parser.parse_args()
    url = os.environ["ASTUNER_BASE_URL"]
    settings = ChatSettings(model_name="local", base_url=url, cache=False, deadline_seconds=600, concurrency=1)
    model = ChatModel(settings)
    grader = CriteriaGrader(model, calls="each", score_from="logprobs")
    shared = alone = 0.0
    for row in range(options.answers):
        texts = {"query": "Why does it rain?", "response": answer(row)}
        asked = grader.prompts(texts["query"], texts["response"], CRITERIA)
        alone += asyncio.run(seconds_of(model, [drawn(prompt, border_of(texts).delimiter) for prompt in asked]))
        shared += asyncio.run(seconds_of(model, asked))
    rows = options.answers
    print(f"ten criteria of an answer, {rows} answers: {alone / rows:.1f} s with a delimiter drawn for each call,")
    print(f"    {shared / rows:.1f} s with a delimiter of the answer")
    return 0 if at_least("ten criteria on a local model, a shared beginning beside none", alone / shared, 1.5) else 1


if __name__ == "__main__":
    sys.exit(main())
