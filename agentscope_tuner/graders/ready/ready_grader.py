"""The base of the ready graders, which differ only in their prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from agentscope_tuner.graders.arguments import OPTIONAL
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.chat_settings import ChatSettings
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.prompt.template import LanguageEnum, PromptTemplate
from agentscope_tuner.graders.schema import GraderMode


class ReadyGrader(LLMGrader):
    """An LLMGrader whose class gives the prompt, the name, the description and the range.

    Args:
        model: a ChatModel, its settings, or a mapping of them.
        template: a prompt that replaces the class's own, with the same variables.
        language: English or Chinese.
        votes: see LLMGrader.
        swap: see LLMGrader; None takes the class's own choice.
        filter_no_content: see LLMGrader.

    A subclass gives its own `default_…` values; without a `score_range` the range is read from its prompt.
    """

    default_name: ClassVar[str]
    default_mode: ClassVar[GraderMode] = GraderMode.POINTWISE
    default_template: ClassVar[PromptTemplate]
    default_description: ClassVar[str]
    default_optional: ClassVar[tuple[str, ...]] = OPTIONAL
    score_range: ClassVar[tuple[float, float] | None] = None
    default_swap: ClassVar[bool] = False

    def __init__(
        self,
        model: ChatModel | ChatSettings | Mapping[str, Any],
        template: PromptTemplate | None = None,
        language: LanguageEnum | str = LanguageEnum.EN,
        *,
        votes: int = 1,
        swap: bool | None = None,
        filter_no_content: bool = True,
    ) -> None:
        low, high = self.score_range or (None, None)
        super().__init__(
            model,
            self.default_name,
            self.default_mode,
            template or self.default_template,
            language,
            self.default_description,
            min_score=low,
            max_score=high,
            votes=votes,
            swap=self.default_swap if swap is None else swap,
            optional=self.default_optional,
            filter_no_content=filter_no_content,
        )
