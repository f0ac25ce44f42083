"""Yes, no or a number to each of several criteria, with a quote from the answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from agentscope_tuner.errors import Cause, GraderError
from agentscope_tuner.graders.client.chat_model import ChatModel, Prompt
from agentscope_tuner.graders.client.reply import AnswerAtFault, Reply, ReplyError, final_json, label_score, score_of
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.injection_defence import MARK_END, border_of, composed, lower_letters, neutralise
from agentscope_tuner.graders.prompt import (
    MOST_CHARS,
    ReplyForm,
    Texts,
    Trajectory,
    as_texts,
    build_prompt,
    echoes,
    object_schema,
    reply_form,
)
from agentscope_tuner.graders.template import LanguageEnum, fill, read_words, template_of
from agentscope_tuner.graders.whose_fault import ask_about, harmless_beside

_WORDS = read_words(Path(__file__).with_name("words.toml"))
TOGETHER = template_of(_WORDS["together"])
_LABELS = {LanguageEnum.EN: ("yes", "no"), LanguageEnum.ZH: ("是", "否")}
_LONGEST_CRITERION = 2_000
_LONGEST_QUOTE = 2_000

#: For each criterion the lowest and the highest score; None for a criterion that is met or not.
Spans = Sequence[tuple[float, float] | None]


@dataclass(frozen=True, slots=True)
class Met:
    """Whether an answer meets one criterion.

    Attributes:
        value: 1.0 for yes, 0.0 for no; with `score_from="logprobs"` the probability of yes; for a criterion with a
            range the score's position in it: 0.75 for 4 of 1 to 5.
        quote: the words of the answer that decided the criterion; empty if the model quoted none.
        absent: whether the criterion was decided by what the answer lacks.
        unproven: whether the model said yes and quoted no word of the answer, so that `value` is 0.
    """

    value: float
    quote: str = ""
    absent: bool = False
    unproven: bool = False


class CriteriaGrader:
    """Asks a judge model about each criterion.

    Args:
        model: the judge model.
        language: of the prompt.
        calls: `together` asks about all criteria in one call. `each` makes a call for each criterion, so the cache
            keeps a verdict for each pair of criterion and answer.
        score_from: with `text` the model writes true or false and a quote. `logprobs` takes the probability of yes, and
            needs `calls="each"`.
        max_chars: of query and response together: see `as_texts`.
    """

    def __init__(
        self,
        model: ChatModel,
        language: LanguageEnum | str = LanguageEnum.EN,
        calls: Literal["together", "each"] = "together",
        score_from: Literal["text", "logprobs"] = "text",
        max_chars: int = MOST_CHARS,
    ) -> None:
        if score_from == "logprobs" and calls != "each":
            raise ValueError("score_from: logprobs needs calls: each, for one word answers one criterion")
        self.model, self.language = model, LanguageEnum(language)
        self.calls, self.score_from, self.max_chars = calls, score_from, max_chars

    async def decide(
        self, query: Any, response: Any, criteria: Sequence[str], spans: Spans = ()
    ) -> tuple[list[Met], Usage]:
        """Whether `response`, a text or a Trajectory, meets each of `criteria`, in their order, and the usage.

        Raises:
            AnswerAtFault: the response's own text prevents the verdict.
            GraderError: a criterion could not be decided. Such a criterion does not count as not met. Or a criterion
                with a range would be decided by the probability of yes.
        """
        spans = spans or [None] * len(criteria)
        if self.score_from == "logprobs" and any(spans):
            raise GraderError(
                "score_from: logprobs says yes or no, and a criterion asks for a number", cause=Cause.CONFIG
            )
        texts = self._texts(query, response)
        if self.calls == "together":
            return await self._ask(query, response, texts, criteria, spans)
        tasks = [
            asyncio.ensure_future(self._ask(query, response, texts, [criterion], [span]))
            for criterion, span in zip(criteria, spans, strict=True)
        ]
        try:
            answers = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        return [met for (met,), _ in answers], sum((usage for _, usage in answers), Usage())

    async def _ask(
        self, query: Any, response: Any, texts: Texts, criteria: Sequence[str], spans: Spans
    ) -> tuple[list[Met], Usage]:
        def question(texts: Texts) -> tuple[Prompt, Callable[[Reply], list[Met]]]:
            return self._prompt(texts, criteria, spans), lambda reply: self._parse(reply, texts, spans)

        def control() -> tuple[Prompt, Callable[[Reply], list[Met]]]:
            return question(self._texts(query, harmless_beside(response)))

        answer = await ask_about(self.model, *question(texts), control)
        return answer.value, answer.usage

    def _parse(self, reply: Reply, texts: Texts, spans: Spans) -> list[Met]:
        if self.score_from == "logprobs":
            yes, no = _LABELS[self.language]
            return [Met(label_score(reply, {yes: 1.0, no: 0.0}))]
        if MARK_END in reply.text:
            reply = replace(reply, text=reply.text.replace(border_of(texts).mark, ""))
        return verdicts_on(reply, texts, spans)

    def prompts(self, query: Any, response: Any, criteria: Sequence[str], spans: Spans = ()) -> list[Prompt]:
        """The prompts that `decide` would send, for estimates; nothing is sent."""
        try:
            texts = self._texts(query, response)
        except AnswerAtFault:
            return []
        spans = spans or [None] * len(criteria)
        if self.calls == "together":
            return [self._prompt(texts, criteria, spans)]
        return [self._prompt(texts, [text], [span]) for text, span in zip(criteria, spans, strict=True)]

    def _texts(self, query: Any, response: Any) -> Texts:
        shown = {"query": query, "response": response}
        return as_texts(shown, self.language, self.max_chars, self.model.settings.markers)

    def _prompt(self, texts: Texts, criteria: Sequence[str], spans: Spans) -> Prompt:
        # The task's author wrote the criteria, not the policy: they are in the prompt as instructions, unfenced
        listed = [
            f"{number}. {neutralise(text, _LONGEST_CRITERION)}{self._range(span)}"
            for number, (text, span) in enumerate(zip(criteria, spans, strict=True), start=1)
        ]
        graded = any(spans)
        form = ReplyForm(
            _WORDS["criteria"][self.language] + (_WORDS["graded"][self.language] if graded else ""),
            _schema(len(criteria), graded),
        )
        if self.score_from == "logprobs":
            form = reply_form(self.language, 0.0, 1.0, _LABELS[self.language], 0, True)
        return build_prompt(
            TOGETHER.in_language(self.language), self.language, {"criteria": "\n".join(listed)}, texts, form
        )

    def _range(self, span: tuple[float, float] | None) -> str:
        return fill(_WORDS["span"][self.language], {"low": f"{span[0]:g}", "high": f"{span[1]:g}"}) if span else ""


def _schema(size: int, graded: bool) -> dict[str, Any]:
    met = {"type": ["boolean", "number"] if graded else "boolean"}
    number = {"type": "integer", "minimum": 1, "maximum": size}
    one = object_schema({"number": number, "quote": {"type": "string"}, "absent": {"type": "boolean"}, "met": met})
    return object_schema({"verdicts": {"type": "array", "items": one, "minItems": size, "maxItems": size}})


def verdicts_on(reply: Reply, texts: Texts, spans: Spans) -> list[Met]:
    """The verdict on each criterion in a `reply` about all criteria.

    Args:
        reply: the judge model's.
        texts: the judged texts; a quote must be in the response among them.
        spans: for each criterion its range, or None.

    Raises:
        Quotation: the response contains these verdicts, so that the reply may only quote them.
        ReplyError: the reply does not have one verdict for each criterion.
    """
    size = len(spans)
    found = final_json(reply, echoes({"response": texts["response"]}), "verdicts").get("verdicts")
    if not isinstance(found, list) or len(found) != size or not all(isinstance(item, dict) for item in found):
        raise ReplyError(f"verdicts must be a list of {size}, one for each criterion, got {found!r:.200}")
    by_number: dict[int, Met] = {}
    response = texts["response"]
    answers = response.answers() if isinstance(response, Trajectory) else [response]
    stands = [composed(text) for text in answers if isinstance(text, str)]
    for item in found:
        number = item.get("number")
        if type(number) is not int or not 1 <= number <= size or number in by_number:
            raise ReplyError(f"every criterion from 1 to {size} must be decided once, got number {number!r:.50}")
        by_number[number] = _met(item, number, stands, spans[number - 1])
    return [by_number[number] for number in range(1, size + 1)]


def _met(item: dict[str, Any], number: int, stands: Sequence[str], span: tuple[float, float] | None) -> Met:
    """One verdict of a reply. A yes without a quote from the answer counts as a no, unless the model says that what is
    absent from the answer decides.

    Args:
        item: the verdict as the model wrote it.
        number: the criterion's, for messages.
        stands: the texts of the answer.
        span: the criterion's range, or None.
    """
    item = {key: value for key, value in item.items() if value is not None}
    met, quote, absent = item.get("met"), item.get("quote", ""), item.get("absent", False)
    if span is not None:
        value = (score_of({"score": met}, *span) - span[0]) / (span[1] - span[0])
    elif type(met) is bool:
        value = float(met)
    else:
        raise ReplyError(f"criterion {number}: met must be true or false, got {met!r:.50}")
    if type(absent) is not bool:
        raise ReplyError(f"criterion {number}: absent must be true or false, got {absent!r:.50}")
    if not isinstance(quote, str) or len(quote) > _LONGEST_QUOTE:
        raise ReplyError(f"criterion {number}: quote must be a text, got {quote!r:.100}")
    real = _stands_in(quote, stands)
    shown = " ".join(quote.split()) if real else ""
    if value and not real and not absent:
        return Met(0.0, unproven=True)
    return Met(value, shown, absent=absent and not real)


def _stands_in(quote: str, answers: Sequence[str]) -> bool:
    """Whether `quote` has a letter or digit, and one of `answers` contains it; spaces, punctuation and case may differ.

    `the CAT ... mat` is in `The cat sat on the mat.`.
    """
    # Models leave out the middle of a long quote: its parts follow one another
    parts = [
        letters
        for part in composed(quote).replace("[...]", "…").replace("...", "…").split("…")
        if (letters := lower_letters(part))
    ]
    return bool(parts) and any(_follow(parts, text) for text in answers)


def _follow(parts: Sequence[str], text: str) -> bool:
    """Whether `text` contains all parts of a quote in their order, each as whole words: `cat` is not in `concat`."""
    pieces = [(lower_letters(word), word) for word in _WORD.findall(text)]
    letters, edges, end = "".join(piece for piece, _ in pieces), {0}, 0
    for piece, _ in pieces:
        edges.add(end := end + len(piece))
    end = 0
    for part in parts:
        start = letters.find(part, end)
        while start >= 0 and not all(
            at in edges or _UNSPACED.search(letters[at - 1 : at + 1]) for at in (start, start + len(part))
        ):
            start = letters.find(part, start + 1)
        if start < 0:
            return False
        end = start + len(part)
    return True


_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
