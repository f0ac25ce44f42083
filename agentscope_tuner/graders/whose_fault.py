"""Whose fault it is that there is no verdict: the answer's own text, or the judge model's and its endpoint's.

A policy that could make a judge fail could take away every low verdict, for trainers mask a row without one. So a text
that cannot be judged earns the least: if no reply about it can be read, if the endpoint refuses it or breaks over it,
if the model thinks about it for too long, or if the endpoint is busy for it alone. No list of errors decides whether a
text is to blame, but an experiment: the same question is asked about a harmless answer in its place. The answer is at
fault only if the harmless question gets a verdict four times, and the answer gets none when it is asked about again in
between. After a verdict that took too long, the answer's tries are made at once, and each has longer than the first
tries had.

A harmless question that fails, too, makes the experiment longer. If too many fail, the answer is asked about a last
time. For a model or an endpoint that spoils or refuses a share p of all requests whatever they are about, the chance
that an innocent answer is blamed is below 0.0000002 for p of 0.15, and below 0.001 for any p; a text that breaks the
judge is blamed with a chance of 0.97 at p of 0.15. An outage would have to begin and end in step with the experiment.
A text that breaks the judge costs about twelve requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from agentscope_tuner.errors import GraderError, GraderTimeout
from agentscope_tuner.graders.client.chat_model import Answer, ChatModel, Prompt
from agentscope_tuner.graders.client.reply import AnswerAtFault, BusyReplies, LateReplies, Reply, UnreadableReplies
from agentscope_tuner.graders.client.requests import TAKEN
from agentscope_tuner.graders.client.settings import ChatSettings
from agentscope_tuner.graders.prompt import Trajectory

T = TypeVar("T")

#: The harmless answer that a question is asked about in place of the real one.
HARMLESS = "I do not know."
# Of 32 by 32 pixels
_WHITE = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAQAAAABbAUdZAAAAD0lEQVR42mP4DwQMg5cAANrpf4Em8vpjAAAAAElFTkSuQmCC"
)
# How many tries about the answer must have failed when the first, second … harmless question has got a verdict, and how
# many more for each harmless question that got none
_FAILED = (3, 5, 7, 8)
_MORE = 5
# Tries at once about an answer that took too long, at least; equal questions with one draw would share a request
_AT_ONCE = 4
_DRAW = -101
# An experiment that has no more than this, in seconds, is over
_NO_TIME = 0.01
# An endpoint that is busy with others gets a pause between tries
_ONE_TRY = {"max_reasks": 0, "max_retries": 0}


def harmless_beside(response: object) -> str | Trajectory:
    """The harmless answer to ask about in place of `response`: `I do not know.`, with a white image if it has images.

    Without the image, a model that takes no images would seem to fail only over the answer.
    """
    if isinstance(response, Trajectory) and response.images:
        return Trajectory([HARMLESS, "(image)"], images={"image": _WHITE})
    return HARMLESS


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
        control: makes the same question about a harmless answer, and the function that reads the reply to it.

    Raises:
        AnswerAtFault: the endpoint refuses this prompt, or gives no readable verdict on it, and gives one on `control`.
        GraderError: any other failure, which says nothing about the answer. At most two deadlines have passed,
            or two and a half if one try may take a whole deadline; waits for a turn come on top.
    """
    try:
        return await model.ask(prompt, parse, counts=False)
    except UnreadableReplies as exc:
        failure = exc
    found: list[Answer[T]] = []
    late = isinstance(failure, LateReplies)
    limits = model.settings.model_copy(update=_ONE_TRY) if isinstance(failure, BusyReplies) else model.settings
    prompt = replace(prompt, said=failure.said)
    left = _Left(model.settings.deadline_seconds / 2 + _seconds_of_tries(model))

    async def again() -> int:
        try:
            async with left.of(limits) as most:
                found.append(await _once_more(model, prompt, parse, failure, most))
        except UnreadableReplies as exc:
            left.check()
            return exc.tries
        return 0

    try:
        at_fault = await is_to_blame(
            failure.tries, again, lambda number: _is_read(model, left, limits, number, *control(), late=late)
        )
    except (TimeoutError, GraderTimeout):
        # a late reply's error names the seconds of an experiment, which are not those that were configured
        at_fault = False
    if at_fault:
        raise AnswerAtFault(
            f"the answer's own text prevents a verdict, though others are judged: {failure.message:.400}"
        ) from failure
    if found:
        return found[0]
    model.count_failure(failure)
    raise failure


