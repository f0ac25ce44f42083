"""Of an episode in one text only the policy's last turn counts, whatever chat template parts its turns."""

from __future__ import annotations

import pytest

from agentscope_tuner.records.formats.sample import as_rollout, last_turn, policys_turns, without_end_markers

#: By family: how its template goes on after the policy's call of a tool, which answers {tool}; the policy says {said}.
EPISODES = {
    "Qwen 2.5": "call<|im_end|>\n<|im_start|>tool\n{tool}<|im_end|>\n<|im_start|>assistant\n{said}<|im_end|>",
    "Qwen 3": "call<|im_end|>\n<|im_start|>user\n<tool_response>\n{tool}\n</tool_response><|im_end|>\n"
    "<|im_start|>assistant\n{said}<|im_end|>",
    "Llama 3": "call<|eom_id|><|start_header_id|>ipython<|end_header_id|>\n\n{tool}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n{said}<|eot_id|>",
    "Llama 4": "call<|eom|><|header_start|>ipython<|header_end|>\n\n{tool}<|eot|>"
    "<|header_start|>assistant<|header_end|>\n\n{said}<|eot|>",
    "gpt-oss": "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{{}}<|call|>"
    "<|start|>functions.f to=assistant<|channel|>commentary<|message|>{tool}<|end|>"
    "<|start|>assistant<|channel|>final<|message|>{said}<|return|>",
    "Kimi": "call<|im_end|><|im_system|>tool<|im_middle|>{tool}<|im_end|>"
    "<|im_assistant|>assistant<|im_middle|>{said}<|im_end|>",
    "Mistral": '[TOOL_CALLS][{{"name": "f"}}]</s>[TOOL_RESULTS]{{"content": "{tool}"}}[/TOOL_RESULTS]{said}</s>',
    "DeepSeek": "<｜tool▁calls▁begin｜>f<｜tool▁calls▁end｜><｜end▁of▁sentence｜><｜tool▁outputs▁begin｜>"
    "<｜tool▁output▁begin｜>{tool}<｜tool▁output▁end｜><｜tool▁outputs▁end｜>{said}<｜end▁of▁sentence｜>",
    "Gemma": "call<end_of_turn>\n<start_of_turn>user\n{tool}<end_of_turn>\n<start_of_turn>model\n{said}<end_of_turn>",
    "GLM": "call<|observation|>\n{tool}<|assistant|>\n{said}<|user|>",
    "Command": "call<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>{tool}<|END_OF_TURN_TOKEN|>"
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_RESPONSE|>{said}<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
    "Granite": "call<|end_of_text|>\n<|start_of_role|>tool<|end_of_role|>{tool}<|end_of_text|>\n"
    "<|start_of_role|>assistant<|end_of_role|>{said}<|end_of_text|>",
    "gpt-oss, Python": "<|channel|>analysis to=python code<|message|>f()<|call|>"
    "<|start|>python to=assistant<|channel|>analysis<|message|>{tool}<|end|>"
    "<|start|>assistant<|channel|>final<|message|>{said}<|return|>",
    "Qwen 3, decoded without its tokens": "call\nuser\n<tool_response>\n{tool}\n</tool_response>{said}",
    "DeepSeek 3.1": "call<｜tool▁calls▁end｜><｜end▁of▁sentence｜><｜tool▁output▁begin｜>{tool}"
    "<｜tool▁output▁end｜>{said}<｜end▁of▁sentence｜>",
    "DeepSeek 3.2": "call<｜end▁of▁sentence｜>\n\n<function_results>\n{tool}\n</function_results>\n\n{said}",
    "DeepSeek, a user": "call<｜end▁of▁sentence｜><｜User｜>{tool}<｜Assistant｜>{said}<｜end▁of▁sentence｜>",
    "FunctionGemma": "<start_function_call>call<end_function_call><start_function_response>response:f{{value:{tool}}}"
    "<end_function_response>{said}<end_of_turn>",
    "Gemma 4": "<|tool_call>call<tool_call|><|tool_response>response:f{{value:{tool}}}<tool_response|>{said}<turn|>",
    "Gemma 4, a user": "call<turn|>\n<|turn>user\n{tool}<turn|>\n<|turn>model\n{said}<turn|>",
    "Llama 3, by the tool's name": "call<|eom_id|><|start_header_id|>get_weather<|end_header_id|>\n\n{tool}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n{said}<|eot_id|>",
    "Olmo 3": "call<|im_end|>\n<|im_start|>environment\n{tool}<|im_end|>\n<|im_start|>assistant\n{said}<|im_end|>",
    "Kimi, by the tool's name": "call<|im_end|><|im_system|>f<|im_middle|>{tool}<|im_end|>"
    "<|im_assistant|>kimi<|im_middle|>{said}<|im_end|>",
    "Phi 4 mini": "<|tool_call|>call<|/tool_call|><|end|><|tool_response|>{tool}<|end|><|assistant|>{said}<|end|>",
    "Seed": "call<seed:eos><seed:bos>tool\n{tool}<seed:eos><seed:bos>assistant\n{said}<seed:eos>",
    "EXAONE": "call[|endofturn|]\n[|tool|]\n{tool}[|endofturn|]\n[|assistant|]\n{said}[|endofturn|]",
    "Hunyuan": "call<｜hy_place▁holder▁no▁2｜><｜hy_User｜>{tool}<｜hy_Assistant｜>{said}<｜hy_place▁holder▁no▁2｜>",
    "Apertus": "call<|assistant_end|><|user_start|>{tool}<|user_end|><|assistant_start|>{said}<|assistant_end|>",
    "LFM 2": "call<|im_end|>\n<|im_start|>tool\n<|tool_response_start|>{tool}<|tool_response_end|><|im_end|>\n"
    "<|im_start|>assistant\n{said}<|im_end|>",
    "MiniMax": "call[e~[\n]~b]tool\n{tool}[e~[\n]~b]ai\n{said}[e~[",
}


