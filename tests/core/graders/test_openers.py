"""Openers by language, as literals: each alone is nothing to judge, and with an answer behind it there is one."""

from __future__ import annotations

import pytest

from agentscope_tuner.graders.injection_defence import no_content

OPENERS = {
    "en": """solution|the solution|solution process|here is the solution|here is my solution|answer|the answer
        |final answer|the answer is|the final answer is|my answer|my answer is|here is the answer|here is my answer
        |response|thought process|my thought process|thought|thoughts|reasoning|reasoning process|step by step reasoning
        |explanation|analysis|conclusion|step 1|step one|let's solve this problem step by step
        |let's solve this step by step|let's think step by step|let's think about this step by step
        |let us solve this problem step by step|let us think step by step|let's begin|let's start|to solve this problem
        |to solve this problem step by step|first|as follows""",
    "zh": """解|解答|解析|解法|解题过程|解题思路|解决方案|答案|答|答案是|最终答案|最终答案是|回答|思考过程|思路|推理过程
        |推理|分析|让我们一步一步思考|让我们一步步思考|让我们逐步思考|让我们一步一步解决这个问题|让我们一步步解决这个问题
        |让我们逐步解决这个问题|首先|第一步|結論|结论|思考過程|解題過程""",
    "ja": """かいせつ|解説|解答|解法|回答|答え|こたえ|答えは|思考プロセス|思考過程
        |ステップバイステップで考えましょう""",
    "ko": "풀이|해설|답|답은|정답|정답은|해결|사고 과정|풀이 과정|단계별로 생각해 봅시다",
    "es": """respuesta|la respuesta|la respuesta es|respuesta final|solución|proceso de pensamiento|razonamiento
        |explicación|pensemos paso a paso|resolvamos este problema paso a paso""",
    "fr": """réponse|la réponse|la réponse est|réponse finale|solution|processus de réflexion|raisonnement|explication
        |réfléchissons étape par étape|résolvons ce problème étape par étape""",
    "de": """antwort|die antwort|die antwort ist|lösung|gedankengang|denkprozess|begründung|erklärung
        |lass uns schritt für schritt denken|lösen wir dieses problem schritt für schritt""",
    "pt": """resposta|a resposta|a resposta é|resposta final|solução|processo de pensamento|raciocínio|explicação
        |vamos pensar passo a passo|vamos resolver este problema passo a passo""",
    "it": """risposta|la risposta|la risposta è|soluzione|processo di pensiero|ragionamento|spiegazione
        |pensiamo passo dopo passo""",
    "ru": """ответ|решение|рассуждение|ход мыслей|процесс мышления|объяснение|давайте подумаем шаг за шагом
        |давайте решим эту задачу шаг за шагом""",
    "ar": "الإجابة|الجواب|الحل|عملية التفكير|الشرح|لنفكر خطوة بخطوة",
    "hi": "उत्तर|समाधान|हल|विचार प्रक्रिया|व्याख्या",
    "vi": "lời giải|đáp án|câu trả lời|giải|quá trình suy nghĩ",
    "tr": "cevap|yanıt|çözüm|düşünce süreci|açıklama|adım adım düşünelim",
}  # fmt: skip
FILLERS = "sure|ok|okay|alright|well|certainly|of course|好的|好|当然"
TAGS = """answer answers final final_answer output response reply result solution verdict submission think thinking
    thought thoughts reason reasoning reflection analysis scratchpad explanation conclusion step s""".split()  # noqa: SIM905


def openers(language: str) -> list[str]:
    return [opener.strip() for opener in OPENERS[language].split("|")]


@pytest.mark.parametrize("language", OPENERS)
def test_an_opener_alone_is_nothing_to_judge(language: str) -> None:
    assert [one for one in openers(language) if no_content(f"{one.capitalize()}:") is None] == []
    assert [one for one in openers(language) if no_content(f"**{one}:**\n\n") is None] == []


@pytest.mark.parametrize("language", OPENERS)
def test_an_opener_with_an_answer_behind_it_is_judged(language: str) -> None:
    assert [one for one in openers(language) if no_content(f"{one.capitalize()}: 42") is not None] == []


def test_an_opener_behind_a_filler_is_nothing_to_judge() -> None:
    assert [one for one in FILLERS.split("|") if no_content(f"{one.capitalize()}! Solution:") is None] == []
    assert [one for one in FILLERS.split("|") if no_content(f"{one.capitalize()}! 42") is not None] == []


def test_tags_of_a_format_around_nothing_are_nothing_to_judge() -> None:
    assert [tag for tag in TAGS if no_content(f"<{tag}></{tag}>") is None] == []
    assert [tag for tag in TAGS if no_content(f"<{tag}>42</{tag}>") is not None] == []
    # which tag is meant may be the question
    assert no_content("<b></b>") is None
