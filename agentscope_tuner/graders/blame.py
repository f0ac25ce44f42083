"""Whose fault it is that there is no verdict: the answer's own text, or the judge model's and its endpoint's.

A policy that could make a judge fail could take away every low verdict, for trainers mask a row without one. So a text
that cannot be judged earns the least. What a text is to blame for is no list of errors, but an experiment: the same
question is asked with a harmless answer in its place. Only where that is read every time, and the answer itself is not
read when it is asked about again, is the answer at fault.

For a model that spoils a share p of all replies whatever they are about, the chance that an innocent answer is blamed
is at most p^8 (1 - p)^4 with the default `max_reasks`: below 0.0000002 for p of 0.15, and below 0.0005 for any p.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import Answer, ChatModel, Prompt
from agentscope_tuner.graders.client.reply import Reply, UnreadableReplies

T = TypeVar("T")

#: What stands in the place of an answer when its question is tried without it.
HARMLESS = "I do not know."
_CONTROLS = 4


class AnswerAtFault(GraderError):
    """The answer's own text prevents its verdict, so it earns the least; the message says how it does."""


class _NoStore:
    """Keeps nothing: a reply of yesterday does not show that the endpoint works today."""

    def get(self, key: str) -> Reply | None:
        return None

    def put(self, key: str, reply: Reply, usage: object) -> None:
        return None


_NO_STORE = _NoStore()


async def ask_about(
    model: ChatModel,
    prompt: Prompt,
    parse: Callable[[Reply], T],
    control: Callable[[], tuple[Prompt, Callable[[Reply], object]]],
) -> Answer[T]:
    """The model's answer to `prompt`.

    Args:
        model: the judge model.
        prompt: a question about an answer.
        parse: reads the reply.
        control: makes the same question about a harmless answer, and what reads its reply.

    Raises:
        AnswerAtFault: the endpoint refuses this prompt, or gives no readable verdict on it, and gives one on `control`.
        GraderError: any other failure, which says nothing about the answer. At most two deadlines have passed.
    """
    try:
        return await model.ask(prompt, parse)
    except UnreadableReplies as exc:
        failure = exc
    try:
        async with asyncio.timeout(model.settings.deadline_seconds):
            if not await _reads(model, *control()):
                raise failure
            try:
                return await model.ask(prompt, parse)
            except UnreadableReplies as again:
                raise AnswerAtFault(
                    f"the answer's own text prevents a verdict, though others are judged: {again.message:.400}"
                ) from again
    except TimeoutError:
        raise failure from None


async def _reads(model: ChatModel, prompt: Prompt, parse: Callable[[Reply], object]) -> bool:
    """Whether each of several replies to `prompt` can be read at once."""
    fresh = ChatModel(model.settings, _NO_STORE, model.budget_name)
    for number in range(_CONTROLS):
        try:
            answer = await fresh.ask(replace(prompt, draw=-1 - number), parse)
        except GraderError:
            return False
        if answer.usage.calls > 1:
            return False
    return True
