"""Whether a judge model pays answers that say nothing: it is tried with some before it judges, and at times.

A lone ":" or an opener such as "Thought process:" talked judge models into a pass (arXiv 2507.08794, "One Token to Fool
LLM-as-a-Judge"). No list of such texts is complete, and some of them are right answers, so none is filtered. What can
be known is the model: one that pays a handful of them in its own prompt pays others, too. An endpoint may come to serve
another model, and another row may tempt the same one, so that it is tried again while it judges.

`ModelJudge` is the base of the judges that ask judge models.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextvars import Context
from typing import Any, Literal

from agentscope_tuner._run import loops
from agentscope_tuner._run.forks import unforked
from agentscope_tuner.errors import JudgeError, config_fault
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.reply import AnswerAtFault
from agentscope_tuner.graders.client.settings import probe
from agentscope_tuner.task_judge.base_judge import BaseJudge

_log = logging.getLogger(__name__)

#: Answers that say nothing, several of them found by the paper.
EMPTY_ANSWERS = (".", ":", "Solution", "Thought process:", "Let's solve this problem step by step.", "解")
#: After how many verdicts the models are tried again.
EVERY = 1000
# The share of the range of scores from which such an answer counts as paid
_PAID = 0.5

Shares = Callable[[str], Mapping[str, Coroutine[Any, Any, float]]]


class Once:
    """Work that is done once in a process: the first caller starts it, callers meanwhile wait for it."""

    def __init__(self) -> None:
        self._begun: tuple[int, Future[None]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_begun": None}

    async def done(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Return when `work` has been done once, on the background loop. After a failure the next caller starts it."""
        loop = loops.get_loop()
        # A lock of its own could be held for ever in a forked child
        with unforked():
            if self._begun is None or self._begun[0] != os.getpid() or _has_failed(self._begun[1]):
                self._begun = (os.getpid(), asyncio.run_coroutine_threadsafe(work(), loop))
            mine = self._begun[1]
        await asyncio.shield(asyncio.wrap_future(mine))


def _has_failed(work: Future[None]) -> bool:
    return work.done() and (work.cancelled() or work.exception() is not None)


class Probes:
    """Tries judge models before their first verdict in a process, and again beside every thousandth.

    Args:
        how: what becomes of a model that pays answers without content: no verdict (`refuse`), a warning (`warn`);
            `off`: nothing is asked.
        where: the key of the section, for messages.
    """

    def __init__(self, how: Literal["refuse", "warn", "off"], where: str) -> None:
        self._how, self._where = how, where
        self._first = Once()
        self._told = ""
        self._left, self._doubted = EVERY, False

    async def check(self, shares: Shares, right: object = None) -> None:
        """Returns if verdicts may be asked for. The first call asks the models, and the calls meanwhile wait for it.
        Later rounds run beside the verdicts, and what they find holds from the next verdict on.

        Args:
            shares: from the text of an answer, gives for each model, by its name, a coroutine that asks for the
                answer's score, as a share of the range.
            right: the right answer of the row at hand; an empty answer that is right is not tried.

        Raises:
            JudgeError: a model pays answers without content, and `refuse` is set; or at first none could be asked.
        """
        if self._how == "off":
            return
        await self._first.done(lambda: self._try(shares, right, first=True))
        self._left -= 1
        if self._left <= 0:
            self._left = EVERY
            # Outside of the row's context: the usage and the calls of this round are not the row's
            later = Context().run(asyncio.run_coroutine_threadsafe, self._try(shares, right), loops.get_loop())
            later.add_done_callback(self._tell_broken)
        if self._told and self._how == "refuse":
            raise config_fault(self._told)

    async def _try(self, shares: Shares, right: object, *, first: bool = False) -> None:
        try:
            told = await self._found(shares, right)
        except JudgeError as exc:
            if first and self._how == "refuse":
                raise
            _log.warning("%s.probes: no model could be asked: %s", self._where, exc)
            return
        if told and not (first or self._told or self._doubted):
            # On one row an empty answer may be right, or paid by chance: the next row decides
            self._doubted, self._left = True, 0
            return
        if told and told != self._told:
            _log.warning("%s", told)
        self._told, self._doubted = told, False

    def _tell_broken(self, later: Future[None]) -> None:
        if not later.cancelled() and (exc := later.exception()) is not None:
            _log.error("%s.probes: a later round broke off", self._where, exc_info=exc)

    async def _found(self, shares: Shares, right: object) -> str:
        tried = [text for text in EMPTY_ANSWERS if not isinstance(right, str) or text != right.strip()]
        asked = [(name, text, share) for text in tried for name, share in shares(text).items()]
        paid: dict[str, list[str]] = {}
        failed: dict[str, JudgeError] = {}
        results = await asyncio.gather(*(share for _, _, share in asked), return_exceptions=True)
        for (name, text, _), share in zip(asked, results, strict=True):
            if isinstance(share, AnswerAtFault):
                continue  # a model that has no verdict on such an answer, and has one on others, does not pay it
            if isinstance(share, JudgeError):
                failed[name] = share
            elif isinstance(share, BaseException):
                raise share
            elif share >= _PAID:
                paid.setdefault(name, []).append(f"{text!r} ({share:.2f})")
        if len(failed) == len({name for name, _, _ in asked}):
            # One of several may be away, as for a verdict
            raise next(iter(failed.values()))
        if not paid:
            return ""
        each = "; ".join(f"{name} pays {len(some)} of {len(tried)}: {', '.join(some)}" for name, some in paid.items())
        return (
            f"{self._where}.probes: answers that say nothing earn half of the score or more: {each}. Name another "
            "model, or say in the prompt that such answers earn the least"
        )


class ModelJudge(BaseJudge):
    """A judge that asks judge models; `astuner judge-eval` measures it.

    Attributes:
        judge_models: all models that may be asked.
        response_path: where the answer is read, such as `output.metadata.final_answer`.
        top_score: the highest score of its range.
    """

    judge_models: list[ChatModel]
    response_path: str
    top_score: float

    async def aready(self) -> None:
        """Asks the judge models' endpoints whether they answer."""
        for endpoint in dict.fromkeys(model.endpoint for model in self.judge_models):
            await probe(endpoint)
