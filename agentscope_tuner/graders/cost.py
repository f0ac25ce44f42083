"""The cost of verdicts, estimated before any judge model is asked; nothing is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from agentscope_tuner.graders.client.usage import IMAGE_TOKENS, Usage, message_tokens

if TYPE_CHECKING:
    from agentscope_tuner.graders.base_grader import BaseGrader
    from agentscope_tuner.graders.client.chat_model import ChatModel, Prompt

Question: TypeAlias = "tuple[ChatModel, Prompt]"

# A reason of a sentence or two, and a score. Models that think write more
_REASON_TOKENS = 60
_BY_LOGPROBS_TOKENS = 4
_CRITERION_TOKENS = 35
_PLACE_TOKENS = 3


@dataclass(frozen=True, slots=True)
class Estimate:
    """The usage that judging would take, without retries.

    Attributes:
        least: the lowest usage. It differs from `most` if verdicts decide whether a model is asked.
        most: the highest usage. In both, `cache_hits` counts the verdicts that the cache has already.
        priced: whether every model asked has prices; without them the cost means nothing.
        complete: whether every judge could estimate its calls; if not, the true total is larger.
    """

    least: Usage = field(default_factory=Usage)
    most: Usage = field(default_factory=Usage)
    priced: bool = True
    complete: bool = True

    def __add__(self, other: Estimate) -> Estimate:
        priced, complete = self.priced and other.priced, self.complete and other.complete
        return Estimate(self.least + other.least, self.most + other.most, priced, complete)

    @property
    def perhaps(self) -> Estimate:
        """The same estimate for questions that may not be asked at all: its `least` is nothing."""
        return replace(self, least=Usage())


class Reckoner:
    """Estimates what questions to judge models would use, in calls, tokens and money; nothing is sent.

    If a model has a cache, a question that was counted before, or whose reply the cache has, costs nothing.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def reckon(self, questions: Iterable[Question]) -> Estimate:
        """The usage of asking `questions`."""
        total, priced = Usage(), True
        for model, prompt in questions:
            total += self._one(model, prompt)
            priced = priced and model.settings.prices is not None
        return Estimate(total, total, priced)

    def _one(self, model: ChatModel, prompt: Prompt) -> Usage:
        settings = model.settings
        if settings.cache:
            if (key := model.key(prompt)) in self._seen or model.is_kept(prompt):
                return Usage(cache_hits=1)
            self._seen.add(key)
        asked = message_tokens([message.content for message in prompt.messages()]) + IMAGE_TOKENS * len(prompt.images)
        replied = _reply_tokens(prompt)
        replied = min(replied, settings.max_tokens or replied)
        cost = settings.prices.cost(asked, replied) if settings.prices else 0.0
        return Usage(1, 0, asked, replied, 0, 0, cost)


def questions_of(grader: BaseGrader, values: Mapping[str, Any]) -> list[Question]:
    """The questions that `grader` would ask about `values`; none for a grader that asks no judge model of this package.

    Raises:
        GraderError: the arguments are wrong, so that the grader would fail before it asks.
    """
    # every judge's load comes by here, and few ask graders
    from agentscope_tuner.graders.combine import WeightedSumGrader
    from agentscope_tuner.graders.llm_grader import LLMGrader

    if isinstance(grader, LLMGrader):
        return [(grader.model, prompt) for prompt in grader.prompts(values)]
    if isinstance(grader, WeightedSumGrader):
        return [question for part, _ in grader.parts for question in questions_of(part, values)]
    return []


def _reply_tokens(prompt: Prompt) -> int:
    if prompt.top_logprobs:
        return _BY_LOGPROBS_TOKENS
    properties = (prompt.schema or {}).get("properties", {})
    if "verdicts" in properties:
        return _CRITERION_TOKENS * int(properties["verdicts"]["minItems"])
    places = int(properties["rank"]["minItems"]) if "rank" in properties else 0
    return _REASON_TOKENS + _PLACE_TOKENS * places
