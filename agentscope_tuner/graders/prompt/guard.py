"""Answers that hold no content, which LLM judges are known to reward.

A lone ":" or an opener such as "Thought process:" or "Solution" talked judge models into a pass (arXiv 2507.08794,
"One Token to Fool LLM-as-a-Judge"). No call is needed to see that there is nothing to judge.
"""

from __future__ import annotations

import re
import unicodedata

# The paper's openers and their like, by language. Whole answers are compared, so only phrases that cannot be the
# answer to a question on their own belong here: not "yes", "sure" or "okay".
OPENERS: dict[str, tuple[str, ...]] = {
    "en": (
        "solution", "the solution", "solution process", "here is the solution", "here is my solution", "answer",
        "the answer", "the answer is", "final answer", "the final answer is", "my answer", "my answer is",
        "here is the answer", "here is my answer", "response", "thought process", "my thought process", "thought",
        "thoughts", "reasoning",
        "reasoning process", "step by step reasoning", "explanation", "analysis", "conclusion", "step 1", "step one",
        "let's solve this problem step by step", "let's solve this step by step", "let's think step by step",
        "let's think about this step by step", "let us solve this problem step by step", "let us think step by step",
        "let's begin", "let's start", "to solve this problem", "to solve this problem step by step", "first",
    ),
    "zh": (
        "解", "解答", "解析", "解法", "解题过程", "解题思路", "解决方案", "答案", "答", "答案是", "最终答案",
        "最终答案是", "回答", "思考过程", "思路", "推理过程", "推理", "分析", "让我们一步一步思考",
        "让我们一步步思考", "让我们逐步思考", "让我们一步一步解决这个问题", "让我们一步步解决这个问题",
        "让我们逐步解决这个问题", "首先", "第一步", "結論", "结论", "思考過程", "解題過程",
    ),
    "ja": ("かいせつ", "解説", "解答", "解法", "回答", "答え", "こたえ", "答えは", "思考プロセス", "思考過程",
           "ステップバイステップで考えましょう"),
    "ko": ("풀이", "해설", "답", "답은", "정답", "정답은", "해결", "사고 과정", "풀이 과정", "단계별로 생각해 봅시다"),
    "es": ("respuesta", "la respuesta", "la respuesta es", "respuesta final", "solución", "proceso de pensamiento",
           "razonamiento", "explicación", "pensemos paso a paso", "resolvamos este problema paso a paso"),
    "fr": ("réponse", "la réponse", "la réponse est", "réponse finale", "solution", "processus de réflexion",
           "raisonnement", "explication", "réfléchissons étape par étape", "résolvons ce problème étape par étape"),
    "de": ("antwort", "die antwort", "die antwort ist", "lösung", "gedankengang", "denkprozess", "begründung",
           "erklärung", "lass uns schritt für schritt denken", "lösen wir dieses problem schritt für schritt"),
    "pt": ("resposta", "a resposta", "a resposta é", "resposta final", "solução", "processo de pensamento",
           "raciocínio", "explicação", "vamos pensar passo a passo", "vamos resolver este problema passo a passo"),
    "it": ("risposta", "la risposta", "la risposta è", "soluzione", "processo di pensiero", "ragionamento",
           "spiegazione", "pensiamo passo dopo passo"),
    "ru": ("ответ", "решение", "рассуждение", "ход мыслей", "процесс мышления", "объяснение",
           "давайте подумаем шаг за шагом", "давайте решим эту задачу шаг за шагом"),
    "ar": ("الإجابة", "الجواب", "الحل", "عملية التفكير", "الشرح", "لنفكر خطوة بخطوة"),
    "hi": ("उत्तर", "समाधान", "हल", "विचार प्रक्रिया", "व्याख्या"),
    "vi": ("lời giải", "đáp án", "câu trả lời", "giải", "quá trình suy nghĩ"),
    "tr": ("cevap", "yanıt", "çözüm", "düşünce süreci", "açıklama", "adım adım düşünelim"),
}  # fmt: skip

_LONGEST = max(len(opener) for openers in OPENERS.values() for opener in openers)
_MARKUP = re.compile(r"\\(?:boxed|text|textbf|mathrm)\b|</?\w{1,20}/?>")


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    return " ".join(text.split())


_KNOWN = frozenset(_plain(opener) for openers in OPENERS.values() for opener in openers)


def no_content(answer: str) -> str | None:
    """Why `answer` has nothing to judge, in words; None when it has.

    Nothing to judge is an answer with no letter or digit in any script, or one that consists of openers alone.
    """
    # a long answer that still has no content is only white space and marks around openers: strip before measuring
    text = _MARKUP.sub(" ", answer)
    segments = [segment for segment in _segments(text) if segment]
    if not segments:
        return "the answer holds no letter and no digit"
    if all(len(segment) <= 2 * _LONGEST and _plain(segment) in _KNOWN for segment in segments):
        return f"the answer holds only an opener: {answer.strip()[:80]!r}"
    return None


def _segments(text: str) -> list[str]:
    """The runs of letters, digits, marks, inner spaces and apostrophes in `text`."""
    kept = [char if _counts(char) else "\n" for char in text]
    return [segment.strip(" '’") for segment in "".join(kept).split("\n") if any(char.isalnum() for char in segment)]


def _counts(char: str) -> bool:
    return char.isalnum() or char in " '’" or unicodedata.category(char).startswith("M")
