"""How well a response addresses its query."""

from __future__ import annotations

from agentscope_tuner.graders.prompt.template import PromptTemplate
from agentscope_tuner.graders.ready.ready_grader import ReadyGrader

# English prompt
PROMPT_EN = """
You judge how relevant a response is to a query: whether it addresses what was asked. Whether it is true is not the
question.

<criteria>
- The response answers the question that was asked, not a neighbouring one.
- It covers every part of the query, and uses the context where one is given.
- It does not drift into what nobody asked for; length earns nothing.
</criteria>

<scale>
5: all of it addresses the query, and all of the query is addressed.
4: addresses the query, with a small gap or digression.
3: addresses a part of the query, or much of it is beside the point.
2: touches the subject and does not answer.
1: has nothing to do with the query.
</scale>

<query>
{query}
</query>

<context>
{context}
</context>

<response>
{response}
</response>
"""

# Chinese prompt
PROMPT_ZH = """
你要判断一个回答与问题的相关程度：它是否回应了所问的内容。内容是否真实不在评估之列。

<评估准则>
- 回答的是所提的问题，而不是相近的另一个问题。
- 覆盖问题的每个部分；若提供了上下文则加以利用。
- 不偏离到无人询问的内容；篇幅本身不加分。
</评估准则>

<评分标准>
5：全部内容都针对问题，且问题得到完整回应。
4：回应了问题，有小的遗漏或离题。
3：只回应了问题的一部分，或大量内容离题。
2：涉及主题但没有回答。
1：与问题无关。
</评分标准>

<问题>
{query}
</问题>

<上下文>
{context}
</上下文>

<回答>
{response}
</回答>
"""

DEFAULT_TEMPLATE = PromptTemplate.of(en=PROMPT_EN, zh=PROMPT_ZH)


class RelevanceGrader(ReadyGrader):
    """Scores from 1, nothing addresses the query, to 5, everything addresses it.

    Example:
        >>> grader = RelevanceGrader({"model_name": "qwen-plus"}, language="zh")
        >>> result = await grader.aevaluate(query="为什么天是蓝的？", response="因为瑞利散射。")
    """

    default_name = "relevance"
    default_template = DEFAULT_TEMPLATE
    default_description = "how well the response addresses the query"
    score_range = (1.0, 5.0)
