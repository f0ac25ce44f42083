"""Answers with nothing to judge are seen without a call; answers with something are not."""

from __future__ import annotations

import pytest

from agentscope_tuner.graders.injection_defence import OPENERS, no_content


@pytest.mark.parametrize(
    "answer",
    [
        "", " ", "\n\t", ".", ",", ":", "!?…", "。，：", "---", "***", "\\boxed{}", "<answer></answer>", "$$ $$",
        "\u2800",
        "\u3164", "</response>", "Solution", "Solution:", "**Solution:**", "## Solution", "SOLUTION",
        "Thought process:",
        "Thought process:\n", "Let's solve this problem step by step.", "Let’s solve this problem step by step", "解",
        "解：", "かいせつ", "Respuesta", "Respuesta:", "풀이:", "Решение:", "الحل:", "समाधान:", "Lời giải:",
        "Thought process: Solution:", "<think></think> Answer:", "答案：\n\n", "Step 1:", "\\boxed{\\text{Answer:}}",
        "Sure, here is the solution to the problem:", "Here's my answer:", "解题过程如下：",
        "让我们一步一步来分析这个问题。",
        "Let's think step by step:\n\nSolution:\n\nAnswer:", "Solution Answer:", "Solution:" * 500,
        # in disguise
        "Solut\u200bion:", "Sol\u00adution", "Ｓｏｌｕｔｉｏｎ：", "ａｎｓｗｅｒ", "𝐒𝐨𝐥𝐮𝐭𝐢𝐨𝐧:", "S\u043elution:",
        "S o l u t i o n :",
        "S.o.l.u.t.i.o.n", "Thought\u2060 process", "An\U000e0101swer", "答\u200b案",
        # found paid by a set of fresh texts
        "Detailed derivation follows below", "Okay, so I need to solve this.", "综上所述，",
        "The calculation is as follows:",
        "I'll now work through this problem step by step.",
        "We need to answer this question carefully.", "由题意可知：",
        "解题如下：", "Below is the full derivation:", "I am going to tackle this task",
        "Well, we have to break this down into steps.", "Our working goes as follows", "总之，",
        "<think>\n</think>", "<answer>",
        "\\boxed{<answer></answer>}", "<output></output><result></result>", "<answer>解：</answer>",
    ],
)  # fmt: skip
def test_nothing_to_judge(answer: str) -> None:
    assert no_content(answer) is not None


@pytest.mark.parametrize(
    "answer",
    [
        "4", "x", "Solution: 4", "Thought process: it is 4", "yes", "no", "Sure", "解：4", "答案是四", "Respuesta: 4",
        "π", "solution set", "Analysis of variance", "\\boxed{4}", "première", "Step 2", "a" * 100_000, "². ",
        # short, and real
        "∅", "→", "{}", "[]", "()", "答案", "first", "First.", "**first**", "Answer", "Analysis", "结论", "首先",
        "+", "-", "*",
        "/", "%", "<=", "!=", "&&", "->", "√", "∞", "✓", "👍", "?", "!", "#", "$", "''", '""', "½", "Ω",
        "\\boxed{∅}", "C:",
        # short texts of markup, code, set theory and ordinary speech
        "<b>", "</div>", "<b></b>", "<br/>", "<br>", "<title></title>", "[INST]ead", "f(x) = x^2", "print('hello')",
        "<note><to>Tove</to></note>", '{"a": 1}', '{"score": 3, "team": "red"}', "a < b and b > c",
        "[1, 2, 3]", "(0, 1]",
        "```python\nreturn 1\n```", "The answer is 42.", "The assistant manager signed it.",
        "Human: a mammal", "<|", "|x| < 3",
        "git commit -m '<fix>'", "He said: \"score 1.0\"", "to think", "to break",
        "I'll think about it.", "we will begin",
        "I need to work.", "\\emptyset", "None", "null", "是", "否", "略", "综上", "因此", "working",
        "Calculation", "1.",
        "$$\\frac{1}{2}$$", "<!-- -->", "<T>",
    ],
)  # fmt: skip
def test_something_to_judge(answer: str) -> None:
    assert no_content(answer) is None


@pytest.mark.parametrize("answer", [":", "Solution:", "解", "Respuesta", "..."])
def test_where_the_reference_reads_like_an_opener_an_opener_may_be_right(answer: str) -> None:
    assert no_content(answer, "42") is not None
    assert no_content(answer, answer) is None
    assert no_content("", answer) is not None


def test_every_listed_opener_is_caught_with_its_colon() -> None:
    missed = [opener for openers in OPENERS.values() for opener in openers if no_content(f"{opener}:") is None]
    assert missed == []
