"""Whose fault it is that there is no verdict: the answer's own text, or the judge model's and its endpoint's.

A policy that could make a judge fail could take away every low verdict, for trainers mask a row without one. So a text
that cannot be judged earns the least. What a text is to blame for is no list of errors, but an experiment: the same
question is asked with a harmless answer in its place. Only where that is read every time, and the answer itself is not
read when it is asked about again in between, is the answer at fault.

For a model or an endpoint that spoils or refuses a share p of all requests whatever they are about, the chance that an
innocent answer is blamed is at most p^8 (1 - p)^4: below 0.0000002 for p of 0.15, and below 0.0005 for any p. An outage
would have to begin and end in step with the experiment. A text that breaks the judge costs about twelve requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from agentscope_tuner.errors import GraderError
from agentscope_tuner.graders.client.chat_model import Answer, ChatModel, Prompt
from agentscope_tuner.graders.client.reply import Reply, UnreadableReplies

T = TypeVar("T")

#: What stands in the place of an answer when its question is tried without it.
HARMLESS = "I do not know."
# How many tries about the answer have failed at least after the first, second … question about a harmless one
_FAILED = (3, 5, 7, 8)


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
        return await model.ask(prompt, parse, counts=False)
    except UnreadableReplies as exc:
        failure = exc
    found: list[Answer[T]] = []

    async def again() -> int:
        try:
            found.append(await model.ask(prompt, parse, counts=False))
        except UnreadableReplies as exc:
            return exc.tries
        return 0

    try:
        async with asyncio.timeout(model.settings.deadline_seconds):
            at_fault = await is_to_blame(failure.tries, again, lambda number: _reads(model, number, *control()))
    except TimeoutError:
        at_fault = False
    if at_fault:
        raise AnswerAtFault(
            f"the answer's own text prevents a verdict, though others are judged: {failure.message:.400}"
        ) from failure
    if found:
        return found[0]
    model.count_failure(failure)
    raise failure


async def is_to_blame(
    failed: int, again: Callable[[], Awaitable[int]], control: Callable[[int], Awaitable[bool]]
) -> bool:
    """Whether the answer is to blame for its failed tries.

    Args:
        failed: how many tries about the answer have failed.
        again: asks about the answer again; gives the number of failed tries, 0 where there is a verdict now.
        control: asks once about a harmless answer, for the number of the question; gives whether it has a verdict.
    """
    repeated = False
    for number, least in enumerate(_FAILED):
        if not await control(number):
            return False
        while failed < least or (number and not repeated):
            tries = await again()
            if not tries:
                return False
            failed, repeated = failed + tries, True
    return True


async def _reads(model: ChatModel, number: int, prompt: Prompt, parse: Callable[[Reply], object]) -> bool:
    """Whether the first reply to `prompt` can be read."""
    fresh = ChatModel(model.settings, _NO_STORE, model.budget_name)
    try:
        answer = await fresh.ask(replace(prompt, draw=-1 - number), parse, counts=False)
    except GraderError:
        return False
    return answer.usage.calls <= 1
