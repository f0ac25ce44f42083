"""The judges' settings: their defaults, and which values they take at the edges of their ranges."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from agentscope_tuner.config import CodeConfig, StrictSection
from agentscope_tuner.task_judge.choice_judge import ChoiceConfig
from agentscope_tuner.task_judge.env_service_as_judge import EnvServiceJudgeConfig
from agentscope_tuner.task_judge.format_judge import FormatConfig
from agentscope_tuner.task_judge.http_judge import HttpJudgeConfig
from agentscope_tuner.task_judge.instruction_judge import InstructionConfig
from agentscope_tuner.task_judge.json_answer_judge import JsonAnswerConfig
from agentscope_tuner.task_judge.language_judge import LanguageConfig
from agentscope_tuner.task_judge.length_judge import LengthConfig
from agentscope_tuner.task_judge.llm.settings import JurorModel, LLMJudgeConfig
from agentscope_tuner.task_judge.repetition_judge import RepetitionConfig
from agentscope_tuner.task_judge.task_rubrics_judge import TaskRubricsConfig
from agentscope_tuner.task_judge.text_match_judge import TextMatchConfig
from agentscope_tuner.task_judge.tool_call_judge import ToolCallConfig
from agentscope_tuner.task_judge.verifier_judge import VerifierConfig

MODELS: dict[str, Any] = {
    "models": None, "jury_rule": "median", "failed_jurors": "skip", "escalate": None, "base_url": None, "client": {},
    "budget": None, "language": "en", "images": "refuse", "probes": "off",
}  # fmt: skip
# each row: a section, what it must be given, and what the rest is then
DEFAULTS: list[tuple[type[StrictSection], dict[str, Any], dict[str, Any]]] = [
    (ChoiceConfig, {}, {"letters": "ABCDEFGH", "options": "options", "count_from": None}),
    (EnvServiceJudgeConfig, {}, {"evaluate_params": {}, "messages": {}, "turns": False}),
    (
        FormatConfig,
        {"boxed": True},
        {
            "tags": None, "opened_in_prompt": False, "allow_around": False, "allow_empty": False, "json_schema": None,
            "allow_fence": False,
        },
    ),
    (
        HttpJudgeConfig,
        {"url": "http://h/reward"},
        {
            "token_file": None, "headers": None, "ca_file": None, "timeout": 60.0, "deadline": None, "tries": None,
            "max_connections": 16, "max_batch": 64, "listwise": False,
        },
    ),
    (InstructionConfig, {}, {"mode": "strict", "reward": "all"}),
    (JsonAnswerConfig, {}, {"fields": None, "partial": True, "allow_fence": True}),
    (JurorModel, {"model_name": "m"}, {"name": None, "base_url": None, "client": {}}),
    (LanguageConfig, {"language": "zh"}, {"least": 0.9, "part": "all"}),
    (RepetitionConfig, {}, {"n": 3, "penalty": 1.0, "most": 0.2}),
    (TextMatchConfig, {}, {"metric": "exact", "least": 0.0, "answer_in": None}),
    (ToolCallConfig, {}, {"order": "any", "allow_extra": False, "partial": True}),
    (
        LLMJudgeConfig,
        {"model_name": "m", "prompt": "{response}"},
        MODELS | {
            "prompt_file": None, "template": None, "grader": None, "grader_kwargs": {}, "reads": {},
            "mode": "pointwise", "scale": None, "labels": None, "score_from": "text", "success_threshold": 0.7,
            "reward_scale": "unit", "votes": 1, "vote_rule": "median", "swap": False, "max_chars": 120_000,
            "compare": "group", "most_pairs": 64, "shuffle_seed": 0,
            "score_pattern": None,
            "max_group_chars": 48_000,
        },
    ),
    (
        TaskRubricsConfig,
        {"model_name": "m"},
        MODELS | {
            "reads": {
                "rubrics": "task.metadata.rubrics", "query": "task.main_query",
                "response": "output.metadata.final_answer",
            },
            "calls": "together", "score_from": "text", "aggregation": "auto", "rubrics_file": None,
            "gate_must_haves": False,
            "success_threshold": 0.7, "shuffle_seed": 0, "max_chars": 120_000,
        },
    ),
]  # fmt: skip

HTTP, LLM, RUBRICS = {"url": "http://h"}, {"model_name": "m", "prompt": "{response}"}, {"model_name": "m"}
LENGTH = {"soft": 5, "hard": 9}
# each row: a section, what it must be given, a key, values that it takes, and values that it refuses
EDGES: list[tuple[type[StrictSection], dict[str, Any], str, list[Any], list[Any]]] = [
    (ChoiceConfig, {}, "letters", ["AB", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"], ["A", "ab", "A1", "A" * 27, None]),
    (FormatConfig, {}, "tags", [["a"], ["a", "b-c_1"]], [[], ["1a"], ["a" * 42], list(ascii_lowercase[:17])]),
    (HttpJudgeConfig, HTTP, "timeout", [0.001, 60], [0, -1, None]),
    (HttpJudgeConfig, HTTP, "deadline", [None, 0.001], [0, -1]),
    (HttpJudgeConfig, HTTP, "tries", [None, 1], [0, -1]),
    (HttpJudgeConfig, HTTP, "max_connections", [1], [0, None]),
    (HttpJudgeConfig, HTTP, "max_batch", [1], [0, None]),
    (JsonAnswerConfig, {}, "fields", [None, {"a": 0.1}, {"a": 1e6}], [{}, {"a": 0}, {"a": 1e6 + 1}, {"a": -1}]),
    (JurorModel, {}, "model_name", ["m"], ["", None]),
    (JurorModel, RUBRICS, "name", [None, "n"], [""]),
    (LanguageConfig, {"language": "zh"}, "least", [0.01, 1], [0, 1.01, -1]),
    (LengthConfig, {"soft": 0}, "hard", [1], [0, None]),
    (LengthConfig, {"hard": 9}, "soft", [0, 8], [-1]),
    (RepetitionConfig, {}, "n", [1, 100], [0, 101]),
    (RepetitionConfig, {}, "penalty", [0.1, 1e6], [0, 1e6 + 1]),
    (RepetitionConfig, {}, "most", [0, 1], [-0.1, 1.1]),
    (TextMatchConfig, {}, "least", [0, 1], [-0.1, 1.1]),
    (TextMatchConfig, {}, "answer_in", [None, ["boxed"]], [[], ["nowhere"]]),
    (LLMJudgeConfig, LLM, "success_threshold", [0, 1], [-0.1, 1.1]),
    (LLMJudgeConfig, LLM, "votes", [1], [0]),
    (LLMJudgeConfig, LLM, "max_chars", [1_000], [999]),
    (LLMJudgeConfig, LLM, "max_group_chars", [1_000], [999]),
    (TaskRubricsConfig, RUBRICS, "success_threshold", [0, 1], [-0.1, 1.1]),
    (TaskRubricsConfig, RUBRICS, "max_chars", [1_000], [999]),
    (TaskRubricsConfig, RUBRICS, "shuffle_seed", [None, 0], ["x"]),
    (TaskRubricsConfig, {}, "model_name", ["m"], ["", None]),
    (TaskRubricsConfig, {}, "models", ["m", ["m", "n"], [{"model_name": "m"}]], [[], 3, list(ascii_lowercase[:21])]),
]  # fmt: skip


@pytest.mark.parametrize(("section", "given", "rest"), DEFAULTS, ids=[row[0].__name__ for row in DEFAULTS])
def test_what_a_file_leaves_out_has_its_default(
    section: type[StrictSection], given: dict[str, Any], rest: dict[str, Any]
) -> None:
    assert section(**given).model_dump() == given | rest


@pytest.mark.parametrize(
    ("section", "given", "key", "taken", "refused"), EDGES, ids=[f"{row[0].__name__}.{row[2]}" for row in EDGES]
)
def test_values_at_the_edge_are_taken_and_those_beyond_refused(
    section: type[StrictSection], given: dict[str, Any], key: str, taken: list[Any], refused: list[Any]
) -> None:
    for value in taken:
        section(**given, **{key: value})
    for value in refused:
        with pytest.raises(ValidationError, match=key):
            section(**given, **{key: value})


def test_a_key_to_a_judge_model_is_in_no_dump_and_no_repr() -> None:
    for found in (
        JurorModel(model_name="m", api_key=SecretStr("k3y")),
        TaskRubricsConfig(model_name="m", api_key=SecretStr("k3y")),
    ):
        assert "api_key" not in found.model_dump()
        assert "k3y" not in repr(found)
        assert "api_key" not in repr(found)


@pytest.mark.parametrize(
    ("section", "key", "more"),
    [
        (LLMJudgeConfig, "probes", {"model_name": "m"}),
        (VerifierConfig, "probes", {"preset": "tinyv", "model_name": "m"}),
        (CodeConfig, "partial", {}),
    ],
)
def test_off_without_quotes_is_no_boolean(section: type[StrictSection], key: str, more: dict[str, Any]) -> None:
    """YAML reads `off` as false, so that `probes: off`, as the guide has it, was refused."""
    assert getattr(section.model_validate({key: False, **more}), key) == "off"
    with pytest.raises(ValidationError, match="off"):
        section.model_validate({key: True, **more})
