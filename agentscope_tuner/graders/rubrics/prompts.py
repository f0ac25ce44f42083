"""The prompts that propose, revise and sort rubrics, and that judge by them."""

from __future__ import annotations

from agentscope_tuner.graders.schema import GraderMode
from agentscope_tuner.graders.template import LanguageEnum, PromptTemplate

SCORE = PromptTemplate.of(
    """You are a strict and fair grader. Score one response to a query.

<rubrics>
{rubrics}
</rubrics>

<scale>
From {min_score} (useless or wrong) to {max_score} (could not be better). Apply the rubrics where they fit the query;
where there are none, use your own judgement. Length, confidence and politeness earn nothing by themselves.
</scale>""",
    """你是一名严格而公正的评分员。请为针对某个问题的一个回答打分。

<评分标准>
{rubrics}
</评分标准>

<分值>
从 {min_score}（无用或错误）到 {max_score}（无可改进）。在标准适用于该问题时按标准评分；没有标准时自行判断。
篇幅、自信和礼貌本身不加分。
</分值>""",
    "query",
    "reference",
    "response",
)

RANK = PromptTemplate.of(
    """You are a strict and fair grader. Rank several responses to one query against each other.

<rubrics>
{rubrics}
</rubrics>

Apply the rubrics where they fit the query; where there are none, use your own judgement. Length, confidence, politeness
and the order in which responses are shown earn nothing by themselves.""",
    """你是一名严格而公正的评分员。请对同一问题的多个回答进行排名。

<评分标准>
{rubrics}
</评分标准>

在标准适用于该问题时按标准排名；没有标准时自行判断。篇幅、自信、礼貌以及回答出现的先后顺序本身不加分。""",
    "query",
    "reference",
    "responses",
)

PROPOSE = PromptTemplate.of(
    """An expert has {labelled}.
Find out what the expert looks for. Write {count} rubric(s) by which another grader, who does not know the expert's
verdict, would reach the same verdict on this and give fair verdicts on other responses to queries of this kind. A
rubric is one or two sentences: what to check, and what it does to the {verdict}. Do not name this query's subject
unless it matters, and never state the expert's verdict itself.""",
    """一位专家已{labelled}。
请找出专家看重什么。请写出 {count} 条评分标准，使另一位不知道专家结论的评分员能够对此得出相同的结论，
并能公正地评判同类问题的其他回答。每条标准一到两句话：检查什么，以及它如何影响{verdict}。
除非必要不要提到本题的具体主题，也绝不要直接写出专家的结论。""",
    "query",
    "material",
)

REVISE = PromptTemplate.of(
    """An expert has {labelled}.
A grader who used the rubrics below reached another verdict: {got}. Rewrite the {count} rubric(s) so that the grader
would agree with the expert, without stating the expert's verdict itself, and without making the rubrics fit this one
case only.""",
    """一位专家已{labelled}。
使用下列标准的评分员得出了不同的结论：{got}。请重写这 {count} 条标准，使评分员能与专家一致，
但不要直接写出专家的结论，也不要让标准只适用于这一个例子。""",
    "rubrics",
    "query",
    "material",
    "grader_reason",
)

SORT = PromptTemplate.of(
    """\
Sort the numbered rubrics below into at most {count} themes. Every number belongs to exactly one theme; a theme's name
has two to five words.""",
    """请把下列带编号的评分标准归入至多 {count} 个主题。每个编号只属于一个主题；主题名称为二到八个字。""",
    "rubrics",
)

EVALUATION = {GraderMode.POINTWISE: SCORE, GraderMode.LISTWISE: RANK}

LABELLED = {
    (
        GraderMode.POINTWISE,
        LanguageEnum.EN,
    ): "given the response below a score of {label} on a scale from {low} to {high}",
    (GraderMode.POINTWISE, LanguageEnum.ZH): "给下面的回答打了 {label} 分（{low} 到 {high} 分）",
    (
        GraderMode.LISTWISE,
        LanguageEnum.EN,
    ): "ranked the responses below; their places, in the order shown (1 is best), are {label}",
    (GraderMode.LISTWISE, LanguageEnum.ZH): "对下面的回答排了名次；按显示顺序其名次（1 为最好）是 {label}",
}
VERDICT = {
    (GraderMode.POINTWISE, LanguageEnum.EN): "score",
    (GraderMode.POINTWISE, LanguageEnum.ZH): "分数",
    (GraderMode.LISTWISE, LanguageEnum.EN): "ranking",
    (GraderMode.LISTWISE, LanguageEnum.ZH): "名次",
}
NO_RUBRICS = {LanguageEnum.EN: "(none)", LanguageEnum.ZH: "（无）"}
RUBRICS_FORM = {
    LanguageEnum.EN: 'Reply with one JSON object and nothing else: {"rubrics": ["<rubric>", … exactly {count}]}',
    LanguageEnum.ZH: '只回复一个 JSON 对象，不要有其他内容：{"rubrics": ["<标准>", … 恰好 {count} 条]}',
}
THEMES_FORM = {
    LanguageEnum.EN: (
        'Reply with one JSON object and nothing else: {"themes": [{"name": "<theme>", "rubrics": [<numbers>]}, …]}'
    ),
    LanguageEnum.ZH: ('只回复一个 JSON 对象，不要有其他内容：{"themes": [{"name": "<主题>", "rubrics": [<编号>]}, …]}'),
}
