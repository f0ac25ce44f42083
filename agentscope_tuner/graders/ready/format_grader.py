"""Whether a response has the form that was asked for."""

from __future__ import annotations

from agentscope_tuner.graders.prompt.template import PromptTemplate
from agentscope_tuner.graders.ready.ready_grader import ReadyGrader

# English prompt
PROMPT_EN = """
You judge the form of a response, and nothing else: not whether it is true, useful or polite.

<criteria>
- The demanded form is what the context describes, or, where there is no context, what the query asks for.
- Every demanded element is present, in the demanded order, and spelled as demanded (JSON keys, headings, tags, units,
  separators).
- Nothing stands around it that the form does not allow.
- Where no form is demanded, any readable form is right.
</criteria>

<scale>
1: the form is met in full. 0: it is not.
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
你只判断回答的形式，不判断其内容是否真实、有用或礼貌。

<评估准则>
- 所要求的形式以上下文的描述为准；没有上下文时，以问题的要求为准。
- 每个要求的元素都已出现，顺序正确，写法正确（JSON 键、标题、标签、单位、分隔符）。
- 除该形式允许的内容之外，没有多余内容。
- 没有要求形式时，任何可读的形式都算正确。
</评估准则>

<评分标准>
1：完全符合形式要求。0：不符合。
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


class FormatGrader(ReadyGrader):
    """Scores 1 where `response` has the form that `context` or `query` demands, else 0.

    Example:
        >>> grader = FormatGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="List two colours.", context="A JSON list of texts.",
        response='["red"]')
    """

    default_name = "format"
    default_template = DEFAULT_TEMPLATE
    default_description = "whether the response has the demanded form"
    score_range = (0.0, 1.0)
