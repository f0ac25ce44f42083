"""Answers with nothing to judge are seen without a call; answers with something are not."""

from __future__ import annotations

import pytest

from agentscope_tuner.graders.prompt.guard import OPENERS, no_content


@pytest.mark.parametrize(
    "answer",
    [
        "", " ", "\n\t", ".", ",", ":", "!?…", "。，：", "---", "***", "\\boxed{}", "<answer></answer>", "👍", "$$ $$",
        "Solution", "Solution:", "**Solution:**", "## Solution", "SOLUTION", "Thought process:", "Thought process:\n",
        "Let's solve this problem step by step.", "Let’s solve this problem step by step", "解", "解：", "かいせつ",
        "Respuesta", "Respuesta:", "풀이:", "Решение.", "الحل", "समाधान:", "Lời giải:", "Thought process: Solution:",
        "<think></think> Answer:", "答案：\n\n", "Ｓｏｌｕｔｉｏｎ：", "Step 1:", "\\boxed{\\text{Answer}}",
    ],
)  # fmt: skip
def test_nothing_to_judge(answer: str) -> None:
    assert no_content(answer) is not None


@pytest.mark.parametrize(
    "answer",
    [
        "4", "x", "Solution: 4", "Thought process: it is 4", "yes", "no", "Sure", "解：4", "答案是四", "Respuesta: 4",
        "π", "solution set", "Analysis of variance", "\\boxed{4}", "première", "Step 2", "a" * 100_000, "². ",
    ],
)  # fmt: skip
def test_something_to_judge(answer: str) -> None:
    assert no_content(answer) is None


def test_every_listed_opener_is_caught_with_its_colon() -> None:
    missed = [opener for openers in OPENERS.values() for opener in openers if no_content(f"{opener}:") is None]
    assert missed == []
