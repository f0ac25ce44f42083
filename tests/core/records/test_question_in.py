"""Of a prompt that a chat template made one text of, a judge sees what the user asked, whatever the template."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner.records.formats.sample import as_rollout, question_in

ASKED = "What is 6*7?\n\nThink first."
#: By family: its template around a system's and a user's message, up to where the policy begins.
PROMPTS = {
    "Qwen": "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n",
    "Qwen, thinking": "<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
    "Qwen, begun": "<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\nLet me think step by step.\n<think>",
    "Qwen, tools told": "<|im_start|>system\n<tools>{{}}</tools> answer in <tool_response></tool_response><|im_end|>\n"
    "<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n",
    "Qwen, a tool answered": "<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\ncall<|im_end|>\n"
    "<|im_start|>user\n<tool_response>\n42\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
    "a tool's own role": "<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\ncall<|im_end|>\n"
    "<|im_start|>tool\n42<|im_end|>\n<|im_start|>assistant\n",
    "two questions": "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n"
    "<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n",
    "Llama 3": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\n{asked}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    "Llama 4": "<|begin_of_text|><|header_start|>user<|header_end|>\n\n{asked}<|eot|>"
    "<|header_start|>assistant<|header_end|>\n\n",
    "Gemma": "<bos><start_of_turn>user\n{asked}<end_of_turn>\n<start_of_turn>model\n",
    "DeepSeek": "<｜begin▁of▁sentence｜>Be brief.<｜User｜>{asked}<｜Assistant｜><think>\n",
    "Mistral": "<s>[INST] {asked} [/INST]",
    "Mistral 7": "<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST]{asked}[/INST]",
    "Phi, OLMo": "<|user|>\n{asked}<|end|>\n<|assistant|>\n",
    "Kimi": "<|im_system|>system<|im_middle|>Be brief.<|im_end|><|im_user|>user<|im_middle|>{asked}<|im_end|>"
    "<|im_assistant|>assistant<|im_middle|>",
    "GLM": "[gMASK]<sop><|system|>\nBe brief.<|user|>\n{asked}<|assistant|>\n<think></think>\n",
    "gpt-oss": "<|start|>system<|message|>Be brief.<|end|><|start|>user<|message|>{asked}<|end|><|start|>assistant",
    "Granite": "<|start_of_role|>user<|end_of_role|>{asked}<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
    "Command": "<BOS_TOKEN><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>Be brief.<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|>"
    "<|USER_TOKEN|>{asked}<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    "MiniMax": "]~!b[]~b]system\nBe brief.[e~[\n]~b]user\n{asked}[e~[\n]~b]ai\n<think>\n",
    "EXAONE": "[|system|]Be brief.[|endofturn|]\n[|user|]{asked}\n[|assistant|]",
}
#: Texts that no chat template made, or whose user cannot be told.
PLAIN = [
    "",
    ASKED,
    "A conversation between User and Assistant. User: 6*7? Assistant: <think>",
    "What does <|im_start|>user mean, and <|im_start|>assistant behind it?",
    "Write a function f(d) that reads d[tool_output] and [INST].",
    "<|im_start|>system\nGo on.<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|>user\n6*7?<|im_end|>\n",
]


@pytest.mark.parametrize("family", PROMPTS)
def test_a_templates_marks_are_no_part_of_the_question(family: str) -> None:
    assert question_in(PROMPTS[family].format(asked=ASKED)) == ASKED


@pytest.mark.parametrize("family", ["GLM", "EXAONE", "Mistral", "Llama 3"])
def test_a_turn_in_which_the_user_says_nothing_asks_nothing(family: str) -> None:
    assert question_in(PROMPTS[family].format(asked="")) == ""


@pytest.mark.parametrize("text", PLAIN)
def test_any_other_text_is_the_question(text: str) -> None:
    assert question_in(text) == text


def test_what_a_user_quotes_of_a_template_stays() -> None:
    asked = "What do [INST], <|user|> and </s> mean in a template?"
    assert question_in(PROMPTS["Qwen"].format(asked=asked)) == asked


def test_a_task_asks_what_the_user_asked() -> None:
    made = PROMPTS["Qwen"].format(asked=ASKED)
    for prompt in (made, [{"role": "user", "content": made}]):
        assert as_rollout(prompt, "42", {})[0].task.main_query == ASKED


@pytest.mark.parametrize("text", ["<|im_start|>user\n" * 20_000, "[INST]" * 50_000 + "[/INST]" * 50_000])
def test_a_long_prompt_is_read_in_linear_time(text: str) -> None:
    assert question_in(f"{text}<|im_start|>assistant\n") != ""


class Image:
    """As a data set's image: decoded anew for each sample, and shown with its address."""


@pytest.mark.parametrize("wrap", [lambda image: image, lambda image: [{"image": image}], lambda image: (image,)])
def test_samples_of_one_prompt_are_one_task_where_their_images_are_objects_of_their_own(wrap: Any) -> None:
    held = []

    def named(answer: str) -> str:
        held.append(Image())
        return as_rollout("What is seen?", "a", {"answer": answer, "images": wrap(held[-1])})[0].task_id

    assert named("a cat") == named("a cat")
    assert named("a cat") != named("a dog")


def test_addresses_that_a_text_speaks_of_tell_tasks_apart() -> None:
    ids = [as_rollout("Explain.", "a", {"answer": "x", "code": f"jump at 0x{place}"})[0].task_id for place in (10, 20)]
    assert ids[0] != ids[1]
