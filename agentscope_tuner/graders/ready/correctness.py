"""Whether a response says the same as a reference answer."""

from __future__ import annotations

from agentscope_tuner.graders.prompt.template import PromptTemplate
from agentscope_tuner.graders.ready.ready_grader import ReadyGrader

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
"""

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
"""

DEFAULT_TEMPLATE = PromptTemplate.of(en=PROMPT_EN, zh=PROMPT_ZH)


class CorrectnessGrader(ReadyGrader):
    """Scores 1 where `response` says the same as `ground_truth`, else 0.

    Example:
        >>> grader = CorrectnessGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="2 + 2?", response="It is four.", ground_truth="4")
    """

    default_name = "correctness"
    default_template = DEFAULT_TEMPLATE
    default_description = "agreement with a reference answer"
    score_range = (0.0, 1.0)
