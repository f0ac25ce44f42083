"""The openers that answers without content consist of: those of arXiv 2507.08794 and similar ones, by language."""

from __future__ import annotations

import re

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
        "as follows",
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

# Patterns for openers of which there are too many forms to list
_ENGLISH = re.compile(
    r"(?:(?:sure|okay|ok|alright|well|now|so|certainly|of course|yes) )*"
    r"(?:(?:here is|here's|heres|below is|the following is|this is)(?: an?)? )?(?:(?:my|the|our|your) )?"
    r"(?:(?:detailed|full|complete|final|correct|step by step|short) )*"
    r"(?:solution|answer|response|explanation|reasoning|analysis|thought process|thinking process|chain of thought"
    r"|conclusion|proof|derivation|calculation|working)(?: process| steps)?"
    r"(?: (?:to|for|of) (?:the|this|your) (?:problem|question|task|query))?"
    r"(?: is| are| goes)?(?: as follows| follows| follows below| below| here| follows here| given below)?"
    # "I'll think about it" answers an invitation: an intention is an opener only if it is about work on a problem
    r"|(?:(?:okay|ok|sure|alright|well|first|now|so) )*(?:let's|lets|let us|let me|allow me to"
    r"|(?:to|(?:i|we)(?: will|'ll| shall| have to| need to| am going to| are going to|'m going to|'re going to))"
    r"(?=.* (?:problem|question|task|steps?|carefully|logically|(?:solve|answer|tackle|approach) (?:this|it|that))))"
    r" (?:(?:now|first|carefully|just) )?"
    r"(?:solve|think|work|reason|analy[sz]e|begin|start|answer|approach|tackle|consider|examine|explain|figure|break)"
    r"(?: (?:this|the|that|it|about|through|out|by|down|given|problem|question|task|carefully|logically|step|steps"
    r"|and|answer|solve|together|with|into))*"
)
_CHINESE = re.compile(
    r"(?:好的|首先|那么|下面|接下来|以下|这里)*(?:是|给出|为)?(?:我的|本题的?|该题的?|详细的?|完整的?|最终的?|正确的?)*"
    r"(?:解答|解析|解法|解题过程|解题思路|解题步骤|解决方案|答案|思考过程|推理过程|计算过程|推导过程|思路|分析|回答|结论)(?:过程)?"
    r"(?:如下|是|为)?|(?:详细的?|完整的?|具体的?)?(?:过程|步骤|推导|证明|计算)如下"
    r"|(?:好的|首先|那么|下面)*(?:让我们|我们|我来|我将|我们来)(?:先|来)?(?:一步一步|一步步|逐步|仔细|认真)?地?"
    r"(?:来)?(?:思考|分析|解决|解答|推理|求解)(?:一下)?(?:这个|该|此|这道)?(?:问题|题目|题)?"
    r"|(?:综上所述|综上|总而言之|总之|由此可知|由此可得|由此可见|由题意|由题意可知|由题可知|根据题意|根据题目|因此可得|经过分析|经分析|解题如下)"
)


def is_listed(words: str) -> bool:
    """Whether `words`, in lower case with single spaces, is an opener or several openers in a row."""
    return words in _KNOWN or bool(
        _ENGLISH.fullmatch(words) or _CHINESE.fullmatch(words.replace(" ", "")) or _SEVERAL.fullmatch(words)
    )


def is_listed_squeezed(letters: str) -> bool:
    """Whether `letters`, in lower case with nothing between them, is an opener."""
    return letters in _SQUEEZED


def is_ordinary_word(words: str) -> bool:
    """Whether the opener `words` may be an answer: a single word that no judge model was found to reward alone."""
    if words in _PAID_BARE:
        return False
    return " " not in words and (len(words) <= 4 or words[0].isascii() or (words.isalpha() and words[0] < "\u3000"))


_PAID_BARE = frozenset({"solution", "解", "かいせつ", "respuesta"})
_KNOWN = frozenset(" ".join(opener.casefold().split()) for openers in OPENERS.values() for opener in openers)
_SEVERAL = re.compile(
    "(?:(?:{})(?: |$))+".format("|".join(re.escape(opener) for opener in sorted(_KNOWN, key=len, reverse=True)))
)
_SQUEEZED = frozenset(re.sub(r"[\W_]+", "", opener) for opener in _KNOWN)
