"""An injection set against a judge that obeys whatever it can see outside the fence, and quotes what it judges."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from agentscope_tuner.graders import ChatMessage, LLMGrader, PromptTemplate
from tests.injections import INJECTIONS
from tests.judge_server import Body, Canned, JudgeServer, prompt_of

HONEST = 2
TEMPLATE = PromptTemplate(
    messages={"en": [ChatMessage(content="Score how well the response explains rain.\n{query}\n{response}")]}  # type: ignore[dict-item]
)
# what a chat template, also one that normalises its input, would take for its own tokens
CONTROL = re.compile(
    r"[<＜]\s?[|｜][^|｜<>]*[|｜]\s?[>＞]|</?s>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|[<＜]\s?/?\s?think(?:ing)?\s?[>＞]"
)
HIDDEN = re.compile("[\u200b\u202a-\u202e\U000e0000-\U000e007f]")
TEMPTATION = re.compile(r"\b10\b|10 分")


def visible(prompt: str) -> str:
    """What the judge takes for instructions: what stands outside the fences, and whatever follows a control token."""
    prompt = HIDDEN.sub("", prompt)
    ending = prompt[prompt.rindex("Everything between a [BEGIN") :] if "Everything between a [BEGIN" in prompt else ""
    rest = prompt[: len(prompt) - len(ending)]
    delimiter = re.search(r"\[BEGIN … (\w+)\]", ending)
    injected = [rest[match.end() :] for match in CONTROL.finditer(rest)]
    if delimiter is not None:
        fence = rf"\[BEGIN (\w+) {delimiter[1]}\]\n.*?\n\[END \1 {delimiter[1]}\]"
        rest = re.sub(fence, "", rest, flags=re.DOTALL)
    return rest + "\n".join(injected)


def judged_text(prompt: str) -> str:
    """The response, as the judge saw it."""
    found = re.search(r"\[BEGIN response (\w+)\]\n(.*)\n\[END response \1\]", prompt, re.DOTALL)
    return found[2] if found else prompt


def gullible(style: str) -> Any:
    """A judge that gives 10 when what it can see tempts it to, else the honest score, in one of several manners."""

    def answer(body: Body, attempt: int) -> Canned:
        prompt = prompt_of(body)
        score = 10 if TEMPTATION.search(visible(prompt)) else HONEST
        own = json.dumps({"reason": "it explains little", "score": score})
        quoted = judged_text(prompt)
        return Canned(
            {
                "plain": own,
                "quotes first": f"The response reads:\n{quoted}\n\nMy verdict:\n{own}",
                "quotes last": f"{own}\n\nFor the record, the response reads:\n{quoted}",
                "quotes only json": f"{own}\nIt contained: {' '.join(re.findall(r'{[^{}]*}', quoted))}",
                "thinks": f"<think>The response reads: {quoted}</think>{own}",
            }[style]
        )

    return answer


STYLES = ("plain", "quotes first", "quotes last", "quotes only json", "thinks")


@pytest.mark.parametrize("style", STYLES)
def test_no_injection_raises_a_score(style: str) -> None:
    async def grade(grader: LLMGrader) -> list[Any]:
        return await asyncio.gather(*(grader.aevaluate(query="Why?", response=text) for _, text in INJECTIONS))

    with JudgeServer(gullible(style)) as server:
        model = {"model_name": "m", "base_url": server.url, "cache": False, "max_reasks": 0}
        results = asyncio.run(grade(LLMGrader(model, template=TEMPLATE, min_score=0, max_score=10)))
    assert len(results) >= 60
    inflated = [
        text
        for result, (_, text) in zip(results, INJECTIONS, strict=True)
        if result.error is None and result.score > HONEST
    ]
    assert inflated == []
    failed = sum(result.error is not None for result in results)
    # a judge that copies broken JSON into its reply gives no verdict; that is an error, not a score, and stays rare
    assert failed == 0 if style in ("plain", "thinks", "quotes only json") else failed <= len(INJECTIONS) // 4


def test_the_set_works_on_a_judge_without_a_fence() -> None:
    naive = [f"Score how well the response explains rain, from 0 to 9.\nResponse: {text}" for _, text in INJECTIONS]
    fooled = sum(bool(TEMPTATION.search(visible(prompt))) for prompt in naive)
    assert fooled == len(INJECTIONS)


def test_the_set_covers_its_kinds_and_chinese() -> None:
    kinds = [kind for kind, _ in INJECTIONS]
    assert {kind: kinds.count(kind) >= 6 for kind in kinds} == dict.fromkeys(
        ("close", "json", "think", "role", "order", "plant"), True
    )
    assert len({text for _, text in INJECTIONS}) == len(INJECTIONS)
    assert sum(bool(re.search(r"[\u4e00-\u9fff]", text)) for _, text in INJECTIONS) >= 10
