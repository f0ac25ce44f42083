"""Whether a response says the same as a reference answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.graders.chat_model import ChatModel, ChatSettings
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.prompt_template import ChatMessage, LanguageEnum, PromptTemplate
from agentscope_tuner.graders.schema import GraderMode

# English prompt
PROMPT_EN = """
You judge whether a response is correct, by comparing it with a reference answer that is known to be right.

<criteria>
- Only the content counts: what the response concludes, not how it is worded, formatted or rounded beyond need.
- Every fact and number that the reference gives must be there and agree; additions are harmless unless they
  contradict it.
- A response that gives several conclusions, or hedges between them, is wrong.
- A response that only repeats the query, or describes how it would answer, is wrong.
</criteria>

<scale>
1: says the same as the reference. 0: does not.
</scale>

<query>
{query}
</query>

<reference>
{ground_truth}
</reference>

<response>
{response}
</response>
""".strip()

# Chinese prompt
PROMPT_ZH = """
你要判断一个回答是否正确，方法是与已知正确的参考答案进行比较。

<评估准则>
- 只看内容：看回答的结论，不看措辞、格式或不必要的精度。
- 参考答案中的每个事实和数字都必须出现且一致；补充内容只要不与之矛盾就无妨。
- 给出多个结论，或在结论之间摇摆的回答是错误的。
- 只复述问题，或只说明打算如何回答的回答是错误的。
</评估准则>

<评分标准>
1：与参考答案一致。0：不一致。
</评分标准>

<问题>
{query}
</问题>

<参考答案>
{ground_truth}
</参考答案>

<回答>
{response}
</回答>
""".strip()

DEFAULT_TEMPLATE = PromptTemplate(
    messages={
        LanguageEnum.EN: [ChatMessage(role="user", content=PROMPT_EN)],
        LanguageEnum.ZH: [ChatMessage(role="user", content=PROMPT_ZH)],
    }
)


class CorrectnessGrader(LLMGrader):
    """Scores 1 where `response` says the same as `ground_truth`, else 0.

    Example:
        >>> grader = CorrectnessGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="2 + 2?", response="It is four.", ground_truth="4")
    """

    def __init__(
        self,
        model: ChatModel | ChatSettings | Mapping[str, Any],
        template: PromptTemplate = DEFAULT_TEMPLATE,
        language: LanguageEnum | str = LanguageEnum.EN,
        *,
        votes: int = 1,
    ) -> None:
        super().__init__(
            model,
            "correctness",
            GraderMode.POINTWISE,
            template,
            language,
            "agreement with a reference answer",
            min_score=0.0,
            max_score=1.0,
            votes=votes,
        )