@pytest.mark.parametrize("family", list(EPISODES))
def test_a_tools_text_is_not_the_policys(family: str) -> None:
    said = ["Done.", r"model answer: \boxed{6}", "42", "user or tool?", "[a] <|b|> c", "two\nlines"]
    assert [last_turn(EPISODES[family].format(tool=r"\boxed{5}", said=text)) for text in said] == said


@pytest.mark.parametrize("family", list(EPISODES))
def test_an_episode_that_ends_with_a_tools_text_has_no_answer(family: str) -> None:
    before, _, _ = EPISODES[family].format(tool=r"\boxed{5}", said="@").partition(r"\boxed{5}")
    assert last_turn(before + r"\boxed{5}") == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r"So \boxed{5}.", r"So \boxed{5}."),
        # GLM ends its own turn with the header of the next one: a right answer was no answer
        (r"So \boxed{5}.<|user|>", r"So \boxed{5}."),
        (r"So \boxed{5}.<|im_end|>" + "\n<|im_start|>user\n", r"So \boxed{5}."),
        ("<|begin_of_thought|>hm<|end_of_thought|>5", "<|begin_of_thought|>hm<|end_of_thought|>5"),
        ("print('[INST')", "print('[INST')"),
        ("<|function_call|>f()<|end|>5", "<|function_call|>f()<|end|>5"),
        ("<|tool_call_begin|>f<|tool_call_end|>5", "<|tool_call_begin|>f<|tool_call_end|>5"),
        (
            "d[tool_output] is [a] List<User> of <user_id> at <start>",
            "d[tool_output] is [a] List<User> of <user_id> at <start>",
        ),
        ("<tool>f</tool><user_message>5", "<tool>f</tool><user_message>5"),
        ("a model, a tool and a user", "a model, a tool and a user"),
        ("", ""),
    ],
)
def test_what_the_policy_wrote_alone_is_kept(text: str, said: str) -> None:
    assert last_turn(text) == said


@pytest.mark.parametrize("in_a_message", [False, True])
def test_a_sample_has_no_answer_where_it_was_cut_off_in_a_tools_text(in_a_message: bool) -> None:
    # TRL, whose rollout functions give all turns as one message of the assistant's: the tool's box was paid 1.0
    text = "call<|im_end|>\n<|im_start|>tool\n\\boxed{42}<|im_end|>\n"
    completion = [{"role": "assistant", "content": text}] if in_a_message else text
    _, output = as_rollout("6*7?", completion, {"answer": "42"})
    assert output.metadata["final_answer"] == ""


@pytest.mark.timeout(60)
def test_a_text_that_ends_with_many_markers_is_read_in_time() -> None:
    # each was cut off by a copy of the whole text before it
    assert without_end_markers("a" + "<|im_end|>" * 1_000_000) == "a"


@pytest.mark.parametrize(("turns", "begins"), [(0, 5), (1, 5), (2, 3), (3, 1), (4, 5)])
def test_the_policys_part_begins_with_as_many_of_its_turns_as_are_known(turns: int, begins: int) -> None:
    messages = [{"role": role, "content": "x"} for role in ("user", "assistant") * 3]
    assert policys_turns(messages, turns) == begins