class _Left:
    """The seconds that are left for an experiment. Waits for a turn do not count: other answers cause them, and a
    policy could fill the queue with texts that break the judge, so that none was found to blame.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @asynccontextmanager
    async def of(self, limits: ChatSettings) -> AsyncIterator[ChatSettings]:
        """`limits` with a deadline within the time that is left, for questions inside the `with` block.

        Afterwards the time of the longest of these questions is subtracted: they are asked at once.
        """
        taken: list[float] = []
        token = TAKEN.set(taken)
        try:
            yield limits.model_copy(update={"deadline_seconds": min(limits.deadline_seconds, self._seconds)})
        finally:
            TAKEN.reset(token)
            self._seconds -= max(taken, default=0.0)

    def check(self) -> None:
        """Raises TimeoutError if no time is left: a question that failed may then have had too little time."""
        if self._seconds < _NO_TIME:
            raise TimeoutError


async def _once_more(
    model: ChatModel, prompt: Prompt, parse: Callable[[Reply], T], failure: UnreadableReplies, most: ChatSettings
) -> Answer[T]:
    """Ask about the same answer again, and give the first readable reply.

    If the earlier `failure` was that replies came too late, several requests go out at once, each with
    `_seconds_of_tries` seconds and without a retry.

    Raises:
        UnreadableReplies: there was no readable reply.
    """
    if not isinstance(failure, LateReplies):
        return await model.ask(prompt, parse, counts=False, limits=most)
    seconds = min(_seconds_of_tries(model), most.deadline_seconds)
    limits = model.settings.model_copy(update={"deadline_seconds": seconds, "try_seconds": seconds, **_ONE_TRY})
    draws = [replace(prompt, draw=_DRAW - number) for number in range(max(_AT_ONCE, _FAILED[-1] - failure.tries))]
    asked = [asyncio.ensure_future(_fresh(model).ask(draw, parse, counts=False, limits=limits)) for draw in draws]
    failures = []
    try:
        for one in asyncio.as_completed(asked):
            try:
                return await one
            except UnreadableReplies as exc:
                failures.append(exc)
    finally:
        for task in asked:
            task.cancel()
    failures[0].tries = len(failures)
    raise failures[0]


def _seconds_of_tries(model: ChatModel) -> float:
    """The seconds of each repeated try: half a deadline, and never less than the first tries had.

    With less, a slow answer could be blamed after one hiccup.
    """
    deadline = model.settings.deadline_seconds
    return max(deadline / 2, min(model.settings.seconds_of_a_try, deadline))


async def is_to_blame(
    failed: int, again: Callable[[], Awaitable[int]], control: Callable[[int], Awaitable[bool]]
) -> bool:
    """Whether the answer is to blame for its failed tries.

    Args:
        failed: how many tries about the answer have failed.
        again: asks about the answer again; gives the number of tries that failed, or 0 if there is a verdict now.
        control: asks once about a harmless answer, given the number of this question, from 0; gives whether there is a
            verdict.
    """
    read = unread = 0
    repeated = False
    while read < len(_FAILED):
        if not await control(read + unread):
            unread += 1
            if unread > read + 1:
                if not repeated:
                    await again()  # the endpoint seems to fail at random, so that another try may bring a verdict
                return False
            continue
        while failed < _FAILED[read] + _MORE * unread or (read and not repeated):
            tries = await again()
            if not tries:
                return False
            failed, repeated = failed + tries, True
        read += 1
    return True


def _fresh(model: ChatModel) -> ChatModel:
    return ChatModel(model.settings, _NO_STORE, model.budget_name)


async def _is_read(
    model: ChatModel,
    left: _Left,
    limits: ChatSettings,
    number: int,
    prompt: Prompt,
    parse: Callable[[Reply], object],
    *,
    late: bool,
) -> bool:
    """Whether the model's first reply to `prompt`, the question about a harmless answer, can be read.

    With `late`, if the answer's verdict took too long, the reply must come within a quarter of the deadline, or within
    the time of one try if that is longer. `number` makes each question a different one.
    """
    changed: dict[str, float] = {"max_reasks": 0}
    if late:
        # An endpoint that is only busy has the whole deadline, but time is what is tried here
        changed["deadline_seconds"] = max(limits.seconds_of_a_try, limits.deadline_seconds / 4)
    draw = replace(prompt, draw=-1 - number)
    try:
        async with left.of(limits.model_copy(update=changed)) as most:
            await _fresh(model).ask(draw, parse, counts=False, limits=most)
    except GraderError:
        left.check()
        return False
    return True
