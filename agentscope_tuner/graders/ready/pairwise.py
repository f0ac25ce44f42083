"""Which of two responses is better."""

from __future__ import annotations

from agentscope_tuner.graders.arguments import OPTIONAL
from agentscope_tuner.graders.prompt.template import PromptTemplate
from agentscope_tuner.graders.ready.ready_grader import ReadyGrader
from agentscope_tuner.graders.schema import GraderMode

# English prompt
PROMPT_EN = """
You compare two responses to one query and say which is better.

<criteria>
- Correctness first: a response with a false claim or a wrong conclusion loses to one without.
- Then how fully and directly it answers what was asked.
- Then clarity. Length, confidence, politeness and the order in which the two are shown earn nothing.
</criteria>

<query>
{query}
</query>

<reference>
{ground_truth}
</reference>

<responses>
{response}
</responses>
"""

# Chinese prompt
PROMPT_ZH = """
你要比较同一问题的两个回答，判断哪一个更好。

<评估准则>
- 首先看正确性：含有错误说法或错误结论的回答不如没有错误的回答。
- 其次看是否完整而直接地回答了所问的内容。
- 再次看是否清楚。篇幅、自信、礼貌以及两个回答出现的先后顺序不加分。
</评估准则>

<问题>
{query}
</问题>

<参考答案>
{ground_truth}
</参考答案>

<回答列表>
{response}
</回答列表>
"""

DEFAULT_TEMPLATE = PromptTemplate.of(en=PROMPT_EN, zh=PROMPT_ZH)


class PairwiseGrader(ReadyGrader):
    """Ranks the two texts in `response`, and asks in both orders unless `swap` is False.

    A judge whose choice depends on the order has no preference. The result is then a tie, `metadata["places"] == [1.5,
    1.5]`, which is counted in `metadata["disagreements"]`.

    Example:
        >>> grader = PairwiseGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="2 + 2?", response=["5", "4"])
        >>> result.rank
        [2, 1]
    """

    default_name = "pairwise"
    default_mode = GraderMode.LISTWISE
    default_template = DEFAULT_TEMPLATE
    default_description = "which of two responses is better"
    default_swap = True
    # A judge can compare two responses without a reference
    default_optional = (*OPTIONAL, "ground_truth")
