"""A judge model as a grader: it fills and fences the prompt, and reads the reply strictly."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

from agentscope_tuner.errors import AstunerError, GraderError, told
from agentscope_tuner.graders import combine
from agentscope_tuner.graders.base_grader import (
    OPTIONAL,
    USUAL,
    BaseGrader,
    check_arguments,
    check_template,
    model_of,
    score_range,
)
from agentscope_tuner.graders.client.chat_model import Answer, ChatModel, Prompt
from agentscope_tuner.graders.client.quotations import without_verdicts
from agentscope_tuner.graders.client.reply import (
    AnswerAtFault,
    Quotation,
    Reply,
    ReplyError,
    UnreadableReplies,
    final_json,
    final_match,
    label_of,
    label_score,
    number_in,
    rank_of,
    reason_of,
    score_of,
)
from agentscope_tuner.graders.client.settings import ChatSettings
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.injection_defence import MARK_END, border_of
from agentscope_tuner.graders.prompt import (
    MOST_CHARS,
    ReplyForm,
    Texts,
    Trajectory,
    as_json,
    as_texts,
    build_prompt,
    is_empty,
    overlong,
    reply_form,
)
from agentscope_tuner.graders.schema import GraderMode, GraderRank, GraderScore, named_cause, own_words
from agentscope_tuner.graders.template import LanguageEnum, PromptTemplate
from agentscope_tuner.graders.whose_fault import HARMLESS, ask_about, harmless_beside, is_to_blame

ScoreSource = Literal["text", "logprobs"]

#: The reason of the least score for a response without a visible character; no model is asked about it.
NO_CONTENT = "no_content: the answer has no visible character"
_ALONE = "no_content: no more than one answer has content"
_OWN = ("rubrics", "min_score", "max_score")
# The arguments that a task's author wrote; a policy writes all others, or chooses them, such as its tools' results
_ASKED = frozenset({"query", "ground_truth", "tool_definitions", *_OWN})
# How often a quoted verdict is hidden in the response, and the model is asked again
_ROUNDS = 3
_SAVED = (*_OWN, "score_from", "labels", "score_pattern", "votes", "vote_rule", "swap", "max_chars")


class LLMGrader(BaseGrader):
    """Grades by asking a judge model.

    The template's variables are the arguments of `aevaluate`, and `rubrics`, `min_score` and `max_score`. Arguments
    are data: they stand between markers with a delimiter that no text can know, a mark before each line, and what looks
    like a tag or a turn is respelled. At the end of the prompt the grader explains the markers and the form of the
    reply.

    Args:
        model: a ChatModel, its settings, or a mapping of them.
        name: names the grader in results.
        mode: pointwise (a score) or listwise (`response` is a list of candidates, the answer their places).
        template: the prompt; it must show `{response}`.
        language: which of the template's languages is used, also for the words that the grader adds.
        description: the quality that the grader judges, in words.
        min_score: the lowest score. When both ends are None, the prompt's words state the range.
        max_score: the highest score.
        rubrics: the criteria, for templates that have the variable `{rubrics}`.
        score_from: `text`, the score as written; `logprobs`, the labels' mean by their probabilities (pointwise only).
        labels: the score of each word that the model may answer; None: a number, or with `logprobs` yes or no.
        score_pattern: for models that write no JSON, such as `GRADE: ([CI])`: a regular expression with one group, the
            score or one of `labels` at the end of the reply. The prompt then says itself how to reply.
        votes: how many times the model is asked; more than one vote needs a temperature.
        vote_rule: how votes become one verdict. Failed votes are dropped and counted; if half fail, the verdict fails.
        swap: listwise only: ask in both orders. A pair on which the orders disagree is a tie, and is counted.
        max_chars: of all arguments in a prompt together: see `as_texts`. A response that does not fit is not judged in
            part, but earns the least.
        optional: variables that may be None; the prompt then says that none was given.

    Raises:
        ValueError: options that contradict each other, no `{response}`, or no range.
        ConfigError: the model's settings are wrong.
    """

    def __init__(
        self,
        model: ChatModel | ChatSettings | Mapping[str, Any],
        name: str = "llm_grader",
        mode: GraderMode | str = GraderMode.POINTWISE,
        template: PromptTemplate | None = None,
        language: LanguageEnum | str = LanguageEnum.EN,
        description: str = "",
        *,
        min_score: float | None = None,
        max_score: float | None = None,
        rubrics: str = "",
        score_from: ScoreSource = "text",
        labels: Mapping[str, float] | None = None,
        score_pattern: str | None = None,
        votes: int = 1,
        vote_rule: combine.VoteRule = "median",
        swap: bool = False,
        max_chars: int = MOST_CHARS,
        optional: Sequence[str] = OPTIONAL,
    ) -> None:
        super().__init__(name, mode, description)
        if template is None:
            raise ValueError(f"LLMGrader {name!r} needs a template")
        self.model, self.template = model_of(model), template
        self.language = LanguageEnum(language)
        check_template(template, self.language, name)
        self._messages, self._used = template.in_language(language), tuple(sorted(template.variables(language)))
        self.rubrics, self.optional, self.score_from = rubrics, tuple(optional), score_from
        if min_score is max_score is None and (self.mode is GraderMode.LISTWISE or score_from == "logprobs" or labels):
            # No range has to be given here: places need none, yes and no score 1 and 0, and labels state their scores
            min_score, max_score = (pick((labels or {"yes": 1.0, "no": 0.0}).values()) for pick in (min, max))
        self.min_score, self.max_score = score_range(template, self.language, name, min_score, max_score)
        self.labels = {label.strip().lower(): float(value) for label, value in (labels or {}).items()}
        if not self.labels and score_from == "logprobs":
            self.labels = {"yes": self.max_score, "no": self.min_score}
        self._key = "label" if self.labels else "score"
        self.score_pattern, self._pattern = score_pattern, _compiled(score_pattern)
        self.votes, self.vote_rule, self.swap, self.max_chars = votes, vote_rule, swap, max_chars
        self._check()

    def _check(self) -> None:
        if not self.min_score < self.max_score:
            given = f"{self.min_score:g} and {self.max_score:g}"
            raise ValueError(f"min_score must be below max_score, as scale: {{min, max}}, got {given}")
        if self.votes < 1:
            raise ValueError(f"votes must be at least 1, got {self.votes!r}")
        if self.votes > 1 and self.model.settings.temperature == 0:
            raise ValueError(
                f"votes={self.votes} at temperature 0 asks for the same answer again: set the model's temperature"
            )
        if self.mode is GraderMode.LISTWISE and (self.score_from == "logprobs" or self.labels):
            raise ValueError("score_from='logprobs' and labels give scores, and listwise mode asks for places")
        if self._pattern and (self.mode is GraderMode.LISTWISE or self.score_from == "logprobs"):
            raise ValueError("score_pattern reads one score from the text of a reply: pointwise, and not from logprobs")
        if self.mode is GraderMode.POINTWISE and self.swap:
            raise ValueError("swap exchanges candidates, and pointwise mode has one")
        if not all(self.min_score <= value <= self.max_score for value in self.labels.values()):
            raise ValueError(f"labels must lie within {self.min_score:g} to {self.max_score:g}, got {self.labels!r}")
        if self.score_from == "logprobs" and any(
            one != other and other.startswith(one) for one in self.labels for other in self.labels
        ):
            raise ValueError(
                f"no label may begin another one: their first letters tell them apart, got {self.labels!r}"
            )

    @property
    def own_arguments(self) -> frozenset[str]:
        """See BaseGrader: the template's variables beyond the usual ones."""
        return frozenset(self._used).difference(USUAL, _OWN)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | Sequence[str] = "",
        ground_truth: str | None = None,
        context: str | None = None,
        tool_definitions: Any = None,
        tool_calls: Any = None,
        **kwargs: Any,
    ) -> GraderScore | GraderRank:
        """Ask the model.

        Args:
            query: the question to the agent.
            response: the agent's answer; in listwise mode the candidates, two or more.
            ground_truth: the reference answer.
            context: other material that the agent could read.
            tool_definitions, tool_calls: as texts or as data for JSON.
            kwargs: values of further variables of the template; any other name is an error.

        Returns:
            A GraderScore or GraderRank whose `metadata["usage"]` is a Usage; see BaseGrader for failures.
        """
        values = {
            "query": query, "response": response, "ground_truth": ground_truth, "context": context,
            "tool_definitions": tool_definitions, "tool_calls": tool_calls, **kwargs,
        }  # fmt: skip
        try:
            check_arguments(values, self._used, self.optional, _OWN)
            return await (self._score(values) if self.mode is GraderMode.POINTWISE else self._rank(values))
        except (AstunerError, ValueError, TypeError) as exc:
            return self.failed(str(exc), cause=named_cause(exc))
        except Exception as exc:  # noqa: BLE001 - the convention: aevaluate never raises, and a failure is marked
            return self.failed(f"{type(exc).__name__}: {exc}")

    async def _score(self, values: Mapping[str, Any]) -> GraderScore:
        if not isinstance(values["response"], str | Trajectory):
            raise GraderError(f"a pointwise grader judges one response, a str, got {type(values['response']).__name__}")
        if is_empty(values["response"]):
            kept = {"usage": Usage(), "filtered_by": "no_content"}
            return GraderScore(self.name, self.min_score, NO_CONTENT, kept)
        try:
            if self.votes == 1:
                answer = await self._vote(values, 0)
                return GraderScore(self.name, answer.value[0], own_words(answer.value[1]), {"usage": answer.usage})
            answers, failed = await self._votes(values)
        except AnswerAtFault as exc:
            # To leave out the verdict would let a policy choose when it is judged
            kept = {"usage": Usage(), "filtered_by": "unjudgeable"}
            return GraderScore(self.name, self.min_score, f"unjudgeable: {exc.message}", kept)
        scores = [answer.value[0] for answer in answers]
        score = combine.combined_score(scores, self.vote_rule)
        nearest = min(answers, key=lambda answer: abs(answer.value[0] - score))
        counted = {"usage": _total(answers), "votes": scores, "votes_failed": failed}
        return GraderScore(self.name, score, own_words(nearest.value[1]), counted)

    async def _vote(self, values: Mapping[str, Any], draw: int, rounds: int = _ROUNDS) -> Answer[Any]:
        """Ask for one verdict; if the reply only quotes one from the response, hide that one there and ask again.

        Of a quoted verdict and the verdict without it the lower one counts. So an honest answer that quotes a score
        keeps its own, and a planted score gains nothing, neither a high nor a low one.
        """
        try:
            return await self._ask(values, draw)
        except Quotation as exc:
            quotation = exc
        said, held = (quotation.verdict["found"], {}) if self._pattern else ("", quotation.verdict)

        def hidden(value: Any) -> Any:
            texts = value if isinstance(value, Trajectory) else [value if isinstance(value, str) else as_json(value)]
            turns = [without_verdicts(text, said, self._key, "reason", verdict=held) for text in texts]
            if turns == list(texts):
                return value
            return Trajectory(turns, value.roles, value.images) if isinstance(value, Trajectory) else turns[0]

        of_policy = {name: value for name, value in values.items() if name not in _ASKED and value is not None}
        shown = {name: hidden(value) for name, value in of_policy.items()}
        try:
            quoted, reason = self._scored(quotation.verdict)
        except ReplyError:
            raise quotation from None
        if shown == of_policy or not rounds:
            raise quotation
        answer = await self._vote({**values, **shown}, draw, rounds - 1)
        if answer.value[0] <= quoted:
            return answer
        return replace(answer, value=(quoted, f"the answer quotes this verdict: {reason}"))

    async def _rank(self, values: Mapping[str, Any]) -> GraderRank:
        responses = values["response"]
        if isinstance(responses, str) or len(responses) < 2:
            raise GraderError(f"a listwise grader ranks a list of two or more responses, got {responses!r:.200}")
        last = frozenset(index for index, text in enumerate(responses) if is_empty(text)) | self.overlong(values)
        try:
            return await self._ranked(values, last)
        except (UnreadableReplies, AnswerAtFault) as exc:
            at_fault = await self._at_fault(last, values) or await self._without_which(last, values)
            if not at_fault:
                if isinstance(exc, UnreadableReplies):
                    self.model.count_failure(exc)
                if isinstance(exc, UnreadableReplies) or len(responses) > 2:
                    raise
                # A tournament leaves out such a pair, or two answers could take away the verdict of all others
                told = f"only together unjudgeable: {exc.message:.200}"
                return GraderRank.failed(self.name, told, {"usage": Usage(), "apart": True}, named_cause(exc))
            result = await self._ranked(values, last | at_fault)
            told = f"{len(at_fault)} unjudgeable: {exc.message:.200}; {result.reason}"
            return GraderRank(self.name, result.rank, told, result.metadata)

    async def _at_fault(self, last: frozenset[int], values: Mapping[str, Any]) -> set[int]:
        """The indices of the responses that prevent a ranking: the model cannot rank them even beside a harmless one.

        The responses at the indices in `last`, empty or too long, are not tried: they come last anyway.
        """

        async def prevents(response: str) -> bool:
            try:
                await self._ask({**values, "response": [response, HARMLESS]}, 0)
            except AnswerAtFault:
                return True
            return False

        judged = [index for index in range(len(values["response"])) if index not in last]
        found = await asyncio.gather(*(prevents(values["response"][index]) for index in judged))
        return {index for index, prevented in zip(judged, found, strict=True) if prevented}

    async def _without_which(self, last: frozenset[int], values: Mapping[str, Any]) -> set[int]:
        """The index of the one response that prevents a ranking of three or more, as a set; empty if there is none.

        It is the only one without which the others are ranked, by the experiment of whose_fault.py. `_at_fault` cannot
        find a response that breaks only the rankings in which it is not first.
        """
        responses = values["response"]
        judged = [index for index in range(len(responses)) if index not in last]

        async def failed(left_out: int | None, draw: int) -> int:
            shown = [responses[index] for index in judged if index != left_out]
            try:
                await self._ask({**values, "response": shown}, draw)
            except (UnreadableReplies, AnswerAtFault) as exc:
                return exc.tries if isinstance(exc, UnreadableReplies) else 1
            return 0

        if len(judged) < 3:
            return set()
        found = await asyncio.gather(*(failed(index, 0) for index in judged))
        if found.count(0) != 1:
            return set()
        one = judged[found.index(0)]

        async def others_ranked(number: int) -> bool:
            return not await failed(one, -1 - number)

        return {one} if await is_to_blame(1, partial(failed, None, 0), others_ranked) else set()

    def overlong(self, values: Mapping[str, Any]) -> set[int]:
        """The indices of the responses that do not fit a prompt beside the others."""
        return overlong({name: value for name, value in values.items() if name in self._used}, self.max_chars)

    async def _ranked(self, values: Mapping[str, Any], last: frozenset[int]) -> GraderRank:
        """The ranking of all responses; those at the indices in `last` are not shown, and share the last places."""
        responses, size = values["response"], len(values["response"])
        judged = [index for index in range(size) if index not in last]
        if len(judged) < 2:
            places = combine.with_last([1.0] * len(judged), judged, size)
            metadata = {"usage": Usage(), "places": places, "last": sorted(last)}
            return GraderRank(self.name, combine.ranked(places), _ALONE, metadata)
        orders = [judged, judged[::-1]] if self.swap else [judged]
        asked = [self._votes({**values, "response": [responses[index] for index in order]}) for order in orders]
        rounds = await asyncio.gather(*asked)
        merge = combine.combined_places if self.vote_rule == "median" else combine.majority_ranking
        answers = [answer for kept, _ in rounds for answer in kept]
        # As with votes that fail: half of the replies are enough
        counted = Counter(
            order[at]
            for order, (kept, _) in zip(orders, rounds, strict=True)
            for one in kept
            for at in one.value[0].quoting
        )
        quoting = frozenset(index for index, times in counted.items() if 2 * times >= len(answers))
        by_order = [
            merge([one.value[0].of_all(order, last | quoting, size) for one in kept])
            for order, (kept, _) in zip(orders, rounds, strict=True)
        ]
        places = [sum(both) / len(by_order) for both in zip(*by_order, strict=True)]
        return self._rank_of(places, by_order, answers, sum(failed for _, failed in rounds), last, quoting)

    def _rank_of(
        self,
        places: Sequence[float],
        by_order: Sequence[Sequence[float]],
        answers: Sequence[Answer[Any]],
        failed: int,
        last: frozenset[int],
        quoting: frozenset[int],
    ) -> GraderRank:
        metadata: dict[str, Any] = {"places": places, "usage": _total(answers)}
        reason = own_words(answers[0].value[1])
        if last or quoting:
            metadata["last"] = sorted(last | quoting)
        if quoting:
            reason = f"{len(quoting)} unjudgeable: the judge repeats a ranking that stands in the answer; {reason}"
        if self.votes > 1:
            metadata |= {"votes": len(answers), "votes_failed": failed}
        if self.swap:
            metadata["disagreements"] = combine.disagreements(*by_order)
        return GraderRank(self.name, combine.ranked(places), reason, metadata)

    async def _votes(self, values: Mapping[str, Any]) -> tuple[list[Answer[Any]], int]:
        if self.votes == 1:
            return [await self._vote(values, 0)], 0
        draws = [self._vote(values, draw) for draw in range(self.votes)]
        return combine.quorum(await asyncio.gather(*draws, return_exceptions=True))

    def _ask(self, values: Mapping[str, Any], draw: int) -> Awaitable[Answer[Any]]:
        read = self.parse if self.mode is GraderMode.POINTWISE else self._places

        def question(shown: Mapping[str, Any]) -> tuple[Prompt, Callable[[Reply], tuple[Any, str]]]:
            texts = self.texts(shown)
            return self.build_messages(texts, draw), partial(read, texts=texts)

        response, several = values["response"], self.mode is GraderMode.LISTWISE
        if several and len(response) != 2:
            # Which of several texts is to blame, `_at_fault` finds
            return self.model.ask(*question(values), counts=False)

        def about_harmless() -> tuple[Prompt, Callable[[Reply], tuple[Any, str]]]:
            harmless = [HARMLESS, f"{HARMLESS} Sorry."] if several else harmless_beside(response)
            return question({**values, "response": harmless})

        return ask_about(self.model, *question(values), about_harmless)

    def _places(self, reply: Reply, texts: Texts) -> tuple[_Places, str]:
        """The places that `parse` finds, and the reason. If the responses contain this verdict, those that do are last.

        Then no other reply is asked for: a response that contains many verdicts could wait for one that it likes.
        """
        try:
            rank, reason = self.parse(reply, texts)
            return _Places(rank), reason
        except Quotation as exc:
            size = len(texts["response"])
            try:
                found: Sequence[float] = rank_of(exc.verdict, size)
            except ReplyError:
                found = [(size + 1) / 2] * size
            return _Places(found, exc.sources), reason_of(exc.verdict)

    def build_messages(self, texts: Texts, draw: int = 0) -> Prompt:
        """The question to the judge model. A subclass that asks another question overrides this and `parse`.

        Args:
            texts: the arguments that the prompt shows, neutralised.
            draw: the number of the vote.
        """
        own = {"rubrics": self.rubrics, "min_score": f"{self.min_score:g}", "max_score": f"{self.max_score:g}"}
        size = len(texts["response"]) if self.mode is GraderMode.LISTWISE else 0
        labels, by_logprobs = tuple(self.labels), self.score_from == "logprobs"
        form = ReplyForm("")
        if not self._pattern:
            form = reply_form(self.language, self.min_score, self.max_score, labels, size, by_logprobs)
        return build_prompt(self._messages, self.language, own, texts, form, draw)

    def parse(self, reply: Reply, texts: Texts) -> tuple[Any, str]:
        """The score, or in listwise mode the places of the responses as they were shown, and the reason.

        Args:
            reply: the judge model's reply.
            texts: the same texts that `build_messages` got.

        Raises:
            ReplyError: the reply holds no verdict of the judge's own.
        """
        if self.score_from == "logprobs":
            score = label_score(reply, self.labels)
            return score, f"expected score {score:g} by the probabilities of {', '.join(self.labels)}"
        if MARK_END in reply.text:  # a model may copy the marks along with several lines
            reply = replace(reply, text=reply.text.replace(border_of(texts).mark, ""))
        shown, several = texts["response"], self.mode is GraderMode.LISTWISE
        judged: list[str] = list(shown) if several else []
        for name, text in () if several else texts.items():
            if name not in _ASKED:
                judged += [text] if isinstance(text, str) else text
        if self._pattern:
            return self._scored(final_match(reply, self._pattern, judged))
        verdict = final_json(reply, judged, "rank" if several else self._key, each_alone=several)
        if several:
            return rank_of(verdict, len(texts["response"])), reason_of(verdict)
        return self._scored(verdict)

    def _scored(self, verdict: Mapping[str, Any]) -> tuple[float, str]:
        """The score and the reason in a verdict of `final_json`, or of `final_match`."""
        if self._pattern:
            said = verdict["said"]
            verdict = {**verdict, self._key: said if self.labels else number_in(said, self.max_score)}
        if self.labels:
            return self.labels[label_of(verdict, list(self.labels))], reason_of(verdict)
        return score_of(verdict, self.min_score, self.max_score), reason_of(verdict)

    def texts(self, values: Mapping[str, Any]) -> Texts:
        """The arguments in `values` that the prompt shows, as `build_messages` and `parse` take them."""
        shown = {name: value for name, value in values.items() if name in self._used}
        return as_texts(shown, self.language, self.max_chars, self.model.settings.markers)

    def prompts(self, values: Mapping[str, Any]) -> list[Prompt]:
        """The prompts that `aevaluate` would send about `values`, for estimates; nothing is sent.

        Raises:
            GraderError: the arguments are wrong, so that `aevaluate` would fail before it asks.
        """
        values = {**dict.fromkeys(USUAL), **values}
        check_arguments(values, self._used, self.optional, _OWN)
        pointwise = self.mode is GraderMode.POINTWISE
        last = set() if pointwise else self.overlong(values)
        shown = [values["response"]] if pointwise else list(values["response"])
        shown = [one for index, one in enumerate(shown) if not is_empty(one) and index not in last]
        if len(shown) < (1 if pointwise else 2):
            return []
        orders = [shown, shown[::-1]] if self.swap else [shown]
        asked = [order[0] if pointwise else order for order in orders]
        try:
            texts = [self.texts({**values, "response": response}) for response in asked]
        except AnswerAtFault:
            return []
        return [self.build_messages(one, draw) for one in texts for draw in range(self.votes)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which `from_config` makes an equal grader; holds no key."""
        return {
            **super().to_dict(),
            "model": self.model.settings.model_dump(mode="json", exclude_defaults=True),
            "template": self.template.model_dump(mode="json"),
            "language": self.language.value,
            "optional": list(self.optional),
            **{name: getattr(self, name) for name in _SAVED},
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], api_key: str | None = None) -> Self:
        """The grader that `to_dict` described; the key comes from `api_key` or the environment.

        Raises:
            ConfigError: the model's settings are wrong.
            ValueError: another value is wrong.
        """
        fields = dict(config)
        model = fields.pop("model") | ({} if api_key is None else {"api_key": api_key})
        template = PromptTemplate.model_validate(fields.pop("template"))
        grader = cls.__new__(cls)
        # A ready grader's own __init__ takes fewer arguments, and sets nothing else: call the base's in its place
        LLMGrader.__init__(grader, model, template=template, **fields)
        return grader


@dataclass(frozen=True, slots=True)
class _Places:
    """The places that a reply gives the responses, and the indices of those that contain this verdict: they are last.

    Indices and places are in the order in which the responses were shown.
    """

    places: Sequence[float]
    quoting: frozenset[int] = frozenset()

    def of_all(self, order: Sequence[int], last: frozenset[int], size: int) -> list[float]:
        """The places of all `size` responses. Those at the indices in `last`, and `quoting`, share the last places.

        `order` has the index of each response that was shown.
        """
        place = dict(zip(order, self.places, strict=True))
        behind = last.union(order[at] for at in self.quoting)
        judged = [index for index in sorted(order) if index not in behind]
        return combine.with_last(combine.shared_places([place[index] for index in judged]), judged, size)


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    if pattern is None:
        return None
    with told(f"score_pattern must be a regular expression, got {pattern!r}", re.error, to=ValueError):
        found = re.compile(pattern, re.IGNORECASE)
    if found.groups != 1:
        raise ValueError(f"score_pattern must have one group, the score, as in 'Score: (\\d+)', got {pattern!r}")
    return found


def _total(answers: Sequence[Answer[Any]]) -> Usage:
    return sum((answer.usage for answer in answers), Usage())
